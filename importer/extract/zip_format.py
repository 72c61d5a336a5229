"""The records of a zip file as bytes, and how a fault in them is said.

Numbers are little-endian. Field names follow the file format's own description (PKWARE's APPNOTE): "needed" is the
version needed to extract, "packed" the compressed size, "size" the uncompressed one.
"""

from __future__ import annotations

import re
import struct

from importer.diagnostics import Fact, Rejected, error, shown
from importer.records import record

LOCAL = b"PK\x03\x04"
CENTRAL = b"PK\x01\x02"
END = b"PK\x05\x06"
END64 = b"PK\x06\x06"
LOCATOR64 = b"PK\x06\x07"
DESCRIPTOR = b"PK\x07\x08"

RECORD = re.compile(rb"PK(?:\x01\x02|\x03\x04|\x05[\x05\x06]|\x06[\x06\x07\x08]|\x07\x08)")
"""The signature of any record that some reader looks for by scanning."""
VERSION_SUFFIX = re.compile(rb";[0-9]*\Z")
"""The end of a file's name on VMS (`NAME.TXT;3`)."""

LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
"""signature, needed, flags, method, time, date, crc, packed, size, name length, extra length."""
CENTRAL_HEADER = struct.Struct("<4xBBHHHHHIIIHHHHHII")
"""made by (version, host), needed, flags, method, time, date, crc, packed, size, lengths of name, extra and comment,
disk, internal attributes, external attributes, offset of the local header."""
CENTRAL_CONTENT = struct.Struct("<IIIHH")
"""At byte 16 of a central header: crc, packed, size, lengths of name and extra."""
CENTRAL_LENGTHS = struct.Struct("<HHH8xI")
"""At byte 28 of a central header: lengths of name, extra and comment; then the offset of the local header."""
END_RECORD = struct.Struct("<4xHHHHIIH")
"""this disk, disk of the directory, entries on this disk, entries, directory size, directory offset, comment length."""
END64_RECORD = struct.Struct("<4xQHHIIQQQQ")
"""size of the rest, made by, needed, this disk, disk of the directory, entries here, entries, size, offset."""
END64_LOCATOR = struct.Struct("<4xIQI")
"""disk of the record, offset of the record, number of disks."""

MAX_COMMENT = 0xFFFF
MARK16 = 0xFFFF
MARK32 = 0xFFFFFFFF

ZIP64_FIELD = 0x0001
UNICODE_NAME_FIELD = 0x7075
AES_FIELD = 0x9901
TIMES_FIELD = 0x5455
ASI_UNIX_FIELD = 0x756E
"""Mode, owner and link target as an old tool wrote them; unzip obeys it where the attributes are empty."""
STREAMED_ATTRIBUTES_FIELD = 0x6C78
"""libarchive's experiment: attributes that only its streaming reader obeys."""
PLAIN_EXTRA = re.compile(
    rb"(?:UT(?:\x05\0.{5}|\x09\0.{9}|\x0d\0.{13})|ux\x0b\0.{11}|Ux(?:\0\0|\x04\0.{4})|UX(?:\x08\0.{8}|\x0c\0.{12}))*",
    re.DOTALL,
)
"""An extra field of times and owners alone, as Info-ZIP, git and the macOS Finder write it: nothing that decides how
an entry is read."""

STREAMED = 0x0008
UTF8 = 0x0800
ENCRYPTION_FLAGS = 0x0001 | 0x0040 | 0x2000
"""Encrypted, strongly encrypted, and a masked local header."""
KNOWN_FLAGS = 0x0002 | 0x0004 | STREAMED | UTF8
"""Those whose meaning every reader shares: two hints of the compressor, descriptor, UTF-8."""

STORED = 0
DEFLATED = 8
DEFLATED64 = 9
AES = 99
METHODS = {
    1: "Shrink",
    2: "Reduce 1",
    3: "Reduce 2",
    4: "Reduce 3",
    5: "Reduce 4",
    6: "Implode",
    DEFLATED64: "Deflate64",
    10: "PKWARE DCL Implode",
    12: "bzip2",
    14: "LZMA",
    16: "IBM CMPSC",
    18: "IBM TERSE",
    19: "IBM LZ77",
    20: "zstd (old number)",
    93: "zstd",
    94: "MP3",
    95: "XZ",
    96: "JPEG",
    97: "WavPack",
    98: "PPMd",
    AES: "AES",
}

_ADVICE = "do not use it; ask its author to pack it again with an ordinary tool"


def method_name(method: int) -> str:
    """Return what people call a compression method."""
    return METHODS.get(method, f"method {method}")


def shown_bytes(raw: bytes) -> str:
    """Return bytes that are no text so that each can be told: ASCII as it is, the others as \\xNN."""
    return shown("'" + raw.decode("ascii", "backslashreplace") + "'")


def fields(extra: bytes) -> list[tuple[int, bytes]] | None:
    """Split an extra field into its (id, value) pairs; None where the lengths do not add up."""
    found = []
    at = 0
    end = len(extra)
    while at + 4 <= end:
        tag = extra[at] | extra[at + 1] << 8
        stop = at + 4 + (extra[at + 2] | extra[at + 3] << 8)
        if stop > end:
            return None
        found.append((tag, extra[at + 4 : stop]))
        at = stop
    return found if at == end else None


@record(kw_only=False)
class Refusals:
    """Makes the refusals of one archive. `label` names it where it lies inside another one ("" for the outer one)."""

    label: str
    kind: str = "zip"

    def where(self, name: str = "") -> str:
        """Return how a person of the package knows the entry `name`, or the archive itself."""
        if not name:
            return self.label
        return f"{self.label}!/{name}" if self.label else name

    def ambiguous(self, offset: int, what: str, name: str = "", **facts: Fact) -> Rejected:
        """Two readers could see two contents: `what` disagrees, at byte `offset`."""
        return self._make(
            "archive-ambiguous", offset, f"{what}: two readers could see two contents; {_ADVICE}", name, facts
        )

    def unreadable(self, offset: int, what: str, name: str = "", **facts: Fact) -> Rejected:
        """The bytes at `offset` are damaged, or are not there."""
        advice = "download it again; if it stays so, ask its author to pack it again"
        return self._make("archive-unreadable", offset, f"{what}; {advice}", name, facts)

    def encrypted(self, offset: int, what: str, name: str = "") -> Rejected:
        """The whole archive depends on a password."""
        advice = "unpack it with its password and preview the folder"
        return self._make("archive-encrypted", offset, f"{what}; {advice}", name, {})

    def unsupported(self, offset: int, what: str, name: str, method: int) -> Rejected:
        """Where the entry ends cannot be told without reading its method."""
        advice = "ask for an archive with Deflate, or unpack it and preview the folder"
        return self._make("archive-method-unsupported", offset, f"{what}; {advice}", name, {"method": method})

    def _make(self, code: str, offset: int, message: str, name: str, facts: dict[str, Fact]) -> Rejected:
        entry = f", entry '{shown(name)}'" if name else ""
        text = f"{self.kind}, byte {offset:,}{entry}: {message}"
        return Rejected([error(code, text, self.where(name), None, offset=offset, **facts)])
