"""Text of a connector as a client's file holds it: placeholders found, JSON and TOML written the same everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from importer.diagnostics import hidden, shown

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Server = dict[str, Json]
"""One server's entry as plain values."""

_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}")
_VISIBLE_PART = re.compile(r"\$\{(?:(?:env|input|config|command|file):)?[A-Za-z0-9_./-]*|\$[A-Za-z0-9_]+")
_NOT_IN_VARIABLE = re.compile(r"[^A-Z0-9_]")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def placeholders(text: str, pattern: re.Pattern[str] | None = None) -> tuple[str, ...]:
    """Return the placeholders of a text, each cut to its name: a default value may be a secret and is not shown.

    `pattern` is what a client expands; without it every `${…}` counts.
    """
    found: list[str] = []
    for match in (pattern or _PLACEHOLDER).finditer(text):
        visible = _VISIBLE_PART.match(match.group())
        name = visible.group() if visible else "${"
        found.append(shown(name if not name.startswith("${") else name + "}", 80))
    return tuple(dict.fromkeys(found))


def variable(*parts: str) -> str:
    """Return a name for an environment variable made of `parts`: `github`, `X-Api-Key` give `GITHUB_X_API_KEY`."""
    name = "_".join(_NOT_IN_VARIABLE.sub("_", part.upper()) for part in parts)
    return f"MCP_{name}" if name[:1].isdigit() else name


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in "\n\t":
        # Between values; inside a string both are escaped already.
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


def json_text(value: Json, *, indent: str = "  ", compact: tuple[str, str] | None = None) -> str:
    """Write JSON over several lines, or on one with the separators `compact`.

    Characters that do not show are written as escapes: same meaning, and safe on a terminal. No newline at the end.
    """
    if compact is not None:
        text = json.dumps(value, ensure_ascii=False, separators=compact)
    else:
        text = json.dumps(value, ensure_ascii=False, indent=indent)
    return hidden().sub(_escape, text)


def _toml_escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def toml_string(text: str) -> str:
    """Write a TOML basic string on one line."""
    return '"' + hidden().sub(_toml_escape, text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def toml_key(key: str) -> str:
    """Write a TOML key, bare where it may be."""
    return key if _BARE_KEY.fullmatch(key) else toml_string(key)


def toml_value(value: Json) -> str:
    """Write a value of the kinds that a server entry holds: strings, lists of them, tables of them, booleans."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(key)} = {toml_value(item)}" for key, item in value.items()) + " }"
    return str(value)


def toml_table(root: str, name: str, server: Mapping[str, Json]) -> str:
    """Write one server as a table of its own, newline at the end."""
    lines = [f"[{toml_key(root)}.{toml_key(name)}]"]
    lines += [f"{toml_key(key)} = {toml_value(value)}" for key, value in server.items()]
    return "\n".join(lines) + "\n"
