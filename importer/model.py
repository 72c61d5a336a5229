"""The values that travel between stages: frozen, and made of tuples and mappings only.

What a package has by the ten thousands is a named tuple: it takes a third of the time to make.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from importer.diagnostics import Diagnostic, Fact
from importer.paths import RelPath
from importer.records import record


def _empty() -> Mapping[str, str]:
    return MappingProxyType({})


# --- what a container holds ------------------------------------------------------------------------------------------


class EntryKind(StrEnum):
    """What an entry says it is."""

    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    HARDLINK = "hardlink"
    SPECIAL = "special"


class Listed(NamedTuple):
    """One entry as its container lists it, before any rule of ours."""

    name: str
    """The decoded name, with the container's own "/" between segments; a folder may end with one."""
    kind: EntryKind
    size: int
    """Bytes of the file, decompressed, as declared."""
    packed: int
    """Bytes as they are stored; equal to `size` where nothing is compressed."""
    executable: bool | None
    """The executable bit; None where the container does not know modes."""
    handle: int
    """The container's own number for the entry."""
    link_target: str | None = None
    """Where a link points, as written; None where it could not be read."""
    special: str = ""
    """For `SPECIAL`: what it is ("socket", "device", "submodule")."""
    fault: Diagnostic | None = None
    """Why this one entry cannot be delivered (its method, its encryption, its decoding)."""


class Entry(NamedTuple):
    """A file that passed the gate."""

    path: RelPath
    size: int
    packed: int
    executable: bool | None
    handle: int
    link: str | None = None
    """Where this file is the copy of a link's target: the path of the target in the container."""


@record
class Fault:
    """Something that refuses the package that holds `path`, and is a warning where nothing selected does."""

    path: str
    diagnostic: Diagnostic


@record
class Tree:
    """What the gate made of a listing."""

    files: tuple[Entry, ...]
    faults: tuple[Fault, ...]
    notes: tuple[Diagnostic, ...]


# --- what a package holds --------------------------------------------------------------------------------------------


class FileRecord(NamedTuple):
    """One staged file of a candidate."""

    path: RelPath
    """From the candidate's own root."""
    size: int
    sha256: str
    executable: bool
    """The bit that the file is installed with."""
    mode_known: bool
    """Whether the source knew it; else it was taken from the shebang."""
    shebang: bool = False


@record
class Origin:
    """Where a package came from, as far as two origins can be compared."""

    kind: str
    """The source's kind: zip, tar, directory, file, github, mcp, web."""
    reference: str
    """What the person typed, made absolute for a path; without credentials."""
    resolved: Mapping[str, str] = field(default_factory=_empty)
    """commit, repository_id, path, sha256 of the archive, ref; what the source pins."""


@record
class SkillCandidate:
    """One skill of a package."""

    name: str
    """The name that it is planned and installed under."""
    stated_name: str
    """The name in the frontmatter, as written; "" where there is none."""
    version: str
    version_stated: bool
    """Whether the package states a SemVer version; else `version` is "0.1.0"."""
    description: str
    root: str
    """The folder in the package; "" at its top, `nested.zip!/folder` inside a nested archive."""
    files: tuple[FileRecord, ...]
    digest: str
    staged: str
    """The folder inside the staging folder that holds exactly its files."""
    document: Mapping[str, Fact] = field(default_factory=lambda: MappingProxyType({}))
    """license, compatibility, allowed_tools, … as written, for display."""
    text: str | None = None
    """SKILL.md as text, where the preview budget carried it."""

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(record.size for record in self.files)

    @property
    def executables(self) -> tuple[str, ...]:
        """Paths that are installed executable."""
        return tuple(record.path.text for record in self.files if record.executable)


@record
class SpecialistCandidate:
    """A Specialist package's role."""

    id: str
    version: str
    name: str
    display_name: str
    description: str
    system_prompt: str
    skill_ids: tuple[str, ...]
    connector_ids: tuple[str, ...]
    bundled: tuple[str, ...]
    """Skills that the package carries, faulty ones included."""
    files: tuple[FileRecord, ...]
    """manifest.json and specialist.json."""
    digest: str
    staged: str


@record
class ConnectorCandidate:
    """How to reach one MCP server, in template form: never a secret."""

    name: str
    stated_name: str
    """The name in the document that it came from."""
    display_name: str
    transport: str
    secrets: tuple[str, ...]
    """Names of what a person must enter again: environment variables and headers."""
    template: bytes = field(repr=False)
    """The template as canonical JSON: what is installed, byte for byte."""
    digest: str
    """`h1:` digest of the one file."""
    summary: str
    """What it starts or reaches, for display: the command with its args, or the URL."""
    asks: tuple[str, ...] = ()
    """What looks like a credential without being certain (`args[3]`): needs `--allow-arg`."""


@record
class LeftOut:
    """Something of the package that is not going to be installed, with the codes of its reasons."""

    kind: str
    name: str
    root: str
    reason: str
    codes: tuple[str, ...] = ()


@record
class Package:
    """Everything that one source offers, after selection."""

    kind: str
    """skill, bundle, specialist, plugin, connectors."""
    skills: tuple[SkillCandidate, ...] = ()
    connectors: tuple[ConnectorCandidate, ...] = ()
    specialist: SpecialistCandidate | None = None
    left_out: tuple[LeftOut, ...] = ()


@record
class ConnectorTemplate:
    """A connector template as values: what every exporter works from. Order and repeats of `args` are kept exactly."""

    name: str
    display_name: str
    transport: str
    """stdio, streamable_http, sse."""
    description: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    environment: tuple[str, ...] = ()
    """Names of the environment variables that it needs; never a value."""
    headers: tuple[str, ...] = ()
    """Names of the HTTP headers that it needs; never a value."""
    oauth_client_secret: bool = False
    oauth: Mapping[str, str | tuple[str, ...]] | None = None
    """client_metadata_url, authorization_server_url, scopes, client_id, redirect_uri: those that are there."""


# --- what a library holds --------------------------------------------------------------------------------------------


@record
class Host:
    """What the host application ships, from `config.toml`."""

    skills: Mapping[str, str] = field(default_factory=_empty)
    """Built-in skills with their versions."""
    connectors: frozenset[str] = frozenset()
    specialists: frozenset[str] = frozenset()
    specialist_names: frozenset[str] = frozenset()


@record
class InstalledSkill:
    """A skill on disk, hashed now, with what the record knows of it."""

    name: str
    digest: str
    executables: tuple[str, ...]
    managed: bool
    version: str | None
    recorded_digest: str | None = None
    recorded_executables: tuple[str, ...] = ()
    origin: Origin | None = None
    owners: tuple[str, ...] = ()
    """Specialists that brought it."""
    users: tuple[str, ...] = ()
    """Specialists that own or name it."""
    modified: tuple[str, ...] = ()
    """Files that differ from the record; empty for what nobody imported."""
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def edited(self) -> bool:
        """Whether a managed skill is no longer what was installed."""
        return self.managed and (self.digest != self.recorded_digest or self.executables != self.recorded_executables)


@record
class InstalledConnector:
    """A connector on disk."""

    name: str
    digest: str
    managed: bool
    recorded_digest: str | None = None
    origin: Origin | None = None
    users: tuple[str, ...] = ()

    @property
    def edited(self) -> bool:
        """Whether a managed connector is no longer what was installed."""
        return self.managed and self.digest != self.recorded_digest


@record
class InstalledSpecialist:
    """A specialist on disk."""

    id: str
    version: str
    name: str
    revision: int
    digest: str
    recorded_digest: str
    origin: Origin | None = None
    owned: tuple[str, ...] = ()

    @property
    def edited(self) -> bool:
        """Whether its files are no longer what was installed."""
        return self.digest != self.recorded_digest


@record
class Snapshot:
    """The part of the library that a plan depends on, as it is on disk at one moment."""

    host: Host = field(default_factory=Host)
    skills: Mapping[str, InstalledSkill] = field(default_factory=lambda: MappingProxyType({}))
    connectors: Mapping[str, InstalledConnector] = field(default_factory=lambda: MappingProxyType({}))
    specialists: Mapping[str, InstalledSpecialist] = field(default_factory=lambda: MappingProxyType({}))
    """All of them: a protected or taken name is found here."""


# --- what is going to happen -----------------------------------------------------------------------------------------


class Choice(StrEnum):
    """A person's answer to a conflict."""

    INCOMING = "incoming"
    INSTALLED = "installed"


class Disposition(StrEnum):
    """What happens to one item."""

    INSTALL = "install"
    REUSE = "reuse"
    CONFLICT = "conflict"
    REPLACE = "replace"


class Reason(StrEnum):
    """Why."""

    NEW = "new"
    BUILTIN = "builtin"
    IDENTICAL = "identical"
    DIFFERS = "differs"
    CHOSEN_INSTALLED = "chosen-installed"
    CHOSEN_INCOMING = "chosen-incoming"
    UPDATE = "update"


@record
class Choices:
    """What the person decided. Keys are names, or `skill:NAME` and `connector:NAME`."""

    by_name: Mapping[str, Choice] = field(default_factory=lambda: MappingProxyType({}))
    confirm_overwrite: bool = False
    update: bool = False
    """Asked by `update`: what nobody edited and what has the same origin is replaced without a choice."""
    allowed: frozenset[str] = frozenset()
    """`CONNECTOR:INDEX`: args that a person vouched for."""


@record
class PlannedSkill:
    """One skill with its disposition."""

    candidate: SkillCandidate
    disposition: Disposition
    reason: Reason
    installed: InstalledSkill | None
    facts: Mapping[str, Fact]
    """relation (newer, older, same), edited, origin (same, other, unmanaged), users, …: what the preview shows."""


@record
class PlannedConnector:
    """One connector with its disposition."""

    candidate: ConnectorCandidate
    disposition: Disposition
    reason: Reason
    installed: InstalledConnector | None
    facts: Mapping[str, Fact]


@record
class PlannedSpecialist:
    """The specialist itself. `replace` is an overwrite."""

    candidate: SpecialistCandidate
    disposition: Disposition
    reason: Reason
    installed: InstalledSpecialist | None
    facts: Mapping[str, Fact]
    releases: tuple[str, ...] = ()
    """Skills that the installed version owns and this one no longer bundles."""


@record
class Plan:
    """Everything that an install is going to do, and what it still needs to know. Applying does nothing else."""

    package: Package
    skills: tuple[PlannedSkill, ...]
    connectors: tuple[PlannedConnector, ...]
    specialist: PlannedSpecialist | None
    choices_needed: tuple[str, ...]
    confirm_needed: bool
    diagnostics: tuple[Diagnostic, ...]
    digest: str
    """`p1:` digest over the bytes, the executable bits and every disposition with its reasons."""
