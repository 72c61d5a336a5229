"""The digest of a tree: what "the same" means for everything that is installed.

For each file one line `<sha256 hex>␣␣<path>\\n`, the lines sorted by the UTF-8 bytes of the path, SHA-256 over all of
them, written `h1:<hex>`. So `sha256sum` over the sorted files, piped into `sha256sum`, gives the same value. Bytes and
NFC paths only: no mode, no time, no locale.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from importer.paths import RelPath


_TOGETHER = 1_024
"""Lines that are hashed in one step."""


class Hashed(Protocol):
    """A file whose bytes were hashed: `importer.model.FileRecord`, or anything with a path and a SHA-256 in hex."""

    @property
    def path(self) -> RelPath:
        """The path from the root of the tree."""

    @property
    def sha256(self) -> str:
        """64 lowercase hex digits."""


def tree_digest(files: Iterable[Hashed]) -> str:
    """Return the `h1:` digest over `files`, which may come in any order; no two may share a path."""
    # Texts are ordered by their code points, and so are their bytes in UTF-8.
    lines = sorted([(file.path.text, file.sha256) for file in files])
    total = hashlib.sha256()
    for at in range(0, len(lines), _TOGETHER):
        total.update("".join([f"{digest}  {path}\n" for path, digest in lines[at : at + _TOGETHER]]).encode("utf-8"))
    return f"h1:{total.hexdigest()}"
