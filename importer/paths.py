"""Names become relative paths here, or are refused; nothing is repaired.

`RelPath.parse` is the only way from text to a path inside a package. What it refuses, and how far a bad name reaches:

* `Reach.WHOLE`: it could escape or be read in two ways (absolute, drive, backslash, empty or dot segment, NUL, a
  character of Unicode category C, a line or paragraph separator, U+FFFD). The whole container is refused.
* `Reach.LOCAL`: only some systems cannot store it (Windows device names, `<>:"|?*`, a leading or trailing space, a
  trailing dot, over-long, another spelling of `.git`). Only the package that holds it is refused.

Paths are kept in NFC, so that the two spellings of one accented letter are one path on every system.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

MAX_PATH_BYTES = 1024
MAX_SEGMENT_BYTES = 255

# Superscript digits count: Windows maps COM¹ to the device as well.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"}
)
# What nearly every path looks like: such a path needs no second look, except at its length.
_ORDINARY_SEGMENT = r"(?!(?:con|prn|aux|nul|com\d|lpt\d|\.git)(?:[./]|\Z))[\w.+=@,()#&'-]*[\w+=@,()#&'-]"
_ORDINARY = re.compile(f"{_ORDINARY_SEGMENT}(?:/{_ORDINARY_SEGMENT})*", re.ASCII | re.IGNORECASE)
plain_segment = re.compile(_ORDINARY_SEGMENT, re.ASCII | re.IGNORECASE).fullmatch
"""Matches a segment that can stand below any folder of a path that was parsed: no second look but at its length."""
_GIT_SHORT = re.compile(r"git~[0-9]+", re.IGNORECASE)
_WINDOWS_ONLY = frozenset('<>:"|?*')
_DRIVE = re.compile(r"[A-Za-z]:")


class Reach(StrEnum):
    """How much of its container a bad name takes with it."""

    WHOLE = "whole"
    LOCAL = "local"


class PathRefused(ValueError):
    """A name that is no path of ours: `fault` says why in a few words, `reach` how far it goes."""

    def __init__(self, text: str, fault: str, reach: Reach, facts: dict[str, int | str] | None = None) -> None:
        self.text = text
        self.fault = fault
        self.reach = reach
        self.facts = facts or {}
        super().__init__(f"{fault}: {text!r}")


@dataclass(frozen=True, slots=True, order=False)
class RelPath:
    """A relative POSIX path in NFC that was checked. Build it with `parse`, or with `child` from one that is."""

    text: str

    @classmethod
    def parse(cls, text: str, *, max_path: int = MAX_PATH_BYTES, max_segment: int = MAX_SEGMENT_BYTES) -> RelPath:
        """Return `text` as a path.

        Args:
            text: the decoded name, with "/" between segments and none at either end.
            max_path: the most bytes that the whole path may have in UTF-8.
            max_segment: the same for one segment.

        Raises:
            PathRefused: for every reason in the module's docstring.
        """
        if len(text) <= max_segment and len(text) <= max_path and _ORDINARY.fullmatch(text) is not None:
            return cls(text)
        _refuse_dangerous(text)
        if not text.isascii():
            # Once more in NFC: a few letters (the Kelvin sign of a drive "K:") only turn into themselves there.
            text = unicodedata.normalize("NFC", text)
            _refuse_dangerous(text)
        _refuse_unportable(text, max_path, max_segment)
        return cls(text)

    @property
    def segments(self) -> tuple[str, ...]:
        """The names between the slashes."""
        return tuple(self.text.split("/"))

    @property
    def name(self) -> str:
        """The last segment."""
        return self.text.rpartition("/")[2]

    @property
    def parent(self) -> str:
        """All but the last segment; "" at the top."""
        return self.text.rpartition("/")[0]

    @property
    def depth(self) -> int:
        """How many folders stand above the last segment."""
        return self.text.count("/")

    def below(self, root: str) -> RelPath | None:
        """Return this path as seen from the folder `root` ("" is the top), or None where it is not inside it."""
        if not root:
            return self
        prefix = root + "/"
        return RelPath(self.text[len(prefix) :]) if self.text.startswith(prefix) else None

    def __str__(self) -> str:
        return self.text


def sort_key(path: RelPath) -> bytes:
    """Order paths by their UTF-8 bytes, whatever the locale (the digest depends on it)."""
    return path.text.encode("utf-8")


def fold_key(text: str) -> str:
    """Return what two names share when a case-insensitive or normalising file system takes them for one."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def _refuse_dangerous(text: str) -> None:
    if not text:
        raise PathRefused(text, "the name is empty", Reach.WHOLE)
    if text.startswith("/"):
        raise PathRefused(text, "the path is absolute", Reach.WHOLE)
    if "\\" in text:
        raise PathRefused(text, "the name holds a backslash, which is a separator on some systems", Reach.WHOLE)
    if _DRIVE.match(text):
        raise PathRefused(text, "the path starts with a drive letter", Reach.WHOLE)
    # Printable is what has no character of category C or Z, but for the plain space.
    if not text.isprintable() or "\ufffd" in text:
        for character in text:
            category = unicodedata.category(character)
            if category[0] == "C" or category in {"Zl", "Zp"} or character == "\ufffd":
                raise PathRefused(
                    text,
                    f"the name holds U+{ord(character):04X}, a control, invisible or undefined character",
                    Reach.WHOLE,
                    {"character": f"U+{ord(character):04X}"},
                )
    if "//" in text or text.endswith("/"):
        raise PathRefused(text, "a segment of the path is empty", Reach.WHOLE)
    if "." in text:
        for segment in text.split("/"):
            if segment in {".", ".."}:
                raise PathRefused(text, f"the path has the segment {segment!r}", Reach.WHOLE)


def _refuse_unportable(text: str, max_path: int, max_segment: int) -> None:
    size = len(text) if text.isascii() else len(text.encode("utf-8"))
    if size > max_path:
        raise PathRefused(
            text,
            f"the path has {size} bytes, {max_path} are allowed",
            Reach.LOCAL,
            {"profile": "archive", "limit": "path_bytes", "used": size, "max": max_path, "unit": "bytes"},
        )
    for segment in text.split("/"):
        size = len(segment) if segment.isascii() else len(segment.encode("utf-8"))
        if size > max_segment:
            raise PathRefused(
                text,
                f"a segment has {size} bytes, {max_segment} are allowed",
                Reach.LOCAL,
                {"profile": "archive", "limit": "segment_bytes", "used": size, "max": max_segment, "unit": "bytes"},
            )
        if segment[0] == " " or segment[-1] == " ":
            raise PathRefused(text, f"the segment {segment!r} starts or ends with a space", Reach.LOCAL)
        if segment[-1] == ".":
            raise PathRefused(text, f"the segment {segment!r} ends with a dot", Reach.LOCAL)
        if not _WINDOWS_ONLY.isdisjoint(segment):
            raise PathRefused(text, f'the segment {segment!r} holds one of < > : " | ? *', Reach.LOCAL)
        stem = segment.partition(".")[0].rstrip(" ").lower()
        if stem in _DEVICES:
            raise PathRefused(text, f"the segment {segment!r} is a device name on Windows", Reach.LOCAL)
        if segment != ".git" and (fold_key(segment) == ".git" or _GIT_SHORT.fullmatch(segment)):
            raise PathRefused(text, f"the segment {segment!r} is git's own folder on some systems", Reach.LOCAL)
