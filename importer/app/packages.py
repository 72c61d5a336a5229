"""What was opened, read as the kind of package that it is: skills, a Specialist package, or connectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from importer.app.found import Held
from importer.app.reading import PackageReader
from importer.app.request import NoProgress
from importer.diagnostics import Diagnostic, Rejected, Severity, error, info, shown, warning
from importer.digests import tree_digest
from importer.entries import as_warning
from importer.formats.layout import Kind, SpecialistLayout
from importer.formats.limits import check_specialist_budget
from importer.model import ConnectorCandidate, LeftOut, Package, SpecialistCandidate
from importer.paths import RelPath
from importer.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from importer.app.found import Meters
    from importer.app.opening import Opened
    from importer.app.request import Request
    from importer.app.session import Session
    from importer.model import Entry
    from importer.staging import StagedFolder

SPECIALIST_FOLDER = "specialist"


@record
class ReadPackage:
    """A package as it was read, with every finding."""

    package: Package
    about: Mapping[str, str]
    """kind, id, version, name, display_name, description: what a report says of the whole."""
    diagnostics: tuple[Diagnostic, ...]
    fatal: tuple[Diagnostic, ...] = ()
    """Errors of the package itself: no `--keep-going` goes past them."""
    faulty: bool = False
    """Whether an item was left out because of an error."""
    selection_needed: tuple[str, ...] = ()


def read_package(
    session: Session, request: Request, staged: StagedFolder, meters: Meters, opened: Opened
) -> ReadPackage:
    """Read everything that an open source offers, and stage what is going to be installed.

    Raises:
        Rejected: nothing in it is recognised, or its container is refused.
        BudgetExceeded: a limit of the whole is spent.
    """
    if opened.document is not None:
        return _connectors(request, meters, [(opened.label, opened.document)], opened.label)
    if opened.container is None:
        raise Rejected([error("package-unrecognised", "there is nothing to read")])
    # What is fetched from a repository is told by its container, file by file.
    progress = NoProgress() if opened.container.kind == "github" else session.settings.progress
    reader = PackageReader(staged, meters, request, progress)
    try:
        held = reader.open(opened.container, "", inner=False)
        match held.layout.kind:
            case Kind.SPECIALIST:
                return _specialist(reader, opened, held, meters)
            case Kind.DOCUMENTS:
                documents = _documents(held, meters)
                if documents:
                    return _with_findings(_connectors(request, meters, documents, opened.label), reader, held)
                raise Rejected([*reader.diagnostics, *held.layout.notes, held.layout.unrecognised()])
            case Kind.NONE:
                faults = [fault.diagnostic for fault in held.layout.faults]
                raise Rejected([*faults, *reader.diagnostics, *held.layout.notes, held.layout.unrecognised()])
            case Kind.SKILLS:
                return _skills(reader, opened, held)
    finally:
        reader.close()


def _skills(reader: PackageReader, opened: Opened, held: Held) -> ReadPackage:
    skills = reader.skills(opened, held)
    single = len(held.layout.roots) == 1 and not held.layout.nested
    kind = "skill" if single else "bundle"
    about = {"kind": kind, "name": opened.label}
    if single and skills:
        first = skills[0]
        about |= {"name": first.name, "version": first.version, "description": first.description}
    return ReadPackage(
        package=Package(kind=kind, skills=skills, left_out=tuple(reader.left_out)),
        about=about,
        diagnostics=tuple(reader.diagnostics),
        faulty=_faulty(reader.left_out),
        selection_needed=reader.selection_needed,
    )


def _faulty(left_out: Sequence[LeftOut]) -> bool:
    return any(item.reason in {"faulty", "clash"} for item in left_out)


# --- specialists -----------------------------------------------------------------------------------------------------


def _specialist(reader: PackageReader, opened: Opened, held: Held, meters: Meters) -> ReadPackage:
    from importer.formats.specialist import read_specialist, unlisted_skills

    layout = held.layout.specialist
    if layout is None or opened.container is None:
        raise Rejected([held.layout.unrecognised()])
    fatal = list(check_specialist_budget(layout.files, layout.root, meters.specialist, compressed=opened.packed))
    if fatal:
        raise Rejected(fatal)
    reader.bundled = True
    documents = [entry for entry in (layout.manifest, layout.document) if entry is not None]
    for entry in documents:
        reader.staged.place(entry, SPECIALIST_FOLDER, RelPath(entry.path.name))
    opened.container.deliver(documents, reader.staged, meters.bundle_bytes)
    reading = read_specialist(
        _staged_document(reader.staged, layout.manifest),
        _staged_document(reader.staged, layout.document),
        layout.root,
    )
    fatal += [fault.diagnostic for fault in layout.faults]
    fatal += [d for d in reading.diagnostics if d.severity is Severity.ERROR]
    skills = reader.skills(opened, held)
    specialist = None
    about: dict[str, str] = {"kind": "specialist", "id": reading.id}
    notes: list[Diagnostic] = []
    if reading.document is not None:
        document = reading.document
        records = reader.staged.records(SPECIALIST_FOLDER)
        specialist = SpecialistCandidate(
            id=document.id,
            version=document.version,
            name=document.name,
            display_name=document.display_name,
            description=document.description,
            system_prompt=document.system_prompt,
            skill_ids=document.skill_ids,
            connector_ids=document.connector_ids,
            bundled=tuple(root.path.rpartition("/")[2] for root in held.layout.roots),
            files=records,
            digest=tree_digest(records),
            staged=SPECIALIST_FOLDER,
        )
        about |= {
            "version": document.version,
            "name": document.name,
            "display_name": document.display_name,
            "description": document.description,
        }
        where = f"{layout.root}/specialist.json" if layout.root else "specialist.json"
        notes += unlisted_skills(document, [skill.name for skill in skills], where)
    notes += _beside(layout, held)
    return ReadPackage(
        package=Package(kind="specialist", skills=skills, specialist=specialist, left_out=tuple(reader.left_out)),
        about=about,
        diagnostics=(
            *(fault.diagnostic for fault in layout.faults),
            *reading.diagnostics,
            *reader.diagnostics,
            *notes,
        ),
        fatal=tuple(fatal),
        faulty=_faulty(reader.left_out),
        selection_needed=reader.selection_needed,
    )


def _staged_document(staged: StagedFolder, entry: Entry | None) -> bytes | None:
    from importer.formats.specialist import READ_BYTES

    if entry is None:
        return None
    return staged.read(SPECIALIST_FOLDER, RelPath(entry.path.name), READ_BYTES + 1)


def _beside(layout: SpecialistLayout, held: Held) -> list[Diagnostic]:
    """Name the files that a package may have and an installed specialist does not."""
    inside = {entry.path.text for root in held.layout.roots for entry in root.files}
    outside = {entry.path.text for entry in held.layout.outside}
    taken = {entry.path.text for entry in (layout.manifest, layout.document) if entry is not None}
    placed = inside | outside | taken
    left = sorted(entry.path.text for entry in layout.files if entry.path.text not in placed)
    if not left:
        return []
    names = ", ".join(shown(name) for name in left)
    return [info("files-outside", f"{names}: for people to read, not installed", count=len(left), names=left)]


# --- connectors ------------------------------------------------------------------------------------------------------


class _InMemory:
    """Takes small documents, which are never written anywhere."""

    def __init__(self) -> None:
        self.data: dict[str, bytearray] = {}

    def begin(self, entry: Entry, /, *, deflated: bool = False) -> _Document:
        """Take one document."""
        del deflated
        self.data[entry.path.text] = bytearray()
        return _Document(self.data[entry.path.text])

    def take(self, entry: Entry, content: bytes | memoryview, _packed: bytes | memoryview | None = None, /) -> None:
        """Take one document as a whole."""
        self.data[entry.path.text] = bytearray(content)


class _Document:
    def __init__(self, data: bytearray) -> None:
        self._data = data

    def write(self, data: bytes | memoryview, /) -> None:
        self._data += data

    def packed(self, data: bytes | memoryview, /) -> None:
        """Do without it."""

    def done(self) -> None:
        """The document is complete."""


def _documents(held: Held, meters: Meters) -> list[tuple[str, bytes]]:
    """Return the connector documents of a container, in memory: raw configurations may hold secrets."""
    from importer.formats.connectors.recognise import looks_like_connectors

    memory = _InMemory()
    for entry in held.layout.documents:
        meters.connector.check("config_bytes", entry.size, entry.path.text)
    held.container.deliver(held.layout.documents, memory, meters.bundle_bytes)
    return [(name, bytes(data)) for name, data in memory.data.items() if looks_like_connectors(bytes(data))]


def _connectors(request: Request, meters: Meters, documents: Sequence[tuple[str, bytes]], label: str) -> ReadPackage:
    from importer.formats.connectors.reading import read_connectors

    offered: dict[str, list[tuple[str, ConnectorCandidate]]] = {}
    left_out: list[LeftOut] = []
    found: list[Diagnostic] = []
    missing: list[Diagnostic] = []
    for document, data in documents:
        reading = read_connectors(
            data,
            label=document,
            meter=meters.connector,
            wanted=request.connectors,
            allowed=request.choices.allowed,
        )
        for candidate in reading.candidates:
            offered.setdefault(candidate.name, []).append((document, candidate))
        left_out += reading.left_out
        found += [d for d in reading.diagnostics if d.code != "connector-not-found"]
        missing += [d for d in reading.diagnostics if d.code == "connector-not-found"]
    found += _in_none(missing, len(documents))
    named = {item.name for item in left_out}
    fatal = [d for d in found if d.severity is Severity.ERROR and d.facts.get("connector") not in named]
    if not offered and not left_out and not fatal:
        looked = "a connector template, or a client's configuration with mcpServers, servers or context_servers"
        fatal = [error("package-unrecognised", f"{shown(label)} is JSON, and no connectors: looked for {looked}")]
        found += fatal
    found += _unused(request.choices.allowed, found)
    candidates: list[ConnectorCandidate] = []
    for name, each in offered.items():
        alike = len({candidate.digest for _, candidate in each}) == 1
        found += _told_twice(name, [document for document, _ in each], alike=alike)
        if alike:
            candidates.append(each[0][1])
            continue
        left_out.append(
            LeftOut(kind="connector", name=name, root=label, reason="clash", codes=("connector-name-collision",))
        )
    return ReadPackage(
        package=Package(
            kind="connectors",
            connectors=tuple(candidates),
            left_out=tuple(left_out),
        ),
        about={"kind": "connectors", "name": label},
        diagnostics=tuple(found),
        fatal=tuple(fatal),
        faulty=_faulty(left_out),
    )


def _in_none(missing: Sequence[Diagnostic], documents: int) -> list[Diagnostic]:
    """Return what --connector asked for and no document has, each name once."""
    by_name: dict[object, list[Diagnostic]] = {}
    for diagnostic in missing:
        by_name.setdefault(diagnostic.facts.get("name"), []).append(diagnostic)
    return [same[0] for same in by_name.values() if len(same) == documents]


def _told_twice(name: str, documents: Sequence[str], *, alike: bool) -> list[Diagnostic]:
    """Say that several documents of a package have a connector of one name."""
    if len(documents) == 1:
        return []
    where = ", ".join(shown(document, 100) for document in documents[:8])
    if alike:
        return [info("connector-duplicate", f"{shown(name)} is the same in {where}; it is taken once", connector=name)]
    message = f"{shown(name)} is another connector in each of {where}; preview one of the files by itself"
    return [error("connector-name-collision", message, connector=name)]


def _unused(allowed: frozenset[str], found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Say which --allow-arg vouched for nothing: a wrong index would go unseen otherwise."""
    used = {d.facts.get("option") for d in found if d.code == "connector-arg-allowed"}
    what = "nothing there asks for it (the index counts from 0, and what is certainly a credential is never allowed)"
    return [
        warning("connector-allow-unused", f"--allow-arg {shown(option)} is not needed: {what}", option=shown(option))
        for option in sorted(allowed - used)
    ]


def _with_findings(read: ReadPackage, reader: PackageReader, held: Held) -> ReadPackage:
    outer = [as_warning(fault.diagnostic) for fault in held.layout.faults]
    return replace(read, diagnostics=(*reader.diagnostics, *held.layout.notes, *outer, *read.diagnostics))
