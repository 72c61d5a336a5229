"""Names that are one name on a system that ignores case or composes accents, and files where folders are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from importer.diagnostics import Rejected, error, shown
from importer.model import Fault
from importer.paths import fold_key

if TYPE_CHECKING:
    from collections.abc import Sequence

# Sorts before every character that a path can hold, so that a folder is directly followed by what lies in it.
_SEPARATOR = "\x01"
_FEW_FOLDERS = 1_000
MAX_COLLISIONS = 1_000
"""Past so many the container is refused: a report of them helps nobody, and their number is the sender's to choose."""


def find_collisions(texts: Sequence[str], is_folder: Sequence[bool]) -> list[Fault]:
    """Compare all paths with one another, and the folders above them.

    In the order of their folded forms, paths that share a folded folder stand in one run, so every clash shows between
    two neighbours: time is that of a sort, and memory one folded form for each path.

    Args:
        texts: checked paths.
        is_folder: for each of them, whether it is listed as a folder.

    Returns:
        One fault on each side of a collision, both with the same diagnostic.

    Raises:
        Rejected: more than `MAX_COLLISIONS`; no two systems would make the same package of it.
    """
    folded = [fold_key(text) for text in texts]
    if _all_apart(texts, folded, is_folder):
        return []
    keys = [key.replace("/", _SEPARATOR) for key in folded]
    del folded
    order = sorted(range(len(texts)), key=keys.__getitem__)
    found = _Found()
    last_key, last_text, last_folder = "", "", True
    for index in order:
        key, text, folder = keys[index], texts[index], is_folder[index]
        if key == last_key:
            if text != last_text:
                found.one_name(last_text, text)
            elif folder != last_folder:
                found.file_and_folder(text, text)
            elif not folder:
                found.twins(text)
        elif not last_folder and key.startswith(last_key + _SEPARATOR):
            found.file_and_folder(last_text, text)
        if text.rpartition("/")[0] != last_text.rpartition("/")[0]:
            _compare_folders(last_text, last_folder, text, found)
        # Of several entries with one folded name, a file is what those that follow must not lie in.
        last_key, last_text, last_folder = key, text, folder and (last_folder or key != last_key)
    return found.faults


def _all_apart(texts: Sequence[str], folded: Sequence[str], is_folder: Sequence[bool]) -> bool:
    """Whether there is nothing to find, as in nearly every package: then it need not be sorted to be compared.

    So it is where no two files share a folded form, none has that of a folder, and each folder has one spelling. Not
    said of a listing with more folders than entries: their paths could take many times the memory of its own.
    """
    files = {key for key, folder in zip(folded, is_folder, strict=True) if not folder}
    folders = {text for text, folder in zip(texts, is_folder, strict=True) if folder}
    if len(files) + sum(is_folder) < len(texts):
        return False
    waiting = {text.rpartition("/")[0] for text in texts} | folders
    folders = set()
    while waiting:
        if len(folders) + len(waiting) > max(len(texts), _FEW_FOLDERS):
            return False
        folders |= waiting
        waiting = {folder.rpartition("/")[0] for folder in waiting} - folders
    spelled = {fold_key(folder) for folder in folders}
    return len(spelled) == len(folders) and files.isdisjoint(spelled)


def _compare_folders(one: str, one_is_folder: bool, other: str, found: _Found) -> None:
    """Report the first and the last folder that the two paths have in common when folded, and spell differently."""
    ones, others = one.split("/"), other.split("/")
    shared = 0
    first = -1
    for left, right in zip(ones if one_is_folder else ones[:-1], others[:-1], strict=False):
        if left != right:
            if fold_key(left) != fold_key(right):
                break
            if first < 0:
                first = shared
        shared += 1
    if first < 0:
        return
    for depth in {first + 1, shared}:
        found.one_name("/".join(ones[:depth]), "/".join(others[:depth]))


class _Found:
    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._pairs: set[tuple[str, str]] = set()

    def one_name(self, one: str, other: str) -> None:
        self._add(
            one,
            other,
            f"{shown(one)} and {shown(other)} are one name on a system that ignores case or composes accents; ask the "
            "author to rename one of them",
        )

    def twins(self, text: str) -> None:
        self._add(
            text,
            text,
            f"two entries are called {shown(text)} once accents are composed (NFC); ask the author to rename one",
        )

    def file_and_folder(self, file: str, other: str) -> None:
        self._add(
            file,
            other,
            f"{shown(file)} is a file, and {shown(other)} needs a folder of that name; ask the author to rename one of "
            "them",
        )

    def _add(self, one: str, other: str, message: str) -> None:
        pair = (min(one, other), max(one, other))
        if pair in self._pairs:
            return
        self._pairs.add(pair)
        if len(self._pairs) > MAX_COLLISIONS:
            raise Rejected(
                [
                    error(
                        "path-collision",
                        f"more than {MAX_COLLISIONS:,} names collide where case is ignored or accents are composed, "
                        f"{shown(one)} and {shown(other)} among them",
                        other,
                        max=MAX_COLLISIONS,
                    )
                ]
            )
        diagnostic = error("path-collision", message, other, first=shown(one), second=shown(other))
        self.faults.append(Fault(path=one, diagnostic=diagnostic))
        if other != one:
            self.faults.append(Fault(path=other, diagnostic=diagnostic))
