"""Claude Desktop and Claude Code."""

from __future__ import annotations

from importer.exporters.clients.description import Client, Place, Reach, Reads, Secrets, Surroundings, Unknown


def _desktop(at: Surroundings) -> Place:
    name = "claude_desktop_config.json"
    if at.system == "darwin":
        return Place(path=at.join(at.home, "Library", "Application Support", "Claude", name))
    if at.system == "windows":
        roaming = at.variable("APPDATA", at.join(at.home, "AppData", "Roaming"))
        return Place(path=at.join(roaming, "Claude", name))
    config = at.variable("XDG_CONFIG_HOME", at.join(at.home, ".config"))
    return Place(path=at.join(config, "Claude", name), note="there is no official Claude Desktop for this system")


def _code(at: Surroundings) -> Place:
    return Place(
        path=at.join(at.home, ".claude.json"),
        note="Claude Code rewrites this file while it runs: close it first, or use `claude mcp add-json NAME JSON "
        "-s user`; servers of one project stand in its .mcp.json",
    )


CLAUDE_DESKTOP = Client(
    id="claude-desktop",
    title="Claude Desktop",
    place_text="macOS `~/Library/Application Support/Claude/claude_desktop_config.json`; "
    "Windows `%APPDATA%\\Claude\\claude_desktop_config.json`; Linux (unofficial) `~/.config/Claude/…`",
    place=_desktop,
    http=None,
    sse=None,
    types=frozenset({"stdio"}),
    secrets=Secrets.BY_HAND,
    keys=frozenset({"type", "command", "args", "env"}),
    reach=Reach.ENTRY,
    limits=("stdio only: add a remote server under Settings > Connectors", "expands nothing"),
    basis="documentation, second-hand",
)

CLAUDE_CODE = Client(
    id="claude-code",
    title="Claude Code",
    place_text="`~/.claude.json`; of a project `.mcp.json`",
    place=_code,
    stdio="stdio",
    types=frozenset({"stdio", "http", "streamable-http", "sse", "ws"}),
    type_required=True,
    secrets=Secrets.SHELL,
    expansion=r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\}",
    comments=Reads.NO,
    trailing_commas=Reads.NO,
    bom=Reads.YES,
    unknown=Unknown.IGNORED,
    keys=frozenset({"type", "command", "args", "env", "url", "headers", "headersHelper", "oauth", "timeout"}),
    reach=Reach.ENTRY,
    limits=("a `url` without `type` is skipped", "asks each person before it uses a project's servers"),
    basis="run (2.1.328, 2.1.197)",
)
