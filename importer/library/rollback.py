"""Rollback: a transaction taken back as a whole, by another one, if nothing stands on it since."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from importer.diagnostics import shown
from importer.fs import explained
from importer.library import transact
from importer.library.disk import DiskTree, compare, read_item
from importer.library.errors import LibraryError
from importer.library.removal import without
from importer.library.rows import Change, Move, State, Transaction
from importer.records import record

if TYPE_CHECKING:
    from importer.library.layout import Layout
    from importer.library.record import Record
    from importer.library.view import View

_UNDOES = {
    "installed": "removed",
    "replaced": "restored",
    "removed": "restored",
    "restored": "restored",
    "renamed": "renamed",
    "owned": "released",
    "released": "owned",
}
"""What taking each action back is, as the history says it."""


@record
class Rollback:
    """The transaction that takes another one back, with what must still be there when it happens."""

    transaction: Transaction
    expected: Mapping[str, DiskTree]
    undone: Transaction


def rollback(view: View, record: Record, name: str, *, at: str, command: str) -> Rollback:
    """Return the transaction that takes `name` back. Everything that stands against it is said at once.

    Raises:
        LibraryError: `library-transaction-unknown`; `library-rollback-refused` with every reason.
        DiskError: something that must be compared cannot be read.
    """
    undone = record.transaction(name)
    if undone is None:
        raise LibraryError(
            "library-transaction-unknown",
            f"there is no transaction {shown(name, 60)}; `importer history` names those there are",
        )
    return _Undoing(view, record, undone, at, command).run()


class _Undoing:
    def __init__(self, view: View, record: Record, undone: Transaction, at: str, command: str) -> None:
        self.view = view
        self.layout: Layout = view.layout
        self.record = record
        self.undone = undone
        self.at = at
        self.command = command
        self.id = transact.new_id()
        self.reasons: list[str] = []
        self.moves: list[Move] = []
        self.changes: list[Change] = []
        self.expected: dict[str, DiskTree] = {}

    def run(self) -> Rollback:
        if self.undone.undone_by is not None:
            self.reasons.append(f"it was rolled back already, by {self.undone.undone_by}")
        else:
            for change in reversed(self.undone.changes):
                try:
                    self._change(change)
                except OSError as problem:
                    raise explained(problem, self._path(change), "read") from problem
        if self.reasons:
            raise LibraryError(
                "library-rollback-refused",
                f"{self.undone.id} cannot be rolled back: {'; '.join(self.reasons)}; nothing was changed",
            )
        transaction = Transaction(
            id=self.id,
            at=self.at,
            command=self.command,
            verb="rollback",
            origin=None,
            changes=tuple(self.changes),
            moves=tuple(self.moves),
            undoes=self.undone.id,
        )
        return Rollback(transaction=transaction, expected=self.expected, undone=self.undone)

    def _path(self, change: Change) -> str:
        return self.layout.full(self.layout.target(change.kind, change.place))

    def _change(self, change: Change) -> None:
        what = f"the {change.kind} {shown(change.name)}"
        current = self.record.state(change.kind, change.name)
        if not self._still(change, current, what):
            return
        brings_files = change.taken is not None or change.action in {"installed", "replaced", "restored"}
        if not brings_files:
            # Only the record changed: who owns a skill, or an item whose files were gone before.
            self._back(change, current, None, None)
            return
        taken = self._taken_now(change, what)
        if change.taken is not None:
            self._bring_back(change, change.taken, what, taken)
        self._back(change, current, taken, self.expected.get(taken) if taken is not None else None)

    def _still(self, change: Change, current: State, what: str) -> bool:
        """Note why the record is no longer as the transaction left it; return whether it is."""
        after = change.after
        if (current.item is None) != (after.item is None):
            self.reasons.append(f"{what} was {'removed' if current.item is None else 'installed again'} since")
        elif current.item is not None and after.item is not None and current.item.transaction != after.item.transaction:
            self.reasons.append(f"{what} was changed since, by {current.item.transaction}")
        elif current.owners != after.owners:
            self.reasons.append(f"{what} belongs to other specialists since")
        else:
            later = self._later_users(change)
            if not later:
                return True
            self.reasons.append(f"the specialist {', '.join(later)}, installed since, uses {what}")
        return False

    def _later_users(self, change: Change) -> list[str]:
        """Return specialists that came after the transaction and rely on what it brought."""
        if change.after.item is None or change.kind not in {"skill", "connector"}:
            return []
        if change.action in {"released", "owned"}:
            return []
        later: list[str] = []
        for user in self.view.users(change.kind, change.name):
            item = self.view.items.get(("specialist", user))
            if item is None or item.transaction == self.undone.id:
                continue
            since = self.record.transaction(item.transaction)
            if since is not None and since.sequence > self.undone.sequence:
                later.append(shown(user))
        return later

    def _taken_now(self, change: Change, what: str) -> str | None:
        """Plan what happens to what stands in the item's place now: it goes to the trash; return where."""
        target = self.layout.target(change.kind, change.name)
        full = self.layout.full(target)
        there = os.path.lexists(full)
        item = change.after.item
        if item is None:
            if not there:
                return None
            if not change.kept or os.path.islink(full) or not os.path.isdir(full):
                self.reasons.append(f"something else has the place of {what} since ({shown(full, 400)})")
                return None
        elif not there:
            self.reasons.append(f"the files of {what} are gone")
            return None
        tree = read_item(full)
        if item is not None and compare(tree, item.files):
            self.reasons.append(f"{what} was edited since; copy what you want to keep and take the edits back")
            return None
        taken = self.layout.trashed(change.kind, change.name, self.id)
        self.expected[taken] = tree
        self.moves.append(Move(source=target, target=taken))
        return taken

    def _bring_back(self, change: Change, source: str, what: str, leftover: str | None) -> None:
        full = self.layout.full(source)
        if not os.path.lexists(full):
            self.reasons.append(f"the old files of {what} are no longer in the trash")
            return
        tree = read_item(full)
        digest, executables = without(tree, ())
        if digest != change.taken_digest or executables != change.taken_executables:
            self.reasons.append(f"the old files of {what} were changed in the trash")
            return
        target = self.layout.target(change.kind, change.place)
        self.moves.append(Move(source=source, target=target))
        if change.after.item is None and leftover is not None:
            self._merge(self.layout.full(self.layout.target(change.kind, change.name)), full, leftover, target, what)

    def _merge(self, here: str, back: str, leftover: str, target: str, what: str) -> None:
        """Plan how the person's own files, which stayed when the item went, go back among its files."""
        waiting = [""]
        while waiting:
            prefix = waiting.pop()
            for name in sorted(os.listdir(f"{here}/{prefix}")):
                path = prefix + name
                if not os.path.lexists(f"{back}/{path}"):
                    self.moves.append(Move(source=f"{leftover}/{path}", target=f"{target}/{path}"))
                elif _is_folder(f"{here}/{path}") and _is_folder(f"{back}/{path}"):
                    waiting.append(f"{path}/")
                else:
                    self.reasons.append(f"{shown(path)} of {what} would meet another file of that name")

    def _back(self, change: Change, current: State, taken: str | None, tree: DiskTree | None) -> None:
        action = _UNDOES[change.action]
        if change.action == "restored" and change.before.item is None and change.taken is None:
            # There was nothing before it: a removal, rolled back, is done again.
            action = "removed"
        self.changes.append(
            Change(
                kind=change.kind,
                name=change.name,
                action=action,
                before=current,
                after=change.before,
                taken=taken if change.after.item is not None else None,
                taken_digest=tree.digest if tree is not None and change.after.item is not None else None,
                taken_executables=tree.executables if tree is not None and change.after.item is not None else (),
            )
        )


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
