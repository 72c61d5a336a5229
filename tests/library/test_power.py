"""The power goes: whatever was not synced yet may be lost. What is left must still be as before or as after.

The operations of a change are written down as they happen. At the cut, those that no sync covers are taken back: all of
them, or the latest ones. The record itself is durable at each commit (SQLite syncs its log), so it stays as it is.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from importer.library import Library
from tests.library.killing import killed_at, operations
from tests.library.scenes import whole
from tests.library.stories import STORIES, Story

MOST = 2000
TURNS = {"rename", "record", "fsync-folder", "sync-tree"}
"""Operations before which a cut is tried: between two others of a kind there is nothing new to lose."""
PARTLY = {"replace", "roll-back-removal"}
"""Stories in which losing only the latest operation is tried, too."""


@dataclass
class Disk:
    """What reached the disk for sure, and what may still be taken back, in order."""

    names: list[tuple[str, str, str]] = field(default_factory=list)
    """mkdir, create, rename: until the folders of their names are synced."""
    bytes: set[str] = field(default_factory=set)
    """Files that were written and not synced."""

    def take(self, operation: str, path: str, other: str) -> None:
        """Note one operation."""
        if operation in {"mkdir", "create"} or operation == "rename":
            self.names.append((operation, path, other))
        if operation in {"create", "write"}:
            self.bytes.add(path)
        elif operation == "rename":
            self.bytes = {
                other + one[len(path) :] if one == path or one.startswith(f"{path}/") else one for one in self.bytes
            }
        elif operation == "fsync":
            self.bytes.discard(path)
        elif operation == "fsync-folder":
            self.names = [one for one in self.names if not self._durable(one, {path})]
        elif operation == "sync-tree":
            self.bytes = {one for one in self.bytes if one != path and not one.startswith(f"{path}/")}
            self.names = [one for one in self.names if not os.path.dirname(one[1]).startswith(path)]

    def _durable(self, one: tuple[str, str, str], synced: set[str]) -> bool:
        # A rename is one step of the file system's own journal: syncing either folder commits it.
        return bool({os.path.dirname(path) for path in one[1:] if path} & synced)

    def cut(self, most: int) -> None:
        """Take back up to `most` of the latest operations that no sync covers, and the bytes of unsynced files."""
        for path in self.bytes:
            if os.path.isfile(path):
                os.truncate(path, 0)
        for operation, path, other in list(reversed(self.names))[:most]:
            if operation == "rename" and os.path.lexists(other) and os.path.isdir(os.path.dirname(path)):
                os.rename(other, path)
            elif operation == "create" and os.path.isfile(path):
                os.unlink(path)
            elif operation == "mkdir" and os.path.isdir(path) and not os.listdir(path):
                os.rmdir(path)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_after_a_power_cut_it_is_as_before_or_as_after(story: Story, quick: Path) -> None:
    template = quick / "template"
    story.prepare(template)
    before = whole(template)
    done = quick / "done"
    if template.exists():
        shutil.copytree(template, done, symlinks=True)
    names = operations(lambda: story.act(done))
    after = whole(done)
    log = quick / "log"
    for number in (n for n, name in enumerate(names) if name in TURNS):
        for most in (MOST, 1) if story.name in PARTLY else (MOST,):
            root = quick / f"run-{number}-{most}"
            if template.exists():
                shutil.copytree(template, root, symlinks=True)
            assert killed_at(number, lambda root=root: story.act(root), log)  # type: ignore[misc]
            disk = Disk()
            for line in log.read_text().splitlines():
                operation, path, other = line.split("\t")
                disk.take(operation, path, other)
            unsynced = len(disk.names)
            disk.cut(most)
            with Library.open(root) as library:
                if (root / ".importer/library.db").exists():
                    with library.writer(command="next"):
                        pass
                assert whole(root) in (before, after), (story.name, number, most)
            shutil.rmtree(root, ignore_errors=True)
            if unsynced <= 1:
                break
