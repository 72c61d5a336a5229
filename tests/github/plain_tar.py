"""A tar reader out of the standard library, so that the tests of GitHub need no other stage of the importer."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import IO, cast

from importer.diagnostics import Rejected, error
from importer.model import EntryKind, Listed
from importer.ports import Charge, Readable, StreamedEntry

_KINDS = {tarfile.REGTYPE: EntryKind.FILE, tarfile.DIRTYPE: EntryKind.DIRECTORY, tarfile.SYMTYPE: EntryKind.SYMLINK}


class _Member:
    def __init__(self, listed: Listed, body: IO[bytes] | None) -> None:
        self.listed = listed
        self._body = body

    def read(self, size: int, /) -> bytes:
        return self._body.read(size) if self._body else b""


def read_tar_gz(source: Readable, charge_stream: Charge, /) -> Iterator[StreamedEntry]:
    """Iterate over the entries; implements `ports.TarStreamer`."""
    try:
        with tarfile.open(fileobj=cast("IO[bytes]", source), mode="r|gz") as tar:
            for member in tar:
                charge_stream(member.size + 512, member.name)
                listed = Listed(
                    name=member.name,
                    kind=_KINDS[member.type],
                    size=member.size,
                    packed=member.size,
                    executable=bool(member.mode & 0o100),
                    handle=member.offset,
                    link_target=member.linkname or None,
                )
                yield _Member(listed, tar.extractfile(member) if member.isreg() else None)
    except (tarfile.TarError, EOFError) as fault:
        raise Rejected([error("archive-unreadable", f"the archive cannot be read: {type(fault).__name__}")]) from None
