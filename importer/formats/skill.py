"""SKILL.md from its bytes: name, version, description, and everything that departs from the specification.

A departure that does not stop a skill from working is a warning with its line; only a document without usable
frontmatter, without a description, or that is no text at all is an error. Files keep their bytes: what is read here is
never written back.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from importer.diagnostics import Diagnostic, Fact, Severity, capped, error, shown
from importer.formats.documents import decode
from importer.formats.fields import FieldReader
from importer.formats.frontmatter import Frontmatter, read_frontmatter
from importer.formats.names import RESERVED_PREFIXES, ChosenName, choose_name
from importer.formats.yamltext import FrontmatterFault
from importer.model import FileRecord, SkillCandidate
from importer.records import record

READ_BYTES = 1024 * 1024
"""As much of a SKILL.md as is worth reading: the largest real one has 294 KB, and its frontmatter at most 64 KiB."""

MAX_BODY_LINES = 500


@record
class SkillReading:
    """What a SKILL.md says. With an error among the diagnostics the skill cannot be installed."""

    name: str
    """The name it is planned under; "" where nothing gives one (then there is an error)."""
    stated_name: str
    version: str
    version_stated: bool
    description: str
    document: Mapping[str, Fact]
    """license, compatibility, allowed_tools, metadata.*, and the names of other fields, for display."""
    body_lines: int
    diagnostics: tuple[Diagnostic, ...]

    @property
    def usable(self) -> bool:
        """Whether there is no error."""
        return all(finding.severity is not Severity.ERROR for finding in self.diagnostics)

    def candidate(
        self, *, root: str, files: tuple[FileRecord, ...], digest: str, staged: str, text: str | None = None
    ) -> SkillCandidate:
        """Return the candidate made of this document and its staged files."""
        return SkillCandidate(
            name=self.name,
            stated_name=self.stated_name,
            version=self.version,
            version_stated=self.version_stated,
            description=self.description,
            root=root,
            files=files,
            digest=digest,
            staged=staged,
            document=self.document,
            text=text,
        )


def read_skill(
    data: bytes,
    *,
    complete: bool,
    root: str,
    folder: str | None,
    document_name: str = "SKILL.md",
    fallback: str = "",
    bundled: bool = False,
) -> SkillReading:
    """Read one SKILL.md. Any bytes give a reading, never an exception.

    Args:
        data: the document, or its first `READ_BYTES` bytes.
        complete: whether `data` is all of it.
        root: the skill's folder in the package, "" at its top; diagnostics name the document below it.
        folder: the name of that folder, or None where it says nothing (the top of a container, the `repo-branch` folder
            of a download).
        document_name: how the document is spelled.
        fallback: what else could name the skill (archive, wrapper folder), used only where neither it nor `folder` do.
        bundled: whether it is part of a Specialist package, where name and folder must be equal.
    """
    reader = FieldReader(f"{root}/{document_name}" if root else document_name)
    text = decode(data, reader.path, "skill-frontmatter-invalid", reader.found, complete=complete)
    block: Frontmatter | None = None
    if text is not None:
        try:
            block = read_frontmatter(text.replace("\r\n", "\n").replace("\r", "\n"), reader.path)
            reader.found += block.diagnostics
        except FrontmatterFault as fault:
            reader.error(
                f"line {fault.line}: {fault.reason}; a skill starts with a block of 'name: …' and 'description: …' "
                "between two lines '---'",
                fault.line,
                reason=fault.reason,
            )
    stated = reader.read(block) if block is not None else ""
    named = choose_name(stated or None, folder, fallback)
    if block is not None:
        _check_name(reader, block, stated, folder, named, bundled=bundled)
    body_lines = _check_body(reader, block.body if block else "", complete=complete)
    return SkillReading(
        name=named.name,
        stated_name=stated,
        version=reader.version,
        version_stated=reader.version_stated,
        description=reader.description,
        document=MappingProxyType(reader.document),
        body_lines=body_lines,
        diagnostics=capped(reader.found),
    )


def _check_name(
    reader: FieldReader, block: Frontmatter, stated: str, folder: str | None, named: ChosenName, *, bundled: bool
) -> None:
    name, departure, line = named.name, named.departure, block.lines.get("name", 1)
    if not name:
        reader.error(
            f"there is no name: {departure}, and neither its folder nor its package has one that can be used; add "
            "'name: …' with lowercase letters, digits and hyphens",
            line,
            reason="no name",
        )
        return
    if bundled and (departure or stated != folder):
        reader.found.append(
            error(
                "skill-name-mismatch",
                f"the frontmatter's name is '{shown(stated, 80)}', its folder is '{shown(folder or '', 80)}'; in a "
                "Specialist package the two are equal and valid: lowercase letters, digits, single hyphens",
                reader.path,
                line,
                stated=shown(stated),
                folder=shown(folder or ""),
                name=name,
            )
        )
    elif departure:
        folder_part = f", its folder is '{shown(folder, 80)}'" if folder is not None else ""
        stated_part = f"the frontmatter's name is '{shown(stated, 80)}'" if stated else "there is no name"
        reader.warn(
            "skill-name-mismatch",
            f"{stated_part}{folder_part}: {shown(departure)}; it is planned as '{name}'",
            line,
            stated=shown(stated),
            folder=shown(folder or ""),
            name=name,
        )
    if name.startswith(RESERVED_PREFIXES):
        reader.warn(
            "skill-name-reserved",
            f"the name '{name}' starts with a prefix that hosts reserve ({', '.join(RESERVED_PREFIXES)}); it "
            "works, and may meet a host's own skill",
            line,
            name=name,
        )


def _check_body(reader: FieldReader, body: str, *, complete: bool) -> int:
    lines = body.count("\n") + (not body.endswith("\n") and bool(body))
    if lines > MAX_BODY_LINES:
        more = "" if complete else "more than "
        reader.warn(
            "skill-body-long",
            f"the text has {more}{lines:,} lines; under {MAX_BODY_LINES} are recommended, put the rest into "
            "references/",
            None,
            used=lines,
            max=MAX_BODY_LINES,
        )
    return lines
