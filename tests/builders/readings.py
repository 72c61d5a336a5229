"""SKILL.md read for a test, and what was said of it as short values."""

from __future__ import annotations

from importer.diagnostics import Diagnostic
from importer.formats.skill import SkillReading, read_skill


def read(
    data: bytes | str,
    *,
    folder: str | None = "demo",
    complete: bool = True,
    document_name: str = "SKILL.md",
    fallback: str = "",
    bundled: bool = False,
) -> SkillReading:
    raw = data.encode() if isinstance(data, str) else data
    return read_skill(
        raw,
        complete=complete,
        root="pack/demo",
        folder=folder,
        document_name=document_name,
        fallback=fallback,
        bundled=bundled,
    )


def front(lines: str, body: str = "# Demo\n") -> str:
    return f"---\n{lines}\n---\n{body}"


def said(reading: SkillReading) -> list[tuple[str, str, int | None]]:
    return [(d.severity.value, d.code, d.line) for d in reading.diagnostics]


def one(reading: SkillReading, code: str) -> Diagnostic:
    found = [d for d in reading.diagnostics if d.code == code]
    assert len(found) == 1, said(reading)
    return found[0]
