"""Compression methods and encryption: what cannot be read is said entry by entry, as long as its frame is certain."""

from __future__ import annotations

import os
import struct
import tracemalloc
from dataclasses import replace

import pytest

from budgets import BudgetExceeded
from importer.extract import deflate64, zip_rules
from tests.builders.zips import STORED, Item, archive, extra
from tests.extract.zip_reading import budgets, read, refused

A = Item(name=b"a.txt", content=b"alpha " * 20)
AES = extra(0x9901, struct.pack("<HHBH", 2, 0x4541, 3, 8))
SECRET = Item(name=b"secret.txt", content=b"ciphertext", flags=1)

METHODS = [
    (1, "Shrink"),
    (6, "Implode"),
    (12, "bzip2"),
    (14, "LZMA"),
    (93, "zstd"),
    (95, "XZ"),
    (98, "PPMd"),
    (21, "method 21"),
    (0x0108, "method 264"),
]


@pytest.mark.parametrize(("method", "name"), METHODS)
def test_a_method_that_is_not_read_is_a_fault_of_its_entry(method: int, name: str) -> None:
    packed = replace(A, name=b"packed.bin", method=method, packed=b"whatever", needed=63 if method > 10 else 20)
    reading = read(archive([A, packed]), label="inner.zip")
    fault = reading.entry("packed.bin").fault
    assert fault is not None
    assert fault.code == "archive-method-unsupported"
    assert name in fault.message
    assert fault.path == "inner.zip!/packed.bin"
    assert reading.files == {"a.txt": A.content}


def test_a_method_that_only_one_header_names() -> None:
    refused(archive([A, replace(A, name=b"b", local={"method": 12})]), says="the method")
    refused(archive([A, replace(A, name=b"b", central={"method": 93})]), says="the method")


def test_entries_with_a_fault_must_still_fit() -> None:
    packed = replace(A, name=b"packed.bin", method=12, packed=b"whatever")
    refused(archive([replace(packed, central={"packed": 3}, local={"packed": 3}), A]), says="between two entries")
    refused(archive([replace(packed, local={"crc": 3}), A]), says="the CRC")
    refused(archive([A, replace(packed, needed=64)]), says="version 6.4")


def test_a_streamed_entry_whose_end_only_its_method_tells() -> None:
    streamed = replace(A, name=b"packed.bin", method=12, packed=b"whatever", streamed=True)
    found = refused(archive([streamed, A]), "archive-method-unsupported", says="only decoding it would tell")
    assert "bzip2" in found.message
    known: dict[str, int | bytes] = {"packed": 8, "size": len(A.content)}
    assert read(archive([replace(streamed, local=known), A])).entry("packed.bin").fault is not None
    hidden = replace(streamed, local={**known, "packed": 14}, packed=b"wha" + b"PK\x07\x08" + b"tevever")
    refused(archive([hidden, A]), says="its data holds a zip record")


@pytest.mark.parametrize("flags", [1, 0x41, 0x2001])
def test_an_encrypted_entry_is_a_fault_of_its_own(flags: int) -> None:
    reading = read(archive([A, replace(SECRET, flags=flags)]))
    fault = reading.entry("secret.txt").fault
    assert fault is not None
    assert fault.code == "archive-encrypted"
    assert "password" in fault.message
    assert reading.files == {"a.txt": A.content}


def test_an_encrypted_stored_entry_is_longer_than_its_content() -> None:
    sealed = replace(SECRET, method=STORED, packed=b"twelve bytes" + SECRET.content)
    assert read(archive([sealed, A])).entry("secret.txt").fault is not None


def test_aes_is_encryption() -> None:
    sealed = replace(SECRET, method=99, packed=b"x" * 40, local_extra=AES, central_extra=AES, needed=51)
    fault = read(archive([sealed, A])).entry("secret.txt").fault
    assert fault is not None
    assert fault.code == "archive-encrypted"


@pytest.mark.parametrize("flag", [0x0001, 0x0040, 0x2000])
@pytest.mark.parametrize("side", ["local", "central"])
@pytest.mark.parametrize("position", [0, 1])
def test_encryption_that_only_one_header_tells_of(flag: int, side: str, position: int) -> None:
    lie = {"flags": flag}
    items = [A, replace(A, name=b"b.txt")]
    items[position] = replace(items[position], **{side: lie})  # type: ignore[arg-type] # a field of Item
    refused(archive(items), "archive-encrypted", says="only one of its two headers")


@pytest.mark.parametrize(
    "lie",
    [
        {"local_extra": AES},
        {"central_extra": AES},
        {"local": {"method": 99}},
        {"central": {"method": 99}},
    ],
)
def test_aes_that_only_one_header_tells_of(lie: dict[str, object]) -> None:
    refused(archive([A, replace(A, name=b"b.txt", **lie)]), "archive-encrypted")  # type: ignore[arg-type] # fields of Item


def test_an_encrypted_stream_refuses_the_archive() -> None:
    streamed = replace(SECRET, streamed=True)
    refused(archive([streamed, A]), "archive-encrypted", says="only decoding it would tell")
    refused(archive([replace(streamed, local={"crc": 0xBEBD0000}), A]), "archive-encrypted", says="its CRC")
    known: dict[str, int | bytes] = {"packed": len(SECRET.data()), "size": len(SECRET.content)}
    assert read(archive([replace(streamed, local=known), A])).entry("secret.txt").fault is not None


# --- Deflate64 -------------------------------------------------------------------------------------------------------


def stored_blocks(content: bytes) -> bytes:
    """Return a stream of stored blocks, which Deflate and Deflate64 have in common."""
    out = b""
    for at in range(0, len(content) or 1, 0xFFFF):
        block = content[at : at + 0xFFFF]
        last = at + 0xFFFF >= len(content)
        out += bytes([last]) + struct.pack("<HH", len(block), len(block) ^ 0xFFFF) + block
    return out


OLD = replace(A, name=b"old.txt", method=9, needed=21, packed=stored_blocks(A.content))


def test_deflate64_without_the_extra_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_rules, "deflate64_inflater", lambda: None)
    fault = read(archive([A, OLD])).entry("old.txt").fault
    assert fault is not None
    assert fault.code == "archive-method-unsupported"
    assert "pip install 'agent-package-importer[deflate64]'" in fault.message
    assert "Deflate64" in fault.message


@pytest.fixture
def deflate64_extra() -> None:
    """Skip without the extra, and fail where `CI` is "true"."""
    if deflate64.deflate64_inflater() is None:
        message = "the extra deflate64 is not installed: reading Deflate64 was NOT tested"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)


@pytest.mark.usefixtures("deflate64_extra")
@pytest.mark.parametrize("size", [0, 1, 100, 70_000, 300_000])
def test_deflate64_is_read(size: int) -> None:
    content = bytes(i * 7 & 0xFF for i in range(size))
    item = replace(OLD, content=content, packed=stored_blocks(content))
    assert read(archive([A, item])).files["old.txt"] == content
    assert read(archive([replace(item, streamed=True), A])).files["old.txt"] == content


@pytest.mark.usefixtures("deflate64_extra")
def test_deflate64_streams_that_lie() -> None:
    refused(archive([replace(OLD, packed=OLD.data() + b"x"), A]), says="ends after")
    refused(archive([replace(OLD, packed=OLD.data() + b"x" * 200), A]), says="ends after")
    refused(archive([replace(OLD, packed=OLD.data()[:-1]), A]), says="does not end within")
    refused(archive([replace(OLD, packed=b""), A]), says="does not end within")
    refused(archive([replace(OLD, packed=b"\x07" * 30), A]), "archive-unreadable", says="stream is broken")
    refused(archive([replace(OLD, packed=stored_blocks(A.content + b"x")), A]), says="longer than the")
    refused(archive([replace(OLD, packed=stored_blocks(A.content[1:])), A]), says="its content has 119 bytes")
    refused(archive([replace(OLD, packed=stored_blocks(A.content[::-1])), A]), "archive-unreadable", says="CRC")


def long_matches(count: int) -> bytes:
    """Return a stream of one "a" and `count` matches of 65,538 bytes each: 29 bits for every one of them."""
    bits = [1, 1, 0]  # the last block, with the fixed code
    bits += map(int, f"{0x30 + ord('a'):08b}")
    for _ in range(count):
        bits += map(int, f"{0xC0 + 285 - 280:08b}")
        bits += [1] * 16
        bits += [0] * 5
    bits += [0] * 7
    bits += [0] * (-len(bits) % 8)
    return bytes(sum(bit << i for i, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8))


@pytest.mark.usefixtures("deflate64_extra")
def test_a_deflate64_bomb_stops_in_bounded_memory() -> None:
    """One match is as long as 65,538 bytes, and the library gives out all that its input becomes."""
    content = b"a" * (1 + 65_538 * 300)
    bomb = replace(OLD, content=content, packed=long_matches(300))
    data = archive([bomb])
    assert read(data, limits=budgets(bundle__ratio=100_000)).files["old.txt"] == content
    tracemalloc.start()
    try:
        with pytest.raises(BudgetExceeded) as caught:
            read(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.limit == "ratio"
    assert peak < 8_000_000
