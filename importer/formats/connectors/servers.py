"""One server of a client's configuration becomes a template: names are kept, values are dropped, and each is said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from importer.formats.connectors.draft import Draft, Report, named
from importer.formats.connectors.naming import is_name, slug
from importer.formats.connectors.recognise import ADDRESSES, TRANSPORT_KEYS
from importer.formats.connectors.rules import (
    ENVIRONMENT,
    HEADERS,
    INVALID,
    MAX_ARGS,
    MAX_DISPLAY_NAME,
    MAX_SECRETS,
    TRANSPORTS,
)
from importer.formats.connectors.template import kind_of_value
from importer.formats.phrases import listed
from importer.secrets import Strength, strength

if TYPE_CHECKING:
    from importer.jsontext import Member, Node

# Every spelling that clients write, without its capitals, hyphens and underscores; "" leaves it to the address.
_SPELLINGS = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "streamable_http",
    "https": "streamable_http",
    "streamablehttp": "streamable_http",
    "streaminghttp": "streamable_http",
    "httpstream": "streamable_http",
    "httpstreaming": "streamable_http",
    "sse": "sse",
    "remote": "",
}
_KNOWN = frozenset(
    {"command", "args", "env", "headers", "http_headers", "env_http_headers", "env_vars", "bearer_token"}
    | {"bearer_token_env_var", *ADDRESSES, *TRANSPORT_KEYS}
)
_WHY = {
    "cwd": "a connector has no working folder; the client starts the program in its own",
    "disabled": "whether it is switched on is the client's to keep",
    "enabled": "whether it is switched on is the client's to keep",
    "timeout": "a time limit is the client's to keep",
    "envFile": "the file is not read; name its variables in env",
    "oauth": "how to sign in is not taken over; a template has its own oauth",
    "auth": "how to sign in is not taken over; a template has its own oauth",
}
_MAX_KEYS = 20


def read_server(member_name: str, node: Node, report: Report, *, single: bool = False) -> Draft:
    """Read one entry of a configuration.

    Args:
        member_name: the name of the entry, as written.
        node: its value.
        report: takes what is found.
        single: whether the entry is a whole document, which may say its `name` itself.

    Returns: the draft; what is missing or wrong stands in `report`.
    """
    draft = Draft(stated_name=member_name)
    draft.name = member_name if is_name(member_name) else slug(member_name)
    draft.display_name = _display_name(member_name, draft.name)
    report.name = named(draft.name)
    if draft.name != member_name:
        report.info(
            "connector-name-changed",
            "",
            f"the name cannot be used as it is; the connector is called {draft.name}, and its display name is kept",
            name=draft.name,
        )
    if node.members is None:
        report.error(INVALID, "", f"expected an object with command or url, found {kind_of_value(node)}")
        return draft
    fields = {member.key: member for member in node.members}
    for key, member in fields.items():
        report.place(named(key), member.key_start)
    draft.transport = _transport(fields, draft, report)
    _process(fields, draft, report)
    _environment(fields, draft, report)
    _headers(fields, draft, report)
    ignored = {"name", "$schema"} if single else set()
    _say_unknown([member for key, member in fields.items() if key not in _KNOWN | ignored], report)
    return draft


def _display_name(stated: str, name: str) -> str:
    plain = "".join(character if character.isprintable() else " " for character in stated[: 2 * MAX_DISPLAY_NAME])
    return plain.strip()[:MAX_DISPLAY_NAME] or name


def _transport(fields: dict[str, Member], draft: Draft, report: Report) -> str:
    """Return the transport, stated or inferred; "" where neither works."""
    _url(fields, draft, report)
    both = bool(draft.url) and "command" in fields
    if both and fields["command"].value.scalar == "":
        report.warn("connector-key-ignored", "command", "it is empty beside a url, and is left out")
        both = False
        del fields["command"]
    if "command" in fields:
        draft.present.add("command")
    for key in TRANSPORT_KEYS:
        stated = fields[key].value if key in fields else None
        if stated is None or stated.scalar is None:
            continue
        if not isinstance(stated.scalar, str):
            report.error(INVALID, key, f"expected text, found {kind_of_value(stated)}")
            return ""
        spelling = re.sub("[^a-z]", "", stated.scalar.lower())
        if spelling not in _SPELLINGS:
            # What is no plain word may be a value in the wrong place.
            plain = re.fullmatch(r"[A-Za-z_-]{1,24}", stated.scalar)
            said = f"'{named(stated.scalar)}'" if plain else "what stands there"
            report.error(
                INVALID,
                key,
                f"{said} is no transport that is known here; expected stdio, http (streamable-http, streamableHttp) "
                "or sse",
            )
            return ""
        if transport := _SPELLINGS[spelling]:
            return transport
        break
    if both:
        report.error(INVALID, "", "it has both a command and a url; keep one, or say its type")
        return ""
    return _inferred(fields, draft, report)


def _inferred(fields: dict[str, Member], draft: Draft, report: Report) -> str:
    if "command" in fields:
        return "stdio"
    if "url" not in draft.present:
        report.error(INVALID, "", "it has neither a command nor a url; say which program to start or where it is")
        return ""
    path = draft.url.partition("?")[0].rstrip("/")
    transport = "sse" if path.endswith("/sse") and "httpUrl" not in fields else TRANSPORTS[1]
    report.info("connector-transport-inferred", "url", f"no type is given; {transport} is taken", transport=transport)
    return transport


def _url(fields: dict[str, Member], draft: Draft, report: Report) -> None:
    for key in ADDRESSES:
        node = fields[key].value if key in fields else None
        if node is None:
            continue
        if node.scalar == "" and "command" in fields and fields["command"].value.scalar:
            report.warn("connector-key-ignored", key, "it is empty beside a command, and is left out")
            continue
        report.place("url", node.start, key)
        if not isinstance(node.scalar, str) or not node.scalar.strip():
            draft.present.add("url")
            what = "it is empty" if isinstance(node.scalar, str) else f"found {kind_of_value(node)}"
            report.error(INVALID, "url", f"{what}; expected an http or https URL")
        elif draft.url and draft.url != node.scalar:
            report.error(INVALID, "url", "the server has two different addresses; keep one of them")
        else:
            draft.present.add("url")
            draft.url = node.scalar


def _process(fields: dict[str, Member], draft: Draft, report: Report) -> None:
    command = fields["command"].value if "command" in fields else None
    if command is not None:
        if isinstance(command.scalar, str) and command.scalar.strip():
            draft.command = command.scalar
        else:
            what = "it is empty" if isinstance(command.scalar, str) else f"found {kind_of_value(command)}"
            report.error(INVALID, "command", f"{what}; expected the name of a program, its arguments go into args")
    args = fields["args"].value if "args" in fields else None
    if args is None or (args.items is None and args.members is None and args.scalar is None):
        return
    if args.items is None:
        report.error(INVALID, "args", f"expected a list of texts, found {kind_of_value(args)}")
        return
    for number, item in enumerate(args.items):
        where = f"args[{number}]"
        if number < MAX_ARGS:
            report.place(where, item.start)
        if isinstance(item.scalar, str):
            draft.args.append(item.scalar)
            continue
        plain = item.members is None and item.items is None and item.scalar is not None
        draft.args.append(_plain(item.scalar) if plain else "")
        if number >= MAX_ARGS:
            continue
        if plain:
            report.warn("connector-arg-converted", where, f"it is {kind_of_value(item)}; it is taken as text")
        else:
            report.error(INVALID, where, f"expected text, found {kind_of_value(item)}")


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _object(fields: dict[str, Member], key: str, report: Report) -> list[Member]:
    """Return the members of an object field; null is the same as nothing."""
    node = fields[key].value if key in fields else None
    if node is None or (node.members is None and node.items is None and node.scalar is None):
        return []
    if node.members is None:
        report.error(INVALID, named(key), f"expected an object of names and values, found {kind_of_value(node)}")
        return []
    return node.members


def _environment(fields: dict[str, Member], draft: Draft, report: Report) -> None:
    members = _object(fields, "env", report)
    names = [(member.key, "env", member.key_start) for member in members]
    listed_names = fields["env_vars"].value if "env_vars" in fields else None
    for item in (listed_names.items or ()) if listed_names is not None else ():
        if isinstance(item.scalar, str):
            names.append((item.scalar, "env_vars", item.start))
    if draft.transport and draft.transport != "stdio":
        if names:
            _say_lost(report, "env", [name for name, _, _ in names], "a remote server has no environment")
        return
    draft.environment = _collect(names, ENVIRONMENT, report)
    _say_dropped(report, "env", [member.key for member in members], "environment variables")


def _headers(fields: dict[str, Member], draft: Draft, report: Report) -> None:
    valued = [m for key in ("headers", "http_headers") for m in _object(fields, key, report)]
    names = [(member.key, "headers", member.key_start) for member in valued]
    names += [(m.key, "env_http_headers", m.key_start) for m in _object(fields, "env_http_headers", report)]
    dropped = [member.key for member in valued]
    for key in ("bearer_token", "bearer_token_env_var"):
        if key in fields and "authorization" not in {name.lower() for name, _, _ in names}:
            names.append(("Authorization", key, fields[key].key_start))
            dropped += ["Authorization"] if key == "bearer_token" else []
    if draft.transport == "stdio":
        if names:
            _say_lost(report, "headers", [name for name, _, _ in names], "a stdio server is sent no headers")
        return
    draft.headers = _collect(names, HEADERS, report)
    _say_dropped(report, "headers", dropped, "headers")


def _collect(names: list[tuple[str, str, int]], where: str, report: Report) -> list[str]:
    kept: list[str] = []
    seen: set[str] = set()
    for name, key, offset in names:
        if name in seen:
            continue
        seen.add(name)
        here = f"{where}[{len(kept)}]"
        if len(kept) < MAX_SECRETS:
            report.place(here, offset, f"{key}.{_name(name)}")
            if not name:
                report.error(INVALID, here, "an entry without a name; name it or take it out")
        kept.append(name)
    return kept


def _say_dropped(report: Report, where: str, names: list[str], what: str) -> None:
    """Say by name whose values are gone. They stay names in the list of what has to be entered."""
    if not names:
        return
    plain = [name for name in names if strength(name) is Strength.NONE]
    also = (
        f"; {listed(_named(plain), MAX_SECRETS)} may be no secret, and has to be entered again all the same"
        if plain
        else ""
    )
    report.warn(
        "connector-values-dropped",
        where,
        f"the values of {listed(_named(names), MAX_SECRETS)} are dropped: a connector keeps the names of its {what}, "
        f"no value; enter them where the connector is used{also}",
        names=_named(names),
        plain=_named(plain),
    )


def _say_lost(report: Report, where: str, names: list[str], why: str) -> None:
    report.warn(
        "connector-values-dropped",
        where,
        f"{listed(_named(names), MAX_SECRETS)} is left out with its value: {why}",
        names=_named(names),
        plain=[],
    )


def _named(names: list[str]) -> list[str]:
    return [_name(name) for name in names[:MAX_SECRETS]]


def _name(name: str) -> str:
    """Return a variable's or a header's name for a message: what follows "=" or ":" is a value in the wrong place."""
    return named(re.split("[=:]", name)[0])


def _say_unknown(members: list[Member], report: Report) -> None:
    for member in members[:_MAX_KEYS]:
        why = _WHY.get(member.key, "a connector template has no place for it")
        report.warn("connector-key-ignored", named(member.key), f"it is not taken over: {why}", key=named(member.key))
    if len(members) > _MAX_KEYS:
        rest = [member.key for member in members[_MAX_KEYS:]]
        report.warn("connector-key-ignored", "", f"not taken over either: {listed(_named(rest))}", count=len(rest))
