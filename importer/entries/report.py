"""What the gate found, given out to the packages that it concerns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from importer.diagnostics import Diagnostic, Severity, info, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from importer.model import Entry, Tree

_NAMED = 5
_LISTED = 100


def faults_below(tree: Tree, root: str) -> tuple[Diagnostic, ...]:
    """Return what refuses the package whose root is the folder `root` ("" is the top), each once, in order.

    A fault at the root itself counts: a folder that collides with another one is not the same folder everywhere.
    """
    mine = (fault.diagnostic for fault in tree.faults if _holds(root, fault.path))
    return _each_once(mine)


def share_faults(tree: Tree, roots: Sequence[str]) -> tuple[dict[str, tuple[Diagnostic, ...]], tuple[Diagnostic, ...]]:
    """Give every fault to the roots that hold it.

    Returns:
        The faults of each root that has some, as errors; and those that no root holds, as warnings.
    """
    known = set(roots)
    shares: dict[str, list[Diagnostic]] = {}
    held: set[int] = set()
    for fault in tree.faults:
        at = fault.path
        mine = [at] if at in known else []
        while at:
            at = at.rpartition("/")[0]
            if at in known:
                mine.append(at)
        for root in mine:
            shares.setdefault(root, []).append(fault.diagnostic)
            held.add(id(fault.diagnostic))
    # A collision has two sides: where a root holds one of them, it is no longer news for the rest.
    left = _each_once(fault.diagnostic for fault in tree.faults if id(fault.diagnostic) not in held)
    return {root: _each_once(share) for root, share in shares.items()}, tuple(as_warning(one) for one in left)


def as_warning(diagnostic: Diagnostic) -> Diagnostic:
    """Return a fault as what it is where nothing selected holds it."""
    return replace(diagnostic, severity=Severity.WARNING)


def copied_links(files: Iterable[Entry]) -> tuple[Diagnostic, ...]:
    """Return one note about the links among `files` that are taken as copies; nothing where there are none."""
    links = [f"{shown(entry.path.text)} -> {shown(entry.link)}" for entry in files if entry.link is not None]
    if not links:
        return ()
    more = len(links) - _NAMED
    many = (
        "1 symbolic link is taken as a copy"
        if len(links) == 1
        else f"{len(links):,} symbolic links are taken as copies"
    )
    named = ", ".join(links[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    return (info("link-copied", f"{many} of the file: {named}", count=len(links), links=links[:_LISTED]),)


def _holds(root: str, path: str) -> bool:
    return not root or path == root or path.startswith(root + "/")


def _each_once(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Keep the first of the same object: the two sides of a collision share one diagnostic."""
    return tuple({id(diagnostic): diagnostic for diagnostic in diagnostics}.values())
