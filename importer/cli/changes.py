"""`importer remove`, `rollback`, `history` and `doctor`."""

from __future__ import annotations

import sys
from typing import Any

import click

from importer.cli.console import Console, size_text
from importer.cli.human import diagnostic_lines
from importer.cli.options import budget_option, common
from importer.diagnostics import shown

Report = dict[str, Any]
KINDS = ("skill", "specialist", "plugin", "connector")


@click.command()
@click.argument("kind", metavar="KIND|TOKEN")
@click.argument("name", required=False)
@click.option(
    "--with-skills",
    "with_skills",
    multiple=True,
    metavar="NAME|all",
    help="With a specialist: also these of its skills, or all that nothing protects. Repeatable.",
)
@click.option("--yes", "-y", is_flag=True, help="Remove without asking.")
@common
@click.pass_obj
def remove(console: Console, /, kind: str, name: str | None, with_skills: tuple[str, ...], yes: bool) -> int:
    """Show what removing something would take away, ask, and move it to the trash.

    KIND is skill, specialist or connector; only what the importer installed is removed. Without a terminal and without
    --yes nothing is changed: the preview's TOKEN does it later (importer remove TOKEN).
    """
    from importer.app import changing
    from importer.app.errors import ImporterError, Status
    from importer.app.session import Session
    from importer.tokens import is_token

    wanted = [part for text in with_skills for part in text.split(",") if part]
    with Session(console.settings()) as session:
        console.notices(session.notices)
        if name is None:
            if not is_token(kind):
                raise click.UsageError(f"expected KIND NAME, or a token; KIND is one of: {', '.join(KINDS)}")
            _removed(changing.remove_token(session, kind), console)
            return 0
        if kind not in KINDS:
            raise click.UsageError(f"no kind {shown(kind, 40)!r}; there are: {', '.join(KINDS)}")
        if wanted and kind != "specialist":
            raise click.UsageError("--with-skills goes with a specialist")
        plan = changing.plan_removal(session, kind, name, wanted)
        if plan.refusals:
            first = plan.refusals[0]
            raise ImporterError(first.code, f"nothing was removed: {first.message}", Status.REFUSED, plan.refusals)
        if yes:
            _removed(changing.remove(session, plan), console)
            return 0
        asking = not console.json and sys.stdin.isatty() and sys.stderr.isatty()
        held = None if asking else changing.hold_removal(session, plan)
        report: Report = changing.removal_report(plan, held)
        if console.json:
            console.report(report)
            return 0
        for line in _plan_lines(report, console):
            (console.fail if asking else console.out)(line)
        if asking:
            from importer.cli.asking import consent

            consent("Remove this? It goes to the trash", "removed")
            _removed(changing.remove(session, plan), console)
        elif held is not None:
            console.out("")
            console.out("Nothing was removed yet. To remove exactly this, within 10 minutes:")
            console.out("  " + console.command("remove", held[0]))
    return 0


def _plan_lines(report: Report, console: Console) -> list[str]:
    lines: list[str] = []
    for item in report["items"]:
        lines.append(f"  remove    {item['kind']} {shown(item['name'])} {shown(item['version'] or '', 40)}".rstrip())
        if item["edited"]:
            edited = ", ".join(shown(path, 80) for path in item["edited"][:5])
            lines += console.wrapped(f"edited since it was installed: {edited}; goes to the trash as it is", " " * 12)
        if item["kept"]:
            kept = ", ".join(shown(path, 80) for path in item["kept"][:5])
            lines += console.wrapped(f"your own files stay where they are: {kept}", " " * 12)
    lines += [f"  keep      skill {shown(name)} (becomes standalone)" for name in report["released"]]
    return lines + diagnostic_lines(report["diagnostics"], console)


def _removed(report: Report, console: Console) -> None:
    if console.json:
        console.report(report)
        return
    for item in report["removed"]:
        console.out(f"{console.style('removed  ', fg='yellow')} {item['kind']} {shown(item['name'])}")
    for item in report["released"]:
        console.out(f"kept      {item['kind']} {shown(item['name'])} (standalone now)")
    for item in report["kept"]:
        console.out(f"kept      {shown(item['path'], 200)} of {shown(item['name'])} (your own)")
    console.out(f"transaction {report['transaction']}")


@click.command()
@click.argument("transaction", metavar="ID")
@click.option("--yes", "-y", is_flag=True, help="Accepted and without effect: naming the transaction is the consent.")
@common
@click.pass_obj
def rollback(console: Console, /, transaction: str, yes: bool) -> int:  # noqa: ARG001, RUF100
    """Bring back what a transaction replaced, overwrote or removed; `importer history` lists them."""
    from importer.app import changing
    from importer.app.session import Session

    with Session(console.settings()) as session:
        console.notices(session.notices)
        report: Report = changing.rollback(session, transaction)
    if console.json:
        console.report(report)
        return 0
    for word, key in (("restored ", "restored"), ("removed  ", "removed")):
        for item in report[key]:
            console.out(f"{console.style(word, fg='yellow')} {item['kind']} {shown(item['name'])}")
    console.out(f"transaction {report['transaction']}")
    return 0


@click.command()
@click.option("--prune", is_flag=True, help="Hold the trash to its budget: what is older or more goes for good.")
@budget_option
@common
@click.pass_obj
def history(console: Console, /, prune: bool) -> int:
    """List every transaction: when, from where, what it did, whether it can be rolled back."""
    from importer.app import changing
    from importer.app.session import Session

    with Session(console.settings()) as session:
        console.notices(session.notices)
        report: Report = changing.prune(session) if prune else changing.history(session)
    if console.json:
        console.report(report)
    elif prune:
        count = len(report["pruned"])
        console.out(f"{count} removed for good, {size_text(report['bytes'])}; {size_text(report['left_bytes'])} stay")
    elif not report["transactions"]:
        console.out("nothing has happened yet")
    else:
        for past in report["transactions"]:
            _past(past, console)
    return 0


def _past(past: Report, console: Console) -> None:
    source = f" from {shown(past['source']['reference'], 200)}" if past["source"] else ""
    undone = f", undone by {past['undone_by']}" if past["undone_by"] else ""
    undoes = f" of {past['undoes']}" if past["undoes"] else ""
    console.out(
        f"{console.style(past['id'], bold=True)}  {past['at']}  {shown(past['command'])}{undoes}{source}{undone}"
    )
    for change in past["changes"]:
        console.out(f"    {change['action']:<9} {change['kind']} {shown(change['name'])}")


@click.command()
@click.argument("config", metavar="[FILE]", required=False)
@click.option("--client", metavar="ID", help="Look at this client's configuration instead; nothing is changed.")
@click.option("--file", "file", metavar="FILE", help="The same as FILE.")
@common
@click.pass_obj
def doctor(console: Console, /, config: str | None, client: str | None, file: str | None) -> int:
    """Explain the state of the library and repair what is provable; exit 6 where something needs attention.

    What cannot be read is moved to the trash, unchanged, with the reason. With --client ID: report what that client
    would reject or ignore in its configuration, or in FILE instead of its default place.
    """
    from importer.app import changing
    from importer.app.session import Session

    if file is not None and config is not None:
        raise click.UsageError("FILE and --file exclude each other")
    file = config if file is None else file
    if file is not None and client is None:
        raise click.UsageError("a file goes with --client ID: whose configuration is it?")
    report: Report
    if client is not None:
        from importer.app.clients import check_client

        report, status = check_client(client, file)
        place = shown(report["file"], 400)
    else:
        with Session(console.settings(), check=False) as session:
            report, status = changing.doctor(session)
        place = shown(report["library"], 400)
    if console.json:
        console.report(report)
        return int(status)
    said = [d for d in report["diagnostics"] if d["code"] != "doctor-well"]
    for line in diagnostic_lines(said, console):
        console.out(line)
    console.out(f"{place}: {'all is well' if report['healthy'] else 'see above'}")
    return int(status)
