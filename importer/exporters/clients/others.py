"""LM Studio, Agent Plugins, and the plain form that most clients read."""

from __future__ import annotations

from importer.exporters.clients.description import Client, Place, Reach, Reads, Secrets, Surroundings, Unknown

MCP_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"


def _lm_studio(at: Surroundings) -> Place:
    return Place(path=at.join(at.home, ".lmstudio", "mcp.json"))


LM_STUDIO = Client(
    id="lm-studio",
    title="LM Studio",
    place_text="`~/.lmstudio/mcp.json`",
    place=_lm_studio,
    http="",
    sse=None,
    types=frozenset({"stdio", "http", "streamable-http"}),
    secrets=Secrets.BY_HAND,
    limits=("expands nothing", "drops `type` when it saves", "SSE is not documented"),
    basis="second-hand",
)

AGENT_PLUGINS = Client(
    id="agent-plugins",
    title="Agent Plugins 1.0.0",
    place_text="`mcp.json` at the plugin's root: name the file",
    stdio="stdio",
    http="streamable-http",
    types=frozenset({"stdio", "streamable-http", "sse"}),
    type_required=True,
    secrets=Secrets.OMITTED,
    expansion=r"\$\{PLUGIN_(?:ROOT|DATA)\}",
    expands_in=frozenset({"args", "env", "cwd"}),
    comments=Reads.NO,
    trailing_commas=Reads.NO,
    bom=Reads.NO,
    unknown=Unknown.REJECTED,
    keys=frozenset({"type", "command", "args", "env", "cwd", "url", "headers"}),
    siblings=frozenset({"$schema"}),
    closed=MCP_SCHEMA,
    reach=Reach.ENTRY,
    limits=("`command` is a bare name or `./…`", "plain http only to loopback", "secrets are never named"),
    basis="source",
)

GENERIC = Client(
    id="generic",
    title="Plain `mcpServers`",
    place_text="none: name the file",
    types=frozenset({"stdio", "http", "streamable-http", "streamable_http", "streamableHttp", "sse"}),
    secrets=Secrets.SHELL,
    expansion=r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\}",
    limits=("what is expanded depends on the client that reads it",),
    basis="convention",
)
