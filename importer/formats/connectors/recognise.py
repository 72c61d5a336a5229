"""What a JSON or TOML document is: a template, a client's configuration, a registry entry, or none of them."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from importer.formats.connectors.text import Decoded, decode
from importer.jsontext import Document, JsonFault, Node, parse_config

if TYPE_CHECKING:
    from collections.abc import Mapping

TEMPLATE_KIND = "open-science.connector"
MAX_BYTES = 4 * 1024 * 1024
"""A longer document is no connector whatever is in it; the budget decides about one that is shorter."""

SERVER_ROOTS = ("mcpServers", "servers", "context_servers", "mcp_servers")
ADDRESSES = ("url", "serverUrl", "httpUrl")
TRANSPORT_KEYS = ("type", "transport", "transportType")
_MARKS = re.compile(
    rb'"(?:mcpServers|servers|context_servers|mcp_servers|command|url|serverUrl|httpUrl|transport|required_secrets'
    rb'|packages|remotes)"|open-science\.|server\.schema\.json'
)
_BROKEN = re.compile(r'"(?:mcpServers|context_servers|open-science\.connector)"')
TOML = re.compile(r"^\s*\[\s*mcp_servers\b", re.MULTILINE)


class Kind(StrEnum):
    """What a document is."""

    TEMPLATE = "template"
    CLIENT_CONFIG = "client-config"
    SERVER_JSON = "server-json"
    NOT_CONNECTORS = "not-connectors"


class Servers(NamedTuple):
    """Where the servers of a configuration are: `root` is the key above them, "" for a bare map or a single server."""

    root: str
    node: Node
    single: bool = False


def looks_like_connectors(data: bytes) -> bool:
    """Whether a file is a connector template, a client's configuration, or a registry's server entry. Cheap.

    A broken document that names `mcpServers` counts, so that its fault can be said.
    """
    if len(data) > MAX_BYTES:
        return False
    decoded = decode(data, "")
    if not isinstance(decoded, Decoded):
        return False
    if TOML.search(decoded.text):
        return True
    if not _MARKS.search(data):
        return False
    if not decoded.text.lstrip(" \t\r\n").startswith(("{", "/")):
        return False
    try:
        document = parse_document(decoded.text)
    except JsonFault:
        return _BROKEN.search(decoded.text) is not None
    return kind_of(document) is not Kind.NOT_CONNECTORS


def parse_document(text: str) -> Document:
    """Parse what may be a template or a configuration. Raises JsonFault."""
    return parse_config(text, (*SERVER_ROOTS, "mcp"))


def broken_kind(text: str) -> Kind:
    """Say what a document that cannot be parsed was meant to be."""
    if TEMPLATE_KIND in text:
        return Kind.TEMPLATE
    return Kind.CLIENT_CONFIG if _BROKEN.search(text) or TOML.search(text) else Kind.NOT_CONNECTORS


def kind_of(document: Document) -> Kind:
    """Say what a parsed document is."""
    root = document.root
    if root.members is None:
        return Kind.NOT_CONNECTORS
    keys = {member.key: member.value for member in root.members}
    if _is_template(keys):
        return Kind.TEMPLATE
    if _is_registry(keys):
        return Kind.SERVER_JSON
    return Kind.CLIENT_CONFIG if servers_of(root) else Kind.NOT_CONNECTORS


def servers_of(root: Node) -> list[Servers]:
    """Return every place of a document that holds servers."""
    keys = {member.key: member.value for member in root.members or ()}
    if "openapi" in keys or "asyncapi" in keys:
        return []
    found = [
        Servers(key, keys[key])
        for key in SERVER_ROOTS
        if key in keys and (key != "servers" or _holds_servers(keys[key]) or "inputs" in keys)
    ]
    nested = keys["mcp"].get("servers") if "mcp" in keys else None
    if nested is not None and _holds_servers(nested):
        found.append(Servers("mcp.servers", nested))
    if found:
        return found
    if _is_server(root) and not _has_object_servers(keys):
        return [Servers("", root, single=True)]
    return [Servers("", root)] if keys and _holds_servers(root) else []


def _is_template(keys: Mapping[str, Node]) -> bool:
    kind = keys["kind"].scalar if "kind" in keys else None
    if isinstance(kind, str) and kind.startswith("open-science."):
        return kind.startswith(TEMPLATE_KIND)
    ours = {"transport", "required_secrets", "display_name"} & set(keys)
    return ("schema_version" in keys and bool(ours)) or "required_secrets" in keys or len(ours) > 1


def _is_registry(keys: Mapping[str, Node]) -> bool:
    schema = keys["$schema"].scalar if "$schema" in keys else None
    if isinstance(schema, str) and "server.schema.json" in schema:
        return True
    listed = "servers" in keys and any(
        item.get("server") or item.get("packages") for item in keys["servers"].items or ()
    )
    lists = any(key in keys and keys[key].items is not None for key in ("packages", "remotes"))
    return listed or (lists and "name" in keys and not {"mcpServers", "command", "url"} & set(keys))


def _text(node: Node | None) -> bool:
    return node is not None and isinstance(node.scalar, str)


def _is_server(node: Node) -> bool:
    """Whether an object says how to start or reach a server."""
    if node.members is None:
        return False
    if _text(node.get("command")):
        return any(node.get(key) is not None for key in ("args", "env", *TRANSPORT_KEYS)) or len(node.members) == 1
    if any(_text(node.get(key)) for key in ("serverUrl", "httpUrl")):
        return True
    return _text(node.get("url")) and all(
        member.key in {"url", "headers", "name", "description", "disabled", "timeout", *TRANSPORT_KEYS}
        for member in node.members
    )


def _has_object_servers(keys: Mapping[str, Node]) -> bool:
    return all(_is_server(node) for node in keys.values())


def _holds_servers(node: Node) -> bool:
    """Whether every value is an object and one of them, at least, says how to reach a server."""
    members = node.members
    if not members:
        return False
    values = [member.value for member in members if not member.key.startswith("$")]
    return all(value.members is not None for value in values) and any(
        _text(value.get(key)) for value in values for key in ("command", *ADDRESSES)
    )
