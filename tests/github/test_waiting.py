"""Answers that do not come, or too slowly: every wait ends, and whoever gives up waits for nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.sources.github import client
from tests.github.harness import SKILL, hosted, refused, settings_for
from tests.github.server import GitHubServer
from tests.github.server.api import Handler
from tests.github.server.faults import Fault, Reply, hang, slow_head, status, trickle


@pytest.fixture(autouse=True)
def _repo(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"s/SKILL.md": SKILL, "s/a.md": b"a" * 3000, "s/b.md": b"b", "t/SKILL.md": b"t"})


def test_who_gives_up_does_not_wait_for_the_others(server: GitHubServer, tmp_path: Path) -> None:
    """One file ends the import while five others are silent: nobody waits for their time-outs, nobody asks again."""
    files = {f"{n}.md": b"%d" % n for n in range(40)}
    repo = hosted(server, tmp_path, files, "acme/many")
    sha = repo.git("rev-parse", "main:0.md").decode().strip()

    def refuse(handler: Handler, reply: Reply) -> bool:
        while server.count("git/blobs") < 6:
            handler.owner.closing.wait(0.01)
        return status(401)(handler, reply)

    waited_out: list[str] = []

    def silent(handler: Handler, _reply: Reply) -> bool:
        handler.connection.settimeout(10)
        try:
            handler.connection.recv(1)  # returns once the client is gone
        except TimeoutError:
            waited_out.append(handler.path)
        except OSError:
            pass
        handler.close_connection = True
        return True

    server.faults += [Fault(f"blobs/{sha}", refuse), Fault("blobs/", silent)]
    found = refused(server, "acme/many", settings=settings_for(server, read_timeout=3600))
    assert waited_out == []
    assert found.code == "github-unauthorized"
    assert server.count("git/blobs") == 6


@pytest.mark.parametrize("where", ["skills$", "trees/", "blobs/"])
def test_silence_ends(server: GitHubServer, where: str) -> None:
    server.faults.append(Fault(where, hang()))
    found = refused(server, settings=settings_for(server, read_timeout=0.15))
    assert found.code == "github-timeout"
    assert len(server.requests) <= 40


@pytest.mark.parametrize("where", ["skills$", "blobs/"])
def test_a_head_that_comes_too_slowly_ends(server: GitHubServer, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """No time-out between two reads ends it."""
    monkeypatch.setattr(client, "_GRACE", 0.0)
    server.faults.append(Fault(where, slow_head(0.02)))
    assert refused(server, settings=settings_for(server, read_timeout=0.2)).code == "github-timeout"
    assert len(server.requests) <= 40


def test_a_document_that_comes_too_slowly_ends(server: GitHubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "DEADLINE", 0.1)
    server.faults.append(Fault("skills$", trickle(0.02)))
    assert refused(server).code == "github-timeout"
    assert len(server.requests) == 1


def test_an_error_whose_words_never_end(server: GitHubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_ERROR_SECONDS", 0.05)

    def act(handler: Handler, reply: Reply) -> bool:
        reply.status = 403
        return trickle(0.02)(handler, reply)

    server.faults.append(Fault("skills$", act))
    assert refused(server).code == "github-forbidden"


def test_a_body_that_trickles_ends(server: GitHubServer) -> None:
    server.faults.append(Fault("skills$", trickle(0.02)))
    assert refused(server, settings=settings_for(server, read_timeout=0.1)).code == "github-timeout"
