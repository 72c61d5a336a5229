"""The roots of skills in a tree, from names alone.

A root is the folder of the shallowest SKILL.md on its branch, at any depth; everything below belongs to it.
"""

from __future__ import annotations

import re
import unicodedata

from importer.diagnostics import Diagnostic, error, info, shown, warning
from importer.entries import HOST_FILES
from importer.formats.phrases import counted, listed
from importer.model import Entry, Fault, Tree
from importer.paths import fold_key
from importer.records import record

DOCUMENT = "SKILL.md"
# GitHub names the folder of a download `repository-ref`.
_DOWNLOAD = re.compile(
    r"(?P<name>.+)-(?:main|master|trunk|develop|dev|head|[0-9a-f]{7,40}|v?[0-9]+(?:\.[0-9]+)+[0-9a-z.+-]*)",
    re.IGNORECASE,
)


@record
class Root:
    """The folder of one skill, and everything in it."""

    path: str
    """"" at the top of the container."""
    document: Entry | None
    """Its SKILL.md; None only where a finding or a fault is an error of this skill."""
    files: tuple[Entry, ...]
    faults: tuple[Fault, ...]
    folder: str | None
    """The name that SKILL.md should have; None where the folder's name says nothing."""
    fallback: str = ""
    """A name for want of a better one: that of a download's folder."""
    findings: tuple[Diagnostic, ...] = ()


class Names:
    """A tree by names: what the files are called, what the faulty entries are called, and the one folder at the top."""

    def __init__(self, tree: Tree) -> None:
        self.files: dict[str, Entry] = {entry.path.text: entry for entry in tree.files}
        self.faults: list[tuple[str, Fault]] = [
            (unicodedata.normalize("NFC", fault.path.rstrip("/")), fault) for fault in tree.faults
        ]
        self.documents = {
            name: entry
            for name, entry in self.files.items()
            if name[-8:].lower() == "skill.md" and name[-9:-8] in {"", "/"}
        }
        """Every SKILL.md, however it is spelled."""
        top, inside, _ = next(iter(self.files), "").partition("/")
        # What stands between the first and the last name in order starts as both of them do.
        within = bool(inside) and all(name.startswith(f"{top}/") for name in (min(self.files), max(self.files)))
        self.wrapper = top if within else ""
        """The folder that holds every file, "" where there is none."""

    def every(self) -> list[str]:
        """Return the names of the files and of the faulty entries."""
        return [*self.files, *(name for name, _ in self.faults)]


@record(kw_only=False)
class Split:
    """A tree cut into roots: the files that belong to none, and which faults (by their position) belong to one."""

    roots: tuple[Root, ...]
    rest: tuple[Entry, ...]
    faults: frozenset[int]


def document_folders(names: Names) -> dict[str, list[str]]:
    """Return the folder of every SKILL.md, however it is spelled, with the paths of the documents in it."""
    folders: dict[str, list[str]] = {}
    for name in names.documents:
        folders.setdefault(name[:-9], []).append(name)
    # A SKILL.md that the gate refused makes a root only where there is no other above or below it: a dangling link at
    # the top of a repository must not swallow its good skills.
    refused = {name[:-9] for name, _ in names.faults if _is_document(name)} - folders.keys()
    if refused:
        held = {above for folder in folders for above in _upwards(folder)}
        taken = set(folders)
        for folder in refused:
            if folder not in held and taken.isdisjoint(_upwards(folder)):
                folders[folder] = []
    return folders


def split(names: Names, folders: dict[str, list[str]]) -> Split:
    """Make a root of each of the shallowest `folders` and give it everything below.

    Args:
        names: the tree.
        folders: candidates with the paths of their documents, as `document_folders` returns them.
    """
    tops = {folder for folder in folders if not any(above in folders for above in _upwards(folder)[1:])}
    files: dict[str, list[Entry]] = {folder: [] for folder in tops}
    faults: dict[str, list[Fault]] = {folder: [] for folder in tops}
    known: dict[str, str | None] = {}
    rest: list[Entry] = []
    owned_faults: set[int] = set()
    for name, entry in names.files.items():
        folder = name.rpartition("/")[0]
        root = known[folder] if folder in known else _owner(folder, tops, known)
        if root is None:
            rest.append(entry)
        else:
            files[root].append(entry)
    for at, (name, fault) in enumerate(names.faults):
        root = _owner(name if name in tops else name.rpartition("/")[0], tops, known)
        if root is not None:
            faults[root].append(fault)
            owned_faults.add(at)
    roots = tuple(
        _root(names, folder, folders[folder], files[folder], tuple(faults[folder]))
        for folder in sorted(tops, key=lambda text: text.encode("utf-8"))
    )
    return Split(roots, tuple(rest), frozenset(owned_faults))


def _root(names: Names, path: str, documents: list[str], files: list[Entry], faults: tuple[Fault, ...]) -> Root:
    findings: list[Diagnostic] = []
    prefix = f"{path}/" if path else ""
    document = next((name for name in documents if name == prefix + DOCUMENT), documents[0] if documents else None)
    if document is not None:
        findings += _spelling(documents, document)
    start = len(prefix)
    # Only what lies directly in the root can be one, which is soon told.
    dropped = [
        name
        for entry in files
        if (name := entry.path.text).find("/", start) < 0 and fold_key(name[start:]) in HOST_FILES
    ]
    kept = files
    if dropped:
        kept = [entry for entry in files if entry.path.text not in dropped]
        findings.append(
            info(
                "host-file-ignored",
                f"{listed(dropped)}: a record of the host application, never taken from a package",
                dropped[0],
                count=len(dropped),
            )
        )
    below = [name for entry in kept if (name := entry.path.text) in names.documents and name not in documents]
    if below:
        findings.append(
            info(
                "skill-nested-document",
                f"{counted(len(below), 'SKILL.md')} below this skill: {listed(below)}; kept as its resource, not taken "
                "as a skill of its own",
                below[0],
                count=len(below),
            )
        )
    folder, fallback = _folder_name(path, names.wrapper)
    return Root(
        path=path,
        document=names.files[document] if document is not None else None,
        files=tuple(kept),
        faults=faults,
        folder=folder,
        fallback=fallback,
        findings=tuple(findings),
    )


def _spelling(documents: list[str], document: str) -> list[Diagnostic]:
    spelled = document.rpartition("/")[2]
    if len(documents) > 1:
        spellings = [name.rpartition("/")[2] for name in documents]
        return [
            error(
                "path-collision",
                f"{listed(spellings)} are one file on many systems; ask the author to keep {DOCUMENT} only",
                document,
                names=[shown(name) for name in spellings[:20]],
            )
        ]
    if spelled != DOCUMENT:
        return [
            warning(
                "skill-document-name",
                f"the document is spelled '{shown(spelled)}'; the specification's name is {DOCUMENT}, and on other "
                "systems this one is not found: ask the author to rename it",
                document,
            )
        ]
    return []


def _folder_name(path: str, wrapper: str) -> tuple[str | None, str]:
    """Return the name that the folder gives to its skill, and a name for want of one."""
    if not path:
        return None, ""
    download = _DOWNLOAD.fullmatch(path) if path == wrapper else None
    if download:
        return None, download.group("name")
    return path.rpartition("/")[2], ""


def _is_document(name: str) -> bool:
    return name[-8:].lower() == "skill.md" and name[-9:-8] in {"", "/"}


def _upwards(folder: str) -> list[str]:
    """Return `folder` and every folder above it; "", the top, comes last."""
    chain = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        chain.append(folder)
    return chain


def _owner(folder: str, tops: set[str], known: dict[str, str | None]) -> str | None:
    """Return the one of `tops` that is `folder` or stands above it; what was found is remembered for each folder."""
    passed: list[str] = []
    found: str | None = None
    for above in _upwards(folder):
        if above in known:
            found = known[above]
            break
        passed.append(above)
        if above in tops:
            found = above
            break
    for name in passed:
        known[name] = found
    return found
