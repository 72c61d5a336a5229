"""SKILL.md as it is found in the wild: what is taken, what is said, and where."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.codes import CODES
from importer.formats.skill import SkillReading
from tests.builders.packages import DESCRIPTION, skill_md
from tests.builders.readings import front, one, read, said


def test_good_document_has_nothing_to_say() -> None:
    reading = read(
        front(
            "name: demo\ndescription: A demo skill.\nlicense: MIT\ncompatibility: any\n"
            'allowed-tools: Bash(git:*) Read\nmetadata:\n  author: me\n  version: "1.2.0"'
        )
    )
    assert said(reading) == []
    assert (reading.name, reading.stated_name, reading.version, reading.version_stated) == (
        "demo",
        "demo",
        "1.2.0",
        True,
    )
    assert reading.description == "A demo skill."
    assert dict(reading.document) == {
        "license": "MIT",
        "compatibility": "any",
        "allowed_tools": ["Bash(git:*)", "Read"],
        "metadata.author": "me",
        "metadata.version": "1.2.0",
    }


# --- bytes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("closed", [True, False], ids=["newline", "end of file"])
def test_every_line_end_and_a_fence_at_the_end_of_the_file(end: bytes, closed: bool) -> None:
    data = b"---\nname: demo\ndescription: |\n  two\n  lines\n---" + (b"\n" if closed else b"")
    reading = read(data.replace(b"\n", end))
    assert said(reading) == []
    assert reading.description == "two\nlines"


def test_one_byte_order_mark_is_passed_over_and_noted() -> None:
    reading = read(b"\xef\xbb\xbf---\nname: demo\ndescription: A demo skill\n---\n")
    assert said(reading) == [("info", "text-byte-order-mark", 1)]
    assert reading.name == "demo"


def test_second_byte_order_mark_is_not() -> None:
    reading = read(b"\xef\xbb\xbf\xef\xbb\xbf---\nname: demo\ndescription: x\n---\n")
    assert not reading.usable
    assert "\\ufeff---" in one(reading, "skill-frontmatter-invalid").message


def test_only_the_first_block_counts() -> None:
    reading = read(front("name: demo\ndescription: x", "text\n---\nname: other\n---\n"))
    assert said(reading) == []
    assert (reading.name, reading.body_lines) == ("demo", 4)


def test_indented_fence_belongs_to_the_value() -> None:
    assert read(front("name: demo\ndescription: |\n  a\n  ---\n  b")).description == "a\n---\nb"


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        pytest.param(b"", 1, "empty", id="empty"),
        pytest.param(b"# Just Markdown\n", 1, "no frontmatter", id="none"),
        pytest.param(b"\n---\nname: demo\ndescription: x\n---\n", 1, "no frontmatter", id="not on the first line"),
        pytest.param(b"---", 1, "ends after the first", id="one fence"),
        pytest.param(b"---\nname: demo\ndescription: x\n", 1, "not closed", id="open"),
        pytest.param(b"---\n---\n", 1, "empty", id="empty block"),
        pytest.param(b"---\n# nothing\n---\n", 2, "nothing but comments", id="comments"),
        pytest.param(b"---\n- a\n- b\n---\n", 2, "a list", id="list"),
        pytest.param(b"---\njust text\n---\n", 2, "one text", id="text"),
        pytest.param(b"---\nname: demo\nname: demo\ndescription: x\n---\n", 3, "stands twice", id="duplicate key"),
        pytest.param(
            b"---\nname: d\ndescription: x\nm:\n  a: 1\n  a: 2\n---\n", 6, "stands twice", id="duplicate below"
        ),
        pytest.param(b"---\nname: &n demo\ndescription: x\n---\n", 2, "anchor", id="anchor"),
        pytest.param(b"---\nname: demo\ndescription: *n\n---\n", 3, "alias", id="alias"),
        pytest.param(b"---\nname: demo\ndescription: !!str x\n---\n", 3, "tag", id="tag"),
        pytest.param(b"---\nname: demo\n--- {a: b}\n---\n", 3, "second YAML document", id="two documents"),
        pytest.param(b"---\nname: demo\n...\nname: b\n---\n", 3, "second YAML document", id="two documents, ended"),
        pytest.param(b"---\nname: demo\ndescription: \xff\n---\n", 3, "0xFF", id="not UTF-8"),
        pytest.param(b"---\nname: demo\ndescription: x\n---\nok\nbad \xc3(\n", 6, "0xC3", id="not UTF-8 below"),
        pytest.param("---\nname: demo\n---\n".encode("utf-16"), 1, "UTF-16", id="UTF-16"),
        pytest.param(b"---\nname: demo\ndescription: a\0b\n---\n", 3, "NUL", id="NUL"),
        pytest.param(b"---\nname: demo\ndescription: a\x1b[2Jb\n---\n", 3, "U+001B", id="escape"),
        pytest.param("---\nname: demo\ndescription: a\u2028b: c\n---\n".encode(), 3, "U+2028", id="two readings"),
        pytest.param(b"---\nname: [demo]\ndescription: x\n---\n", 2, "'name' is a list", id="name a list"),
        pytest.param(b"---\nname: demo\ndescription:\n  a: b\n---\n", 3, "'description' is a mapping", id="a mapping"),
        pytest.param(b"---\nname: demo\n---\n", 1, "no 'description'", id="no description"),
        pytest.param(b"---\nname: demo\nDescription: x\n---\n", 1, "names are lowercase", id="capital field"),
        pytest.param(b'---\nname: demo\ndescription: "  "\n---\n', 3, "blank", id="blank"),
        pytest.param(b"---\nname: demo\ndescription:\n---\n", 3, "blank", id="nothing"),
        pytest.param(b"---\n? [a]\n: b\n---\n", 2, "a key that is a list", id="list as key"),
        pytest.param(b"---\na: " + b"[" * 33 + b"]" * 33 + b"\n---\n", 2, "32 levels", id="too deep"),
        pytest.param(b"---\na: x\n" + b"# y\n" * 20_000 + b"---\n", 1, "65,536 bytes", id="too long"),
    ],
)
def test_what_is_refused_says_why_and_where(data: bytes, line: int, reason: str) -> None:
    reading = read(data)
    assert not reading.usable
    found = one(reading, "skill-frontmatter-invalid")
    assert found.path == "pack/demo/SKILL.md"
    assert found.line == line
    assert reason in found.message
    assert reading.name == "demo"


@pytest.mark.parametrize("levels", [31, 32])
def test_depth_at_the_limit_passes_and_one_over_does_not(levels: int) -> None:
    # The mapping itself is the first level.
    assert read(front("name: demo\ndescription: x\nd: " + "[" * levels + "]" * levels)).usable is (levels == 31)


@pytest.mark.parametrize(("size", "usable"), [(64 * 1024, True), (64 * 1024 + 1, False)])
def test_block_at_the_limit_passes_and_one_over_does_not(size: int, usable: bool) -> None:
    block = "name: demo\ndescription: x\n"
    block += "#" * (size - len(block) - 1) + "\n"
    assert read(f"---\n{block}---\n").usable is usable


@pytest.mark.parametrize(("size", "usable"), [(64 * 1024, True), (64 * 1024 + 1, False)])
def test_the_limit_counts_bytes(size: int, usable: bool) -> None:
    block = "name: demo\ndescription: ä\n"
    rest = size - len(block.encode()) - 1
    block += "#" * (rest % 2) + "ä" * (rest // 2) if rest % 2 else "##" + "ä" * (rest // 2 - 1)
    assert len(block.encode()) + 1 == size
    assert read(f"---\n{block}\n---\n").usable is usable


def test_two_faults_are_said_together() -> None:
    reading = read(front("name: [a]\ndescription: []"))
    assert said(reading)[:2] == [("error", "skill-frontmatter-invalid", 2), ("error", "skill-frontmatter-invalid", 3)]


def test_cut_document_may_end_inside_a_character() -> None:
    data = front("name: demo\ndescription: x", "ä").encode()[:-1]
    assert read(data, complete=False).usable
    assert not read(data).usable


# --- scalars ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["1.10", "yes", "0x10", "2024-01-01", "null", "1_000", "~", "010", ".inf"])
def test_scalars_stay_the_text_that_was_written(text: str) -> None:
    reading = read(front(f"name: demo\ndescription: {text}\nlicense: {text}"))
    assert reading.description == text
    assert reading.document["license"] == text


def test_folded_and_quoted_texts() -> None:
    assert read(front("name: demo\ndescription: >-\n  a\n  b\n\n  c")).description == "a b\nc"
    assert read(front('name: demo\ndescription: "a \\u00e9 \\"b\\""')).description == 'a é "b"'
    assert read(front("name: demo\ndescription: 'it''s: fine'")).description == "it's: fine"


# --- mending ---------------------------------------------------------------------------------------------------------


def test_unquoted_colon_is_read_and_the_quoted_form_shown() -> None:
    text = "Configure the harness: Hooks, MCP Servers, Skills"
    reading = read(front(f"name: demo\ndescription: {text}"))
    assert said(reading) == [("warning", "skill-frontmatter-repaired", 3)]
    found = one(reading, "skill-frontmatter-repaired")
    assert found.facts["column"] == 35
    assert found.facts["field"] == "description"
    assert found.facts["quoted"] == f'description: "{text}"'
    assert "line 3, column 35" in found.message
    assert reading.description == text
    assert said(read(front(f'name: demo\ndescription: "{text}"'))) == []


def test_text_after_a_flow_sequence_names_key_and_line() -> None:
    reading = read(front('name: demo\nargument-hint: [action] — e.g. "list", "status"\ndescription: Fine.'))
    assert said(reading) == [("warning", "skill-frontmatter-repaired", 3), ("warning", "skill-field-unknown", 3)]
    assert one(reading, "skill-frontmatter-repaired").facts["field"] == "argument-hint"
    assert (reading.name, reading.description) == ("demo", "Fine.")


@pytest.mark.parametrize(
    ("value", "read_as"),
    [
        ("`code` runs", "`code` runs"),
        ("@someone wrote it", "@someone wrote it"),
        ('"Foo" is a bar', '"Foo" is a bar'),
        ("*bold* text", "*bold* text"),
        ("Use when: a\n  second line: b", "Use when: a second line: b"),
        ("ends with a colon:", "ends with a colon:"),
        ('it\'s: "both" quotes', 'it\'s: "both" quotes'),
    ],
)
def test_text_that_is_no_yaml_is_read_to_the_end_of_its_line(value: str, read_as: str) -> None:
    reading = read(front(f"name: demo\ndescription: {value}\nlicense: MIT"))
    assert said(reading) == [("warning", "skill-frontmatter-repaired", 3)]
    assert reading.description == read_as
    assert reading.document["license"] == "MIT"
    quoted = one(reading, "skill-frontmatter-repaired").facts["quoted"]
    assert said(read(front(f"name: demo\n{quoted}"))) == []
    assert read(front(f"name: demo\n{quoted}")).description == read_as


def test_field_that_cannot_be_read_is_passed_over_and_named() -> None:
    reading = read(front("name: demo\nhooks:\n  - x: [\n  - y\ndescription: Fine."))
    assert said(reading) == [("warning", "skill-field-unreadable", 5), ("warning", "skill-field-unknown", 3)]
    assert reading.description == "Fine."


@pytest.mark.parametrize(("fields", "usable"), [(1_000, True), (1_001, False)])
def test_more_than_a_thousand_fields_are_not_mended(fields: int, usable: bool) -> None:
    lines = "".join(f"k{n}: a: b\n" for n in range(fields - 2))
    reading = read(front(f"name: demo\ndescription: x\n{lines}".rstrip()))
    assert reading.usable is usable
    assert len(reading.diagnostics) <= 201


def test_stray_line_is_passed_over_and_named() -> None:
    reading = read(front("A skill for tests\nname: demo\ndescription: Fine."))
    assert said(reading) == [("warning", "skill-field-unreadable", 2)]


def test_fault_below_metadata_is_mended_there() -> None:
    reading = read(front("name: demo\ndescription: Fine.\nmetadata:\n  author: me: myself\n  version: 2.0.1"))
    assert said(reading) == [("warning", "skill-frontmatter-repaired", 5)]
    assert reading.document["metadata.author"] == "me: myself"
    assert reading.version == "2.0.1"


@pytest.mark.parametrize(
    "lines",
    [
        "name: demo\ndescription: a: b\nname: other",
        "name: demo\ndescription: a: b\nmetadata:\n  x: c: d\n  x: 2",
        "name: demo\ndescription: a: b\nlicense: &x y",
    ],
    ids=["duplicate", "duplicate below", "anchor"],
)
def test_mending_does_not_let_through_what_is_refused(lines: str) -> None:
    reading = read(front(lines))
    assert not reading.usable
    assert [d.code for d in reading.diagnostics] == ["skill-frontmatter-invalid"]


def test_description_that_cannot_be_mended_is_an_error() -> None:
    reading = read(front("name: demo\ndescription: |x\n  a\n b: [\nlicense: MIT"))
    assert not reading.usable
    assert "skill-frontmatter-invalid" in [d.code for d in reading.diagnostics]


# --- whatever comes --------------------------------------------------------------------------------------------------

LINES = st.sampled_from(
    [
        "---",
        "name: demo",
        "description: a: b",
        "description: x",
        "metadata:",
        "  version: 1.0",
        "  a: [",
        "- x",
        "? [a]",
        "&a *b",
        "...",
        "!tag x",
        "k: |",
        "k: >-\n  a\n b",
        "\t",
        "'",
        '"',
        "{a: b",
        "é: ü",
        "%YAML 1.1",
        "\x85",
        "#",
        "a" * 90 + ": b",
        "\u202e",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: f"---\n{text}\n---\n".encode())))
def test_any_bytes_give_a_reading(data: bytes) -> None:
    _holds(read(data, folder=None, fallback="x"))


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=12), st.booleans())
def test_any_lines_give_a_reading(lines: list[str], complete: bool) -> None:
    _holds(read("\n".join(["---", *lines, "---"]), complete=complete))


def _holds(reading: SkillReading) -> None:
    assert reading.usable is bool(reading.usable)
    assert all(d.code in CODES for d in reading.diagnostics)
    if reading.usable:
        assert reading.name
        assert reading.description


@pytest.mark.parametrize(
    "block",
    [
        "a: [" * 16_000,
        "a: {" * 16_000,
        "? " * 32_000,
        "- " * 32_000,
        "a:\n" * 21_000,
        "".join(f"k{n}: a: b\n" for n in range(900)),
        "".join(f"k{n}: a: b\n" for n in range(5_000)),
        "a: b: " * 10_000,
        "'" * 65_000,
        '"\\' * 32_000,
        "&a " * 21_000,
        "x: *" * 16_000,
        "#\n" * 32_000,
        "a: |\n" + " \n" * 30_000,
        "\t" * 65_000,
        "[" * 65_000,
        "k: " + "`" * 60_000,
    ],
    ids=range(17),
)
def test_hostile_blocks_end_soon(block: str) -> None:
    # Each one is at the limit of 64 KiB; something quadratic would run into the suite's own patience.
    _holds(read(front(f"name: demo\ndescription: x\n{block[:65_000]}")))


def test_description_constant_is_the_builders() -> None:
    assert read(skill_md("demo")).description == DESCRIPTION
