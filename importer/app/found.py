"""What a package is while it is read: its meters, its containers, and each skill on its way to a candidate."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from importer.diagnostics import Diagnostic, Severity
from importer.formats.roots import DOCUMENT
from importer.model import LeftOut
from importer.records import record

if TYPE_CHECKING:
    from budgets import Budgets, Meter
    from importer.formats.layout import Layout
    from importer.formats.roots import Root
    from importer.formats.skill import SkillReading
    from importer.paths import RelPath
    from importer.ports import Container


@record(frozen=False, kw_only=False)
class Meters:
    """One meter for each profile that a package is charged to; nested archives share them."""

    bundle: Meter
    archive: Meter
    skill: Meter
    specialist: Meter
    preview: Meter
    connector: Meter
    github: Meter

    @classmethod
    def of(cls, budgets: Budgets) -> Meters:
        """Return fresh meters."""
        names = ("bundle", "archive", "skill", "specialist", "preview", "connector", "github")
        return cls(*(budgets.meter(name) for name in names))

    def bundle_bytes(self, amount: int, path: str, /) -> None:
        """Charge delivered bytes to the outer container. Raises BudgetExceeded."""
        self.bundle.charge("bytes", amount, path)


@record(frozen=False, kw_only=False)
class Held:
    """One container with what was recognised in it. `prefix` is how its paths are shown: `inner.zip!/`."""

    container: Container
    layout: Layout
    prefix: str
    damage: tuple[Diagnostic, ...] = ()
    """Why nothing of it can be used: what a nested archive is found to be only while it is delivered."""


@record(frozen=False, kw_only=False)
class Found:
    """One skill on its way to a candidate."""

    held: Held
    place: Root
    folder: str
    """Its folder in the staging folder."""
    bundled: bool = False
    """Whether it is part of a Specialist package, which knows it by its folder whatever its document says."""
    reading: SkillReading | None = None
    asked_for: bool = False
    """Whether its document was delivered, or could not be."""
    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def root(self) -> str:
        """Its root as a person knows it: `inner.zip!/folder`, `inner.zip` for the top of a nested archive."""
        return f"{self.held.prefix}{self.place.path}".removesuffix("!/")

    @property
    def name(self) -> str:
        """Its name, or for want of one its folder."""
        if self.reading is not None and self.reading.name and not self.bundled:
            return self.reading.name
        return self.place.path.rpartition("/")[2] or self.place.path or self.held.prefix.rstrip("!/") or DOCUMENT

    @property
    def document_path(self) -> RelPath | None:
        """Where its SKILL.md is in its folder; None where it has none that counts."""
        document = self.place.document
        return document.path.below(self.place.path) if document is not None else None

    @property
    def faulty(self) -> bool:
        """Whether it cannot be installed."""
        return any(finding.severity is Severity.ERROR for finding in self._every())

    def left_out(self, reason: str) -> LeftOut:
        """Return it as something that is not going to be installed."""
        codes = {d.code: None for d in self._every() if d.severity is Severity.ERROR}
        return LeftOut(kind="skill", name=self.name, root=self.root, reason=reason, codes=tuple(codes))

    def _every(self) -> tuple[Diagnostic, ...]:
        own = () if self.reading is None else self.reading.diagnostics
        return (*self.held.damage, *self.findings, *own)
