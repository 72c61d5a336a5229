"""A few seconds of every fuzz target; `FUZZ_CASES` sets how many cases of each, `FUZZ_SEED` which."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from importer.diagnostics import Rejected, error
from tests.fuzz import guard
from tests.fuzz.engine import Target, case, run
from tests.fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_invariants_hold(name: str) -> None:
    cases = int(os.environ.get("FUZZ_CASES", "800"))
    tally = run([TARGETS[name]], seed=os.environ.get("FUZZ_SEED", "pytest"), cases=cases, every=15)
    assert not tally.findings, "\n\n".join(f"{found.case}: {found.what}" for found in tally.findings)
    assert tally.cases == cases
    accepted = tally.outcomes[f"{name}: accepted"]
    assert cases < 500 or 0.02 * cases < accepted < 0.9 * cases, (
        "nearly all cases end alike: the mutations teach nothing"
    )


@pytest.mark.parametrize("name", TARGETS)
def test_a_seed_always_makes_the_same_case(name: str) -> None:
    assert case(TARGETS[name], "x", 7) == case(TARGETS[name], "x", 7)
    assert len({case(TARGETS[name], "x", number) for number in range(20)}) > 10


def broken(what: str) -> Target:
    """Return a target that breaks one invariant."""

    def feed(_data: bytes, _scratch: Path, /) -> str:
        if what == "raises":
            raise KeyError("name")
        if what == "writes":
            Path(f"/tmp/fuzz-stray-{os.getpid()}").write_bytes(b"")
            Path(f"/tmp/fuzz-stray-{os.getpid()}").unlink()
        if what == "refuses":
            raise Rejected([error("archive-ambiguous", "two views")])
        return "accepted"

    def agree(_data: bytes, _scratch: Path, _whole: bool, /) -> None:
        assert what != "differs", "another view"

    return Target(name="broken", make=lambda chance: chance.randbytes(4), feed=feed, agree=agree)


@pytest.mark.parametrize(
    ("what", "says"), [("raises", "KeyError"), ("writes", "wrote outside"), ("differs", "readers differ")]
)
def test_the_engine_notices(what: str, says: str) -> None:
    tally = run([broken(what)], seed="x", cases=1)
    assert says in tally.findings[0].what


@pytest.mark.parametrize("what", ["nothing", "refuses"])
def test_the_engine_is_content_with_what_is_allowed(what: str) -> None:
    tally = run([broken(what)], seed="x", cases=3)
    assert not tally.findings
    assert sum(tally.outcomes.values()) == 3


def test_writes_inside_the_scratch_folder_are_allowed(tmp_path: Path) -> None:
    strays: list[str] = []
    with guard.writes_only_in(tmp_path, strays):
        (tmp_path / "file").write_bytes(b"x")
        (tmp_path / "folder").mkdir()
    assert strays == []
