"""What one entry may say: flags, method, type, and how its local header must agree with the directory."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from importer.diagnostics import Diagnostic, Rejected, Severity, error, shown
from importer.extract.deflate64 import INSTALL_COMMAND, deflate64_inflater
from importer.extract.zip_format import (
    AES,
    AES_FIELD,
    ASI_UNIX_FIELD,
    DEFLATED,
    DEFLATED64,
    ENCRYPTION_FLAGS,
    KNOWN_FLAGS,
    MARK32,
    PLAIN_EXTRA,
    STORED,
    STREAMED,
    STREAMED_ATTRIBUTES_FIELD,
    TIMES_FIELD,
    UNICODE_NAME_FIELD,
    ZIP64_FIELD,
    Refusals,
    fields,
    method_name,
)
from importer.model import EntryKind

if TYPE_CHECKING:
    from importer.extract.zip_names import NameRule

_NEEDED = 45
"""Version 4.5 (Zip64). unzip leaves out an entry that needs more, other readers take it."""
_NEEDED_BY_UNREAD = 63
"""The same for methods that are not delivered here in any case."""

_DOS_VOLUME = 0x08
_DOS_FOLDER = 0x10
_DOS_DEVICE = 0x40
_REPARSE_POINT = 0x400
_NO_LINK = 0x4
"""A bit of the internal attributes with which unzip makes a plain file of a link."""
_AMIGA = 1
_UNIX = 3
_MODE_HOSTS = frozenset({_UNIX, 19})
"""Unix and macOS. A link of the latter is a plain file to every program, only Unix ones are links."""
_FOLDER, _REGULAR, _SYMLINK = 0x4, 0x8, 0xA
TYPES = {EntryKind.FILE: _REGULAR, EntryKind.DIRECTORY: _FOLDER, EntryKind.SYMLINK: _SYMLINK}
"""The type that a mode gives to what is delivered."""
_SPECIAL = {0x1: "named pipe", 0x2: "character device", 0x6: "block device", 0xC: "socket"}


class Header(NamedTuple):
    """A central header, as far as rules look at it."""

    host: int
    needed: int
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    internal: int
    attributes: int


class Local(NamedTuple):
    """A local header, as far as rules look at it."""

    needed: int
    flags: int
    method: int
    crc: int
    packed: int
    size: int


class Extra(NamedTuple):
    """What the extra field of one header says that can change how an entry is read."""

    aes: bool = False
    zip64: bytes | None = None
    named: bool = False
    """There is a Unicode path field."""
    type: int = 0
    """The type in the mode of an ASi Unix field: the high four bits, 0 without such a field."""


NO_EXTRA = Extra()


class Type(NamedTuple):
    """What an entry is."""

    kind: EntryKind
    executable: bool | None
    special: str = ""
    link: bool = False
    """A symbolic link whose target can be read as the entry's content."""


def entry_extra(
    raw: bytes, name: bytes, text: str, offset: int, central: bool, rule: NameRule, refuse: Refusals
) -> Extra:
    """Read the extra field of one header; `offset` is where that header starts.

    Raises:
        Rejected: `archive-ambiguous` where it is malformed, says something twice, or says something that only some
            readers obey.
    """
    if PLAIN_EXTRA.fullmatch(raw):
        return NO_EXTRA
    side = "directory" if central else "local header"
    pairs = fields(raw)
    if pairs is None:
        raise refuse.ambiguous(offset, f"the lengths in the extra field of the {side} do not add up", text)
    aes = False
    zip64: bytes | None = None
    named = False
    kind = 0
    for tag, value in pairs:
        if tag == ZIP64_FIELD:
            if central:
                raise refuse.ambiguous(offset, "the directory gives a Zip64 field to an entry that needs none", text)
            if zip64 is not None:
                raise refuse.ambiguous(offset, "the local header has two Zip64 fields", text)
            if len(value) != 16:
                raise refuse.ambiguous(offset, f"the Zip64 field has {len(value)} bytes, not the 16 of two sizes", text)
            zip64 = value
        elif tag == UNICODE_NAME_FIELD:
            if named:
                raise refuse.ambiguous(offset, f"the {side} has two Unicode path fields (0x7075)", text)
            named = True
            rule.check_unicode_field(value, name, text, offset)
        elif tag == ASI_UNIX_FIELD:
            if len(value) != 14 or kind:
                raise refuse.ambiguous(offset, f"the ASi Unix field of the {side} has another form than a mode", text)
            kind = value[5] >> 4
            if not kind:
                raise refuse.ambiguous(offset, f"the ASi Unix field of the {side} gives no type", text)
        elif tag == AES_FIELD:
            aes = True
        elif tag == TIMES_FIELD and not value:
            raise refuse.ambiguous(offset, f"the time field of the {side} is empty, which libarchive refuses", text)
        elif tag == STREAMED_ATTRIBUTES_FIELD:
            raise refuse.ambiguous(
                offset, f"field 0x6C78 of the {side} gives attributes to streaming readers only", text
            )
    return Extra(aes, zip64, named, kind)


def entry_fault(header: Header, aes: bool, text: str, offset: int, refuse: Refusals) -> Diagnostic | None:
    """Return why this one entry cannot be delivered, or None.

    Raises:
        Rejected: `archive-ambiguous` for flags, versions and sizes that readers take in different ways.
    """
    _, needed, flags, method, _, packed, size, _, _ = header
    encrypted = bool(flags & ENCRYPTION_FLAGS) or aes or method == AES
    unknown = flags & ~(KNOWN_FLAGS | ENCRYPTION_FLAGS)
    if unknown:
        raise refuse.ambiguous(offset, f"flags 0x{unknown:04X} are set, which readers take in different ways", text)
    if MARK32 in (packed, size):
        raise refuse.ambiguous(offset, "the directory refers to a Zip64 field for a size, and has none", text)
    fault: Diagnostic | None = None
    if encrypted:
        fault = _fault_encrypted()
    elif method not in (STORED, DEFLATED) and not (method == DEFLATED64 and deflate64_inflater()):
        fault = _fault_method(method)
    if needed > (_NEEDED_BY_UNREAD if fault is not None else _NEEDED):
        raise refuse.ambiguous(
            offset, f"it needs version {needed / 10:.1f} to extract, which readers differ about", text
        )
    if method == STORED and packed != size and not encrypted:
        raise refuse.ambiguous(offset, f"it is stored as it is with {packed:,} bytes and declares {size:,}", text)
    return None if fault is None else replace(fault, path=shown(refuse.where(text), 1200))


def entry_type(header: Header, folder: bool, text: str, offset: int, refuse: Refusals) -> Type:
    """Return what an entry is; `folder` tells whether its name ends with a slash.

    Raises:
        Rejected: `archive-ambiguous` where name, size and attributes disagree on whether it is a folder.
    """
    attributes = header.attributes
    mode = attributes >> 16
    if mode == 0xFFFF:
        if header.host == _UNIX:
            # "No mode" to most readers; libarchive takes it for a type that it does not know, and delivers zeros.
            raise refuse.ambiguous(offset, "its mode has every bit set, which only some readers take for none", text)
        mode = 0
    if mode and header.host == _AMIGA:
        raise refuse.ambiguous(offset, "its attributes are an Amiga's, which 7-Zip takes in its own way", text)
    nibble = mode >> 12
    if folder:
        if header.size or header.crc:
            raise refuse.ambiguous(offset, f"its name is a folder's, and it has {header.size:,} bytes of content", text)
        if nibble not in (0, _FOLDER):
            raise refuse.ambiguous(offset, f"its name is a folder's, its mode is 0{mode:o}", text)
    elif attributes & _DOS_FOLDER or nibble == _FOLDER:
        raise refuse.ambiguous(offset, "its attributes are a folder's, its name is a file's", text)
    executable = bool(mode & 0o111) if header.host in _MODE_HOSTS and mode else None
    if attributes & (_DOS_VOLUME | _DOS_DEVICE):
        return Type(EntryKind.SPECIAL, None, "volume label" if attributes & _DOS_VOLUME else "device")
    if attributes & _REPARSE_POINT:
        return Type(EntryKind.SYMLINK, None)
    if folder:
        return Type(EntryKind.DIRECTORY, None)
    if nibble in (0, _REGULAR):
        return Type(EntryKind.FILE, executable)
    if nibble == _SYMLINK:
        return Type(EntryKind.SYMLINK, None, link=header.host == _UNIX and not header.internal & _NO_LINK)
    return Type(EntryKind.SPECIAL, None, _SPECIAL.get(nibble, "entry of an unknown type"))


def hold_local(
    header: Header, local: Local, aes: tuple[bool, bool], zip64: bytes | None, text: str, offset: int, refuse: Refusals
) -> bool:
    """Hold a local header to the directory's; return whether it gives the true sizes itself.

    `aes` tells of the AES field in the directory and in the local header, `zip64` is the local field, `offset` is
    where the local header starts.

    Raises:
        Rejected: `archive-encrypted` where only one of them says so, `archive-ambiguous` for any other difference.
    """
    differ = local.flags ^ header.flags
    if differ & ENCRYPTION_FLAGS or aes[0] != aes[1] or (local.method == AES) != (header.method == AES):
        raise refuse.encrypted(offset, "only one of its two headers says that it is encrypted", text)
    if differ:
        raise _differs("the flags", f"0x{local.flags:04X}", f"0x{header.flags:04X}", text, offset, refuse)
    if local.method != header.method:
        raise _differs("the method", method_name(local.method), method_name(header.method), text, offset, refuse)
    if local.needed > _NEEDED and local.needed != header.needed:
        raise _differs("the version needed", f"{local.needed}", f"{header.needed}", text, offset, refuse)
    encrypted = bool(header.flags & ENCRYPTION_FLAGS) or aes[0] or header.method == AES
    later = bool(header.flags & STREAMED)
    packed, size = local.packed, local.size
    if zip64 is not None:
        wide_size = int.from_bytes(zip64[:8], "little")
        wide_packed = int.from_bytes(zip64[8:], "little")
        for what, wide, true in (("size", wide_size, header.size), ("compressed size", wide_packed, header.packed)):
            if wide != true and not (later and not wide):
                raise _differs(f"the {what} in the Zip64 field", f"{wide:,}", f"{true:,}", text, offset, refuse)
        if (packed == MARK32) != (size == MARK32):
            raise refuse.ambiguous(offset, "only one of two sizes refers to the Zip64 field that holds both", text)
        if packed == MARK32:
            packed, size = wide_packed, wide_size
    told = (("CRC", local.crc, header.crc), ("compressed size", packed, header.packed), ("size", size, header.size))
    for what, value, true in told:
        if value == true or (later and not value):
            continue
        if encrypted:
            raise refuse.encrypted(offset, f"it is encrypted, and its local header does not say its {what}", text)
        raise _differs(f"the {what}", f"{value:,}", f"{true:,}", text, offset, refuse)
    return packed == header.packed and size == header.size


def _differs(what: str, local: str, central: str, text: str, offset: int, refuse: Refusals) -> Rejected:
    return refuse.ambiguous(offset, f"{what}: its local header says {local}, the directory {central}", text)


@cache
def _fault_encrypted() -> Diagnostic:
    return error(
        "archive-encrypted", "the entry is encrypted; unpack the archive with its password and preview the folder"
    )


@cache
def _fault_method(method: int) -> Diagnostic:
    advice = "ask for an archive with Deflate, or unpack it and preview the folder"
    if method == DEFLATED64:
        advice = f"{INSTALL_COMMAND} adds it (this needs a C compiler); or {advice}"
    return Diagnostic(
        severity=Severity.ERROR,
        code="archive-method-unsupported",
        message=f"the entry is compressed with {method_name(method)}, which is not read here; {advice}",
        facts=MappingProxyType({"method": method, "method_name": method_name(method)}),
    )
