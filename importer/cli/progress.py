"""A bar on stderr for work that takes longer than half a second on a terminal; nothing otherwise."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

from importer.app.request import NoProgress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from importer.cli.console import Console
    from importer.ports import Progress

DELAY_SECONDS = 0.5
_active: list[TerminalProgress] = []


def terminal_progress(console: Console) -> Progress:
    """Return a bar where stderr is a terminal, and silence where it is not."""
    if not sys.stderr.isatty():
        return NoProgress()
    bar = TerminalProgress(colour=console.color(sys.stderr))
    _active.append(bar)
    return bar


def clear_progress() -> None:
    """Take every bar off the screen: before a result, a question or an error is printed."""
    while _active:
        _active.pop().close()


class TerminalProgress:
    """Counts files and bytes; the bar itself is loaded only once the delay has passed."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._files = [0, 0]
        self._bytes = [0, 0]
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._drawn = 0.0
        self._closed = False

    def expect(self, files: int, size: int, /) -> None:
        """More is going to come."""
        with self._lock:
            self._files[1] += files
            self._bytes[1] += size

    def advance(self, files: int, size: int, /) -> None:
        """Some of it has."""
        with self._lock:
            self._files[0] += files
            self._bytes[0] += size
            now = time.monotonic()
            if self._closed or now - self._started < DELAY_SECONDS or now - self._drawn < 0.1:
                return
            self._drawn = now
            self._draw()

    def close(self) -> None:
        """Take the bar away."""
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def _draw(self) -> None:
        if self._bar is None:
            from rich.console import Console as RichConsole
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

            console = RichConsole(stderr=True, no_color=not self._colour)
            self._bar = Progress(
                TextColumn("{task.fields[files]}"),
                BarColumn(),
                DownloadColumn(True),
                console=console,
                transient=True,
            )
            self._task = self._bar.add_task("", total=None, files="")
            self._bar.start()
        if self._task is not None:
            self._bar.update(
                self._task,
                completed=self._bytes[0],
                total=self._bytes[1] or None,
                files=f"{self._files[0]:,} of {self._files[1]:,} files" if self._files[1] else "reading",
            )
