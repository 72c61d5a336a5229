"""How one client reads its MCP configuration, as data: every exporter, merge and check works from these fields."""

from __future__ import annotations

import ntpath
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum

from importer.records import record


class Syntax(StrEnum):
    """The notation of the file."""

    JSON = "JSON"
    TOML = "TOML"


class Reads(StrEnum):
    """Whether a client's parser takes something; `UNKNOWN` where nobody has tried."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Secrets(StrEnum):
    """How a secret is named in the file without its value."""

    SHELL = "${NAME}"
    ENV = "${env:NAME}"
    INPUT = "${input:id}"
    BY_NAME = "env_vars, env_http_headers"
    BY_HAND = "cannot be named"
    OMITTED = "must not be named"


class Unknown(StrEnum):
    """What happens to a key of a server that the client does not know."""

    IGNORED = "ignored"
    REJECTED = "rejected"
    FLAGGED = "flagged"
    UNKNOWN = "unknown"


class Reach(StrEnum):
    """How much one bad server entry takes with it."""

    ENTRY = "only that entry"
    ALL = "every server"
    UNKNOWN = "unknown"


@record
class Surroundings:
    """What a default place depends on: passed in, never looked up here."""

    system: str
    """darwin, windows or linux (every other Unix is taken for linux)."""
    home: str
    environment: Mapping[str, str]

    def join(self, *parts: str) -> str:
        """Join path segments with the separator of that system."""
        return ntpath.join(*parts) if self.system == "windows" else posixpath.join(*parts)

    def variable(self, name: str, fallback: str) -> str:
        """Return an environment variable that holds a folder, or `fallback` where it is unset or empty."""
        return self.environment.get(name) or fallback


@record
class Place:
    """A client's own configuration file. A new one holds, or will hold, credentials: create it with mode 0600."""

    path: str
    note: str = ""
    """What a person should know before the file is written; "" for nothing."""


def _nowhere(_: Surroundings) -> Place | None:
    return None


@record
class Client:
    """One client. `None` in `http` or `sse` says that it has no such transport; "" that it writes no `type` for it."""

    id: str
    title: str
    place_text: str
    """The default places in words, for the documentation."""
    place: Callable[[Surroundings], Place | None] = _nowhere
    syntax: Syntax = Syntax.JSON
    root: str = "mcpServers"
    url_key: str = "url"
    stdio: str = ""
    http: str | None = "http"
    sse: str | None = "sse"
    types: frozenset[str] = frozenset({"stdio", "http", "sse"})
    """Every spelling of `type` that it takes."""
    type_required: bool = False
    """Whether a `url` without a `type` is skipped."""
    secrets: Secrets
    expansion: str = ""
    """What it expands in its texts, as a regular expression; "" for nothing."""
    expands_in: frozenset[str] = frozenset({"command", "args", "env", "url", "headers"})
    comments: Reads = Reads.UNKNOWN
    trailing_commas: Reads = Reads.UNKNOWN
    bom: Reads = Reads.UNKNOWN
    unknown: Unknown = Unknown.UNKNOWN
    keys: frozenset[str] = frozenset({"type", "command", "args", "env", "url", "headers"})
    """Keys of a server that it is known to read."""
    deprecated: Mapping[str, str] = field(default_factory=dict)
    """Keys that it still reads, with what to write instead."""
    siblings: frozenset[str] = frozenset()
    """Keys beside `root` that belong to the servers; where the file is closed, all there are."""
    closed: str = ""
    """The `$schema` that a closed document names; "" where other keys may stand beside `root`."""
    reach: Reach = Reach.UNKNOWN
    limits: tuple[str, ...] = ()
    """What it cannot do or what one must know, in words, for the documentation."""
    basis: str
    """How the facts are known: run, source, documentation, second-hand."""
    dated: str = "2026-11"

    def expanded(self, where: str) -> re.Pattern[str] | None:
        """Return what the client expands in a field (`command`, `args`, `env`, `url`, `headers`), or None."""
        return re.compile(self.expansion) if self.expansion and where in self.expands_in else None

    @property
    def remote(self) -> bool:
        """Whether it knows any remote transport."""
        return self.http is not None or self.sse is not None
