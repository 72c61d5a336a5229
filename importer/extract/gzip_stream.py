"""Exactly one gzip member, with its header, CRC and length checked, and nothing but zeros after it (RFC 1952)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from importer.extract.zip_format import Refusals
from importer.inflate import best_backend
from importer.signatures import GZIP, looks_like_gzip

if TYPE_CHECKING:
    from collections.abc import Callable

    from budgets import Meter
    from importer.ports import Charge, RandomBytes, Readable

__all__ = ["GzipReader", "looks_like_gzip", "spool_gzip"]

CHUNK_IN = 64 * 1024
CHUNK_OUT = 256 * 1024
_HEADER_CRC, _EXTRA, _NAME, _COMMENT, _RESERVED = 0x02, 0x04, 0x08, 0x10, 0xE0
_MAX_TEXT = 64 * 1024
"""The most bytes of a name or a comment in the header."""
MAX_PADDING = 1024 * 1024
"""The most zeros after the end of the stream."""
RATIO_FROM = 1024 * 1024
"""The ratio is looked at once so many bytes came out: a few repeated lines may compress to nearly nothing."""


def spool_gzip(data: RandomBytes, write: Callable[[bytes], object], *, bundle: Meter, label: str = "") -> None:
    """Inflate a gzip file.

    Args:
        data: the file.
        write: takes the inflated bytes, in order, at most 256 KiB at a time.
        bundle: every inflated byte is charged to `stream_bytes` before it is handed on; the whole is held to `ratio`.
        label: how a person knows the file.

    Raises:
        Rejected: it is damaged (`archive-unreadable`), or has more than one member or something after it
            (`archive-ambiguous`).
        BudgetExceeded: see `bundle`.
    """
    reader = GzipReader(
        _Forward(data),
        lambda amount, path: bundle.charge("stream_bytes", amount, path),
        label=label,
        check_ratio=lambda ratio: bundle.check("ratio", ratio, label),
    )
    while chunk := reader.read(CHUNK_OUT):
        write(chunk)


class _Forward:
    def __init__(self, data: RandomBytes) -> None:
        self._data = data
        self._at = 0

    def read(self, size: int, /) -> bytes:
        found = self._data.pread(size, self._at)
        self._at += len(found)
        return found


class GzipReader:
    """The inflated bytes of one gzip member that is read forwards.

    The checks at the end of the member are made when its end is reached, before the last `read` returns b"".
    """

    def __init__(
        self,
        source: Readable,
        charge_stream: Charge,
        *,
        label: str = "",
        check_ratio: Callable[[int], None] | None = None,
    ) -> None:
        """Take a source that stands at the first byte of the member; `charge_stream` pays for what comes out."""
        backend = best_backend()
        self._source = source
        self._charge = charge_stream
        self._label = label
        self._check_ratio = check_ratio
        self._refuse = Refusals(label, "gzip")
        self._inflater = backend.inflater()
        self._crc32 = backend.crc32
        self._errors = backend.errors
        self._crc = 0
        self._out = 0
        self._in = 0
        # Compressed bytes that were read from the source and not used yet.
        self._waiting = b""
        self._started = False
        self._ended = False

    def read(self, size: int, /) -> bytes:
        """Return up to `size` inflated bytes, b"" at the end.

        Raises:
            Rejected: the stream is damaged, or is not alone.
            BudgetExceeded: by `charge_stream`, before the bytes are handed on.
        """
        if not self._started:
            self._started = True
            self._header()
        while not self._ended:
            if not self._waiting:
                self._waiting = self._fetch()
            try:
                data = self._inflater.decompress(self._waiting, size)
            except self._errors as problem:
                raise self._refuse.unreadable(self._here(), f"the compressed data is damaged ({problem})") from None
            dry = not self._waiting
            self._waiting = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
            if data:
                self._out += len(data)
                self._charge(len(data), self._label)
                if self._check_ratio is not None and self._out > RATIO_FROM:
                    # Rounded up: exactly at the limit passes, one byte over it does not.
                    self._check_ratio(-(-self._out // max(1, self._here())))
                self._crc = self._crc32(data, self._crc)
            if self._inflater.eof:
                self._ended = True
                self._trailer()
            elif dry and not data:
                raise self._refuse.unreadable(self._here(), "the file is cut short inside the compressed data")
            if data:
                return data
        return b""

    def _here(self) -> int:
        """The offset of the first byte that was not used."""
        return self._in - len(self._waiting)

    def _fetch(self) -> bytes:
        data = self._source.read(CHUNK_IN)
        self._in += len(data)
        return data

    def _take(self, size: int) -> bytes:
        while len(self._waiting) < size:
            more = self._fetch()
            if not more:
                raise self._refuse.unreadable(self._here(), "the file is cut short")
            self._waiting += more
        found, self._waiting = self._waiting[:size], self._waiting[size:]
        return found

    def _header(self) -> None:
        head = self._take(10)
        if not head.startswith(GZIP) or head[2] != 8:
            raise self._refuse.unreadable(0, "there is no gzip header here")
        flags = head[3]
        if flags & _RESERVED:
            raise self._refuse.unreadable(3, "the header has flags that nobody may set")
        if flags & _EXTRA:
            size = self._take(2)
            head += size + self._take(int.from_bytes(size, "little"))
        for flag, what in ((_NAME, "name"), (_COMMENT, "comment")):
            if flags & flag:
                head += self._text(what)
        if flags & _HEADER_CRC:
            at = self._here()
            if int.from_bytes(self._take(2), "little") != self._crc32(head, 0) & 0xFFFF:
                raise self._refuse.unreadable(at, "the checksum of the header is wrong")

    def _text(self, what: str) -> bytes:
        start = self._here()
        while (end := self._waiting.find(b"\0")) < 0 and len(self._waiting) <= _MAX_TEXT:
            more = self._fetch()
            if not more:
                raise self._refuse.unreadable(start, f"the file is cut short inside the {what} in its header")
            self._waiting += more
        if not 0 <= end <= _MAX_TEXT:
            raise self._refuse.unreadable(start, f"the {what} in the header has more than {_MAX_TEXT:,} bytes")
        return self._take(end + 1)

    def _trailer(self) -> None:
        at = self._here()
        crc, size = struct.unpack("<II", self._take(8))
        if crc != self._crc:
            raise self._refuse.unreadable(at, "the checksum at the end is not that of the data")
        if size != self._out & 0xFFFFFFFF:
            raise self._refuse.unreadable(at + 4, "the length at the end is not that of the data")
        # bsdtar fills a pipe up with zeros to a whole block; no reader takes those for anything.
        padding = 0
        while rest := self._waiting or self._fetch():
            self._waiting = b""
            at = self._in - len(rest)
            padding += len(rest)
            if rest.strip(b"\0") or padding > MAX_PADDING:
                at += len(rest) - len(rest.lstrip(b"\0"))
                what = "a second gzip member" if rest.lstrip(b"\0").startswith(GZIP) else "something"
                raise self._refuse.ambiguous(at, f"{what} follows the end of the stream, some readers go on")
