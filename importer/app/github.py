"""A repository as a source: its container, with the cache, the tokens and the hosts that this run has."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from importer.app.errors import ImporterError, Status
from importer.app.opening import Opened
from importer.diagnostics import Rejected
from importer.extract.tar_stream import stream_tar_gz
from importer.library.cache import DiskCache
from importer.model import Origin
from importer.sources.github import GitHubSettings, gh_token, open_github
from importer.sources.reference import recorded_ref

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from importer.app.found import Meters
    from importer.app.request import RecordedSource, Request
    from importer.app.session import Session
    from importer.sources.github import GitHubContainer
    from importer.sources.reference import GitHubRef


def github_settings(session: Session, *, no_cache: bool) -> GitHubSettings:
    """Return what reading GitHub needs to know: environment, hosts, and a cache where the library can be written."""
    cache = None
    if not no_cache and session.library.unwritable() is None:
        folder = Path(session.library.root) / ".importer" / "cache" / "github"
        cache = DiskCache(folder, session.budgets.max("github", "cache_bytes"))
    return GitHubSettings(
        environ=session.settings.environment,
        hosts=session.config.github_hosts,
        cache=cache,
        run_gh=partial(gh_token, environ=session.settings.environment),
    )


def open_recorded(session: Session, request: Request, recorded: RecordedSource, meters: Meters) -> Opened:
    """Open a place that something was installed from. Raises as `open_repository`; another repository is refused."""
    reference = recorded_ref(host=recorded.host, repository=recorded.repository, ref=recorded.ref, path=recorded.path)
    return open_repository(session, request, reference, meters, expect_repository_id=recorded.repository_id)


def open_repository(
    session: Session,
    request: Request,
    reference: GitHubRef,
    meters: Meters,
    *,
    expect_repository_id: str = "",
) -> Opened:
    """Resolve a reference to one commit and open what is there.

    Raises:
        ImporterError: USAGE where `--ref` is no ref, or contradicts the reference.
        Rejected: every other `github-*` code but those about a single file.
        BudgetExceeded: too many requests.
    """
    try:
        container: GitHubContainer = open_github(
            reference,
            ref_option=request.ref,
            settings=github_settings(session, no_cache=request.no_cache),
            github_meter=meters.github,
            bundle_meter=meters.bundle,
            open_tar=partial(stream_tar_gz, archive=meters.archive),
            progress=session.settings.progress,
            expect_repository_id=expect_repository_id,
            choose_links=partial(links_of_interest, wanted=request.skills),
        )
    except Rejected as rejected:
        first = rejected.diagnostics[0]
        if first.code != "github-reference-invalid":
            raise
        raise ImporterError(first.code, first.message, Status.USAGE, rejected.diagnostics) from None
    path = container.resolved.get("path", "")
    label = path.rpartition("/")[2] or reference.repo
    opened = Opened(
        origin=Origin(kind="github", reference=reference.text, resolved=dict(container.resolved)),
        label=label,
        container=container,
    )
    opened.stack.callback(container.close)
    return opened


def links_of_interest(names: Collection[str], wanted: Collection[str]) -> Callable[[str], bool]:
    """Say which links of a repository matter: where skills are chosen by their folders, only those inside of them.

    One skill must not cost a request for every link of a large repository. Where a name is no folder's, or the
    repository is a Specialist package, all matter: then every skill is looked at.
    """
    words = {word.removeprefix("skill:").rstrip("/") for word in wanted}
    roots = {name.rpartition("/")[0] for name in names if name.rpartition("/")[2].lower() == "skill.md"}
    found = {word: [root for root in roots if word in {root, root.rpartition("/")[2]}] for word in words}
    packaged = any(name.rpartition("/")[2] == "specialist.json" for name in names)
    if not words or packaged or not all(found.values()):
        return lambda _name: True
    inside = tuple(f"{root}/" for some in found.values() for root in some)
    return lambda name: name.startswith(inside) or "/" in inside
