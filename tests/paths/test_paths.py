"""What a name may be, and how far a bad one reaches."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.paths import PathRefused, Reach, RelPath, fold_key, sort_key

WHOLE = [
    "",
    "/",
    "/etc/passwd",
    "//host/share",
    "a\\b",
    "\\\\host\\share",
    "C:",
    "C:/x",
    "c:x",
    "\u212a:x",
    "..",
    "../x",
    "a/../b",
    "a/..",
    ".",
    "./a",
    "a/./b",
    "a//b",
    "a/",
    "a\0b",
    "a\nb",
    "a\tb",
    "a\x1bb",
    "a\x7fb",
    "a\x85b",
    "a\xadb",
    "a\u200bb",
    "a\u200db",
    "a\u202eb",
    "a\u2066b",
    "\ufeffa",
    "a\u2028b",
    "a\u2029b",
    "a\ufffdb",
    "a\ue000b",
    "a\uffffb",
    "a\ud800b",
    "a\udcffb",
    "a\U000e0041b",
    "a\U0010fffdb",
    "a\u0378b",
]
LOCAL = [
    "con",
    "CON.txt",
    "a/nul",
    "Aux.tar.gz",
    "com1",
    "COM9.log",
    "lpt0",
    "com\xb9",
    "LPT\xb3.x",
    "prn .txt",
    "conin$",
    "CLOCK$",
    "a<b",
    "a>b",
    "ab:c",
    "a/b:c",
    'a"b',
    "a|b",
    "a?b",
    "a*b",
    " a",
    "a ",
    "a / b",
    "a.",
    "a./b",
    "...",
    "x" * 256,
    "\xe9" * 128,
    "/".join(["y" * 200] * 6),
    ".GIT",
    "a/.Git/config",
    "GIT~1/hooks",
]
GOOD = [
    "a",
    "SKILL.md",
    "a b/c d.md",
    ".git",
    ".github/x",
    ".env",
    "-",
    "a..b",
    "..a",
    "coms",
    "console",
    "com10",
    "nul1",
    "git~x",
    "$HOME",
    "a&b;c'd`e",
    "[1]{2}(3)",
    "100%",
    "x" * 255,
    "\xe9" * 127,
    "/".join(["y" * 200] * 5),
    "\u540d\u524d/\u8aac\u660e.md",
    "\u0645\u0644\u0641.md",
    "caf\xe9.md",
    "\U0001f600.md",
    "a\u3000b",
    "a\xa0b",
]


@pytest.mark.parametrize("text", WHOLE, ids=ascii)
def test_dangerous_names_refuse_the_whole_container(text: str) -> None:
    with pytest.raises(PathRefused) as refused:
        RelPath.parse(text)
    assert refused.value.reach is Reach.WHOLE
    assert refused.value.fault


@pytest.mark.parametrize("text", LOCAL, ids=ascii)
def test_names_that_some_systems_cannot_store_are_refused_where_they_are(text: str) -> None:
    with pytest.raises(PathRefused) as refused:
        RelPath.parse(text)
    assert refused.value.reach is Reach.LOCAL


@pytest.mark.parametrize("text", GOOD, ids=ascii)
def test_ordinary_names_are_kept(text: str) -> None:
    assert RelPath.parse(text).text == text


def test_exactly_at_a_length_passes_and_one_over_is_refused_with_its_numbers() -> None:
    assert RelPath.parse("aaaa/bb", max_path=7, max_segment=4).text == "aaaa/bb"
    assert RelPath.parse("aaaa/bb", max_path=7).text == "aaaa/bb"
    with pytest.raises(PathRefused):
        RelPath.parse("aaaa/bb", max_path=6)
    with pytest.raises(PathRefused) as path:
        RelPath.parse("aaaa/bb", max_path=6, max_segment=4)
    assert path.value.facts == {"profile": "archive", "limit": "path_bytes", "used": 7, "max": 6, "unit": "bytes"}
    with pytest.raises(PathRefused) as segment:
        RelPath.parse("aaaa/bb", max_path=7, max_segment=3)
    assert segment.value.facts == {"profile": "archive", "limit": "segment_bytes", "used": 4, "max": 3, "unit": "bytes"}


def test_lengths_are_those_of_the_composed_name() -> None:
    apart = "e\u0301" * 100
    assert len(apart.encode()) == 300
    assert RelPath.parse(apart).text == "\xe9" * 100


def test_below_and_its_parts() -> None:
    path = RelPath.parse("a/b/c.md")
    assert (path.name, path.parent, path.depth, path.segments) == ("c.md", "a/b", 2, ("a", "b", "c.md"))
    assert path.below("a") == RelPath("b/c.md")
    assert path.below("") == path
    assert path.below("a/b/c.md") is None
    assert RelPath.parse("ab/c").below("a") is None


def test_the_order_is_that_of_utf8_bytes() -> None:
    names = ["z", "\xe4", "A", "a", "\U0001f600", "\uffee"]
    paths = sorted((RelPath.parse(name) for name in names), key=sort_key)
    assert [path.text for path in paths] == ["A", "a", "z", "\xe4", "\uffee", "\U0001f600"]


CHARACTERS = st.characters(min_codepoint=1)
NAMES = st.text(CHARACTERS, max_size=12) | st.text("aAe\u0301/.\\: ~git\u212a\xdf", max_size=10)


@settings(max_examples=400, deadline=None)
@given(NAMES)
def test_what_passes_is_safe_and_stays_itself(text: str) -> None:
    try:
        path = RelPath.parse(text)
    except PathRefused:
        return
    assert RelPath.parse(path.text) == path
    assert unicodedata.is_normalized("NFC", path.text)
    assert all(segment not in {"", ".", ".."} for segment in path.segments)
    assert not any(unicodedata.category(character)[0] == "C" for character in path.text)
    assert "\\" not in path.text
    assert ":" not in path.text
    assert path.text.encode("utf-8").decode("utf-8") == path.text


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.sampled_from(["a", "con", "nul.x", "b.", " c", ".git", ".GIT", "x y", "com1", "d-e", "fg:", "..."]),
        min_size=1,
        max_size=3,
    )
)
def test_the_short_way_agrees_with_the_long_one(segments: list[str]) -> None:
    text = "/".join(segments)

    def outcome(name: str) -> Reach | None:
        try:
            RelPath.parse(name)
        except PathRefused as refused:
            return refused.reach
        return None

    # A letter outside ASCII in a folder of its own sends the same segments through every rule.
    assert outcome(text) == outcome("\xe9/" + text)


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=10))
def test_one_folded_form_for_every_spelling(text: str) -> None:
    key = fold_key(text)
    assert fold_key(key) == key
    assert fold_key(unicodedata.normalize("NFD", text)) == key
    assert fold_key(unicodedata.normalize("NFC", text)) == key
    assert fold_key(text.casefold()) == key


def test_every_character_of_category_c_is_refused() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.category(character)[0] == "C" or character in "\u2028\u2029\ufffd":
            with pytest.raises(PathRefused):
                RelPath.parse("a" + character)
        if code == 0xE100:
            break
    for character in ("\ufffe", "\U000e0001", "\U000f0000", "\U0010ffff"):
        with pytest.raises(PathRefused):
            RelPath.parse("a" + character)
