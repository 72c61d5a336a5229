"""The end of a zip file: which record closes it, and what it says about the directory.

Readers find the end record in different ways (first, last, by comment length, through the Zip64 locator), so there
must be exactly one that any of them can find, and every field that says the same thing must say the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from importer.extract.zip_format import (
    CENTRAL,
    END,
    END64,
    END64_LOCATOR,
    END64_RECORD,
    END_RECORD,
    LOCAL,
    LOCATOR64,
    MARK16,
    MARK32,
    MAX_COMMENT,
    RECORD,
    Refusals,
)
from importer.records import record

if TYPE_CHECKING:
    from importer.ports import RandomBytes

_TAIL = 22 + MAX_COMMENT
_GZIP = b"\x1f\x8b"


@record
class End:
    """What the end of the file says, after everything that says it agreed."""

    entries: int
    directory_offset: int
    directory_size: int
    offset: int
    """Where the end record starts."""


def looks_like_zip(data: RandomBytes) -> bool:
    """Tell whether the file is meant as a zip, by its content.

    A file that starts with a zip record is one, and so is one with other bytes in front of a zip, as long as its end
    record leads to a directory: both are then read, or refused with their reason. A file that starts as gzip or tar is
    not: there, what follows its end is refused.
    """
    head = data.pread(262, 0)
    if head.startswith((LOCAL, END, END64, b"PK\x07\x08", b"PK00PK")):
        return True
    if head.startswith(_GZIP) or head[257:262] == b"ustar":
        return False
    base = max(0, data.size - _TAIL)
    tail = data.pread(_TAIL, base)
    at = tail.rfind(END)
    while at >= 0:
        if at + 22 <= len(tail):
            _, _, _, entries, size, offset, _ = END_RECORD.unpack_from(tail, at)
            start = base + at - size
            if MARK32 in (size, offset) or (entries and start >= 0 and data.pread(4, start) == CENTRAL):
                return True
            if offset + size <= base + at and entries and data.pread(4, offset) == CENTRAL:
                return True
        at = tail.rfind(END, 0, at)
    return False


def read_end(data: RandomBytes, refuse: Refusals) -> End:
    """Find the end record and hold it, and its Zip64 form, to one meaning.

    Raises:
        Rejected: `archive-unreadable` where there is no end record or no entry, `archive-ambiguous` where readers
            could find another one, or where two fields that mean one thing differ.
    """
    base = max(0, data.size - _TAIL)
    tail = data.pread(_TAIL, base)
    at = _only_end(tail, base, refuse)
    here = base + at
    disk, directory_disk, entries_here, entries, size, offset, _ = END_RECORD.unpack_from(tail, at)
    values: tuple[int, ...] = (disk, directory_disk, entries_here, entries, size, offset)
    marked = MARK16 in values[:4] or MARK32 in values[4:]
    located = here >= 20 and data.pread(4, here - 20) == LOCATOR64
    stop = here
    if located or marked:
        if not located:
            raise refuse.ambiguous(
                here, "the end record points to a Zip64 record, and no Zip64 locator stands before it"
            )
        stop, values = _zip64(data, here, values, refuse)
        disk, directory_disk, entries_here, entries, size, offset = values
    if disk or directory_disk:
        raise refuse.ambiguous(here, f"the end record says disk {max(disk, directory_disk)} of a set, this is one file")
    if entries_here != entries:
        raise refuse.ambiguous(
            here, f"the end record counts {entries_here} entries on this disk and {entries} in total"
        )
    if offset + size != stop:
        raise refuse.ambiguous(here, _misplaced(data, offset, size, stop), expected=stop, found=offset + size)
    if not entries:
        if size:
            raise refuse.ambiguous(here, f"the end record counts no entries, and a directory of {size} bytes")
        raise refuse.unreadable(here, "the archive is empty: it lists no entries")
    if size < entries * 46:
        raise refuse.ambiguous(here, f"the end record counts {entries} entries in a directory of only {size} bytes")
    return End(entries=entries, directory_offset=offset, directory_size=size, offset=here)


def _only_end(tail: bytes, base: int, refuse: Refusals) -> int:
    """Return where in `tail` the one end record stands."""
    found = []
    at = tail.rfind(END)
    while at >= 0:
        found.append(at)
        at = tail.rfind(END, 0, at)
    if not found:
        raise refuse.unreadable(
            base + len(tail),
            f"no end record (PK 05 06) in the last {len(tail):,} bytes: the file is cut short, or bytes were appended",
        )
    closing = [at for at in found if at + 22 <= len(tail) and at + 22 + _comment_length(tail, at) == len(tail)]
    if not closing:
        last = found[0]
        left = len(tail) - last - 22
        if left < 0:
            raise refuse.unreadable(base + last, "the end record is cut short")
        claimed = _comment_length(tail, last)
        if left > claimed:
            blank = "zero " if not tail[last + 22 + claimed :].strip(b"\0") else ""
            raise refuse.ambiguous(
                base + last + 22 + claimed,
                f"{left - claimed:,} {blank}bytes follow the end of the archive",
                trailing=left - claimed,
            )
        raise refuse.ambiguous(
            base + last, f"the end record announces a comment of {claimed:,} bytes, the file has {left:,} more"
        )
    if len(closing) > 1:
        raise refuse.ambiguous(base + closing[1], "two end records both close the file")
    comment = RECORD.search(tail, closing[0] + 22)
    if comment is not None:
        raise refuse.ambiguous(base + comment.start(), "the signature of a zip record stands in the archive's comment")
    return closing[0]


def _comment_length(tail: bytes, at: int) -> int:
    return tail[at + 20] | tail[at + 21] << 8


def _misplaced(data: RandomBytes, offset: int, size: int, stop: int) -> str:
    shift = stop - offset - size
    text = f"the directory should end at byte {offset + size:,}, and the end record starts at {stop:,}"
    if shift > 0 and data.pread(4, stop - size) == CENTRAL:
        return f"{text}: {shift:,} bytes stand in front of the archive, or between its parts"
    return text


def _zip64(data: RandomBytes, here: int, values: tuple[int, ...], refuse: Refusals) -> tuple[int, tuple[int, ...]]:
    """Return where the Zip64 record starts, and the six fields of the end record as both give them."""
    locator = here - 20
    disk, position, disks = END64_LOCATOR.unpack(data.pread(20, locator))
    if position != locator - 56:
        raise refuse.ambiguous(
            locator, f"the Zip64 locator points to byte {position:,}, a record before it starts at {locator - 56:,}"
        )
    record = data.pread(56, position)
    if not record.startswith(END64):
        raise refuse.ambiguous(position, "no Zip64 record where the locator says there is one")
    rest, _, _, this_disk, directory_disk, entries_here, entries, size, offset = END64_RECORD.unpack(record)
    if rest != 44:
        raise refuse.ambiguous(position, f"the Zip64 record has {rest + 12:,} bytes, 56 fit before its locator")
    if disk or disks != 1:
        raise refuse.ambiguous(locator, f"the Zip64 locator says disk {disk} of {disks}, this is one file")
    wide = (this_disk, directory_disk, entries_here, entries, size, offset)
    names = ("disk", "directory disk", "entries on this disk", "entries", "directory size", "directory offset")
    for name, short, long, mark in zip(names, values, wide, (MARK16,) * 4 + (MARK32,) * 2, strict=True):
        if short not in (long, mark):
            raise refuse.ambiguous(here, f"{name}: the end record says {short:,}, the Zip64 record {long:,}")
    if (values[2] == MARK16) != (values[3] == MARK16):
        raise refuse.ambiguous(here, "the end record refers to the Zip64 record for one of its two counts only")
    return position, wide
