"""The preview: everything that an install would do, and nothing done."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from budgets import BudgetExceeded
from importer.app.errors import ImporterError, Status, machine_error
from importer.app.found import Meters
from importer.app.installing import asked_args, snapshot_for
from importer.app.opening import Opened, open_source, origin_of
from importer.app.packages import ReadPackage, read_package
from importer.app.results import Preview
from importer.diagnostics import Diagnostic, Rejected, Severity, budget_error, capped, info, shown
from importer.fs import DiskError
from importer.planning.planner import plan as make_plan
from importer.records import record
from importer.staging import StagedFolder

if TYPE_CHECKING:
    from budgets import Usage
    from importer.app.request import Request
    from importer.app.session import Session
    from importer.library.stagings import Staging
    from importer.model import Plan

MACHINE = ("source-not-found", "source-unreadable", "source-changed", "github-", "library-", "system-", "disk-")
"""Codes, by their beginnings, that are about the way to a package and not about what is in it."""


@record(frozen=False, kw_only=False)
class _Work:
    """Where a preview stages: in the library, or in a temporary folder where that cannot be written."""

    folder: StagedFolder
    staging: Staging | None
    note: Diagnostic | None
    stack: ExitStack = field(default_factory=ExitStack)


def preview(session: Session, request: Request, *, told: bool = True) -> Preview:
    """Read a source, plan it, and keep what was read under a token.

    Nothing in the library changes. A preview that is refused leaves nothing behind.

    Args:
        session: an open session.
        request: the source, and the decisions that are made already.
        told: whether somebody is told the token; otherwise what is staged goes with this process, however that ends.

    Returns:
        The preview, also where the package is refused: then `status` is REFUSED and `diagnostics` says why.

    Raises:
        ImporterError: the source cannot be had (FAILED), or is none (USAGE).
    """
    work = _begin(session, private=not told)
    kept = False
    try:
        result = _preview(session, request, work)
        kept = result.token is not None
        return result
    except OSError as problem:
        raise machine_error(problem, "the preview") from problem
    finally:
        work.stack.close()
        work.folder.close()
        if work.staging is not None:
            if not kept:
                work.staging.discard()
            elif told:
                work.staging.release()
            else:
                # The lock on it says that this process lives.
                session.at_end(work.staging.release)


def _begin(session: Session, *, private: bool = False) -> _Work:
    unwritable = session.library.unwritable()
    if unwritable is None:
        try:
            staging = session.library.new_staging(private=private)
            return _Work(staging.folder, staging, None)
        except DiskError as problem:
            unwritable = info("library-unwritable", problem.message, problem.path)
    import tempfile

    stack = ExitStack()
    temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="importer-preview-"))
    note = info(
        "library-unwritable",
        f"{unwritable.message}; the preview is complete, and gives no token to install it with",
        unwritable.path,
    )
    return _Work(StagedFolder(Path(temporary) / "staged"), None, note, stack)


@contextmanager
def staging_for(session: Session) -> Iterator[StagedFolder]:
    """Give a staging folder for as long as a block lasts: in the library, or elsewhere where that cannot be written."""
    work = _begin(session)
    try:
        yield work.folder
    finally:
        work.stack.close()
        work.folder.close()
        if work.staging is not None:
            work.staging.discard()


def _preview(session: Session, request: Request, work: _Work) -> Preview:
    meters = Meters.of(session.budgets)
    opened: Opened | None = None
    try:
        opened = open_source(session, request, work.folder, meters)
        read = read_package(session, request, work.folder, meters, opened)
        origin = opened.resolved()
    except Rejected as rejected:
        return _refused(request, opened, meters, rejected.diagnostics, work)
    except BudgetExceeded as exceeded:
        return _refused(request, opened, meters, (budget_error(exceeded),), work)
    finally:
        if opened is not None:
            opened.close()
    work.folder.drop_spool()
    diagnostics = [*read.diagnostics]
    if work.note is not None:
        diagnostics.append(work.note)
    plan: Plan | None = None
    status = Status.DONE
    if read.selection_needed:
        status = Status.DECISION
    else:
        package = read.package
        plan = make_plan(package, snapshot_for(session, package), request.choices, origin)
        diagnostics += plan.diagnostics
        status = _status(read, plan, request)
    token: str | None = None
    expires: str | None = None
    found = capped(diagnostics)
    if plan is not None and status is not Status.REFUSED and work.staging is not None and not asked_args(plan):
        held = session.library.hold(work.staging, plan, origin=origin, choices=request.choices, diagnostics=found)
        token, expires = held.token, held.expires_at
    return Preview(
        status=status,
        source=origin,
        package=read.about,
        plan=plan,
        token=token,
        expires_at=expires,
        diagnostics=found,
        budgets=_usage(meters, read.package.kind, origin.kind),
        selection_needed=read.selection_needed,
        left_out=tuple(read.package.left_out),
    )


def _status(read: ReadPackage, plan: Plan, request: Request) -> Status:
    errors = [d for d in (*read.fatal, *plan.diagnostics) if d.severity is Severity.ERROR]
    if errors or (read.faulty and not request.keep_going):
        return Status.REFUSED
    package = plan.package
    if not package.skills and not package.connectors and package.specialist is None:
        return Status.REFUSED
    open_questions = plan.choices_needed or plan.confirm_needed or asked_args(plan)
    return Status.DECISION if open_questions else Status.DONE


def _refused(
    request: Request, opened: Opened | None, meters: Meters, diagnostics: tuple[Diagnostic, ...], work: _Work
) -> Preview:
    """Return what a container that cannot be read gives, or raise where there was no way to it."""
    first = next((d for d in diagnostics if d.severity is Severity.ERROR), diagnostics[0])
    if first.code.startswith(MACHINE):
        raise ImporterError(first.code, first.message, Status.FAILED, diagnostics)
    origin = opened.origin if opened is not None else origin_of(request.source)
    if origin.kind != "github":
        # What is about the whole names the file or the folder.
        name = shown(os.path.basename(origin.reference), 400)
        diagnostics = tuple(found if found.path else replace(found, path=name) for found in diagnostics)
    notes = (work.note,) if work.note is not None else ()
    return Preview(
        status=Status.REFUSED,
        source=origin,
        package={},
        plan=None,
        token=None,
        expires_at=None,
        diagnostics=capped([*diagnostics, *notes]),
        budgets=_usage(meters, "", origin.kind),
    )


def _usage(meters: Meters, kind: str, source: str) -> tuple[Usage, ...]:
    """Return the limits that a package of `kind` is held to, and every other one that was changed or used."""
    always = {"connector", "preview"} if kind == "connectors" else {"bundle", "skill", "preview", kind, source}
    every = (
        meters.bundle,
        meters.skill,
        meters.specialist,
        meters.archive,
        meters.github,
        meters.connector,
        meters.preview,
    )
    return tuple(
        row for meter in every for row in meter.usage() if meter.profile.name in always or row.changed or row.used
    )
