"""Tars and gzip streams built byte by byte: a good one, and the same with exactly one lie."""

from __future__ import annotations

import struct
import zlib

POSIX = b"ustar\x0000"
GNU = b"ustar  \x00"
OLD = bytes(8)
END = bytes(1024)


def padded(body: bytes) -> bytes:
    """Return a body filled up to whole blocks."""
    return body + bytes(-len(body) % 512)


def header(
    name: bytes,
    *,
    size: int = 0,
    kind: bytes = b"0",
    mode: int = 0o644,
    link: bytes = b"",
    magic: bytes = POSIX,
    prefix: bytes = b"",
    size_field: bytes | None = None,
    mode_field: bytes | None = None,
    checksum: int | None = None,
    patch: tuple[int, bytes] = (0, b""),
) -> bytes:
    """Return one header: a field that is given raw is written as it is, `patch` is written over it at an offset.

    The checksum is right unless it is given.
    """
    block = bytearray(512)
    block[0:100] = name.ljust(100, b"\0")
    block[100:108] = mode_field if mode_field is not None else b"%07o\0" % mode
    block[108:124] = b"0000000\x000000000\x00"
    block[124:136] = size_field if size_field is not None else b"%011o\0" % size
    block[136:148] = b"00000000000\0"
    block[156:157] = kind
    block[157:257] = link.ljust(100, b"\0")
    block[257:265] = magic
    block[345:500] = prefix.ljust(155, b"\0")
    if patch[1]:
        block[patch[0] : patch[0] + len(patch[1])] = patch[1]
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % (sum(block) if checksum is None else checksum)
    return bytes(block)


def member(
    name: str | bytes,
    body: bytes = b"",
    *,
    kind: bytes = b"0",
    mode: int = 0o644,
    link: str | bytes = b"",
    magic: bytes = POSIX,
    prefix: bytes = b"",
    size: int | None = None,
    size_field: bytes | None = None,
    mode_field: bytes | None = None,
    checksum: int | None = None,
    patch: tuple[int, bytes] = (0, b""),
) -> bytes:
    """Return a header with its body."""
    head = header(
        name if isinstance(name, bytes) else name.encode(),
        size=len(body) if size is None else size,
        kind=kind,
        mode=mode,
        link=link if isinstance(link, bytes) else link.encode(),
        magic=magic,
        prefix=prefix,
        size_field=size_field,
        mode_field=mode_field,
        checksum=checksum,
        patch=patch,
    )
    return head + padded(body)


def record(key: str, value: str | bytes) -> bytes:
    """Return one pax record, with its own length in front."""
    rest = b" " + key.encode() + b"=" + (value if isinstance(value, bytes) else value.encode()) + b"\n"
    size = len(rest) + 1
    while len(b"%d" % size) + len(rest) != size:
        size = len(b"%d" % size) + len(rest)
    return b"%d" % size + rest


def pax(*records: bytes, kind: bytes = b"x") -> bytes:
    """Return a pax header with these records."""
    return member("PaxHeaders/x", b"".join(records), kind=kind)


def long_name(name: bytes, kind: bytes = b"L", end: bytes = b"\0") -> bytes:
    """Return a GNU long-name header."""
    return member("././@LongLink", name + end, kind=kind, magic=GNU)


def tar(*parts: bytes, end: bytes = END) -> bytes:
    """Return the parts with the end of an archive."""
    return b"".join(parts) + end


def gz(
    data: bytes,
    *,
    flags: int = 0,
    fields: bytes = b"",
    crc: int | None = None,
    size: int | None = None,
    method: int = 8,
    after: bytes = b"",
    body: bytes | None = None,
) -> bytes:
    """Return one gzip member; `fields` stand behind the fixed header, `after` behind the end."""
    if body is None:
        deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
        body = deflate.compress(data) + deflate.flush()
    trailer = struct.pack(
        "<II", zlib.crc32(data) if crc is None else crc, (len(data) if size is None else size) & 0xFFFFFFFF
    )
    return b"\x1f\x8b" + bytes([method, flags, 0, 0, 0, 0, 0, 3]) + fields + body + trailer + after
