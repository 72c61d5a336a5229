"""Gzip streams: one member, whole, and alone."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import BudgetExceeded
from importer.diagnostics import Rejected
from importer.extract.gzip_stream import MAX_PADDING, RATIO_FROM, GzipReader, looks_like_gzip, spool_gzip
from tests.builders.containers import Forward, Memory, meter, nothing, refusal
from tests.builders.tars import gz

DATA = b"some text, " * 2000
GOOD = gz(DATA)
EXTRA, NAME, COMMENT, HEADER_CRC = 4, 8, 16, 2


def inflated(data: bytes, **limits: int) -> bytes:
    out = bytearray()
    spool_gzip(Memory(data), out.extend, bundle=meter("bundle", **limits))
    return bytes(out)


def header_crc(flags: int, fields: bytes) -> bytes:
    return (zlib.crc32(b"\x1f\x8b\x08" + bytes([flags]) + bytes(5) + b"\x03" + fields) & 0xFFFF).to_bytes(2, "little")


FIELDS = b"\x03\x00abc" + b"name.tar\0" + b"a comment\0"
ALL = EXTRA | NAME | COMMENT | HEADER_CRC
ACCEPTED = {
    "plain": GOOD,
    "name": gz(DATA, flags=NAME, fields=b"x.tar\0"),
    "empty name": gz(DATA, flags=NAME, fields=b"\0"),
    "every field": gz(DATA, flags=ALL, fields=FIELDS + header_crc(ALL, FIELDS)),
    "an extra field of 60 KB": gz(DATA, flags=EXTRA, fields=b"\x60\xea" + bytes(60000)),
    "zeros to a whole block": GOOD + bytes(10240),
    "written by Python": gzip.compress(DATA),
    "stored blocks": gzip.compress(DATA, 0),
}
REFUSED = {
    "nothing": (b"", "archive-unreadable"),
    "half a header": (GOOD[:5], "archive-unreadable"),
    "no gzip": (b"PK\x03\x04" + bytes(100), "archive-unreadable"),
    "another magic": (b"\x1f\x8c" + GOOD[2:], "archive-unreadable"),
    "another method": (gz(DATA, method=7), "archive-unreadable"),
    "a flag that nobody may set": (gz(DATA, flags=0x20), "archive-unreadable"),
    "a wrong header checksum": (gz(DATA, flags=HEADER_CRC, fields=b"\0\0"), "archive-unreadable"),
    "a name without an end": (gz(b"", flags=NAME)[:10] + b"x" * 50, "archive-unreadable"),
    "a name without an end in sight": (gz(b"", flags=NAME)[:10] + b"x" * 400_000, "archive-unreadable"),
    "a name of 70 KB": (gz(DATA, flags=NAME, fields=b"x" * 70_000 + b"\0"), "archive-unreadable"),
    "a wrong checksum": (gz(DATA, crc=1), "archive-unreadable"),
    "a wrong length": (gz(DATA, size=len(DATA) + 1), "archive-unreadable"),
    "data that is cut": (GOOD[: len(GOOD) // 2], "archive-unreadable"),
    "an end that is cut": (GOOD[:-1], "archive-unreadable"),
    "no end": (GOOD[:-8], "archive-unreadable"),
    "damaged data": (gz(DATA, body=b"\xff" * 40), "archive-unreadable"),
    "a second member": (GOOD + GOOD, "archive-ambiguous"),
    "an empty second member": (GOOD + gz(b""), "archive-ambiguous"),
    "a second member behind zeros": (GOOD + bytes(512) + GOOD, "archive-ambiguous"),
    "something after the end": (gz(DATA, after=b"x"), "archive-ambiguous"),
    "a zip after the end": (gz(DATA, after=b"PK\x03\x04" + bytes(26)), "archive-ambiguous"),
    "more zeros than a block has": (GOOD + bytes(MAX_PADDING + 1), "archive-ambiguous"),
}


@pytest.mark.parametrize("data", ACCEPTED.values(), ids=ACCEPTED)
def test_what_honest_tools_write_is_inflated(data: bytes) -> None:
    assert inflated(data) == DATA
    assert looks_like_gzip(data)


@pytest.mark.parametrize(("data", "code"), REFUSED.values(), ids=REFUSED)
def test_everything_else_is_refused(data: bytes, code: str) -> None:
    assert refusal(lambda: inflated(data)) == [code]


def test_the_message_says_what_follows() -> None:
    for name, what in (
        ("a second member", "a second gzip member follows"),
        ("something after the end", "something follows"),
    ):
        with pytest.raises(Rejected, match=what):
            inflated(REFUSED[name][0])


def test_a_name_has_an_end_or_a_limit() -> None:
    exact = gz(DATA, flags=NAME, fields=b"x" * 65_536 + b"\0")
    assert inflated(exact) == DATA
    assert refusal(lambda: inflated(gz(DATA, flags=NAME, fields=b"x" * 65_537 + b"\0"))) == ["archive-unreadable"]
    source = Forward(gz(b"", flags=NAME)[:10] + b"x" * 400_000)
    assert refusal(lambda: GzipReader(source, nothing).read(1)) == ["archive-unreadable"]
    assert source.taken < 200_000


def test_exactly_at_the_limit_passes_and_nothing_over_it_is_handed_on() -> None:
    assert inflated(GOOD, stream_bytes=len(DATA)) == DATA
    out = bytearray()
    with pytest.raises(BudgetExceeded) as exceeded:
        spool_gzip(Memory(GOOD), out.extend, bundle=meter("bundle", stream_bytes=len(DATA) - 1))
    assert exceeded.value.limit == "stream_bytes"
    assert len(out) < len(DATA)


def test_a_bomb_stops_at_its_ratio() -> None:
    out = bytearray()
    with pytest.raises(BudgetExceeded) as exceeded:
        spool_gzip(Memory(gzip.compress(bytes(16 * RATIO_FROM))), out.extend, bundle=meter("bundle", ratio=100))
    assert exceeded.value.limit == "ratio"
    assert len(out) <= RATIO_FROM


def test_a_small_file_may_compress_to_nearly_nothing() -> None:
    assert len(inflated(gzip.compress(bytes(RATIO_FROM)), ratio=2)) == RATIO_FROM


def test_the_last_bytes_come_with_their_checks_made() -> None:
    reader = GzipReader(Forward(gz(b"abc", crc=0)), nothing)
    assert refusal(lambda: reader.read(100)) == ["archive-unreadable"]


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=3000), st.integers(min_value=1, max_value=500), st.integers(min_value=1, max_value=400))
def test_pieces_make_no_difference(data: bytes, piece: int, size: int) -> None:
    reader = GzipReader(Forward(gzip.compress(data), piece), nothing)
    out = b""
    while found := reader.read(size):
        assert len(found) <= size
        out += found
    assert out == data
    assert reader.read(size) == b""


@settings(max_examples=200, deadline=None)
@given(st.integers(min_value=0, max_value=len(GOOD) - 1), st.integers(min_value=0, max_value=255), st.booleans())
def test_damage_is_noticed_or_changes_nothing(at: int, value: int, cut: bool) -> None:
    changed = bytearray(GOOD)
    changed[at] = value
    data = bytes(changed[:at] if cut else changed)
    codes = refusal(lambda: inflated(data))
    if not codes:
        assert inflated(data) == DATA
