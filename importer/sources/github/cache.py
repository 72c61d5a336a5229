"""Answers kept for conditional requests: asked again with their ETag, one that did not change costs no rate limit.

Nothing is served without the server saying, to the identity that asks now, that it is still so. The key holds the
identity as a one-way fingerprint, so that nobody even asks with what another identity was given.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from importer.sources.github.identity import Identity
    from importer.sources.github.settings import CacheStore

MAX_CACHED = 4 * 1024 * 1024
"""Larger answers are asked for anew."""


class AnswerCache:
    """One identity's view of a store; without a store it holds nothing."""

    def __init__(self, store: CacheStore | None, identity: Identity) -> None:
        self._store = store
        self._fingerprint = identity.fingerprint
        self.limit = MAX_CACHED if store is not None else 0

    def key(self, url: str, accept: str) -> str:
        """Return the key of one question."""
        named = "\n".join((self._fingerprint, url, accept))
        return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()

    def get(self, key: str) -> tuple[str, bytes] | None:
        """Return the ETag and the body that were kept, if they are whole."""
        if self._store is None:
            return None
        try:
            value = self._store.get(key)
        except OSError:
            return None
        head, _, body = (value or b"").partition(b"\n")
        try:
            about = json.loads(head)
            etag, digest = str(about["etag"]), str(about["sha256"])
        except (ValueError, RecursionError, KeyError, TypeError):
            return None
        return (etag, body) if hashlib.sha256(body).hexdigest() == digest and _is_header(etag) else None

    def put(self, key: str, etag: str, body: bytes) -> None:
        """Keep an answer; a store that cannot be written saves nothing, and harms nothing."""
        if self._store is None or not _is_header(etag):
            return
        head = json.dumps({"etag": etag, "sha256": hashlib.sha256(body).hexdigest()}).encode()
        try:
            self._store.put(key, head + b"\n" + body)
        except OSError:
            return


class Kept:
    """Hands chunks on and keeps a copy of them, as long as they are few."""

    def __init__(self, chunks: Iterator[bytes], limit: int) -> None:
        self._chunks = chunks
        self._limit = limit
        self._copy: list[bytes] = []
        self._size = 0
        self._ended = False

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._size += len(chunk)
            if self._size <= self._limit:
                self._copy.append(chunk)
            else:
                self._copy.clear()
            yield chunk
        self._ended = True

    @property
    def whole(self) -> bool:
        """Whether the body was read to its end, and all of it is here."""
        return self._ended and 0 < self._size <= self._limit

    def data(self) -> bytes:
        """Return the copy."""
        return b"".join(self._copy)


def _is_header(text: str) -> bool:
    return 0 < len(text) <= 256 and text.isascii() and text.isprintable()
