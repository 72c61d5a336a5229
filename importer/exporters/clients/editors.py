"""Editors and what lives in them: Cursor, VS Code, Windsurf, Cline, Zed."""

from __future__ import annotations

from importer.exporters.clients.description import Client, Place, Reach, Reads, Secrets, Surroundings, Unknown

_ENV = r"\$\{env:[^}]*\}"


def _cursor(at: Surroundings) -> Place:
    return Place(path=at.join(at.home, ".cursor", "mcp.json"))


def _vscode(at: Surroundings) -> Place:
    if at.system == "darwin":
        user = at.join(at.home, "Library", "Application Support", "Code", "User")
    elif at.system == "windows":
        user = at.join(at.variable("APPDATA", at.join(at.home, "AppData", "Roaming")), "Code", "User")
    else:
        user = at.join(at.variable("XDG_CONFIG_HOME", at.join(at.home, ".config")), "Code", "User")
    return Place(path=at.join(user, "mcp.json"))


def _windsurf(at: Surroundings) -> Place:
    return Place(path=at.join(at.home, ".codeium", "windsurf", "mcp_config.json"))


def _cline(at: Surroundings) -> Place:
    own = at.join(at.home, ".cline", "data", "settings", "cline_mcp_settings.json")
    return Place(path=at.variable("CLINE_MCP_SETTINGS_PATH", own))


def _zed(at: Surroundings) -> Place:
    if at.system == "windows":
        config = at.variable("APPDATA", at.join(at.home, "AppData", "Roaming"))
        return Place(path=at.join(config, "Zed", "settings.json"))
    config = at.variable("XDG_CONFIG_HOME", at.join(at.home, ".config"))
    return Place(path=at.join(config, "zed", "settings.json"))


CURSOR = Client(
    id="cursor",
    title="Cursor",
    place_text="`~/.cursor/mcp.json`; of a project `.cursor/mcp.json`",
    place=_cursor,
    http="",
    sse="",
    types=frozenset({"stdio", "http", "streamable-http", "sse"}),
    secrets=Secrets.ENV,
    expansion=rf"{_ENV}|\$\{{(?:userHome|workspaceFolder|workspaceFolderBasename|pathSeparator|/)\}}",
    limits=("tries the remote transports by itself",),
    basis="documentation, second-hand",
)

VSCODE = Client(
    id="vscode",
    title="VS Code",
    place_text="`mcp.json` of the user profile: macOS `~/Library/Application Support/Code/User`, "
    "Windows `%APPDATA%\\Code\\User`, Linux `~/.config/Code/User`; of a project `.vscode/mcp.json`",
    place=_vscode,
    root="servers",
    stdio="stdio",
    secrets=Secrets.INPUT,
    expansion=r"\$\{(?:env|input|config|command):[^}]*\}|\$\{(?:workspaceFolder|userHome)[^}]*\}",
    comments=Reads.YES,
    trailing_commas=Reads.YES,
    unknown=Unknown.FLAGGED,
    keys=frozenset(
        {"type", "command", "args", "env", "envFile", "cwd", "url", "headers", "dev", "gallery", "version", "oauth"}
        | {"sandboxEnabled", "sandbox"}
    ),
    siblings=frozenset({"inputs", "sandbox"}),
    limits=("asks for each secret once (`inputs`)", "Copilot harness sessions skip servers that use `${input:…}`"),
    basis="documentation",
)

WINDSURF = Client(
    id="windsurf",
    title="Windsurf",
    place_text="`~/.codeium/windsurf/mcp_config.json`; none of a project",
    place=_windsurf,
    url_key="serverUrl",
    http="",
    sse="",
    types=frozenset({"stdio", "http", "streamable-http", "sse"}),
    secrets=Secrets.ENV,
    expansion=r"\$\{(?:env|file):[^}]*\}",
    keys=frozenset({"command", "args", "env", "serverUrl", "url", "headers", "disabled", "disabledTools", "type"}),
    basis="documentation",
)

CLINE = Client(
    id="cline",
    title="Cline",
    place_text="`$CLINE_MCP_SETTINGS_PATH`, else `~/.cline/data/settings/cline_mcp_settings.json`",
    place=_cline,
    http="streamableHttp",
    types=frozenset({"stdio", "streamableHttp", "sse"}),
    secrets=Secrets.ENV,
    expansion=_ENV,
    comments=Reads.NO,
    trailing_commas=Reads.NO,
    bom=Reads.NO,
    unknown=Unknown.IGNORED,
    keys=frozenset(
        {"type", "command", "args", "env", "cwd", "url", "headers", "disabled", "timeout", "autoApprove"}
        | {"alwaysAllow", "transportType"}
    ),
    reach=Reach.ALL,
    limits=("a `url` without `type` is taken for SSE", "one invalid entry: no server is loaded"),
    basis="source",
)

ZED = Client(
    id="zed",
    title="Zed",
    place_text="macOS and Linux `~/.config/zed/settings.json`; Windows `%APPDATA%\\Zed\\settings.json`; "
    "of a project `.zed/settings.json`",
    place=_zed,
    root="context_servers",
    http="",
    sse=None,
    types=frozenset(),
    secrets=Secrets.BY_HAND,
    comments=Reads.YES,
    trailing_commas=Reads.YES,
    keys=frozenset({"source", "enabled", "command", "args", "env", "url", "headers", "settings", "timeout", "remote"}),
    limits=("expands nothing", "SSE is not documented"),
    basis="documentation, second-hand",
)
