"""The command line: arguments in, one call of `importer.app`, and a view for people or for programs out."""

from __future__ import annotations

import gc
import sys

INTERRUPTED = 130
"""The exit status after Ctrl-C."""
COLLECT_AFTER = 100_000
"""Objects made and kept before the search for cycles. A command makes few cycles, and keeps most of what it makes."""


def entry() -> None:
    """Run the command of the installed script."""
    try:
        _read_names_as_utf8()
        gc.set_threshold(COLLECT_AFTER)
        status = main(sys.argv[1:])
        # The process ends here, and its memory with it: a last search for cycles costs a tenth of a short command.
        gc.freeze()
        sys.exit(status)
    except KeyboardInterrupt:
        # Before there was anything to stop.
        sys.exit(INTERRUPTED)


def _read_names_as_utf8() -> None:
    """Start again in Python's UTF-8 mode where the locale has another encoding for the names of files.

    Names on a disk are bytes, and packages write them in UTF-8 whatever the locale of the day is: the same package has
    the same digest everywhere. What is printed stays in the encoding of the terminal.
    """
    if sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode and sys.executable:
        import os

        os.environ.setdefault("PYTHONIOENCODING", f"{sys.stdout.encoding}:backslashreplace")
        again = [sys.executable, "-X", "utf8", "-m", "importer", *sys.argv[1:]]
        os.execv(sys.executable, again)  # noqa: S606  # this very program, and no shell


def main(arguments: list[str]) -> int:
    """Run one command and return its exit status; nothing is raised, whatever the input."""
    if arguments == ["--version"]:
        # Asked by scripts before anything else, and answered before anything is loaded.
        from importer.version import __version__

        sys.stdout.write(f"importer {__version__}\n")
        return 0
    from importer.cli.main import run

    return run(arguments)
