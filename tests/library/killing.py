"""Real child processes that end at one exact operation: killed, or out of luck with the disk."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from importer import fs
from importer.library import transact

FAILED = 3


def in_child(action: Callable[[], object]) -> int:
    """Run something in a forked process; return its exit status, or minus the signal that ended it."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        status = FAILED
        try:
            action()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Counter:
    """An observer that lets so many operations happen, and then does something else."""

    def __init__(self, limit: int, then: Callable[[], object], log: Path | None = None) -> None:
        self.left = limit
        self.then = then
        self.log = None if log is None else os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)

    def __call__(self, operation: str, path: str, other: str) -> None:
        """Count one operation."""
        if self.left == 0:
            self.then()
        self.left -= 1
        if self.log is not None:
            os.write(self.log, f"{operation}\t{path}\t{other}\n".encode())


def killed_at(operation: int, action: Callable[[], object], log: Path | None = None) -> bool:
    """Run something in a child that is killed just before its n-th operation; return whether it came to that.

    Raises:
        AssertionError: the child ended in another way than done or killed.
    """

    def run() -> None:
        fs.observer = Counter(operation, lambda: os.kill(os.getpid(), signal.SIGKILL), log)
        action()

    status = in_child(run)
    assert status in {0, -signal.SIGKILL}, status
    return status != 0


def operations(action: Callable[[], object]) -> list[str]:
    """Run something here and return the name of each operation that it did."""
    seen: list[str] = []
    fs.observer = lambda operation, _path, _other: seen.append(operation)
    try:
        action()
    finally:
        fs.observer = None
    return seen


def known_ids(*names: str) -> None:
    """Give the next transactions of this process these ids."""
    left = list(names)
    transact.new_id = lambda: left.pop(0)
