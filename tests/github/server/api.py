"""The server: an API host, and beside it another host that gives out archives, as codeload.github.com does.

What GitHub documents is kept: refs and SHAs for commits, `recursive` trees that are cut at 100,000 entries or 7 MB,
blobs as JSON with base64 in lines or as plain bytes when asked for them, archives behind a redirect to another host,
ETags whose 304 does not count against the rate limit, 404 for what a request may not see, 301 for what was renamed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
import threading
import time
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.github.server.faults import Fault, Reply
from tests.github.server.repos import GitRepo


@dataclass
class Request:
    """One request as it came."""

    host: str
    """"api" or "archive"."""
    path: str
    headers: Message
    received: float = 0.0


@dataclass
class Limits:
    """What the API holds its answers to."""

    tree_entries: int = 100_000
    tree_bytes: int = 7 * 1024 * 1024
    blob_bytes: int = 100 * 1024 * 1024
    hourly: int | None = None
    """Requests left of the rate limit; None for plenty."""
    base64_only: bool = False
    """Whether the wish for plain bytes of a blob is ignored."""
    list_refs: bool = True
    """Whether `git/matching-refs` is there."""


@dataclass
class Hosted:
    """A repository on the server."""

    name: str
    git: GitRepo
    id: int
    default_branch: str = "main"
    private: bool = False
    releases: list[str] = field(default_factory=list)


class GitHubServer:
    """Start it as a context manager; `url` is what goes into GITHUB_API_URL."""

    def __init__(self, base: str = "", tls: ssl.SSLContext | None = None) -> None:
        self.base = base
        self.limits = Limits()
        self.tokens: set[str] = set()
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.repos: dict[str, Hosted] = {}
        self.renamed: dict[str, str] = {}
        self._gits: list[GitRepo] = []
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self._hosts = [self._listen("api", "127.0.0.1"), self._listen("archive", "localhost")]
        self.url = f"http://127.0.0.1:{self._hosts[0].server_port}{base}"
        if tls is not None:
            self._hosts[0].socket = tls.wrap_socket(
                self._hosts[0].socket, server_side=True, do_handshake_on_connect=False
            )
            self.url = f"https://localhost:{self._hosts[0].server_port}{base}"
        self.archive_url = f"http://localhost:{self._hosts[1].server_port}"

    def __enter__(self) -> GitHubServer:
        for host in self._hosts:
            threading.Thread(target=host.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        for host in self._hosts:
            host.shutdown()
            host.server_close()
        for git in self._gits:
            git.close()

    def add(self, name: str, git: GitRepo, **facts: Any) -> Hosted:
        """Host a repository as OWNER/REPO."""
        hosted = Hosted(name=name, git=git, id=1000 + len(self.repos), **facts)
        self.repos[name.lower()] = hosted
        self._gits.append(git)
        return hosted

    def rename(self, old: str, new: str) -> None:
        """Rename a repository; the old name redirects."""
        hosted = self.repos.pop(old.lower())
        hosted.name = new
        self.repos[new.lower()] = hosted
        self.renamed[old.lower()] = new.lower()

    def paths(self, host: str = "api") -> list[str]:
        """Return the paths that were asked for, without the base."""
        return [request.path.removeprefix(self.base) for request in self.requests if request.host == host]

    def count(self, part: str) -> int:
        """Return how many requests had `part` in their path."""
        return sum(part in request.path for request in self.requests)

    def _listen(self, host: str, address: str) -> ThreadingHTTPServer:
        owner = self

        class Bound(Handler):
            pass

        Bound.owner = owner
        Bound.host = host

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, request: object, client_address: object) -> None:
                """A client that goes away in the middle is what some tests are about."""

        return Server((address, 0), Bound)


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    owner: GitHubServer
    host: str

    def do_GET(self) -> None:
        """Log, answer, and let the faults have their way."""
        owner = self.owner
        with owner.lock:
            owner.requests.append(Request(self.host, self.path, self.headers, time.monotonic()))
        reply = self._api() if self.host == "api" else self._archive()
        with owner.lock:
            fault = next((fault for fault in owner.faults if fault.takes(self.path)), None)
        if fault is None or not fault.action(self, reply):
            self.send_head(reply.status, {"content-length": str(len(reply.body)), **reply.headers})
            self.wfile.write(reply.body)
        self.wfile.flush()

    def send_head(self, status: int, headers: dict[str, str]) -> None:
        """Send the status line and the headers."""
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing on stderr."""

    # --- the API -----------------------------------------------------------------------------------------------------

    def _api(self) -> Reply:
        owner, limits = self.owner, self.owner.limits
        given = self.headers.get("authorization", "")
        token = given.removeprefix("Bearer ")
        if given and token not in owner.tokens:
            return _json({"message": "Bad credentials"}, 401)
        rate = self._rate(bool(given))
        if limits.hourly is not None and limits.hourly <= 0:
            reply = _json({"message": "API rate limit exceeded for 127.0.0.1."}, 403)
            reply.headers |= rate
            return reply
        parts = urlsplit(self.path)
        if not parts.path.startswith(f"{owner.base}/"):
            return _json({"message": "Not Found"}, 404)
        reply = self._route(parts.path.removeprefix(owner.base), parse_qs(parts.query), known=bool(given))
        if reply.status == 200:
            reply.headers["etag"] = f'"{hashlib.sha256(reply.body).hexdigest()}"'
            if self.headers.get("if-none-match") == reply.headers["etag"]:
                reply = Reply(304, {"etag": reply.headers["etag"]}, b"")
        if limits.hourly is not None and reply.status != 304:
            with owner.lock:
                limits.hourly -= 1
        reply.headers |= self._rate(bool(given))
        return reply

    def _rate(self, known: bool) -> dict[str, str]:
        total = 5000 if known else 60
        left = self.owner.limits.hourly
        return {
            "x-ratelimit-limit": str(total),
            "x-ratelimit-remaining": str(max(0, left if left is not None else 4990)),
            "x-ratelimit-reset": str(int(time.time()) + 1800),
            "x-ratelimit-resource": "core",
        }

    def _route(self, path: str, query: dict[str, list[str]], *, known: bool) -> Reply:
        raw = path.strip("/").split("/")
        hosted, rest = self._find(raw)
        if isinstance(hosted, Reply):
            return hosted
        if hosted is None or (hosted.private and not known):
            return _json({"message": "Not Found", "documentation_url": "https://docs.github.com/rest"}, 404)
        if not rest:
            return _json(_describe(hosted))
        name = "/".join(unquote(part) for part in rest)
        if not hosted.git.refs("refs/heads/") and rest[0] in {"commits", "git", "tarball", "contents"}:
            return _json({"message": "Git Repository is empty."}, 409)
        for prefix, answer in (
            ("commits/", self._commit),
            ("git/trees/", self._tree),
            ("git/blobs/", self._blob),
            ("git/matching-refs/", self._refs),
            ("tarball/", self._tarball),
            ("contents/", self._contents),
            ("releases/latest", self._release),
            ("tags", self._tags),
        ):
            if name.startswith(prefix):
                return answer(hosted, name[len(prefix) :], query)
        return _json({"message": "Not Found"}, 404)

    def _find(self, raw: list[str]) -> tuple[Hosted | Reply | None, list[str]]:
        owner = self.owner
        if raw[0] == "repositories" and len(raw) > 1:
            found = [hosted for hosted in owner.repos.values() if str(hosted.id) == raw[1]]
            return (found[0] if found else None), raw[2:]
        if raw[0] != "repos" or len(raw) < 3:
            return None, []
        name = f"{unquote(raw[1])}/{unquote(raw[2])}".lower()
        if name in owner.renamed:
            hosted = owner.repos[owner.renamed[name]]
            tail = "/".join([owner.url, "repositories", str(hosted.id), *raw[3:]])
            reply = _json({"message": "Moved Permanently", "url": tail}, 301)
            reply.headers["location"] = tail
            return reply, []
        return owner.repos.get(name), raw[3:]

    def _commit(self, hosted: Hosted, name: str, _query: dict[str, list[str]]) -> Reply:
        commit = hosted.git.resolve(name)
        if commit is None:
            return _json({"message": f"No commit found for SHA: {name}"}, 422)
        if "vnd.github.sha" in self.headers.get("accept", ""):
            return Reply(200, {"content-type": "application/vnd.github.sha; charset=utf-8"}, commit.encode())
        return _json({"sha": commit, "commit": {"message": "x"}, "files": []})

    def _tree(self, hosted: Hosted, name: str, query: dict[str, list[str]]) -> Reply:
        kind = hosted.git.object(name) if name.isalnum() else None
        if kind is None or kind[0] == "blob":
            return _json({"message": "Not Found"}, 404)
        rows: list[dict[str, object]] = []
        limits, size, truncated = self.owner.limits, 0, False
        for mode, type_, sha, length, path in hosted.git.tree(name, recursive="recursive" in query):
            row: dict[str, object] = {"path": path, "mode": mode, "type": type_, "sha": sha}
            if length is not None and type_ == "blob":
                row["size"] = length
            row["url"] = f"{self.owner.url}/repos/{hosted.name}/git/{type_}s/{sha}"
            size += len(json.dumps(row))
            if "recursive" in query and (len(rows) >= limits.tree_entries or size > limits.tree_bytes):
                truncated = True
                break
            rows.append(row)
        return _json({"sha": name, "url": "", "tree": rows, "truncated": truncated})

    def _blob(self, hosted: Hosted, name: str, _query: dict[str, list[str]]) -> Reply:
        found = hosted.git.object(name) if name.isalnum() else None
        if found is None or found[0] != "blob":
            return _json({"message": "Not Found"}, 404)
        data = found[1]
        if len(data) > self.owner.limits.blob_bytes:
            return _json({"message": "This API returns blobs up to 100 MB in size.", "errors": []}, 403)
        if "vnd.github.raw" in self.headers.get("accept", "") and not self.owner.limits.base64_only:
            return Reply(200, {"content-type": "application/vnd.github.raw+json; charset=utf-8"}, data)
        lines = base64.encodebytes(data).decode()
        return _json({"sha": name, "size": len(data), "url": "", "content": lines, "encoding": "base64"})

    def _refs(self, hosted: Hosted, name: str, query: dict[str, list[str]]) -> Reply:
        if not self.owner.limits.list_refs:
            return _json({"message": "Not Found"}, 404)
        rows = [
            {"ref": ref, "object": {"type": kind, "sha": sha}} for ref, kind, sha in hosted.git.refs(f"refs/{name}")
        ]
        return self._paged(rows, query)

    def _paged(self, rows: list[Any], query: dict[str, list[str]]) -> Reply:
        page, size = int(query.get("page", ["1"])[0]), min(100, int(query.get("per_page", ["30"])[0]))
        reply = _json(rows[(page - 1) * size : page * size])
        if len(rows) > page * size:
            reply.headers["link"] = f'<{self.owner.url}/x?page={page + 1}>; rel="next"'
        return reply

    def _tarball(self, hosted: Hosted, name: str, _query: dict[str, list[str]]) -> Reply:
        commit = hosted.git.resolve(name)
        if commit is None:
            return _json({"message": "Not Found"}, 404)
        location = f"{self.owner.archive_url}/{hosted.name}/legacy.tar.gz/{commit}"
        return Reply(302, {"location": location + ("?token=SIGNED" if hosted.private else "")}, b"")

    def _contents(self, hosted: Hosted, name: str, query: dict[str, list[str]]) -> Reply:
        commit = hosted.git.resolve(query.get("ref", [hosted.default_branch])[0])
        rows = (
            [row for row in hosted.git.tree(commit, recursive=True) if row[4].rpartition("/")[0] == name]
            if commit
            else []
        )
        if not rows:
            return _json({"message": "Not Found"}, 404)
        kinds = {"blob": "file", "tree": "dir", "commit": "submodule"}
        return _json([{"name": r[4].rpartition("/")[2], "path": r[4], "sha": r[2], "type": kinds[r[1]]} for r in rows])

    def _release(self, hosted: Hosted, _name: str, _query: dict[str, list[str]]) -> Reply:
        if not hosted.releases:
            return _json({"message": "Not Found"}, 404)
        return _json({"tag_name": hosted.releases[-1], "draft": False, "prerelease": False})

    def _tags(self, hosted: Hosted, _name: str, query: dict[str, list[str]]) -> Reply:
        names = [ref.removeprefix("refs/tags/") for ref, _, _ in hosted.git.refs("refs/tags/")]
        return self._paged([{"name": n, "commit": {"sha": hosted.git.resolve(f"tags/{n}")}} for n in names], query)

    # --- the other host ----------------------------------------------------------------------------------------------

    def _archive(self) -> Reply:
        parts = urlsplit(self.path)
        owner, repo, _, commit = parts.path.strip("/").split("/")
        hosted = self.owner.repos[f"{owner}/{repo}".lower()]
        if hosted.private and parts.query != "token=SIGNED":
            return _json({"message": "Not Found"}, 404)
        data = hosted.git.archive(commit, f"{owner}-{repo}-{commit[:7]}")
        return Reply(200, {"content-type": "application/x-gzip"}, data)


def _describe(hosted: Hosted) -> dict[str, object]:
    return {
        "id": hosted.id,
        "name": hosted.name.rpartition("/")[2],
        "full_name": hosted.name,
        "private": hosted.private,
        "default_branch": hosted.default_branch,
    }


def _json(value: object, status: int = 200) -> Reply:
    return Reply(status, {"content-type": "application/json; charset=utf-8"}, json.dumps(value).encode())
