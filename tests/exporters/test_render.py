"""Exports: a golden file for each client, what each cannot express, and the same bytes everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import Budgets
from importer.diagnostics import Rejected, Severity
from importer.exporters import CLIENTS, How, check_config, render
from importer.exporters.clients import Syntax
from importer.exporters.texts import Server
from importer.formats.connectors.reading import read_connectors
from importer.formats.connectors.template import read_template
from importer.model import ConnectorTemplate
from tests.builders.connectors import ALL, DOCS, FEED, GITHUB, ODD_TEXT, PLAIN, SIGNED_IN
from tests.exporters.reading import toml

GOLDEN = Path(__file__).parent / "golden"


def golden_file(client: str) -> Path:
    return GOLDEN / f"{client}.{'toml' if CLIENTS[client].syntax is Syntax.TOML else 'json'}"


def servers(document: str, client: str) -> dict[str, Server]:
    root = CLIENTS[client].root
    read = toml(document) if CLIENTS[client].syntax is Syntax.TOML else json.loads(document)
    found = read[root]
    assert isinstance(found, dict)
    return found


def at(value: object, *keys: str) -> object:
    for key in keys:
        assert isinstance(value, dict)
        value = value[key]
    return value


def names(server: Server, *keys: str) -> list[str]:
    """The items of a list, or the keys of a table, under the first of `keys` that is there."""
    for key in keys:
        found = server.get(key)
        if isinstance(found, list | dict):
            return [str(item) for item in found]
    return []


def codes(template: ConnectorTemplate, client: str) -> list[str]:
    return [d.code for d in render([template], CLIENTS[client]).limitations]


@pytest.mark.parametrize("client", CLIENTS)
def test_golden(client: str) -> None:
    """`UPDATE_GOLDEN=1` writes the files anew; the difference is then read by a person."""
    document = render(ALL, CLIENTS[client]).document
    if os.environ.get("UPDATE_GOLDEN"):
        golden_file(client).write_bytes(document.encode())
    assert document.encode() == golden_file(client).read_bytes()


@pytest.mark.parametrize("client", CLIENTS)
def test_every_export_passes_the_clients_own_check(client: str) -> None:
    findings = check_config(render(ALL, CLIENTS[client]).document.encode(), CLIENTS[client])
    assert [d.code for d in findings if d.severity is not Severity.INFO] == []


@pytest.mark.parametrize("client", CLIENTS)
def test_args_are_kept_exactly(client: str) -> None:
    for template in (GITHUB, ODD_TEXT):
        assert servers(render([template], CLIENTS[client]).document, client)[template.name]["args"] == list(
            template.args
        )


@pytest.mark.parametrize(
    ("client", "http", "sse"),
    [
        ("claude-code", {"type": "http", "url": DOCS.url}, {"type": "sse", "url": FEED.url}),
        ("cursor", {"url": DOCS.url}, {"url": FEED.url}),
        ("vscode", {"type": "http", "url": DOCS.url}, {"type": "sse", "url": FEED.url}),
        ("windsurf", {"serverUrl": DOCS.url}, {"serverUrl": FEED.url}),
        ("gemini-cli", {"type": "http", "url": DOCS.url}, {"type": "sse", "url": FEED.url}),
        ("cline", {"type": "streamableHttp", "url": DOCS.url}, {"type": "sse", "url": FEED.url}),
        ("agent-plugins", {"type": "streamable-http", "url": DOCS.url}, {"type": "sse", "url": FEED.url}),
        ("generic", {"type": "http", "url": DOCS.url}, {"type": "sse", "url": FEED.url}),
    ],
)
def test_remote_form(client: str, http: Server, sse: Server) -> None:
    bare = replace(DOCS, headers=())
    found = servers(render([bare, FEED], CLIENTS[client]).document, client)
    assert found == {"docs": http, "feed": sse}


@pytest.mark.parametrize("client", ["codex", "zed", "lm-studio"])
def test_sse_is_left_out_and_said(client: str) -> None:
    rendered = render([DOCS, FEED], CLIENTS[client])
    assert rendered.left_out == ("feed",)
    assert "export-transport-unsupported" in [d.code for d in rendered.limitations]
    assert servers(rendered.document, client)["docs"]["url"] == DOCS.url


def test_claude_desktop_has_no_remote_servers() -> None:
    rendered = render([PLAIN, DOCS, FEED], CLIENTS["claude-desktop"])
    assert rendered.left_out == ("docs", "feed")
    assert list(servers(rendered.document, "claude-desktop")) == ["plain"]


def test_nothing_left_is_refused() -> None:
    with pytest.raises(Rejected) as refused:
        render([DOCS, FEED], CLIENTS["claude-desktop"])
    assert [d.code for d in refused.value.diagnostics] == [
        "export-nothing-left",
        "export-transport-unsupported",
        "export-transport-unsupported",
    ]
    with pytest.raises(Rejected):
        render([FEED], CLIENTS["codex"])


@pytest.mark.parametrize(
    ("client", "env", "header"),
    [
        ("claude-code", "${GITHUB_TOKEN}", "${DOCS_AUTHORIZATION}"),
        ("gemini-cli", "${GITHUB_TOKEN}", "${DOCS_AUTHORIZATION}"),
        ("generic", "${GITHUB_TOKEN}", "${DOCS_AUTHORIZATION}"),
        ("cursor", "${env:GITHUB_TOKEN}", "${env:DOCS_AUTHORIZATION}"),
        ("windsurf", "${env:GITHUB_TOKEN}", "${env:DOCS_AUTHORIZATION}"),
        ("cline", "${env:GITHUB_TOKEN}", "${env:DOCS_AUTHORIZATION}"),
        ("vscode", "${input:github-GITHUB_TOKEN}", "${input:docs-Authorization}"),
    ],
)
def test_secret_placeholders(client: str, env: str, header: str) -> None:
    rendered = render([GITHUB, DOCS], CLIENTS[client])
    found = servers(rendered.document, client)
    assert at(found, "github", "env", "GITHUB_TOKEN") == env
    assert at(found, "docs", "headers", "Authorization") == header
    assert rendered.fill_in == ()
    bearer = render([DOCS], CLIENTS[client], bearer=["docs"])
    found = servers(bearer.document, client)
    assert at(found, "docs", "headers", "Authorization") == f"Bearer {header}"
    assert not str(at(found, "docs", "headers", "X-Api-Key")).startswith("Bearer")


def test_vscode_asks_for_each_secret_once() -> None:
    document = json.loads(render([GITHUB], CLIENTS["vscode"]).document)
    assert [(i["type"], i["id"], i["password"]) for i in document["inputs"]] == [
        ("promptString", "github-GITHUB_TOKEN", True),
        ("promptString", "github-GITHUB_HOST", True),
    ]


def test_vscode_can_do_without_asking() -> None:
    document = json.loads(render([GITHUB], CLIENTS["vscode"], prompts=False).document)
    assert list(document) == ["servers"]
    assert document["servers"]["github"]["env"]["GITHUB_TOKEN"] == "${env:GITHUB_TOKEN}"


def test_codex_names_secrets_in_its_own_fields() -> None:
    rendered = render([GITHUB, DOCS], CLIENTS["codex"])
    found = servers(rendered.document, "codex")
    assert found["github"]["env_vars"] == ["GITHUB_TOKEN", "GITHUB_HOST"]
    assert found["docs"]["env_http_headers"] == {"Authorization": "DOCS_AUTHORIZATION", "X-Api-Key": "DOCS_X_API_KEY"}
    assert rendered.variables == ("GITHUB_TOKEN", "GITHUB_HOST", "DOCS_AUTHORIZATION", "DOCS_X_API_KEY")
    token = servers(render([DOCS], CLIENTS["codex"], bearer=["docs"]).document, "codex")["docs"]
    assert token["bearer_token_env_var"] == "DOCS_AUTHORIZATION"
    assert token["env_http_headers"] == {"X-Api-Key": "DOCS_X_API_KEY"}


@pytest.mark.parametrize("client", ["claude-desktop", "zed", "lm-studio"])
def test_secrets_that_cannot_be_named_are_a_fill_in_list(client: str) -> None:
    rendered = render([GITHUB], CLIENTS[client])
    assert rendered.fill_in == ("github: env.GITHUB_TOKEN", "github: env.GITHUB_HOST")
    assert "${" not in rendered.document
    assert "env" not in rendered.servers["github"], "a merge writes nothing that would be sent as it stands"
    assert codes(GITHUB, client) == ["export-secret-by-hand"]


def test_agent_plugins_never_name_secrets() -> None:
    rendered = render([GITHUB, DOCS], CLIENTS["agent-plugins"])
    for server in servers(rendered.document, "agent-plugins").values():
        assert "env" not in server
        assert "headers" not in server
    assert {secret.how for secret in rendered.secrets} == {How.OMITTED}
    assert [d.code for d in rendered.limitations] == ["export-secret-omitted"] * 2
    assert json.loads(rendered.document)["$schema"].endswith("/1.0.0/mcp.schema.json")


@pytest.mark.parametrize(
    ("lie", "code"),
    [
        (replace(PLAIN, command="/usr/bin/tool"), "export-command-unsupported"),
        (replace(PLAIN, command="two words"), "export-command-unsupported"),
        (replace(PLAIN, command="./../tool"), "export-command-unsupported"),
        (replace(FEED, url="http://feed.example/sse"), "export-url-unsupported"),
        (replace(FEED, url="https://feed.example/sse#part"), "export-url-unsupported"),
    ],
)
def test_agent_plugins_leave_out_what_they_cannot_say(lie: ConnectorTemplate, code: str) -> None:
    good = (replace(PLAIN, name="good", command="./bin/tool"), replace(FEED, name="local", url="http://127.0.0.1:80/"))
    rendered = render([*good, lie], CLIENTS["agent-plugins"])
    assert list(servers(rendered.document, "agent-plugins")) == ["good", "local"]
    assert code in [d.code for d in rendered.limitations]
    assert rendered.left_out == (lie.name,)


@pytest.mark.parametrize("client", [c for c in CLIENTS if c != "claude-desktop"])
def test_oauth_is_left_out_and_said(client: str) -> None:
    rendered = render([SIGNED_IN], CLIENTS[client])
    assert [d.code for d in rendered.limitations] == ["export-oauth-omitted"]
    assert "abc" not in rendered.document
    assert "scopes" not in rendered.document


@pytest.mark.parametrize(
    ("client", "text", "found"),
    [
        ("claude-code", "${HOME}/x", ["export-text-expanded"]),
        ("claude-code", "${HOME:-secret}/x", ["export-text-expanded"]),
        ("claude-code", "${env:HOME}/x", ["export-placeholder-literal"]),
        ("claude-code", "$HOME", []),
        ("gemini-cli", "$HOME", ["export-text-expanded"]),
        ("gemini-cli", "${HOME}", ["export-text-expanded"]),
        ("vscode", "${workspaceFolder}/x", ["export-text-expanded"]),
        ("vscode", "${HOME}", ["export-placeholder-literal"]),
        ("cursor", "${env:HOME}", ["export-text-expanded"]),
        ("cursor", "${HOME}", ["export-placeholder-literal"]),
        ("windsurf", "${file:/etc/passwd}", ["export-text-expanded"]),
        ("cline", "${env:HOME}", ["export-text-expanded"]),
        ("codex", "${HOME}", ["export-placeholder-literal"]),
        ("zed", "${HOME}", ["export-placeholder-literal"]),
        ("agent-plugins", "${PLUGIN_ROOT}/x", ["export-text-expanded"]),
        ("agent-plugins", "${HOME}", ["export-placeholder-literal"]),
        ("generic", "100 $ each", []),
    ],
)
def test_placeholders_in_args_are_said(client: str, text: str, found: list[str]) -> None:
    template = replace(PLAIN, args=("tool", text))
    rendered = render([template], CLIENTS[client])
    assert [d.code for d in rendered.limitations] == found
    assert all(d.path == "args[1]" for d in rendered.limitations)
    assert not any("secret" in d.message for d in rendered.limitations), "a default value may be one"
    assert servers(rendered.document, client)["plain"]["args"] == ["tool", text]


def test_a_variable_in_a_url_is_sent_to_its_address() -> None:
    template = replace(FEED, url="https://feed.example/${AWS_SECRET_ACCESS_KEY}")
    (note,) = render([template], CLIENTS["claude-code"]).limitations
    assert note.code == "export-text-expanded"
    assert "AWS_SECRET_ACCESS_KEY" in note.message
    assert "sends it to that address" in note.message


def test_npx_without_y_waits() -> None:
    assert codes(replace(PLAIN, command="npx"), "generic") == ["export-npx-prompts"]
    assert codes(replace(PLAIN, command="npx", args=("-y", "x")), "generic") == []
    assert codes(replace(PLAIN, command="npx", args=("x", "-y")), "generic") == ["export-npx-prompts"]


def test_cmd_on_request() -> None:
    template = replace(PLAIN, command="npx", args=("-y", "x"))
    document = render([template], CLIENTS["claude-code"], windows_cmd=True).document
    server = {"type": "stdio", "command": "cmd", "args": ["/c", "npx", "-y", "x"]}
    assert servers(document, "claude-code")["plain"] == server
    unsafe = render([replace(template, args=("-y", "a&b"))], CLIENTS["claude-code"], windows_cmd=True)
    assert unsafe.servers["plain"] == {"type": "stdio", "command": "npx", "args": ["-y", "a&b"]}
    assert [d.code for d in unsafe.limitations] == ["export-cmd-unsafe"]
    assert render([PLAIN], CLIENTS["claude-code"], windows_cmd=True).servers["plain"]["command"] == "uvx"


def test_two_headers_never_share_a_variable() -> None:
    first = replace(DOCS, name="a-b", headers=("C",))
    second = replace(DOCS, name="a", headers=("B-C", "B_C"))
    rendered = render([first, second], CLIENTS["generic"])
    assert rendered.variables == ("A_B_C", "A_B_C_2", "A_B_C_3")
    assert render([replace(DOCS, name="7z", headers=("K",))], CLIENTS["generic"]).variables == ("MCP_7Z_K",)


def test_hidden_characters_are_escaped_in_the_document() -> None:
    for client in CLIENTS:
        document = render([ODD_TEXT], CLIENTS[client]).document
        assert "\u202e" not in document
        assert "\\u202e" in document.lower()


def test_a_name_given_twice_is_written_once() -> None:
    assert render([PLAIN, PLAIN], CLIENTS["generic"]) == render([PLAIN], CLIENTS["generic"])


def test_the_same_bytes_whatever_the_surroundings(tmp_path: Path) -> None:
    script = (
        "import hashlib;from importer.exporters import CLIENTS, render;from tests.builders.connectors import ALL;"
        "print(hashlib.sha256(''.join(render(ALL,c).document for c in CLIENTS.values()).encode()).hexdigest())"
    )
    seen = set()
    for number, (zone, locale) in enumerate([("UTC", "C"), ("America/New_York", "tr_TR.UTF-8")]):
        home = tmp_path / str(number)
        home.mkdir()
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TZ": zone, "LC_ALL": locale}
        environment |= {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONHASHSEED": str(number)}
        ran = subprocess.run([sys.executable, "-c", script], env=environment, cwd=home, capture_output=True, check=True)
        seen.add(ran.stdout)
    assert len(seen) == 1


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = st.from_regex(r"[a-z0-9][a-z0-9-]{0,12}", fullmatch=True)
ENVIRONMENT = st.lists(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True), max_size=3, unique=True)
HEADERS = st.lists(
    st.from_regex(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,10}", fullmatch=True), max_size=3, unique_by=lambda h: h.lower()
)


@st.composite
def templates(draw: st.DrawFn) -> ConnectorTemplate:
    name = draw(NAMES)
    if draw(st.booleans()):
        return ConnectorTemplate(
            name=name,
            display_name="x",
            transport="stdio",
            command=draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)),
            args=tuple(draw(st.lists(TEXT, max_size=5))),
            environment=tuple(draw(ENVIRONMENT)),
        )
    transport = draw(st.sampled_from(["streamable_http", "sse"]))
    url = "https://x.example/" + draw(st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=8))
    return ConnectorTemplate(name=name, display_name="x", transport=transport, url=url, headers=tuple(draw(HEADERS)))


def back(name: str, server: Server) -> ConnectorTemplate:
    """Read one server as an importer does: names of secrets, never values."""
    if "command" in server:
        transport = "stdio"
    elif server.get("type") == "sse":
        transport = "sse"
    else:
        transport = "streamable_http"
    return ConnectorTemplate(
        name=name,
        display_name="x",
        transport=transport,
        command=str(server.get("command", "")),
        args=tuple(names(server, "args")),
        url=str(server.get("url", server.get("serverUrl", ""))),
        environment=tuple(names(server, "env", "env_vars")),
        headers=tuple(names(server, "headers", "env_http_headers")),
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(templates(), min_size=1, max_size=3, unique_by=lambda t: t.name), st.sampled_from(sorted(CLIENTS)))
def test_an_export_read_again_names_the_same_facts(wanted: list[ConnectorTemplate], client: str) -> None:
    refused: set[str] = set()
    rendered = None
    try:
        rendered = render(wanted, CLIENTS[client])
    except Rejected as fault:
        refused = {d.code for d in fault.diagnostics}
    if rendered is None:
        assert "export-nothing-left" in refused
        return
    found = servers(rendered.document, client)
    for template in wanted:
        if template.name in rendered.left_out:
            assert template.name not in found
            continue
        expected = template
        if client == "agent-plugins":
            expected = replace(template, environment=(), headers=())
        if CLIENTS[client].sse == "" and template.transport == "sse":
            expected = replace(template, transport="streamable_http")
        assert back(template.name, found[template.name]) == expected


@settings(max_examples=100, deadline=None)
@given(templates(), st.sampled_from(["generic", "claude-code", "cursor", "vscode", "windsurf", "gemini-cli", "codex"]))
def test_an_export_that_is_imported_is_the_same_template(template: ConnectorTemplate, client: str) -> None:
    """Through the reader of connectors; a document of a client has no place for the two texts for people."""
    if template.transport == "sse" and CLIENTS[client].sse != "sse":
        template = replace(template, transport="streamable_http")
    plain = replace(template, command="tool", args=tuple(f"arg {number}" for number in range(len(template.args))))
    template = plain if template.transport == "stdio" else template
    document = render([template], CLIENTS[client]).document.encode()
    reading = read_connectors(document, label="export", meter=Budgets.default().meter("connector"))
    assert reading.left_out == ()
    (candidate,) = reading.candidates
    read = read_template(candidate.template)
    assert replace(read, display_name="x") == template
