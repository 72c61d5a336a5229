"""SKILL.md, Specialist and connector documents: honest ones, damaged where their readers make decisions.

What must hold for every text: a reading and no exception, names that are paths, nothing raw in a message, nothing of a
dropped value anywhere, and for connectors that what is installed reads back as what it was.
"""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from pathlib import Path

from importer.diagnostics import Diagnostic, Severity, hidden
from importer.formats.connectors.reading import read_connectors
from importer.formats.connectors.template import read_template
from importer.formats.names import name_fault
from importer.formats.skill import read_skill
from importer.formats.specialist import read_specialist
from importer.jsontext import JsonFault, parse
from importer.paths import RelPath
from tests.builders.containers import meter
from tests.builders.packages import as_json, manifest, skill_md, specialist_document
from tests.fuzz.engine import Target

CANARY = "kept-away-from-everything"
SKILLS = (
    skill_md(
        "reef-survey", extra="license: MIT\nmetadata:\n  version: 1.2.0\n  tags: [a, b]\nallowed-tools: Read Grep"
    ),
    skill_md("reef-survey", description="Configure it: hooks, servers", extra='argument-hint: [a] "b"'),
    b"\xef\xbb\xbf---\r\nname: demo\r\ndescription: >-\r\n  folded\r\n  text\r\n---\r\nbody [x](references/a.md)\r\n",
    b"---\nname: \xc3\xa9t\xc3\xa9\ndescription: |\n  one\n\n  two # three\nversion: 1.10\n---\n",
)
ROLES = (as_json(specialist_document()), as_json(manifest()))
CONNECTORS = (
    as_json(
        {
            "mcpServers": {
                "a": {"command": "npx", "args": ["-y", "x"], "env": {"TOKEN": CANARY}},
                "b": {"type": "http", "url": "https://x.example/mcp", "headers": {"X-Key": CANARY}},
            }
        }
    ),
    as_json(
        {
            "schema_version": 1,
            "kind": "open-science.connector",
            "name": "docs",
            "display_name": "Docs",
            "transport": "streamable_http",
            "url": "https://docs.example/mcp",
            "oauth": {"scopes": ["read"], "authorization_server_url": "https://auth.example", "client_id": "c"},
        }
    ),
    b'{ // mine\n "servers": {"a": {"command": "x", "args": ["--port", "1"],}, }, "inputs": [] }',
)
_BITS = (
    *(b"---\n", b"\n", b"\r", b": ", b"- ", b"&a ", b"*a ", b"!!str ", b"# ", b"'", b'"', b"[", b"]", b"{", b"}"),
    *(b"|\n", b">-\n", b"? ", b"\t", b"\0", b"\x1b[2J", b"\xe2\x80\xae", b"\xf3\xa0\x81\x81", b"\xff", b"\xc2\x85"),
    *(b"\xed\xa0\x80", b",", b"\\", b"name: x\n", b"null", b"1e999", b"\\ud800", b"//", b"/*", b"--token "),
    *(b"https://u:p@h/", b"%2f", b".."),
)


def mutant(bases: tuple[bytes, ...], rng: random.Random) -> bytes:
    """Return an honest document with one to four small changes."""
    data = bytearray(rng.choice(bases))
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        at = rng.randrange(len(data) + 1)
        what = rng.random()
        if what < 0.45:
            data[at:at] = rng.choice(_BITS)
        elif what < 0.65:
            del data[at : at + rng.choice((1, 1, 3, 20))]
        elif what < 0.8 and at < len(data):
            data[at] = rng.randrange(256)
        elif what < 0.9:
            start = rng.randrange(len(data) + 1)
            data[at:at] = data[start : start + rng.randrange(40)]
        else:
            data[at:at] = rng.choice(_BITS) * rng.choice((50, 500, 3000))
    return bytes(data)


def _words(found: tuple[Diagnostic, ...]) -> str:
    """Return what came of it; every finding must be fit to print."""
    for finding in found:
        assert not hidden().search(finding.message), finding.code
        assert not hidden().search(finding.path), finding.code
        json.dumps(dict(finding.facts))
    return "refused" if any(f.severity is Severity.ERROR for f in found) else "accepted"


def feed_skill(data: bytes, _scratch: Path, /) -> str:
    """Read a SKILL.md; a usable one has a name that can be a folder on every system."""
    reading = read_skill(data, complete=True, root="pack/demo", folder="demo")
    if reading.usable:
        assert RelPath.parse(reading.name).text == reading.name
        assert not name_fault(reading.name)
        assert reading.description.strip()
    return _words(reading.diagnostics)


def feed_role(data: bytes, _scratch: Path, /) -> str:
    """Read either document of a Specialist package beside an honest other."""
    pair = (data, ROLES[0]) if b"schema_version" in data else (ROLES[1], data)
    reading = read_specialist(*pair)
    word = _words(reading.diagnostics)
    assert (reading.document is None) == (word == "refused")
    return word


def _stands_only_in_secrets(data: bytes) -> bool:
    """Return whether the value stands in environments and headers alone: a mutation may have copied it elsewhere."""
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
        waiting: list[tuple[str, object]] = [("", parse(text, comments=True, trailing_commas=True).root.plain())]
    except (UnicodeDecodeError, JsonFault):
        return False
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            if any(CANARY in name for name in value):
                return False
            waiting += [(name, inner) for name, inner in value.items() if name not in {"env", "headers"}]
        elif isinstance(value, list):
            waiting += [(key, inner) for inner in value]
        elif isinstance(value, str) and CANARY in value:
            return False
    return True


def feed_connectors(data: bytes, _scratch: Path, /) -> str:
    """Read connectors; nothing of a dropped value is anywhere, and what would be installed reads back."""
    reading = read_connectors(data, label="mcp.json", meter=meter("connector"))
    word = _words(reading.diagnostics)
    assert CANARY not in repr(reading.diagnostics)
    assert CANARY not in repr(reading.left_out)
    only_dropped = _stands_only_in_secrets(data)
    for candidate in reading.candidates:
        assert CANARY.encode() not in candidate.template or not only_dropped
        if not candidate.asks:
            assert read_template(candidate.template).name == candidate.name
        assert name_fault(candidate.name) == ""
        assert json.loads(candidate.template)["name"] == asdict(candidate)["name"]
    return word if reading.candidates else "refused"


TARGETS = tuple(
    Target(name=name, make=lambda rng, bases=bases: mutant(bases, rng), feed=feed)  # type: ignore[misc]  # bound early
    for name, bases, feed in (
        ("skill", SKILLS, feed_skill),
        ("role", ROLES, feed_role),
        ("connectors", CONNECTORS, feed_connectors),
    )
)
