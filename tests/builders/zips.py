"""Zip files byte by byte: honest ones, and the same with exactly one lie.

An `Item` is written honestly unless `local`, `central` or `descriptor` say otherwise for a field; `archive` puts items
together and lets `end`, `end64` and `locator` lie in the same way. Nothing here is shared with the code under test.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Lies = Mapping[str, int | bytes]

LOCAL = b"PK\x03\x04"
CENTRAL = b"PK\x01\x02"
END = b"PK\x05\x06"
END64 = b"PK\x06\x06"
LOCATOR = b"PK\x06\x07"
DESCRIPTOR = b"PK\x07\x08"
MARK16 = 0xFFFF
MARK32 = 0xFFFFFFFF

STORED = 0
DEFLATED = 8
STREAMED = 0x0008
UTF8 = 0x0800
_COUNTS = ("disk", "directory_disk", "here", "entries", "size", "offset")
DATE = 0x21
"""1980-01-01."""


def deflate(content: bytes, level: int = 6) -> bytes:
    """Return a raw Deflate stream."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def extra(tag: int, value: bytes) -> bytes:
    """Return one extra field."""
    return struct.pack("<HH", tag, len(value)) + value


def zip64(size: int, packed: int) -> bytes:
    """Return the Zip64 field of a local header."""
    return extra(0x0001, struct.pack("<QQ", size, packed))


def unicode_name(name: bytes, header_name: bytes, version: int = 1, crc: int | None = None) -> bytes:
    """Return an Info-ZIP Unicode path field that renames the entry `header_name`."""
    return extra(0x7075, struct.pack("<BI", version, zlib.crc32(header_name) if crc is None else crc) + name)


def with_crc(content: bytes, crc: int) -> bytes:
    """Return `content` and four more bytes, so that the whole has the CRC `crc`."""
    table = [_crc_step(i) for i in range(256)]
    by_top = {value >> 24: index for index, value in enumerate(table)}
    register = crc ^ MARK32
    steps = []
    for _ in range(4):
        index = by_top[register >> 24]
        steps.append(index)
        register = (register ^ table[index]) << 8 & MARK32
    current = zlib.crc32(content) ^ MARK32
    tail = b""
    for index in reversed(steps):
        tail += bytes([index ^ (current & 0xFF)])
        current = table[index] ^ current >> 8
    return content + tail


def _crc_step(value: int) -> int:
    for _ in range(8):
        value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
    return value


@dataclass(kw_only=True)
class Item:
    """One entry. `local`, `central` and `descriptor` override single fields where the entry lies."""

    name: bytes = b"skill/SKILL.md"
    content: bytes = b"---\nname: skill\ndescription: A skill.\n---\n"
    method: int = DEFLATED
    packed: bytes | None = None
    """The bytes in the file, where they are not what the method makes of `content`."""
    flags: int = 0
    host: int = 3
    mode: int = 0o100644
    dos: int = 0
    needed: int = 20
    streamed: bool = False
    """Sizes are in a descriptor, and 0 in the local header."""
    wide: bool = False
    """The local header has a Zip64 field with both sizes, and its own sizes refer to it."""
    signed: bool = True
    """The descriptor starts with its signature."""
    local_extra: bytes = b""
    central_extra: bytes = b""
    comment: bytes = b""
    local: Lies = field(default_factory=dict)
    central: Lies = field(default_factory=dict)
    descriptor: Lies = field(default_factory=dict)
    before: bytes = b""
    """Bytes in front of the local header that no entry owns."""
    listed: bool = True
    """Whether the directory has the entry."""
    offset: int | None = None
    """Where the directory says that it is; None for where it was put."""
    placed: bool = True
    """Whether it has a local header and data; else `offset` points to those of another entry."""

    def data(self) -> bytes:
        """Return the packed bytes."""
        if self.packed is not None:
            return self.packed
        return deflate(self.content) if self.method == DEFLATED else self.content

    def all_flags(self) -> int:
        """Return the flags that the entry needs."""
        return self.flags | (STREAMED if self.streamed else 0) | (0 if self.name.isascii() else UTF8)

    def local_record(self) -> bytes:
        """Return local header, data and descriptor."""
        data = self.data()
        crc = zlib.crc32(self.content)
        extra_field = self.local_extra
        packed, size = len(data), len(self.content)
        if self.wide:
            extra_field = (zip64(0, 0) if self.streamed else zip64(size, packed)) + extra_field
            packed = size = MARK32
        elif self.streamed:
            packed = size = 0
        told: dict[str, int | bytes] = {
            "signature": LOCAL,
            "needed": self.needed,
            "flags": self.all_flags(),
            "method": self.method,
            "time": 0,
            "date": DATE,
            "crc": 0 if self.streamed else crc,
            "packed": packed,
            "size": size,
            "name": self.name,
            "extra": extra_field,
            **self.local,
        }
        name, extra_field = _bytes(told["name"]), _bytes(told["extra"])
        told.setdefault("name_length", len(name))
        told.setdefault("extra_length", len(extra_field))
        record = _bytes(told["signature"]) + struct.pack(
            "<HHHHHIIIHH",
            *(told[key] for key in ("needed", "flags", "method", "time", "date", "crc", "packed", "size")),
            told["name_length"],
            told["extra_length"],
        )
        record += name + extra_field + data
        if self.streamed:
            words: dict[str, int | bytes] = {
                "crc": crc,
                "packed": len(data),
                "size": len(self.content),
                "width": 8 if self.wide else 4,
                **self.descriptor,
            }
            word = "Q" if words["width"] == 8 else "I"
            record += (DESCRIPTOR if self.signed else b"") + struct.pack(
                f"<I{word}{word}", words["crc"], words["packed"], words["size"]
            )
        return record

    def central_record(self, offset: int) -> bytes:
        """Return the directory's header."""
        data = self.data()
        told: dict[str, int | bytes] = {
            "signature": CENTRAL,
            "version": 20,
            "host": self.host,
            "needed": self.needed,
            "flags": self.all_flags(),
            "method": self.method,
            "time": 0,
            "date": DATE,
            "crc": zlib.crc32(self.content),
            "packed": len(data),
            "size": len(self.content),
            "disk": 0,
            "internal": 0,
            "attributes": self.mode << 16 | self.dos,
            "offset": offset if self.offset is None else self.offset,
            "name": self.name,
            "extra": self.central_extra,
            "comment": self.comment,
            **self.central,
        }
        name, extra_field, comment = _bytes(told["name"]), _bytes(told["extra"]), _bytes(told["comment"])
        told.setdefault("name_length", len(name))
        told.setdefault("extra_length", len(extra_field))
        told.setdefault("comment_length", len(comment))
        keys = (
            "version host needed flags method time date crc packed size name_length extra_length comment_length disk "
            "internal attributes offset"
        )
        return (
            _bytes(told["signature"])
            + struct.pack("<BBHHHHHIIIHHHHHII", *(told[key] for key in keys.split()))
            + name
            + extra_field
            + comment
        )


def folder(name: bytes = b"skill/", **changes: object) -> Item:
    """Return a folder's entry."""
    values: dict[str, object] = {
        "name": name, "content": b"", "method": STORED, "mode": 0o040755, "dos": 0x10, **changes
    }  # fmt: skip
    return Item(**values)  # type: ignore[arg-type] # the fields are those of Item


def link(name: bytes, target: bytes, **changes: object) -> Item:
    """Return a symbolic link's entry."""
    values: dict[str, object] = {"name": name, "content": target, "method": STORED, "mode": 0o120777, **changes}
    return Item(**values)  # type: ignore[arg-type] # the fields are those of Item


def archive(
    items: Sequence[Item],
    *,
    prefix: bytes = b"",
    shifted: bool = False,
    order: Sequence[int] | None = None,
    gap: bytes = b"",
    directory_tail: bytes = b"",
    comment: bytes = b"",
    suffix: bytes = b"",
    end: Lies | None = None,
    end64: Lies | None = None,
    locator: Lies | None = None,
) -> bytes:
    """Return a zip file.

    Args:
        items: the entries, as they lie in the file.
        prefix: bytes in front of everything; offsets count them only where `shifted` is true.
        shifted: see `prefix`.
        order: how the directory lists the items; None keeps their order.
        gap: bytes between the last entry and the directory.
        directory_tail: bytes after the last central header that the directory's size includes.
        comment: the archive's comment.
        suffix: bytes after the end.
        end: fields of the end record that lie: disk, directory_disk, here, entries, size, offset, comment_length.
        end64: with it (or with `locator`) there is a Zip64 record, whose fields lie: signature, rest, disk,
            directory_disk, here, entries, size, offset, tail (extensible data), between (bytes after the record).
        locator: fields of the Zip64 locator that lie: disk, position, disks.
    """
    base = len(prefix) if shifted else 0
    body = b""
    offsets: list[int] = []
    for item in items:
        body += item.before
        offsets.append(base + len(body))
        if item.placed:
            body += item.local_record()
    body += gap
    numbers = range(len(items)) if order is None else order
    records = [items[number].central_record(offsets[number]) for number in numbers if items[number].listed]
    directory = b"".join(records) + directory_tail
    told: dict[str, int | bytes] = {
        "disk": 0,
        "directory_disk": 0,
        "here": len(records),
        "entries": len(records),
        "size": len(directory),
        "offset": base + len(body),
    }
    tail = b""
    if end64 is not None or locator is not None:
        position = base + len(body) + len(directory)
        wide = {"tail": b"", "between": b"", **told, **(end64 or {})}
        extensible, between = _bytes(wide["tail"]), _bytes(wide["between"])
        wide.setdefault("rest", 44 + len(extensible))
        tail += _bytes(wide.get("signature", END64)) + struct.pack(
            "<QHHIIQQQQ", wide["rest"], 45, 45, *(wide[key] for key in _COUNTS)
        )
        tail += extensible + between
        place = {"disk": 0, "position": position, "disks": 1, **(locator or {})}
        tail += LOCATOR + struct.pack("<IQI", place["disk"], place["position"], place["disks"])
        told.update(here=MARK16, entries=MARK16, size=MARK32, offset=MARK32)
    told.update(end or {})
    told.setdefault("comment_length", len(comment))
    tail += END + struct.pack("<HHHHIIH", *(told[key] for key in (*_COUNTS, "comment_length"))) + comment
    return prefix + body + directory + tail + suffix


def _bytes(value: int | bytes) -> bytes:
    assert isinstance(value, bytes)
    return value
