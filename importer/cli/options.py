"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from importer.cli.console import Console

F = TypeVar("F", bound=Callable[..., Any])


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Keep a common option wherever it stood; after the command it wins over before it."""
    console = ctx.ensure_object(Console)
    if value not in (None, False, ()):
        setattr(console, str(param.name), list(value) if isinstance(value, tuple) else value)
    return value


def _flag(*names: str, help_text: str) -> Callable[[F], F]:
    return click.option(*names, is_flag=True, help=help_text, expose_value=False, callback=_remember)


_COMMON: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--library",
        metavar="DIR",
        help="The library. Default: IMPORTER_LIBRARY, else ~/.agents.",
        expose_value=False,
        callback=_remember,
    ),
    _flag("--json", help_text="Print the result as JSON."),
    _flag("--quiet", "-q", help_text="No notes on stderr."),
    _flag("--verbose", "-v", help_text="Say more."),
    _flag("--no-color", help_text="No colours (NO_COLOR does the same)."),
    _flag("--no-progress", help_text="No progress bar."),
)
budget_option = click.option(
    "--budget",
    "budgets",
    multiple=True,
    metavar="PROFILE.LIMIT=N",
    help="Change a limit for this run; `importer budgets` lists them. Repeatable.",
    expose_value=False,
    callback=_remember,
)
_SELECTION: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--skill", "skills", multiple=True, metavar="NAME", help="Only this skill: its name or folder. Repeatable."
    ),
    click.option("--connector", "connectors", multiple=True, metavar="NAME", help="Only this connector. Repeatable."),
    click.option("--ref", metavar="REF", help="Branch, tag or commit of a GitHub source."),
    click.option(
        "--choose",
        "chosen",
        multiple=True,
        metavar="NAME=incoming|installed",
        help="Answer a conflict. NAME may be skill:NAME or connector:NAME. Repeatable.",
    ),
    click.option("--confirm-overwrite", is_flag=True, help="Agree to what is replaced; it goes to the trash."),
    click.option("--keep-going", is_flag=True, help="Go past faulty items of a package, and name them."),
    click.option(
        "--allow-arg",
        "allowed",
        multiple=True,
        metavar="CONNECTOR:INDEX",
        help="args[INDEX], counted from 0, is no secret. Repeatable.",
    ),
    click.option("--name-encoding", metavar="CODEC", help="Code page of names without the UTF-8 flag, such as gbk."),
    click.option("--no-cache", is_flag=True, help="Ask GitHub anew."),
)


def common(function: F) -> F:
    """Add the options that every command takes."""
    for option in reversed(_COMMON):
        function = option(function)
    return function


def selection(function: F) -> F:
    """Add the options of preview and install, the common ones included."""
    function = common(function)
    for option in reversed((*_SELECTION, budget_option)):
        function = option(function)
    return function


def parse_allowed(allowed: tuple[str, ...]) -> frozenset[str]:
    """Read `CONNECTOR:INDEX`, the index counted from 0; `CONNECTOR:url` and other fields for what is no argument.

    Raises:
        click.UsageError: another form.
    """
    options: set[str] = set()
    for text in allowed:
        name, _, which = text.removeprefix("connector:").rpartition(":")
        if not name or not re.fullmatch(r"[0-9]{1,4}|command|url|oauth\.[a-z_]{1,40}", which):
            raise click.UsageError(f"--allow-arg takes CONNECTOR:INDEX, such as github:3 for args[3], not {text!r}")
        options.add(f"{name}:{int(which) if which.isdigit() else which}")
    return frozenset(options)


def parse_choices(chosen: tuple[str, ...]) -> dict[str, str]:
    """Read `NAME=incoming|installed`.

    Raises:
        click.UsageError: another form, or two answers for one name.
    """
    answers: dict[str, str] = {}
    for text in chosen:
        name, equals, answer = text.rpartition("=")
        if not equals or not name or answer not in {"incoming", "installed"}:
            raise click.UsageError(f"--choose takes NAME=incoming or NAME=installed, not {text!r}")
        if answers.get(name, answer) != answer:
            raise click.UsageError(f"--choose has two answers for {name!r}")
        answers[name] = answer
    return answers
