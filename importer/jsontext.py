"""JSON read without losing where anything stood: strict by default, with comments and trailing commas where asked.

Python's own reader takes duplicate keys, NaN and any depth, and forgets positions. This one refuses the first three and
keeps the span of every value, so that a fault has its line and a document can be edited as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from importer.records import record

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]

MAX_DEPTH = 64
MAX_VALUES = 100_000
"""Values of one document that are kept in memory, each with its place: some 35 MB at most."""
MAX_COMMENTS = 20_000
"""Comments of one document, and trailing commas of one: their places are kept too."""
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRINGS = json.JSONDecoder()
"""Asked only where a string starts; it is strict about control characters and escapes, and keeps no trail."""
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_SURROGATE = re.compile("[\ud800-\udfff]")
MAX_DIGITS = 400


class JsonFault(ValueError):
    """A document that is no JSON of the kind asked for; `line` and `column` count from 1."""

    def __init__(self, what: str, text: str, offset: int) -> None:
        self.what = what
        self.line, self.column = position(text, offset)
        super().__init__(f"line {self.line}, column {self.column}: {what}")


class TooManyValues(JsonFault):
    """More than MAX_VALUES values: `parse` with `within` reads the document all the same."""


@dataclass(slots=True)
class Node:
    """One value with its span `[start, end)` in characters of the text."""

    start: int
    end: int
    scalar: bool | int | float | str | None = None
    members: list[Member] | None = None
    """For an object: its members in order."""
    items: list[Node] | None = None
    """For an array: its items in order."""
    raw: str | None = None
    """For an object or array whose inside was checked and not kept: its text. `members` or `items` is empty then."""

    def get(self, key: str) -> Node | None:
        """Return the value of one member of an object, or None."""
        for member in self.members or ():
            if member.key == key:
                return member.value
        return None

    def plain(self) -> Plain:
        """Return the value as plain Python; what was not kept as its text."""
        if self.raw is not None:
            return self.raw
        if self.members is not None:
            return {member.key: member.value.plain() for member in self.members}
        if self.items is not None:
            return [item.plain() for item in self.items]
        return self.scalar


@dataclass(slots=True)
class Member:
    """One `"key": value` of an object; the key's span is `[key_start, key_end)`."""

    key: str
    key_start: int
    key_end: int
    value: Node


@record(frozen=False, kw_only=False)
class Document:
    """A parsed text. `comments` and `trailing_commas` hold the offsets where each was met."""

    text: str
    root: Node
    comments: list[int] = field(default_factory=list)
    trailing_commas: list[int] = field(default_factory=list)


def position(text: str, offset: int) -> tuple[int, int]:
    """Return line and column, both from 1, of a character offset."""
    before = text[:offset].replace("\r\n", "\n ").replace("\r", "\n")
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def parse(
    text: str, *, comments: bool = False, trailing_commas: bool = False, within: Collection[str] | None = None
) -> Document:
    """Parse a whole document. The text has no byte order mark any more.

    Args:
        text: the document.
        comments: whether `//` and `/* */` are taken (and remembered) instead of refused.
        trailing_commas: the same for a comma before a closing bracket.
        within: names of the members of the root whose inside is wanted; that of others is checked, and only its text is
            kept (`Node.raw`). None keeps everything.

    Raises:
        JsonFault: bad syntax, a duplicate key, a lone surrogate, deeper than 64 levels, or text after the value.
        TooManyValues: more than MAX_VALUES values would be kept.
    """
    reader = _Reader(text, comments, trailing_commas, within)
    start = reader.space(0)
    node = reader.value(start, 0)
    end = reader.space(node.end)
    if end != len(text):
        raise JsonFault("something stands after the end of the document", text, end)
    return Document(text, node, reader.comments_at, reader.commas_at)


def parse_config(text: str, within: Collection[str]) -> Document:
    """Parse a configuration with comments and trailing commas; one of very many values is kept only `within` these.

    Raises:
        JsonFault: as `parse`.
    """
    try:
        return parse(text, comments=True, trailing_commas=True)
    except TooManyValues:
        return parse(text, comments=True, trailing_commas=True, within=within)


class _Reader:
    def __init__(self, text: str, comments: bool, trailing_commas: bool, within: Collection[str] | None) -> None:
        self.text = text
        self.take_comments = comments
        self.take_commas = trailing_commas
        self.comments_at: list[int] = []
        self.commas_at: list[int] = []
        self.within = within
        self.keeps = True
        self.kept = 0

    def space(self, at: int) -> int:
        while True:
            match = _SPACE.match(self.text, at)
            at = match.end() if match else at
            if not self.text.startswith("/", at):
                return at
            comment = _COMMENT.match(self.text, at)
            if comment is None or not self.take_comments:
                raise JsonFault("a comment is not allowed here" if comment else "unexpected '/'", self.text, at)
            if len(self.comments_at) == MAX_COMMENTS:
                raise JsonFault(f"more than {MAX_COMMENTS:,} comments", self.text, at)
            self.comments_at.append(at)
            at = comment.end()

    def value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise JsonFault(f"nested deeper than {MAX_DEPTH} levels", self.text, at)
        head = self.text[at : at + 1]
        if head == "{":
            return self.object(at, depth)
        if head == "[":
            return self.array(at, depth)
        if head == '"':
            string, end = self.string(at)
            return Node(at, end, string)
        for word, meaning in _WORDS.items() if head in "tfn" else ():
            if self.text.startswith(word, at):
                return Node(at, at + len(word), meaning)
        number = _NUMBER.match(self.text, at)
        if number is None:
            found = f"found {head!r}" if head else "the document ends"
            raise JsonFault(f"expected a value, {found}", self.text, at)
        if len(number.group()) > MAX_DIGITS:
            raise JsonFault(f"a number of more than {MAX_DIGITS} characters", self.text, at)
        whole = number.group(1) is None and number.group(2) is None
        return Node(at, number.end(), int(number.group()) if whole else float(number.group()))

    def string(self, at: int) -> tuple[str, int]:
        try:
            decoded, end = _STRINGS.raw_decode(self.text, at)
        except ValueError:
            message = "a string that does not end, or holds a control character or a bad escape"
            raise JsonFault(message, self.text, at) from None
        value = str(decoded)
        if _SURROGATE.search(value):
            raise JsonFault("a string with half of a surrogate pair", self.text, at)
        return value, end

    def object(self, at: int, depth: int) -> Node:
        members: list[Member] = []
        seen: set[str] = set()
        node = Node(at, at, members=members)
        at = self.space(at + 1)
        while not self.text.startswith("}", at):
            if not self.text.startswith('"', at):
                raise JsonFault("expected a key in double quotes", self.text, at)
            key_start = at
            key, key_end = self.string(at)
            if key in seen:
                raise JsonFault(f"the key {key[:80]!r} stands twice", self.text, key_start)
            seen.add(key)
            at = self.space(key_end)
            if not self.text.startswith(":", at):
                raise JsonFault("expected ':' after a key", self.text, at)
            if depth == 0 and self.within is not None:
                self.keeps = key in self.within
            value = self.value(self.space(at + 1), depth + 1)
            if depth == 0:
                if not self.keeps and (value.members is not None or value.items is not None):
                    value.raw = self.text[value.start : value.end]
                self.keeps = True
            if self.keeps:
                self.count(key_start)
                members.append(Member(key, key_start, key_end, value))
            at = self.after(value.end, "}")
        node.end = at + 1
        return node

    def count(self, at: int) -> None:
        self.kept += 1
        if self.kept > MAX_VALUES:
            raise TooManyValues(f"more than {MAX_VALUES:,} values", self.text, at)

    def array(self, at: int, depth: int) -> Node:
        items: list[Node] = []
        node = Node(at, at, items=items)
        at = self.space(at + 1)
        while not self.text.startswith("]", at):
            value = self.value(at, depth + 1)
            if self.keeps:
                self.count(value.start)
                items.append(value)
            at = self.after(value.end, "]")
        node.end = at + 1
        return node

    def after(self, at: int, closing: str) -> int:
        at = self.space(at)
        if self.text.startswith(",", at):
            comma = at
            at = self.space(at + 1)
            if self.text.startswith(closing, at):
                if not self.take_commas:
                    raise JsonFault("a trailing comma is not allowed here", self.text, comma)
                if len(self.commas_at) == MAX_COMMENTS:
                    raise JsonFault(f"more than {MAX_COMMENTS:,} trailing commas", self.text, comma)
                self.commas_at.append(comma)
            return at
        if not self.text.startswith(closing, at):
            raise JsonFault(f"expected ',' or '{closing}'", self.text, at)
        return at
