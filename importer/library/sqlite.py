"""SQLite under the record: how the file is opened, what makes it ours, and what its errors mean to a person."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from importer.diagnostics import shown
from importer.library.errors import LibraryError

if TYPE_CHECKING:
    from collections.abc import Iterator

APPLICATION_ID = 0x494D5054
SCHEMA_VERSION = 1
BUSY_SECONDS = 10.0
_NOTHING_BESIDE = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
"""What SQLite says where the files that WAL needs cannot be made."""
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE items (kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE owners (skill TEXT NOT NULL, specialist TEXT NOT NULL, PRIMARY KEY (skill, specialist)) WITHOUT ROWID;
CREATE TABLE settings (kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, name))
    WITHOUT ROWID;
CREATE TABLE transactions (sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL,
    undone_by TEXT);
CREATE TABLE journal (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE candidates (token TEXT PRIMARY KEY, kind TEXT NOT NULL, staging TEXT, expires REAL NOT NULL,
    used INTEGER NOT NULL DEFAULT 0, body TEXT) WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', 0);
"""


class Damaged(LibraryError):
    """The record is no record of ours, or cannot be read: `importer doctor` moves it away."""


def is_empty(path: str) -> bool:
    return os.path.isfile(path) and os.path.getsize(path) == 0


def connect(path: str, mode: str) -> tuple[sqlite3.Connection, bool]:
    """Open a database file.

    Args:
        path: the file.
        mode: SQLite's: `rwc` makes it, `rw` writes it, `ro` only reads it. WAL needs files beside the database; where
            none can be made (a folder that may not be written, a full disk), the database is read alone, if everything
            of it is in there.

    Returns:
        The connection, and whether it can write.
    """
    if mode != "ro":
        _lend_mode(path)
    try:
        return _connect(path, f"mode={mode}"), mode != "ro"
    except sqlite3.OperationalError as problem:
        log = f"{path}-wal"
        if mode == "rwc" or problem.sqlite_errorcode & 0xFF not in _NOTHING_BESIDE:
            raise
        if os.path.exists(log) and os.path.getsize(log):
            raise
        try:
            return _connect(path, "mode=ro&immutable=1"), False
        except sqlite3.OperationalError:
            raise problem from None


def _lend_mode(path: str) -> None:
    """Give the files beside a database its own mode: SQLite leaves them read-only where it only could be read once."""
    for beside in (f"{path}-wal", f"{path}-shm"):
        if os.path.isfile(beside) and not os.access(beside, os.W_OK):
            with suppress(OSError):
                os.chmod(beside, os.stat(path).st_mode & 0o666)


def _connect(path: str, options: str) -> sqlite3.Connection:
    from urllib.parse import quote

    connection = sqlite3.connect(f"file:{quote(path)}?{options}", timeout=BUSY_SECONDS, isolation_level=None, uri=True)
    try:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute("PRAGMA user_version").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def explained(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as problem:
        raise _problem(problem, path) from problem


def _problem(problem: sqlite3.Error, path: str) -> LibraryError:
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
    place = shown(path, 400)
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return Damaged(
            "library-damaged",
            f"{place} is damaged or no record of this importer; nothing was changed. `importer doctor` moves it to the "
            "trash, unchanged, and starts a new one",
            path,
        )
    if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return LibraryError(
            "disk-full" if code == sqlite3.SQLITE_FULL else "disk-failed",
            f"cannot write {place}: the disk is full, or reading or writing it failed",
            path,
        )
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH}:
        if code == sqlite3.SQLITE_CANTOPEN and os.path.lexists(path) and not os.path.isfile(path):
            return Damaged(
                "library-damaged", f"{place} is no file; `importer doctor` moves it to the trash, unchanged", path
            )
        said = f"cannot open {place}: permission denied or a read-only file system"
        return LibraryError("disk-permission", said, path)
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return LibraryError(
            "library-locked", f"another process keeps {place} busy; nothing was changed. Try again", path
        )
    if code in {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_SCHEMA}:
        return Damaged(
            "library-damaged", f"{place} does not have the form of a record; `importer doctor` looks into it", path
        )
    return LibraryError("library-record-failed", f"{place} cannot be used ({type(problem).__name__})", path)
