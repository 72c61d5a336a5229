"""The directory of a zip and its local headers, read into columns and held to each other.

Entries tile the file from its first byte to the directory, each local header says what the directory says, and
nothing in an extra field says something else to a reader that obeys it.
"""

from __future__ import annotations

from array import array
from operator import attrgetter
from typing import TYPE_CHECKING

from importer.extract.zip_format import (
    CENTRAL,
    CENTRAL_CONTENT,
    CENTRAL_HEADER,
    CENTRAL_LENGTHS,
    DEFLATED,
    DESCRIPTOR,
    ENCRYPTION_FLAGS,
    KNOWN_FLAGS,
    LOCAL,
    LOCAL_HEADER,
    MARK32,
    PLAIN_EXTRA,
    RECORD,
    STORED,
    STREAMED,
    UTF8,
    VERSION_SUFFIX,
    Refusals,
    method_name,
    shown_bytes,
)
from importer.extract.zip_rules import (
    NO_EXTRA,
    TYPES,
    Extra,
    Header,
    Local,
    Type,
    entry_extra,
    entry_fault,
    entry_type,
    hold_local,
)
from importer.extract.zip_window import NEAR, WINDOW, Window
from importer.model import EntryKind, Listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from importer.diagnostics import Diagnostic
    from importer.extract.zip_end import End
    from importer.extract.zip_names import NameRule
    from importer.ports import RandomBytes

_CHUNK = 64 * 1024
_KNOWN_TYPES = 64
_SLASH, _SEMICOLON = b"/;"


class Columns:
    """Every entry, one row each, in the directory's order; the number of a row is the entry's handle."""

    __slots__ = ("crc", "links", "listed", "method", "scan", "start")

    def __init__(self, count: int) -> None:
        self.listed: list[Listed] = []
        self.start = array("Q", bytes(8 * count))
        """Where the packed bytes start."""
        self.crc = array("Q", bytes(8 * count))
        self.method = bytearray(count)
        self.scan = bytearray(count)
        """1 where the data must hold no record signature: a streaming reader would take it for the entry's end."""
        self.links: list[int] = []
        """Symbolic links whose targets are their contents."""


def read_entries(data: RandomBytes, end: End, rule: NameRule, refuse: Refusals) -> Columns:
    """Read every entry of the archive that `end` closes.

    Raises:
        Rejected: for whatever `importer.extract.zip_rules` refuses, where entries do not tile the file, and where two
            have one name.
    """
    directory = data.pread(end.directory_size, end.directory_offset)
    if len(directory) < end.directory_size:
        raise refuse.unreadable(end.directory_offset + len(directory), "the directory is cut short")
    positions, offsets = _positions(directory, end, refuse)
    order: Sequence[int] = range(len(positions))
    moved = any(map(int.__ge__, offsets, offsets[1:]))
    if moved:
        order = sorted(order, key=offsets.__getitem__)
    reader = _Reader(data, directory, end, rule, refuse)
    listed: list[Listed] = []
    expected = 0
    for handle in order:
        if offsets[handle] != expected:
            raise _untiled(expected, offsets[handle], refuse)
        at = positions[handle]
        entry, expected = reader.repeated(handle, at, expected) or reader.entry(handle, at, expected)
        listed.append(entry)
        if expected > end.directory_offset:
            text = f"it ends at byte {expected:,}, after the start of the directory at byte {end.directory_offset:,}"
            raise refuse.ambiguous(offsets[handle], text, entry.name)
    if expected != end.directory_offset:
        raise refuse.ambiguous(
            expected, f"{end.directory_offset - expected:,} bytes lie between the last entry and the directory"
        )
    reader.finish()
    columns = reader.columns
    columns.listed = sorted(listed, key=attrgetter("handle")) if moved else listed
    _refuse_twins(columns.listed, offsets, refuse)
    return columns


def _positions(directory: bytes, end: End, refuse: Refusals) -> tuple[array[int], array[int]]:
    """Return where each central header starts in `directory`, and the offset of its local header."""
    positions = array("Q")
    offsets = array("Q")
    at = 0
    size = len(directory)
    lengths = CENTRAL_LENGTHS.unpack_from
    for number in range(end.entries):
        if directory[at : at + 4] != CENTRAL or at + 46 > size:
            raise refuse.ambiguous(
                end.directory_offset + at,
                f"the end record counts {end.entries:,} entries, and after {number:,} no other one starts here",
            )
        name, extra, comment, offset = lengths(directory, at + 28)
        positions.append(at)
        offsets.append(offset)
        at += 46 + name + extra + comment
    if at != size:
        raise refuse.ambiguous(
            end.directory_offset + min(at, size),
            f"{end.entries:,} entries fill {at:,} bytes, the end record gives the directory {size:,}",
        )
    return positions, offsets


def _untiled(expected: int, offset: int, refuse: Refusals) -> Exception:
    if not expected:
        return refuse.ambiguous(0, f"{offset:,} bytes stand in front of the first entry", prefix=offset)
    if offset < expected:
        return refuse.ambiguous(offset, f"two entries share the bytes {offset:,} to {expected:,}")
    return refuse.ambiguous(expected, f"{offset - expected:,} bytes lie between two entries and belong to none")


def _refuse_twins(listed: Sequence[Listed], offsets: array[int], refuse: Refusals) -> None:
    names = {entry.name for entry in listed}
    if len(names) == len(listed):
        return
    for entry in listed:
        if entry.name not in names:
            raise refuse.ambiguous(offsets[entry.handle], "a second entry has the same name", entry.name)
        names.discard(entry.name)


def _shape(directory: bytes, at: int) -> bytes:
    """Return what most entries of an archive share: host, version, flags, method; comment, disk and attributes."""
    return directory[at + 4 : at + 12] + directory[at + 32 : at + 42]


class _Reader:
    """Reads one entry after the other, in the order in which they lie in the file."""

    def __init__(self, data: RandomBytes, directory: bytes, end: End, rule: NameRule, refuse: Refusals) -> None:
        self.columns = Columns(end.entries)
        self._data = data
        self._directory = directory
        self._directory_offset = end.directory_offset
        self._rule = rule
        self._refuse = refuse
        self._window = Window(data)
        self._types: dict[tuple[int, int, int], Type] = {}
        """What files with one host and one set of attributes are: most archives know two or three."""
        self._settled: dict[bytes, Type] = {}
        """The types of plain files by what `_shape` says of their headers, which `entry` found nothing wrong with."""
        self._narrow: tuple[int, str] | None = None
        """Where the first descriptor with short sizes is, and whose it is."""
        self._renames = False
        """Whether a name without the UTF-8 flag has a Unicode path field."""

    def finish(self) -> None:
        """Hold entries to each other.

        Raises:
            Rejected: `archive-ambiguous` where one entry changes how unzip reads the descriptor of another.
        """
        if self._renames and self._narrow is not None:
            offset, text = self._narrow
            what = "it is streamed, beside a Unicode path field (0x7075) that makes unzip misread its descriptor"
            raise self._refuse.ambiguous(offset, what, text)

    def repeated(self, handle: int, at: int, offset: int) -> tuple[Listed, int] | None:
        """Return what `entry` would, or None where there is more to look at than its short way does.

        Nearly all entries of an archive have one shape. What `entry` judges by the shape alone was judged with the
        first of them; left are its name, its sizes, its extra fields and its local header. Nothing is refused here.
        """
        directory = self._directory
        kind = self._settled.get(_shape(directory, at))
        if kind is None:
            return None
        crc, packed, size, name_length, extra_length = CENTRAL_CONTENT.unpack_from(directory, at + 16)
        stop = at + 46 + name_length
        name = directory[at + 46 : stop]
        method = directory[at + 10]
        if (
            not name
            or not name.isascii()
            or name[-1] == _SLASH
            or _SEMICOLON in name
            or (extra_length and not PLAIN_EXTRA.fullmatch(directory, stop, stop + extra_length))
            or (method == STORED and packed != size)
            or MARK32 in (packed, size)
        ):
            return None
        fixed = 30 + name_length
        window = self._window
        # With a packed file in between, the next header is in no window that starts here.
        here = window.at(offset, fixed, NEAR if packed > WINDOW else WINDOW)
        buffer = window.buffer
        # From the version on, the two headers have one layout as far as the lengths.
        if not (buffer.startswith(LOCAL + directory[at + 6 : at + 30], here) and buffer.startswith(name, here + 30)):
            return None
        extra_length = buffer[here + 28] | buffer[here + 29] << 8
        if extra_length:
            here = window.at(offset, fixed + extra_length)
            if not PLAIN_EXTRA.fullmatch(window.buffer, here + fixed, here + fixed + extra_length):
                return None
        start = offset + fixed + extra_length
        columns = self.columns
        columns.start[handle] = start
        columns.crc[handle] = crc
        columns.method[handle] = method
        listed = Listed(name.decode(), kind.kind, size, packed, kind.executable, handle)
        return listed, start + packed

    def entry(self, handle: int, at: int, offset: int) -> tuple[Listed, int]:
        """Return the entry whose central header is at `at`, and the offset at which it ends."""
        refuse = self._refuse
        directory = self._directory
        (
            _, host, needed, flags, method, _, _, crc, packed, size, name_length, extra_length, comment_length, disk,
            internal, attributes, _,
        ) = CENTRAL_HEADER.unpack_from(directory, at)  # fmt: skip
        central_offset = self._directory_offset + at
        name = directory[at + 46 : at + 46 + name_length]
        text = self._rule.decode(name, flags, host, central_offset + 46)
        if b";" in name and VERSION_SUFFIX.search(name):
            raise refuse.ambiguous(central_offset, "its name ends like a VMS version, which unzip cuts off", text)
        header = Header(host, needed, flags, method, crc, packed, size, internal, attributes)
        extra = NO_EXTRA
        if extra_length:
            raw = directory[at + 46 + name_length : at + 46 + name_length + extra_length]
            extra = entry_extra(raw, name, text, central_offset, True, self._rule, refuse)
        if disk:
            raise refuse.ambiguous(central_offset, f"it lies on disk {disk} of a set, this is one file", text)
        if comment_length:
            stop = at + 46 + name_length + extra_length
            found = RECORD.search(directory, stop, stop + comment_length)
            if found is not None:
                where = self._directory_offset + found.start()
                raise refuse.ambiguous(where, "the signature of a zip record stands in its comment", text)
        fault: Diagnostic | None = None
        if (
            flags & ~KNOWN_FLAGS
            or needed > 20
            or extra.aes
            or not (method == DEFLATED or (method == STORED and packed == size))
            or MARK32 in (packed, size)
        ):
            fault = entry_fault(header, extra.aes, text, central_offset, refuse)
        folder = name.endswith(b"/")
        kind = None if folder else self._types.get((host, internal, attributes))
        if kind is None:
            kind = entry_type(header, folder, text, central_offset, refuse)
            if not folder and len(self._types) < _KNOWN_TYPES:
                self._types[host, internal, attributes] = kind

        start, local, told = self._local(at, offset, name, text, header, extra.aes)
        stop = start + packed
        if flags & STREAMED:
            if fault is not None:
                self._hold_undecoded(header, start, text, told)
            wide = local.zip64 is not None
            if not wide:
                self._narrow = self._narrow or (stop, text)
            stop = self._descriptor(header, stop, wide, text)
        for told_type in (extra.type, local.type):
            if told_type and told_type != TYPES.get(kind.kind):
                what = "its ASi Unix field (0x756E) makes something else of it than its attributes"
                raise refuse.ambiguous(central_offset, what, text)
        if (extra.named or local.named) and not flags & UTF8:
            self._renames = True
        columns = self.columns
        columns.start[handle] = start
        columns.crc[handle] = crc
        columns.method[handle] = method & 0xFF
        if flags & STREAMED and method == STORED:
            columns.scan[handle] = 1
        if kind.link and fault is None:
            columns.links.append(handle)
        if (
            kind.kind is EntryKind.FILE
            and fault is None
            and not comment_length
            and not flags & STREAMED
            and (flags & UTF8 or self._rule.ascii_as_is)
            and len(self._settled) < _KNOWN_TYPES
        ):
            self._settled[_shape(directory, at)] = kind
        listed = Listed(
            name=text,
            kind=kind.kind,
            size=0 if kind.kind is EntryKind.DIRECTORY else size,
            packed=packed,
            executable=kind.executable,
            handle=handle,
            special=kind.special,
            fault=fault,
        )
        return listed, stop

    def _local(
        self, at: int, offset: int, name: bytes, text: str, header: Header, aes: bool
    ) -> tuple[int, Extra, bool]:
        """Hold the local header at `offset` to the central one at `at`.

        Returns:
            where the data starts, what its extra field says, and whether the header itself gives the sizes.
        """
        refuse = self._refuse
        window = self._window
        fixed = 30 + len(name)
        here = window.at(offset, fixed)
        buffer = window.buffer
        if buffer[here : here + 4] != LOCAL:
            raise refuse.ambiguous(offset, "the directory points to a local header, and none is here", text)
        # From the version on, the two headers have one layout as far as the lengths: compare it at once.
        same = buffer[here + 4 : here + 28] == self._directory[at + 6 : at + 30]
        if not same and len(buffer) < here + 30:
            raise refuse.unreadable(offset, "its local header is cut short", text)
        if (
            buffer[here + 30 : here + fixed] != name
            or buffer[here + 26 : here + 28] != self._directory[at + 28 : at + 30]
        ):
            found = buffer[here + 30 : here + 30 + (buffer[here + 26] | buffer[here + 27] << 8)]
            other = shown_bytes(found)
            raise refuse.ambiguous(offset, f"its local header names it {other}", text, local=other)
        extra_length = buffer[here + 28] | buffer[here + 29] << 8
        start = offset + fixed + extra_length
        extra = NO_EXTRA
        if extra_length:
            here = window.at(offset, fixed + extra_length)
            buffer = window.buffer
            raw = buffer[here + fixed : here + fixed + extra_length]
            extra = entry_extra(raw, name, text, offset, False, self._rule, refuse)
        if same and extra.aes == aes and extra.zip64 is None:
            return start, extra, True
        _, needed, flags, method, _, _, crc, packed, size, _, _ = LOCAL_HEADER.unpack_from(buffer, here)
        local = Local(needed, flags, method, crc, packed, size)
        told = hold_local(header, local, (aes, extra.aes), extra.zip64, text, offset, refuse)
        return start, extra, told

    def _descriptor(self, header: Header, stop: int, wide: bool, text: str) -> int:
        """Hold the data descriptor at `stop` to the directory; return where it ends."""
        refuse = self._refuse
        length = 24 if wide else 16
        here = self._window.at(stop, length)
        raw = self._window.buffer[here : here + length]
        if len(raw) < length or not raw.startswith(DESCRIPTOR):
            raise refuse.ambiguous(
                stop, "no data descriptor (PK 07 08) where the directory says that its data ends", text
            )
        half = 8 if wide else 4
        told = (
            ("CRC", int.from_bytes(raw[4:8], "little"), header.crc),
            ("compressed size", int.from_bytes(raw[8 : 8 + half], "little"), header.packed),
            ("size", int.from_bytes(raw[8 + half :], "little"), header.size),
        )
        for what, value, true in told:
            if value != true:
                raise refuse.ambiguous(
                    stop, f"the {what}: its data descriptor says {value:,}, the directory {true:,}", text
                )
        return stop + length

    def _hold_undecoded(self, header: Header, start: int, text: str, told: bool) -> None:
        """Refuse a streamed entry whose end would have to be found by decoding what cannot be decoded."""
        refuse = self._refuse
        encrypted = bool(header.flags & ENCRYPTION_FLAGS)
        what = "encrypted" if encrypted else f"compressed with {method_name(header.method)}"
        if not told:
            problem = f"it is {what}, and only decoding it would tell where it ends"
            if encrypted:
                raise refuse.encrypted(start, problem, text)
            raise refuse.unsupported(start, problem, text, header.method)
        at = start
        left = header.packed
        kept = b""
        while left > 0:
            piece = self._data.pread(min(left, _CHUNK), at)
            if not piece:
                raise refuse.unreadable(at, "its data is cut short", text)
            found = RECORD.search(kept + piece)
            if found is not None:
                where = at - len(kept) + found.start()
                raise refuse.ambiguous(where, f"it is {what} and streamed, and its data holds a zip record", text)
            kept = piece[-3:]
            at += len(piece)
            left -= len(piece)
