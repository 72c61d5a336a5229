"""The YAML block at the head of a SKILL.md.

Only the first block counts: `---` on the very first line, up to the next line that is `---`, at most 64 KiB. How its
values are read says `yamltext`, what is done with a block that is no YAML says `mending`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from importer.diagnostics import Diagnostic, shown
from importer.formats.plainyaml import read_plain_mapping
from importer.formats.yamltext import FrontmatterFault, Refused, Syntax, Value, read_mapping
from importer.records import record

MAX_BYTES = 64 * 1024

_FENCE = re.compile(r"---[ \t]*")
# What YAML does not allow at all, and the three characters that YAML 1.1 takes for line breaks and YAML 1.2 does not.
_NOT_YAML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


@record
class Frontmatter:
    """The block as values, with the line on which each top-level field starts."""

    fields: Mapping[str, Value]
    lines: Mapping[str, int]
    body: str
    diagnostics: tuple[Diagnostic, ...]


def read_frontmatter(text: str, path: str) -> Frontmatter:
    """Read the block at the head of `text`.

    Args:
        text: the document without its byte order mark, with `\\n` as the only line end.
        path: how diagnostics name the document.

    Raises:
        FrontmatterFault: there is no block, it does not end, or it holds something that is refused.
    """
    block, body = _split(text)
    bad = _NOT_YAML.search(block)
    if bad:
        line = block.count("\n", 0, bad.start()) + 2
        raise Refused(f"the frontmatter holds U+{ord(bad.group()):04X}, which is not allowed there", line)
    if not block.strip():
        raise FrontmatterFault("the frontmatter is empty", 1)
    try:
        fields, lines = read_plain_mapping(block, 2) or read_mapping(block, 2)
        return Frontmatter(fields=fields, lines=lines, body=body, diagnostics=())
    except Syntax as fault:
        from importer.formats.mending import Mender

        mender = Mender(path)
        fields, lines = mender.mend(block, fault)
        return Frontmatter(fields=fields, lines=lines, body=body, diagnostics=tuple(mender.diagnostics))


def _split(text: str) -> tuple[str, str]:
    first, newline, rest = text.partition("\n")
    if not _FENCE.fullmatch(first):
        if not text.strip():
            raise FrontmatterFault("the file is empty", 1)
        raise FrontmatterFault(
            f"there is no frontmatter: the first line must be '---', found '{shown(first.strip(), 60)}'", 1
        )
    if not newline:
        raise FrontmatterFault("the file ends after the first '---'", 1)
    at, end = 0, -1
    while at <= len(rest):
        end = rest.find("\n", at)
        line = rest[at:] if end < 0 else rest[at:end]
        if _FENCE.fullmatch(line):
            break
        if end < 0 and len(rest) <= MAX_BYTES:
            raise FrontmatterFault("the frontmatter is not closed: no second line '---'", 1)
        at = len(rest) + 1 if end < 0 or end > MAX_BYTES else end + 1
    block = rest[:at]
    if at > len(rest) or len(block.encode("utf-8")) > MAX_BYTES:
        raise FrontmatterFault(
            f"the frontmatter is not closed by a line '---' within {MAX_BYTES:,} bytes, which is the most allowed", 1
        )
    return block, "" if end < 0 else rest[end + 1 :]
