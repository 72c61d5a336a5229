"""A second way to read a client's file, independent of the importer's own: what tests compare with."""

from __future__ import annotations

import json
import re
import tomllib

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/|\s+|.', re.DOTALL)


def comments(text: str) -> list[str]:
    """Return the comments of a JSON document with comments, in order."""
    return [token for token in _TOKEN.findall(text) if token.startswith(("//", "/*"))]


def bare(text: str) -> str:
    """Return a document without comments and white space between its values."""
    return "".join(t for t in _TOKEN.findall(text) if not t.startswith(("//", "/*")) and not t.isspace())


def values(text: str) -> dict[str, object]:
    """Return what a document with comments and trailing commas means."""
    tokens = [t for t in _TOKEN.findall(text) if not t.startswith(("//", "/*")) and not t.isspace()]
    kept = [t for t, after in zip(tokens, [*tokens[1:], ""], strict=True) if not (t == "," and after in {"}", "]"})]
    result = json.loads("".join(kept))
    assert isinstance(result, dict)
    return result


def toml(text: str) -> dict[str, object]:
    """Return a TOML document as a dictionary."""
    return tomllib.loads(text)


def is_subsequence(short: str, long: str) -> bool:
    """Whether `short` is what is left of `long` when some characters are struck out."""
    rest = iter(long)
    return all(character in rest for character in short)
