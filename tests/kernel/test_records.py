"""`record` against the dataclass that it stands for: whatever a value class is used for, both do the same."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.records import record


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plain:
    name: str
    size: int = 0
    notes: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("a size is not negative")


@record
class _Record:
    name: str
    size: int = 0
    notes: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("a size is not negative")


@record(kw_only=False)
class Pair:
    """Given by position."""

    left: object
    right: object = None


@record(frozen=False, kw_only=False)
class _Counter:
    count: int = 0
    seen: list[int] = field(default_factory=list)


_GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(max_size=3),
        "size": st.integers(-1, 2),
        "notes": st.lists(st.text(max_size=2), max_size=2),
        "secret": st.text(max_size=2),
        "other": st.none(),
    },
)


def _outcome(action: Callable[[], Any]) -> object:
    """Return what an action gives, a value as its fields; or the type of what it raises."""
    try:
        value = action()
    except (TypeError, ValueError, AttributeError) as problem:
        return type(problem)
    if isinstance(value, _Plain | _Record):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    return value


@settings(max_examples=60, deadline=None)
@given(_GIVEN, _GIVEN)
def test_a_record_does_what_the_dataclass_does(first: dict[str, Any], second: dict[str, Any]) -> None:
    def outcomes(kind: type[Any]) -> list[object]:
        return [
            _outcome(lambda: kind(**first)),
            _outcome(lambda: replace(kind(**first), **second)),
            _outcome(lambda: kind(**first) == kind(**second)),
            _outcome(lambda: kind(**first) != kind(**second)),
            _outcome(lambda: repr(kind(**first)).removeprefix(kind.__name__)),
            _outcome(lambda: hash(kind(**first))),
            _outcome(lambda: kind("by position", **first)),
        ]

    assert outcomes(_Record) == outcomes(_Plain)


def test_the_standard_library_sees_a_dataclass() -> None:
    assert is_dataclass(_Record)
    for mine, theirs in zip(fields(_Record), fields(_Plain), strict=True):
        assert (mine.name, mine.type, mine.default, mine.kw_only) == (
            theirs.name,
            theirs.type,
            theirs.default,
            theirs.kw_only,
        )
    assert (_Record.__name__, _Record.__module__) == ("_Record", __name__)
    assert Pair.__doc__ == "Given by position."
    assert Pair.__match_args__ == ("left", "right")


def test_a_frozen_record_cannot_be_changed_and_has_slots() -> None:
    value = _Record(name="a")
    with pytest.raises(FrozenInstanceError):
        value.name = "b"  # type: ignore[misc]  # this is what is tried
    with pytest.raises(FrozenInstanceError):
        del value.name
    with pytest.raises(FrozenInstanceError):
        value.other = 1  # type: ignore[attr-defined]  # this is what is tried
    assert value.name == "a"
    assert not hasattr(value, "__dict__")


def test_each_value_gets_its_own_default() -> None:
    assert _Record(name="a").notes is not _Record(name="a").notes


def test_positions_and_names_meet() -> None:
    assert Pair(1, right=2) == Pair(left=1, right=2) == Pair(1, 2)
    assert hash(Pair(1, 2)) == hash(Pair(1, 2))
    other: object = (1, 2)
    assert Pair(1, 2) != other
    match Pair(1, 2):
        case Pair(left, right):
            assert (left, right) == (1, 2)
    given_wrongly: list[Callable[[], object]] = [
        lambda: Pair(1, 2, 3),  # type: ignore[call-arg]  # this is what is tried
        lambda: Pair(1, left=2),  # type: ignore[misc]  # this is what is tried
        lambda: Pair(right=2),  # type: ignore[call-arg]  # this is what is tried
    ]
    for wrong in given_wrongly:
        with pytest.raises(TypeError):
            wrong()


def test_a_mutable_record_changes_and_has_no_hash() -> None:
    counter = _Counter(1)
    counter.count += 1
    assert counter == _Counter(2)
    with pytest.raises(TypeError):
        hash(counter)
    with pytest.raises(AttributeError):
        counter.other = 1  # type: ignore[attr-defined]  # this is what is tried


@pytest.mark.parametrize("value", [_Record(name="a", notes=["b"]), Pair(1, (2, 3)), _Counter(3, [4])])
def test_records_are_copied_and_pickled(value: object) -> None:
    for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert twin == value
        assert twin is not value


def test_a_value_that_holds_itself_is_shown() -> None:
    pair = Pair([])
    assert isinstance(pair.left, list)
    pair.left.append(pair)
    assert repr(pair) == "Pair(left=[...], right=None)"


def test_what_a_record_does_not_do_is_refused_at_once() -> None:
    unknown: list[Any] = [field(init=False, default=0), field(compare=False), field(hash=False), field(kw_only=False)]
    for kind in unknown:
        with pytest.raises(TypeError, match=r"a record has no such field"):
            record(type("Odd", (), {"__annotations__": {"value": "int"}, "value": kind, "__doc__": "Odd."}))
