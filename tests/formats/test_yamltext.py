"""Both parsers that PyYAML has, the fast one and the pure one, say the same of the same text."""

from __future__ import annotations

import pytest
import yaml

from importer.formats.frontmatter import Frontmatter, read_frontmatter
from importer.formats.yamltext import FrontmatterFault

BLOCKS = [
    "name: demo\ndescription: >-\n  folded\n  text # no comment\nlist: [a, {b: c}]\n",
    "description: Configure the harness: Hooks, MCP Servers\nname: demo\n",
    'argument-hint: [action] — e.g. "list"\nname: demo\n',
    "description: cut # short\nname: é😀 b # c\n",
    "a: 1\na: 2\n",
    "a: &x 1\n",
    "a: *x\n",
    "a: !t x\n",
    "a: b\n--- {c: d}\n",
    "- a\n",
    "text\n",
    "? [a]\n: b\n",
    "metadata:\n  a: b: c\n  d: [1\n",
    "a: 'open\nb: c\n",
    "a: \ufeffx\n",
    "%YAML 1.1\na: b\n",
    "a:\n\t- b\n",
]


def outcome(block: str) -> tuple[object, ...]:
    try:
        read: Frontmatter = read_frontmatter(f"---\n{block}---\n", "SKILL.md")
    except FrontmatterFault as fault:
        return ("fault", fault.line)
    return (dict(read.fields), dict(read.lines), [(d.code, d.line, d.facts.get("quoted")) for d in read.diagnostics])


@pytest.mark.parametrize("block", BLOCKS)
def test_both_loaders_agree(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = outcome(block)
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert outcome(block) == fast
