"""How a transaction happens: journal, rename, commit; and how it is taken back, or finished, after anything.

Order, and what each step makes sure of:

1. What comes is staged and durable. The folder in the trash is made, with `transaction.json` in it, and durable.
2. The transaction is written into the journal, which is part of the record: durable when the call returns.
3. The renames. Each old item goes to the trash before its successor takes its name.
4. Every folder that a rename touched is synced.
5. One commit of the record changes what is installed, writes the history, spends the token and empties the journal.
   This commit is the moment at which the transaction happens.

A process that finds a journal either finishes it (every rename is done) or takes it back, newest rename first. Whether
a rename was done is read from the disk: the names inside staging and trash belong to one transaction alone.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from importer import fs
from importer.diagnostics import Diagnostic, error, info, shown, warning
from importer.library.disk import DiskTree, unchanged
from importer.library.errors import LibraryError, own, stale
from importer.library.layout import CONTROL
from importer.library.record import read_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from importer.library.layout import Layout
    from importer.library.record import Record
    from importer.library.rows import Move, Transaction

MANIFEST = "transaction.json"
KEPT = "kept"
"""The folder in a transaction's trash for the empty folders that a person's own files go back into."""


def new_id() -> str:
    """Return the id of a new transaction: its time in UTC, and six random digits so that two never meet."""
    return time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + os.urandom(3).hex()


def execute(
    layout: Layout,
    record: Record,
    transaction: Transaction,
    expected: Mapping[str, DiskTree] | None = None,
    folders: Sequence[tuple[str, int]] = (),
) -> None:
    """Do a transaction as a whole, or leave everything as it was.

    Args:
        layout: of the library.
        record: its record.
        transaction: what happens.
        expected: by the target of a rename, what must have been there when it was renamed, unchanged since.
        folders: empty folders, with their modes, to be made in the transaction's part of the trash beforehand.

    Raises:
        LibraryError: `library-stale`, `token-used`, or what the record says.
        DiskError: path and cause.
    """
    if not transaction.moves:
        record.commit(transaction)
        return
    try:
        _make_trash(layout, transaction, folders)
        record.begin(transaction)
    except BaseException:
        _drop_trash(layout, transaction)
        raise
    try:
        _make_folders(layout, transaction)
        _move_all(layout, transaction, expected or {})
        _sync(layout, transaction.moves)
        record.commit(transaction)
    except BaseException:
        _after_failure(layout, record, transaction)
        raise


def _make_folders(layout: Layout, transaction: Transaction) -> None:
    for path in transaction.makes:
        full = layout.full(path)
        try:
            fs.make_folders(full)
            fs.sync_folder(os.path.dirname(full))
        except OSError as problem:
            raise fs.explained(problem, full) from problem


def _move_all(layout: Layout, transaction: Transaction, expected: Mapping[str, DiskTree]) -> None:
    for move in transaction.moves:
        target = layout.full(move.target)
        if os.path.lexists(target):
            raise stale(f"{shown(_known(layout, move), 400)} appeared meanwhile", _known(layout, move))
        try:
            fs.rename(layout.full(move.source), target)
            tree = expected.get(move.target)
            same = tree is None or unchanged(target, tree)
        except OSError as problem:
            raise fs.explained(
                problem, _known(layout, move), "replace or remove" if _in_trash(move.target) else "write"
            ) from problem
        if not same:
            raise stale(f"{shown(_known(layout, move), 400)} was changed in this moment", _known(layout, move))


def _known(layout: Layout, move: Move) -> str:
    """Return the end of a rename that a person knows: the place in the library, not the one in staging or trash."""
    return layout.full(move.source if _in_trash(move.target) else move.target)


def _in_trash(path: str) -> bool:
    return f"{CONTROL}/trash/" in path


def _after_failure(layout: Layout, record: Record, transaction: Transaction) -> None:
    """Take the renames back, unless the commit had happened after all; what fails here, recovery does later."""
    try:
        if not any(name == transaction.id for name, _ in record.journal()):
            return
        take_back(layout, transaction)
        record.forget(transaction.id)
        _drop_trash(layout, transaction)
    except OSError:
        return


def _make_trash(layout: Layout, transaction: Transaction, folders: Sequence[tuple[str, int]]) -> None:
    roots = trash_roots(transaction)
    if not roots:
        return
    told = {
        "id": transaction.id,
        "at": transaction.at,
        "command": transaction.command,
        "taken": [
            {"kind": c.kind, "name": c.name, "action": c.action, "from": layout.target(c.kind, c.place), "to": c.taken}
            for c in transaction.changes
            if c.taken is not None
        ],
    }
    text = json.dumps(told, indent=1).encode() + b"\n"
    try:
        for root in roots:
            full = layout.full(root)
            fs.make_folders(os.path.dirname(full), 0o700)
            fs.make_folder(full, 0o700)
            fs.write_new(f"{full}/{MANIFEST}", text)
            fs.sync_file(f"{full}/{MANIFEST}")
        for move in transaction.moves:
            if _in_trash(move.target):
                fs.make_folders(os.path.dirname(layout.full(move.target)))
        for folder, mode in folders:
            fs.make_folders(layout.full(folder))
            os.chmod(layout.full(folder), mode)
        for root in roots:
            fs.sync_tree(layout.full(root))
            fs.sync_folder(os.path.dirname(layout.full(root)))
            fs.sync_folder(os.path.dirname(os.path.dirname(layout.full(root))))
    except OSError as problem:
        raise own(problem, layout.full(roots[0])) from problem


def trash_roots(transaction: Transaction) -> list[str]:
    """Return the folders of this transaction in the trash: one, or one on each file system."""
    roots: list[str] = []
    for move in transaction.moves:
        head, found, _ = move.target.partition(f"/{transaction.id}/")
        if found and head.endswith(f"{CONTROL}/trash") and f"{head}/{transaction.id}" not in roots:
            roots.append(f"{head}/{transaction.id}")
    return roots


def _drop_trash(layout: Layout, transaction: Transaction) -> None:
    for root in trash_roots(transaction):
        drop_empty(layout.full(root))


def drop_empty(trash: str) -> None:
    """Remove one transaction's folder from the trash as far as it is empty: nothing of anybody's goes with it."""
    try:
        left = [path for path, _, files in os.walk(trash) if [name for name in files if name != MANIFEST]]
        if not left:
            fs.remove_file(f"{trash}/{MANIFEST}")
        for folder in sorted((path for path, _, _ in os.walk(trash)), key=len, reverse=True):
            fs.remove_folder(folder)
    except OSError:
        return


def _sync(layout: Layout, moves: Sequence[Move]) -> None:
    folders = {os.path.dirname(layout.full(path)): None for move in moves for path in (move.target, move.source)}
    for folder in folders:
        try:
            if os.path.isdir(folder):
                fs.sync_folder(folder)
        except OSError as problem:
            raise fs.explained(problem, folder) from problem


# --- afterwards ------------------------------------------------------------------------------------------------------


def is_complete(layout: Layout, moves: Sequence[Move]) -> bool:
    """Return whether every rename was done."""
    there: dict[str, bool] = {}
    for move in moves:
        there[move.source] = False
        there[move.target] = True
    return all(os.path.lexists(layout.full(path)) == expected for path, expected in there.items())


def take_back(layout: Layout, transaction: Transaction) -> list[str]:
    """Take the renames back that were done, the newest first.

    Returns:
        Where things were put that had taken the name of something which had to come back.

    Raises:
        DiskError: one cannot be taken back; those before it stay to be tried again.
    """
    displaced: list[str] = []
    for move in reversed(transaction.moves):
        source, target = layout.full(move.source), layout.full(move.target)
        if not _was_done(move, source, target):
            continue
        try:
            if os.path.lexists(source):
                displaced.append(_displace(layout, transaction, source))
            if _in_trash(move.target):
                fs.make_folders(os.path.dirname(source))
            fs.rename(target, source)
        except OSError as problem:
            raise fs.explained(problem, _known(layout, move), "bring back") from problem
    for path in transaction.makes:
        if os.path.isdir(layout.full(path)) and not os.path.islink(layout.full(path)):
            fs.remove_folder(layout.full(path))
    _sync(layout, transaction.moves)
    return displaced


def _was_done(move: Move, source: str, target: str) -> bool:
    """Read from the disk whether a rename was done: a name in trash or staging belongs to one transaction alone."""
    if not os.path.lexists(target):
        return False
    return _in_trash(move.target) or (not os.path.lexists(source) and os.path.isdir(os.path.dirname(source)))


def _displace(layout: Layout, transaction: Transaction, path: str) -> str:
    """Move what somebody put in the place of an item that was on its way out into the trash."""
    base = next(iter(trash_roots(transaction)), f"{CONTROL}/trash/{transaction.id}")
    place = f"{layout.full(base)}/displaced-{os.urandom(3).hex()}/{os.path.basename(path)}"
    fs.make_folders(os.path.dirname(place))
    fs.rename(path, place)
    fs.sync_folder(os.path.dirname(place))
    return place


def recover(layout: Layout, record: Record) -> list[Diagnostic]:
    """Finish or take back whatever was interrupted. The caller holds the writer's lock.

    Returns:
        What was done, for the person.

    Raises:
        LibraryError: `library-damaged` where the journal cannot be read.
        DiskError: a rename fails; the journal stays, and nothing was lost.
    """
    said: list[Diagnostic] = []
    for name, body in record.journal():
        transaction = read_transaction(body, layout.database)
        what = f"{shown(transaction.command, 60)} of {transaction.at} ({transaction.id})"
        if is_complete(layout, transaction.moves):
            _sync(layout, transaction.moves)
            record.commit(transaction)
            said.append(
                info(
                    "library-recovered",
                    f"an interrupted {what} had moved every file; its record was finished: the library is as after it",
                    transaction=name,
                    outcome="finished",
                )
            )
            continue
        displaced = take_back(layout, transaction)
        record.forget(name)
        _drop_trash(layout, transaction)
        said.append(
            info(
                "library-recovered",
                f"an interrupted {what} was taken back: the library is as before it",
                transaction=name,
                outcome="taken-back",
            )
        )
        said += [
            warning(
                "library-displaced",
                f"something had taken the place of an item that came back; it is now at {shown(place, 400)}",
                place,
            )
            for place in displaced
        ]
    return said


def tidy(layout: Layout, record: Record) -> None:
    """Remove empty folders in the trash: of transactions that ended before they began, or whose last step was cut off.

    The caller is the writer, and there is no journal.
    """
    known = record.transaction_ids()
    for area in layout.areas():
        base = f"{layout.full(area)}/trash"
        for name in os.listdir(base) if os.path.isdir(base) else ():
            drop_empty(f"{base}/{name}" if known.get(name, True) else f"{base}/{name}/{KEPT}")
        if os.path.isabs(area):
            drop_incoming(area)


def blocked(problem: LibraryError | fs.DiskError) -> Diagnostic:
    """Return what a reading command says when a recovery is due and cannot be done."""
    return error(
        "library-recovery-failed",
        f"an interrupted transaction could not be taken back: {problem.message}. The library is shown as it was before "
        "it; run `importer doctor`",
        problem.path,
    )


def drop_incoming(area: str) -> None:
    """Remove what was copied to another file system and did not reach its place. No journal may be open."""
    try:
        fs.remove_tree(f"{area}/incoming")
        fs.remove_folder(area)
    except OSError:
        return
