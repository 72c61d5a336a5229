"""Streams that pay for each byte as it is delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from budgets.meter import Meter


class Readable(Protocol):
    """Anything that hands out at most `size` bytes at a time, and b"" at its end."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes."""


class MeteredReader:
    """A reader that charges what it hands out, and never asks its source for more than one byte over the limit."""

    def __init__(self, source: Readable, meter: Meter, limit: str, path: str = "") -> None:
        self._source = source
        self._meter = meter
        self._limit = limit
        self._path = path

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes.

        Raises:
            BudgetExceeded: what was delivered under the limit is now over its maximum.
        """
        data = self._source.read(min(size, self._meter.remaining(self._limit) + 1))
        if data:
            self._meter.charge(self._limit, len(data), self._path)
        return data


def metered(chunks: Iterable[bytes], meter: Meter, limit: str, path: str = "") -> Iterator[bytes]:
    """Yield `chunks`, each charged to `limit` before it is handed on.

    Raises:
        BudgetExceeded: during iteration, with the chunk that went over already counted and not handed on.
    """
    for chunk in chunks:
        meter.charge(limit, len(chunk), path)
        yield chunk
