"""Packs: files in which the bytes of many staged files lie one behind another, as they came.

Making, opening and closing thousands of small files costs far more than their bytes do, and a preview that nobody
installs needs none of them. What came as a Deflate stream stays one: a fifth of the bytes are written, and whoever
takes a file out inflates and hashes it again.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import threading
from typing import TYPE_CHECKING, NamedTuple

from importer import fs
from importer.inflate import Inflater, best_backend

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BUFFER = 256 * 1024
"""Bytes that are gathered before they are written."""
GATHERING = 8
"""Packs that gather. Only files that come side by side need more; each writes at once, so memory stays flat."""
INDEX = "index"
LONGEST = 1 << 16
"""Characters of a line of the index: more than any path has."""
PIECE = 64 * 1024
_LINE = re.compile(r"(?:([0-9]{1,9}) ([0-9]{1,18}) ([0-9]{1,18}) ([01]) (.+)|([0-9]{1,18}))\n")
_OUT = 128 * 1024
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class Blob(NamedTuple):
    """Where one file lies: in which pack, from which byte on, how many bytes, and whether they are a Deflate stream."""

    pack: int
    start: int
    length: int
    deflated: bool


class PackDamaged(OSError):
    """A blob is cut short, or is no Deflate stream; or a pack or the index is not as it was written, or gone."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EIO, "it is no longer as it was written; preview again", path)


class Pack:
    """One file that grows at its end; one thread at a time writes to it."""

    def __init__(self, number: int, path: str) -> None:
        self.number = number
        self.end = 0
        self._path = path
        self._most = BUFFER if number < GATHERING else 0
        self._descriptor = fs.create(path, mode=0o600)
        self._buffer = bytearray()

    def append(self, data: bytes | memoryview) -> None:
        """Write `data` at the end. Raises DiskError."""
        self.end += len(data)
        if len(self._buffer) + len(data) <= self._most:
            self._buffer += data
            return
        self.flush()
        if len(data) < self._most:
            self._buffer += data
        else:
            fs.write(self._descriptor, data, self._path)

    def flush(self) -> None:
        """Write what was gathered. Raises DiskError."""
        if self._buffer:
            with memoryview(self._buffer) as whole:
                fs.write(self._descriptor, whole, self._path)
            self._buffer = bytearray()

    def close(self) -> None:
        """Close the file, whatever was gathered."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class Packs:
    """The packs of one folder: lent to whoever writes a file, so that each blob lies in one piece."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._free: list[Pack] = []
        self._every: list[Pack] = []
        self._lock = threading.Lock()

    def lend(self) -> Pack:
        """Return a pack that nobody else writes to until it is given back. Raises OSError."""
        try:
            return self._free.pop()
        except IndexError:
            with self._lock:
                number = len(self._every)
                pack = Pack(number, _path(self._folder, number))
                self._every.append(pack)
                return pack

    def give_back(self, pack: Pack) -> None:
        """Let others write to a pack."""
        self._free.append(pack)

    def flush(self) -> None:
        """Write everything that was gathered, while nobody writes. Raises DiskError.

        A pack whose file was broken off was never given back, and holds other files all the same.
        """
        for pack in self._every:
            pack.flush()

    def sizes(self) -> list[int]:
        """Return the bytes of each pack, in the order of their numbers."""
        return [pack.end for pack in self._every]

    def close(self) -> None:
        """Close every pack."""
        for pack in self._every:
            pack.close()


class PackReader:
    """Takes blobs out of the packs of a folder; safe to use from several threads at once."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._descriptors: dict[int, int] = {}
        self._lock = threading.Lock()
        self._backend = best_backend()

    def content(self, blob: Blob, size: int) -> Iterator[bytes]:
        """Yield the content of a blob; of a longer one than `size` bytes no more than shows that it is longer.

        Raises:
            PackDamaged: the blob is not whole, or its pack is gone.
            OSError: the pack cannot be read.
        """
        if not blob.deflated:
            yield from self._stored(blob._replace(length=min(blob.length, size + 1)))
            return
        inflater = self._backend.inflater()
        room = size + 1
        for piece in self._stored(blob):
            data: bytes | memoryview = piece
            while data and not inflater.eof:
                content = self._inflate(blob, inflater, data, min(_OUT, room))
                room -= len(content)
                yield content
                if room <= 0:
                    return
                data = inflater.unconsumed_tail
        while not inflater.eof:
            content = self._inflate(blob, inflater, b"", min(_OUT, room))
            if not content:
                raise self._damaged(blob)
            room -= len(content)
            yield content
            if room <= 0:
                return

    def _inflate(self, blob: Blob, inflater: Inflater, data: bytes | memoryview, most: int) -> bytes:
        try:
            return inflater.decompress(data, most)
        except self._backend.errors as problem:
            raise self._damaged(blob) from problem

    def _damaged(self, blob: Blob) -> PackDamaged:
        return PackDamaged(_path(self._folder, blob.pack))

    def _stored(self, blob: Blob) -> Iterator[bytes]:
        descriptor = self._open(blob.pack)
        at, left = blob.start, blob.length
        while left > 0:
            data = os.pread(descriptor, min(PIECE, left), at)
            if not data:
                raise self._damaged(blob)
            yield data
            at += len(data)
            left -= len(data)

    def _open(self, number: int) -> int:
        with self._lock:
            if number not in self._descriptors:
                self._descriptors[number] = _opened(_path(self._folder, number))
            return self._descriptors[number]

    def close(self) -> None:
        """Close the packs that were opened."""
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors.clear()


def has_size(folder: str, number: int, size: int) -> bool:
    """Return whether a pack is there, as a regular file of that many bytes. Raises OSError."""
    try:
        status = os.lstat(_path(folder, number))
    except FileNotFoundError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == size


def write_index(folder: str, sizes: Iterable[int], blobs: Iterable[tuple[str, Blob]]) -> None:
    """Write down how large the packs of a folder are, and under which name each blob lies. Raises DiskError."""
    lines = [f"{size}\n" for size in sizes]
    lines += [f"{pack} {start} {length} {deflated:d} {name}\n" for name, (pack, start, length, deflated) in blobs]
    fs.write_new(f"{folder}/{INDEX}", "".join(lines).encode(), 0o600)


def read_index(folder: str) -> tuple[list[int], dict[str, Blob]]:
    """Return what `write_index` wrote.

    Raises:
        PackDamaged: there is none, or it has a line that `write_index` does not write.
        OSError: it cannot be read.
    """
    sizes: list[int] = []
    blobs: dict[str, Blob] = {}
    path = f"{folder}/{INDEX}"
    with open(_opened(path), encoding="utf-8", newline="\n") as lines:
        try:
            while line := lines.readline(LONGEST):
                found = _LINE.fullmatch(line)
                if found is None:
                    raise PackDamaged(path)
                pack, start, length, deflated, name, size = found.groups()
                if name is None:
                    sizes.append(int(size))
                else:
                    blobs[name] = Blob(int(pack), int(start), int(length), deflated == "1")
        except UnicodeDecodeError as problem:
            raise PackDamaged(path) from problem
    return sizes, blobs


def _opened(path: str) -> int:
    """Open a pack or an index, and nothing else that stands in its place: a pipe there would be waited for."""
    try:
        descriptor = os.open(path, _READ)
    except OSError as problem:
        if problem.errno not in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.ENXIO}:
            raise
        raise PackDamaged(path) from problem
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise PackDamaged(path)
    return descriptor


def _path(folder: str, number: int) -> str:
    return f"{folder}/pack-{number}"
