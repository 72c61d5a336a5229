"""Credentials in a command line, by the position of an argument and by its shape."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from importer.secrets import values
from importer.secrets.findings import Finding, Level, finding, strongest
from importer.secrets.names import Strength, is_credential_header, is_identifier, strength
from importer.secrets.urls import json_pairs, packed_pairs, scan_url, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONG = re.compile(r"--?([A-Za-z][A-Za-z0-9_.-]*)(?:=(.*))?", re.DOTALL)
_WINDOWS = re.compile(r"/([A-Za-z][A-Za-z0-9_-]{3,}):(.+)", re.DOTALL)
_GLUED = re.compile(r"-([pkaPwu])([^\s=-].{3,})", re.DOTALL)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>|]+(?:<[^<>\s]*>[^\s\"'<>|]*)*")
_ASSIGNED = re.compile(
    r"""(?:^|[\s;&,'"({-])(?:\$env:)?([A-Za-z_][A-Za-z0-9_.-]{0,80})\s?=\s?("[^"]*"|'[^']*'|[^\s;&,'"]+)"""
)
_HEADER = re.compile(r"""\s*['"]?([A-Za-z][A-Za-z0-9-]{1,60})\s*[:=]\s*(.+)""", re.DOTALL)
_TOKEN = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*'|["'])+""")
_HEADER_FLAGS = frozenset({"H", "header", "headers", "http-header", "extra-header", "custom-header", "add-header"})
_USER_FLAGS = frozenset({"u", "user", "userpass", "basic-auth", "proxy-user"})
# Programs whose one-letter flag takes a password: what their manuals say.
_PROGRAMS = {
    "redis-cli": "a", "sshpass": "p", "mongosh": "p", "mongo": "p", "mysql": "p", "mariadb": "p", "mysqldump": "p",
    "sqlcmd": "P", "ldapsearch": "w", "curl": "u",
}  # fmt: skip
_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "container"})


class _Judged(NamedTuple):
    level: Level
    rule: str
    value: str


def scan_command_line(command: str, args: Sequence[str]) -> list[Finding]:
    """Look for credentials in a command and its arguments.

    Returns: at most one finding for `command` and one for each argument, the surest, in their order.
    """
    program = re.split(r"[/\\]", command.strip().split(" ")[0])[-1].removesuffix(".exe").lower()
    found: list[Finding] = []
    first = strongest([_made(judged, "command") for judged in _line(command)] + _urls(command, "command"))
    found += [first] if first else []
    before = ""
    for number, arg in enumerate(args):
        text = arg[: values.MAX_SCANNED]
        field = f"args[{number}]"
        best = strongest([_made(judged, field) for judged in _judge(text, before, program)] + _urls(text, field))
        if best:
            found.append(best)
        before = text
    return found


def scan_text(text: str, field: str) -> list[Finding]:
    """Look for what is a credential by its shape alone: for descriptions, names and other prose."""
    return [finding(Level.CERTAIN, shape.rule, field, shape.value) for shape in values.shapes(text)]


def _made(judged: _Judged, field: str) -> Finding:
    return finding(judged.level, judged.rule, field, judged.value)


def _urls(text: str, field: str) -> list[Finding]:
    return [each for match in _URL.finditer(text) for each in scan_url(match.group(), field, remote=False)]


def _line(text: str) -> Iterator[_Judged]:
    """Judge a whole command line in one string: its words are arguments of their own."""
    words = [word.strip("\"'") for word in _TOKEN.findall(text)[:256]]
    yield from _by_text(text)
    for before, word in zip(["", *words], words, strict=False):
        yield from _by_position(word, before, re.split(r"[/\\]", words[0])[-1])


def _judge(arg: str, before: str, program: str) -> Iterator[_Judged]:
    yield from _by_position(arg, before, program)
    yield from _by_text(arg)
    if any(character.isspace() for character in arg) and ("-" in arg or "=" in arg):
        yield from _line(arg)
    yield from _opaque(arg, before)


def _by_text(arg: str) -> Iterator[_Judged]:
    """What a text shows wherever it stands."""
    for shape in values.shapes(arg):
        yield _Judged(Level.CERTAIN, shape.rule, shape.value)
    after = arg.rpartition(" ")[2].partition("=")[2]
    for value in (*json_pairs(arg), *packed_pairs(arg), *packed_pairs(after)):
        yield _Judged(Level.CERTAIN, "json", value)
    for match in _ASSIGNED.finditer(arg):
        yield from _named(match.group(1), match.group(2), "assignment")
    yield from _header(arg, by_flag=False)


def _by_position(arg: str, before: str, program: str) -> Iterator[_Judged]:
    flag = _LONG.fullmatch(before)
    if flag and flag.group(2) is None and not _is_flag(arg):
        yield from _flagged(flag.group(1), arg, before.startswith("--"), program)
    own = _LONG.fullmatch(arg)
    if own and own.group(2) is not None:
        yield from _flagged(own.group(1), own.group(2), arg.startswith("--"), program)
    elif windows := _WINDOWS.fullmatch(arg):
        yield from _named(windows.group(1), windows.group(2), "flag")
    elif arg.startswith("-e") and not arg.startswith("--") and "=" in arg:
        name, _, value = arg[2:].partition("=")
        yield from _named(name, value, "assignment", weak_is_enough=True)
    elif arg.startswith("-H"):
        yield from _header(arg[2:], by_flag=True)
    elif (glued := _GLUED.fullmatch(arg)) and not _is_long_name(arg):
        yield from _glued(glued.group(1), glued.group(2), program)


def _is_flag(arg: str) -> bool:
    return re.fullmatch(r"--?[A-Za-z][A-Za-z-]*(?:=.*)?", arg, re.DOTALL) is not None


def _is_long_name(arg: str) -> bool:
    """`-apiKey` is a long flag with one hyphen, `-pS3cretToken` a short one with its value."""
    return arg[1:].isalpha() and strength(arg) is Strength.STRONG


def _flagged(name: str, value: str, long: bool, program: str) -> Iterator[_Judged]:
    """Judge the value of one flag."""
    if name in _HEADER_FLAGS:
        yield from _header(value, by_flag=True)
    elif name in _USER_FLAGS:
        yield from _user(value, program)
    elif name in {"e", "env", "environment", "build-arg"}:
        variable, equals, inner = value.partition("=")
        if equals:
            yield from _named(variable, inner, "assignment", weak_is_enough=True)
    elif len(name) == 1:
        yield from _short(name, value, program)
    elif long or strength(name):
        yield from _named(name, value, "flag")


def _named(name: str, value: str, rule: str, *, weak_is_enough: bool = False) -> Iterator[_Judged]:
    """Judge a value that has a name: a flag's, a variable's, a field's."""
    how = strength(name)
    value = value.strip().strip("\"'`")
    if not how or not value or values.is_reference(value) or values.is_mode(value) or values.is_path(value):
        return
    if re.match(r"https?://|sha256:", value, re.IGNORECASE):
        return
    if values.is_placeholder(value) or value == name.upper().replace("-", "_") or _echo(name, value):
        yield _Judged(Level.PLACEHOLDER, rule, value)
    elif how is Strength.STRONG or weak_is_enough or values.is_opaque(value):
        # A short plain word after a plural is the name of a profile: AZURE_TOKEN_CREDENTIALS=prod.
        if how is Strength.STRONG or not (value.isalpha() and value.islower() and name.lower().endswith("s")):
            yield _Judged(Level.CERTAIN, rule, value)
    elif ":" in value and values.is_secretish(value.rpartition(":")[2]):
        yield _Judged(Level.CERTAIN, rule, value.rpartition(":")[2])
    elif values.is_secretish(value) or values.is_digest(value):
        # Also one that would be an identifier elsewhere: keys of some services are UUIDs, or 40 and 64 hex digits.
        yield _Judged(Level.LIKELY, rule, value)
    elif ":" in value and not re.fullmatch(r"[0-9:.]+", value):
        yield _Judged(Level.LIKELY, rule, value)


def _echo(name: str, value: str) -> bool:
    """`--token TOKEN`: the value is the flag's own last word, in capitals."""
    return value.isupper() and re.split(r"[-_.]", name)[-1].upper() == value and len(name) > 0


def _header(text: str, *, by_flag: bool) -> Iterator[_Judged]:
    match = _HEADER.fullmatch(text)
    if match is None or not is_credential_header(match.group(1)):
        return
    name, value = match.group(1), match.group(2).strip().strip("\"'")
    if not by_flag and strength(name) is not Strength.STRONG:
        return
    scheme, _, rest = value.partition(" ")
    if rest.strip() and scheme.lower() in {"bearer", "basic", "token", "apikey", "digest", "bot"}:
        value = rest.strip()
    elif not by_flag and any(character.isspace() for character in value):  # a sentence that starts with such a word
        return
    if not value or values.is_reference(value) or values.is_mode(value) or value.startswith("//"):
        return
    level = Level.PLACEHOLDER if values.is_placeholder(value) else Level.CERTAIN
    yield _Judged(level, "header", value)


def _user(value: str, program: str) -> Iterator[_Judged]:
    user, colon, password = value.partition(":")
    if not colon or not password or program in _CONTAINERS or values.is_mode(password):
        return
    if values.is_placeholder(value) or values.is_placeholder(password):
        yield _Judged(Level.PLACEHOLDER, "user-and-password", password)
    elif not (user.isdigit() and password.isdigit()) and "$(" not in value:
        sure = program in _PROGRAMS or values.is_secretish(password)
        yield _Judged(Level.CERTAIN if sure else Level.LIKELY, "user-and-password", password)


def _short(letter: str, value: str, program: str) -> Iterator[_Judged]:
    if values.is_placeholder(value) or values.is_reference(value):
        return
    if _PROGRAMS.get(program) == letter and program not in {"mysql", "mariadb", "mysqldump"}:
        yield _Judged(Level.CERTAIN, "password-flag", value)
    elif letter in "pkaPwst" and values.is_password_like(value) and ":" not in value and "@" not in value[1:]:
        yield _Judged(Level.LIKELY, "short-flag", value)


def _glued(letter: str, value: str, program: str) -> Iterator[_Judged]:
    if letter == "u":
        yield from _user(value, program)
    elif _PROGRAMS.get(program) == letter and not values.is_placeholder(value):
        yield _Judged(Level.CERTAIN, "glued-flag", value)
    elif not values.is_placeholder(value) and not value.islower() and _password_like(value):
        yield _Judged(Level.LIKELY, "glued-flag", value)


def _password_like(value: str) -> bool:
    plain = values.is_path(value) or values.is_number(value) or re.fullmatch(r"[0-9.:/]+(?:/tcp|/udp)?", value)
    return not plain and not any(c.isspace() for c in value) and any(c.isalpha() for c in value) and ":" not in value


def _opaque(arg: str, before: str) -> Iterator[_Judged]:
    """Judge a random-looking text that no name explains."""
    name, value = "", arg
    own = _LONG.fullmatch(arg)
    if own and own.group(2) is not None:
        name, value = own.group(1), own.group(2)
    elif re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]{0,60}=[^=].*", arg, re.DOTALL):
        name, _, value = arg.partition("=")
    elif (flag := _LONG.fullmatch(before)) and flag.group(2) is None:
        name = flag.group(1)
    if is_identifier(name) or _names_a_place(value) or unpacked(value):
        return
    if values.is_opaque(value):
        yield _Judged(Level.LIKELY, "random-text", value)


def _names_a_place(value: str) -> bool:
    """A path, a URL, a package with its version, an image with its digest."""
    package = re.fullmatch(r"(?:@[\w.-]+/)?[\w./-]+(?:\[[\w,-]+\])?(?:@|==|:)[\w.+^~*:-]+", value)
    return "://" in value or values.is_path(value) or package is not None or value.startswith(("@", "git+", "{", "["))
