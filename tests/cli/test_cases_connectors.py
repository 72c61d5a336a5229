"""Configurations as clients write and people publish them: read, held to the rules, written back for another client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders.packages import as_json, skill
from tests.cli.scene import Look, Scene

TOKEN = "ghp_" + "A1b2C3d4E5f6" * 3


def servers(**entries: object) -> bytes:
    """Return a configuration with these servers."""
    return as_json({"mcpServers": entries})


def connector(look: Look, name: str = "a") -> dict[str, Any]:
    """Return one connector of a report."""
    return next(c for c in look.report["connectors"] if c["name"] == name)


def template(scene: Scene, source: Path, name: str = "a") -> dict[str, Any]:
    """Install, and return what the library keeps of a connector."""
    scene.install(source)
    value: dict[str, Any] = json.loads((scene.library / "connectors" / f"{name}.json").read_bytes())
    return value


def exported(scene: Scene, client: str, name: str = "a", *options: str) -> dict[str, Any]:
    """Return the document that a client gets."""
    done = scene.run("export", "connector", name, "--client", client, *options)
    assert done.status == 0, done.err
    value: dict[str, Any] = json.loads(done.out)
    return value


# --- what comes in ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["http", "streamable-http", "streamable_http", "streamableHttp", "streamableHTTP", "sse", None]
)
def test_every_spelling_of_a_transport(scene: Scene, kind: str | None) -> None:
    server = {"url": "https://docs.example/mcp"} | ({"type": kind} if kind else {})
    source = scene.raw(servers(a=server), "c.json")
    look = scene.look(source)
    if kind == "streamableHTTP":
        # No client writes that: refused with the list, or read; never taken as something else in silence.
        assert look.status == 3 or connector(look)["transport"] == "streamable_http"
        return
    assert look.status == 0, look.human
    assert connector(look)["transport"] == ("sse" if kind == "sse" else "streamable_http")


URL = "https://docs.example/mcp"
SHAPES: dict[str, tuple[object, str]] = {
    "mcpServers": ({"mcpServers": {"a": {"command": "uvx", "args": ["x"]}}}, "stdio"),
    "servers": ({"servers": {"a": {"type": "stdio", "command": "uvx"}}, "inputs": []}, "stdio"),
    "a bare map": ({"a": {"command": "uvx"}, "b": {"url": URL}}, "stdio"),
    "serverUrl": ({"mcpServers": {"a": {"serverUrl": URL}}}, "streamable_http"),
    "httpUrl": ({"mcpServers": {"a": {"httpUrl": URL}}}, "streamable_http"),
    "type local and tools": ({"mcpServers": {"a": {"type": "local", "command": "uvx", "tools": ["*"]}}}, "stdio"),
    "context_servers": ({"context_servers": {"a": {"command": "uvx", "args": []}}}, "stdio"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_that_clients_write(scene: Scene, shape: str) -> None:
    document, transport = SHAPES[shape]
    look = scene.look(scene.raw(as_json(document), "c.json"))
    assert look.status == 0, look.human
    assert connector(look)["transport"] == transport


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["bare", "BOM"])
def test_comments_trailing_commas_and_a_byte_order_mark(scene: Scene, mark: bytes) -> None:
    text = b'// mine\n{"mcpServers": {/* a */ "a": {"command": "uvx", "args": ["x",],},},}\n'
    look = scene.taken(scene.raw(mark + text, "c.json"))
    assert connector(look)["transport"] == "stdio"
    assert bool(look.every("connector-bom")) is bool(mark)


def test_arguments_are_kept_exactly(scene: Scene) -> None:
    """Order, repeats, empty ones: `-e A -e B` stays that."""
    arguments = [
        "run",
        "-i",
        "--rm",
        "-e",
        "A",
        "-e",
        "B",
        "-e",
        "A",
        "",
        "--max-tokens",
        "100",
        "-u",
        "1000:1000",
        "img",
    ]
    source = scene.raw(servers(a={"command": "docker", "args": arguments}), "c.json")
    assert template(scene, source)["args"] == arguments
    assert exported(scene, "generic")["mcpServers"]["a"]["args"] == arguments


def test_keys_that_have_no_place_are_said(scene: Scene) -> None:
    server = {"command": "uvx", "cwd": "/home/me", "disabled": True, "timeout": 60, "autoApprove": ["x"]}
    look = scene.taken(scene.raw(servers(a=server), "c.json"))
    text = " ".join(d["message"] + d["path"] for d in look.every("connector-key-ignored"))
    for key in ("cwd", "disabled", "timeout", "autoApprove"):
        assert key in text


LEAKS: dict[str, object] = {
    "-e NAME=value": {"command": "docker", "args": ["run", "-e", f"GITHUB_PERSONAL_ACCESS_TOKEN={TOKEN}", "img"]},
    "--flag=value": {"command": "npx", "args": ["-y", "jira", "--jira-token=hunter2SECRETvalue99x"]},
    "--flag value": {"command": "npx", "args": ["-y", "x", "--api-key", "omk_live_8f3kd02hs7dkq1"]},
    "a header": {"command": "npx", "args": ["-y", "mcp-remote", URL, "--header", f"Authorization: Bearer {TOKEN}"]},
    "a query key": {"url": "https://mcp.example/sse?api_key=kuU7fj20dkq83mfXX"},
    "user info": {"url": f"https://me:{TOKEN}@mcp.example/sse"},
}


@pytest.mark.parametrize("kind", LEAKS)
def test_a_credential_that_stands_in_the_open_refuses(scene: Scene, kind: str) -> None:
    """And no byte of it is in the output, in the library, or in what an error says."""
    source = scene.raw(servers(a=LEAKS[kind]), "c.json")
    look = scene.look(source)
    assert look.status == 3
    assert look.codes("error") == ["connector-secret-embedded"]
    finding = look.every("connector-secret-embedded")[0]
    assert finding["path"]
    for secret in (TOKEN, "hunter2SECRETvalue99x", "omk_live_8f3kd02hs7dkq1", "kuU7fj20dkq83mfXX"):
        assert secret not in look.human + json.dumps(look.report)
        for path in scene.library.rglob("*"):
            assert not path.is_file() or secret.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--max-tokens", "100"],
        ["-u", "1000:1000"],
        ["--author", "me"],
        ["-e", "GITHUB_TOKEN"],
        ["--token-limit", "4096"],
    ],
    ids=" ".join,
)
def test_what_only_looks_like_one_passes(scene: Scene, arguments: list[str]) -> None:
    look = scene.taken(scene.raw(servers(a={"command": "uvx", "args": ["x", *arguments]}), "c.json"))
    assert look.every("connector-secret-embedded") == []


@pytest.mark.parametrize(
    "value", ["${MY_TOKEN}", "${env:MY_TOKEN}", "${input:my-token}", "Bearer ${MY_TOKEN}", "<your key>"]
)
def test_values_are_dropped_and_placeholders_are_translated(scene: Scene, value: str) -> None:
    """No value is expanded or kept; the name is a secret again, in the form of each client."""
    server = {"type": "http", "url": URL, "headers": {"Authorization": value}}
    local = {"command": "uvx", "env": {"MY_TOKEN": value}}
    source = scene.raw(servers(a=server, b=local), "c.json")
    look = scene.taken(source)
    assert connector(look)["secrets"] == ["Authorization"]
    assert connector(look, "b")["secrets"] == ["MY_TOKEN"]
    scene.install(source)
    assert value not in json.dumps(exported(scene, "generic", "a", "--format", "template"))
    cursor = exported(scene, "cursor", "b")["mcpServers"]["b"]
    assert cursor["env"] == {"MY_TOKEN": "${env:MY_TOKEN}"}


def test_a_placeholder_in_an_address_is_said(scene: Scene) -> None:
    look = scene.look(scene.raw(servers(a={"url": "${MY_URL}"}), "c.json"))
    assert look.status in {0, 3}
    assert {"connector-placeholder", "connector-invalid"} & set(look.codes("error", "warning"))


def test_npx_that_would_wait_for_an_answer(scene: Scene) -> None:
    look = scene.taken(scene.raw(servers(a={"command": "npx", "args": ["server"]}), "c.json"))
    assert look.found("connector-npx-asks")["severity"] == "warning"
    assert not scene.taken(scene.raw(servers(a={"command": "npx", "args": ["-y", "s"]}), "c.json")).every(
        "connector-npx-asks"
    )


def test_two_configurations_side_by_side_are_both_seen(scene: Scene) -> None:
    """`mcp.json` and `.mcp.json`: which one is used is said, or both are read."""
    files = {"mcp.json": servers(a={"url": URL, "type": "streamable-http"}), ".mcp.json": servers(b={"url": URL})}
    look = scene.look(scene.tree(dict(files)))
    assert look.status == 0, look.human
    assert {c["name"] for c in look.report["connectors"]} == {"a", "b"}
    beside = scene.taken(scene.tree({**skill("demo"), **files}, "beside"))
    assert list(beside.skills) == ["demo"]


def test_an_empty_address_is_that_servers_fault(scene: Scene) -> None:
    """32 published servers have one: the others go on with --keep-going."""
    source = scene.raw(servers(a={"command": "uvx"}, b={"type": "http", "url": ""}), "c.json")
    look = scene.look(source)
    assert look.status == 3
    assert "b" in look.left_out
    report = scene.install(source, "--keep-going")
    assert [item["name"] for item in report["installed"]] == ["a"]


# --- what goes out ---------------------------------------------------------------------------------------------------


@pytest.fixture
def both(scene: Scene) -> Scene:
    """A library with a local and a remote connector."""
    local = {"command": "npx", "args": ["-y", "server"], "env": {"KEY": "x"}}
    remote = {"type": "http", "url": URL, "headers": {"Authorization": "x"}}
    scene.install(scene.raw(servers(a=local, b=remote), "c.json"))
    return scene


def test_each_client_gets_its_own_form(both: Scene) -> None:
    """Root key, key of the address, type where the client wants one; no type that it would refuse."""
    assert exported(both, "vscode", "b")["servers"]["b"]["type"] == "http"
    assert exported(both, "windsurf", "b")["mcpServers"]["b"]["serverUrl"] == URL
    gemini = exported(both, "gemini-cli", "b")["mcpServers"]["b"]
    assert (gemini["url"], gemini["type"]) == (URL, "http")
    assert exported(both, "claude-code")["mcpServers"]["a"]["type"] == "stdio"
    assert exported(both, "claude-code", "b")["mcpServers"]["b"]["type"] == "http"
    assert exported(both, "cline", "b")["mcpServers"]["b"]["type"] == "streamableHttp"
    assert exported(both, "agent-plugins", "b")["mcpServers"]["b"]["type"] == "streamable-http"
    codex = both.run("export", "connector", "b", "--client", "codex").out
    assert "[mcp_servers.b]" in codex
    assert "Authorization" in codex
    assert "headers = " not in codex.replace("http_headers = ", "")


def test_windows_starts_npx_through_its_shell_only_when_asked(both: Scene) -> None:
    plain = exported(both, "claude-code")["mcpServers"]["a"]
    assert (plain["command"], plain["args"]) == ("npx", ["-y", "server"])
    wrapped = exported(both, "claude-code", "a", "--windows-cmd")["mcpServers"]["a"]
    assert (wrapped["command"], wrapped["args"]) == ("cmd", ["/c", "npx", "-y", "server"])


def merged(scene: Scene, text: bytes, *options: str, client: str = "cursor") -> tuple[int, bytes, list[bytes], str]:
    """Merge into a file; return the status, the file, its backups and what was said."""
    place = scene.place("config/own.json")
    place.write_bytes(text)
    done = scene.run("export", "connector", "a", "--client", client, "--merge", place, *options)
    backups = [path.read_bytes() for path in place.parent.iterdir() if path != place]
    return done.status, place.read_bytes(), backups, done.out + done.err


@pytest.mark.parametrize("client", ["vscode", "zed"])
def test_a_merge_edits_in_place(both: Scene, client: str) -> None:
    """Comments, trailing commas, other servers and keys stay, byte for byte; one backup."""
    root = {"vscode": "servers", "zed": "context_servers"}[client]
    own = b'"leave-me": {"command": "x", "args": ["1",],}, // This is the leave-me server'
    text = b'{\n  // head\n  "theme": 1,\n  "' + root.encode() + b'": {\n    ' + own + b"\n  },\n}\n"
    status, after, backups, said = merged(both, text, client=client)
    assert status == 0, said
    assert own.split(b",")[0] in after
    assert b"// This is the leave-me server" in after
    assert b"// head" in after
    assert b'"a"' in after
    assert backups == [text]


def test_what_a_client_does_not_read_is_refused_untouched_or_said(both: Scene) -> None:
    """Trailing commas where the client stops at them; comments where its parser has none."""
    comma = b'{"mcpServers": {"own": {"command": "x"},}}\n'
    status, after, backups, said = merged(both, comma, client="gemini-cli")
    assert (status, after, backups) == (3, comma, [])
    assert "trailing commas" in said
    comment = b'{\n  // mine\n  "mcpServers": {"own": {"command": "x"}}\n}\n'
    status, after, _, said = merged(both, comment, client="claude-code")
    assert b"// mine" in after
    assert "comment" in said


@pytest.mark.parametrize(
    "text",
    [
        b'{"mcpServers": ',
        b"[]",
        b'{"mcpServers": []}',
        b'{"mcpServers": null}',
        b"\xff\xfe{\0}\0",
        b'{"a": 1, "a": 2,,}',
    ],
    ids=["cut", "list", "servers list", "null", "UTF-16", "commas"],
)
def test_a_file_that_cannot_be_read_is_refused_untouched(both: Scene, text: bytes) -> None:
    status, after, backups, said = merged(both, text)
    assert status in {1, 3}
    assert after == text
    assert backups == []
    assert "own.json" in said


@pytest.mark.parametrize("client", ["cursor", "vscode", "claude-code", "claude-desktop", "gemini-cli"])
def test_a_byte_order_mark_is_kept_or_dropped_and_never_added(both: Scene, client: str) -> None:
    root = "servers" if client == "vscode" else "mcpServers"
    text = b'{"' + root.encode() + b'": {"own": {"command": "x"}}}\n'
    status, plain, _, said = merged(both, text, client=client)
    assert status == 0, said
    assert not plain.startswith(b"\xef\xbb\xbf")
    status, marked, _, said = merged(both, b"\xef\xbb\xbf" + text, client=client)
    assert status in {0, 3}, said
    if status == 0 and not marked.startswith(b"\xef\xbb\xbf"):
        assert "byte order mark" in said.lower() or "BOM" in said
