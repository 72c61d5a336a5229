"""What a client would reject or ignore in its own configuration. Values are never shown: they may be secrets."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping

from importer import jsontext
from importer.diagnostics import Diagnostic, capped, error, info, shown, warning
from importer.exporters.clients import CLIENTS, Client, Reach, Reads, Syntax, Unknown
from importer.exporters.plugin_rules import server_faults
from importer.exporters.texts import placeholders
from importer.records import record
from importer.secrets import redacted

BOM = b"\xef\xbb\xbf"
_TOML_LINE = re.compile(r"\(at line (\d+), column (\d+)\)")
_ROOTS = frozenset(client.root for client in CLIENTS.values())
LOOKED_INTO = frozenset({*_ROOTS, "inputs"})
"""Keys of a configuration whose inside matters; that of others only has to stay as it is."""
_URL_KEYS = frozenset({"url", "serverUrl", "httpUrl"})
_MISREAD = frozenset(
    {"serverUrl", "httpUrl", "headers", "http_headers", "env_http_headers", "bearer_token_env_var", "env_vars", "cwd"}
    | {"envFile", "inputs", "disabled", "enabled", "timeout", "tools"}
)
"""Keys that some client reads and that people carry over to others."""


@record
class Parsed:
    """A configuration as plain values, with the offsets that a message needs. `document` is None for TOML.

    In one of very many values, what lies outside `LOOKED_INTO` is its text.
    """

    text: str
    root: Mapping[str, object] | None
    """None where the document is no object."""
    document: jsontext.Document | None
    bom: bool

    def line(self, *path: str) -> int | None:
        """Return the line on which the member at `path` starts, where that is known."""
        if self.document is None:
            return None
        node, at = self.document.root, None
        for key in path:
            member = next((m for m in node.members or () if m.key == key), None)
            if member is None:
                break
            node, at = member.value, member.key_start
        return None if at is None else jsontext.position(self.text, at)[0]


class Unparsable(ValueError):
    """A configuration that cannot be read at all; `line` counts from 1."""

    def __init__(self, what: str, line: int | None = None) -> None:
        self.what = what
        self.line = line
        super().__init__(what)


def parse_config(data: bytes, client: Client) -> Parsed:
    """Read a configuration with everything tolerated that some client reads: comments, trailing commas, a BOM.

    A file without content is an empty document.

    Raises:
        Unparsable: it is not UTF-8, or has another fault; the message quotes no value.
    """
    bom = data.startswith(BOM)
    try:
        text = data.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as fault:
        raise Unparsable(f"byte {fault.start} is not UTF-8") from None
    if client.syntax is Syntax.TOML:
        return Parsed(text=text, root=_toml(text), document=None, bom=bom)
    if not text.strip(" \t\r\n"):
        return Parsed(text=text, root={}, document=None, bom=bom)
    try:
        document = jsontext.parse_config(text, LOOKED_INTO)
    except jsontext.JsonFault as fault:
        raise Unparsable(f"column {fault.column}: {shown(redacted(fault.what))}", fault.line) from None
    plain = document.root.plain()
    return Parsed(text=text, root=plain if isinstance(plain, dict) else None, document=document, bom=bom)


def _toml(text: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        # The decoder's own message can quote a key or a character; only the place is taken from it.
        place = _TOML_LINE.search(str(fault))
        if place is None:
            raise Unparsable("the document ends in the middle of something, or is no TOML") from None
        raise Unparsable(f"column {place.group(2)}: this is no TOML", int(place.group(1))) from None
    except RecursionError:
        raise Unparsable("nested too deeply") from None


def check_config(data: bytes, client: Client) -> tuple[Diagnostic, ...]:
    """Report what `client` would reject (error), read otherwise or ignore (warning), or what nobody has tried (info).

    Args:
        data: the file's bytes.
        client: one of `CLIENTS`.

    Returns:
        The findings, `path` naming the field (`mcpServers.github.args[2]`); empty where all is well.
    """
    try:
        parsed = parse_config(data, client)
    except Unparsable as fault:
        what = f"{client.title} cannot read this as {client.syntax}: {fault.what}; mend it in an editor"
        return (error("client-unparsable", what, line=fault.line, client=client.id),)
    return capped([*_tolerance(parsed, client), *_document(parsed, client)])


def _tolerance(parsed: Parsed, client: Client) -> Iterator[Diagnostic]:
    if parsed.bom and client.bom is not Reads.YES:
        yield _taste(client.bom, client, "client-bom", "the byte order mark at its start", 1)
    document = parsed.document
    if document is None:
        return
    if document.comments and client.comments is not Reads.YES:
        line = jsontext.position(parsed.text, document.comments[0])[0]
        yield _taste(client.comments, client, "client-comments", "comments", line)
    if document.trailing_commas and client.trailing_commas is not Reads.YES:
        line = jsontext.position(parsed.text, document.trailing_commas[0])[0]
        yield _taste(client.trailing_commas, client, "client-trailing-commas", "trailing commas", line)


def _taste(reads: Reads, client: Client, code: str, what: str, line: int) -> Diagnostic:
    if reads is Reads.NO:
        return error(code, f"{client.title} does not read {what}: it refuses the whole file", line=line)
    return info(code, f"nobody has tried whether {client.title} reads {what}; without, every client does", line=line)


def _document(parsed: Parsed, client: Client) -> Iterator[Diagnostic]:
    root = parsed.root
    if root is None:
        yield error("client-root-invalid", f"{client.title} expects an object at the top of the file", line=1)
        return
    # The key is one that other clients use, and the file is likely one of theirs.
    for other in sorted(_ROOTS - {client.root}):
        if isinstance(root.get(other), dict) and client.root not in root:
            message = f"{client.title} reads servers from {client.root}, not from {other}"
            yield warning("client-root-other", message, other, parsed.line(other))
    if client.closed:
        if root.get("$schema") != client.closed:
            yield error("client-schema", f"{client.title} needs $schema to be {client.closed}", "$schema")
        for key in root:
            if key not in {client.root, *client.siblings}:
                message = f"{client.title} refuses the key {shown(key)}"
                yield error("client-field-rejected", message, key, parsed.line(key))
    servers = root.get(client.root)
    if client.root not in root:
        yield info("client-no-servers", f"there is no {client.root}: no MCP server is configured here", client.root)
        return
    if not isinstance(servers, dict):
        message = f"{client.title} expects an object of servers in {client.root}"
        yield error("client-root-invalid", message, client.root, parsed.line(client.root))
        return
    inputs = root.get("inputs")
    known = {str(item.get("id")) for item in inputs if isinstance(item, dict)} if isinstance(inputs, list) else set()
    for name, server in servers.items():
        for finding in _server(str(name), server, client, known):
            yield _placed(finding, parsed.line(client.root, str(name)))


def _placed(finding: Diagnostic, line: int | None) -> Diagnostic:
    make = {"error": error, "warning": warning, "info": info}[str(finding.severity)]
    return make(finding.code, finding.message, finding.path, line, **finding.facts)


def _server(name: str, server: object, client: Client, inputs: set[str]) -> Iterator[Diagnostic]:
    path = f"{client.root}.{shown(name, 80)}"
    told = shown(name, 80)
    all_of_it = "; then it loads no server at all" if client.reach is Reach.ALL else ""
    if not isinstance(server, dict):
        yield error("client-server-invalid", f"{told}: {client.title} expects an object{all_of_it}", path)
        return
    if client.id == "gemini-cli" and "_" in name:
        yield warning("client-name", f"{told}: {client.title} splits names at _ in its policies; use a hyphen", path)
    yield from _transport(told, path, server, client, all_of_it)
    yield from _keys(told, path, server, client)
    yield from _values(told, path, server, client, all_of_it)
    yield from _expansion(told, path, server, client, inputs)
    if client.closed:
        yield from server_faults(told, path, server)


def _transport(
    told: str, path: str, server: Mapping[str, object], client: Client, all_of_it: str
) -> Iterator[Diagnostic]:
    urls = [key for key in ("url", "serverUrl", "httpUrl") if key in server and key in client.keys | {"url"}]
    command = "command" in server
    kind = server.get("type")
    if command and urls:
        message = f"{told}: has both command and {urls[0]}; {client.title} takes one of them{all_of_it}"
        yield error("client-transport", message, path)
    if not command and not urls:
        other = next((key for key in sorted(_URL_KEYS) if key in server), "")
        hint = f"; it has {other}, which is another client's key" if other else ""
        message = f"{told}: {client.title} needs command or {client.url_key}{hint}{all_of_it}"
        if not (client.id == "gemini-cli" and "tcp" in server) and not (client.id == "zed" and "settings" in server):
            yield error("client-transport", message, path)
    if urls and not client.remote:
        message = f"{told}: {client.title} skips remote servers in its file; add it under Settings > Connectors"
        yield error("client-remote-unsupported", message, f"{path}.{urls[0]}")
        return
    if kind is None:
        if urls and client.type_required:
            yield error("client-type", f"{told}: {client.title} skips a url without a type", path)
        elif urls and client.id == "cline":
            yield warning("client-type", f"{told}: without a type, {client.title} takes the url for SSE", path)
        elif command and client.closed:
            yield error("client-type", f"{told}: {client.title} needs a type", path)
    elif not isinstance(kind, str):
        yield error("client-type", f"{told}: type must be a string{all_of_it}", f"{path}.type")
    elif not client.types:
        if kind == "sse":
            message = f"{told}: {client.title} has no SSE and ignores type: it will speak streamable HTTP to that url"
            yield warning("client-type", message, f"{path}.type")
    elif kind not in client.types:
        message = (
            f"{told}: {client.title} does not know the type {_word(kind)}; it takes "
            f"{', '.join(sorted(client.types))}{all_of_it}"
        )
        yield error("client-type", message, f"{path}.type")
    elif client.closed and (kind == "stdio") != command and (command or urls):
        yield error("client-type", f"{told}: type {_word(kind)} does not fit the other keys", f"{path}.type")


def _word(text: str) -> str:
    """Return a value that is one plain word; anything else may be something that was pasted into the wrong place."""
    return text if re.fullmatch(r"[A-Za-z_-]{1,24}", text) else "that stands there"


def _keys(told: str, path: str, server: Mapping[str, object], client: Client) -> Iterator[Diagnostic]:
    if client.id == "codex" and "bearer_token" in server:
        message = f"{told}: Codex refuses bearer_token, and with it the whole file; use bearer_token_env_var"
        yield error("client-field-rejected", message, f"{path}.bearer_token")
    for key in server:
        at, name = f"{path}.{shown(str(key), 80)}", shown(str(key), 80)
        if key in client.deprecated:
            message = f"{told}: {client.title} still reads {name}; write {client.deprecated[key]} instead"
            yield warning("client-field-deprecated", message, at)
        if key in client.keys or key == "bearer_token" or (key == "type" and not client.types):
            continue
        if not client.remote and key in _URL_KEYS:
            continue
        if client.unknown is Unknown.REJECTED:
            yield error("client-field-rejected", f"{told}: {client.title} refuses a server with the key {name}", at)
        elif client.unknown in {Unknown.IGNORED, Unknown.FLAGGED}:
            instead = "; use http_headers or env_http_headers" if (client.id, key) == ("codex", "headers") else ""
            yield warning("client-field-ignored", f"{told}: {client.title} ignores the key {name}{instead}", at)
        elif key in _MISREAD:
            message = f"{told}: {client.title} is not known to read the key {name}, which other clients have"
            yield warning("client-field-ignored", message, at)


def _values(told: str, path: str, server: Mapping[str, object], client: Client, all_of_it: str) -> Iterator[Diagnostic]:
    for key in ("command", "url", "serverUrl", "httpUrl"):
        value = server.get(key)
        if key in server and (not isinstance(value, str) or not value):
            message = f"{told}: {key} must be a string that is not empty{all_of_it}"
            yield error("client-value-invalid", message, f"{path}.{key}")
    args = server.get("args", [])
    if not isinstance(args, list):
        yield error("client-value-invalid", f"{told}: args must be a list{all_of_it}", f"{path}.args")
    else:
        for index, arg in enumerate(args):
            if not isinstance(arg, str):
                message = f"{told}: args[{index}] must be a string{all_of_it}"
                yield error("client-value-invalid", message, f"{path}.args[{index}]")
    for group in ("env", "headers", "http_headers", "env_http_headers"):
        table = server.get(group, {})
        if not isinstance(table, dict):
            yield error("client-value-invalid", f"{told}: {group} must be an object{all_of_it}", f"{path}.{group}")
            continue
        for name, value in table.items():
            if not isinstance(value, str) and not (group == "env" and client.id == "vscode"):
                where = f"{group}.{shown(str(name), 80)}"
                message = f"{told}: {where} must be a string, in quotes{all_of_it}"
                yield error("client-value-invalid", message, f"{path}.{where}")
    if client.closed and isinstance(server.get("env"), dict):
        for name in ("PLUGIN_ROOT", "PLUGIN_DATA"):
            if name in dict(server["env"] if isinstance(server["env"], dict) else {}):
                yield error("client-value-invalid", f"{told}: env may not set {name}", f"{path}.env.{name}")


def _texts(server: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    for key in ("command", "url", "serverUrl", "httpUrl"):
        value = server.get(key)
        if isinstance(value, str):
            yield ("command" if key == "command" else "url"), key, value
    args = server.get("args")
    if isinstance(args, list):
        yield from (("args", f"args[{index}]", arg) for index, arg in enumerate(args) if isinstance(arg, str))
    for group in ("env", "headers"):
        table = server.get(group)
        if isinstance(table, dict):
            for name, value in table.items():
                if isinstance(value, str):
                    yield group, f"{group}.{shown(str(name), 80)}", value


def _expansion(
    told: str, path: str, server: Mapping[str, object], client: Client, inputs: set[str]
) -> Iterator[Diagnostic]:
    for where, field, text in _texts(server):
        if "$" not in text:
            continue
        pattern = client.expanded(where)
        expanded = placeholders(text, pattern) if pattern else ()
        literal = [name for name in placeholders(text) if name not in expanded]
        if literal and client.id != "generic":
            names = ", ".join(literal)
            message = f"{told}: {client.title} does not expand {names} in {field}; the server gets it as it stands"
            yield warning("client-placeholder", message, f"{path}.{field}")
        if client.id == "gemini-cli" and any(":" in name for name in expanded):
            message = f"{told}: {client.title} expands ${{NAME}} only; {', '.join(expanded)} in {field} becomes empty"
            yield warning("client-placeholder", message, f"{path}.{field}")
        if client.id == "vscode":
            for ident in re.findall(r"\$\{input:([^}]*)\}", text):
                if ident not in inputs:
                    message = f"{told}: there is no input {shown(ident, 80)} in inputs, which {field} asks for"
                    yield error("client-input-missing", message, f"{path}.{field}")
