"""A file read forwards through a window: many small reads that lie close together become one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importer.ports import RandomBytes

WINDOW = 16 * 1024
NEAR = 512
"""As much as one local header usually takes: worth reading where the next one is out of a window's reach."""


class Window:
    """A piece of the file that moves forwards."""

    __slots__ = ("_base", "_data", "buffer")

    def __init__(self, data: RandomBytes) -> None:
        self._data = data
        self._base = 0
        self.buffer = b""

    def at(self, offset: int, need: int, ahead: int = WINDOW) -> int:
        """Return where `offset` is in `buffer`; `need` bytes follow there, or fewer at the end of the file.

        Where they have to be read, `ahead` bytes are, for what comes next.
        """
        here = offset - self._base
        if here < 0 or here + need > len(self.buffer):
            self.buffer = self._data.pread(max(need, ahead), offset)
            self._base = offset
            here = 0
        return here
