"""Several real processes at once: one writer at a time, readers that never wait and never see half of anything."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from importer import fs
from importer.library import Library, LibraryError
from importer.model import Choices
from tests.library.killing import Counter, in_child, operations
from tests.library.scenes import ORIGIN, Role, install, planned, remove, skill, staged_package, visible, whole

ROUNDS = 8
WRITERS = 3
READERS = 2


def _fork(action: Callable[[], object]) -> int:
    """Start something in a child and return its process id."""
    child = os.fork()
    if child == 0:
        os._exit(in_child(action) & 0xFF)
    return child


def _joined(children: list[int]) -> list[int]:
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def _content(worker: int, number: int) -> dict[str, bytes]:
    return skill("shared", f"By {worker}, {number}.\n", **{f"file{n}": b"%d-%d" % (worker, number) for n in range(12)})


def _write(root: Path, worker: int) -> None:
    done = 0
    for _ in range(ROUNDS * 20):
        try:
            install(root, {"shared": _content(worker, done), f"own-{worker}": skill(f"own-{worker}", f"{done}\n")})
            done += 1
        except LibraryError as problem:
            # Somebody else came first between the preview and the install.
            if problem.code != "library-stale":
                raise
        if done == ROUNDS:
            return
    raise AssertionError(f"only {done} installs went through")


def _read(root: Path, until: Path) -> None:
    known = {files["file0"]: files for w in range(WRITERS) for n in range(ROUNDS) for files in [_content(w, n)]}
    rounds = 0
    while not until.exists() or rounds < 3:
        with Library.open(root) as library:
            for one in library.verify():
                assert one.ok, (one.listed.name, one.difference)
            found = library.snapshot(skills=["shared"]).skills["shared"]
            assert not found.edited
            assert {one.name for one in library.listing()} >= {"shared"}
            assert not library.notices
        rounds += 1
    assert known


def test_writers_and_readers_side_by_side(quick: Path) -> None:
    root = quick / "library"
    install(root, {"shared": skill("shared")})
    until = quick / "until"
    writers = [_fork(lambda w=worker: _write(root, w)) for worker in range(WRITERS)]  # type: ignore[misc]
    readers = [_fork(lambda: _read(root, until)) for _ in range(READERS)]
    assert _joined(writers) == [0] * WRITERS
    until.touch()
    assert _joined(readers) == [0] * READERS
    with Library.open(root) as library:
        history = library.history()
        assert len(history) == 1 + WRITERS * ROUNDS
        assert all(one.ok for one in library.verify())
        assert all(past.in_trash for past in history)
    assert os.listdir(root / ".importer/staging") == []
    assert sorted(os.listdir(root / "skills")) == ["own-0", "own-1", "own-2", "shared"]


def test_one_token_is_good_for_one_of_two_processes(quick: Path) -> None:
    for number in range(5):
        root = quick / str(number)
        with Library.open(root) as library, library.new_staging() as staging:
            package = staged_package(staging, {"a": skill("a")})
            token = library.hold(staging, planned(library, package, Choices()), origin=ORIGIN, choices=Choices()).token

        def spend(root: Path = root, token: str = token) -> None:
            try:
                with Library.open(root) as library:
                    held = library.claim(token)
                    with library.writer(command="install") as writer:
                        plan = planned(library, held.package, held.choices)
                        writer.apply(plan, held.staging, ORIGIN, token=token)
            except LibraryError as problem:
                os._exit(7 if problem.code in {"token-used", "library-stale"} else 3)

        assert sorted(_joined([_fork(spend), _fork(spend)])) == [0, 7]
        with Library.open(root) as library:
            assert len(library.history()) == 1
        assert os.listdir(root / ".importer/staging") == []


def test_two_removals_of_one_skill(quick: Path) -> None:
    install(quick, {"a": skill("a")})

    def go() -> None:
        try:
            remove(quick, "skill", "a")
        except LibraryError as problem:
            os._exit(7 if problem.code == "library-name-unknown" else 3)

    assert sorted(_joined([_fork(go), _fork(go)])) == [0, 7]


def _stopped(root: Path, at: int, action: Callable[[], object]) -> int:
    """Start something in a child that stops, alive, before its n-th operation; return its process id once it does."""
    child = os.fork()
    if child == 0:
        fs.observer = Counter(at, lambda: os.kill(os.getpid(), signal.SIGSTOP))
        status = 3
        try:
            action()
            status = 0
        finally:
            os._exit(status)
    os.waitpid(child, os.WUNTRACED)
    return child


def test_readers_answer_beside_a_stuck_writer_and_writers_give_up_by_name(quick: Path) -> None:
    root = quick / "library"
    install(root, {"a": skill("a"), "b": skill("b")}, role=Role())

    def change(root: Path = root) -> None:
        install(root, {"a": skill("a", "New.\n"), "b": skill("b", "New.\n"), "c": skill("c")}, role=Role(prompt="New."))

    import shutil

    copy = quick / "copy"
    shutil.copytree(root, copy)
    names = operations(lambda: change(copy))
    before = visible(root)
    for at in [number for number, name in enumerate(names) if name == "rename"] + [names.index("rename") + 7]:
        place = quick / f"stuck-{at}"
        shutil.copytree(root, place)
        child = _stopped(place, at, lambda place=place: change(place))  # type: ignore[misc]
        try:
            started = time.monotonic()
            with Library.open(place) as library:
                assert [one.name for one in library.listing()] == ["a", "b", "field-analyst"]
                assert all(one.ok and one.listed.present for one in library.verify())
                snapshot = library.snapshot(skills=["a", "b", "c"])
                assert set(snapshot.skills) == {"a", "b"}
                assert not any(one.edited for one in snapshot.skills.values())
                assert snapshot.specialists["field-analyst"].revision == 1
                with library.new_staging() as staging:
                    package = staged_package(staging, {"d": skill("d")})
                    plan = planned(library, package, Choices())
                    library.hold(staging, plan, origin=ORIGIN, choices=Choices())
                with pytest.raises(LibraryError) as caught, library.writer(command="install", timeout=0.05):
                    pass
                assert caught.value.code == "library-locked"
                assert f"process {child} (importer install" in caught.value.message
                assert "doctor" in caught.value.message
            assert time.monotonic() - started < 30
        finally:
            os.kill(child, signal.SIGCONT)
            assert _joined([child]) == [0]
        with Library.open(place) as library:
            assert library.notices == []
            assert all(one.ok for one in library.verify())
            assert [one.name for one in library.listing()] == ["a", "b", "c", "field-analyst"]
        assert visible(place) != before


def test_an_editor_at_work_loses_nothing(quick: Path) -> None:
    root = quick / "library"
    install(root, {"a": skill("a")})
    document = root / "skills/a/SKILL.md"
    stop = quick / "stop"

    def edit() -> None:
        number = 0
        while not stop.exists():
            try:
                document.write_text(f"edit {number}")
                number += 1
            except FileNotFoundError:
                continue

    editor = _fork(edit)
    while document.read_text().startswith("---"):
        time.sleep(0.001)
    outcomes = set()
    for number in range(12):
        try:
            install(root, {"a": skill("a", f"{number}\n")})
            outcomes.add("done")
        except LibraryError as problem:
            outcomes.add(problem.code)
    stop.touch()
    assert _joined([editor]) == [0]
    assert outcomes <= {"done", "library-stale"}
    last = document.read_text()
    assert whole(root)
    assert last
    with Library.open(root) as library:
        library.doctor()
    assert os.listdir(root / ".importer/staging") == []
