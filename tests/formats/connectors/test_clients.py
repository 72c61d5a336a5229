"""Configurations of clients: the shapes that people publish, and what happens to each part of them."""

from __future__ import annotations

import json

import pytest

from importer.diagnostics import Severity
from importer.formats.connectors import Kind, looks_like_connectors, read_template
from tests.formats.connectors.build import codes, errors, read, servers

INVALID = "connector-invalid"
SECRET = "connector-secret-embedded"
NPX = {"command": "npx", "args": ["-y", "x"]}


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"]}, "b": {"url": "https://h.example/mcp"}}}',
        '\ufeff{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"]}, "b": {"url": "https://h.example/mcp"}}}',
        '{"servers": {"a": {"type": "stdio", "command": "npx", "args": ["-y", "x"]}, '
        '"b": {"type": "http", "url": "https://h.example/mcp"}}, "inputs": []}',
        '{"mcp": {"servers": {"a": {"command": "npx", "args": ["-y", "x"]}, "b": {"url": "https://h.example/mcp"}}}}',
        '{"theme": "dark", "context_servers": {"a": {"command": "npx", "args": ["-y", "x"]}, '
        '"b": {"url": "https://h.example/mcp"}}}',
        '{"a": {"command": "npx", "args": ["-y", "x"]}, "b": {"serverUrl": "https://h.example/mcp"}}',
        '// mine\n{"mcpServers": {/* one */ "a": {"command": "npx", "args": ["-y", "x",],}, // two\n'
        '"b": {"url": "https://h.example/mcp",},},}',
        '[mcp_servers.a]\ncommand = "npx"\nargs = ["-y", "x"]\n[mcp_servers.b]\nurl = "https://h.example/mcp"\n',
    ],
    ids=["mcpServers", "bom", "servers", "settings", "context_servers", "bare-map", "comments", "toml"],
)
def test_shapes(text: str) -> None:
    assert looks_like_connectors(text.encode("utf-8"))
    reading = read(text)
    assert reading.kind is Kind.CLIENT_CONFIG
    assert errors(reading) == []
    assert [(c.name, c.transport) for c in reading.candidates] == [("a", "stdio"), ("b", "streamable_http")]
    assert read_template(reading.candidates[0].template).args == ("-y", "x")


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"command": "npx", "args": ["-y", "x"]}, "github"),
        ({"name": "mine", "command": "npx", "args": ["-y", "x"]}, "mine"),
        ({"type": "http", "url": "https://h.example/mcp"}, "github"),
    ],
)
def test_one_server_without_a_map_is_called_by_its_file(document: object, name: str) -> None:
    reading = read(document, label="some/github.mcp.json")
    assert [c.name for c in reading.candidates] == [name]
    assert errors(reading) == []


@pytest.mark.parametrize(
    ("spelling", "transport"),
    [
        ("http", "streamable_http"), ("streamable-http", "streamable_http"), ("streamable_http", "streamable_http"),
        ("streamableHttp", "streamable_http"), ("StreamableHTTP", "streamable_http"), ("sse", "sse"), ("SSE", "sse"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("key", ["type", "transport", "transportType"])
def test_spellings_of_the_transport(spelling: str, transport: str, key: str) -> None:
    reading = read(servers(a={key: spelling, "url": "https://h.example/x"}))
    assert [c.transport for c in reading.candidates] == [transport]
    assert reading.diagnostics == ()


@pytest.mark.parametrize(
    ("server", "transport"),
    [
        ({"command": "x"}, "stdio"),
        ({"type": "local", "command": "x"}, "stdio"),
        ({"type": "stdio", "command": "x", "url": ""}, "stdio"),
        ({"url": "https://h.example/mcp"}, "streamable_http"),
        ({"url": "https://h.example/sse"}, "sse"),
        ({"httpUrl": "https://h.example/mcp"}, "streamable_http"),
        ({"serverUrl": "https://h.example/mcp"}, "streamable_http"),
        ({"type": "http", "url": "https://h.example/sse"}, "streamable_http"),
        ({"type": "http", "url": "https://h.example/", "command": ""}, "streamable_http"),
        ({"url": "https://h.example/", "serverUrl": "https://h.example/"}, "streamable_http"),
    ],
)
def test_inferred_transport(server: object, transport: str) -> None:
    reading = read(servers(a=server))
    assert errors(reading) == []
    assert [c.transport for c in reading.candidates] == [transport]


@pytest.mark.parametrize(
    ("server", "path"),
    [
        ({}, ""),
        ({"args": ["x"]}, ""),
        ({"command": "x", "url": "https://h.example/"}, ""),
        ({"type": "ws", "url": "https://h.example/"}, "type"),
        ({"type": 3, "url": "https://h.example/"}, "type"),
        ({"url": ""}, "url"),
        ({"type": "http", "url": ""}, "url"),
        ({"url": None}, "url"),
        ({"serverUrl": 3}, "serverUrl"),
        ({"serverUrl": "h.example"}, "serverUrl"),
        ({"url": "https://h.example/", "serverUrl": "https://other.example/"}, "serverUrl"),
        ({"url": "${MY_URL}"}, "url"),
        ({"type": "http", "command": "x"}, "url"),
        ({"type": "stdio", "url": "https://h.example/"}, "command"),
        ({"command": ["npx", "-y"]}, "command"),
        ({"command": ""}, "command"),
        ({"command": "x", "args": "-y"}, "args"),
        ({"command": "x", "args": [["y"]]}, "args[0]"),
        ({"command": "x", "args": [None]}, "args[0]"),
        ({"command": "x", "args": ["a"] * 129}, "args"),
        ({"command": "x", "env": ["A=b"]}, "env"),
        ({"command": "x", "env": {"A B": ""}}, "env.A B"),
        ({"command": "x", "env": {"": "b"}}, "env."),
        ({"command": "x", "env": {f"N{n}": "" for n in range(65)}}, "required_secrets.environment"),
        ({"url": "https://h.example/", "headers": {"X Y": ""}}, "headers.X Y"),
        ({"url": "https://h.example/", "headers": {"X": "", "x": ""}}, "headers.x"),
        (None, ""),
        ("npx", ""),
        ([], ""),
    ],
)
def test_a_faulty_server_is_left_out_and_the_others_stay(server: object, path: str) -> None:
    reading = read(servers(bad=server, good=NPX))
    assert (INVALID, path) in errors(reading)
    assert {code for code, _ in errors(reading)} == {INVALID}
    assert {d.facts["connector"] for d in reading.diagnostics if d.severity is Severity.ERROR} == {"bad"}
    assert [c.name for c in reading.candidates] == ["good"]
    assert [(left.name, left.codes) for left in reading.left_out] == [("bad", (INVALID,))]


@pytest.mark.parametrize(
    "document",
    ['{"mcpServers": null}', '{"mcpServers": []}', '{"mcpServers": "./.mcp.json"}', '{"mcpServers": 3}'],
)
def test_what_is_no_map_of_servers_is_refused(document: str) -> None:
    assert looks_like_connectors(document.encode())
    reading = read(document)
    assert errors(reading) == [(INVALID, "mcpServers")]
    assert reading.candidates == ()


def test_no_server_is_refused() -> None:
    assert [code for code, _ in errors(read('{"mcpServers": {}}'))] == ["connector-none"]


def test_values_are_dropped_and_said_by_name() -> None:
    reading = read(
        servers(
            a={
                "command": "x",
                "env": {"API_KEY": "topsecretvalue", "LOG_LEVEL": "ERROR", "N": 1, "B": True, "Z": None},
            },
            b={"url": "https://h.example/", "headers": {"Authorization": "Bearer topsecretvalue", "X-Team": "blue"}},
        )
    )
    a, b = reading.candidates
    assert a.secrets == ("API_KEY", "LOG_LEVEL", "N", "B", "Z")
    assert b.secrets == ("Authorization", "X-Team")
    dropped = [d for d in reading.diagnostics if d.code == "connector-values-dropped"]
    assert [d.facts["names"] for d in dropped] == [list(a.secrets), list(b.secrets)]
    assert all(name in dropped[0].message for name in a.secrets)
    assert [d.facts["plain"] for d in dropped] == [["LOG_LEVEL", "N", "B", "Z"], ["X-Team"]]
    assert "entered again" in dropped[0].message
    assert "topsecretvalue" not in repr(reading)
    assert "ERROR" not in dropped[0].message
    assert all(b"topsecret" not in c.template and b"ERROR" not in c.template for c in reading.candidates)


def test_environment_of_a_remote_server_and_headers_of_a_process_are_said() -> None:
    reading = read(
        servers(
            a={"url": "https://h.example/", "type": "http", "env": {"API_KEY": "topsecretvalue"}},
            b={"command": "x", "headers": {"Authorization": "topsecretvalue"}},
        )
    )
    assert [d.facts["names"] for d in reading.diagnostics] == [["API_KEY"], ["Authorization"]]
    assert codes(reading) == ["connector-values-dropped"] * 2
    assert [c.secrets for c in reading.candidates] == [(), ()]


def test_a_value_in_the_place_of_a_name_is_not_repeated() -> None:
    reading = read(servers(a={"command": "x", "env": {"API_KEY=topsecretvalue": ""}}))
    assert errors(reading) == [(INVALID, "env.API_KEY")]
    assert "topsecretvalue" not in repr(reading)


def test_keys_without_a_place_are_said() -> None:
    keys = {"cwd": "/x", "disabled": True, "timeout": 60, "autoApprove": ["a"], "envFile": ".env"}
    reading = read(servers(a={**NPX, **keys}))
    assert [(d.code, d.path) for d in reading.diagnostics] == [("connector-key-ignored", key) for key in keys]
    assert len(reading.candidates) == 1


def test_very_many_unknown_keys_are_counted() -> None:
    reading = read(servers(a={**NPX, **{f"k{n}": n for n in range(500)}}))
    assert len(reading.diagnostics) == 21
    assert reading.diagnostics[-1].facts["count"] == 480


def test_other_settings_of_the_document_are_said_once() -> None:
    reading = read({**servers(a=NPX), "theme": "dark", "apiKey": "topsecretvalue", "$schema": "x"})
    assert [(d.code, d.facts["keys"]) for d in reading.diagnostics] == [("connector-key-ignored", ["theme", "apiKey"])]
    assert "topsecretvalue" not in repr(reading)


def test_codex_names_its_secrets() -> None:
    text = (
        '[mcp_servers.a]\ncommand = "x"\nenv_vars = ["API_KEY"]\nstartup_timeout_sec = 20\n'
        '[mcp_servers.b]\nurl = "https://h.example/"\nbearer_token_env_var = "TOKEN"\n'
        '[mcp_servers.b.http_headers]\nX-Team = "blue"\n[mcp_servers.b.env_http_headers]\nX-Key = "KEY"\n'
    )
    reading = read(text)
    assert [c.secrets for c in reading.candidates] == [("API_KEY",), ("X-Team", "X-Key", "Authorization")]
    assert [d.path for d in reading.diagnostics if d.code == "connector-key-ignored"] == ["startup_timeout_sec"]


@pytest.mark.parametrize("text", ["[mcp_servers.a]\ncommand =", "[mcp_servers.a]\n" + "a." * 300 + "b=1"])
def test_broken_toml(text: str) -> None:
    assert [code for code, _ in errors(read(text))] == ["connector-unreadable"]


def test_deep_toml_ends_in_a_message() -> None:
    deep = "[mcp_servers.a]\ncommand='x'\nargs=" + "[" * 5000 + "]" * 5000
    assert errors(read(deep)) != []


def test_names_become_slugs() -> None:
    reading = read(servers(**{"GitHub (Örg)": NPX, "数据": NPX, "a_b": NPX, "x" * 200: NPX, "fine-1": NPX}))
    names = [c.name for c in reading.candidates]
    assert names[0] == "github-org"
    assert names[1].startswith("server-")
    assert names[2:] == ["a-b", "x" * 64, "fine-1"]
    assert [c.display_name for c in reading.candidates][:3] == ["GitHub (Örg)", "数据", "a_b"]
    assert codes(reading) == ["connector-name-changed"] * 4
    assert [d.facts["name"] for d in reading.diagnostics] == names[:4]


def test_two_names_that_meet_are_an_error_naming_both() -> None:
    document = servers(**{"My Server": NPX, "my-server": NPX, "other": NPX})
    reading = read(document)
    assert [code for code, _ in errors(reading)] == ["connector-name-collision"] * 2
    assert "My Server" in reading.diagnostics[-1].message or "My Server" in reading.diagnostics[1].message
    assert [c.name for c in reading.candidates] == ["other"]
    assert {left.name for left in reading.left_out} == {"my-server"}
    chosen = read(document, wanted=["My Server"])
    assert [c.stated_name for c in chosen.candidates] == ["My Server"]
    assert errors(chosen) == []


def test_arguments_that_are_no_text_are_converted_and_said() -> None:
    reading = read(servers(a={"command": "x", "args": ["--port", 8080, True, 1.5]}))
    assert json.loads(reading.candidates[0].template)["args"] == ["--port", "8080", "true", "1.5"]
    assert codes(reading) == ["connector-arg-converted"] * 3


def test_a_registry_entry_is_refused_with_its_reason() -> None:
    for document in (
        {"$schema": "https://static.modelcontextprotocol.io/schemas/2025-09-29/server.schema.json", "name": "a/b"},
        {"name": "io.github.a/b", "description": "x", "version": "1", "packages": [{"identifier": "x"}]},
        {"name": "io.github.a/b", "remotes": [{"type": "sse", "url": "https://h.example"}]},
        {"servers": [{"server": {"name": "a/b"}}], "metadata": {"count": 1}},
    ):
        assert looks_like_connectors(json.dumps(document).encode())
        reading = read(document)
        assert reading.kind is Kind.SERVER_JSON
        assert [code for code, _ in errors(reading)] == ["connector-registry-document"]
        assert reading.candidates == ()


@pytest.mark.parametrize(
    "document",
    [
        {"name": "pkg", "version": "1.0.0", "scripts": {"build": "x"}, "url": "https://h.example"},
        {"schema_version": 1, "id": "a", "version": "1.0.0", "exported_with_app_version": "1.0.0"},
        {"name": "A", "display_name": "B", "system_prompt": "x", "skill_ids": [], "connector_ids": []},
        {"openapi": "3.1.0", "servers": [{"url": "https://h.example"}]},
        {"asyncapi": "2.0.0", "servers": {"a": {"url": "https://h.example"}}},
        {"a": {"b": 1}},
        {},
        [],
        "text",
        3,
    ],
)
def test_other_documents_are_no_connectors(document: object) -> None:
    assert not looks_like_connectors(json.dumps(document).encode())
    reading = read(document)
    assert reading.kind is Kind.NOT_CONNECTORS
    assert reading.candidates == ()


@pytest.mark.parametrize(
    ("server", "path", "severity"),
    [
        ({"command": "x", "args": ["--jira-token=SECRET"]}, "args[0]", Severity.ERROR),
        ({"command": "x", "args": ["--api-key", "omk_x"]}, "args[1]", Severity.ERROR),
        ({"command": "docker", "args": ["run", "-e", "API_TOKEN=abc"]}, "args[2]", Severity.ERROR),
        ({"url": "https://h.example/?api_key=kuU7xyz"}, "url", Severity.ERROR),
        ({"url": "https://h.example/?api_key=${KEY}"}, "url", Severity.ERROR),
        ({"serverUrl": "https://h.example/?api_key=x"}, "serverUrl", Severity.ERROR),
        ({"command": "x", "args": ["Zx8Kq2Lm9Np4Rt7Vw1Yb3Cd6Fg5Hj0"]}, "args[0]", Severity.WARNING),
    ],
)
def test_credentials_in_a_configuration(server: object, path: str, severity: Severity) -> None:
    reading = read(servers(bad=server, good=NPX))
    found = [d for d in reading.diagnostics if d.code == SECRET]
    assert [(d.path, d.severity, d.facts["connector"]) for d in found] == [(path, severity, "bad")]


def test_placeholders_in_a_configuration_are_warnings() -> None:
    reading = read(servers(a={"command": "x", "args": ["--api-key", "<YOUR_KEY>", "${workspaceFolder}"]}))
    assert [(d.severity, d.code, d.path) for d in reading.diagnostics] == [
        (Severity.WARNING, "connector-placeholder", "args[1]"),
        (Severity.WARNING, "connector-placeholder", "args[2]"),
    ]
    assert len(reading.candidates) == 1


def test_the_fact_and_the_name_of_what_is_left_out_agree() -> None:
    reading = read(servers(**{"My Server": {"url": ""}, "good": NPX}))
    (left,) = reading.left_out
    assert left.name == "my-server"
    assert {d.facts["connector"] for d in reading.diagnostics if d.severity is Severity.ERROR} == {"my-server"}
    assert left.reason == "faulty"
    assert "My Server" in next(d.message for d in reading.diagnostics if d.code in left.codes)
