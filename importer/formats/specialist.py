"""manifest.json and specialist.json of a Specialist package: every fault of both, with its field and its line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import field

from importer.diagnostics import Diagnostic, Fact, Severity, capped, error, hidden, shown, warning
from importer.formats.documents import decode, hidden_in_text
from importer.formats.names import is_semver
from importer.formats.phrases import counted, listed
from importer.jsontext import JsonFault, Node, parse, position
from importer.paths import PathRefused, RelPath
from importer.records import record

READ_BYTES = 1024 * 1024
"""The most that either file may have; a prompt at its limit and a thousand names fit many times."""

MANIFEST_KEYS = ("schema_version", "id", "version", "exported_with_app_version")
REQUIRED_KEYS = ("name", "description", "system_prompt", "skill_ids", "connector_ids")
OPTIONAL_KEYS = ("display_name",)
_PRESENTATION = "how it looks is chosen by the application"
_CAPABILITY = "what it may do is chosen by the person who installs it, on their own system"
FORBIDDEN_KEYS = {
    "id": "its identity is stated in manifest.json only",
    "version": "its version is stated in manifest.json only",
    "icon_key": _PRESENTATION,
    "color_key": _PRESENTATION,
    "capability_mode": _CAPABILITY,
    "full_access": _CAPABILITY,
    "selected_capabilities": _CAPABILITY,
    "enabled": "an installed specialist is always disabled at first; the person enables it",
}
_ID = re.compile(r"[a-z0-9][a-z0-9-]*", re.ASCII)
_RESERVED = ("os-", "mcp-")
_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "text", type(None): "null"}


@record
class SpecialistDocument:
    """Both files as values; there only where neither has an error."""

    id: str
    version: str
    exported_with: str
    name: str
    """Trimmed, in NFC."""
    display_name: str
    """"" where there is none."""
    description: str
    system_prompt: str
    skill_ids: tuple[str, ...]
    connector_ids: tuple[str, ...]


@record
class SpecialistReading:
    """What the two files say, and everything that is wrong with them."""

    document: SpecialistDocument | None
    id: str
    """The id where it is valid, "" else: what a refused package is called."""
    diagnostics: tuple[Diagnostic, ...]


def read_specialist(manifest: bytes | None, specialist: bytes | None, root: str = "") -> SpecialistReading:
    """Read the two files of a Specialist package. Any bytes give a reading, never an exception.

    Args:
        manifest: manifest.json, at most `READ_BYTES` and one byte of it, or None where it is missing.
        specialist: specialist.json, likewise.
        root: the package's folder in the container.
    """
    prefix = f"{root}/" if root else ""
    first = _File(f"{prefix}manifest.json", "specialist-manifest-invalid", "specialist-manifest-invalid")
    second = _File(f"{prefix}specialist.json", "specialist-document-invalid", "specialist-field-invalid")
    identity = _manifest(first, manifest)
    content = _content(second, specialist)
    found = capped([*first.found, *second.found])
    document: SpecialistDocument | None = None
    if all(finding.severity is not Severity.ERROR for finding in found):
        document = SpecialistDocument(
            id=identity["id"],
            version=identity["version"],
            exported_with=identity["exported_with_app_version"],
            name=content.texts["name"],
            display_name=content.texts.get("display_name", ""),
            description=content.texts["description"],
            system_prompt=content.texts["system_prompt"],
            skill_ids=content.lists["skill_ids"],
            connector_ids=content.lists["connector_ids"],
        )
    return SpecialistReading(document=document, id=identity.get("id", ""), diagnostics=found)


def unlisted_skills(document: SpecialistDocument, bundled: Sequence[str], path: str) -> tuple[Diagnostic, ...]:
    """Return a warning where the package bundles skills that its own `skill_ids` do not name.

    Args:
        document: the specialist.
        bundled: names of the bundled skills.
        path: how diagnostics name specialist.json.
    """
    names = sorted(set(bundled) - set(document.skill_ids))
    if not names:
        return ()
    return (
        warning(
            "specialist-skill-unlisted",
            f"{counted(len(names), 'bundled skill')} not named in skill_ids: {listed(names)}; installed with the "
            "specialist, which uses only what it names: ask the author to add the name or leave the skill out",
            f"{path}: skill_ids",
            names=[shown(name) for name in names[:50]],
        ),
    )


@record(frozen=False, kw_only=False)
class _Content:
    texts: dict[str, str] = field(default_factory=dict)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)


@record(frozen=False, kw_only=False)
class _File:
    """One of the two files while it is checked."""

    path: str
    file_code: str
    field_code: str
    found: list[Diagnostic] = field(default_factory=list)
    text: str = ""

    def open(self, data: bytes | None) -> Node | None:
        """Return the file's object, or None where there is none."""
        if data is None:
            self.found.append(
                error(
                    self.file_code,
                    "the file is missing; a Specialist package has manifest.json and specialist.json side by side",
                    self.path,
                )
            )
            return None
        if len(data) > READ_BYTES:
            message = f"the file has more than {READ_BYTES:,} bytes, which is the most allowed"
            self.found.append(error(self.file_code, message, self.path, max=READ_BYTES))
            return None
        text = decode(data, self.path, self.file_code, self.found)
        if text is None:
            return None
        self.text = text
        try:
            root = parse(text).root
        except JsonFault as fault:
            message = f"line {fault.line}, column {fault.column}: {shown(fault.what)}; expected one JSON object"
            self.found.append(error(self.file_code, message, self.path, fault.line, column=fault.column))
            return None
        if root.members is None:
            message = f"found {_kind(root)}; expected one JSON object"
            self.found.append(error(self.file_code, message, self.path, 1))
            return None
        return root

    def fault(self, key: str, message: str, at: int | None, code: str = "", **facts: Fact) -> None:
        """Add an error about one field; `at` is the offset where its value stands."""
        if not message.startswith("the field"):
            message = f"{shown(key, 120)}: {message}"
        line = position(self.text, at)[0] if at is not None else 1
        where = f"{self.path}: {shown(key, 120)}"
        self.found.append(error(code or self.field_code, message, where, line, field=shown(key, 120), **facts))

    def closed(self, root: Node, known: Sequence[str], required: Sequence[str], missing: str) -> None:
        """Say which fields are forbidden, unknown or missing."""
        for member in root.members or ():
            if member.key in known:
                continue
            if member.key in FORBIDDEN_KEYS and self.path.endswith("specialist.json"):
                message = (
                    f"the field '{member.key}' may not be in specialist.json: {FORBIDDEN_KEYS[member.key]}; delete it"
                )
                self.fault(member.key, message, member.key_start, "specialist-field-forbidden")
                continue
            hint = "write system_prompt" if member.key == "systemPrompt" else "delete it, or mend its spelling"
            message = f"the field '{shown(member.key, 80)}' is unknown; expected only {', '.join(known)}: {hint}"
            self.fault(member.key, message, member.key_start, "specialist-field-unknown")
        for key in required:
            if root.get(key) is None:
                self.fault(key, f"the field '{key}' is missing; add it", None, missing)

    def string(self, root: Node, key: str, minimum: int, maximum: int, *, trim: bool = False) -> str | None:
        """Return a text of the right length that is not blank; what it hides is a warning."""
        node = root.get(key)
        if node is None:
            return None
        if not isinstance(node.scalar, str):
            expected = f"text of {minimum:,} to {maximum:,} characters"
            self.fault(key, f"found {_kind(node)}; expected {expected}", node.start)
            return None
        value = unicodedata.normalize("NFC", node.scalar.strip()) if trim else node.scalar
        used = len(value)
        if not value.strip() and minimum > 0:
            self.fault(key, f"the text is blank; expected {minimum:,} to {maximum:,} characters", node.start, used=used)
            return None
        if not minimum <= used <= maximum:
            message = f"{counted(used, 'character')}; expected {minimum:,} to {maximum:,}"
            self.fault(key, message, node.start, used=used, min=minimum, max=maximum)
            return None
        if "\0" in value:
            self.fault(key, "the text holds a NUL character; delete it", node.start)
            return None
        if not trim:
            self.hidden(key, value, node.start)
        return value

    def hidden(self, key: str, value: str, at: int) -> None:
        """Report what a text hides: JSON escapes keep it from anybody who looks at the bytes."""
        found = hidden_in_text(f"{self.path}: {key}", value, position(self.text, at)[0])
        if found is not None:
            self.found.append(found)

    def names(self, root: Node, key: str) -> tuple[str, ...] | None:
        """Return a list of names, or None where it is none or one of them is at fault."""
        node = root.get(key)
        if node is None:
            return None
        if node.items is None:
            self.fault(key, f"found {_kind(node)}; expected a list of names, which may be empty", node.start)
            return None
        before = len(self.found)
        first: dict[str, int] = {}
        for index, item in enumerate(node.items):
            where = f"{key}[{index}]"
            if not isinstance(item.scalar, str):
                self.fault(where, f"found {_kind(item)}; expected a name", item.start)
            elif not item.scalar.strip():
                self.fault(where, "the name is blank; write one, or delete the item", item.start)
            elif item.scalar in first:
                message = f"'{shown(item.scalar, 80)}' stands there already, as {key}[{first[item.scalar]}]; delete one"
                self.fault(where, message, item.start)
            else:
                first[item.scalar] = index
        return tuple(first) if len(self.found) == before else None


def _manifest(file: _File, data: bytes | None) -> dict[str, str]:
    """Return the manifest's texts: those that are right."""
    good: dict[str, str] = {}
    root = file.open(data)
    if root is None:
        return good
    file.closed(root, MANIFEST_KEYS, MANIFEST_KEYS, "specialist-manifest-invalid")
    schema = root.get("schema_version")
    if schema is not None and (type(schema.scalar) is not int or schema.scalar != 1):
        file.fault("schema_version", f"found {_found(schema)}; expected the number 1", schema.start)
    identity = file.string(root, "id", 1, 128)
    if identity is not None:
        fault = id_fault(identity)
        if fault:
            file.fault("id", f"found '{shown(identity, 80)}': {fault}", _at(root, "id"))
        else:
            good["id"] = identity
    for key in ("version", "exported_with_app_version"):
        version = file.string(root, key, 1, 256)
        if version is None:
            continue
        if is_semver(version):
            good[key] = version
        else:
            message = f"found '{shown(version, 80)}'; expected a version of SemVer 2.0.0 such as 1.0.0"
            file.fault(key, message, _at(root, key))
    return good


def id_fault(identity: str) -> str:
    """Return why `identity` is no id of a specialist, or "" where it is one."""
    if not 1 <= len(identity) <= 128:
        return f"{len(identity):,} characters; expected 1 to 128"
    if not _ID.fullmatch(identity):
        return "expected lowercase letters a-z, digits and hyphens, with a letter or digit first"
    if identity.startswith(_RESERVED):
        return f"ids that start with {' or '.join(_RESERVED)} belong to the host application; choose another"
    try:
        RelPath.parse(identity)
    except PathRefused as refused:
        return f"{refused.fault}; choose another"
    return ""


def _content(file: _File, data: bytes | None) -> _Content:
    """Return what specialist.json says: the fields that are right."""
    content = _Content()
    root = file.open(data)
    if root is None:
        return content
    file.closed(root, (*REQUIRED_KEYS, *OPTIONAL_KEYS), REQUIRED_KEYS, "specialist-field-missing")
    name = file.string(root, "name", 2, 80, trim=True)
    if name is not None:
        fault = _name_fault(name)
        if fault:
            file.fault("name", f"found '{shown(name, 80)}': {fault}", _at(root, "name"))
        else:
            content.texts["name"] = name
    for key, maximum in (("display_name", 80), ("description", 1_000), ("system_prompt", 32_768)):
        text = file.string(root, key, 1, maximum)
        if text is not None:
            content.texts[key] = text
    for key in ("skill_ids", "connector_ids"):
        names = file.names(root, key)
        if names is not None:
            content.lists[key] = names
    return content


def _name_fault(name: str) -> str:
    """Return why a trimmed name in NFC is no name of a specialist, or ""."""
    before = ""
    for character in name:
        category = unicodedata.category(character)
        letter = category.startswith("L") and not hidden().match(character)
        mark = category.startswith("M") and before[:1] in {"L", "M"} and not hidden().match(character)
        if not letter and not mark and character not in "0123456789 _-":
            what = shown(character) if not character.isspace() else f"U+{ord(character):04X}"
            return f"'{what}' is not allowed; expected letters of any script, digits 0-9, spaces, '_' and '-'"
        before = category
    return ""


def _at(root: Node, key: str) -> int | None:
    node = root.get(key)
    return node.start if node is not None else None


def _kind(node: Node) -> str:
    if node.members is not None:
        return "an object"
    if node.items is not None:
        return "a list"
    return _KINDS[type(node.scalar)]


def _found(node: Node) -> str:
    """Return a scalar as it reads in JSON, anything else by its kind."""
    if isinstance(node.scalar, str):
        return f"the text '{shown(node.scalar, 40)}'"
    if type(node.scalar) in {int, float}:
        return shown(str(node.scalar), 40)
    return _kind(node) if node.scalar is None else str(node.scalar).lower()
