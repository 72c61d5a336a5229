"""How lists and counts read in a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from importer.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Sequence


def listed(names: Sequence[str], limit: int = 6) -> str:
    """Return `a, b, c and 12 more`, every name escaped and none longer than 80 characters."""
    first = ", ".join(shown(name, 80) for name in names[:limit])
    rest = len(names) - limit
    return f"{first} and {rest} more" if rest > 0 else first


def counted(number: int, noun: str) -> str:
    """Return `1 file`, `2 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
