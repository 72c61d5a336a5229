"""`importer preview` and `importer install`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from importer.cli.console import Console
from importer.cli.options import parse_allowed, parse_choices, selection
from importer.cli.progress import clear_progress
from importer.diagnostics import shown

if TYPE_CHECKING:
    from importer.app.request import Request
    from importer.app.results import Installation, Preview
    from importer.app.session import Session
    from importer.model import Plan

CHOICES_SHOWN = 4
"""With more conflicts than this a command line that answers them all is no help to read."""


@click.command()
@click.argument("source")
@selection
@click.option("--yes", "-y", is_flag=True, help="Accepted and without effect: a preview asks nothing.")
@click.pass_obj
def preview(console: Console, /, source: str, yes: bool, **options: Any) -> int:  # noqa: ARG001, RUF100
    """Show what SOURCE is and what an install would do; change nothing.

    SOURCE is an archive (.zip, .skill, .tar, .tar.gz), a folder, a Markdown file, a connector or client configuration
    (JSON), or a GitHub reference such as OWNER/REPO.
    """
    from importer.app.previewing import preview as make_preview
    from importer.app.session import Session

    request = _request(source, options)
    with Session(console.settings()) as session:
        console.notices(session.notices)
        result = make_preview(session, request)
    clear_progress()
    if console.json:
        console.report(result.to_json())
    else:
        show_preview(result, console)
        next_step(result, request, console)
    return int(result.status)


@click.command()
@click.argument("source", metavar="TOKEN|SOURCE")
@selection
@click.option("--yes", "-y", is_flag=True, help="Install without asking. Never answers a conflict or an overwrite.")
@click.option("--expect", metavar="PLAN_DIGEST", help="Install only what a preview with this plan digest showed.")
@click.pass_obj
def install(console: Console, /, source: str, yes: bool, expect: str | None, **options: Any) -> int:
    """Install what a preview showed (TOKEN), or preview SOURCE, ask, and install it.

    The whole plan is applied, or nothing. Without a terminal SOURCE needs --yes or --expect.
    """
    from importer.app.installing import install_token
    from importer.app.session import Session
    from importer.tokens import is_token

    request = _request(source, options)
    with Session(console.settings()) as session:
        console.notices(session.notices)
        if is_token(source):
            done = install_token(session, source, request, expect=expect)
        else:
            done = _install_source(session, request, yes, expect, console)
    clear_progress()
    if console.json:
        console.report(done.to_json())
    else:
        show_installation(done, console)
    return 0


def _install_source(
    session: Session, request: Request, yes: bool, expect: str | None, console: Console
) -> Installation:
    from importer.app.installing import give_up
    from importer.app.previewing import preview as make_preview

    result = make_preview(session, request, told=False)
    clear_progress()
    try:
        return _install_shown(session, result, request, yes, expect, console)
    except BaseException:
        # Also Ctrl-C at a question: nobody was told the token, so nobody can come back with it.
        give_up(session, result)
        raise


def _install_shown(
    session: Session, result: Preview, request: Request, yes: bool, expect: str | None, console: Console
) -> Installation:
    from importer.app.installing import install_preview, require_decided

    asking = not console.json and not yes and expect is None and sys.stdin.isatty() and sys.stderr.isatty()
    if not console.json and not (console.quiet and yes):
        show_preview(result, console, stream_to_stderr=True)
    choices = request.choices
    if asking and result.plan is not None and result.token is not None:
        from importer.cli.asking import ask

        choices = ask(result, choices, console)
    elif not asking:
        require_decided(result, yes=yes, expect=expect)
    return install_preview(session, result, choices, expect=expect)


def _request(source: str, options: dict[str, Any]) -> Request:
    from importer.app.request import Request
    from importer.model import Choice, Choices

    answers = {name: Choice(answer) for name, answer in parse_choices(options["chosen"]).items()}
    return Request(
        source=source,
        skills=options["skills"],
        connectors=options["connectors"],
        ref=options["ref"],
        choices=Choices(
            by_name=answers,
            confirm_overwrite=options["confirm_overwrite"],
            allowed=parse_allowed(options["allowed"]),
        ),
        keep_going=options["keep_going"],
        name_encoding=options["name_encoding"],
        no_cache=options["no_cache"],
    )


def show_preview(result: Preview, console: Console, *, stream_to_stderr: bool = False) -> None:
    """Print a preview; an install prints it on stderr, since its result is what was installed."""
    from importer.cli.human import preview_lines

    for line in preview_lines(result.to_json(), console):
        if stream_to_stderr:
            sys.stderr.write(line + "\n")
        else:
            console.out(line)


def show_installation(done: Installation, console: Console) -> None:
    """Print what an install did."""
    words = (
        ("installed", done.installed, "green"),
        ("replaced", done.replaced, "yellow"),
        ("kept", done.reused, "blue"),
        ("left out", done.skipped, "red"),
    )
    for word, items, colour in words:
        for item in items:
            reason = f"  ({shown(item.reason)})" if item.reason and word in {"kept", "left out"} else ""
            console.out(f"{console.style(f'{word:<9}', fg=colour)} {item.kind} {shown(item.name)}{reason}")
    console.out(f"transaction {done.transaction}")


def next_step(result: Preview, request: Request, console: Console) -> None:
    """Say what to type next, so that nobody has to put it together."""
    from importer.app.errors import Status
    from importer.app.installing import asked_args, good_part

    console.out()
    plan = result.plan
    if result.status is Status.REFUSED:
        if good_part(result) and not request.keep_going:
            console.out(f"{good_part(result)}:")
            console.out("  " + console.command("install", request.source, "--keep-going", *_again(request, console)))
        return
    if result.selection_needed:
        console.out("Choose with --skill NAME, repeated; nothing was changed.")
        return
    if plan is not None and asked_args(plan):
        console.out("Nothing was changed. Look at what may be a credential; if it is none, preview again with:")
        vouched = [word for ask in asked_args(plan) for word in ("--allow-arg", ask)]
        console.out("  " + console.command("preview", request.source, *vouched, *_again(request, console)))
        return
    if result.token is None:
        console.out("Nothing was changed. There is no token, since the library cannot be written.")
        return
    if plan is not None and _nothing_to_do(plan):
        console.out("Nothing would change: everything in it is installed already.")
        return
    console.out("Nothing was changed yet. To install exactly this, within 10 minutes:")
    for words in _ways(plan, result.token):
        console.out("  " + console.command(*words))
    if plan is not None and len(plan.choices_needed) > CHOICES_SHOWN:
        console.out(
            f"with --choose NAME=installed or --choose NAME=incoming for each of the {len(plan.choices_needed):,} "
            "conflicts,"
        )
        console.out("and --confirm-overwrite where one is incoming.")
    if plan is not None and console.verbose:
        console.out(f"plan {plan.digest}")


def _ways(plan: Plan | None, token: str) -> list[list[str]]:
    """Return the command lines that go on from a preview: one, or one for each answer to its conflicts."""
    words = ["install", token]
    confirm = ["--confirm-overwrite"] if plan is not None and plan.confirm_needed else []
    names = plan.choices_needed if plan is not None else ()
    if not names or len(names) > CHOICES_SHOWN:
        return [words + confirm]
    keep = [word for name in names for word in ("--choose", f"{name}=installed")]
    take = [word for name in names for word in ("--choose", f"{name}=incoming")]
    return [[*words, *keep, *confirm], [*words, *take, "--confirm-overwrite"]]


def _nothing_to_do(plan: Plan) -> bool:
    from importer.model import Disposition

    dispositions = {item.disposition for item in plan.skills} | {item.disposition for item in plan.connectors}
    if plan.specialist is not None:
        dispositions.add(plan.specialist.disposition)
    return dispositions == {Disposition.REUSE}


def _again(request: Request, console: Console) -> list[str]:
    """Return the options that this run was given, to be given again."""
    words = [word for name in request.skills for word in ("--skill", name)]
    words += [word for name in request.connectors for word in ("--connector", name)]
    words += ["--ref", request.ref] if request.ref else []
    words += [word for name, choice in request.choices.by_name.items() for word in ("--choose", f"{name}={choice}")]
    words += ["--confirm-overwrite"] if request.choices.confirm_overwrite else []
    words += [word for item in sorted(request.choices.allowed) for word in ("--allow-arg", item)]
    words += [word for change in console.budgets for word in ("--budget", change)]
    words += ["--name-encoding", request.name_encoding] if request.name_encoding else []
    return words
