"""What a client would reject or ignore in its own file: one lie at a time, each beside a file that is good."""

from __future__ import annotations

import json

import pytest

from importer.diagnostics import Diagnostic, Severity
from importer.exporters import CLIENTS, check_config, render
from importer.exporters.clients import Syntax
from tests.builders.connectors import GITHUB, PLAIN

SECRET = "ghp_neighbour0123456789"
GOOD = {"command": "uvx", "args": ["tool"], "env": {"A": "b"}}


def findings(client: str, server: object, **beside: object) -> list[Diagnostic]:
    document = {CLIENTS[client].root: {"it": server}, **beside}
    if client == "agent-plugins":
        document["$schema"] = CLIENTS[client].closed
    return list(check_config(json.dumps(document).encode(), CLIENTS[client]))


def toml_findings(text: str) -> list[tuple[str, str]]:
    return said(check_config(text.encode(), CLIENTS["codex"]))


def said(found: tuple[Diagnostic, ...] | list[Diagnostic]) -> list[tuple[str, str]]:
    return [(str(d.severity), d.code) for d in found]


def test_a_good_file_has_no_findings() -> None:
    for client in CLIENTS.values():
        assert check_config(render([PLAIN], client).document.encode(), client) == ()


ERROR, WARNING, INFO = "error", "warning", "info"


@pytest.mark.parametrize(
    ("client", "server", "found"),
    [
        # Claude Desktop: stdio only.
        ("claude-desktop", {"url": "https://x.example"}, [(ERROR, "client-remote-unsupported")]),
        ("claude-desktop", {"type": "http", "url": "https://x.example"}, [(ERROR, "client-remote-unsupported")]),
        # Claude Code: a type is needed, under its own names.
        ("claude-code", {"type": "http", "url": "https://x.example"}, []),
        ("claude-code", {"type": "streamable-http", "url": "https://x.example"}, []),
        ("claude-code", {"url": "https://x.example"}, [(ERROR, "client-type")]),
        ("claude-code", {"type": "streamableHttp", "url": "https://x.example"}, [(ERROR, "client-type")]),
        ("claude-code", {"type": "streamable_http", "url": "https://x.example"}, [(ERROR, "client-type")]),
        ("claude-code", {**GOOD, "env": {"N": 1}}, [(ERROR, "client-value-invalid")]),
        ("claude-code", {**GOOD, "env": {"N": "${env:N}"}}, [(WARNING, "client-placeholder")]),
        ("claude-code", {**GOOD, "env": {"N": "${N:-d}"}}, []),
        (
            "claude-code",
            {"serverUrl": "https://x.example"},
            [(ERROR, "client-transport"), (WARNING, "client-field-ignored")],
        ),
        ("claude-code", {**GOOD, "disabled": True}, [(WARNING, "client-field-ignored")]),
        # Cursor: url only; braces with env.
        ("cursor", {"url": "https://x.example", "headers": {"A": "${env:T}"}}, []),
        ("cursor", {"url": "https://x.example", "headers": {"A": "${T}"}}, [(WARNING, "client-placeholder")]),
        ("cursor", {"httpUrl": "https://x.example"}, [(ERROR, "client-transport"), (WARNING, "client-field-ignored")]),
        ("cursor", {"command": "uvx", "type": "local"}, [(ERROR, "client-type")]),
        ("cursor", {**GOOD, "tools": ["*"]}, [(WARNING, "client-field-ignored")]),
        # VS Code: inputs have to be declared.
        ("vscode", {**GOOD, "env": {"A": "${input:a}"}}, [(ERROR, "client-input-missing")]),
        ("vscode", {**GOOD, "env": {"A": "${A}"}}, [(WARNING, "client-placeholder")]),
        ("vscode", {**GOOD, "disabled": True}, [(WARNING, "client-field-ignored")]),
        ("vscode", {**GOOD, "env": {"A": 1}}, []),
        # Windsurf: serverUrl or url.
        ("windsurf", {"serverUrl": "https://x.example"}, []),
        ("windsurf", {"url": "https://x.example"}, []),
        (
            "windsurf",
            {"httpUrl": "https://x.example"},
            [(ERROR, "client-transport"), (WARNING, "client-field-ignored")],
        ),
        # Gemini CLI: closed, http and sse only, httpUrl on its way out.
        ("gemini-cli", {"type": "http", "url": "https://x.example"}, []),
        ("gemini-cli", {"type": "streamable-http", "url": "https://x.example"}, [(ERROR, "client-type")]),
        ("gemini-cli", {"httpUrl": "https://x.example"}, [(WARNING, "client-field-deprecated")]),
        ("gemini-cli", {**GOOD, "disabled": True}, [(ERROR, "client-field-rejected")]),
        ("gemini-cli", {**GOOD, "env": {"A": "${env:A}"}}, [(WARNING, "client-placeholder")]),
        ("gemini-cli", {"tcp": "x"}, []),
        # Cline: http is invalid, and a bad entry takes all with it.
        ("cline", {"type": "streamableHttp", "url": "https://x.example"}, []),
        ("cline", {"type": "http", "url": "https://x.example"}, [(ERROR, "client-type")]),
        ("cline", {"url": "https://x.example"}, [(WARNING, "client-type")]),
        # Zed and LM Studio expand nothing.
        ("zed", {**GOOD, "env": {"A": "${A}"}}, [(WARNING, "client-placeholder")]),
        ("zed", {"source": "custom", **GOOD}, []),
        ("zed", {"settings": {}}, []),
        ("lm-studio", {**GOOD, "env": {"A": "${env:A}"}}, [(WARNING, "client-placeholder")]),
        # Agent Plugins: closed, with a type.
        ("agent-plugins", {"type": "stdio", **GOOD}, []),
        ("agent-plugins", GOOD, [(ERROR, "client-type")]),
        ("agent-plugins", {"type": "http", "url": "https://x.example"}, [(ERROR, "client-type")]),
        ("agent-plugins", {"type": "sse", **GOOD}, [(ERROR, "client-type")]),
        ("agent-plugins", {"type": "stdio", **GOOD, "disabled": True}, [(ERROR, "client-field-rejected")]),
        (
            "agent-plugins",
            {"type": "stdio", "command": "x", "env": {"PLUGIN_ROOT": "x"}},
            [(ERROR, "client-value-invalid")],
        ),
        ("agent-plugins", {"type": "stdio", "command": "x", "env": {"A": "${A}"}}, [(WARNING, "client-placeholder")]),
        # All of them.
        ("generic", "text", [(ERROR, "client-server-invalid")]),
        ("generic", {}, [(ERROR, "client-transport")]),
        ("generic", {"command": "x", "url": "https://x.example"}, [(ERROR, "client-transport")]),
        ("generic", {"command": ""}, [(ERROR, "client-value-invalid")]),
        ("generic", {"url": ""}, [(ERROR, "client-value-invalid")]),
        ("generic", {"command": "x", "args": "y"}, [(ERROR, "client-value-invalid")]),
        ("generic", {"command": "x", "args": ["y", 1]}, [(ERROR, "client-value-invalid")]),
        ("generic", {"command": "x", "env": []}, [(ERROR, "client-value-invalid")]),
        ("generic", {"command": "x", "type": 1}, [(ERROR, "client-type")]),
        ("generic", {"command": "x", "type": []}, [(ERROR, "client-type")]),
    ],
)
def test_one_server(client: str, server: object, found: list[tuple[str, str]]) -> None:
    assert said(findings(client, server)) == found


STDIO = {"type": "stdio", "command": "uvx"}
HTTP = {"type": "streamable-http", "url": "https://x.example/mcp"}


@pytest.mark.parametrize(
    ("bad", "good", "field"),
    [
        ({**STDIO, "command": "uvx x"}, {**STDIO, "command": "./bin/x"}, "command"),
        ({**STDIO, "command": "/usr/bin/x"}, STDIO, "command"),
        ({**STDIO, "command": "./../x"}, {**STDIO, "command": "./a/../x"}, "command"),
        ({**STDIO, "cwd": "/tmp"}, {**STDIO, "cwd": "./work"}, "cwd"),
        ({**STDIO, "cwd": "${PLUGIN_ROOT}/../x"}, {**STDIO, "cwd": "${PLUGIN_ROOT}/x/.."}, "cwd"),
        ({**STDIO, "cwd": None}, {**STDIO, "cwd": "${PLUGIN_DATA}"}, "cwd"),
        ({**STDIO, "headers": {}}, {**STDIO, "args": []}, "headers"),
        ({**HTTP, "env": {}}, {**HTTP, "headers": {}}, "env"),
        ({**HTTP, "url": "/mcp"}, HTTP, "url"),
        ({**HTTP, "url": "https://me@x.example/"}, HTTP, "url"),
        ({**HTTP, "url": "https://x.example/#a"}, HTTP, "url"),
        ({**HTTP, "url": "http://x.example/"}, {**HTTP, "url": "http://[::1]:80/"}, "url"),
        ({**HTTP, "url": "http://localhost.example/"}, {**HTTP, "url": "http://127.0.0.1/"}, "url"),
        ({**HTTP, "headers": {"A b": "1"}}, {**HTTP, "headers": {"A-b": "1"}}, "headers.A b"),
        ({**HTTP, "headers": {"A": "1\n2"}}, {**HTTP, "headers": {"A": "1 2"}}, "headers.A"),
        ({**HTTP, "headers": {"A": "1", "a": "2"}}, {**HTTP, "headers": {"A": "1", "b": "2"}}, "headers.a"),
    ],
)
def test_what_a_plugin_may_not_hold(bad: dict[str, object], good: dict[str, object], field: str) -> None:
    assert findings("agent-plugins", good) == []
    assert [(d.severity, d.path) for d in findings("agent-plugins", bad)] == [(ERROR, f"mcpServers.it.{field}")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('[mcp_servers.it]\ncommand = "x"\nenv_vars = ["A"]\n', []),
        ('[mcp_servers.it]\nurl = "https://x.example"\nheaders = { A = "b" }\n', [(WARNING, "client-field-ignored")]),
        ('[mcp_servers.it]\nurl = "https://x.example"\ntype = "sse"\n', [(WARNING, "client-type")]),
        ('[mcp_servers.it]\nurl = "https://x.example"\nbearer_token = "x"\n', [(ERROR, "client-field-rejected")]),
        ('[mcp_servers.it]\ncommand = "x"\nurl = "y"\n', [(ERROR, "client-transport")]),
        ('[mcp_servers.it]\ncommand = "x"\nenv = { A = 1 }\n', [(ERROR, "client-value-invalid")]),
        ('[mcp_servers.it]\ncommand = "x"\nargs = ["${A}"]\n', [(WARNING, "client-placeholder")]),
        ("[mcp_servers]\nit = 1\n", [(ERROR, "client-server-invalid")]),
        ("mcp_servers = 1\n", [(ERROR, "client-root-invalid")]),
        ('model = "o3"\n', [(INFO, "client-no-servers")]),
        ("a = 1\na = 2\n", [(ERROR, "client-unparsable")]),
        ("\ufeff[mcp_servers]\n", []),
    ],
)
def test_codex(text: str, found: list[tuple[str, str]]) -> None:
    assert toml_findings(text) == found


def test_one_bad_entry_that_takes_all_with_it_is_said() -> None:
    (found,) = check_config(b'[mcp_servers.it]\ncommand = "x"\nurl = "y"\n', CLIENTS["codex"])
    assert "loads no server at all" in found.message
    (found,) = findings("cline", {"type": "http", "url": "https://x.example"})
    assert "loads no server at all" in found.message


@pytest.mark.parametrize(
    ("client", "text", "found"),
    [
        ("vscode", '{"mcpServers": {}}', [(WARNING, "client-root-other"), (INFO, "client-no-servers")]),
        ("cursor", '{"servers": {}}', [(WARNING, "client-root-other"), (INFO, "client-no-servers")]),
        ("cursor", "{}", [(INFO, "client-no-servers")]),
        ("cursor", "", [(INFO, "client-no-servers")]),
        ("cursor", '{"mcpServers": null}', [(ERROR, "client-root-invalid")]),
        ("cursor", "[]", [(ERROR, "client-root-invalid")]),
        ("cursor", "{", [(ERROR, "client-unparsable")]),
        ("cursor", '{"mcpServers": {} /* x */}', [(INFO, "client-comments")]),
        ("cline", '{"mcpServers": {} /* x */}', [(ERROR, "client-comments")]),
        ("claude-code", '{"mcpServers": {},}', [(ERROR, "client-trailing-commas")]),
        ("gemini-cli", '{"mcpServers": {} /* x */}', []),
        ("gemini-cli", '{"mcpServers": {},}', [(ERROR, "client-trailing-commas")]),
        ("gemini-cli", '\ufeff{"mcpServers": {}}', [(ERROR, "client-bom")]),
        ("claude-code", '\ufeff{"mcpServers": {}}', []),
        ("zed", '{"context_servers": {}, /* x */}', []),
        ("agent-plugins", '{"mcpServers": {}}', [(ERROR, "client-schema")]),
        (
            "agent-plugins",
            '{"$schema": "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json", "mcpServers": {}, "x": 1}',
            [(ERROR, "client-field-rejected")],
        ),
        ("gemini-cli", '{"mcpServers": {"a_b": {"command": "x"}}}', [(WARNING, "client-name")]),
    ],
)
def test_the_whole_file(client: str, text: str, found: list[tuple[str, str]]) -> None:
    assert said(check_config(text.encode(), CLIENTS[client])) == found


def test_bytes_that_are_no_text() -> None:
    assert said(check_config(b"\xff\xfe{\0}\0", CLIENTS["cursor"])) == [(ERROR, "client-unparsable")]


def test_a_declared_input_is_found() -> None:
    server = {**GOOD, "env": {"A": "${input:a}"}}
    assert findings("vscode", server, inputs=[{"type": "promptString", "id": "a"}]) == []


def test_where_and_on_which_line() -> None:
    text = b'{\n  "mcpServers": {\n    "it": {\n      "command": "x",\n      "args": ["y", 1]\n    }\n  }\n}\n'
    (found,) = check_config(text, CLIENTS["generic"])
    assert (found.path, found.line) == ("mcpServers.it.args[1]", 3)


@pytest.mark.parametrize("client", CLIENTS)
def test_no_value_is_ever_shown(client: str) -> None:
    """Every field holds a secret or a wrong kind of thing."""
    if CLIENTS[client].syntax is Syntax.TOML:
        keys = ("command", "url", "bearer_token", "headers")
        text = "[mcp_servers.it]\n" + "".join(f'{key} = "{SECRET}"\n' for key in keys)
        text += f'args = ["${{A:-{SECRET}}}"]\n[mcp_servers.other]\nx = "{SECRET}"\n'
        assert SECRET not in repr(check_config(text.encode(), CLIENTS[client]))
        assert SECRET not in repr(check_config(text.encode() + SECRET.encode(), CLIENTS[client]))
        return
    for server in (
        {"command": SECRET, "url": SECRET, "env": {"A": f"${{A:-{SECRET}}}"}, "args": [f"${{{SECRET}", SECRET]},
        {"url": f"https://x.example/?k={SECRET}", "headers": SECRET, "httpUrl": SECRET, "x": SECRET, "type": "http"},
        {"command": f"$A ${{input:a}} {SECRET}", "env": {"A": [SECRET]}, "args": SECRET, "tools": SECRET},
        SECRET,
    ):
        assert SECRET not in repr(findings(client, server, extra=SECRET, inputs=SECRET))


def test_findings_are_capped() -> None:
    servers: dict[str, object] = {f"s{number}": {} for number in range(1000)}
    found = check_config(json.dumps({"mcpServers": servers}).encode(), CLIENTS["generic"])
    assert len(found) == 201
    assert found[-1].code == "diagnostics-capped"


def test_hostile_names_are_escaped() -> None:
    (found,) = check_config(json.dumps({"mcpServers": {"\x1b[2J\u202e": {}}}).encode(), CLIENTS["generic"])
    assert "\x1b" not in found.message + found.path
    assert found.severity is Severity.ERROR


def test_an_export_of_secrets_has_no_findings_where_they_can_be_named() -> None:
    for client in CLIENTS.values():
        assert check_config(render([GITHUB], client).document.encode(), client) == ()
