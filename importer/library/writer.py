"""The one writer, and everything that it may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from importer.library import transact, trash
from importer.library.candidates import find, rfc3339, token_hash
from importer.library.errors import LibraryError
from importer.library.install import Applied, Installation, Outcome
from importer.library.removal import removal
from importer.library.rollback import rollback

if TYPE_CHECKING:
    from importer.library.library import Library
    from importer.library.record import Record
    from importer.library.removal import RemovalPlan
    from importer.library.rows import Transaction
    from importer.library.stagings import Staging
    from importer.model import Origin, Plan


class Writer:
    """The one writer of a library; made by `Library.writer`, good until its block ends."""

    def __init__(self, library: Library, record: Record) -> None:
        self.library = library
        self.layout = library.layout
        self.record = record

    def check_token(self, token: str) -> None:
        """Refuse a token that was claimed in time, and was used or expired while this writer waited for its turn.

        Raises:
            LibraryError: `token-used`, `token-expired`.
        """
        find(self.record, "install", token, self.library.clock())

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
        if token is not None:
            self.record.check_token(token_hash(token))
        try:
            applied = Installation(self, staging, origin, token, command).run(plan)
        except BaseException:
            self._give_up(staging, token)
            raise
        _discard(staging)
        return applied

    def remove(self, plan: RemovalPlan, *, token: str | None = None, command: str = "remove") -> Applied:
        """Do what a removal plan says: to the trash, all of it or nothing.

        Args:
            plan: what the person saw; it is planned again here.
            token: the token that is spent by this.
            command: for the history.

        Returns:
            What went, as `removed`; skills that stay and belong to one specialist less, as `released`.

        Raises:
            LibraryError: `library-stale` where anything of it would now differ; the plan's first refusal;
                `library-name-unknown` where it is gone.
            DiskError: path and cause; nothing was changed.
        """
        library = self.library
        now = library.plan_removal(plan.kind, plan.name, plan.with_skills)
        spent = token_hash(token) if token is not None else None
        work = removal(library.view(), self.record, plan, now, at=self._now(), command=command, token=spent)
        transact.execute(self.layout, self.record, work.transaction, work.expected, work.folders)
        for root in transact.trash_roots(work.transaction):
            transact.drop_empty(f"{self.layout.full(root)}/{transact.KEPT}")
        return Applied(
            transaction=work.transaction.id,
            removed=_outcomes(work.transaction, {"removed"}),
            released=_outcomes(work.transaction, {"released"}),
            diagnostics=now.notes,
        )

    def rollback(self, transaction: str, *, command: str = "rollback") -> Applied:
        """Take a transaction back: what it took comes back, what it brought goes to the trash.

        Raises:
            LibraryError: `library-transaction-unknown`; `library-rollback-refused` with every reason.
            DiskError: path and cause; nothing was changed.
        """
        work = rollback(self.library.view(), self.record, transaction, at=self._now(), command=command)
        transact.execute(self.layout, self.record, work.transaction, work.expected)
        for root in transact.trash_roots(work.undone):
            transact.drop_empty(self.layout.full(root))
        return Applied(
            transaction=work.transaction.id,
            restored=_outcomes(work.transaction, {"restored"}),
            removed=_outcomes(work.transaction, {"removed"}),
        )

    def prune(self, *, max_bytes: int, max_days: int) -> trash.Pruned:
        """Remove from the trash, for good, what is older or more than that. Raises DiskError."""
        return trash.prune(
            self.layout,
            self.record.transactions(),
            max_bytes=max_bytes,
            max_days=max_days,
            now=self.library.clock(),
        )

    def _now(self) -> str:
        return rfc3339(self.library.clock())

    def _give_up(self, staging: Staging, token: str | None) -> None:
        """Let go of a package that was not installed, unless it could not be taken back yet and needs its folder."""
        try:
            pending = bool(self.record.journal())
        except LibraryError:
            pending = True
        if pending:
            staging.release()
            return
        _discard(staging)
        if token is not None:
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


def _outcomes(transaction: Transaction, actions: set[str]) -> tuple[Outcome, ...]:
    return tuple(
        Outcome(kind=change.kind, name=change.name, reason=change.action)
        for change in transaction.changes
        if change.action in actions
    )
