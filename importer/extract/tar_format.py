"""Tar headers and pax records as bytes.

A header is one block of 512 bytes in one of three styles: POSIX ("ustar", NUL, "00"), GNU ("ustar", two spaces, NUL)
and the old one of Unix version 7 (no magic). Where readers are known to differ in what they make of a field, the whole
archive is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from importer.diagnostics import shown
from importer.signatures import TAR_BLOCK, tar_checksum

if TYPE_CHECKING:
    from importer.extract.zip_format import Refusals

BLOCK = TAR_BLOCK
ZEROS = bytes(BLOCK)
MAX_SIZE = (1 << 63) - 1

_POSIX = b"ustar\x0000"
_GNU = b"ustar  \x00"
_OLD = bytes(8)
_NUMBERS = (
    (108, 116, "owner", False),
    (116, 124, "group", False),
    (136, 148, "time", True),
    (329, 337, "device number", False),
    (337, 345, "device number", False),
)
_OCTAL = re.compile(rb" *([0-7]+)[ \0]*")
_DECIMAL = re.compile(rb"-?[0-9]{1,20}(?:\.[0-9]*)?")
_RECORD = re.compile(rb"([1-9][0-9]*) ([^=\n]+)=")

NUMBERS = frozenset({"atime", "ctime", "mtime", "uid", "gid"})
TEXTS = frozenset({"uname", "gname", "comment"})
IGNORED = NUMBERS | TEXTS | {"LIBARCHIVE.creationtime"}
"""pax keys that say nothing about names or contents."""
IGNORED_FAMILIES = (
    "LIBARCHIVE.xattr.",
    "SCHILY.xattr.",
    "SCHILY.acl.",
    "RHT.security.",
    "MSWINDOWS.",
)
IGNORED_SCHILY = frozenset(
    {"SCHILY.dev", "SCHILY.ino", "SCHILY.nlink", "SCHILY.fflags", "SCHILY.devmajor", "SCHILY.devminor"}
)


class Header(NamedTuple):
    """One header. `name` and `link` are raw, the name with the POSIX prefix in front."""

    offset: int
    name: bytes
    link: bytes
    type: bytes
    size: int
    mode: int


def parse_header(block: bytes, offset: int, refuse: Refusals) -> Header:
    """Read one header block.

    Raises:
        Rejected: `archive-unreadable` for a damaged one, `archive-ambiguous` where readers differ.
    """
    stored = _number(block[148:156])
    if stored != tar_checksum(block):
        what = (
            "this is no tar, it does not start with a tar header"
            if offset == 0
            else "the header's checksum is wrong, some readers stop here"
        )
        raise refuse.unreadable(offset, what)
    magic = block[257:265]
    if magic not in {_POSIX, _GNU, _OLD}:
        raise refuse.ambiguous(offset + 257, "the header is of no known style (POSIX, GNU, version 7)")
    name = _text(block, 0, 100, offset, refuse)
    prefix = _text(block, 345, 500, offset, refuse)
    if prefix:
        if magic != _POSIX:
            raise refuse.ambiguous(offset + 345, "a prefix of the name in a style that has none, some readers use it")
        name = prefix + b"/" + name
    size = _number(block[124:136])
    if size is None:
        raise refuse.unreadable(offset + 124, "the size in the header is no number")
    for start, end, what, is_needed in _NUMBERS:
        # Nothing is made of these, but a number that cannot be read is where some readers stop.
        if (is_needed or block[start:end].strip(b" \0")) and not _is_plausible(block[start:end]):
            raise refuse.unreadable(offset + start, f"the {what} in the header is no number that it can have")
    mode = _number(block[100:108])
    if mode is None:
        raise refuse.unreadable(offset + 100, "the mode in the header is no number")
    return Header(offset, name, _text(block, 157, 257, offset, refuse), block[156:157], size, mode)


def parse_pax(body: bytes, offset: int, refuse: Refusals) -> dict[str, bytes]:
    """Read the records of a pax header, and return those that are not known to be harmless.

    Raises:
        Rejected: `archive-ambiguous` for records that do not add up, or a key that stands twice.
    """
    found: dict[str, bytes] = {}
    at = 0
    while at < len(body):
        match = _RECORD.match(body, at)
        if match is None or len(match[1]) > 8:
            raise refuse.ambiguous(offset + at, "a record of the pax header does not start with its length and a key")
        end = at + int(match[1])
        if end > len(body) or body[end - 1] != 0x0A:
            raise refuse.ambiguous(offset + at, "the length of a pax record is not where the record ends")
        if not _is_utf8(match[2]):
            raise refuse.ambiguous(offset + at, "the key of a pax record is not UTF-8")
        key = match[2].decode("utf-8")
        value = body[match.end() : end - 1]
        if not _is_ignored(key):
            if key in found:
                raise refuse.ambiguous(offset + at, f"the pax header gives '{shown(key)}' twice", key=shown(key))
            found[key] = value
        elif key in NUMBERS and _DECIMAL.fullmatch(value) is None:
            raise refuse.ambiguous(offset + at, f"the pax header gives '{key}' and no number for it", key=key)
        elif key in TEXTS and not _is_utf8(value):
            raise refuse.ambiguous(offset + at, f"the pax header gives '{key}' in something else than UTF-8", key=key)
        at = end
    return found


def trim_long_name(body: bytes, offset: int, refuse: Refusals) -> bytes:
    """Return the name in the body of a GNU long-name header: it ends with a NUL.

    Raises:
        Rejected: `archive-ambiguous` where there is no NUL (some readers read on, others drop the last byte), or where
            something follows it.
    """
    name, nul, rest = body.partition(b"\0")
    if not nul:
        raise refuse.ambiguous(offset + len(body), "a long name does not end with a NUL")
    if rest.strip(b"\0"):
        raise refuse.ambiguous(offset + len(name), "a long name goes on after the NUL that ends it")
    return name


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_ignored(key: str) -> bool:
    return key in IGNORED or key in IGNORED_SCHILY or key.startswith(IGNORED_FAMILIES)


def _text(block: bytes, start: int, end: int, offset: int, refuse: Refusals) -> bytes:
    field, _, rest = block[start:end].partition(b"\0")
    if rest.strip(b"\0"):
        raise refuse.ambiguous(offset + start, "a name in the header goes on after the NUL that ends it")
    return field


def _number(field: bytes) -> int | None:
    """Return a number written in octal digits, or in base 256 after a first bit; None for anything else."""
    if field[0] & 0x80:
        # A set second bit is a negative number; and nobody needs a number that fills the field.
        return int.from_bytes(field[1:], "big") if field[0] == 0x80 else None
    match = _OCTAL.fullmatch(field)
    return int(match[1], 8) if match else None


def _is_plausible(field: bytes) -> bool:
    """Whether a number says what an owner, a device or a time can be; only times are negative (before 1970)."""
    if field[0] == 0xFF:
        return len(field) == 12 and field[:4] == b"\xff" * 4 and field[4] & 0x80 != 0
    number = _number(field)
    return number is not None and number <= (MAX_SIZE if len(field) == 12 else 0xFFFFFFFF)
