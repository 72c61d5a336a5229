"""What is newer where things were installed from, and previews that bring it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from budgets import BudgetExceeded
from importer.app.clients import refused
from importer.app.errors import ImporterError, Status, machine_error
from importer.app.github import github_settings
from importer.app.inventory import place_in_source
from importer.app.previewing import preview
from importer.app.request import RecordedSource, Request
from importer.app.results import Report, diagnostic_json
from importer.diagnostics import Diagnostic, Rejected, Severity, budget_error, info, shown
from importer.model import Choices
from importer.records import record
from importer.sources.github.updates import Recorded, Upstream, check_updates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from importer.app.results import Preview
    from importer.app.session import Session
    from importer.library.inventory import Listed

UPDATED_KINDS = ("skill", "specialist")


@record
class Standing:
    """One installed thing, and what is newer upstream. `upstream` is None for what did not come from GitHub."""

    kind: str
    name: str
    origin: str
    root: str
    """Its folder inside the place that it was installed from."""
    upstream: Upstream | None
    source: RecordedSource | None
    """Where to read the newer one."""


def standings(session: Session, names: Sequence[str] = (), *, no_cache: bool = False) -> tuple[Standing, ...]:
    """Ask for each named thing, or for all that was imported, what is newer where it came from.

    Raises:
        ImporterError: a name is unknown; the host cannot be reached, limits the rate, or refuses the token.
    """
    items = _wanted(session, names)
    asked = [item for item in items if item.item and item.item.origin and item.item.origin.kind == "github"]
    recorded = [
        Recorded(name=f"{item.kind}:{item.name}", resolved=item.item.origin.resolved, path=place_in_source(item))
        for item in asked
        if item.item is not None and item.item.origin is not None
    ]
    meter = session.budgets.meter("github")
    try:
        found = check_updates(recorded, settings=github_settings(session, no_cache=no_cache), github_meter=meter)
    except Rejected as rejected:
        first = rejected.diagnostics[0]
        raise ImporterError(first.code, first.message, Status.FAILED, rejected.diagnostics) from None
    except BudgetExceeded as exceeded:
        raise refused(Rejected([budget_error(exceeded)]), "not everything could be asked for") from None
    by_name = {upstream.name: upstream for upstream in found}
    return tuple(_standing(item, by_name.get(f"{item.kind}:{item.name}")) for item in items)


def outdated_report(found: Sequence[Standing]) -> Report:
    """Return `importer/outdated/1`."""
    items: list[Report] = []
    notes: list[Diagnostic] = []
    for one in found:
        upstream = one.upstream
        notes += _said(upstream)
        items.append(
            {
                "kind": one.kind,
                "name": one.name,
                "repository": upstream.repository if upstream else None,
                "ref": upstream.ref if upstream else None,
                "installed_commit": upstream.installed_commit if upstream else None,
                "newest_commit": upstream.newest_commit if upstream else None,
                "newest_ref": upstream.newest_ref if upstream else None,
                "outdated": bool(upstream and upstream.outdated),
                "reason": upstream.reason if upstream else "local",
                "source": one.origin,
            }
        )
    return {
        "schema": "importer/outdated/1",
        "items": items,
        "diagnostics": [diagnostic_json(d) for d in _each_once(notes)],
    }


def _said(upstream: Upstream | None) -> list[Diagnostic]:
    return [d for d in (upstream.renamed, upstream.diagnostic) if d is not None] if upstream is not None else []


def _each_once(notes: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Keep one of each: skills of one repository say the same of it."""
    return tuple({(d.code, d.message): d for d in notes}.values())


def preview_updates(
    session: Session, names: Sequence[str], choices: Choices, *, keep_going: bool = False, no_cache: bool = False
) -> tuple[tuple[Preview, ...], tuple[Diagnostic, ...]]:
    """Return one preview for each place that something newer comes from, and what to say of the rest.

    What nobody edited is proposed as `replace`, reason `update`; what was edited is a conflict.

    Raises:
        ImporterError: as `standings` and `preview`; or there is nothing to preview, because nothing could be learnt.
    """
    found = standings(session, names, no_cache=no_cache)
    groups: dict[RecordedSource, list[Standing]] = {}
    notes: list[Diagnostic] = []
    for one in found:
        notes += _said(one.upstream)
        if one.source is None or one.upstream is None:
            if names and one.upstream is None:
                notes.append(
                    info(
                        "update-source-local",
                        f"the {one.kind} {shown(one.name)} came from {shown(one.origin, 300) or 'nowhere known'}, "
                        "which cannot be asked for something newer; install the new one from where it is",
                        name=one.name,
                    )
                )
        elif one.upstream.outdated or names:
            groups.setdefault(one.source, []).append(one)
    notes = list(_each_once(notes))
    faults = [d for d in notes if d.severity is Severity.ERROR]
    if faults and not groups:
        raise ImporterError(faults[0].code, faults[0].message, Status.FAILED, notes)
    previews: list[Preview] = []
    for source, members in groups.items():
        whole = any(one.kind == "specialist" for one in members)
        request = Request(
            source=f"{source.repository}@{source.ref}" + (f":{source.path}" if source.path else ""),
            skills=() if whole else tuple(f"{one.root}/" if one.root else "." for one in members),
            choices=replace(choices, update=True),
            keep_going=keep_going,
            no_cache=no_cache,
            recorded=source,
        )
        previews.append(preview(session, request))
    return tuple(previews), tuple(notes)


def _wanted(session: Session, names: Sequence[str]) -> list[Listed]:
    try:
        listed = [item for item in session.library.listing() if item.managed and item.kind in UPDATED_KINDS]
    except OSError as problem:
        raise machine_error(problem, "reading the library") from problem
    if not names:
        return listed
    chosen: list[Listed] = []
    for name in names:
        hits = [item for item in listed if name in {item.name, f"{item.kind}:{item.name}"}]
        if not hits:
            raise ImporterError(
                "library-name-unknown",
                f"nothing that was imported is called {shown(name, 100)}; `importer list` names what there is",
                Status.FAILED,
            )
        chosen += [item for item in hits if item not in chosen]
    return chosen


def _root(item: Listed) -> str:
    return item.item.text("root") if item.item is not None else ""


def _standing(item: Listed, upstream: Upstream | None) -> Standing:
    record = item.item
    origin = record.origin if record is not None else None
    source = None
    if upstream is not None and origin is not None and upstream.diagnostic is None:
        source = RecordedSource(
            host=origin.resolved.get("host", ""),
            repository=upstream.repository,
            repository_id=origin.resolved.get("repository_id", ""),
            ref=upstream.newest_ref or upstream.ref,
            path=origin.resolved.get("path", ""),
        )
    return Standing(
        kind=item.kind,
        name=item.name,
        origin=origin.reference if origin is not None else "",
        root=_root(item),
        upstream=upstream,
        source=source,
    )
