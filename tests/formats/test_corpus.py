"""Skills as people publish them, in the proportions in which they do: at least 98 % are accepted, every deviation said.

The numbers are counts out of 8,874 documents of 46 public repositories.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from importer.formats.layout import recognise
from importer.formats.skill import SkillReading, read_skill
from tests.builders.packages import tree

TOTAL = 8_874


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """One way in which documents are written: how many are, and exactly what is said of each (code and line)."""

    id: str
    count: int
    lines: str
    said: tuple[tuple[str, int | None], ...] = ()
    folder: str = "skill-{n}"
    spoil: Callable[[bytes], bytes] = bytes
    usable: bool = True


NAME = "name: skill-{n}\n"
TEXT = "description: Reads table {n} and counts what is in it. Use it for data sets.\n"
INVALID = "skill-frontmatter-invalid"
SHAPES = (
    Shape(id="to the letter", count=3_252, lines=NAME + TEXT),
    Shape(id="CRLF", count=68, lines=NAME + TEXT, spoil=lambda data: data.replace(b"\n", b"\r\n")),
    Shape(
        id="byte order mark",
        count=3,
        lines=NAME + TEXT,
        said=(("text-byte-order-mark", 1),),
        spoil=b"\xef\xbb\xbf".__add__,
    ),
    Shape(
        id="unknown fields",
        count=2_001,
        lines=NAME + TEXT + "type: guide\nlibrary: pandas\nuser-invocable: true\n",
        said=(("skill-field-unknown", 4),),
    ),
    Shape(
        id="version at the top", count=300, lines=NAME + TEXT + "version: 1.0.0\n", said=(("skill-field-unknown", 4),)
    ),
    Shape(
        id="version of two numbers",
        count=60,
        lines=NAME + TEXT + "version: 1.10\n",
        said=(("skill-version-invalid", 4), ("skill-field-unknown", 4)),
    ),
    Shape(
        id="metadata that is no text",
        count=600,
        lines=NAME + TEXT + "metadata:\n  version: 1.0\n  tags: [a, b]\n  nested:\n    deep: {x: 1}\n",
        said=(("skill-field-form", 4), ("skill-version-invalid", 5)),
    ),
    Shape(
        id="tools in a list", count=139, lines=NAME + TEXT + "allowed-tools: [Read]\n", said=(("skill-field-form", 4),)
    ),
    Shape(
        id="tools with commas",
        count=187,
        lines=NAME + TEXT + "allowed-tools: Read, Grep\n",
        said=(("skill-field-form", 4),),
    ),
    Shape(id="another folder", count=1_619, lines=NAME + TEXT, folder="folder", said=(("skill-name-mismatch", 2),)),
    Shape(id="capitals", count=120, lines="name: Skill-{n}\n" + TEXT, said=(("skill-name-mismatch", 2),)),
    Shape(
        id="spaces in both",
        count=110,
        lines="name: Skill {n} Tool\n" + TEXT,
        folder="Skill {n} Tool",
        said=(("skill-name-mismatch", 2),),
    ),
    Shape(id="punctuation", count=83, lines="name: skill/{n}_x.y\n" + TEXT, said=(("skill-name-mismatch", 2),)),
    Shape(id="no name", count=20, lines=TEXT, said=(("skill-name-mismatch", 1),)),
    Shape(
        id="reserved prefix",
        count=22,
        lines="name: mcp-{n}\n" + TEXT,
        folder="mcp-{n}",
        said=(("skill-name-reserved", 2),),
    ),
    Shape(
        id="unquoted colon",
        count=75,
        lines=NAME + "description: Configure the harness: Hooks, MCP Servers, Skills {n}\n",
        said=(("skill-frontmatter-repaired", 3),),
    ),
    Shape(
        id="text after a flow sequence",
        count=9,
        lines=NAME + 'argument-hint: [action] — e.g. "list"\n' + TEXT,
        said=(("skill-frontmatter-repaired", 3), ("skill-field-unknown", 3)),
    ),
    Shape(
        id="cut short",
        count=5,
        lines=NAME + "description: Works on issue #{n}\n",
        said=(("skill-description-cut", 3),),
    ),
    Shape(
        id="markup",
        count=20,
        lines=NAME + "description: For files >200MB -> <repo>\n",
        said=(("skill-description-markup", 3),),
    ),
    Shape(
        id="long description",
        count=4,
        lines=NAME + "description: |\n  " + "long " * 320 + "\n",
        said=(("skill-field-long", 3),),
    ),
    # What nothing can be made of: each one with its reason.
    Shape(
        id="no frontmatter",
        count=100,
        lines=NAME + TEXT,
        said=((INVALID, 1),),
        spoil=lambda data: data.replace(b"---\n", b""),
        usable=False,
    ),
    Shape(id="no description", count=70, lines=NAME + "license: MIT\n", said=((INVALID, 1),), usable=False),
    Shape(id="empty description", count=7, lines=NAME + "description:\n", said=((INVALID, 3),), usable=False),
)


def read(shape: Shape, number: int) -> SkillReading:
    data = f"---\n{shape.lines.replace('{n}', str(number))}---\n# Steps\n".encode()
    folder = shape.folder.replace("{n}", str(number))
    return read_skill(shape.spoil(data), complete=True, root=f"skills/{folder}", folder=folder)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.id)
def test_each_shape_says_exactly_its_deviations(shape: Shape) -> None:
    reading = read(shape, 7)
    assert tuple((found.code, found.line) for found in reading.diagnostics) == shape.said
    assert reading.usable is shape.usable


def test_98_percent_are_accepted() -> None:
    assert sum(shape.count for shape in SHAPES) == TOTAL
    accepted = sum(read(shape, number).usable for shape in SHAPES for number in range(shape.count))
    assert accepted / TOTAL >= 0.98


@pytest.mark.parametrize("spelling", ["skill.md", "Skill.md", "SKILL.MD"])
def test_documents_in_another_case_and_nested_ones_cost_nothing(spelling: str) -> None:
    layout = recognise(tree([f"skills/a/{spelling}", "skills/a/examples/b/SKILL.md", "skills/c/SKILL.md"]))
    assert [root.path for root in layout.roots] == ["skills/a", "skills/c"]
    assert [found.code for found in layout.roots[0].findings] == ["skill-document-name", "skill-nested-document"]
