"""Reads a zip in a test the way the application does: list, deliver everything, verify the rest."""

from __future__ import annotations

import threading
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from budgets import Budgets, Override
from importer.diagnostics import Diagnostic, Rejected
from importer.extract.zip_container import ZipContainer
from importer.model import Entry, EntryKind, Listed
from importer.paths import RelPath

if TYPE_CHECKING:
    from collections.abc import Sequence

    from budgets import Meter


class MemoryFile:
    """A file in memory that counts what is read from it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.taken = 0

    @property
    def size(self) -> int:
        """Return its size."""
        return len(self.data)

    def pread(self, size: int, offset: int, /) -> bytes:
        """Return up to `size` bytes from `offset`."""
        assert size >= 0
        assert offset >= 0
        piece = self.data[offset : offset + size]
        self.taken += len(piece)
        return piece


class Sink:
    """Keeps one file, and whether it was finished."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.deflated = False
        self.stream = b""
        self.finished = False

    def write(self, data: bytes | memoryview, /) -> None:
        """Keep a copy."""
        assert not self.finished
        self.pieces.append(bytes(data))

    def packed(self, data: bytes | memoryview, /) -> None:
        """Keep a copy of the Deflate stream too."""
        assert self.deflated
        assert not self.finished
        self.stream += data

    def done(self) -> None:
        """Remember that it was, and hold the stream to the content: either may be kept of a file."""
        assert not self.finished
        if self.deflated:
            inflater = zlib.decompressobj(-15)
            assert inflater.decompress(self.stream) == b"".join(self.pieces)
            assert inflater.eof
            assert not inflater.unused_data
        self.finished = True


class Collector:
    """A receiver that keeps every file under its path."""

    def __init__(self, decline: frozenset[str] = frozenset()) -> None:
        self.sinks: dict[str, Sink] = {}
        self._decline = decline
        self._lock = threading.Lock()

    def begin(self, entry: Entry, /, *, deflated: bool = False) -> Sink | None:
        """Return a new sink, or None for a declined path."""
        if entry.path.text in self._decline:
            return None
        sink = Sink()
        sink.deflated = deflated
        with self._lock:
            assert entry.path.text not in self.sinks, "begun twice"
            self.sinks[entry.path.text] = sink
        return sink

    def take(self, entry: Entry, content: bytes | memoryview, packed: bytes | memoryview | None = None, /) -> None:
        """Take a file as a whole."""
        sink = self.begin(entry, deflated=packed is not None)
        if sink is not None:
            if content:
                sink.write(content)
            if packed is not None:
                sink.packed(packed)
            sink.done()

    def files(self) -> dict[str, bytes]:
        """Return the finished files."""
        return {path: b"".join(sink.pieces) for path, sink in self.sinks.items() if sink.finished}


@dataclass(kw_only=True)
class Reading:
    """What came of reading an archive."""

    listed: Sequence[Listed]
    notes: Sequence[Diagnostic]
    files: dict[str, bytes]
    bundle: Meter
    charged: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Return the listed names."""
        return [entry.name for entry in self.listed]

    def entry(self, name: str) -> Listed:
        """Return the one entry of that name."""
        (found,) = [entry for entry in self.listed if entry.name == name]
        return found


def budgets(**limits: int) -> Budgets:
    """Return the defaults with changes such as `bundle__ratio=5`."""
    changes = []
    for name, value in limits.items():
        profile, _, limit = name.partition("__")
        changes.append(Override.of(profile, limit, value, "test"))
    return Budgets.default(changes)


def as_entry(listed: Listed) -> Entry:
    """Return a file as if the gate had let it pass."""
    return Entry(
        path=RelPath(listed.name),
        size=listed.size,
        packed=listed.packed,
        executable=listed.executable,
        handle=listed.handle,
    )


def read(
    data: bytes,
    *,
    limits: Budgets | None = None,
    label: str = "",
    name_encoding: str | None = None,
    threads: int | None = 1,
) -> Reading:
    """Read the whole archive; raises what the container raises."""
    limits = limits or Budgets.default()
    bundle = limits.meter("bundle")
    charged: dict[str, int] = {}

    def charge(amount: int, path: str, /) -> None:
        charged[path] = charged.get(path, 0) + amount
        bundle.charge("bytes", amount, path)

    def charge_entries(amount: int, path: str, /) -> None:
        bundle.charge("entries", amount, path)

    container = ZipContainer(
        MemoryFile(data),
        bundle=bundle,
        archive=limits.meter("archive"),
        label=label,
        name_encoding=name_encoding,
        threads=threads,
    )
    listed = container.list(charge_entries)
    collector = Collector()
    wanted = [as_entry(entry) for entry in listed if entry.kind is EntryKind.FILE and entry.fault is None]
    container.deliver(wanted, collector, charge)
    container.verify_rest(charge)
    notes = container.notes()
    container.close()
    return Reading(listed=listed, notes=notes, files=collector.files(), bundle=bundle, charged=charged)


def refused(data: bytes, code: str = "archive-ambiguous", *, says: str = "", **options: str) -> Diagnostic:
    """Return the one reason for which the archive is refused; it has `code` and mentions `says`."""
    with pytest.raises(Rejected) as caught:
        read(data, label=options.get("label", ""), name_encoding=options.get("name_encoding"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code, diagnostic.message
    assert says in diagnostic.message
    return diagnostic
