"""Where output goes and what it looks like: results on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from importer.records import record

if TYPE_CHECKING:
    from importer.app.request import Settings
    from importer.app.results import Report
    from importer.diagnostics import Diagnostic

STYLES = {"error": "red", "warning": "yellow", "info": "blue"}


@record(frozen=False, kw_only=False)
class Console:
    """The common options of one run."""

    library: str | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    no_progress: bool = False
    budgets: list[str] = field(default_factory=list)

    @property
    def width(self) -> int:
        """Columns to fill: the terminal's, at most 100, and 80 where there is no terminal."""
        import shutil

        return max(40, min(100, shutil.get_terminal_size((80, 24)).columns))

    def color(self, stream: object) -> bool:
        """Whether `stream` gets colours: a terminal that wants them, and nobody said no."""
        if self.no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        return bool(getattr(stream, "isatty", lambda: False)())

    def style(self, text: str, *, fg: str | None = None, bold: bool = False) -> str:
        """Return `text` styled for stdout."""
        return click.style(text, fg=fg, bold=bold) if self.color(sys.stdout) else text

    def out(self, line: str = "") -> None:
        """Print one line of the result."""
        sys.stdout.write(line + "\n")

    def note(self, line: str) -> None:
        """Print one line beside the result, unless --quiet."""
        if not self.quiet:
            sys.stderr.write(line + "\n")

    def fail(self, line: str) -> None:
        """Print one line about a failure; --quiet does not hide it."""
        sys.stderr.write(line + "\n")

    def report(self, report: Report) -> None:
        """Print a report as JSON: ASCII only, so nothing in it can reach the terminal unescaped."""
        import json

        sys.stdout.write(json.dumps(report, indent=2, ensure_ascii=True) + "\n")

    def document(self, text: str) -> None:
        """Print a document as UTF-8 with its own line ends: the same bytes whatever the locale and the system."""
        sys.stdout.flush()
        raw = getattr(sys.stdout, "buffer", None)
        if raw is None:
            sys.stdout.write(text)
        else:
            raw.write(text.encode("utf-8"))

    def wrapped(self, text: str, indent: str, first: str | None = None) -> list[str]:
        """Return `text` in lines of the console's width."""
        import textwrap

        return textwrap.wrap(
            text,
            self.width,
            initial_indent=indent if first is None else first,
            subsequent_indent=indent,
            break_on_hyphens=False,
            break_long_words=False,
        ) or [first or indent]

    def command(self, *words: str) -> str:
        """Return the command line that goes on from here, with this run's library."""
        head = [_program()]
        if self.library is not None:
            head += ["--library", self.library]
        import shlex

        return shlex.join([*head, *words])

    def notices(self, notices: tuple[Diagnostic, ...]) -> None:
        """Say what opening the library found or repaired. On stderr in both views."""
        for notice in notices:
            sys.stderr.write(f"importer: {notice.message}\n")

    def settings(self) -> Settings:
        """Return the settings that the options and the environment make.

        Raises:
            click.UsageError: a --budget that is none.
        """
        from budgets import Override, UnknownLimit
        from importer.app.request import NoProgress, Settings, default_library
        from importer.cli.progress import terminal_progress

        try:
            overrides = tuple(Override.parse(text, "--budget") for text in self.budgets)
        except UnknownLimit as problem:
            raise click.UsageError(str(problem)) from None
        library = Path(self.library).expanduser() if self.library else default_library()
        silent = self.no_progress or self.quiet or (self.json and not sys.stderr.isatty())
        return Settings(
            library=Path(os.path.abspath(library)),
            overrides=overrides,
            progress=NoProgress() if silent else terminal_progress(self),
        )


def _program() -> str:
    """Return what this command is called: as it was typed, where its plain name is not on the path."""
    typed = sys.argv[0]
    if os.path.basename(typed) == "importer" and os.sep in typed:
        import shutil

        if shutil.which("importer") is None:
            return typed
    return "importer"


def size_text(size: int) -> str:
    """Return a size for people: 1,234 bytes, 12.1 KiB, 3.4 MiB."""
    if size < 1024:
        return f"{size} bytes" if size != 1 else "1 byte"
    value = float(size)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1024:
            return f"{value:.1f} {unit}"
    return f"{value:,.1f} GiB"


def count_text(count: int, noun: str) -> str:
    """Return `1 file`, `2 files`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
