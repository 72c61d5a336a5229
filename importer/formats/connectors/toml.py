"""The configuration of a client that writes TOML: the table `mcp_servers` as the same nodes that JSON gives."""

from __future__ import annotations

import tomllib
from datetime import date, datetime, time
from typing import cast

from importer.diagnostics import Diagnostic, error, shown
from importer.formats.connectors.recognise import Servers
from importer.jsontext import Member, Node
from importer.secrets import redacted

Value = str | int | float | bool | date | datetime | time | list["Value"] | dict[str, "Value"]

MAX_CHARACTERS = 256 * 1024
# The reader's work grows with the square of the parts of one key.
_MAX_DOTS = 200
_MAX_DEPTH = 16


def read_toml(text: str, label: str) -> list[Servers] | Diagnostic:
    """Return the servers of a TOML configuration, or why it cannot be read."""
    if len(text) > MAX_CHARACTERS or any(line.count(".") > _MAX_DOTS for line in text.splitlines()):
        return error("connector-unreadable", "the TOML is longer or has longer keys than a configuration needs", label)
    try:
        document = cast("dict[str, Value]", tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        what = "nested too deeply" if isinstance(fault, RecursionError) else shown(redacted(str(fault)))
        return error("connector-unreadable", f"no TOML: {what}; mend it and preview again", label)
    return [Servers("mcp_servers", _node(document["mcp_servers"], 0))] if "mcp_servers" in document else []


def _node(value: Value, depth: int) -> Node:
    """Build a node without a place. What lies too deep to mean anything to a connector becomes null."""
    if depth > _MAX_DEPTH:
        return Node(-1, -1)
    if isinstance(value, dict):
        return Node(-1, -1, members=[Member(key, -1, -1, _node(inner, depth + 1)) for key, inner in value.items()])
    if isinstance(value, list):
        return Node(-1, -1, items=[_node(inner, depth + 1) for inner in value])
    return Node(-1, -1, value if isinstance(value, str | int | float) else str(value))
