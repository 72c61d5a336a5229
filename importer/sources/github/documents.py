"""The API's JSON answers, read strictly and, where they are long, piece by piece.

Every reader takes the body in chunks and raises `BadDocument` for what the API never sends. The listing of a tree may
hold 100,000 entries in 7 MB; it is parsed an entry at a time, so that its memory is that of what is kept.
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from importer.records import record
from importer.sources.github.faults import BadDocument
from importer.sources.reference import is_ref_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_TOKEN = re.compile(r"[^ \t\r\n]")
_MAX_VALUE = 256 * 1024
"""The most characters of one value that is parsed at once."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_FULL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}")
MODES = {
    "100644": "file",
    "100664": "file",
    "100755": "executable",
    "120000": "link",
    "160000": "submodule",
    "040000": "tree",
    "40000": "tree",
}


@record
class Repository:
    """What the API says of a repository."""

    full_name: str
    id: str
    default_branch: str


@dataclass(frozen=True, slots=True)
class TreeItem:
    """One entry of a tree; `path` is from the tree that was asked for."""

    path: str
    kind: str
    """file, executable, link, submodule, tree."""
    sha: str
    size: int
    """0 for what has none."""


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def whole(chunks: Iterator[bytes]) -> object:
    """Return a short document as plain Python."""
    body = b"".join(chunks)
    try:
        return _DECODER.decode(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise BadDocument(_describe(body)) from None


def repository(chunks: Iterator[bytes]) -> Repository:
    """Read the answer of `/repos/OWNER/REPO`."""
    found = whole(chunks)
    if isinstance(found, dict):
        name, number, branch = found.get("full_name"), found.get("id"), found.get("default_branch")
        if (
            isinstance(name, str)
            and _FULL_NAME.fullmatch(name)
            and name.rpartition("/")[2] not in {".", ".."}
            and isinstance(number, int)
            and not isinstance(number, bool)
            and isinstance(branch, str)
            and is_ref_name(branch)
        ):
            return Repository(full_name=name, id=str(number), default_branch=branch)
    raise BadDocument("sent a description without a usable full_name, id and default_branch")


def commit_sha(chunks: Iterator[bytes]) -> str:
    """Read a commit's SHA: the bare text that was asked for, or the `sha` of a JSON answer."""
    body = b"".join(chunks)
    text = body[:80].decode("ascii", "replace").strip()
    if SHA.fullmatch(text):
        return text
    found = whole(iter([body]))
    sha = found.get("sha") if isinstance(found, dict) else None
    if isinstance(sha, str) and SHA.fullmatch(sha):
        return sha
    raise BadDocument("sent a commit without a SHA")


def refs(chunks: Iterator[bytes]) -> list[tuple[str, str, str]]:
    """Read a list of refs as (full name, type of the object, SHA)."""
    found = whole(chunks)
    if not isinstance(found, list):
        raise BadDocument("sent something else than a list of refs")
    rows: list[tuple[str, str, str]] = []
    for item in found:
        target = item.get("object") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(target, dict):
            raise BadDocument("sent a ref without an object")
        name, kind, sha = item.get("ref"), target.get("type"), target.get("sha")
        if not isinstance(name, str) or not isinstance(kind, str) or not (isinstance(sha, str) and SHA.fullmatch(sha)):
            raise BadDocument("sent a ref without a name, a type or a SHA")
        rows.append((name, kind, sha))
    return rows


def tags(chunks: Iterator[bytes]) -> list[tuple[str, str]]:
    """Read a page of `/tags` as (name, commit)."""
    found = whole(chunks)
    rows: list[tuple[str, str]] = []
    for item in found if isinstance(found, list) else ():
        commit = item.get("commit") if isinstance(item, dict) else None
        name = item.get("name") if isinstance(item, dict) else None
        sha = commit.get("sha") if isinstance(commit, dict) else None
        if isinstance(name, str) and isinstance(sha, str) and SHA.fullmatch(sha):
            rows.append((name, sha))
    return rows


def release_tag(chunks: Iterator[bytes]) -> str:
    """Read the tag of a release."""
    found = whole(chunks)
    name = found.get("tag_name") if isinstance(found, dict) else None
    if isinstance(name, str) and is_ref_name(name):
        return name
    raise BadDocument("sent a release without a tag")


def tree(chunks: Iterator[bytes], visit: Callable[[TreeItem], None]) -> bool:
    """Read the listing of a tree, giving each entry to `visit`; return whether the API cut the listing short."""
    text = _Window(chunks)
    text.expect("{")
    truncated: object = False  # some servers say it only where it is so
    listed = False
    while text.peek() != "}":
        key = text.value()
        text.expect(":")
        if key == "tree" and not listed:
            listed = True
            _items(text, visit)
        else:
            value = text.value()
            if key == "truncated":
                truncated = value
        if text.peek() != "}":
            text.expect(",")
    text.expect("}")
    if text.peek():
        raise BadDocument("sent something after the end of its JSON")
    if not listed or not isinstance(truncated, bool):
        raise BadDocument("sent no listing of a tree")
    return truncated


def _items(text: _Window, visit: Callable[[TreeItem], None]) -> None:
    text.expect("[")
    while text.peek() != "]":
        visit(_item(text.value()))
        if text.peek() != "]":
            text.expect(",")
    text.expect("]")


def _item(found: object) -> TreeItem:
    if not isinstance(found, dict):
        raise BadDocument("sent a tree with an entry that is no object")
    path, mode, sha, size = found.get("path"), found.get("mode"), found.get("sha"), found.get("size")
    if not isinstance(path, str) or not path or _SURROGATE.search(path):
        raise BadDocument("sent a tree with an entry without a usable path")
    kind = MODES.get(mode) if isinstance(mode, str) else None
    if kind is None or not isinstance(sha, str) or not SHA.fullmatch(sha):
        raise BadDocument("sent a tree with an entry of an unknown mode, or without a SHA")
    if kind in {"tree", "submodule"}:
        return TreeItem(path, kind, sha, 0)
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise BadDocument("sent a tree with a file without a size")
    return TreeItem(path, kind, sha, size)


class _Window:
    """JSON text of which only the part at hand is in memory."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._ended = False

    def _more(self) -> bool:
        if self._ended:
            return False
        chunk = next(self._chunks, None)
        try:
            new = self._decode.decode(chunk or b"", chunk is None)
        except UnicodeDecodeError:
            raise BadDocument("sent JSON that is not UTF-8") from None
        self._ended = chunk is None
        self._text = self._text[self._at :] + new
        self._at = 0
        return not self._ended

    def peek(self) -> str:
        """Return the next character that is no space, "" at the end."""
        while True:
            found = _TOKEN.search(self._text, self._at)
            if found:
                self._at = found.start()
                return found.group()
            self._at = len(self._text)
            if not self._more():
                return ""

    def expect(self, character: str) -> None:
        """Go past one character."""
        if self.peek() != character:
            raise BadDocument(_describe(self._text[self._at : self._at + 200].encode("utf-8", "replace")))
        self._at += 1

    def value(self) -> object:
        """Return the next value and go past it."""
        self.peek()
        while True:
            try:
                found, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError):
                if len(self._text) - self._at > _MAX_VALUE or not self._more():
                    raise BadDocument("sent JSON that breaks off or is malformed") from None
                continue
            if end == len(self._text) and self._more():
                continue  # a number at the end of the window may go on
            self._at = end
            return found


def _describe(body: bytes) -> str:
    start = body[:200].lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<")):
        return "sent an HTML page instead of JSON"
    return "sent nothing" if not start else "sent JSON that breaks off or is malformed"
