"""Deflate64, where the extra that reads it is installed.

The extension inflates whatever it is given at once, holds the interpreter's lock meanwhile, and does not say how much
of its input it used. So it is fed in small pieces, the last byte by itself: the stream must not end before it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALL_COMMAND = "pip install 'agent-package-importer[deflate64]'"

PIECE = 64
"""Bytes fed at once. Eighteen bits can stand for 65,538 bytes, so a piece grows to less than 2 MiB."""


class Inflater(Protocol):
    """An object of the extension's: `decompress` must not be called again once `eof` is true."""

    eof: bool

    def decompress(self, data: bytes, /) -> bytes:
        """Return what became complete; raises `ValueError` for a broken stream."""


@cache
def deflate64_inflater() -> Callable[[], Inflater] | None:
    """Return what makes an inflater, or None where the extra is not installed."""
    try:
        from zipfile_deflate64 import deflate64
    except ImportError:
        return None
    make: Callable[[], Inflater] = deflate64.Deflate64
    return make
