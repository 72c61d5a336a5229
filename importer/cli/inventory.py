"""`importer list`, `importer show` and `importer verify`."""

from __future__ import annotations

from typing import Any

import click

from importer.cli.console import Console, count_text, size_text
from importer.cli.options import common
from importer.diagnostics import shown

Report = dict[str, Any]
DIFFERENCES = (
    ("modified", "modified"),
    ("missing", "missing"),
    ("extra", "not installed by us"),
    ("executable", "executable bit differs"),
)


@click.command("list")
@common
@click.pass_obj
def list_packages(console: Console, /) -> int:
    """List what the library holds, what nobody imported included."""
    from importer.app.inventory import SECTIONS, listing
    from importer.app.session import Session

    with Session(console.settings()) as session:
        console.notices(session.notices)
        report = listing(session)
        root = session.library.root
    if console.json:
        console.report(report)
        return 0
    empty = True
    for section in SECTIONS.values():
        items: Any = report[section]
        if items:
            empty = False
            console.out(console.style(section, bold=True))
            for item in items:
                console.out(_line(item, console))
    if empty:
        console.out(f"{shown(root, 400)} holds nothing yet")
    return 0


def _line(item: Report, console: Console) -> str:
    title = shown(str(item.get("id") or item["name"]))
    if item.get("id") and item.get("name"):
        title += f" ({shown(item['name'])})"
    words = [shown(item["version"], 40)] if item["version"] else []
    if not item["managed"]:
        words.append("not imported")
    if not item["present"]:
        words.append("missing on disk")
    if item.get("revision"):
        words.append(f"revision {item['revision']}")
    if item.get("users"):
        words.append("used by " + ", ".join(shown(user, 60) for user in item["users"]))
    if item.get("link"):
        words.append(f"a link to {shown(item['link'], 200)}")
    if item["origin"] and console.verbose:
        words.append(f"from {shown(item['origin']['reference'], 300)}")
    return f"  {title:<32} {', '.join(words)}".rstrip()


@click.command()
@click.argument("name")
@common
@click.pass_obj
def show(console: Console, /, name: str) -> int:
    """Show everything that is known of NAME: its files, its origin, who uses it, what was edited.

    NAME may be skill:NAME, specialist:NAME or connector:NAME where several have it.
    """
    from importer.app.inventory import showing
    from importer.app.session import Session

    with Session(console.settings()) as session:
        console.notices(session.notices)
        report = showing(session, name)
    if console.json:
        console.report(report)
        return 0
    items: Any = report["items"]
    for index, item in enumerate(items):
        if index:
            console.out()
        for line in _show_lines(item, console):
            console.out(line)
    return 0


def _show_lines(item: Report, console: Console) -> list[str]:
    title = f"{item['kind']} {shown(str(item.get('id') or item['name']))}"
    lines = [console.style(title, bold=True)]
    facts = [
        ("name", item["name"] if item.get("id") else None),
        ("version", item["version"]),
        ("digest", item["digest_now"]),
        ("recorded", item["digest"] if item["digest"] != item["digest_now"] else None),
        ("revision", item.get("revision")),
        ("enabled", item.get("enabled")),
        ("installed", item["installed_at"] if item["managed"] else "not by the importer"),
        ("from", item["origin"]["reference"] if item["origin"] else None),
        *(item["origin"]["resolved"].items() if item["origin"] else ()),
        ("transaction", item["transaction"]),
        ("owned by", ", ".join(item.get("owners", []))),
        ("used by", ", ".join(item.get("users", []))),
        ("link to", item.get("link")),
    ]
    lines += [f"  {label:<14} {shown(str(value), 400)}" for label, value in facts if value not in (None, "")]
    for key, value in item.get("details", {}).items():
        if value not in (None, "", []):
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            lines += console.wrapped(f"{key.replace('_', ' '):<14} {shown(text, 400)}", " " * 17, "  ")
    lines += _difference_lines(item)
    total = sum(file["bytes"] for file in item["files"])
    lines.append(f"  {count_text(len(item['files']), 'file')}, {size_text(total)}")
    lines += [f"    {'x' if file['executable'] else ' '} {shown(file['path'], 400)}" for file in item["files"]]
    return lines


def _difference_lines(item: Report) -> list[str]:
    return [f"  {label:<23} {shown(path, 400)}" for key, label in DIFFERENCES for path in item[key]]


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@common
@click.pass_obj
def verify(console: Console, /, names: tuple[str, ...]) -> int:
    """Hash everything again and compare it with the record; exit 6 where anything differs."""
    from importer.app.inventory import verifying
    from importer.app.session import Session

    with Session(console.settings()) as session:
        console.notices(session.notices)
        report, status = verifying(session, names)
    if console.json:
        console.report(report)
        return int(status)
    items: Any = report["items"]
    for item in items:
        state = "ok" if item["ok"] else "differs"
        if not item["managed"]:
            state = "not imported: nothing to compare with"
        word = console.style(state, fg="green" if item["ok"] else "red")
        console.out(f"  {item['kind']} {shown(item['name'])}: {word}")
        for line in _difference_lines(item):
            console.out("  " + line)
    differing = sum(not item["ok"] for item in items)
    if differing:
        console.out(f"{differing} of {count_text(len(items), 'item')} differ from what was installed")
    else:
        console.out(f"{count_text(len(items), 'item')} verified")
    return int(status)
