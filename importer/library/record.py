"""The record: one SQLite file, and the only place that knows SQL.

WAL keeps readers from waiting for a writer; `synchronous=FULL` makes every commit durable before it returns. A write
transaction of SQLite lasts for a few statements and never spans a rename. No error of SQLite leaves this module as it
is: it becomes a `LibraryError` that names the file and what to do.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TypeVar

from importer import codec, fs
from importer.diagnostics import shown
from importer.library.errors import LibraryError
from importer.library.rows import Item, State, Transaction
from importer.library.sqlite import (
    APPLICATION_ID,
    BUSY_SECONDS,
    SCHEMA,
    SCHEMA_VERSION,
    Damaged,
    connect,
    explained,
    is_empty,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T = TypeVar("T")


class Record:
    """An open record. Reading methods see one moment each; `moment` gives one moment to several of them."""

    def __init__(self, path: str, connection: sqlite3.Connection, writable: bool) -> None:
        self.path = path
        self.writable = writable
        self._connection = connection

    @classmethod
    def open(cls, path: str, *, create: bool = False) -> Self | None:
        """Open the record, and make it where it may.

        Args:
            path: the file.
            create: whether a record that is not there is made.

        Returns:
            The record; None where there is none yet, or only an empty file.

        Raises:
            Damaged: `library-damaged` for a file that is no SQLite database or cannot be read as one,
                `library-foreign` for another program's, `library-newer` for a newer version of this one.
            LibraryError: permission, disk, or another process that keeps it busy.
        """
        with explained(path):
            if not create and (not os.path.lexists(path) or is_empty(path)):
                return None
            mode = "rwc" if create else "rw" if os.access(path, os.W_OK) else "ro"
            connection, writable = connect(path, mode)
            record = cls(path, connection, writable)
            try:
                made = record._is_made()
                if create and not made:
                    record._make()
                    made = True
            except BaseException:
                record.close()
                raise
            if not made:
                record.close()
                return None
            return record

    def _is_made(self) -> bool:
        """Return whether the schema is there; refuse what is not ours."""
        application, version, tables = self._facts()
        if application == 0 and version == 0 and tables == 0:
            return False
        if application != APPLICATION_ID:
            raise Damaged(
                "library-foreign",
                f"{shown(self.path, 400)} is another program's database; nothing was changed. "
                "`importer doctor` moves it to the trash, unchanged",
                self.path,
            )
        if version > SCHEMA_VERSION:
            raise LibraryError(
                "library-newer",
                f"{shown(self.path, 400)} was written by a newer importer (schema {version}; this one knows "
                f"{SCHEMA_VERSION}); update the importer",
                self.path,
            )
        return True

    def _facts(self) -> tuple[int, int, int]:
        one = self._connection.execute
        application = int(one("PRAGMA application_id").fetchone()[0])
        version = int(one("PRAGMA user_version").fetchone()[0])
        tables = int(one("SELECT count(*) FROM sqlite_master").fetchone()[0])
        return application, version, tables

    def _make(self) -> None:
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
                break
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        fs.tell("record", "schema")
        with self.writing():
            if self._facts()[1] == 0:
                for statement in filter(str.strip, SCHEMA.split(";")):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        fs.sync_folder(os.path.dirname(self.path))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Let everything that is read inside be of one moment; writers are not kept waiting."""
        with explained(self.path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Do what is inside as one durable transaction of SQLite, or nothing of it."""
        with explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def execute(self, statement: str, values: Iterable[object] = ()) -> None:
        """Run one statement inside `writing`."""
        self._connection.execute(statement, tuple(values))

    def rows(self, statement: str, values: Iterable[object] = ()) -> list[tuple[object, ...]]:
        """Return all rows of a query."""
        with explained(self.path):
            return list(self._connection.execute(statement, tuple(values)))

    # --- what is installed ---

    def generation(self) -> int:
        """Return the number of transactions that were ever begun or finished."""
        return _int(self.rows("SELECT value FROM meta WHERE key = 'generation'")[0][0])

    def items(self, kind: str | None = None) -> dict[tuple[str, str], Item]:
        """Return what is installed, by kind and name."""
        where, values = (" WHERE kind = ?", [kind]) if kind else ("", [])
        rows = self.rows(f"SELECT kind, name, body FROM items{where} ORDER BY kind, name", values)  # noqa: S608
        return {(str(row[0]), str(row[1])): decode(Item, row[2], self.path) for row in rows}

    def item(self, kind: str, name: str) -> Item | None:
        """Return one installed item."""
        rows = self.rows("SELECT body FROM items WHERE kind = ? AND name = ?", [kind, name])
        return decode(Item, rows[0][0], self.path) if rows else None

    def owners(self) -> dict[str, tuple[str, ...]]:
        """Return the specialists that brought each skill."""
        owners: dict[str, list[str]] = {}
        for skill, specialist in self.rows("SELECT skill, specialist FROM owners ORDER BY skill, specialist"):
            owners.setdefault(str(skill), []).append(str(specialist))
        return {skill: tuple(names) for skill, names in owners.items()}

    def settings(self, kind: str, name: str) -> str | None:
        """Return the person's settings of one item, as JSON."""
        rows = self.rows("SELECT body FROM settings WHERE kind = ? AND name = ?", [kind, name])
        return str(rows[0][0]) if rows else None

    def set_settings(self, kind: str, name: str, body: str | None) -> None:
        """Keep, or with None forget, the person's settings of one item."""
        with self.writing():
            self._set_settings(kind, name, body)

    def state(self, kind: str, name: str) -> State:
        """Return everything that is known of one item."""
        return State(
            item=self.item(kind, name),
            owners=self.owners().get(name, ()) if kind == "skill" else (),
            settings=self.settings(kind, name),
        )

    # --- transactions ---

    def begin(self, transaction: Transaction) -> None:
        """Write a transaction into the journal, durably, before its first rename.

        Raises:
            LibraryError: `token-used` where the token that it spends is spent, or the machine's reasons.
        """
        fs.tell("record", "journal")
        with self.writing():
            if transaction.token is not None:
                self.check_token(transaction.token)
            self._connection.execute(
                "INSERT INTO journal VALUES (?, ?)", (transaction.id, json.dumps(codec.encode(transaction)))
            )
            self.bump()

    def commit(self, transaction: Transaction) -> None:
        """Make a transaction the truth: record, history, token, and the journal without it, in one commit."""
        fs.tell("record", "commit")
        with self.writing():
            if transaction.token is not None and not transaction.moves:
                # Any other transaction went through the journal, and its token was looked at there.
                self.check_token(transaction.token)
            for change in transaction.changes:
                self._put(change.kind, change.name, change.after)
            self._connection.execute(
                "INSERT INTO transactions (id, body) VALUES (?, ?)",
                (transaction.id, json.dumps(codec.encode(transaction))),
            )
            if transaction.undoes is not None:
                self._connection.execute(
                    "UPDATE transactions SET undone_by = ? WHERE id = ?", (transaction.id, transaction.undoes)
                )
            if transaction.token is not None:
                self._connection.execute(
                    "UPDATE candidates SET used = 1, staging = NULL, body = NULL WHERE token = ?", (transaction.token,)
                )
            self._connection.execute("DELETE FROM journal WHERE id = ?", (transaction.id,))
            self.bump()
        fs.tell("record", "committed")

    def forget(self, transaction: str) -> None:
        """Take a transaction out of the journal, all of whose renames were taken back."""
        fs.tell("record", "forget")
        with self.writing():
            self._connection.execute("DELETE FROM journal WHERE id = ?", (transaction,))
            self.bump()

    def journal(self) -> list[tuple[str, str]]:
        """Return what was begun and neither committed nor taken back: id and body."""
        return [(str(row[0]), str(row[1])) for row in self.rows("SELECT id, body FROM journal ORDER BY id")]

    def transactions(self) -> list[Transaction]:
        """Return the history, oldest first."""
        rows = self.rows("SELECT body, sequence, undone_by FROM transactions ORDER BY sequence")
        return [_numbered(decode(Transaction, row[0], self.path), row[1], row[2]) for row in rows]

    def transaction_ids(self) -> dict[str, bool]:
        """Return the ids of the history, and whether each was rolled back."""
        return {str(row[0]): row[1] is not None for row in self.rows("SELECT id, undone_by FROM transactions")}

    def transaction(self, name: str) -> Transaction | None:
        """Return one transaction of the history."""
        rows = self.rows("SELECT body, sequence, undone_by FROM transactions WHERE id = ?", [name])
        return _numbered(decode(Transaction, rows[0][0], self.path), rows[0][1], rows[0][2]) if rows else None

    # --- candidates ---

    def hold(self, token: str, kind: str, staging: str | None, expires: float, body: str) -> None:
        """Keep a candidate under the SHA-256 of its token."""
        fs.tell("record", "hold")
        with self.writing():
            self._connection.execute(
                "INSERT INTO candidates (token, kind, staging, expires, body) VALUES (?, ?, ?, ?, ?)",
                (token, kind, staging, expires, body),
            )

    def candidate(self, token: str) -> tuple[str, str | None, float, bool, str | None] | None:
        """Return kind, staging, expiry, whether it was used, and body."""
        rows = self.rows("SELECT kind, staging, expires, used, body FROM candidates WHERE token = ?", [token])
        if not rows:
            return None
        kind, staging, expires, used, body = rows[0]
        return str(kind), _text(staging), float(str(expires)), bool(used), _text(body)

    def check_token(self, token: str) -> None:
        """Refuse a token that was spent. Raises LibraryError (`token-used`)."""
        found = self.candidate(token)
        if found is None or found[3]:
            raise LibraryError("token-used", "the token was used already, and is good only once; preview again")

    def held_staging(self) -> set[str]:
        """Return the staging folders that candidates wait in."""
        return {str(row[0]) for row in self.rows("SELECT staging FROM candidates WHERE staging IS NOT NULL")}

    def has_expired(self, now: float) -> bool:
        """Whether a candidate waits that nobody can install any more."""
        return bool(self.rows("SELECT 1 FROM candidates WHERE staging IS NOT NULL AND expires <= ? LIMIT 1", [now]))

    def expire(self, now: float, forget_before: float) -> None:
        """Let go of candidates whose time is over; that they were there is remembered for a while."""
        with self.writing():
            self._connection.execute(
                "UPDATE candidates SET staging = NULL, body = NULL WHERE expires <= ? AND body IS NOT NULL", (now,)
            )
            self._connection.execute("DELETE FROM candidates WHERE expires <= ?", (forget_before,))

    def release(self, token: str) -> None:
        """Let go of one candidate: its token is spent."""
        with self.writing():
            self._connection.execute(
                "UPDATE candidates SET used = 1, staging = NULL, body = NULL WHERE token = ?", (token,)
            )

    # --- inside a write transaction ---

    def _put(self, kind: str, name: str, state: State) -> None:
        if state.item is None:
            self._connection.execute("DELETE FROM items WHERE kind = ? AND name = ?", (kind, name))
            self._set_settings(kind, name, None)
        else:
            self._connection.execute(
                "INSERT OR REPLACE INTO items VALUES (?, ?, ?)", (kind, name, json.dumps(codec.encode(state.item)))
            )
            if state.settings is not None:
                self._connection.execute(
                    "INSERT OR IGNORE INTO settings VALUES (?, ?, ?)", (kind, name, state.settings)
                )
        if kind == "skill":
            self._connection.execute("DELETE FROM owners WHERE skill = ?", (name,))
            self._connection.executemany("INSERT INTO owners VALUES (?, ?)", [(name, owner) for owner in state.owners])

    def _set_settings(self, kind: str, name: str, body: str | None) -> None:
        if body is None:
            self._connection.execute("DELETE FROM settings WHERE kind = ? AND name = ?", (kind, name))
        else:
            self._connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?, ?)", (kind, name, body))

    def bump(self) -> None:
        """Tell readers that what they read together may no longer belong together."""
        self._connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")


def read_transaction(body: str, path: str) -> Transaction:
    """Return a transaction from the journal. Raises Damaged where it is not of our form."""
    return decode(Transaction, body, path)


def _numbered(transaction: Transaction, sequence: object, undone_by: object) -> Transaction:
    from dataclasses import replace

    return replace(transaction, sequence=_int(sequence), undone_by=_text(undone_by))


def decode(kind: type[T], body: object, path: str) -> T:
    """Return a value from its row. Raises Damaged where it is not of our form."""
    try:
        return codec.decode(kind, json.loads(str(body)))
    except (ValueError, TypeError, RecursionError) as problem:
        raise Damaged(
            "library-damaged",
            f"a row of {shown(path, 400)} cannot be read ({type(problem).__name__}); `importer doctor` moves it to the "
            "trash",
            path,
        ) from problem


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
