"""Real clients read what is merged into their files. `REAL_CLIENTS=1` fetches them from npm (some hundred megabytes).

`REAL_CLIENTS_DIR` names a folder in which they are installed already. A probe stands in for each server: it writes down
the arguments, the environment and the headers that it was given.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from importer.exporters import CLIENTS, merge, render
from importer.model import Choices, ConnectorTemplate
from tests.builders.connectors import DOCS, GITHUB

pytestmark = pytest.mark.skipif(not os.environ.get("REAL_CLIENTS"), reason="REAL_CLIENTS=1 runs the real clients")

PACKAGES = ("@anthropic-ai/claude-code", "@google/gemini-cli", "@openai/codex")
ARGS = ("-e", "A", "-e", "B", "", 'say "hi"', "ümlaut 漢字", "back\\slash", "100 $ each")
PROBE = """
import json, os, sys
log = sys.argv[1]
with open(log, "w", encoding="utf-8") as out:
    json.dump({"args": sys.argv[2:], "token": os.environ.get("PROBE_TOKEN")}, out)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "probe", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": []}
    else:
        result = None
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    answer |= {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the clients' programs."""
    there = os.environ.get("REAL_CLIENTS_DIR")
    if there:
        return Path(there) / "node_modules" / ".bin"
    folder = tmp_path_factory.mktemp("npm")
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", *PACKAGES], cwd=folder, check=True, timeout=900)
    return folder / "node_modules" / ".bin"


@dataclass
class Web:
    url: str
    headers: list[dict[str, str]]


@pytest.fixture
def web() -> Iterator[Web]:
    """A server on this machine that remembers the headers of each request."""
    seen: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append({name.lower(): value for name, value in self.headers.items()})
            asked = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
            info = {"name": "probe", "version": "1"}
            result: dict[str, object] = {"tools": []}
            if asked.get("method") == "initialize":
                version = asked["params"]["protocolVersion"]
                result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            answer: dict[str, object] = {"jsonrpc": "2.0", "id": asked.get("id"), "result": result}
            if asked.get("method") not in {"initialize", "tools/list"}:
                answer = {"jsonrpc": "2.0", "id": asked.get("id"), "error": {"code": -32601, "message": "no"}}
            body = json.dumps(answer).encode() if "id" in asked else b""
            self.send_response(200 if body else 202)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_response(405)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Web(url=f"http://127.0.0.1:{server.server_address[1]}/mcp", headers=seen)
    server.shutdown()
    thread.join()
    server.server_close()


def wanted(folder: Path, web: Web) -> list[ConnectorTemplate]:
    script = folder / "probe.py"
    script.write_text(PROBE, encoding="utf-8")
    stdio = replace(
        GITHUB,
        name="probe",
        command=sys.executable,
        args=(str(script), str(folder / "log.json"), *ARGS),
        environment=("PROBE_TOKEN",),
    )
    return [stdio, replace(DOCS, url=web.url)]


def put(existing: str, folder: Path, client: str, web: Web) -> bytes:
    rendered = render(wanted(folder, web), CLIENTS[client])
    return merge(existing.encode(), rendered, CLIENTS[client], Choices()).content


def run(program: Path, *args: str, home: Path) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CODEX_HOME": str(home / ".codex"),
        "PROBE_TOKEN": "token-of-the-probe",
        "DOCS_AUTHORIZATION": "Bearer header-of-the-probe",
        "DOCS_X_API_KEY": "key-of-the-probe",
        "DISABLE_AUTOUPDATER": "1",
        "NO_COLOR": "1",
    }
    work = home / "work"
    work.mkdir(exist_ok=True)
    ran = subprocess.run(
        [str(program), *args], env=environment, cwd=work, capture_output=True, text=True, timeout=120, check=False
    )
    print(f"$ {program.name} {' '.join(args)}\n{ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr


def check_probes(folder: Path, web: Web) -> None:
    log = json.loads((folder / "log.json").read_text(encoding="utf-8"))
    assert log == {"args": list(ARGS), "token": "token-of-the-probe"}
    assert web.headers, "the remote server was asked"
    for headers in web.headers:
        assert headers["authorization"] == "Bearer header-of-the-probe"
        assert headers["x-api-key"] == "key-of-the-probe"


def test_claude_code(programs: Path, tmp_path: Path, web: Web) -> None:
    there = '\ufeff{\r\n\t"numStartups": 1,\r\n\t"mcpServers": {\r\n\t\t"mine": {"command": "/nonexistent"}\r\n\t}\r\n}'
    (tmp_path / ".claude.json").write_bytes(put(there, tmp_path, "claude-code", web))
    print(run(programs / "claude", "--version", home=tmp_path))
    said = run(programs / "claude", "mcp", "list", home=tmp_path)
    assert "probe:" in said
    assert "docs:" in said
    assert "mine:" in said
    check_probes(tmp_path, web)


def test_gemini_cli(programs: Path, tmp_path: Path, web: Web) -> None:
    there = '{\n    // mine\n    "mcpServers": {\n        "mine": { "command": "/nonexistent" } /* keep */\n    }\n}\n'
    settings = tmp_path / ".gemini" / "settings.json"
    settings.parent.mkdir()
    trusted = {str(tmp_path / "work"): "TRUST_FOLDER"}
    (settings.parent / "trustedFolders.json").write_text(json.dumps(trusted), encoding="utf-8")
    settings.write_bytes(put(there, tmp_path, "gemini-cli", web))
    print(run(programs / "gemini", "--version", home=tmp_path))
    said = run(programs / "gemini", "mcp", "list", home=tmp_path)
    assert "probe:" in said
    assert "docs:" in said
    assert "mine:" in said
    check_probes(tmp_path, web)


def test_codex(programs: Path, tmp_path: Path, web: Web) -> None:
    there = '\ufeff# mine\n[mcp_servers.mine] # keep\ncommand = "x"\n[tui]\nnotifications = false\n'
    settings = tmp_path / ".codex" / "config.toml"
    settings.parent.mkdir()
    settings.write_bytes(put(there, tmp_path, "codex", web))
    print(run(programs / "codex", "--version", home=tmp_path))
    said = run(programs / "codex", "mcp", "list", "--json", home=tmp_path)
    servers = {
        server["name"]: server["transport"] for server in json.loads(said[said.index("[\n") : said.rindex("]") + 1])
    }
    assert set(servers) == {"mine", "probe", "docs"}
    assert servers["probe"]["args"][2:] == list(ARGS)
    assert servers["probe"]["env_vars"] == ["PROBE_TOKEN"]
    assert servers["docs"]["type"] == "streamable_http"
    assert servers["docs"]["url"] == web.url
    assert servers["docs"]["env_http_headers"] == {
        "Authorization": "DOCS_AUTHORIZATION",
        "X-Api-Key": "DOCS_X_API_KEY",
    }
