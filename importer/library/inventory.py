"""What is installed, shown; and compared with its record."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from importer.diagnostics import shown
from importer.library.disk import Difference, DiskTree, compare, read_items
from importer.library.errors import LibraryError
from importer.library.layout import FOLDERS, item_name
from importer.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from importer.library.rows import Item
    from importer.library.view import View


@record
class Listed:
    """One thing in the library."""

    kind: str
    name: str
    managed: bool
    """Whether the importer installed it."""
    present: bool
    """Whether anything is there on disk."""
    item: Item | None
    """Its record, where it is managed."""
    owners: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    link: str | None = None
    """Where it points, where somebody made it a link."""


@record
class Shown:
    """One thing in the library, hashed now."""

    listed: Listed
    tree: DiskTree | None
    """Its files on disk; None where it is gone."""
    difference: Difference

    @property
    def ok(self) -> bool:
        """Whether it is there, and as it was installed; what nobody installed is always."""
        return self.tree is not None and not self.difference


def list_items(view: View) -> tuple[Listed, ...]:
    """Return everything in the library, by kind and name. Nothing is hashed."""
    listed: list[Listed] = []
    for kind in FOLDERS:
        gone = [name for name in view.of(kind) if view.find(kind, name) is None]
        listed += [_listed(view, kind, name) for name in sorted({*view.names(kind), *gone})]
    return tuple(listed)


def _listed(view: View, kind: str, name: str) -> Listed:
    item = view.recorded(kind, name)
    recorded = item.name if item is not None else name
    place = view.place(kind, name)
    return Listed(
        kind=kind,
        name=name,
        managed=item is not None,
        present=place is not None and os.path.lexists(place),
        item=item,
        owners=view.owners.get(recorded, ()) if kind == "skill" else (),
        users=view.users(kind, recorded) if kind in {"skill", "connector"} else (),
        link=os.readlink(place) if place is not None and os.path.islink(place) else None,
    )


def find_items(view: View, asked: str, kind: str | None = None) -> list[tuple[str, str]]:
    """Return kind and name of everything that `NAME` or `KIND:NAME` means.

    Raises:
        LibraryError: `library-name-unknown`.
    """
    prefix, colon, rest = asked.partition(":")
    if colon and prefix in FOLDERS and kind is None:
        kind, asked = prefix, rest
    kinds = [kind] if kind is not None else list(FOLDERS)
    name = item_name(kind or "item", asked)
    found = [(k, name) for k in kinds if name in view.names(k) or (k, name) in view.items]
    if not found:
        what = kind or "skill, specialist, connector or plugin"
        raise LibraryError(
            "library-name-unknown",
            f"{shown(view.layout.root, 400)} holds no {what} named {shown(asked, 100)}; `importer list` names what it "
            "holds",
            view.layout.root,
        )
    return found


def show_items(view: View, found: Sequence[tuple[str, str]]) -> tuple[Shown, ...]:
    """Return some things of the library, hashed now.

    Raises:
        FileNotFoundError: one vanished while it was read.
        LibraryError: one cannot be read.
    """
    listed = [_listed(view, kind, name) for kind, name in found]
    there = [one for one in listed if one.present]
    places = [view.place(one.kind, one.name) or "" for one in there]
    named = [view.layout.full(view.layout.target(one.kind, one.name)) for one in there]
    trees = dict(zip([(one.kind, one.name) for one in there], read_items(places, named), strict=True))
    result: list[Shown] = []
    for one in listed:
        tree = trees.get((one.kind, one.name))
        difference = Difference()
        if one.item is not None:
            if tree is None:
                difference = Difference(missing=tuple(record.path.text for record in one.item.files))
            else:
                difference = compare(tree, one.item.files)
        result.append(Shown(listed=one, tree=tree, difference=difference))
    return tuple(result)


def verify_items(view: View, asked: Sequence[str]) -> tuple[Shown, ...]:
    """Compare what is named with its record; without names everything that the importer installed.

    Raises:
        FileNotFoundError, LibraryError: as `show_items` and `find_items`.
    """
    if not asked:
        return show_items(view, list(view.items))
    found: list[tuple[str, str]] = []
    for name in asked:
        found += [one for one in find_items(view, name) if one not in found]
    return show_items(view, found)
