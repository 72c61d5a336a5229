"""One value for everything that a preview shows: bytes, executable bits, dispositions and their reasons."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from importer.diagnostics import Fact
    from importer.model import Package, PlannedConnector, PlannedSkill, PlannedSpecialist


def plan_digest(
    package: Package,
    skills: Iterable[PlannedSkill],
    connectors: Iterable[PlannedConnector],
    specialist: PlannedSpecialist | None,
) -> str:
    """Return `p1:` and the SHA-256 of the plan as canonical JSON.

    Where the package lies and how it was packed take no part, so that a plan reviewed on one machine can be applied on
    another. What is installed does, wherever it matters to a disposition.
    """
    content: dict[str, object] = {
        "kind": package.kind,
        "skills": sorted(
            (
                {
                    "name": skill.candidate.name,
                    "version": skill.candidate.version,
                    "digest": skill.candidate.digest,
                    "executables": list(skill.candidate.executables),
                    "disposition": skill.disposition.value,
                    "reason": skill.reason.value,
                    "facts": _facts(skill.facts),
                }
                for skill in skills
            ),
            key=lambda item: str(item["name"]),
        ),
        "connectors": sorted(
            (
                {
                    "name": connector.candidate.name,
                    "digest": connector.candidate.digest,
                    "disposition": connector.disposition.value,
                    "reason": connector.reason.value,
                    "facts": _facts(connector.facts),
                }
                for connector in connectors
            ),
            key=lambda item: str(item["name"]),
        ),
        "left_out": sorted([item.kind, item.name, item.reason] for item in package.left_out),
    }
    if specialist is not None:
        content["specialist"] = {
            "id": specialist.candidate.id,
            "version": specialist.candidate.version,
            "digest": specialist.candidate.digest,
            "disposition": specialist.disposition.value,
            "reason": specialist.reason.value,
            "facts": _facts(specialist.facts),
            "releases": list(specialist.releases),
        }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "p1:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def _facts(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return what a plan depends on; whether two copies of a package lie at one place is for display."""
    return {key: value for key, value in facts.items() if key != "origin"}
