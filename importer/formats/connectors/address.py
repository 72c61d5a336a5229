"""Web addresses in a template: which ones can be used at all."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple
from urllib.parse import urlsplit

from importer.diagnostics import hidden

MAX_URL = 2_048
_BLANK = re.compile(r"[\s\x00-\x20]")
_OPEN = re.compile(r"[<>{}\[\]|\\^`\"$]")


class Address(NamedTuple):
    """A URL that was taken apart, or why it cannot be: `fault` is "" where it can."""

    fault: str
    scheme: str = ""
    host: str = ""
    fragment: bool = False
    user_info: bool = False


def take_apart(url: str) -> Address:
    """Return the parts of an http or https URL that rules speak of. No fault quotes the URL."""
    if len(url) > MAX_URL:
        return Address(f"{len(url):,} characters, at most {MAX_URL:,} are allowed")
    if not url.strip():
        return Address("it is empty; expected an http or https URL")
    if _BLANK.search(url) or hidden().search(url):
        return Address("it holds a space or a hidden character; write the URL without, or percent-encoded")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        user_info = "@" in parts.netloc
    except ValueError:
        return Address("it cannot be taken apart as a URL; check the host, the brackets and the port")
    if parts.scheme not in {"http", "https"}:
        if url.startswith(("${", "$", "<", "{", "%")):
            return Address("it starts with a placeholder, which nothing fills in; write the address itself")
        return Address("expected a URL that starts with http:// or https://")
    bare = host.strip("[]")
    if not host or (_OPEN.search(bare) and not user_info) or port == 0:
        return Address("it has no host that can be used, or a placeholder in its place; write the address itself")
    return Address("", parts.scheme, host, bool(parts.fragment), user_info)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name or its number."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
