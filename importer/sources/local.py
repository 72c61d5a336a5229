"""What a local path is: a folder, or one of the kinds of file that a package can be. Its name plays no part."""

from __future__ import annotations

import codecs
import os
import re
import stat
from enum import StrEnum

from importer.diagnostics import Rejected, error, shown
from importer.records import record
from importer.signatures import ZIP_TAIL, looks_like_gzip, looks_like_tar, looks_like_zip, other_kind
from importer.sources.file import FileBytes, cannot_read

_HEAD = 4096
_BOM = "\ufeff"
# Patterns are kept as text: `re` compiles one when it is first asked for, and a command asks for few of them.
_CONTROL = rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]"
_HTML = r"(?i)\s*<(?:!doctype html|html|head|body)"
# A list of links opens a Markdown text as well, so "[" alone says nothing.
_JSON = r"\s*(?:\{|//|/\*|\[\s*[{\"])"
# The tables of servers in the configuration of a client that writes TOML.
_TOML = r"(?m)^[ \t]*\[[ \t]*mcp_servers\b"


class LocalKind(StrEnum):
    """What can be taken from a disk. A `gzip` may hold a tar or not: only inflating it tells."""

    ZIP = "zip"
    TAR = "tar"
    GZIP = "gzip"
    DIRECTORY = "directory"
    MARKDOWN = "markdown"
    JSON = "json"
    UNKNOWN = "unknown"


@record(kw_only=False)
class Recognised:
    """A kind, and what was found in words, for the message about what is not recognised."""

    kind: LocalKind
    found: str


def recognise(path: str | os.PathLike[str]) -> Recognised:
    """Look at a path's kind and its first and last bytes.

    Raises:
        Rejected: nothing is there (`source-not-found`), it cannot be read or is neither file nor folder
            (`source-unreadable`), or it is empty (`source-empty`).
    """
    place = os.fspath(path)
    try:
        status = os.stat(place)
    except (OSError, ValueError) as problem:
        raise cannot_read(place, problem) from None
    if stat.S_ISDIR(status.st_mode):
        return Recognised(LocalKind.DIRECTORY, "a folder")
    with FileBytes(place) as data:
        if not data.size:
            message = f"{shown(place)} is empty: 0 bytes; fetch or pack it again"
            raise Rejected([error("source-empty", message, place)])
        return recognise_bytes(data.pread(_HEAD, 0), data.pread(ZIP_TAIL, max(0, data.size - ZIP_TAIL)))


def recognise_bytes(head: bytes, tail: bytes) -> Recognised:
    """Decide by the first few KiB of a file and its last 64 KiB."""
    if looks_like_gzip(head):
        return Recognised(LocalKind.GZIP, "a gzip stream")
    if looks_like_tar(head):
        return Recognised(LocalKind.TAR, "a tar archive")
    if looks_like_zip(head):
        return Recognised(LocalKind.ZIP, "a zip archive")
    known = other_kind(head)
    text = None if known else _as_text(head)
    if text is None and looks_like_zip(head, tail):
        # Something stands in front of it, or it is damaged: the zip reader says which.
        return Recognised(LocalKind.ZIP, "a file with a zip's end record")
    if known:
        return Recognised(LocalKind.UNKNOWN, known)
    if text is None:
        return Recognised(
            LocalKind.UNKNOWN, f"{len(head):,} bytes or more that are no text and start with {_hex(head)}"
        )
    return _text_kind(text)


def _text_kind(text: str) -> Recognised:
    text = text.removeprefix(_BOM)
    line = shown(text.lstrip().partition("\n")[0].rstrip(), 60)
    if text.startswith("#!"):
        return Recognised(LocalKind.UNKNOWN, f"a script that starts with '{line}'")
    if re.match(_HTML, text):
        return Recognised(LocalKind.UNKNOWN, "an HTML page, perhaps instead of the file that was to be fetched")
    if re.match(_JSON, text):
        return Recognised(LocalKind.JSON, f"a JSON text that starts with '{line}'")
    if re.search(_TOML, text) and not text.startswith("---"):
        return Recognised(LocalKind.JSON, "a TOML configuration of MCP servers")
    if not text.strip():
        return Recognised(LocalKind.UNKNOWN, "a text of nothing but blanks")
    return Recognised(LocalKind.MARKDOWN, f"a text that starts with '{line}'")


def _as_text(head: bytes) -> str | None:
    """Return the start of a file as text; None where it is not UTF-8, or its first bytes are no characters."""
    if 0 in head or re.search(_CONTROL, head[:16]):
        return None
    try:
        return codecs.getincrementaldecoder("utf-8")("strict").decode(head)
    except UnicodeDecodeError:
        return None


def _hex(head: bytes) -> str:
    return " ".join(f"{byte:02x}" for byte in head[:8])
