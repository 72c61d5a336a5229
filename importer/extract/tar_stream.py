"""A tar.gz that is read forwards while it arrives, under the same rules as one on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budgets import Budgets
from importer.extract.gzip_stream import GzipReader
from importer.extract.tar_members import TarNames, members
from importer.extract.zip_format import Refusals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from budgets import Meter
    from importer.model import Listed
    from importer.ports import Charge, Readable

_PIECE = 256 * 1024


def stream_tar_gz(
    source: Readable,
    charge_stream: Charge,
    /,
    *,
    archive: Meter | None = None,
    label: str = "",
    name_encoding: str | None = None,
) -> Iterator[StreamedMember]:
    """Iterate over the members of a tar.gz.

    The body of a member is read before the iterator moves on, or is skipped. Stopping early reads no further; going on
    to the end checks the end of the tar, and that of the gzip stream with its CRC and length.

    Args:
        source: the compressed bytes.
        charge_stream: pays for every inflated byte, skipped ones included.
        archive: holds `header_bytes`, `headers` and `directory_bytes`; None takes the defaults.
        label: how a person knows the archive.
        name_encoding: the code page of names, where they are not UTF-8 and it is known.

    Raises:
        Rejected: the stream is damaged or can be read in two ways.
        BudgetExceeded: by `charge_stream`, or for metadata.
    """
    refuse = Refusals(label, "tar")
    meter = archive if archive is not None else Budgets.default().meter("archive")
    cursor = _StreamCursor(GzipReader(source, charge_stream, label=label))
    for member in members(cursor, meter, TarNames(name_encoding, refuse), refuse):
        yield StreamedMember(member.listed, cursor, member.offset + member.listed.size, refuse)


class StreamedMember:
    """One member; its body can be read once, until the iterator moves on."""

    def __init__(self, listed: Listed, cursor: _StreamCursor, end: int, refuse: Refusals) -> None:
        self.listed = listed
        self._cursor = cursor
        self._end = end
        self._refuse = refuse

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes of the body, b"" at its end. Raises like the iterator."""
        left = self._end - self._cursor.position
        if left <= 0:
            return b""
        data = self._cursor.some(min(size, left))
        if not data:
            raise self._refuse.unreadable(self._cursor.position, "the archive ends inside a file", self.listed.name)
        return data


class _StreamCursor:
    def __init__(self, reader: GzipReader) -> None:
        self._reader = reader
        self._waiting = memoryview(b"")
        self.position = 0

    def some(self, size: int) -> bytes:
        """Return at least one byte and at most `size`; b"" at the end."""
        if not self._waiting:
            self._waiting = memoryview(self._reader.read(_PIECE))
        found = bytes(self._waiting[:size])
        self._waiting = self._waiting[size:]
        self.position += len(found)
        return found

    def take(self, size: int, /) -> bytes:
        found = self.some(size)
        while len(found) < size:
            more = self.some(size - len(found))
            if not more:
                break
            found += more
        return found

    def skip(self, size: int, /) -> bool:
        while size:
            if not self._waiting:
                self._waiting = memoryview(self._reader.read(_PIECE))
                if not self._waiting:
                    return False
            step = min(size, len(self._waiting))
            self._waiting = self._waiting[step:]
            self.position += step
            size -= step
        return True
