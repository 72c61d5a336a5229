"""Frontmatter that is no YAML and can still be read in one way only.

Each top-level `key:` with the lines below it is read alone. A field that is no YAML by itself and has text after its
colon is that text (an unquoted `: `, text after a closing bracket or quote, a character that may not start a value);
one without is passed over. Both are reported with the line, and the text with the quoted form to write.
"""

from __future__ import annotations

import re

from importer.diagnostics import Diagnostic, shown, warning
from importer.formats.yamltext import Fields, Refused, Scalar, Syntax, Value, read_mapping
from importer.records import record

MAX_FIELDS = 1_000
_KEY_LINE = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]*)[ \t]*:(?:[ \t]+(\S.*))?[ \t]*")
_DOCUMENT_END = re.compile(r"^\.\.\.[ \t]*$", re.MULTILINE)


@record(frozen=False, kw_only=False)
class _Chunk:
    """The lines from one `key:` to the next."""

    key: str
    line: int
    column: int
    """Where the text after the colon starts; 0 where the line ends there."""
    lines: list[str]


class Mender:
    """Reads a block that is no YAML one field at a time, and says what it took for text."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.diagnostics: list[Diagnostic] = []

    def mend(self, block: str, fault: Syntax) -> tuple[dict[str, Value], dict[str, int]]:
        chunks, stray = _chunks(block.split("\n"), 2)
        end = _DOCUMENT_END.search(block)
        if end:
            line = block.count("\n", 0, end.start()) + 2
            raise Refused("'...' ends the YAML document, and a second YAML document follows", line)
        if not chunks or len(chunks) > MAX_FIELDS:
            raise fault
        fields: dict[str, Value] = {}
        lines: dict[str, int] = {}
        for chunk in chunks:
            if chunk.key in lines:
                first = lines[chunk.key]
                raise Refused(f"the key '{chunk.key}' stands twice, first on line {first}", chunk.line)
            lines[chunk.key] = chunk.line
            value = self.value(chunk, nested=False)
            if value is not None:
                fields[chunk.key] = value
        if stray is not None:
            self.diagnostics.append(
                warning(
                    "skill-field-unreadable",
                    f"line {stray} of the frontmatter is no 'key: value' and was passed over",
                    self.path,
                    stray,
                )
            )
        if not self.diagnostics:
            # Every field is fine alone, and together they are not: nothing to say that would explain taking it.
            raise fault
        return fields, lines

    def value(self, chunk: _Chunk, *, nested: bool) -> Value | None:
        """Return the field's value, as text where it is no YAML, or None where it cannot be read at all."""
        indent = len(chunk.lines[0]) - len(chunk.lines[0].lstrip(" "))
        text = "\n".join(line[indent:] if line[:indent].isspace() else line for line in chunk.lines)
        try:
            return read_mapping(text, chunk.line)[0].get(chunk.key)
        except Syntax as fault:
            if chunk.column:
                return self.text(chunk, fault)
            mended = None if nested else self.nested(chunk)
            if mended is None:
                self.unreadable(chunk, fault)
            return mended

    def text(self, chunk: _Chunk, fault: Syntax) -> Scalar | None:
        rest = chunk.lines[0][chunk.column - 1 :].strip()
        if rest[0] in "|>":
            self.unreadable(chunk, fault)
            return None
        more = [line.strip() for line in chunk.lines[1:]]
        value = " ".join([rest, *(line for line in more if line and not line.startswith("#"))])
        at = value.find(": ")
        inner = at if at >= 0 else len(value) - 1 if value.endswith(":") else -1
        if inner >= 0 and inner < len(rest):
            line, column = chunk.line, chunk.column + inner
            problem = "an unquoted ': '"
        else:
            line, column = fault.line, fault.column
            problem = f"no YAML ({fault.reason})"
        quoted = f"{chunk.key}: {quote(value)}"
        self.diagnostics.append(
            warning(
                "skill-frontmatter-repaired",
                f"line {line}, column {column}: {problem} in the value of '{chunk.key}', which was read as text to its "
                f"end; write it in quotes: {shown(quoted, 240)}",
                self.path,
                line,
                field=chunk.key,
                column=column,
                quoted=shown(quoted, 1_200),
            )
        )
        return Scalar(text=value, line=chunk.line)

    def nested(self, chunk: _Chunk) -> Fields | None:
        """Mend the fields one level down."""
        body = chunk.lines[1:]
        inner, stray = _chunks(body, chunk.line + 1, nested=True)
        if not inner or stray is not None or len(inner) > MAX_FIELDS:
            return None
        values: dict[str, Value] = {}
        for child in inner:
            if child.key in values:
                raise Refused(f"the key '{child.key}' stands twice", child.line)
            value = self.value(child, nested=True)
            if value is not None:
                values[child.key] = value
        return Fields(values, chunk.line)

    def unreadable(self, chunk: _Chunk, fault: Syntax) -> None:
        self.diagnostics.append(
            warning(
                "skill-field-unreadable",
                f"line {fault.line}, column {fault.column}: the value of '{chunk.key}' is no YAML ({fault.reason}) and "
                "was passed over; the other fields were read",
                self.path,
                fault.line,
                field=chunk.key,
                column=fault.column,
            )
        )


def quote(value: str) -> str:
    """Return `value` as a YAML scalar in quotes."""
    if '"' not in value and "\\" not in value:
        return f'"{value}"'
    return "'" + value.replace("'", "''") + "'"


def _chunks(lines: list[str], first_line: int, *, nested: bool = False) -> tuple[list[_Chunk], int | None]:
    """Cut lines into fields, and return the first line that belongs to none with them.

    A field starts at the left margin (`nested`: at the indentation of the first line that holds something); every line
    up to the next one is its own.
    """
    indent = ""
    if nested:
        held = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
        indent = held[: len(held) - len(held.lstrip(" "))]
        if not indent:
            return [], None
    chunks: list[_Chunk] = []
    stray: int | None = None
    for offset, line in enumerate(lines):
        start = _KEY_LINE.fullmatch(line, len(indent)) if line.startswith(indent) else None
        if start:
            column = start.start(2) + 1 if start.group(2) else 0
            chunks.append(_Chunk(start.group(1), first_line + offset, column, [line]))
        elif chunks:
            chunks[-1].lines.append(line)
        elif line.strip() and not line.lstrip().startswith("#") and stray is None:
            stray = first_line + offset
    return chunks, stray
