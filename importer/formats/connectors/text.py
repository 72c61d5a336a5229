"""The bytes of a document as text, and where its lines are."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right

from importer.diagnostics import Diagnostic, error, info
from importer.records import record

_BREAK = re.compile(r"\r\n|\r|\n")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Lines:
    """Line numbers of a text, found in logarithmic time: a document may have as many faults as its sender likes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] | None = None

    def at(self, offset: int | None) -> int | None:
        """Return the line, from 1, of a character offset; None where the offset is not known."""
        if offset is None or offset < 0:
            return None
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _BREAK.finditer(self._text))]
        return bisect_right(self._starts, offset)


@record(kw_only=False)
class Decoded:
    """A document as text without its byte order mark."""

    text: str
    notes: tuple[Diagnostic, ...]


def decode(data: bytes, label: str) -> Decoded | Diagnostic:
    """Return the text of `data`, or why it is none."""
    if data.startswith(_UTF16) or (len(data) > 3 and data[1:2] == b"\0" and data[3:4] == b"\0"):
        return error("connector-unreadable", "the file is UTF-16; expected UTF-8: save it again as UTF-8", label)
    bom = data.startswith(codecs.BOM_UTF8)
    try:
        text = data[3 if bom else 0 :].decode("utf-8")
    except UnicodeDecodeError as fault:
        offset = fault.start + (3 if bom else 0)
        # The exception holds the bytes of the document: it goes no further than here.
        message = f"the file is not UTF-8 at byte {offset}; save it again as UTF-8"
        return error("connector-unreadable", message, label, offset=offset)
    note = info("connector-bom", "the file starts with a byte order mark; it is ignored", label)
    return Decoded(text, (note,) if bom else ())
