"""Repositories on GitHub, pinned to a commit and streamed: `open_github` makes a container of a reference."""

from importer.sources.github.container import GitHubContainer, open_github
from importer.sources.github.faults import NETWORK_CODES
from importer.sources.github.identity import gh_token
from importer.sources.github.settings import CacheStore, Clock, GitHubSettings, MemoryCache, known_hosts
from importer.sources.github.updates import Recorded, Upstream, check_updates

__all__ = [
    "NETWORK_CODES",
    "CacheStore",
    "Clock",
    "GitHubContainer",
    "GitHubSettings",
    "MemoryCache",
    "Recorded",
    "Upstream",
    "check_updates",
    "gh_token",
    "known_hosts",
    "open_github",
]
