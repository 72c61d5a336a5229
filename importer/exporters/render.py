"""Connector templates as one client's configuration: pure, the same bytes everywhere, read again before use."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from dataclasses import replace as dataclass_replace
from enum import StrEnum
from types import MappingProxyType

from importer import jsontext
from importer.diagnostics import Diagnostic, Rejected, Severity, error, info, shown, warning
from importer.exporters.check import check_config
from importer.exporters.clients import Client, Secrets, Syntax
from importer.exporters.plugin_rules import is_command, url_fault
from importer.exporters.texts import Json, Server, json_text, placeholders, toml_table, variable
from importer.model import ConnectorTemplate
from importer.records import record

_NPX = frozenset({"npx", "npx.cmd"})
_SHIMS = frozenset({"npx", "npm", "pnpm", "pnpx", "yarn", "bunx"})
_CMD_SPECIAL = re.compile(r"[&|<>^%!\"()\r\n]")
_TRANSPORTS = {"stdio": "stdio", "streamable_http": "streamable HTTP", "sse": "SSE"}


class How(StrEnum):
    """How a secret gets to the server once the file is in place."""

    VARIABLE = "variable"
    """From an environment variable of the client."""
    PROMPT = "prompt"
    """The client asks."""
    BY_HAND = "by-hand"
    """A person writes it into the file."""
    OMITTED = "omitted"
    """The file may not name it; whoever runs the server provides it."""


@record
class NeededSecret:
    """One secret of one exported server: `place` is its field (`env.TOKEN`, `headers.Authorization`)."""

    connector: str
    place: str
    how: How
    variable: str = ""
    """For `VARIABLE`: its name. For `PROMPT`: the id of the input."""


@record
class Rendered:
    """An export. `servers` and `inputs` are what a merge writes; `document` is the whole file as text."""

    client: str
    document: str
    servers: Mapping[str, Server]
    inputs: tuple[Server, ...] = ()
    limitations: tuple[Diagnostic, ...] = ()
    left_out: tuple[str, ...] = ()
    """Connectors that the client cannot express at all; each has its diagnostic in `limitations`."""
    secrets: tuple[NeededSecret, ...] = ()

    @property
    def fill_in(self) -> tuple[str, ...]:
        """What a person has to write by hand, as `NAME: env.TOKEN`."""
        return tuple(f"{s.connector}: {s.place}" for s in self.secrets if s.how is How.BY_HAND)

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that the client has to find."""
        return tuple(dict.fromkeys(s.variable for s in self.secrets if s.how is How.VARIABLE))


@record(frozen=False, kw_only=False)
class _Draft:
    """What is collected while the connectors are gone through."""

    printed: dict[str, Server] = field(default_factory=dict)
    servers: dict[str, Server] = field(default_factory=dict)
    inputs: list[Server] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    secrets: list[NeededSecret] = field(default_factory=list)
    taken: dict[str, str] = field(default_factory=dict)
    """Variables for headers with what they stand for, so that two never share one."""


def render(
    templates: Sequence[ConnectorTemplate],
    client: Client,
    *,
    bearer: Collection[str] = (),
    windows_cmd: bool = False,
    prompts: bool = True,
) -> Rendered:
    """Write connectors in a client's own form.

    Args:
        templates: what to export, in this order; a name that stands twice is written once.
        client: one of `CLIENTS`.
        bearer: connectors whose `Authorization` is a token, to be sent as `Bearer TOKEN`; otherwise the secret is the
            whole value of the header.
        windows_cmd: start script shims such as npx through `cmd /c`, which Windows needs in some clients.
        prompts: where the client can ask for a secret, let it; otherwise name an environment variable.

    Raises:
        Rejected: the client can express none of them, or would not read the result.
    """
    if client.secrets is Secrets.INPUT and not prompts:
        client = dataclass_replace(client, secrets=Secrets.ENV)
    draft = _Draft()
    for template in templates:
        if template.name in draft.printed or template.name in draft.left_out:
            continue
        fault = _impossible(template, client)
        if fault is not None:
            draft.notes.append(fault)
            draft.left_out.append(template.name)
            continue
        _add(draft, template, client, bearer=template.name in bearer, windows_cmd=windows_cmd)
    if not draft.printed:
        reasons = [d for d in draft.notes if d.severity is Severity.WARNING]
        nothing = f"{client.title} can express none of these connectors"
        raise Rejected([error("export-nothing-left", nothing, client=client.id), *reasons])
    document = document_text(draft.printed, draft.inputs, client)
    _verify(document, draft.printed, client)
    return Rendered(
        client=client.id,
        document=document,
        servers=MappingProxyType(draft.servers),
        inputs=tuple(draft.inputs),
        limitations=tuple(draft.notes),
        left_out=tuple(draft.left_out),
        secrets=tuple(draft.secrets),
    )


def document_text(servers: Mapping[str, Server], inputs: Sequence[Server], client: Client) -> str:
    """Write a whole new file: UTF-8 text, lines ended by LF, a newline at the end."""
    if client.syntax is Syntax.TOML:
        return "\n".join(toml_table(client.root, name, server) for name, server in servers.items())
    document: dict[str, Json] = {"$schema": client.closed} if client.closed else {}
    document[client.root] = dict(servers)
    if inputs:
        document["inputs"] = list(inputs)
    return json_text(document) + "\n"


def _impossible(template: ConnectorTemplate, client: Client) -> Diagnostic | None:
    """Return why a client cannot express a connector at all, or None."""
    kind = {"stdio": client.stdio, "streamable_http": client.http, "sse": client.sse}.get(template.transport)
    if kind is None:
        what = _TRANSPORTS.get(template.transport, shown(template.transport))
        way = "add it under Settings > Connectors of the application" if client.id == "claude-desktop" else ""
        return _left_out(template, client, "export-transport-unsupported", f"cannot be given {what} in its file", way)
    if not client.closed:
        return None
    if template.transport == "stdio" and not is_command(template.command):
        bare = "takes only a bare name or ./… inside the plugin as a command"
        return _left_out(template, client, "export-command-unsupported", bare)
    if template.url and (fault := url_fault(template.url)):
        return _left_out(template, client, "export-url-unsupported", f"does not take its URL: {fault}")
    return None


def _left_out(template: ConnectorTemplate, client: Client, code: str, why: str, way: str = "") -> Diagnostic:
    message = f"{shown(template.name)} is left out: {client.title} {why}" + (f"; {way}" if way else "")
    return warning(code, message, template.name, connector=template.name, client=client.id)


def _add(draft: _Draft, template: ConnectorTemplate, client: Client, *, bearer: bool, windows_cmd: bool) -> None:
    server: Server = {}
    if template.transport == "stdio":
        if client.stdio:
            server["type"] = client.stdio
        command, args = template.command, list(template.args)
        if windows_cmd:
            command, args = _through_cmd(draft, template, client)
        server["command"] = command
        server["args"] = list[Json](args)
        _say_prompting(draft, template)
    else:
        kind = client.http if template.transport == "streamable_http" else client.sse
        if kind:
            server["type"] = kind
        server[client.url_key] = template.url
    _say_placeholders(draft, template, client)
    if template.oauth is not None or template.oauth_client_secret:
        draft.notes.append(
            warning(
                "export-oauth-omitted",
                f"{shown(template.name)}: how to sign in (OAuth) is left out; sign in from {client.title} when it "
                "first connects",
                template.name,
                connector=template.name,
            )
        )
    printed = {key: list(value) if isinstance(value, list) else value for key, value in server.items()}
    _add_secrets(draft, template, client, server, printed, bearer=bearer)
    draft.servers[template.name] = server
    draft.printed[template.name] = printed


def _through_cmd(draft: _Draft, template: ConnectorTemplate, client: Client) -> tuple[str, list[str]]:
    args = list(template.args)
    if template.command not in _SHIMS or client.closed:
        return template.command, args
    special = [index for index, arg in enumerate(args) if _CMD_SPECIAL.search(arg)]
    if special:
        draft.notes.append(
            warning(
                "export-cmd-unsafe",
                f"{shown(template.name)} is not started through cmd: args[{special[0]}] holds a character that cmd "
                "would act on; use the full path of a program instead",
                f"args[{special[0]}]",
                connector=template.name,
            )
        )
        return template.command, args
    return "cmd", ["/c", template.command, *args]


def _say_prompting(draft: _Draft, template: ConnectorTemplate) -> None:
    options = []
    for arg in template.args:
        if not arg.startswith("-"):
            break
        options.append(arg)
    if template.command in _NPX and not {"-y", "--yes"} & set(options):
        draft.notes.append(
            warning(
                "export-npx-prompts",
                f"{shown(template.name)}: npx without -y waits for an answer that nobody can give while the package "
                'is not there yet; put "-y" first in args',
                "args",
                connector=template.name,
            )
        )


def _say_placeholders(draft: _Draft, template: ConnectorTemplate, client: Client) -> None:
    """Args and URLs are kept exactly; where a client would read more, or less, into them, that is said."""
    texts = [("command", "command", template.command), ("url", "url", template.url)]
    texts += [("args", f"args[{index}]", arg) for index, arg in enumerate(template.args)]
    for where, path, text in texts:
        if "$" not in text:
            continue
        pattern = client.expanded(where)
        expanded = placeholders(text, pattern) if pattern else ()
        if expanded:
            goes = " and sends it to that address" if where == "url" else ""
            message = (
                f"{shown(template.name)}, {path}: {client.title} puts a value of its own in place of "
                f"{', '.join(expanded)}{goes}; it has no way to write this literally"
            )
            draft.notes.append(warning("export-text-expanded", message, path, connector=template.name))
        literal = [name for name in placeholders(text) if name not in expanded]
        if literal:
            message = (
                f"{shown(template.name)}, {path}: {client.title} does not expand {', '.join(literal)}; the server gets "
                "it as it stands"
            )
            draft.notes.append(warning("export-placeholder-literal", message, path, connector=template.name))


def _add_secrets(
    draft: _Draft, template: ConnectorTemplate, client: Client, server: Server, printed: Server, *, bearer: bool
) -> None:
    places = [("env", name) for name in template.environment] + [("headers", name) for name in template.headers]
    if not places:
        return
    needed: list[NeededSecret] = []
    for group, name in places:
        as_token = bearer and name.lower() == "authorization"
        where = f"{group}.{name}"
        if client.secrets in {Secrets.BY_HAND, Secrets.OMITTED}:
            how = How.BY_HAND if client.secrets is Secrets.BY_HAND else How.OMITTED
            needed.append(NeededSecret(connector=template.name, place=where, how=how))
            if how is How.BY_HAND:
                _put(printed, group, name, f"Bearer <{name}>" if as_token else f"<{name}>")
            continue
        if client.secrets is Secrets.INPUT:
            ident = f"{template.name}-{name}"
            needed.append(NeededSecret(connector=template.name, place=where, how=How.PROMPT, variable=ident))
            what = "environment variable" if group == "env" else "header"
            description = f"{template.display_name}: {what} {name}"
            draft.inputs.append({"type": "promptString", "id": ident, "description": description, "password": True})
            reference = f"${{input:{ident}}}"
        else:
            ident = name if group == "env" else _header_variable(draft, template.name, name)
            needed.append(NeededSecret(connector=template.name, place=where, how=How.VARIABLE, variable=ident))
            reference = f"${{env:{ident}}}" if client.secrets is Secrets.ENV else f"${{{ident}}}"
        for entry in (server, printed):
            if client.secrets is Secrets.BY_NAME:
                _put_name(entry, group, name, ident, as_token)
            else:
                _put(entry, group, name, f"Bearer {reference}" if as_token else reference)
    draft.secrets.extend(needed)
    draft.notes.append(_secrets_note(template, client, needed))


def _put(server: Server, group: str, name: str, value: str) -> None:
    table = server.setdefault(group, {})
    if isinstance(table, dict):
        table[name] = value


def _put_name(server: Server, group: str, name: str, ident: str, as_token: bool) -> None:
    """Name a secret in Codex's own fields: there a value never stands in the file."""
    if group == "env":
        names = server.setdefault("env_vars", [])
        if isinstance(names, list):
            names.append(name)
    elif as_token:
        server["bearer_token_env_var"] = ident
    else:
        _put(server, "env_http_headers", name, ident)


def _header_variable(draft: _Draft, connector: str, header: str) -> str:
    base = variable(connector, header)
    owner = f"{connector}\n{header}"
    name, number = base, 2
    while draft.taken.setdefault(name, owner) != owner:
        name, number = f"{base}_{number}", number + 1
    return name


def _secrets_note(template: ConnectorTemplate, client: Client, needed: Sequence[NeededSecret]) -> Diagnostic:
    places = ", ".join(shown(secret.place) for secret in needed)
    name, how = shown(template.name), needed[0].how
    if how is How.BY_HAND:
        return warning(
            "export-secret-by-hand",
            f"{name}: {client.title} has no way to name a secret without its value; write these into the file "
            f"yourself: {places}",
            template.name,
            connector=template.name,
            fill_in=[secret.place for secret in needed],
        )
    if how is How.OMITTED:
        return warning(
            "export-secret-omitted",
            f"{name}: {client.title} may not name secrets; say in the plugin's README that it needs {places}",
            template.name,
            connector=template.name,
            fill_in=[secret.place for secret in needed],
        )
    if how is How.PROMPT:
        return info(
            "export-secret-prompted",
            f"{name}: {client.title} asks for {places} when the server first starts",
            template.name,
            connector=template.name,
            inputs=[secret.variable for secret in needed],
        )
    return info(
        "export-secret-variable",
        f"{name}: set these in the environment of {client.title}: {', '.join(secret.variable for secret in needed)} "
        f"(for {places})",
        template.name,
        connector=template.name,
        variables=[secret.variable for secret in needed],
    )


def _verify(document: str, servers: Mapping[str, Server], client: Client) -> None:
    """Read the document again as the client would.

    Raises:
        Rejected: the client would refuse or ignore a part of it.
    """
    refused = [d for d in check_config(document.encode("utf-8"), client) if d.severity is Severity.ERROR]
    if refused:
        raise Rejected(refused)
    if client.syntax is Syntax.TOML:
        read: object = tomllib.loads(document).get(client.root)
    else:
        node = jsontext.parse(document).root.get(client.root)
        read = node.plain() if node else None
    if read != dict(servers):
        message = f"the document for {client.title} does not read back as it was written; report this as a fault"
        raise Rejected([error("export-unverified", message, client=client.id)])
