"""Contents: inflated, counted, and held to what the headers declare, whichever library inflates."""

from __future__ import annotations

import random
import struct
import tracemalloc
import zlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import BudgetExceeded
from importer.diagnostics import Rejected
from importer.extract import zip_data
from importer.extract.zip_container import ZipContainer
from importer.inflate import Backend, best_backend, zlib_backend, zlib_ng_backend
from tests.builders.zips import STORED, Item, archive, deflate, folder
from tests.extract.zip_reading import Collector, MemoryFile, as_entry, budgets, read, refused

BACKENDS = [backend for backend in (zlib_backend(), zlib_ng_backend()) if backend is not None]
A = Item(name=b"a.txt", content=b"alpha " * 20)
B = Item(name=b"b.txt", content=b"beta " * 20)
LARGE = bytes(random.Random(5).choices(b"abcdefgh \n", k=300_000))


@pytest.fixture(params=BACKENDS, ids=lambda backend: backend.name)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Backend:
    """Run the test with each library that inflates."""
    chosen: Backend = request.param
    monkeypatch.setattr(zip_data, "best_backend", lambda: chosen)
    return chosen


def test_the_fast_library_is_used_where_it_is_installed() -> None:
    assert best_backend().name == ("zlib" if zlib_ng_backend() is None else "zlib-ng")


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.parametrize(
    "size", [0, 1, 100, 65_535, 65_536, 131_071, 131_072, 131_073, 262_143, 262_144, 262_145, 262_400, 393_216, 700_001]
)
@pytest.mark.parametrize("kind", ["run", "text"])
def test_every_size_comes_out_whole(size: int, level: int, kind: str) -> None:
    """Sizes around the steps of the reader: a match may still be pending when all input was taken."""
    content = b"z" * size if kind == "run" else (LARGE * 3)[:size]
    item = replace(A, content=content, packed=deflate(content, level))
    reading = read(archive([item, B]), limits=budgets(bundle__ratio=2_000))
    assert reading.files["a.txt"] == content
    assert reading.charged.get("a.txt", 0) == size


@pytest.mark.usefixtures("backend")
@settings(max_examples=60, deadline=None)
@given(
    content=st.binary(max_size=400),
    repeat=st.integers(1, 2_000),
    level=st.integers(0, 9),
    strategy=st.sampled_from([zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED]),
)
def test_what_zlib_packs_comes_out_again(content: bytes, repeat: int, level: int, strategy: int) -> None:
    packer = zlib.compressobj(level, zlib.DEFLATED, -15, 8, strategy)
    whole = content * repeat
    packed = packer.compress(whole) + packer.flush()
    item = replace(A, content=whole, packed=packed)
    assert read(archive([item, B]), limits=budgets(bundle__ratio=2_000)).files["a.txt"] == whole


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("content", [A.content, LARGE], ids=["small", "large"])
def test_streams_that_do_not_end_where_they_should(content: bytes) -> None:
    good = replace(A, content=content)
    packed = good.data()
    for extra in (b"\0", b"x" * 9, deflate(b"more")):
        refused(archive([replace(good, packed=packed + extra), B]), says="its compressed stream ends after")
    for cut in (1, 2, len(packed) // 2):
        refused(archive([replace(good, packed=packed[:-cut]), B]), says="does not end within")
    refused(archive([replace(good, packed=b""), B]), says="does not end within")
    unfinished = zlib.compressobj(6, zlib.DEFLATED, -15)
    open_end = unfinished.compress(content) + unfinished.flush(zlib.Z_SYNC_FLUSH)
    refused(archive([replace(good, packed=open_end), B]), says="does not end within")


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("content", [A.content, LARGE], ids=["small", "large"])
def test_contents_of_another_size_than_declared(content: bytes) -> None:
    """Some readers cut at the declared size, some deliver everything, and none of these complains."""
    good = replace(A, content=content)
    for lie in (0, 10, len(content) - 1):
        cut: dict[str, int | bytes] = {"size": lie, "crc": zlib.crc32(content[:lie])}
        refused(archive([replace(good, local=cut, central=cut), B]), says=f"longer than the {lie:,} bytes")
    for lie in (len(content) + 1, 2_000_000):
        long: dict[str, int | bytes] = {"size": lie}
        found = refused(archive([replace(good, local=long, central=long), B]), says=f"declare {lie:,}")
        assert found.facts["delivered"] == len(content)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("content", [A.content, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("method", [0, 8], ids=["stored", "deflated"])
def test_contents_with_another_crc(content: bytes, method: int) -> None:
    wrong: dict[str, int | bytes] = {"crc": zlib.crc32(content) ^ 1}
    item = replace(A, content=content, method=method, local=wrong, central=wrong)
    found = refused(archive([item, B]), "archive-unreadable", says="its content has the CRC")
    assert found.path == "a.txt"
    refused(archive([B, item]), "archive-unreadable")


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    "packed", [b"\x07", b"\xff" * 20, b"\x01\x05\x00\x00\x00hello"], ids=["block", "ones", "stored"]
)
@pytest.mark.parametrize("size", [5, 300_000])
def test_broken_streams(packed: bytes, size: int) -> None:
    item = replace(A, content=b"x" * size, packed=packed)
    refused(archive([item, B]), "archive-unreadable", says="stream is broken")


def incomplete_code() -> bytes:
    """Return a stream of "aaa" whose literal code has two words of two bits and leaves half of the room unused."""
    bits: list[int] = []

    def number(value: int, width: int) -> None:
        bits.extend(value >> i & 1 for i in range(width))

    def word(code: str) -> None:
        bits.extend(map(int, code))

    number(1, 1)
    number(2, 2)
    number(0, 5)  # 257 literal and length codes
    number(0, 5)  # one distance code
    number(14, 4)  # 18 code length codes
    lengths = {18: 1, 0: 2, 2: 2}
    order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1]
    for symbol in order:
        number(lengths.get(symbol, 0), 3)
    zeros, zero, two = "0", "10", "11"
    for run in (97, None, 138, 20, None):
        word(two if run is None else zeros)
        if run is not None:
            number(run - 11, 7)
    word(zero)
    for code in ("00", "00", "00", "01"):
        word(code)
    bits.extend([0] * (-len(bits) % 8))
    return bytes(sum(bit << i for i, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8))


@pytest.mark.usefixtures("backend")
def test_a_stream_with_an_incomplete_code() -> None:
    """Lenient libraries read it, and zlib with most readers of archives refuses it."""
    with pytest.raises(zlib.error, match="invalid literal/lengths set"):
        zlib.decompress(incomplete_code(), -15)
    item = replace(A, content=b"aaa", packed=incomplete_code())
    refused(archive([item, B]), "archive-unreadable", says="stream is broken")


def test_a_file_that_is_shorter_than_it_was() -> None:

    for content in (A.content, LARGE):
        data = archive([replace(A, content=content, method=STORED)])
        file = MemoryFile(data)
        limits = budgets()
        container = ZipContainer(file, bundle=limits.meter("bundle"), archive=limits.meter("archive"))
        listed = container.list(lambda _amount, _path: None)
        file.data = data[:60]
        with pytest.raises(Rejected) as caught:
            container.deliver([as_entry(listed[0])], Collector(), lambda _amount, _path: None)
        assert caught.value.diagnostics[0].code == "archive-unreadable"


class Torn:
    """A file that lost the bytes from `start` to `stop` after its size was taken."""

    def __init__(self, data: bytes, start: int, stop: int) -> None:
        self.size = len(data)
        self._data = data
        self._start = start
        self._stop = stop

    def pread(self, size: int, offset: int, /) -> bytes:
        """Return what is left of the bytes there, as far as the hole."""
        end = offset + size if offset >= self._stop else min(self._start, offset + size)
        return self._data[offset:end]


def test_a_file_that_is_torn_at_any_place_is_refused() -> None:

    known: dict[str, int | bytes] = {"packed": 8, "size": len(A.content)}
    sealed = replace(A, name=b"sealed", method=12, packed=b"whatever", streamed=True, local=known)
    data = archive([sealed, A, replace(B, streamed=True, local_extra=b"\xfe\xca\0\0")], end64={})
    limits = budgets()
    directory = data.index(b"PK\x01\x02")
    for stop in (directory, len(data)):
        for start in range(stop):
            file = Torn(data, start, stop)
            container = ZipContainer(file, bundle=limits.meter("bundle"), archive=limits.meter("archive"))

            def everything(container: ZipContainer = container) -> None:
                container.list(lambda _amount, _path: None)
                container.verify_rest(lambda _amount, _path: None)

            with pytest.raises(Rejected):
                everything()


class Flickering(MemoryFile):
    """A file that can be read from other bytes once."""

    once: bytes | None = None

    def pread(self, size: int, offset: int, /) -> bytes:
        """Return the bytes there."""
        other, self.once = self.once, None
        return super().pread(size, offset) if other is None else other[offset : offset + size]


def test_a_file_that_is_read_differently_once_is_refused() -> None:

    data = archive([A, B])
    start = data.index(A.data())
    file = Flickering(data)
    limits = budgets()
    container = ZipContainer(file, bundle=limits.meter("bundle"), archive=limits.meter("archive"))
    container.list(lambda _amount, _path: None)
    file.once = data[:start] + b"\x07" + data[start + 1 :]
    with pytest.raises(Rejected, match="stream is broken"):
        container.verify_rest(lambda _amount, _path: None)


# --- bombs and budgets -----------------------------------------------------------------------------------------------


def test_a_ratio_at_its_limit_and_over_it() -> None:
    for size in (40_000, 400_000):
        content = b"\0" * size
        item = replace(A, content=content)
        ratio = -(-size // len(item.data()))
        assert read(archive([item]), limits=budgets(bundle__ratio=ratio)).files == {"a.txt": content}
        with pytest.raises(BudgetExceeded) as caught:
            read(archive([item]), limits=budgets(bundle__ratio=ratio - 1), label="in.zip")
        assert caught.value.limit == "ratio"
        assert caught.value.path == "in.zip!/a.txt"


def test_a_ratio_that_was_exceeded_once_is_exceeded_again() -> None:
    """Archives of one import share a meter, and the next one is not let through because the first was worse."""

    limits = budgets(bundle__ratio=50)
    bundle = limits.meter("bundle")
    for size in (100_000, 50_000):
        data = archive([replace(A, content=b"\0" * size)])
        container = ZipContainer(MemoryFile(data), bundle=bundle, archive=limits.meter("archive"))
        container.list(lambda _amount, _path: None)
        with pytest.raises(BudgetExceeded):
            container.verify_rest(lambda _amount, _path: None)


def test_a_bomb_stops_at_the_budget_and_not_after_it() -> None:
    bomb = replace(A, content=b"\0" * 8_000_000)
    for limits, limit in (
        (budgets(bundle__bytes=500_000, bundle__ratio=2_000), "bytes"),
        (budgets(bundle__stream_bytes=500_000, bundle__ratio=2_000), "stream_bytes"),
        (budgets(bundle__ratio=50), "ratio"),
    ):
        with pytest.raises(BudgetExceeded) as caught:
            read(archive([bomb]), limits=limits)
        assert (caught.value.limit, caught.value.path) == (limit, "a.txt")
        assert caught.value.used <= max(50, 500_000) + 128 * 1024


def test_a_bomb_that_declares_little_stops_there() -> None:
    small: dict[str, int | bytes] = {"size": 10, "crc": zlib.crc32(b"\0" * 10)}
    data = archive([replace(A, content=b"\0" * 8_000_000, local=small, central=small)])
    refused(data, says="longer than the 10 bytes")


def test_memory_stays_flat() -> None:
    data = archive([replace(A, content=b"0123456789abcdef" * (2 << 20)), replace(B, content=b"x", method=STORED)])

    limits = budgets(bundle__ratio=2_000)
    container = ZipContainer(MemoryFile(data), bundle=limits.meter("bundle"), archive=limits.meter("archive"))
    tracemalloc.start()
    try:
        container.list(lambda _amount, _path: None)
        container.verify_rest(lambda _amount, _path: None)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


def test_everything_inflated_is_charged_once() -> None:
    items = [folder(), A, replace(B, content=LARGE), Item(name=b"link", content=b"a.txt", mode=0o120777)]
    reading = read(archive(items))
    assert reading.bundle.used("bytes") == len(A.content) + len(LARGE)
    assert reading.bundle.used("stream_bytes") == len(A.content) + len(LARGE) + len(b"a.txt")
    assert reading.bundle.used("entries") == 4
    assert reading.charged == {"a.txt": len(A.content), "b.txt": len(LARGE)}


class Hollow:
    """A file of any size, of zeros but for its last bytes."""

    def __init__(self, size: int, tail: bytes) -> None:
        self.size = size
        self._tail = tail
        self.taken = 0

    def pread(self, size: int, offset: int, /) -> bytes:
        """Return up to `size` bytes from `offset`."""
        self.taken += size
        hollow = self.size - len(self._tail)
        zeros = b"\0" * max(0, min(size, hollow - offset))
        start = max(0, offset - hollow)
        return zeros + self._tail[start : start + size - len(zeros)]


@pytest.mark.parametrize(("entries", "limit"), [(32_768, "directory_bytes"), (32_769, "entries"), (65_534, "entries")])
def test_a_huge_directory_costs_nothing(entries: int, limit: str) -> None:

    size = 256 << 20
    tail = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, entries, entries, size - 22, 0, 0)
    file = Hollow(size, tail)
    limits = budgets()
    bundle = limits.meter("bundle")
    container = ZipContainer(file, bundle=bundle, archive=limits.meter("archive"))
    with pytest.raises(BudgetExceeded) as caught:
        container.list(lambda amount, path: bundle.charge("entries", amount, path))
    assert caught.value.limit == limit
    assert file.taken < 200_000


def test_an_entry_count_at_its_limit_and_over_it() -> None:
    items = [replace(A, name=f"{n}".encode()) for n in range(12)]
    assert len(read(archive(items), limits=budgets(bundle__entries=12)).listed) == 12
    with pytest.raises(BudgetExceeded) as caught:
        read(archive(items), limits=budgets(bundle__entries=11))
    assert (caught.value.limit, caught.value.used, caught.value.max) == ("entries", 12, 11)
    data = archive(items)
    (size,) = struct.unpack_from("<I", data, len(data) - 10)
    assert len(read(data, limits=budgets(archive__directory_bytes=size)).listed) == 12
    with pytest.raises(BudgetExceeded):
        read(data, limits=budgets(archive__directory_bytes=size - 1))


@pytest.mark.parametrize("claim", [1 << 40, (1 << 64) - 1])
def test_a_claim_that_no_file_could_keep(claim: int) -> None:
    refused(archive([A], end64={"entries": claim, "here": claim}))
    refused(archive([A], end64={"size": claim}))
    refused(archive([A], end64={"offset": claim}))
