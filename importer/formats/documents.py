"""Bytes that should be a text document: UTF-8, with one byte order mark passed over and said."""

from __future__ import annotations

import codecs
from dataclasses import replace

from importer.diagnostics import Diagnostic, error, info
from importer.inspection import FileInspector, hidden_warning


def decode(data: bytes, path: str, code: str, found: list[Diagnostic], *, complete: bool = True) -> str | None:
    """Return the text without its byte order mark, or None where it is none; what was met is added to `found`.

    Args:
        data: the document, or the start of it.
        path: how diagnostics name it.
        code: the code of the error where it is no text.
        found: takes the diagnostics.
        complete: whether `data` is all of it; else a character may be cut in two at its end.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        found.append(error(code, "line 1: the file is UTF-16; save it as UTF-8", path, 1, reason="not UTF-8"))
        return None
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
        found.append(
            info(
                "text-byte-order-mark",
                "the file starts with a byte order mark, which was passed over; not every program does that: save it "
                "as UTF-8 without one",
                path,
                1,
            )
        )
    try:
        text = codecs.getincrementaldecoder("utf-8")("strict").decode(data, complete)
    except UnicodeDecodeError as fault:
        line = _line_of(data, fault.start)
        message = f"line {line}: the byte 0x{data[fault.start]:02X} is no UTF-8 here; save the file as UTF-8"
        found.append(error(code, message, path, line, reason="not UTF-8"))
        return None
    if "\0" in text:
        line = _line_of(data, data.find(b"\0"))
        found.append(
            error(
                code, f"line {line}: a NUL character; the file should be text, ask its author", path, line, reason="NUL"
            )
        )
        return None
    return text


def hidden_in_text(path: str, value: str, line: int) -> Diagnostic | None:
    """Say what one value of a document hides once its escapes are undone; None where it hides nothing.

    Args:
        path: how diagnostics name the value; the places in the message count from its start.
        value: the text.
        line: where the value stands in its document.
    """
    inspector = FileInspector()
    inspector.feed(value.encode("utf-8"))
    found = hidden_warning(path, inspector.result())
    return replace(found, line=line) if found is not None else None


def _line_of(data: bytes, at: int) -> int:
    before = data[:at].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return before.count(b"\n") + 1
