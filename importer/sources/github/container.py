"""A folder of a repository at one commit, as a container like any other.

Names are those below the folder that was asked for. A link that leaves that folder for a file elsewhere in the same
repository is listed as that file; every other link is left to the gate.
"""

from __future__ import annotations

import difflib
import posixpath
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from budgets import BudgetExceeded
from importer.diagnostics import Diagnostic, Rejected, error, info, shown
from importer.model import EntryKind, Listed
from importer.sources.github.blobs import Parcel
from importer.sources.github.client import Client
from importer.sources.github.delivery import Courier
from importer.sources.github.identity import api_of, identity_for
from importer.sources.github.listing import Listing, Node, same_path
from importer.sources.github.resolve import pin

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from budgets import Meter
    from importer.model import Entry
    from importer.ports import Charge, Progress, Receiver, TarStreamer
    from importer.sources.github.resolve import Pinned
    from importer.sources.github.settings import GitHubSettings
    from importer.sources.reference import GitHubRef

MAX_LINKS = 8
"""Links in a row that are followed."""


class ChooseLinks(Protocol):
    """Says which links are looked at, once every name is known."""

    def __call__(self, names: Collection[str], /) -> Callable[[str], bool]:
        """Return whether the link of a name is of interest; names are as the container lists them."""


def _every_link(_names: Collection[str], /) -> Callable[[str], bool]:
    return lambda _name: True


def open_github(
    ref: GitHubRef,
    *,
    ref_option: str | None = None,
    settings: GitHubSettings,
    github_meter: Meter,
    bundle_meter: Meter,
    open_tar: TarStreamer,
    progress: Progress | None = None,
    expect_repository_id: str = "",
    choose_links: ChooseLinks = _every_link,
) -> GitHubContainer:
    """Resolve a reference to one commit and return what is there. Nothing but the repository's facts is fetched yet.

    Args:
        ref: the reference, from `reference.parse_source`.
        ref_option: `--ref`.
        settings: hosts, tokens, cache, clock.
        github_meter: the profile `github`; every request is charged to `requests`.
        bundle_meter: the profile `bundle`; what is downloaded is charged to `archive_bytes`, an archive's inflated
            stream to `stream_bytes`.
        open_tar: reads an archive forwards.
        progress: told of files and bytes.
        expect_repository_id: refuse another repository than this one (an update of what was installed earlier).
        choose_links: given every name of the listing, returns what says whether the target of a link is of interest;
            each target costs a request. The others are listed as faults.

    Raises:
        Rejected: every `github-*` code but those about a single file.
        BudgetExceeded: too many requests.
    """
    api = api_of(ref.host, settings)
    client = Client(api, identity_for(api, settings), settings, github_meter)
    try:
        pinned = pin(client, ref, ref_option)
        if expect_repository_id and pinned.repository_id != expect_repository_id:
            raise Rejected([_another(pinned, expect_repository_id)])
    except BaseException:
        client.close()
        raise
    return GitHubContainer(client, pinned, bundle_meter, open_tar, progress, choose_links)


def _another(pinned: Pinned, expected: str) -> Diagnostic:
    message = (
        f"{shown(pinned.repository)} is another repository now (id {pinned.repository_id}) than the one that was "
        f"installed from (id {shown(expected)}): the old one was renamed or deleted and its name taken over. Find out "
        "where it went, and install from there"
    )
    return error(
        "github-repository-changed", message, expected=expected, found=pinned.repository_id, name=pinned.repository
    )


class GitHubContainer:
    """Implements `ports.Container`."""

    kind = "github"

    def __init__(
        self,
        client: Client,
        pinned: Pinned,
        bundle_meter: Meter,
        open_tar: TarStreamer,
        progress: Progress | None,
        choose_links: ChooseLinks,
    ) -> None:
        self._client = client
        self._pinned = pinned
        self._bundle = bundle_meter
        self._progress = progress
        self._choose_links = choose_links
        self._unread: Diagnostic | None = None
        """What is said, once for all of them, of the links that were not chosen."""
        self._listing = Listing(client, pinned)
        self._courier = Courier(client, pinned, self._listing, bundle_meter, open_tar)
        self._nodes: list[Node] = []
        self._notes: list[Diagnostic] = list(pinned.notes)
        self._later: list[Node] = []
        self._scope, self._document = _meant(pinned.path)
        """The folder or file that is read, and the name of a skill's document in it that was named instead of it."""
        self._charged = 0

    # --- facts -------------------------------------------------------------------------------------------------------

    @property
    def resolved(self) -> Mapping[str, str]:
        """host, repository, repository_id, ref, commit, path: what pins it, without credentials.

        A reference to a `SKILL.md` means its folder. Where `path` leads through a link, it is final once `list` was
        called.
        """
        pinned = self._pinned
        return MappingProxyType(
            {
                "host": self._client.api.web_host,
                "repository": pinned.repository,
                "repository_id": pinned.repository_id,
                "ref": pinned.ref,
                "commit": pinned.commit,
                "path": self._scope,
            }
        )

    @property
    def folder(self) -> str:
        """The name of the folder that the entries lie in; "" at the repository's top, where no name is the author's."""
        return self._scope.rpartition("/")[2]

    @property
    def failures(self) -> Mapping[str, Diagnostic]:
        """Why entries of the last `deliver` were not delivered, by `Entry.path.text`.

        The receiver's sink of such an entry was not begun, or was never told `done`.
        """
        return MappingProxyType(dict(self._courier.failures))

    def notes(self) -> Sequence[Diagnostic]:
        """Return what is worth knowing: a rename, a listing that was read folder by folder, links taken as copies."""
        return tuple(self._notes)

    # --- the listing -------------------------------------------------------------------------------------------------

    def list(self, charge_entries: Charge, /) -> Sequence[Listed]:
        """Return every entry below the folder that was asked for."""

        def count(so_far: int) -> None:
            if so_far > self._charged:
                amount, self._charged = so_far - self._charged, so_far
                charge_entries(amount, self._scope)

        nodes = self._below(count)
        if self._document:
            here = f"{self._scope}/{self._document}" if self._scope else self._document
            if all(node.path != here for node in nodes):
                self._scope = here
                raise Rejected([self._no_path()])
        if self._listing.truncated:
            message = (
                f"the API lists only part of {shown(self._pinned.repository)} at once; it was read folder by folder "
                "instead, and nothing is missing"
            )
            self._notes.append(info("github-listing-walked", message, entries=len(nodes)))
        prefix = f"{self._scope}/" if self._scope else ""
        single = len(nodes) == 1 and nodes[0].path == self._scope
        names = {node.path: node.path.rpartition("/")[2] if single else node.path[len(prefix) :] for node in nodes}
        targets = self._targets([node for node in nodes if node.kind == "link"], names)
        return [self._listed(node, names[node.path], targets, single) for node in nodes]

    def _targets(self, links: Sequence[Node], names: Mapping[str, str]) -> dict[str, bytes]:
        """Read the targets of the chosen links, and of the links that those lead through, by object name."""
        if not links:
            return {}
        by_path = {node.path: node for node in links}
        chosen = self._choose_links(names.values())
        pending = [node for node in links if chosen(names[node.path])]
        found: dict[str, bytes] = {}
        asked: set[str] = set()
        while pending:
            asked |= {node.sha for node in pending}
            found |= self._courier.small(pending)
            on = {path for node in pending if node.sha in found for path in _leads_over(node.path, found[node.sha])}
            pending = [by_path[path] for path in sorted(on & by_path.keys()) if by_path[path].sha not in asked]
        unread = [node.path for node in links if node.sha not in asked]
        if unread:
            message = (
                f"links outside of what --skill chose were not looked at ({len(unread):,}, the first being "
                f"{shown(unread[0])}); for a skill that holds one of them, choose it by its folder: --skill ROOT/"
            )
            self._unread = error("github-link-unread", message, count=len(unread))
        return found

    def _below(self, count: Callable[[int], None]) -> Sequence[Node]:
        """Find the folder that the reference names, and return what is in it."""
        for _ in range(MAX_LINKS):
            nodes = self._listing.read(self._scope, count)
            if len(nodes) == 1 and nodes[0].path == self._scope and nodes[0].kind != "tree":
                node = nodes[0]
                if node.kind == "submodule":
                    raise Rejected([self._submodule(node.path)])
                if node.kind == "link":
                    self._scope, self._document = _meant(self._through(node))
                    continue
                return nodes
            if nodes or not self._scope:
                return nodes
            self._scope = self._mended()
        raise Rejected([error("github-path-not-found", f"{shown(self._pinned.path)!r}: too many links in a row")])

    def _mended(self) -> str:
        """Return where a path that is not in the listing leads: through a link, or to letters written otherwise."""
        parts = self._scope.split("/")
        for end in range(1, len(parts)):
            node = self._listing.find("/".join(parts[:end]))
            if node is None:
                break
            if node.kind == "submodule":
                raise Rejected([self._submodule(node.path)])
            if node.kind == "link":
                return "/".join([self._through(node), *parts[end:]])
        spelled = same_path(self._listing.names(), self._scope)
        if spelled is not None and spelled != self._scope:
            return spelled
        raise Rejected([self._no_path()])

    def _through(self, node: Node) -> str:
        target = self._courier.small([node]).get(node.sha)
        path = _resolved(node.path, target.decode("utf-8", "replace")) if target else None
        if path is None:
            message = f"{shown(node.path)} is a link that leaves the repository"
            raise Rejected([error("link-refused", message, node.path)])
        self._notes.append(
            info("github-link-followed", f"{shown(node.path)} is a link to {shown(path)}; that was read", node.path)
        )
        return path

    def _submodule(self, path: str) -> Diagnostic:
        message = (
            f"{shown(path)} is a submodule: another repository, which is not fetched from here; name that repository "
            "instead"
        )
        return error("github-submodule", message, path)

    def _no_path(self) -> Diagnostic:
        near = difflib.get_close_matches(self._scope, self._listing.names()[:20_000], n=3)
        hint = f"did you mean {', '.join(shown(name) for name in near)}?" if near else "check the spelling and --ref"
        message = (
            f"{shown(self._pinned.repository)} has no {shown(self._scope)!r} at {shown(self._pinned.ref)} "
            f"({self._pinned.commit[:12]}); {hint}"
        )
        return error("github-path-not-found", message, self._scope)

    def _listed(self, node: Node, name: str, targets: Mapping[str, bytes], single: bool) -> Listed:
        if node.kind == "link":
            target = targets.get(node.sha)
            text = target.decode("utf-8", "replace") if target is not None else None
            copied = self._outside_target(node, text) if text is not None and self._scope and not single else None
            if copied is None:
                fault = self._courier.unread.get(node.sha) or (self._unread if target is None else None)
                return self._row(node, name, EntryKind.SYMLINK, target=text, fault=fault)
            message = (
                f"{shown(name)} is a link to {shown(copied.path)} of the repository; that file was taken as a copy"
            )
            self._notes.append(info("link-copied", message, name, target=copied.path))
            node = copied
        if node.kind == "tree":
            return self._row(node, name, EntryKind.DIRECTORY)
        if node.kind == "submodule":
            return self._row(node, name, EntryKind.SPECIAL, special="submodule")
        return self._row(node, name, EntryKind.FILE)

    def _row(
        self,
        node: Node,
        name: str,
        kind: EntryKind,
        *,
        target: str | None = None,
        special: str = "",
        fault: Diagnostic | None = None,
    ) -> Listed:
        self._nodes.append(node)
        return Listed(
            name=name,
            kind=kind,
            size=node.size,
            packed=node.size,
            executable=node.kind == "executable",
            handle=len(self._nodes) - 1,
            link_target=target,
            special=special,
            fault=fault,
        )

    def _outside_target(self, node: Node, text: str) -> Node | None:
        """Return the file that a link out of the folder leads to, where it is one of this repository."""
        for _ in range(MAX_LINKS):
            path = _resolved(node.path, text)
            if path is None or path.startswith(f"{self._scope}/"):
                return None
            found = self._listing.find(path)
            if found is None or found.kind in {"tree", "submodule"}:
                return None
            if found.kind != "link":
                return found
            target = self._courier.small([found]).get(found.sha)
            if target is None:
                return None
            node, text = found, target.decode("utf-8", "replace")
        return None

    # --- the bytes ---------------------------------------------------------------------------------------------------

    def hint(self, entries: Sequence[Entry], /) -> None:
        """Say which entries may be wanted after the next `deliver`: small ones are kept if an archive passes by."""
        self._later = [self._nodes[entry.handle] for entry in entries]

    def deliver(self, wanted: Sequence[Entry], receiver: Receiver, charge: Charge, /) -> None:
        """Deliver each wanted entry, checked against the commit. What could not be had is in `failures` afterwards.

        Raises:
            Rejected: nothing more can be had (a rate limit, a host that is gone).
            BudgetExceeded: before the first byte where the declared sizes say so.
        """
        total = sum(entry.size for entry in wanted)
        if total > self._bundle.remaining("bytes"):
            raise BudgetExceeded(
                profile="bundle",
                limit="bytes",
                used=self._bundle.used("bytes") + total,
                maximum=self._bundle.max("bytes"),
                unit="bytes",
            )
        groups: dict[str, tuple[list[Node], list[Entry]]] = {}
        for entry in wanted:
            node = self._nodes[entry.handle]
            nodes, entries = groups.setdefault(node.sha, ([], []))
            nodes.append(node)
            entries.append(entry)
        if self._progress:
            self._progress.expect(len(wanted), total)
        parcels = [Parcel(nodes, entries, receiver, charge, self._progress) for nodes, entries in groups.values()]
        later, self._later = self._later, []
        self._courier.deliver(parcels, later)

    def verify_rest(self, charge: Charge, /) -> None:
        """There is nothing to check: a tree is one list, and each file is held to it when it is delivered."""

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _meant(path: str) -> tuple[str, str]:
    """Return the folder that a path to a skill's document means, with the document's name; else the path itself."""
    parent, _, name = path.rpartition("/")
    return (parent, name) if name.lower() == "skill.md" else (path, "")


def _leads_over(link: str, target: bytes) -> list[str]:
    """Return every path that a link leads over: what its target names, and each folder on the way."""
    path = _resolved(link, target.decode("utf-8", "replace"))
    parts = path.split("/") if path else []
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _resolved(link: str, target: str) -> str | None:
    """Return where a relative link in a repository leads, or None for one that leaves it."""
    if not target or target.startswith("/") or "\\" in target or "\0" in target:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(link), target))
    return None if path in {".", ".."} or path.startswith("../") else path
