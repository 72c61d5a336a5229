"""Untrusted text in messages: nothing in it may move, hide or reorder."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import BudgetExceeded
from importer.diagnostics import (
    MAX_FINDINGS,
    Diagnostic,
    Rejected,
    Severity,
    budget_error,
    capped,
    error,
    info,
    shown,
    warning,
)


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=300))
def test_shown_text_is_one_line_that_nothing_hides_in(text: str) -> None:
    safe = shown(text)
    assert not any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} for character in safe)
    Diagnostic(severity=Severity.INFO, code="x", message=safe, path=safe)
    safe.encode("utf-8")


def test_no_character_at_all_is_shown_that_moves_or_hides() -> None:
    every = "".join(map(chr, range(0x110000)))
    safe = shown(every, len(every))
    bad = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert not any(unicodedata.category(character) in bad for character in set(safe))
    for at in range(0, 0x110000, 0x1000):
        # Each on its own too: the short way looks at the whole text.
        one_by_one = [shown(chr(number)) for number in range(at, at + 0x1000)]
        assert "".join(one_by_one) == shown(every[at : at + 0x1000], 0x1000)


def test_every_character_that_must_be_escaped_is_refused_in_a_message() -> None:
    for number in [
        *range(0x20),
        *range(0x7F, 0xA0),
        *range(0x200B, 0x2010),
        *range(0x2028, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
        *range(0xD800, 0xE000),
    ]:
        with pytest.raises(ValueError, match="shown"):
            error("x", "a" + chr(number))
        with pytest.raises(ValueError, match="shown"):
            Diagnostic(severity=Severity.INFO, code="x", message="a", path=chr(number))


@settings(max_examples=200, deadline=None)
@given(st.text(min_size=1, max_size=40))
def test_a_message_with_raw_text_is_never_made(text: str) -> None:
    for character in ("\x1b", "\n", "\u202e", "\u200b", "\x9b", "\u2028"):
        with pytest.raises(ValueError, match="shown"):
            error("x", text + character)


def test_long_text_is_cut_where_it_says() -> None:
    assert shown("a" * 200) == "a" * 200
    assert shown("a" * 201) == "a" * 199 + "\u2026"
    assert shown("\x1b[2J\u202e") == "\\x1b[2J\\u202e"
    assert shown("\U000e0041") == "\\U000e0041"


def test_a_budget_is_said_with_the_flag_that_changes_it() -> None:
    exceeded = BudgetExceeded(profile="skill", limit="files", used=5, maximum=4, unit="files", path="a\x1bb")
    said = budget_error(exceeded)
    assert said.code == "budget-exceeded"
    assert "--budget skill.files=N" in said.message
    assert dict(said.facts) == {"profile": "skill", "limit": "files", "used": 5, "max": 4, "unit": "files"}
    assert said.path == "a\\x1bb"


def test_a_report_has_an_end_and_errors_stay() -> None:
    many = [info("a", f"{number}") for number in range(MAX_FINDINGS)] + [error("b", "y")]
    kept = capped(many)
    assert len(kept) == MAX_FINDINGS + 1
    assert [one.code for one in kept if one.severity is Severity.ERROR] == ["b"]
    assert kept[-1].code == "diagnostics-capped"
    assert kept[-1].facts["count"] == 1
    assert capped(many[:3]) == tuple(many[:3])
    assert capped(many[1:]) == tuple(many[1:])


def test_a_finding_is_said_once() -> None:
    pair = [error("a", "x", "p", 1), error("a", "x", "p", 2)]
    assert capped([*pair, *pair, warning("a", "x", "p", 1)]) == (*pair, warning("a", "x", "p", 1))


def test_a_refusal_carries_everything() -> None:
    rejected = Rejected([error("a", "one"), error("b", "two")])
    assert [one.code for one in rejected.diagnostics] == ["a", "b"]
    assert str(rejected) == "a: one; b: two"
