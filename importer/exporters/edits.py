"""The new text of a client's file, made by editing the old one, and held against it before anybody sees it."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Mapping

from importer import jsontext
from importer.diagnostics import Rejected, error
from importer.exporters import tomledit
from importer.exporters.check import Parsed, Unparsable, parse_config
from importer.exporters.clients import Client, Syntax
from importer.exporters.jsonedit import Editor
from importer.exporters.masking import json_comments, strings, toml_comments
from importer.exporters.render import Rendered, document_text
from importer.exporters.texts import Json, Server
from importer.records import record


@record
class Edited:
    """A text that was read again and differs from the old one in the servers only."""

    text: str
    lost_comments: int
    """Comments that stood inside a server that was replaced."""
    open_inputs: tuple[str, ...] = ()
    """Inputs that were there already, are used for a secret, and do not hide what is typed."""


def edit(
    parsed: Parsed, rendered: Rendered, client: Client, incoming: Mapping[str, Server], servers: Mapping[str, object]
) -> Edited:
    """Put servers into a document.

    Args:
        parsed: the document.
        rendered: the export that they come from, for the inputs that they use.
        client: whose document it is.
        incoming: the servers to add, or to put in place of those of the same name; at least one.
        servers: those that are there.

    Raises:
        Rejected: it cannot be done without changing something else.
    """
    needed = [item for item in rendered.inputs if any(_uses(server, str(item["id"])) for server in incoming.values())]
    if client.syntax is Syntax.JSON and parsed.document is None:
        return Edited(text=document_text(incoming, needed, client), lost_comments=0)
    expected: dict[str, object] = copy.deepcopy(dict(parsed.root or {}))
    expected[client.root] = {**servers, **incoming}
    if parsed.document is None:
        return _toml(parsed, client, incoming, servers, expected)
    return _json(parsed.document, client, incoming, needed, expected)


def _uses(server: Server, ident: str) -> bool:
    return any(f"${{input:{ident}}}" in text for text in strings(server))


def _json(
    document: jsontext.Document,
    client: Client,
    incoming: Mapping[str, Server],
    needed: list[Server],
    expected: dict[str, object],
) -> Edited:
    editor, root = Editor(document), document.root
    node = root.get(client.root)
    top: list[tuple[str | None, Json]] = []
    replaced: list[jsontext.Node] = []
    if node is None:
        top.append((client.root, dict(incoming)))
    else:
        fresh = [(name, server) for name, server in incoming.items() if node.get(name) is None]
        if fresh:
            editor.add(node, fresh)
        for name, server in incoming.items():
            current = node.get(name)
            if current is not None:
                replaced.append(current)
                editor.replace(current, server)
    there = expected.get("inputs", [])
    present = there if isinstance(there, list) else []
    known = {str(item.get("id")): item for item in present if isinstance(item, dict)}
    missing: list[Json] = [item for item in needed if item["id"] not in known]
    open_inputs = tuple(str(item["id"]) for item in needed if not _hides(known.get(str(item["id"]), item)))
    if missing:
        expected["inputs"] = [*present, *missing]
        inputs = root.get("inputs")
        if inputs is None:
            top.append(("inputs", missing))
        else:
            editor.add(inputs, [(None, item) for item in missing])
    if top:
        editor.add(root, top)
    text = editor.result()
    after = _again(text, client)
    kept = [at for at in document.comments if not any(node.start <= at < node.end for node in replaced)]
    comments = json_comments(document, kept)
    # As text, for 1, 1.0 and true are equal to Python; and with the order, which is part of what is kept.
    same = json.dumps(after.root) == json.dumps(expected)
    if not same or after.document is None or json_comments(after.document) != comments:
        raise _refusal(client)
    return Edited(text=text, lost_comments=len(document.comments) - len(kept), open_inputs=open_inputs)


def _hides(item: Mapping[str, object]) -> bool:
    return item.get("type") == "promptString" and item.get("password") is True


def _toml(
    parsed: Parsed,
    client: Client,
    incoming: Mapping[str, Server],
    servers: Mapping[str, object],
    expected: dict[str, object],
) -> Edited:
    text = parsed.text
    changed = {name: server for name, server in incoming.items() if name in servers}
    fresh = {name: server for name, server in incoming.items() if name not in servers}
    try:
        if changed:
            text = tomledit.replace(text, client.root, changed)
        if fresh:
            appended = tomledit.append(text, client.root, fresh)
            text = appended if _is_toml(appended) else tomledit.assign(text, client.root, fresh)
    except tomledit.TomlEditFailed:
        raise _refusal(client) from None
    before, after = toml_comments(parsed.text), toml_comments(text)
    # Tables may be written apart from one another: in TOML their order says nothing.
    same = _sorted(_again(text, client).root) == _sorted(expected)
    if not same or not _is_part(after, before) or (not changed and after != before):
        raise _refusal(client)
    return Edited(text=text, lost_comments=len(before) - len(after))


def _again(text: str, client: Client) -> Parsed:
    try:
        return parse_config(text.encode("utf-8"), client)
    except Unparsable:
        raise _refusal(client) from None


def _refusal(client: Client) -> Rejected:
    message = (
        f"{client.root} is written in a form in which {client.title}'s servers cannot be edited without changing more; "
        "add the server by hand"
    )
    return Rejected([error("merge-unverified", message, client.root, client=client.id)])


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _sorted(value: object) -> str:
    return json.dumps(value, default=repr, sort_keys=True)


def _is_part(short: list[str], long: list[str]) -> bool:
    rest = iter(long)
    return all(item in rest for item in short)
