"""The history: every transaction that happened, and whether it can still be taken back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from importer.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from importer.library.layout import Layout
    from importer.library.rows import Change, Transaction
    from importer.model import Origin


@record
class Past:
    """One transaction that happened."""

    id: str
    at: str
    """UTC, RFC 3339."""
    command: str
    verb: str
    """install, remove, rollback."""
    origin: Origin | None
    changes: tuple[Change, ...]
    undoes: str | None
    """Of a rollback: the transaction that it took back."""
    undone_by: str | None
    """The rollback that took this one back."""
    in_trash: bool
    """Whether everything that it took is still in the trash (or it took nothing)."""


def past(layout: Layout, transactions: Sequence[Transaction]) -> tuple[Past, ...]:
    """Return the history, the newest first."""
    return tuple(
        Past(
            id=one.id,
            at=one.at,
            command=one.command,
            verb=one.verb,
            origin=one.origin,
            changes=one.changes,
            undoes=one.undoes,
            undone_by=one.undone_by,
            in_trash=all(c.taken is None or os.path.lexists(layout.full(c.taken)) for c in one.changes),
        )
        for one in reversed(transactions)
    )
