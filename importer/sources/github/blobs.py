"""The bytes of one file: how the API sends them, whether they are the right ones, and who gets them.

A file is right when its git object name, the SHA over `blob SIZE NUL` and its bytes, is the one that the tree lists. A
small file is checked before anybody sees a byte of it. A large one is handed on as it arrives, and may be read in
several pieces when a connection breaks: what was handed on already is skipped, and the one hash runs over all of it.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from itertools import chain
from typing import TYPE_CHECKING

from importer.diagnostics import Diagnostic, error, shown
from importer.sources.github.faults import FileFault, Transient, bad_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from importer.model import Entry
    from importer.ports import Charge, FileSink, Progress, Receiver
    from importer.sources.github.client import Answer
    from importer.sources.github.faults import Asked
    from importer.sources.github.listing import Node

SMALL = 1024 * 1024
"""Files of up to so many bytes are held until they are checked."""
_CONTENT = re.compile(rb'"content"\s*:\s*"')
_BASE64 = re.compile(rb'"encoding"\s*:\s*"base64"')
_BLOB = re.compile(rb'\s*\{\s*"(?:sha|node_id|size|url|content|encoding)"\s*:')
_MAX_AROUND = 64 * 1024
_DROP = re.compile(rb"\\[nr]|[\r\n \t]")


def blob_hash(sha: str, size: int) -> hashlib._Hash:
    """Return a hash that gives a blob's object name; 40 hex digits mean SHA-1, 64 SHA-256."""
    kind = "sha1" if len(sha) == 40 else "sha256"
    found = hashlib.new(kind, usedforsecurity=False)
    found.update(b"blob %d\0" % size)
    return found


def sends_base64(answer: Answer, size: int, start: bytes) -> bool:
    """Whether the API ignored the wish for plain bytes and sends JSON with the content in base64.

    A server that says no type is known by how its body starts.
    """
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = (
        kind == "application/json"
        or (kind.startswith("application/vnd.github") and "raw" not in kind)
        or (not kind and _BLOB.match(start) is not None)
    )
    return is_json and answer.headers.get("content-length", "") != str(size)


def file_bytes(answer: Answer, size: int, asked: Asked, downloaded: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the bytes of a blob.

    Args:
        answer: the open answer.
        size: the file's size, from the tree.
        asked: the context for messages.
        downloaded: told of the bytes that came over the connection, before they are looked at.

    Raises:
        Transient: the connection broke, or the answer is none of a blob.
    """
    if not answer.plain:
        raise Transient(bad_answer(asked, "sent it compressed, which was not asked for"))

    def counted() -> Iterator[bytes]:
        for chunk in answer.chunks():
            downloaded(len(chunk))
            yield chunk

    chunks = counted()
    first = next(chunks, b"")
    every = chain([first], chunks) if first else chunks
    return _decoded(every, asked) if sends_base64(answer, size, first) else every


def _decoded(chunks: Iterator[bytes], asked: Asked) -> Iterator[bytes]:
    """Decode the `content` of a JSON answer as it arrives: base64 in lines."""
    around = b""
    for chunk in chunks:
        around += chunk
        found = _CONTENT.search(around)
        if found:
            break
        if len(around) > _MAX_AROUND:
            raise Transient(bad_answer(asked, "sent JSON without a content"))
    else:
        raise Transient(bad_answer(asked, "sent JSON without a content"))
    held, around, inside = around[found.end() :], around[: found.start()], True
    while inside:
        text, quote, after = held.partition(b'"')
        # A break in the middle of an escape waits for its second half.
        cut = len(text) - 1 if not quote and text.endswith(b"\\") else len(text)
        plain = _DROP.sub(b"", text[:cut])
        whole = len(plain) if quote else len(plain) // 4 * 4
        try:
            yield binascii.a2b_base64(plain[:whole], strict_mode=True) if whole else b""
        except binascii.Error:
            raise Transient(bad_answer(asked, "sent content that is no base64")) from None
        held = plain[whole:] + text[cut:]
        if quote:
            around, inside = around + after, False
            break
        chunk = next(chunks, b"")
        if not chunk:
            raise Transient(bad_answer(asked, "sent JSON that breaks off"))
        held += chunk
    for chunk in chunks:
        around += chunk
        if len(around) > _MAX_AROUND:
            break
    if not _BASE64.search(around):
        raise Transient(bad_answer(asked, "sent content in another encoding than base64"))


class Parcel:
    """One blob on its way to every entry that wants it."""

    def __init__(
        self,
        nodes: Sequence[Node],
        entries: Sequence[Entry],
        receiver: Receiver,
        charge: Charge,
        progress: Progress | None,
    ) -> None:
        self.nodes = tuple(nodes)
        """Where it stands in the repository: one place at least."""
        self.node = node = self.nodes[0]
        self.entries = tuple(entries)
        self.delivered = 0
        """Bytes that were handed on for good."""
        self.finished = False
        self.ranges = False
        """Whether the server said that it can go on from an offset."""
        self._receiver = receiver
        self._charge = charge
        self._progress = progress
        self._sinks: list[FileSink | None] | None = None
        self._hash = blob_hash(node.sha, node.size)
        self._held = bytearray()
        self._at = 0

    @property
    def small(self) -> bool:
        """Whether nothing is handed on before all of it was checked."""
        return self.node.size <= SMALL

    def start(self, at: int = 0) -> None:
        """The next bytes fed are those from offset `at` (0, or `delivered`)."""
        self._at = at
        self._held.clear()

    def feed(self, data: bytes) -> None:
        """Take the next bytes of this attempt.

        Raises:
            FileFault: more bytes come than the file has.
            BudgetExceeded: the charge says so.
        """
        before, self._at = self._at, self._at + len(data)
        if self._at > self.node.size:
            raise FileFault(self.mismatch(f"more than its {self.node.size:,} bytes came"))
        if self.small:
            self._held += data
        else:
            new = data[max(0, self.delivered - before) :]
            if new:
                self._hand_on(new)

    def finish(self) -> None:
        """All bytes came: check them, and tell everybody.

        Raises:
            Transient: there are too few.
            FileFault: they are not those of the tree.
        """
        if self._at < self.node.size:
            raise Transient(self.mismatch(f"{self._at:,} of its {self.node.size:,} bytes came"))
        check = self._hash
        if self.small:
            check = blob_hash(self.node.sha, self.node.size)
            check.update(self._held)
        if check.hexdigest() != self.node.sha:
            raise FileFault(self.mismatch("its bytes are others than those of the commit"))
        if self.small:
            self._hand_over(bytes(self._held))
        else:
            for sink in self._opened():
                if sink is not None:
                    sink.done()
        self._held.clear()
        if self._progress:
            self._progress.advance(len(self.entries), 0)
        self.finished = True

    def mismatch(self, what: str) -> Diagnostic:
        """Say that what came is not the file."""
        path = self.entries[0].path.text
        message = (
            f"{shown(path)} cannot be trusted: {what}; it was changed on the way, or the server is at fault. Try again"
        )
        return error("github-content-mismatch", message, path, sha=self.node.sha, size=self.node.size)

    def _opened(self) -> list[FileSink | None]:
        if self._sinks is None:
            self._sinks = [self._receiver.begin(entry) for entry in self.entries]
        return self._sinks

    def _hand_over(self, content: bytes) -> None:
        """Give the whole file to everybody, one after another: the same small file may stand in thousands of places."""
        for entry in self.entries:
            if content:
                self._charge(len(content), entry.path.text)
            self._receiver.take(entry, content)
        self._passed(len(content))

    def _hand_on(self, data: bytes) -> None:
        for entry, sink in zip(self.entries, self._opened(), strict=True):
            self._charge(len(data), entry.path.text)
            if sink is not None:
                sink.write(data)
        self._hash.update(data)
        self._passed(len(data))

    def _passed(self, size: int) -> None:
        self.delivered += size
        if self._progress:
            self._progress.advance(0, size * len(self.entries))
