"""One entry's metadata: local header, directory, descriptor and extra fields must tell one story."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

import pytest

from tests.builders.zips import (
    DEFLATED,
    MARK32,
    STORED,
    Item,
    archive,
    extra,
    folder,
    unicode_name,
    with_crc,
    zip64,
)
from tests.extract.zip_reading import read, refused

CONTENT = b"alpha beta gamma " * 20
FIRST = Item(name=b"first.txt", content=b"first")
GOOD = Item(name=b"a.txt", content=CONTENT)
PLAIN = Item(name=b"a.txt", content=CONTENT, method=STORED)
STREAM = Item(name=b"a.txt", content=CONTENT, streamed=True)
PLAIN_STREAM = Item(name=b"a.txt", content=CONTENT, method=STORED, streamed=True)
WIDE = Item(name=b"a.txt", content=CONTENT, wide=True, needed=45)
WIDE_STREAM = Item(name=b"a.txt", content=CONTENT, wide=True, streamed=True, needed=45)
ALL = [GOOD, PLAIN, STREAM, PLAIN_STREAM, WIDE, WIDE_STREAM]
IDS = ["deflated", "stored", "streamed", "stored-streamed", "zip64", "zip64-streamed"]


@pytest.mark.parametrize("item", ALL, ids=IDS)
def test_the_controls_are_read(item: Item) -> None:
    assert read(archive([FIRST, item])).files == {"first.txt": b"first", "a.txt": CONTENT}


# --- method ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjusted", [True, False])
def test_methods_that_differ(adjusted: bool) -> None:
    size = {"packed": len(CONTENT)} if adjusted else {}
    refused(archive([FIRST, replace(GOOD, local={"method": STORED, **size})]), says="the method")
    refused(archive([FIRST, replace(GOOD, central={"method": STORED, **size})]))
    refused(archive([FIRST, replace(PLAIN, local={"method": DEFLATED})]), says="the method")
    refused(archive([FIRST, replace(PLAIN, central={"method": DEFLATED})]), says="the method")


# --- sizes and CRC ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("item", ALL, ids=IDS)
@pytest.mark.parametrize("side", ["local", "central"])
@pytest.mark.parametrize("field", ["crc", "packed", "size"])
@pytest.mark.parametrize("lie", [1, 7, 100_000])
def test_a_size_or_crc_that_differs(item: Item, side: str, field: str, lie: int) -> None:
    changed = replace(item, local={field: lie}) if side == "local" else replace(item, central={field: lie})
    refused(archive([FIRST, changed]))


@pytest.mark.parametrize("item", ALL, ids=IDS)
@pytest.mark.parametrize("side", ["local", "central", "both"])
@pytest.mark.parametrize("fields", [("packed",), ("size",), ("packed", "size"), ("packed", "size", "crc")])
def test_a_size_of_zero_is_only_right_in_a_streamed_local_header(
    item: Item, side: str, fields: tuple[str, ...]
) -> None:
    """The content has the CRC 0, so that a reader which believes the zero finds nothing wrong."""
    zero = dict.fromkeys(fields, 0)
    content = with_crc(CONTENT, 0)
    lied = replace(
        item,
        content=content,
        local=zero if side in {"local", "both"} else {},
        central=zero if side in {"central", "both"} else {},
    )
    data = archive([FIRST, lied])
    if side == "local" and item.streamed and (not item.wide or {"packed", "size"} <= set(fields)):
        assert read(data).files["a.txt"] == content
    else:
        refused(data)


@pytest.mark.parametrize("item", [GOOD, PLAIN], ids=["deflated", "stored"])
@pytest.mark.parametrize(("size", "packed"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("value", ["true", "zero", "other", "absent"])
def test_sizes_that_refer_to_a_local_zip64_field(item: Item, size: bool, packed: bool, value: str) -> None:
    true = (len(item.content), len(item.data()))
    field = {
        "true": zip64(*true),
        "zero": zip64(0, 0),
        "other": zip64(true[0] + 1, true[1]),
        "absent": b"",
    }[value]
    local = {key: MARK32 for key, marked in (("size", size), ("packed", packed)) if marked}
    data = archive([FIRST, replace(item, needed=45, local=local, local_extra=field)])
    if size and packed and value == "true":
        assert read(data).files["a.txt"] == CONTENT
    else:
        refused(data)


def test_a_local_zip64_field_that_nothing_refers_to() -> None:
    true = zip64(len(CONTENT), len(GOOD.data()))
    assert read(archive([FIRST, replace(GOOD, local_extra=true)])).files["a.txt"] == CONTENT
    refused(archive([FIRST, replace(GOOD, local_extra=zip64(0, 0))]), says="Zip64 field")
    refused(archive([FIRST, replace(GOOD, local_extra=zip64(len(CONTENT), 1))]), says="Zip64 field")


def test_zip64_fields_of_another_length_and_in_pairs() -> None:
    for length in (0, 8, 24, 28):
        wrong = extra(0x0001, struct.pack("<QQQI", len(CONTENT), len(GOOD.data()), 0, 0)[:length])
        refused(archive([FIRST, replace(GOOD, local_extra=wrong)]), says=f"has {length} bytes")
    true = zip64(len(CONTENT), len(GOOD.data()))
    refused(archive([FIRST, replace(WIDE, local_extra=zip64(0, 0))]), says="two Zip64 fields")
    refused(archive([FIRST, replace(GOOD, local_extra=true + true)]), says="two Zip64 fields")


@pytest.mark.parametrize("fields", [("packed",), ("size",), ("offset",), ("packed", "size"), ()])
def test_a_zip64_field_in_the_directory(fields: tuple[str, ...]) -> None:
    values = {"size": len(CONTENT), "packed": len(GOOD.data()), "offset": len(FIRST.local_record())}
    raw = b"".join(struct.pack("<Q", values[key]) for key in ("size", "packed", "offset") if key in fields)
    central = dict.fromkeys(fields, MARK32)
    lied = replace(GOOD, central=central, central_extra=extra(0x0001, raw), needed=45)
    refused(archive([FIRST, lied]))
    if fields and "offset" not in fields:
        refused(archive([FIRST, replace(GOOD, central=central, needed=45)]), says="refers to a Zip64 field")


def test_a_true_zip64_field_in_the_directory_is_one_too_many() -> None:
    true = zip64(len(CONTENT), len(GOOD.data()))
    refused(archive([FIRST, replace(GOOD, central_extra=true)]), says="an entry that needs none")


def test_a_stored_entry_has_one_size() -> None:
    data = archive([FIRST, replace(PLAIN, local={"size": 5}, central={"size": 5})])
    refused(data, says="stored as it is")


# --- descriptors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("item", [STREAM, PLAIN_STREAM, WIDE_STREAM], ids=["deflated", "stored", "zip64"])
@pytest.mark.parametrize("field", ["crc", "packed", "size"])
@pytest.mark.parametrize("lie", [0, 3])
def test_a_descriptor_that_differs(item: Item, field: str, lie: int) -> None:
    refused(archive([replace(item, descriptor={field: lie}), FIRST]), says="its data descriptor says")


@pytest.mark.parametrize("item", [STREAM, PLAIN_STREAM, WIDE_STREAM], ids=["deflated", "stored", "zip64"])
def test_a_descriptor_of_another_form(item: Item) -> None:
    width = 4 if item.wide else 8
    refused(archive([replace(item, descriptor={"width": width}), FIRST]))
    refused(archive([replace(item, signed=False), FIRST]), says="no data descriptor")
    unstreamed = replace(item, streamed=False, flags=0x0008)
    refused(archive([unstreamed, FIRST]), says="no data descriptor")


def test_a_descriptor_that_no_flag_announces() -> None:
    refused(archive([replace(STREAM, local={"flags": 0}, central={"flags": 0}), FIRST]))
    tail = STREAM.local_record()[-16:]
    refused(archive([GOOD, replace(FIRST, before=tail)]), says="16 bytes lie between two entries")


def test_a_streamed_header_may_know_its_sizes() -> None:
    """7-Zip and libarchive give what they know."""
    known: dict[str, int | bytes] = {
        "crc": zlib.crc32(CONTENT), "packed": len(STREAM.data()), "size": len(CONTENT)
    }  # fmt: skip
    for keys in (["size"], ["crc", "size"], ["crc", "packed", "size"]):
        item = replace(STREAM, local={key: known[key] for key in keys})
        assert read(archive([item, FIRST])).files["a.txt"] == CONTENT


def test_stored_and_streamed_data_that_holds_a_record() -> None:
    """A streaming reader ends the entry at the first descriptor that it sees."""
    early = b"good" + struct.pack("<4sIII", b"PK\x07\x08", zlib.crc32(b"good"), 4, 4)
    for signature in (early, b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"):
        hidden = replace(PLAIN_STREAM, content=b"x" * 70 + signature + b"y" * 70)
        refused(archive([hidden, FIRST]), says="holds the signature of a zip record")
        assert read(archive([replace(hidden, streamed=False), FIRST])).names == ["a.txt", "first.txt"]
    large = replace(PLAIN_STREAM, content=b"x" * (64 * 1024 - 2) + b"PK\x07\x08" + b"y" * 100)
    refused(archive([large, FIRST]), says="holds the signature of a zip record")


# --- flags, versions, disks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [0, 2, 4, 6, 0x0800, 0x0806])
def test_flags_that_change_nothing(flags: int) -> None:
    assert read(archive([replace(GOOD, flags=flags)])).files == {"a.txt": CONTENT}


@pytest.mark.parametrize("bit", [4, 5, 7, 8, 9, 10, 12, 14, 15])
def test_flags_that_readers_take_in_different_ways(bit: int) -> None:
    refused(archive([FIRST, replace(GOOD, flags=1 << bit)]), says=f"flags 0x{1 << bit:04X}")


@pytest.mark.parametrize("bit", [1, 2, 3, 11])
@pytest.mark.parametrize("side", ["local", "central"])
def test_flags_that_differ(bit: int, side: str) -> None:
    lie = {"flags": 1 << bit}
    refused(archive([FIRST, replace(GOOD, local=lie) if side == "local" else replace(GOOD, central=lie)]))


def test_the_version_needed() -> None:
    assert read(archive([replace(GOOD, needed=45)])).files == {"a.txt": CONTENT}
    assert read(archive([replace(GOOD, local={"needed": 10})])).files == {"a.txt": CONTENT}
    for lie in (46, 63, 255, 0x0314):
        refused(archive([FIRST, replace(GOOD, needed=lie)]), says="version")
        refused(archive([FIRST, replace(GOOD, local={"needed": lie})]), says="the version needed")


def test_an_entry_on_another_disk() -> None:
    refused(archive([FIRST, replace(GOOD, central={"disk": 1})]), says="disk 1")


def test_dates_may_differ() -> None:
    assert read(archive([replace(GOOD, local={"time": 1, "date": 0})])).files == {"a.txt": CONTENT}


# --- extra fields and comments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["local_extra", "central_extra"])
def test_extra_fields(side: str) -> None:
    times = extra(0x5455, b"\x01\0\0\0\0") + extra(0x7875, b"\x01\x04\0\0\0\0\x04\0\0\0\0") + extra(0xCAFE, b"")
    assert read(archive([FIRST, replace(GOOD, **{side: times})])).files["a.txt"] == CONTENT  # type: ignore[arg-type] # a field of Item
    for broken in (times + b"\0", times + b"\0\0\0", struct.pack("<HH", 0x5455, 9) + b"short", b"\x01\0"):
        refused(archive([FIRST, replace(GOOD, **{side: broken})]), says="do not add up")  # type: ignore[arg-type] # a field of Item
    empty = extra(0x5455, b"")
    refused(archive([FIRST, replace(GOOD, **{side: empty})]), says="is empty, which libarchive refuses")  # type: ignore[arg-type] # a field of Item
    streamed = extra(0x6C78, b"\x04\0\0\xff\xa1")
    refused(archive([FIRST, replace(GOOD, **{side: streamed})]), says="0x6C78")  # type: ignore[arg-type] # a field of Item


def test_an_extra_field_that_reaches_into_the_data() -> None:
    refused(archive([FIRST, replace(GOOD, local_extra=extra(1, b""), local={"extra_length": 9})]))
    refused(archive([FIRST, replace(GOOD, local={"extra_length": 0xFFFF})]))
    refused(archive([FIRST, replace(GOOD, central={"extra_length": 0xFFFF})]))


def test_an_entry_comment_is_accepted_and_a_record_in_it_is_not() -> None:
    assert read(archive([FIRST, replace(GOOD, comment=b"a comment")])).files["a.txt"] == CONTENT
    refused(archive([FIRST, replace(GOOD, comment=b"PK\x01\x02")]), says="in its comment")
    refused(archive([replace(GOOD, comment=GOOD.local_record()), FIRST]), says="in its comment")


# --- names in the two headers ----------------------------------------------------------------------------------------


def test_local_names_that_differ() -> None:
    for lie in (b"b.txt", b"a.txt\0", b"a.tx", b"", b"A.txt", b"/a.txt"):
        refused(archive([FIRST, replace(GOOD, local={"name": lie})]), says="its local header names it")


@pytest.mark.parametrize("name", [b"a.txt;1", b"a;", b"d;2/a.txt;17"])
def test_a_version_at_the_end_of_a_name(name: bytes) -> None:
    refused(archive([FIRST, replace(GOOD, name=name)]), says="which unzip cuts off")
    assert read(archive([FIRST, folder(b"a;1/"), replace(GOOD, name=b"a;1/b;1.txt")])).names[1:] == [
        "a;1/",
        "a;1/b;1.txt",
    ]


def test_unicode_path_fields() -> None:
    same = unicode_name(b"a.txt", b"a.txt")
    for sides in ({"local_extra": same}, {"central_extra": same}, {"local_extra": same, "central_extra": same}):
        assert read(archive([replace(GOOD, **sides)])).files == {"a.txt": CONTENT}  # type: ignore[arg-type] # fields of Item
        assert read(archive([replace(GOOD, flags=0x0800, **sides)])).files == {"a.txt": CONTENT}  # type: ignore[arg-type] # fields of Item
    assert read(archive([replace(STREAM, flags=0x0800, local_extra=same), FIRST])).files["a.txt"] == CONTENT
    assert read(archive([replace(WIDE_STREAM, local_extra=same), FIRST])).files["a.txt"] == CONTENT
    for named in (replace(STREAM, local_extra=same), replace(STREAM, central_extra=same)):
        refused(archive([named, FIRST]), says="makes unzip misread its descriptor")
    for order in ((0, 1), (1, 0)):
        apart = [replace(GOOD, local_extra=same), replace(STREAM, name=b"b.txt")]
        refused(archive(apart, order=order), says="makes unzip misread its descriptor")
    other = unicode_name(b"b.txt", b"a.txt")
    lies = {
        "names it": other,
        "another form than version 1": unicode_name(b"a.txt", b"a.txt", version=0),
        "version 1": unicode_name(b"a.txt", b"a.txt", version=2),
        "belongs to another name": unicode_name(b"a.txt", b"b.txt"),
        "two Unicode path fields": same + same,
        "Unicode path fields": same + unicode_name(b"c.txt", b"a.txt"),
        "Unicode path field": extra(0x7075, b"\x01"),
    }
    for says, lie in lies.items():
        for flags in (0, 0x0800):
            refused(archive([FIRST, replace(GOOD, local_extra=lie, flags=flags)]), says=says)
            refused(archive([FIRST, replace(GOOD, central_extra=lie, flags=flags)]), says=says)
            refused(archive([FIRST, replace(GOOD, central_extra=lie, local_extra=lie, flags=flags)]), says=says)
