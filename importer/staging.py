"""Where a package's files stand between its source and the library: written once, hashed and inspected as they pass.

The folder is private to this process (its root has mode 0700 and a random name), so a name in it means what it meant a
moment ago. Files are created, never opened for writing again; nothing is held in memory.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
import threading
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO

from importer import fs
from importer.inspection import PLAIN_TEXT, FileInspector
from importer.model import FileRecord
from importer.paths import RelPath, sort_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from importer.inspection import Inspection
    from importer.model import Entry

HASH_THREADS = 2
HASH_ALONE = 32
"""Fewer files than this are not worth a second thread."""
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class StagedFolder:
    """Receives the files of one import; every method may be called from several threads.

    An entry is placed before it is delivered, and found again by its identity: two containers of one import may hold
    entries that are equal.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._base = os.fspath(root)
        self._lock = threading.Lock()
        self._places: dict[int, tuple[Entry, str, RelPath]] = {}
        self._made: set[str] = set()
        self._records: dict[str, list[FileRecord]] = {}
        self._inspections: dict[str, dict[str, Inspection]] = {}
        self._open: set[_Sink] = set()

    def place(self, entry: Entry, folder: str, path: RelPath) -> None:
        """Say where an entry goes: to `path` inside `folder`, which is a relative path inside the staging folder."""
        self._places[id(entry)] = (entry, folder, path)

    def begin(self, entry: Entry, /) -> _Sink | None:
        """Create the file of an entry; None where it was not placed. Raises OSError."""
        place = self._places.pop(id(entry), None)
        if place is None:
            return None
        _, folder, path = place
        parent = f"{self._base}/{folder}/{path.parent}" if path.parent else f"{self._base}/{folder}"
        if parent not in self._made:
            self._make(parent)
        full = f"{parent}/{path.name}"
        descriptor = fs.create(full, executable=entry.executable is True)
        sink = _Sink(self, descriptor, full, folder, path, entry.executable)
        self._open.add(sink)
        return sink

    def records(self, folder: str) -> tuple[FileRecord, ...]:
        """Return one record for each file that was delivered to a folder, ordered by the UTF-8 bytes of its path."""
        return tuple(sorted(self._records.get(folder, ()), key=lambda record: sort_key(record.path)))

    def inspections(self, folder: str) -> Mapping[str, Inspection]:
        """Return by path what was seen in the files of a folder as they were written; plain text is not mentioned."""
        return MappingProxyType(self._inspections.get(folder, {}))

    def read(self, folder: str, path: RelPath, limit: int) -> bytes:
        """Return at most `limit` bytes from the start of one file.

        Raises:
            KeyError: nothing was delivered under that path.
            OSError: it cannot be read.
        """
        if all(record.path != path for record in self._records.get(folder, ())):
            raise KeyError(path.text)
        descriptor = os.open(f"{self._base}/{folder}/{path.text}", _READ)
        try:
            parts: list[bytes] = []
            while limit > 0 and (data := os.read(descriptor, min(limit, fs.CHUNK))):
                parts.append(data)
                limit -= len(data)
        finally:
            os.close(descriptor)
        return b"".join(parts)

    def spool(self, name: str) -> tuple[BinaryIO, Path]:
        """Create a file beside the candidates, for a nested archive or an inflated tar.

        Returns:
            The file, open for writing, and its path. It goes with `drop_spool`, or when the staging folder does.
        """
        self._make(f"{self._base}/spool")
        path = self.root / "spool" / f"{len(name)}-{os.urandom(6).hex()}"
        return io.BufferedWriter(fs.NewFile(os.fspath(path)), 1 << 16), path

    def drop_spool(self) -> None:
        """Remove every spooled file: once the candidates are staged, nobody reads them again. Raises OSError."""
        spool = f"{self._base}/spool"
        if spool in self._made:
            fs.remove_tree(spool)
            self._made.discard(spool)

    def write(self, folder: str, path: RelPath, data: bytes) -> None:
        """Create a file with these bytes, made by the importer itself. Raises OSError."""
        parent = f"{self._base}/{folder}/{path.parent}" if path.parent else f"{self._base}/{folder}"
        self._make(parent)
        fs.write_new(f"{parent}/{path.name}", data)

    def rehash(self, folder: str, records: Sequence[FileRecord]) -> tuple[str, ...]:
        """Read every file of a folder again and compare it with its record.

        Returns:
            The paths that differ in bytes or in the executable bit, are missing, are no regular files, or are in the
            folder without a record; sorted.
        """
        base = f"{self._base}/{folder}"
        known = {record.path.text: record for record in records}
        differing = {path for path in _listing(base) if path not in known}
        if len(records) < HASH_ALONE:
            differing.update(record.path.text for record in records if not _agrees(base, record))
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(HASH_THREADS) as pool:
                same = pool.map(lambda record: _agrees(base, record), records)
                differing.update(record.path.text for record, agrees in zip(records, same, strict=True) if not agrees)
        return tuple(sorted(differing))

    def sync(self) -> None:
        """Make every staged file durable, with its name. Raises OSError."""
        fs.sync_tree(self._base)
        fs.sync_folder(os.path.dirname(self._base))

    def close(self) -> None:
        """Close what is still open after a delivery that was broken off."""
        for sink in list(self._open):
            sink.abandon()

    def _make(self, folder: str) -> None:
        with self._lock:
            if not self._made:
                fs.make_folder(self._base, 0o700)
                self._made.add(self._base)
            missing: list[str] = []
            while folder not in self._made:
                missing.append(folder)
                folder = os.path.dirname(folder)
            for path in reversed(missing):
                fs.make_folder(path)
                self._made.add(path)

    def _finished(self, sink: _Sink, record: FileRecord, inspection: Inspection) -> None:
        self._open.discard(sink)
        with self._lock:
            self._records.setdefault(sink.folder, []).append(record)
            if inspection is not PLAIN_TEXT:
                self._inspections.setdefault(sink.folder, {})[record.path.text] = inspection


class _Sink:
    """Writes one file. It counts as delivered once `done` was called."""

    __slots__ = ("_descriptor", "_executable", "_full", "_hash", "_inspector", "_path", "_size", "_staged", "folder")

    def __init__(
        self, staged: StagedFolder, descriptor: int, full: str, folder: str, path: RelPath, executable: bool | None
    ) -> None:
        self._staged = staged
        self._descriptor = descriptor
        self._full = full
        self.folder = folder
        self._path = path
        self._executable = executable
        self._hash = hashlib.sha256()
        self._inspector = FileInspector()
        self._size = 0

    def write(self, data: bytes | memoryview, /) -> None:
        """Take the next bytes of the file."""
        self._hash.update(data)
        self._inspector.feed(data)
        fs.write(self._descriptor, data, self._full)
        self._size += len(data)

    def done(self) -> None:
        """Close the file and record it."""
        inspection = self._inspector.result()
        shebang = inspection.shebang
        executable = self._executable
        if executable is None:
            executable = shebang
            if executable:
                fs.make_executable(self._descriptor)
        self._close()
        self._staged._finished(
            self,
            FileRecord(
                path=self._path,
                size=self._size,
                sha256=self._hash.hexdigest(),
                executable=executable,
                mode_known=self._executable is not None,
                shebang=shebang,
            ),
            inspection,
        )

    def abandon(self) -> None:
        """Close the file without recording it."""
        self._close()
        self._staged._open.discard(self)

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _listing(base: str) -> list[str]:
    """Return every path under a folder that is no folder, whatever else it is."""
    found: list[str] = []
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(f"{base}/{prefix}") as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{prefix}{entry.name}/")
                    else:
                        found.append(prefix + entry.name)
        except FileNotFoundError:
            continue
    return found


def _agrees(base: str, record: FileRecord) -> bool:
    try:
        descriptor = os.open(f"{base}/{record.path.text}", _READ)
    except OSError as problem:
        if problem.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES}:
            return False
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size != record.size:
            return False
        if bool(status.st_mode & 0o100) != record.executable:
            return False
        whole = hashlib.sha256()
        while data := os.read(descriptor, fs.CHUNK):
            whole.update(data)
    finally:
        os.close(descriptor)
    return whole.hexdigest() == record.sha256
