"""The compressor against zlib as an oracle, and its bytes against the ones that are promised."""

from __future__ import annotations

import hashlib
import random
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.exporters import deflate as module
from importer.exporters.deflate import BLOCK, deflate


def inflate(data: bytes) -> bytes:
    stream = zlib.decompressobj(-15)
    content = stream.decompress(data)
    assert stream.eof
    assert stream.unused_data == b""
    return content


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(st.binary(max_size=8), st.sampled_from([b"abcdabcd", b"\0" * 300, b"the same words "])), max_size=40
    )
)
def test_zlib_reads_it(chunks: list[bytes]) -> None:
    packed = deflate(chunks, 10**6)
    assert packed is not None
    assert inflate(packed) == b"".join(chunks)


def test_every_length_and_distance() -> None:
    choose = random.Random(1)
    noise = choose.randbytes(33_000)
    parts = [noise]
    for length in range(4, 262):
        start = choose.randrange(len(noise) - length)
        parts.append(noise[start : start + length] + choose.randbytes(3))
    for back in (1, 2, 3, 4, 5, 8, 9, 256, 257, 24_577, 32_767, 32_768, 32_769):
        text = choose.randbytes(back)
        parts.append(text + (text * 5)[:64])
    data = b"".join(parts)
    packed = deflate([data], len(data) * 2)
    assert packed is not None
    assert inflate(packed) == data


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK])
def test_blocks(size: int) -> None:
    data = (b"0123456789abcdef" * (size // 16 + 1))[:size]
    packed = deflate([data[:7], data[7:]], 10**6)
    assert packed is not None
    assert inflate(packed) == data
    assert len(packed) < size / 50 + 30


def test_not_worth_it() -> None:
    noise = random.Random(2).randbytes(5_000)
    assert deflate([noise], 5_000) is None
    assert deflate([noise * 5], 10_000) is not None


def test_the_bytes_are_these() -> None:
    """A promise: they may not change with Python, zlib or the machine."""
    choose = random.Random(3)
    data = b" ".join(choose.choice([b"alpha", b"beta", b"gamma", b"delta", b"\x90\xff"]) for _ in range(3_000))
    packed = deflate([data], len(data))
    assert packed is not None
    assert hashlib.sha256(packed).hexdigest() == "a40685c07d84767e4f35fc1d04f566c85c69f5d65fb313d62f9beaa0a8e49605"
    assert not hasattr(module, "zlib")
