"""What the tests of GitHub share: a server with one repository, and a container over it that keeps what it delivers."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from budgets import Budgets, Override
from importer.diagnostics import Diagnostic, Rejected
from importer.extract.tar_stream import stream_tar_gz
from importer.model import Entry, EntryKind, Listed
from importer.paths import RelPath
from importer.ports import TarStreamer
from importer.sources.github import CacheStore, Clock, GitHubContainer, GitHubSettings, delivery, open_github
from importer.sources.reference import GitHubRef, parse_source
from tests.github.server import GitHubServer, GitRepo
from tests.github.server.repos import Files

SKILL = b"---\nname: demo\ndescription: A demo skill\n---\nHello\n"


def prices(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Make one way of fetching the cheap one: "blobs" or "archive"."""
    price = {"blobs": 0, "archive": 1 << 40}[way]
    monkeypatch.setattr(delivery, "REQUEST_COST", price)
    monkeypatch.setattr(delivery, "SCARCE_COST", price)


@dataclass
class FakeClock:
    """Time that passes by being waited for."""

    waited: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def sleep(self, seconds: float) -> None:
        with self.lock:
            self.waited.append(seconds)

    def clock(self) -> Clock:
        return Clock(sleep=self.sleep)


class Sink:
    def __init__(self) -> None:
        self.data = bytearray()
        self.complete = False

    def write(self, data: bytes | memoryview, /) -> None:
        assert not self.complete
        self.data += data

    def packed(self, data: bytes | memoryview, /) -> None:
        raise AssertionError("nobody said that it was deflated")

    def done(self) -> None:
        self.complete = True


class Receiver:
    """Keeps every file; no entry may be begun twice."""

    def __init__(self) -> None:
        self.sinks: dict[str, Sink] = {}
        self._lock = threading.Lock()

    def begin(self, entry: Entry, /, *, deflated: bool = False) -> Sink:
        del deflated
        with self._lock:
            assert entry.path.text not in self.sinks
            sink = self.sinks[entry.path.text] = Sink()
            return sink

    def take(self, entry: Entry, content: bytes | memoryview, _packed: bytes | memoryview | None = None, /) -> None:
        sink = self.begin(entry)
        sink.write(content)
        sink.done()

    @property
    def files(self) -> dict[str, bytes]:
        return {path: bytes(sink.data) for path, sink in self.sinks.items() if sink.complete}


@dataclass
class Read:
    """A container that was listed, with what it delivered."""

    container: GitHubContainer
    listed: Sequence[Listed]
    files: Mapping[str, bytes]
    failures: Mapping[str, Diagnostic]
    charged: int
    requests: int
    usage: Mapping[str, int]

    @property
    def rows(self) -> dict[str, Listed]:
        return {row.name: row for row in self.listed}

    @property
    def resolved(self) -> Mapping[str, str]:
        return self.container.resolved

    @property
    def notes(self) -> list[str]:
        return [note.code for note in self.container.notes()]


def admitted(rows: Iterable[Listed]) -> list[Entry]:
    """Take every regular file, as the gate does with good names."""
    return [
        Entry(
            path=RelPath.parse(row.name),
            size=row.size,
            packed=row.packed,
            executable=row.executable,
            handle=row.handle,
        )
        for row in rows
        if row.kind is EntryKind.FILE
    ]


def settings_for(
    server: GitHubServer,
    *,
    environ: Mapping[str, str] | None = None,
    cache: CacheStore | None = None,
    clock: Clock | None = None,
    read_timeout: float = 15.0,
) -> GitHubSettings:
    return GitHubSettings(
        environ={"GITHUB_API_URL": server.url, **(environ or {})},
        cache=cache,
        clock=clock or FakeClock().clock(),
        read_timeout=read_timeout,
    )


def reference(text: str, server: GitHubServer) -> GitHubRef:
    found = parse_source(text, exists=lambda _: False, hosts={server.url.split("/")[2]})
    assert isinstance(found, GitHubRef), found
    return found


def read(
    server: GitHubServer,
    text: str = "acme/skills",
    *,
    settings: GitHubSettings | None = None,
    ref: str | None = None,
    only: str | None = None,
    budgets: Sequence[tuple[str, str, int]] = (),
    open_tar: TarStreamer = stream_tar_gz,
    deliver: bool = True,
    expect_repository_id: str = "",
) -> Read:
    """Open, list and deliver; `only` keeps what is below one folder."""
    made = Budgets.default([Override.of(profile, limit, value, "test") for profile, limit, value in budgets])
    github, bundle = made.meter("github"), made.meter("bundle")
    before = len(server.requests)
    container = open_github(
        reference(text, server),
        ref_option=ref,
        settings=settings or settings_for(server),
        github_meter=github,
        bundle_meter=bundle,
        open_tar=open_tar,
        expect_repository_id=expect_repository_id,
    )
    try:
        listed = container.list(lambda n, path: bundle.charge("entries", n, path))
        receiver = Receiver()
        if deliver:
            wanted = [entry for entry in admitted(listed) if only is None or entry.path.text.startswith(only)]
            container.deliver(wanted, receiver, lambda n, path: bundle.charge("bytes", n, path))
        return Read(
            container=container,
            listed=listed,
            files=receiver.files,
            failures=container.failures,
            charged=bundle.used("bytes"),
            requests=len(server.requests) - before,
            usage={row.limit: row.used for row in (*bundle.usage(), *github.usage())},
        )
    finally:
        container.close()


def refused(server: GitHubServer, text: str = "acme/skills", **more: object) -> Diagnostic:
    """Return the one diagnostic that reading ends with."""
    with pytest.raises(Rejected) as caught:
        read(server, text, **more)  # type: ignore[arg-type]  # handed on as it is
    assert len(caught.value.diagnostics) == 1
    return caught.value.diagnostics[0]


def hosted(server: GitHubServer, folder: Path, files: Files, name: str = "acme/skills") -> GitRepo:
    """Make a repository with one commit and host it."""
    repo = GitRepo(folder / name)
    repo.commit(files)
    server.add(name, repo)
    return repo
