"""The short way through entries of one shape: what it takes is what the long way takes, and it refuses nothing."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import Budgets
from importer.diagnostics import Rejected
from importer.extract.zip_container import ZipContainer
from importer.extract.zip_entries import _Reader
from importer.extract.zip_format import (
    AES_FIELD,
    ASI_UNIX_FIELD,
    PLAIN_EXTRA,
    STREAMED_ATTRIBUTES_FIELD,
    TIMES_FIELD,
    UNICODE_NAME_FIELD,
    ZIP64_FIELD,
    fields,
)
from tests.builders.zips import MARK32, Item, archive, extra
from tests.extract.zip_reading import MemoryFile
from tests.fuzz.zip_drafts import honest
from tests.fuzz.zips import LOCAL_FIELDS, NUMBERS, mutant

TIMES = extra(TIMES_FIELD, b"\1" + bytes(4)) + extra(0x7875, b"\1\4abcd\4efgh")
PLAIN = [Item(name=b"skill/%d.md" % number, content=b"text %d" % number) for number in range(3)]


def outcome(data: bytes, name_encoding: str | None = None) -> object:
    """Return everything that a listing says, or everything that its refusal says."""
    budgets = Budgets.default()
    container = ZipContainer(
        MemoryFile(data),
        bundle=budgets.meter("bundle"),
        archive=budgets.meter("archive"),
        name_encoding=name_encoding,
    )
    try:
        listed = container.list(lambda _amount, _path: None)
    except Rejected as rejected:
        return rejected.diagnostics
    columns = container._columns
    return listed, columns.start, columns.crc, columns.method, columns.scan, columns.links


class Counted:
    """Tells how many entries took the short way."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken = 0
        self.short = _Reader.repeated
        self._patch = monkeypatch

    def hold(self, data: bytes, name_encoding: str | None = None) -> object:
        """Read both ways; return what both say."""

        def counted(reader: _Reader, handle: int, at: int, offset: int) -> object:
            found = self.short(reader, handle, at, offset)
            self.taken += found is not None
            return found

        self._patch.setattr(_Reader, "repeated", counted)
        short = outcome(data, name_encoding)
        self._patch.setattr(_Reader, "repeated", lambda *_: None)
        assert short == outcome(data, name_encoding)
        return short


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


def test_all_but_the_first_of_one_shape_are_read_the_short_way(both: Counted) -> None:
    both.hold(archive(PLAIN))
    assert both.taken == 2


@pytest.mark.parametrize(
    "change", [{"method": 0}, {"mode": 0o100755}, {"mode": 0}, {"host": 0, "mode": 0, "dos": 0x20}]
)
def test_each_shape_is_looked_at_once(both: Counted, change: dict[str, int]) -> None:
    other = [replace(item, name=item.name + b"x", **change) for item in PLAIN]  # type: ignore[arg-type]  # fields of Item
    both.hold(archive([*PLAIN, *other]))
    assert both.taken == 4


def test_times_and_owners_do_not_stand_in_the_way(both: Counted) -> None:
    both.hold(archive([replace(item, local_extra=TIMES, central_extra=TIMES[:9]) for item in PLAIN]))
    assert both.taken == 2


@pytest.mark.parametrize(
    "change",
    [
        {"name": "skill/\xe4.md".encode()},
        {"name": b"skill/a.md;1"},
        {"name": b""},
        {"name": b"skill/sub/", "content": b"", "mode": 0o040755, "method": 0},
        {"comment": b"a comment"},
        {"streamed": True},
        {"wide": True},
        {"needed": 46},
        {"flags": 0x0001},
        {"flags": 0x0010},
        {"method": 12, "packed": b"x"},
        {"method": 0, "packed": b"shorter"},
        {"mode": 0o120777},
        {"mode": 0o010644},
        {"local_extra": extra(AES_FIELD, bytes(7))},
        {"central_extra": extra(AES_FIELD, bytes(7))},
        {"local_extra": extra(TIMES_FIELD, b"")},
        {"local_extra": b"UT"},
        {"local_extra": extra(0x7075, b"\2")},
    ],
)
def test_what_has_more_to_say_is_read_the_long_way(both: Counted, change: dict[str, bytes | int]) -> None:
    odd = replace(PLAIN[1], **change)  # type: ignore[arg-type]  # fields of Item
    both.hold(archive([PLAIN[0], odd, replace(odd, name=b"x" + odd.name)]))
    assert both.taken <= 1


STORED = [replace(item, method=0) for item in PLAIN]
BARE = [replace(item, host=0, mode=0) for item in STORED]
FLAGGED = [replace(item, flags=0x0800) for item in PLAIN]
COMMENTED = [replace(item, comment=b"word") for item in PLAIN]


@pytest.mark.parametrize(
    ("before", "odd"),
    [
        (BARE, replace(BARE[2], name=b"skill/sub/", content=b"")),
        (FLAGGED, replace(FLAGGED[2], name=b"skill/\xff")),
        (STORED, replace(STORED[2], local={"size": 99}, central={"size": 99})),
        (PLAIN, replace(PLAIN[2], local={"size": MARK32}, central={"size": MARK32})),
        (PLAIN, replace(PLAIN[2], local={"packed": MARK32}, central={"packed": MARK32})),
        (COMMENTED, replace(COMMENTED[2], comment=b"PK\5\6")),
    ],
    ids=["folder", "no-text", "stored-size", "size-in-zip64", "packed-in-zip64", "record-in-comment"],
)
def test_what_the_shape_does_not_say_is_looked_at_again(both: Counted, before: list[Item], odd: Item) -> None:
    both.hold(archive([*before[:2], odd]))
    assert both.taken == (0 if before is COMMENTED else 1)


@pytest.mark.parametrize("side", ["local", "central"])
@pytest.mark.parametrize("name", LOCAL_FIELDS)
def test_every_lie_behind_an_honest_entry_is_found_all_the_same(both: Counted, side: str, name: str) -> None:
    for at in (1, 2):
        for number in NUMBERS:
            items = list(PLAIN)
            bits = 32 if name in {"crc", "packed", "size"} else 16
            items[at] = replace(items[at], **{side: {name: number & (1 << bits) - 1}})  # type: ignore[arg-type]  # Item
            both.hold(archive(items))


def test_a_code_page_is_asked_for_every_name_without_the_flag(both: Counted) -> None:
    both.hold(archive(PLAIN), "cp437")
    assert both.taken == 0
    both.hold(archive([replace(item, flags=0x0800) for item in PLAIN]), "cp437")
    assert both.taken == 2


def test_entries_that_lie_far_apart_are_read_one_by_one(both: Counted) -> None:
    data = archive([Item(name=b"%d" % number, method=0, content=bytes(20_000)) for number in range(30)])
    source = MemoryFile(data)
    budgets = Budgets.default()
    ZipContainer(source, bundle=budgets.meter("bundle"), archive=budgets.meter("archive")).list(lambda *_: None)
    assert source.taken < 22 + 0xFFFF + len(data) // 4
    both.hold(data)
    assert both.taken == 29


def test_fuzzed_archives_say_the_same_both_ways(both: Counted) -> None:
    for seed in range(1_500):
        both.hold(mutant(Random(seed)))
    for seed in range(300):
        chance = Random(seed)
        draft = honest(chance)
        draft.order = None
        draft.items = [replace(item, name=item.name + b"%d" % at) for item in draft.items for at in range(3)]
        both.hold(draft.written())
    assert both.taken > 300


SPECIAL = {ZIP64_FIELD, UNICODE_NAME_FIELD, ASI_UNIX_FIELD, AES_FIELD, STREAMED_ATTRIBUTES_FIELD}


@settings(max_examples=200, deadline=None)
@given(st.from_regex(PLAIN_EXTRA, fullmatch=True))
def test_a_plain_extra_field_is_well_formed_and_decides_nothing(raw: bytes) -> None:
    pairs = fields(raw)
    assert pairs is not None
    assert SPECIAL.isdisjoint(tag for tag, _ in pairs)
    assert all(value for tag, value in pairs if tag == TIMES_FIELD)
