"""What stands on disk in the place of an item: hashed now, never remembered.

Noise and the host application's own files take no part. A link or a special file inside makes the digest one that no
package can have, so it never counts as identical.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, overload

from importer import fs
from importer.digests import tree_digest
from importer.entries import HOST_FILES, is_noise
from importer.library.errors import LibraryError
from importer.paths import RelPath, sort_key
from importer.records import record
from importer.workers import run_each

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from importer.model import FileRecord

LARGE = 64 * 1024
"""Bytes of a file from which hashing it takes longer than all steps around it."""
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_READ_TOP = _READ & ~getattr(os, "O_NOFOLLOW", 0)
Stamp = tuple[int, int, int, int, int]
"""Inode, size, modification and change time in ns, mode: any write to a file gives it another change time."""


class DiskFile(NamedTuple):
    """One regular file, or something else with a digest that no file has."""

    path: RelPath
    sha256: str
    executable: bool
    regular: bool = True
    size: int = 0


@record(kw_only=False)
class DiskTree:
    """An item as it is on disk."""

    digest: str
    files: tuple[DiskFile, ...]
    stamps: Mapping[str, Stamp]
    """Of each file, when it was read; empty where the item is no folder."""

    @property
    def executables(self) -> tuple[str, ...]:
        """Paths with the executable bit, ordered like the files."""
        return tuple(file.path.text for file in self.files if file.executable)


@record(kw_only=False)
class Difference:
    """How an item on disk differs from its record; all empty where it does not."""

    modified: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    executable: tuple[str, ...] = ()
    """Files whose bytes agree and whose executable bit does not."""

    def __bool__(self) -> bool:
        return bool(self.modified or self.missing or self.extra or self.executable)


def read_item(path: str) -> DiskTree:
    """Hash an item: a folder (a link to one is followed), or a single file.

    Raises:
        OSError: something in it cannot be read, or is not there (any more).
    """
    reading = _Reading(path)
    for large in reading.large:
        reading.hash(large)
    return reading.tree()


def read_items(paths: Sequence[str], named: Sequence[str]) -> list[DiskTree]:
    """Hash several items at once: small files one by one, since two threads would only wait for each other, then the
    large ones on two threads.

    Args:
        paths: where they are.
        named: the same places as the person knows them, for errors.

    Raises:
        FileNotFoundError: one vanished meanwhile.
        LibraryError: one cannot be read.
    """
    readings: list[_Reading] = []
    for path, name in zip(paths, named, strict=True):
        with _explained(name):
            readings.append(_Reading(path))

    def read(work: tuple[_Reading, _Large, str]) -> None:
        reading, large, name = work
        with _explained(name):
            reading.hash(large)

    large = [(one, file, name) for one, name in zip(readings, named, strict=True) for file in one.large]
    run_each(read, large)
    return [reading.tree() for reading in readings]


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as problem:
        told = fs.explained(problem, problem.filename or name, "read")
        raise LibraryError(told.code, told.message, name, told.errno or 0) from problem


class _Large(NamedTuple):
    """A file that is hashed later, on any thread."""

    full: str
    path: str


class _Reading:
    """One item on its way to a tree: everything is hashed already but the `large` files."""

    def __init__(self, path: str) -> None:
        self.large: list[_Large] = []
        self._files: list[DiskFile] = []
        self._stamps: dict[str, Stamp] = {}
        name = os.path.basename(path)
        try:
            status = os.stat(path)
        except FileNotFoundError:
            if not os.path.islink(path):
                raise
            self._files.append(_odd(name, f"link:{os.readlink(path)}"))
            return
        except OSError as problem:
            if problem.errno != errno.ELOOP:
                raise
            self._files.append(_odd(name, f"link:{os.readlink(path)}"))
            return
        if stat.S_ISDIR(status.st_mode):
            self._folder(path)
        elif stat.S_ISREG(status.st_mode):
            self._files.append(_read_file(path, name, {}, _READ_TOP))
        else:
            self._files.append(_odd(name, "special"))

    def _folder(self, base: str) -> None:
        for path, entry in _entries(base):
            if entry.is_file(follow_symlinks=False):
                file = _read_file(entry.path, path, self._stamps, most=LARGE)
                if file is None:
                    self.large.append(_Large(entry.path, path))
                else:
                    self._files.append(file)
            elif entry.is_symlink():
                self._files.append(_odd(path, f"link:{os.readlink(entry.path)}"))
            else:
                self._files.append(_odd(path, "special"))

    def hash(self, large: _Large) -> None:
        """Hash one large file. Raises OSError."""
        self._files.append(_read_file(large.full, large.path, self._stamps))

    def tree(self) -> DiskTree:
        """Return the item, once every large file was hashed."""
        self._files.sort(key=lambda file: sort_key(file.path))
        return DiskTree(tree_digest(self._files), tuple(self._files), self._stamps)


def _odd(path: str, what: str) -> DiskFile:
    # A path with a NUL can be in no package, so neither can the digest of a tree that holds it.
    text = path.encode("utf-8", "backslashreplace").decode("utf-8")
    digest = hashlib.sha256(what.encode("utf-8", "surrogateescape")).hexdigest()
    return DiskFile(RelPath(f"{text}\0"), digest, False, regular=False)


def _entries(base: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield everything under a folder but folders, with its path from there; noise and host files take no part."""
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(f"{base}/{prefix}") as entries:
            for entry in entries:
                if is_noise(entry.name) or (not prefix and entry.name in HOST_FILES):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{prefix}{entry.name}/")
                else:
                    yield prefix + entry.name, entry


@overload
def _read_file(full: str, path: str, stamps: dict[str, Stamp], flags: int = _READ) -> DiskFile: ...
@overload
def _read_file(full: str, path: str, stamps: dict[str, Stamp], flags: int = _READ, *, most: int) -> DiskFile | None: ...
def _read_file(
    full: str, path: str, stamps: dict[str, Stamp], flags: int = _READ, *, most: int | None = None
) -> DiskFile | None:
    """Hash one file; None, and nothing was read, where it is larger than `most`."""
    descriptor = os.open(full, flags)
    try:
        status = os.fstat(descriptor)
        if most is not None and status.st_size > most:
            return None
        stamps[path] = _stamp(status)
        whole = hashlib.sha256()
        # One byte more than the file has: a small one takes one read, and one that grew meanwhile shows that it did.
        piece = min(fs.CHUNK, status.st_size + 1)
        left = status.st_size
        while data := os.read(descriptor, piece):
            whole.update(data)
            left -= len(data)
            if left == 0 and len(data) < piece:
                break
    finally:
        os.close(descriptor)
    if not path.isascii():
        import unicodedata

        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            return _odd(path, f"file:{whole.hexdigest()}")
        path = unicodedata.normalize("NFC", path)
    return DiskFile(RelPath(path), whole.hexdigest(), bool(status.st_mode & 0o100), size=status.st_size)


def _stamp(status: os.stat_result) -> Stamp:
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode)


def unchanged(path: str, tree: DiskTree) -> bool:
    """Return whether an item, perhaps renamed since, is still what `tree` was read from.

    A folder's files keep their change times when the folder is renamed; a single file is read again.
    """
    if not tree.stamps:
        return read_item(path).digest == tree.digest
    found: set[str] = set()
    for name, entry in _entries(path):
        if entry.is_file(follow_symlinks=False):
            if tree.stamps.get(name) != _stamp(entry.stat(follow_symlinks=False)):
                return False
            found.add(name)
    return len(found) == len(tree.stamps)


def compare(tree: DiskTree, records: Iterable[FileRecord]) -> Difference:
    """Return how an item on disk differs from what was installed."""
    known = {record.path.text: record for record in records}
    modified: list[str] = []
    executable: list[str] = []
    extra: list[str] = []
    for file in tree.files:
        path = file.path.text.rstrip("\0")
        record = known.pop(path, None)
        if record is None:
            extra.append(path)
        elif not file.regular or file.sha256 != record.sha256:
            modified.append(path)
        elif file.executable != record.executable:
            executable.append(path)
    return Difference(tuple(modified), tuple(known), tuple(extra), tuple(executable))
