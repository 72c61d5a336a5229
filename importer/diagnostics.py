"""What the importer has to say about a package: values with a permanent code, safe to print anywhere.

Text that comes from a package passes `shown` where a diagnostic is made, so a message, a log line and a traceback are
all safe. The constructor refuses text that was not escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from importer.records import record

if TYPE_CHECKING:
    from budgets import BudgetExceeded

Fact = int | str | bool | list[str] | list[int]

MAX_FINDINGS = 200
"""The most diagnostics that one input may cause: their number is the sender's to choose, the report's length is not."""


class Severity(StrEnum):
    """`error`: not installable as it is. `warning`: installable, and worth a look. `info`: what was done."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


# Everything that moves the cursor, reorders, hides or has no shape: controls, formats (bidi, zero width, tags),
# surrogates, private use, separators; then letters and marks that draw nothing (fillers, selectors, joiners).
_HIDDEN = (
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0e\ufeff\uffa0\ufff0-\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\U000f0000-\U0010ffff]"
)
_UNSAFE_IN_MESSAGE = "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"


@cache
def hidden() -> re.Pattern[str]:
    """Return what matches a character that must not be printed as it is; made when the first odd text comes."""
    return re.compile(_HIDDEN)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    named = {9: "\\t", 10: "\\n", 13: "\\r"}
    if code in named:
        return named[code]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shown(text: str, limit: int = 200) -> str:
    """Return untrusted text for one line of output: hidden characters escaped, cut after `limit` characters."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    if cut.isascii() and cut.isprintable():
        return cut
    return hidden().sub(_escape, cut)


def _unsafe(text: str) -> bool:
    # Nothing that is unsafe is printable by Python's measure, so nearly every text is done with at once.
    return not text.isprintable() and re.search(_UNSAFE_IN_MESSAGE, text) is not None


@record
class Diagnostic:
    """One finding.

    `code` is kebab-case and permanent (see `importer.codes`). `message` is one line: what was found, what was expected,
    what to do. `path` is the path it is about, as a person of the package knows it, "" for the whole thing; `line`
    counts from 1. `facts` hold the numbers and names of the message for programs.
    """

    severity: Severity
    code: str
    message: str
    path: str = ""
    line: int | None = None
    facts: Mapping[str, Fact] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if _unsafe(self.message) or _unsafe(self.path):
            raise ValueError(f"{self.code}: text in a diagnostic must pass shown() first")


def error(code: str, message: str, path: str = "", line: int | None = None, **facts: Fact) -> Diagnostic:
    """Make an error; `path` is escaped here, what `message` quotes is escaped by the caller."""
    return Diagnostic(
        severity=Severity.ERROR, code=code, message=message, path=shown(path, 1200), line=line, facts=facts
    )


def warning(code: str, message: str, path: str = "", line: int | None = None, **facts: Fact) -> Diagnostic:
    """Make a warning, like `error`."""
    return Diagnostic(
        severity=Severity.WARNING, code=code, message=message, path=shown(path, 1200), line=line, facts=facts
    )


def info(code: str, message: str, path: str = "", line: int | None = None, **facts: Fact) -> Diagnostic:
    """Make a note, like `error`."""
    return Diagnostic(
        severity=Severity.INFO, code=code, message=message, path=shown(path, 1200), line=line, facts=facts
    )


def budget_error(exceeded: BudgetExceeded, hint: str = "") -> Diagnostic:
    """Say a spent budget as a diagnostic, with the flag that changes it."""
    where = f" at {shown(exceeded.path)}" if exceeded.path else ""
    option = f"--budget {exceeded.profile}.{exceeded.limit}=N"
    return error(
        "budget-exceeded",
        f"{exceeded.profile}.{exceeded.limit}: {exceeded.used:,} {exceeded.unit}{where}, at most {exceeded.max:,} are "
        f"allowed; {hint or f'if you trust the source, {option} raises it for one run'}",
        exceeded.path,
        profile=exceeded.profile,
        limit=exceeded.limit,
        used=exceeded.used,
        max=exceeded.max,
        unit=exceeded.unit,
    )


class Rejected(Exception):
    """A stage refuses its input, with every reason that it found."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in self.diagnostics[:5]))


def capped(findings: Sequence[Diagnostic], limit: int = MAX_FINDINGS) -> tuple[Diagnostic, ...]:
    """Return each finding once, at most `limit`: errors first to stay, and one more says how many were left out.

    What is wrong between two entries is found at both of them.
    """
    findings = list({(d.severity, d.code, d.path, d.line, d.message): d for d in findings}.values())
    if len(findings) <= limit:
        return tuple(findings)
    order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
    kept = sorted(range(len(findings)), key=lambda i: (order[findings[i].severity], i))[:limit]
    left = len(findings) - limit
    more = warning("diagnostics-capped", f"{left} more findings are not shown; the first {limit} are", count=left)
    return (*(findings[i] for i in sorted(kept)), more)
