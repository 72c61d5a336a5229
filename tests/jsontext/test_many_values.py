"""Documents of very many values: what is not looked into is checked and kept as its text."""

from __future__ import annotations

import pytest

from importer import jsontext
from importer.jsontext import JsonFault, TooManyValues, parse, parse_config


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsontext, "MAX_VALUES", 10)
    monkeypatch.setattr(jsontext, "MAX_COMMENTS", 4)


def numbers(count: int) -> str:
    return "[" + ",".join(["1"] * count) + "]"


def test_exactly_as_many_as_are_kept() -> None:
    assert parse(numbers(10)).root.plain() == [1] * 10
    with pytest.raises(TooManyValues) as caught:
        parse(numbers(11))
    assert str(caught.value) == "line 1, column 22: more than 10 values"


def test_what_is_not_looked_into_stays_as_text() -> None:
    text = f'{{"a": {{"b": [1]}}, "pad": {numbers(20)}, "flag": true, "deep": {{"x": {{"y": 2}}}}}}'
    document = parse_config(text, ["a", "deep"])
    assert document.root.plain() == {"a": {"b": [1]}, "pad": numbers(20), "flag": True, "deep": {"x": {"y": 2}}}
    pad = document.root.get("pad")
    assert pad is not None
    assert (pad.items, pad.raw) == ([], text[pad.start : pad.end])


def test_a_document_that_is_not_large_is_kept_whole() -> None:
    assert parse_config('{"pad": [1, 2], "a": 1}', ["a"]).root.plain() == {"pad": [1, 2], "a": 1}


@pytest.mark.parametrize(
    "inside",
    ['{"x": 1, "x": 2}', "[1, NaN]", '["\\ud800"]', "[" * 70 + "]" * 70, "[1 2]", '["a\nb"]', "[01]"],
)
def test_what_is_not_looked_into_is_checked_all_the_same(inside: str) -> None:
    with pytest.raises(JsonFault):
        parse_config(f'{{"pad": [{numbers(20)}, {inside}], "a": 1}}', ["a"])


def test_too_many_values_where_they_matter() -> None:
    with pytest.raises(TooManyValues):
        parse_config(f'{{"a": {numbers(20)}}}', ["a"])


@pytest.mark.parametrize(("inside", "what"), [("/**/1,", "comments"), ("[1,],", "trailing commas")])
def test_places_that_are_remembered_are_counted(inside: str, what: str) -> None:
    assert parse_config("[" + inside * 4 + "1]", []).text
    with pytest.raises(JsonFault, match=f"more than 4 {what}"):
        parse_config("[" + inside * 5 + "1]", [])


def test_a_long_text_is_read_in_one_go() -> None:
    text = '"' + "a\\n" * 200_000 + '"'
    assert parse(text).root.scalar == "a\n" * 200_000
