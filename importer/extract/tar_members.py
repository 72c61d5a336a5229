"""Walks through a tar from one member to the next, forwards, whatever it is read from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from importer.diagnostics import Diagnostic, Rejected, error, shown
from importer.extract.tar_format import BLOCK, ZEROS, Header, parse_header, parse_pax, trim_long_name
from importer.extract.zip_names import NameRule
from importer.model import EntryKind, Listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from budgets import Meter
    from importer.extract.zip_format import Refusals

_TAIL = 64 * 1024
_FILES = (b"0", b"\0")
_METADATA = {b"x": "pax header", b"g": "global pax header", b"L": "long name", b"K": "long link target"}
_SPECIAL = {b"3": "character device", b"4": "block device", b"6": "named pipe", b"7": "contiguous file"}
_NAMED = {
    b"S": "a sparse file",
    b"M": "a file continued from another volume",
    b"V": "a volume label",
    b"D": "a GNU directory dump",
    b"N": "an old GNU long name",
    b"X": "an old Solaris header",
    b"A": "a Solaris access list",
}


class Cursor(Protocol):
    """Bytes that are read forwards."""

    @property
    def position(self) -> int:
        """The offset of the next byte."""

    def take(self, size: int, /) -> bytes:
        """Return the next `size` bytes; fewer only at the end."""

    def skip(self, size: int, /) -> bool:
        """Move on by `size` bytes; False where there are fewer."""


class Member(NamedTuple):
    """One member: its metadata, where its bytes start, and whether it is the folder that everything is in ("./")."""

    listed: Listed
    offset: int
    is_root: bool


class TarNames:
    """Decodes the names of one tar: UTF-8, or all of those outside pax headers by one code page."""

    def __init__(self, encoding: str | None, refuse: Refusals) -> None:
        """Take a code page; None reads names as UTF-8. Raises `Rejected` where it is no code page for names."""
        NameRule(encoding, refuse)
        self._encoding = encoding or "utf-8"
        self._refuse = refuse

    def decode(self, raw: bytes, encoding: str, offset: int) -> str:
        """Return a name as text.

        Raises:
            Rejected: `path-encoding`.
        """
        try:
            return raw.decode(encoding)
        except UnicodeError:
            seen = shown(raw.decode("ascii", "backslashreplace"))
            raise Rejected(
                [
                    error(
                        "path-encoding",
                        f"tar, byte {offset:,}: the name '{seen}' is not {shown(encoding)}; say the code page of the "
                        "archive's names with --name-encoding, such as --name-encoding gbk",
                        self._refuse.where(),
                        None,
                        offset=offset,
                    )
                ]
            ) from None

    def of_header(self, raw: bytes, offset: int) -> str:
        """Return a name from a header or a GNU long name."""
        return self.decode(raw, self._encoding, offset)

    def target(self, raw: bytes) -> str | None:
        """Return where a link points; None where that is no text."""
        try:
            return raw.decode(self._encoding)
        except UnicodeError:
            return None


def members(cursor: Cursor, archive: Meter, names: TarNames, refuse: Refusals) -> Iterator[Member]:
    """Yield each member, then check the end: two zero blocks and nothing but zeros after them.

    Between two members the cursor may be anywhere in the body of the first.

    Raises:
        Rejected: the archive is damaged (`archive-unreadable`), or readers could differ (`archive-ambiguous`).
        BudgetExceeded: `archive.header_bytes` of one metadata header, `archive.headers` in a row, or
            `archive.directory_bytes` of all of them.
    """
    walker = _Walker(cursor, archive, names, refuse)
    handle = 0
    while (member := walker.next(handle)) is not None:
        if not member.is_root:
            yield member
            handle += 1
        padded = member.offset + _padded(walker.size)
        if not cursor.skip(padded - cursor.position):
            raise refuse.unreadable(member.offset, "the archive ends inside a file", member.listed.name)
    walker.end()


class _Walker:
    def __init__(self, cursor: Cursor, archive: Meter, names: TarNames, refuse: Refusals) -> None:
        self._cursor = cursor
        self._archive = archive
        self._names = names
        self._refuse = refuse
        self.size = 0
        # What stands in front of the member that comes next.
        self._long_name: bytes | None = None
        self._long_link: bytes | None = None
        self._pax: dict[str, bytes] | None = None
        self._row = 0

    def next(self, handle: int) -> Member | None:
        """Return the next member; None at the first zero block."""
        while True:
            offset = self._cursor.position
            block = self._cursor.take(BLOCK)
            if len(block) < BLOCK:
                raise self._refuse.unreadable(offset, "the archive is cut short, its two zero blocks are missing")
            if block == ZEROS:
                if self._row:
                    raise self._refuse.ambiguous(offset, "a metadata header is followed by no file")
                return None
            header = parse_header(block, offset, self._refuse)
            if header.type not in _METADATA:
                member = self._member(header, handle)
                self._long_name = self._long_link = self._pax = None
                self._row = 0
                return member
            self._metadata(header)

    def end(self) -> None:
        """Check what follows the first zero block."""
        offset = self._cursor.position
        block = self._cursor.take(BLOCK)
        if len(block) < BLOCK:
            raise self._refuse.unreadable(offset, "the archive is cut short, the second of its zero blocks is missing")
        if block != ZEROS:
            raise self._refuse.ambiguous(offset, "a single zero block is followed by more, some readers stop before it")
        while True:
            offset = self._cursor.position
            rest = self._cursor.take(_TAIL)
            if not rest:
                return
            if rest.strip(b"\0"):
                offset += len(rest) - len(rest.lstrip(b"\0"))
                raise self._refuse.ambiguous(offset, "something follows the end of the archive, some readers go on")

    def _is_waiting(self) -> bool:
        """Whether something was said of a member that is still to come."""
        return not (self._long_name is None and self._long_link is None and self._pax is None)

    def _metadata(self, header: Header) -> None:
        what = _METADATA[header.type]
        self._row += 1
        self._archive.check("headers", self._row, self._refuse.where())
        self._archive.check("header_bytes", header.size, self._refuse.where())
        # All of them together are what a zip keeps in its central directory.
        self._archive.charge("directory_bytes", header.size, self._refuse.where())
        start = self._cursor.position
        body = self._cursor.take(header.size)
        filling = self._cursor.take(_padded(header.size) - header.size)
        if len(body) + len(filling) < _padded(header.size):
            raise self._refuse.unreadable(start, f"the archive ends inside a {what}")
        if header.type in {b"x", b"g"} and filling.strip(b"\0"):
            text = f"the block of a {what} is filled up with something else than zeros"
            raise self._refuse.ambiguous(start + header.size, f"{text}, some readers look for records there")
        if header.type == b"L":
            if self._long_name is not None or (self._pax is not None and "path" in self._pax):
                raise self._refuse.ambiguous(header.offset, "one file has two long names")
            self._long_name = trim_long_name(body, start, self._refuse)
        elif header.type == b"K":
            if self._long_link is not None:
                raise self._refuse.ambiguous(header.offset, "one link has two long targets")
            self._long_link = trim_long_name(body, start, self._refuse)
        elif header.type == b"g":
            if self._is_waiting():
                raise self._refuse.ambiguous(header.offset, "a global pax header stands between a file and its own")
            if keys := parse_pax(body, start, self._refuse):
                key = shown(next(iter(keys)))
                raise self._refuse.ambiguous(start, f"a global pax header sets '{key}' for all that follow", key=key)
        else:
            if self._pax is not None:
                raise self._refuse.ambiguous(header.offset, "one file has two pax headers")
            self._pax = parse_pax(body, start, self._refuse)
            self._check_pax(header.offset)

    def _check_pax(self, offset: int) -> None:
        for key in self._pax or ():
            if key.startswith("GNU.sparse."):
                raise self._refuse.ambiguous(offset, "a pax header describes a sparse file", key=shown(key))
            if key not in {"path", "size", "linkpath"}:
                raise self._refuse.ambiguous(offset, f"a pax header sets '{shown(key)}'", key=shown(key))
        if self._pax and "path" in self._pax and self._long_name is not None:
            raise self._refuse.ambiguous(offset, "one file has two long names")

    def _member(self, header: Header, handle: int) -> Member:
        name = self._name(header)
        pax = self._pax or {}
        start = self._cursor.position
        if "size" in pax and pax["size"] != str(header.size).encode():
            stated = shown(pax["size"].decode("ascii", "backslashreplace"), 40)
            raise self._refuse.ambiguous(
                header.offset, f"the size is {header.size:,} in the header and {stated} in the pax header", name
            )
        kind, special = self._kind(header, name)
        if header.size and kind is not EntryKind.FILE and header.type != b"7":
            raise self._refuse.ambiguous(
                header.offset + 124, f"the header of a {kind} gives a size of {header.size:,}", name
            )
        is_link = kind in {EntryKind.SYMLINK, EntryKind.HARDLINK}
        if not is_link and (self._long_link is not None or "linkpath" in pax):
            raise self._refuse.ambiguous(header.offset, f"a link target is given for a {kind}", name)
        link = self._long_link if self._long_link is not None else header.link
        self.size = header.size
        listed = Listed(
            name=name.removeprefix("./"),
            kind=kind,
            size=header.size,
            packed=header.size,
            executable=bool(header.mode & 0o111),
            handle=handle,
            link_target=self._names.target(link) if is_link else None,
            special=special,
            fault=self._link_fault(name) if "linkpath" in pax else None,
        )
        return Member(listed, start, kind is EntryKind.DIRECTORY and name in {".", "./"})

    def _name(self, header: Header) -> str:
        if self._pax is not None and "path" in self._pax:
            return self._names.decode(self._pax["path"], "utf-8", header.offset)
        raw = self._long_name if self._long_name is not None else header.name
        return self._names.of_header(raw, header.offset)

    def _kind(self, header: Header, name: str) -> tuple[EntryKind, str]:
        if header.type in _FILES:
            if header.type == b"\0" and header.name.endswith(b"/") != name.endswith("/"):
                raise self._refuse.ambiguous(header.offset, "only one of two names makes a file a folder", name)
            if not name.endswith("/"):
                return EntryKind.FILE, ""
            if header.type == b"\0":
                return EntryKind.DIRECTORY, ""
            raise self._refuse.ambiguous(header.offset, "a file has a name that ends with a slash", name)
        if header.type == b"5":
            return EntryKind.DIRECTORY, ""
        if header.type == b"2":
            return EntryKind.SYMLINK, ""
        if header.type == b"1":
            return EntryKind.HARDLINK, ""
        if header.type in _SPECIAL:
            return EntryKind.SPECIAL, _SPECIAL[header.type]
        letter = shown(header.type.decode("latin-1"))
        named = _NAMED.get(header.type, "of a type that not every reader knows")
        raise self._refuse.ambiguous(header.offset + 156, f"a member of type '{letter}', {named}", name)

    def _link_fault(self, name: str) -> Diagnostic:
        message = (
            f"{shown(name)}: a link whose target stands in a pax header; ask the author to publish the file itself"
        )
        return error("link-refused", message, name, None, fault="pax-linkpath")


def _padded(size: int) -> int:
    return (size + BLOCK - 1) // BLOCK * BLOCK
