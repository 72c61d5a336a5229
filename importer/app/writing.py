"""Writing a document where a person wants it."""

from __future__ import annotations

import os

from importer import fs
from importer.app.errors import ImporterError, Status, machine_error
from importer.diagnostics import shown


def write_document(output: str, document: str, *, force: bool) -> None:
    """Write text to a file as a whole; a file that is there is replaced with `force` only.

    Raises:
        ImporterError: the file is there, or cannot be written.
    """
    target = os.path.abspath(os.path.expanduser(output))
    require_free(target, force=force)
    try:
        fs.write_whole(target, [document.encode("utf-8")], replace=force, mode=0o600)
    except OSError as problem:
        raise machine_error(problem, "the export") from problem


def require_free(target: str, *, force: bool) -> None:
    """Raise ImporterError (FAILED) where something is at `target` already and may not be replaced, or has no folder."""
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise ImporterError(
            "system-error",
            f"{shown(target, 400)} cannot be written: there is no folder {shown(folder, 400)}; check the spelling, or "
            "make the folder first",
            Status.FAILED,
            path=target,
        )
    if os.path.lexists(target) and not force:
        raise ImporterError(
            "export-output-exists",
            f"{shown(target, 400)} is there already; give --force to replace it, or another --output",
            Status.FAILED,
            path=target,
        )
