"""A configuration made safe to show: every value and comment hidden, except values that are known to be no secret."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence

from importer.diagnostics import shown
from importer.exporters.texts import Json, toml_string
from importer.jsontext import Document, Node, parse_config

HIDDEN_JSON = '"…"'
HIDDEN_TOML = '"…"'
CONTEXT = 3
MAX_COMPARED = 2_000
"""Lines that are compared with one another; past it a change is shown as one block, to keep the time bounded."""

_JSON_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TOML_TOKEN = re.compile(
    r'''(?P<string>"""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?\'{3,5}(?!\')|"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*')'''
    r"""|(?P<comment>\#[^\r\n]*)|(?P<newline>\r\n|\n)|(?P<mark>[\[\]{},=])|(?P<blank>[ \t\r]+)"""
    r"""|(?P<bare>[^\s\[\]{},=\#"']+)|(?P<other>.)""",
    re.DOTALL,
)
_INDENT = re.compile(r"[ \t]*")


def strings(value: Json) -> Iterator[str]:
    """Yield every string of a value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)


def mask_json(text: str, visible: Collection[str], within: Collection[str] = ()) -> str:
    """Hide every string, number and comment of a document that parses, but for the strings in `visible`.

    One of very many values is shown only `within` these keys.
    """
    document = parse_config(text, within)
    spans: list[tuple[int, int, str]] = []
    nodes: list[Node] = [document.root]
    while nodes:
        node = nodes.pop()
        if node.raw is not None:
            spans.append((node.start, node.end, HIDDEN_JSON))
        elif node.members is not None:
            nodes += (member.value for member in node.members)
        elif node.items is not None:
            nodes += node.items
        elif not isinstance(node.scalar, bool) and node.scalar is not None and node.scalar not in visible:
            spans.append((node.start, node.end, HIDDEN_JSON))
    for start in document.comments:
        match = _JSON_COMMENT.match(text, start)
        if match:
            spans.append((start, match.end(), "// …" if match.group().startswith("//") else "/* … */"))
    parts, at = list[str](), 0
    for start, end, new in sorted(spans):
        if start >= at:  # not a comment inside of what is hidden as a whole
            parts += (text[at:start], new)
            at = end
    return "".join((*parts, text[at:]))


def json_comments(document: Document, offsets: Collection[int] | None = None) -> list[str]:
    """Return the comments of a document in order: all of them, or those at `offsets`."""
    starts = document.comments if offsets is None else offsets
    found = (_JSON_COMMENT.match(document.text, start) for start in starts)
    return [match.group() for match in found if match]


def toml_comments(text: str) -> list[str]:
    """Return the comments of a TOML document in order."""
    return [match.group() for match in _TOML_TOKEN.finditer(text) if match.lastgroup == "comment"]


def mask_toml(text: str, visible: Collection[str]) -> str:
    """Hide every value and comment of a TOML document that parses, but for the strings in `visible`."""
    shown_as_is = {toml_string(value) for value in visible} | {"true", "false"}
    parts: list[str] = []
    brackets: list[str] = []
    value = header = False
    fresh = True
    for match in _TOML_TOKEN.finditer(text):
        kind, piece = match.lastgroup, match.group()
        if kind == "comment":
            parts.append("# …")
            continue
        if kind == "newline" and not brackets:
            value = header = False
            fresh = True
        elif kind == "mark" and not header:
            if fresh and piece == "[":
                header = True
            elif piece == "=":
                value = True
            elif piece in "[{":
                brackets.append(piece)
                value = piece == "["
            elif piece in "]}" and brackets:
                brackets.pop()
                value = True
            elif piece == ",":
                value = bool(brackets) and brackets[-1] == "["
        elif kind in {"string", "bare", "other"} and value and piece not in shown_as_is:
            piece = HIDDEN_TOML
        if kind not in {"newline", "blank"}:
            fresh = False
        parts.append(piece)
    return "".join(parts)


def diff(before: str, after: str, name: str) -> str:
    """Return a unified diff of two masked texts, each line safe for a terminal; "" where they are equal."""
    old, new = before.splitlines(), after.splitlines()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head == len(old) == len(new):
        return ""
    start = max(0, head - CONTEXT)
    end = max(0, tail - CONTEXT)
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    lines = [f"--- {shown(name)}", f"+++ {shown(name)}"]
    for group in _groups(left, right, head - start, tail - end):
        first, last = group[0], group[-1]
        lines.append(f"@@ -{first[1] + start + 1},{last[2] - first[1]} +{first[3] + start + 1},{last[4] - first[3]} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += (" " + _line(line) for line in left[i1:i2])
                continue
            lines += ("-" + _line(line) for line in left[i1:i2])
            lines += ("+" + _line(line) for line in right[j1:j2])
    return "\n".join(lines) + "\n"


def _groups(
    left: Sequence[str], right: Sequence[str], head: int, tail: int
) -> Iterator[list[tuple[str, int, int, int, int]]]:
    if max(len(left), len(right)) <= MAX_COMPARED:
        matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
        for group in matcher.get_grouped_opcodes(CONTEXT):
            yield list(group)
        return
    ends = len(left) - tail, len(right) - tail
    yield [
        ("equal", 0, head, 0, head),
        ("replace", head, ends[0], head, ends[1]),
        ("equal", ends[0], len(left), ends[1], len(right)),
    ]


def _line(line: str) -> str:
    match = _INDENT.match(line)
    indent = match.group() if match else ""
    return indent + shown(line[len(indent) :], 400)
