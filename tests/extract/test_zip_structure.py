"""Entries against each other: they tile the file, the directory lists each of them once, and no name stands twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.builders.zips import DEFLATED, STORED, Item, archive, deflate, folder
from tests.extract.zip_reading import read, refused

A = Item(name=b"a.txt", content=b"alpha " * 20)
B = Item(name=b"b.txt", content=b"beta " * 20)
C = Item(name=b"c.txt", content=b"gamma " * 20)


def test_the_directory_may_have_another_order() -> None:
    reading = read(archive([A, B, C], order=[2, 0, 1]))
    assert reading.names == ["c.txt", "a.txt", "b.txt"]
    assert [entry.handle for entry in reading.listed] == [0, 1, 2]
    assert reading.files == {"a.txt": A.content, "b.txt": B.content, "c.txt": C.content}


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_local_entry_that_the_directory_does_not_list(position: int) -> None:
    items = [A, B]
    items.insert(position, replace(C, listed=False))
    refused(archive(items))


def test_a_directory_entry_without_a_local_one() -> None:
    refused(archive([A, replace(B, placed=False)]))
    refused(archive([A, replace(B, placed=False, offset=0)]), says="share the bytes")


def test_bytes_that_no_entry_owns() -> None:
    refused(archive([replace(A, before=b"junk"), B]), says="4 bytes stand in front")
    refused(archive([A, replace(B, before=b"junk")]), says="4 bytes lie between two entries")
    refused(archive([A, B], gap=b"junk"), says="4 bytes lie between the last entry and the directory")


def test_a_false_directory_and_end_between_local_entries() -> None:
    """A streaming reader stops there; readers of the directory go on."""
    decoy = archive([A])
    decoy = decoy[len(A.local_record()) :]
    refused(archive([A, replace(B, before=decoy)]), says="between two entries")


def test_local_entries_hidden_in_comments() -> None:
    hidden = C.local_record()
    refused(archive([A, replace(B, comment=hidden)]), says="comment")
    refused(archive([A, B], comment=hidden), says="comment")


@pytest.mark.parametrize("cover_listed", [True, False])
def test_a_directory_that_points_into_the_data_of_a_stored_entry(cover_listed: bool) -> None:
    inner = C.local_record()
    cover = Item(name=b"cover.bin", content=b"x" * 10 + inner, method=STORED, listed=cover_listed)
    start = 30 + len(cover.name) + 10
    refused(archive([cover, replace(C, placed=False, offset=start)]))
    refused(archive([cover, A, replace(C, placed=False, offset=start)]))


def test_an_archive_stored_inside_is_content() -> None:
    inner = archive([C])
    reading = read(archive([A, Item(name=b"inner.zip", content=inner, method=STORED)]))
    assert reading.files["inner.zip"] == inner


def test_full_overlap() -> None:
    """Many directory entries share one compressed body."""
    body = Item(name=b"x", content=b"0" * 10_000)
    copies = [replace(body, name=f"{n}".encode(), placed=False, offset=0) for n in range(50)]
    refused(archive([body, *copies]), says="share the bytes")


def test_quoted_overlap() -> None:
    """Each entry's data begins with the next one's local header, quoted as a stored block of its stream."""
    kernel = Item(name=b"kernel", content=b"0" * 1000)
    quoted = kernel.local_record()
    block = b"\0" + len(quoted).to_bytes(2, "little") + (len(quoted) ^ 0xFFFF).to_bytes(2, "little") + quoted
    stream = block[:5] + quoted
    outer = Item(name=b"outer", content=quoted + kernel.content, packed=stream, method=DEFLATED)
    start = 30 + len(b"outer") + 5
    refused(archive([outer, replace(kernel, placed=False, offset=start)]), says="share the bytes")


def test_data_that_reaches_into_the_next_entry_or_the_directory() -> None:
    longer = {"packed": len(A.data()) + 5}
    refused(archive([replace(A, local=longer, central=longer), B]), says="share the bytes")
    refused(archive([B, replace(A, local=longer, central=longer)]), says="after the start of the directory")
    shorter = {"packed": len(A.data()) - 5}
    refused(archive([replace(A, local=shorter, central=shorter), B]), says="5 bytes lie between two entries")


def test_a_stream_that_ends_before_its_packed_bytes() -> None:
    """Readers of the directory skip the rest, a streaming reader looks for the next entry in it."""
    early = replace(A, packed=deflate(A.content) + C.local_record())
    found = refused(archive([early, B]), says="its compressed stream ends after")
    assert found.path == "a.txt"
    streamed = replace(A, packed=deflate(A.content) + b"\0", streamed=True)
    refused(archive([streamed, B]), says="its compressed stream ends after")


def test_other_records_between_the_parts() -> None:
    refused(archive([A, B], gap=b"PK\x06\x08\x04\0\0\0data"), says="between the last entry and the directory")
    refused(archive([A, B], directory_tail=b"PK\x05\x05\x04\0data"))


def test_one_name_twice() -> None:
    refused(archive([A, B, replace(C, name=b"a.txt")]), says="a second entry has the same name")
    refused(archive([A, B, A]), says="a second entry has the same name")
    refused(archive([folder(b"x/"), folder(b"x/")]), says="a second entry has the same name")
    flagged = "é.txt".encode()
    refused(archive([replace(A, name=flagged), replace(B, name=flagged, local={"flags": 0}, central={"flags": 0})]))


def test_a_central_header_that_is_none() -> None:
    refused(archive([A, replace(B, central={"signature": b"PK\x01\x03"})]), says="after 1 no other one starts here")
    refused(archive([A, replace(B, local={"signature": b"PK\x03\x05"})]), says="none is here")


@pytest.mark.parametrize("where", ["name_length", "extra_length", "comment_length"])
def test_lengths_in_the_directory_that_lie(where: str) -> None:
    for lie in (1, 200, 0xFFFF):
        refused(archive([A, replace(B, central={where: lie})]))
        refused(archive([replace(A, central={where: lie}), B]))


def test_messages_name_the_archive_inside_the_archive() -> None:
    data = archive([A, replace(B, local={"crc": 9})])
    assert refused(data).path == "b.txt"
    found = refused(data, label="pack/inner.zip")
    assert found.path == "pack/inner.zip!/b.txt"
    assert "entry 'b.txt'" in found.message
    assert found.facts["offset"] == len(A.local_record())
    assert refused(data + b"x", label="pack/inner.zip").path == "pack/inner.zip"


def test_hostile_names_are_escaped_in_messages() -> None:
    bad = replace(B, name=b"\x1b]0;title\x07.txt", local={"crc": 9})
    assert "\\x1b]0;title\\x07" in refused(archive([A, bad])).message
    local = replace(B, local={"name": b"\x1b[2J\xff"})
    assert "\\x1b[2J" in refused(archive([A, local])).message
