"""Zip files: honest ones of every shape, then a few changes that know what they change.

Many changes keep headers, directory and checksums in step, so that a fair part is still accepted and has to be read
alike by everybody; the others lie in one place.
"""

from __future__ import annotations

import shutil
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from importer.diagnostics import Rejected
from tests.builders.zips import DEFLATED, MARK16, MARK32, Item, Lies, archive, extra, unicode_name
from tests.extract.zip_readers import COMMANDS, can_read, hold, our_view, with_command, with_zipfile
from tests.extract.zip_reading import read
from tests.fuzz.engine import Target
from tests.fuzz.zip_drafts import RECORDS, WORDS, Draft, honest

if TYPE_CHECKING:
    from pathlib import Path

ODD = [
    b"\\",
    b"\0",
    b"/",
    b"/../",
    b"/./",
    b".",
    b" ",
    b":",
    b";1",
    b"\x1b",
    b"\xff",
    "\u202e".encode(),
    b"'",
    b"~",
    b"*",
]
NUMBERS = [
    0, 1, 2, 3, 7, 8, 9, 12, 14, 16, 20, 21, 45, 46, 63, 64, 93, 99, 0x7FFF, 0x8000, MARK16 - 1, MARK16, MARK16 + 1,
    0x7FFFFFFF, MARK32 - 1, MARK32,
]  # fmt: skip
MODES = [
    0, 0o100644, 0o100755, 0o104755, 0o040755, 0o120777, 0o010644, 0o020644, 0o060644, 0o140644, 0o170000, MARK16, 0o644
]  # fmt: skip
LOCAL_FIELDS = ["needed", "flags", "method", "time", "date", "crc", "packed", "size", "name_length", "extra_length"]
CENTRAL_FIELDS = [*LOCAL_FIELDS, "version", "host", "disk", "internal", "attributes", "offset", "comment_length"]
END_FIELDS = ["disk", "directory_disk", "here", "entries", "size", "offset", "comment_length"]
WIDE_FIELDS = [*END_FIELDS[:-1], "rest"]
BITS = {"crc": 32, "packed": 32, "size": 32, "attributes": 32, "offset": 32, "version": 8, "host": 8}


Change = Callable[[Random, Draft], None]
Twist = Callable[[Random, bytes], bytes]


# --- changes before the archive is written ---------------------------------------------------------------------------


def _pick(chance: Random, draft: Draft) -> Item:
    return chance.choice(draft.items)


def _value(chance: Random, name: str, bits: int = 0) -> int:
    value = chance.choice(NUMBERS) if chance.randrange(4) else 1 << chance.randrange(32)
    return value & (1 << (bits or BITS.get(name, 16))) - 1


def _more(lies: Lies, name: str, value: int | bytes) -> Lies:
    return {**lies, name: value}


def lie_in_one_header(chance: Random, draft: Draft) -> None:
    """Set a field of a local or a central header."""
    entry = _pick(chance, draft)
    if chance.randrange(2):
        name = chance.choice(LOCAL_FIELDS)
        entry.local = _more(entry.local, name, _value(chance, name))
    else:
        name = chance.choice(CENTRAL_FIELDS)
        entry.central = _more(entry.central, name, _value(chance, name))


def lie_in_both_headers(chance: Random, draft: Draft) -> None:
    """Set a field of both headers, and of the descriptor where it has it, to one value."""
    entry = _pick(chance, draft)
    name = chance.choice(LOCAL_FIELDS[:8])
    value = _value(chance, name)
    entry.local = _more(entry.local, name, value)
    entry.central = _more(entry.central, name, value)
    if name in {"crc", "packed", "size"}:
        entry.descriptor = _more(entry.descriptor, name, value)


def set_flags(chance: Random, draft: Draft) -> None:
    """Set flags on both sides, as a tool would."""
    _pick(chance, draft).flags ^= 1 << chance.randrange(16)


def set_method(chance: Random, draft: Draft) -> None:
    """Use another method on both sides, with bytes that may or may not be of it."""
    entry = _pick(chance, draft)
    if chance.randrange(2):
        entry.packed = entry.data()
    entry.method = chance.choice([0, 1, 6, 8, 9, 12, 14, 93, 95, 98, 99])


def set_attributes(chance: Random, draft: Draft) -> None:
    """Make it something else by its attributes."""
    entry = _pick(chance, draft)
    entry.mode = chance.choice(MODES)
    entry.dos = chance.choice([0, 1, 8, 0x10, 0x20, 0x40, 0x400, 0x8000, 0x8020])
    entry.host = chance.choice([0, 1, 3, 7, 10, 11, 14, 19, 255])


def rename(chance: Random, draft: Draft) -> None:
    """Put odd bytes into a name, on both sides."""
    entry = _pick(chance, draft)
    at = chance.randrange(len(entry.name) + 1)
    entry.name = entry.name[:at] + chance.choice(ODD + WORDS) + entry.name[at + chance.randrange(2) :]
    if chance.randrange(3) == 0:
        flags = chance.choice([0, 0x800])
        entry.local = _more(entry.local, "flags", flags)
        entry.central = _more(entry.central, "flags", flags)


def rename_one_side(chance: Random, draft: Draft) -> None:
    """Give the local header another name."""
    entry = _pick(chance, draft)
    entry.local = _more(entry.local, "name", entry.name + chance.choice(ODD))


def twin(chance: Random, draft: Draft) -> None:
    """Give two entries one name, or nearly one."""
    entry = _pick(chance, draft)
    name = chance.choice([entry.name, entry.name.upper(), entry.name + b"/x", entry.name.rstrip(b"/")])
    draft.items.append(replace(entry, name=name, content=b"another", packed=None))
    draft.order = None


def add_extra(chance: Random, draft: Draft) -> None:
    """Add an extra field on one side or both."""
    entry = _pick(chance, draft)
    size, packed = len(entry.content), len(entry.data())
    value = chance.choice(
        [
            extra(0x0001, struct.pack("<QQ", size, packed)),
            extra(0x0001, struct.pack("<QQ", size, packed)[: chance.randrange(17)]),
            extra(0x0001, chance.randbytes(16)),
            unicode_name(entry.name, entry.name),
            unicode_name(entry.name + b"x", entry.name),
            unicode_name(entry.name, entry.name, version=chance.randrange(3)),
            unicode_name(b"evil", entry.name, crc=chance.getrandbits(32)),
            extra(0x9901, struct.pack("<HHBH", 2, 0x4541, 3, 8)),
            extra(0x6C78, b"\x07\x03\0\0\0\0\0\0\xff\xa1"),
            extra(0x5455, b"\x03" + chance.randbytes(8)),
            extra(0x7875, b"\x01\x04" + chance.randbytes(4) + b"\x04" + chance.randbytes(4)),
            extra(0x000A, bytes(4) + struct.pack("<HH", 1, 24) + chance.randbytes(24)),
            extra(0x000D, bytes(12) + b"target"),
            extra(0x5855, chance.randbytes(12)),
            extra(
                0x756E,
                chance.randbytes(4) + struct.pack("<H", chance.choice(MODES)) + bytes(8) + chance.choice([b"", b"x"]),
            ),
            extra(0x6375, b"\x01" + chance.randbytes(4) + b"comment"),
            extra(0x0017, chance.randbytes(8)),
            extra(chance.randrange(1 << 16), chance.randbytes(chance.randrange(20))),
            chance.randbytes(chance.randrange(1, 9)),
            b"\0" * chance.randrange(1, 9),
        ]
    )
    side = chance.randrange(4)
    if side != 1:
        entry.local_extra += value
    if side != 0:
        entry.central_extra += value


def change_stream(chance: Random, draft: Draft) -> None:
    """Damage a deflate stream, and mend sizes and CRC by what zlib makes of it."""
    entry = _pick(chance, draft)
    if entry.method != DEFLATED:
        return
    packed = bytearray(entry.data())
    for _ in range(chance.randrange(1, 4)):
        if not packed:
            break
        at = chance.randrange(min(len(packed), chance.choice([4, 40, 1 << 20])))
        match chance.randrange(4):
            case 0 | 1:
                packed[at] ^= 1 << chance.randrange(8)
            case 2:
                packed[at:at] = chance.choice([b"\0\0\0\xff\xff", b"\x02", chance.randbytes(3)])
            case _:
                del packed[at : at + chance.randrange(1, 4)]
    inflater = zlib.decompressobj(-15)
    try:
        entry.content = inflater.decompress(bytes(packed), 1 << 20)
    except zlib.error:
        entry.content = entry.content[: chance.randrange(len(entry.content) + 1)]
    if inflater.eof and inflater.unused_data and chance.randrange(2):
        del packed[len(packed) - len(inflater.unused_data) :]
    entry.packed = bytes(packed)


def lie_in_a_descriptor(chance: Random, draft: Draft) -> None:
    """Stream an entry and give its descriptor another field or form."""
    entry = _pick(chance, draft)
    entry.streamed = True
    match chance.randrange(5):
        case 0:
            entry.signed = False
        case 1:
            entry.descriptor = _more(entry.descriptor, "width", chance.choice([4, 8]))
        case 2:
            entry.wide = not entry.wide
        case 3:
            name = chance.choice(["crc", "packed", "size"])
            entry.descriptor = _more(entry.descriptor, name, _value(chance, name))
        case _:
            entry.local = {"crc": zlib.crc32(entry.content), "packed": len(entry.data()), "size": len(entry.content)}


def lie_at_the_end(chance: Random, draft: Draft) -> None:
    """Set a field of the end record, of the Zip64 record or of its locator."""
    match chance.randrange(4):
        case 0:
            name = chance.choice(END_FIELDS)
            draft.end[name] = _value(chance, name, 32 if name in {"size", "offset"} else 16)
        case 1:
            name = chance.choice(WIDE_FIELDS)
            draft.end64 = {**(draft.end64 or {}), name: _value(chance, name, 32)}
        case 2:
            draft.locator = {chance.choice(["disk", "position", "disks"]): _value(chance, "", 32)}
        case _:
            draft.end64 = {chance.choice(["tail", "between"]): chance.choice([b"x", b"x" * 20, b"x" * 56])}


def put_bytes_between(chance: Random, draft: Draft) -> None:
    """Put bytes, or a whole archive, where none belong."""
    value = chance.choice([b"x", b"\0" * 20, chance.choice(RECORDS) + bytes(40), archive([Item(name=b"hidden")])])
    match chance.randrange(7):
        case 0:
            draft.prefix = value
            draft.shifted = bool(chance.randrange(2))
        case 1:
            draft.gap = value
        case 2:
            draft.tail = value
        case 3:
            draft.comment = value
        case 4:
            draft.suffix = value
        case 5:
            _pick(chance, draft).before = value
        case _:
            _pick(chance, draft).comment = value


def hide_or_repeat(chance: Random, draft: Draft) -> None:
    """Leave an entry out of the directory or out of the file, or point it elsewhere."""
    entry = _pick(chance, draft)
    match chance.randrange(4):
        case 0:
            entry.listed = False
        case 1:
            entry.placed = False
        case 2:
            entry.offset = chance.randrange(400)
        case _:
            draft.items.append(replace(entry, name=entry.name + b"2", placed=False, offset=0))
            draft.order = None


SHAPES: list[Change] = [
    lie_in_one_header, lie_in_both_headers, set_flags, set_method, set_attributes, rename, rename_one_side, twin,
    add_extra, add_extra, change_stream, change_stream, lie_in_a_descriptor, lie_at_the_end, put_bytes_between,
    hide_or_repeat,
]  # fmt: skip


# --- changes afterwards ----------------------------------------------------------------------------------------------


def flip_bits(chance: Random, data: bytes) -> bytes:
    """Flip a few bits anywhere."""
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def set_word(chance: Random, data: bytes) -> bytes:
    """Set two or four bytes near a record."""
    at = data.find(chance.choice(RECORDS), chance.randrange(len(data))) + chance.randrange(56)
    raw = chance.choice(NUMBERS).to_bytes(4, "little")[: chance.choice([2, 4])]
    return data[:at] + raw + data[at + len(raw) :] if at >= 0 else data


def cut(chance: Random, data: bytes) -> bytes:
    """Leave out or repeat a stretch."""
    start = chance.randrange(len(data))
    stop = min(len(data), start + chance.choice([1, 4, 22, 46, 200, 100_000]))
    return data[:start] + (data[start:stop] * 2 if chance.randrange(2) else b"") + data[stop:]


def splice(chance: Random, data: bytes) -> bytes:
    """Continue with another archive."""
    other = honest(chance).written()
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other)) :]


TWISTS: list[Twist] = [flip_bits, set_word, cut, splice]


def mutant(chance: Random) -> bytes:
    """Return an honest archive with up to three changes."""
    draft = honest(chance)
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
        chance.choice(SHAPES)(chance, draft)
    data = draft.written()
    if chance.randrange(6) == 0:
        data = chance.choice(TWISTS)(chance, data)
    return data


# --- what must hold --------------------------------------------------------------------------------------------------


def feed(data: bytes, _scratch: Path, /) -> str:
    """Read it all, the way the application does."""
    read(data, threads=2)
    return "accepted"


def agree(data: bytes, scratch: Path, whole: bool, /) -> None:
    """Hold our view to that of zipfile, and now and then to those of programs."""
    try:
        ours = our_view(data)
    except Rejected as refused:
        raise AssertionError(f"accepted once, then refused: {refused}") from refused
    if ours is None:
        return
    hold(ours, with_zipfile(data), "zipfile")
    for reader, command in COMMANDS.items() if whole else ():
        if shutil.which(command[0]) and can_read(reader, data):
            hold(ours, with_command(reader, data, scratch), reader)


TARGET = Target(name="zip", make=mutant, feed=feed, agree=agree)
