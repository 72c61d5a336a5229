"""From a listing to a tree: names, noise, duplicates, kinds and depth; `collisions` and `links` do the rest."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from budgets import BudgetExceeded
from importer.diagnostics import Diagnostic, Rejected, budget_error, capped, error, info, shown
from importer.entries.collisions import find_collisions
from importer.entries.links import Link, resolve_links
from importer.model import Entry, EntryKind, Fault, Listed, Tree
from importer.paths import PathRefused, Reach, RelPath, plain_segment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from budgets import Meter

HOST_FILES = frozenset({".source.json", ".specialist-package.json"})
"""Names at a skill's root that belong to the host application: never counted, never taken from a package."""

_NOISE_NAMES = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "thumbs.db", "desktop.ini", "Desktop.ini", ".git"})
_NOISE_STARTS = frozenset(name[0] for name in _NOISE_NAMES)
_NAMED = 5
_KNOWN_FOLDERS = 4_096
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_noise(name: str) -> bool:
    """Whether a segment of `name` is what Finder, Explorer or git leave behind."""
    # Cheap tests first: nearly no name passes one of them.
    if not (name.startswith(".") or "/." in name or "__MACOSX" in name or "humbs.db" in name or "esktop.ini" in name):
        return False
    return any(segment in _NOISE_NAMES or segment.startswith("._") for segment in name.split("/"))


def admit(listed: Sequence[Listed], *, bundle: Meter, archive: Meter) -> Tree:
    """Take a container's listing, and return what of it may be delivered.

    Args:
        listed: every entry, in the container's order; their number was charged when they were listed.
        bundle: its `depth` is the most segments that a path may have.
        archive: its `path_bytes` and `segment_bytes` bound names.

    Raises:
        Rejected: the whole container is refused, with every reason: a name that could escape or be read in two ways
            (`path-unsafe`, `path-encoding`), or one name with two contents (`archive-ambiguous`).
    """
    gate = _Gate(bundle, archive)
    for item in listed:
        gate.take(item)
    return gate.finish()


class _Gate:
    def __init__(self, bundle: Meter, archive: Meter) -> None:
        self._bundle = bundle
        self._archive = archive
        self._max_path = archive.max("path_bytes")
        self._max_segment = archive.max("segment_bytes")
        self._max_depth = bundle.max("depth")
        self._short = min(self._max_path, self._max_segment)
        self._deepest = 0
        self._refused: list[Diagnostic] = []
        self._faults: list[Fault] = []
        self._files: list[Entry] = []
        self._links: list[Link] = []
        self._texts: list[str] = []
        self._folders: list[bool] = []
        self._names: set[str] = set()
        self._known: set[str] = set()
        """Folders in which a file passed: of the next one there, only its own name is new."""
        self._noise: list[str] = []
        self._noise_count = 0
        self._renamed: list[str] = []
        self._renamed_count = 0

    def take(self, item: Listed) -> None:
        name = item.name
        folder, _, last = name.rpartition("/")
        if (
            folder in self._known
            and item.kind is EntryKind.FILE
            and item.fault is None
            and len(name) <= self._short
            and plain_segment(last)
            and not (last[0] in _NOISE_STARTS and is_noise(last))
            and name not in self._names
        ):
            self._names.add(name)
            self._texts.append(name)
            self._folders.append(False)
            self._files.append(Entry(RelPath(name), item.size, item.packed, item.executable, item.handle))
            return
        # The top is never known: an absolute path would seem to lie in it.
        if self._take_unknown(item) and folder and folder.isascii() and len(self._known) < _KNOWN_FOLDERS:
            self._known.add(folder)

    def _take_unknown(self, item: Listed) -> bool:
        """Hold an entry to every rule; return whether it is there under the name that it is listed with."""
        is_directory = item.kind is EntryKind.DIRECTORY
        name = item.name[:-1] if is_directory and item.name.endswith("/") else item.name
        try:
            path = RelPath.parse(name, max_path=self._max_path, max_segment=self._max_segment)
        except PathRefused as refused:
            self._refuse(name, refused, is_directory)
            return False
        if self._drop_noise(name):
            return False
        text = path.text
        if text != name:
            self._renamed_count += 1
            if len(self._renamed) < _NAMED:
                self._renamed.append(shown(text))
        depth = text.count("/") + 1
        if depth > self._max_depth:
            self._too_deep(text, depth)
            return False
        if depth > self._deepest:  # noqa: PLR1730 - a call of max() for every entry is measurable
            self._deepest = depth
        if not is_directory and self._is_second(name):
            return False
        self._texts.append(text)
        self._folders.append(is_directory)
        self._sort_in(item, path)
        return text == item.name

    def finish(self) -> Tree:
        if self._refused:
            raise Rejected(capped(self._refused))
        self._bundle.check("depth", self._deepest)
        self._faults += find_collisions(self._texts, self._folders)
        files = self._files
        if self._links:
            copies, faults = resolve_links(self._links, files, self._texts)
            self._faults += faults
            # Each in the place where the link was listed.
            place = {text: index for index, text in enumerate(self._texts)}
            files = sorted([*files, *copies], key=lambda entry: place[entry.path.text])
        if self._renamed_count:
            files = _first_of_each(files)
        return Tree(files=tuple(files), faults=tuple(self._faults), notes=tuple(self._notes()))

    def _sort_in(self, item: Listed, path: RelPath) -> None:
        if item.fault is not None:
            self._faults.append(Fault(path=path.text, diagnostic=item.fault))
        elif item.kind is EntryKind.FILE:
            self._files.append(Entry(path, item.size, item.packed, item.executable, item.handle))
        elif item.kind is EntryKind.SYMLINK:
            self._links.append(Link(path=path, target=item.link_target))
        elif item.kind is EntryKind.HARDLINK:
            self._fault(
                "link-refused",
                path.text,
                f"a hard link to {shown(item.link_target or '')}: readers differ in what it holds; ask the author to "
                "publish the file itself",
                fault="hard-link",
                target=shown(item.link_target or ""),
            )
        elif item.kind is EntryKind.SPECIAL:
            what = shown(item.special) or "special file"
            self._fault(
                "entry-kind-refused",
                path.text,
                f"a {what} stands where a file, a folder or a link was expected; ask the author to leave it out",
                kind=what,
            )

    def _fault(self, code: str, path: str, message: str, **facts: str) -> None:
        self._faults.append(Fault(path=path, diagnostic=error(code, message, path, None, **facts)))

    def _is_second(self, name: str) -> bool:
        if name not in self._names:
            self._names.add(name)
            return False
        self._refused.append(
            error(
                "archive-ambiguous",
                f"{shown(name)} is listed twice, and readers differ in which of the two they take; ask for an archive "
                "that holds each file once",
                name,
                disagree="duplicate-name",
            )
        )
        return True

    def _refuse(self, name: str, refused: PathRefused, is_directory: bool) -> None:
        fault = shown(refused.fault, 400)
        if refused.reach is Reach.WHOLE:
            if _SURROGATE.search(name):
                self._refused.append(
                    error(
                        "path-encoding",
                        f"the name {shown(name)} is not UTF-8; rename the file, or say the code page of an archive's "
                        "names with --name-encoding, such as --name-encoding gbk",
                        name,
                    )
                )
                return
            self._refused.append(
                error(
                    "path-unsafe",
                    f"the name {shown(name)}: {fault}; nothing is taken from a package that holds such a name",
                    name,
                    None,
                    fault=fault,
                    **refused.facts,
                )
            )
        elif not self._drop_noise(name) and (is_directory or not self._is_second(name)):
            text = unicodedata.normalize("NFC", name)
            self._faults.append(
                Fault(
                    path=text,
                    diagnostic=error(
                        "path-unsafe",
                        f"the name {shown(name)}: {fault}; it cannot be stored on every system, ask the author to "
                        "rename it",
                        text,
                        None,
                        fault=fault,
                        **refused.facts,
                    ),
                )
            )

    def _drop_noise(self, name: str) -> bool:
        if not is_noise(name):
            return False
        self._noise_count += 1
        if len(self._noise) < _NAMED:
            self._noise.append(shown(name))
        return True

    def _too_deep(self, text: str, depth: int) -> None:
        try:
            self._bundle.check("depth", depth, text)
        except BudgetExceeded as exceeded:
            self._faults.append(Fault(path=text, diagnostic=budget_error(exceeded)))

    def _notes(self) -> list[Diagnostic]:
        notes: list[Diagnostic] = []
        if self._noise_count:
            notes.append(
                info(
                    "noise-ignored",
                    f"{_entries(self._noise_count)} that an operating system or git left behind "
                    f"{'was' if self._noise_count == 1 else 'were'} ignored: {_some(self._noise, self._noise_count)}",
                    count=self._noise_count,
                    names=self._noise,
                )
            )
        if self._renamed_count:
            notes.append(
                info(
                    "name-normalised",
                    f"{_entries(self._renamed_count)} {'has' if self._renamed_count == 1 else 'have'} a name with "
                    "letters and accents written apart, and kept it in the composed form (NFC): "
                    f"{_some(self._renamed, self._renamed_count)}",
                    count=self._renamed_count,
                    names=self._renamed,
                )
            )
        return notes


def _first_of_each(files: list[Entry]) -> list[Entry]:
    """Keep one file of each path: of two that one path in NFC stands for, only the fault names the second."""
    kept: dict[str, Entry] = {}
    for entry in files:
        kept.setdefault(entry.path.text, entry)
    return list(kept.values())


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def _some(names: list[str], count: int) -> str:
    more = count - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")
