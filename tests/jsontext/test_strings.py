"""Strings: what Python's own reader makes of them, and a fault where it refuses or takes half a character."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.jsontext import JsonFault, parse

PIECES = st.lists(
    st.one_of(
        st.text(max_size=4),
        st.sampled_from(['\\"', "\\\\", "\\/", "\\b", "\\n", "\\u00e4", "\\ud83d\\ude00", "\\ud800", "\\udc00"]),
        st.sampled_from(["\\", '"', "\\u", "\\u12", "\\u12g4", "\\x", "\\ 1", "\n", "\t", "\x1f", "\x7f"]),
    ),
    max_size=12,
)


@settings(max_examples=300, deadline=None)
@given(PIECES)
def test_a_string_is_what_python_reads_or_a_fault(pieces: list[str]) -> None:
    text = f'["{"".join(pieces)}"]'
    try:
        found: object = parse(text).root.plain()
    except JsonFault:
        found = None
    try:
        wanted: object = json.loads(text)
        json.dumps(wanted, ensure_ascii=False).encode()
    except (ValueError, UnicodeEncodeError):
        wanted = None
    assert found == wanted


@pytest.mark.parametrize("end", ["", "\\", "\\u", "\\u12", "\\u12g4", "\\q", "\n", '\\"'])
@pytest.mark.parametrize("middle", ["", "a" * 5_000, "\\ud83d\\ude00" * 900, "\\n" * 5_000, "\\ud800" * 30])
def test_a_long_string_with_a_bad_end_is_a_fault(middle: str, end: str) -> None:
    """Some versions of Python match possessive patterns wrongly: the string is not found by one."""
    for text in (f'{{"a": "{middle}{end}', f'{{"{middle}{end}'):
        with pytest.raises(JsonFault):
            parse(text)
