"""A zip as a container: listed, delivered and verified so that every careful reader would agree."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from importer.extract.crew import Crew
from importer.extract.zip_data import EntryData
from importer.extract.zip_end import looks_like_zip, read_end
from importer.extract.zip_entries import Columns, read_entries
from importer.extract.zip_format import DEFLATED, STORED, Refusals
from importer.extract.zip_names import NameRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from budgets import Meter
    from importer.diagnostics import Diagnostic
    from importer.model import Entry, Listed
    from importer.ports import Charge, RandomBytes, Receiver

__all__ = ["ZipContainer", "looks_like_zip"]

MAX_LINK_TARGET = 4095
"""Bytes of a link's target; no common system makes a longer one."""

_SPAN = 1024 * 1024
"""Bytes of the file that small neighbours are read from in one go."""
_BATCH = 64
_HEAVY = 32 * 1024
"""Bytes per entry from which inflating and hashing outweigh the steps around them."""


class _Job(NamedTuple):
    handle: int
    entry: Entry | None


class ZipContainer:
    """One zip file.

    `list` reads and checks everything but the contents, `deliver` and `verify_rest` check these: only after both is
    it known that the archive has one meaning. Nothing is written here, and memory does not grow with the contents.
    """

    kind = "zip"

    def __init__(
        self,
        data: RandomBytes,
        *,
        bundle: Meter,
        archive: Meter,
        label: str = "",
        name_encoding: str | None = None,
        threads: int | None = None,
    ) -> None:
        """Take an open file.

        Args:
            data: the file; the caller closes it.
            bundle: the outer limits that all archives of one import share: every inflated byte is charged to
                `stream_bytes`, every entry is held to `ratio`.
            archive: `directory_bytes` is checked here.
            label: how a person knows this archive where it lies inside another one; "" for the outer one.
            name_encoding: the code page of names without the UTF-8 flag, where it is known.
            threads: how many threads read contents; None takes two where there are two processors.
        """
        self._data = data
        self._bundle = bundle
        self._archive = archive
        self._refuse = Refusals(label)
        self._label = label
        self._names = NameRule(name_encoding, self._refuse)
        self._threads = threads if threads is not None else min(2, os.cpu_count() or 1)
        self._columns = Columns(0)
        self._contents = EntryData(data, self._columns, bundle, self._refuse)
        self._verified = bytearray()

    def list(self, charge_entries: Charge, /) -> Sequence[Listed]:
        """Return every entry, in the directory's order.

        Raises:
            Rejected: the archive is damaged or can be read in two ways.
            BudgetExceeded: it has too many entries, or too large a directory; both are known before either is read.
        """
        end = read_end(self._data, self._refuse)
        charge_entries(end.entries, self._label)
        self._archive.check("directory_bytes", end.directory_size, self._label)
        columns = read_entries(self._data, end, self._names, self._refuse)
        self._columns = columns
        self._contents = EntryData(self._data, columns, self._bundle, self._refuse)
        self._verified = bytearray(len(columns.listed))
        for handle in columns.links:
            columns.listed[handle] = self._with_target(columns.listed[handle])
        return columns.listed

    def notes(self) -> Sequence[Diagnostic]:
        """Return a warning about names without the UTF-8 flag, where there are any."""
        return self._names.notes()

    def deliver(self, wanted: Sequence[Entry], receiver: Receiver, charge: Charge, /) -> None:
        """Deliver the contents of `wanted`, in no particular order, from up to `threads` threads.

        What `receiver` does not want to keep is read, charged and checked all the same. A sink is `done` after the
        size and the CRC of its file were found right.

        Raises:
            Rejected: contents are not what the headers declare.
            BudgetExceeded: by `charge`, or by `ratio` and `stream_bytes`.
            OSError: by the file, or by a sink.
        """
        self._run([_Job(entry.handle, entry) for entry in wanted], receiver, charge)

    def verify_rest(self, charge: Charge, /) -> None:
        """Read and check what was not delivered: other readers deliver it, and must not find another content.

        Only `stream_bytes` pays, since nobody selected these entries: `charge` is not called. Entries with a fault are
        left out.

        Raises:
            Rejected, BudgetExceeded, OSError: as `deliver`.
        """
        del charge
        verified = self._verified
        columns = self._columns
        rest = [
            _Job(entry.handle, None)
            for entry in columns.listed
            if not verified[entry.handle]
            and entry.fault is None
            and (entry.packed or columns.crc[entry.handle] or columns.method[entry.handle] != STORED)
        ]
        self._run(rest, None, None)

    def close(self) -> None:
        """Let go of the listing; the file is the caller's."""
        self._columns = Columns(0)
        self._contents = EntryData(self._data, self._columns, self._bundle, self._refuse)

    def _with_target(self, entry: Listed) -> Listed:
        """Return the symbolic link `entry` with its target, or without where it is none that could be used."""
        if not 0 < entry.size <= MAX_LINK_TARGET:
            return entry
        target = _Target()
        self._contents.stream(entry.handle, self._refuse.where(entry.name), None, target)
        self._verified[entry.handle] = 1
        try:
            text = str(target.content, "utf-8")
        except UnicodeDecodeError:
            return entry
        # Programs cut a target at a NUL.
        return entry if "\0" in text else entry._replace(link_target=text)

    def _run(self, jobs: Sequence[_Job], receiver: Receiver | None, charge: Charge | None) -> None:
        if not jobs:
            return
        own, batches = self._batches(jobs)

        def run(task: int) -> None:
            batch = batches[task]
            if self._contents.is_small(batch[0].handle):
                self._small(batch, task, crew, receiver, charge)
            else:
                self._large(batch[0], task, crew, receiver, charge)

        crew = Crew(own, len(batches), run, self._threads)
        crew.work()

    def _batches(self, jobs: Sequence[_Job]) -> tuple[int, Sequence[Sequence[_Job]]]:
        """Deal out the work: small neighbours in the file together, large entries one by one.

        Returns:
            how many batches are not worth a second thread, and all batches: those first, then the largest.
        """
        columns = self._columns
        batches: list[tuple[int, list[_Job]]] = []
        batch: list[_Job] = []
        size = first = 0
        for job in sorted(jobs, key=lambda job: columns.start[job.handle]):
            entry = columns.listed[job.handle]
            if not self._contents.is_small(job.handle):
                batches.append((entry.size, [job]))
                continue
            start = columns.start[job.handle]
            if batch and (start + entry.packed - first > _SPAN or len(batch) == _BATCH):
                batches.append((size, batch))
                batch = []
            if not batch:
                first, size = start, 0
            batch.append(job)
            size += entry.size
        if batch:
            batches.append((size, batch))
        light = [jobs for size, jobs in batches if size < _HEAVY * len(jobs)]
        heavy = sorted((pair for pair in batches if pair[0] >= _HEAVY * len(pair[1])), key=lambda pair: -pair[0])
        return len(light), light + [jobs for _, jobs in heavy]

    def _path(self, job: _Job) -> str:
        name = self._columns.listed[job.handle].name if job.entry is None else job.entry.path.text
        return self._refuse.where(name)

    def _large(self, job: _Job, task: int, crew: Crew, receiver: Receiver | None, charge: Charge | None) -> None:
        sink = None
        if receiver is not None and job.entry is not None:
            sink = receiver.begin(job.entry, deflated=self._columns.method[job.handle] == DEFLATED)
        whole = self._contents.stream(job.handle, self._path(job), charge, sink, lambda: crew.stopped(task))
        if whole:
            self._verified[job.handle] = 1
            if sink is not None:
                sink.done()

    def _small(
        self, batch: Sequence[_Job], task: int, crew: Crew, receiver: Receiver | None, charge: Charge | None
    ) -> None:
        columns = self._columns
        first = columns.start[batch[0].handle]
        last = batch[-1].handle
        length = columns.start[last] + columns.listed[last].packed - first
        data = memoryview(self._data.pread(length, first))
        if len(data) < length:
            raise self._refuse.unreadable(first + len(data), "the file became shorter while it was read")
        for job in batch:
            if crew.stopped(task):
                return
            start = columns.start[job.handle] - first
            packed = data[start : start + columns.listed[job.handle].packed]
            content = self._contents.small(job.handle, packed, self._path(job), charge)
            self._verified[job.handle] = 1
            if receiver is not None and job.entry is not None:
                receiver.take(job.entry, content, packed if columns.method[job.handle] == DEFLATED else None)


class _Target:
    """Keeps the few bytes of a link's target."""

    def __init__(self) -> None:
        self.content = b""

    def write(self, data: bytes | memoryview, /) -> None:
        """Take the next bytes."""
        self.content += data

    def packed(self, data: bytes | memoryview, /) -> None:
        """Do without it."""

    def done(self) -> None:
        """Nothing is left to do."""
