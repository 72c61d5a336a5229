"""The table of clients: default places on each system, and the rows of the documentation."""

from __future__ import annotations

import pytest

from importer.exporters import CLIENTS, Surroundings
from importer.exporters.clients import table

MAC = Surroundings(system="darwin", home="/Users/me", environment={})
LINUX = Surroundings(system="linux", home="/home/me", environment={})
WINDOWS = Surroundings(system="windows", home=r"C:\Users\me", environment={"APPDATA": r"C:\Users\me\AppData\Roaming"})


@pytest.mark.parametrize(
    ("client", "mac", "linux", "windows"),
    [
        (
            "claude-desktop",
            "/Users/me/Library/Application Support/Claude/claude_desktop_config.json",
            "/home/me/.config/Claude/claude_desktop_config.json",
            r"C:\Users\me\AppData\Roaming\Claude\claude_desktop_config.json",
        ),
        ("claude-code", "/Users/me/.claude.json", "/home/me/.claude.json", r"C:\Users\me\.claude.json"),
        ("cursor", "/Users/me/.cursor/mcp.json", "/home/me/.cursor/mcp.json", r"C:\Users\me\.cursor\mcp.json"),
        (
            "vscode",
            "/Users/me/Library/Application Support/Code/User/mcp.json",
            "/home/me/.config/Code/User/mcp.json",
            r"C:\Users\me\AppData\Roaming\Code\User\mcp.json",
        ),
        (
            "windsurf",
            "/Users/me/.codeium/windsurf/mcp_config.json",
            "/home/me/.codeium/windsurf/mcp_config.json",
            r"C:\Users\me\.codeium\windsurf\mcp_config.json",
        ),
        (
            "gemini-cli",
            "/Users/me/.gemini/settings.json",
            "/home/me/.gemini/settings.json",
            r"C:\Users\me\.gemini\settings.json",
        ),
        ("codex", "/Users/me/.codex/config.toml", "/home/me/.codex/config.toml", r"C:\Users\me\.codex\config.toml"),
        (
            "cline",
            "/Users/me/.cline/data/settings/cline_mcp_settings.json",
            "/home/me/.cline/data/settings/cline_mcp_settings.json",
            r"C:\Users\me\.cline\data\settings\cline_mcp_settings.json",
        ),
        (
            "zed",
            "/Users/me/.config/zed/settings.json",
            "/home/me/.config/zed/settings.json",
            r"C:\Users\me\AppData\Roaming\Zed\settings.json",
        ),
        (
            "lm-studio",
            "/Users/me/.lmstudio/mcp.json",
            "/home/me/.lmstudio/mcp.json",
            r"C:\Users\me\.lmstudio\mcp.json",
        ),
    ],
)
def test_default_places(client: str, mac: str, linux: str, windows: str) -> None:
    for surroundings, expected in ((MAC, mac), (LINUX, linux), (WINDOWS, windows)):
        place = CLIENTS[client].place(surroundings)
        assert place is not None
        assert place.path == expected


@pytest.mark.parametrize(
    ("client", "variable", "value", "expected"),
    [
        ("codex", "CODEX_HOME", "/srv/codex", "/srv/codex/config.toml"),
        ("codex", "CODEX_HOME", "", "/home/me/.codex/config.toml"),
        ("cline", "CLINE_MCP_SETTINGS_PATH", "/srv/cline.json", "/srv/cline.json"),
        ("zed", "XDG_CONFIG_HOME", "/srv/config", "/srv/config/zed/settings.json"),
    ],
)
def test_places_from_the_environment(client: str, variable: str, value: str, expected: str) -> None:
    place = CLIENTS[client].place(Surroundings(system="linux", home="/home/me", environment={variable: value}))
    assert place is not None
    assert place.path == expected


def test_no_place_of_their_own() -> None:
    assert [c.id for c in CLIENTS.values() if c.place(LINUX) is None] == ["agent-plugins", "generic"]


def test_the_table_has_a_row_for_each() -> None:
    rows = table().splitlines()
    assert len(rows) == 2 + len(CLIENTS)
    assert len({row.count(" | ") for row in (rows[0], *rows[2:])}) == 1
    for client in CLIENTS.values():
        assert client.dated
        assert client.basis
        assert any(f"`{client.id}`" in row for row in rows)
