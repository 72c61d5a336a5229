"""From what a person typed to an open container: what it is gets decided by its content, never by its suffix."""

from __future__ import annotations

import hashlib
import os
import threading
from contextlib import ExitStack
from dataclasses import field, replace
from typing import TYPE_CHECKING

from importer.app.errors import ImporterError, Status
from importer.diagnostics import Diagnostic, Rejected, error, shown
from importer.model import Origin
from importer.records import record
from importer.sources.file import FileBytes, SingleFileContainer
from importer.sources.local import LocalKind, recognise
from importer.sources.reference import GitHubRef, LocalRef, Refused, TokenRef, UrlRef, parse_source

if TYPE_CHECKING:
    from importer.app.found import Meters
    from importer.app.request import Request
    from importer.app.session import Session
    from importer.ports import Container
    from importer.staging import StagedFolder

HASH_CHUNK = 1 << 18
_REPORTED = {LocalKind.ZIP: "zip", LocalKind.TAR: "tar", LocalKind.GZIP: "tar", LocalKind.DIRECTORY: "directory"}
"""What a report calls each kind of local source; every other one is a file."""


@record(frozen=False, kw_only=False)
class Opened:
    """An open source. One of `container` and `document` is there."""

    origin: Origin
    label: str
    """The source's own name, for a package that says none: `reef-survey` of `reef-survey.zip`."""
    container: Container | None = None
    document: bytes | None = None
    """A JSON document, which is never staged."""
    packed: int | None = None
    """Bytes of the archive as it is on disk; None where there is no archive."""
    fingerprint: Fingerprint | None = None
    bytes_read: FileBytes | None = None
    stack: ExitStack = field(default_factory=ExitStack)

    def resolved(self) -> Origin:
        """Return the origin with everything that pins it, once the whole source was read.

        Raises:
            Rejected: the file changed while it was read.
        """
        if self.bytes_read is not None:
            self.bytes_read.check_unchanged()
        pinned = dict(self.origin.resolved)
        if self.fingerprint is not None:
            pinned["sha256"] = self.fingerprint.value()
        facts = getattr(self.container, "resolved", None)
        if facts:
            pinned.update(facts)
        return replace(self.origin, resolved=pinned)

    def close(self) -> None:
        """Let go of everything that was opened; a listing of many entries goes with its container."""
        self.stack.close()
        self.container = None


class Fingerprint:
    """The SHA-256 of a file, worked out beside everything else."""

    def __init__(self, data: FileBytes) -> None:
        self._data = data
        self._hash = hashlib.sha256()
        self._problem: BaseException | None = None
        self._stopped = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            offset = 0
            while not self._stopped and (chunk := self._data.pread(HASH_CHUNK, offset)):
                self._hash.update(chunk)
                offset += len(chunk)
        except BaseException as problem:  # noqa: BLE001  # carried over to whoever asks for the value
            self._problem = problem

    def value(self) -> str:
        """Return the digest in hex. Raises what reading the file raised."""
        self._thread.join()
        if self._problem is not None:
            raise self._problem
        return self._hash.hexdigest()

    def stop(self) -> None:
        """Stop reading; the value is not going to be asked for."""
        self._stopped = True
        self._thread.join()


def open_source(session: Session, request: Request, staged: StagedFolder, meters: Meters) -> Opened:
    """Open what `request.source` names.

    Raises:
        ImporterError: USAGE where it names nothing that could be opened.
        Rejected, BudgetExceeded, OSError: as opening a container does.
    """
    _require_code_page(request.name_encoding)
    if request.recorded is not None:
        from importer.app.github import open_recorded

        return open_recorded(session, request, request.recorded, meters)
    hosts = _hosts(session) if "://" in request.source or "@" in request.source else frozenset()
    reference = parse_source(request.source, exists=lambda text: os.path.lexists(_expanded(text)), hosts=hosts)
    match reference:
        case LocalRef(path=path):
            return _open_local(_expanded(path), request, staged, meters)
        case GitHubRef():
            from importer.app.github import open_repository

            return open_repository(session, request, reference, meters)
        case TokenRef():
            raise ImporterError(
                "source-is-token",
                "this is the token of a preview; use it with: importer install TOKEN",
                Status.USAGE,
            )
        case UrlRef(host=host):
            raise ImporterError(
                "source-host-unknown",
                f'{shown(host)} is no GitHub host that is known here; add [github.hosts."{shown(host)}"] with its api '
                "to config.toml, or download the archive and preview the file",
                Status.USAGE,
            )
        case Refused(diagnostic=diagnostic):
            raise _refused(diagnostic)


def _require_code_page(name: str | None) -> None:
    if name is None:
        return
    from importer.extract.zip_names import is_code_page

    if not is_code_page(name):
        raise ImporterError(
            "path-encoding",
            f"--name-encoding {shown(name, 60)!r} is no code page for names; known are cp437, cp850, cp932, gbk, big5, "
            "euc_kr, cp1251 and others",
            Status.USAGE,
        )


def _hosts(session: Session) -> frozenset[str]:
    """Return the hosts that are read through the GitHub API; what reads them is loaded only for what may name one."""
    from importer.app.github import github_settings
    from importer.sources.github import known_hosts

    return known_hosts(github_settings(session, no_cache=True))


def _refused(diagnostic: Diagnostic) -> ImporterError:
    return ImporterError(diagnostic.code, diagnostic.message, Status.USAGE, [diagnostic])


def _expanded(path: str) -> str:
    return os.path.expanduser(path) if path.startswith("~") else path


def origin_of(source: str) -> Origin:
    """Return what is known of a local source that could not be opened."""
    path = _expanded(source)
    try:
        kind = recognise(path).kind
    except (Rejected, OSError):
        kind = LocalKind.UNKNOWN
    return _local_origin(path, kind)


def _local_origin(path: str, kind: LocalKind) -> Origin:
    return Origin(kind=_REPORTED.get(kind, "file"), reference=os.path.abspath(path))


def _open_local(path: str, request: Request, staged: StagedFolder, meters: Meters) -> Opened:
    label = os.path.basename(os.path.abspath(path))
    found = recognise(path)
    if found.kind is LocalKind.DIRECTORY:
        from importer.sources.directory import DirectoryContainer

        opened = Opened(origin=_local_origin(path, found.kind), label=label)
        opened.container = DirectoryContainer(path, max_depth=meters.bundle.max("depth"))
        opened.stack.callback(opened.container.close)
        return opened
    if found.kind is LocalKind.UNKNOWN:
        raise Rejected(
            [
                error(
                    "package-unrecognised",
                    "nothing to import: looked for a zip or tar archive (gzip or plain), a folder, a Markdown file "
                    f"with frontmatter, and a JSON document; found {found.found}",
                )
            ]
        )
    data = FileBytes(path)
    opened = Opened(origin=_local_origin(path, found.kind), label=_stem(label), bytes_read=data)
    opened.stack.callback(data.close)
    try:
        _open_file(opened, data, found.kind, request, staged, meters)
    except BaseException:
        opened.close()
        raise
    return opened


def _open_file(
    opened: Opened, data: FileBytes, kind: LocalKind, request: Request, staged: StagedFolder, meters: Meters
) -> None:
    if kind is LocalKind.JSON:
        meters.connector.check("config_bytes", data.size, data.path)
        opened.document = data.pread(data.size, 0)
        opened.fingerprint = Fingerprint(data)
        return
    if kind is LocalKind.MARKDOWN:
        opened.container = SingleFileContainer(data)
        opened.fingerprint = Fingerprint(data)
        return
    # The outer file is held to its limit before anything in it is looked at.
    meters.bundle.check("archive_bytes", data.size, os.path.basename(opened.origin.reference))
    opened.packed = data.size
    opened.fingerprint = Fingerprint(data)
    opened.stack.callback(opened.fingerprint.stop)
    if kind is LocalKind.ZIP:
        from importer.extract.zip_container import ZipContainer

        opened.container = ZipContainer(
            data,
            bundle=meters.bundle,
            archive=meters.archive,
            name_encoding=request.name_encoding,
        )
    else:
        _open_tar(opened, data, kind, request, staged, meters)
    if opened.container is not None:
        opened.stack.callback(opened.container.close)


def _open_tar(
    opened: Opened, data: FileBytes, kind: LocalKind, request: Request, staged: StagedFolder, meters: Meters
) -> None:
    from importer.extract.tar_container import TarContainer

    body = data
    if kind is LocalKind.GZIP:
        from importer.extract.gzip_stream import spool_gzip

        file, path = staged.spool("source.tar")
        with file:
            spool_gzip(data, file.write, bundle=meters.bundle)
        body = FileBytes(path)
        opened.stack.callback(body.close)
    opened.container = TarContainer(
        body,
        bundle=meters.bundle,
        archive=meters.archive,
        name_encoding=request.name_encoding,
    )


def _stem(name: str) -> str:
    lowered = name.lower()
    for suffix in (".tar.gz", ".tgz", ".tar", ".zip", ".skill", ".md", ".json"):
        if lowered.endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name
