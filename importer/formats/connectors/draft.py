"""A connector while it is read: the values so far, and what is wrong with them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from importer.diagnostics import Diagnostic, Fact, Severity, error, info, shown, warning
from importer.records import record
from importer.secrets import redacted

if TYPE_CHECKING:
    from importer.formats.connectors.text import Lines


@record(frozen=False, kw_only=False)
class Draft:
    """The fields of a template as far as they could be read.

    `present` holds every field that the document has, one of a wrong type too: so a field is never said to be missing
    that is only wrong.
    """

    name: str = ""
    stated_name: str = ""
    display_name: str = ""
    description: str = ""
    transport: str = ""
    command: str = ""
    args: list[str] = field(default_factory=list)
    url: str = ""
    environment: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    oauth_client_secret: bool = False
    oauth: dict[str, str | tuple[str, ...]] | None = None
    present: set[str] = field(default_factory=set)


class Report:
    """Collects what is said about one connector. Every text is escaped, and cut where it is a credential by shape."""

    def __init__(self, connector: str, lines: Lines) -> None:
        self.connector = named(connector)
        """What messages call it: the name in the document."""
        self.name = self.connector
        """What it is planned under: the fact `connector`, and the name of what is left out."""
        self.found: list[Diagnostic] = []
        self.lines = lines
        self.offsets: dict[str, int] = {}
        """Where each field stands in the text."""
        self.called: dict[str, str] = {}
        """What the document calls a field, where that is not the template's name for it."""

    def place(self, where: str, offset: int, called: str = "") -> None:
        """Remember where a field stands, and what the document calls it."""
        self.offsets[where] = offset
        if called and called != where:
            self.called[where] = redacted(called)

    @property
    def faulty(self) -> bool:
        """Whether an error was found."""
        return any(diagnostic.severity is Severity.ERROR for diagnostic in self.found)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all errors, each once."""
        return tuple(dict.fromkeys(d.code for d in self.found if d.severity is Severity.ERROR))

    def error(self, code: str, where: str, message: str, /, **facts: Fact) -> None:
        """Add an error about the field `where` ("" is the whole connector)."""
        path, line, said = self._at(where, message)
        self.found.append(error(code, said, path, line, connector=self.name, **facts))

    def warn(self, code: str, where: str, message: str, /, **facts: Fact) -> None:
        """Add a warning."""
        path, line, said = self._at(where, message)
        self.found.append(warning(code, said, path, line, connector=self.name, **facts))

    def info(self, code: str, where: str, message: str, /, **facts: Fact) -> None:
        """Add a note."""
        path, line, said = self._at(where, message)
        self.found.append(info(code, said, path, line, connector=self.name, **facts))

    def _at(self, where: str, message: str) -> tuple[str, int | None, str]:
        path = self.called.get(where, where)
        said = f"{self.connector}: {shown(path, 160)}: {message}" if path else f"{self.connector}: {message}"
        return path, self.lines.at(self.offsets.get(where)), said


def named(text: str, limit: int = 80) -> str:
    """Return an untrusted name for a message."""
    return shown(redacted(text), limit)
