"""What a commit holds, from one recursive listing of its tree, or folder by folder where the API cuts that short."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from importer.diagnostics import Diagnostic, Rejected, error, shown
from importer.sources.github import documents
from importer.sources.github.faults import BadDocument
from importer.sources.github.resolve import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from importer.sources.github.client import Client
    from importer.sources.github.documents import TreeItem
    from importer.sources.github.resolve import Pinned

MAX_TREE_BYTES = 32 * 1024 * 1024
MAX_ITEMS = 150_000
"""GitHub cuts a listing at 100,000 entries and 7 MB; another server may be more generous, within reason."""


@dataclass(frozen=True, slots=True)
class Node:
    """One entry of the repository; `path` is from its top."""

    path: str
    kind: str
    sha: str
    size: int


class Listing:
    """The entries of one commit: all of them, or where the API cut the listing, those below a folder."""

    def __init__(self, client: Client, pinned: Pinned) -> None:
        self._client = client
        self._pinned = pinned
        self.truncated = False
        self._nodes: dict[str, Node] = {}
        self._folders: dict[str, tuple[Node, ...]] = {}
        self._trees: dict[str, Node] = {}
        """Folders that a listing held before it was cut: true, only not all."""

    @property
    def complete(self) -> bool:
        """Whether every entry of the repository is known."""
        return not self.truncated

    def read(self, folder: str, count: Callable[[int], None]) -> list[Node]:
        """Return every entry below `folder`, or the one that `folder` itself is when it is a file.

        Args:
            folder: a path in the repository, "" for its top.
            count: told the number of entries so far before more are kept; raises where that is too many.
        """
        prefix = f"{folder}/" if folder else ""
        if self._nodes:
            return self._known(folder, prefix, count)
        if self.truncated:
            return self._walk(folder, count)
        inside: list[Node] = []
        everything: dict[str, Node] = {}

        def take(item: TreeItem) -> None:
            node = Node(item.path, item.kind, item.sha, item.size)
            if item.path.startswith(prefix) or (item.path == folder and item.kind != "tree"):
                count(len(inside) + 1)
                inside.append(node)
            if len(everything) >= MAX_ITEMS:
                raise Rejected([self._too_large()])
            everything[item.path] = node

        def reset() -> None:
            inside.clear()
            everything.clear()

        self.truncated = self._tree(self._pinned.commit, take, reset, recursive=True)
        if not self.truncated:
            self._nodes = everything
            return inside
        self._trees = {path: node for path, node in everything.items() if node.kind == "tree"}
        inside.clear()
        everything.clear()
        return self._walk(folder, count)

    def _known(self, folder: str, prefix: str, count: Callable[[int], None]) -> list[Node]:
        inside: list[Node] = []
        for node in self._nodes.values():
            if node.path.startswith(prefix) or (node.path == folder and node.kind != "tree"):
                count(len(inside) + 1)
                inside.append(node)
        return inside

    def find(self, path: str) -> Node | None:
        """Return the entry at `path`, or None."""
        if path in self._nodes:
            return self._nodes[path]
        if path in self._trees:
            return self._trees[path]
        if self.complete:
            return None
        parent = path.rpartition("/")[0]
        holder = self.find(parent) if parent else None
        if parent and (holder is None or holder.kind != "tree"):
            return None
        for node in self._children(holder.sha if holder else self._pinned.commit, parent):
            if node.path == path:
                return node
        return None

    def size_up_to(self, path: str) -> int:
        """Return the bytes of every file up to `path` in the order of an archive: what reading it until there costs."""
        last = path.encode()
        return sum(node.size + 512 for node in self._nodes.values() if node.path.encode() <= last)

    def names(self) -> list[str]:
        """Return every path that is known, for suggestions."""
        return list(self._nodes)

    @property
    def has_attributes(self) -> bool:
        """Whether some `.gitattributes` may make an archive differ from the blobs."""
        return self.truncated or any(path.rpartition("/")[2] == ".gitattributes" for path in self._nodes)

    # --- a listing that was cut --------------------------------------------------------------------------------------

    def _walk(self, folder: str, count: Callable[[int], None]) -> list[Node]:
        """List below `folder` by its own trees, each of which may be cut again."""
        start = self.find(folder) if folder else Node("", "tree", self._pinned.commit, 0)
        if start is None:
            return []
        if start.kind != "tree":
            count(1)
            return [start]
        found: list[Node] = []
        pending = [start]
        while pending:
            here = pending.pop()
            prefix = f"{here.path}/" if here.path else ""
            before = len(found)

            def take(item: TreeItem, prefix: str = prefix) -> None:
                count(len(found) + 1)
                found.append(Node(prefix + item.path, item.kind, item.sha, item.size))

            def reset(before: int = before) -> None:
                del found[before:]

            if here.path and not self._tree(here.sha, take, reset, recursive=True):
                continue
            reset()
            children = self._children(here.sha, here.path)
            count(len(found) + len(children))
            found.extend(children)
            pending.extend(node for node in reversed(children) if node.kind == "tree")
        return found

    def _children(self, sha: str, path: str) -> tuple[Node, ...]:
        """Return the direct entries of one tree."""
        if path not in self._folders:
            prefix = f"{path}/" if path else ""
            rows: list[Node] = []

            def take(item: TreeItem) -> None:
                if "/" in item.path:
                    raise BadDocument("listed a folder's folders when only the folder was asked for")
                if len(rows) >= MAX_ITEMS:
                    raise Rejected([self._too_large()])
                rows.append(Node(prefix + item.path, item.kind, item.sha, item.size))

            if self._tree(sha, take, rows.clear, recursive=False):
                raise Rejected([self._too_large(path)])
            self._folders[path] = tuple(rows)
        return self._folders[path]

    def _tree(self, sha: str, take: Callable[[TreeItem], None], reset: Callable[[], None], *, recursive: bool) -> bool:
        """Read one tree; `reset` forgets what an attempt that broke off had given."""
        pinned = self._pinned
        path = f"/repos/{quoted(pinned.repository)}/git/trees/{sha}" + ("?recursive=1" if recursive else "")

        def consume(chunks: Iterator[bytes]) -> bool:
            reset()
            return documents.tree(chunks, take)

        what = f"the list of files of {shown(pinned.repository)} at {pinned.commit[:12]}"
        got = self._client.fetch(path, what, consume, cap=MAX_TREE_BYTES)
        return bool(got.value)

    def _too_large(self, path: str = "") -> Diagnostic:
        where = f" in its folder {shown(path)!r}" if path else ""
        message = (
            f"{shown(self._pinned.repository)} holds more files{where} than its API lists; name a folder further down, "
            "such as OWNER/REPO/PATH, or preview a clone of it"
        )
        return error("github-listing-truncated", message, path)


def same_path(nodes: list[str], wanted: str) -> str | None:
    """Return the one of `nodes` that is `wanted` written with other code points for the same letters."""
    normal = unicodedata.normalize("NFC", wanted)
    found = [path for path in nodes if unicodedata.normalize("NFC", path) == normal]
    return found[0] if len(found) == 1 else None
