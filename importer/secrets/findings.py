"""What a search for credentials returns: enough to find the place and fix it, never the value."""

from __future__ import annotations

from enum import StrEnum

from importer.diagnostics import shown
from importer.records import record


class Level(StrEnum):
    """How sure a finding is."""

    CERTAIN = "certain"
    """A credential by its position or by its shape: refused."""
    LIKELY = "likely"
    """Looks like one without saying so: a person has to look at it."""
    PLACEHOLDER = "placeholder"
    """A credential belongs there, and what stands there is no value: worth a warning."""


_ORDER = {Level.CERTAIN: 0, Level.LIKELY: 1, Level.PLACEHOLDER: 2}


@record
class Finding:
    """One place where a credential stands, or may stand."""

    level: Level
    rule: str
    """What gave it away, kebab-case: `flag`, `known-prefix`, `jwt`, `url-query`, …"""
    where: str
    """The place for people: `args[3]`, `url query api_key`. Escaped."""
    field: str
    """The field that it stands in: `args[3]`, `command`, `url`."""
    start: str
    """The first characters of the value, at most four and never more than a third of it. Escaped."""
    length: int
    """Characters of the value."""

    @property
    def index(self) -> int | None:
        """The position in `args`, counted from 0; None for another field."""
        return int(self.field[5:-1]) if self.field.startswith("args[") else None

    def told(self) -> str:
        """Return the part of the field, the rule, the first characters and the length in a few words."""
        inside = f" ({self.where})" if self.where != self.field else ""
        start = f', starts "{self.start}"' if self.start else ""
        return f"rule {self.rule}{inside}{start}, {self.length} characters"


def finding(level: Level, rule: str, field: str, value: str, where: str = "") -> Finding:
    """Make a finding about `value`, of which only the first characters and the length are kept."""
    return Finding(
        level=level,
        rule=rule,
        where=shown(where or field, 120),
        field=field,
        start=shown(value[: min(4, len(value) // 3)]),
        length=len(value),
    )


def strongest(findings: list[Finding]) -> Finding | None:
    """Return the surest finding, the first one among equals."""
    return min(findings, key=lambda found: _ORDER[found.level], default=None)
