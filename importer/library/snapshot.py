"""The part of the library that a plan depends on, hashed now."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING

from importer.library.disk import DiskTree, compare, read_items
from importer.model import Host, InstalledConnector, InstalledSkill, InstalledSpecialist, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from importer.library.view import View

MAX_MANIFEST = 1 << 20


def take_snapshot(view: View, host: Host, skills: Iterable[str], connectors: Iterable[str]) -> Snapshot:
    """Return the snapshot for some skills and connectors, with every specialist.

    Raises:
        FileNotFoundError: something vanished while it was read.
        LibraryError: something installed cannot be read.
    """
    wanted: list[tuple[str, str, str]] = []
    for kind, names in (("skill", sorted(set(skills))), ("connector", sorted(set(connectors)))):
        for name in names:
            found = view.find(kind, name)
            if found is not None:
                wanted.append((kind, name, found))
    wanted += [("specialist", name, name) for name in view.names("specialist")]
    places = [(asked, view.place(asked[0], asked[2])) for asked in wanted]
    there = [(asked, place) for asked, place in places if place is not None]
    named = [view.layout.full(view.layout.target(kind, found)) for (kind, _, found), _ in there]
    trees = read_items([place for _, place in there], named)
    found_skills: dict[str, InstalledSkill] = {}
    found_connectors: dict[str, InstalledConnector] = {}
    specialists: dict[str, InstalledSpecialist] = {}
    for ((kind, name, found), place), tree in zip(there, trees, strict=True):
        if kind == "skill":
            found_skills[name] = _skill(view, found, tree)
        elif kind == "connector":
            found_connectors[name] = _connector(view, found, tree)
        else:
            specialists[found] = _specialist(view, found, place, tree)
    return Snapshot(
        host=host,
        skills=MappingProxyType(found_skills),
        connectors=MappingProxyType(found_connectors),
        specialists=MappingProxyType(specialists),
    )


def _skill(view: View, name: str, tree: DiskTree) -> InstalledSkill:
    item = view.recorded("skill", name)
    recorded = item.name if item is not None else name
    difference = compare(tree, item.files) if item is not None else None
    return InstalledSkill(
        name=name,
        digest=tree.digest,
        executables=tree.executables,
        managed=item is not None,
        version=item.version if item is not None else None,
        recorded_digest=item.digest if item is not None else None,
        recorded_executables=item.executables if item is not None else (),
        origin=item.origin if item is not None else None,
        owners=view.owners.get(recorded, ()),
        users=view.users("skill", recorded),
        modified=(*difference.modified, *difference.executable) if difference else (),
        missing=difference.missing if difference else (),
        extra=difference.extra if difference else (),
    )


def _connector(view: View, name: str, tree: DiskTree) -> InstalledConnector:
    item = view.recorded("connector", name)
    return InstalledConnector(
        name=name,
        digest=tree.digest,
        managed=item is not None,
        recorded_digest=item.digest if item is not None else None,
        origin=item.origin if item is not None else None,
        users=view.users("connector", name),
    )


def _specialist(view: View, name: str, place: str, tree: DiskTree) -> InstalledSpecialist:
    item = view.recorded("specialist", name)
    if item is None:
        return InstalledSpecialist(
            id=name,
            version=_stated(f"{place}/manifest.json", "version") or "0.0.0",
            name=_stated(f"{place}/specialist.json", "name") or name,
            revision=0,
            digest=tree.digest,
            recorded_digest="",
        )
    return InstalledSpecialist(
        id=name,
        version=item.version,
        name=item.text("name") or name,
        revision=item.revision,
        digest=tree.digest,
        recorded_digest=item.digest,
        origin=item.origin,
        owned=tuple(sorted(skill for skill, owners in view.owners.items() if item.name in owners)),
    )


def _stated(path: str, key: str) -> str:
    """Return what a specialist that nobody imported says of itself; "" where it says nothing that can be read."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.loads(file.read(MAX_MANIFEST))
    except (OSError, ValueError, RecursionError):
        return ""
    text = value.get(key) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""
