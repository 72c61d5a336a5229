"""The group of commands, what they have in common, and how every ending becomes an exit status."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from importer.cli import INTERRUPTED
from importer.cli.console import Console
from importer.cli.options import common

# Command, module and function: a command's module is loaded when the command is asked for.
COMMANDS: dict[str, tuple[str, str]] = {
    "preview": ("importer.cli.packages", "preview"),
    "install": ("importer.cli.packages", "install"),
    "list": ("importer.cli.inventory", "list_packages"),
    "show": ("importer.cli.inventory", "show"),
    "verify": ("importer.cli.inventory", "verify"),
    "outdated": ("importer.cli.updates", "outdated"),
    "update": ("importer.cli.updates", "update"),
    "remove": ("importer.cli.changes", "remove"),
    "history": ("importer.cli.changes", "history"),
    "rollback": ("importer.cli.changes", "rollback"),
    "export": ("importer.cli.exports", "export"),
    "doctor": ("importer.cli.changes", "doctor"),
    "budgets": ("importer.cli.budgets", "budgets"),
}


class Commands(click.Group):
    """Loads each command when it is needed, in the order in which a newcomer meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002, RUF100
        """Return the names in reading order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002, RUF100
        """Return one command, or None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, function = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), function)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Say which commands there are where the name is unknown."""
        name = args[0] if args else ""
        if name and name not in COMMANDS:
            from importer.diagnostics import shown

            raise click.UsageError(f"no command {shown(name, 40)!r}; there are: {', '.join(COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importer.version import __version__

        click.echo(f"importer {__version__}")
        ctx.exit(0)


def run(arguments: list[str]) -> int:
    """Run one command.

    Returns:
        The exit status: what `importer.app.errors.Status` says, or 130 after Ctrl-C.
    """
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # A terminal that cannot show a letter gets its escape; nothing ends in an encoding error.
            reconfigure(errors="backslashreplace")
    console = Console(json="--json" in arguments)
    try:
        status = _guarded(arguments, console)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader of our output has gone: nothing is left to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _guarded(arguments: list[str], console: Console) -> int:
    try:
        result = group.main(arguments, "importer", standalone_mode=False, obj=console)
        return int(result or 0)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except BrokenPipeError:
        raise
    except BaseException as problem:  # noqa: BLE001  # sorted by `_ended`; nothing leaves as a traceback
        return _ended(problem, console)


def _ended(problem: BaseException, console: Console) -> int:
    """Say how a run ended that did not end well, and return its status."""
    from importer.cli.endings import clear, usage_ended, value_ended

    clear()
    if isinstance(problem, click.UsageError):
        return usage_ended(problem, console)
    if isinstance(problem, (click.Abort, KeyboardInterrupt)):
        console.fail("importer: stopped; nothing is half done")
        return INTERRUPTED
    if isinstance(problem, Exception):
        return value_ended(problem, console)
    raise problem


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def group() -> None:
    """Preview and install packages of strangers: Skills, bundles, Specialist packages, connectors.

    A preview shows exactly what would change and changes nothing. An install applies the whole plan, or nothing.
    """


common(group)
