"""Credentials in a URL: user info, query and fragment, the path, a configuration packed into a query value."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from importer.secrets import values
from importer.secrets.findings import Finding, Level, finding
from importer.secrets.names import Strength, is_credential_query_key, is_identifier, strength

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAIR = re.compile(r"""\\*["']([^"'\\{}\[\],:]{1,80})\\*["']\s*:\s*\\*["']([^"'\\]*)""")
_DEFAULT_PASSWORDS = frozenset({"password", "pass", "passwd", "pwd", "secret", "token"})
MAX_FIELDS = 256
"""Query fields of one URL that are looked at."""


def scan_url(url: str, field: str = "url", *, remote: bool = True) -> list[Finding]:
    """Look for credentials in one URL.

    Args:
        url: the URL; what cannot be parsed gives what its text alone shows.
        field: the field that it stands in.
        remote: whether it is the address of a server, where any user info and any credential-like query key is
            certain, even with a placeholder; else it is one argument of a command.
    """
    url = url[: values.MAX_SCANNED]
    found: list[Finding] = []
    try:
        parts = urlsplit(url)
        user, password = parts.username, parts.password
    except ValueError:
        return [finding(Level.CERTAIN, shape.rule, field, shape.value) for shape in values.shapes(url)]
    kind = field if field.startswith("url") else f"{field} url"
    found += _user_info(unquote(user or ""), unquote(password or ""), "@" in parts.netloc, kind, field, remote=remote)
    for query, place in ((parts.query, "query"), (parts.fragment, "fragment")):
        found += _query(query, f"{kind} {place}", field, remote=remote)
    found += _path(unquote(parts.path), f"{kind} path", field, remote=remote)
    if not any(each.level is Level.CERTAIN for each in found):
        found += [finding(Level.CERTAIN, shape.rule, field, shape.value) for shape in values.shapes(unquote(url))]
    return found


def _user_info(user: str, password: str, there: bool, kind: str, field: str, *, remote: bool) -> Iterator[Finding]:
    where = f"{kind} user info"
    if not there:
        return
    secret = password or user
    if remote:
        yield finding(Level.CERTAIN, "url-user-info", field, secret, where)
    elif password:
        stand_in = values.is_placeholder(password) or password.lower() in _DEFAULT_PASSWORDS
        level = Level.PLACEHOLDER if stand_in else Level.LIKELY if password == user else Level.CERTAIN
        yield finding(level, "url-user-info", field, password, where)
    elif values.is_opaque(user) or values.shapes(user):
        yield finding(Level.CERTAIN, "url-user-info", field, user, where)


def _query(query: str, place: str, field: str, *, remote: bool) -> Iterator[Finding]:
    for key, value in _fields(query):
        where = f"{place} {values.redacted(key[:60])}"
        if not value and values.is_opaque(key):
            yield finding(Level.LIKELY, "random-text", field, key, place)
            continue
        if is_credential_query_key(key):
            if remote:
                yield finding(Level.CERTAIN, "url-query", field, value, where)
            elif value and not values.is_mode(value) and not values.is_reference(value):
                level = Level.PLACEHOLDER if values.is_placeholder(value) else Level.CERTAIN
                yield finding(level, "url-query", field, value, where)
            continue
        shape = next(iter(values.shapes(value)), None)
        packed = next(packed_pairs(value), None)
        if shape:
            yield finding(Level.CERTAIN, shape.rule, field, shape.value, where)
        elif packed:
            yield finding(Level.CERTAIN, "packed-configuration", field, packed, where)
        elif values.is_opaque(value) and not is_identifier(key) and not unpacked(value):
            yield finding(Level.LIKELY, "random-text", field, value, where)


def _fields(query: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for part in re.split("[&;]", query, maxsplit=MAX_FIELDS)[:MAX_FIELDS]:
        parsed = parse_qsl(part, keep_blank_values=True)
        pairs += parsed or [(unquote(part), "")]
    return [pair for pair in pairs if pair[0]]


def _path(path: str, where: str, field: str, *, remote: bool) -> Iterator[Finding]:
    for segment in path.split("/"):
        for part in segment.split(";"):
            name, equals, value = part.partition("=")
            stands_in = values.is_placeholder(value)
            if equals and value and is_credential_query_key(name):
                yield finding(Level.PLACEHOLDER if stands_in else Level.CERTAIN, "url-path", field, value, where)
            elif shape := next(iter(values.shapes(part)), None):
                yield finding(Level.CERTAIN, "url-path", field, shape.value, where)
            elif values.is_opaque(part):
                # A hexadecimal identifier is as long as a hexadecimal key; letters of both cases are no identifier.
                mixed = not part.islower() and not part.isupper()
                sure = mixed and (remote or len(part) >= 32)
                yield finding(Level.CERTAIN if sure else Level.LIKELY, "url-path", field, part, where)


def unpacked(value: str) -> str:
    """Return the text of a JSON object that stands in a value, as it is or in base64; "" where there is none."""
    value = value.strip()
    if value.startswith(("{", "[")):
        return value
    if len(value) < 12 or not re.fullmatch(r"[A-Za-z0-9+/_=-]+", value):
        return ""
    standard = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""
    return text if text.lstrip().startswith(("{", "[")) else ""


def packed_pairs(value: str) -> Iterator[str]:
    """Yield the credentials of a JSON text that is packed into a value."""
    yield from json_pairs(unpacked(value))


def json_pairs(text: str) -> Iterator[str]:
    """Yield the credentials among the `"name": "value"` pairs of a text, whatever their depth and their quoting."""
    for match in _PAIR.finditer(text):
        name, inner = match.groups()
        literal = inner and not values.is_placeholder(inner) and not values.is_reference(inner)
        if literal and not values.is_mode(inner) and not values.is_path(inner):
            scheme, _, rest = inner.partition(" ")
            inner = rest if rest and scheme.lower() in {"bearer", "basic", "token"} else inner
            if strength(name) is Strength.STRONG or (strength(name) and values.is_secretish(inner)):
                yield inner
