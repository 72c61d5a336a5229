"""Exactly at a limit passes, one over is refused, and a changed limit is never forgotten."""

from __future__ import annotations

import pickle
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import (
    DEFAULTS,
    BudgetExceeded,
    Budgets,
    Limit,
    Meter,
    MeteredReader,
    Override,
    Profile,
    Unit,
    UnknownLimit,
    metered,
)
from tests.builders.containers import Forward

EVERY = [(profile.name, limit.name) for profile in DEFAULTS for limit in profile.limits]
PUBLISHED = {
    "skill": {"files": 16384, "file_bytes": 50 << 20, "total_bytes": 128 << 20, "depth": 8},
    "bundle": {
        "archive_bytes": 256 << 20,
        "bytes": 256 << 20,
        "entries": 32768,
        "skills": 256,
        "ratio": 1000,
        "depth": 32,
        "nested_bytes": 64 << 20,
    },
    "specialist": {
        "compressed_bytes": 50 << 20,
        "total_bytes": 200 << 20,
        "files": 2000,
        "file_bytes": 25 << 20,
        "ratio": 1000,
        "depth": 32,
    },
    "archive": {
        "directory_bytes": 16 << 20,
        "path_bytes": 1024,
        "segment_bytes": 255,
        "header_bytes": 64 << 10,
        "headers": 1000,
    },
    "preview": {"text_bytes": 4 << 20},
    "github": {"requests": 512},
    "connector": {"bytes": 256 << 10},
}


def small(maximum: int = 10) -> Meter:
    return Meter(Profile(name="p", limits=(Limit(name="n", max=maximum, unit=Unit.BYTES, what="x"),)))


def test_the_defaults_are_the_published_limits() -> None:
    budgets = Budgets.default()
    for profile, limits in PUBLISHED.items():
        for name, value in limits.items():
            assert budgets.max(profile, name) == value, f"{profile}.{name}"


@pytest.mark.parametrize(("profile", "limit"), EVERY)
def test_every_limit_passes_at_its_maximum_and_refuses_one_over(profile: str, limit: str) -> None:
    budgets = Budgets.default([Override.of(profile, limit, 7, "test")])
    for use in ("charge", "check"):
        meter = budgets.meter(profile)
        getattr(meter, use)(limit, 7, "a/b")
        with pytest.raises(BudgetExceeded) as exceeded:
            getattr(meter, use)(limit, 1 if use == "charge" else 8, "a/b")
        problem = exceeded.value
        assert (problem.profile, problem.limit, problem.used, problem.max) == (profile, limit, 8, 7)
        assert problem.unit == str(budgets.profiles[profile].limit(limit).unit)
        assert problem.path == "a/b"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(min_value=0, max_value=9), max_size=12))
def test_a_meter_refuses_exactly_when_the_sum_is_over(amounts: list[int]) -> None:
    meter = small(20)
    total = 0
    for amount in amounts:
        total += amount
        if total > 20:
            with pytest.raises(BudgetExceeded):
                meter.charge("n", amount)
        else:
            meter.charge("n", amount)
        assert meter.used("n") == total
        assert meter.remaining("n") == max(0, 20 - total)


def test_a_refused_charge_stays_counted() -> None:
    meter = small()
    with pytest.raises(BudgetExceeded):
        meter.charge("n", 11)
    with pytest.raises(BudgetExceeded):
        meter.charge("n", 0)


def test_a_check_adds_nothing_up_and_remembers_the_largest() -> None:
    meter = small()
    for value in (3, 10, 4):
        meter.check("n", value)
    assert meter.used("n") == 10


def test_an_unknown_limit_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(KeyError):
        small().charge("nope", 1)


def test_threads_lose_no_charge() -> None:
    meter = small(100_000)

    def work() -> None:
        for _ in range(5_000):
            meter.charge("n", 1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert meter.used("n") == 20_000


def test_usage_says_which_limits_were_changed() -> None:
    meter = Budgets.default([Override.parse("skill.files=20_000", "--budget")]).meter("skill")
    meter.charge("files", 3)
    rows = {row.limit: row for row in meter.usage()}
    assert (rows["files"].used, rows["files"].max, rows["files"].changed) == (3, 20_000, True)
    assert not rows["depth"].changed
    assert [row.limit for row in meter.usage()] == ["files", "file_bytes", "total_bytes", "depth"]


def test_the_later_override_wins_and_the_default_is_untouched() -> None:
    budgets = Budgets.default(
        [Override.of("skill", "files", 1, "config.toml"), Override.of("skill", "files", 2, "--budget")]
    )
    assert budgets.max("skill", "files") == 2
    assert Budgets.default().max("skill", "files") == 16_384
    assert [change.by for change in budgets.overrides] == ["config.toml", "--budget"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "PROFILE.LIMIT=VALUE"),
        ("skill.files", "PROFILE.LIMIT=VALUE"),
        ("files=3", "PROFILE.LIMIT=VALUE"),
        ("skill.files=", "whole number"),
        ("skill.files=many", "whole number"),
        ("skill.files=1.5", "whole number"),
        ("skill.files=0", "positive"),
        ("skill.files=-1", "positive"),
        ("nope.files=3", "skill, bundle"),
        ("skill.nope=3", "file_bytes"),
    ],
)
def test_a_bad_override_says_what_there_is(text: str, named: str) -> None:
    with pytest.raises(UnknownLimit, match=named):
        Override.parse(text, "--budget")


@pytest.mark.parametrize("value", [True, 1.0, "3", None, 0])
def test_only_whole_numbers_are_limits(value: object) -> None:
    with pytest.raises(UnknownLimit):
        Override.of("skill", "files", value, "config.toml")


@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_is_never_unlimited(value: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        Limit(name="n", max=value, unit=Unit.FILES, what="x")


def test_a_metered_reader_asks_for_one_byte_over_and_no_more() -> None:
    source = Forward(b"x" * 100)
    reader = MeteredReader(source, small(10), "n", "f")
    with pytest.raises(BudgetExceeded) as exceeded:
        reader.read(1000)
    assert source.taken == 11
    assert exceeded.value.path == "f"


def test_a_metered_reader_hands_out_everything_at_the_limit() -> None:
    reader = MeteredReader(Forward(b"x" * 10), small(10), "n")
    assert reader.read(7) + reader.read(7) + reader.read(7) == b"x" * 10


def test_metered_chunks_stop_before_the_one_that_is_over() -> None:
    chunks = metered([b"12345", b"67890", b"1"], small(10), "n")
    assert [next(chunks), next(chunks)] == [b"12345", b"67890"]
    with pytest.raises(BudgetExceeded):
        next(chunks)


def test_a_spent_budget_travels_between_processes() -> None:
    problem = BudgetExceeded(profile="a", limit="b", used=2, maximum=1, unit="files", path="p")
    again = pickle.loads(pickle.dumps(problem))
    assert (str(again), again.max, again.path) == (str(problem), 1, "p")
