"""The limits in force, found without loading anything else: `importer budgets` is to feel instant."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from budgets import Budgets, Override, UnknownLimit

if TYPE_CHECKING:
    from importer.cli.console import Console


def effective(console: Console) -> Budgets:
    """Return the defaults with the library's and this run's changes.

    Raises:
        click.UsageError: a --budget that is none.
        importer.app.errors.ImporterError: a `config.toml` that is not valid.
    """
    try:
        overrides = [Override.parse(text, "--budget") for text in console.budgets]
    except UnknownLimit as problem:
        raise click.UsageError(str(problem)) from None
    named = console.library or os.environ.get("IMPORTER_LIBRARY") or "~/.agents"
    if (Path(named).expanduser() / ".importer" / "config.toml").exists():
        from importer.app.session import Session

        with Session(console.settings()) as session:
            return session.budgets
    return Budgets.default(overrides)
