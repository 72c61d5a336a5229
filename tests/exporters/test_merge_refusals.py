"""Merges that are refused and leave the file as it is, and what each client's parser takes."""

from __future__ import annotations

import pytest

from importer.exporters import CLIENTS, tomledit
from importer.exporters.jsonedit import Editor
from tests.exporters.merging import BOM, codes, put, refused

# --- what is refused, untouched --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "merge-unparsable"),
        ("// only a comment", "merge-unparsable"),
        ('{"mcpServers": {}} x', "merge-unparsable"),
        ('{"a": 1, "a": 2}', "merge-unparsable"),
        ('{"mcpServers": {"x": {}, "x": {}}}', "merge-unparsable"),
        ('{"a": NaN}', "merge-unparsable"),
        ("[" * 100_000, "merge-unparsable"),
        (b'{"a": "\xff"}', "merge-unparsable"),
        ('{"mcpServers": {}}'.encode("utf-16"), "merge-unparsable"),
        ("null", "merge-parent-invalid"),
        ("[]", "merge-parent-invalid"),
        ('{"mcpServers": null}', "merge-parent-invalid"),
        ('{"mcpServers": []}', "merge-parent-invalid"),
        ('{"mcpServers": "x"}', "merge-parent-invalid"),
    ],
)
def test_refused_untouched(text: str | bytes, code: str) -> None:
    assert refused(text) == [code]


@pytest.mark.parametrize("inputs", ["null", "{}", '"x"'])
def test_vscode_inputs_of_another_shape(inputs: str) -> None:
    assert refused(f'{{"servers": {{}}, "inputs": {inputs}}}', client="vscode") == ["merge-parent-invalid"]


def test_a_plugin_of_another_version_is_refused() -> None:
    assert refused('{"$schema": "https://example.org/x", "mcpServers": {}}', client="agent-plugins") == [
        "merge-parent-invalid"
    ]
    assert refused('{"mcpServers": {}}', client="agent-plugins") == ["merge-parent-invalid"]


@pytest.mark.parametrize(
    "text", ["mcp_servers = 1", "[[mcp_servers]]\nx = 1", "a = 1\na = 2", "a = ", "[a\n", "mcp_servers = []"]
)
def test_toml_refused_untouched(text: str) -> None:
    assert refused(text, client="codex")[0] in {"merge-unparsable", "merge-parent-invalid"}


# --- comments, commas and the byte order mark by client --------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "comment", "comma", "bom"),
    [
        ("claude-code", "refused", "refused", "kept"),
        ("gemini-cli", "kept", "refused", "dropped"),
        ("vscode", "kept", "kept", "dropped"),
        ("zed", "kept", "kept", "dropped"),
        ("cline", "refused", "refused", "dropped"),
        ("cursor", "said", "said", "dropped"),
        ("windsurf", "said", "said", "dropped"),
        ("claude-desktop", "said", "said", "dropped"),
        ("lm-studio", "said", "said", "dropped"),
        ("generic", "said", "said", "dropped"),
    ],
)
def test_tolerance(client: str, comment: str, comma: str, bom: str) -> None:
    root = CLIENTS[client].root
    for how, text, code in (
        (comment, f'{{ "{root}": {{}} /* note */ }}', "merge-comments"),
        (comma, f'{{ "{root}": {{}}, }}', "merge-trailing-commas"),
    ):
        if how == "refused":
            assert refused(text, client=client) == [code]
            continue
        result = put(text, client=client)
        assert codes(result) == ([code] if how == "said" else [])
        assert ("/* note */" in result.content.decode()) == ("/* note */" in text)
        assert (", }" in result.content.decode()) == (", }" in text)
    result = put(f'{BOM}{{"{root}": {{}}}}', client=client)
    assert result.content.startswith(BOM.encode()) == (bom == "kept")
    assert codes(result) == ([] if bom == "kept" else ["merge-bom-dropped"])


def test_a_bom_is_never_added_and_no_reason_to_write() -> None:
    assert not put("{}", client="claude-code").content.startswith(BOM.encode())
    same = BOM + put("{}").content.decode()
    result = put(same)
    assert not result.changed
    assert result.content == same.encode()
    assert codes(result) == []


# --- an edit that went wrong -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"a": 1', '"a": 2'),
        ('"a": 1', '"a": 1.0'),
        ("// note", "// other"),
        ("// note", ""),
        ('"a": 1,', ""),
        ("}", ""),
    ],
)
def test_a_result_that_changes_more_is_never_handed_out(
    right: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = '{\n  "a": 1, // note\n  "servers": {}\n}\n'
    assert put(before, client="vscode").changed
    edited = Editor.result
    monkeypatch.setattr(Editor, "result", lambda self: edited(self).replace(right, wrong, 1))
    assert refused(before, client="vscode") == ["merge-unverified"]


@pytest.mark.parametrize(("right", "wrong"), [('"o3"', '"o4"'), ("# note", ""), ("[tui]", "[tue]"), ('"uvx"', '"uvy"')])
def test_toml_that_changes_more_is_never_handed_out(right: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = 'model = "o3" # note\n[tui]\nx = 1\n'
    assert put(before, client="codex").changed
    appended = tomledit.append
    monkeypatch.setattr(tomledit, "append", lambda *args: appended(*args).replace(right, wrong, 1))
    assert refused(before, client="codex") == ["merge-unverified"]
