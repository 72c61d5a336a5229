"""A library: opened, recovered, read, held for one writer."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Self, TypeVar

from importer import fs
from importer.diagnostics import Diagnostic, shown, warning
from importer.library import candidates, stagings
from importer.library.config import Config, read_config
from importer.library.errors import LibraryError
from importer.library.layout import Layout
from importer.library.record import Record
from importer.library.snapshot import take_snapshot
from importer.library.sqlite import Damaged
from importer.library.transact import blocked, recover, tidy
from importer.library.view import View, consistently, take_view
from importer.library.writerlock import writer_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    from importer.library.candidates import Held, HeldCandidate, HeldRemoval
    from importer.library.doctor import Examined
    from importer.library.history import Past
    from importer.library.inventory import Listed, Shown
    from importer.library.removal import RemovalPlan
    from importer.library.settings import SpecialistSettings
    from importer.library.stagings import Staging
    from importer.library.writer import Writer
    from importer.model import Choices, Origin, Plan, Snapshot

T = TypeVar("T")


class Library:
    """One library, open.

    Reading never waits for a writer. Everything that changes the library goes through `writer`, one at a time across
    processes. `notices` says what opening it recovered; every command shows that.
    """

    def __init__(self, root: str, *, lock_timeout: float, clock: Callable[[], float]) -> None:
        self.layout = Layout(os.path.abspath(root))
        self.notices: list[Diagnostic] = []
        self.lock_timeout = lock_timeout
        self.clock = clock
        self._record: Record | None = None
        self._damage: LibraryError | None = None
        self._claimed: list[Staging] = []

    @classmethod
    def open(cls, root: Path | str, *, lock_timeout: float = 10.0, clock: Callable[[], float] = time.time) -> Self:
        """Open the library at `root`; nothing is made for one that does not exist.

        An interrupted transaction is finished or taken back first, unless a writer is at work. A record that cannot be
        read is said by the first method that needs it; `doctor` works all the same.

        Args:
            root: the library's folder.
            lock_timeout: seconds that `writer` waits for another one.
            clock: seconds since 1970, for the life of tokens.
        """
        library = cls(os.fspath(root), lock_timeout=lock_timeout, clock=clock)
        library._start()
        return library

    def close(self) -> None:
        """Close the record, and let go of what was claimed; a second time does nothing."""
        while self._claimed:
            self._claimed.pop().release()
        if self._record is not None:
            self._record.close()
            self._record = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- reading ---

    @property
    def root(self) -> str:
        """The library's folder, as an absolute path."""
        return self.layout.root

    @cached_property
    def config(self) -> Config:
        """The library's `config.toml`. Raises Rejected (`config-invalid`) with every fault, or DiskError."""
        return read_config(self.layout.config)

    def unwritable(self) -> Diagnostic | None:
        """Return why nothing can be installed here; None where it can."""
        path = self.layout.control
        while not os.path.lexists(path) and path != os.path.dirname(path):
            path = os.path.dirname(path)
        why = "permission denied or a read-only file system"
        if not os.path.isdir(path):
            why = "it is no folder"
        elif os.access(path, os.W_OK | os.X_OK):
            path = self.layout.database
            if not os.path.isfile(path) or os.access(path, os.W_OK):
                return None
        message = f"the library {shown(self.root, 400)} cannot be written ({shown(path, 400)}: {why})"
        return warning("library-unwritable", message, path)

    def snapshot(self, *, skills: Iterable[str], connectors: Iterable[str] = ()) -> Snapshot:
        """Return what is on disk under some names, hashed now, and every specialist.

        Raises:
            LibraryError: something installed under those names cannot be read, or the record cannot.
        """
        asked, also = tuple(skills), tuple(connectors)
        host = self.config.host
        return self.read(lambda view: take_snapshot(view, host, asked, also))

    def listing(self) -> tuple[Listed, ...]:
        """Return everything in the library, by kind and name. Raises LibraryError where it cannot be read."""
        from importer.library.inventory import list_items

        return self.read(list_items)

    def show(self, name: str, kind: str | None = None) -> tuple[Shown, ...]:
        """Return everything that `NAME` or `KIND:NAME` means, hashed now.

        Raises:
            LibraryError: there is no such thing; something cannot be read.
        """
        from importer.library.inventory import find_items, show_items

        return self.read(lambda view: show_items(view, find_items(view, name, kind)))

    def verify(self, names: Sequence[str] = ()) -> tuple[Shown, ...]:
        """Compare with the record what is named, or all that the importer installed.

        Raises:
            LibraryError: there is no such thing; something cannot be read.
        """
        from importer.library.inventory import verify_items

        return self.read(lambda view: verify_items(view, names))

    def history(self) -> tuple[Past, ...]:
        """Return every transaction, the newest first. Raises LibraryError where the record cannot be read."""
        from importer.library.history import past

        record = self.record()
        return past(self.layout, record.transactions()) if record is not None else ()

    def plan_removal(self, kind: str, name: str, with_skills: Sequence[str] = ()) -> RemovalPlan:
        """Return what removing something would do, and what stands against it.

        Args:
            kind: skill, specialist, connector or plugin.
            name: its name.
            with_skills: with a specialist, the names of skills that go with it, or `all` of those that it owns and
                nothing protects.

        Raises:
            LibraryError: `library-name-unknown`; something cannot be read.
        """
        from importer.library.removal import plan_removal

        host, record = self.config.host, self.record()
        return self.read(lambda view: plan_removal(view, record, host, kind, name, with_skills))

    def skill_enabled(self, name: str) -> bool:
        """Return whether a skill is enabled for the main agent: that protects it from removal."""
        from importer.library.settings import is_enabled

        record = self.record()
        return record is not None and is_enabled(record, name)

    def set_skill_enabled(self, name: str, enabled: bool) -> None:
        """Enable or disable a skill for the main agent. Raises LibraryError where there is no such skill."""
        from importer.library.inventory import find_items
        from importer.library.settings import set_enabled

        self.read(lambda view: find_items(view, name, "skill"))
        with self.writer(command="settings") as writer:
            set_enabled(writer.record, name, enabled)

    def specialist_settings(self, name: str) -> SpecialistSettings:
        """Return a specialist's settings. Raises LibraryError where there is no such specialist."""
        from importer.library.settings import specialist_settings

        return specialist_settings(self.record(), name)

    def set_specialist_settings(self, name: str, settings: SpecialistSettings) -> None:
        """Keep a specialist's settings. Raises LibraryError where there is no such specialist."""
        from importer.library.settings import set_specialist_settings, specialist_settings

        specialist_settings(self.record(), name)
        with self.writer(command="settings") as writer:
            set_specialist_settings(writer.record, name, settings)

    def doctor(self) -> Examined:
        """Look at the library, put right what is provable, move away what cannot be read; works on any library."""
        from importer.library.doctor import examine

        self.close()
        found = examine(self.layout, lock_timeout=self.lock_timeout)
        self._damage = None
        return found

    def read(self, reading: Callable[[View], T]) -> T:
        """Return what `reading` makes of one moment of record and files."""
        try:
            return consistently(self.view, self._generation, reading)
        except LibraryError:
            raise
        except OSError as problem:
            raise fs.explained(problem, doing="read") from problem

    def view(self) -> View:
        """Return the record as it is now."""
        return take_view(self.layout, self.record())

    def _generation(self) -> int:
        record = self.record()
        return record.generation() if record is not None else -1

    def record(self) -> Record | None:
        """Return the record, None where there is none yet. Raises LibraryError where it cannot be read."""
        if self._damage is not None:
            raise self._damage
        if self._record is None:
            self._record = Record.open(self.layout.database)
        return self._record

    # --- packages on their way in ---

    def new_staging(self, *, private: bool = False) -> Staging:
        """Return a fresh staging folder; a private one goes with this process. Raises DiskError."""
        return stagings.new_staging(self.layout, private=private)

    def hold(
        self,
        staging: Staging,
        plan: Plan,
        *,
        origin: Origin,
        choices: Choices,
        diagnostics: Sequence[Diagnostic] = (),
    ) -> Held:
        """Keep a candidate for ten minutes under a new token; its staging folder stays with it.

        Raises:
            LibraryError: the record cannot be written.
            OSError: what is staged cannot be written.
        """
        staging.folder.seal()
        body = candidates.waiting_body(plan, origin=origin, choices=choices, diagnostics=diagnostics)
        held = candidates.hold(self.writable_record(), "install", staging.id, body, self.clock())
        staging.keep()
        return held

    def claim(self, token: str) -> HeldCandidate:
        """Return the candidate that waits under a token.

        Raises:
            LibraryError: `token-unknown`, `token-used`, `token-expired`; `library-stale` where its files are gone.
        """
        held = candidates.claim(self.layout, self.record(), token, self.clock)
        self._claimed.append(held.staging)
        return held

    def hold_removal(self, plan: RemovalPlan) -> Held:
        """Keep a removal for ten minutes under a new token. Raises LibraryError where the record cannot be written."""
        return candidates.hold_removal(self.writable_record(), plan, self.clock())

    def claim_removal(self, token: str) -> HeldRemoval:
        """Return the removal that waits under a token. Raises LibraryError like `claim`."""
        return candidates.claim_removal(self.record(), token, self.clock())

    def release(self, token: str) -> None:
        """Let go of what waits under a token, with its staged files; the token counts as used.

        Raises:
            LibraryError: the record cannot be written.
        """
        record = self.record()
        found = record.candidate(candidates.token_hash(token)) if record is not None else None
        if record is None or found is None:
            return
        record.release(candidates.token_hash(token))
        if found[1] is not None:
            stagings.remove(self.layout, found[1])

    def writable_record(self) -> Record:
        """Return the record, made where there was none. Raises LibraryError."""
        record = self.record()
        if record is None or not record.writable:
            if record is not None:
                record.close()
                self._record = None
            try:
                fs.make_folders(self.layout.control)
            except OSError as problem:
                raise fs.explained(problem, self.layout.control) from problem
            self._record = record = Record.open(self.layout.database, create=True)
        if record is None:
            raise LibraryError("library-damaged", f"{self.layout.database} cannot be made", self.layout.database)
        return record

    # --- writing ---

    @contextmanager
    def writer(self, *, command: str, timeout: float | None = None) -> Iterator[Writer]:
        """Be the one writer, after finishing what was interrupted.

        Args:
            command: what is being done, for others that wait.
            timeout: seconds to wait for another writer; None for the library's own.

        Raises:
            LibraryError: `library-locked` with the holder; what stands against recovery.
            DiskError: the library cannot be written.
        """
        from importer.library.writer import Writer

        record = self.writable_record()
        with writer_lock(self.layout, command, self.lock_timeout if timeout is None else timeout):
            self.notices += recover(self.layout, record)
            tidy(self.layout, record)
            yield Writer(self, record)

    # --- opening ---

    def _start(self) -> None:
        control = self.layout.control
        if not os.path.isdir(control):
            if os.path.lexists(control):
                self._damage = LibraryError(
                    "library-damaged",
                    f"{shown(control, 400)} is no folder; `importer doctor` moves it away, unchanged",
                    control,
                )
            return
        try:
            record = self.record()
        except LibraryError as problem:
            self._damage = problem
            return
        try:
            if record is not None and record.journal():
                self._recover(record)
            self._sweep(record)
        except Damaged as problem:
            self.notices.append(blocked(problem))

    def _recover(self, record: Record) -> None:
        """Finish or take back what was interrupted, where no writer is at work on it."""
        if not record.writable or not os.access(self.layout.control, os.W_OK):
            self.notices.append(
                warning(
                    "library-recovery-due",
                    f"a transaction in {shown(self.root, 400)} was interrupted, or is under way; the library cannot be "
                    "written, so it is shown as it was before",
                    self.root,
                )
            )
            return
        try:
            with writer_lock(self.layout, "recovery", 0):
                self.notices += recover(self.layout, record)
                tidy(self.layout, record)
        except LibraryError as problem:
            if problem.code != "library-locked":
                self.notices.append(blocked(problem))
        except fs.DiskError as problem:
            self.notices.append(blocked(problem))

    def _sweep(self, record: Record | None) -> None:
        """Remove what dead processes and expired candidates left in staging."""
        staging = self.layout.staging
        if not os.path.isdir(staging) or not os.access(staging, os.R_OK | os.W_OK) or not os.listdir(staging):
            return
        if record is not None and (not record.writable or record.journal()):
            return
        now = self.clock()
        try:
            if record is not None and record.has_expired(now):
                record.expire(now, now - candidates.REMEMBERED_SECONDS)
            stagings.sweep(self.layout, lambda: record.held_staging() if record is not None else set())
        except LibraryError:
            # The record is busy or full: what is left goes with a later command.
            return
