"""The few things that stages need from one another, as small protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from importer.diagnostics import Diagnostic
    from importer.model import Entry, Listed


class Charge(Protocol):
    """Pays for `amount` delivered at `path`; raises `budgets.BudgetExceeded` where that is too much."""

    def __call__(self, amount: int, path: str, /) -> None:
        """Charge."""


class RandomBytes(Protocol):
    """A file that can be read anywhere, from several threads at once."""

    @property
    def size(self) -> int:
        """The file's size in bytes when it was opened."""

    def pread(self, size: int, offset: int, /) -> bytes:
        """Return up to `size` bytes from `offset`; fewer only at the end of the file."""


class FileSink(Protocol):
    """Takes the bytes of one file."""

    def write(self, data: bytes | memoryview, /) -> None:
        """Take the next bytes; they may be re-used by the caller once this returns."""

    def packed(self, data: bytes | memoryview, /) -> None:
        """Take the next bytes of the Deflate stream that the file comes in, where `begin` was told of one."""

    def done(self) -> None:
        """All bytes were delivered and every check of the container passed."""


class Readable(Protocol):
    """A stream that is read once, forwards."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes, b"" at the end and only there."""


class StreamedEntry(Protocol):
    """One entry of a tar that is read forwards: its body must be read before the iterator moves on, or is skipped."""

    @property
    def listed(self) -> Listed:
        """The entry's metadata."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes of the body, b"" at its end."""


class TarStreamer(Protocol):
    """Opens a tar.gz that arrives over a connection. Stopping early is allowed and reads no further."""

    def __call__(self, source: Readable, charge_stream: Charge, /) -> Iterator[StreamedEntry]:
        """Iterate over the entries; `charge_stream` pays for the inflated stream."""


class Receiver(Protocol):
    """Says where the bytes of an entry go. Called from several threads, never twice for one entry."""

    def begin(self, entry: Entry, /, *, deflated: bool = False) -> FileSink | None:
        """Return where to put the file, or None to have it verified and thrown away.

        With `deflated`, its bytes come twice: as they are through `write`, and as one raw Deflate stream through
        `packed`; whoever keeps the file may keep either.
        """

    def take(self, entry: Entry, content: bytes | memoryview, packed: bytes | memoryview | None = None, /) -> None:
        """Take a small file that is at hand as a whole and was checked, in place of a sink.

        `packed` is the same as one raw Deflate stream, where it came as that.
        """


class Container(Protocol):
    """A zip, a tar, a folder, a single file, a tree on GitHub: something with entries.

    `kind` is the value of `source.kind` in a report. Every method may raise `Rejected`, `budgets.BudgetExceeded` and
    `OSError`, and nothing else, whatever the bytes are.
    """

    kind: str

    def list(self, charge_entries: Charge, /) -> Sequence[Listed]:
        """Return every entry, in the container's order. Counts are charged before a list is built."""

    def notes(self) -> Sequence[Diagnostic]:
        """Return what the container has to say that is no reason to refuse it."""

    def deliver(self, wanted: Sequence[Entry], receiver: Receiver, charge: Charge, /) -> None:
        """Deliver the bytes of each wanted entry, charging them as they come, checking what was declared."""

    def verify_rest(self, charge: Charge, /) -> None:
        """Check the entries that were never delivered as far as the container needs it to be read in one way only."""

    def close(self) -> None:
        """Let go of what the container holds open."""


class Progress(Protocol):
    """Told of work as it goes on; called from several threads."""

    def expect(self, files: int, size: int, /) -> None:
        """So many files and bytes more are going to come."""

    def advance(self, files: int, size: int, /) -> None:
        """So many of them have."""
