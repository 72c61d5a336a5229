"""Looks at every byte of a file as it passes: is it text, and does it hide characters from the people who read it?

Hidden text is how instructions are smuggled to a model: what a person sees in an editor or on a web page is not what
the file says. Counted is what has no shape of its own, or changes how its neighbours are shown. Not counted is what
ordinary writing needs: tabs and line ends, one leading byte order mark, the selectors and joiners of emoji, joiners
between letters of Arabic and Indic scripts, variants of Han characters, blank cells in Braille pictures.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from importer.diagnostics import Diagnostic, warning
from importer.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MAX_PLACES = 5
_LFS = b"version https://git-lfs.github.com/spec/v1"
_BOM = b"\xef\xbb\xbf"

_CONTROLS = tuple(code for code in (*range(0x20), 0x7F) if code not in b"\t\n\r\f")

_CLASSES = {
    "control": "\x01-\x08\x0b\x0e-\x1f\x7f-\x9f",
    "soft_hyphen": "\xad",
    "bidi": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "zero_width": "\u034f\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a",
    "separator": "\u2028\u2029",
    "filler": "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
    "selector": "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef",
    "tag": "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff",
    "private": "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd",
    "noncharacter": "\ufdd0-\ufdef\ufffe\uffff\U000ffffe\U000fffff\U0010fffe\U0010ffff",
}
# The same in UTF-8; all that starts with EE, F3 or F4 is hidden as well, but for a few unassigned.
_SEQUENCES = (
    b"\xc2[\x80-\x9f\xad]",
    b"\xcd\x8f",
    b"\xd8\x9c",
    b"\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])",
    b"\xe2(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf]|\xa0\x80)",
    b"\xe3\x85\xa4",
    b"\xef(?:[\x80-\xa3]|\xb7[\x90-\xaf]|\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb9-\xbf])",
    b"\xf0(?:\x93\x90|\x9b\xb2|\x9d\x85)",
)
_KINDS = {
    "control": "control characters",
    "soft_hyphen": "soft hyphens",
    "bidi": "characters that change the direction of text",
    "zero_width": "zero-width or invisible format characters",
    "separator": "invisible line separators",
    "filler": "blank fillers",
    "selector": "variation selectors",
    "tag": "tag characters",
    "private": "private-use characters",
    "noncharacter": "noncharacters",
}
_FLAG = "\U0001f3f4"
_FLAGS = frozenset({"gbeng", "gbsct", "gbwls"})
"""The three flags that are written with tag characters: England, Scotland, Wales."""
_KEYCAPS_AND_MARKS = frozenset("0123456789#*‼⁉ℹ〰")
_CONTEXT = 8
"""How many characters on either side of one decide about it: enough for a whole flag."""


@record(kw_only=False)
class Place:
    """Where one hidden character stands; `line` and `column` count from 1, `character` is its number (`U+200B`)."""

    line: int
    column: int
    character: str
    kind: str


@record
class Inspection:
    """What was seen in one file."""

    shebang: bool
    """It starts with `#!`."""
    text: bool
    """It is UTF-8 throughout, without a NUL."""
    lfs_pointer: bool
    """It is the short text that Git LFS leaves in the place of a file that was not fetched."""
    hidden: int = 0
    """How many hidden or invisible characters a text holds; 0 for what is no text."""
    kinds: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """The same by kind: control, soft_hyphen, bidi, zero_width, separator, filler, selector, tag, private,
    noncharacter."""
    places: tuple[Place, ...] = ()
    """The first of them, at most `MAX_PLACES`."""


PLAIN_TEXT = Inspection(shebang=False, text=True, lfs_pointer=False)
PLAIN_BYTES = Inspection(shebang=False, text=False, lfs_pointer=False)
"""What is seen in nearly every file: one value for all of them, since there may be tens of thousands."""


# Compiled when the first file holds more than plain ASCII.


@cache
def _hidden() -> re.Pattern[str]:
    return re.compile(f"[{''.join(_CLASSES.values())}]")


@cache
def _kinds() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind}>[{characters}])" for kind, characters in _CLASSES.items()))


@cache
def _sequences() -> tuple[tuple[int, re.Pattern[bytes]], ...]:
    """Return patterns with the byte that each of them starts with."""
    return tuple((pattern[0], re.compile(pattern)) for pattern in _SEQUENCES)


def hidden_warning(path: str, inspection: Inspection) -> Diagnostic | None:
    """Say what a file hides, with counts and first places; None where it hides nothing."""
    if not inspection.hidden:
        return None
    counts = ", ".join(f"{count:,} {_KINDS[kind]}" for kind, count in inspection.kinds.items())
    places = ", ".join(f"line {place.line} column {place.column} ({place.character})" for place in inspection.places)
    more = ", …" if inspection.hidden > len(inspection.places) else ""
    return warning(
        "text-hidden-characters",
        f"the text holds {inspection.hidden:,} hidden or invisible characters: {counts}; at {places}{more}; read it "
        "with an editor that shows them before you let a model read it",
        path,
        inspection.places[0].line,
        count=inspection.hidden,
        kinds=[f"{kind}={count}" for kind, count in inspection.kinds.items()],
        places=[f"{place.line}:{place.column} {place.character}" for place in inspection.places],
    )


def inspect(content: bytes) -> Inspection:
    """Return what is seen in a file that is at hand as a whole."""
    if content.isascii() and not content.startswith((b"#!", _LFS)) and not _has_control(content):
        # What nearly every file is; the inspector would find the same, step by step.
        return PLAIN_TEXT
    inspector = FileInspector()
    inspector.feed(content)
    return inspector.result()


class FileInspector:
    """Takes the bytes of one file in order, in chunks of any size; memory does not grow with the file.

    Args:
        again: gives the whole file once more, after its last byte was fed. With it, the lines of plain text are not
            counted as they pass, which takes as long as everything else; of the few files that hide something, they
            are counted in a second reading.
    """

    __slots__ = (
        "_after_cr",
        "_again",
        "_before",
        "_column",
        "_counts",
        "_decoder",
        "_head",
        "_hidden",
        "_line",
        "_places",
        "_text",
        "_uncounted",
        "_unread",
        "_waiting",
    )

    def __init__(self, again: Callable[[], Iterable[bytes]] | None = None) -> None:
        self._again = again
        self._uncounted = False
        self._head = b""
        self._text = True
        # Not None while something other than ASCII was met and may not be over.
        self._decoder: codecs.IncrementalDecoder | None = None
        self._hidden = 0
        self._counts: dict[str, int] = {}
        self._places: list[Place] = []
        self._line = 1
        self._column = 0
        self._after_cr = False
        # The last plain chunk: its lines are counted only once something follows it, and most files are one chunk.
        self._unread = b""
        # The last characters that were judged, and those that wait for what follows them.
        self._before = ""
        self._waiting = ""

    def feed(self, data: bytes | memoryview) -> None:
        """Take the next bytes."""
        if not data or (not self._text and len(self._head) == len(_LFS)):
            return
        chunk = data if isinstance(data, bytes) else bytes(data)
        if len(self._head) < len(_LFS):
            self._head += chunk[: len(_LFS) - len(self._head)]
        if 0 in chunk:
            self._text = False
        if not self._text:
            return
        if self._decoder is None and chunk.isascii() and not _has_control(chunk):
            self._settle()
            self._unread = chunk
        else:
            self._read(chunk, final=False)

    def result(self) -> Inspection:
        """Return what was seen. Nothing may be fed afterwards."""
        if self._text and self._decoder is not None:
            self._read(b"", final=True)
        hidden = self._hidden if self._text else 0
        if hidden and self._uncounted and self._again is not None:
            counting = FileInspector()
            for chunk in self._again():
                counting.feed(chunk)
            return counting.result()
        if not hidden and self._head[:2] != b"#!" and self._head != _LFS:
            return PLAIN_TEXT if self._text else PLAIN_BYTES
        return Inspection(
            shebang=self._head.startswith(b"#!"),
            text=self._text,
            lfs_pointer=self._head == _LFS,
            hidden=hidden,
            kinds=MappingProxyType(self._counts if hidden else {}),
            places=tuple(self._places) if hidden else (),
        )

    def _settle(self) -> None:
        if not self._unread:
            return
        if self._again is None:
            self._advance(self._unread.decode("ascii"))
        else:
            self._uncounted = True
            # Wherever that is, it is not the start of the file any more.
            self._line = 2
        self._before = self._unread[-_CONTEXT:].decode("ascii")
        self._unread = b""

    def _read(self, chunk: bytes, *, final: bool) -> None:
        self._settle()
        decoder = self._decoder
        if decoder is None:
            decoder = self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        try:
            decoded = decoder.decode(chunk, final)
        except UnicodeDecodeError:
            self._text = False
            return
        waited = len(self._waiting)
        text = self._waiting + decoded
        # A run that does not end in ASCII may go on in the next chunk, and what follows decides about its end.
        wait = 0 if final or text[-1:].isascii() else min(_CONTEXT, len(text))
        self._waiting = text[len(text) - wait :]
        if not wait and not decoder.getstate()[0]:
            self._decoder = None
        if _may_hide(chunk) or _hidden().search(text, 0, waited + 1):
            self._judge(text, len(text) - wait)
        else:
            self._advance(text[: len(text) - wait])
        self._before = (self._before + text[max(0, len(text) - wait - _CONTEXT) : len(text) - wait])[-_CONTEXT:]

    def _judge(self, text: str, end: int) -> None:
        """Count what hides in `text[:end]`, and move on to `end`."""
        done = 0
        for match in _hidden().finditer(text, 0, end):
            at = match.start()
            before = (self._before + text[:at])[-_CONTEXT:] if at < _CONTEXT else text[at - _CONTEXT : at]
            if _is_ordinary(before, match.group(), text[at + 1 : at + 1 + _CONTEXT]):
                continue
            if len(self._places) < MAX_PLACES or match.group() == "\ufeff":
                self._advance(text[done:at])
                done = at
            if match.group() == "\ufeff" and self._line == 1 and self._column == 0:
                continue
            kind = _kind(match.group())
            self._hidden += 1
            self._counts[kind] = self._counts.get(kind, 0) + 1
            if len(self._places) < MAX_PLACES:
                self._places.append(Place(self._line, self._column + 1, f"U+{ord(match.group()):04X}", kind))
        self._advance(text[done:end])

    def _advance(self, text: str) -> None:
        """Move line and column behind `text`. A line ends with LF, CR LF or CR."""
        if not text:
            return
        lines = text.count("\n")
        last = text.rfind("\n")
        if self._after_cr and text[0] == "\n":
            lines -= 1
        if "\r" in text:
            lines += text.count("\r") - text.count("\r\n")
            last = max(last, text.rfind("\r"))
        self._line += lines
        self._column = len(text) - 1 - last if last >= 0 else self._column + len(text)
        self._after_cr = text[-1] == "\r"


def _has_control(chunk: bytes) -> bool:
    """Whether a control character is in it: one `memchr` for each is several times as fast as any other way."""
    for control in _CONTROLS:  # noqa: SIM110 - a generator would cost more than the search in a small chunk
        if control in chunk:
            return True
    return False


def _may_hide(chunk: bytes) -> bool:
    """Whether anything in `chunk` could be hidden, seen from its bytes; the end of a chunk may cut a character."""
    if _has_control(chunk):
        return True
    if 0xEE in chunk or 0xF3 in chunk or 0xF4 in chunk:
        return True
    return any(lead in chunk and pattern.search(chunk) is not None for lead, pattern in _sequences())


def _kind(character: str) -> str:
    match = _kinds().match(character)
    return (match.lastgroup if match else None) or "zero_width"


def _is_ordinary(before: str, character: str, after: str) -> bool:
    """Whether a character is where the writing of some language, or an emoji, needs it."""
    last, following = before[-1:], after[:1]
    if not last:
        return character == "\u2800" and _in_braille(before, after)
    if character in "\u200c\u200d":
        if _is_joining(last):
            return True
        return character == "\u200d" and _is_pictured(last) and _is_pictured(following)
    if character in "\ufe0e\ufe0f":
        return last in _KEYCAPS_AND_MARKS or (not last.isascii() and unicodedata.category(last) in {"So", "Sm", "Sk"})
    if "\ufe00" <= character <= "\ufe0d":
        return _is_han(last) or unicodedata.category(last) == "Sm" or "\u1000" <= last <= "\u109f"
    if "\U000e0100" <= character <= "\U000e01ef":
        return _is_han(last)
    if character in "\u180b\u180c\u180d\u180e\u180f":
        return "\u1820" <= last <= "\u18aa"
    if character == "\u2800":
        return _in_braille(before, after)
    if "\U000e0020" <= character <= "\U000e007f":
        return _in_flag(before, character + after)
    return False


def _is_joining(character: str) -> bool:
    """Letters and marks of Arabic, Syriac, Indic, Tibetan, Myanmar, Khmer and Mongolian script."""
    in_script = "\u0620" <= character <= "\u109f" or "\u1780" <= character <= "\u18aa"
    return in_script and unicodedata.category(character)[0] in "LM"


def _is_pictured(character: str) -> bool:
    return character == "\ufe0f" or (character != "" and unicodedata.category(character) in {"So", "Sm", "Sk"})


def _is_han(character: str) -> bool:
    return (
        "\u3400" <= character <= "\u9fff"
        or "\uf900" <= character <= "\ufaff"
        or "\U00020000" <= character <= "\U0003ffff"
    )


def _in_braille(before: str, after: str) -> bool:
    left, right = before.rstrip("\u2800")[-1:], after.lstrip("\u2800")[:1]
    return "\u2800" < left <= "\u28ff" or "\u2800" < right <= "\u28ff"


def _in_flag(before: str, rest: str) -> bool:
    start = before.rfind(_FLAG)
    if start < 0:
        return False
    tags = before[start + 1 :] + rest
    letters, end, _ = tags.partition("\U000e007f")
    return (
        bool(end)
        and "".join(chr(ord(tag) & 0x7F) for tag in letters) in _FLAGS
        and (all("\U000e0020" <= tag <= "\U000e007e" for tag in letters))
    )
