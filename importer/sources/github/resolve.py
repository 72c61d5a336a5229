"""From a reference to one commit: which repository, which ref, which path. Everything after that goes by the commit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from importer.diagnostics import Diagnostic, Rejected, error, shown, warning
from importer.records import record
from importer.sources.github import documents
from importer.sources.github.client import SHA
from importer.sources.reference import GitHubRef, is_ref_name

if TYPE_CHECKING:
    from importer.sources.github.client import Client

PROBES = 3
"""Up to so many readings of REF/PATH are tried one by one; for more, the repository's refs are listed instead."""
REF_PAGES = 5
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@record
class Pinned:
    """A place in a repository that cannot move any more."""

    repository: str
    """OWNER/REPO as the API spells it now."""
    repository_id: str
    default_branch: str
    ref: str
    """The branch, tag or commit that was asked for, or the default branch."""
    commit: str
    path: str
    """The folder or file in the repository, "" for its top."""
    notes: tuple[Diagnostic, ...]


def quoted(path: str) -> str:
    """Return a path for a URL: each segment encoded, the slashes kept."""
    return "/".join(quote(segment, safe="") for segment in path.split("/"))


def pin(client: Client, ref: GitHubRef, ref_option: str | None) -> Pinned:
    """Resolve a reference.

    Args:
        client: the API of the reference's host.
        ref: what was typed.
        ref_option: `--ref`, which says what the ref is.

    Raises:
        Rejected: no such repository or ref, or `ref_option` contradicts the reference.
        BudgetExceeded: too many requests.
    """
    if ref_option is not None:
        _option_path(ref, ref_option)
    asked_name = f"{ref.owner}/{ref.repo}"
    what = f"the repository {shown(asked_name)}"
    got = client.fetch(f"/repos/{quoted(asked_name)}", what, documents.repository)
    found = got.value
    if found is None:
        raise AssertionError("a fetch without expected statuses has a value")
    notes: list[Diagnostic] = []
    if found.full_name.lower() != asked_name.lower():
        notes.append(renamed(asked_name, found))
    name, commit, path = _choose(client, ref, ref_option, found)
    return Pinned(
        repository=found.full_name,
        repository_id=found.id,
        default_branch=found.default_branch,
        ref=name,
        commit=commit,
        path=path,
        notes=tuple(notes),
    )


def renamed(old: str, found: documents.Repository) -> Diagnostic:
    """Say that a repository has another name than the one that was asked for."""
    message = f"{shown(old)} was renamed or moved to {shown(found.full_name)}; that one was read. Use the new name"
    return warning("github-renamed", message, old=old, new=found.full_name, id=found.id)


def commit_of(client: Client, repository: str, ref: str, ref_type: str = "") -> str | None:
    """Return the commit that a ref points to now, or None where there is none of that name."""
    full = f"{ref_type}/{ref}" if ref_type else ref
    what = f"the ref {shown(ref)} of {shown(repository)}"
    got = client.fetch(
        f"/repos/{quoted(repository)}/commits/{quoted(full)}",
        what,
        documents.commit_sha,
        accept=SHA,
        expected={404, 422},
    )
    return got.value


def _choose(
    client: Client, ref: GitHubRef, ref_option: str | None, found: documents.Repository
) -> tuple[str, str, str]:
    """Return ref, commit and path."""
    if ref_option is not None:
        return ref_option, _must(client, ref, found, ref_option), _option_path(ref, ref_option)
    if ref.ref:
        return ref.ref, _must(client, ref, found, ref.ref), ref.path
    if not ref.rest:
        branch = found.default_branch
        return branch, _must(client, ref, found, branch, "heads"), ref.path
    readings = _readings(ref.rest)
    if len(readings) > PROBES:
        listed = _by_listing(client, ref, found, readings)
        if listed is not None:
            return listed
    for space in _spaces(ref.ref_type):
        for name, path in readings:
            commit = commit_of(client, found.full_name, name, space)
            if commit is not None:
                return name, commit, path
    raise _no_ref(ref, found, [name for name, _ in readings])


def _spaces(ref_type: str) -> tuple[str, ...]:
    """Return how a name is asked for: as `heads/NAME`, and for a server that knows plain names only, as such."""
    return (ref_type, "") if ref_type else ("",)


def _option_path(ref: GitHubRef, ref_option: str) -> str:
    """Return the path that a reference names once its ref is known to be `ref_option`; refuse what is no ref."""
    if not is_ref_name(ref_option):
        message = f"--ref {shown(ref_option)!r} cannot be the name of a branch, a tag or a commit"
        raise Rejected([error("github-reference-invalid", message)])
    if ref.ref and ref.ref != ref_option:
        raise Rejected([_contradiction(ref, ref_option, ref.ref)])
    if not ref.rest:
        return ref.path
    rest = "/".join(ref.rest)
    if rest == ref_option:
        return ""
    if rest.startswith(ref_option + "/"):
        return rest[len(ref_option) + 1 :]
    raise Rejected([_contradiction(ref, ref_option, rest)])


def _contradiction(ref: GitHubRef, ref_option: str, named: str) -> Diagnostic:
    return error(
        "github-reference-invalid",
        f"the reference names {shown(named)!r} and --ref says {shown(ref_option)!r}; leave one out, such as "
        f"{shown(ref.owner)}/{shown(ref.repo)}/PATH --ref {shown(ref_option)}",
    )


def _readings(rest: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return every (ref, path) that REF/PATH may mean, the longest ref first."""
    found = []
    for border in range(len(rest), 0, -1):
        name = "/".join(rest[:border])
        if is_ref_name(name):
            found.append((name, "/".join(rest[border:])))
    return found


def _by_listing(
    client: Client, ref: GitHubRef, found: documents.Repository, readings: list[tuple[str, str]]
) -> tuple[str, str, str] | None:
    """Find the longest reading among the refs that start like it; None where the API does not list refs."""
    known: dict[str, tuple[str, str, str]] = {}
    for space in ("tags", "heads"):  # a branch of the same name wins, as on the web pages
        if ref.ref_type in {"", space}:
            rows = _matching(client, found.full_name, f"{space}/{ref.rest[0]}")
            if rows is None:
                return None
            known |= {name.removeprefix(f"refs/{space}/"): (space, kind, sha) for name, kind, sha in rows}
    for name, path in readings:
        if name in known:
            space, kind, sha = known[name]
            commit = sha if kind == "commit" else commit_of(client, found.full_name, name, space)
            if commit is not None:
                return name, commit, path
    name, path = ref.rest[0], "/".join(ref.rest[1:])
    commit = commit_of(client, found.full_name, name) if _COMMIT.fullmatch(name) else None
    if commit is not None:
        return name, commit, path
    raise _no_ref(ref, found, [name for name, _ in readings])


def _matching(client: Client, repository: str, prefix: str) -> list[tuple[str, str, str]] | None:
    rows: list[tuple[str, str, str]] = []
    for page in range(1, REF_PAGES + 1):
        path = f"/repos/{quoted(repository)}/git/matching-refs/{quoted(prefix)}?per_page=100&page={page}"
        got = client.fetch(path, f"the refs of {shown(repository)}", documents.refs, expected={404, 422})
        if got.value is None:
            return None
        rows += got.value
        if 'rel="next"' not in got.headers.get("link", ""):
            return rows
    return None


def _must(client: Client, ref: GitHubRef, found: documents.Repository, name: str, space: str = "") -> str:
    for form in _spaces(ref.ref_type or space):
        commit = commit_of(client, found.full_name, name, form)
        if commit is not None:
            return commit
    raise _no_ref(ref, found, [name])


def _no_ref(ref: GitHubRef, found: documents.Repository, names: list[str]) -> Rejected:
    tried = ", ".join(shown(name, 80) for name in names[:6])
    kind = {"heads": "branch", "tags": "tag"}.get(ref.ref_type, "branch, tag or commit")
    message = (
        f"{shown(found.full_name)} has no {kind} named {tried}; its default branch is {shown(found.default_branch)}. "
        "Check the spelling, or say with --ref what the ref is"
    )
    return Rejected([error("github-ref-not-found", message, tried=names[:6], default_branch=found.default_branch)])
