"""What `mcp.json` of Agent Plugins 1.0.0 demands of a server beyond its types: the exact keys, and forms of values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from importer.diagnostics import Diagnostic, error, shown

_OF_STDIO = ("args", "env", "cwd")
_OF_REMOTE = ("headers",)
_LOOPBACK = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|::1")
_ROOTS = re.compile(r"(?:\.|\$\{PLUGIN_(?:ROOT|DATA)\})(?:/(.*))?", re.DOTALL)
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def is_command(command: str) -> bool:
    """Say whether a command is one token: a bare name, or `./…` inside the plugin."""
    if re.search(r"[\s\\]", command) or not command:
        return False
    return "/" not in command or (command.startswith("./") and _inside(command[2:]))


def url_fault(url: str) -> str:
    """Return what is wrong with the address of a server, "" for nothing."""
    try:
        parts = urlsplit(url)
        host, there = parts.hostname or "", "@" in parts.netloc
    except ValueError:
        return "it cannot be taken apart as a URL"
    if parts.scheme not in {"http", "https"} or not host:
        return "it is no absolute http or https URL"
    if there:
        return "it holds user info"
    if "#" in url:
        return "it has a fragment"
    if parts.scheme == "http" and not _LOOPBACK.fullmatch(host):
        return "plain http goes only to this machine"
    return ""


def server_faults(told: str, path: str, server: Mapping[str, object]) -> Iterator[Diagnostic]:
    """Yield what the client would refuse a server for. No value is shown.

    Args:
        told: the server's name for messages, escaped.
        path: its place, for `Diagnostic.path`.
        server: the entry; types were checked before.
    """
    code = "client-value-invalid"
    kind = server.get("type")
    other = _OF_REMOTE if kind == "stdio" and "url" not in server else _OF_STDIO if "command" not in server else ()
    for key in other:
        if key in server and kind in {"stdio", "streamable-http", "sse"}:
            yield error("client-field-rejected", f"{told}: a server of that type may not have {key}", f"{path}.{key}")
    command, cwd, url = server.get("command"), server.get("cwd"), server.get("url")
    if isinstance(command, str) and command and not is_command(command):
        yield error(code, f"{told}: command must be a bare name, or ./… inside the plugin", f"{path}.command")
    if "cwd" in server and not (isinstance(cwd, str) and _is_folder(cwd)):
        forms = "./…, ${PLUGIN_ROOT}/… or ${PLUGIN_DATA}/…, and stay inside"
        yield error(code, f"{told}: cwd must be {forms}", f"{path}.cwd")
    if isinstance(url, str) and url and (fault := url_fault(url)):
        yield error(code, f"{told}: url is not taken: {fault}", f"{path}.url")
    headers = server.get("headers")
    seen: set[str] = set()
    for name, value in headers.items() if isinstance(headers, dict) else ():
        where = f"{path}.headers.{shown(str(name), 80)}"
        if not _HEADER.fullmatch(str(name)) or (
            isinstance(value, str) and re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value)
        ):
            yield error(code, f"{told}: this is no valid header field", where)
        if str(name).lower() in seen:
            yield error(code, f"{told}: the header stands twice, in other capitals", where)
        seen.add(str(name).lower())


def _is_folder(text: str) -> bool:
    match = _ROOTS.fullmatch(text)
    return match is not None and "\\" not in text and _inside(match.group(1) or "")


def _inside(path: str) -> bool:
    """Say whether a relative path stays below where it starts, at every step."""
    depth = 0
    for segment in path.split("/"):
        depth += -1 if segment == ".." else 0 if segment in {"", "."} else 1
        if depth < 0:
            return False
    return True
