"""A file on disk as bytes that can be read anywhere, and one Markdown file as a package of its own."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from importer.diagnostics import Diagnostic, Rejected, error, shown
from importer.model import EntryKind, Listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from importer.model import Entry
    from importer.ports import Charge, Receiver

CHUNK = 256 * 1024
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Not blocking: a pipe that nobody writes to is opened and refused, not waited for."""


def kind_of(mode: int) -> str:
    """Say in words what a file mode stands for."""
    kinds = (
        (stat.S_ISREG, "regular file"),
        (stat.S_ISDIR, "folder"),
        (stat.S_ISLNK, "symbolic link"),
        (stat.S_ISFIFO, "named pipe"),
        (stat.S_ISSOCK, "socket"),
        (stat.S_ISCHR, "character device"),
        (stat.S_ISBLK, "block device"),
    )
    return next((name for is_kind, name in kinds if is_kind(mode)), "special file")


def cannot_read(path: str, problem: OSError | ValueError) -> Rejected:
    """Say why a source cannot be read: an error of the operating system, or Python's for a NUL in a path."""
    if not isinstance(problem, OSError):
        code, why = "source-not-found", "no path can hold a NUL character"
    elif problem.errno in {errno.ENOENT, errno.ENOTDIR}:
        code, why = "source-not-found", "nothing is there; check the spelling and the folder that you are in"
    elif problem.errno in {errno.EACCES, errno.EPERM}:
        code, why = "source-unreadable", "permission denied; see that you may read it"
    elif problem.errno == errno.ELOOP:
        code, why = "source-unreadable", "symbolic links lead in a circle"
    elif problem.errno == errno.ENXIO:
        code, why = "source-unreadable", "it is a socket or a device; give a regular file or a folder"
    elif problem.errno == errno.ENAMETOOLONG:
        code, why = "source-not-found", "the path is longer than the system allows"
    else:
        code, why = "source-unreadable", problem.strerror or type(problem).__name__
    return Rejected([error(code, f"cannot read {shown(path)}: {shown(why)}", path)])


def changed(path: str, what: str) -> Rejected:
    """Say that a source changed while it was read."""
    message = f"{shown(path)} changed while it was read ({what}); preview again once nothing writes to it"
    return Rejected([error("source-changed", message, path)])


class FileBytes:
    """A regular file, read by position from any thread. A symbolic link to one is followed: it is the user's own.

    Use it as a context manager; leaving it without an error checks that the file did not change meanwhile.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open `path`.

        Raises:
            Rejected: nothing is there, it may not be read, or it is no regular file.
        """
        self.path = os.fspath(path)
        self._fd = -1
        try:
            self._fd = os.open(self.path, OPEN_FLAGS)
            status = os.fstat(self._fd)
        except (OSError, ValueError) as problem:
            self.close()
            raise cannot_read(self.path, problem) from None
        if not stat.S_ISREG(status.st_mode):
            self.close()
            what = kind_of(status.st_mode)
            message = f"cannot read {shown(self.path)}: it is a {what}, expected a regular file"
            raise Rejected([error("source-unreadable", message, self.path, kind=what)])
        self._status = status
        self.size = status.st_size
        """Bytes of the file when it was opened."""

    @property
    def executable(self) -> bool:
        """Whether anybody may execute it."""
        return bool(self._status.st_mode & 0o111)

    def pread(self, size: int, offset: int, /) -> bytes:
        """Return up to `size` bytes from `offset`; fewer only at the end.

        Raises:
            Rejected: the file is shorter than it was (`source-changed`).
            OSError: the device fails.
        """
        wanted = max(0, min(size, self.size - offset))
        data = os.pread(self._fd, wanted, offset)
        while len(data) < wanted:
            more = os.pread(self._fd, wanted - len(data), offset + len(data))
            if not more:
                raise changed(self.path, "it is shorter than it was")
            data += more
        return data

    def check_unchanged(self) -> None:
        """Raise `Rejected` (`source-changed`) when the file's size or time stamp is not that of the start."""
        now = os.fstat(self._fd)
        if now.st_size != self.size:
            raise changed(self.path, f"{self.size:,} bytes at first, {now.st_size:,} now")
        if now.st_mtime_ns != self._status.st_mtime_ns:
            raise changed(self.path, "its time stamp is a new one")

    def close(self) -> None:
        """Close the file; nothing happens the second time."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> FileBytes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.check_unchanged()
        finally:
            self.close()


class SingleFileContainer:
    """One Markdown file, as a container that holds it as `SKILL.md`."""

    kind = "file"

    def __init__(self, data: FileBytes) -> None:
        self._data = data
        self.document_name = os.path.basename(data.path)
        """What the person knows the file as."""

    def list(self, charge_entries: Charge, /) -> Sequence[Listed]:
        """Return the one entry."""
        charge_entries(1, "SKILL.md")
        size = self._data.size
        return [
            Listed(
                name="SKILL.md",
                kind=EntryKind.FILE,
                size=size,
                packed=size,
                executable=self._data.executable,
                handle=0,
            )
        ]

    def notes(self) -> Sequence[Diagnostic]:
        """Return nothing: a file says nothing of itself."""
        return ()

    def deliver(self, wanted: Sequence[Entry], receiver: Receiver, charge: Charge, /) -> None:
        """Deliver the file's bytes. Raises `Rejected` when it changes meanwhile."""
        for entry in wanted:
            sink = receiver.begin(entry)
            if sink is None:
                continue
            for offset in range(0, self._data.size, CHUNK):
                data = self._data.pread(CHUNK, offset)
                charge(len(data), entry.path.text)
                sink.write(data)
            self._data.check_unchanged()
            sink.done()

    def verify_rest(self, charge: Charge, /) -> None:
        """Do nothing: a file has one reading."""

    def close(self) -> None:
        """Close the file."""
        self._data.close()
