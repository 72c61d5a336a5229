"""The short way through a frontmatter says what the parser says, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.formats.plainyaml import read_plain_mapping
from importer.formats.yamltext import FrontmatterFault, Value, read_mapping

TAKEN = [
    "name: a\n",
    "name: a\ndescription: Reads (CSV) files: all of them.\n".replace(": all", ":all"),
    'name: "a: b # c"\ndescription: \'it is "quoted"\'\n',
    "name: größe\ndescription: 读取文件\nmetadata:\n  version: 1.2.0\n  author: x\nlicense: MIT",
    "metadata:\n      version: 1\n",
    "name:   spaced out   \n",
    'name: ""\n',
    "name: a#b\nurl: https://example.com/#x\n",
]
LEFT = [
    "",
    "name\n",
    "name: a\n  b\n",
    "name: a\n\nother: b\n",
    "name: a # comment\n",
    "name: a: b\n",
    "name: a:\n",
    "name: |\n  text\n",
    "name: >-\n  text\n",
    "name: &a b\n",
    "name: *a\n",
    "name: !t a\n",
    "name: [a]\n",
    "name: {a: b}\n",
    "name: - a\n",
    "name: 'it''s'\n",
    'name: "a\\n"\n',
    'name: "a" b\n',
    "name: 'a\n",
    "name:\n",
    "name:\nother: a\n",
    "name: a\nname: b\n",
    "metadata:\n  a: b\n  a: c\n",
    "metadata:\n  a: b\n   c: d\n",
    "metadata:\n  a: b\n c: d\n",
    "metadata:\n  a:\n    b: c\n",
    "metadata:\n  - a\n",
    "metadata:\nmetadata:\n  a: b\n",
    "metadata:\n  a: b\nname: a\n  c: d\n",
    "name: a\tb\n",
    "name: a\r",
    "name: a\rb: c\n",
    "\ufeffname: a\n",
    "name:a\n",
    "a b: c\n",
    "1: a\n",
    "<<: a\n",
    "# name: a\n",
    "---\n",
    "name: a\n---\nname: b\n",
    "name: `a`\n",
    "name: @a\n",
    "name: %a\n",
]


def _parsed(text: str) -> tuple[dict[str, Value], dict[str, int]] | None:
    try:
        return read_mapping(text, 2)
    except FrontmatterFault:
        return None


def _agrees(text: str) -> bool:
    """Hold the short way to the parser; return whether it was taken."""
    plain = read_plain_mapping(text, 2)
    if plain is None:
        return False
    parsed = _parsed(text)
    assert plain == parsed
    assert parsed is not None
    assert [list(one) for one in plain] == [list(one) for one in parsed]
    return True


@pytest.mark.parametrize("text", TAKEN)
def test_what_most_documents_hold_is_read_as_the_parser_reads_it(text: str) -> None:
    assert _agrees(text)


@pytest.mark.parametrize("text", LEFT)
def test_everything_else_is_left_to_the_parser(text: str) -> None:
    assert read_plain_mapping(text, 2) is None


_PIECES = st.sampled_from(
    [
        *(
            "name",
            "a",
            "b",
            ":",
            ": ",
            " ",
            "  ",
            "\n",
            "\n  ",
            "\n\n",
            "#",
            " #",
            '"',
            "'",
            "\\",
            "-",
            "- ",
            "---",
            "...",
        ),
        *(
            "[",
            "]",
            "{",
            "}",
            ",",
            "&a",
            "*a",
            "!",
            "|",
            ">",
            "%",
            "@",
            "`",
            "?",
            "? ",
            "1.0",
            "~",
            "é",
            "\u3000",
            "\xa0",
        ),
        *("\u2027", "\U0001f41f", "metadata:\n  ", "version: 1", "e\u0301", "(", "/", "_"),
    ]
)


@settings(max_examples=600, deadline=None)
@given(st.lists(_PIECES, max_size=14).map("".join))
def test_arbitrary_pieces_say_the_same_both_ways(text: str) -> None:
    _agrees(text)


_VALUES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=12)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "  ", "    "]), st.sampled_from(["a", "b", "c-d", "E"]), _VALUES), max_size=6
    )
)
def test_arbitrary_values_say_the_same_both_ways(rows: list[tuple[str, str, str]]) -> None:
    _agrees("".join(f"{margin}{key}: {value}\n" for margin, key, value in rows))
