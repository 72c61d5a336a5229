"""`importer outdated` and `importer update`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from importer.cli.console import Console
from importer.cli.human import diagnostic_lines
from importer.cli.options import budget_option, common, parse_choices
from importer.cli.progress import clear_progress
from importer.diagnostics import Severity, shown

if TYPE_CHECKING:
    from importer.app.results import Preview

Report = dict[str, Any]


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--no-cache", is_flag=True, help="Ask GitHub anew.")
@budget_option
@common
@click.pass_obj
def outdated(console: Console, /, names: tuple[str, ...], no_cache: bool) -> int:
    """Ask where things were installed from whether there is something newer."""
    from importer.app.session import Session
    from importer.app.updating import outdated_report, standings

    with Session(console.settings()) as session:
        console.notices(session.notices)
        report: Report = outdated_report(standings(session, names, no_cache=no_cache))
    clear_progress()
    if console.json:
        console.report(report)
        return 0
    for item in report["items"]:
        title = f"{item['kind']} {shown(item['name'])}"
        if item["outdated"]:
            old, new = item["installed_commit"][:12], item["newest_commit"][:12]
            ref = shown(item["newest_ref"], 80)
            console.out(f"  {title:<36} {old} -> {new} ({ref}: a newer {shown(item['reason'])})")
        elif console.verbose or item["reason"] not in {"current", "untouched", "local"}:
            console.out(f"  {title:<36} {shown(item['reason'])}")
    for line in diagnostic_lines(report["diagnostics"], console):
        console.note(line)
    count = sum(item["outdated"] for item in report["items"])
    console.out(f"{count} of {len(report['items'])} have something newer" + (": importer update" if count else ""))
    return 0


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--choose", "chosen", multiple=True, metavar="NAME=incoming|installed", help="Answer a conflict.")
@click.option("--confirm-overwrite", is_flag=True, help="Agree to what is replaced; it goes to the trash.")
@click.option("--keep-going", is_flag=True, help="Go past faulty items, and name them.")
@click.option("--no-cache", is_flag=True, help="Ask GitHub anew.")
@budget_option
@common
@click.pass_obj
def update(
    console: Console,
    /,
    names: tuple[str, ...],
    chosen: tuple[str, ...],
    confirm_overwrite: bool,
    keep_going: bool,
    no_cache: bool,
) -> int:
    """Preview what is newer where NAME (or everything) was installed from; the token installs it.

    What nobody edited is proposed as a replacement; what was edited is a conflict, with the edits named.
    """
    from importer.app.errors import Status
    from importer.app.results import diagnostic_json
    from importer.app.session import Session
    from importer.app.updating import preview_updates
    from importer.model import Choice, Choices

    answers = {name: Choice(answer) for name, answer in parse_choices(chosen).items()}
    choices = Choices(by_name=answers, confirm_overwrite=confirm_overwrite)
    with Session(console.settings()) as session:
        console.notices(session.notices)
        previews, notes = preview_updates(session, names, choices, keep_going=keep_going, no_cache=no_cache)
    clear_progress()
    found = [diagnostic_json(d) for d in notes]
    if console.json:
        if len(previews) == 1:
            report = previews[0].to_json()
            report["diagnostics"] = [*report["diagnostics"], *found]
            console.report(report)
        else:
            console.report(
                {"schema": "importer/updates/1", "previews": [p.to_json() for p in previews], "diagnostics": found}
            )
    else:
        _show(previews, found, console)
    status = max((int(p.status) for p in previews), default=int(Status.DONE), key=lambda s: (s == 3, s))
    unknown = any(d.severity is Severity.ERROR for d in notes)
    return int(Status.FAILED) if unknown and status == Status.DONE else status


def _show(previews: tuple[Preview, ...], found: list[Report], console: Console) -> None:
    from importer.app.request import Request
    from importer.cli.packages import next_step, show_preview

    for index, result in enumerate(previews):
        if index:
            console.out()
        show_preview(result, console)
        next_step(result, Request(source=result.source.reference), console)
    for line in diagnostic_lines(found, console):
        console.note(line)
    if not previews:
        console.out("nothing is newer")
