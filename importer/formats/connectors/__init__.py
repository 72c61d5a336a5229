"""Connectors: how to reach an MCP server, without a secret.

A document is a template or a client's configuration (`mcpServers`, `servers`, a bare map, one server); each server
becomes a candidate in template form. Values of environment variables and headers are dropped where they are read and
reach nothing else. Pure: no disk, no network, no clock.
"""

from importer.formats.connectors.reading import ConnectorReading, read_connectors
from importer.formats.connectors.recognise import Kind, looks_like_connectors
from importer.formats.connectors.template import connector_digest, read_template, template_bytes

__all__ = [
    "ConnectorReading",
    "Kind",
    "connector_digest",
    "looks_like_connectors",
    "read_connectors",
    "read_template",
    "template_bytes",
]
