"""From a confirmed preview to a changed library: checked again, planned again, then applied as a whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from importer.app.errors import ImporterError, Status, machine_error
from importer.app.request import Request
from importer.app.results import Installation, sort_items
from importer.diagnostics import Diagnostic, Severity, error, shown
from importer.formats.settle import select
from importer.library.candidates import summary_of
from importer.model import Choices, LeftOut, Reason
from importer.planning.planner import plan as make_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from importer.app.results import Preview
    from importer.app.session import Session
    from importer.library.candidates import HeldCandidate
    from importer.library.writer import Writer
    from importer.model import Choice, Package, Plan, Snapshot


def require_decided(preview: Preview, *, yes: bool, expect: str | None) -> None:
    """Refuse to install without a terminal what still needs a decision.

    Raises:
        ImporterError: REFUSED where the package has errors, DECISION where a choice, a confirmation, a selection or
            the consent itself is missing.
    """
    refuse_faulty(preview)
    if preview.status is Status.DECISION:
        raise _undecided(preview.plan, preview.selection_needed, preview.diagnostics)
    if not yes and expect is None:
        raise ImporterError(
            "consent-missing",
            "nothing was installed: there is no terminal to ask on; give --yes to install what the preview shows",
            Status.DECISION,
            preview.diagnostics,
        )


def refuse_faulty(preview: Preview) -> None:
    """Raise what a package with errors ends with."""
    if preview.status is Status.REFUSED:
        errors = preview.errors
        first = errors[0] if errors else error("package-unrecognised", "the package holds nothing to install")
        good = f"; {part}" if (part := good_part(preview)) else ""
        message = f"nothing was installed: {first.message}{good}"
        raise ImporterError(first.code, message, Status.REFUSED, preview.diagnostics)


def good_part(preview: Preview) -> str:
    """Say how much of a refused package is good, and what installs that; "" where nothing is."""
    plan = preview.plan
    faulty = [item for item in preview.left_out if item.reason in {"faulty", "clash"}]
    good = len(plan.skills) + len(plan.connectors) if plan is not None else 0
    if not faulty or not good:
        return ""
    return f"{good} of {good + len(faulty)} are good, --keep-going installs those and names the rest"


def install_preview(
    session: Session, preview: Preview, choices: Choices | None = None, *, expect: str | None = None
) -> Installation:
    """Install what `preview`, made in this process, showed.

    Args:
        session: the session that made it.
        preview: what was shown.
        choices: decisions that were still open.
        expect: the plan digest that was reviewed; anything else is stale.

    Raises:
        ImporterError: as `install_token` does.
    """
    refuse_faulty(preview)
    if preview.selection_needed:
        raise _undecided(preview.plan, preview.selection_needed, preview.diagnostics)
    if preview.plan is not None and asked_args(preview.plan):
        raise _undecided(preview.plan, (), preview.diagnostics)
    if preview.token is None:
        notes = [d.message for d in preview.diagnostics if d.code == "library-unwritable"]
        message = f"nothing was installed: {notes[0] if notes else 'the library cannot be written'}"
        raise ImporterError("library-unwritable", message, Status.FAILED, preview.diagnostics)
    return _install(session, preview.token, Request(source="", choices=choices or Choices()), expect)


def give_up(session: Session, preview: Preview) -> None:
    """Let go of what a preview staged, where nobody was told its token; nothing is raised."""
    if preview.token is not None:
        _release(session, preview.token)


def _release(session: Session, token: str) -> None:
    """Let go of what waits under a token; nothing is raised."""
    try:
        session.library.release(token)
    except OSError:
        # It is swept once the token has expired; another error is on its way already.
        return


def install_token(session: Session, token: str, request: Request, *, expect: str | None = None) -> Installation:
    """Install what the preview that gave `token` showed.

    `request` brings choices that were still open, and may select a subset by name.

    Raises:
        ImporterError: STALE for a token that is unknown, used or expired, and where anything that the preview showed
            would now differ; DECISION where a choice or a confirmation is missing; FAILED where the disk refuses.
    """
    return _install(session, token, request, expect)


def _install(session: Session, token: str, request: Request, expect: str | None) -> Installation:
    library = session.library
    try:
        held = library.claim(token)
        with library.writer(command="install", timeout=session.settings.lock_timeout) as writer:
            # Before anything is planned: what this very token brought is not what was changed since its preview.
            writer.check_token(token)
            return _apply(session, writer, held, token, request, expect)
    except ImporterError as ended:
        if ended.code == "library-stale" and expect is None:
            _release(session, token)
        raise
    except OSError as problem:
        raise machine_error(problem, "the install") from problem


def _apply(
    session: Session,
    writer: Writer,
    held: HeldCandidate,
    token: str,
    request: Request,
    expect: str | None,
) -> Installation:
    snapshot = snapshot_for(session, held.package)
    shown_now = make_plan(held.package, snapshot, held.choices, held.origin)
    if shown_now.digest != held.plan_digest:
        raise _stale(_difference(held.summary, shown_now))
    decided = _merge(held.choices, request.choices)
    package = _subset(held.package, request)
    final = make_plan(package, snapshot, decided, held.origin)
    if expect is not None and expect != final.digest:
        raise ImporterError(
            "library-stale",
            f"stale: the plan is {final.digest}, not the expected {shown(expect, 80)}; preview again and compare",
            Status.STALE,
        )
    errors = [d for d in final.diagnostics if d.severity is Severity.ERROR]
    if errors:
        raise ImporterError(errors[0].code, errors[0].message, Status.REFUSED, final.diagnostics)
    if final.choices_needed or final.confirm_needed:
        raise _undecided(final, (), (*held.diagnostics, *final.diagnostics))
    applied = writer.apply(final, held.staging, held.origin, token=token, command="install")
    return Installation(
        transaction=applied.transaction,
        diagnostics=(*held.diagnostics, *applied.diagnostics),
        **sort_items(final, package.left_out),
    )


def asked_args(plan: Plan) -> tuple[str, ...]:
    """Return what looks like a credential and nobody vouched for, as `--allow-arg` takes it.

    A plan with any of it is never kept under a token: it may hold a secret, and those do not reach the library. What is
    there already, byte for byte, was vouched for when it came.
    """
    return tuple(
        f"{shown(connector.candidate.name)}:{ask.removeprefix('args[').rstrip(']')}"
        for connector in plan.connectors
        if connector.reason is not Reason.IDENTICAL
        for ask in connector.candidate.asks
    )


def snapshot_for(session: Session, package: Package) -> Snapshot:
    """Return the part of the library that a plan for `package` depends on, hashed now."""
    skills = {skill.name for skill in package.skills}
    connectors = {connector.name for connector in package.connectors}
    if package.specialist is not None:
        skills |= set(package.specialist.skill_ids)
        connectors |= set(package.specialist.connector_ids)
    return session.library.snapshot(skills=skills, connectors=connectors)


def _merge(held: Choices, given: Choices) -> Choices:
    by_name: Mapping[str, Choice] = {**held.by_name, **given.by_name}
    return Choices(
        by_name=by_name,
        confirm_overwrite=held.confirm_overwrite or given.confirm_overwrite,
        update=held.update,
        allowed=held.allowed | given.allowed,
    )


def _subset(package: Package, request: Request) -> Package:
    """Return `package` with what `request` names alone; what was not named is left out and said so.

    Raises:
        ImporterError: USAGE where a name is none of those that the preview showed.
    """
    if not request.skills and not request.connectors:
        return package
    skills, unknown = select(package.skills, request.skills)
    wanted = {name.removeprefix("connector:") for name in request.connectors}
    missing = sorted(wanted - {connector.name for connector in package.connectors})
    unknown += tuple(
        error("connector-not-found", f"the preview showed no connector {shown(name)!r}", connector=name)
        for name in missing
    )
    if unknown:
        raise ImporterError(unknown[0].code, unknown[0].message, Status.USAGE, unknown)
    connectors = tuple(c for c in package.connectors if not wanted or c.name in wanted)
    taken = {skill.root for skill in skills}
    rest = [
        LeftOut(kind="skill", name=skill.name, root=skill.root, reason="not-selected")
        for skill in package.skills
        if skill.root not in taken
    ]
    rest += [
        LeftOut(kind="connector", name=connector.name, root="", reason="not-selected")
        for connector in package.connectors
        if wanted and connector.name not in wanted
    ]
    return replace(package, skills=skills, connectors=connectors, left_out=(*package.left_out, *rest))


def _stale(what: str) -> ImporterError:
    return ImporterError(
        "library-stale",
        f"stale: {what}; nothing was installed. Preview again and look at what is different",
        Status.STALE,
    )


def _difference(before: Mapping[str, tuple[str, ...]], now: Plan) -> str:
    """Name the items that are planned otherwise, or are otherwise on the disk, as far as that is what changed."""
    after = summary_of(now)
    moved = [
        f"{shown(name)} was {'/'.join(before[name][:2])} and is now {'/'.join(after[name][:2])}"
        if before[name][:2] != after[name][:2]
        else f"the installed {shown(name)} was changed since the preview"
        for name in before
        if name in after and before[name] != after[name]
    ]
    return "; ".join(moved[:3]) or "something that the preview showed was changed since"


def _undecided(plan: Plan | None, selection: tuple[str, ...], diagnostics: tuple[Diagnostic, ...]) -> ImporterError:
    words: list[str] = []
    if selection:
        words.append("--skill NAME (repeatable)")
    if plan is not None:
        words += [f"--choose {shown(name)}=incoming|installed" for name in plan.choices_needed]
        if plan.confirm_needed:
            words.append("--confirm-overwrite")
        words += [f"--allow-arg {ask}" for ask in asked_args(plan)]
    return ImporterError(
        "decision-missing",
        f"nothing was installed: a decision is missing; give {' '.join(words)}",
        Status.DECISION,
        diagnostics,
    )
