"""Merges into generated documents: whatever was there means the same afterwards, whoever wrote it and however.

`MERGE_EXAMPLES=5000` tries more of them.
"""

from __future__ import annotations

import json
import os
import random

import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.diagnostics import Rejected
from importer.exporters import CLIENTS, merge, render
from importer.model import Choice, Choices
from tests.builders.connectors import DOCS, GITHUB, ODD_TEXT, PLAIN
from tests.exporters.reading import bare, comments, is_subsequence, toml, values

EXAMPLES = int(os.environ.get("MERGE_EXAMPLES", "600"))
WANTED = (PLAIN, GITHUB, DOCS, ODD_TEXT)
KEYS = st.one_of(st.sampled_from(["a", "b c", "mcpServers", "servers", "plain", "", "//", "ü"]), st.text(max_size=4))
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.sampled_from([1.0, 0.5, -2e30]), st.text(max_size=6)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
SERVERS = st.dictionaries(
    st.one_of(st.sampled_from(["plain", "github", "docs", "x"]), KEYS),
    st.one_of(
        st.fixed_dictionaries(
            {"command": st.sampled_from(["uvx", "npx", "z"])}, optional={"args": st.lists(st.text())}
        ),
        st.dictionaries(KEYS, VALUES, max_size=3),
        VALUES,
    ),
    max_size=4,
)


class Writer:
    """Writes a value as somebody with habits of their own would: indentation, line ends, comments, trailing commas."""

    def __init__(self, choose: random.Random, *, lenient: bool) -> None:
        self.random = choose
        self.lenient = lenient
        self.newline = choose.choice(["\n", "\r\n", "\n"])
        self.unit = choose.choice(["  ", "    ", "\t", ""])
        self.spread = choose.choice([0.0, 0.5, 1.0])
        self.number = 0

    def gap(self, indent: str | None) -> str:
        """White space between two tokens; on a new line where there is an indentation."""
        blank = self.random.choice(["", " ", "  "])
        if not self.lenient or self.random.random() > 0.2:
            return blank if indent is None else self.newline + indent
        self.number += 1
        if indent is not None and self.random.random() < 0.5:
            return f'{blank}// note {self.number} "{{,{self.newline}{indent}'
        comment = self.random.choice(
            [f"/* note {self.number} */", f"/* two{self.newline} lines, }} ] // {self.number} */"]
        )
        return blank + comment + ("" if indent is None else self.newline + indent)

    def write(self, value: object, indent: str = "") -> str:
        """Write one value whose line starts with `indent`."""
        if not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=self.random.random() < 0.5)
        spread = self.random.random() < self.spread
        inner = indent + self.unit if spread else None
        below = indent + self.unit if spread else indent
        parts = []
        items = value.items() if isinstance(value, dict) else [(None, item) for item in value]
        for key, item in items:
            text = self.write(item, below)
            if key is not None:
                text = json.dumps(key) + self.gap(None) + ":" + self.gap(None) + text
            parts.append(self.gap(inner) + text + (self.gap(None) if self.random.random() < 0.3 else ""))
        comma = "," if parts and self.lenient and self.random.random() < 0.3 else ""
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return opening + ",".join(parts) + comma + self.gap(indent if spread else None) + closing


@st.composite
def documents(draw: st.DrawFn, root: str) -> dict[str, object]:
    document: dict[str, object] = dict(draw(st.dictionaries(KEYS, VALUES, max_size=3)))
    document.pop(root, None)
    document.pop("inputs", None)
    members = list(document.items())
    if draw(st.booleans()):
        members.insert(draw(st.integers(0, len(members))), (root, draw(SERVERS)))
    if draw(st.booleans()):
        inputs = draw(st.lists(st.sampled_from([{"id": "github-GITHUB_TOKEN"}, {"id": "x"}, 1]), max_size=2))
        members.insert(draw(st.integers(0, len(members))), ("inputs", inputs))
    return dict(members)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data(), st.sampled_from(["generic", "vscode", "zed", "claude-code", "gemini-cli"]), st.integers(0, 2**32))
def test_a_merge_changes_nothing_else(data: st.DataObject, client_id: str, seed: int) -> None:
    client = CLIENTS[client_id]
    before = data.draw(documents(client.root))
    writer = Writer(random.Random(seed), lenient=client_id in {"generic", "vscode", "zed"})
    text = writer.write(before)
    chosen = data.draw(st.sampled_from([None, Choice.INCOMING, Choice.INSTALLED]))
    by_name = {t.name: chosen for t in WANTED} if chosen else {}
    rendered = render(WANTED, client)
    result = merge(text.encode(), rendered, client, Choices(by_name=by_name, confirm_overwrite=True))
    after = result.content.decode()
    assert values(text) == before, "the document says what was meant"
    if not result.ready:
        assert after == text
        return
    installed = before.get(client.root, {})
    assert isinstance(installed, dict)
    written = {name: rendered.servers[name] for name in (*result.added, *result.replaced)}
    read = values(after)
    expected = {**before, client.root: {**installed, **written}} if written else before
    inputs = read.pop("inputs", None)
    had = before.get("inputs", [])
    assert isinstance(had, list)
    if client_id == "vscode" and written:
        assert (inputs or [])[: len(had)] == had  # type: ignore[index]
    else:
        assert inputs == before.get("inputs")
    # Numbers and booleans are equal to each other in Python; as text they are not. The order of keys counts.
    assert json.dumps(read) == json.dumps({key: value for key, value in expected.items() if key != "inputs"})
    if not result.replaced:
        assert comments(after) == comments(text)
        assert is_subsequence(bare(text), bare(after))
    if "\r\n" in text and "\n" not in text.replace("\r\n", ""):
        assert "\n" not in after.replace("\r\n", "")
    again = merge(result.content, rendered, client, Choices(by_name=by_name, confirm_overwrite=True))
    assert again.content == result.content
    assert not again.changed


TOML_KEYS = st.one_of(
    st.sampled_from(["a", "b-c", "plain", "x y", "ü"]),
    st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=4),
)
TOML_SCALARS = st.one_of(
    st.booleans(),
    st.integers(-9, 9),
    st.sampled_from([0.5]),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6).map(lambda text: text + "geheim"),
)
TOML_VALUES = st.recursive(
    TOML_SCALARS,
    lambda inner: st.one_of(st.lists(TOML_SCALARS, max_size=2), st.dictionaries(TOML_KEYS, inner, max_size=2)),
    max_leaves=4,
)


@settings(max_examples=max(100, EXAMPLES // 6), deadline=None)
@given(
    st.dictionaries(TOML_KEYS, TOML_VALUES, max_size=3),
    st.dictionaries(TOML_KEYS, st.dictionaries(TOML_KEYS, TOML_VALUES, max_size=2), max_size=3),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_a_merge_into_toml_changes_nothing_else(
    before: dict[str, object], servers: dict[str, object], windows: bool, seed: int
) -> None:
    choose = random.Random(seed)
    document = {**before, "mcp_servers": servers} if servers else before
    lines: list[str] = []
    for line in tomlkit.dumps(document).splitlines():
        lines.append(line + (f" # note {len(lines)}" if line and choose.random() < 0.2 else ""))
    text = ("\r\n" if windows else "\n").join(lines) + choose.choice(["", "\r\n" if windows else "\n"])
    assert toml(text) == document
    client = CLIENTS["codex"]
    rendered = render(WANTED, client)
    choices = Choices(by_name={"plain": Choice.INCOMING}, confirm_overwrite=True)
    try:
        result = merge(text.encode(), rendered, client, choices)
    except Rejected as refused:
        codes = {d.code for d in refused.diagnostics}
    else:
        codes = set()
        after = result.content.decode()
        assert "geheim" not in result.diff
        assert toml(after) == {**document, "mcp_servers": {**servers, **rendered.servers}}
        if not result.replaced:
            assert after.startswith(text)
        if windows and "\n" in text:
            assert "\n" not in after.replace("\r\n", "")
    assert codes <= {"merge-unverified"}
    assert not codes or "plain" in servers, "only a replacement may be beyond an edit"
