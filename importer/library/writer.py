"""The one writer, and everything that it may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from importer.library.candidates import token_hash
from importer.library.errors import LibraryError
from importer.library.install import Applied, Installation

if TYPE_CHECKING:
    from importer.library.library import Library
    from importer.library.record import Record
    from importer.library.stagings import Staging
    from importer.model import Origin, Plan


class Writer:
    """The one writer of a library; made by `Library.writer`, good until its block ends."""

    def __init__(self, library: Library, record: Record) -> None:
        self.library = library
        self.layout = library.layout
        self.record = record

    def apply(
        self, plan: Plan, staging: Staging, origin: Origin, *, token: str | None = None, command: str = "install"
    ) -> Applied:
        """Do everything that a plan says, or nothing; the staging folder goes in both cases, and so does the token.

        Args:
            plan: made of a snapshot that was taken inside this writer's block.
            staging: where the candidates of the plan are.
            origin: where they come from.
            token: the token that is spent by this.
            command: for the history.

        Raises:
            LibraryError: `library-stale` where something that is replaced or installed over is not what the plan says;
                `token-used`; what the record says.
            DiskError: path and cause; nothing was changed.
        """
        try:
            applied = Installation(self, staging, origin, token, command).run(plan)
        except BaseException:
            _discard(staging)
            if token is not None:
                self._release(token)
            raise
        _discard(staging)
        return applied

    def _release(self, token: str) -> None:
        try:
            self.record.release(token_hash(token))
        except LibraryError:
            # Its files are gone: whoever comes with this token is told so.
            return


def _discard(staging: Staging) -> None:
    try:
        staging.discard()
    except OSError:
        # The next command sweeps it; what was asked for has happened, or another error is on its way.
        staging.release()
