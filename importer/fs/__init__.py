"""The one module that writes to disk; SQLite writes its own files, and nothing else does.

Each function does one kind of operation and tells `observer` of it beforehand. That is how the tests stop a process at
every single operation; in normal life nobody listens.

What is durable when: a file after `sync_file`, a name (new, renamed, removed) after `sync_folder` of the folder that
holds it, everything under a folder after `sync_tree`. Between those, a power cut may take back the latest operations.
Directory operations are taken to reach the disk in order, as journaling and copy-on-write file systems have it.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from typing import TYPE_CHECKING

from importer.fs.errors import DiskError, explained
from importer.fs.locks import FOLDER, FolderLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from _typeshed import ReadableBuffer as Buffer

__all__ = [
    "CHUNK",
    "NEW_FILE",
    "DiskError",
    "FolderLock",
    "NewFile",
    "copy_tree",
    "create",
    "explained",
    "make_executable",
    "make_folder",
    "make_folders",
    "observer",
    "remove_file",
    "remove_folder",
    "remove_tree",
    "rename",
    "sync_file",
    "sync_folder",
    "sync_tree",
    "tell",
    "write",
    "write_new",
    "write_whole",
]

observer: Callable[[str, str, str], None] | None = None
"""Told of every operation just before it happens: its name, the path, and the second path of a rename or a copy."""

NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
CHUNK = 1 << 20
SYNC_THREADS = 8
SYNC_ONE_BY_ONE = 16
"""Up to so many files are synced one by one; more are cheaper with one sync of their file system."""


def tell(operation: str, path: str, other: str = "") -> None:
    """Tell the observer of an operation, or of a step of a transaction, that comes next."""
    if observer is not None:
        observer(operation, path, other)


# --- folders and names -----------------------------------------------------------------------------------------------


def make_folder(path: str, mode: int = 0o777) -> bool:
    """Make one folder; return False where it is there already. Raises OSError, also where a file is in the way."""
    tell("mkdir", path)
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        return False
    return True


def make_folders(path: str, mode: int = 0o777) -> list[str]:
    """Make a folder with everything above it; return those that were made, the outermost first."""
    missing: list[str] = []
    while not os.path.isdir(path):
        missing.append(path)
        parent = os.path.dirname(path)
        if parent == path:
            break
        path = parent
    return [folder for folder in reversed(missing) if make_folder(folder, mode)]


def rename(source: str, target: str) -> None:
    """Give a file or a folder its new name. The caller made sure that nothing has that name."""
    tell("rename", source, target)
    os.rename(source, target)


def remove_file(path: str) -> None:
    """Remove a file or a link, not what it points to; nothing happens where there is none."""
    tell("unlink", path)
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def remove_folder(path: str) -> bool:
    """Remove a folder when it is empty; return whether it is gone."""
    tell("rmdir", path)
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError as problem:
        if problem.errno in {errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS}:
            return False
        raise
    return True


def remove_tree(path: str) -> None:
    """Remove a file, a link, or a folder with everything in it; links are removed, never followed."""
    if not os.path.lexists(path):
        return
    if os.path.islink(path) or not os.path.isdir(path):
        remove_file(path)
        return
    waiting = [path]
    folders: list[str] = []
    while waiting:
        folder = waiting.pop()
        folders.append(folder)
        for name, is_folder in _children(folder):
            if is_folder:
                waiting.append(name)
            else:
                remove_file(name)
    for folder in reversed(folders):
        tell("rmdir", folder)
        os.rmdir(folder)


def _children(folder: str) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            found = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
        if found and not os.access(folder, os.W_OK | os.X_OK):
            os.chmod(folder, 0o700)
    except PermissionError:
        os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            found = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
    return found


# --- files -----------------------------------------------------------------------------------------------------------


def create(path: str, executable: bool = False, mode: int | None = None) -> int:
    """Create a file that does not exist yet and return its descriptor, open for writing.

    The mode is 0644, or 0755 where it is executable, less what the umask takes away.
    """
    if observer is not None:
        observer("create", path, "")
    return os.open(path, NEW_FILE, mode if mode is not None else 0o755 if executable else 0o644)


def write(descriptor: int, data: bytes | memoryview, path: str = "") -> None:
    """Write all of `data`. Raises DiskError with `path`: a descriptor alone does not know it."""
    if observer is not None:
        observer("write", path, "")
    try:
        done = os.write(descriptor, data)
        if done < len(data):
            rest = memoryview(data)[done:]
            while rest:
                rest = rest[os.write(descriptor, rest) :]
    except OSError as problem:
        raise explained(problem, path) from problem


class NewFile(io.RawIOBase):
    """A file that does not exist yet, for writing; its errors name its path. Wrap it in a buffer."""

    def __init__(self, path: str, mode: int = 0o600) -> None:
        self._path = path
        self._descriptor = create(path, mode=mode)

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Write all of `data`."""
        view = memoryview(data).cast("B")
        write(self._descriptor, view, self._path)
        return len(view)

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def make_executable(descriptor: int) -> None:
    """Let everybody execute an open file who may read it."""
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    os.fchmod(descriptor, mode | (mode & 0o444) >> 2)


def write_new(path: str, data: bytes, mode: int = 0o644) -> None:
    """Create a file with these bytes, and leave nothing where that fails."""
    descriptor = create(path, mode=mode)
    try:
        write(descriptor, data, path)
    except BaseException:
        os.close(descriptor)
        os.unlink(path)
        raise
    os.close(descriptor)


def write_whole(path: str, chunks: Iterable[bytes], *, replace: bool, mode: int = 0o644) -> None:
    """Write a file so that it is there as a whole, durably, or not at all.

    A link is followed to the file that it names; a file that is replaced keeps its mode.

    Args:
        path: where it goes.
        chunks: its bytes.
        replace: whether a file that is there may be replaced.
        mode: for a new file, less what the umask takes away.

    Raises:
        DiskError: path and cause; `FileExistsError`'s cause where something is there and `replace` is False.
    """
    target = os.path.realpath(path)
    beside = f"{target}.{os.urandom(6).hex()}.part"
    try:
        kept = stat.S_IMODE(os.stat(target).st_mode) if os.path.lexists(target) else None
        if kept is not None and not replace:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        descriptor = create(beside, mode=mode if kept is None else kept & 0o700)
        try:
            for chunk in chunks:
                write(descriptor, chunk, beside)
            if kept is not None:
                os.fchmod(descriptor, kept)
            tell("fsync", beside)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if replace:
            tell("replace", beside, target)
            os.replace(beside, target)
        else:
            tell("link", beside, target)
            _name_new(beside, target)
        sync_folder(os.path.dirname(target))
    except OSError as problem:
        _drop(beside)
        raise explained(problem, path) from problem
    except BaseException:
        _drop(beside)
        raise


def _name_new(beside: str, target: str) -> None:
    """Give a finished file its name without ever taking the name from another: a rename alone would."""
    try:
        os.link(beside, target, follow_symlinks=False)
    except OSError as problem:
        if problem.errno not in {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}:
            raise
        os.close(os.open(target, NEW_FILE, 0o600))
        os.replace(beside, target)
        return
    os.unlink(beside)


def _drop(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def copy_tree(source: str, target: str) -> None:
    """Copy a file, a link or a folder to a name that is free, with modes, and times of files; links stay links."""
    waiting = [(source, target)]
    folders: list[tuple[str, int]] = []
    while waiting:
        here, there = waiting.pop()
        status = os.lstat(here)
        if stat.S_ISLNK(status.st_mode):
            tell("symlink", there)
            os.symlink(os.readlink(here), there)
        elif stat.S_ISDIR(status.st_mode):
            tell("mkdir", there)
            os.mkdir(there, 0o700)
            folders.append((there, stat.S_IMODE(status.st_mode)))
            with os.scandir(here) as entries:
                waiting += [(entry.path, os.path.join(there, entry.name)) for entry in entries]
        elif stat.S_ISREG(status.st_mode):
            _copy_file(here, there, status)
        else:
            raise OSError(errno.EINVAL, "neither file, folder nor link", here)
    for folder, mode in reversed(folders):
        os.chmod(folder, mode)


def _copy_file(here: str, there: str, status: os.stat_result) -> None:
    reading = os.open(here, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        writing = create(there, mode=0o600)
        try:
            while data := os.read(reading, CHUNK):
                write(writing, data, there)
            os.fchmod(writing, stat.S_IMODE(status.st_mode) & 0o777)
            if os.utime in os.supports_fd:
                os.utime(writing, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(writing)
    finally:
        os.close(reading)


# --- durability ------------------------------------------------------------------------------------------------------


def sync_file(path: str) -> None:
    """Make the bytes and the mode of one file durable."""
    tell("fsync", path)
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: str) -> None:
    """Make the names in one folder durable. Nothing happens where the system does not know folders as files."""
    tell("fsync-folder", path)
    if os.name == "nt":
        return
    descriptor = os.open(path or ".", FOLDER)
    try:
        os.fsync(descriptor)
    except OSError as problem:
        if problem.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)


def sync_tree(root: str) -> None:
    """Make everything under a folder durable, and the folder itself; its own name is up to `sync_folder`."""
    tell("sync-tree", root)
    files: list[str] = []
    folders: list[str] = []
    for kind, path in _walk(root):
        (folders if kind else files).append(path)
    if len(files) > SYNC_ONE_BY_ONE and _sync_file_system(root):
        return
    if len(files) > SYNC_ONE_BY_ONE:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(SYNC_THREADS) as pool:
            list(pool.map(sync_file, files))
    else:
        for path in files:
            sync_file(path)
    for folder in reversed(folders):
        sync_folder(folder)


def _walk(root: str) -> Iterator[tuple[bool, str]]:
    """Yield every folder (True) and regular file (False) under a path, the path itself first."""
    status = os.lstat(root)
    if not stat.S_ISDIR(status.st_mode):
        if stat.S_ISREG(status.st_mode):
            yield False, root
        return
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        yield True, folder
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield False, entry.path


def _sync_file_system(path: str) -> bool:
    """Sync the file system that holds `path` in one go; return False where the system has no such call."""
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        syncfs = ctypes.CDLL(None, use_errno=True).syncfs
    except (AttributeError, OSError):
        return False
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if syncfs(descriptor) == 0:
            return True
        number = ctypes.get_errno()
    finally:
        os.close(descriptor)
    if number in {errno.ENOSYS, errno.EPERM}:
        return False
    raise OSError(number, os.strerror(number), path)
