"""The contents of zip entries: inflated here, counted, and held to what their headers declare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from importer.extract.deflate64 import PIECE, deflate64_inflater
from importer.extract.zip_format import DEFLATED64, RECORD, STORED, Refusals, method_name
from importer.inflate import STEPPED, WHOLE, best_backend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from budgets import Meter
    from importer.extract.zip_entries import Columns
    from importer.ports import Charge, FileSink, RandomBytes

SMALL_PACKED = 64 * 1024
SMALL_SIZE = 256 * 1024
"""Entries within both are read and inflated in one step each."""

_IN = 64 * 1024
_OUT = 128 * 1024


class EntryData:
    """Reads the contents of one archive's entries; safe to use from several threads at once."""

    def __init__(self, data: RandomBytes, columns: Columns, bundle: Meter, refuse: Refusals) -> None:
        self._data = data
        self._columns = columns
        self._bundle = bundle
        self._refuse = refuse
        self._backend = best_backend()
        self._ratio = 0
        """The largest ratio that passed: only a larger one has to be checked."""

    def is_small(self, handle: int) -> bool:
        """Tell whether `small` may be used."""
        entry = self._columns.listed[handle]
        return (
            entry.packed <= SMALL_PACKED
            and entry.size <= SMALL_SIZE
            and self._columns.method[handle] != DEFLATED64
            and not self._columns.scan[handle]
        )

    def small(self, handle: int, packed: memoryview, path: str, charge: Charge | None) -> bytes | memoryview:
        """Return the content of a small entry, checked; `packed` are its bytes in the file.

        Raises:
            Rejected: as `stream`.
            BudgetExceeded: as `stream`.
        """
        entry = self._columns.listed[handle]
        size = entry.size
        if self._columns.method[handle] == STORED:
            content: bytes | memoryview = packed
            fits = len(packed) == size
        else:
            try:
                content, ended = self._inflate(packed, size, path)
            except self._backend.errors:
                self.stream(handle, path, charge, None)
                raise self._broken(handle) from None
            fits = ended and len(content) == size
        if not fits or self._backend.crc32(content, 0) != self._columns.crc[handle]:
            # The long way finds the same fault again, and says which one it is.
            self.stream(handle, path, charge, None)
            raise self._broken(handle)
        if content:
            self._pay(len(content), path, charge)
            self._hold_ratio(-(-size // (entry.packed or 1)), path)
        return content

    def _inflate(self, packed: memoryview, size: int, path: str) -> tuple[bytes, bool]:
        """Inflate a small stream; return its content (or more than `size` of it) and whether it ends with `packed`."""
        if size >= STEPPED and len(packed) <= WHOLE:
            # What a lie is inflated to is paid for too: many of them would cost more than the stream's budget.
            content, ended, inflated = self._backend.whole(packed, size)
            self._bundle.charge("stream_bytes", max(0, inflated - size), path)
            return content, ended
        inflater = self._backend.inflater()
        content = inflater.decompress(packed, size + 1)
        return content, inflater.eof and not inflater.unused_data

    def stream(
        self,
        handle: int,
        path: str,
        charge: Charge | None,
        sink: FileSink | None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Read one entry from start to end, in bounded memory.

        Args:
            handle: the entry.
            path: what budgets and messages call it.
            charge: pays for each byte that is delivered; None pays for the stream alone.
            sink: takes the bytes, of a Deflate stream both ways; None throws them away. `done` is left to the caller.
            stopped: asked between pieces; once it says True, reading ends and False is returned.

        Raises:
            Rejected: `archive-ambiguous` where the stream does not end with its packed bytes or has another size than
                declared, `archive-unreadable` where it is broken or its CRC is another one.
            BudgetExceeded: more was inflated than a budget allows.
        """
        columns = self._columns
        entry = columns.listed[handle]
        refuse = self._refuse
        crc32 = self._backend.crc32
        total = 0
        crc = 0
        tail = b""
        scan = columns.scan[handle]
        for content in self._contents(handle, sink):
            if stopped():
                return False
            total += len(content)
            if total > entry.size:
                text = f"its content is longer than the {entry.size:,} bytes that its headers declare"
                raise refuse.ambiguous(columns.start[handle], text, entry.name, declared=entry.size)
            self._pay(len(content), path, charge)
            self._hold_ratio(-(-total // (entry.packed or 1)), path)
            if scan:
                found = RECORD.search(tail + content)
                if found is not None:
                    where = columns.start[handle] + total - len(content) - len(tail) + found.start()
                    text = "it is stored as it is and streamed, and its data holds the signature of a zip record"
                    raise refuse.ambiguous(where, text, entry.name)
                tail = (tail + content[-3:])[-3:]
            crc = crc32(content, crc)
            if sink is not None:
                sink.write(content)
        if total != entry.size:
            text = f"its content has {total:,} bytes, its headers declare {entry.size:,}"
            raise refuse.ambiguous(columns.start[handle], text, entry.name, declared=entry.size, delivered=total)
        if crc != columns.crc[handle]:
            text = f"its content has the CRC {crc:08x}, its headers declare {columns.crc[handle]:08x}"
            raise refuse.unreadable(columns.start[handle], text, entry.name)
        return True

    def _pay(self, amount: int, path: str, charge: Charge | None) -> None:
        self._bundle.charge("stream_bytes", amount, path)
        if charge is not None:
            charge(amount, path)

    def _hold_ratio(self, ratio: int, path: str) -> None:
        """Check a ratio, rounded up: one byte over the limit is over it."""
        if ratio > self._ratio:
            self._bundle.check("ratio", ratio, path)
            self._ratio = ratio

    def _packed(self, handle: int, piece: int = _IN) -> Iterator[bytes]:
        """Yield the bytes of an entry as they are in the file."""
        entry = self._columns.listed[handle]
        at = self._columns.start[handle]
        left = entry.packed
        while left > 0:
            data = self._data.pread(min(left, piece), at)
            if not data:
                raise self._refuse.unreadable(at, f"its data is cut short by {left:,} bytes", entry.name)
            yield data
            at += len(data)
            left -= len(data)

    def _contents(self, handle: int, sink: FileSink | None) -> Iterator[bytes]:
        method = self._columns.method[handle]
        if method == STORED:
            return self._packed(handle)
        return self._inflated64(handle) if method == DEFLATED64 else self._inflated(handle, sink)

    def _inflated(self, handle: int, sink: FileSink | None) -> Iterator[bytes]:
        """Inflate an entry, never asking for more than one byte over its declared size."""
        entry = self._columns.listed[handle]
        inflater = self._backend.inflater()
        room = entry.size + 1
        left = entry.packed
        for piece in self._packed(handle):
            left -= len(piece)
            if sink is not None:
                sink.packed(piece)
            data: bytes | memoryview = piece
            while True:
                try:
                    content = inflater.decompress(data, min(_OUT, room) or 1)
                except self._backend.errors:
                    raise self._broken(handle) from None
                if content:
                    room -= len(content)
                    yield content
                if inflater.eof:
                    unused = left + len(inflater.unused_data)
                    if unused:
                        raise self._ends_early(handle, entry.packed - unused)
                    return
                data = inflater.unconsumed_tail
                # All input is used, but a match may still be pending: only an empty answer says that it is not.
                if not data and not content:
                    break
        raise self._ends_late(handle)

    def _inflated64(self, handle: int) -> Iterator[bytes]:
        make = deflate64_inflater()
        if make is None:
            raise self._broken(handle)
        inflater = make()
        left = self._columns.listed[handle].packed
        for data in self._packed(handle):
            at = 0
            while at < len(data):
                # The last byte goes alone: the stream has to end with it and not before.
                piece = data[at : at + min(PIECE, max(1, left - 1))]
                at += len(piece)
                left -= len(piece)
                try:
                    content = inflater.decompress(piece)
                except (ValueError, SystemError):
                    raise self._broken(handle) from None
                if inflater.eof and left:
                    raise self._ends_early(handle, self._columns.listed[handle].packed - left)
                if content:
                    yield content
        if not inflater.eof:
            raise self._ends_late(handle)

    def _broken(self, handle: int) -> Exception:
        name = method_name(self._columns.method[handle])
        entry = self._columns.listed[handle]
        return self._refuse.unreadable(self._columns.start[handle], f"its {name} stream is broken", entry.name)

    def _ends_early(self, handle: int, used: int) -> Exception:
        entry = self._columns.listed[handle]
        where = self._columns.start[handle] + used
        text = f"its compressed stream ends after {used:,} bytes, its headers declare {entry.packed:,}"
        return self._refuse.ambiguous(where, text, entry.name, declared=entry.packed)

    def _ends_late(self, handle: int) -> Exception:
        entry = self._columns.listed[handle]
        where = self._columns.start[handle] + entry.packed
        text = f"its compressed stream does not end within the {entry.packed:,} bytes that its headers declare"
        return self._refuse.ambiguous(where, text, entry.name, declared=entry.packed)
