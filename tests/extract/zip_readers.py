"""Other people's zip readers, each giving its view of an archive, to be held against ours."""

from __future__ import annotations

import io
import os
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from importer.diagnostics import Rejected
from importer.model import EntryKind
from importer.paths import PathRefused, RelPath, fold_key
from tests.extract.zip_reading import budgets, read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from budgets import Budgets

ROOMY: Budgets = budgets(bundle__ratio=100_000)


class Node(NamedTuple):
    """A file with its bytes, a link with its target, or a folder."""

    kind: str
    content: bytes = b""


View = dict[str, Node]


class Disagreement(AssertionError):
    """A reader refuses, or sees something else than we do."""


def our_view(data: bytes, threads: int = 1) -> View | None:
    """Return what we see; None where the archive is refused, or would be by the rules for names and kinds.

    Raises:
        BudgetExceeded: the archive is larger than the default limits allow.
    """
    try:
        reading = read(data, limits=ROOMY, threads=threads)
    except Rejected:
        return None
    view: View = {}
    keys: dict[str, bool] = {}
    for entry in reading.listed:
        folder = entry.kind is EntryKind.DIRECTORY
        try:
            path = RelPath.parse(entry.name.removesuffix("/") if folder else entry.name).text
        except PathRefused:
            return None
        key = fold_key(path)
        if entry.fault is not None or key in keys:
            return None
        keys[key] = folder
        if folder:
            view[path] = Node("folder")
        elif entry.kind is EntryKind.FILE:
            view[path] = Node("file", reading.files[entry.name])
        elif entry.kind is EntryKind.SYMLINK and entry.link_target is not None:
            view[path] = Node("link", entry.link_target.encode())
        else:
            return None
    if any(not keys.get(fold_key(above), True) for path in view for above in _above(path)):
        return None
    # A name that DOS tools wrote without the flag is read by guess, with a warning, and every reader guesses.
    return None if reading.notes else view


def _above(path: str) -> list[str]:
    segments = path.split("/")
    return ["/".join(segments[:count]) for count in range(1, len(segments))]


def with_zipfile(data: bytes) -> View:
    """Return what Python's zipfile sees.

    Raises:
        Disagreement: it refuses the archive.
    """
    view: View = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                name = entry.filename
                if not entry.flag_bits & 0x800 and not name.isascii():
                    name = name.encode("cp437").decode("utf-8")
                if entry.is_dir():
                    view[name.rstrip("/")] = Node("folder")
                    continue
                mode = entry.external_attr >> 16
                kind = "link" if stat.S_ISLNK(mode) and mode != 0xFFFF else "file"
                view[name] = Node(kind, archive.read(entry))
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError, OSError) as fault:
        raise Disagreement(f"zipfile: {fault!r}") from fault
    return view


COMMANDS: Mapping[str, tuple[str, ...]] = {
    "unzip": ("unzip", "-q", "-o", "{archive}", "-d", "{folder}"),
    "bsdtar": ("bsdtar", "-x", "-f", "{archive}", "-C", "{folder}"),
    "bsdtar from a pipe": ("bsdtar", "-x", "-f", "-", "-C", "{folder}"),
    "7z": ("7z", "x", "-y", "-bso0", "-bsp0", "-snld", "-o{folder}", "{archive}"),
}


def can_read(reader: str, data: bytes) -> bool:
    """Tell whether a reader gets this archive right at all.

    Debian's unzip takes a name that DOS or Windows wrote for code page 437, even where the UTF-8 flag is set. bsdtar
    does not know Deflate64.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
    if reader == "unzip":
        return all(entry.filename.isascii() or entry.create_system in {3, 19} for entry in entries)
    return not reader.startswith("bsdtar") or all(entry.compress_type != 9 for entry in entries)


def tool(name: str) -> str:
    """Return the path of a program; without it the test is skipped, and fails where `CI` is "true"."""
    found = shutil.which(name)
    if found is None:
        message = (
            f"{name} is not installed: agreement with it was NOT tested (Debian: unzip, zip, libarchive-tools, 7zip)"
        )
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return found


def with_command(reader: str, data: bytes, scratch: Path) -> View:
    """Return what a program of `COMMANDS` extracts into a new folder inside `scratch`.

    Raises:
        Disagreement: it says that something is wrong.
    """
    archive = scratch / "archive.zip"
    archive.write_bytes(data)
    folder = scratch / "out"
    folder.mkdir()
    command = [part.format(archive=archive, folder=folder) for part in COMMANDS[reader]]
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "UNZIP": "", "TZ": "UTC"}
    try:
        done = subprocess.run(
            command, input=data if "-" in command else b"", capture_output=True, env=environment, timeout=60
        )
        if done.returncode:
            said = (done.stderr + done.stdout).decode("utf-8", "replace").strip()
            raise Disagreement(f"{reader}: exit {done.returncode}: {said[:500]}")
        return _tree(folder)
    finally:
        shutil.rmtree(folder)
        archive.unlink()


def _tree(folder: Path) -> View:
    view: View = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            view[name] = Node("link", os.fsencode(path.readlink()))
        elif path.is_dir():
            view[name] = Node("folder")
        else:
            path.chmod(0o600)
            view[name] = Node("file", path.read_bytes())
    return view


def hold(ours: View, theirs: View, reader: str) -> None:
    """Hold another reader's view to ours; folders that only contents imply do not count.

    Raises:
        Disagreement: they differ.
    """
    implied = {above for path in (*ours, *theirs) for above in _above(path)}
    if reader == "bsdtar from a pipe":
        # Only the directory at the end tells a link from a file; a streaming reader has written the file by then.
        ours = {path: Node("file", node.content) if node.kind == "link" else node for path, node in ours.items()}
    left = {path: node for path, node in ours.items() if path not in implied or node.kind != "folder"}
    right = {path: node for path, node in theirs.items() if path not in implied or node.kind != "folder"}
    if left != right:
        different = sorted(path for path in left.keys() | right.keys() if left.get(path) != right.get(path))
        shown = [f"{path!r}: {_brief(left.get(path))}, there {_brief(right.get(path))}" for path in different[:3]]
        raise Disagreement(f"{reader}: {'; '.join(shown)}")


def _brief(node: Node | None) -> str:
    return "nothing" if node is None else f"{node.kind} of {len(node.content)} bytes {node.content[:40]!r}"
