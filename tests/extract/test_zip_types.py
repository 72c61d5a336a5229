"""What an entry is: folder, file, link or something special, by its name and whatever gives it attributes."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from importer.model import EntryKind
from tests.builders.zips import DEFLATED, Item, archive, extra, folder, link
from tests.extract.zip_reading import read, refused

CONTENT = b"alpha beta gamma " * 20
FIRST = Item(name=b"first.txt", content=b"first")
GOOD = Item(name=b"a.txt", content=CONTENT)


@pytest.mark.parametrize("host", [0, 3, 19])
def test_folders_by_name_and_attributes(host: int) -> None:
    honest = folder(b"test/", host=host)
    assert [entry.kind for entry in read(archive([honest])).listed] == [EntryKind.DIRECTORY]
    bare = folder(b"test/", host=host, mode=0, dos=0)
    assert [entry.kind for entry in read(archive([bare])).listed] == [EntryKind.DIRECTORY]
    refused(archive([folder(b"test/", host=host, content=b"data")]), says="its name is a folder's")
    refused(archive([folder(b"test", host=host, mode=0)]), says="its attributes are a folder's")
    refused(archive([folder(b"test", host=host, dos=0)]), says="its attributes are a folder's")
    refused(archive([folder(b"test/", host=host, mode=0o100755)]), says="its mode is 0100755")
    refused(archive([folder(b"test/", host=host, mode=0o120777)]), says="its mode is 0120777")


def test_an_empty_folder_may_be_deflated() -> None:
    assert read(archive([folder(b"test/", method=DEFLATED)])).names == ["test/"]
    hidden = folder(b"test/", method=DEFLATED, packed=folder(content=CONTENT, method=DEFLATED).data())
    refused(archive([hidden]), says="longer than the 0 bytes")


@pytest.mark.parametrize(
    ("mode", "what"),
    [(0o010644, "named pipe"), (0o020600, "character device"), (0o060600, "block device"), (0o140755, "socket"),
     (0o050000, "entry of an unknown type")],
)  # fmt: skip
def test_special_files_are_named(mode: int, what: str) -> None:
    entry = read(archive([FIRST, replace(GOOD, mode=mode)])).entry("a.txt")
    assert (entry.kind, entry.special) == (EntryKind.SPECIAL, what)


@pytest.mark.parametrize(("dos", "what"), [(0x08, "volume label"), (0x40, "device")])
def test_special_dos_attributes_are_named(dos: int, what: str) -> None:
    entry = read(archive([FIRST, replace(GOOD, host=0, mode=0, dos=dos)])).entry("a.txt")
    assert (entry.kind, entry.special) == (EntryKind.SPECIAL, what)


def test_links() -> None:
    items = [
        FIRST,
        link(b"good", b"first.txt"),
        link(b"packed", b"first.txt", method=DEFLATED, streamed=True),
        link(b"long", b"x" * 4096),
        link(b"longest", b"x" * 4095),
        link(b"empty", b""),
        link(b"nul", b"first\0.txt"),
        link(b"latin", b"caf\xe9"),
        link(b"foreign", b"first.txt", host=0),
        link(b"darwin", b"first.txt", host=19),
        link(b"internal", b"first.txt", central={"internal": 4}),
        link(b"text", b"first.txt", central={"internal": 1}),
        replace(GOOD, name=b"reparse", host=0, mode=0, dos=0x400),
    ]
    reading = read(archive(items))
    found = {entry.name: entry.link_target for entry in reading.listed if entry.kind is EntryKind.SYMLINK}
    assert found == {
        "good": "first.txt",
        "packed": "first.txt",
        "long": None,
        "longest": "x" * 4095,
        "empty": None,
        "nul": None,
        "latin": None,
        "foreign": None,
        "darwin": None,
        "internal": None,
        "text": "first.txt",
        "reparse": None,
    }
    refused(archive([FIRST, link(b"good", b"first.txt", local={"crc": 1}, central={"crc": 1})]), "archive-unreadable")


@pytest.mark.parametrize(
    ("host", "mode", "executable"),
    [
        (3, 0o100755, True),
        (3, 0o100644, False),
        (3, 0o000755, True),
        (3, 0o104755, True),
        (19, 0o100755, True),
        (3, 0, None),
        (0, 0o100755, None),
        (10, 0, None),
        (0, 0xFFFF, None),
        (19, 0xFFFF, None),
    ],
)
def test_the_executable_bit(host: int, mode: int, executable: bool | None) -> None:
    assert read(archive([replace(GOOD, host=host, mode=mode)])).entry("a.txt").executable is executable


def test_attributes_of_an_amiga() -> None:
    refused(archive([FIRST, replace(GOOD, host=1, mode=0o104755)]), says="an Amiga's")
    assert read(archive([FIRST, replace(GOOD, host=1, mode=0)])).entry("a.txt").kind is EntryKind.FILE


def test_a_mode_with_every_bit_set() -> None:
    refused(archive([FIRST, replace(GOOD, mode=0xFFFF)]), says="its mode has every bit set")


@pytest.mark.parametrize("side", ["local_extra", "central_extra"])
def test_a_mode_in_an_asi_unix_field(side: str) -> None:
    """unzip obeys it where the attributes say nothing, and makes a link or a folder of a file."""

    def asi(mode: int, target: bytes = b"") -> dict[str, bytes]:
        return {side: extra(0x756E, bytes(4) + struct.pack("<HIHH", mode, len(target), 0, 0) + target)}

    for mode in (0, 0o100644):
        item = replace(GOOD, mode=mode, **asi(0o100755))  # type: ignore[arg-type] # a field of Item
        assert read(archive([FIRST, item])).files["a.txt"] == CONTENT
        for lie in (asi(0o120777), asi(0o040755), asi(0o020644)):
            refused(archive([FIRST, replace(GOOD, mode=mode, **lie)]), says="makes something else of it")  # type: ignore[arg-type] # a field of Item
        refused(archive([FIRST, replace(GOOD, mode=mode, **asi(0o644))]), says="gives no type")  # type: ignore[arg-type] # a field of Item
        with_target = replace(GOOD, mode=mode, **asi(0o120777, b"target"))  # type: ignore[arg-type] # a field of Item
        refused(archive([FIRST, with_target]), says="another form than a mode")
    assert read(archive([folder(**asi(0o040755))])).names == ["skill/"]
    assert read(archive([FIRST, link(b"l", b"first.txt", **asi(0o120777))])).entry("l").link_target == "first.txt"
