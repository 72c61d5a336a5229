"""How a command ends: the fixed exit statuses, and the one exception that carries them outwards."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from importer.diagnostics import Diagnostic, error, shown
from importer.fs import DiskError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Status(IntEnum):
    """Exit statuses of the command line, and what they mean to a caller of the library."""

    DONE = 0
    FAILED = 1
    """The network, the disk, or a mistake of ours."""
    USAGE = 2
    REFUSED = 3
    """The package has errors."""
    DECISION = 4
    """A choice or a confirmation is missing."""
    STALE = 5
    """The token is stale, expired, used or unknown."""
    DIFFERS = 6
    """The library differs from its record, or needs attention."""


class ImporterError(Exception):
    """A command ended without doing what it was asked to.

    `code` is permanent, `message` one safe line, `status` the exit status, `diagnostics` every finding, the error
    itself among them.
    """

    def __init__(
        self, code: str, message: str, status: Status, diagnostics: Iterable[Diagnostic] = (), path: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        found = tuple(diagnostics)
        if not any(d.code == code for d in found):
            found = (error(code, message, path), *found)
        self.diagnostics: tuple[Diagnostic, ...] = found


_STATUSES = {
    **dict.fromkeys(("token-unknown", "token-expired", "token-used", "library-stale"), Status.STALE),
    "library-rollback-refused": Status.REFUSED,
}


def machine_error(problem: OSError, doing: str) -> ImporterError:
    """Say an error of the library or of the machine: its path, its cause, and what was being done.

    A stale plan or token is STALE, a rollback that something stands on is REFUSED; everything else is FAILED.
    """
    if isinstance(problem, DiskError):
        status = _STATUSES.get(problem.code, Status.FAILED)
        return ImporterError(problem.code, problem.message, status, path=problem.path)
    path = problem.filename if isinstance(problem.filename, str) else ""
    target = problem.filename2 if isinstance(problem.filename2, str) else ""
    place = target or path
    cause = problem.strerror or str(problem) or type(problem).__name__
    where = f"{shown(place, 400)}: " if place else ""
    return ImporterError("system-error", f"{doing} failed: {where}{shown(cause)}", Status.FAILED, path=place)
