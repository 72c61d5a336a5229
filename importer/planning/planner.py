"""The disposition table, and nothing else.

| installed item of that name | choice | disposition | reason |
|---|---|---|---|
| none | | install | new |
| built in or reserved | | reuse | builtin |
| same digest, same executable bits where the source knows them | | reuse | identical |
| differs | none | conflict | differs |
| differs | installed | reuse | chosen-installed |
| differs | incoming | replace | chosen-incoming |
| differs, same origin, not edited, asked by an update | | replace | update |

A replace, and an overwrite of a specialist, needs a confirmation besides. Preview and install call this one function,
so they cannot come to different answers about the same library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from importer.diagnostics import Diagnostic, Fact, error, info, shown, warning
from importer.model import (
    Choice,
    Choices,
    ConnectorCandidate,
    Disposition,
    InstalledSkill,
    InstalledSpecialist,
    Origin,
    Package,
    Plan,
    PlannedConnector,
    PlannedSkill,
    PlannedSpecialist,
    Reason,
    SkillCandidate,
    Snapshot,
    SpecialistCandidate,
)
from importer.planning.digest import plan_digest
from importer.planning.versions import relation

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES_SHOWN = 20


def plan(package: Package, snapshot: Snapshot, choices: Choices, origin: Origin) -> Plan:
    """Return what installing `package` would do to the library in `snapshot`.

    Args:
        package: the candidates; no two skills and no two connectors share a name.
        snapshot: what is installed under those names, hashed now, and every specialist.
        choices: what the person decided. A choice for a name that is not in conflict changes nothing.
        origin: where the package comes from.

    Returns:
        A complete plan. It can be applied when it has no error, needs no choice and needs no confirmation.
    """
    diagnostics: list[Diagnostic] = []
    skills = tuple(_skill(c, snapshot, choices, origin, diagnostics) for c in package.skills)
    connectors = tuple(_connector(c, snapshot, choices, origin, diagnostics) for c in package.connectors)
    specialist = None
    if package.specialist is not None:
        specialist = _specialist(package.specialist, package, snapshot, choices, origin, diagnostics)
    needed = [_key("skill", s.candidate.name, connectors) for s in skills if s.disposition is Disposition.CONFLICT]
    needed += [_key("connector", c.candidate.name, skills) for c in connectors if c.disposition is Disposition.CONFLICT]
    dispositions: list[Disposition] = [s.disposition for s in skills] + [c.disposition for c in connectors]
    if specialist is not None:
        dispositions.append(specialist.disposition)
    return Plan(
        package=package,
        skills=skills,
        connectors=connectors,
        specialist=specialist,
        choices_needed=tuple(needed),
        confirm_needed=Disposition.REPLACE in dispositions and not choices.confirm_overwrite,
        diagnostics=tuple(diagnostics),
        digest=plan_digest(package, skills, connectors, specialist),
    )


def choice_for(choices: Choices, kind: str, name: str) -> Choice | None:
    """Return the choice that was made for one item: `kind:NAME` before plain `NAME`."""
    return choices.by_name.get(f"{kind}:{name}") or choices.by_name.get(name)


def _key(kind: str, name: str, others: Iterable[PlannedSkill | PlannedConnector]) -> str:
    """Return the name to choose by: with its kind where the package has both kinds of that name."""
    return f"{kind}:{name}" if any(o.candidate.name == name for o in others) else name


def _differs(
    kind: str, name: str, *, may_update: bool, same_origin: bool, edited: bool, choices: Choices
) -> tuple[Disposition, Reason]:
    chosen = choice_for(choices, kind, name)
    if chosen is Choice.INSTALLED:
        return Disposition.REUSE, Reason.CHOSEN_INSTALLED
    if chosen is Choice.INCOMING:
        return Disposition.REPLACE, Reason.CHOSEN_INCOMING
    if choices.update and may_update and same_origin and not edited:
        return Disposition.REPLACE, Reason.UPDATE
    return Disposition.CONFLICT, Reason.DIFFERS


def _skill(
    candidate: SkillCandidate, snapshot: Snapshot, choices: Choices, origin: Origin, diagnostics: list[Diagnostic]
) -> PlannedSkill:
    installed = snapshot.skills.get(candidate.name)
    builtin = snapshot.host.skills.get(candidate.name)
    facts: dict[str, Fact] = {}
    if builtin is not None:
        facts["builtin_version"] = builtin
        differs = candidate.version != builtin or (installed is not None and not _identical(candidate, installed))
        facts["differs"] = differs
        diagnostics.append(_builtin_note("skill", candidate.name, candidate.root, differs, builtin, candidate.version))
        disposition, reason = Disposition.REUSE, Reason.BUILTIN
    elif installed is None:
        disposition, reason = Disposition.INSTALL, Reason.NEW
    elif _identical(candidate, installed):
        disposition, reason = Disposition.REUSE, Reason.IDENTICAL
        facts["managed"] = installed.managed
    else:
        same = _same_origin(installed.origin, origin)
        facts |= _differences(candidate, installed, same)
        disposition, reason = _differs(
            "skill",
            candidate.name,
            may_update=installed.managed,
            same_origin=same,
            edited=installed.edited,
            choices=choices,
        )
    return PlannedSkill(candidate=candidate, disposition=disposition, reason=reason, installed=installed, facts=facts)


def _identical(candidate: SkillCandidate, installed: InstalledSkill) -> bool:
    """Return whether the bytes are the same, and the executable bits too where the source knows them."""
    if candidate.digest != installed.digest:
        return False
    executable = set(installed.executables)
    return all(record.executable == (record.path.text in executable) for record in candidate.files if record.mode_known)


def _differences(candidate: SkillCandidate, installed: InstalledSkill, same_origin: bool) -> dict[str, Fact]:
    return {
        "relation": relation(candidate.version, installed.version) if installed.version else "unknown",
        "managed": installed.managed,
        "edited": installed.edited,
        "origin": "same" if same_origin else "other" if installed.managed else "unmanaged",
        "users": list(installed.users),
        "only_modes_differ": candidate.digest == installed.digest,
        "modified": list(installed.modified[:NAMES_SHOWN]),
        "missing": list(installed.missing[:NAMES_SHOWN]),
        "extra": list(installed.extra[:NAMES_SHOWN]),
        "installed_digest": installed.digest,
    }


def _same_origin(recorded: Origin | None, incoming: Origin) -> bool:
    """Return whether two packages come from one place: a GitHub repository keeps its id when it is renamed."""
    if recorded is None or recorded.kind != incoming.kind:
        return False
    repository = incoming.resolved.get("repository_id")
    if repository:
        return recorded.resolved.get("repository_id") == repository
    return recorded.reference == incoming.reference


def _builtin_note(kind: str, name: str, root: str, differs: bool, builtin: str, version: str) -> Diagnostic:
    code = "skill-builtin" if kind == "skill" else "connector-builtin"
    message = f"the {kind} {shown(name)} is built into the host application and is kept"
    if differs:
        return warning(
            code,
            f"{message}; the package brings another one" + (f" ({version}, built in: {builtin})" if builtin else ""),
            root,
            name=name,
        )
    return info(code, message, root, name=name)


def _connector(
    candidate: ConnectorCandidate, snapshot: Snapshot, choices: Choices, origin: Origin, diagnostics: list[Diagnostic]
) -> PlannedConnector:
    installed = snapshot.connectors.get(candidate.name)
    facts: dict[str, Fact] = {}
    if candidate.name in snapshot.host.connectors:
        diagnostics.append(_builtin_note("connector", candidate.name, candidate.name, True, "", ""))
        disposition, reason = Disposition.REUSE, Reason.BUILTIN
    elif installed is None:
        disposition, reason = Disposition.INSTALL, Reason.NEW
    elif installed.digest == candidate.digest:
        disposition, reason = Disposition.REUSE, Reason.IDENTICAL
    else:
        same = _same_origin(installed.origin, origin)
        facts |= {
            "managed": installed.managed,
            "edited": installed.edited,
            "origin": "same" if same else "other" if installed.managed else "unmanaged",
            "users": list(installed.users),
            "installed_digest": installed.digest,
        }
        disposition, reason = _differs(
            "connector",
            candidate.name,
            may_update=installed.managed,
            same_origin=same,
            edited=installed.edited,
            choices=choices,
        )
    return PlannedConnector(
        candidate=candidate, disposition=disposition, reason=reason, installed=installed, facts=facts
    )


def _specialist(
    candidate: SpecialistCandidate,
    package: Package,
    snapshot: Snapshot,
    choices: Choices,
    origin: Origin,
    diagnostics: list[Diagnostic],
) -> PlannedSpecialist:
    diagnostics += _protected(candidate, snapshot)
    facts = _references(candidate, package, snapshot, diagnostics)
    installed = snapshot.specialists.get(candidate.id)
    releases: tuple[str, ...] = ()
    if installed is None:
        disposition, reason = Disposition.INSTALL, Reason.NEW
    elif installed.digest == candidate.digest:
        disposition, reason = Disposition.REUSE, Reason.IDENTICAL
    else:
        facts |= _overwrite(candidate, installed, origin, diagnostics)
        disposition, reason = Disposition.REPLACE, Reason.DIFFERS
        if choice_for(choices, "specialist", candidate.id) is Choice.INSTALLED:
            disposition, reason = Disposition.REUSE, Reason.CHOSEN_INSTALLED
        else:
            releases = tuple(name for name in installed.owned if name not in candidate.bundled)
    return PlannedSpecialist(
        candidate=candidate,
        disposition=disposition,
        reason=reason,
        installed=installed,
        facts=facts,
        releases=releases,
    )


def _protected(candidate: SpecialistCandidate, snapshot: Snapshot) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    if candidate.id in snapshot.host.specialists:
        found.append(
            error(
                "specialist-protected",
                f"the id {shown(candidate.id)} belongs to a specialist of the host application; "
                "the package needs another",
                "manifest.json: id",
                id=candidate.id,
            )
        )
    name = candidate.name.strip().casefold()
    if name in {protected.strip().casefold() for protected in snapshot.host.specialist_names}:
        found.append(
            error(
                "specialist-protected",
                f"the name {shown(candidate.name)} belongs to a specialist of the host application; "
                "the package needs another",
                "specialist.json: name",
                name=candidate.name,
            )
        )
    for other in snapshot.specialists.values():
        if other.id != candidate.id and other.name.strip().casefold() == name:
            found.append(
                warning(
                    "specialist-name-taken",
                    f"the installed specialist {shown(other.id)} has the same name, {shown(other.name)}",
                    "specialist.json: name",
                    id=other.id,
                )
            )
    return found


def _references(
    candidate: SpecialistCandidate, package: Package, snapshot: Snapshot, diagnostics: list[Diagnostic]
) -> dict[str, Fact]:
    """Report the names that lead nowhere. They are facts of the plan, so one that vanishes makes it stale."""
    brought = {skill.name for skill in package.skills}
    skills = [
        name
        for name in candidate.skill_ids
        if name not in brought and name not in snapshot.skills and name not in snapshot.host.skills
    ]
    offered = {connector.name for connector in package.connectors}
    connectors = [
        name
        for name in candidate.connector_ids
        if name not in offered and name not in snapshot.connectors and name not in snapshot.host.connectors
    ]
    unresolved = (
        ("specialist-skill-unresolved", "skill_ids", "skill", skills),
        ("specialist-connector-unresolved", "connector_ids", "connector", connectors),
    )
    for code, field, kind, names in unresolved:
        diagnostics.extend(
            warning(
                code,
                f"the {kind} {shown(name)} is neither in the package nor installed; the specialist works without it",
                f"specialist.json: {field}",
                name=name,
            )
            for name in names
        )
    return {"skills_unresolved": skills, "connectors_unresolved": connectors}


def _overwrite(
    candidate: SpecialistCandidate, installed: InstalledSpecialist, origin: Origin, diagnostics: list[Diagnostic]
) -> dict[str, Fact]:
    compared = relation(candidate.version, installed.version)
    notes = {
        "same": f"its content changed without a new version ({candidate.version})",
        "older": f"this is a downgrade from {shown(installed.version)} to {candidate.version}",
        "newer": f"this goes from {shown(installed.version)} to {candidate.version}",
    }
    said = [notes[compared]] if compared in notes else []
    if installed.edited:
        said.append("the installed one was edited since it was imported")
    diagnostics.append(
        warning(
            "specialist-overwrite",
            f"the specialist {shown(candidate.id)} is installed and differs: {'; '.join(said) or 'other content'}",
            "manifest.json",
            id=candidate.id,
            relation=compared,
            edited=installed.edited,
        )
    )
    return {
        "relation": compared,
        "same_version": compared == "same",
        "downgrade": compared == "older",
        "edited": installed.edited,
        "changed_without_new_version": compared == "same",
        "origin": "same" if _same_origin(installed.origin, origin) else "other",
        "revision": installed.revision,
        "installed_digest": installed.digest,
    }
