"""A server for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.github.harness import prices
from tests.github.server import GitHubServer


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    """A running server without repositories."""
    with GitHubServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blobs are the cheap way unless a test says otherwise, and loopback is asked without a proxy."""
    prices(monkeypatch, "blobs")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
