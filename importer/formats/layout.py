"""What a tree holds, from its names alone: skills, a Specialist package, nested archives, plugins, JSON documents.

A Specialist package has `specialist.json` at the top or in one folder there, and its skills are the folders of
`skills/`; how other skills are found says `roots`. Nothing is opened here, and what belongs to nothing is named.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from enum import StrEnum

from importer.diagnostics import Diagnostic, error, info, shown, warning
from importer.formats.phrases import counted, listed
from importer.formats.roots import DOCUMENT, Names, Root, document_folders, split
from importer.model import Entry, Fault, Tree
from importer.records import record

MANIFEST_FILE = "manifest.json"
SPECIALIST_FILE = "specialist.json"
_BESIDE = ("README.txt", "LICENSE")
_NESTED = (".zip", ".skill")
_CLOSED = re.compile(r".*\.(?:tar|tgz|tbz2?|txz|gz|bz2|xz|zst|7z|rar|mcpb|dxt)", re.IGNORECASE | re.DOTALL)
_PLUGINS = {
    ".claude-plugin/plugin.json": ("claude-plugin", "a Claude Code plugin"),
    ".codex-plugin/plugin.json": ("codex-plugin", "a Codex plugin"),
    "plugin.json": ("agent-plugin", "an Agent Plugin (agent-plugins.org)"),
}
_PLUGINS_NAMED = 5


class Kind(StrEnum):
    """What a tree is, as far as names say."""

    SPECIALIST = "specialist"
    SKILLS = "skills"
    """Skills, or archives that may hold some."""
    DOCUMENTS = "documents"
    """Nothing but JSON documents that may be connectors: their content decides."""
    NONE = "none"


@record
class PluginMark:
    """A plugin manifest that was recognised by its place."""

    kind: str
    """agent-plugin, claude-plugin, codex-plugin."""
    root: str
    entry: Entry


@record
class SpecialistLayout:
    """The files of a Specialist package; its skills are the roots of the layout."""

    root: str
    manifest: Entry | None
    document: Entry | None
    """specialist.json; None only where a fault says why."""
    files: tuple[Entry, ...]
    """Every file of the package, bundled skills included: what its budget counts."""
    faults: tuple[Fault, ...]
    """Faults in the package and in none of its skills."""


@record
class Layout:
    """Everything that was recognised in a tree."""

    kind: Kind
    roots: tuple[Root, ...]
    nested: tuple[Entry, ...]
    """Archives that may hold skills."""
    specialist: SpecialistLayout | None
    documents: tuple[Entry, ...]
    """JSON files at the top, or in the one folder there, that may be connectors; where there is no skill."""
    plugins: tuple[PluginMark, ...]
    outside: tuple[Entry, ...]
    """Files that belong to nothing."""
    faults: tuple[Fault, ...]
    """Faults that lie in no root and in no Specialist package."""
    notes: tuple[Diagnostic, ...]
    seen: str
    """What was looked for and what there was, as one sentence; "" where skills are there."""

    def unrecognised(self) -> Diagnostic:
        """Return the error for a tree in which nothing could be used."""
        return error("package-unrecognised", self.seen)


def recognise(tree: Tree, *, inner: bool = False) -> Layout:
    """Recognise what `tree` holds.

    Args:
        tree: what the gate made of a container.
        inner: whether the container is itself a nested archive; archives in it are not opened.
    """
    names = Names(tree)
    folders = document_folders(names)
    found = _specialists(names)
    base = _specialist_base(found, folders)
    if base is not None:
        return _specialist(names, base, folders)
    cut = split(names, folders)
    nested = () if inner else tuple(entry for entry in cut.rest if entry.path.text.lower().endswith(_NESTED))
    outside = [entry for entry in cut.rest if not nested or not entry.path.text.lower().endswith(_NESTED)]
    plugins, notes = _plugins(names)
    if found:
        notes.append(_not_taken(found))
    notes += _closed(outside, inner=inner)
    documents = () if cut.roots else _documents(names)
    kind = Kind.SKILLS if cut.roots or nested else Kind.DOCUMENTS if documents else Kind.NONE
    if kind is Kind.SKILLS and outside:
        tops = sorted({entry.path.text.partition("/")[0] for entry in outside})
        notes.append(
            info(
                "files-outside",
                f"{counted(len(outside), 'file')} outside every skill, not installed: {listed(tops)}",
                count=len(outside),
                names=[shown(name) for name in tops[:50]],
            )
        )
    return Layout(
        kind=kind,
        roots=cut.roots,
        nested=nested,
        specialist=None,
        documents=documents,
        plugins=plugins,
        outside=tuple(outside),
        faults=tuple(fault for at, (_, fault) in enumerate(names.faults) if at not in cut.faults),
        notes=tuple(notes),
        seen="" if cut.roots else _seen(names),
    )


# --- specialist ------------------------------------------------------------------------------------------------------


def _specialists(names: Names) -> list[str]:
    """Return the folder of every specialist.json, the shallowest first."""
    end = "/" + SPECIALIST_FILE
    every = names.every()
    found = {name[: -len(end)] for name in every if name.endswith(end)} | ({""} if SPECIALIST_FILE in every else set())
    return sorted(found, key=lambda folder: (folder.count("/") + bool(folder), folder))


def _specialist_base(found: list[str], folders: dict[str, list[str]]) -> str | None:
    """Return the folder of the Specialist package that the tree is, or None where it is none."""
    if not found or "/" in found[0]:
        return None
    if found[0] == "":
        return ""
    if len(found) > 1 and "/" not in found[1]:
        return None
    prefix = found[0] + "/"
    # Skills beside the folder: a collection of skills that also has a Specialist package in it.
    return found[0] if all(f"{folder}/".startswith(prefix) for folder in folders) else None


def _not_taken(found: list[str]) -> Diagnostic:
    return info(
        "specialist-not-taken",
        f"{counted(len(found), 'Specialist package')} inside: {listed(found)}; one is taken only where it is the whole "
        "package, at the top or in the one folder there: preview its folder by itself",
        f"{found[0]}/{SPECIALIST_FILE}",
        count=len(found),
    )


def _specialist(names: Names, base: str, documents: dict[str, list[str]]) -> Layout:
    prefix = f"{base}/" if base else ""
    skills = f"{prefix}skills/"
    folders: dict[str, list[str]] = {}
    for name in names.every():
        end = name.find("/", len(skills))
        if end >= 0 and name.startswith(skills):
            folder = name[:end]
            if folder not in folders:
                folders[folder] = documents.get(folder, [])
    cut = split(names, folders)
    allowed = {prefix + name for name in (MANIFEST_FILE, SPECIALIST_FILE, *_BESIDE)}
    outside = [entry for entry in cut.rest if entry.path.text not in allowed]
    notes: list[Diagnostic] = []
    if outside:
        notes.append(
            warning(
                "specialist-file-ignored",
                f"{counted(len(outside), 'file')} with no place in a Specialist package, not installed: "
                f"{listed([entry.path.text for entry in outside])}; it has two JSON files, README.txt, LICENSE and "
                "skills/<name>/…",
                outside[0].path.text,
                count=len(outside),
                names=[shown(entry.path.text) for entry in outside[:50]],
            )
        )
    loose = [held for at, held in enumerate(names.faults) if at not in cut.faults]
    package = SpecialistLayout(
        root=base,
        manifest=names.files.get(prefix + MANIFEST_FILE),
        document=names.files.get(prefix + SPECIALIST_FILE),
        files=tuple(entry for name, entry in names.files.items() if name.startswith(prefix)),
        faults=tuple(fault for name, fault in loose if name.startswith(prefix)),
    )
    return Layout(
        kind=Kind.SPECIALIST,
        roots=tuple(_bundled(root) for root in cut.roots),
        nested=(),
        specialist=package,
        documents=(),
        plugins=(),
        outside=tuple(outside),
        faults=tuple(fault for name, fault in loose if not name.startswith(prefix)),
        notes=tuple(notes),
        seen="" if cut.roots else _seen(names),
    )


def _bundled(root: Root) -> Root:
    """Return the root of a bundled skill, whose folder always names it; one without a document is at fault."""
    root = replace(root, folder=root.path.rpartition("/")[2])
    if root.document is not None or root.faults:
        return root
    missing = error(
        "skill-document-missing",
        f"the folder has no {DOCUMENT}; every folder of skills/ in a Specialist package is a skill and has one",
        root.path,
    )
    return replace(root, findings=(*root.findings, missing))


# --- everything else -------------------------------------------------------------------------------------------------


def _closed(outside: list[Entry], *, inner: bool) -> list[Diagnostic]:
    closed = [
        name
        for name in (entry.path.text for entry in outside)
        if _CLOSED.fullmatch(name) or (inner and name.lower().endswith(_NESTED))
    ]
    if not closed:
        return []
    why = "archives are opened one level deep" if inner else "inside a package only .zip and .skill are opened"
    return [
        info(
            "archive-not-opened",
            f"{counted(len(closed), 'archive')} not opened: {listed(closed)}; {why}, preview it by itself",
            closed[0],
            count=len(closed),
            names=[shown(name) for name in closed[:50]],
        )
    ]


def _documents(names: Names) -> tuple[Entry, ...]:
    prefix = f"{names.wrapper}/" if names.wrapper else ""
    return tuple(
        entry
        for name, entry in names.files.items()
        if name.startswith(prefix) and "/" not in name[len(prefix) :] and name.lower().endswith(".json")
    )


def _plugins(names: Names) -> tuple[tuple[PluginMark, ...], list[Diagnostic]]:
    marks: list[PluginMark] = []
    notes: list[Diagnostic] = []
    for name, entry in names.files.items():
        if not name.endswith("plugin.json"):
            continue
        for place, (kind, what) in _PLUGINS.items():
            base = name[: -len(place)]
            if name.endswith(place) and (not base or base.endswith("/")):
                marks.append(PluginMark(kind=kind, root=base.rstrip("/"), entry=entry))
                notes.append(
                    info(
                        "plugin-recognised",
                        f"the manifest of {what}; only the skills of the package are taken from it here",
                        name,
                        kind=kind,
                    )
                )
                break
    if len(marks) > _PLUGINS_NAMED:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(Counter(mark.kind for mark in marks).items()))
        places = listed([mark.entry.path.text for mark in marks])
        message = f"{len(marks):,} plugin manifests ({kinds}): {places}; only the skills are taken from them here"
        notes = [info("plugin-recognised", message, count=len(marks))]
    return tuple(marks), notes


def _seen(names: Names) -> str:
    """Say what was looked for and what there was."""
    looked = (
        "nothing to import: looked for SKILL.md in any folder, manifest.json with specialist.json at the top or in one "
        "folder, .zip and .skill archives, and a connector document (*.json) at the top; found "
    )
    if not names.files:
        refused = len(names.faults)
        return looked + ("no files" if not refused else f"no file that could be taken, {refused:,} refused")
    kinds = Counter(_extension(name) for name in names.files)
    common = ", ".join(f"{number:,} {shown(kind, 20)}" for kind, number in kinds.most_common(4))
    first = listed(sorted(names.files, key=lambda name: (name.count("/"), name)), 4)
    near = [name for name in names.files if name.rpartition("/")[2].lower().startswith("skill")]
    almost = f"; no SKILL.md, the nearest names are {listed(near, 3)}" if near else ", no SKILL.md"
    return f"{looked}{counted(len(names.files), 'file')} ({common}): {first}{almost}"


def _extension(name: str) -> str:
    stem, dot, extension = name.rpartition("/")[2].rpartition(".")
    return f".{extension.lower()}" if dot and stem else "without extension"
