"""Full, read-only, forbidden, elsewhere: an error with path and cause, nothing half done, nothing of anybody's lost."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from importer import fs
from importer.fs import DiskError
from importer.library import Library
from tests.library.killing import in_child, operations
from tests.library.scenes import Role, install, remove, rollback, skill, whole
from tests.library.stories import STORIES, Story

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")


def _fails(action: Callable[[], object]) -> DiskError:
    with pytest.raises(DiskError) as caught:
        action()
    return caught.value


def _problem_of(action: Callable[[], object]) -> DiskError | None:
    try:
        action()
    except DiskError as problem:
        return problem
    return None


# --- every operation fails once --------------------------------------------------------------------------------------


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_an_error_at_any_operation_leaves_it_as_before(story: Story, number: int, quick: Path) -> None:
    template = quick / "template"
    story.prepare(template)
    before = whole(template)
    done = quick / "done"
    if template.exists():
        shutil.copytree(template, done, symlinks=True)
    names = operations(lambda: story.act(done))
    after = whole(done)
    step = 1 if number == errno.ENOSPC else 5
    for at in range(0, len(names), step):
        root = quick / f"run-{at}"
        if template.exists():
            shutil.copytree(template, root, symlinks=True)
        left = [at]

        def fail(_operation: str, path: str, other: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == -1:
                raise OSError(number, os.strerror(number), path, None, other or None)

        fs.observer = fail
        try:
            story.act(root)
            failed = False
        except (OSError, AssertionError):
            failed = True
        finally:
            fs.observer = None
        with Library.open(root) as library:
            if (root / ".importer/library.db").exists():
                with library.writer(command="next"):
                    pass
            now = whole(root)
            assert now == (before if failed else after) or (failed and names[at] in LATE and now == after), (
                at,
                names[at],
            )
            if failed:
                staging = root / ".importer/staging"
                waiting = library.record()
                held = waiting.held_staging() if waiting is not None else set()
                assert not staging.exists() or set(os.listdir(staging)) <= held
        shutil.rmtree(root, ignore_errors=True)


LATE = {"record"}
"""After the commit a transaction is told of once more: an error there comes when everything has happened."""


@pytest.mark.parametrize("name", ["first-install", "replace", "remove-skill", "roll-back-replace"])
def test_a_disk_that_stays_broken_is_put_right_once_it_works_again(name: str, quick: Path) -> None:
    story = next(story for story in STORIES if story.name == name)
    template = quick / "template"
    story.prepare(template)
    before = whole(template)
    done = quick / "done"
    if template.exists():
        shutil.copytree(template, done, symlinks=True)
    names = operations(lambda: story.act(done))
    after = whole(done)
    for at in (number for number, operation in enumerate(names) if operation in {"rename", "record", "fsync-folder"}):
        root = quick / f"run-{at}"
        if template.exists():
            shutil.copytree(template, root, symlinks=True)
        left = [at]

        def broken(_operation: str, path: str, _other: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO), path)

        fs.observer = broken
        try:
            with pytest.raises(OSError, match="error"):
                story.act(root)
        finally:
            fs.observer = None
        with Library.open(root) as library:
            if (root / ".importer/library.db").exists():
                with library.writer(command="next"):
                    pass
            assert whole(root) in (before, after), (at, names[at])
        shutil.rmtree(root, ignore_errors=True)


# --- limits and mounts -----------------------------------------------------------------------------------------------


def test_a_file_size_limit_is_a_full_disk(tmp_path: Path) -> None:
    install(tmp_path, {"a": skill("a")})
    before = whole(tmp_path)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        with pytest.raises(DiskError) as caught:
            install(tmp_path, {"a": skill("a", "New.\n"), "b": skill("b", data=b"x" * 300_000)})
        assert caught.value.code == "disk-full", caught.value
        assert str(tmp_path) in caught.value.message
        assert os.listdir(tmp_path / ".importer/staging") == []

    assert in_child(limited) == 0
    assert whole(tmp_path) == before


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """Return a real file system of 400 KiB, or skip where it cannot be mounted."""
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "none", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.decode()[:100]}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@needs_root
def test_a_full_file_system_is_said_with_path_and_cause(small: Path) -> None:
    root = small / "library"
    install(root, {"a": skill("a")})
    before = whole(root)
    seen = 0
    for size in (500_000, 300_000, 200_000, 100_000, 60_000, 30_000):
        problem = _problem_of(lambda size=size: install(root, {"b": skill("b", data=os.urandom(size))}))  # type: ignore[misc]
        if problem is None:
            break
        seen += 1
        assert problem.code == "disk-full", problem
        assert str(root) in problem.message
        assert "full" in problem.message
        with Library.open(root) as library:
            assert [one.name for one in library.listing()] == ["a"]
            assert all(one.ok for one in library.verify())
        assert os.listdir(root / ".importer/staging") == []
        assert whole(root) == before
    assert seen > 1
    remove(root, "skill", "a")
    with Library.open(root) as library:
        assert all(one.ok for one in library.verify())


@needs_root
def test_a_read_only_file_system_is_read_and_not_written(small: Path) -> None:
    root = small / "library"
    install(root, {"a": skill("a")})
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    try:
        with Library.open(root) as library:
            assert [one.name for one in library.listing()] == ["a"]
            assert all(one.ok for one in library.verify())
            assert set(library.snapshot(skills=["a"]).skills) == {"a"}
            note = library.unwritable()
            assert note is not None
            assert (note.code, str(root) in note.message) == ("library-unwritable", True)
            problem = _fails(library.new_staging)
            assert (problem.code, str(root) in problem.message) == ("disk-read-only", True)
            problem = _fails(lambda: library.writer(command="x").__enter__())
            assert problem.code in {"disk-permission", "disk-read-only"}
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small)], check=True)


@needs_root
def test_a_skills_folder_on_another_file_system(small: Path, tmp_path: Path) -> None:
    root = tmp_path / "library"
    root.mkdir()
    (small / "skills").mkdir()
    (root / "skills").symlink_to(small / "skills")
    install(root, {"a": skill("a"), "b": skill("b")}, role=Role())
    (root / "skills/a/mine.txt").write_text("x")
    before = {p: w for p, w in whole(small)[0].items() if ".importer" not in p}
    applied = install(root, {"a": skill("a", "New.\n"), "b": skill("b")}, role=Role())
    assert [one.name for one in applied.replaced] == ["a"]
    assert (root / "skills").is_symlink()
    assert (small / f"skills/.importer/trash/{applied.transaction}/skills/a/mine.txt").exists()
    assert not (small / "skills/.importer/incoming").exists()
    with Library.open(root) as library:
        assert {one.name for one in library.listing()} == {"a", "b", "field-analyst"}
        assert all(one.ok for one in library.verify())
    rollback(root, applied.transaction)
    assert {p: w for p, w in whole(small)[0].items() if ".importer" not in p} == before
    with pytest.raises(DiskError) as caught:
        install(root, {"c": skill("c", data=os.urandom(600_000))})
    assert (caught.value.code, str(root / "skills/c") in caught.value.message) == ("disk-full", True)
    assert os.listdir(root / ".importer/staging") == []
    assert not (small / "skills/c").exists()
    assert not (small / "skills/.importer/incoming").exists()


def test_a_rename_across_file_systems_names_the_place_that_a_person_knows(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    before = whole(quick)

    def elsewhere(operation: str, path: str, other: str) -> None:
        if operation == "rename" and other.endswith("skills/b"):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path, None, other)

    fs.observer = elsewhere
    try:
        problem = _fails(lambda: install(quick, {"a": skill("a", "New.\n"), "b": skill("b")}))
    finally:
        fs.observer = None
    assert problem.code == "disk-other-system"
    assert str(quick / "skills/b") in problem.message
    assert "staging" not in problem.message
    assert whole(quick) == before
