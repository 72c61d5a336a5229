"""Staged files: hashed and looked at as they pass, kept in packs, found changed when they were changed."""

from __future__ import annotations

import gc
import hashlib
import os
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from importer.fs import DiskError
from importer.model import Entry
from importer.packs import GATHERING
from importer.paths import RelPath
from importer.staging import TREE, Part, StagedFolder


def entry(name: str, executable: bool | None = None) -> Entry:
    """Return an entry of some container."""
    return Entry(path=RelPath.parse(name), size=0, packed=0, executable=executable, handle=0)


def deliver(
    staged: StagedFolder, name: str, *parts: bytes | memoryview, executable: bool | None = None, folder: str = "s"
) -> None:
    """Place and deliver one file."""
    item = entry(name, executable)
    staged.place(item, folder, RelPath.parse(name))
    sink = staged.begin(item)
    assert sink is not None
    for part in parts:
        sink.write(part)
    sink.done()


def unpacked(staged: StagedFolder, folder: str = "s") -> Path:
    """Make files of a folder, whole and unchanged, and return where."""
    assert staged.unpack([Part(folder, staged.records(folder))]) == ()
    return staged.root / TREE / folder


def deflate(data: bytes) -> bytes:
    """Return one raw Deflate stream."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.fixture
def staged(tmp_path: Path) -> StagedFolder:
    """Return an empty staging folder that nobody made yet."""
    return StagedFolder(tmp_path / "staged")


def test_what_was_not_placed_goes_nowhere(staged: StagedFolder) -> None:
    assert staged.begin(entry("a")) is None
    assert not staged.root.exists()


def test_files_arrive_and_are_recorded_in_the_order_of_their_bytes(staged: StagedFolder) -> None:
    for name in ("ä", "zz", "aa", "b/c/d", "b/c.d"):
        deliver(staged, name, name.encode(), b"!")
    records = staged.records("s")
    assert [record.path.text for record in records] == ["aa", "b/c.d", "b/c/d", "zz", "ä"]
    base = unpacked(staged)
    for record in records:
        data = (base / record.path.text).read_bytes()
        assert data == record.path.text.encode() + b"!"
        assert (record.size, record.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert staged.records("other") == ()
    assert staged.root.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("data", "known", "executable"),
    [
        (b"#!/bin/sh\n", None, True),
        (b"#!/bin/sh\n", False, False),
        (b"#!/bin/sh\n", True, True),
        (b"text", None, False),
        (b"text", True, True),
        (b"", None, False),
    ],
)
def test_the_executable_bit_is_the_sources_or_the_shebangs(
    data: bytes, known: bool | None, executable: bool, staged: StagedFolder
) -> None:
    deliver(staged, "f", *(data[i : i + 1] for i in range(len(data))), executable=known)
    (record,) = staged.records("s")
    assert (record.executable, record.mode_known) == (executable, known is not None)
    assert record.shebang == data.startswith(b"#!")
    assert bool((unpacked(staged) / "f").stat().st_mode & 0o100) == executable
    # Plain text is not worth a mention.
    assert ("f" in staged.inspections("s")) == record.shebang


def test_two_equal_entries_of_two_containers_are_two(staged: StagedFolder) -> None:
    one, two = entry("f"), entry("f")
    assert one == two
    staged.place(one, "first", RelPath("f"))
    staged.place(two, "second", RelPath("f"))
    for item, data in ((one, b"1"), (two, b"2")):
        sink = staged.begin(item)
        assert sink is not None
        sink.write(data)
        sink.done()
    assert (unpacked(staged, "first") / "f").read_bytes() == b"1"
    assert (unpacked(staged, "second") / "f").read_bytes() == b"2"


def test_a_file_is_made_once(staged: StagedFolder) -> None:
    deliver(staged, "f", b"1")
    deliver(staged, "f", b"1")
    with pytest.raises(FileExistsError):
        unpacked(staged)


def test_what_an_earlier_try_left_is_removed_and_never_followed(staged: StagedFolder, tmp_path: Path) -> None:
    deliver(staged, "f", b"1")
    deliver(staged, "d/g", b"2")
    base = unpacked(staged)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/f").write_text("keep")
    (base / "left").write_text("over")
    for name in ("f", "d/g"):
        (base / name).unlink()
    (base / "f").symlink_to(tmp_path / "outside/f")
    (base / "d").rmdir()
    (base / "d").symlink_to(tmp_path / "outside")
    staged.seal()
    again = StagedFolder(staged.root)
    assert again.unpack([Part("s", staged.records("s"))]) == ()
    assert again.unpack([Part("s", staged.records("s"))]) == ()
    assert sorted(path.relative_to(base).as_posix() for path in base.rglob("*")) == ["d", "d/g", "f"]
    assert not (base / "d").is_symlink()
    assert (tmp_path / "outside/f").read_text() == "keep"
    assert os.listdir(tmp_path / "outside") == ["f"]
    # The folder of all of them may be a link just as well.
    base.parent.rename(tmp_path / "moved")
    base.parent.symlink_to(tmp_path / "outside")
    assert again.unpack([Part("s", staged.records("s"))]) == ()
    assert not base.parent.is_symlink()
    assert os.listdir(tmp_path / "outside") == ["f"]
    again.close()


def test_a_staging_folder_without_files_unpacks_nothing(staged: StagedFolder) -> None:
    deliver(staged, "f", b"1")
    assert staged.unpack([Part("s", staged.records("s"), wanted=False)]) == ()
    assert not (staged.root / TREE).exists()
    assert staged.unpack([]) == ()


def test_what_was_broken_off_is_not_recorded_and_holds_nothing_open(staged: StagedFolder) -> None:
    item = entry("f")
    staged.place(item, "s", RelPath("f"))
    before = len(os.listdir("/proc/self/fd"))
    sink = staged.begin(item)
    assert sink is not None
    sink.write(b"half")
    deliver(staged, "g", b"whole")
    staged.close()
    assert [record.path.text for record in staged.records("s")] == ["g"]
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("size", [4, 400_000])
@pytest.mark.parametrize("reopened", [False, True])
def test_a_file_that_is_broken_off_takes_no_other_with_it(size: int, reopened: bool, staged: StagedFolder) -> None:
    deliver(staged, "before", b"1")
    item = entry("f")
    staged.place(item, "s", RelPath("f"))
    sink = staged.begin(item)
    assert sink is not None
    sink.write(b"x" * size)
    sink.write(b"gathered")
    deliver(staged, "after", b"2")
    assert staged.read("s", RelPath("before"), 9) == b"1"
    staged.seal()
    chosen = StagedFolder(staged.root) if reopened else staged
    assert chosen.unpack([Part("s", staged.records("s"))]) == ()
    base = staged.root / TREE / "s"
    assert {path.name: path.read_bytes() for path in base.iterdir()} == {"before": b"1", "after": b"2"}
    chosen.close()
    staged.close()


def test_files_that_come_side_by_side_gather_in_a_few_packs_only(staged: StagedFolder) -> None:
    sinks = []
    for number in range(GATHERING + 20):
        item = entry(f"f{number}")
        staged.place(item, "s", item.path)
        sink = staged.begin(item)
        assert sink is not None
        sink.write(b"x" * 50_000)
        sinks.append(sink)
    sizes = [(staged.root / f"pack-{number}").stat().st_size for number in range(len(sinks))]
    assert sizes == [0] * GATHERING + [50_000] * 20
    for sink in sinks:
        sink.write(b"y")
        sink.done()
    assert {record.size for record in staged.records("s")} == {50_001}
    assert (unpacked(staged) / "f27").read_bytes() == b"x" * 50_000 + b"y"
    staged.close()


def test_many_threads_deliver_at_once(staged: StagedFolder) -> None:
    items = [entry(f"d{n % 7}/e{n % 3}/f{n}") for n in range(400)]
    for item in items:
        staged.place(item, "s", item.path)

    def one(item: Entry) -> None:
        sink = staged.begin(item)
        assert sink is not None
        sink.write(item.path.text.encode())
        sink.done()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, items))
    records = staged.records("s")
    assert len(records) == 400
    base = unpacked(staged)
    assert all((base / item.path.text).read_text() == item.path.text for item in items)


def test_reading_is_bounded_and_by_record(staged: StagedFolder) -> None:
    deliver(staged, "f", b"0123456789")
    assert staged.read("s", RelPath("f"), 4) == b"0123"
    assert staged.read("s", RelPath("f"), 99) == b"0123456789"
    assert staged.read("s", RelPath("f"), 0) == b""
    for folder, name in (("s", "g"), ("t", "f")):
        with pytest.raises(KeyError):
            staged.read(folder, RelPath(name), 4)


CONTENT = st.one_of(
    st.binary(max_size=300),
    st.builds(lambda part, times: part * times, st.binary(min_size=1, max_size=40), st.integers(1, 30_000)),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.lists(st.tuples(CONTENT, st.sampled_from(["write", "take", "packed", "take packed"])), max_size=8),
    piece=st.integers(1, 300_000),
    limit=st.integers(0, 100_000),
    reopened=st.booleans(),
)
def test_whatever_comes_is_read_and_unpacked_as_it_came(
    files: list[tuple[bytes, str]], piece: int, limit: int, reopened: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    staged = StagedFolder(tmp_path_factory.mktemp("t") / "staged")
    for number, (data, way) in enumerate(files):
        item = entry(f"d{number % 3}/f{number}")
        staged.place(item, "s", item.path)
        stream = deflate(data)
        if way.startswith("take"):
            staged.take(item, memoryview(data), stream if "packed" in way else None)
            continue
        sink = staged.begin(item, deflated=way == "packed")
        assert sink is not None
        for at in range(0, len(data), piece):
            sink.write(data[at : at + piece])
        if way == "packed":
            for at in range(0, len(stream), piece):
                sink.packed(stream[at : at + piece])
        sink.done()
    records = staged.records("s")
    assert {record.path.text: record.sha256 for record in records} == {
        f"d{number % 3}/f{number}": hashlib.sha256(data).hexdigest() for number, (data, _) in enumerate(files)
    }
    for number, (data, _) in enumerate(files):
        assert staged.read("s", RelPath(f"d{number % 3}/f{number}"), limit) == data[:limit]
    chosen = staged
    if reopened:
        staged.seal()
        staged.close()
        chosen = StagedFolder(staged.root)
    assert chosen.unpack([Part("s", records)]) == ()
    for number, (data, _) in enumerate(files):
        assert (staged.root / TREE / f"s/d{number % 3}/f{number}").read_bytes() == data
    chosen.close()
    staged.close()


def test_a_file_that_is_taken_whole_is_seen_as_one_that_comes_in_pieces(staged: StagedFolder) -> None:
    contents = (
        *(b"", b"text\n", b"#!/bin/sh\n", b"a\0b", b"\x1b[2J", "h\u200bidden".encode(), b"\xff\xfe", b"\xef\xbb\xbfa"),
        *(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", b"\t\r\n\f", "\u00e4".encode()),
    )
    for number, data in enumerate(contents):
        deliver(staged, f"{number}", *(data[at : at + 1] for at in range(len(data))), folder="pieces")
        item = entry(f"{number}")
        staged.place(item, "whole", item.path)
        staged.take(item, data)
    assert staged.records("pieces") == staged.records("whole")
    assert staged.inspections("pieces") == staged.inspections("whole")
    assert len(staged.inspections("whole")) == 6


@pytest.mark.parametrize("deflated", [False, True])
def test_a_place_far_inside_a_large_file_is_told_by_its_line(deflated: bool, staged: StagedFolder) -> None:
    data = b"a plain line\n" * 40_000 + "hid\u200bden\n".encode() + b"a plain line\n" * 40_000
    item = entry("f")
    staged.place(item, "s", item.path)
    sink = staged.begin(item, deflated=deflated)
    assert sink is not None
    stream = deflate(data)
    for at in range(0, len(data), 100_000):
        sink.write(data[at : at + 100_000])
    if deflated:
        sink.packed(stream)
    sink.done()
    (place,) = staged.inspections("s")["f"].places
    assert (place.line, place.column) == (40_001, 4)
    assert (unpacked(staged) / "f").read_bytes() == data


def test_what_took_a_file_is_let_go_with_its_last_byte(staged: StagedFolder) -> None:
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        for number in range(50):
            deliver(staged, f"f{number}", b"a plain line\n" * 10_000, b"a plain line\n" * 10_001)
        assert tracemalloc.get_traced_memory()[0] < 2_000_000
    finally:
        tracemalloc.stop()
        gc.enable()


@pytest.mark.parametrize("count", [3, 90])
@pytest.mark.parametrize("deflated", [False, True])
@pytest.mark.parametrize("wanted", [False, True])
def test_every_kind_of_change_is_found(count: int, deflated: bool, wanted: bool, staged: StagedFolder) -> None:
    for number in range(count):
        item = entry(f"f{number}")
        data = b"%d abcabcabcabc" % number
        staged.place(item, "s", item.path)
        staged.take(item, data, deflate(data) if deflated else None)
    staged.seal()
    staged.close()
    records = staged.records("s")
    pack, index = staged.root / "pack-0", staged.root / "index"
    whole = pack.read_bytes()

    def differing() -> tuple[str, ...]:
        again = StagedFolder(staged.root)
        try:
            return again.unpack([Part("s", records, wanted)])
        finally:
            again.close()

    assert differing() == ()
    pack.write_bytes(whole[:1] + bytes([whole[1] ^ 1]) + whole[2:])
    assert differing() == ("s/f0",)
    pack.write_bytes(whole + b"x")
    assert differing() == ("pack-0",)
    pack.write_bytes(whole[:-1])
    assert differing() == ("pack-0",)
    pack.write_bytes(b"")
    assert differing() == ("pack-0",)
    pack.unlink()
    assert differing() == ("pack-0",)
    pack.write_bytes(whole)
    assert differing() == ()
    first, second, *rest = index.read_text().splitlines(keepends=True)
    index.write_text("".join([first, *rest]))
    assert differing() == ("s/f0",)
    # Another file's bytes; bytes and packs that are not there.
    for line in (rest[0].replace("s/f1", "s/f0"), f"0 {'9' * 18} 3 0 s/f0\n", "9 0 3 0 s/f0\n"):
        index.write_text("".join([first, line, *rest]))
        assert differing() == ("s/f0",)
    # A size that is another one, and lines of no form of ours.
    index.write_text("".join([f"{len(whole) + 1}\n", second, *rest]))
    assert differing() == ("pack-0",)
    for line in (
        "0 -1 3 0 s/f0\n",
        "0 x 3 0 s/f0\n",
        f"0 {'9' * 19} 3 0 s/f0\n",
        "s/f0\n",
        "\n",
        second[:-1],
        "0 0 1 0 ",
    ):
        index.write_text("".join([first, *rest, line]))
        assert differing() == ("index",)
    index.write_bytes(b"\xff\n")
    assert differing() == ("index",)
    index.unlink()
    assert differing() == ("index",)


@pytest.mark.parametrize("name", ["pack-0", "index"])
@pytest.mark.parametrize("kind", ["link", "loop", "endless", "pipe", "folder"])
def test_what_stands_in_place_of_a_pack_is_not_opened(name: str, kind: str, staged: StagedFolder) -> None:
    deliver(staged, "f", b"1")
    staged.seal()
    staged.close()
    place, elsewhere = staged.root / name, staged.root / "elsewhere"
    place.rename(elsewhere)
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to({"link": elsewhere, "loop": place, "endless": Path("/dev/zero")}[kind])
    again = StagedFolder(staged.root)
    assert again.unpack([Part("s", staged.records("s"))]) == (name,)
    assert not (staged.root / TREE).exists()
    again.close()


def test_an_index_of_one_endless_line_is_not_read_to_its_end(staged: StagedFolder) -> None:
    deliver(staged, "f", b"1")
    staged.seal()
    staged.close()
    with (staged.root / "index").open("a") as index:
        index.truncate(1 << 27)
    again = StagedFolder(staged.root)
    tracemalloc.start()
    try:
        assert again.unpack([Part("s", staged.records("s"))]) == ("index",)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()
    again.close()


@pytest.mark.parametrize("deflated", [False, True])
@pytest.mark.parametrize("change", ["short", "gone", "other"])
def test_a_pack_that_somebody_changed_is_an_error_of_the_machine(
    change: str, deflated: bool, staged: StagedFolder
) -> None:
    data = os.urandom(300_000)
    item = entry("f")
    staged.place(item, "s", item.path)
    staged.take(item, data, deflate(data) if deflated else None)
    pack = staged.root / "pack-0"
    if change == "short":
        os.truncate(pack, 1000)
    elif change == "gone":
        pack.unlink()
    elif deflated:
        pack.write_bytes(b"\xff" * pack.stat().st_size)
    else:
        # Stored bytes can be any: `unpack` compares them.
        return
    with pytest.raises(OSError, match="preview again") as caught:
        staged.read("s", item.path, 300_000)
    assert caught.value.filename == str(pack)


@pytest.mark.parametrize("deflated", [False, True])
def test_no_more_is_taken_out_than_the_record_says(deflated: bool, staged: StagedFolder) -> None:
    data = bytes(5_000_000)
    item = entry("f")
    staged.place(item, "s", item.path)
    staged.take(item, data, deflate(data) if deflated else None)
    (record,) = staged.records("s")
    assert staged.unpack([Part("s", [record._replace(size=10)])]) == ("s/f",)
    assert (staged.root / TREE / "s/f").stat().st_size <= 11


def test_a_spooled_file_is_private_and_goes_with_the_folder(staged: StagedFolder) -> None:
    file, path = staged.spool("inner.zip")
    with file:
        file.write(b"x" * 100_000)
        file.write(memoryview(b"yz"))
    assert path.read_bytes() == b"x" * 100_000 + b"yz"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.is_relative_to(staged.root)
    other, second = staged.spool("inner.zip")
    other.close()
    assert second != path
    staged.drop_spool()
    assert not path.exists()
    assert not second.exists()
    third, again = staged.spool("inner.zip")
    third.close()
    assert again.exists()


def test_a_full_disk_is_said_with_its_path(staged: StagedFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    item = entry("f")
    staged.place(item, "s", RelPath("f"))
    sink = staged.begin(item)
    assert sink is not None
    sink.write(b"gathered")

    def full(_descriptor: int, _data: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(DiskError) as caught:
        sink.write(b"x" * 300_000)
    assert (caught.value.code, str(staged.root) in caught.value.message) == ("disk-full", True)
    file, path = staged.spool("a")
    with pytest.raises(DiskError, match=str(path)):
        file.write(b"x" * 200_000)
    monkeypatch.undo()
    file.close()
    staged.close()


def test_short_writes_are_finished(staged: StagedFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:3]))
    deliver(staged, "f", b"0123456789", memoryview(b"abc"))
    staged.seal()
    monkeypatch.undo()
    assert (unpacked(staged) / "f").read_bytes() == b"0123456789abc"
