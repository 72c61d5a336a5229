"""Packages that go into a library, and everything that a library is, as values to compare."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from importer.digests import tree_digest
from importer.library import Library, LibraryError
from importer.library.errors import stale
from importer.library.install import Applied
from importer.library.record import Record
from importer.library.rows import Item
from importer.library.stagings import Staging
from importer.model import (
    Choice,
    Choices,
    ConnectorCandidate,
    Entry,
    FileRecord,
    Origin,
    Package,
    Plan,
    SkillCandidate,
    SpecialistCandidate,
)
from importer.paths import RelPath
from importer.planning.planner import plan

ORIGIN = Origin(kind="zip", reference="/somewhere/package.zip")
OTHER_ORIGIN = Origin(kind="zip", reference="/elsewhere/other.zip")
Files = Mapping[str, bytes]


def document(name: str, body: str = "Read, count, report.\n") -> bytes:
    """Return a SKILL.md."""
    return f"---\nname: {name}\ndescription: Counts what there is. Use for tests.\n---\n{body}".encode()


def skill(name: str, body: str = "Read, count, report.\n", **more: bytes) -> dict[str, bytes]:
    """Return the files of a skill; the script has a shebang, so it is executable."""
    return {
        "SKILL.md": document(name, body),
        "scripts/count": b"#!/bin/sh\nwc -l\n",
        "references/units.md": b"# Units\n",
        **more,
    }


@dataclass(frozen=True)
class Role:
    """A specialist to install."""

    id: str = "field-analyst"
    version: str = "1.0.0"
    prompt: str = "You check field data."
    names: tuple[str, ...] = ()
    """Skills that it names besides the bundled ones."""
    connectors: tuple[str, ...] = ()


def stage(staging: Staging, folder: str, files: Files) -> tuple[FileRecord, ...]:
    """Stage files as a container would deliver them."""
    for handle, (name, data) in enumerate(files.items()):
        entry = Entry(
            path=RelPath.parse(f"{folder}/{name}"), size=len(data), packed=len(data), executable=None, handle=handle
        )
        staging.folder.place(entry, folder, RelPath.parse(name))
        sink = staging.folder.begin(entry)
        assert sink is not None
        sink.write(data)
        sink.done()
    return staging.folder.records(folder)


def staged_skill(staging: Staging, name: str, files: Files, version: str = "1.0.0") -> SkillCandidate:
    """Stage a skill and return it as a candidate."""
    records = stage(staging, f"skills/{name}", files)
    return SkillCandidate(
        name=name,
        stated_name=name,
        version=version,
        version_stated=True,
        description="Counts what there is. Use for tests.",
        root=name,
        files=records,
        digest=tree_digest(records),
        staged=f"skills/{name}",
    )


def staged_specialist(staging: Staging, role: Role, bundled: Sequence[str]) -> SpecialistCandidate:
    """Stage a specialist and return it as a candidate."""
    skill_ids = (*bundled, *role.names)
    files = {
        "manifest.json": f'{{"id": "{role.id}", "version": "{role.version}"}}\n'.encode(),
        "specialist.json": f"{role.prompt} {skill_ids} {role.connectors}\n".encode(),
    }
    records = stage(staging, f"specialist/{role.id}", files)
    return SpecialistCandidate(
        id=role.id,
        version=role.version,
        name=role.id.replace("-", " "),
        display_name=role.id.title(),
        description="Checks.",
        system_prompt=role.prompt,
        skill_ids=skill_ids,
        connector_ids=role.connectors,
        bundled=tuple(bundled),
        files=records,
        digest=tree_digest(records),
        staged=f"specialist/{role.id}",
    )


def connector(name: str, command: str = "npx") -> ConnectorCandidate:
    """Return a connector as a candidate."""
    template = f'{{"name": "{name}", "command": "{command}"}}\n'.encode()
    record = FileRecord(
        path=RelPath(f"{name}.json"),
        size=len(template),
        sha256=hashlib.sha256(template).hexdigest(),
        executable=False,
        mode_known=True,
    )
    return ConnectorCandidate(
        name=name,
        stated_name=name,
        display_name=name.title(),
        transport="stdio",
        secrets=("TOKEN",),
        template=template,
        digest=tree_digest([record]),
        summary=command,
    )


def staged_package(
    staging: Staging,
    skills: Mapping[str, Files] | None = None,
    *,
    role: Role | None = None,
    connectors: Sequence[ConnectorCandidate] = (),
    version: str = "1.0.0",
) -> Package:
    """Stage a package."""
    candidates = tuple(staged_skill(staging, name, files, version) for name, files in (skills or {}).items())
    specialist = staged_specialist(staging, role, tuple(skills or {})) if role is not None else None
    kind = "specialist" if specialist else "bundle" if candidates else "connectors"
    return Package(kind=kind, skills=candidates, connectors=tuple(connectors), specialist=specialist)


def planned(library: Library, package: Package, choices: Choices, origin: Origin = ORIGIN) -> Plan:
    """Plan a package against the library as it is."""
    skills = {candidate.name for candidate in package.skills}
    connectors = {candidate.name for candidate in package.connectors}
    if package.specialist is not None:
        skills |= set(package.specialist.skill_ids)
        connectors |= set(package.specialist.connector_ids)
    return plan(package, library.snapshot(skills=skills, connectors=connectors), choices, origin)


def take_incoming(*names: str) -> Choices:
    """Return the choices of somebody who wants everything that comes."""
    return Choices(by_name=dict.fromkeys(names, Choice.INCOMING), confirm_overwrite=True)


def install(
    root: Path,
    skills: Mapping[str, Files] | None = None,
    *,
    role: Role | None = None,
    connectors: Sequence[ConnectorCandidate] = (),
    version: str = "1.0.0",
    origin: Origin = ORIGIN,
) -> Applied:
    """Go the whole way from staging over a token to the library, taking whatever comes."""
    names = [*(skills or {}), *(one.name for one in connectors)]
    with Library.open(root) as library:
        with library.new_staging() as staging:
            package = staged_package(staging, skills, role=role, connectors=connectors, version=version)
            choices = take_incoming(*names)
            shown = planned(library, package, choices, origin)
            token = library.hold(staging, shown, origin=origin, choices=choices).token
        try:
            held = library.claim(token)
            with library.writer(command="install") as writer:
                final = planned(library, held.package, held.choices, held.origin)
                if final.digest != held.plan_digest:
                    raise stale("the plan is another one")
                assert not final.choices_needed
                return writer.apply(final, held.staging, held.origin, token=token)
        except LibraryError:
            library.release(token)
            raise


def remove(root: Path, kind: str, name: str, with_skills: Sequence[str] = ()) -> Applied:
    """Preview a removal and do it."""
    with Library.open(root) as library:
        shown = library.plan_removal(kind, name, with_skills)
        with library.writer(command="remove") as writer:
            return writer.remove(shown)


def rollback(root: Path, transaction: str) -> Applied:
    """Take a transaction back."""
    with Library.open(root) as library, library.writer(command="rollback") as writer:
        return writer.rollback(transaction)


# --- everything that a library is ------------------------------------------------------------------------------------


def files_of(root: Path | str) -> dict[str, str]:
    """Return everything under a folder: kind, executable bit and content by path."""
    found: dict[str, str] = {}
    base = os.fspath(root)
    for folder, folders, names in os.walk(base):
        for name in (*folders, *names):
            full = f"{folder}/{name}"
            path = os.path.relpath(full, base)
            status = os.lstat(full)
            if stat.S_ISLNK(status.st_mode):
                found[path] = f"link {os.readlink(full)}"
            elif stat.S_ISDIR(status.st_mode):
                found[path] = "folder"
            else:
                executable = "x" if status.st_mode & 0o100 else "-"
                found[path] = f"file {executable} {hashlib.sha256(Path(full).read_bytes()).hexdigest()[:16]}"
    return found


def visible(root: Path | str) -> dict[str, str]:
    """Return what a person sees of a library, and its trash, without the folders that are there for the importer."""
    return {
        path: what
        for path, what in files_of(root).items()
        if not path.startswith(".importer") or path.startswith(".importer/trash/")
    }


def record_of(root: Path | str) -> dict[str, object]:
    """Return everything that the record holds, transactions by what they did."""
    record = Record.open(f"{os.fspath(root)}/.importer/library.db")
    if record is None:
        return {"items": {}, "owners": {}, "settings": [], "history": []}
    try:
        assert record.journal() == []
        return {
            "items": {key: _plain(item) for key, item in record.items().items()},
            "owners": record.owners(),
            "settings": record.rows("SELECT * FROM settings ORDER BY kind, name"),
            "history": [
                (t.verb, t.command, t.undone_by is not None, [(c.kind, c.name, c.action) for c in t.changes])
                for t in record.transactions()
            ],
        }
    finally:
        record.close()


def _plain(item: Item) -> Item:
    return replace(item, installed_at="", transaction="")


def whole(root: Path | str) -> tuple[dict[str, str], dict[str, object]]:
    """Return record and files of a library, to compare with another moment; a transaction's id becomes its number."""
    numbers = {name: f"transaction {number}" for number, name in enumerate(_ids(root))}
    files: dict[str, str] = {}
    for path, what in visible(root).items():
        parts = path.split("/")
        if parts[0] == ".importer" and len(parts) > 2:
            parts[2] = numbers.get(parts[2], parts[2])
            if parts[-1] == "transaction.json":
                what = "manifest"  # noqa: PLW2901
        files["/".join(parts)] = what
    return files, record_of(root)


def _ids(root: Path | str) -> list[str]:
    record = Record.open(f"{os.fspath(root)}/.importer/library.db")
    if record is None:
        return []
    try:
        return [transaction.id for transaction in record.transactions()]
    finally:
        record.close()
