"""Clients of the terminal: Gemini CLI and Codex."""

from __future__ import annotations

from importer.exporters.clients.description import Client, Place, Reach, Reads, Secrets, Surroundings, Syntax, Unknown


def _gemini(at: Surroundings) -> Place:
    return Place(path=at.join(at.home, ".gemini", "settings.json"))


def _codex(at: Surroundings) -> Place:
    return Place(path=at.join(at.variable("CODEX_HOME", at.join(at.home, ".codex")), "config.toml"))


GEMINI_CLI = Client(
    id="gemini-cli",
    title="Gemini CLI",
    place_text="`~/.gemini/settings.json`; of a project `.gemini/settings.json`",
    place=_gemini,
    secrets=Secrets.SHELL,
    expansion=r"\$(?:[A-Za-z0-9_]+|\{[^}]+\})",
    comments=Reads.YES,
    trailing_commas=Reads.NO,
    bom=Reads.NO,
    unknown=Unknown.REJECTED,
    keys=frozenset(
        {"type", "command", "args", "env", "cwd", "url", "httpUrl", "headers", "tcp", "timeout", "trust"}
        | {"description", "includeTools", "excludeTools", "extension", "oauth", "authProviderType"}
        | {"targetAudience", "targetServiceAccount"}
    ),
    deprecated={"httpUrl": 'url with "type": "http"'},
    reach=Reach.ENTRY,
    limits=("`${env:NAME}` becomes empty", "no `_` in names", "starts no server in a folder that is not trusted"),
    basis="run (0.61.0), source",
)

CODEX = Client(
    id="codex",
    title="Codex",
    place_text="`$CODEX_HOME/config.toml` (`~/.codex`); of a project `.codex/config.toml`",
    place=_codex,
    syntax=Syntax.TOML,
    root="mcp_servers",
    http="",
    sse=None,
    types=frozenset(),
    secrets=Secrets.BY_NAME,
    comments=Reads.YES,
    trailing_commas=Reads.NO,
    bom=Reads.YES,
    unknown=Unknown.IGNORED,
    keys=frozenset(
        {"command", "args", "env", "env_vars", "cwd", "url", "bearer_token_env_var", "http_headers"}
        | {"env_http_headers", "enabled", "required", "startup_timeout_sec", "startup_timeout_ms"}
        | {"tool_timeout_sec", "enabled_tools", "disabled_tools", "scopes", "oauth", "oauth_resource", "tools"}
        | {"auth", "http_headers_helper", "environment_id", "startup_readiness", "omit_tools_from"}
    ),
    reach=Reach.ALL,
    limits=("no SSE", "expands nothing", "`headers` is ignored", "one invalid entry: the whole file fails to load"),
    basis="run (0.169.0, 0.171.0)",
)
