"""Removal: what would go, what stands against it, what of the person's own stays; and then the same, done."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from importer.diagnostics import Diagnostic, Severity, error, shown, warning
from importer.digests import tree_digest
from importer.library import transact
from importer.library.disk import DiskTree, compare, read_items
from importer.library.errors import LibraryError, stale
from importer.library.inventory import find_items
from importer.library.rows import Change, Move, State, Transaction
from importer.library.settings import is_enabled
from importer.records import record

if TYPE_CHECKING:
    from importer.library.layout import Layout
    from importer.library.record import Record
    from importer.library.rows import Item
    from importer.library.view import View
    from importer.model import Host

ALL = "all"
"""As `with_skills`: every skill that the specialist owns and nothing protects."""


@record
class RemovedItem:
    """One thing that goes."""

    kind: str
    name: str
    version: str
    revision: int
    digest: str | None
    """Of what goes to the trash, edits included; None where it is gone from the disk already."""
    executables: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    """Files that are not as they were installed, and go to the trash as they are."""
    kept: tuple[str, ...] = ()
    """Files of the person's own that stay where they are."""


@record
class RemovalPlan:
    """Everything that a removal is going to do. It can be done when `refusals` is empty."""

    kind: str
    name: str
    with_skills: tuple[str, ...]
    """As asked: names, or `all`."""
    items: tuple[RemovedItem, ...]
    released: tuple[str, ...]
    """Skills that stay and belong to one specialist less."""
    refusals: tuple[Diagnostic, ...]
    notes: tuple[Diagnostic, ...]
    digest: str
    """`r1:` digest over all of this."""


def plan_removal(
    view: View, record: Record | None, host: Host, kind: str, name: str, with_skills: Sequence[str]
) -> RemovalPlan:
    """Return what removing one thing would do.

    Raises:
        LibraryError: `library-name-unknown`; something cannot be read.
        FileNotFoundError: something vanished while it was read.
    """
    ((_, name),) = find_items(view, name, kind)
    refusals: list[Diagnostic] = []
    notes: list[Diagnostic] = []
    going = [(kind, name)]
    if kind == "skill":
        refusals += _protections(view, record, host, name, leaving=None)
    elif kind == "specialist":
        if name in host.specialists:
            refusals.append(_protected(kind, name, "it is built into the host application", "builtin", []))
        going += _with_skills(view, record, host, name, with_skills, refusals, notes)
    elif kind == "connector":
        refusals += [_protected(kind, name, "it is built into the host application", "builtin", [])] * (
            name in host.connectors
        )
        notes += [
            warning(
                "connector-still-named",
                f"the specialist {shown(user)} names the connector {shown(name)} and works without it from then on",
                name=name,
                specialist=user,
            )
            for user in view.users("connector", name)
        ]
    unmanaged = [(k, n) for k, n in going if (k, n) not in view.items]
    refusals += [
        error(
            "library-unmanaged",
            f"the {k} {shown(n)} was not installed by the importer, so it is not removed by it; it is yours: delete "
            f"{shown(view.layout.full(view.layout.target(k, n)), 400)} yourself",
            view.layout.target(k, n),
            kind=k,
            name=n,
        )
        for k, n in unmanaged
    ]
    items = tuple(item for item, _ in _items(view, [one for one in going if one not in unmanaged]))
    released = tuple(
        skill
        for skill, owners in sorted(view.owners.items())
        if kind == "specialist" and name in owners and ("skill", skill) not in going
    )
    return RemovalPlan(
        kind=kind,
        name=name,
        with_skills=tuple(with_skills),
        items=items,
        released=released,
        refusals=tuple(refusals),
        notes=tuple(notes),
        digest=_digest(kind, name, with_skills, items, released, refusals),
    )


def _with_skills(
    view: View,
    record: Record | None,
    host: Host,
    specialist: str,
    asked: Sequence[str],
    refusals: list[Diagnostic],
    notes: list[Diagnostic],
) -> list[tuple[str, str]]:
    """Return the skills that go with a specialist."""
    owned = [skill for skill, owners in sorted(view.owners.items()) if specialist in owners]
    item = view.items.get(("specialist", specialist))
    reachable = {*owned, *(item.names("skill_ids") if item is not None else ())}
    every = ALL in asked
    going: list[tuple[str, str]] = []
    for name in owned if every else dict.fromkeys(asked):
        if name not in reachable:
            refusals.append(
                error(
                    "library-name-unknown",
                    f"the specialist {shown(specialist)} neither owns nor names a skill {shown(name)}; it has: "
                    + (", ".join(shown(skill) for skill in sorted(reachable)) or "none"),
                    name=name,
                )
            )
            continue
        against = _protections(view, record, host, name, leaving=specialist)
        if not against:
            going.append(("skill", name))
        elif every:
            notes += [replace(d, severity=Severity.INFO, code="library-skill-kept") for d in against]
        else:
            refusals += against
    return going


def _protections(view: View, record: Record | None, host: Host, skill: str, leaving: str | None) -> list[Diagnostic]:
    """Return what stands against removing a skill; `leaving` is a specialist that goes in the same step."""
    found: list[Diagnostic] = []
    if skill in host.skills:
        found.append(_protected("skill", skill, "it is built into the host application", "builtin", []))
    users = [user for user in view.users("skill", skill) if user != leaving]
    if users:
        named = ", ".join(shown(user) for user in users)
        owners = [user for user in users if user in view.owners.get(skill, ())]
        how = "is owned by" if owners else "is used by"
        why = f"it {how} the specialist{'s' if len(users) > 1 else ''} {named}"
        found.append(_protected("skill", skill, why, "users", users))
    if record is not None and is_enabled(record, skill):
        found.append(_protected("skill", skill, "it is enabled for the main agent", "enabled", []))
    return found


def _protected(kind: str, name: str, why: str, reason: str, users: list[str]) -> Diagnostic:
    return error(
        "library-protected",
        f"the {kind} {shown(name)} cannot be removed: {why}",
        kind=kind,
        name=name,
        reason=reason,
        users=users,
    )


def _items(view: View, going: Sequence[tuple[str, str]]) -> list[tuple[RemovedItem, DiskTree | None]]:
    """Return what goes, with what is on disk now."""
    places = {one: place for one in going if (place := view.place(*one)) is not None and os.path.lexists(place)}
    named = [view.layout.full(view.layout.target(kind, name)) for kind, name in places]
    trees = dict(zip(places, read_items(list(places.values()), named), strict=True))
    result: list[tuple[RemovedItem, DiskTree | None]] = []
    for kind, name in going:
        item = view.items[kind, name]
        tree = trees.get((kind, name))
        kept: tuple[str, ...] = ()
        edited: tuple[str, ...] = ()
        digest = None
        executables: tuple[str, ...] = ()
        if tree is not None:
            difference = compare(tree, item.files)
            edited = (*difference.modified, *difference.executable)
            kept = () if os.path.islink(places[kind, name]) or kind == "connector" else difference.extra
            digest, executables = without(tree, kept)
        removed = RemovedItem(
            kind=kind,
            name=name,
            version=item.version,
            revision=item.revision,
            digest=digest,
            executables=executables,
            edited=edited,
            kept=kept,
        )
        result.append((removed, tree))
    return result


def without(tree: DiskTree, kept: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return digest and executables of what is left of a tree without some of its files."""
    staying = set(kept)
    files = [file for file in tree.files if file.path.text.rstrip("\0") not in staying]
    return tree_digest(files), tuple(file.path.text for file in files if file.executable)


def _digest(
    kind: str,
    name: str,
    with_skills: Sequence[str],
    items: Sequence[RemovedItem],
    released: Sequence[str],
    refusals: Sequence[Diagnostic],
) -> str:
    content = {
        "kind": kind,
        "name": name,
        "with_skills": list(with_skills),
        "items": [
            [i.kind, i.name, i.version, i.revision, i.digest, list(i.executables), list(i.edited), list(i.kept)]
            for i in items
        ],
        "released": list(released),
        "refusals": [[d.code, d.message] for d in refusals],
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return "r1:" + hashlib.sha256(text.encode("ascii")).hexdigest()


# --- doing it --------------------------------------------------------------------------------------------------------


@record
class Removal:
    """A transaction with what it needs besides: what must still be there, and empty folders for what stays."""

    transaction: Transaction
    expected: Mapping[str, DiskTree]
    folders: Sequence[tuple[str, int]]


def removal(
    view: View, record: Record, plan: RemovalPlan, now: RemovalPlan, *, at: str, command: str, token: str | None
) -> Removal:
    """Return the transaction that carries out a removal.

    Args:
        view: of this moment, under the writer's lock.
        record: the same record.
        plan: what the person saw.
        now: the same, planned again.
        at: the time, UTC.
        command: for the history.
        token: SHA-256 of the token that it spends.

    Raises:
        LibraryError: `library-stale` where the two plans differ; `library-protected` or another refusal of the plan.
    """
    if plan.digest != now.digest:
        raise stale(f"the {plan.kind} {shown(plan.name)}, or what depends on it, was changed since the preview")
    if now.refusals:
        first = now.refusals[0]
        raise LibraryError(first.code, first.message, first.path)
    layout = view.layout
    name = transact.new_id()
    changes: list[Change] = []
    moves: list[Move] = []
    folders: list[tuple[str, int]] = []
    expected: dict[str, DiskTree] = {}
    for item, tree in _items(view, [(one.kind, one.name) for one in now.items]):
        taken = None
        if tree is not None:
            taken = layout.trashed(item.kind, item.name, name)
            expected[taken] = tree
            target = layout.target(item.kind, item.name)
            moves.append(Move(source=target, target=taken))
            if item.kept:
                moves += _kept(layout, target, taken, name, view.items[item.kind, item.name], item.kept, folders)
        changes.append(
            Change(
                kind=item.kind,
                name=item.name,
                action="removed",
                before=record.state(item.kind, item.name),
                after=State(),
                taken=taken,
                taken_digest=item.digest,
                taken_executables=item.executables,
                kept=item.kept,
            )
        )
    for skill in now.released:
        before = record.state("skill", skill)
        owners = tuple(owner for owner in before.owners if owner != plan.name)
        after = State(item=before.item, owners=owners, settings=before.settings)
        changes.append(Change(kind="skill", name=skill, action="released", before=before, after=after))
    transaction = Transaction(
        id=name,
        at=at,
        command=command,
        verb="remove",
        origin=None,
        changes=tuple(changes),
        moves=tuple(moves),
        token=token,
    )
    return Removal(transaction=transaction, expected=MappingProxyType(expected), folders=folders)


def _kept(
    layout: Layout,
    target: str,
    taken: str,
    transaction: str,
    item: Item,
    kept: Sequence[str],
    folders: list[tuple[str, int]],
) -> list[Move]:
    """Return the renames that put a person's own files back, and note the empty folders that they go into."""
    ours = {""} | {parent for record in item.files for parent in _parents(record.path.text)}
    units: dict[str, None] = {}
    for path in kept:
        unit = path
        for parent in _parents(path):
            if parent not in ours:
                unit = parent
                break
        units[unit] = None
    skeleton = f"{taken.partition(f'/{transaction}/')[0]}/{transaction}/{transact.KEPT}/{target}"
    needed = {""} | {parent for unit in units for parent in _parents(unit)}
    for folder in sorted(needed):
        source = layout.full(f"{target}/{folder}" if folder else target)
        folders.append((f"{skeleton}/{folder}" if folder else skeleton, stat.S_IMODE(os.stat(source).st_mode)))
    moves = [Move(source=skeleton, target=target)]
    return moves + [Move(source=f"{taken}/{unit}", target=f"{target}/{unit}") for unit in units]


def _parents(path: str) -> list[str]:
    """Return the folders above a path, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
