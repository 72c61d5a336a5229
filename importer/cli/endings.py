"""How a run ends that did not end well: a message for people, or `importer/error/1` for programs."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING

import click

from importer.diagnostics import hidden, shown

if TYPE_CHECKING:
    from importer.app.errors import ImporterError
    from importer.cli.console import Console


def clear() -> None:
    """Take a progress bar off the screen before anything is said."""
    loaded = sys.modules.get("importer.cli.progress")
    if loaded is not None:
        loaded.clear_progress()


def usage_ended(problem: click.UsageError, console: Console) -> int:
    """Say a wrong use of the command line; the exit status is 2."""
    message = " ".join(hidden().sub(lambda match: ascii(match.group())[1:-1], problem.format_message()).split())
    if console.json:
        from importer.app.errors import ImporterError, Status

        _print_error(ImporterError("usage", message, Status.USAGE), console)
        return 2
    context = problem.ctx
    console.fail(f"importer: {message}")
    if context is not None:
        console.fail(f"see: {context.command_path} --help")
    return 2


def value_ended(problem: Exception, console: Console) -> int:
    """Say any other ending: ours as they are, the machine's with path and cause, a mistake of ours as one."""
    from importer.app.errors import ImporterError, Status, machine_error

    if isinstance(problem, OSError):
        problem = machine_error(problem, "the command")
    elif not isinstance(problem, ImporterError):
        if console.verbose:
            traceback.print_exception(problem, file=sys.stderr)
        problem = ImporterError(
            "internal-error",
            f"a mistake of the importer's, not of yours: {type(problem).__name__}: {shown(str(problem))}; nothing was "
            "installed. Please report it with the output of the same command and --verbose",
            Status.FAILED,
        )
    _print_error(problem, console)
    return int(problem.status)


def _print_error(problem: ImporterError, console: Console) -> None:
    from importer.app.results import diagnostic_json
    from importer.cli.human import diagnostic_lines

    if console.json:
        console.report(
            {
                "schema": "importer/error/1",
                "code": problem.code,
                "message": problem.message,
                "diagnostics": [diagnostic_json(d) for d in problem.diagnostics],
            }
        )
        return
    message = problem.message
    for diagnostic in problem.diagnostics:  # said below, with its place
        message = message.removesuffix(f": {diagnostic.message}")
    for line in console.wrapped(f"importer: {message}", "  ", ""):
        console.fail(line)
    others = [d for d in problem.diagnostics if d.message != problem.message]
    for line in diagnostic_lines([diagnostic_json(d) for d in others], console):
        console.fail(line)
