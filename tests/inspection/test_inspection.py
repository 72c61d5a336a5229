"""What is seen in a file while it passes, whatever the chunks are."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.diagnostics import Severity
from importer.inspection import MAX_PLACES, PLAIN_TEXT, FileInspector, Inspection, _hidden, _may_hide, hidden_warning
from importer.inspection import inspect as inspect_whole

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"


def inspect(data: bytes, *cuts: int) -> Inspection:
    inspector = FileInspector()
    for start, end in itertools.pairwise([0, *sorted(cuts), len(data)]):
        inspector.feed(data[start:end])
    result = inspector.result()
    assert inspect_whole(data) == result
    return result


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", True),
        (b"plain\n", True),
        (b"tab\tff\f cr\r\n", True),
        ("naïve – 名前 🙂".encode(), True),
        (b"\xef\xbb\xbfwith a mark", True),
        (b"nul\0", False),
        (b"\xff\xfeU\0", False),
        (b"\x89PNG\r\n\x1a\n", False),
        (b"caf\xe9", False),
        (b"\xed\xa0\x80", False),
        (b"\xc0\x80", False),
        (b"cut \xe2\x82", False),
        (b"\xf4\x90\x80\x80", False),
    ],
)
def test_text_is_utf8_without_nul(data: bytes, text: bool) -> None:
    assert inspect(data).text is text
    assert inspect(data, *range(len(data))).text is text
    assert inspect(data).hidden == 0


def test_shebang_and_pointer_are_seen_at_the_start_only() -> None:
    assert inspect(b"#!/bin/sh\n").shebang
    assert inspect(b"#!/bin/sh\n", 1).shebang
    assert inspect(b"#!\0\xff", 1).shebang
    assert not inspect(b" #!/bin/sh\n").shebang
    assert inspect(POINTER).lfs_pointer
    assert inspect(POINTER, *range(len(POINTER))).lfs_pointer
    assert not inspect(b"x" + POINTER).lfs_pointer
    assert not inspect(POINTER[:40]).lfs_pointer


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("\x1b[31m", "control"),
        ("\x08", "control"),
        ("\x7f", "control"),
        ("\x0b", "control"),
        ("\x85", "control"),
        ("\x9b", "control"),
        ("\xad", "soft_hyphen"),
        ("\u202e", "bidi"),
        ("\u2067", "bidi"),
        ("\u200f", "bidi"),
        ("\u061c", "bidi"),
        ("\u200b", "zero_width"),
        ("\u200c", "zero_width"),
        ("\u200d", "zero_width"),
        ("\u2060", "zero_width"),
        ("\u2063", "zero_width"),
        ("\ufeff", "zero_width"),
        ("\u034f", "zero_width"),
        ("\u2028", "separator"),
        ("\u3164", "filler"),
        ("\u115f", "filler"),
        ("\u2800", "filler"),
        ("\uffa0", "filler"),
        ("\ufe0f", "selector"),
        ("\ufe00", "selector"),
        ("\U000e0100", "selector"),
        ("\U000e0041", "tag"),
        ("\U000e0001", "tag"),
        ("\ue000", "private"),
        ("\U000f1234", "private"),
        ("\uffff", "noncharacter"),
    ],
)
def test_what_hides_is_counted_by_kind_and_place(text: str, kind: str) -> None:
    data = f"first line\nab{text}cd\n".encode()
    for cuts in ([], range(len(data)), [13], [14]):
        seen = inspect(data, *cuts)
        assert seen.text
        assert (seen.hidden, dict(seen.kinds)) == (1, {kind: 1})
        place = seen.places[0]
        assert (place.line, place.column, place.character, place.kind) == (2, 3, f"U+{ord(text[0]):04X}", kind)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff# with a byte order mark",
        "❤\ufe0f and ✔\ufe0e and 1\ufe0f\u20e3 and ©\ufe0f",
        "👩\u200d💻 👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 🧑🏽\u200d🚀 ❤\ufe0f\u200d🔥 👩\u200d❤\ufe0f\u200d👨",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "نمی\u200cخواهم",
        "ക്\u200d ශ්\u200dරී",
        "葛\U000e0100城",
        "\u1820\u180b",
        "\u2268\ufe00 \u1000\ufe00 \u5fb3\ufe00",
        "⠋⠙\u2800⠹ \u2800\u2800⣿",
        "emoji 🙂 — “quotes” … ü ß 漢字",
        "a\xa0b\u3000c\u202fd",
        "broken \ufffd sign",
    ],
)
def test_what_ordinary_writing_needs_is_not_counted(text: str) -> None:
    data = text.encode()
    assert inspect(data).kinds == {}
    assert inspect(data, *range(len(data))).hidden == 0


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a\ufe0f", 1),
        ("\ufe00", 1),
        ("\ufe0f", 1),
        ("\u200d\u0645", 1),
        ("a\ufe00", 1),
        ("".join(chr(0xE0000 + ord(c)) for c in "gbsct") + "\U000e007f", 6),
        ("❤\ufe0f\ufe0f", 1),
        ("🙂" + "".join(chr(0xFE00 + n) for n in range(3)), 3),
        ("🙂" + "".join(chr(0xE0100 + n) for n in range(5)), 5),
        ("a\u200db", 1),
        ("👩\u200d text", 1),
        ("🏴" + "".join(chr(0xE0000 + ord(c)) for c in "ignore") + "\U000e007f", 7),
        ("🏴\U000e0067\U000e0062", 2),
        ("no" + "".join(chr(0xE0000 + ord(c)) for c in "gbsct") + "\U000e007f", 6),
        ("نم\u200c\u200d\u200cی", 2),
        ("x\ufeffy", 1),
        ("x\n\ufeffy", 1),
        ("\u200bx", 1),
        ("\ufeff\ufeffx", 1),
        ("a \u2800\u2800 b", 2),
    ],
)
def test_the_same_characters_where_nothing_needs_them_are_counted(text: str, count: int) -> None:
    data = text.encode()
    assert inspect(data).hidden == count
    assert inspect(data, *range(len(data))).hidden == count


def test_only_the_first_places_are_kept_and_all_are_counted() -> None:
    seen = inspect(("x\u200b\n" * 50).encode())
    assert seen.hidden == 50
    assert [(place.line, place.column) for place in seen.places] == [(n, 2) for n in range(1, MAX_PLACES + 1)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_by_every_kind_of_line_end(end: str) -> None:
    data = f"one{end}two{end}{end}é four\u200b{end}".encode()
    for cuts in ([], range(len(data)), [5], [4, 5, 9]):
        place = inspect(data, *cuts).places[0]
        assert (place.line, place.column) == (4, 7)


def test_plain_chunks_before_a_find_count_their_lines() -> None:
    inspector = FileInspector()
    for _ in range(3):
        inspector.feed(b"line\n" * 1000 + b"ab")
    inspector.feed(b"\x1bc")
    place = inspector.result().places[0]
    assert (place.line, place.column) == (3001, 3)


def test_a_file_that_is_no_text_hides_nothing() -> None:
    assert inspect("x\u200b".encode() + b"\xff").hidden == 0
    assert inspect("x\u200b".encode() + b"\0").places == ()


def test_a_buffer_that_is_used_again_is_not_kept() -> None:
    buffer = bytearray(b"abc\n")
    inspector = FileInspector()
    inspector.feed(memoryview(buffer))
    buffer[:] = b"\n\n\n\n"
    inspector.feed(b"x\x1b")
    assert inspector.result().places[0].line == 2


def test_every_hidden_character_is_seen_in_its_bytes() -> None:
    for code in itertools.chain(range(1, 0xD800), range(0xE000, 0x110000, 1)):
        character = chr(code)
        if _hidden().match(character):
            assert _may_hide(character.encode()), f"U+{code:04X}"


PIECES = st.lists(
    st.sampled_from(
        [
            "a",
            "\n",
            "\r",
            "é",
            "\u200b",
            "🙂",
            "\ufe0f",
            "\u200d",
            "\U000e0067",
            "🏴",
            "\u2800",
            "⠋",
            "\x1b",
            "漢",
            "\ufeff",
        ]
    ),
    max_size=30,
)


@settings(max_examples=300, deadline=None)
@given(PIECES, st.lists(st.integers(min_value=0, max_value=90), max_size=8))
def test_chunks_make_no_difference(pieces: list[str], cuts: list[int]) -> None:
    data = "".join(pieces).encode()
    cuts = [cut for cut in cuts if cut <= len(data)]
    assert inspect(data, *cuts) == inspect(data)
    again = FileInspector(lambda: iter((data[:7], data[7:])))
    for start, end in itertools.pairwise([0, *sorted(cuts), len(data)]):
        again.feed(data[start:end])
    assert again.result() == inspect(data)


def test_lines_before_hidden_text_are_counted_in_a_second_reading() -> None:
    plain = b"one\ntwo\r\nthree\r" * 3
    late = "\ufefffour\u200b\n".encode()
    read: list[int] = []

    def again() -> list[bytes]:
        read.append(1)
        return [plain, plain, late]

    inspector = FileInspector(again)
    for chunk in (plain, plain, late):
        inspector.feed(chunk)
    seen = inspector.result()
    assert [(place.line, place.column, place.character) for place in seen.places] == [
        (19, 1, "U+FEFF"),
        (19, 6, "U+200B"),
    ]
    assert read == [1]
    # It stands at the start of a line and of a chunk, and not at the start of the file.
    mark = FileInspector(lambda: [plain, "\ufefffour\n".encode()])
    mark.feed(plain)
    mark.feed("\ufefffour\n".encode())
    assert [place.line for place in mark.result().places] == [10]
    plain_only = FileInspector(again)
    plain_only.feed(plain)
    plain_only.feed(plain)
    assert plain_only.result() is PLAIN_TEXT
    assert read == [1]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.integers(min_value=0, max_value=60))
def test_text_is_what_python_decodes(data: bytes, cut: int) -> None:
    try:
        is_text = "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        is_text = False
    assert inspect(data, min(cut, len(data))).text is is_text


def test_the_warning_counts_names_kinds_and_places() -> None:
    said = hidden_warning("a/SKILL.md", inspect("ok\nx\u200by\u202e\n".encode()))
    assert said is not None
    assert (said.severity, said.code, said.path, said.line) == (
        Severity.WARNING,
        "text-hidden-characters",
        "a/SKILL.md",
        2,
    )
    assert said.facts["count"] == 2
    assert said.facts["kinds"] == ["zero_width=1", "bidi=1"]
    assert said.facts["places"] == ["2:2 U+200B", "2:4 U+202E"]
    assert "at line 2 column 2 (U+200B), line 2 column 4 (U+202E); read it" in said.message
    many = hidden_warning("a", inspect(("\u200b" * 6).encode()))
    assert many is not None
    assert "line 1 column 5 (U+200B), …; read it" in many.message
    assert hidden_warning("a", inspect(b"plain")) is None
