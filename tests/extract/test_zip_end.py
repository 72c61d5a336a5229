"""The end of a zip: one end record, counts that agree, Zip64 records where they must be, and nothing around it."""

from __future__ import annotations

import struct

import pytest

from importer.extract.zip_container import looks_like_zip
from tests.builders.zips import CENTRAL, END, END64, LOCATOR, MARK16, MARK32, Item, archive, folder
from tests.extract.zip_reading import MemoryFile, read, refused

A = Item(name=b"a.txt", content=b"alpha " * 20)
B = Item(name=b"b.txt", content=b"beta " * 20)
GOOD = archive([A, B])


def test_the_control_is_read() -> None:
    reading = read(GOOD)
    assert reading.names == ["a.txt", "b.txt"]
    assert reading.files == {"a.txt": A.content, "b.txt": B.content}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(GOOD, id="zip"),
        pytest.param(b"junk" + GOOD, id="junk in front"),
        pytest.param(archive([A], prefix=b"MZ" + b"\0" * 300, shifted=True), id="self-extractor"),
        pytest.param(b"#!/bin/sh\n" + archive([A], end64={}), id="junk in front of Zip64"),
        pytest.param(GOOD + b"tail", id="bytes after it"),
        pytest.param(archive([A], comment=END + b"x" * 40), id="end record in the comment"),
        pytest.param(GOOD[:100], id="cut"),
        pytest.param(archive([]), id="empty"),
        pytest.param(b"PK\x07\x08" + GOOD, id="spanned marker"),
    ],
)
def test_a_zip_is_recognised_whatever_is_wrong_with_it(data: bytes) -> None:
    assert looks_like_zip(MemoryFile(data))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"---\nname: x\n---\nA zip ends with PK\x05\x06" + b" " * 40, id="text about zips"),
        pytest.param(b"\x1f\x8b\x08\0" + GOOD, id="gzip with a zip behind"),
        pytest.param(b"a.txt".ljust(257, b"\0") + b"ustar\x0000" + b"\0" * 300 + GOOD, id="tar with a zip inside"),
        pytest.param(b"PK", id="two letters"),
        pytest.param(b"x" * 70_000, id="no zip"),
    ],
)
def test_other_files_are_not_taken_for_a_zip(data: bytes) -> None:
    assert not looks_like_zip(MemoryFile(data))


def test_bytes_in_front_of_the_archive() -> None:
    found = refused(b"junk" + GOOD, says="4 bytes stand in front")
    assert found.facts["offset"] == len(GOOD) + 4 - 22
    refused(archive([A, B], prefix=b"junk", shifted=True), says="4 bytes stand in front of the first entry")


def test_bytes_behind_the_archive() -> None:
    found = refused(GOOD + b"MCPB_SIG_V1" * 3, says="33 bytes follow the end of the archive")
    assert found.facts["trailing"] == 33
    assert found.facts["offset"] == len(GOOD)
    refused(GOOD + b"\0" * 9000, says="9,000 zero bytes follow")


def test_a_cut_archive() -> None:
    refused(GOOD[:-30], "archive-unreadable", says="no end record")
    refused(GOOD[:-1], "archive-unreadable", says="cut short")
    refused(GOOD[:10], "archive-unreadable")


def test_an_empty_archive_says_so() -> None:
    refused(archive([]), "archive-unreadable", says="the archive is empty")
    refused(archive([], directory_tail=b"x" * 46), says="no entries, and a directory of 46 bytes")


def test_a_comment_is_accepted_and_a_record_in_it_is_not() -> None:
    assert read(archive([A, B], comment=b"a1b2c3" * 7)).names == ["a.txt", "b.txt"]
    for signature in (b"PK\x03\x04", CENTRAL, b"PK\x05\x05", END64, LOCATOR, b"PK\x06\x08", b"PK\x07\x08"):
        refused(archive([A, B], comment=b"see " + signature + b" there"), says="archive's comment")
    refused(archive([A, B], comment=b"see " + END + b" there" + b"x" * 22))


def test_two_end_records_that_both_close_the_file() -> None:
    inner = archive([Item(name=b"evil.txt")])
    refused(archive([A, B], comment=inner), says="two end records both close the file")


@pytest.mark.parametrize(("change", "says"), [(1, "follow the end"), (-1, "announces a comment")])
def test_concatenated_archives_whose_comment_lengths_are_off_by_one(change: int, says: str) -> None:
    """Three archives in one file; which one a reader sees depends on how it finds the end."""
    third = archive([Item(name=b"third.txt")])
    second = archive([Item(name=b"second.txt")], end={"comment_length": len(third)}) + third
    data = archive([Item(name=b"first.txt")], end={"comment_length": len(second)}) + second
    refused(data)
    lengths = end_lengths(data)
    for at in lengths:
        (length,) = struct.unpack_from("<H", data, at)
        data = data[:at] + struct.pack("<H", max(0, length - change)) + data[at + 2 :]
    refused(data)
    lied = archive([A], end={"comment_length": 4 - change}, comment=b"four")
    refused(lied, says=says)


def end_lengths(data: bytes) -> list[int]:
    found = []
    at = data.find(END)
    while at >= 0:
        found.append(at + 20)
        at = data.find(END, at + 1)
    return found


@pytest.mark.parametrize("field", ["disk", "directory_disk"])
def test_a_part_of_a_set(field: str) -> None:
    refused(archive([A, B], end={field: 1}), says="disk 1 of a set")


@pytest.mark.parametrize("here", [1, 2, 3])
@pytest.mark.parametrize("entries", [1, 2, 3])
@pytest.mark.parametrize("short", [False, True])
def test_counts_that_do_not_agree(here: int, entries: int, short: bool) -> None:
    """Count on this disk, count in total and size of the directory: every combination but the honest one."""
    one = len(B.central_record(0))
    size = len(A.central_record(0)) + (0 if short else one)
    data = archive([A, B], end={"here": here, "entries": entries, "size": size})
    if (here, entries, short) == (2, 2, False):
        assert read(data).names == ["a.txt", "b.txt"]
    else:
        refused(data)


def test_a_count_that_wrapped_around() -> None:
    refused(archive([A, B], end={"here": 1, "entries": 1}), says="1 entries fill")
    refused(archive([A, B], end={"here": 3, "entries": 3}), says="counts 3 entries")


def test_a_directory_with_more_than_its_entries() -> None:
    refused(archive([A, B], directory_tail=b"PK\x05\x05\x02\x00ab"), says="2 entries fill")
    refused(archive([A, B], directory_tail=CENTRAL + bytes(42)), says="2 entries fill")


def test_two_directories_and_an_offset_to_the_first() -> None:
    first = B.central_record(0)
    data = archive([A], gap=first)
    assert len(A.central_record(0)) == len(first)
    size = len(data)
    (offset,) = struct.unpack_from("<I", data, size - 6)
    moved = data[: size - 6] + struct.pack("<I", offset - len(first)) + data[size - 2 :]
    refused(moved, says="the directory should end at byte")
    refused(data, says="between the last entry and the directory")


def test_zip64_records_that_agree_are_accepted() -> None:
    assert read(archive([A, B], end64={})).names == ["a.txt", "b.txt"]
    honest: dict[str, int | bytes] = {"here": 2, "entries": 2}
    assert read(archive([A, B], end64={}, end=honest)).names == ["a.txt", "b.txt"]


def test_a_zip64_record_that_repeats_the_end_record() -> None:
    """Info-ZIP writes one when it reads from a pipe."""
    plain = archive([A, B])
    here, entries, size, offset = struct.unpack_from("<HHII", plain, len(plain) - 14)
    end: dict[str, int | bytes] = {"here": here, "entries": entries, "size": size, "offset": offset}
    assert read(archive([A, B], end64={}, end=end)).names == ["a.txt", "b.txt"]


@pytest.mark.parametrize("field", ["here", "entries", "size", "offset"])
def test_markers_without_a_zip64_record(field: str) -> None:
    refused(archive([A, B], end={field: MARK16 if field in {"here", "entries"} else MARK32}), says="no Zip64 locator")


@pytest.mark.parametrize("field", ["disk", "directory_disk"])
def test_disk_markers_without_a_zip64_record(field: str) -> None:
    refused(archive([A, B], end={field: MARK16}), says="no Zip64 locator")


@pytest.mark.parametrize("field", ["here", "entries", "size", "offset", "disk", "directory_disk"])
def test_zip64_record_and_end_record_that_differ(field: str) -> None:
    plain = archive([A, B])
    here, entries, size, offset = struct.unpack_from("<HHII", plain, len(plain) - 14)
    true = {"here": here, "entries": entries, "size": size, "offset": offset, "disk": 0, "directory_disk": 0}
    honest: dict[str, int | bytes] = {field: true[field]}
    if field in {"here", "entries"}:
        honest = {"here": here, "entries": entries}
    assert read(archive([A, B], end64={}, end=honest)).names == ["a.txt", "b.txt"]
    refused(archive([A, B], end64={}, end={**honest, field: true[field] + 1}), says="the Zip64 record")


@pytest.mark.parametrize("field", ["here", "entries", "size", "offset", "disk", "directory_disk"])
@pytest.mark.parametrize("change", [1, -1])
def test_a_zip64_record_that_lies(field: str, change: int) -> None:
    plain = archive([A, B])
    here, entries, size, offset = struct.unpack_from("<HHII", plain, len(plain) - 14)
    true = {"here": here, "entries": entries, "size": size, "offset": offset, "disk": 0, "directory_disk": 0}
    refused(archive([A, B], end64={field: max(true[field] + change, 0) or 1}))


def test_a_zip64_record_that_is_not_where_the_locator_says() -> None:
    plain = archive([A, B], end64={})
    position = len(plain) - 22 - 20 - 56
    for lie in (position - 1, position + 1, 0, 1 << 63, (1 << 64) - 5):
        refused(archive([A, B], locator={"position": lie}), says="the Zip64 locator points to")
    refused(archive([A, B], end64={"between": b"!"}), says="the Zip64 locator points to")
    refused(archive([A, B], end64={"signature": b"PK\x06\x08"}), says="no Zip64 record where")


def test_a_zip64_record_with_extensible_data() -> None:
    """A second record hides in the data: readers that search backwards find it, those that obey the locator do not."""
    refused(archive([A, B], end64={"tail": b"x" * 56}), says="the Zip64 locator points to")
    refused(archive([A, B], end64={"rest": 45}), says="57 bytes, 56 fit")
    refused(archive([A, B], end64={"rest": (1 << 64) - 1}), says="56 fit")


@pytest.mark.parametrize("lie", [{"disk": 1}, {"disks": 0}, {"disks": 2}])
def test_a_zip64_locator_of_a_set(lie: dict[str, int | bytes]) -> None:
    refused(archive([A, B], locator=lie), says="the Zip64 locator says disk")


def test_a_second_archive_with_zip64_records_inside_the_last_comment() -> None:
    """Depending on which fields are markers, readers use the hidden record or the plain end record."""
    hidden = archive([Item(name=b"hidden.txt")], end64={})[:-22]
    data = archive([A, Item(name=b"b.txt", content=B.content, comment=hidden)])
    refused(data)


@pytest.mark.parametrize("flags", range(1, 64))
def test_a_hidden_zip64_record_before_the_end_record(flags: int) -> None:
    """The record stands where it may, and every field of the end record is a marker or not."""
    plain = archive([A, B])
    here, entries, size, offset = struct.unpack_from("<HHII", plain, len(plain) - 14)
    end: dict[str, int | bytes] = {}
    for bit, (field, true) in enumerate(
        [("disk", 0), ("directory_disk", 0), ("here", here), ("entries", entries), ("size", size), ("offset", offset)]
    ):
        wide = MARK32 if field in {"size", "offset"} else MARK16
        end[field] = wide if flags >> bit & 1 else true
    if (end["here"] == MARK16) == (end["entries"] == MARK16):
        assert read(archive([A, B], end64={}, end=end)).names == ["a.txt", "b.txt"]
    else:
        refused(archive([A, B], end64={}, end=end), says="one of its two counts only")
    lie = {"entries": 1, "here": 1, "size": size - len(B.central_record(0))}
    refused(archive([A, B], end64=lie, end=end))


def test_a_folder_alone_is_an_archive() -> None:
    assert read(archive([folder()])).names == ["skill/"]
