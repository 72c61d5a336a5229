"""Merges: what is there stays, what is refused stays untouched, and nobody's secrets are shown."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from importer.diagnostics import Rejected, Severity
from importer.exporters import CLIENTS, MergeResult, merge, render
from importer.model import Choice, Choices, ConnectorTemplate
from tests.builders.connectors import DOCS, FEED, GITHUB, PLAIN
from tests.exporters.reading import comments, toml, values

BOM = "\ufeff"
SECRET = "ghp_neighbour0123456789"


def choose(name: str = "", choice: str = "", *, confirm: bool = False) -> Choices:
    return Choices(by_name={name: Choice(choice)} if name else {}, confirm_overwrite=confirm)


def put(
    text: str | bytes | None,
    *wanted: ConnectorTemplate,
    client: str = "generic",
    choices: Choices | None = None,
) -> MergeResult:
    data = text.encode() if isinstance(text, str) else text
    rendered = render(wanted or [PLAIN], CLIENTS[client])
    return merge(data, rendered, CLIENTS[client], choices or Choices(), "mcp.json")


def refused(text: str | bytes, *wanted: ConnectorTemplate, client: str = "generic") -> list[str]:
    with pytest.raises(Rejected) as caught:
        put(text, *wanted, client=client)
    return [d.code for d in caught.value.diagnostics]


def codes(result: MergeResult) -> list[str]:
    return [d.code for d in result.diagnostics]


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
    again = put(result.content, GITHUB, client="vscode")
    assert not again.changed
    assert again.unchanged == ("github",)


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


# --- what is refused, untouched --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "merge-unparsable"),
        ("// only a comment", "merge-unparsable"),
        ('{"mcpServers": {}} x', "merge-unparsable"),
        ('{"a": 1, "a": 2}', "merge-unparsable"),
        ('{"mcpServers": {"x": {}, "x": {}}}', "merge-unparsable"),
        ('{"a": NaN}', "merge-unparsable"),
        ("[" * 100_000, "merge-unparsable"),
        (b'{"a": "\xff"}', "merge-unparsable"),
        ('{"mcpServers": {}}'.encode("utf-16"), "merge-unparsable"),
        ("null", "merge-parent-invalid"),
        ("[]", "merge-parent-invalid"),
        ('{"mcpServers": null}', "merge-parent-invalid"),
        ('{"mcpServers": []}', "merge-parent-invalid"),
        ('{"mcpServers": "x"}', "merge-parent-invalid"),
    ],
)
def test_refused_untouched(text: str | bytes, code: str) -> None:
    assert refused(text) == [code]


@pytest.mark.parametrize("inputs", ["null", "{}", '"x"'])
def test_vscode_inputs_of_another_shape(inputs: str) -> None:
    assert refused(f'{{"servers": {{}}, "inputs": {inputs}}}', client="vscode") == ["merge-parent-invalid"]


def test_a_plugin_of_another_version_is_refused() -> None:
    assert refused('{"$schema": "https://example.org/x", "mcpServers": {}}', client="agent-plugins") == [
        "merge-parent-invalid"
    ]
    assert refused('{"mcpServers": {}}', client="agent-plugins") == ["merge-parent-invalid"]


@pytest.mark.parametrize(
    "text", ["mcp_servers = 1", "[[mcp_servers]]\nx = 1", "a = 1\na = 2", "a = ", "[a\n", "mcp_servers = []"]
)
def test_toml_refused_untouched(text: str) -> None:
    assert refused(text, client="codex")[0] in {"merge-unparsable", "merge-parent-invalid"}


# --- comments, commas and the byte order mark by client --------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "comment", "comma", "bom"),
    [
        ("claude-code", "refused", "refused", "kept"),
        ("gemini-cli", "kept", "refused", "dropped"),
        ("vscode", "kept", "kept", "dropped"),
        ("zed", "kept", "kept", "dropped"),
        ("cline", "refused", "refused", "dropped"),
        ("cursor", "said", "said", "dropped"),
        ("windsurf", "said", "said", "dropped"),
        ("claude-desktop", "said", "said", "dropped"),
        ("lm-studio", "said", "said", "dropped"),
        ("generic", "said", "said", "dropped"),
    ],
)
def test_tolerance(client: str, comment: str, comma: str, bom: str) -> None:
    root = CLIENTS[client].root
    for how, text, code in (
        (comment, f'{{ "{root}": {{}} /* note */ }}', "merge-comments"),
        (comma, f'{{ "{root}": {{}}, }}', "merge-trailing-commas"),
    ):
        if how == "refused":
            assert refused(text, client=client) == [code]
            continue
        result = put(text, client=client)
        assert codes(result) == ([code] if how == "said" else [])
        assert ("/* note */" in result.content.decode()) == ("/* note */" in text)
        assert (", }" in result.content.decode()) == (", }" in text)
    result = put(f'{BOM}{{"{root}": {{}}}}', client=client)
    assert result.content.startswith(BOM.encode()) == (bom == "kept")
    assert codes(result) == ([] if bom == "kept" else ["merge-bom-dropped"])


def test_a_bom_is_never_added_and_no_reason_to_write() -> None:
    assert not put("{}", client="claude-code").content.startswith(BOM.encode())
    same = BOM + put("{}").content.decode()
    result = put(same)
    assert not result.changed
    assert result.content == same.encode()
    assert codes(result) == []


# --- TOML ------------------------------------------------------------------------------------------------------------

CODEX = """# my settings
model = "o3" # the good one

[mcp_servers.a] # first
command = "x"   # spaces
args = [
  "one", # in a list
]

[mcp_servers.a.env]
K = "v"

[tui]
theme = 'dark'
"""


def test_codex_gets_a_table_at_the_end() -> None:
    result = put(CODEX, PLAIN, client="codex")
    assert result.content.decode() == CODEX + '\n[mcp_servers.plain]\ncommand = "uvx"\nargs = ["tool"]\n'


def test_codex_without_a_last_newline_and_with_crlf() -> None:
    before = CODEX.rstrip("\n").replace("\n", "\r\n")
    after = put(before, PLAIN, client="codex").content.decode()
    assert after.startswith(before + "\r\n")
    assert "\n" not in after.replace("\r\n", "")
    assert toml(after)["tui"] == {"theme": "dark"}


def test_codex_replaces_key_by_key() -> None:
    incoming = replace(PLAIN, name="a", command="x", args=("one", "two"))
    choices = choose("a", "incoming", confirm=True)
    result = put(CODEX, incoming, client="codex", choices=choices)
    text = result.content.decode()
    assert toml(text) == {
        "model": "o3",
        "mcp_servers": {"a": {"command": "x", "args": ["one", "two"]}},
        "tui": {"theme": "dark"},
    }
    assert 'command = "x"   # spaces' in text
    assert "[mcp_servers.a] # first" in text
    assert text.startswith('# my settings\nmodel = "o3" # the good one\n')
    assert {"merge-comments-replaced", "merge-keys-dropped"} <= set(codes(result))


@pytest.mark.parametrize(
    "before",
    [
        'mcp_servers = { a = { command = "x" } }\n',
        'mcp_servers.a.command = "x"\n',
        '[mcp_servers]\na.command = "x"\n',
        '[mcp_servers]\na = { command = "x" }\n',
        '["mcp_servers"."a"]\ncommand = "x"\n',
        '[mcp_servers.a]\ncommand = "x"\n[other]\n[mcp_servers.b]\ncommand = "y"\n',
        "# nothing yet",
    ],
)
def test_forms_of_toml(before: str) -> None:
    after = toml(put(before, PLAIN, client="codex").content.decode())
    expected = toml(before)
    servers = expected.setdefault("mcp_servers", {})
    assert isinstance(servers, dict)
    servers["plain"] = {"command": "uvx", "args": ["tool"]}
    assert after == expected


def test_codex_keeps_its_bom() -> None:
    result = put(BOM + CODEX, PLAIN, client="codex")
    assert result.content.startswith((BOM + CODEX).encode())


def test_a_bad_neighbour_is_said_where_it_stops_all() -> None:
    result = put('[mcp_servers.bad]\ncommand = "x"\nurl = "https://x.example"\n', PLAIN, client="codex")
    assert "merge-neighbour-invalid" in codes(result)
    assert codes(put('[mcp_servers.good]\ncommand = "x"\n', PLAIN, client="codex")) == []


def test_only_the_inputs_that_are_used_come_along() -> None:
    before = '{"servers": {"github": {"command": "mine"}}}'
    result = put(before, GITHUB, FEED, client="vscode", choices=choose("github", "installed"))
    assert "inputs" not in values(result.content.decode())
    assert result.added == ("feed",)
