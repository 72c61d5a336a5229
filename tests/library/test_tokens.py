"""A token: good once, for ten minutes, for one library and one command; and what waits under it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from importer import fs
from importer.library import Library, LibraryError
from importer.library.candidates import TOKEN_SECONDS, HeldCandidate
from importer.model import Choices
from importer.staging import TREE, Part
from importer.tokens import is_token
from tests.library.scenes import ORIGIN, install, planned, skill, staged_package

NOW = 1_800_000_000.0


def _at(seconds: float) -> Callable[[], float]:
    return lambda: NOW + seconds


def _hold(root: Path, name: str = "count-rows") -> str:
    with Library.open(root, clock=_at(0)) as library, library.new_staging() as staging:
        package = staged_package(staging, {name: skill(name)})
        held = library.hold(staging, planned(library, package, Choices()), origin=ORIGIN, choices=Choices())
        assert held.expires_at == "2027-01-15T08:10:00Z"
        return held.token


def _differing(held: HeldCandidate) -> tuple[str, ...]:
    return held.staging.folder.unpack([Part(one.staged, one.files, wanted=False) for one in held.package.skills])


def _refusal(library: Library, token: str) -> str:
    with pytest.raises(LibraryError) as caught:
        library.claim(token)
    return caught.value.code


def test_a_token_has_a_form_of_its_own_and_only_its_hash_is_kept(quick: Path) -> None:
    token = _hold(quick)
    assert is_token(token)
    assert token.encode() not in (quick / ".importer/library.db").read_bytes()
    assert _hold(quick, "chart-check") != token


def test_what_was_held_is_what_is_claimed(quick: Path) -> None:
    token = _hold(quick)
    with Library.open(quick, clock=_at(TOKEN_SECONDS - 1)) as library:
        held = library.claim(token)
        assert [one.name for one in held.package.skills] == ["count-rows"]
        assert held.origin == ORIGIN
        assert held.summary == {"skill count-rows": ("install", "new", "")}
        assert _differing(held) == ()


@pytest.mark.parametrize("seconds", [TOKEN_SECONDS, TOKEN_SECONDS + 5, 3 * 86400])
def test_an_expired_token_says_so_and_its_files_are_gone(seconds: float, quick: Path) -> None:
    token = _hold(quick)
    with Library.open(quick, clock=_at(seconds)) as library:
        assert _refusal(library, token) == "token-expired"
    assert os.listdir(quick / ".importer/staging") == []


def test_a_token_of_long_ago_is_unknown(quick: Path) -> None:
    token = _hold(quick)
    with Library.open(quick, clock=_at(40 * 86400)) as library:
        assert _refusal(library, token) == "token-unknown"


@pytest.mark.parametrize("token", ["imp_" + "a" * 32, "", "\udcff", "imp_x"])
def test_an_unknown_token_says_so(token: str, quick: Path) -> None:
    _hold(quick)
    with Library.open(quick, clock=_at(1)) as library:
        assert _refusal(library, token) == "token-unknown"
    with Library.open(quick / "none", clock=_at(1)) as library:
        assert _refusal(library, token) == "token-unknown"
    assert not (quick / "none").exists()


def test_a_token_is_good_once(quick: Path) -> None:
    token = _hold(quick)
    with Library.open(quick, clock=_at(1)) as library:
        held, also = library.claim(token), library.claim(token)
        plan = planned(library, held.package, held.choices)
        with library.writer(command="install") as writer:
            writer.apply(plan, held.staging, ORIGIN, token=token)
        assert _refusal(library, token) == "token-used"
        with library.writer(command="install") as writer, pytest.raises(LibraryError) as caught:
            writer.apply(plan, also.staging, ORIGIN, token=token)
        assert caught.value.code == "token-used"
        assert len(library.history()) == 1


def test_a_token_is_spent_even_where_nothing_is_renamed(quick: Path) -> None:
    install(quick, {"count-rows": skill("count-rows")})
    token = _hold(quick)
    with Library.open(quick, clock=_at(1)) as library:
        held = library.claim(token)
        plan = planned(library, held.package, held.choices)
        with library.writer(command="install") as writer:
            applied = writer.apply(plan, held.staging, ORIGIN, token=token)
            assert [one.reason for one in applied.reused] == ["identical"]
            with pytest.raises(LibraryError) as caught:
                writer.apply(plan, held.staging, ORIGIN, token=token)
            assert caught.value.code == "token-used"
        assert applied.transaction in {past.id for past in library.history()}


def test_a_token_for_a_removal_is_not_for_an_install(quick: Path) -> None:
    install(quick, {"count-rows": skill("count-rows")})
    with Library.open(quick) as library:
        token = library.hold_removal(library.plan_removal("skill", "count-rows")).token
        with pytest.raises(LibraryError, match="importer remove") as caught:
            library.claim(token)
        assert caught.value.code == "token-unknown"
        held = library.claim_removal(token)
        with library.writer(command="remove") as writer:
            writer.remove(held.plan, token=token)
        with pytest.raises(LibraryError) as caught:
            library.claim_removal(token)
        assert caught.value.code == "token-used"


@pytest.mark.parametrize("change", ["byte", "short", "gone", "index"])
def test_changed_staged_files_are_stale_and_nothing_comes(change: str, quick: Path) -> None:
    token = _hold(quick)
    (staged,) = (quick / ".importer/staging").iterdir()
    pack = staged / "pack-0"
    data = pack.read_bytes()
    if change == "byte":
        pack.write_bytes(data.replace(b"Count", b"Delet"))
        assert pack.read_bytes() != data
    elif change == "short":
        pack.write_bytes(data[:-1])
    elif change == "gone":
        pack.unlink()
    else:
        with (staged / "index").open("a") as index:
            index.write("no line of ours\n")
    with Library.open(quick, clock=_at(1)) as library:
        held = library.claim(token)
        plan = planned(library, held.package, held.choices)
        with library.writer(command="install") as writer, pytest.raises(LibraryError, match="staged files") as caught:
            writer.apply(plan, held.staging, ORIGIN, token=token)
        assert caught.value.code == "library-stale"
        assert library.history() == ()
    assert not (quick / "skills/count-rows").exists()
    assert os.listdir(quick / ".importer/staging") == []


def test_staged_files_that_are_gone_make_it_stale(quick: Path) -> None:
    token = _hold(quick)
    (staged,) = (quick / ".importer/staging").iterdir()
    staged.rename(quick / "elsewhere")
    with Library.open(quick, clock=_at(1)) as library:
        assert _refusal(library, token) == "library-stale"


def test_staged_files_that_go_while_they_are_unpacked_make_it_stale(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = _hold(quick)
    (staged,) = (quick / ".importer/staging").iterdir()

    def remove(operation: str, path: str, _other: str) -> None:
        if operation == "create" and f"/{TREE}/" in path:
            shutil.rmtree(staged)

    with Library.open(quick, clock=_at(1)) as library:
        held = library.claim(token)
        plan = planned(library, held.package, held.choices)
        monkeypatch.setattr(fs, "observer", remove)
        with library.writer(command="install") as writer, pytest.raises(LibraryError, match="removed") as caught:
            writer.apply(plan, held.staging, ORIGIN, token=token)
        assert caught.value.code == "library-stale"
    assert not (quick / "skills/count-rows").exists()
    assert os.listdir(quick / ".importer/staging") == []


def test_a_link_in_the_place_of_staged_files_is_stale_and_nothing_behind_it_is_touched(quick: Path) -> None:
    token = _hold(quick)
    (staged,) = (quick / ".importer/staging").iterdir()
    elsewhere = quick / "elsewhere"
    staged.rename(elsewhere)
    (elsewhere / "tree").mkdir()
    (elsewhere / "tree/mine").write_text("keep")
    staged.symlink_to(elsewhere)
    with Library.open(quick, clock=_at(1)) as library:
        assert _refusal(library, token) == "library-stale"
        library.release(token)
    assert (elsewhere / "tree/mine").read_text() == "keep"
    assert not staged.is_symlink()


def test_a_token_that_ended_while_its_writer_waited_says_so(quick: Path) -> None:
    token = _hold(quick)
    with Library.open(quick, clock=_at(1)) as library:
        library.claim(token)
        with library.writer(command="install") as writer:
            writer.check_token(token)
            library.clock = _at(TOKEN_SECONDS)
            with pytest.raises(LibraryError) as caught:
                writer.check_token(token)
            assert caught.value.code == "token-expired"
            library.clock = _at(1)
            library.release(token)
            with pytest.raises(LibraryError) as caught:
                writer.check_token(token)
            assert caught.value.code == "token-used"


def test_a_released_token_is_used_and_leaves_nothing(quick: Path) -> None:
    token = _hold(quick)
    with Library.open(quick, clock=_at(1)) as library:
        library.release(token)
        assert _refusal(library, token) == "token-used"
    assert os.listdir(quick / ".importer/staging") == []


def test_a_discarded_staging_folder_takes_with_it_what_it_needed(tmp_path: Path) -> None:
    root = tmp_path / "deep/library"
    with Library.open(root) as library:
        with library.new_staging() as staging:
            staged_package(staging, {"a": skill("a")})
            assert root.exists()
        assert not (tmp_path / "deep").exists()
    install(root, {"a": skill("a")})
    with Library.open(root) as library, library.new_staging():
        pass
    assert (root / ".importer/library.db").exists()


def test_what_a_dead_preview_left_is_swept_and_a_living_one_is_not(quick: Path) -> None:
    with Library.open(quick) as library:
        living = library.new_staging()
        dead = library.new_staging()
        staged_package(dead, {"a": skill("a")})
        dead.release()
        waiting = _hold(quick)
    with Library.open(quick, clock=_at(1)) as library:
        names = set(os.listdir(quick / ".importer/staging"))
        assert living.id in names
        assert dead.id not in names
        assert len(names) == 2
        assert _differing(library.claim(waiting)) == ()
    living.discard()


def test_what_only_a_dead_process_could_install_is_swept_with_its_candidate(quick: Path) -> None:
    with Library.open(quick) as library:
        staging = library.new_staging(private=True)
        package = staged_package(staging, {"a": skill("a")})
        plan = planned(library, package, Choices())
        token = library.hold(staging, plan, origin=ORIGIN, choices=Choices()).token
        with Library.open(quick) as other:
            assert staging.id in os.listdir(quick / ".importer/staging")
            assert _differing(other.claim(token)) == ()
        staging.release()
    with Library.open(quick):
        assert os.listdir(quick / ".importer/staging") == []


def test_the_record_of_candidates_holds_no_token(quick: Path) -> None:
    token = _hold(quick)
    with sqlite3.connect(quick / ".importer/library.db") as connection:
        rows = connection.execute("SELECT * FROM candidates").fetchall()
    connection.close()
    assert token not in repr(rows)
