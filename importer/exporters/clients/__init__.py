"""The clients there are, by id. README's table of clients is made from `CLIENTS`."""

from __future__ import annotations

from importer.exporters.clients.claude import CLAUDE_CODE, CLAUDE_DESKTOP
from importer.exporters.clients.description import (
    Client,
    Place,
    Reach,
    Reads,
    Secrets,
    Surroundings,
    Syntax,
    Unknown,
)
from importer.exporters.clients.editors import CLINE, CURSOR, VSCODE, WINDSURF, ZED
from importer.exporters.clients.others import AGENT_PLUGINS, GENERIC, LM_STUDIO
from importer.exporters.clients.terminals import CODEX, GEMINI_CLI

CLIENTS: dict[str, Client] = {
    client.id: client
    for client in (
        CLAUDE_DESKTOP,
        CLAUDE_CODE,
        CURSOR,
        VSCODE,
        WINDSURF,
        GEMINI_CLI,
        CODEX,
        CLINE,
        ZED,
        LM_STUDIO,
        AGENT_PLUGINS,
        GENERIC,
    )
}


def table() -> str:
    """Return the table of clients for the documentation, as Markdown."""
    rows = [
        "| client | id | default place | form | secrets | comments / trailing comma / BOM | one bad entry stops "
        "| limits | facts |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for client in CLIENTS.values():
        remote = [
            f"{label}: " + (f'`{client.url_key}`, `type: "{kind}"`' if kind else f"`{client.url_key}`")
            for label, kind in (("HTTP", client.http), ("SSE", client.sse))
            if kind is not None
        ]
        form = f"{client.syntax} `{client.root}`; " + ("; ".join(remote) if remote else "stdio only")
        named = {Secrets.BY_HAND: "fill in by hand", Secrets.OMITTED: "left out"}
        secrets = named.get(client.secrets, f"`{client.secrets}`")
        reads = f"{client.comments} / {client.trailing_commas} / {client.bom}"
        rows.append(
            f"| {client.title} | `{client.id}` | {client.place_text} | {form} | {secrets} | {reads} | {client.reach} "
            f"| {'; '.join(client.limits) or '–'} | {client.basis}, {client.dated} |"
        )
    return "\n".join(rows) + "\n"


__all__ = [
    "CLIENTS",
    "Client",
    "Place",
    "Reach",
    "Reads",
    "Secrets",
    "Surroundings",
    "Syntax",
    "Unknown",
    "table",
]
