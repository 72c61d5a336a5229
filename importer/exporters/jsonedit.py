"""JSON with comments edited as text: a value is put in or replaced, and every other byte stays where it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from importer.exporters.texts import Json, json_text
from importer.jsontext import Document, Node

_BLANK = re.compile(r"[ \t]*")
_BLOCK = re.compile(r"/\*.*?\*/", re.DOTALL)
_LINE = re.compile(r"//[^\r\n]*")
_NEWLINE = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Edit:
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str


@dataclass(slots=True)
class Style:
    """How a document is written: its line ends, one level of indentation, and the separators on one line."""

    newline: str
    unit: str
    colon: str
    comma: str

    @classmethod
    def of(cls, document: Document) -> Style:
        """Take the style from the document itself; two spaces and LF where it does not show any."""
        text, root = document.text, document.root
        ends = [match.group() for match in _NEWLINE.finditer(text)]
        newline = max(("\n", "\r\n", "\r"), key=ends.count) if ends else "\n"
        unit, colon, comma = "  ", ": ", ", "
        if root.members:
            first = root.members[0]
            own = _indent_of(text, first.key_start)
            if own is not None and own:
                unit = own.removeprefix(_indent_of(text, root.start) or "") or own
            after_key = text.find(":", first.key_end) + 1
            if not text[after_key : after_key + 1].isspace():
                colon, comma = ":", ","
        return cls(newline, unit, colon, comma)


@dataclass(slots=True)
class Editor:
    """Collects edits of one document; `result` applies them. Edits never overlap."""

    document: Document
    edits: list[Edit] = field(default_factory=list)
    style: Style = field(init=False)

    def __post_init__(self) -> None:
        self.style = Style.of(self.document)

    def add(self, container: Node, new: Sequence[tuple[str | None, Json]]) -> None:
        """Put members (`key`, value) or items (None, value) at the end of an object or an array."""
        text = self.document.text
        if container.members is not None:
            spans = [(member.key_start, member.value.end) for member in container.members]
        else:
            spans = [(item.start, item.end) for item in container.items or ()]
        closing = container.end - 1
        if not spans:
            self._fill(container, new)
            return
        first, last = spans[0][0], spans[-1][1]
        indent = _indent_of(text, first)
        comma = self._comma_after(last, closing)
        if comma is None:
            self.edits.append(Edit(last, last, ","))
        at = self._end_of_line_comments(last if comma is None else comma + 1, closing)
        if indent is None:
            # All on one line: so is what is added, unless the line ends in a comment that would swallow it.
            between = self.style.comma.removeprefix(",")
            if text[at : at + 1] in {"\r", "\n"}:
                between = self.style.newline + _line_indent(text, container.start) + self.style.unit
            written = [self._one_line(key, value) for key, value in new]
            addition = between + ("," + between).join(written)
        else:
            start = self.style.newline + indent
            addition = start + ("," + start).join(self._lines(key, value, indent) for key, value in new)
        self.edits.append(Edit(at, at, addition + ("," if comma is not None else "")))

    def _fill(self, container: Node, new: Sequence[tuple[str | None, Json]]) -> None:
        """Put the first elements between two brackets; a comment that stands there stays."""
        text, closing = self.document.text, container.end - 1
        outer = _line_indent(text, container.start)
        single = "\n" not in text and "\r" not in text and len(text.strip()) > container.end - container.start
        at = self._end_of_line_comments(container.start + 1, closing)
        rest = text[at:closing]
        if single:
            written = ("," + self.style.comma.removeprefix(",")).join(self._one_line(key, value) for key, value in new)
            self.edits.append(Edit(at, at, written))
            return
        indent = outer + self.style.unit
        start = self.style.newline + indent
        addition = start + ("," + start).join(self._lines(key, value, indent) for key, value in new)
        if rest.strip():
            # Comments on lines of their own: they come after what is added.
            self.edits.append(Edit(at, at, addition))
        else:
            self.edits.append(Edit(at, closing, addition + self.style.newline + outer))

    def replace(self, node: Node, value: Json) -> None:
        """Put another value in place of `node`."""
        text = self.document.text
        inner = text[node.start : node.end]
        if "\n" in inner or "\r" in inner or _indent_of(text, node.start) is not None:
            new = self._lines(None, value, _line_indent(text, node.start))
        else:
            new = self._one_line(None, value)
        self.edits.append(Edit(node.start, node.end, new))

    def result(self) -> str:
        """Return the document with every edit made."""
        text, at, parts = self.document.text, 0, list[str]()
        order = sorted(range(len(self.edits)), key=lambda i: (self.edits[i].start, i))
        for edit in (self.edits[i] for i in order):
            parts += (text[at : edit.start], edit.new)
            at = edit.end
        return "".join((*parts, text[at:]))

    def _comma_after(self, at: int, closing: int) -> int | None:
        """Return where the trailing comma stands between the last element and the closing bracket, or None."""
        return next((comma for comma in self.document.trailing_commas if at <= comma < closing), None)

    def _end_of_line_comments(self, at: int, closing: int) -> int:
        """Return the place behind the comments that belong to the line of `at`."""
        text, end = self.document.text, at
        while True:
            blank = _BLANK.match(text, at)
            at = blank.end() if blank else at
            comment = _LINE.match(text, at) or _BLOCK.match(text, at)
            if at >= closing or comment is None:
                return end
            at = end = comment.end()

    def _one_line(self, key: str | None, value: Json) -> str:
        text = json_text(value, compact=(self.style.comma, self.style.colon))
        return text if key is None else json_text(key) + self.style.colon + text

    def _lines(self, key: str | None, value: Json, indent: str) -> str:
        text = json_text(value, indent=self.style.unit).replace("\n", self.style.newline + indent)
        return text if key is None else f"{json_text(key)}: {text}"


def _line_indent(text: str, at: int) -> str:
    """Return the white space that the line of `at` starts with."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    blank = _BLANK.match(text, start)
    return blank.group() if blank else ""


def _indent_of(text: str, at: int) -> str | None:
    """Return the white space before `at` where nothing else stands before it on its line, else None."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    before = text[start:at]
    return before if not before.strip(" \t") and start > 0 else None
