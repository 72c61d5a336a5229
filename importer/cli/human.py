"""The view for people. It renders the same reports that `--json` prints, so neither view knows more than the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from importer.cli.console import STYLES, count_text, size_text
from importer.diagnostics import shown

if TYPE_CHECKING:
    from importer.cli.console import Console

Report = dict[str, Any]

TITLES = (("error", "Errors"), ("warning", "Warnings"), ("info", "Notes"))
_ANSWERS = (("choose:", "installed"), ("    or:", "incoming"))
COLOURS = {"install": "green", "reuse": "blue", "conflict": "red", "replace": "yellow"}


def preview_lines(report: Report, console: Console) -> list[str]:
    """Return a preview as lines: what it is, each item with its disposition and reason, then every finding."""
    lines = [_headline(report, console)]
    description = report["package"].get("description")
    if description and report["package"]["kind"] in {"specialist", "plugin"}:
        lines += console.wrapped(shown(description, 400), "  ")
    if report["specialist"]:
        lines += ["", *_specialist_lines(report["specialist"], console)]
    if report["skills"] or report["connectors"] or report["left_out"]:
        lines.append("")
    for skill in report["skills"]:
        lines += _skill_lines(skill, console)
    for connector in report["connectors"]:
        lines += _connector_lines(connector, console)
    for item in report["left_out"]:
        reasons = ", ".join(item["codes"]) or item["reason"]
        lines += _item_lines("left out", shown(item["name"]), reasons, "", console, "red")
    lines += diagnostic_lines(report["diagnostics"], console)
    changed = [usage for usage in report["budgets"] if usage["changed"]]
    if changed:
        lines += ["", "Budgets that are not the default ones:"]
        lines += [
            f"  {u['profile']}.{u['limit']}: at most {u['max']:,} {u['unit']}, used {u['used']:,}" for u in changed
        ]
    if console.verbose:
        lines += _verbose_lines(report, console)
    return lines


def _headline(report: Report, console: Console) -> str:
    package, source = report["package"], report["source"]
    kind = package["kind"] or "not recognised"
    label = shown(package.get("display_name") or package.get("name") or package.get("id") or "")
    version = f" {shown(package['version'])}" if package.get("version") else ""
    title = f"{kind} {label}{version}".strip() if kind in {"specialist", "plugin", "skill"} else kind
    pinned = source["resolved"].get("commit")
    at = f" at {pinned[:12]}" if pinned else ""
    return f"{console.style(title, bold=True)} from {shown(source['reference'], 300)}{at} ({source['kind']})"


def _item_lines(
    disposition: str, title: str, reason: str, detail: str, console: Console, colour: str | None = None
) -> list[str]:
    word = console.style(f"{disposition:<9}", fg=colour or COLOURS.get(disposition))
    head = f"  {word} {title}"
    plain = f"  {disposition:<9} {title}"
    tail = f"{reason}" + (f"  {detail}" if detail else "")
    if len(plain) < 44:
        head += " " * (44 - len(plain))
    if max(44, len(plain)) + 1 + len(tail) <= console.width:
        return [f"{head} {tail}"]
    return [head.rstrip(), *console.wrapped(tail, " " * 12)]


def _skill_lines(skill: Report, console: Console) -> list[str]:
    detail = f"{count_text(skill['files'], 'file')}, {size_text(skill['bytes'])}"
    title = f"{shown(skill['name'])} {shown(skill['version'], 40)}"
    reason = _reason(skill)
    lines = _item_lines(skill["disposition"], title, reason, detail, console)
    if skill["description"]:
        lines += console.wrapped(shown(skill["description"], 160), " " * 12)
    if skill["executables"]:
        lines += console.wrapped(f"runs: {_names(skill['executables'])}", " " * 12)
    lines += _difference_lines(skill, skill["name"], console)
    return lines


def _connector_lines(connector: Report, console: Console) -> list[str]:
    title = f"{shown(connector['name'])} (connector)"
    lines = _item_lines(connector["disposition"], title, _reason(connector), connector["transport"], console)
    lines += console.wrapped(shown(connector["summary"], 300), " " * 12)
    if connector["secrets"]:
        lines += console.wrapped(f"to be entered again: {_names(connector['secrets'], 64)}", " " * 12)
    for ask in connector["asks"] if connector["reason"] != "identical" else ():
        index = ask.removeprefix("args[").rstrip("]")
        lines.append(f"            if {shown(ask)} is no secret: --allow-arg {shown(connector['name'])}:{index}")
    lines += _difference_lines(connector, connector["name"], console)
    return lines


def _reason(item: Report) -> str:
    reason = str(item["reason"])
    installed = item["installed"] or {}
    if reason != "differs":
        return reason
    relation = installed.get("relation")
    if installed.get("only_modes_differ"):
        return "differs: only in executable bits"
    if relation in {"newer", "older"}:
        return f"differs: {relation} than the installed {shown(installed.get('version') or '?', 40)}"
    return "differs: same version, other content" if relation == "same" else "differs"


def _difference_lines(item: Report, name: str, console: Console) -> list[str]:
    installed = item["installed"] or {}
    said: list[str] = []
    if item["disposition"] in {"conflict", "replace"}:
        if installed.get("edited"):
            touched = [*installed.get("modified", []), *installed.get("missing", []), *installed.get("extra", [])]
            said.append(
                "the installed one was edited since it was imported" + (f" ({_names(touched)})" if touched else "")
            )
        if not installed.get("managed", True):
            said.append("the installed one was not imported: it is your own or another tool's")
        elif installed.get("origin") == "other":
            said.append("the installed one came from " + shown(installed.get("from") or "elsewhere", 300))
        if installed.get("users"):
            said.append(f"used by {_names(installed['users'])}")
    lines = [line for text in said for line in console.wrapped(text, " " * 12)]
    if item["disposition"] == "conflict":
        lines += [f"            {word} --choose {shown(name)}={answer}" for word, answer in _ANSWERS]
    if item["disposition"] == "replace":
        lines += console.wrapped("what is replaced goes to the trash and can be brought back", " " * 12)
    return lines


def _specialist_lines(specialist: Report, console: Console) -> list[str]:
    title = f"{shown(specialist['name'])} ({shown(specialist['id'])}) {shown(specialist['version'], 40)}"
    disposition = "overwrite" if specialist["disposition"] == "replace" else specialist["disposition"]
    lines = _item_lines(
        disposition, title, specialist["reason"], "specialist", console, COLOURS[specialist["disposition"]]
    )
    prompt = specialist["system_prompt"]
    lines += console.wrapped(
        f"instructions: {len(prompt):,} characters: {shown(' '.join(prompt.split()), 150)}", " " * 12
    )
    if specialist["releases"]:
        lines += console.wrapped(f"no longer owns: {_names(specialist['releases'])}", " " * 12)
    return lines


def _names(names: Iterable[str], limit: int = 5) -> str:
    every = [shown(name, 80) for name in names]
    more = f" and {len(every) - limit} more" if len(every) > limit else ""
    return ", ".join(every[:limit]) + more


def diagnostic_lines(diagnostics: list[Report], console: Console) -> list[str]:
    """Return findings by severity, errors first; each with its place, its code and its message."""
    lines: list[str] = []
    for severity, title in TITLES:
        chosen = [d for d in diagnostics if d["severity"] == severity]
        if not chosen:
            continue
        lines += ["", console.style(title, fg=STYLES[severity], bold=True)]
        for diagnostic in chosen:
            place, line = diagnostic["path"], diagnostic["line"]
            if line:
                # "manifest.json: id" names a field; a number right behind it would read as its value.
                place = f"line {line}" if not place else place + (f" (line {line})" if ": " in place else f":{line}")
            lines.append(f"  {diagnostic['code']}" + (f"  {place}" if place else ""))
            lines += console.wrapped(diagnostic["message"], "      ")
    return lines


def _verbose_lines(report: Report, console: Console) -> list[str]:
    lines = ["", "Budgets (used of at most):"]
    lines += [f"  {u['profile']}.{u['limit']}: {u['used']:,} of {u['max']:,} {u['unit']}" for u in report["budgets"]]
    for skill in report["skills"]:
        lines += ["", f"{shown(skill['name'])}: {skill['digest']}"]
        if skill["text"] is not None:
            lines += [f"  | {shown(line, 2000)}" for line in skill["text"].splitlines()]
    return lines
