"""Names and slugs: whatever comes in, what comes out can be a folder everywhere."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from semver import Version

from importer.formats.names import choose_name, is_semver, name_fault, slug
from importer.paths import RelPath


@pytest.mark.parametrize("name", ["a", "a-b", "x1", "0", "a" * 64, "日本語", "straße", "ünï-1", "हिन्दी", "ไทย"])
def test_valid_names(name: str) -> None:
    assert name_fault(name) == ""


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-",
        "-a",
        "a-",
        "a--b",
        "A",
        "a b",
        "a_b",
        "a.b",
        "a/b",
        "a:b",
        "a" * 65,
        "con",
        "nul",
        "lpt9",
        "a\u200b",
        "\u3164",
        "\u0301a",
        "a-\u0301",
        "a\u0301",
        "²",
        "½",
        "ǅ",
        "a\n",
        "𐐨" * 64,
        "\u0338",
        "a\u034fb",
        "é".upper(),
    ],
)
def test_names_that_are_none(name: str) -> None:
    assert name_fault(name)


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=100))
def test_slug_is_a_valid_name_or_nothing(text: str) -> None:
    made = slug(text)
    if made:
        assert name_fault(made) == ""
        assert RelPath.parse(made).text == made
        assert slug(made) == made


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), min_size=1, max_size=20))
def test_slug_keeps_letters_of_any_script(text: str) -> None:
    made = slug(text)
    if not made.endswith("-skill"):
        expected = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
        assert all(letter in made for letter in expected if not name_fault(letter))


@settings(max_examples=300, deadline=None)
@given(st.none() | st.text(max_size=70), st.none() | st.text(max_size=70), st.text(max_size=10))
def test_chosen_name_is_valid_or_nothing(stated: str | None, folder: str | None, fallback: str) -> None:
    chosen = choose_name(stated, folder, fallback)
    assert chosen.name == "" or name_fault(chosen.name) == ""
    if stated and chosen.name != stated:
        assert chosen.departure or unicodedata.normalize("NFC", stated) == chosen.name


@pytest.mark.parametrize("version", ["1.0.0", "0.0.0", "1.2.3-rc.1+build.5", "10.20.30"])
def test_versions(version: str) -> None:
    assert is_semver(version)


@pytest.mark.parametrize(
    "version",
    [
        "",
        "1",
        "1.0",
        "v1.0.0",
        "1.0.0-..",
        "1.0.0-",
        "01.0.0",
        "1.0.0-01",
        "1.0.0\n",
        " 1.0.0",
        "1.٢.0",
        "9" * 300 + ".0.0",
    ],
)
def test_versions_that_are_none(version: str) -> None:
    assert not is_semver(version)


@settings(max_examples=400, deadline=None)
@given(
    st.text("01a-.+Z", max_size=14)
    | st.from_regex(r"\A[0-9]{1,2}\.[0-9]\.[0-9]{1,2}[-+.a0-9]{0,10}")
    | st.text(max_size=8)
)
def test_a_version_is_what_the_semver_package_takes_for_one(text: str) -> None:
    assert is_semver(text) == (text.isascii() and text == text.strip() and Version.is_valid(text))
