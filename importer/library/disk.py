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
from dataclasses import dataclass
from typing import TYPE_CHECKING

from importer import fs
from importer.digests import tree_digest
from importer.entries import HOST_FILES, is_noise
from importer.library.errors import LibraryError
from importer.paths import RelPath, sort_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from importer.model import FileRecord

THREADS = 4
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_READ_TOP = _READ & ~getattr(os, "O_NOFOLLOW", 0)
Stamp = tuple[int, int, int, int, int]
"""Inode, size, modification and change time in ns, mode: any write to a file gives it another change time."""


@dataclass(frozen=True, slots=True)
class DiskFile:
    """One regular file, or something else with a digest that no file has."""

    path: RelPath
    sha256: str
    executable: bool
    regular: bool = True
    size: int = 0


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
    name = os.path.basename(path)
    try:
        status = os.stat(path)
    except FileNotFoundError:
        if not os.path.islink(path):
            raise
        return _tree([_odd(name, f"link:{os.readlink(path)}")], {})
    except OSError as problem:
        if problem.errno != errno.ELOOP:
            raise
        return _tree([_odd(name, f"link:{os.readlink(path)}")], {})
    if stat.S_ISDIR(status.st_mode):
        return _read_folder(path)
    if stat.S_ISREG(status.st_mode):
        return _tree([_read_file(path, name, {}, _READ_TOP)], {})
    return _tree([_odd(name, "special")], {})


def _tree(files: list[DiskFile], stamps: Mapping[str, Stamp]) -> DiskTree:
    files.sort(key=lambda file: sort_key(file.path))
    return DiskTree(tree_digest(files), tuple(files), stamps)


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


def _read_folder(base: str) -> DiskTree:
    files: list[DiskFile] = []
    stamps: dict[str, Stamp] = {}
    for path, entry in _entries(base):
        if entry.is_file(follow_symlinks=False):
            files.append(_read_file(entry.path, path, stamps))
        elif entry.is_symlink():
            files.append(_odd(path, f"link:{os.readlink(entry.path)}"))
        else:
            files.append(_odd(path, "special"))
    return _tree(files, stamps)


def _read_file(full: str, path: str, stamps: dict[str, Stamp], flags: int = _READ) -> DiskFile:
    descriptor = os.open(full, flags)
    try:
        status = os.fstat(descriptor)
        stamps[path] = _stamp(status)
        whole = hashlib.sha256()
        while data := os.read(descriptor, fs.CHUNK):
            whole.update(data)
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


def read_items(paths: Sequence[str], named: Sequence[str]) -> list[DiskTree]:
    """Hash several items at once.

    Args:
        paths: where they are.
        named: the same places as the person knows them, for errors.

    Raises:
        FileNotFoundError: one vanished meanwhile.
        LibraryError: one cannot be read.
    """

    def read(place: tuple[str, str]) -> DiskTree:
        try:
            return read_item(place[0])
        except FileNotFoundError:
            raise
        except OSError as problem:
            told = fs.explained(problem, problem.filename or place[1], "read")
            raise LibraryError(told.code, told.message, place[1], told.errno or 0) from problem

    places = list(zip(paths, named, strict=True))
    if len(places) < 2:
        return [read(place) for place in places]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(THREADS, len(places))) as pool:
        return list(pool.map(read, places))
