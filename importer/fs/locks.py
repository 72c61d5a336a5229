"""Locks that say whether a process is still there."""

from __future__ import annotations

import errno
import os

FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


class FolderLock:
    """A lock on a folder that the system lets go of when its process ends, however it ends.

    Where the system has no such lock, `alone` is None and the caller goes by age.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: str, *, shared: bool = False, wait: bool = False) -> FolderLock | None:
        """Lock a folder; return None where another process holds it.

        Raises:
            OSError: it cannot be opened, or is a link: what is locked is what is going to be removed.
        """
        try:
            import fcntl
        except ImportError:
            return cls(None)
        descriptor = os.open(path, FOLDER | getattr(os, "O_NOFOLLOW", 0))
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError as problem:
            os.close(descriptor)
            if problem.errno in {errno.ENOSYS, errno.ENOTSUP, errno.EINVAL, errno.ENOLCK}:
                return cls(None)
            raise
        return cls(descriptor)

    @property
    def real(self) -> bool:
        """Whether the system really locks."""
        return self._descriptor is not None

    def release(self) -> None:
        """Let go; a second time does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
