"""What changes a library besides an install: removal, rollback, pruning; the history of it all; and the doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from importer.app.errors import ImporterError, Status, machine_error
from importer.app.results import Item, Json, Report, diagnostic_json, origin_json
from importer.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from importer.app.session import Session
    from importer.library.history import Past
    from importer.library.install import Outcome
    from importer.library.removal import RemovalPlan


def plan_removal(session: Session, kind: str, name: str, with_skills: Sequence[str] = ()) -> RemovalPlan:
    """Return what removing something would do, and what stands against it; nothing is changed.

    Raises:
        ImporterError: there is no such thing, or it cannot be read.
    """
    try:
        return session.library.plan_removal(kind, name, with_skills)
    except OSError as problem:
        raise machine_error(problem, "the removal") from problem


def hold_removal(session: Session, plan: RemovalPlan) -> tuple[str, str] | None:
    """Keep a removal that could be done under a token; return the token and when it ends (UTC, RFC 3339)."""
    if plan.refusals or session.library.unwritable() is not None:
        return None
    try:
        held = session.library.hold_removal(plan)
    except OSError as problem:
        raise machine_error(problem, "the removal") from problem
    return held.token, held.expires_at


def remove(session: Session, plan: RemovalPlan, *, token: str | None = None) -> Report:
    """Do what a removal plan says: to the trash, all of it or nothing. Return `importer/remove/1`.

    Raises:
        ImporterError: REFUSED where something stands against it, STALE where anything of it would now differ.
    """
    if plan.refusals:
        raise ImporterError(plan.refusals[0].code, plan.refusals[0].message, Status.REFUSED, plan.refusals)
    try:
        with session.library.writer(command="remove", timeout=session.settings.lock_timeout) as writer:
            applied = writer.remove(plan, token=token)
    except OSError as problem:
        raise machine_error(problem, "the removal") from problem
    return {
        "schema": "importer/remove/1",
        "transaction": applied.transaction,
        "removed": _items(applied.removed),
        "released": _items(applied.released),
        "kept": [{"kind": i.kind, "name": i.name, "path": path} for i in plan.items for path in i.kept],
        "diagnostics": [diagnostic_json(d) for d in applied.diagnostics],
    }


def remove_token(session: Session, token: str) -> Report:
    """Do the removal that a preview of it gave `token` for.

    Raises:
        ImporterError: as `remove`; STALE for a token that is unknown, used or expired.
    """
    try:
        held = session.library.claim_removal(token)
    except OSError as problem:
        raise machine_error(problem, "the removal") from problem
    return remove(session, held.plan, token=token)


def removal_report(plan: RemovalPlan, held: tuple[str, str] | None) -> Report:
    """Return a removal that was not done yet, as `importer/remove-preview/1`."""
    return {
        "schema": "importer/remove-preview/1",
        "token": held[0] if held else None,
        "expires_at": held[1] if held else None,
        "plan_digest": plan.digest,
        "removable": not plan.refusals,
        "items": [
            {
                "kind": item.kind,
                "name": item.name,
                "version": item.version or None,
                "digest": item.digest,
                "edited": list(item.edited),
                "kept": list(item.kept),
            }
            for item in plan.items
        ],
        "released": list(plan.released),
        "diagnostics": [diagnostic_json(d) for d in (*plan.refusals, *plan.notes)],
    }


def history(session: Session) -> Report:
    """Return every transaction, the newest first, as `importer/history/1`. Raises ImporterError."""
    try:
        past = session.library.history()
    except OSError as problem:
        raise machine_error(problem, "reading the history") from problem
    return {"schema": "importer/history/1", "transactions": [_past(one) for one in past]}


def rollback(session: Session, transaction: str) -> Report:
    """Bring back what a transaction took away, as `importer/rollback/1`.

    Raises:
        ImporterError: FAILED where there is no such transaction, REFUSED where something stands on it now.
    """
    try:
        if session.library.record() is None:
            # No library is made only to say that it has no history.
            raise ImporterError(
                "library-transaction-unknown",
                f"there is no transaction {shown(transaction, 80)}: nothing was ever installed in "
                f"{shown(session.library.root, 400)}",
                Status.FAILED,
            )
        with session.library.writer(command="rollback", timeout=session.settings.lock_timeout) as writer:
            applied = writer.rollback(transaction)
    except OSError as problem:
        raise machine_error(problem, "the rollback") from problem
    return {
        "schema": "importer/rollback/1",
        "transaction": applied.transaction,
        "undoes": transaction,
        "restored": _items(applied.restored),
        "removed": _items(applied.removed),
        "diagnostics": [diagnostic_json(d) for d in applied.diagnostics],
    }


def prune(session: Session) -> Report:
    """Hold the trash to its budget: what is older or more goes for good. Return `importer/prune/1`."""
    budgets = session.budgets
    try:
        if session.library.record() is None:
            return {"schema": "importer/prune/1", "pruned": [], "bytes": 0, "left_bytes": 0}
        with session.library.writer(command="history --prune", timeout=session.settings.lock_timeout) as writer:
            pruned = writer.prune(max_bytes=budgets.max("trash", "bytes"), max_days=budgets.max("trash", "days"))
    except OSError as problem:
        raise machine_error(problem, "pruning the trash") from problem
    return {
        "schema": "importer/prune/1",
        "pruned": list(pruned.transactions),
        "bytes": pruned.bytes,
        "left_bytes": pruned.left_bytes,
    }


def doctor(session: Session) -> tuple[Report, Status]:
    """Look at the library, repair what is provable, move away what cannot be read; as `importer/doctor/1`.

    Returns:
        The report, and DIFFERS where something needs attention.
    """
    try:
        found = session.library.doctor()
    except OSError as problem:
        raise machine_error(problem, "the doctor") from problem
    report: Report = {
        "schema": "importer/doctor/1",
        "library": session.library.root,
        "healthy": not found.attention,
        "diagnostics": [diagnostic_json(d) for d in found.findings],
    }
    return report, Status.DIFFERS if found.attention else Status.DONE


def _items(outcomes: Sequence[Outcome]) -> list[Json]:
    return [Item(kind=one.kind, name=one.name, reason=one.reason).to_json() for one in outcomes]


def _past(past: Past) -> Report:
    return {
        "id": past.id,
        "at": past.at,
        "command": past.command,
        "verb": past.verb,
        "source": origin_json(past.origin) if past.origin else None,
        "changes": [
            {
                "kind": change.kind,
                "name": change.name,
                "action": change.action,
                "digest": change.after.item.digest if change.after.item else None,
                "before": change.taken_digest,
            }
            for change in past.changes
        ],
        "undoes": past.undoes,
        "undone_by": past.undone_by,
        "can_roll_back": past.undone_by is None and past.in_trash,
    }
