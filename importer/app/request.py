"""What a person asked for, as values: the same from the command line and from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from importer.model import Choices
from importer.records import record

if TYPE_CHECKING:
    from budgets import Override
    from importer.ports import Progress


class NoProgress:
    """Tells nobody."""

    def expect(self, files: int, size: int, /) -> None:
        """Ignore."""

    def advance(self, files: int, size: int, /) -> None:
        """Ignore."""


def default_library(environment: Mapping[str, str] | None = None) -> Path:
    """Return `IMPORTER_LIBRARY`, or `~/.agents`."""
    environment = os.environ if environment is None else environment
    named = environment.get("IMPORTER_LIBRARY")
    return Path(named) if named else Path("~/.agents").expanduser()


@record
class Settings:
    """Where and how a command runs, whatever it does."""

    library: Path = field(default_factory=default_library)
    overrides: tuple[Override, ...] = ()
    """Changed limits, on top of the library's own `config.toml`."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    progress: Progress = field(default_factory=NoProgress)
    lock_timeout: float = 10.0
    """Seconds to wait for another writer."""


@record
class RecordedSource:
    """A place in a repository that something was installed from, and the ref to read it at now."""

    host: str
    repository: str
    repository_id: str
    ref: str
    path: str


@record
class Request:
    """One source to look at, and the decisions that came with it."""

    source: str
    skills: tuple[str, ...] = ()
    """A subset: names or root paths."""
    connectors: tuple[str, ...] = ()
    ref: str | None = None
    choices: Choices = field(default_factory=Choices)
    keep_going: bool = False
    name_encoding: str | None = None
    no_cache: bool = False
    recorded: RecordedSource | None = None
    """Read this instead of `source`, which only names it: an update knows where something came from."""
