"""The rules of a connector template over its values: lengths, characters, and what excludes or needs what.

All of them are applied, whatever failed before, so that a person mends a document once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from importer.diagnostics import hidden
from importer.formats.connectors.address import is_loopback, take_apart
from importer.formats.connectors.draft import named
from importer.formats.connectors.naming import MAX_NAME, is_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from importer.formats.connectors.draft import Draft, Report

INVALID = "connector-invalid"
TRANSPORTS = ("stdio", "streamable_http", "sse")
MAX_DISPLAY_NAME = 128
MAX_DESCRIPTION = 2_000
MAX_COMMAND = 1_024
MAX_ARGS = 128
MAX_ARG = 2_048
MAX_SECRETS = 64
MAX_SECRET_NAME = 128
MAX_SCOPES = 32
MAX_SCOPE = 128
MAX_CLIENT_ID = 2_048
ENVIRONMENT = "required_secrets.environment"
HEADERS = "required_secrets.headers"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_IN_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


def check(draft: Draft, report: Report) -> None:
    """Hold a draft to every rule but those about credentials, and say what breaks one."""
    _words(draft, report)
    _process(draft, report)
    _names(draft.environment, ENVIRONMENT, _ENVIRONMENT, "letters, digits and _, no digit first", report)
    _names(draft.headers, HEADERS, _HEADER, "letters, digits and !#$%&'*+-.^_`|~", report)
    if draft.url:
        _address(draft.url, "url", draft, report)
    _sign_in(draft, report)
    _across(draft, report)


def _words(draft: Draft, report: Report) -> None:
    if "name" in draft.present and draft.name and not is_name(draft.name):
        report.error(
            INVALID,
            "name",
            f"'{named(draft.name)}' is no name; expected 1 to {MAX_NAME} of a-z, 0-9 and '-', no '-' first",
            used=len(draft.name),
            max=MAX_NAME,
        )
    _length(draft.display_name, "display_name", MAX_DISPLAY_NAME, report)
    _length(draft.description, "description", MAX_DESCRIPTION, report)
    if _CONTROL.search(draft.display_name):
        report.error(INVALID, "display_name", "it holds a control character; write one line of text")
    if _CONTROL_IN_TEXT.search(draft.description):
        report.error(INVALID, "description", "it holds a control character; only line breaks and tabs are allowed")
    if draft.transport and draft.transport not in TRANSPORTS:
        report.error(
            INVALID, "transport", f"'{named(draft.transport, 40)}' is no transport; expected {', '.join(TRANSPORTS)}"
        )


def _length(text: str, where: str, most: int, report: Report) -> None:
    if len(text) > most:
        report.error(
            INVALID, where, f"{len(text):,} characters, at most {most:,} are allowed", used=len(text), max=most
        )


def _process(draft: Draft, report: Report) -> None:
    _length(draft.command, "command", MAX_COMMAND, report)
    if hidden().search(draft.command):
        report.error(INVALID, "command", "it holds a hidden or a control character; write the program's name alone")
    if len(draft.args) > MAX_ARGS:
        used = len(draft.args)
        report.error(INVALID, "args", f"{used} arguments, at most {MAX_ARGS} are allowed", used=used, max=MAX_ARGS)
    for number, arg in enumerate(draft.args[:MAX_ARGS]):
        _length(arg, f"args[{number}]", MAX_ARG, report)
        if "\0" in arg:
            report.error(INVALID, f"args[{number}]", "it holds a NUL character, which no program can be given")


def _names(names: Sequence[str], where: str, form: re.Pattern[str], said: str, report: Report) -> None:
    if len(names) > MAX_SECRETS:
        used = len(names)
        report.error(INVALID, where, f"{used} names, at most {MAX_SECRETS} are allowed", used=used, max=MAX_SECRETS)
    seen: set[str] = set()
    for number, name in enumerate(names[:MAX_SECRETS]):
        here = f"{where}[{number}]"
        if not name:  # said already where it was read
            continue
        _length(name, here, MAX_SECRET_NAME, report)
        if len(name) <= MAX_SECRET_NAME and not form.fullmatch(name):
            report.error(INVALID, here, f"this is no name; expected {said}, and no value")
        key = name.lower() if where == HEADERS else name
        if key in seen:
            report.error(INVALID, here, "the name stands twice; list it once")
        seen.add(key)


def _address(url: str, where: str, draft: Draft, report: Report) -> None:
    parts = take_apart(url)
    if parts.fault:
        report.error(INVALID, where, parts.fault, used=len(url))
    elif where == "url" and parts.scheme == "http" and not is_loopback(parts.host) and (draft.headers or draft.oauth):
        report.warn(
            "connector-plain-http",
            where,
            "the address is http: what its headers carry can be read on the way; use https",
        )


def _sign_in(draft: Draft, report: Report) -> None:
    oauth = draft.oauth
    if oauth is None:
        return
    for key in ("client_metadata_url", "authorization_server_url", "redirect_uri"):
        value = oauth.get(key)
        if isinstance(value, str) and value:  # what is blank was said where it was read
            _address(value, f"oauth.{key}", draft, report)
    redirect = oauth.get("redirect_uri")
    if isinstance(redirect, str) and redirect:
        parts = take_apart(redirect)
        wrong = parts.scheme != "http" or parts.host != "127.0.0.1" or parts.fragment or "#" in redirect
        if not parts.fault and (wrong or parts.user_info):
            report.error(INVALID, "oauth.redirect_uri", "expected http://127.0.0.1, without fragment and user info")
    scopes = oauth.get("scopes", ())
    if len(scopes) > MAX_SCOPES:
        used = len(scopes)
        report.error(
            INVALID, "oauth.scopes", f"{used} scopes, at most {MAX_SCOPES} are allowed", used=used, max=MAX_SCOPES
        )
    for number, scope in enumerate(scopes[:MAX_SCOPES]):
        _length(scope, f"oauth.scopes[{number}]", MAX_SCOPE, report)
        if len(scope) <= MAX_SCOPE and not _SCOPE.fullmatch(scope):
            report.error(INVALID, f"oauth.scopes[{number}]", "expected one scope: printable ASCII without spaces")
    client_id = oauth.get("client_id")
    if isinstance(client_id, str):
        _length(client_id, "oauth.client_id", MAX_CLIENT_ID, report)
        if _CONTROL.search(client_id):
            report.error(INVALID, "oauth.client_id", "it holds a control character")


def _across(draft: Draft, report: Report) -> None:
    """What excludes what, and what needs what."""
    there = draft.present
    if draft.transport == "stdio":
        if "command" not in there:
            report.error(INVALID, "command", "a stdio connector needs a command; say which program to start")
        for key in ("url", "oauth"):
            if key in there:
                report.error(INVALID, key, f"a stdio connector has no {key}; take it out, or change the transport")
        if draft.headers:
            report.error(INVALID, HEADERS, "a stdio connector sends no headers; list environment variables instead")
    elif draft.transport in TRANSPORTS:
        if "url" not in there:
            report.error(INVALID, "url", "a remote connector needs a url; say where the server is")
        if "command" in there:
            report.error(INVALID, "command", "a remote connector has no command; take it out, or change the transport")
        if draft.args:
            report.error(INVALID, "args", "a remote connector has no args; take them out, or change the transport")
        if draft.environment:
            report.error(INVALID, ENVIRONMENT, "a remote connector has no environment; list headers instead")
    elif "command" in there and "url" in there:
        report.error(INVALID, "url", "command and url exclude each other; keep one, and say its transport")
    if "oauth" in there and draft.headers:
        report.error(INVALID, HEADERS, "oauth and header secrets exclude each other; keep one of them")
    has_client = draft.oauth is not None and "client_id" in draft.oauth
    if draft.oauth is not None:
        if has_client and "authorization_server_url" not in draft.oauth:
            report.error(INVALID, "oauth.client_id", "client_id needs authorization_server_url beside it")
        if has_client and "client_metadata_url" in draft.oauth:
            report.error(
                INVALID, "oauth.client_metadata_url", "client_id excludes client_metadata_url; keep one of them"
            )
        if "redirect_uri" in draft.oauth and not has_client:
            report.error(INVALID, "oauth.redirect_uri", "redirect_uri needs client_id")
    if draft.oauth_client_secret and not has_client:
        report.error(INVALID, "required_secrets.oauth_client_secret", "it needs oauth.client_id")
