"""The fields of a frontmatter, held to the specification one by one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from importer.diagnostics import Diagnostic, Fact, error, shown, warning
from importer.formats.documents import hidden_in_text
from importer.formats.frontmatter import Frontmatter
from importer.formats.names import DEFAULT_VERSION, is_semver
from importer.formats.phrases import counted, listed
from importer.formats.yamltext import Fields, Items, Scalar, Value
from importer.records import record

MAX_DESCRIPTION = 1_024
MAX_COMPATIBILITY = 500
KNOWN_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_MAX_SHOWN = 2_000
# What YAML 1.1 takes for something other than text: numbers, booleans, null, dates.
_NOT_TEXT = re.compile(
    r"(?:[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+|\.inf)|\.nan"
    r"|~|null|true|false|yes|no|on|off|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ].*)?)?",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[<>]")


@record(frozen=False, kw_only=False)
class FieldReader:
    """Collects what the fields say (`description`, `version`, `document`) and what is wrong with them (`found`)."""

    path: str
    found: list[Diagnostic] = field(default_factory=list)
    document: dict[str, Fact] = field(default_factory=dict)
    description: str = ""
    version: str = DEFAULT_VERSION
    version_stated: bool = False

    def error(self, message: str, line: int | None = None, **facts: Fact) -> None:
        """Add an error: the skill cannot be installed."""
        self.found.append(error("skill-frontmatter-invalid", message, self.path, line, **facts))

    def warn(self, code: str, message: str, line: int | None = None, **facts: Fact) -> None:
        """Add a warning."""
        self.found.append(warning(code, message, self.path, line, **facts))

    def read(self, block: Frontmatter) -> str:
        """Check every field; return the stated name, "" where there is none that is text."""
        values, lines = block.fields, block.lines
        name = self.scalar(block, "name", fatal=True)
        description = self.scalar(block, "description", fatal=True)
        if "description" not in values:
            self.no_description(values, lines)
        elif description is not None:
            self.describe(description)
        self.optional(block)
        self.metadata(block)
        self.choose_version(block)
        self.unknown(block)
        return name.text.strip() if name else ""

    def scalar(self, block: Frontmatter, key: str, *, fatal: bool = False) -> Scalar | None:
        """Return the field where it is text; else say so: an error (`fatal`), or a warning."""
        value = block.fields.get(key)
        if value is None or isinstance(value, Scalar):
            return value
        what = "a list" if isinstance(value, Items) else "a mapping"
        line = block.lines[key]
        if fatal:
            self.error(f"line {line}: '{key}' is {what}; expected text", line, reason=f"{key} is {what}", field=key)
        else:
            self.warn("skill-field-form", f"line {line}: '{key}' is {what}; expected text", line, field=key)
        return None

    def no_description(self, values: Mapping[str, Value], lines: Mapping[str, int]) -> None:
        if "description" in lines:
            line = lines["description"]
            self.error(f"line {line}: the description cannot be read; write it in quotes", line, reason="unreadable")
            return
        near = next((key for key in values if key.strip().lower() == "description"), "")
        hint = f", found '{shown(near, 60)}': field names are lowercase" if near else f", found {listed(list(values))}"
        self.error(
            f"the frontmatter has no 'description'{hint}; say in 1 to {MAX_DESCRIPTION:,} characters what the skill "
            "does and when to use it",
            1,
            reason="no description",
        )

    def describe(self, value: Scalar) -> None:
        text = value.text.strip()
        if not text:
            self.error(f"line {value.line}: the description is blank", value.line, reason="blank description")
            return
        if "\0" in text:
            self.error(f"line {value.line}: the description holds a NUL character", value.line, reason="NUL")
            return
        self.description = text
        hidden = hidden_in_text(f"{self.path}: description", text, value.line)
        if hidden is not None:
            self.found.append(hidden)
        if len(text) > MAX_DESCRIPTION:
            self.warn(
                "skill-field-long",
                f"line {value.line}: the description has {len(text):,} characters, the specification allows "
                f"{MAX_DESCRIPTION:,}; some agents refuse the skill, others take it",
                value.line,
                field="description",
                used=len(text),
                max=MAX_DESCRIPTION,
            )
        if value.comment is not None:
            self.warn(
                "skill-description-cut",
                f"line {value.line}: the description ends before ' #', the rest of the line is a comment to YAML "
                f"('{shown(value.comment, 80)}'); write the description in quotes",
                value.line,
                lost=shown(value.comment),
            )
        if _MARKUP.search(text):
            self.warn(
                "skill-description-markup",
                f"line {value.line}: the description holds '<' or '>'; claude.ai refuses such an upload, other agents "
                "take it",
                value.line,
            )

    def optional(self, block: Frontmatter) -> None:
        for key in ("license", "compatibility"):
            value = self.scalar(block, key)
            if value is None:
                continue
            text = value.text.strip()
            self.document[key] = _cut(text)
            if key == "compatibility" and not 1 <= len(text) <= MAX_COMPATIBILITY:
                self.warn(
                    "skill-field-long",
                    f"line {value.line}: 'compatibility' has {len(text):,} characters; expected 1 to "
                    f"{MAX_COMPATIBILITY}",
                    value.line,
                    field=key,
                    used=len(text),
                    max=MAX_COMPATIBILITY,
                )
        self.tools(block)

    def tools(self, block: Frontmatter) -> None:
        value = block.fields.get("allowed-tools")
        if value is None:
            return
        line = block.lines["allowed-tools"]
        if isinstance(value, Scalar):
            tools = _split_tools(value.text)
            commas = _outside_brackets(value.text, ",")
            self.document["allowed_tools"] = tools
            if commas:
                self.warn(
                    "skill-field-form",
                    f"line {line}: 'allowed-tools' has commas; expected one text with spaces between the tools: "
                    f"{shown(' '.join(tools), 160)}",
                    line,
                    field="allowed-tools",
                )
            return
        if isinstance(value, Items):
            tools = [_flat(item) for item in value.values]
            self.document["allowed_tools"] = [_cut(tool) for tool in tools]
            what = "a list"
            fix = f": {shown(' '.join(tools), 160)}"
        else:
            what, fix = "a mapping", ""
        self.warn(
            "skill-field-form",
            f"line {line}: 'allowed-tools' is {what}; expected one text with spaces between the tools{fix}",
            line,
            field="allowed-tools",
        )

    def metadata(self, block: Frontmatter) -> None:
        value = block.fields.get("metadata")
        if value is None:
            return
        line = block.lines["metadata"]
        if not isinstance(value, Fields):
            if not (isinstance(value, Scalar) and value.text == ""):
                self.warn("skill-field-form", f"line {line}: 'metadata' is no mapping of texts", line, field="metadata")
                self.document["metadata"] = _cut(_flat(value))
            return
        odd: list[str] = []
        for key, item in value.values.items():
            self.document[f"metadata.{_cut(key)}"] = _cut(_flat(item))
            if not isinstance(item, Scalar) or (item.plain and _NOT_TEXT.fullmatch(item.text)):
                odd.append(key)
        if odd:
            self.warn(
                "skill-field-form",
                f"line {line}: {counted(len(odd), 'value')} of 'metadata' would not be text to a YAML reader "
                f"({listed(odd)}); put numbers, dates and words like yes in quotes, and write lists as text",
                line,
                field="metadata",
                keys=[shown(key, 80) for key in odd[:50]],
            )

    def choose_version(self, block: Frontmatter) -> None:
        stated: list[tuple[str, Value, int]] = []
        if "version" in block.fields:
            stated.append(("version", block.fields["version"], block.lines["version"]))
        metadata = block.fields.get("metadata")
        if isinstance(metadata, Fields) and "version" in metadata.values:
            inner = metadata.values["version"]
            stated.append(("metadata.version", inner, inner.line))
        good: list[tuple[str, str, int]] = []
        for key, value, line in stated:
            if isinstance(value, Scalar) and is_semver(value.text.strip()):
                good.append((key, value.text.strip(), line))
            else:
                used = "the other one" if len(stated) > 1 else DEFAULT_VERSION
                self.warn(
                    "skill-version-invalid",
                    f"line {line}: {key} '{shown(_flat(value), 80)}' is no version of SemVer 2.0.0; expected three "
                    f"numbers such as 1.2.0; {used} is used",
                    line,
                    field=key,
                    version=shown(_flat(value), 80),
                )
        if good:
            self.version, self.version_stated = good[0][1], True
            if len(good) > 1 and good[0][1] != good[1][1]:
                self.warn(
                    "skill-version-invalid",
                    f"line {good[1][2]}: version {shown(good[0][1], 80)} and metadata.version {shown(good[1][1], 80)} "
                    "differ; the first is used",
                    good[1][2],
                    field="metadata.version",
                    version=shown(good[1][1], 80),
                )

    def unknown(self, block: Frontmatter) -> None:
        names = [key for key in block.lines if key not in KNOWN_FIELDS]
        if not names:
            return
        self.document["other_fields"] = [shown(name, 80) for name in names[:100]]
        line = min(block.lines[name] for name in names)
        hint = "; a version belongs into metadata.version" if "version" in names else ""
        self.warn(
            "skill-field-unknown",
            f"{counted(len(names), 'field')} that the specification does not know: {listed(names, 12)}{hint}; kept as "
            "written, and an agent may ignore that or refuse the skill",
            line,
            fields=[shown(name, 80) for name in names[:100]],
        )


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def _flat(value: Value) -> str:
    """Return a value on one line, for display."""
    if isinstance(value, Scalar):
        return value.text
    if isinstance(value, Items):
        return "[" + ", ".join(_flat(item) for item in value.values) + "]"
    return "{" + ", ".join(f"{key}: {_flat(item)}" for key, item in value.values.items()) + "}"


def _outside_brackets(text: str, wanted: str) -> bool:
    level = 0
    for character in text:
        if character == "(":
            level += 1
        elif character == ")":
            level -= 1
        elif character == wanted and level <= 0:
            return True
    return False


def _split_tools(text: str) -> list[str]:
    """Return the tools of one text; spaces and commas inside brackets belong to a tool."""
    tools: list[str] = [""]
    level = 0
    for character in text:
        level += (character == "(") - (character == ")")
        if level <= 0 and (character == "," or character.isspace()):
            tools.append("")
        else:
            tools[-1] += character
    return [_cut(tool) for tool in tools if tool][:200]
