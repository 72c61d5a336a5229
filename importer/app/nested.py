"""Opening an archive that stands inside another container: spooled beside the candidates, then read like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budgets import BudgetExceeded
from importer.diagnostics import Rejected, budget_error, error, shown
from importer.sources.file import FileBytes

if TYPE_CHECKING:
    from typing import BinaryIO

    from importer.app.found import Meters
    from importer.model import Entry
    from importer.ports import Container
    from importer.staging import StagedFolder


class _Spool:
    """Takes one entry, into a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def begin(self, _entry: Entry, /, *, deflated: bool = False) -> _Spool:
        """Take the entry."""
        del deflated
        return self

    def take(self, _entry: Entry, content: bytes | memoryview, _packed: bytes | memoryview | None = None, /) -> None:
        """Take the entry as a whole."""
        self._file.write(content)

    def write(self, data: bytes | memoryview, /) -> None:
        """Take its next bytes."""
        self._file.write(data)

    def packed(self, data: bytes | memoryview, /) -> None:
        """Do without it."""

    def done(self) -> None:
        """It was delivered whole."""


def open_nested(
    outer: Container, entry: Entry, staged: StagedFolder, meters: Meters, name_encoding: str | None
) -> Container:
    """Open a nested archive; it is charged to the meters of the outer one.

    Raises:
        Rejected: it is too large, or no zip archive.
        budgets.BudgetExceeded: a limit that all levels share is spent.
    """
    from importer.extract.zip_container import ZipContainer
    from importer.extract.zip_end import looks_like_zip

    try:
        meters.bundle.check("nested_bytes", entry.size, entry.path.text)
    except BudgetExceeded as exceeded:
        raise Rejected([budget_error(exceeded)]) from None
    file, path = staged.spool(entry.path.name)
    with file:
        outer.deliver([entry], _Spool(file), lambda _amount, _path: None)
    data = FileBytes(path)
    try:
        if not looks_like_zip(data):
            raise Rejected(
                [
                    error(
                        "archive-unreadable",
                        f"{shown(entry.path.name)} is no zip archive, whatever its name says; ask the author to pack "
                        "it again",
                    )
                ]
            )
        return ZipContainer(
            data, bundle=meters.bundle, archive=meters.archive, label=entry.path.text, name_encoding=name_encoding
        )
    except BaseException:
        data.close()
        raise
