"""What only the doctor does with the record: look for damage, and take out what is not of our form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from importer.diagnostics import shown
from importer.library.record import decode
from importer.library.rows import Item, Transaction
from importer.library.sqlite import Damaged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from importer.library.record import Record

_TABLES: tuple[tuple[str, str, type], ...] = (
    ("items", "name", Item),
    ("journal", "id", Transaction),
    ("transactions", "id", Transaction),
)


def faults(record: Record) -> list[str]:
    """Return what SQLite's own check of the file finds; empty when all is well."""
    found = [str(row[0]) for row in record.rows("PRAGMA quick_check(5)")]
    return [] if found == ["ok"] else [f"SQLite finds it damaged ({shown(fault)})" for fault in found]


def unreadable(record: Record) -> list[tuple[str, str, str]]:
    """Return table, key and body of every row that is not of our form."""
    found: list[tuple[str, str, str]] = []
    for table, key, kind in _TABLES:
        for name, body in record.rows(f"SELECT {key}, body FROM {table}"):  # noqa: S608
            try:
                decode(kind, body, record.path)
            except Damaged:
                found.append((table, str(name), str(body)))
    return found


def drop(record: Record, rows: Iterable[tuple[str, str, str]]) -> None:
    """Remove rows that `unreadable` returned."""
    with record.writing():
        for table, name, body in rows:
            key = next(column for its, column, _ in _TABLES if its == table)
            record.execute(f"DELETE FROM {table} WHERE {key} = ? AND body = ?", (name, body))  # noqa: S608
        record.bump()
