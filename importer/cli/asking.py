"""Questions on a terminal: one for each conflict, one for what is replaced, one for the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from importer.app.errors import ImporterError, Status
from importer.diagnostics import shown
from importer.model import Choice, Choices, Disposition

if TYPE_CHECKING:
    from importer.app.results import Preview
    from importer.cli.console import Console

_ANSWERS = {"k": Choice.INSTALLED, "t": Choice.INCOMING}


def ask(result: Preview, choices: Choices, console: Console) -> Choices:
    """Ask for every decision that `result` needs, and whether to go on.

    Raises:
        ImporterError: DECISION where the person says no; nothing was changed.
        click.Abort: the person pressed Ctrl-C, or the terminal went away.
    """
    plan = result.plan
    if plan is None:
        return choices
    answers = dict(choices.by_name)
    console.fail("")
    for name in plan.choices_needed:
        console.fail(f"{shown(name)} is installed and differs.")
        answer = click.prompt(
            "  [k]eep the installed one, [t]ake the incoming one, or [s]top",
            type=click.Choice(["k", "t", "s"]),
            show_choices=False,
            err=True,
        )
        if answer == "s":
            raise _declined("installed")
        answers[name] = _ANSWERS[answer]
    replaced = [s.candidate.name for s in plan.skills if s.disposition is Disposition.REPLACE]
    replaced += [c.candidate.name for c in plan.connectors if c.disposition is Disposition.REPLACE]
    if plan.specialist is not None and plan.specialist.disposition is Disposition.REPLACE:
        replaced.append(plan.specialist.candidate.id)
    replaced += [name for name in plan.choices_needed if answers[name] is Choice.INCOMING]
    confirmed = choices.confirm_overwrite
    if replaced and not confirmed:
        listed = ", ".join(shown(name, 80) for name in replaced)
        consent(f"Replace {listed}? What is there now goes to the trash", "installed")
        confirmed = True
    else:
        consent("Install this?", "installed")
    return replace(choices, by_name=answers, confirm_overwrite=confirmed)


def consent(question: str, done: str) -> None:
    """Ask whether to go on. Raises ImporterError (DECISION) for a no, which says that nothing was `done`."""
    if not click.confirm(question, err=True):
        raise _declined(done)


def _declined(done: str) -> ImporterError:
    return ImporterError("consent-missing", f"nothing was {done}: the answer was no", Status.DECISION)
