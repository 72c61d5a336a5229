"""`importer export`: connectors for a client, skills and specialists as archives."""

from __future__ import annotations

from typing import Any

import click

from importer.cli.console import Console
from importer.cli.human import diagnostic_lines
from importer.cli.options import budget_option, common, parse_choices
from importer.diagnostics import shown

Report = dict[str, Any]


@click.group()
def export() -> None:
    """Write what is installed for a client, or as an archive that imports as it was."""


@export.command()
@click.argument("name")
@click.option("--output", "-o", required=True, metavar="FILE", help="Where the archive goes.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@budget_option
@common
@click.pass_obj
def skill(console: Console, /, name: str, output: str, force: bool) -> int:
    """Write an installed skill as a zip; the bytes are the same wherever it is done."""
    from importer.app.archives import export_skill
    from importer.app.session import Session

    with Session(console.settings()) as session:
        console.notices(session.notices)
        report: Report = export_skill(session, name, output, force=force)
    _archive_written(report, console)
    return 0


@export.command()
@click.argument("name", metavar="ID")
@click.option("--output", "-o", required=True, metavar="FILE", help="Where the archive goes.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--expected-revision", type=int, metavar="N", help="Refuse where the specialist is at another revision.")
@click.option("--skill", "skills", multiple=True, metavar="NAME", help="Bundle these instead of its own. Repeatable.")
@click.option("--no-skills", is_flag=True, help="Bundle none.")
@budget_option
@common
@click.pass_obj
def specialist(
    console: Console,
    /,
    name: str,
    output: str,
    force: bool,
    expected_revision: int | None,
    skills: tuple[str, ...],
    no_skills: bool,
) -> int:
    """Write an installed specialist with its own skills as a Specialist package. Credentials are never in it."""
    from importer.app.archives import export_specialist
    from importer.app.session import Session

    if skills and no_skills:
        raise click.UsageError("--skill and --no-skills exclude each other")
    with Session(console.settings()) as session:
        console.notices(session.notices)
        report: Report = export_specialist(
            session,
            name,
            output,
            force=force,
            revision=expected_revision,
            skills=skills if skills or no_skills else None,
        )
    _archive_written(report, console)
    return 0


def _archive_written(report: Report, console: Console) -> None:
    if console.json:
        console.report(report)
        return
    console.out(f"wrote {shown(report['output'], 400)}")
    if report["bundled"]:
        console.out("with the skills " + ", ".join(shown(name) for name in report["bundled"]))
    for kind in ("skills", "connectors"):
        names = report.get(f"{kind}_referenced")
        if names:
            console.out(f"names these {kind} without carrying them: " + ", ".join(shown(name) for name in names))
    for line in diagnostic_lines(report["diagnostics"], console):
        console.note(line)


@export.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--format", "form", type=click.Choice(["mcp", "template"]), default="mcp", help="Default: mcp.")
@click.option("--client", default="generic", metavar="ID", help="For which client; an unknown one lists them all.")
@click.option("--output", "-o", metavar="FILE", help="Write the document there instead of printing it.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option(
    "--merge",
    "merge_file",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="Put them into this configuration, or into the client's own; everything else in it stays.",
)
@click.option("--dry-run", is_flag=True, help="With --merge: show what would change.")
@click.option("--choose", "chosen", multiple=True, metavar="NAME=incoming|installed", help="With --merge: a conflict.")
@click.option("--confirm-overwrite", is_flag=True, help="With --merge: agree to a server that is replaced.")
@click.option("--bearer", multiple=True, metavar="NAME", help="Its Authorization secret is a bare token.")
@click.option("--windows-cmd", is_flag=True, help="Start npx and its like through cmd /c.")
@common
@click.pass_obj
def connector(
    console: Console,
    /,
    names: tuple[str, ...],
    form: str,
    client: str,
    output: str | None,
    force: bool,
    merge_file: str | None,
    dry_run: bool,
    chosen: tuple[str, ...],
    confirm_overwrite: bool,
    bearer: tuple[str, ...],
    windows_cmd: bool,
) -> int:
    """Write connectors in a client's own form, placeholders for secrets: on stdout, to a file, or merged into one."""
    from importer.app.clients import ConnectorExport
    from importer.app.session import Session
    from importer.model import Choice, Choices

    if merge_file is not None and output is not None:
        raise click.UsageError("--merge and --output exclude each other")
    if merge_file is None and dry_run:
        raise click.UsageError("--dry-run goes with --merge")
    answers = {k.removeprefix("connector:"): Choice(v) for k, v in parse_choices(chosen).items()}
    wanted = ConnectorExport(
        names=names,
        client=client,
        format=form,
        bearer=frozenset(bearer),
        windows_cmd=windows_cmd,
        choices=Choices(by_name=answers, confirm_overwrite=confirm_overwrite),
    )
    with Session(console.settings()) as session:
        console.notices(session.notices)
        if merge_file is not None:
            _merge(session, wanted, merge_file, console, dry_run=dry_run)
        else:
            _print(session, wanted, output, console, force=force)
    return 0


def _merge(session: Any, wanted: Any, file: str, console: Console, *, dry_run: bool) -> None:
    from importer.app.clients import merge_connectors, require_merged

    report: Report
    report, result = merge_connectors(session, wanted, file, dry_run=dry_run)
    if not console.json and dry_run and report["diff"]:
        for line in report["diff"].splitlines():
            console.out(shown(line, 2000))
    require_merged(report, result)
    if console.json:
        console.report(report)
        return
    place = shown(report["file"], 400)
    if not report["changed"]:
        console.out(f"{place}: nothing to change")
    else:
        done = "would change" if dry_run else "changed"
        console.out(f"{place}: {done}; added {_names(report['added'])}, replaced {_names(report['replaced'])}")
    if report["backup"]:
        console.note(f"what was there is in {shown(report['backup'], 400)}")
    _limitations(report, console)
    if report["note"]:
        for line in console.wrapped(report["note"], ""):
            console.note(line)


def _names(names: list[str]) -> str:
    return ", ".join(shown(name) for name in names) or "none"


def _print(session: Any, wanted: Any, output: str | None, console: Console, *, force: bool) -> None:
    from importer.app.clients import render_connectors, secrets_json
    from importer.app.results import diagnostic_json
    from importer.app.writing import write_document

    document, rendered = render_connectors(session, wanted)
    if output is not None:
        write_document(output, document, force=force)
    report: Report = {
        "schema": "importer/export/1",
        "kind": "connector",
        "names": list(wanted.names),
        "format": wanted.format,
        "client": wanted.client if rendered else None,
        "document": document,
        "output": output,
        **(secrets_json(rendered) if rendered else {"fill_in": [], "variables": [], "left_out": []}),
        "limitations": [diagnostic_json(d) for d in rendered.limitations] if rendered else [],
    }
    report["diagnostics"] = report["limitations"]
    if console.json:
        console.report(report)
        return
    if output is None:
        console.document(document)
    else:
        console.out(f"wrote {shown(output, 400)}")
    _limitations(report, console)


def _limitations(report: Report, console: Console) -> None:
    """Say on stderr what the document cannot do and what is still to be provided."""
    for line in diagnostic_lines(report["diagnostics"], console):
        console.note(line)
    if report["variables"]:
        console.note("set these variables where the client starts: " + ", ".join(map(shown, report["variables"])))
    for place in report["fill_in"]:
        console.note(f"fill in by hand: {shown(place)}")
