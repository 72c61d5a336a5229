"""The HTTP side: one request at a time, with its redirects, its credentials and its faults.

Credentials go to the API's own origin only. An API redirect is followed once, and only there; an archive's redirect is
followed to any host, without credentials, never from https to http. Bodies are handed on in chunks, never whole.
"""

from __future__ import annotations

import importlib.util
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urljoin, urlsplit

import httpx

from importer.diagnostics import Diagnostic, Rejected, error, shown
from importer.records import record
from importer.sources.github.cache import AnswerCache, Kept
from importer.sources.github.faults import (
    Asked,
    BadDocument,
    Stopped,
    Transient,
    bad_answer,
    from_exception,
    from_status,
    too_slow,
)
from importer.sources.github.identity import Api, Identity, Origin
from importer.sources.github.patience import Patience
from importer.sources.github.sockets import Sockets, Watch
from importer.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from budgets import Meter
    from importer.sources.github.settings import GitHubSettings

JSON = "application/vnd.github+json"
RAW = "application/vnd.github.raw+json"
SHA = "application/vnd.github.sha"
API_VERSION = "2022-11-28"
MAX_DOCUMENT = 8 * 1024 * 1024
"""The most bytes of an ordinary JSON answer (a commit with 300 changed files is the largest kind)."""
MAX_ARCHIVE_HOPS = 3
LEAST = 8 * 1024
"""Bytes that a body must bring within each read time-out."""
DEADLINE = 25.0
"""Seconds after which a document must have come at `DOCUMENT_RATE` bytes a second, or is given up."""
DOCUMENT_RATE = 64 * 1024
_SLICE = 64 * 1024
_ERROR_SECONDS = 3.0
_GRACE = 1.0
"""Seconds past the read time-out within which the whole head of an answer must have come."""
CONNECTIONS = 6
"""Files that are fetched at once."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FAULTS = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)

T = TypeVar("T")


@record
class Fetched(Generic[T]):
    """An answer that was read: `value` is None for a status that the caller expected and that is no success."""

    status: int
    value: T | None
    headers: httpx.Headers
    redirected: bool


class Answer:
    """A response whose body has not been read yet."""

    def __init__(self, response: httpx.Response, client: Client, asked: Asked, redirected: bool, label: str) -> None:
        self.status = response.status_code
        self.headers = response.headers
        self.redirected = redirected
        self._response = response
        self._client = client
        self._asked = asked
        self._label = label

    def chunks(self, *, decoded: bool = False) -> Iterator[bytes]:
        """Yield the body, with its transport compression undone where `decoded`.

        Raises:
            Transient: the connection broke, went silent, or has become too slow to end.
        """
        clock = self._client.settings.clock
        window = self._client.settings.read_timeout
        mark, seen = clock.monotonic(), 0
        try:
            for chunk in self._response.iter_bytes() if decoded else self._response.iter_raw():
                seen += len(chunk)
                # A time-out between bytes never ends a body that arrives one byte at a time.
                now = clock.monotonic()
                if now - mark > window:
                    if seen < LEAST:
                        raise Transient(too_slow(self._asked))
                    mark, seen = now, 0
                yield chunk
        except _FAULTS as fault:
            self._client.check_running()
            raise from_exception(fault, self._asked, self._label) from None

    @property
    def plain(self) -> bool:
        """Whether the body is sent as it is."""
        return self.headers.get("content-encoding", "identity").strip().lower() in {"", "identity"}


class Client:
    """Requests to one API. Close it when done; safe to use from several threads."""

    def __init__(self, api: Api, identity: Identity, settings: GitHubSettings, meter: Meter) -> None:
        self.api = api
        self.identity = identity
        self.settings = settings
        self.patience = Patience(settings.clock)
        self.meter = meter
        self.remaining: int | None = None
        """Requests left of the rate limit, as the last answer said."""
        self._cache = AnswerCache(settings.cache, identity)
        self._sockets = Sockets()
        self._http = self._make()

    def _make(self) -> httpx.Client:
        http2 = importlib.util.find_spec("h2") is not None
        if http2:
            # Its debug log prints headers, the token among them.
            logging.getLogger("hpack").setLevel(logging.WARNING)
        try:
            return httpx.Client(
                http2=http2,
                timeout=httpx.Timeout(10.0, read=self.settings.read_timeout, pool=None),
                limits=httpx.Limits(max_connections=CONNECTIONS + 2, max_keepalive_connections=CONNECTIONS + 2),
                headers={"user-agent": f"agent-package-importer/{__version__}"},
                follow_redirects=False,
            )
        except (OSError, ImportError, ValueError) as fault:
            message = (
                f"{self.host} cannot be asked: SSL_CERT_FILE or a proxy variable of the environment cannot be used "
                f"({shown(str(fault), 120)}); correct or unset it"
            )
            raise Rejected([error("github-unreachable", message, host=self.host)]) from None

    @property
    def host(self) -> str:
        """The API's host as it is shown."""
        return shown(self.api.origin.label)

    def asked(self, what: str) -> Asked:
        """Return the context for messages about `what`."""
        return Asked(api=self.api, identity=self.identity, what=what)

    def close(self) -> None:
        """Close every connection."""
        self._http.close()

    def abort(self) -> None:
        """End every request that is under way in any thread, and allow no more; whoever made one gets `Stopped`."""
        self._sockets.abort()

    def check_running(self) -> None:
        """Raise `Stopped` once the client was aborted."""
        if self._sockets.aborted:
            raise Stopped

    @contextmanager
    def open(
        self,
        path: str,
        what: str,
        *,
        accept: str,
        headers: dict[str, str] | None = None,
        expected: Collection[int] = (),
        archive: bool = False,
    ) -> Iterator[Answer]:
        """Send one GET and hand out its answer: a success, 304, or a status in `expected`.

        Args:
            path: from the API's base, starting with a slash, with its query.
            what: what is asked for, for messages; escaped.
            accept: the media type.
            headers: more headers.
            expected: statuses that the caller deals with itself.
            archive: whether a redirect may lead to another host.

        Raises:
            Transient, Rejected: as `faults` says.
            BudgetExceeded: the request would be one too many.
            Stopped: `abort` was called.
        """
        asked = self.asked(what)
        url, hops = self.api.base + path, 0
        while True:
            response = self._send(url, path, accept, headers or {}, asked, credentials=hops == 0 or not archive)
            try:
                self._note_limit(response)
                if response.status_code in _REDIRECTS:
                    url = self._redirect(url, response, asked, hops, archive)
                    hops += 1
                    continue
                status = response.status_code
                if not (200 <= status < 300 or status == 304) and not self._is_expected(response, expected):
                    raise from_status(
                        status, response.headers, self._head(response), asked, now=self.settings.clock.now()
                    )
                yield Answer(response, self, asked, hops > 0, Origin.of(url).label)
                return
            finally:
                response.close()

    def _is_expected(self, response: httpx.Response, expected: Collection[int]) -> bool:
        """Whether the caller wants this status: a rate limit is never what it means."""
        limited = response.headers.get("x-ratelimit-remaining", "").strip() == "0" or "retry-after" in response.headers
        return response.status_code in expected and not (response.status_code in {403, 429} and limited)

    def fetch(
        self,
        path: str,
        what: str,
        consume: Callable[[Iterator[bytes]], T],
        *,
        accept: str = JSON,
        cap: int = MAX_DOCUMENT,
        expected: Collection[int] = (),
    ) -> Fetched[T]:
        """GET a document, repeat what may pass, and use the cache where the answer is still the same.

        Args:
            path: as for `open`.
            what: as for `open`.
            consume: reads the body; may be called again after a fault, and raises `BadDocument` for a bad one.
            accept: the media type.
            cap: the most bytes that the body may have.
            expected: statuses that the caller deals with itself.

        Raises:
            Rejected, BudgetExceeded: as `open`; a `Transient` that did not pass is `Exhausted`.
        """
        key = self._cache.key(self.api.base + path, accept)
        return self.patience.run(lambda: self._fetch_once(path, what, consume, accept, cap, expected, key))

    def _fetch_once(
        self,
        path: str,
        what: str,
        consume: Callable[[Iterator[bytes]], T],
        accept: str,
        cap: int,
        expected: Collection[int],
        key: str,
    ) -> Fetched[T]:
        kept = self._cache.get(key)
        headers = {"if-none-match": kept[0]} if kept else {}
        with self.open(path, what, accept=accept, headers=headers, expected=expected) as answer:
            asked = self.asked(what)
            if answer.status == 304:
                if kept is None:
                    raise Transient(bad_answer(asked, "said that nothing changed, without having been asked that"))
                value = self._consumed(consume, iter([kept[1]]), asked)
                return Fetched(status=200, value=value, headers=answer.headers, redirected=answer.redirected)
            if not 200 <= answer.status < 300:
                return Fetched(status=answer.status, value=None, headers=answer.headers, redirected=answer.redirected)
            if "html" in answer.headers.get("content-type", ""):
                raise Rejected([bad_answer(asked, "sent an HTML page instead of JSON")])
            body = Kept(self._bounded(answer, cap, asked), self._cache.limit)
            value = self._consumed(consume, iter(body), asked)
            etag = answer.headers.get("etag", "")
            if etag and not answer.redirected and body.whole:
                self._cache.put(key, etag, body.data())
            return Fetched(status=answer.status, value=value, headers=answer.headers, redirected=answer.redirected)

    def _consumed(self, consume: Callable[[Iterator[bytes]], T], chunks: Iterator[bytes], asked: Asked) -> T:
        try:
            return consume(chunks)
        except BadDocument as fault:
            raise Transient(bad_answer(asked, str(fault))) from None

    def _bounded(self, answer: Answer, cap: int, asked: Asked) -> Iterator[bytes]:
        clock = self.settings.clock
        seen, started = 0, clock.monotonic()
        token, tail = self.identity.token.encode(), b""
        for chunk in answer.chunks(decoded=True):
            seen += len(chunk)
            if seen > cap:
                raise Rejected([bad_answer(asked, f"sends more than {cap:,} bytes, which no such answer has", max=cap)])
            if token:
                tail += chunk
                if token in tail:
                    raise Rejected([bad_answer(asked, "repeats the token, which is written down nowhere")])
                tail = tail[-len(token) :]
            spent = clock.monotonic() - started
            if spent > DEADLINE and seen < spent * DOCUMENT_RATE:
                raise Rejected([too_slow(asked)])
            # What was compressed may be a thousand times larger than what came.
            for at in range(0, len(chunk), _SLICE):
                yield chunk[at : at + _SLICE]

    # --- one request -------------------------------------------------------------------------------------------------

    def _send(
        self, url: str, path: str, accept: str, headers: dict[str, str], asked: Asked, *, credentials: bool
    ) -> httpx.Response:
        origin = Origin.of(url)
        own = origin == self.api.origin
        sent = {"accept": accept if own else "*/*", "accept-encoding": "gzip" if accept in {JSON, SHA} else "identity"}
        if own:
            sent |= {"x-github-api-version": API_VERSION, **headers}
            if credentials and self.identity.token:
                sent["authorization"] = f"Bearer {self.identity.token}"
        self.check_running()
        self.meter.charge("requests", 1, path)
        watch = Watch(self._sockets, self.settings.read_timeout + _GRACE)
        request = self._http.build_request("GET", url, headers=sent, extensions={"trace": watch})
        try:
            return self._http.send(request, stream=True)
        except _FAULTS as fault:
            self.check_running()
            if watch.expired:
                raise Transient(too_slow(asked)) from None
            raise from_exception(fault, asked, origin.label) from None
        finally:
            watch.stop()

    def _redirect(self, url: str, response: httpx.Response, asked: Asked, hops: int, archive: bool) -> str:
        """Return where to go on, or refuse."""
        here = Origin.of(url)
        try:
            target = urljoin(url, str(response.headers.get("location", "")))
            there = Origin.of(target)
        except ValueError:
            raise Rejected([_no_redirect(asked, "to what is no plain http(s) URL")]) from None
        if here.scheme == "https" and there.scheme == "http":
            raise Rejected([_no_redirect(asked, f"from https to plain http at {shown(there.label)}")])
        if not archive and there != self.api.origin:
            raise Rejected([_no_redirect(asked, f"to another host, {shown(there.label)}")])
        if hops >= (MAX_ARCHIVE_HOPS if archive else 1):
            last = shown(asked.identity.scrub(urlsplit(target).path), 120)  # a query may hold a signature
            raise Rejected([_no_redirect(asked, f"again and again, last to {last}")])
        return target

    def _head(self, response: httpx.Response, limit: int = 64 * 1024) -> bytes:
        """Return the start of an error's body: it may be endless, or never come."""
        clock = self.settings.clock
        taken, started = bytearray(), clock.monotonic()
        try:
            for chunk in response.iter_bytes():
                taken += chunk[: limit - len(taken)]
                if len(taken) >= limit or clock.monotonic() - started > _ERROR_SECONDS:
                    break
        except _FAULTS:
            return bytes(taken)
        return bytes(taken)

    def _note_limit(self, response: httpx.Response) -> None:
        remaining = response.headers.get("x-ratelimit-remaining", "")
        if remaining.isascii() and remaining.isdecimal() and len(remaining) < 10:
            self.remaining = int(remaining)


def _no_redirect(asked: Asked, where: str) -> Diagnostic:
    return error(
        "github-redirect-refused",
        f"{asked.host} redirects {asked.what} {where}; that is not followed. Check the API's URL",
        host=asked.host,
    )
