"""A tar on disk as a container: listed by its headers, delivered by position."""

from __future__ import annotations

from typing import TYPE_CHECKING

from importer.extract.tar_members import TarNames, members
from importer.extract.zip_format import Refusals
from importer.signatures import looks_like_tar
from importer.workers import run_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from budgets import Meter
    from importer.diagnostics import Diagnostic
    from importer.model import Entry, Listed
    from importer.ports import Charge, RandomBytes, Receiver

__all__ = ["TarContainer", "looks_like_tar"]

CHUNK = 256 * 1024
_WINDOW = 32 * 1024


class TarContainer:
    """A tar file, read strictly: what two readers could take for two contents is refused when it is listed."""

    kind = "tar"

    def __init__(
        self,
        data: RandomBytes,
        *,
        bundle: Meter,
        archive: Meter,
        label: str = "",
        name_encoding: str | None = None,
    ) -> None:
        """Take an open file.

        Args:
            data: the tar, not compressed; the caller closes it.
            bundle: taken as every container takes it; a tar inflates nothing, so nothing is charged here.
            archive: `header_bytes`, `headers` and `directory_bytes` are checked here.
            label: how a person knows this archive.
            name_encoding: the code page of names, where they are not UTF-8 and it is known.

        Raises:
            Rejected: `name_encoding` is no code page (`path-encoding`).
        """
        self._data = data
        self._archive = archive
        self._refuse = Refusals(label, "tar")
        self._names = TarNames(name_encoding, self._refuse)
        self._offsets: list[int] = []

    def list(self, charge_entries: Charge, /) -> Sequence[Listed]:
        """Return every member, in the archive's order; bodies are skipped.

        Raises:
            Rejected: the archive is damaged or can be read in two ways; the message names the byte.
            BudgetExceeded: too many members, or too much metadata.
        """
        listed: list[Listed] = []
        self._offsets = []
        for member in members(_Window(self._data), self._archive, self._names, self._refuse):
            charge_entries(1, member.listed.name)
            listed.append(member.listed)
            self._offsets.append(member.offset)
        return listed

    def notes(self) -> Sequence[Diagnostic]:
        """Return nothing: a tar has nothing to say that is no reason to refuse it."""
        return ()

    def deliver(self, wanted: Sequence[Entry], receiver: Receiver, charge: Charge, /) -> None:
        """Deliver the bytes of members; what the receiver does not want needs no check of its own in a tar."""

        def work(entry: Entry) -> None:
            sink = receiver.begin(entry)
            if sink is None:
                return
            at = self._offsets[entry.handle]
            end = at + entry.size
            while at < end:
                data = self._data.pread(min(CHUNK, end - at), at)
                if not data:
                    raise self._refuse.unreadable(at, "the archive ends inside a file", entry.path.text)
                at += len(data)
                charge(len(data), entry.path.text)
                sink.write(data)
            sink.done()

        run_each(work, sorted(wanted, key=lambda entry: self._offsets[entry.handle]))

    def verify_rest(self, charge: Charge, /) -> None:
        """Do nothing: `list` went through the whole archive, and a tar has no checksum of contents."""

    def close(self) -> None:
        """Do nothing: the caller opened the file, and closes it."""


class _Window:
    """A cursor over a file that keeps a piece of it, so that small members cost no system call each."""

    def __init__(self, data: RandomBytes) -> None:
        self._data = data
        self._piece = b""
        self._start = 0
        self.position = 0

    def take(self, size: int, /) -> bytes:
        at = self.position - self._start
        if at + size > len(self._piece):
            self._piece = self._data.pread(max(size, _WINDOW), self.position)
            self._start = self.position
            at = 0
        found = self._piece[at : at + size]
        self.position += len(found)
        return found

    def skip(self, size: int, /) -> bool:
        self.position += size
        return self.position <= self._data.size
