"""Hosts, tokens and the cache: who is asked, who asks, and what is kept of the answers."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from importer.diagnostics import Rejected
from importer.sources.github import GitHubSettings, MemoryCache, gh_token, known_hosts
from importer.sources.github.identity import api_of, identity_for
from tests.github.harness import SKILL, hosted, prices, read, refused, settings_for
from tests.github.server import GitHubServer, GitRepo
from tests.github.server.faults import Fault, body, redirect, status

TOKEN = "ghp_s3cretS3cret"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    repo = GitRepo(tmp_path_factory.mktemp("git") / "r")
    repo.commit({"s/SKILL.md": SKILL, "s/a.md": b"a", "b.md": b"b"})
    return repo


# --- hosts -----------------------------------------------------------------------------------------------------------


def _api(host: str, environ: dict[str, str] | None = None, hosts: dict[str, str] | None = None) -> tuple[str, str]:
    api = api_of(host, GitHubSettings(environ=environ or {}, hosts=hosts or {}))
    return api.base, api.variables[0]


def test_each_host_has_its_api_and_its_variable() -> None:
    ghe = {"git.example.com": "https://git.example.com/api/v3/"}
    own = {"GITHUB_API_URL": "https://ghe.corp/api/v3/"}
    assert _api("") == ("https://api.github.com", "GITHUB_TOKEN")
    assert _api("github.com") == ("https://api.github.com", "GITHUB_TOKEN")
    assert _api("", own) == ("https://ghe.corp/api/v3", "GITHUB_TOKEN")
    assert _api("github.com", own) == ("https://api.github.com", "GITHUB_TOKEN")
    assert _api("", None, {"github.com": "https://mirror.corp/api"})[0] == "https://mirror.corp/api"
    assert _api("ghe.corp", own) == ("https://ghe.corp/api/v3", "GITHUB_TOKEN")
    assert _api("git.example.com", own, ghe) == ("https://git.example.com/api/v3", "GH_ENTERPRISE_TOKEN")
    assert _api("ghe.corp", own, {"ghe.corp": "https://ghe.corp/api/v3"})[1] == "GITHUB_TOKEN"
    assert api_of("", GitHubSettings(environ={"GITHUB_API_URL": "https://api.acme.ghe.com"})).web_host == "acme.ghe.com"
    assert known_hosts(GitHubSettings(environ=own, hosts=ghe)) == {"github.com", "ghe.corp", "git.example.com"}


@pytest.mark.parametrize(
    "url", ["http://ghe.corp/api", "ftp://x", "x", "https://u:p@x/", "https://x/?a=b", "http://127.0.0.1.evil.example/"]
)
def test_an_api_that_no_token_may_be_sent_to(url: str) -> None:
    with pytest.raises(Rejected) as caught:
        api_of("", GitHubSettings(environ={"GITHUB_API_URL": url}))
    assert caught.value.diagnostics[0].code == "github-api-invalid"
    assert "u:p" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:80/x/", "http://localhost:1", "http://[::1]:8/"])
def test_loopback_may_be_plain(url: str) -> None:
    assert api_of("", GitHubSettings(environ={"GITHUB_API_URL": url})).base == url.rstrip("/")


def test_an_unknown_host() -> None:
    with pytest.raises(Rejected) as caught:
        api_of("git.example.com", GitHubSettings())
    assert caught.value.diagnostics[0].code == "github-host-unknown"


@pytest.mark.parametrize("base", ["", "/api/v3", "/a/b"])
def test_a_base_path_and_a_trailing_slash(made: GitRepo, base: str) -> None:
    with GitHubServer(base) as server:
        server.add("acme/skills", made)
        for end in ("", "/"):
            settings = settings_for(server, environ={"GITHUB_API_URL": server.url + end})
            assert len(read(server, settings=settings).files) == 3
        assert all(request.path.startswith(f"{base}/repos/acme/skills") for request in server.requests)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="a certificate is made with openssl")
def test_a_certificate_of_one_s_own(made: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy or a server with a private authority: SSL_CERT_FILE is honoured, and without it the cause is said."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with GitHubServer(tls=context) as server:
        server.add("acme/skills", made)
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        found = refused(server)
        assert found.code == "github-unreachable"
        assert "certificate" in found.message
        assert "self" in found.message
        assert "SSL_CERT_FILE" in found.message
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert len(read(server).files) == 3
        prices(monkeypatch, "archive")  # whose redirect leads from https to http here, and is not followed
        assert len(read(server).files) == 3
        assert server.paths("archive") == []


# --- tokens ----------------------------------------------------------------------------------------------------------


def test_which_token() -> None:
    def token(environ: dict[str, str], host: str = "", gh: str | None = None) -> str:
        asked: list[str] = []

        def run(hostname: str) -> str | None:
            asked.append(hostname)
            return gh

        hosts = {"git.example.com": "https://git.example.com/api/v3"}
        settings = GitHubSettings(environ=environ, hosts=hosts, run_gh=run)
        api = api_of(host, settings)
        found = identity_for(api, settings)
        assert not asked or asked == [api.gh_host]
        return f"{found.token} {found.source} {' '.join(asked)}".strip()

    assert token({}) == "github.com"
    assert token({"GITHUB_TOKEN": "a", "GH_TOKEN": "b"}) == "a GITHUB_TOKEN"
    assert token({"GITHUB_TOKEN": " ", "GH_TOKEN": "b\n"}) == "b GH_TOKEN"
    assert token({}, gh="c\n") == "c gh auth token github.com"
    assert token({"GITHUB_TOKEN": "a"}, "git.example.com") == "git.example.com"
    assert token({"GH_ENTERPRISE_TOKEN": "e"}, "git.example.com") == "e GH_ENTERPRISE_TOKEN"
    assert token({"GH_ENTERPRISE_TOKEN": "e"}) == "github.com"
    assert token({}, "git.example.com", "c") == "c gh auth token git.example.com"
    assert token({"GITHUB_API_URL": "http://127.0.0.1:5/x"}) == "127.0.0.1"


def test_a_value_that_is_no_token_is_not_repeated() -> None:
    settings = GitHubSettings(environ={"GITHUB_TOKEN": "s3cret\r\nx-evil: 1"})
    with pytest.raises(Rejected) as caught:
        identity_for(api_of("", settings), settings)
    assert caught.value.diagnostics[0].code == "github-token-invalid"
    assert "s3cret" not in repr(caught.value.diagnostics)


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for gh is a shell script")
def test_gh_is_asked_for_the_host(tmp_path: Path) -> None:
    tool = tmp_path / "gh"
    tool.write_text('#!/bin/sh\n[ "$*" = "auth token --hostname h.example" ] && echo tok && exit\nexit 1\n')
    tool.chmod(0o755)
    environ = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    assert gh_token("h.example", environ) == "tok"
    assert gh_token("other", environ) is None
    assert gh_token("h.example", {"PATH": str(tmp_path / "none")}) is None


def test_a_private_repository_needs_the_token(server: GitHubServer, made: GitRepo) -> None:
    server.add("acme/skills", made, private=True)
    server.tokens.add(TOKEN)
    assert refused(server).code == "github-not-found"
    got = read(server, settings=settings_for(server, environ={"GH_TOKEN": TOKEN}))
    assert len(got.files) == 3
    assert TOKEN not in repr(dict(got.resolved))


def test_a_token_never_leaves_its_host(server: GitHubServer, made: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    prices(monkeypatch, "archive")
    server.add("acme/skills", made, private=True)
    server.tokens.add(TOKEN)
    assert len(read(server, settings=settings_for(server, environ={"GITHUB_TOKEN": TOKEN})).files) == 3
    by_host = {host: [r.headers.as_string() for r in server.requests if r.host == host] for host in ("api", "archive")}
    assert len(by_host["archive"]) == 1
    assert all(TOKEN in text for text in by_host["api"])
    assert TOKEN not in by_host["archive"][0]
    assert "uthorization" not in by_host["archive"][0]


def test_an_archive_s_redirect_carries_no_token_even_to_the_api(
    server: GitHubServer, made: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices(monkeypatch, "archive")
    server.add("acme/skills", made)
    server.tokens.add(TOKEN)
    server.faults.append(Fault("tarball", redirect(f"{server.url}/elsewhere")))
    read(server, settings=settings_for(server, environ={"GITHUB_TOKEN": TOKEN}))
    (there,) = [request for request in server.requests if request.path == "/elsewhere"]
    assert there.headers["authorization"] is None


def test_a_refused_token_is_said_and_nobody_else_is_tried(server: GitHubServer, made: GitRepo) -> None:
    server.add("acme/skills", made)
    found = refused(server, settings=settings_for(server, environ={"GITHUB_TOKEN": TOKEN}))
    assert found.code == "github-unauthorized"
    assert "GITHUB_TOKEN" in found.message
    assert TOKEN not in repr(found)
    assert len(server.requests) == 1


def test_a_server_that_repeats_the_token_does_not_make_us_say_it(server: GitHubServer, made: GitRepo) -> None:
    server.add("acme/skills", made)
    server.tokens.add(TOKEN)
    server.faults.append(Fault("skills$", status(403, f"your token {TOKEN} is bad")))
    found = refused(server, settings=settings_for(server, environ={"GITHUB_TOKEN": TOKEN}))
    assert TOKEN not in repr(found)
    assert "***" in found.message


def test_an_answer_that_holds_the_token_is_none(server: GitHubServer, made: GitRepo) -> None:
    """Names end up in reports, in the record and in the cache."""
    server.add("acme/skills", made)
    server.tokens.add(TOKEN)
    cache = MemoryCache()
    server.faults.append(Fault("skills$", body(lambda data: data.replace(b'"main"', f'"{TOKEN}"'.encode()))))
    found = refused(server, settings=settings_for(server, environ={"GITHUB_TOKEN": TOKEN}, cache=cache))
    assert found.code == "github-bad-answer"
    assert TOKEN not in found.message
    assert not any(TOKEN.encode() in kept for kept in cache._held.values())


# --- the cache -------------------------------------------------------------------------------------------------------


def test_answers_that_did_not_change_cost_no_rate_limit(server: GitHubServer, made: GitRepo) -> None:
    server.add("acme/skills", made)
    server.limits.hourly = 1000
    cache = MemoryCache()
    first = read(server, settings=settings_for(server, cache=cache))
    spent = 1000 - (server.limits.hourly or 0)
    second = read(server, settings=settings_for(server, cache=cache))
    assert second.files == first.files
    assert second.listed == first.listed
    assert 1000 - (server.limits.hourly or 0) - spent == spent - 3
    assert sum(request.headers["if-none-match"] is not None for request in server.requests) == 3


def test_a_push_is_seen_through_the_cache(server: GitHubServer, tmp_path: Path) -> None:
    repo = hosted(server, tmp_path, {"SKILL.md": SKILL})
    cache = MemoryCache()
    read(server, settings=settings_for(server, cache=cache))
    repo.commit({"SKILL.md": b"new"})
    assert read(server, settings=settings_for(server, cache=cache)).files == {"SKILL.md": b"new"}


def test_nobody_gets_another_s_answers(server: GitHubServer, made: GitRepo) -> None:
    server.add("acme/skills", made, private=True)
    server.tokens |= {TOKEN, "other"}
    cache = MemoryCache()
    read(server, settings=settings_for(server, cache=cache, environ={"GITHUB_TOKEN": TOKEN}))
    before = len(server.requests)
    read(server, settings=settings_for(server, cache=cache, environ={"GITHUB_TOKEN": "other"}))
    assert all(request.headers["if-none-match"] is None for request in server.requests[before:])
    assert refused(server, settings=settings_for(server, cache=cache)).code == "github-not-found"
    held = b"".join(value + key.encode() for key, value in cache._held.items())
    assert TOKEN.encode() not in held


@pytest.mark.parametrize("spoil", ["shorter", "longer", "empty", "a list"])
def test_a_damaged_cache_is_no_answer(server: GitHubServer, made: GitRepo, spoil: str) -> None:
    server.add("acme/skills", made)
    cache = MemoryCache()
    read(server, settings=settings_for(server, cache=cache))
    for key, value in cache._held.items():
        cache._held[key] = {"shorter": value[:-1], "longer": b"x" + value, "empty": b"", "a list": b"[]\n"}[spoil]
    assert len(read(server, settings=settings_for(server, cache=cache)).files) == 3


def test_a_cache_that_cannot_be_written_saves_nothing(server: GitHubServer, made: GitRepo) -> None:
    class Broken:
        def get(self, key: str, /) -> bytes | None:
            raise PermissionError(key)

        def put(self, key: str, value: bytes, /) -> None:
            raise PermissionError(key)

    server.add("acme/skills", made)
    assert len(read(server, settings=settings_for(server, cache=Broken())).files) == 3


def test_the_memory_cache_has_a_limit() -> None:
    cache = MemoryCache(10)
    for key in "abc":
        cache.put(key, b"12345")
    assert [cache.get(key) for key in "abc"] == [None, b"12345", b"12345"]
    cache.put("d", b"x" * 11)
    assert cache.get("d") is None
