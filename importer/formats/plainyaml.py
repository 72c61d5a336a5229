"""The form that most frontmatters have, read without a parser of YAML.

`key: value` lines, and under a key without a value one level of them, indented alike; values of one line, plain or in
quotes with nothing in them to be undone. Such a block says the same to this reader as to the parser, which takes ten
times as long; whatever else a block holds is left to the parser, and so is every refusal.
"""

from __future__ import annotations

import re

from importer.formats.yamltext import Fields, Scalar, Value

_KEY = re.compile(r"( *)([A-Za-z][A-Za-z0-9_-]{0,99})", re.ASCII)
_STARTS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./(")
"""With what a plain value starts here: letters of other scripts besides."""


def read_plain_mapping(text: str, first_line: int) -> tuple[dict[str, Value], dict[str, int]] | None:
    """Return what `yamltext.read_mapping` does, or None where it has to be asked.

    Args:
        text: YAML with `\\n` as the only line end, and no character that YAML forbids.
        first_line: the number of its first line in the file.
    """
    # YAML takes a lone carriage return for a line end.
    if "\t" in text or "\r" in text or "\ufeff" in text:
        return None
    fields: dict[str, Value] = {}
    lines: dict[str, int] = {}
    below: dict[str, Value] = {}
    margin_below = ""
    empty = ""
    """The key on the line before, where it has no value there."""
    for number, line in enumerate(text.removesuffix("\n").split("\n"), first_line):
        head, colon, rest = line.partition(":")
        key = _KEY.fullmatch(head)
        if key is None or not colon or (rest and rest[0] != " "):
            return None
        margin, name = key.groups()
        if not margin:
            if empty or name in lines:
                return None
            lines[name] = number
            margin_below = ""
        elif empty:
            margin_below = margin
            below = {}
            fields[empty] = Fields(below, number)
            empty = ""
        elif margin != margin_below or name in below:
            return None
        value = rest.strip(" ")
        if not value:
            if margin:
                return None
            empty = name
            continue
        scalar = _scalar(value, number)
        if scalar is None:
            return None
        (below if margin else fields)[name] = scalar
    return None if empty else (fields, lines)


def _scalar(value: str, line: int) -> Scalar | None:
    first = value[0]
    if first in {'"', "'"}:
        inner = value[1:-1]
        whole = len(value) > 1 and value[-1] == first
        return Scalar(text=inner, line=line) if whole and first not in inner and "\\" not in inner else None
    if (first in _STARTS or first > "\x7f") and ": " not in value and " #" not in value and value[-1] != ":":
        return Scalar(text=value, line=line, plain=True)
    return None
