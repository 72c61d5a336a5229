"""What the operating system's errors mean to a person."""

from __future__ import annotations

import errno
import os

from importer.diagnostics import shown

_CAUSES: dict[int, tuple[str, str]] = {
    errno.ENOSPC: ("disk-full", "the disk is full"),
    errno.EDQUOT: ("disk-full", "the disk quota is used up"),
    errno.EFBIG: ("disk-full", "the file would be larger than this process may write"),
    errno.EROFS: ("disk-read-only", "the file system is read-only"),
    errno.EACCES: ("disk-permission", "permission denied"),
    errno.EPERM: ("disk-permission", "the system does not permit it"),
    errno.EXDEV: ("disk-other-system", "the two places are on different file systems"),
    errno.ENOENT: ("disk-failed", "it does not exist"),
    errno.ENOTDIR: ("disk-failed", "something on the way is no folder"),
    errno.EEXIST: ("disk-failed", "something is there already"),
    errno.ENOTEMPTY: ("disk-failed", "something is there already"),
    errno.ELOOP: ("disk-failed", "symbolic links lead in a circle, or one stands where none may"),
    errno.ENAMETOOLONG: ("disk-failed", "the path is too long for this file system"),
    errno.EMFILE: ("disk-failed", "too many files are open"),
    errno.EIO: ("disk-failed", "the device reports an error"),
}


class DiskError(OSError):
    """An error of the machine, said with the place that the person knows.

    `code` is a diagnostic code, `message` one safe line with path and cause, `path` that path. `errno` is kept.
    """

    def __init__(self, code: str, message: str, path: str = "", number: int = 0) -> None:
        super().__init__(number, message)
        self.code = code
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return self.message


def explained(problem: OSError, path: str | os.PathLike[str] = "", doing: str = "write") -> DiskError:
    """Say an operating system's error as a `DiskError`.

    Args:
        problem: what was raised. A `DiskError` is said again where `path` is another place than its own; any other
            exception of that family is handed back as it is.
        path: the place as the person knows it; "" takes the one of `problem`.
        doing: the verb that failed, for "cannot <doing> <path>".
    """
    number = problem.errno or 0
    if isinstance(problem, DiskError) and (type(problem) is not DiskError or not path or number not in _CAUSES):
        return problem
    code, cause = _CAUSES.get(number, ("disk-failed", problem.strerror or type(problem).__name__))
    named = problem.filename2 or problem.filename
    place = os.fspath(path) or (os.fsdecode(named) if isinstance(named, str | bytes) else "")
    return DiskError(code, f"cannot {doing} {shown(place, 400)}: {shown(cause)}", place, number)
