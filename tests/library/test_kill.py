"""Killed at every operation of everything that changes a library: afterwards it is as before, or as after."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from importer.library import Library
from tests.library.killing import killed_at, operations
from tests.library.scenes import whole
from tests.library.stories import STORIES, Story

MOST = 2000


def _staged(root: Path) -> set[str]:
    folder = root / ".importer/staging"
    return set(os.listdir(folder)) if folder.is_dir() else set()


def _settled(root: Path) -> Library:
    """Open a library like the next command would, and be its writer once, which tidies up."""
    library = Library.open(root)
    if (root / ".importer/library.db").exists():
        with library.writer(command="next"):
            pass
    return library


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_killed_at_any_operation_it_is_as_before_or_as_after(story: Story, quick: Path) -> None:
    template = quick / "template"
    story.prepare(template)
    before = whole(template)
    done = quick / "done"
    if template.exists():
        shutil.copytree(template, done, symlinks=True)
    names = operations(lambda: story.act(done))
    after = whole(done)
    assert after != before
    seen = {"before": 0, "after": 0}
    for number in range(MOST):
        root = quick / f"run-{number}"
        if template.exists():
            shutil.copytree(template, root, symlinks=True)
        killed = killed_at(number, lambda root=root: story.act(root))  # type: ignore[misc]
        if not killed:
            assert whole(root) == after
            break
        with _settled(root) as library:
            now = whole(root)
            assert now in (before, after), (story.name, number, names[number])
            seen["after" if now == after else "before"] += 1
            record = library.record()
            assert _staged(root) <= (record.held_staging() if record is not None else set())
        if number % 7 == 0 and now == before:
            story.act(root)
            assert whole(root)[0] == after[0]
        shutil.rmtree(root, ignore_errors=True)
    else:
        pytest.fail("the story has no end")
    assert seen["before"] > 5
    assert seen["after"] > 0


def test_the_stories_stop_at_hundreds_of_points(quick: Path) -> None:
    counted: list[str] = []
    for number, story in enumerate(STORIES):
        root = quick / str(number)
        story.prepare(root)
        counted += operations(lambda root=root, story=story: story.act(root))  # type: ignore[misc]
    assert len(counted) > 400
    assert {"rename", "create", "write", "mkdir", "fsync-folder", "sync-tree", "record", "unlink", "rmdir"} <= set(
        counted
    )


@pytest.mark.parametrize("name", ["replace", "remove-skill", "roll-back-removal"])
def test_killed_again_while_it_recovers_nothing_is_lost(name: str, quick: Path) -> None:
    story = next(story for story in STORIES if story.name == name)
    template = quick / "template"
    story.prepare(template)
    before = whole(template)
    counted = quick / "counted"
    shutil.copytree(template, counted, symlinks=True)
    names = operations(lambda: story.act(counted))
    after = whole(counted)
    renames = [number for number, operation in enumerate(names) if operation == "rename"]
    assert renames
    for number in (renames[0] + 1, renames[-1], renames[-1] + 1):
        broken = quick / f"broken-{number}"
        shutil.copytree(template, broken, symlinks=True)
        assert killed_at(number, lambda root=broken: story.act(root))  # type: ignore[misc]
        for again in range(MOST):
            root = quick / f"run-{number}-{again}"
            shutil.copytree(broken, root, symlinks=True)
            killed = killed_at(again, lambda root=root: Library.open(root).close())  # type: ignore[misc]
            with _settled(root):
                assert whole(root) in (before, after), (number, again)
            shutil.rmtree(root)
            if not killed:
                break
        assert again > 3


def test_the_next_command_says_what_became_of_it(quick: Path) -> None:
    story = next(story for story in STORIES if story.name == "replace")
    template = quick / "template"
    story.prepare(template)
    counted = quick / "counted"
    shutil.copytree(template, counted, symlinks=True)
    names = operations(lambda: story.act(counted))
    first = names.index("rename")
    commit = len(names) - 1 - names[::-1].index("rename") + 1
    for number, outcome in ((first + 1, "taken-back"), (commit, "finished")):
        root = quick / outcome
        shutil.copytree(template, root, symlinks=True)
        assert killed_at(number, lambda root=root: story.act(root))  # type: ignore[misc]
        with Library.open(root) as library:
            assert [(d.code, d.facts["outcome"]) for d in library.notices] == [("library-recovered", outcome)]
        with Library.open(root) as library:
            assert library.notices == []


def test_a_staging_folder_that_somebody_emptied_costs_nothing_that_was_installed(quick: Path) -> None:
    story = next(story for story in STORIES if story.name == "replace")
    template = quick / "template"
    story.prepare(template)
    counted = quick / "counted"
    shutil.copytree(template, counted, symlinks=True)
    renames = [number for number, name in enumerate(operations(lambda: story.act(counted))) if name == "rename"]
    installed = {path: what for path, what in whole(template)[0].items() if not path.startswith(".importer")}
    for number in renames:
        root = quick / f"run-{number}"
        shutil.copytree(template, root, symlinks=True)
        assert killed_at(number, lambda root=root: story.act(root))  # type: ignore[misc]
        shutil.rmtree(root / ".importer/staging")
        with _settled(root):
            now = {path: what for path, what in whole(root)[0].items() if not path.startswith(".importer")}
            assert now == installed
