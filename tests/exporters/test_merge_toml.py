"""Merges into Codex's TOML."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.builders.connectors import FEED, GITHUB, PLAIN
from tests.exporters.merging import BOM, choose, codes, put
from tests.exporters.reading import toml, values

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
