"""Connector templates for tests: one of each transport, and a few that are hard on some client."""

from __future__ import annotations

from importer.model import ConnectorTemplate

GITHUB = ConnectorTemplate(
    name="github",
    display_name="GitHub",
    transport="stdio",
    description="Issues and pull requests.",
    command="npx",
    args=("-y", "@example/server-github", "-e", "A", "-e", "B", "--max-tokens", "100"),
    environment=("GITHUB_TOKEN", "GITHUB_HOST"),
)
DOCS = ConnectorTemplate(
    name="docs",
    display_name="Docs – Bücher",
    transport="streamable_http",
    url="https://docs.example/mcp",
    headers=("Authorization", "X-Api-Key"),
)
FEED = ConnectorTemplate(name="feed", display_name="Feed", transport="sse", url="https://feed.example/sse")
SIGNED_IN = ConnectorTemplate(
    name="signed-in",
    display_name="Signed in",
    transport="streamable_http",
    url="https://login.example/mcp",
    oauth={"scopes": ("read", "write"), "authorization_server_url": "https://login.example", "client_id": "abc"},
    oauth_client_secret=True,
)
ODD_TEXT = ConnectorTemplate(
    name="odd-text",
    display_name="Odd text",
    transport="stdio",
    command="tool",
    args=(
        "",
        'say "hi"',
        "back\\slash",
        "tab\there",
        "ümlaut 漢字 🙂",
        "\u202eright to left",
        "#no comment",
        "/* nor this",
    ),
)
PLAIN = ConnectorTemplate(name="plain", display_name="Plain", transport="stdio", command="uvx", args=("tool",))

ALL = (GITHUB, DOCS, FEED, SIGNED_IN, ODD_TEXT)
