"""Staging folders: made, locked while their process lives, swept when nobody is left to want them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from importer import fs
from importer.library.errors import LibraryError, own
from importer.staging import StagedFolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from importer.library.layout import Layout

UNLOCKABLE_SECONDS = 24 * 3600.0
"""How old a folder must be to be swept where the system has no locks on folders."""
PRIVATE = "private-"
"""How the name of a folder starts that nobody but its process comes back for, whatever waits in it."""


class Staging:
    """One package on its way in. As a context manager it is discarded at the end, unless it was kept."""

    def __init__(self, path: str, lock: fs.FolderLock | None, made: list[str]) -> None:
        self.path = Path(path)
        self.id = os.path.basename(path)
        self.folder = StagedFolder(self.path)
        self._lock = lock
        self._made = made
        self._kept = False

    def keep(self) -> None:
        """Leave the folder to the candidate that waits in it."""
        self._kept = True
        self.folder.close()

    def release(self) -> None:
        """Let go of the folder without removing it."""
        self.folder.close()
        if self._lock is not None:
            self._lock.release()

    def discard(self) -> None:
        """Remove the folder, and whatever had to be made to hold it that is still empty; a second time does nothing.

        Raises:
            OSError: something in it cannot be removed.
        """
        self.folder.close()
        fs.remove_tree(os.fspath(self.path))
        if self._lock is not None:
            self._lock.release()
        for folder in reversed(self._made):
            if not fs.remove_folder(folder):
                break
        self._made = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._kept:
            self.release()
        else:
            self.discard()


def new_staging(layout: Layout, *, private: bool = False) -> Staging:
    """Make a staging folder in the library, and the library's folders where there are none yet.

    Args:
        layout: the library.
        private: nobody else is going to be told the token of what is staged there: it goes when this process ends.

    Raises:
        LibraryError: `disk-permission`, `disk-read-only`, `disk-full`, or something stands in the way.
    """
    made: list[str] = []
    try:
        for _ in range(100):
            made += fs.make_folders(layout.staging)
            path = f"{layout.staging}/{PRIVATE if private else ''}{os.urandom(8).hex()}"
            lock = _make_locked(path)
            if lock is not None:
                return Staging(path, lock, made)
    except OSError as problem:
        for folder in reversed(made):
            fs.remove_folder(folder)
        raise own(problem, layout.staging) from problem
    raise LibraryError("library-locked", f"no staging folder could be kept in {layout.staging}", layout.staging)


def _make_locked(path: str) -> fs.FolderLock | None:
    """Make and lock a folder; None where a sweep got between the two."""
    try:
        fs.make_folder(path, 0o700)
        lock = fs.FolderLock.take(path)
    except FileNotFoundError:
        return None
    if lock is None or not os.path.isdir(path):
        if lock is not None:
            lock.release()
        return None
    return lock


def reopen(layout: Layout, name: str) -> Staging:
    """Return the staging folder that a candidate waits in, locked unless another command has it.

    Raises:
        LibraryError: `library-stale` where it is gone.
    """
    path = f"{layout.staging}/{name}"
    try:
        lock = fs.FolderLock.take(path)
    except OSError as problem:
        raise LibraryError(
            "library-stale", f"stale: the staged files are gone ({path}); preview again", path, problem.errno or 0
        ) from problem
    staging = Staging(path, lock, [])
    staging.keep()
    return staging


def remove(layout: Layout, name: str) -> None:
    """Remove the staging folder of a candidate that nobody installs any more; what is in the way stays for a sweep."""
    try:
        fs.remove_tree(f"{layout.staging}/{name}")
    except OSError:
        return


def sweep(layout: Layout, wanted: Callable[[], set[str]]) -> int:
    """Remove staging folders whose process is gone and in which no candidate waits; return how many went.

    `wanted` is asked for the folders of candidates after the lock of a folder was had: a process stores its candidate
    before it lets go.
    """
    try:
        names = os.listdir(layout.staging)
    except OSError:
        return 0
    swept = 0
    for name in names:
        path = f"{layout.staging}/{name}"
        try:
            if os.path.islink(path) or not os.path.isdir(path):
                continue
            lock = fs.FolderLock.take(path)
            if lock is None:
                continue
            young = not lock.real and time.time() - os.stat(path).st_mtime < UNLOCKABLE_SECONDS
            if not young and (name.startswith(PRIVATE) or name not in wanted()):
                fs.remove_tree(path)
                swept += 1
            lock.release()
        except OSError:
            # It goes with the next command; a sweep stands in nobody's way.
            continue
    return swept
