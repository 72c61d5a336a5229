"""From the bytes of one document to connector candidates, with everything that was left out and why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from budgets import BudgetExceeded
from importer.diagnostics import Diagnostic, budget_error, capped, error, info, shown
from importer.formats.connectors import guard, rules
from importer.formats.connectors.draft import Report, named
from importer.formats.connectors.naming import document_name, is_name, slug
from importer.formats.connectors.recognise import (
    TOML,
    Kind,
    Servers,
    broken_kind,
    kind_of,
    parse_document,
    servers_of,
)
from importer.formats.connectors.servers import read_server
from importer.formats.connectors.template import (
    Read,
    connector_digest,
    kind_of_value,
    read_document,
    template_bytes,
    to_template,
    unreadable,
)
from importer.formats.connectors.text import Decoded, Lines, decode
from importer.formats.connectors.toml import read_toml
from importer.formats.phrases import counted, listed
from importer.jsontext import Document, JsonFault, Node
from importer.model import ConnectorCandidate, LeftOut
from importer.records import record

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from budgets import Meter

MAX_SERVERS = 256
"""Servers read from one configuration at once; more need a selection."""
_QUIET_ROOT_KEYS = frozenset({"$schema"})


@record
class ConnectorReading:
    """What one document offers.

    A diagnostic that is about one connector carries its name as the fact `connector`, the same as in `left_out`; one
    without it is about the whole document. Every connector with an error stands in `left_out`, never in `candidates`.
    """

    kind: Kind
    candidates: tuple[ConnectorCandidate, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def read_connectors(
    data: bytes,
    *,
    label: str,
    meter: Meter,
    wanted: Sequence[str] = (),
    allowed: frozenset[str] = frozenset(),
) -> ConnectorReading:
    """Read a template, or the servers of a client's configuration.

    Args:
        data: the document's bytes.
        label: its name for messages, which also names a single server without a name.
        meter: of the profile `connector`; `bytes` holds a template, `config_bytes` a configuration.
        wanted: names to read, as written or as made valid; none means all.
        allowed: `NAME:INDEX` of arguments that a person vouched for, counted from 0.

    Returns: candidates in the document's order. No value of an environment variable or a header is in it anywhere.

    Raises:
        BudgetExceeded: the document is longer than its kind may be.
    """
    meter.check("config_bytes", len(data), label)
    decoded = decode(data, label)
    if not isinstance(decoded, Decoded):
        return ConnectorReading(kind=Kind.NOT_CONNECTORS, diagnostics=(decoded,))
    try:
        document = parse_document(decoded.text)
    except JsonFault as fault:
        if TOML.search(decoded.text):
            return _toml(decoded, label, meter, wanted, allowed)
        return ConnectorReading(kind=broken_kind(decoded.text), diagnostics=(unreadable(fault, label),))
    kind = kind_of(document)
    if kind is Kind.TEMPLATE:
        meter.check("bytes", len(data), label)
        reading = _template(document, label, meter, wanted, allowed)
    elif kind is Kind.CLIENT_CONFIG:
        reading = _configuration(
            servers_of(document.root), document.root, Lines(decoded.text), label, meter, wanted, allowed
        )
    elif kind is Kind.SERVER_JSON:
        reading = ConnectorReading(kind=kind, diagnostics=(_registry(label),))
    else:
        reading = ConnectorReading(kind=kind)
    return _with_notes(reading, decoded)


def _with_notes(reading: ConnectorReading, decoded: Decoded) -> ConnectorReading:
    return ConnectorReading(
        kind=reading.kind,
        candidates=reading.candidates,
        left_out=reading.left_out,
        diagnostics=capped((*decoded.notes, *reading.diagnostics)),
    )


def _registry(label: str) -> Diagnostic:
    return error(
        "connector-registry-document",
        "this is a server.json, which describes a server to a registry and not how to start it here: it lists packages "
        "and choices that are still open. Preview a client's configuration (mcpServers) of the server, or a template",
        label,
    )


def _template(
    document: Document, label: str, meter: Meter, wanted: Sequence[str], allowed: frozenset[str]
) -> ConnectorReading:
    read = read_document(document, label, allowed)
    name = read.draft.name
    if wanted and name not in wanted:
        missing = _not_found(wanted, [name], label)
        return ConnectorReading(kind=Kind.TEMPLATE, diagnostics=(*missing,))
    extra = _not_found([each for each in wanted if each != name], [name], label)
    candidate = _candidate(read, meter)
    found = (*read.report.found, *extra)
    if candidate is None:
        left = _left_out(read)
        return ConnectorReading(kind=Kind.TEMPLATE, left_out=(left,), diagnostics=found)
    return ConnectorReading(kind=Kind.TEMPLATE, candidates=(candidate,), diagnostics=found)


def _toml(
    decoded: Decoded, label: str, meter: Meter, wanted: Sequence[str], allowed: frozenset[str]
) -> ConnectorReading:
    places = read_toml(decoded.text, label)
    if isinstance(places, Diagnostic):
        return ConnectorReading(kind=Kind.CLIENT_CONFIG, diagnostics=(*decoded.notes, places))
    return _with_notes(_configuration(places, None, Lines(decoded.text), label, meter, wanted, allowed), decoded)


def _configuration(
    places: Sequence[Servers],
    root: Node | None,
    lines: Lines,
    label: str,
    meter: Meter,
    wanted: Sequence[str],
    allowed: frozenset[str],
) -> ConnectorReading:
    found: list[Diagnostic] = []
    entries = _entries(places, label, found)
    if not entries and not found:
        found.append(error("connector-none", "the configuration holds no server; add one and preview again", label))
    if root is not None and not (len(places) == 1 and places[0].root == ""):
        found += _other_keys(root, places, label)
    if wanted:
        names = [name for name, _, _ in entries]
        found += _not_found([each for each in wanted if not any(_is(each, name) for name in names)], names, label)
        chosen = [entry for entry in entries if any(_is(each, entry[0]) for each in wanted)]
        found += _not_selected([entry[0] for entry in entries if entry not in chosen], label)
        entries = chosen
    if len(entries) > MAX_SERVERS:
        message = f"{len(entries):,} servers, at most {MAX_SERVERS} are read at once; name them with --connector NAME"
        found.append(error("connector-too-many", message, label, used=len(entries), max=MAX_SERVERS))
        return ConnectorReading(kind=Kind.CLIENT_CONFIG, diagnostics=tuple(found))
    read = [_server(name, node, lines, single, allowed) for name, node, single in entries]
    _say_collisions(read)
    candidates: list[ConnectorCandidate] = []
    left: list[LeftOut] = []
    for each in read:
        candidate = _candidate(each, meter)
        found += each.report.found
        if candidate is None:
            left.append(_left_out(each))
        else:
            candidates.append(candidate)
    return ConnectorReading(
        kind=Kind.CLIENT_CONFIG, candidates=tuple(candidates), left_out=tuple(left), diagnostics=tuple(found)
    )


def _entries(places: Sequence[Servers], label: str, found: list[Diagnostic]) -> list[tuple[str, Node, bool]]:
    entries: list[tuple[str, Node, bool]] = []
    for place in places:
        if place.single:
            stated = place.node.get("name")
            name = stated.scalar if stated is not None and isinstance(stated.scalar, str) and stated.scalar else ""
            entries.append((name or document_name(label), place.node, True))
        elif place.node.members is not None:
            entries += [(m.key, m.value, False) for m in place.node.members if place.root or not m.key.startswith("$")]
        else:
            what = kind_of_value(place.node)
            hint = "; if it names another file, preview that file" if what == "text" else ""
            message = f"{place.root} is {what}; expected an object of servers by name{hint}"
            found.append(error("connector-invalid", message, place.root))
    return entries


def _server(name: str, node: Node, lines: Lines, single: bool, allowed: frozenset[str]) -> Read:
    report = Report(name, lines)
    report.place("", node.start)
    draft = read_server(name, node, report, single=single)
    if node.members is None:
        return Read(draft, report, ())
    rules.check(draft, report)
    return Read(draft, report, guard.check(draft, report, allowed))


def _say_collisions(read: Collection[Read]) -> None:
    by_name: dict[str, list[Read]] = {}
    for each in read:
        by_name.setdefault(each.draft.name, []).append(each)
    for name, group in by_name.items():
        if len(group) > 1:
            stated = listed([named(each.draft.stated_name) for each in group])
            for each in group:
                each.report.error(
                    "connector-name-collision",
                    "",
                    f"{stated} would all be called {shown(name)}; rename one, or choose one by its own name "
                    "with --connector",
                    name=shown(name),
                )


def _candidate(read: Read, meter: Meter) -> ConnectorCandidate | None:
    """Return the candidate, or None where an error stands in the report."""
    if read.report.faulty:
        return None
    template = to_template(read.draft)
    data = template_bytes(template)
    try:
        meter.check("bytes", len(data), template.name)
    except BudgetExceeded as spent:
        exceeded = spent
    else:
        secrets = (*template.environment, *template.headers)
        return ConnectorCandidate(
            name=template.name,
            stated_name=read.draft.stated_name,
            display_name=template.display_name,
            transport=template.transport,
            secrets=(*secrets, "oauth_client_secret") if template.oauth_client_secret else secrets,
            template=data,
            digest=connector_digest(template.name, data),
            summary=guard.summary(read.draft, read.asks),
            asks=read.asks,
        )
    spent_on = budget_error(exceeded)
    read.report.found.append(replace(spent_on, facts={**spent_on.facts, "connector": read.report.name}))
    return None


def _left_out(read: Read) -> LeftOut:
    return LeftOut(kind="connector", name=read.report.name, root="", reason="faulty", codes=read.report.codes)


def _is(wanted: str, stated: str) -> bool:
    return wanted == stated or wanted == (stated if is_name(stated) else slug(stated))


def _not_found(wanted: Sequence[str], names: Sequence[str], label: str) -> list[Diagnostic]:
    there = listed([named(name) for name in names if name], 20) or "none"
    return [
        error(
            "connector-not-found",
            f"no connector is called {shown(name, 80)}; there is: {there}",
            label,
            name=shown(name),
        )
        for name in wanted
    ]


def _not_selected(names: Sequence[str], label: str) -> list[Diagnostic]:
    if not names:
        return []
    message = f"{counted(len(names), 'server')} not asked for: {listed([named(name) for name in names], 20)}"
    return [info("connector-not-selected", message, label, count=len(names))]


def _other_keys(root: Node, places: Sequence[Servers], label: str) -> list[Diagnostic]:
    used = {place.root.partition(".")[0] for place in places} | _QUIET_ROOT_KEYS
    names = [member.key for member in root.members or () if member.key not in used]
    if not names:
        return []
    message = f"not taken over, as they are no servers: {listed([named(name) for name in names], 20)}"
    return [info("connector-key-ignored", message, label, keys=[named(name) for name in names[:50]])]
