"""Folders on disk, and listings as a container would give them, from a few lines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from importer.model import EntryKind, Listed


@dataclass(frozen=True)
class LinkTo:
    """A symbolic link, with its target as it is written."""

    target: str


@dataclass(frozen=True)
class Pipe:
    """A named pipe."""


@dataclass(frozen=True)
class Run:
    """An executable file."""

    body: bytes


Content = bytes | LinkTo | Pipe | Run


def make_tree(root: Path, files: Mapping[str, Content]) -> Path:
    """Write files, links and pipes below `root`; a name that ends with "/" is a folder."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        elif isinstance(content, LinkTo):
            path.symlink_to(content.target)
        elif isinstance(content, Pipe):
            os.mkfifo(path)
        else:
            path.write_bytes(content.body if isinstance(content, Run) else content)
            path.chmod(0o755 if isinstance(content, Run) else 0o644)
    return root


def listed(name: str, kind: EntryKind | None = None, *, target: str | None = None, size: int = 1) -> Listed:
    """Return an entry as a container lists it: with a target it is a link, with "/" at its end a folder."""
    if kind is None:
        kind = (
            EntryKind.SYMLINK if target is not None else EntryKind.DIRECTORY if name.endswith("/") else EntryKind.FILE
        )
    return Listed(
        name=name, kind=kind, size=size, packed=size, executable=False, handle=0, link_target=target, special="device"
    )


def listing(*items: str | tuple[str, str]) -> list[Listed]:
    """Return a listing: a name is a file or a folder ("/" at its end), a pair is a link with its target."""
    entries = []
    for handle, item in enumerate(items):
        name, target = (item, None) if isinstance(item, str) else item
        entry = listed(name, target=target, size=handle)
        entries.append(
            Listed(
                name=entry.name,
                kind=entry.kind,
                size=entry.size,
                packed=entry.packed,
                executable=entry.executable,
                handle=handle,
                link_target=target,
            )
        )
    return entries
