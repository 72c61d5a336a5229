"""Symbolic links: one that ends at a regular file of the container becomes a copy of it, every other is refused."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from typing import TYPE_CHECKING

from importer.diagnostics import error, shown
from importer.model import Entry, Fault
from importer.paths import RelPath
from importer.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_HOPS = 8
"""How many links may stand between a link and its file; far more than anybody publishes, and few enough to walk."""


@record
class Link:
    """A symbolic link with its target as written; None where the container could not read it."""

    path: RelPath
    target: str | None


class _Refused(Exception):
    def __init__(self, fault: str, why: str) -> None:
        self.fault = fault
        self.why = why
        super().__init__(why)


def resolve_links(
    links: Sequence[Link], files: Sequence[Entry], texts: Sequence[str]
) -> tuple[list[Entry], list[Fault]]:
    """Follow every link, by its text alone: nothing on a disk is asked.

    Args:
        links: the links of a container.
        files: its regular files that may be delivered.
        texts: the paths of everything in it, to tell a folder from nothing.

    Returns:
        A copy for each link that ends at one of `files`, and a fault (`link-refused`) for each other link.
    """
    resolver = _Resolver(links, files, texts)
    copies: list[Entry] = []
    faults: list[Fault] = []
    for link in links:
        try:
            end = resolver.follow(link)
        except _Refused as refused:
            target = shown(link.target or "")
            diagnostic = error(
                "link-refused",
                f"the symbolic link {shown(link.path.text)} -> {target} {refused.why}; only a link to a file of the "
                "same package is taken, ask the author to publish the file itself",
                link.path.text,
                fault=refused.fault,
                target=target,
            )
            faults.append(Fault(path=link.path.text, diagnostic=diagnostic))
            continue
        copies.append(
            Entry(
                path=link.path,
                size=end.size,
                packed=end.packed,
                executable=end.executable,
                handle=end.handle,
                link=end.path.text,
            )
        )
    return copies, faults


class _Resolver:
    def __init__(self, links: Sequence[Link], files: Sequence[Entry], texts: Sequence[str]) -> None:
        self._links = {link.path.text: link for link in links}
        self._files = {entry.path.text: entry for entry in files}
        self._sorted = sorted(texts)
        self._known = set(texts)

    def follow(self, link: Link) -> Entry:
        for _ in range(MAX_HOPS):
            at = self._step(link)
            if at in self._files:
                return self._files[at]
            if at not in self._links:
                raise self._no_file(at)
            link = self._links[at]
        raise _Refused("cycle", f"leads through more than {MAX_HOPS} links, or in a circle")

    def _step(self, link: Link) -> str:
        """Return the path that one link points at."""
        target = link.target
        if not target:
            raise _Refused("unknown", "has a target that could not be read")
        if target.startswith("/"):
            raise _Refused("absolute", "points at an absolute path")
        at = link.path.text.split("/")[:-1]
        named = False
        for segment in unicodedata.normalize("NFC", target).split("/"):
            if segment in {"", "."}:
                continue
            if segment == "..":
                if named:
                    # What "x/.." means depends on whether x is there and is no link: systems and readers differ.
                    raise _Refused("not-plain", "goes into a folder and out of it again")
                if not at:
                    raise _Refused("outside", "points outside the package")
                at.pop()
                continue
            if "/".join(at) in self._links:
                raise _Refused("through-link", "leads through another link to a folder")
            named = True
            at.append(segment)
        if not named or target.endswith(("/", "/.")):
            raise _Refused("folder", "points at a folder")
        return "/".join(at)

    def _no_file(self, at: str) -> _Refused:
        below = bisect_left(self._sorted, at + "/")
        if below < len(self._sorted) and self._sorted[below].startswith(at + "/"):
            return _Refused("folder", "points at a folder")
        if at in self._known:
            return _Refused("not-a-file", "points at something that is no file that can be taken")
        return _Refused("dangling", "points at nothing in the package")
