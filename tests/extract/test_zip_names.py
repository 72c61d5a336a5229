"""How bytes become names: the flag, UTF-8 without it, code pages, and what is left to the gate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from importer.diagnostics import Severity
from importer.extract.zip_container import ZipContainer
from tests.builders.zips import UTF8, Item, archive, unicode_name
from tests.extract.zip_reading import MemoryFile, budgets, read, refused

A = Item(name=b"a.txt", content=b"alpha")
RESUME = "résumé.txt"
CHINESE = "技能/说明.md"


def plain(name: bytes, host: int = 3, **changes: bytes) -> Item:
    """Return an entry whose name has no UTF-8 flag."""
    return Item(name=name, content=b"x", host=host, local={"flags": 0}, central={"flags": 0}, **changes)  # type: ignore[arg-type] # fields of Item


def flagged(name: bytes) -> Item:
    """Return an entry whose name has the UTF-8 flag."""
    return Item(name=name, content=b"x", flags=UTF8)


@pytest.mark.parametrize("name", [RESUME, CHINESE, "𝕏/🦀.md", "e\u0301.txt"])
def test_utf8_with_and_without_the_flag(name: str) -> None:
    raw = name.encode()
    for item in (flagged(raw), plain(raw), plain(raw, host=19)):
        reading = read(archive([item]))
        assert reading.names == [name]
        assert reading.notes == []


@pytest.mark.parametrize("host", [0, 6, 10, 11, 14])
def test_unflagged_utf8_from_dos_is_a_warning(host: int) -> None:
    items = [A, plain(RESUME.encode(), host=host), plain(CHINESE.encode(), host=host)]
    (note,) = read(archive(items)).notes
    assert (note.severity, note.code, note.facts["count"]) == (Severity.WARNING, "path-encoding", 2)
    assert RESUME in note.message
    assert "--name-encoding" in note.message
    assert read(archive([A, plain(b"ascii.txt", host=host)])).notes == []


def test_flagged_names_must_be_utf8() -> None:
    for raw in (b"caf\xe9.txt", b"\xff", b"\xed\xa0\x80.txt", b"a\xc0\xafb"):
        found = refused(archive([A, flagged(raw)]), "path-encoding", says="flagged as UTF-8 and is not")
        assert "--name-encoding" not in found.message


def test_names_in_an_unknown_code_page_say_what_to_do() -> None:
    found = refused(archive([A, plain(RESUME.encode("cp437"))]), "path-encoding", says="--name-encoding cp437|")
    assert "gbk" in found.message
    assert "r\\x82sum\\x82.txt" in found.message
    inside = refused(archive([plain(CHINESE.encode("gbk"))]), "path-encoding", label="inner.zip")
    assert inside.path == "inner.zip"


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("cp437", RESUME),
        ("gbk", CHINESE),
        ("big5", "技能.md"),
        ("cp932", "日本語.md"),
        ("euc_kr", "한국어.md"),
        ("cp1251", "навык.md"),
    ],
)
def test_a_code_page_decodes_every_unflagged_name(encoding: str, name: str) -> None:
    items = [A, plain(name.encode(encoding)), flagged(CHINESE.encode() + b"2")]
    assert read(archive(items), name_encoding=encoding).names == ["a.txt", name, CHINESE + "2"]


def test_a_code_page_that_does_not_fit() -> None:
    refused(archive([A, plain(b"\xff\xff.txt")]), "path-encoding", says="a name is not gbk", name_encoding="gbk")


@pytest.mark.parametrize(
    "encoding", ["nonsense", "utf-16", "utf-7", "rot13", "base64", "unicode_escape", "cp037", "", "a\0b", "undefined"]
)
def test_what_is_no_code_page(encoding: str) -> None:
    refused(archive([A]), "path-encoding", says="is no code page for names", name_encoding=encoding)


def test_a_unicode_path_beside_a_name_in_a_code_page() -> None:
    """WinRAR and old Info-ZIP write both; without the code page the two cannot be held to each other."""
    raw = RESUME.encode("cp437")
    honest = unicode_name(RESUME.encode(), raw)
    data = archive([plain(raw, local_extra=honest, central_extra=honest)])
    refused(data, "path-encoding", says="--name-encoding")
    assert read(data, name_encoding="cp437").names == [RESUME]
    refused(data, says="0x7075", name_encoding="cp1252")
    other = unicode_name(b"evil.txt", raw)
    refused(archive([plain(raw, central_extra=other)]), says="0x7075", name_encoding="cp437")


def test_two_names_that_become_one_by_a_code_page() -> None:
    items = [flagged(RESUME.encode()), plain(RESUME.encode("cp437"))]
    refused(archive(items), says="a second entry has the same name", name_encoding="cp437")


@pytest.mark.parametrize(
    "raw",
    [
        b"../up",
        b"/etc/passwd",
        b"a\\b",
        b"a\0b",
        b"C:/x",
        b"a//b",
        b"./a",
        b"CON",
        b"a\x1bb",
        b"",
        b"a ",
        "a\u202eb".encode(),
    ],
)
def test_names_are_passed_on_as_they_are(raw: bytes) -> None:
    """What a name may be is the gate's business: here it is only read."""

    limits = budgets()
    container = ZipContainer(
        MemoryFile(archive([A, replace(A, name=raw)])), bundle=limits.meter("bundle"), archive=limits.meter("archive")
    )
    assert [entry.name for entry in container.list(lambda _amount, _path: None)] == ["a.txt", raw.decode()]
