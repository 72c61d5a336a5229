"""Skills and specialists out of the library, as archives that our own importer accepted before they are handed out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from budgets import BudgetExceeded
from importer import fs
from importer.app.clients import refused
from importer.app.errors import ImporterError, Status, machine_error
from importer.app.found import Meters
from importer.app.previewing import staging_for
from importer.app.request import Request
from importer.app.results import Report, diagnostic_json
from importer.app.writing import require_free
from importer.diagnostics import Diagnostic, Rejected, Severity, budget_error, shown, warning
from importer.exporters import ExportFile, not_bundled, write_skill_zip, write_specialist_zip
from importer.formats.skill import READ_BYTES, read_skill

if TYPE_CHECKING:
    from importer.app.packages import ReadPackage
    from importer.app.session import Session
    from importer.library.inventory import Shown
    from importer.model import SkillCandidate

CHUNK = 1 << 18


def export_skill(session: Session, name: str, output: str, *, force: bool) -> Report:
    """Write one installed skill as a zip, and return `importer/export/1`.

    The bytes depend on names, contents and executable bits only.

    Raises:
        ImporterError: there is no such skill, the output exists (without `force`), or what is on disk is nothing that
            an import would take.
    """
    item = _installed(session, "skill", name)
    files = _files(session, item)
    checked = _written(
        session, output, force, lambda out: write_skill_zip(out, item.listed.name, files, session.budgets)
    )
    (skill,) = checked.package.skills
    _same(skill, item)
    return _report("skill", item.listed.name, output, [], [])


def export_specialist(
    session: Session,
    name: str,
    output: str,
    *,
    force: bool,
    revision: int | None = None,
    skills: Sequence[str] | None = None,
) -> Report:
    """Write an installed specialist as a package, and return `importer/export/1`.

    Args:
        session: an open session.
        name: the specialist's id.
        output: where the archive goes.
        force: whether a file that is there may be replaced.
        revision: the revision that is expected; None for the current one.
        skills: which skills are bundled; None for those that it owns.

    Raises:
        ImporterError: STALE where the revision is another one; otherwise as `export_skill`.
    """
    item = _installed(session, "specialist", name)
    record = item.listed.item
    if record is None:
        raise ImporterError("library-unmanaged", f"{shown(name)} was not installed by the importer", Status.FAILED)
    if revision is not None and record.revision != revision:
        raise ImporterError(
            "library-stale",
            f"stale: {shown(name)} is at revision {record.revision}, not {revision}; look at it again",
            Status.STALE,
        )
    named = list(record.names("skill_ids"))
    owned = [listed.name for listed in session.library.listing() if name in listed.owners and listed.present]
    wanted = list(dict.fromkeys(skills)) if skills is not None else owned
    notes: list[Diagnostic] = []
    bundled: dict[str, list[ExportFile]] = {}
    for skill in wanted:
        shown_skill = _installed(session, "skill", skill)
        reason = not_bundled(skill, _stated_name(session, shown_skill))
        if reason is None:
            bundled[skill] = _files(session, shown_skill)
        elif skills is None:
            notes.append(warning(reason.code, reason.message, reason.path, name=skill))
        else:
            raise ImporterError(reason.code, reason.message, Status.REFUSED, [reason])
    base = session.library.layout.full(session.library.layout.target("specialist", name))
    manifest, document = (_whole(f"{base}/{file}") for file in ("manifest.json", "specialist.json"))
    checked = _written(
        session,
        output,
        force,
        lambda out: write_specialist_zip(out, manifest, document, bundled, {}, session.budgets),
    )
    for candidate in checked.package.skills:
        _same(candidate, _installed(session, "skill", candidate.name))
    references = [n for n in named if n not in bundled]
    report = _report("specialist", name, output, sorted(bundled), notes)
    report["revision"] = record.revision
    report["skills_referenced"] = list(references)
    report["connectors_referenced"] = list(record.names("connector_ids"))
    return report


def _report(kind: str, name: str, output: str, bundled: Sequence[str], notes: Sequence[Diagnostic]) -> Report:
    return {
        "schema": "importer/export/1",
        "kind": kind,
        "name": name,
        "output": output,
        "bundled": list(bundled),
        "diagnostics": [diagnostic_json(d) for d in notes],
    }


def _installed(session: Session, kind: str, name: str) -> Shown:
    try:
        (item,) = session.library.show(name.removeprefix(f"{kind}:"), kind)
    except OSError as problem:
        raise machine_error(problem, "the export") from problem
    if item.tree is None:
        raise ImporterError(
            "library-name-unknown",
            f"the {kind} {shown(name)} is gone from the disk; see `importer verify`",
            Status.FAILED,
        )
    return item


def _files(session: Session, item: Shown) -> list[ExportFile]:
    base = session.library.layout.full(session.library.layout.target(item.listed.kind, item.listed.name))
    files = item.tree.files if item.tree is not None else ()
    odd = [file.path.text.rstrip("\0") for file in files if not file.regular]
    if odd:
        raise ImporterError(
            "export-file-refused",
            f"{shown(item.listed.name)} holds {shown(odd[0], 200)}, which is no regular file; remove it, then export",
            Status.REFUSED,
        )
    return [
        ExportFile(
            path=file.path,
            size=file.size,
            executable=file.executable,
            chunks=partial(_chunks, f"{base}/{file.path.text}"),
        )
        for file in files
    ]


def _chunks(path: str) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while data := file.read(CHUNK):
            yield data


def _whole(path: str) -> bytes:
    try:
        return b"".join(_chunks(path))
    except OSError as problem:
        raise machine_error(problem, "the export") from problem


def _stated_name(session: Session, item: Shown) -> str:
    base = session.library.layout.full(session.library.layout.target("skill", item.listed.name))
    data = b""
    document = next((f for f in item.tree.files if f.path.text.lower() == "skill.md"), None) if item.tree else None
    if document is not None:
        with open(f"{base}/{document.path.text}", "rb") as file:
            data = file.read(READ_BYTES)
    return read_skill(data, complete=True, root="", folder=item.listed.name).stated_name


def _same(candidate: SkillCandidate, item: Shown) -> None:
    if item.tree is None or candidate.digest != item.tree.digest:
        raise ImporterError(
            "library-stale",
            f"stale: {shown(candidate.name)} was changed while it was exported; export it again",
            Status.STALE,
        )


class _Writer:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, data: bytes, /) -> object:
        return self._file.write(data)


def _written(session: Session, output: str, force: bool, write: Callable[[_Writer], int]) -> ReadPackage:
    """Write an archive beside the library, import it as a trial, and only then hand it out."""
    from importer.app.opening import open_source
    from importer.app.packages import read_package

    target = os.path.abspath(os.path.expanduser(output))
    require_free(target, force=force)
    try:
        with staging_for(session) as folder:
            file, path = folder.spool("export.zip")
            with file:
                write(_Writer(file))
            meters = Meters.of(session.budgets)
            opened = open_source(session, Request(source=str(path)), folder, meters)
            try:
                read = read_package(session, Request(source=str(path)), folder, meters, opened)
            finally:
                opened.close()
            faults = [d for d in (*read.fatal, *read.diagnostics) if d.severity is Severity.ERROR]
            if faults:
                raise Rejected(faults)
            fs.write_whole(target, _chunks(str(path)), replace=force)
            return read
    except Rejected as rejected:
        raise refused(rejected, "nothing was exported") from None
    except BudgetExceeded as exceeded:
        raise refused(Rejected([budget_error(exceeded)]), "nothing was exported") from None
    except OSError as problem:
        raise machine_error(problem, "the export") from problem
