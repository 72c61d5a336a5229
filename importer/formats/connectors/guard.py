"""What a connector may not carry, and what is worth a look: credentials, placeholders, paths of one machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from importer.formats.connectors.draft import named
from importer.formats.connectors.rules import ENVIRONMENT, HEADERS, MAX_ARGS, MAX_SECRETS
from importer.secrets import Finding, Level, is_path, scan_command_line, scan_text, scan_url

if TYPE_CHECKING:
    from importer.diagnostics import Fact
    from importer.formats.connectors.draft import Draft, Report

SECRET = "connector-secret-embedded"  # noqa: S105  # a code
_VARIABLE = re.compile(r"\$\{[^{}]*\}|\{\{[^{}]*\}\}|%[A-Za-z_][A-Za-z0-9_]*%|^<[^<>]+>$")
_VALUE = re.compile(r"--?[A-Za-z][\w.-]*=(.*)", re.DOTALL)
_MEND = {
    "args": (
        "a connector keeps no secret. Take it out of args and have the program read an environment variable, whose "
        "name belongs in required_secrets.environment (in a client's configuration: env)"
    ),
    "url": (
        "a connector keeps no secret, and no placeholder where one goes. Take it out of the URL and send it as a "
        "header named in required_secrets.headers, or give it to a stdio server as an environment secret"
    ),
    "": "a connector keeps no secret. Take it out, and name it in required_secrets",
}


def check(draft: Draft, report: Report, allowed: frozenset[str]) -> tuple[str, ...]:
    """Say every credential, placeholder and local path of a draft.

    Args:
        draft: the values.
        report: takes what is found.
        allowed: `NAME:INDEX` of arguments (`NAME:url`, `NAME:command`) that a person vouched for.

    Returns: the fields that a person has to look at, as `args[3]`.
    """
    found = _search(draft)
    asks: list[str] = []
    marked: set[str] = set()
    for each in found:
        where = each.field
        marked.add(each.field)
        facts: dict[str, Fact] = {"rule": each.rule, "where": each.where, "start": each.start, "length": each.length}
        if each.level is Level.CERTAIN:
            mend = _MEND.get(each.field.partition("[")[0], _MEND[""])
            report.error(SECRET, where, f"holds a credential ({each.told()}): {mend}", level="certain", **facts)
        elif each.level is Level.LIKELY:
            _ask(each, draft, report, allowed, asks)
        else:
            report.warn(
                "connector-placeholder",
                where,
                f"holds a placeholder where a credential goes ({each.rule}); it is kept as it is and nothing fills "
                "it in: have the program read an environment variable instead",
                **facts,
            )
    _places(draft, report, marked)
    return tuple(dict.fromkeys(asks))


def _search(draft: Draft) -> list[Finding]:
    found = scan_command_line(draft.command, draft.args[:MAX_ARGS])
    if draft.url:
        found += scan_url(draft.url)
    for field in ("name", "display_name", "description"):
        found += scan_text(getattr(draft, field), field)
    for where, names in ((ENVIRONMENT, draft.environment), (HEADERS, draft.headers)):
        for number, name in enumerate(names[:MAX_SECRETS]):
            found += scan_text(name, f"{where}[{number}]")
    for key, value in (draft.oauth or {}).items():
        if key.endswith(("_url", "_uri")) and isinstance(value, str):
            found += scan_url(value, f"oauth.{key}", remote=False)
        else:
            found += scan_text(value if isinstance(value, str) else " ".join(value), f"oauth.{key}")
    return found


def _ask(each: Finding, draft: Draft, report: Report, allowed: frozenset[str], asks: list[str]) -> None:
    which = str(each.index) if each.index is not None else each.field
    option = f"{draft.name}:{which}"
    vouched = next((name for name in (option, f"{draft.stated_name}:{which}") if name in allowed), "")
    if vouched:
        said = f"kept, as --allow-arg vouches for it ({each.told()})"
        report.info("connector-arg-allowed", each.field, said, option=vouched)
        return
    asks.append(each.field)
    report.warn(
        SECRET,
        each.field,
        f"looks like a credential ({each.told()}): if it is one, take it out and name it in "
        f"required_secrets; if it is none, --allow-arg {option} keeps it",
        level="likely",
        option=f"--allow-arg {option}",
        rule=each.rule,
        where=each.where,
        start=each.start,
        length=each.length,
    )


def _places(draft: Draft, report: Report, marked: set[str]) -> None:
    fields = [("command", draft.command), *((f"args[{n}]", arg) for n, arg in enumerate(draft.args[:MAX_ARGS]))]
    for field, text in fields:
        own = _VALUE.fullmatch(text)
        if is_path(own.group(1) if own else text):
            report.warn(
                "connector-local-path",
                field,
                "a path of the machine that it was written on; check it on the one it goes to",
            )
    for field, text in [*fields, ("url", draft.url)]:
        if field not in marked and _VARIABLE.search(text):
            report.warn(
                "connector-placeholder",
                field,
                "it holds a placeholder, which is kept as it is: some clients fill it in, others pass it on literally",
            )
    program = re.split(r"[/\\]", draft.command)[-1].lower().removesuffix(".cmd")
    if program == "npx" and not {"-y", "--yes", "-yes"} & set(draft.args):
        report.warn(
            "connector-npx-asks", "args", "npx without -y waits for an answer that nobody gives; add -y in front"
        )


def summary(draft: Draft, asks: tuple[str, ...]) -> str:
    """Return what the connector starts or reaches, with nothing in it that may be a credential."""
    if draft.url:
        return "(an address that needs a look)" if "url" in asks else named(draft.url, 400)
    shown_args = [
        f"(args[{number}])" if f"args[{number}]" in asks else named(arg, 80) for number, arg in enumerate(draft.args)
    ]
    command = "(command)" if "command" in asks else named(draft.command, 120)
    return named(" ".join([command, *shown_args]), 400)
