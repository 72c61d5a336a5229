"""How wanted files are fetched: each blob by itself, or all from the archive of the commit, whichever costs less.

The two give the same bytes: every file is held to its object name in the tree, and what an archive has differently (or
leaves out, by `.gitattributes`) is fetched as a blob. An archive is read no further than the last file that is wanted.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from importer.diagnostics import Diagnostic, Rejected, error, shown
from importer.model import EntryKind
from importer.sources.github.blobs import Parcel, blob_hash, file_bytes
from importer.sources.github.client import CONNECTIONS, RAW
from importer.sources.github.faults import Exhausted, FileFault, Stopped, Transient, bad_answer
from importer.sources.github.resolve import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from budgets import Meter
    from importer.ports import StreamedEntry, TarStreamer
    from importer.sources.github.client import Client
    from importer.sources.github.faults import Asked
    from importer.sources.github.listing import Listing, Node
    from importer.sources.github.resolve import Pinned

REQUEST_COST = 32 * 1024
"""What one request is worth in bytes, where requests are plenty."""
SCARCE_COST = 128 * 1024
"""The same where the rate limit has fewer than `SCARCE` of them left, as it has for who is anonymous."""
SCARCE = 500
MAX_TROUBLED = 3
"""So many files that cannot be had by a fault on the way, and the whole import is given up."""
KEPT_BYTES = 16 * 1024 * 1024
KEPT_FILE = 256 * 1024
MAX_LINK = 4096
_CHUNK = 64 * 1024
Item = TypeVar("Item")
_NO_ARCHIVE = frozenset(
    {"github-bad-answer", "github-redirect-refused", "github-not-found", "github-forbidden", "github-request-refused"}
)


class Courier:
    """Fetches files of one commit."""

    def __init__(self, client: Client, pinned: Pinned, listing: Listing, meter: Meter, open_tar: TarStreamer) -> None:
        self._client = client
        self._pinned = pinned
        self._listing = listing
        self._meter = meter
        self._open_tar = open_tar
        self._troubled = 0
        self._lock = threading.Lock()
        self.kept: dict[str, bytes] = {}
        """Small files by object name that an archive gave in passing, for a later delivery."""
        self.unread: dict[str, Diagnostic] = {}
        """Why the target of a link could not be read, by its object name."""
        self.failures: dict[str, Diagnostic] = {}
        """Why an entry was not delivered, by its path."""

    def deliver(self, parcels: Sequence[Parcel], later: Sequence[Node]) -> None:
        """Fetch every parcel; `later` are files that may be wanted next.

        Raises:
            Rejected, BudgetExceeded: nothing more can be fetched. What concerns one file is left in `failures`.
        """
        self.failures.clear()
        left = [parcel for parcel in parcels if not self._from_kept(parcel)]
        if left and self._archive_is_cheaper([parcel.node for parcel in left]):
            left = self._by_archive(left, later)
        self._client_has_requests_for(len(left))
        self._by_blobs(left)

    def small(self, nodes: Sequence[Node]) -> dict[str, bytes]:
        """Return the contents of small blobs (the targets of links) by object name; a long one is left out."""
        wanted = {node.sha: node for node in nodes if node.size <= MAX_LINK}
        found = {sha: self.kept[sha] for sha in wanted if sha in self.kept}
        missing = [node for sha, node in wanted.items() if sha not in found]
        if missing and self._archive_is_cheaper(missing):
            found |= self._links_from_archive(missing)
            missing = [node for node in missing if node.sha not in found]
        self._client_has_requests_for(len(missing))
        self._in_parallel(missing, lambda node, _stop: self._read_into(node, found))
        return found

    def _read_into(self, node: Node, found: dict[str, bytes]) -> None:
        try:
            found[node.sha] = self._read(node)
        except FileFault as fault:
            self.unread[node.sha] = fault.diagnostic
        except Exhausted as fault:
            self.unread[node.sha] = replace(fault.diagnostics[0], path=shown(node.path, 1200))
            if self._is_hopeless():
                raise

    def _is_hopeless(self) -> bool:
        """Count one more file that a fault on the way kept back; say whether it was one too many."""
        with self._lock:
            self._troubled += 1
            return self._troubled >= MAX_TROUBLED or self._client.patience.spent

    def _from_kept(self, parcel: Parcel) -> bool:
        data = self.kept.get(parcel.node.sha)
        if data is None:
            return False
        parcel.start()
        parcel.feed(data)
        parcel.finish()
        return True

    # --- the choice --------------------------------------------------------------------------------------------------

    def _archive_is_cheaper(self, nodes: Sequence[Node]) -> bool:
        """Compare bytes, with a price on each request; too many requests decide by themselves."""
        requests = len(nodes)
        left = self._client.meter.remaining("requests")
        limit = self._client.remaining
        if left < 2:
            return False
        if requests > left or (limit is not None and 2 <= limit < requests):
            return True
        if requests <= 2 or not self._listing.complete:
            return False
        price = REQUEST_COST if limit is None or limit >= SCARCE else SCARCE_COST
        blobs = sum(node.size for node in nodes) + requests * price
        archive = self._listing.size_up_to(max(nodes, key=lambda node: node.path.encode()).path) + 2 * price
        return archive < blobs

    def _client_has_requests_for(self, count: int) -> None:
        """Refuse before anything is fetched when there are more files than requests."""
        meter = self._client.meter
        if count > meter.remaining("requests"):
            meter.charge("requests", count, f"{count} files of {self._pinned.repository}")

    # --- blobs -------------------------------------------------------------------------------------------------------

    def _by_blobs(self, parcels: Sequence[Parcel]) -> None:
        self._in_parallel(parcels, self._deliver_one)

    def _deliver_one(self, parcel: Parcel, stop: threading.Event) -> None:
        try:
            self._client.patience.run(lambda: self._attempt(parcel, stop))
        except Exhausted as fault:
            self._fail(parcel, fault.diagnostics[0])
            if self._is_hopeless():
                raise Rejected([self.failures[parcel.entries[0].path.text]]) from None
        except FileFault as fault:
            self._fail(parcel, fault.diagnostic)

    def _attempt(self, parcel: Parcel, stop: threading.Event) -> None:
        before = parcel.delivered
        path = parcel.entries[0].path.text
        what = f"the file {shown(path)}"
        asked = self._client.asked(what)
        headers = {"range": f"bytes={before}-"} if before and parcel.ranges else {}
        try:
            with self._client.open(
                self._blob_path(parcel.node), what, accept=RAW, headers=headers, expected={403, 404, 409, 410, 416, 422}
            ) as answer:
                if answer.status == 416 and before:
                    raise FileFault(parcel.mismatch("its size has changed"))
                if answer.status not in {200, 206}:
                    raise FileFault(self._missing(path, answer.status))
                at = 0
                if answer.status == 206:
                    if not answer.headers.get("content-range", "").startswith(f"bytes {before}-"):
                        raise Transient(bad_answer(asked, "sent another part of it than was asked for"))
                    at = before
                parcel.ranges = answer.headers.get("accept-ranges", "").strip().lower() == "bytes"
                parcel.start(at)
                for chunk in file_bytes(answer, parcel.node.size, asked, lambda n: self._downloaded(n, path)):
                    if stop.is_set():
                        raise Stopped
                    parcel.feed(chunk)
                parcel.finish()
        except Transient as fault:
            fault.progress = parcel.delivered > before
            raise

    def _read(self, node: Node) -> bytes:
        """Return one small blob, checked."""
        what = f"the link {shown(node.path)}"
        asked = self._client.asked(what)

        def attempt() -> bytes:
            with self._client.open(self._blob_path(node), what, accept=RAW, expected={404, 410, 422}) as answer:
                if answer.status != 200:
                    raise FileFault(self._missing(node.path, answer.status))
                held = bytearray()
                for chunk in file_bytes(answer, node.size, asked, lambda n: self._downloaded(n, node.path)):
                    held += chunk
                    if len(held) > node.size:
                        break
            check = blob_hash(node.sha, node.size)
            check.update(held)
            if check.hexdigest() != node.sha:
                message = f"{shown(node.path)}: the target of this link came changed; try again"
                raise Transient(error("github-content-mismatch", message, node.path))
            return bytes(held)

        return self._client.patience.run(attempt)

    def _blob_path(self, node: Node) -> str:
        return f"/repos/{quoted(self._pinned.repository)}/git/blobs/{node.sha}"

    def _missing(self, path: str, status: int) -> Diagnostic:
        return error(
            "github-incomplete",
            f"{shown(path)} is in the list of files of {shown(self._pinned.repository)} at {self._pinned.commit[:12]} "
            f"but cannot be had: {self._client.host} answered {status}; try again later",
            path,
            status=status,
        )

    def _fail(self, parcel: Parcel, diagnostic: Diagnostic) -> None:
        with self._lock:
            for entry in parcel.entries:
                self.failures[entry.path.text] = replace(diagnostic, path=shown(entry.path.text, 1200))

    def _downloaded(self, amount: int, path: str) -> None:
        self._meter.charge("archive_bytes", amount, path)

    def _in_parallel(self, items: Sequence[Item], work: Callable[[Item, threading.Event], None]) -> None:
        """Run `work` for each item on a few threads; the first exception ends them all."""
        stop = threading.Event()
        if len(items) <= 1:
            for item in items:
                work(item, stop)
            return

        def guarded(item: Item) -> None:
            if stop.is_set():
                return
            try:
                work(item, stop)
            except Stopped:
                return
            except BaseException:
                stop.set()  # here, so that this thread does not take the next item first
                raise

        with ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="github") as pool:
            futures = []
            try:
                for item in items:
                    futures.append(pool.submit(guarded, item))
                for future in as_completed(futures):
                    future.result()
            except BaseException:
                stop.set()
                for future in futures:
                    future.cancel()
                # Leaving the pool waits for its threads, and they may wait for a host that says nothing.
                self._client.abort()
                raise

    # --- the archive -------------------------------------------------------------------------------------------------

    def _by_archive(self, parcels: Sequence[Parcel], later: Sequence[Node]) -> list[Parcel]:
        """Read what it holds from the archive; return what must still be fetched by itself."""
        large_by_blob = self._listing.has_attributes
        wanted: dict[str, Parcel] = {}
        for parcel in parcels:
            if parcel.small or not large_by_blob:
                wanted |= dict.fromkeys((node.path for node in parcel.nodes), parcel)
        keep = {node.path: node for node in later if node.size <= KEPT_FILE and node.path not in wanted}
        room = KEPT_BYTES - sum(map(len, self.kept.values()))

        def take(name: str, streamed: StreamedEntry) -> None:
            nonlocal room
            parcel = wanted.pop(name, None)
            node = keep.pop(name, None)
            if parcel is not None and not parcel.finished:
                self._take_parcel(parcel, streamed)
            elif node is not None and node.size <= room:
                data = _checked_body(node, streamed)
                if data is not None:
                    self.kept[node.sha] = data
                    room -= len(data)

        def pending() -> bool:
            return any(not parcel.finished for parcel in wanted.values()) or bool(keep)

        every = dict(wanted)
        try:
            self._client.patience.run(lambda: self._pass(lambda: wanted.update(every), take, pending))
        except Rejected as fault:
            if not self._can_do_without(fault, sum(not parcel.finished for parcel in parcels)):
                raise
        return [
            parcel for parcel in parcels if not parcel.finished and parcel.entries[0].path.text not in self.failures
        ]

    def _take_parcel(self, parcel: Parcel, streamed: StreamedEntry) -> None:
        """Deliver one file from the archive, if the archive has it as the commit does."""
        if streamed.listed.kind is not EntryKind.FILE or streamed.listed.size != parcel.node.size:
            return
        parcel.start()
        try:
            while data := streamed.read(_CHUNK):
                parcel.feed(data)
            parcel.finish()
        except FileFault as fault:
            if parcel.delivered:  # what was handed on cannot be taken back
                self._fail(parcel, fault.diagnostic)

    def _links_from_archive(self, nodes: Sequence[Node]) -> dict[str, bytes]:
        wanted = {node.path: node for node in nodes}
        found: dict[str, bytes] = {}

        def take(name: str, streamed: StreamedEntry) -> None:
            node = wanted.pop(name, None)
            target = streamed.listed.link_target
            if node is not None and target is not None:
                data = target.encode("utf-8", "surrogateescape")
                check = blob_hash(node.sha, len(data))
                check.update(data)
                if check.hexdigest() == node.sha:
                    found[node.sha] = data

        every = dict(wanted)
        try:
            self._client.patience.run(lambda: self._pass(lambda: wanted.update(every), take, lambda: bool(wanted)))
        except Rejected as fault:
            if not self._can_do_without(fault, len(nodes)):
                raise
        return found

    def _can_do_without(self, fault: Rejected, count: int) -> bool:
        """Whether `count` files may be fetched by themselves after the archive could not be read."""
        codes = {diagnostic.code for diagnostic in fault.diagnostics}
        about_archive = all(code in _NO_ARCHIVE or code.startswith("archive-") for code in codes)
        passing = isinstance(fault, Exhausted) and "github-timeout" not in codes and not self._client.patience.spent
        return (about_archive or passing) and count <= self._client.meter.remaining("requests")

    def _pass(
        self, reset: Callable[[], None], take: Callable[[str, StreamedEntry], None], pending: Callable[[], bool]
    ) -> None:
        """Read the archive forwards once, until nothing is pending."""
        reset()
        what = f"the archive of {shown(self._pinned.repository)} at {self._pinned.commit[:12]}"
        path = f"/repos/{quoted(self._pinned.repository)}/tarball/{self._pinned.commit}"
        asked = self._client.asked(what)
        stream_charge = self._meter
        with self._client.open(path, what, accept="*/*", archive=True) as answer:
            if answer.status != 200 or not answer.plain:
                raise Rejected([bad_answer(asked, "sent something else than a tar.gz")])
            source = _Stream(answer.chunks(), asked, lambda amount: self._downloaded(amount, what))
            for streamed in self._open_tar(source, lambda n, at: stream_charge.charge("stream_bytes", n, at)):
                name = streamed.listed.name.partition("/")[2]
                if name and streamed.listed.kind is not EntryKind.DIRECTORY:
                    take(name, streamed)
                    if not pending():
                        return


class _Stream:
    """The body of an archive as something that is read, a chunk at a time."""

    def __init__(self, chunks: Iterator[bytes], asked: Asked, downloaded: Callable[[int], None]) -> None:
        self._chunks = chunks
        self._asked = asked
        self._downloaded = downloaded
        self._held = b""
        self._started = False

    def read(self, size: int, /) -> bytes:
        while not self._held or (not self._started and len(self._held) < 2):
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            self._downloaded(len(chunk))
            self._held += chunk
        if not self._started:
            self._started = True
            if not self._held.startswith(b"\x1f\x8b"):
                raise Rejected([bad_answer(self._asked, "sent something else than a tar.gz")])
        data, self._held = self._held[:size], self._held[size:]
        return data


def _checked_body(node: Node, streamed: StreamedEntry) -> bytes | None:
    """Return a small file of the archive if it is the commit's."""
    if streamed.listed.kind is not EntryKind.FILE or streamed.listed.size != node.size:
        return None
    held = bytearray()
    while data := streamed.read(_CHUNK):
        held += data
    check = blob_hash(node.sha, node.size)
    check.update(held)
    return bytes(held) if check.hexdigest() == node.sha else None
