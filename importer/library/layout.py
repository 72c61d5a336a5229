"""Where everything in a library stands."""

from __future__ import annotations

import os

from importer.library.errors import LibraryError
from importer.paths import PathRefused, RelPath
from importer.records import record

CONTROL = ".importer"
FOLDERS = {"skill": "skills", "specialist": "specialists", "connector": "connectors", "plugin": "plugins"}
"""The folder of each kind. A connector is one file in it, everything else a folder."""


@record(kw_only=False)
class Layout:
    """The paths of one library. A path inside it is written relative to `root`, so that a library can be moved.

    Where the folder of a kind is on another file system (a link, a mount), what comes and what goes is kept in
    `.importer/` inside that folder instead: a rename works only there. Such paths are absolute.
    """

    root: str

    @property
    def control(self) -> str:
        """The folder of the importer's own things."""
        return f"{self.root}/{CONTROL}"

    @property
    def database(self) -> str:
        """The record."""
        return f"{self.control}/library.db"

    @property
    def staging(self) -> str:
        """Where packages stand before they are installed."""
        return f"{self.control}/staging"

    @property
    def trash(self) -> str:
        """What was replaced or removed."""
        return f"{self.control}/trash"

    @property
    def config(self) -> str:
        """The configuration."""
        return f"{self.control}/config.toml"

    @property
    def lock(self) -> str:
        """The writer's lock; its holder is described beside it."""
        return f"{self.control}/writer.lock"

    def full(self, path: str) -> str:
        """Return a path that is relative to the root, or absolute, as one that can be opened."""
        return path if os.path.isabs(path) else f"{self.root}/{path}"

    def folder(self, kind: str) -> str:
        """Return the folder of a kind."""
        return f"{self.root}/{FOLDERS[kind]}"

    def target(self, kind: str, name: str) -> str:
        """Return where an item stands, relative to the root."""
        return f"{FOLDERS[kind]}/{name}.json" if kind == "connector" else f"{FOLDERS[kind]}/{name}"

    def foreign(self, kind: str) -> bool:
        """Whether the folder of a kind is on another file system than the library's own things."""
        try:
            return os.stat(self.folder(kind)).st_dev != os.stat(self.control).st_dev
        except OSError:
            return False

    def area(self, kind: str) -> str:
        """Return the folder for what comes and goes of a kind: `.importer`, or its like on the other file system."""
        return f"{os.path.realpath(self.folder(kind))}/{CONTROL}" if self.foreign(kind) else CONTROL

    def areas(self) -> list[str]:
        """Return every such folder there is, the library's own first."""
        found = [CONTROL]
        found += [area for kind in FOLDERS if (area := self.area(kind)) not in found and os.path.isdir(area)]
        return found

    def trashed(self, kind: str, name: str, transaction: str) -> str:
        """Return where a transaction puts an item that it takes away."""
        return f"{self.area(kind)}/trash/{transaction}/{self.target(kind, name)}"

    def exists(self, kind: str, name: str) -> bool:
        """Whether anything has the place of an item, a broken link included."""
        return os.path.lexists(self.full(self.target(kind, name)))


def item_name(kind: str, name: str) -> str:
    """Return `name` when it is one segment that can safely name an item.

    Raises:
        LibraryError: `library-name-unknown`, for a name that no item can have.
    """
    try:
        path = RelPath.parse(name)
    except PathRefused as refused:
        raise LibraryError("library-name-unknown", f"no {kind} can have that name: {refused.fault}") from None
    if path.depth or name.startswith("."):
        raise LibraryError("library-name-unknown", f"no {kind} can be named {name!r}: it is a path")
    return path.text
