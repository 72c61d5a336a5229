"""Notices every attempt of this process to create, change or delete a file outside one folder."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = frozenset(
    {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown"}
)


class _Watch:
    """The one audit hook of the process: hooks cannot be taken off again, so it is switched on and off."""

    def __init__(self) -> None:
        self.installed = False
        self.inside: str | None = None
        self.strays: list[str] = []

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        """Look at one event."""
        if self.inside is None:
            return
        if event == "open":
            flags = arguments[2] if len(arguments) > 2 else 0
            if isinstance(flags, int) and flags & _WRITING:
                self._look(arguments[0])
        elif event in _CHANGES:
            # Paths beside a folder's descriptor are relative to it, and the descriptor was opened under this watch.
            self._look(arguments[0])

    def _look(self, path: object) -> None:
        if isinstance(path, int) or not isinstance(path, str | bytes | os.PathLike):
            return
        text = os.fsdecode(path)
        if os.path.isabs(text) and not os.path.realpath(text).startswith(str(self.inside)) and text != os.devnull:
            self.strays.append(text)


_WATCH = _Watch()


@contextmanager
def writes_only_in(folder: Path, strays: list[str]) -> Iterator[None]:
    """Add the absolute paths outside `folder` that are written to meanwhile to `strays`."""
    if not _WATCH.installed:
        sys.addaudithook(_WATCH.hook)
        _WATCH.installed = True
    _WATCH.strays = strays
    _WATCH.inside = os.path.realpath(folder)
    try:
        yield
    finally:
        _WATCH.inside = None
