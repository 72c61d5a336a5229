"""The one place that chooses who inflates.

zlib-ng where it is installed (about 1.5 times as fast), else the interpreter's zlib. Both accept exactly the same
streams and stop at exactly the same byte. ISA-L is faster still and is not used: it takes streams with incomplete
Huffman codes, which zlib and with it most readers of archives refuse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable


STEPPED = 16 * 1024
"""Bytes of content below which `decompress` takes one step too."""
WHOLE = 32 * 1024
"""Bytes of a stream that may be inflated at one go: to 33 MiB at most, for as long as it takes to see that it lied."""


class Inflater(Protocol):
    """A raw Deflate stream that is inflated step by step."""

    @property
    def eof(self) -> bool:
        """Whether the end of the stream was reached."""

    @property
    def unused_data(self) -> bytes:
        """What came after the end of the stream, once `eof` is true."""

    @property
    def unconsumed_tail(self) -> bytes:
        """What was not looked at yet, while `eof` is false."""

    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes:
        """Return at most `max_length` bytes."""

    def flush(self, length: int, /) -> bytes:
        """Return all the rest, however much that is; `length` is how much is expected."""


class Backend:
    """What an inflating library offers: `inflater()`, `crc32(data, value)` and the errors that it raises."""

    __slots__ = ("crc32", "errors", "inflater", "name")

    def __init__(
        self,
        name: str,
        inflater: Callable[[], Inflater],
        crc32: Callable[[bytes | memoryview, int], int],
        errors: tuple[type[Exception], ...],
    ) -> None:
        self.name = name
        self.inflater = inflater
        self.crc32 = crc32
        self.errors = errors

    def whole(self, packed: bytes | memoryview, size: int) -> tuple[bytes, bool, int]:
        """Inflate a stream at one go, with the interpreter free for others from start to end.

        Otherwise the output grows step by step, every step waits for the interpreter, and two threads spend a third of
        their time on waiting for each other. The price is that a stream that lies about its size is inflated to its
        end, or to where it is broken: to 1,032 times the size of `packed` at most, as Deflate has it.

        Args:
            packed: at most `WHOLE` bytes, so that what a lie costs is bounded.
            size: how long the content is said to be.

        Returns:
            The content, or of a longer one no more than shows that it is; whether the stream ended with the last byte
            of `packed`; and how many bytes were inflated.
        """
        inflater = self.inflater()
        content = inflater.decompress(packed, 1)
        inflated = len(content)
        if not inflater.eof:
            rest = inflater.flush(size or 1)
            inflated += len(rest)
            content += rest if len(rest) <= size else rest[:size]
        return content, inflater.eof and not inflater.unused_data, inflated


def zlib_backend() -> Backend:
    """Return the interpreter's own zlib."""
    import zlib

    return Backend("zlib", lambda: zlib.decompressobj(-15), zlib.crc32, (zlib.error,))


def zlib_ng_backend() -> Backend | None:
    """Return zlib-ng, or None where it is not installed."""
    try:
        from zlib_ng import zlib_ng
    except ImportError:
        return None
    errors = cast("type[Exception]", zlib_ng.error)  # its stub gives an instance
    return Backend("zlib-ng", lambda: zlib_ng.decompressobj(-15), zlib_ng.crc32, (errors,))


def best_backend() -> Backend:
    """Return the fastest library that is installed."""
    return zlib_ng_backend() or zlib_backend()
