"""What was taken away: how much of it there is, and what goes when it is too much or too old."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from importer import fs
from importer.diagnostics import shown
from importer.records import record

if TYPE_CHECKING:
    from importer.library.layout import Layout
    from importer.library.rows import Transaction

DAY = 86400.0


@record
class Pruned:
    """What a prune removed for good."""

    transactions: tuple[str, ...]
    """Those that can no longer be rolled back; or names of other things in the trash."""
    bytes: int
    left_bytes: int


def folders(layout: Layout) -> dict[str, list[str]]:
    """Return what is in the trash: by name (a transaction's id), its folders on each file system."""
    found: dict[str, list[str]] = {}
    for area in layout.areas():
        base = f"{layout.full(area)}/trash"
        try:
            names = os.listdir(base)
        except OSError:
            continue
        for name in names:
            found.setdefault(name, []).append(f"{base}/{name}")
    return found


def size(path: str) -> int:
    """Return the bytes of everything under a path; links are not followed."""
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        return status.st_size
    total = 0
    waiting = [path]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total


def prune(layout: Layout, history: list[Transaction], *, max_bytes: int, max_days: int, now: float) -> Pruned:
    """Remove from the trash what is too old, then the oldest until what is left is small enough.

    Args:
        layout: of the library; the caller is its writer, and no journal is open.
        history: gives each transaction its time; anything else in the trash has that of its folder.
        max_bytes: what may stay.
        max_days: how long it may.
        now: seconds since 1970.

    Raises:
        DiskError: something cannot be removed; what was removed before it is gone.
    """
    times = {t.id: datetime.strptime(t.at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp() for t in history}
    entries: list[tuple[float, str, list[str], int]] = []
    for name, places in folders(layout).items():
        at = times.get(name, os.lstat(places[0]).st_mtime)
        entries.append((at, name, places, sum(size(place) for place in places)))
    entries.sort()
    total = sum(entry[3] for entry in entries)
    gone: list[str] = []
    freed = 0
    for at, name, places, held in entries:
        if now - at <= max_days * DAY and total - freed <= max_bytes:
            continue
        for place in places:
            try:
                fs.remove_tree(place)
            except OSError as problem:
                raise fs.explained(problem, place, "remove") from problem
        gone.append(shown(name))
        freed += held
    return Pruned(transactions=tuple(gone), bytes=freed, left_bytes=total - freed)
