"""What has changed upstream since something was installed: asked per repository and ref, not per skill.

An item is behind when the ref that it was installed from has a newer commit that touches its folder, or, where it was
installed from a tag, when there is a newer release or tag of the same series. What was installed from a bare commit
stays where it is.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from semver import Version

from importer.diagnostics import Diagnostic, Rejected, error, shown
from importer.records import record
from importer.sources.github import documents
from importer.sources.github.client import Client
from importer.sources.github.identity import api_of, identity_for
from importer.sources.github.listing import MAX_TREE_BYTES
from importer.sources.github.resolve import commit_of, quoted, renamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from budgets import Meter
    from importer.sources.github.settings import GitHubSettings

TAG_PAGES = 3
_SERIES = re.compile(r"(?P<series>.*?)(?P<version>\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@record
class Recorded:
    """One installed item that came from GitHub."""

    name: str
    resolved: Mapping[str, str]
    """The facts that were recorded: host, repository, repository_id, ref, commit."""
    path: str
    """Its folder in the repository."""


@record
class Upstream:
    """How one item stands against its repository."""

    name: str
    repository: str
    ref: str
    installed_commit: str
    newest_commit: str
    """The commit of the ref, or of the newer tag; the installed one where nothing could be learnt."""
    newest_ref: str
    """The ref to install next: the same branch, or a newer tag."""
    outdated: bool
    reason: str
    """commit, release, tag, moved-tag; current, untouched (newer commits leave its folder alone), pinned, unknown."""
    diagnostic: Diagnostic | None = None
    """Why nothing could be learnt about it."""
    renamed: Diagnostic | None = None
    """That its repository has another name now."""


def check_updates(items: Sequence[Recorded], *, settings: GitHubSettings, github_meter: Meter) -> tuple[Upstream, ...]:
    """Ask for each item what is newer, in the order given.

    Args:
        items: what is installed.
        settings: hosts, tokens, cache, clock.
        github_meter: the profile `github`.

    Raises:
        Rejected: a rate limit, a refused token, or a host that is gone. What concerns one repository (it is gone, its
            branch was deleted) is the diagnostic of its items instead.
        BudgetExceeded: too many requests.
    """
    found: dict[int, Upstream] = {}
    by_host: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        by_host.setdefault(item.resolved.get("host", ""), []).append(index)
    for host, indexes in by_host.items():
        try:
            api = api_of(host, settings)
        except Rejected as fault:
            found |= {index: _unknown(items[index], fault.diagnostics[0]) for index in indexes}
            continue
        client = Client(api, identity_for(api, settings), settings, github_meter)
        try:
            asker = _Asker(client)
            for index in indexes:
                found[index] = asker.ask(items[index])
        finally:
            client.close()
    return tuple(found[index] for index in range(len(items)))


def _unknown(item: Recorded, diagnostic: Diagnostic) -> Upstream:
    commit = item.resolved.get("commit", "")
    return Upstream(
        name=item.name,
        repository=item.resolved.get("repository", ""),
        ref=item.resolved.get("ref", ""),
        installed_commit=commit,
        newest_commit=commit,
        newest_ref=item.resolved.get("ref", ""),
        outdated=False,
        reason="unknown",
        diagnostic=diagnostic,
    )


_ONE_REPOSITORY = frozenset(
    {"github-not-found", "github-forbidden", "github-blocked", "github-empty", "github-repository-changed"}
)


class _Asker:
    """Asks each question about a repository once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._repositories: dict[str, documents.Repository | Diagnostic] = {}
        self._commits: dict[tuple[str, str], str | None] = {}
        self._tags: dict[str, dict[str, str]] = {}
        self._releases: dict[str, str | None] = {}
        self._trees: dict[tuple[str, str], dict[str, str] | None] = {}

    def ask(self, item: Recorded) -> Upstream:
        resolved = item.resolved
        base = replace(_unknown(item, _no_record(item)), diagnostic=None, reason="current")
        if not (base.repository and base.ref and base.installed_commit):
            return _unknown(item, _no_record(item))
        repository = self._repository(base.repository)
        if isinstance(repository, Diagnostic):
            return _unknown(item, repository)
        if resolved.get("repository_id", repository.id) != repository.id:
            return _unknown(item, _replaced(base.repository, resolved["repository_id"], repository.id))
        if repository.full_name.lower() != base.repository.lower():
            base = replace(base, renamed=renamed(base.repository, repository))
        base = replace(base, repository=repository.full_name)
        if _COMMIT.fullmatch(base.ref) or base.installed_commit.startswith(base.ref):
            return replace(base, reason="pinned")
        newest = self._commit(base.repository, base.ref)
        if newest is None:
            return _unknown(item, _ref_gone(base.repository, base.ref))
        if base.ref != repository.default_branch:
            tagged = self._tagged(base, newest)
            if tagged is not None:
                return tagged
        if newest == base.installed_commit:
            return base
        untouched = self._same_folder(base.repository, base.installed_commit, newest, item.path)
        return replace(
            base, newest_commit=newest, outdated=not untouched, reason="untouched" if untouched else "commit"
        )

    def _repository(self, name: str) -> documents.Repository | Diagnostic:
        if name not in self._repositories:
            what = f"the repository {shown(name)}"
            try:
                got = self._client.fetch(f"/repos/{quoted(name)}", what, documents.repository)
            except Rejected as fault:
                if fault.diagnostics[0].code not in _ONE_REPOSITORY:
                    raise
                self._repositories[name] = fault.diagnostics[0]
            else:
                if got.value is None:
                    raise AssertionError("a fetch without expected statuses has a value")
                self._repositories[name] = got.value
        return self._repositories[name]

    def _commit(self, repository: str, ref: str) -> str | None:
        key = (repository, ref)
        if key not in self._commits:
            self._commits[key] = commit_of(self._client, repository, ref)
        return self._commits[key]

    def _tagged(self, base: Upstream, newest: str) -> Upstream | None:
        """Answer for what was installed from a tag; None where the ref is none."""
        tags = self._all_tags(base.repository)
        if base.ref not in tags:
            return None
        if newest != base.installed_commit:
            return replace(base, newest_commit=newest, outdated=True, reason="moved-tag")
        release = self._release(base.repository)
        if release is not None and release in tags and _is_newer(release, base.ref):
            return replace(base, newest_ref=release, newest_commit=tags[release], outdated=True, reason="release")
        newer = [tag for tag in tags if _is_newer(tag, base.ref) and not _prerelease(tag)]
        if not newer or (release is not None and not _is_newer(release, base.ref) and _same_series(release, base.ref)):
            return base
        best = max(newer, key=_version)
        return replace(base, newest_ref=best, newest_commit=tags[best], outdated=True, reason="tag")

    def _all_tags(self, repository: str) -> dict[str, str]:
        if repository not in self._tags:
            found: dict[str, str] = {}
            for page in range(1, TAG_PAGES + 1):
                path = f"/repos/{quoted(repository)}/tags?per_page=100&page={page}"
                got = self._client.fetch(path, f"the tags of {shown(repository)}", documents.tags, expected={404})
                found |= dict(got.value or ())
                if 'rel="next"' not in got.headers.get("link", ""):
                    break
            self._tags[repository] = found
        return self._tags[repository]

    def _release(self, repository: str) -> str | None:
        if repository not in self._releases:
            path = f"/repos/{quoted(repository)}/releases/latest"
            what = f"the latest release of {shown(repository)}"
            self._releases[repository] = self._client.fetch(path, what, documents.release_tag, expected={404}).value
        return self._releases[repository]

    def _same_folder(self, repository: str, before: str, after: str, path: str) -> bool:
        """Whether a folder is the same tree in two commits; False where that cannot be told."""
        if not path:
            return False
        old, new = self._tree(repository, before), self._tree(repository, after)
        return old is not None and new is not None and path in old and old[path] == new.get(path)

    def _tree(self, repository: str, commit: str) -> dict[str, str] | None:
        key = (repository, commit)
        if key not in self._trees:
            folders: dict[str, str] = {}

            def take(item: documents.TreeItem) -> None:
                if item.kind == "tree":
                    folders[item.path] = item.sha

            def consume(chunks: Iterator[bytes]) -> bool:
                folders.clear()
                return documents.tree(chunks, take)

            what = f"the list of files of {shown(repository)} at {commit[:12]}"
            path = f"/repos/{quoted(repository)}/git/trees/{commit}?recursive=1"
            got = self._client.fetch(path, what, consume, cap=MAX_TREE_BYTES, expected={404, 422})
            self._trees[key] = folders if got.value is False else None
        return self._trees[key]


def _split(tag: str) -> tuple[str, Version] | None:
    """Split a tag into its series ("v", "pdf-v", "pdf@") and its version, or None where it has none."""
    match = _SERIES.fullmatch(tag)
    if match is None:
        return None
    try:
        return match["series"], Version.parse(match["version"], optional_minor_and_patch=True)
    except ValueError:
        return None


def _version(tag: str) -> Version:
    found = _split(tag)
    return found[1] if found else Version(0)


def _prerelease(tag: str) -> bool:
    return _version(tag).prerelease is not None


def _same_series(one: str, other: str) -> bool:
    first, second = _split(one), _split(other)
    return first is not None and second is not None and first[0] == second[0]


def _is_newer(tag: str, than: str) -> bool:
    return _same_series(tag, than) and _version(tag) > _version(than)


def _no_record(item: Recorded) -> Diagnostic:
    return error(
        "github-record-incomplete",
        f"{shown(item.name)} has no recorded repository, ref and commit; install it again from its repository",
        item.name,
    )


def _replaced(name: str, expected: str, found: str) -> Diagnostic:
    message = (
        f"{shown(name)} is another repository now (id {shown(found)}) than the one that was installed from (id "
        f"{shown(expected)}); find out where the old one went, and install from there"
    )
    return error("github-repository-changed", message, expected=expected, found=found, name=name)


def _ref_gone(repository: str, ref: str) -> Diagnostic:
    message = (
        f"{shown(repository)} has no {shown(ref)} any more: the branch or tag was deleted; install it again with "
        "--ref and the one to follow"
    )
    return error("github-ref-not-found", message, ref=ref)
