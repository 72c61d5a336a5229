"""Servers put into a configuration that is already there, as text, so that everything else stays as it was.

`merge` is a pure function of the file's bytes. Whoever writes the result compares the file with `base` (the SHA-256 of
the bytes that the merge was made from, None where there was no file) right before the rename, and starts again where it
differs; follows a link to its target; keeps the mode, or creates a new file with 0600; and leaves one backup.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from dataclasses import field

from importer import jsontext
from importer.diagnostics import Diagnostic, Rejected, Severity, error, shown, warning
from importer.exporters.check import BOM, LOOKED_INTO, Parsed, Unparsable, check_config, parse_config
from importer.exporters.clients import Client, Reach, Reads, Secrets, Syntax
from importer.exporters.edits import edit
from importer.exporters.masking import diff, mask_json, mask_toml, strings
from importer.exporters.render import Rendered
from importer.exporters.sameness import differing, needed_names, same
from importer.exporters.texts import Server
from importer.model import Choice, Choices
from importer.records import record


@record
class Conflict:
    """A server of that name that is there already and differs: `fields` says where, never what."""

    name: str
    fields: tuple[str, ...]


@record
class MergeResult:
    """What a merge comes to. Where `ready` is false, `content` is what was there."""

    client: str
    base: str | None
    content: bytes
    changed: bool
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    """Already there and equal."""
    kept: tuple[str, ...] = ()
    """Differ, and the installed one was chosen."""
    conflicts: tuple[Conflict, ...] = ()
    """Need `NAME=incoming|installed`."""
    confirm_needed: tuple[str, ...] = ()
    """`incoming` was chosen, and the overwrite is not confirmed."""
    diagnostics: tuple[Diagnostic, ...] = ()
    diff: str = ""
    """A unified diff, values of others hidden; with conflicts, of what `incoming` would change."""

    @property
    def ready(self) -> bool:
        """Whether nothing is left to decide."""
        return not self.conflicts and not self.confirm_needed


@record(frozen=False, kw_only=False)
class _Verdicts:
    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    confirm: list[str] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    incoming: dict[str, Server] = field(default_factory=dict)
    """What would be written, by name: additions, replacements, and conflicts as if `incoming` were chosen."""


def merge(existing: bytes | None, rendered: Rendered, client: Client, choices: Choices, name: str = "") -> MergeResult:
    """Put the servers of an export into a configuration.

    Args:
        existing: the file's bytes; None where there is no file. Empty is taken for an empty document.
        rendered: what `render` made for the same client.
        client: whose file it is.
        choices: `NAME=incoming|installed` for servers that differ; `incoming` needs `confirm_overwrite` too.
        name: the file's name, for the diff.

    Raises:
        Rejected: the file cannot be read, is of another shape, or holds what the client does not read. It is left as
            it is.
    """
    data = existing or b""
    parsed = _read(data, client)
    notes = _tolerated(parsed, client)
    servers = _servers(parsed, client)
    verdicts = _judge(servers, rendered, client, choices)
    base = None if existing is None else hashlib.sha256(existing).hexdigest()
    text = parsed.text
    if verdicts.incoming:
        edited = edit(parsed, rendered, client, verdicts.incoming, servers)
        text = edited.text
        if edited.lost_comments and verdicts.replaced:
            message = f"{edited.lost_comments} comments inside what was replaced are gone; the backup has them"
            notes.append(warning("merge-comments-replaced", message, count=edited.lost_comments))
        for ident in edited.open_inputs:
            message = (
                f"the input {shown(ident, 80)} is there already and is used, without being a promptString with "
                f'"password": true: {client.title} may show and keep what is typed in the clear; mend it in inputs'
            )
            notes.append(warning("merge-input-open", message, "inputs", parsed.line("inputs"), input=ident))
        if parsed.bom and client.bom is not Reads.YES:
            notes.append(warning("merge-bom-dropped", f"the byte order mark is dropped: {_why_no_bom(client)}"))
        notes += _neighbours(text, rendered, client)
    ready = not verdicts.conflicts and not verdicts.confirm
    changed = bool(verdicts.incoming) and ready
    encoded = (BOM if parsed.bom and client.bom is Reads.YES else b"") + text.encode("utf-8")
    return MergeResult(
        client=client.id,
        base=base,
        content=encoded if changed else data,
        changed=changed,
        added=tuple(verdicts.added),
        replaced=tuple(verdicts.replaced),
        unchanged=tuple(verdicts.unchanged),
        kept=tuple(verdicts.kept),
        conflicts=tuple(verdicts.conflicts),
        confirm_needed=tuple(verdicts.confirm),
        diagnostics=(*notes, *verdicts.notes),
        diff=_masked_diff(parsed.text, text, rendered, client, name) if verdicts.incoming else "",
    )


def _read(data: bytes, client: Client) -> Parsed:
    try:
        return parse_config(data, client)
    except Unparsable as fault:
        message = f"this is no {client.syntax} that can be edited: {fault.what}; mend it first"
        raise Rejected([error("merge-unparsable", message, line=fault.line, client=client.id)]) from None


def _tolerated(parsed: Parsed, client: Client) -> list[Diagnostic]:
    """Refuse what the client's parser does not take: it would not read the result either. Say what nobody has tried."""
    notes: list[Diagnostic] = []
    document = parsed.document
    if document is None:
        return notes
    for code, what, reads, found in (
        ("merge-comments", "comments", client.comments, document.comments),
        ("merge-trailing-commas", "trailing commas", client.trailing_commas, document.trailing_commas),
    ):
        if not found or reads is Reads.YES:
            continue
        line = jsontext.position(parsed.text, found[0])[0]
        if reads is Reads.NO:
            message = f"the file has {what}, which {client.title} does not read; remove them first"
            raise Rejected([error(code, message, line=line, client=client.id)])
        notes.append(
            warning(code, f"the {what} are kept; nobody has tried whether {client.title} reads them", line=line)
        )
    return notes


def _servers(parsed: Parsed, client: Client) -> Mapping[str, object]:
    """Return the servers that are there.

    Raises:
        Rejected: something else stands where the file, the servers or the inputs are expected.
    """
    found: list[Diagnostic] = []
    root = parsed.root
    if root is None:
        raise Rejected([_parent("the document", "", client, 1)])
    servers = root.get(client.root, {})
    if not isinstance(servers, dict):
        found.append(_parent(client.root, client.root, client, parsed.line(client.root)))
    if client.secrets is Secrets.INPUT and not isinstance(root.get("inputs", []), list):
        message = f"inputs is no list, as {client.title} expects; mend it first"
        found.append(error("merge-parent-invalid", message, "inputs", parsed.line("inputs")))
    if client.closed and root and root.get("$schema") != client.closed:
        message = f"$schema is not {client.closed}: this is no file of {client.title}, or of another version"
        found.append(error("merge-parent-invalid", message, "$schema", parsed.line("$schema")))
    if found or not isinstance(servers, dict):
        raise Rejected(found)
    return servers


def _parent(what: str, path: str, client: Client, line: int | None) -> Diagnostic:
    message = f"{what} is no object, as {client.title} expects; mend it first"
    return error("merge-parent-invalid", message, path, line, client=client.id)


def _judge(servers: Mapping[str, object], rendered: Rendered, client: Client, choices: Choices) -> _Verdicts:
    verdicts = _Verdicts()
    for name, incoming in rendered.servers.items():
        if name not in servers:
            verdicts.added.append(name)
            verdicts.incoming[name] = incoming
            continue
        installed, needed = servers[name], needed_names(rendered, name)
        if same(installed, incoming, client, needed):
            verdicts.unchanged.append(name)
            continue
        choice = choices.by_name.get(f"connector:{name}", choices.by_name.get(name))
        if choice is Choice.INSTALLED:
            verdicts.kept.append(name)
            continue
        verdicts.incoming[name] = _with_filled_in(installed, incoming, client, needed)
        fields = differing(installed, incoming, client, needed)
        where = ", ".join(fields[:12]) + (f" and {len(fields) - 12} more" if len(fields) > 12 else "")
        if choice is None:
            verdicts.conflicts.append(Conflict(name=name, fields=fields))
            message = (
                f"{shown(name)} is already there and differs in {where}; decide with --choose {shown(name)}=incoming "
                f"or --choose {shown(name)}=installed"
            )
            verdicts.notes.append(error("merge-conflict", message, name, connector=name, fields=list(fields)))
        elif not choices.confirm_overwrite:
            verdicts.confirm.append(name)
            message = f"{shown(name)} would be overwritten (it differs in {where}); confirm with --confirm-overwrite"
            verdicts.notes.append(error("merge-unconfirmed", message, name, connector=name))
        else:
            verdicts.replaced.append(name)
            lost = sorted(set(installed) - set(incoming)) if isinstance(installed, dict) else []
            dropped = [shown(key, 80) for key in lost if key not in verdicts.incoming[name]]
            if dropped:
                message = f"{shown(name)}: {', '.join(dropped)} of the one that was there is gone; the backup has it"
                verdicts.notes.append(warning("merge-keys-dropped", message, name, connector=name, keys=dropped))
    return verdicts


def _with_filled_in(
    installed: object, incoming: Server, client: Client, needed: Mapping[str, frozenset[str]]
) -> Server:
    """Where the file is the only place for secrets, those that a person wrote into it stay."""
    if client.secrets is not Secrets.BY_HAND or not isinstance(installed, dict):
        return incoming
    server = copy.deepcopy(incoming)
    for group, names in needed.items():
        table = installed.get(group)
        filled = {key: value for key, value in table.items() if key in names} if isinstance(table, dict) else {}
        if filled:
            server[group] = filled
    return server


def _why_no_bom(client: Client) -> str:
    known = client.bom is Reads.NO
    return f"{client.title} does not read it" if known else f"nobody has tried whether {client.title} reads it"


def _neighbours(text: str, rendered: Rendered, client: Client) -> list[Diagnostic]:
    """Where one bad entry takes all with it, what is wrong with the others matters to what is added."""
    if client.reach is not Reach.ALL:
        return []
    own = tuple(f"{client.root}.{name}" for name in rendered.servers)
    bad = [
        found
        for found in check_config(text.encode("utf-8"), client)
        if found.severity is Severity.ERROR and not any((found.path + ".").startswith(path + ".") for path in own)
    ]
    if not bad:
        return []
    message = (
        f"{client.title} will not load this file until {bad[0].path or 'another entry'} is mended: {bad[0].message}"
    )
    return [warning("merge-neighbour-invalid", message, bad[0].path, count=len(bad))]


def _masked_diff(before: str, after: str, rendered: Rendered, client: Client, name: str) -> str:
    visible = {text for server in rendered.servers.values() for text in strings(server)}
    visible |= {text for item in rendered.inputs for text in strings(item)}
    if client.syntax is Syntax.TOML:
        return diff(mask_toml(before, visible), mask_toml(after, visible), name or "config.toml")
    old = mask_json(before, visible, LOOKED_INTO) if before.strip(" \t\r\n") else ""
    return diff(old, mask_json(after, visible, LOOKED_INTO), name or "configuration")
