"""The values of the record, and of one transaction: what was there before, what is there after.

A transaction is a list of changes that know both sides, so history and rollback need nothing else, and a list of
renames that lead from one side to the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType

from importer.diagnostics import Fact
from importer.model import FileRecord, Origin
from importer.records import record


@record
class Item:
    """One installed thing."""

    kind: str
    """skill, specialist, connector, plugin."""
    name: str
    version: str
    digest: str
    transaction: str
    """What put it there."""
    installed_at: str
    """UTC, RFC 3339."""
    origin: Origin | None
    files: tuple[FileRecord, ...]
    details: Mapping[str, Fact] = field(default_factory=lambda: MappingProxyType({}))
    """Of a specialist: name, display_name, description, skill_ids, connector_ids, revision."""

    @property
    def executables(self) -> tuple[str, ...]:
        """Paths that were installed executable."""
        return tuple(record.path.text for record in self.files if record.executable)

    @property
    def revision(self) -> int:
        """Of a specialist: how often it was installed over."""
        revision = self.details.get("revision", 1)
        return revision if isinstance(revision, int) else 1

    def names(self, key: str) -> tuple[str, ...]:
        """Return a detail that is a list of names."""
        value = self.details.get(key, [])
        return tuple(str(name) for name in value) if isinstance(value, list) else ()

    def text(self, key: str) -> str:
        """Return a detail that is text."""
        value = self.details.get(key, "")
        return value if isinstance(value, str) else ""


@record
class State:
    """What the record holds of one item."""

    item: Item | None = None
    owners: tuple[str, ...] = ()
    """Of a skill: the specialists that brought it."""
    settings: str | None = None
    """The person's own settings, as JSON. A state that is put back never overwrites settings that are there."""


@record
class Change:
    """One item, before and after a transaction."""

    kind: str
    name: str
    action: str
    """installed, replaced, removed, restored, released (only its owners changed)."""
    before: State
    after: State
    taken: str | None = None
    """Where in the trash the files of before are; None where there were none, or they stayed."""
    taken_name: str = ""
    """The name that they had, where a case-insensitive file system knows it otherwise; "" for `name`."""
    taken_digest: str | None = None
    """The digest of the files of before as they were on disk, a person's edits included."""
    taken_executables: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Files of the person's own that stayed where they were; relative to the item."""

    @property
    def place(self) -> str:
        """The name under which the files of before stood."""
        return self.taken_name or self.name


@record
class Move:
    """One rename. Paths are relative to the library's root, or absolute on another file system."""

    source: str
    target: str


@record
class Transaction:
    """One transaction, as the journal and the history keep it."""

    id: str
    at: str
    """UTC, RFC 3339."""
    command: str
    verb: str
    """install, remove, rollback."""
    origin: Origin | None
    changes: tuple[Change, ...]
    moves: tuple[Move, ...] = ()
    makes: tuple[str, ...] = ()
    """Folders of kinds that there were none of before; relative to the root."""
    token: str | None = None
    """SHA-256 of the token that it spends."""
    undoes: str | None = None
    """Of a rollback: the transaction that it takes back."""
    sequence: int = 0
    """The order of the history; set once it is there."""
    undone_by: str | None = None
