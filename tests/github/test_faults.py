"""What goes wrong on the way: each fault has its own code, is tried again where that helps, and ends soon."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from importer.diagnostics import Rejected, error
from importer.sources.github import Clock
from importer.sources.github.faults import Transient
from importer.sources.github.patience import Patience
from tests.github.harness import SKILL, FakeClock, hosted, read, refused, settings_for
from tests.github.server import GitHubServer
from tests.github.server.api import Handler
from tests.github.server.faults import (
    Action,
    Fault,
    Reply,
    body,
    cut,
    drop,
    endless,
    header,
    html,
    redirect,
    shorter,
    status,
)
from tests.github.server.repos import Files, GitRepo

FILES: Files = {"s/SKILL.md": SKILL, "s/a.md": b"a" * 3000, "s/b.md": b"b", "t/SKILL.md": b"t"}
LARGE = bytes(range(256)) * 12_000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    repo = GitRepo(tmp_path_factory.mktemp("git") / "skills")
    repo.commit(FILES)
    return repo


@pytest.fixture(autouse=True)
def _repo(server: GitHubServer, made: GitRepo) -> None:
    server.add("acme/skills", made)


# --- statuses --------------------------------------------------------------------------------------------------------

NOW = int(time.time())


@pytest.mark.parametrize(
    ("where", "action", "code", "requests"),
    [
        ("skills$", status(401, "Bad credentials"), "github-unauthorized", 1),
        ("skills$", status(403, "Forbidden"), "github-forbidden", 1),
        ("skills$", status(404, "Not Found"), "github-not-found", 1),
        ("skills$", status(451, "DMCA"), "github-blocked", 1),
        ("skills$", status(422), "github-request-refused", 1),
        ("skills$", status(418), "github-bad-answer", 1),
        ("skills$", status(500), "github-server-error", 4),
        ("commits/", status(503), "github-server-error", 5),
        ("commits/", status(409, "Git Repository is empty."), "github-empty", 2),
        ("trees/", status(502), "github-server-error", 6),
        ("trees/", status(404), "github-not-found", 3),
        ("skills$", status(429, headers={"retry-after": "3600"}), "github-rate-limited", 1),
        ("skills$", status(403, "secondary rate limit", {"retry-after": "60"}), "github-rate-limited", 1),
        ("skills$", status(403, "You have exceeded a secondary rate limit"), "github-rate-limited", 1),
        ("skills$", status(403, "x", {"x-ratelimit-remaining": "0"}), "github-rate-limited", 1),
        ("blobs/", status(429, headers={"retry-after": "3600"}), "github-rate-limited", None),
        ("skills$", status(503, headers={"retry-after": "3600"}), "github-server-error", 1),
        ("blobs/", status(503, headers={"retry-after": "3600"}), "github-server-error", None),
        ("blobs/", status(401), "github-unauthorized", None),
        ("skills$", html(), "github-bad-answer", 1),
        ("trees/", html(), "github-bad-answer", 3),
        ("skills$", html(502), "github-server-error", 4),
        ("skills$", body(lambda _: b"[" * 100_000), "github-bad-answer", 4),
        ("skills$", body(lambda _: b'{"id": 5}'), "github-bad-answer", 4),
        ("skills$", body(lambda _: b""), "github-bad-answer", 4),
        ("commits/", body(lambda _: b'{"sha": "x"}'), "github-bad-answer", 5),
        ("trees/", body(lambda data: data[: len(data) // 2]), "github-bad-answer", 6),
        ("trees/", body(lambda data: data + b"x"), "github-bad-answer", 6),
        ("trees/", body(lambda data: data.replace(b"100644", b"100999")), "github-bad-answer", 6),
        ("trees/", body(lambda data: data.replace(b'"size": ', b'"size": -')), "github-bad-answer", 6),
        ("trees/", body(lambda data: data.replace(b"s/a.md", b"\\ud800")), "github-bad-answer", 6),
        ("trees/", body(lambda data: data.replace(b"s/a.md", b"\xff")), "github-bad-answer", 6),
        ("skills$", endless(b" " * 65536), "github-bad-answer", 1),
        ("trees/", endless(b" " * 65536), "github-bad-answer", 3),
        ("skills$", drop(), "github-connection-lost", 4),
        ("trees/", cut(100), "github-connection-lost", 6),
        ("skills$", header("content-encoding", "gzip"), "github-bad-answer", 4),
        ("skills$", status(304), "github-bad-answer", 4),
    ],
)
def test_each_fault_has_its_code(
    server: GitHubServer, where: str, action: Action, code: str, requests: int | None
) -> None:
    server.faults.append(Fault(where, action))
    found = refused(server)
    assert found.code == code
    assert "127.0.0.1" in found.message or code in {"github-empty", "github-blocked"}
    if requests is not None:
        assert len(server.requests) == requests
    assert len(server.requests) <= 40


def test_the_message_names_host_limit_time_and_variable(server: GitHubServer) -> None:
    server.limits.hourly = 0
    found = refused(server)
    assert found.code == "github-rate-limited"
    for part in ("127.0.0.1", "60 requests", "UTC", "30 min", "GITHUB_TOKEN"):
        assert part in found.message
    assert found.facts["variable"] == "GITHUB_TOKEN"
    assert str(found.facts["reset"]).endswith("Z")
    assert 1700 <= int(str(found.facts["seconds"])) <= 1800


def test_a_missing_or_private_repository_says_both(server: GitHubServer) -> None:
    found = refused(server, "acme/other")
    assert found.code == "github-not-found"
    for part in ("acme/other", "private", "GITHUB_TOKEN"):
        assert part in found.message


def test_a_server_s_words_are_escaped(server: GitHubServer) -> None:
    server.faults.append(Fault("skills$", status(403, "\x1b[31mred\u202e")))
    assert "\\x1b[31mred\\u202e" in refused(server).message


def test_an_empty_repository(server: GitHubServer, tmp_path: Path) -> None:
    server.add("acme/empty", GitRepo(tmp_path / "empty"))
    assert refused(server, "acme/empty").code == "github-empty"


# --- what passes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "action"),
    [
        ("skills$", status(500)),
        ("commits/", drop()),
        ("trees/", cut(50)),
        ("trees/", body(lambda data: data[:60])),
        ("blobs/", cut(0)),
        ("blobs/", drop()),
        ("blobs/", status(503)),
        ("blobs/", shorter(1)),
        ("blobs/", status(429, headers={"retry-after": "1"})),
        ("skills$", status(403, headers={"retry-after": "2"})),
        ("skills$", status(503, headers={"retry-after": "1"})),
    ],
)
def test_what_passes_is_tried_again(server: GitHubServer, where: str, action: Action) -> None:
    server.faults.append(Fault(where, action, times=2))
    assert len(read(server).files) == 4


def test_retry_after_is_waited_out_when_it_is_short(server: GitHubServer) -> None:
    clock = FakeClock()
    server.faults.append(Fault("skills$", status(429, headers={"retry-after": "2"}), times=1))
    read(server, settings=settings_for(server, clock=clock.clock()))
    assert clock.waited == [2.0]


def test_an_hour_that_a_failing_server_asks_for_is_said(server: GitHubServer) -> None:
    clock = FakeClock()
    server.faults.append(Fault("trees/", status(503, headers={"retry-after": "3600"})))
    found = refused(server, settings=settings_for(server, clock=clock.clock()))
    assert clock.waited == []
    assert found.facts["seconds"] == 3600
    assert "60 min" in found.message


def test_a_reset_that_is_near_is_waited_for(server: GitHubServer) -> None:
    clock = FakeClock()
    near = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(time.time()) + 2)}
    server.faults.append(Fault("skills$", status(403, headers=near), times=1))
    read(server, settings=settings_for(server, clock=clock.clock()))
    assert len(clock.waited) == 1
    assert 0.4 < clock.waited[0] <= 2


def test_retry_after_as_a_date(server: GitHubServer) -> None:
    from email.utils import formatdate

    server.faults.append(Fault("skills$", status(429, headers={"retry-after": formatdate(time.time() + 7200)})))
    found = refused(server)
    assert found.code == "github-rate-limited"
    assert 7000 < int(str(found.facts["seconds"])) <= 7200


@pytest.mark.parametrize("ranges", [False, True])
def test_a_large_file_is_resumed(server: GitHubServer, tmp_path: Path, ranges: bool) -> None:
    hosted(server, tmp_path, {"large.bin": LARGE}, "acme/large")
    action = cut(1_000_000)
    if ranges:

        def ranged(handler: Handler, reply: Reply) -> bool:
            reply.headers["accept-ranges"] = "bytes"
            start = handler.headers.get("range", "")
            if start:
                at = int(start.removeprefix("bytes=").removesuffix("-"))
                reply.status = 206
                reply.headers["content-range"] = f"bytes {at}-{len(reply.body) - 1}/{len(reply.body)}"
                reply.body = reply.body[at:]
            return cut(1_000_000)(handler, reply) if len(reply.body) > 1_000_000 else False

        action = ranged
    server.faults.append(Fault("blobs/", action, times=None if ranges else 2))
    got = read(server, "acme/large")
    assert got.files == {"large.bin": LARGE}
    assert got.charged == len(LARGE)
    assert (got.usage["archive_bytes"] <= len(LARGE)) == ranges


def test_a_large_file_that_changes_half_way_is_not_delivered(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"large.bin": LARGE, "ok": b"ok"}, "acme/large")
    server.faults.append(Fault("blobs/", cut(1_000_000), times=1))
    server.faults.append(Fault("blobs/", body(lambda data: data[:-1] + b"!" if len(data) > 10 else data)))
    got = read(server, "acme/large")
    assert got.files == {"ok": b"ok"}
    assert got.failures["large.bin"].code == "github-content-mismatch"


def test_no_try_starts_after_the_time_is_up() -> None:
    """A host that goes silent for its whole time-out is asked twice; one that fails at once, four times."""

    def tries(seconds: float, *, progress: bool = False) -> int:
        passed, calls = 0.0, 0

        def sleep(more: float) -> None:
            nonlocal passed
            passed += more

        def operation() -> None:
            nonlocal calls
            calls += 1
            sleep(seconds)
            fault = Transient(error("github-timeout", "silence"))
            fault.progress = progress and calls < 8
            raise fault

        with pytest.raises(Rejected):
            Patience(Clock(monotonic=lambda: passed, sleep=sleep)).run(operation)
        return calls

    assert tries(15) == 2
    assert tries(0) == 4
    assert tries(15, progress=True) == 8 + 1


# --- one file --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "code"),
    [
        (status(404), "github-incomplete"),
        (status(409), "github-incomplete"),
        (status(422), "github-incomplete"),
        (status(403, "too large"), "github-incomplete"),
        (status(500), "github-server-error"),
        (body(lambda data: b"A" + data[1:]), "github-content-mismatch"),
        (body(lambda data: data + b"more"), "github-content-mismatch"),
        (body(lambda data: data[:-1]), "github-content-mismatch"),
        (html(), "github-content-mismatch"),
        (endless(), "github-content-mismatch"),
        (cut(10), "github-connection-lost"),
        (header("content-encoding", "gzip"), "github-bad-answer"),
    ],
)
@pytest.mark.parametrize("large", [False, True])
def test_a_file_that_cannot_be_had_is_named_and_alone(
    server: GitHubServer, tmp_path: Path, action: Action, code: str, large: bool
) -> None:
    data = LARGE if large else b"a" * 3000
    repo = hosted(server, tmp_path, {"s/SKILL.md": SKILL, "s/a.bin": data, "t/SKILL.md": b"t"}, "acme/one")
    sha = repo.git("rev-parse", "main:s/a.bin").decode().strip()
    server.faults.append(Fault(f"blobs/{sha}", action))
    got = read(server, "acme/one")
    assert got.files == {"s/SKILL.md": SKILL, "t/SKILL.md": b"t"}
    assert list(got.failures) == ["s/a.bin"]
    found = got.failures["s/a.bin"]
    assert (found.code, found.path) == (code, "s/a.bin")
    assert "s/a.bin" in found.message
    assert got.requests <= 3 + 2 + 4


def test_a_persistent_fault_of_every_file_ends_soon(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {f"{n}.md": b"%d" % n for n in range(100)}, "acme/many")
    server.faults.append(Fault("blobs/|tarball", status(500)))
    assert refused(server, "acme/many").code == "github-server-error"
    assert len(server.requests) <= 40


def test_every_wait_together_is_short(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {f"{n}.md": b"%d" % n for n in range(100)}, "acme/many")
    clock = FakeClock()
    server.faults.append(Fault("blobs/", status(503, headers={"retry-after": "2"})))
    assert (
        refused(server, "acme/many", settings=settings_for(server, clock=clock.clock())).code == "github-server-error"
    )
    assert len(clock.waited) <= 14


# --- hosts and redirects ---------------------------------------------------------------------------------------------


def test_a_host_that_is_not_there_is_named(server: GitHubServer) -> None:
    environ = {"GITHUB_API_URL": "http://127.0.0.1:9"}
    found = refused(server, settings=settings_for(server, environ=environ))
    assert found.code == "github-unreachable"
    assert "127.0.0.1:9" in found.message


def test_a_rename_is_followed_and_said(server: GitHubServer) -> None:
    server.rename("acme/skills", "acme/better")
    got = read(server)
    assert got.resolved["repository"] == "acme/better"
    assert got.notes == ["github-renamed"]
    assert got.requests == 4 + 4
    assert server.count("/acme/skills") == 1


@pytest.mark.parametrize("where", ["skills$", "commits/", "trees/", "blobs/"])
def test_an_api_redirect_to_another_host_is_not_followed(server: GitHubServer, where: str) -> None:
    server.tokens.add("t0ken")
    server.faults.append(Fault(where, redirect(f"{server.archive_url}/evil")))
    found = refused(server, settings=settings_for(server, environ={"GITHUB_TOKEN": "t0ken"}))
    assert found.code == "github-redirect-refused"
    assert "localhost" in found.message
    assert server.paths("archive") == []


@pytest.mark.parametrize("to", ["/loop", "//u:p@127.0.0.1/x", "ftp://x/y", ""])
def test_redirects_that_go_nowhere(server: GitHubServer, to: str) -> None:
    server.faults.append(Fault("skills$|loop", redirect(f"{server.url}/loop" if to == "/loop" else to)))
    assert refused(server).code == "github-redirect-refused"
    assert len(server.requests) <= 2


def test_where_a_redirect_leads_is_said_without_what_may_be_secret(server: GitHubServer) -> None:
    server.tokens.add("t0ken")
    server.faults.append(Fault("skills$|loop", redirect(f"{server.url}/loop/t0ken?signature=SIGNED")))
    found = refused(server, settings=settings_for(server, environ={"GITHUB_TOKEN": "t0ken"}))
    assert "/loop/***" in found.message
    assert "SIGNED" not in found.message


def test_a_bad_certificate_file_is_named(server: GitHubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    found = refused(server)
    assert found.code == "github-unreachable"
    assert "SSL_CERT_FILE" in found.message


def test_a_server_without_tls_is_no_matter_of_certificates(server: GitHubServer) -> None:
    address = server.url.replace("http://", "https://")
    found = refused(server, settings=settings_for(server, environ={"GITHUB_API_URL": address}))
    assert found.code == "github-unreachable"
    assert "does not speak TLS" in found.message
    assert "certificate" not in found.message


def test_a_proxy_that_is_not_there_is_a_fault(server: GitHubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    assert refused(server).code == "github-unreachable"
    monkeypatch.setenv("HTTP_PROXY", "socks9://127.0.0.1:9")
    assert refused(server).code == "github-unreachable"
    monkeypatch.setenv("HTTP_PROXY", server.url)
    read(server)
    assert server.requests[-1].path.startswith("http://127.0.0.1:")  # the form in which a proxy is asked


def test_logs_hold_no_token(server: GitHubServer, caplog: pytest.LogCaptureFixture) -> None:
    server.tokens.add("s3cret-token")
    with caplog.at_level(logging.DEBUG):
        read(server, settings=settings_for(server, environ={"GITHUB_TOKEN": "s3cret-token"}))
    assert "s3cret-token" not in caplog.text
