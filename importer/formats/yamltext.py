"""YAML as text: the parser's events become values, and every scalar stays the string that was written.

Nothing is resolved to a number, a date or an object, and nothing can grow: anchors, aliases, tags, several documents,
duplicate keys and more than 32 levels are refused where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from importer.diagnostics import shown
from importer.records import record

if TYPE_CHECKING:
    import yaml

MAX_LEVELS = 32
_COMMENT = re.compile(r"[ \t]+#(.*)")


class FrontmatterFault(ValueError):
    """There is no block that can be used; `line` and `column` count from 1 in the file."""

    def __init__(self, reason: str, line: int, column: int = 1) -> None:
        self.reason = reason
        self.line = line
        self.column = column
        super().__init__(f"line {line}, column {column}: {reason}")


class Refused(FrontmatterFault):
    """Something that is refused and never mended."""


class Syntax(FrontmatterFault):
    """The text is no YAML."""


@record
class Scalar:
    """One value as it was written, quotes and folding undone. `plain` says that it stood without quotes."""

    text: str
    line: int
    plain: bool = False
    comment: str | None = None
    """What follows a plain value on its line after ` #`."""


@record(kw_only=False)
class Items:
    """A list."""

    values: tuple[Value, ...]
    line: int


@record(kw_only=False)
class Fields:
    """A mapping from text to values."""

    values: Mapping[str, Value]
    line: int


Value = Scalar | Items | Fields


def _events(text: str, first_line: int) -> Iterator[yaml.Event]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = mark.index if mark is not None and mark.index is not None else 0
        line, column = _place(text, at, first_line)
        raise Syntax(shown(error.problem or "no YAML", 120), line, column) from None
    except yaml.YAMLError as error:
        raise Syntax(shown(str(error).partition("\n")[0], 120), first_line) from None


def _line(event: yaml.Event, first_line: int) -> int:
    return (event.start_mark.line if event.start_mark is not None else 0) + first_line


def _place(text: str, at: int, first_line: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + first_line, at - text.rfind("\n", 0, at)


@record(frozen=False, kw_only=False)
class _Open:
    """A list or a mapping that is not closed yet."""

    line: int
    items: list[Value] | None = None
    members: dict[str, Value] | None = None
    key: str | None = None
    key_lines: dict[str, int] = field(default_factory=dict)

    def take(self, value: Value) -> None:
        if self.items is not None:
            self.items.append(value)
        elif self.members is not None and self.key is not None:
            self.members[self.key] = value
            self.key = None
        elif self.members is not None:
            if not isinstance(value, Scalar):
                raise Refused("a key that is a list or a mapping", value.line)
            if value.text in self.members or value.text in self.key_lines:
                first = self.key_lines[value.text]
                raise Refused(f"the key '{shown(value.text, 80)}' stands twice, first on line {first}", value.line)
            self.key = value.text
            self.key_lines[value.text] = value.line

    def close(self) -> Value:
        if self.items is not None:
            return Items(tuple(self.items), self.line)
        return Fields(self.members or {}, self.line)


def read_mapping(text: str, first_line: int) -> tuple[dict[str, Value], dict[str, int]]:
    """Parse `text` as one mapping; the lines of its keys come with it.

    Args:
        text: YAML with `\\n` as the only line end.
        first_line: the number of its first line in the file.

    Raises:
        Refused: it holds something that is never taken, whatever else is right.
        Syntax: it is no YAML.
        FrontmatterFault: it is empty.
    """
    import yaml

    root: tuple[dict[str, Value], dict[str, int]] | None = None
    only_text = 0
    stack: list[_Open] = []
    documents = 0
    for event in _events(text, first_line):
        if isinstance(event, (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentEndEvent)):
            continue
        line = _line(event, first_line)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise Refused("a second YAML document starts here", line)
            continue
        if isinstance(event, yaml.AliasEvent):
            raise Refused("an alias (*name) is not allowed; put the value in quotes if it is text", line)
        if getattr(event, "anchor", None) is not None:
            raise Refused("an anchor (&name) is not allowed; put the value in quotes if it is text", line)
        if getattr(event, "tag", None) is not None:
            raise Refused("a tag (!name) is not allowed; put the value in quotes if it is text", line)
        if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            if len(stack) >= MAX_LEVELS:
                raise Refused(f"nested deeper than {MAX_LEVELS} levels", line)
            if not stack and isinstance(event, yaml.SequenceStartEvent):
                raise Refused("the frontmatter is a list; expected 'key: value' lines", line)
            mapping = isinstance(event, yaml.MappingStartEvent)
            stack.append(_Open(line, members={}) if mapping else _Open(line, items=[]))
        elif isinstance(event, yaml.ScalarEvent):
            if stack:
                stack[-1].take(_scalar(event, text, line))
            else:
                # Said at the end: where a syntax error follows, the text is only the part before it.
                only_text = line
        else:
            closed = stack.pop()
            if stack:
                stack[-1].take(closed.close())
            else:
                root = (closed.members or {}, closed.key_lines)
    if only_text:
        raise Refused("the frontmatter is one text; expected 'key: value' lines", only_text)
    if root is None:
        raise FrontmatterFault("the frontmatter holds nothing but comments", first_line)
    return root


def _scalar(event: yaml.ScalarEvent, text: str, line: int) -> Scalar:
    plain = not event.style
    comment: str | None = None
    if plain:
        end = event.end_mark
        after = _COMMENT.match(text, end.index) if end is not None and end.index is not None else None
        comment = after.group(1).strip() if after else None
    return Scalar(text=event.value, line=line, plain=plain, comment=comment)
