"""What a library holds: listed, shown, and compared with its record. Reading never waits for a writer."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from importer.app.errors import Status, machine_error
from importer.app.results import Json, Report, origin_json
from importer.library.inventory import find_items, list_items, show_items, verify_items

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from importer.app.session import Session
    from importer.library.inventory import Listed, Shown
    from importer.library.view import View

    T = TypeVar("T")

SECTIONS = {"skill": "skills", "specialist": "specialists", "connector": "connectors", "plugin": "plugins"}


def listing(session: Session) -> Report:
    """Return everything in the library, as `importer/list/1`.

    Raises:
        ImporterError: the library cannot be read.
    """
    report: Report = {"schema": "importer/list/1"}
    sections: dict[str, list[Json]] = {section: [] for section in SECTIONS.values()}
    for item in _read(session, list_items):
        sections[SECTIONS[item.kind]].append(_listed_json(item))
    for section, items in sections.items():
        report[section] = list(items)
    return report


def showing(session: Session, name: str) -> Report:
    """Return everything that is known of one name, hashed now, as `importer/show/1`.

    Raises:
        ImporterError: nothing of that name is there (FAILED), or it cannot be read.
    """
    items = _read(session, lambda view: show_items(view, find_items(view, name)))
    return {"schema": "importer/show/1", "items": [_shown_json(session, item) for item in items]}


def verifying(session: Session, names: Sequence[str]) -> tuple[Report, Status]:
    """Compare what is installed with its record, as `importer/verify/1`.

    Returns:
        The report, and DIFFERS where anything is modified, missing, extra, or has another executable bit.

    Raises:
        ImporterError: a name is unknown, or the library cannot be read.
    """
    items = _read(session, partial(verify_items, asked=tuple(names)))
    clean = all(item.ok for item in items)
    report: Report = {
        "schema": "importer/verify/1",
        "clean": clean,
        "items": [
            {
                "kind": item.listed.kind,
                "name": item.listed.name,
                "managed": item.listed.managed,
                "ok": item.ok,
                "digest": item.tree.digest if item.tree else None,
                "recorded": item.listed.item.digest if item.listed.item else None,
                **_differences(item),
            }
            for item in items
        ],
    }
    return report, Status.DONE if clean else Status.DIFFERS


def _read(session: Session, reading: Callable[[View], T]) -> T:
    try:
        return session.library.read(reading)
    except OSError as problem:
        raise machine_error(problem, "reading the library") from problem


def place_in_source(item: Listed) -> str:
    """Return the folder of something installed in the source that it came from; a nested archive counts as one."""
    record = item.item
    if record is None or record.origin is None:
        return ""
    root = record.text("root").partition("!/")[0]
    return "/".join(part for part in (record.origin.resolved.get("path", ""), root) if part)


def _listed_json(item: Listed) -> Report:
    record = item.item
    report: Report = {
        "id" if item.kind == "specialist" else "name": item.name,
        "version": record.version if record and item.kind != "connector" else None,
        "digest": record.digest if record else None,
        "managed": item.managed,
        "present": item.present,
        "origin": origin_json(record.origin) if record and record.origin else None,
        "installed_at": record.installed_at if record else None,
        "transaction": record.transaction if record else None,
    }
    if item.kind == "specialist" and record is not None:
        report["revision"] = record.revision
        report["name"] = str(record.details.get("name", ""))
    if item.kind in {"skill", "connector"}:
        report["users"] = list(item.users)
    if item.kind == "skill":
        report["owners"] = list(item.owners)
    if item.link is not None:
        report["link"] = item.link
    return report


def _shown_json(session: Session, item: Shown) -> Report:
    report = _listed_json(item.listed)
    report["kind"] = item.listed.kind
    report["ok"] = item.ok
    report["digest_now"] = item.tree.digest if item.tree else None
    report["files"] = (
        [
            {
                "path": file.path.text.rstrip("\0"),
                "bytes": file.size,
                "sha256": file.sha256,
                "executable": file.executable,
            }
            for file in item.tree.files
        ]
        if item.tree
        else []
    )
    record = item.listed.item
    if record is not None:
        report["path"] = place_in_source(item.listed)
        report["details"] = {key: json.loads(json.dumps(value)) for key, value in record.details.items()}
    if item.listed.kind == "specialist":
        from importer.library.settings import specialist_settings

        settings = specialist_settings(session.library.record(), item.listed.name)
        report["enabled"] = settings.enabled
        report["setup_pending"] = settings.setup_pending
    report.update(_differences(item))
    return report


def _differences(item: Shown) -> Report:
    return {
        "modified": list(item.difference.modified),
        "missing": list(item.difference.missing),
        "extra": list(item.difference.extra),
        "executable": list(item.difference.executable),
    }
