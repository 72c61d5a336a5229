"""The doctor: what state a library is in, what of it could be put right, and what was moved out of the way.

It repairs only what is provable (an interrupted transaction, a name that its own trash gives back). What it cannot read
goes to the trash, unchanged, beside a `reason.txt`. It never deletes anything that somebody could want.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import field
from typing import TYPE_CHECKING

from importer import fs
from importer.diagnostics import Diagnostic, Rejected, Severity, error, info, shown, warning
from importer.library import care, stagings, transact, trash
from importer.library.config import read_config
from importer.library.errors import LibraryError
from importer.library.inventory import verify_items
from importer.library.record import Record
from importer.library.sqlite import Damaged
from importer.library.view import take_view
from importer.library.writerlock import writer_lock
from importer.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from importer.library.layout import Layout

REASON = "reason.txt"
_FOLDERS = ("staging", "trash")
_FILES = ("library.db", "library.db-wal", "library.db-shm", "library.db-journal", "writer.lock", "writer.lock.holder")
_OTHERS = ("config.toml", "cache")
MAX_MANIFEST = 1 << 22


@record(kw_only=False)
class Examined:
    """What the doctor found and did. All is well when `attention` is False."""

    findings: tuple[Diagnostic, ...]

    @property
    def attention(self) -> bool:
        """Whether something needs a person: anything said as a warning or an error."""
        return any(finding.severity is not Severity.INFO for finding in self.findings)


@record(frozen=False, kw_only=False)
class _Doctor:
    layout: Layout
    findings: list[Diagnostic] = field(default_factory=list)
    _room: str | None = None

    # --- moving away ---

    def rescue(self, paths: Iterable[str], why: str) -> str:
        """Move files into one new folder of the trash, unchanged, with the reason; return that folder."""
        if self._room is None:
            self._room = f"{self.layout.trash}/doctor-{transact.new_id()}"
            fs.make_folders(self._room, 0o700)
        kept = ""
        if os.path.lexists(f"{self._room}/{REASON}"):
            with open(f"{self._room}/{REASON}", encoding="utf-8") as file:
                kept = file.read()
            fs.remove_file(f"{self._room}/{REASON}")
        names: list[str] = []
        for path in paths:
            if os.path.lexists(path):
                name = os.path.basename(path)
                while os.path.lexists(f"{self._room}/{name}"):
                    name += "-"
                fs.rename(path, f"{self._room}/{name}")
                names.append(name)
        fs.write_new(f"{self._room}/{REASON}", f"{kept}{', '.join(map(shown, names))}: {why}\n".encode())
        fs.sync_tree(self._room)
        fs.sync_folder(os.path.dirname(self._room))
        return self._room

    def moved(self, path: str, why: str, room: str) -> None:
        self.findings.append(
            warning(
                "doctor-moved",
                f"{shown(path, 400)}: {why}; it was moved, unchanged, to {shown(room, 400)}",
                path,
                reason=why,
                moved_to=room,
            )
        )

    def move(self, path: str, why: str) -> None:
        self.moved(path, why, self.rescue([path], why))

    # --- looking ---

    def control(self) -> bool:
        """Put the importer's own folder right; return whether there is one."""
        control = self.layout.control
        if not os.path.lexists(control):
            self.findings.append(
                info(
                    "doctor-no-library",
                    f"{shown(self.layout.root, 400)} holds no library yet; the first install makes it",
                )
            )
            return False
        if not os.path.isdir(control):
            aside = f"{control}-{os.urandom(4).hex()}"
            fs.rename(control, aside)
            fs.make_folders(control)
            self.moved(
                control, "it is no folder", self.rescue([aside], "it stood in the place of the folder .importer")
            )
        for name in ("trash", "staging"):
            path = f"{control}/{name}"
            if os.path.lexists(path) and not os.path.isdir(path):
                aside = f"{path}-{os.urandom(4).hex()}"
                fs.rename(path, aside)
                self.moved(path, "it is no folder", self.rescue([aside], f"it stood in the place of the folder {name}"))
        for name in _FILES:
            path = f"{control}/{name}"
            if os.path.lexists(path) and not os.path.isfile(path):
                self.move(path, "it is no file")
        known = {*_FOLDERS, *_FILES, *_OTHERS}
        for name in sorted(set(os.listdir(control)) - known):
            self.findings.append(
                info(
                    "doctor-unknown-file",
                    f"{shown(name)} in {shown(control, 400)} is none of the importer's; it is left alone",
                )
            )
        return True

    def record(self) -> Record | None:
        """Open the record, or move one that cannot be read away and begin another."""
        path = self.layout.database
        empty = os.path.isfile(path) and os.path.getsize(path) == 0
        record: Record | None = None
        try:
            record = Record.open(path)
            if record is not None and not record.writable:
                # Opened for writing it says what stands against that.
                record.close()
                record = Record.open(path, create=True)
            faults = care.faults(record) if record is not None else []
        except Damaged as problem:
            faults = [problem.message.partition(";")[0]]
        if faults:
            if record is not None:
                record.close()
            return self._new_record(faults[0])
        if empty:
            return self._new_record("it is empty")
        if record is not None:
            self._unreadable(record)
        return record

    def _new_record(self, why: str) -> Record | None:
        path = self.layout.database
        room = self.rescue([path, f"{path}-wal", f"{path}-shm", f"{path}-journal"], why)
        self.moved(path, f"{why}. A new, empty record was begun: what is installed stays, as nobody's", room)
        return Record.open(path, create=True)

    def _unreadable(self, record: Record) -> None:
        taken = care.unreadable(record)
        if not taken:
            return
        room = self.rescue([], "rows of the record that cannot be read, as unreadable-rows.json")
        name = f"{room}/unreadable-rows-{os.urandom(3).hex()}.json"
        fs.write_new(name, json.dumps([list(row) for row in taken], indent=1).encode())
        fs.sync_file(name)
        care.drop(record, taken)
        for table, key, _ in taken:
            self.moved(f"{self.layout.database}: {table} {key}", "a row that cannot be read", room)

    def config(self) -> None:
        """Move a configuration away that nothing can be read of: it would block every command."""
        path = self.layout.config
        try:
            read_config(path)
        except Rejected as rejected:
            why = rejected.diagnostics[0].facts.get("unreadable")
            if why is not None:
                self.move(path, str(why))

    def strays(self, record: Record | None) -> None:
        """Look at what in the trash no transaction of the record put there."""
        known = record.transaction_ids() if record is not None else {}
        unknown = {
            name: places
            for name, places in trash.folders(self.layout).items()
            if name not in known and not name.startswith("doctor-")
        }
        # With a lost record a journal was lost, too: only the last transaction can have been under way.
        last = max(unknown, key=lambda name: _age(unknown[name])) if unknown and not known else None
        for name, places in sorted(unknown.items()):
            for place in places:
                if not os.path.isdir(place):
                    self.move(place, "it is no folder of a transaction")
                    continue
                if name == last:
                    self._bring_back(place)
                transact.drop_empty(place)
                if os.path.lexists(place):
                    self.findings.append(
                        info(
                            "doctor-unknown-trash",
                            f"{shown(place, 400)} belongs to no transaction of the record; it is left alone",
                            place,
                        )
                    )

    def _bring_back(self, place: str) -> None:
        """Give back what an interrupted transaction took, and nothing took the place of, whose journal is lost."""
        try:
            with open(f"{place}/{transact.MANIFEST}", encoding="utf-8") as file:
                manifest = json.loads(file.read(MAX_MANIFEST))
            taken = [(str(one["from"]), str(one["to"]), str(one["action"])) for one in manifest["taken"]]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return
        for target, source, action in taken:
            here, there = self.layout.full(source), self.layout.full(target)
            inside = os.path.realpath(here).startswith(os.path.realpath(place) + os.sep)
            plain = not os.path.isabs(target) and ".." not in target.split("/")
            if action == "removed" or not inside or not plain or not os.path.lexists(here) or os.path.lexists(there):
                continue
            fs.rename(here, there)
            fs.sync_folder(os.path.dirname(there))
            self.findings.append(
                warning(
                    "doctor-brought-back",
                    f"{shown(there, 400)} was missing; its old files came back from the trash",
                    there,
                )
            )

    def staging(self, record: Record | None) -> None:
        stagings.sweep(self.layout, lambda: record.held_staging() if record is not None else set())
        try:
            names = os.listdir(self.layout.staging)
        except OSError:
            return
        for name in names:
            path = f"{self.layout.staging}/{name}"
            if os.path.islink(path) or not os.path.isdir(path):
                self.move(path, "it is no staging folder")

    def items(self, record: Record | None) -> None:
        """Compare what is installed with the record."""
        view = take_view(self.layout, record)
        for shown_item in verify_items(view, ()):
            listed = shown_item.listed
            what = f"the {listed.kind} {shown(listed.name)}"
            if shown_item.tree is None:
                self.findings.append(
                    warning(
                        "doctor-item-missing",
                        f"{what} is in the record and its files are gone; install it again, or `importer remove "
                        f"{listed.kind} {shown(listed.name)}`",
                        self.layout.target(listed.kind, listed.name),
                        kind=listed.kind,
                        name=listed.name,
                    )
                )
            elif not shown_item.ok:
                self.findings.append(
                    info(
                        "doctor-item-edited",
                        f"{what} was edited since it was installed; `importer verify` names the files",
                        self.layout.target(listed.kind, listed.name),
                        kind=listed.kind,
                        name=listed.name,
                    )
                )


def examine(layout: Layout, *, lock_timeout: float) -> Examined:
    """Look at a library, put right what is provable, and move away what cannot be read.

    Raises:
        DiskError: the library itself cannot be read or written.
    """
    doctor = _Doctor(layout)
    try:
        _examine(doctor, lock_timeout)
    except LibraryError as problem:
        doctor.findings.append(error(problem.code, problem.message, problem.path))
    except OSError as problem:
        told = fs.explained(problem)
        doctor.findings.append(error(told.code, told.message, told.path))
    try:
        read_config(layout.config)
    except Rejected as rejected:
        doctor.findings += rejected.diagnostics
    except fs.DiskError as problem:
        doctor.findings.append(error(problem.code, problem.message, problem.path))
    if not doctor.findings:
        doctor.findings.append(info("doctor-well", f"{shown(layout.root, 400)}: all is well"))
    return Examined(tuple(doctor.findings))


def _examine(doctor: _Doctor, lock_timeout: float) -> None:
    layout = doctor.layout
    if not doctor.control():
        return
    with writer_lock(layout, "doctor", lock_timeout):
        doctor.config()
        record = doctor.record()
        try:
            if record is not None:
                doctor.findings += transact.recover(layout, record)
            doctor.strays(record)
            for area in layout.areas()[1:]:
                transact.drop_incoming(area)
            if record is not None:
                now = time.time()
                record.expire(now, now)
            doctor.staging(record)
            doctor.items(record)
        finally:
            if record is not None:
                record.close()


def _age(places: list[str]) -> int:
    """Return when a transaction wrote its manifest, in ns; 0 where it has none."""
    for place in places:
        try:
            return os.lstat(f"{place}/{transact.MANIFEST}").st_mtime_ns
        except OSError:
            continue
    return 0
