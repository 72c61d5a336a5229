"""Connectors into the configuration of a client: printed, written, merged, and a configuration looked at."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from importer import fs
from importer.app.errors import ImporterError, Status, machine_error
from importer.app.results import Json, Report, diagnostic_json
from importer.diagnostics import Diagnostic, Rejected, Severity, error, shown
from importer.exporters import CLIENTS, Client, Surroundings, check_config, merge, render
from importer.formats.connectors.template import read_template, template_bytes
from importer.model import Choices
from importer.records import record

if TYPE_CHECKING:
    from importer.app.session import Session
    from importer.exporters import MergeResult, Rendered
    from importer.model import ConnectorTemplate

MAX_CONFIG = 16 * 1024 * 1024
MERGE_ATTEMPTS = 5
BACKUP = ".importer-backup"


@record
class ConnectorExport:
    """What is exported and how."""

    names: tuple[str, ...]
    client: str = "generic"
    format: str = "mcp"
    bearer: frozenset[str] = frozenset()
    windows_cmd: bool = False
    choices: Choices = field(default_factory=Choices)


def client_of(name: str) -> Client:
    """Return the client of that id. Raises ImporterError (USAGE) with the list of them."""
    client = CLIENTS.get(name)
    if client is None:
        raise ImporterError(
            "client-unknown", f"no client {shown(name, 60)!r}; there are: {', '.join(CLIENTS)}", Status.USAGE
        )
    return client


def render_connectors(session: Session, wanted: ConnectorExport) -> tuple[str, Rendered | None]:
    """Return the document, and for `--format mcp` what is known of it: limitations, names to fill in.

    Raises:
        ImporterError: a connector is not there or not valid, or the client can express none of them (REFUSED).
    """
    client = client_of(wanted.client)
    templates = [_template(session, name) for name in dict.fromkeys(wanted.names)]
    if wanted.format == "template":
        if len(templates) != 1:
            raise ImporterError("export-one-template", "--format template takes exactly one connector", Status.USAGE)
        return template_bytes(templates[0]).decode("utf-8"), None
    try:
        rendered = render(templates, client, bearer=wanted.bearer, windows_cmd=wanted.windows_cmd)
    except Rejected as rejected:
        raise refused(rejected, "nothing was exported") from None
    return rendered.document, rendered


def merge_connectors(
    session: Session, wanted: ConnectorExport, file: str, *, dry_run: bool
) -> tuple[Report, MergeResult]:
    """Put connectors into a client's configuration, changing nothing else in it.

    The file is read again right before it is written, and the merge is made anew where it changed meanwhile.

    Args:
        session: an open session.
        wanted: which connectors, for which client, with which choices.
        file: the configuration, or "" for the client's default place.
        dry_run: only say what would change.

    Raises:
        ImporterError: DECISION where a server of that name differs and nothing was chosen; REFUSED where the file
            cannot be edited safely; FAILED where it cannot be read or written.
    """
    client = client_of(wanted.client)
    _, rendered = render_connectors(session, wanted)
    if rendered is None:
        raise ImporterError("export-merge-template", "--merge goes with --format mcp", Status.USAGE)
    place, note = _place(client, file)
    try:
        backup: str | None = None
        for _ in range(MERGE_ATTEMPTS):
            existing = _read(place)
            result = merge(existing, rendered, client, wanted.choices, os.path.basename(place))
            if dry_run or not result.ready or not result.changed:
                break
            if existing is None:
                _make_place(place, own=not file)
            backup = _keep_backup(place, existing)
            if _hash(_read(place)) == result.base:
                fs.write_whole(place, [result.content], replace=True, mode=0o600)
                break
            if backup is not None:
                fs.remove_file(backup)
                backup = None
        else:
            raise ImporterError(
                "merge-file-changes",
                f"{shown(place, 400)} is being changed by another program all the time; close it and try again",
                Status.FAILED,
                path=place,
            )
    except Rejected as rejected:
        placed = [d if d.path else replace(d, path=shown(place, 400)) for d in rejected.diagnostics]
        raise refused(Rejected(placed), f"{shown(place, 400)} was left as it is") from None
    except OSError as problem:
        raise machine_error(problem, "the merge") from problem
    return _merge_report(place, note, rendered, result, backup, dry_run=dry_run), result


def require_merged(report: Report, result: MergeResult) -> None:
    """Raise ImporterError (DECISION) where a merge still needs to know something."""
    if result.ready:
        return
    words = [f"--choose {shown(c.name)}=incoming|installed" for c in result.conflicts]
    if result.confirm_needed:
        words.append("--confirm-overwrite")
    faults = [d for d in result.diagnostics if d.severity is Severity.ERROR]
    raise ImporterError(
        "decision-missing",
        f"{shown(str(report['file']), 400)} was left as it is: a decision is missing; give {' '.join(words)}",
        Status.DECISION,
        faults,
    )


def check_client(client_id: str, file: str | None) -> tuple[Report, Status]:
    """Report what a client would reject or ignore in its configuration, as `importer/doctor/1`. Nothing is changed.

    Raises:
        ImporterError: the client is unknown, has no default place, or the file cannot be read.
    """
    client = client_of(client_id)
    place, _ = _place(client, file or "")
    try:
        data = _read(place)
    except OSError as problem:
        raise machine_error(problem, "reading the configuration") from problem
    except Rejected as rejected:
        raise refused(rejected, "nothing was checked") from None
    if data is None:
        raise ImporterError(
            "client-config-missing",
            f"there is no {shown(place, 400)}: {client.title} has no configuration there; name the file: "
            f"importer doctor --client {client.id} FILE",
            Status.FAILED,
            path=place,
        )
    findings = check_config(data, client)
    attention = any(d.severity is not Severity.INFO for d in findings)
    report: Report = {
        "schema": "importer/doctor/1",
        "client": client.id,
        "file": place,
        "healthy": not attention,
        "diagnostics": [diagnostic_json(d) for d in findings],
    }
    return report, Status.DIFFERS if attention else Status.DONE


def refused(rejected: Rejected, what: str) -> ImporterError:
    """Return what a refusal of a stage ends a command with."""
    first = rejected.diagnostics[0]
    return ImporterError(first.code, f"{what}: {first.message}", Status.REFUSED, rejected.diagnostics)


def _template(session: Session, name: str) -> ConnectorTemplate:
    name = name.removeprefix("connector:")
    library = session.library
    try:
        listed = [item for item in library.listing() if item.kind == "connector" and item.name == name and item.present]
        if not listed:
            raise ImporterError(
                "library-name-unknown",
                f"{shown(library.root, 400)} holds no connector named {shown(name, 100)}; `importer list` names "
                "what it holds",
                Status.FAILED,
            )
        path = library.layout.full(library.layout.target("connector", name))
        limit = session.budgets.max("connector", "bytes")
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except OSError as problem:
        raise machine_error(problem, "reading the connector") from problem
    try:
        return read_template(data, label=f"connectors/{name}.json")
    except Rejected as rejected:
        raise refused(rejected, f"the connector {shown(name)} cannot be exported") from None


def _place(client: Client, file: str) -> tuple[str, str]:
    if file:
        return os.path.abspath(os.path.expanduser(file)), ""
    system = {"darwin": "darwin", "win32": "windows"}.get(sys.platform, "linux")
    around = Surroundings(system=system, home=os.path.expanduser("~"), environment=os.environ)
    place = client.place(around)
    if place is None:
        raise ImporterError("client-no-place", f"{client.title} has no default place; name the file", Status.USAGE)
    return place.path, place.note


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_CONFIG + 1)
    except FileNotFoundError:
        return None
    if len(data) > MAX_CONFIG:
        message = f"{shown(path, 400)} has more than {MAX_CONFIG:,} bytes: that is no configuration of servers"
        raise Rejected([error("merge-too-large", message, path)])
    return data


def _make_place(path: str, *, own: bool) -> None:
    """Make the folder of a client's own place; the folder of a file that a person named is there already."""
    folder = os.path.dirname(path)
    if os.path.isdir(folder):
        return
    if not own:
        raise ImporterError(
            "system-error",
            f"{shown(path, 400)} cannot be written: there is no folder {shown(folder, 400)}; check the spelling, or "
            "make the folder first",
            Status.FAILED,
            path=path,
        )
    fs.make_folders(folder, 0o700)


def _hash(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def _keep_backup(path: str, existing: bytes | None) -> str | None:
    """Keep what was there, one copy beside the file, readable by nobody who could not read the file."""
    if existing is None:
        return None
    real = os.path.realpath(path)
    backup = real + BACKUP
    fs.remove_file(backup)
    fs.write_whole(backup, [existing], replace=False, mode=os.stat(real).st_mode & 0o600)
    return backup


def _merge_report(
    place: str, note: str, rendered: Rendered, result: MergeResult, backup: str | None, *, dry_run: bool
) -> Report:
    notes: Sequence[Diagnostic] = (*rendered.limitations, *result.diagnostics)
    return {
        "schema": "importer/merge/1",
        "client": result.client,
        "file": place,
        "note": note,
        "dry_run": dry_run,
        "changed": result.changed,
        "added": list(result.added),
        "replaced": list(result.replaced),
        "unchanged": list(result.unchanged),
        "kept": list(result.kept),
        "conflicts": [{"name": c.name, "fields": list(c.fields)} for c in result.conflicts],
        "diff": result.diff,
        "backup": backup,
        **secrets_json(rendered),
        "diagnostics": [diagnostic_json(d) for d in notes],
    }


def secrets_json(rendered: Rendered) -> Report:
    """Return what has to be provided before an exported document works."""
    fill_in: list[Json] = list(rendered.fill_in)
    variables: list[Json] = list(rendered.variables)
    return {"fill_in": fill_in, "variables": variables, "left_out": list(rendered.left_out)}
