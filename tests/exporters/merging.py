"""Merges in tests: one call from text and templates to a result."""

from __future__ import annotations

import pytest

from importer.diagnostics import Rejected
from importer.exporters import CLIENTS, MergeResult, merge, render
from importer.model import Choice, Choices, ConnectorTemplate
from tests.builders.connectors import PLAIN

BOM = "\ufeff"
SECRET = "ghp_neighbour0123456789"


def choose(name: str = "", choice: str = "", *, confirm: bool = False) -> Choices:
    return Choices(by_name={name: Choice(choice)} if name else {}, confirm_overwrite=confirm)


def put(
    text: str | bytes | None,
    *wanted: ConnectorTemplate,
    client: str = "generic",
    choices: Choices | None = None,
) -> MergeResult:
    data = text.encode() if isinstance(text, str) else text
    rendered = render(wanted or [PLAIN], CLIENTS[client])
    return merge(data, rendered, CLIENTS[client], choices or Choices(), "mcp.json")


def refused(text: str | bytes, *wanted: ConnectorTemplate, client: str = "generic") -> list[str]:
    with pytest.raises(Rejected) as caught:
        put(text, *wanted, client=client)
    return [d.code for d in caught.value.diagnostics]


def codes(result: MergeResult) -> list[str]:
    return [d.code for d in result.diagnostics]
