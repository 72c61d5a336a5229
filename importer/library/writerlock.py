"""One writer at a time, across processes. The system lets go of the lock when its holder ends, however it ends."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from importer import fs
from importer.diagnostics import shown
from importer.library.candidates import rfc3339
from importer.library.errors import LibraryError, own

if TYPE_CHECKING:
    from collections.abc import Iterator

    from importer.library.layout import Layout

POLL_SECONDS = 0.05


@contextmanager
def writer_lock(layout: Layout, command: str, timeout: float) -> Iterator[None]:
    """Hold the writer's lock.

    Args:
        layout: of the library; its own folder is there.
        command: what the holder does, for others to read.
        timeout: seconds to wait for another writer; 0 tries once.

    Raises:
        LibraryError: `library-locked`, naming the holder, when the time is over.
        DiskError: the lock cannot be made.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(layout.lock, timeout=timeout)
    try:
        lock.acquire(poll_interval=POLL_SECONDS)
    except Timeout:
        raise LibraryError("library-locked", _who(layout, timeout), layout.lock) from None
    except OSError as problem:
        raise own(problem, layout.lock, "lock") from problem
    holder = f"{layout.lock}.holder"
    try:
        _describe(holder, command)
        yield
    finally:
        try:
            fs.remove_file(holder)
        except OSError:
            # It only names a holder while the lock is held; what it says now is not read.
            pass
        lock.release()


def _describe(path: str, command: str) -> None:
    text = json.dumps({"pid": os.getpid(), "command": command, "since": rfc3339(time.time())})
    try:
        fs.remove_file(path)
        fs.write_new(path, text.encode())
    except OSError:
        # Without it a waiting writer cannot name us; the lock itself holds.
        return


def _who(layout: Layout, timeout: float) -> str:
    known = "another process"
    try:
        with open(f"{layout.lock}.holder", encoding="utf-8") as file:
            holder = json.loads(file.read(4096))
        known = (
            f"process {int(holder['pid'])} (importer {shown(str(holder['command']), 60)}, since "
            f"{shown(str(holder['since']), 40)})"
        )
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return (
        f"{known} is changing this library; it did not finish within {timeout:g} s and nothing was changed here. "
        "Try again, or end that process if it hangs: `importer doctor` then says what became of its work"
    )
