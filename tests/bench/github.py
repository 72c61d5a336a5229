"""Reading GitHub, against `git clone --depth 1` of the same repository, both over loopback and with bytes counted.

The API is the tests' own server. Clones come over git's smart HTTP protocol, from `git http-backend` behind a small
server here: the dumb protocol knows no shallow clone. Both pass through a forwarder that counts what goes to the
client, headers included; the time that it takes is in every figure.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.bench import inputs
from tests.bench.measure import run
from tests.github.server import GitHubServer, GitRepo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.bench.__main__ import Bench

BLOBS = "GitHub: 200 files by blobs / by the tarball"
MANY = "GitHub: 200 files, the cheaper way / git clone --depth 1"
PATH = "GitHub: one skill of 250 MiB, by its path / git clone --depth 1"
NAME = "GitHub: one skill of 250 MiB, by --skill / git clone --depth 1"
_FORCED = (
    "import sys; from importer.sources.github import delivery as d; from importer.cli import main; "
    "d.REQUEST_COST = d.SCARCE_COST = int(sys.argv[1]); sys.exit(main(sys.argv[2:]))"
)


class Wire:
    """Forwards connections to a port of this machine and counts what comes back."""

    def __init__(self, port: int) -> None:
        self.received = 0
        self._target = port
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # it was closed
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                for source, sink, counted in ((near, far, False), (far, near, True)):
                    threading.Thread(target=self._pump, args=(source, sink, counted), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, counted: bool) -> None:
        with contextlib.suppress(OSError):  # one side went away
            while data := source.recv(1 << 18):
                sink.sendall(data)
                if counted:
                    with self._lock:
                        self.received += len(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()


class _Backend(BaseHTTPRequestHandler):
    """Runs `git http-backend` for each request, as a web server would."""

    root: Path
    requests = 0

    def do_GET(self) -> None:
        """Hand the request to git, and its answer back as it comes."""
        type(self).requests += 1
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
        }
        command = ["git", "http-backend"]
        with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as backend:
            assert backend.stdin is not None
            assert backend.stdout is not None
            backend.stdin.write(body)
            backend.stdin.close()
            self.wfile.write(b"HTTP/1.0 200 OK\r\n")
            shutil.copyfileobj(backend.stdout, self.wfile, 1 << 18)

    do_POST = do_GET  # noqa: N815  # the name that http.server calls

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing on stderr."""


@dataclass
class Site:
    """The repositories, and both ways to them."""

    api: GitHubServer
    backend: type[_Backend]
    wires: dict[str, Wire]

    @property
    def received(self) -> int:
        """Bytes that clients got so far."""
        return sum(wire.received for wire in self.wires.values())

    @property
    def requests(self) -> int:
        """Requests so far, of the API's redirects both sides."""
        return len(self.api.requests) + self.backend.requests


@contextlib.contextmanager
def site(folder: Path) -> Iterator[Site]:
    """Serve two repositories: one skill of 200 files, and 40 skills in 250 MiB of other things."""
    rng = random.Random(17)
    many = GitRepo(folder / "acme" / "many")
    notes = {f"skills/many/references/note-{n:03}.md": inputs.prose(rng, 4_000) for n in range(199)}
    many.commit({"skills/many/SKILL.md": inputs.skill_md("many"), **notes})
    large = GitRepo(folder / "acme" / "large")
    large.commit({f"data/part-{n % 50:02}/{n:04}.bin": rng.randbytes(100 * 1024) for n in range(2_560)})
    for number in range(40):
        root = f"skills/skill-{number:02}"
        files = {f"{root}/references/note-{n}.md": inputs.prose(rng, 4_000) for n in range(9)}
        large.commit({f"{root}/SKILL.md": inputs.skill_md(f"skill-{number:02}"), **files})

    for repository in (many, large):
        repository.git("symbolic-ref", "HEAD", "refs/heads/main")  # a clone takes what HEAD names

    class Backend(_Backend):
        root = folder

    clones = ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    threading.Thread(target=clones.serve_forever, args=(0.02,), daemon=True).start()
    with GitHubServer() as api:
        api.add("acme/many", many)
        api.add("acme/large", large)
        ports = {"api": api.url, "archive": api.archive_url, "git": f"http://127.0.0.1:{clones.server_port}"}
        wires = {name: Wire(int(url.rpartition(":")[2])) for name, url in ports.items()}
        api.archive_url = wires["archive"].url
        try:
            yield Site(api, Backend, wires)
        finally:
            for wire in wires.values():
                wire.close()
            clones.shutdown()
            clones.server_close()


def rows(bench: Bench, folder: Path) -> None:
    """Every row about GitHub, each followed by its requests and bytes."""
    if not any(bench.only in name for name in (BLOBS, MANY, PATH, NAME)):
        return
    with site(folder / "repositories") as served:

        def preview(*arguments: str, price: int | None = None) -> Callable[[], Sequence[str]]:
            start = [sys.executable, "-m", "importer"] if price is None else [sys.executable, "-c", _FORCED, str(price)]

            def command() -> Sequence[str]:
                library = folder / f"library-{next(bench.fresh)}"
                tail = ["preview", *arguments, "--library", str(library), "--json"]
                return [
                    "env",
                    "-u",
                    "GITHUB_TOKEN",
                    "-u",
                    "GH_TOKEN",
                    f"GITHUB_API_URL={served.wires['api'].url}",
                    *start,
                    *tail,
                ]

            return command

        def clone(name: str) -> Callable[[], Sequence[str]]:
            def command() -> Sequence[str]:
                target = folder / "clone"
                shutil.rmtree(target, ignore_errors=True)
                return [
                    "git",
                    "clone",
                    "--quiet",
                    "--depth",
                    "1",
                    f"{served.wires['git'].url}/acme/{name}",
                    str(target),
                ]

            return command

        def row(name: str, ours: Callable[[], Sequence[str]], baseline: Callable[[], Sequence[str]]) -> None:
            if bench.only in name:
                bench.row(name, ours, baseline)
                mine, theirs = traffic(served, ours()), traffic(served, baseline())
                print(f"{'':<4}requests {mine[0]} / {theirs[0]}, received {mine[1]:.2f} MiB / {theirs[1]:.2f} MiB")

        row(BLOBS, preview("acme/many", price=0), preview("acme/many", price=1 << 40))
        row(MANY, preview("acme/many"), clone("many"))
        row(PATH, preview("acme/large/skills/skill-07"), clone("large"))
        row(NAME, preview("acme/large", "--skill", "skill-07"), clone("large"))


def traffic(served: Site, command: Sequence[str]) -> tuple[int, float]:
    """Run a command once and return its requests and the MiB that it received.

    Raises:
        RuntimeError: it did not succeed: then nothing was measured.
    """
    requests, received = served.requests, served.received
    done = run(command)
    if done.status:
        raise RuntimeError(f"{command} ended with {done.status}")
    return served.requests - requests, (served.received - received) / inputs.MIB
