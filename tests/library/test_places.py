"""Places that may not be written, cannot be read, or are something else: named, and left as they are."""

from __future__ import annotations

import importlib
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from importer.fs import DiskError
from importer.library import Library, LibraryError
from importer.model import Choices
from tests.library.killing import in_child
from tests.library.scenes import Role, connector, install, planned, skill, staged_package, whole

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")


def _fails(action: Callable[[], object]) -> DiskError:
    with pytest.raises(DiskError) as caught:
        action()
    return caught.value


# --- an ordinary user ------------------------------------------------------------------------------------------------


def _as_nobody(action: Callable[[], None]) -> int:
    # Loaded here: Python's own library may lie where an ordinary user cannot look.
    importlib.import_module("concurrent.futures.thread")

    def run() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        action()

    return in_child(run)


@pytest.fixture
def open_path(quick: Path) -> Path:
    """Return a folder that an ordinary user may reach and own."""
    quick.chmod(0o755)
    folder = quick / "theirs"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    return folder


@needs_root
def test_a_library_of_somebody_elses_is_read_and_not_written(quick: Path) -> None:
    quick.chmod(0o755)
    root = quick / "library"
    install(root, {"a": skill("a")})

    def look() -> None:
        with Library.open(root) as library:
            assert [one.name for one in library.listing()] == ["a"]
            assert all(one.ok for one in library.verify())
            note = library.unwritable()
            assert note is not None
            assert str(root) in note.message
            problem = _fails(library.new_staging)
            assert (problem.code, str(root) in problem.message) == ("disk-permission", True)
            problem = _fails(lambda: library.writer(command="x").__enter__())
            assert (problem.code, str(root) in problem.message) == ("disk-permission", True)
            assert library.plan_removal("skill", "a").refusals == ()

    assert _as_nobody(look) == 0


@needs_root
@pytest.mark.parametrize(("name", "mode", "good"), [("", 0o555, 0o755), ("/library.db", 0o444, 0o644)])
def test_a_record_that_may_only_be_read_answers_and_gives_no_token(
    open_path: Path, name: str, mode: int, good: int
) -> None:
    root = open_path / "library"
    place = Path(f"{root}/.importer{name}")

    def act() -> None:
        install(root, {"a": skill("a")})
        place.chmod(mode)
        with Library.open(root) as library:
            assert [one.name for one in library.listing()] == ["a"]
            assert set(library.snapshot(skills=["a"]).skills) == {"a"}
            note = library.unwritable()
            assert note is not None
            assert str(place) in note.message
        place.chmod(good)
        install(root, {"b": skill("b")})

    assert _as_nobody(act) == 0


def test_a_record_answers_where_no_file_can_be_made_beside_it(quick: Path) -> None:
    root = quick / "library"

    def look() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        with Library.open(root) as library:
            assert [one.name for one in library.listing()] == ["a"]
            assert _fails(lambda: library.writer(command="x").__enter__()).code in {"disk-full", "disk-failed"}

    install(root, {"a": skill("a")})
    assert in_child(look) == 0


@needs_root
def test_a_folder_that_may_not_be_written_is_named(open_path: Path) -> None:
    root = open_path / "library"

    def act() -> None:
        install(root, {"a": skill("a")})
        before = whole(root)
        for path in (root / "skills", root / "skills/a"):
            path.chmod(0o555)
            problem = _fails(lambda: install(root, {"a": skill("a", "New.\n"), "b": skill("b")}))
            assert problem.code == "disk-permission", problem
            assert str(root / "skills") in problem.message
            path.chmod(0o755)
            assert whole(root) == before
            assert os.listdir(root / ".importer/staging") == []

    assert _as_nobody(act) == 0


@needs_root
def test_a_skill_that_cannot_be_read_is_a_clear_refusal(open_path: Path) -> None:
    root = open_path / "library"

    def act() -> None:
        install(root, {"a": skill("a"), "b": skill("b")})
        for path, bad, good in (
            (root / "skills/a", 0o000, 0o755),
            (root / "skills/a/SKILL.md", 0o000, 0o644),
            (root / "skills", 0o000, 0o755),
        ):
            path.chmod(bad)
            with Library.open(root) as library:
                problem = _fails(lambda: library.snapshot(skills=["a"]))
            assert problem.code == "disk-permission"
            assert str(root / "skills") in problem.message
            path.chmod(good)
        (root / "skills/b").chmod(0)
        with Library.open(root) as library:
            assert set(library.snapshot(skills=["a"]).skills) == {"a"}

    assert _as_nobody(act) == 0


# --- things in the way -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["skills", "connectors", "specialists"])
def test_something_in_the_place_of_a_folder_is_named(name: str, quick: Path) -> None:
    makers: list[Callable[[Path], object]] = [
        lambda path: path.write_text("x"),
        lambda path: path.symlink_to("nowhere"),
        lambda path: path.symlink_to(name),
    ]
    for make in makers:
        root = quick / os.urandom(4).hex()
        root.mkdir()
        make(root / name)
        problem = _fails(lambda root=root: install(root, {"a": skill("a")}, role=Role(), connectors=[connector("c")]))  # type: ignore[misc]
        assert str(root / name) in problem.message
        assert os.path.lexists(root / name)
        assert set(os.listdir(root)) <= {name, ".importer"}
        assert not (root / ".importer/staging").exists() or os.listdir(root / ".importer/staging") == []


def test_a_library_that_is_a_file_is_said(quick: Path) -> None:
    (quick / "file").write_text("x")
    with Library.open(quick / "file") as library:
        assert library.listing() == ()
        assert library.unwritable() is not None
        assert str(quick / "file") in _fails(library.new_staging).message


def test_nothing_is_made_for_a_library_that_is_only_read(quick: Path) -> None:
    with Library.open(quick / "none") as library:
        assert library.listing() == ()
        assert library.history() == ()
        assert library.verify() == ()
        assert library.snapshot(skills=["a"]).skills == {}
        assert library.unwritable() is None
        assert library.doctor().attention is False
        with pytest.raises(LibraryError) as caught:
            library.show("a")
        assert caught.value.code == "library-name-unknown"
    assert os.listdir(quick) == []


def test_a_failed_preview_leaves_nothing_in_home_or_tmp(quick: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from importer.library import Library
from tests.library.scenes import install, skill
install(Path(sys.argv[1]), {"a": skill("a")})
"""
    home, temporary = quick / "home", quick / "tmp"
    home.mkdir()
    temporary.mkdir()
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(quick / "library")], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert os.listdir(home) == []
    assert os.listdir(temporary) == []


def test_the_umask_is_kept_and_only_one_bit_survives(quick: Path) -> None:
    def strict() -> None:
        os.umask(0o077)
        with Library.open(quick) as library, library.new_staging() as staging:
            package = staged_package(staging, {"a": skill("a")})
            assert planned(library, package, Choices()).digest
        install(quick, {"a": skill("a")})
        modes = {p.name: p.stat().st_mode & 0o7777 for p in (quick / "skills/a").rglob("*") if p.is_file()}
        assert modes == {"SKILL.md": 0o600, "units.md": 0o600, "count": 0o700}

    assert in_child(strict) == 0
