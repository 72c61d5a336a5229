"""What reading GitHub needs to know of its surroundings, handed in so that nothing here reaches for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Protocol

from importer.records import record
from importer.sources.reference import GITHUB


class CacheStore(Protocol):
    """Keeps answers by key. Keys are hex digests; values are at most a few MiB; a store may forget at any time."""

    def get(self, key: str, /) -> bytes | None:
        """Return what was put under `key`, or None."""

    def put(self, key: str, value: bytes, /) -> None:
        """Keep `value`. An `OSError` is ignored by the caller: a cache that cannot be written saves nothing."""


class MemoryCache:
    """A cache for one process, holding at most `limit` bytes; the oldest answers go first."""

    def __init__(self, limit: int = 8 * 1024 * 1024) -> None:
        self._limit = limit
        self._held: dict[str, bytes] = {}

    def get(self, key: str, /) -> bytes | None:
        """Return what was put under `key`, or None."""
        return self._held.get(key)

    def put(self, key: str, value: bytes, /) -> None:
        """Keep `value`, forgetting older ones until all fit."""
        self._held.pop(key, None)
        if len(value) > self._limit:
            return
        self._held[key] = value
        while sum(map(len, self._held.values())) > self._limit:
            del self._held[next(iter(self._held))]


@record
class Clock:
    """The time, and how to wait; seconds throughout."""

    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def _no_gh(hostname: str) -> str | None:
    return None


@record
class GitHubSettings:
    """The surroundings of one run."""

    environ: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """GITHUB_API_URL and the variables that hold tokens are read from here. Proxies and certificate bundles are read
    by the HTTP client from the environment of the process."""
    hosts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Web host (with its port where it has one) to the URL of its API, from the configuration."""
    cache: CacheStore | None = None
    """Where answers are kept for conditional requests; None switches that off."""
    run_gh: Callable[[str], str | None] = _no_gh
    """Asks the `gh` command for the token of a host name; None where there is none."""
    clock: Clock = field(default_factory=Clock)
    read_timeout: float = 15.0
    """Seconds without a byte after which an answer is given up."""


def known_hosts(settings: GitHubSettings) -> frozenset[str]:
    """Return the web hosts whose URLs are read through the GitHub API, for `reference.parse_source`."""
    from importer.sources.github.identity import default_host

    return frozenset({GITHUB, default_host(settings), *(host.lower() for host in settings.hosts)})
