"""What the use cases hand back: values for a host application, and the same values as documented JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from importer.app.errors import Status
from importer.diagnostics import Severity
from importer.model import Disposition
from importer.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from budgets import Usage
    from importer.diagnostics import Diagnostic
    from importer.model import (
        LeftOut,
        Origin,
        Plan,
        PlannedConnector,
        PlannedSkill,
        PlannedSpecialist,
    )

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Report = dict[str, Any]
"""A report as plain JSON values. Its keys are the contract; README lists them, and tests hold them."""


@record
class Preview:
    """Exactly what an install would do.

    `status` is DONE (installable), REFUSED (the package has errors), or DECISION (a choice, a confirmation or a
    selection is missing: `plan` says which). `token` is there unless the package was refused or the library cannot be
    written; it is good for one install until `expires_at` (UTC, RFC 3339).
    """

    status: Status
    source: Origin
    package: Mapping[str, str]
    plan: Plan | None
    token: str | None
    expires_at: str | None
    diagnostics: tuple[Diagnostic, ...]
    budgets: tuple[Usage, ...]
    selection_needed: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def installable(self) -> bool:
        """Whether nothing stands between this preview and its install."""
        return self.status is Status.DONE

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings of severity error."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR)

    def to_json(self) -> Report:
        """Return the report of schema `importer/preview/1`."""
        plan = self.plan
        return {
            "schema": "importer/preview/1",
            "token": self.token,
            "expires_at": self.expires_at,
            "plan_digest": plan.digest if plan else None,
            "source": origin_json(self.source),
            "package": {
                key: self.package.get(key) for key in ("kind", "id", "version", "name", "display_name", "description")
            },
            "installable": self.installable,
            "needs": {
                "choices": list(plan.choices_needed) if plan else [],
                "confirm_overwrite": bool(plan and plan.confirm_needed),
                "selection": list(self.selection_needed),
            },
            "skills": [skill_json(skill) for skill in plan.skills] if plan else [],
            "connectors": [connector_json(connector) for connector in plan.connectors] if plan else [],
            "specialist": specialist_json(plan.specialist) if plan and plan.specialist else None,
            "plugin": None,
            "left_out": [left_out_json(item) for item in self.left_out],
            "diagnostics": [diagnostic_json(d) for d in self.diagnostics],
            "budgets": [usage_json(usage) for usage in self.budgets],
        }


@record
class Item:
    """One thing of a library or a package: a skill, a connector, a specialist, a plugin."""

    kind: str
    name: str
    reason: str = ""

    def to_json(self) -> Report:
        """Return `{"kind", "name"}`, with a reason where there is one."""
        item: Report = {"kind": self.kind, "name": self.name}
        if self.reason:
            item["reason"] = self.reason
        return item


@record
class Installation:
    """What an install did. The four lists together name everything in the package."""

    transaction: str
    installed: tuple[Item, ...]
    replaced: tuple[Item, ...]
    reused: tuple[Item, ...]
    skipped: tuple[Item, ...]
    diagnostics: tuple[Diagnostic, ...]

    def to_json(self) -> Report:
        """Return the report of schema `importer/install/1`."""
        return {
            "schema": "importer/install/1",
            "transaction": self.transaction,
            "installed": [item.to_json() for item in self.installed],
            "replaced": [item.to_json() for item in self.replaced],
            "reused": [item.to_json() for item in self.reused],
            "skipped": [item.to_json() for item in self.skipped],
            "diagnostics": [diagnostic_json(d) for d in self.diagnostics],
        }


def sort_items(plan: Plan, left_out: tuple[LeftOut, ...]) -> dict[str, tuple[Item, ...]]:
    """Return the four lists of an installation by name, from the plan that is applied."""
    lists: dict[str, list[Item]] = {"installed": [], "replaced": [], "reused": [], "skipped": []}
    where = {
        Disposition.INSTALL: "installed",
        Disposition.REPLACE: "replaced",
        Disposition.REUSE: "reused",
        Disposition.CONFLICT: "skipped",
    }
    if plan.specialist is not None:
        chosen = plan.specialist
        lists[where[chosen.disposition]].append(Item(kind="specialist", name=chosen.candidate.id, reason=chosen.reason))
    for skill in plan.skills:
        lists[where[skill.disposition]].append(Item(kind="skill", name=skill.candidate.name, reason=skill.reason))
    for connector in plan.connectors:
        lists[where[connector.disposition]].append(
            Item(kind="connector", name=connector.candidate.name, reason=connector.reason)
        )
    lists["skipped"] += [Item(kind=item.kind, name=item.name, reason=item.reason) for item in left_out]
    return {name: tuple(items) for name, items in lists.items()}


def diagnostic_json(diagnostic: Diagnostic) -> Report:
    """Return one finding as it stands in every report."""
    return {
        "severity": diagnostic.severity.value,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "path": diagnostic.path,
        "line": diagnostic.line,
        "facts": {key: _json(value) for key, value in diagnostic.facts.items()},
    }


def usage_json(usage: Usage) -> Report:
    """Return how far one limit was used."""
    return {
        "profile": usage.profile,
        "limit": usage.limit,
        "used": usage.used,
        "max": usage.max,
        "unit": usage.unit,
        "changed": usage.changed,
    }


def origin_json(origin: Origin) -> Report:
    """Return a source."""
    return {"kind": origin.kind, "reference": origin.reference, "resolved": dict(origin.resolved)}


def skill_json(planned: PlannedSkill) -> Report:
    """Return one skill of a preview."""
    candidate = planned.candidate
    installed: Report | None = None
    if planned.installed is not None:
        installed = {
            "version": planned.installed.version,
            "digest": planned.installed.digest,
            "managed": planned.installed.managed,
            "edited": planned.installed.edited,
            "from": planned.installed.origin.reference if planned.installed.origin else None,
            **{key: _json(value) for key, value in planned.facts.items()},
        }
    return {
        "name": candidate.name,
        "stated_name": candidate.stated_name,
        "version": candidate.version,
        "description": candidate.description,
        "disposition": planned.disposition.value,
        "reason": planned.reason.value,
        "root": candidate.root,
        "files": len(candidate.files),
        "bytes": candidate.bytes,
        "digest": candidate.digest,
        "executables": list(candidate.executables),
        "installed": installed,
        "document": {key: _json(value) for key, value in candidate.document.items()},
        "text": candidate.text,
    }


def connector_json(planned: PlannedConnector) -> Report:
    """Return one connector of a preview."""
    candidate = planned.candidate
    installed: Report | None = None
    if planned.installed is not None:
        installed = {
            "digest": planned.installed.digest,
            "managed": planned.installed.managed,
            "from": planned.installed.origin.reference if planned.installed.origin else None,
            **{key: _json(value) for key, value in planned.facts.items()},
        }
    return {
        "name": candidate.name,
        "stated_name": candidate.stated_name,
        "display_name": candidate.display_name,
        "transport": candidate.transport,
        "summary": candidate.summary,
        "disposition": planned.disposition.value,
        "reason": planned.reason.value,
        "secrets": list(candidate.secrets),
        "asks": list(candidate.asks),
        "digest": candidate.digest,
        "installed": installed,
    }


def specialist_json(planned: PlannedSpecialist) -> Report:
    """Return the specialist of a preview."""
    candidate = planned.candidate
    return {
        "id": candidate.id,
        "version": candidate.version,
        "name": candidate.name,
        "display_name": candidate.display_name,
        "description": candidate.description,
        "system_prompt": candidate.system_prompt,
        "skill_ids": list(candidate.skill_ids),
        "connector_ids": list(candidate.connector_ids),
        "bundled": list(candidate.bundled),
        "digest": candidate.digest,
        "disposition": planned.disposition.value,
        "reason": planned.reason.value,
        "installed": {
            "version": planned.installed.version,
            "name": planned.installed.name,
            "revision": planned.installed.revision,
            "digest": planned.installed.digest,
            "edited": planned.installed.edited,
        }
        if planned.installed
        else None,
        "releases": list(planned.releases),
        "facts": {key: _json(value) for key, value in planned.facts.items()},
    }


def left_out_json(item: LeftOut) -> Report:
    """Return something that is not going to be installed."""
    return {
        "kind": item.kind,
        "name": item.name,
        "root": item.root,
        "reason": item.reason,
        "codes": list(item.codes),
    }


def _json(value: object) -> Json:
    if isinstance(value, (list, tuple)):
        return [_json(item) for item in value]
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    return str(value)
