"""Packages held to their budgets by what their containers list, before a byte is delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budgets import BudgetExceeded
from importer.diagnostics import Diagnostic, budget_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from budgets import Meter
    from importer.model import Entry


def check_skill_budget(files: Sequence[Entry], root: str, meter: Meter, name: str = "") -> tuple[Diagnostic, ...]:
    """Hold one skill to the profile "skill".

    Args:
        files: the files of the skill, as listed.
        root: its folder in the container; depth is counted from there.
        meter: a meter of the profile; it remembers the largest of all the skills that it has seen.
        name: what the skill is called, to name it where it has no folder.

    Returns:
        at most one `budget-exceeded` for each limit, naming the worst file where one file is too much.
    """
    prefix = len(root) + 1 if root else 0
    found = [
        _check(meter, "files", len(files), root or name),
        _check(meter, "total_bytes", sum(entry.size for entry in files), root or name),
    ]
    if files:
        largest = max(files, key=lambda entry: entry.size)
        deepest = max(files, key=lambda entry: entry.path.text.count("/", prefix))
        found.append(_check(meter, "file_bytes", largest.size, largest.path.text))
        found.append(_check(meter, "depth", deepest.path.text.count("/", prefix), deepest.path.text))
    return tuple(finding for finding in found if finding is not None)


def check_specialist_budget(
    files: Sequence[Entry], root: str, meter: Meter, *, compressed: int | None = None
) -> tuple[Diagnostic, ...]:
    """Hold a Specialist package to the profile "specialist".

    Args:
        files: every file of the package, bundled skills included, as listed.
        root: its folder in the container.
        meter: a meter of the profile.
        compressed: the size of the archive, or None where the package is no archive.

    Returns:
        at most one `budget-exceeded` for each limit, naming the worst file where one file is too much.
    """
    found = [
        _check(meter, "compressed_bytes", compressed, root) if compressed is not None else None,
        _check(meter, "files", len(files), root),
        _check(meter, "total_bytes", sum(entry.size for entry in files), root),
    ]
    if files:
        largest = max(files, key=lambda entry: entry.size)
        deepest = max(files, key=lambda entry: len(entry.path.segments))
        densest = max(files, key=_ratio)
        found.append(_check(meter, "file_bytes", largest.size, largest.path.text))
        found.append(_check(meter, "ratio", _ratio(densest), densest.path.text))
        found.append(_check(meter, "depth", len(deepest.path.segments), deepest.path.text))
    return tuple(finding for finding in found if finding is not None)


def _ratio(entry: Entry) -> int:
    """Return how often the stored size goes into the delivered one, rounded up."""
    return -(-entry.size // max(1, entry.packed))


def _check(meter: Meter, limit: str, value: int, path: str) -> Diagnostic | None:
    try:
        meter.check(limit, value, path)
    except BudgetExceeded as exceeded:
        return budget_error(exceeded)
    return None
