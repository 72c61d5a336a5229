"""The archives that are measured: made from a fixed seed, so every run measures the same bytes."""

from __future__ import annotations

import io
import json
import random
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MIB = 1024 * 1024
_WORDS = [
    *("reef", "transect", "quadrat", "salinity", "turbidity", "census", "sample", "replicate", "station", "depth"),
    *("current", "habitat", "coral", "sponge", "measure", "record", "compare", "report", "estimate", "interval"),
    *("variance", "baseline", "survey", "protocol", "checklist", "observer"),
]


def prose(rng: random.Random, size: int) -> bytes:
    """Return about `size` bytes of text that compresses as prose does (about 5:1)."""
    lines: list[str] = []
    length = 0
    while length < size:
        line = " ".join(rng.choices(_WORDS, k=12)) + f" {rng.randrange(100_000)}\n"
        lines.append(line)
        length += len(line)
    return "".join(lines).encode()[:size]


def skill_md(name: str, version: str = "1.0.0", note: str = "") -> bytes:
    """Return a SKILL.md that is valid to the letter."""
    return (
        f"---\nname: {name}\ndescription: Counts what is there and reports what is missing. Use for field data.\n"
        f"metadata:\n  version: {version}\n---\n# Steps\n\nRead, count, report. {note}\n"
    ).encode()


def write_zip(path: Path, members: Iterator[tuple[str, bytes]]) -> Path:
    """Write an ordinary archive with Deflate."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            archive.writestr(info, data)
    return path


def specialist(path: Path, *, files: int, total: int) -> Path:
    """A Specialist package with `files` files of text, `total` bytes together, over two skills."""
    rng = random.Random(7)
    each = total // files

    def members() -> Iterator[tuple[str, bytes]]:
        manifest = {
            "schema_version": 1,
            "id": "field-analyst",
            "version": "1.0.0",
            "exported_with_app_version": "1.0.0",
        }
        role = {
            "name": "Field Analyst",
            "description": "Audits field data.",
            "system_prompt": "You check field data and report what is missing.",
            "skill_ids": ["table-audit", "chart-check"],
            "connector_ids": [],
        }
        yield "manifest.json", json.dumps(manifest).encode()
        yield "specialist.json", json.dumps(role).encode()
        for skill in ("table-audit", "chart-check"):
            yield f"skills/{skill}/SKILL.md", skill_md(skill)
        for index in range(files - 4):
            skill = ("table-audit", "chart-check")[index % 2]
            yield f"skills/{skill}/references/part-{index % 20}/note-{index:05}.md", prose(rng, each)

    return write_zip(path, members())


def bundle(path: Path, *, skills: int, files: int, size: int = 10_000, note: str = "") -> Path:
    """A bundle of `skills` skills with `files` files each; where published skills have many, 10 KB each is usual."""
    rng = random.Random(11)

    def members() -> Iterator[tuple[str, bytes]]:
        for number in range(skills):
            name = f"skill-{number:04}"
            yield f"pack/{name}/SKILL.md", skill_md(name, note=note)
            for index in range(files - 1):
                yield f"pack/{name}/references/note-{index:04}.md", prose(rng, size)

    return write_zip(path, members())


def nested(path: Path, *, archives: int) -> Path:
    """A bundle of nested skill archives."""

    def members() -> Iterator[tuple[str, bytes]]:
        rng = random.Random(13)
        for number in range(archives):
            name = f"skill-{number:04}"
            inner = io.BytesIO()
            with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(f"{name}/SKILL.md", skill_md(name))
                for index in range(9):
                    archive.writestr(f"{name}/references/note-{index}.md", prose(rng, 4_000))
            yield f"{name}.zip", inner.getvalue()

    return write_zip(path, members())


def wide(path: Path, *, entries: int) -> Path:
    """Two skills of `entries` files together: as many entries as an archive may list."""

    def members() -> Iterator[tuple[str, bytes]]:
        half = entries // 2
        for name, count in (("first", half), ("second", entries - half)):
            yield f"pack/{name}/SKILL.md", skill_md(name)
            for index in range(count - 1):
                yield f"pack/{name}/references/d{index % 100:02}/n{index:05}.md", f"note {index}\n".encode()

    return write_zip(path, members())
