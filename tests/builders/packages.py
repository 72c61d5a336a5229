"""Good packages as plain values, and the smallest ways to spoil one.

A package is a mapping from paths to bytes; `tree` makes of it what the gate would, `records` what staging would.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from importer.digests import tree_digest
from importer.inspection import FileInspector, Inspection
from importer.model import Entry, Fault, FileRecord, SkillCandidate, Tree
from importer.paths import RelPath

DESCRIPTION = "Checks a public table before it is analysed. Use when a data set arrives."
BODY = "# Steps\n\nRead, count, report.\n"
Files = dict[str, bytes]


def skill_md(
    name: str | None = "reef-survey", description: str | None = DESCRIPTION, body: str = BODY, extra: str = ""
) -> bytes:
    """Return a SKILL.md; `extra` is put into the frontmatter as it is, None leaves a field out."""
    lines = ["---"]
    if name is not None:
        lines.append(f"name: {name}")
    if description is not None:
        lines.append(f"description: {description}")
    if extra:
        lines.append(extra.rstrip("\n"))
    return ("\n".join([*lines, "---"]) + "\n" + body).encode()


def skill(name: str = "reef-survey", body: str = BODY, extra: str = "", **more: bytes) -> Files:
    """Return the files of a good skill: a document, a script and a reference."""
    return {
        "SKILL.md": skill_md(name, body=body, extra=extra),
        "scripts/count.py": b"#!/usr/bin/env python3\nprint(1)\n",
        "references/units.md": b"# Units\n",
        **more,
    }


def below(folder: str, files: Mapping[str, bytes]) -> Files:
    """Return `files` moved into `folder`."""
    return {f"{folder}/{path}": data for path, data in files.items()}


def manifest(**changes: object) -> dict[str, object]:
    """Return a good manifest.json as values; a change to `None` takes the key out."""
    return _changed(
        {"schema_version": 1, "id": "field-analyst", "version": "1.0.0", "exported_with_app_version": "2.3.0"}, changes
    )


def specialist_document(**changes: object) -> dict[str, object]:
    """Return a good specialist.json as values; a change to `None` takes the key out."""
    return _changed(
        {
            "name": "Field Analyst",
            "display_name": "Field analyst",
            "description": "Reads survey tables and says what they can carry.",
            "system_prompt": "You check before you count.",
            "skill_ids": ["table-audit", "chart-check"],
            "connector_ids": [],
        },
        changes,
    )


def specialist(
    manifest_changes: Mapping[str, object] | None = None,
    document_changes: Mapping[str, object] | None = None,
    skills: Mapping[str, Mapping[str, bytes]] | None = None,
) -> Files:
    """Return the files of a Specialist package with two skills, each changed as asked."""
    bundled = skills if skills is not None else {name: skill(name) for name in ("table-audit", "chart-check")}
    files = {
        "manifest.json": as_json(manifest(**(manifest_changes or {}))),
        "specialist.json": as_json(specialist_document(**(document_changes or {}))),
    }
    for name, content in bundled.items():
        files |= below(f"skills/{name}", content)
    return files


def as_json(values: object) -> bytes:
    """Return values as JSON with one key a line."""
    return (json.dumps(values, ensure_ascii=False, indent=2) + "\n").encode()


def entry(path: str, size: int = 1, packed: int | None = None, handle: int = 0) -> Entry:
    """Return one file that passed the gate."""
    return Entry(
        path=RelPath.parse(path),
        size=size,
        packed=size if packed is None else packed,
        executable=None,
        handle=handle,
    )


def tree(files: Mapping[str, bytes] | Sequence[str], faults: Sequence[Fault] = ()) -> Tree:
    """Return what the gate makes of a package, or of nothing but names."""
    sizes = {path: len(data) for path, data in files.items()} if isinstance(files, Mapping) else dict.fromkeys(files, 1)
    entries = tuple(entry(path, size, handle=at) for at, (path, size) in enumerate(sizes.items()))
    return Tree(files=entries, faults=tuple(faults), notes=())


def records(
    files: Mapping[str, bytes], executables: Sequence[str] = (), *, mode_known: bool = True
) -> list[FileRecord]:
    """Return what staging records of the files of one skill."""
    return [
        FileRecord(
            path=RelPath.parse(path),
            size=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            executable=path in executables,
            mode_known=mode_known,
            shebang=data.startswith(b"#!"),
        )
        for path, data in sorted(files.items(), key=lambda item: item[0].encode())
    ]


def inspections(files: Mapping[str, bytes]) -> dict[str, Inspection]:
    """Return what is seen in each file as it passes."""
    found: dict[str, Inspection] = {}
    for path, data in files.items():
        inspector = FileInspector()
        inspector.feed(data)
        found[path] = inspector.result()
    return found


def candidate(
    name: str,
    root: str,
    files: Mapping[str, bytes] | None = None,
    executables: Sequence[str] = (),
    *,
    mode_known: bool = True,
) -> SkillCandidate:
    """Return a candidate as the formats hand it on."""
    made = tuple(records(files if files is not None else skill(name), executables, mode_known=mode_known))
    return SkillCandidate(
        name=name,
        stated_name=name,
        version="0.1.0",
        version_stated=False,
        description=DESCRIPTION,
        root=root,
        files=made,
        digest=tree_digest(made),
        staged=root,
    )


def _changed(good: dict[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in (good | dict(changes)).items() if value is not None}
