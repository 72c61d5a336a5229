"""What a skill may be called, what it is called when its package does not say, and what counts as a version.

A valid name has 1 to 64 characters: lowercase letters (of any script, as the reference validator takes them), digits,
single hyphens, none at either end. It is also a folder's name on every system, so a device name of Windows is none.
"""

from __future__ import annotations

import itertools
import re
import unicodedata

from importer.diagnostics import hidden
from importer.paths import PathRefused, RelPath
from importer.records import record

MAX_NAME = 64
MAX_VERSION = 256
DEFAULT_VERSION = "0.1.0"
RESERVED_PREFIXES = ("os-", "mcp-")
_NUMBER = "(?:0|[1-9][0-9]*)"
_LABEL = f"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_LABEL}(?:\.{_LABEL})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_ASCII_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)


def name_fault(name: str) -> str:
    """Return why `name` is no valid skill name, in a few words, or "" where it is one."""
    if not name:
        return "it is empty"
    if len(name) > MAX_NAME:
        return f"it has {len(name)} characters, at most {MAX_NAME} are allowed"
    if not _ASCII_NAME.fullmatch(name):
        fault = _character_fault(name)
        if fault:
            return fault
    try:
        RelPath.parse(name)
    except PathRefused as refused:
        return refused.fault
    return ""


def _character_fault(name: str) -> str:
    for character in name:
        if character != "-" and not _letter(character) and not _mark(character):
            what = f"U+{ord(character):04X}" if hidden().match(character) or character.isspace() else repr(character)
            return f"it holds {what}; only lowercase letters, digits and single hyphens are allowed"
    if name != name.lower():
        return "it has capital letters"
    if name[0] == "-" or name[-1] == "-":
        return "it starts or ends with a hyphen"
    if "--" in name:
        return "it has two hyphens in a row"
    if _mark(name[0]) or any(before == "-" and _mark(after) for before, after in itertools.pairwise(name)):
        return "a combining mark stands without a letter"
    if unicodedata.normalize("NFC", name) != name:
        return "it is not in Unicode normal form C"
    return ""


def _letter(character: str) -> bool:
    category = unicodedata.category(character)
    return (category.startswith("L") or category == "Nd") and not hidden().match(character)


def _mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M") and not hidden().match(character)


def slug(text: str) -> str:
    """Return a valid name made from `text`, keeping letters of any script; "" where nothing of it can be kept."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text[:4096]).lower())
    kept: list[str] = []
    for character in folded:
        if _letter(character) or (_mark(character) and kept and kept[-1] != "-"):
            kept.append(character)
        elif kept and kept[-1] != "-":
            kept.append("-")
    name = "".join(kept)[:MAX_NAME]
    while len(name.encode("utf-8")) > 255:
        name = name[:-1]
    name = unicodedata.normalize("NFC", name).strip("-")
    if name and name_fault(name):
        name = f"{name[: MAX_NAME - 6].strip('-')}-skill"
    return name if not name_fault(name) else ""


@record
class ChosenName:
    """The name that a skill is planned under, and why it is not the one that its package states ("" where it is)."""

    name: str
    departure: str


def choose_name(stated: str | None, folder: str | None, fallback: str = "") -> ChosenName:
    """Decide what a skill is called.

    Args:
        stated: the frontmatter's name without outer spaces, or None where there is none.
        folder: the folder that holds SKILL.md, or None where its name says nothing.
        fallback: what else could name it (the archive, the wrapper folder); never compared, only used.

    Returns:
        the valid frontmatter name, else the valid folder's name, else a slug of the first of the three that gives one.
        `name` is "" where none does.
    """
    fault = name_fault(unicodedata.normalize("NFC", stated)) if stated else ""
    kept = unicodedata.normalize("NFC", folder) if folder is not None else None
    if stated and not fault:
        name = unicodedata.normalize("NFC", stated)
        return ChosenName(name=name, departure="" if kept in {None, name} else "its folder has another name")
    why = f"the name cannot be used as it is: {fault}" if stated else "the frontmatter has no name"
    if kept is not None and not name_fault(kept):
        return ChosenName(name=kept, departure=f"{why}; the folder's name is used")
    for source, text in (("name", stated), ("folder's name", kept), ("package's name", fallback)):
        made = slug(text) if text else ""
        if made:
            return ChosenName(name=made, departure=f"{why}; a form of the {source} that can be used is taken")
    return ChosenName(name="", departure=why)


def is_semver(text: str) -> bool:
    """Whether `text` is a version of SemVer 2.0.0, strictly, in at most 256 characters."""
    return len(text) <= MAX_VERSION and _SEMVER.fullmatch(text) is not None
