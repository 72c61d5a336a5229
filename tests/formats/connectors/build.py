"""A good template and a good configuration, to be spoilt in one place by a test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from budgets import Budgets, Override
from importer.diagnostics import Severity
from importer.formats.connectors import ConnectorReading, read_connectors

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, object]


def stdio(**changes: object) -> Json:
    """Return a good stdio template; a change of None takes the field out."""
    good: Json = {
        "schema_version": 1,
        "kind": "open-science.connector",
        "name": "github",
        "display_name": "GitHub",
        "description": "Repositories and issues.",
        "transport": "stdio",
        "command": "npx",
        "args": ["-y", "gh-mcp"],
        "required_secrets": {"environment": ["GITHUB_TOKEN"]},
    }
    return _changed(good, changes)


def remote(**changes: object) -> Json:
    """Return a good remote template with a header secret."""
    good: Json = {
        "schema_version": 1,
        "kind": "open-science.connector",
        "name": "linear",
        "display_name": "Linear",
        "transport": "streamable_http",
        "url": "https://mcp.linear.example/mcp",
        "required_secrets": {"headers": ["Authorization"]},
    }
    return _changed(good, changes)


def signed_in(**changes: object) -> Json:
    """Return a good remote template with OAuth; the changes are to `oauth`."""
    oauth: Json = {
        "authorization_server_url": "https://auth.example",
        "client_id": "abc",
        "redirect_uri": "http://127.0.0.1:8700/callback",
        "scopes": ["read", "write"],
    }
    return remote(required_secrets={"oauth_client_secret": True}, oauth=_changed(oauth, changes))


def _changed(good: Json, changes: Json) -> Json:
    return {key: value for key, value in {**good, **changes}.items() if value is not None}


def read(
    document: object,
    *,
    wanted: Sequence[str] = (),
    allowed: Sequence[str] = (),
    label: str = "mcp.json",
    overrides: Sequence[Override] = (),
) -> ConnectorReading:
    """Read a document, given as bytes, text, or anything that JSON can say."""
    if isinstance(document, str):
        data = document.encode("utf-8")
    else:
        data = document if isinstance(document, bytes) else json.dumps(document).encode("utf-8")
    meter = Budgets.default(overrides).meter("connector")
    return read_connectors(data, label=label, meter=meter, wanted=wanted, allowed=frozenset(allowed))


def errors(reading: ConnectorReading) -> list[tuple[str, str]]:
    """Return code and path of every error."""
    return [(d.code, d.path) for d in reading.diagnostics if d.severity is Severity.ERROR]


def codes(reading: ConnectorReading) -> list[str]:
    """Return the codes of everything that was said."""
    return [d.code for d in reading.diagnostics]


def servers(**entries: object) -> Json:
    """Return a client's configuration."""
    return {"mcpServers": dict(entries)}
