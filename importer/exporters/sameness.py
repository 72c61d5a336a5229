"""When two entries for a server are the same connector, and where they differ if not."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING

from importer.diagnostics import shown
from importer.exporters.clients import Client, Secrets
from importer.exporters.texts import Server

if TYPE_CHECKING:
    from importer.exporters.render import Rendered

_HTTP = frozenset({"http", "streamable-http", "streamable_http", "streamableHttp"})


def needed_names(rendered: Rendered, connector: str) -> dict[str, frozenset[str]]:
    """Return the names of a connector's secrets by group: `env`, `headers`."""
    groups: dict[str, set[str]] = {}
    for secret in rendered.secrets:
        if secret.connector == connector:
            group, _, name = secret.place.partition(".")
            groups.setdefault(group, set()).add(name)
    return {group: frozenset(names) for group, names in groups.items()}


def same(installed: object, incoming: Server, client: Client, needed: Mapping[str, frozenset[str]]) -> bool:
    """Whether the client would reach the same server in the same way.

    Spellings that mean one thing to the client (a `type` that goes without saying, an alias, an empty table) do not
    count. Where secrets can only be written in by hand, neither do the values that a person wrote.
    """
    if not isinstance(installed, dict):
        return False
    return _normal(installed, client, needed) == _normal(incoming, client, needed)


def differing(
    installed: object, incoming: Server, client: Client, needed: Mapping[str, frozenset[str]]
) -> tuple[str, ...]:
    """Return the fields that differ, escaped for a message: `command`, `args[1]`, `env.TOKEN`. Never a value."""
    if not isinstance(installed, dict):
        return ("the entry itself, which is no object",)
    old, new = _normal(installed, client, needed), _normal(incoming, client, needed)
    fields: list[str] = []
    for key in [*new, *(key for key in old if key not in new)]:
        left, right = old.get(key), new.get(key)
        if left == right:
            continue
        name = shown(str(key), 80)
        if isinstance(left, list) and isinstance(right, list):
            longest = max(len(left), len(right))
            fields += [f"{name}[{i}]" for i in range(longest) if left[i : i + 1] != right[i : i + 1]]
        elif isinstance(left, dict) and isinstance(right, dict):
            inner = [*right, *(part for part in left if part not in right)]
            fields += [f"{name}.{shown(str(part), 80)}" for part in inner if left.get(part) != right.get(part)]
        else:
            fields.append(name)
    return tuple(fields)


def _normal(server: Mapping[str, object], client: Client, needed: Mapping[str, frozenset[str]]) -> dict[str, object]:
    entry: dict[str, object] = copy.deepcopy(dict(server))
    kind = entry.get("type")
    if kind == "stdio" and "command" in entry:
        del entry["type"]
    elif isinstance(kind, str) and kind in _HTTP & client.types:
        entry["type"] = "http"
        if not client.http:
            del entry["type"]
    if client.url_key != "url" and "url" in entry and client.url_key not in entry:
        entry[client.url_key] = entry.pop("url")
    if client.secrets is Secrets.BY_HAND:
        for group, names in needed.items():
            table = entry.get(group)
            if isinstance(table, dict):
                entry[group] = {key: value for key, value in table.items() if key not in names}
    for key in ("args", "env", "headers", "env_vars", "http_headers", "env_http_headers"):
        if key in entry and entry[key] in ([], {}):
            del entry[key]
    return entry
