"""Exactly at a limit passes, one over is refused with everything a report needs."""

from __future__ import annotations

import pytest

from budgets import Budgets, Override
from importer.formats.limits import check_skill_budget, check_specialist_budget
from importer.model import Entry
from tests.builders.packages import entry


def budgets(profile: str, **limits: int) -> Budgets:
    return Budgets.default([Override.of(profile, name, value, "test") for name, value in limits.items()])


@pytest.mark.parametrize(
    ("limit", "at", "over", "used", "path", "unit"),
    [
        ("files", [entry("s/a"), entry("s/b")], [entry("s/c")], 3, "s", "files"),
        ("file_bytes", [entry("s/a", 2)], [entry("s/big", 3)], 3, "s/big", "bytes"),
        ("total_bytes", [entry("s/a", 1), entry("s/b", 1)], [entry("s/c", 1)], 3, "s", "bytes"),
        ("depth", [entry("s/1/2/a")], [entry("s/1/2/3/a")], 3, "s/1/2/3/a", "levels"),
    ],
)
def test_skill_limits(limit: str, at: list[Entry], over: list[Entry], used: int, path: str, unit: str) -> None:
    run = budgets("skill", **{limit: 2})
    assert check_skill_budget(at, "s", run.meter("skill")) == ()
    (found,) = check_skill_budget([*at, *over], "s", run.meter("skill"))
    assert found.code == "budget-exceeded"
    assert found.path == path
    assert dict(found.facts) == {"profile": "skill", "limit": limit, "used": used, "max": 2, "unit": unit}


def test_skill_depth_counts_from_its_root() -> None:
    run = Budgets.default()
    folders = "/".join("12345678")
    deep = "a/b/c/d/e/f/g/h/i/j/s"
    assert check_skill_budget([entry(f"{deep}/{folders}/x")], deep, run.meter("skill")) == ()
    (found,) = check_skill_budget([entry(f"{deep}/{folders}/9/x")], deep, run.meter("skill"))
    assert (found.facts["limit"], found.facts["used"]) == ("depth", 9)
    assert check_skill_budget([entry(f"{folders}/x")], "", run.meter("skill")) == ()


def test_default_skill_limits_are_the_documented_ones() -> None:
    meter = Budgets.default().meter("skill")
    mib = 1024 * 1024
    at = [entry("s/a", 50 * mib), entry("s/b", 50 * mib), entry("s/c", 28 * mib)]
    assert check_skill_budget(at, "s", meter) == ()
    over = check_skill_budget([entry("s/a", 50 * mib + 1), entry("s/b", 50 * mib), entry("s/c", 28 * mib)], "s", meter)
    assert [d.facts["limit"] for d in over] == ["total_bytes", "file_bytes"]


def test_all_broken_limits_are_said_together_and_the_next_skill_starts_afresh() -> None:
    meter = budgets("skill", files=1, total_bytes=1, file_bytes=1, depth=1).meter("skill")
    found = check_skill_budget([entry("s/a", 9), entry("s/1/2/b", 9)], "s", meter)
    assert sorted(str(d.facts["limit"]) for d in found) == ["depth", "file_bytes", "files", "total_bytes"]
    assert check_skill_budget([entry("t/a", 1)], "t", meter) == ()


@pytest.mark.parametrize(
    ("limit", "maximum", "at", "over", "used"),
    [
        ("files", 2, [entry("a"), entry("b")], [entry("c")], 3),
        ("file_bytes", 2, [entry("a", 2)], [entry("b", 3)], 3),
        ("total_bytes", 2, [entry("a", 2)], [entry("b", 1)], 3),
        ("ratio", 10, [entry("a", 100, 10)], [entry("b", 101, 10)], 11),
        ("depth", 2, [entry("a/b")], [entry("a/b/c")], 3),
    ],
)
def test_specialist_limits(limit: str, maximum: int, at: list[Entry], over: list[Entry], used: int) -> None:
    run = budgets("specialist", **{limit: maximum})
    assert check_specialist_budget(at, "", run.meter("specialist")) == ()
    (found,) = check_specialist_budget([*at, *over], "", run.meter("specialist"))
    assert (found.code, found.facts["limit"], found.facts["used"]) == ("budget-exceeded", limit, used)


@pytest.mark.parametrize(("size", "refused"), [(50 * 1024 * 1024, 0), (50 * 1024 * 1024 + 1, 1)])
def test_specialist_archive_size(size: int, refused: int) -> None:
    assert len(check_specialist_budget([], "", Budgets.default().meter("specialist"), compressed=size)) == refused


def test_stored_empty_file_has_no_ratio() -> None:
    assert check_specialist_budget([entry("a", 0, 0)], "", Budgets.default().meter("specialist")) == ()
