"""A folder on disk as a container. Links are never followed, and what is read is what was listed.

Every name is opened relative to its parent's descriptor, one segment at a time and without following links, so nothing
that changes meanwhile leads out of the folder. `.git` is seen and not entered.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from importer.diagnostics import Diagnostic, Rejected, error, shown
from importer.model import EntryKind, Listed
from importer.sources.file import CHUNK, OPEN_FLAGS, cannot_read, changed, kind_of
from importer.workers import run_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from importer.model import Entry
    from importer.ports import Charge, FileSink, Receiver

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS = OPEN_FLAGS | getattr(os, "O_DIRECTORY", 0)
_EFFECTIVE = os.access in os.supports_effective_ids
_BATCH = 32
"""So many files of one folder are one piece of work: it is opened once for them, and threads share a large one."""


class _Seen(NamedTuple):
    """What a file was when it was listed."""

    name: str
    device: int
    inode: int
    size: int
    mtime_ns: int


class DirectoryContainer:
    """A folder. `max_depth` is how many segments a path may have before what lies deeper is no longer listed."""

    kind = "directory"

    def __init__(self, path: str | os.PathLike[str], *, max_depth: int = 32) -> None:
        """Open the folder; a symbolic link to one is followed here, and only here.

        Raises:
            Rejected: nothing is there, it may not be read, or it is no folder.
        """
        self.path = os.fspath(path)
        self._max_depth = max_depth
        self._seen: list[_Seen] = []
        self._root = -1
        try:
            self._root = os.open(self.path, _FOLDER_FLAGS)
        except NotADirectoryError as problem:
            if not os.path.exists(self.path):
                raise cannot_read(self.path, problem) from None
            message = f"cannot read {shown(self.path)}: expected a folder"
            raise Rejected([error("source-unreadable", message, self.path)]) from None
        except (OSError, ValueError) as problem:
            raise cannot_read(self.path, problem) from None

    def list(self, charge_entries: Charge, /) -> Sequence[Listed]:
        """Return everything in the folder, the names of each folder in the order of their bytes.

        Raises:
            Rejected: a folder was replaced while it was read (`source-changed`).
        """
        listed: list[Listed] = []
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            inner: list[str] = []
            try:
                found = self._scan(folder, charge_entries)
            except PermissionError as problem:
                if not folder:
                    raise cannot_read(self.path, problem) from None
                # Listed a second time, now with the reason why nothing of it is here.
                listed.append(self._directory(folder, _unreadable(folder, "folder")))
                continue
            for item in found:
                listed.append(item)
                # Folders one level too deep are listed, so that they are refused by name, and not entered.
                enters = item.kind is EntryKind.DIRECTORY and item.name.rpartition("/")[2] != ".git"
                if enters and item.name.count("/") < self._max_depth:
                    inner.append(item.name)
            waiting += reversed(inner)
        return listed

    def notes(self) -> Sequence[Diagnostic]:
        """Return nothing: what is wrong with a folder's entries stands at the entries."""
        return ()

    def deliver(self, wanted: Sequence[Entry], receiver: Receiver, charge: Charge, /) -> None:
        """Deliver the bytes of files, each read once and completely.

        Raises:
            Rejected: a file is no longer what was listed (`source-changed`), or may not be read.
        """
        folders: dict[str, list[Entry]] = {}
        for entry in wanted:
            folders.setdefault(self._seen[entry.handle].name.rpartition("/")[0], []).append(entry)
        batches: Sequence[tuple[str, Sequence[Entry]]] = [
            (folder, entries[start : start + _BATCH])
            for folder, entries in folders.items()
            for start in range(0, len(entries), _BATCH)
        ]

        def work(batch: tuple[str, Sequence[Entry]]) -> None:
            folder, entries = batch
            parent = self._open_folder(folder)
            try:
                for entry in entries:
                    sink = receiver.begin(entry)
                    if sink is not None:
                        self._deliver_one(parent, entry, sink, charge)
            finally:
                os.close(parent)

        run_each(work, batches)

    def verify_rest(self, charge: Charge, /) -> None:
        """Do nothing: a folder has one reading."""

    def close(self) -> None:
        """Close the folder; nothing happens the second time."""
        if self._root >= 0:
            os.close(self._root)
            self._root = -1

    def _scan(self, folder: str, charge_entries: Charge) -> Sequence[Listed]:
        descriptor = self._open_folder(folder)
        try:
            names: list[str] = []
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    charge_entries(1, _joined(folder, entry.name))
                    names.append(entry.name)
            names.sort(key=os.fsencode)
            return [self._item(descriptor, folder, name) for name in names]
        finally:
            os.close(descriptor)

    def _item(self, parent: int, folder: str, name: str) -> Listed:
        full = _joined(folder, name)
        try:
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError:
            raise changed(self.path, f"{shown(full)} disappeared") from None
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            return self._directory(full)
        kind, fault, target = EntryKind.SPECIAL, None, None
        if stat.S_ISREG(mode):
            kind = EntryKind.FILE
            if not os.access(name, os.R_OK, dir_fd=parent, effective_ids=_EFFECTIVE):
                fault = _unreadable(full, "file")
        elif stat.S_ISLNK(mode):
            kind = EntryKind.SYMLINK
            try:
                target = os.readlink(name, dir_fd=parent)
            except OSError:
                raise changed(self.path, f"{shown(full)} was replaced") from None
        self._seen.append(_Seen(full, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))
        return Listed(
            name=full,
            kind=kind,
            size=status.st_size,
            packed=status.st_size,
            executable=bool(mode & 0o111),
            handle=len(self._seen) - 1,
            link_target=target,
            special=kind_of(mode) if kind is EntryKind.SPECIAL else "",
            fault=fault,
        )

    def _directory(self, full: str, fault: Diagnostic | None = None) -> Listed:
        return Listed(name=full, kind=EntryKind.DIRECTORY, size=0, packed=0, executable=None, handle=-1, fault=fault)

    def _open_folder(self, folder: str) -> int:
        """Open a folder below the root, one segment at a time and through no link; the caller closes it."""
        # "." of the root is a description of its own: two readers of one folder must not share a position in it.
        current = os.open(".", _FOLDER_FLAGS, dir_fd=self._root)
        try:
            for segment in folder.split("/") if folder else ():
                inner = os.open(segment, _FOLDER_FLAGS | _NO_LINK, dir_fd=current)
                os.close(current)
                current = inner
        except OSError as problem:
            os.close(current)
            if problem.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
                raise changed(self.path, f"the folder {shown(folder)} was replaced or removed") from None
            raise
        return current

    def _deliver_one(self, parent: int, entry: Entry, sink: FileSink, charge: Charge) -> None:
        seen = self._seen[entry.handle]
        name = seen.name.rpartition("/")[2]
        try:
            descriptor = os.open(name, OPEN_FLAGS | _NO_LINK, dir_fd=parent)
        except PermissionError:
            raise Rejected([_unreadable(seen.name, "file")]) from None
        except OSError as problem:
            if problem.errno in {errno.ENOENT, errno.ELOOP, errno.ENXIO}:
                raise changed(self.path, f"{shown(seen.name)} was replaced or removed") from None
            raise
        try:
            self._check(descriptor, seen)
            left = seen.size
            # One byte more is asked for at the end, to notice a file that grew.
            while data := os.read(descriptor, min(CHUNK, left + 1)):
                left -= len(data)
                if left < 0:
                    raise changed(self.path, f"{shown(seen.name)} is longer than it was")
                charge(len(data), entry.path.text)
                sink.write(data)
            if left:
                raise changed(self.path, f"{shown(seen.name)} is shorter than it was")
            self._check(descriptor, seen)
        finally:
            os.close(descriptor)
        sink.done()

    def _check(self, descriptor: int, seen: _Seen) -> None:
        status = os.fstat(descriptor)
        now = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if not stat.S_ISREG(status.st_mode) or now != (seen.device, seen.inode, seen.size, seen.mtime_ns):
            raise changed(self.path, f"{shown(seen.name)} is no longer the file that was listed")


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _unreadable(path: str, what: str) -> Diagnostic:
    return error(
        "source-unreadable",
        f"the {what} {shown(path)} may not be read (permission denied); see that you may read it",
        path,
        cause="permission denied",
    )
