"""Which of the skills that one source offers are taken: selection by the person, and candidates of one name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from importer.diagnostics import Diagnostic, error, info, shown
from importer.formats.phrases import counted, listed
from importer.model import LeftOut, SkillCandidate
from importer.paths import fold_key
from importer.records import record


class Offered(Protocol):
    """A skill that can be selected, faulty ones included."""

    @property
    def name(self) -> str:
        """The name that it is planned under; "" where nothing gives one."""

    @property
    def root(self) -> str:
        """Its folder in the package."""


_Skill = TypeVar("_Skill", bound=Offered)


@record
class Settled:
    """The candidates that go on, and what became of the others."""

    kept: tuple[SkillCandidate, ...]
    left_out: tuple[LeftOut, ...]
    diagnostics: tuple[Diagnostic, ...]


def select(skills: Sequence[_Skill], wanted: Sequence[str]) -> tuple[tuple[_Skill, ...], tuple[Diagnostic, ...]]:
    """Return the skills that `wanted` names, in their own order, and an error for each that names none.

    Args:
        skills: everything that the source offers.
        wanted: names (`reef-survey`, `skill:reef-survey`) or root paths (`pack/skills/reef-survey`); one that ends with
            "/" is always a path, and "." is the top. Where a word is both, the name wins. Empty: all of them.
    """
    if not wanted:
        return tuple(skills), ()
    chosen: set[int] = set()
    unknown: list[Diagnostic] = []
    for word in wanted:
        hits = _matching(skills, word)
        chosen |= hits
        if not hits:
            there = listed([f"{skill.name or '?'} ({skill.root or '.'})" for skill in skills], 12)
            unknown.append(
                error(
                    "skill-unknown",
                    f"no skill '{shown(word, 80)}' in this package; there {'is' if len(skills) == 1 else 'are'}: "
                    f"{there or 'none'}",
                    skill=shown(word),
                    names=[shown(skill.name) for skill in skills[:256]],
                )
            )
    return tuple(skill for at, skill in enumerate(skills) if at in chosen), tuple(unknown)


def _matching(skills: Sequence[_Skill], word: str) -> set[int]:
    path = word.rstrip("/").removeprefix("./")
    path = "" if path == "." else path
    name = word.removeprefix("skill:")
    named = {at for at, skill in enumerate(skills) if name and skill.name == name}
    return named or {at for at, skill in enumerate(skills) if skill.root == path}


def selection_needed(skills: Sequence[Offered], limit: int) -> Diagnostic | None:
    """Return what to say where there are more than `limit` candidates and nobody selected, else None.

    The number of skills is no fault of the package: the person decides with `--skill`.
    """
    if len(skills) <= limit:
        return None
    names = [skill.name or skill.root for skill in skills]
    return error(
        "skill-selection-needed",
        f"{len(skills):,} skills, at most {limit:,} are imported at once; choose with --skill NAME (repeatable): "
        f"{listed(names, 12)}",
        profile="bundle",
        limit="skills",
        used=len(skills),
        max=limit,
        unit="skills",
        names=[shown(name) for name in names],
    )


def settle_names(candidates: Sequence[SkillCandidate]) -> Settled:
    """Decide between candidates that would be installed under one name.

    The same files are taken once, from the first root, and that is said. Different ones are an error that names every
    root, and none of them goes on: which one was meant is the person's to say. Two names that a case-insensitive or
    normalising file system takes for one clash as well.
    """
    groups: dict[str, list[SkillCandidate]] = {}
    for candidate in candidates:
        groups.setdefault(fold_key(candidate.name), []).append(candidate)
    kept: set[int] = set()
    left_out: list[LeftOut] = []
    found: list[Diagnostic] = []
    for group in groups.values():
        first = min(group, key=lambda candidate: candidate.root.encode("utf-8"))
        if all(other is first or _same(first, other) for other in group):
            kept.add(id(first))
            others = [candidate for candidate in group if candidate is not first]
            if others:
                found.append(_duplicate(first, others))
                left_out += [_left(other, "duplicate", "skill-duplicate") for other in others]
        else:
            found.append(_clash(group))
            left_out += [_left(candidate, "clash", "skill-name-clash") for candidate in group]
    return Settled(
        kept=tuple(candidate for candidate in candidates if id(candidate) in kept),
        left_out=tuple(left_out),
        diagnostics=tuple(found),
    )


def _same(one: SkillCandidate, other: SkillCandidate) -> bool:
    if one.name != other.name or one.digest != other.digest:
        return False
    bits_known = all(record.mode_known for candidate in (one, other) for record in candidate.files)
    return one.executables == other.executables or not bits_known


def _left(candidate: SkillCandidate, reason: str, code: str) -> LeftOut:
    return LeftOut(kind="skill", name=candidate.name, root=candidate.root, reason=reason, codes=(code,))


def _duplicate(first: SkillCandidate, others: Sequence[SkillCandidate]) -> Diagnostic:
    roots = [other.root or "." for other in others]
    return info(
        "skill-duplicate",
        f"'{shown(first.name)}' is in the package {len(others) + 1} times with the same files; taken once, from "
        f"'{shown(first.root or '.')}', not again from {listed(roots)}",
        first.root,
        name=first.name,
        roots=[shown(first.root or "."), *(shown(root) for root in roots[:50])],
    )


def _clash(group: Sequence[SkillCandidate]) -> Diagnostic:
    roots = [candidate.root or "." for candidate in group]
    names = sorted({candidate.name for candidate in group})
    called = (
        f"are all called '{shown(names[0])}'" if len(names) == 1 else f"are called {listed(names)}, one name to many"
    )
    called += "" if len(names) == 1 else " file systems"
    return error(
        "skill-name-clash",
        f"{counted(len(group), 'skill')} with different files {called}: {listed(roots)}; choose one with "
        f"--skill {shown(roots[0], 120)}/",
        group[0].root,
        name=names[0],
        roots=[shown(root) for root in roots[:50]],
    )
