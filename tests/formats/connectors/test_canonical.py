"""The canonical bytes: one way to write a template, and it reads back as the same one."""

from __future__ import annotations

import hashlib
import json
import string

from hypothesis import given, settings
from hypothesis import strategies as st

from importer.diagnostics import hidden
from importer.formats.connectors import connector_digest, read_template, template_bytes
from importer.model import ConnectorTemplate
from tests.formats.connectors.build import read, remote, signed_in, stdio

LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(
    lambda text: text.strip() != ""
)
WORD = st.text(string.ascii_lowercase, min_size=1, max_size=8)
NAME = st.from_regex(r"[a-z0-9][a-z0-9-]{0,20}", fullmatch=True)
# Words joined so that no argument can be taken for a credential; what else may stand there is of no interest here.
ARG = st.lists(WORD | st.sampled_from(["ä", "\u202e", "\n", '"', "\\", "日本", "\U0001f600", " "]), max_size=4).map(
    "".join
)
VARIABLES = st.lists(st.from_regex(r"[A-Z_][A-Z0-9_]{0,10}", fullmatch=True), max_size=4, unique=True).map(tuple)
HEADERS = st.lists(st.from_regex(r"X-[a-z]{1,10}", fullmatch=True), max_size=4, unique=True).map(tuple)


@st.composite
def stdio_templates(draw: st.DrawFn) -> ConnectorTemplate:
    return ConnectorTemplate(
        name=draw(NAME),
        display_name=draw(LINE),
        description=draw(st.text(st.sampled_from("ab \n\tä\u2028"), max_size=20)),
        transport="stdio",
        command=draw(WORD),
        args=tuple(draw(st.lists(ARG, max_size=6))),
        environment=draw(VARIABLES),
    )


@st.composite
def remote_templates(draw: st.DrawFn) -> ConnectorTemplate:
    return ConnectorTemplate(
        name=draw(NAME),
        display_name=draw(LINE),
        transport=draw(st.sampled_from(["streamable_http", "sse"])),
        url=f"https://h.example/{draw(WORD)}",
        headers=draw(HEADERS),
    )


@st.composite
def oauth_templates(draw: st.DrawFn) -> ConnectorTemplate:
    oauth: dict[str, str | tuple[str, ...]] = {"authorization_server_url": "https://auth.example"}
    oauth["scopes"] = tuple(draw(st.lists(WORD, max_size=3)))
    client = draw(st.booleans())
    if client:
        oauth |= {"client_id": "abc", "redirect_uri": "http://127.0.0.1:1/"}
    return ConnectorTemplate(
        name=draw(NAME),
        display_name="OAuth",
        transport="sse",
        url="https://h.example/",
        oauth_client_secret=client,
        oauth=oauth,
    )


@settings(max_examples=200, deadline=None)
@given(stdio_templates() | remote_templates() | oauth_templates())
def test_round_trip(template: ConnectorTemplate) -> None:
    data = template_bytes(template)
    assert read_template(data) == template
    assert template_bytes(read_template(data)) == data
    imported = read(data).candidates[0]
    assert imported.template == data


@settings(max_examples=100, deadline=None)
@given(stdio_templates())
def test_hidden_characters_are_escaped(template: ConnectorTemplate) -> None:
    text = template_bytes(template).decode("utf-8")
    assert hidden().search(text.replace("\n", "")) is None
    assert text.endswith("}\n")


def test_the_writing_of_the_source_does_not_matter() -> None:
    for document in (stdio(), remote(), signed_in()):
        backwards = dict(reversed(document.items()))
        first = read(json.dumps(document)).candidates[0]
        second = read(json.dumps(backwards, indent=7, ensure_ascii=True)).candidates[0]
        assert first.template == second.template
        assert first.digest == second.digest


def test_the_canonical_bytes_are_these() -> None:
    assert read(stdio(args=["-y", "日本", "\u202e"])).candidates[0].template.decode() == (
        '{\n  "schema_version": 1,\n  "kind": "open-science.connector",\n  "name": "github",\n'
        '  "display_name": "GitHub",\n  "description": "Repositories and issues.",\n  "transport": "stdio",\n'
        '  "command": "npx",\n  "args": [\n    "-y",\n    "日本",\n    "\\u202e"\n  ],\n  "required_secrets": {\n'
        '    "environment": [\n      "GITHUB_TOKEN"\n    ]\n  }\n}\n'
    )


def test_the_digest_is_that_of_a_tree_with_the_one_file() -> None:
    candidate = read(stdio()).candidates[0]
    line = f"{hashlib.sha256(candidate.template).hexdigest()}  github.json\n"
    expected = f"h1:{hashlib.sha256(line.encode()).hexdigest()}"
    assert candidate.digest == expected
    assert connector_digest("github", candidate.template) == expected
