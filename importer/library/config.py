"""`config.toml`: what the host application ships, changed budgets, other GitHub hosts. Checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType

from budgets import Override, UnknownLimit
from importer.diagnostics import Diagnostic, Rejected, error, shown
from importer.fs import explained
from importer.model import Host
from importer.records import record

MAX_BYTES = 1 << 20
NAME = "config.toml"


@record
class Config:
    """The configuration of one library; all of it is optional."""

    host: Host = field(default_factory=Host)
    overrides: tuple[Override, ...] = ()
    github_hosts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The API address of each other GitHub host."""


def read_config(path: str) -> Config:
    """Read the configuration at `path`; a file that is not there is an empty one.

    Raises:
        Rejected: `config-invalid`, with every fault of the file.
        DiskError: it is there and cannot be read.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return Config()
    except IsADirectoryError:
        raise Rejected([_unreadable(path, "it is a folder")]) from None
    except OSError as problem:
        raise explained(problem, path, "read") from problem
    if len(data) > MAX_BYTES:
        raise Rejected([_unreadable(path, f"it has more than {MAX_BYTES:,} bytes")])
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as problem:
        raise Rejected([_unreadable(path, f"it is not UTF-8 (byte {problem.start})")]) from None
    except tomllib.TOMLDecodeError as problem:
        raise Rejected([_unreadable(path, f"it is not TOML: {shown(str(problem))}")]) from None
    return _Reader(path).config(document)


def _fault(path: str, what: str) -> Diagnostic:
    return error("config-invalid", f"{shown(path, 400)}: {what}; mend it or move it away", path)


def _unreadable(path: str, what: str) -> Diagnostic:
    """Nothing can be read of the file: that is what the doctor moves away."""
    advice = "mend it, or `importer doctor` moves it to the trash, unchanged"
    return error("config-invalid", f"{shown(path, 400)}: {what}; {advice}", path, unreadable=what)


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.faults: list[Diagnostic] = []

    def config(self, document: dict[str, object]) -> Config:
        self.known(document, "", {"host", "budgets", "github"})
        host = self.host(self.table(document, "host", ""))
        overrides = self.budgets(self.table(document, "budgets", ""))
        hosts = self.github(self.table(document, "github", ""))
        if self.faults:
            raise Rejected(self.faults)
        return Config(host=host, overrides=overrides, github_hosts=hosts)

    def fault(self, key: str, what: str) -> None:
        self.faults.append(_fault(self.path, f"{shown(key)}: {what}"))

    def known(self, table: Mapping[str, object], prefix: str, names: set[str]) -> None:
        for name in table:
            if name not in names:
                self.fault(f"{prefix}{name}", f"unknown; there are: {', '.join(sorted(names))}")

    def table(self, parent: Mapping[str, object], key: str, prefix: str) -> dict[str, object]:
        value = parent.get(key, {})
        if isinstance(value, dict):
            return value
        self.fault(f"{prefix}{key}", f"expected a table, not {_kind(value)}")
        return {}

    def host(self, table: dict[str, object]) -> Host:
        self.known(table, "host.", {"skills", "connectors", "specialists", "specialist_names"})
        skills: dict[str, str] = {}
        for name, version in self.table(table, "skills", "host.").items():
            if isinstance(version, str):
                skills[name] = version
            else:
                wanted = 'expected a version in quotes, such as "1.2.0"'
                self.fault(f"host.skills.{name}", f"{wanted}, not {_kind(version)}")
        return Host(
            skills=MappingProxyType(skills),
            connectors=self.names(table, "connectors"),
            specialists=self.names(table, "specialists"),
            specialist_names=self.names(table, "specialist_names"),
        )

    def names(self, table: dict[str, object], key: str) -> frozenset[str]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
            self.fault(f"host.{key}", 'expected a list of names in quotes, such as ["pubmed"]')
            return frozenset()
        return frozenset(str(name) for name in value)

    def budgets(self, table: dict[str, object]) -> tuple[Override, ...]:
        overrides: list[Override] = []
        for profile in table:
            for limit, value in self.table(table, profile, "budgets.").items():
                try:
                    overrides.append(Override.of(profile, limit, value, NAME))
                except UnknownLimit as unknown:
                    self.fault(f"budgets.{profile}.{limit}", shown(str(unknown)))
        return tuple(overrides)

    def github(self, table: dict[str, object]) -> Mapping[str, str]:
        self.known(table, "github.", {"hosts"})
        hosts: dict[str, str] = {}
        for name in (entries := self.table(table, "hosts", "github.")):
            where = f"github.hosts.{name}"
            entry = self.table(entries, name, "github.hosts.")
            self.known(entry, f"{where}.", {"api"})
            api = entry.get("api")
            if isinstance(api, str) and _is_api(api):
                hosts[name.lower()] = api
            else:
                self.fault(f"{where}.api", 'expected the address of an API, such as "https://git.example.com/api/v3"')
        return MappingProxyType(hosts)


def _is_api(text: str) -> bool:
    return text.startswith(("https://", "http://")) and "@" not in text and text.isprintable() and " " not in text


def _kind(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "a table"}
    return names.get(type(value), type(value).__name__)
