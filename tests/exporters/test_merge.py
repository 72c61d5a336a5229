"""Merges: what is there stays, what differs needs a choice, and nobody's secrets are shown."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from importer import jsontext
from importer.diagnostics import Rejected, Severity
from importer.exporters import CLIENTS, render
from importer.exporters.masking import mask_json
from tests.builders.connectors import DOCS, GITHUB, PLAIN
from tests.exporters.merging import SECRET, choose, codes, put
from tests.exporters.reading import comments, values

# --- what is written -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("existing", [None, b"", b" \n\t\r\n"])
def test_no_file_or_an_empty_one(client: str, existing: bytes | None) -> None:
    rendered = render([PLAIN], CLIENTS[client])
    result = put(existing, client=client)
    assert result.changed
    assert result.added == ("plain",)
    assert result.content.decode().lstrip() == rendered.document
    assert result.base == (None if existing is None else hashlib.sha256(existing).hexdigest())


def test_comments_and_trailing_commas_stay_where_they_are() -> None:
    before = """{
  // This is the leave-me server
  "servers": {
    "leave-me": { "command": "x" }, // beside it
    /* the last line */
  },
}
"""
    after = """{
  // This is the leave-me server
  "servers": {
    "leave-me": { "command": "x" }, // beside it
    "plain": {
      "type": "stdio",
      "command": "uvx",
      "args": [
        "tool"
      ]
    },
    /* the last line */
  },
}
"""
    assert put(before, client="vscode").content.decode() == after


def test_tabs_and_windows_line_ends() -> None:
    before = '{\r\n\t"theme": "dark",\r\n\t"mcpServers": {\r\n\t\t"a": {"command": "x"}\r\n\t}\r\n}\r\n'
    after = (
        '{\r\n\t"theme": "dark",\r\n\t"mcpServers": {\r\n\t\t"a": {"command": "x"},\r\n\t\t"plain": {\r\n'
        '\t\t\t"command": "uvx",\r\n\t\t\t"args": [\r\n\t\t\t\t"tool"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}\r\n'
    )
    assert put(before).content.decode() == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '{"mcpServers":{"a":{"command":"x"}},"z":1}',
            '{"mcpServers":{"a":{"command":"x"},"plain":{"command":"uvx","args":["tool"]}},"z":1}',
        ),
        ('{"z":1}', '{"z":1,"mcpServers":{"plain":{"command":"uvx","args":["tool"]}}}'),
        ('{"z":1,}', '{"z":1,"mcpServers":{"plain":{"command":"uvx","args":["tool"]}},}'),
        (
            '{"z": 1, "mcpServers": {}}',
            '{"z": 1, "mcpServers": {"plain": {"command": "uvx", "args": ["tool"]}}}',
        ),
        (
            '{"mcpServers": {"a": {} /* tail */}}',
            '{"mcpServers": {"a": {}, /* tail */ "plain": {"command": "uvx", "args": ["tool"]}}}',
        ),
        (
            '{"mcpServers": {"a": {} // tail\n}}',
            '{"mcpServers": {"a": {}, // tail\n  "plain": {"command": "uvx", "args": ["tool"]}\n}}',
        ),
    ],
)
def test_one_line_stays_one_line(before: str, after: str) -> None:
    assert put(before).content.decode() == after


def test_comments_in_an_empty_object() -> None:
    for before in (
        '{\n    "mcpServers": { // none yet\n    }\n}',
        '{\n    "mcpServers": {\n        // none yet\n    }\n}',
        '{\n    "mcpServers": { /* none yet */ }\n}',
    ):
        after = put(before).content.decode()
        assert list(values(after)["mcpServers"]) == ["plain"]  # type: ignore[call-overload]
        assert comments(after) == comments(before)


def test_a_missing_root_key_is_added() -> None:
    result = put('{\n    "theme": "dark" // mine\n}\n')
    assert result.content.decode().startswith(
        '{\n    "theme": "dark", // mine\n    "mcpServers": {\n        "plain": {\n'
    )


def test_vscode_inputs_are_merged_by_id() -> None:
    before = """{
  "servers": {},
  "inputs": [
    { "type": "promptString", "id": "github-GITHUB_TOKEN", "description": "mine", "password": true }
  ]
}
"""
    result = put(before, GITHUB, client="vscode")
    inputs = values(result.content.decode())["inputs"]
    assert isinstance(inputs, list)
    assert [(i["id"], i["description"]) for i in inputs] == [
        ("github-GITHUB_TOKEN", "mine"),
        ("github-GITHUB_HOST", "GitHub: environment variable GITHUB_HOST"),
    ]
    assert codes(result) == []
    again = put(result.content, GITHUB, client="vscode")
    assert not again.changed
    assert again.unchanged == ("github",)


@pytest.mark.parametrize(
    "open_as", ['"type": "promptString"', '"type": "pickString", "password": true', '"password": 1']
)
def test_an_input_that_shows_what_is_typed_is_used_and_said(open_as: str) -> None:
    before = f'{{"servers": {{}}, "inputs": [{{"id": "github-GITHUB_TOKEN", {open_as}}}]}}'
    result = put(before, GITHUB, client="vscode")
    assert codes(result) == ["merge-input-open"]
    assert result.diagnostics[0].path == "inputs"
    inputs = values(result.content.decode())["inputs"]
    assert isinstance(inputs, list)
    assert [item["id"] for item in inputs] == ["github-GITHUB_TOKEN", "github-GITHUB_HOST"]


def test_a_file_of_very_many_values_is_merged_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsontext, "MAX_VALUES", 40)
    pad = "[" + "1,/* mine */" * 60 + '"private"]'
    before = f'{{\n  "history": {pad},\n  "mcpServers": {{}}\n}}\n'
    result = put(before)
    assert result.added == ("plain",)
    assert result.content.decode().startswith(f'{{\n  "history": {pad},\n')
    assert "private" not in result.diff
    assert "mine" not in result.diff
    assert mask_json(before, (), ["mcpServers"]) == '{\n  "history": "…",\n  "mcpServers": {}\n}\n'


@pytest.mark.parametrize("client", CLIENTS)
def test_merging_twice_changes_nothing(client: str) -> None:
    wanted = [PLAIN, GITHUB] if client == "claude-desktop" else [PLAIN, GITHUB, DOCS, replace(DOCS, name="other")]
    first = put(None, *wanted, client=client)
    second = put(first.content, *wanted, client=client)
    assert second.content == first.content
    assert not second.changed
    assert second.unchanged == tuple(t.name for t in wanted)
    assert second.diff == ""


# --- what differs ----------------------------------------------------------------------------------------------------

DIFFERS = """{
  "mcpServers": {
    "plain": { "command": "old", "args": ["tool", "--key", "ghp_neighbour0123456789"], "timeout": 5 },
    "other": { "command": "keep", "env": { "K": "ghp_neighbour0123456789" } } // ghp_neighbour0123456789
  }
}
"""


def test_a_server_that_differs_needs_a_choice() -> None:
    result = put(DIFFERS)
    assert not result.changed
    assert not result.ready
    assert result.content == DIFFERS.encode()
    assert [(c.name, c.fields) for c in result.conflicts] == [
        ("plain", ("command", "args[1]", "args[2]", "timeout")),
    ]
    assert [(d.severity, d.code) for d in result.diagnostics if d.severity is Severity.ERROR] == [
        (Severity.ERROR, "merge-conflict")
    ]
    assert '+    "plain": {' in result.diff


def test_installed_changes_nothing_and_is_ready() -> None:
    result = put(DIFFERS, choices=choose("plain", "installed"))
    assert (result.ready, result.changed, result.kept) == (True, False, ("plain",))
    assert result.content == DIFFERS.encode()


def test_incoming_needs_a_confirmation_too() -> None:
    result = put(DIFFERS, choices=choose("plain", "incoming"))
    assert (result.ready, result.changed, result.confirm_needed) == (False, False, ("plain",))
    assert result.content == DIFFERS.encode()


@pytest.mark.parametrize("name", ["plain", "connector:plain"])
def test_incoming_and_confirmed_replaces(name: str) -> None:
    result = put(DIFFERS, choices=choose(name, "incoming", confirm=True))
    assert (result.ready, result.changed, result.replaced) == (True, True, ("plain",))
    read = values(result.content.decode())
    assert read["mcpServers"] == {
        "plain": {"command": "uvx", "args": ["tool"]},
        "other": {"command": "keep", "env": {"K": SECRET}},
    }
    assert "merge-keys-dropped" in codes(result)
    assert comments(result.content.decode()) == comments(DIFFERS)


def test_one_conflict_holds_back_everything() -> None:
    result = put(DIFFERS, PLAIN, GITHUB)
    assert result.content == DIFFERS.encode()
    assert result.added == ("github",)
    assert not result.ready


def test_comments_inside_a_replaced_server_are_said() -> None:
    before = '{"mcpServers": {"plain": {"command": "x" /* why */}}}'
    result = put(before, choices=choose("plain", "incoming", confirm=True))
    assert "merge-comments-replaced" in codes(result)


def test_a_choice_for_another_name_is_harmless() -> None:
    assert put("{}", choices=choose("nobody", "incoming")).changed


@pytest.mark.parametrize(
    ("client", "there"),
    [
        ("claude-code", '{"type": "stdio", "command": "uvx", "args": ["tool"], "env": {}}'),
        ("cursor", '{"command": "uvx", "args": ["tool"]}'),
        ("cline", '{"type": "stdio", "args": ["tool"], "command": "uvx"}'),
    ],
)
def test_what_means_the_same_is_equal(client: str, there: str) -> None:
    before = f'{{"mcpServers": {{"plain": {there}}}}}'
    assert put(before, client=client).unchanged == ("plain",)


def test_aliases_of_a_type_are_equal() -> None:
    bare = replace(DOCS, headers=())
    before = '{"mcpServers": {"docs": {"type": "streamable-http", "url": "https://docs.example/mcp"}}}'
    assert put(before, bare, client="claude-code").unchanged == ("docs",)
    windsurf = '{"mcpServers": {"docs": {"url": "https://docs.example/mcp"}}}'
    assert put(windsurf, bare, client="windsurf").unchanged == ("docs",)


@pytest.mark.parametrize("there", ['{"command": "uvx", "args": ["other"]}', '"text"', "null", "[]"])
def test_what_is_not_equal_is_a_conflict(there: str) -> None:
    assert [c.name for c in put(f'{{"mcpServers": {{"plain": {there}}}}}').conflicts] == ["plain"]


def test_secrets_written_in_by_hand_stay() -> None:
    """Claude Desktop has no placeholders: what a person wrote is not a difference, and survives a replacement."""
    filled = put(None, GITHUB, client="claude-desktop").content.decode()
    filled = filled.replace('"args"', f'"env": {{"GITHUB_TOKEN": "{SECRET}", "OTHER": "x"}}, "args"')
    filled = filled.replace(', "OTHER": "x"', "")
    assert put(filled, GITHUB, client="claude-desktop").unchanged == ("github",)
    changed = replace(GITHUB, args=("-y", "another"))
    result = put(filled, changed, client="claude-desktop", choices=choose("github", "incoming", confirm=True))
    assert values(result.content.decode())["mcpServers"] == {
        "github": {"command": "npx", "args": ["-y", "another"], "env": {"GITHUB_TOKEN": SECRET}}
    }
    assert SECRET not in result.diff


# --- nobody's secrets ------------------------------------------------------------------------------------------------


def test_a_neighbours_secrets_are_never_shown() -> None:
    before = f"""{{
  // {SECRET}
  "apiKey": "{SECRET}", "pin": 987654321,
  "mcpServers": {{
    "plain": {{ "command": "sh -c {SECRET}", "args": ["{SECRET}"], "env": {{ "T": "{SECRET}" }}, "url": "{SECRET}" }},
    "other": {{ "command": "keep", "url": "https://x.example/{SECRET}", "headers": {{ "A": "Bearer {SECRET}" }} }}
  }}
}}
"""
    for choices in (None, choose("plain", "incoming"), choose("plain", "incoming", confirm=True)):
        result = put(before, PLAIN, GITHUB, choices=choices)
        said = result.diff + repr(result.diagnostics) + repr(result.conflicts)
        assert SECRET not in said
        assert "987654321" not in said
        assert "--- mcp.json" in result.diff
        assert "+" in result.diff


def test_a_neighbours_secrets_are_never_shown_in_toml() -> None:
    before = f"""# {SECRET}
model = "o3"
key = '{SECRET}'
long = \"\"\"
{SECRET}
\"\"\"
pin = 987654321
[mcp_servers.plain]
command = "{SECRET}"
args = ["{SECRET}", '{SECRET}'] # {SECRET}
env = {{ TOKEN = "{SECRET}", "A B" = '{SECRET}' }}
[mcp_servers.other.env]
TOKEN = "{SECRET}"
[[list]]
x = {{ y = [ {{ z = "{SECRET}" }} ] }}
"""
    for choices in (None, choose("plain", "incoming", confirm=True)):
        result = put(before, PLAIN, GITHUB, client="codex", choices=choices)
        said = result.diff + repr(result.diagnostics) + repr(result.conflicts)
        assert SECRET not in said
        assert "987654321" not in said
        assert '+command = "uvx"' in result.diff
        assert "TOKEN" in result.diff


def test_faults_of_a_file_show_no_value() -> None:
    for broken in (f'{{"mcpServers": {{"a": "{SECRET}"', f'{{"a": {SECRET}}}', f'{{"a": "{SECRET}\n"}}'):
        with pytest.raises(Rejected) as caught:
            put(broken)
        assert SECRET not in str(caught.value)
    with pytest.raises(Rejected) as caught:
        put(f'a = "{SECRET}\nb = {SECRET}', client="codex")
    assert SECRET not in str(caught.value)
