"""One moment of the library, read without waiting for a writer.

A writer at work has a journal. Until it commits, the record says what was, and so must the files: what it took away is
read in the trash, where it lies unchanged, and what it put in place does not count yet. What was read is thrown away
and read again when a transaction began or ended meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, TypeVar

from importer.fs import explained
from importer.library.layout import FOLDERS
from importer.library.record import read_transaction
from importer.library.sqlite import Damaged
from importer.paths import fold_key
from importer.records import record

if TYPE_CHECKING:
    from importer.library.layout import Layout
    from importer.library.record import Record
    from importer.library.rows import Item, Move

T = TypeVar("T")
ATTEMPTS = 50


@record(kw_only=False)
class View:
    """The record of one moment, and how to find the files of that moment."""

    layout: Layout
    generation: int
    items: Mapping[tuple[str, str], Item]
    owners: Mapping[str, tuple[str, ...]]
    moves: tuple[Move, ...] = ()
    """Of a transaction that is under way."""
    _names: dict[str, list[str]] = field(default_factory=dict)

    def of(self, kind: str) -> dict[str, Item]:
        """Return the recorded items of one kind by name."""
        return {name: item for (its, name), item in self.items.items() if its == kind}

    def place(self, kind: str, name: str) -> str | None:
        """Return where the files of an item are; None where there was none at this moment."""
        target = self.layout.target(kind, name)
        for move in self.moves:
            if move.source == target:
                taken = self.layout.full(move.target)
                return taken if os.path.lexists(taken) else self.layout.full(target)
            if move.target == target:
                return None
        return self.layout.full(target)

    def names(self, kind: str) -> list[str]:
        """Return the names that stand on disk in the folder of a kind, sorted; hidden ones take no part.

        Raises:
            DiskError: the folder is there and cannot be read.
        """
        if kind not in self._names:
            found = set(_listed(self.layout.folder(kind), kind))
            prefix, suffix = f"{FOLDERS[kind]}/", ".json" if kind == "connector" else ""
            for move in reversed(self.moves):
                for path, there in ((move.target, False), (move.source, True)):
                    name = path.removeprefix(prefix).removesuffix(suffix)
                    if path.startswith(prefix) and "/" not in name:
                        (found.add if there else found.discard)(name)
            self._names[kind] = sorted(found)
        return self._names[kind]

    def find(self, kind: str, name: str) -> str | None:
        """Return the name on disk that `name` means there: itself, or on some file systems another spelling of it."""
        names = self.names(kind)
        if name in names:
            return name
        if not self.layout.exists(kind, name):
            return None
        return next((other for other in names if fold_key(other) == fold_key(name)), None)

    def recorded(self, kind: str, name: str) -> Item | None:
        """Return the record of the item that stands on disk under `name`."""
        exact = self.items.get((kind, name))
        if exact is not None or not self.layout.exists(kind, name):
            return exact
        same = [i for (k, n), i in self.items.items() if k == kind and fold_key(n) == fold_key(name)]
        return next((item for item in same if item.name not in self.names(kind)), None)

    def users(self, kind: str, name: str) -> tuple[str, ...]:
        """Return the specialists that own or name a skill or a connector."""
        key = "connector_ids" if kind == "connector" else "skill_ids"
        named = {item.name for (its, _), item in self.items.items() if its == "specialist" and name in item.names(key)}
        if kind == "skill":
            named.update(self.owners.get(name, ()))
        return tuple(sorted(named))


def _listed(folder: str, kind: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as problem:
        raise explained(problem, folder, "read") from problem
    if kind == "connector":
        names = [name.removesuffix(".json") for name in names if name.endswith(".json")]
    return [name for name in names if not name.startswith(".")]


def take_view(layout: Layout, record: Record | None) -> View:
    """Return the library at this moment."""
    if record is None:
        return View(layout, -1, {}, {})
    with record.moment():
        moves: list[Move] = []
        for _, body in record.journal():
            try:
                moves += read_transaction(body, layout.database).moves
            except Damaged:
                # Nobody can say what it moved: the files are shown where they are, and `doctor` looks into it.
                continue
        return View(layout, record.generation(), record.items(), record.owners(), tuple(moves))


def consistently(take: Callable[[], View], generation: Callable[[], int], read: Callable[[View], T]) -> T:
    """Return what `read` makes of a view, with record and files of one moment.

    Args:
        take: returns the library as it is now.
        generation: returns the number of transactions begun and ended until now.
        read: reads files, too.

    Raises:
        DiskError, LibraryError: as `read` does, when nothing was changing meanwhile.
    """
    attempt = 0
    while True:
        view = take()
        before = _places(view)
        attempt += 1
        try:
            result = read(view)
        except OSError:
            if attempt < ATTEMPTS and (generation() != view.generation or _places(view) != before):
                continue
            raise
        if attempt >= ATTEMPTS or (generation() == view.generation and _places(view) == before):
            return result


def _places(view: View) -> list[bool]:
    """Return how far a transaction under way has come."""
    return [os.path.lexists(view.layout.full(path)) for move in view.moves for path in (move.source, move.target)]
