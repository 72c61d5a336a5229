"""The command line: arguments in, one call of `importer.app`, and a view for people or for programs out."""

from __future__ import annotations

import sys


def entry() -> None:
    """Run the command of the installed script."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: list[str]) -> int:
    """Run one command and return its exit status; nothing is raised, whatever the input."""
    if arguments == ["--version"]:
        # Asked by scripts before anything else, and answered before anything is loaded.
        from importer.version import __version__

        sys.stdout.write(f"importer {__version__}\n")
        return 0
    from importer.cli.main import run

    return run(arguments)
