"""Staged files: written once, hashed and looked at as they pass, found changed when they were changed."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from importer.fs import DiskError
from importer.model import Entry
from importer.paths import RelPath
from importer.staging import StagedFolder


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
    for record in records:
        data = (staged.root / "s" / record.path.text).read_bytes()
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
    assert bool((staged.root / "s/f").stat().st_mode & 0o100) == executable
    # Plain text is not worth a mention.
    assert ("f" in staged.inspections("s")) == record.shebang
    assert staged.rehash("s", (record,)) == ()


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
    assert (staged.root / "first/f").read_bytes() == b"1"
    assert (staged.root / "second/f").read_bytes() == b"2"


def test_a_file_is_created_and_never_opened_again(staged: StagedFolder, tmp_path: Path) -> None:
    deliver(staged, "f", b"1")
    again = entry("f")
    staged.place(again, "s", RelPath("f"))
    with pytest.raises(FileExistsError):
        staged.begin(again)
    (tmp_path / "outside").write_text("keep")
    (staged.root / "s/link").symlink_to(tmp_path / "outside")
    linked = entry("link")
    staged.place(linked, "s", RelPath("link"))
    with pytest.raises(FileExistsError):
        staged.begin(linked)
    assert (tmp_path / "outside").read_text() == "keep"


def test_what_was_broken_off_is_not_recorded_and_holds_nothing_open(staged: StagedFolder) -> None:
    item = entry("f")
    staged.place(item, "s", RelPath("f"))
    before = len(os.listdir("/proc/self/fd"))
    sink = staged.begin(item)
    assert sink is not None
    sink.write(b"half")
    staged.close()
    assert staged.records("s") == ()
    assert len(os.listdir("/proc/self/fd")) == before


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
    assert staged.rehash("s", records) == ()


def test_reading_is_bounded_and_by_record(staged: StagedFolder) -> None:
    deliver(staged, "f", b"0123456789")
    assert staged.read("s", RelPath("f"), 4) == b"0123"
    assert staged.read("s", RelPath("f"), 99) == b"0123456789"
    assert staged.read("s", RelPath("f"), 0) == b""
    for folder, name in (("s", "g"), ("t", "f")):
        with pytest.raises(KeyError):
            staged.read(folder, RelPath(name), 4)


@pytest.mark.parametrize("count", [3, 60])
def test_rehash_finds_every_kind_of_change(count: int, staged: StagedFolder) -> None:
    for number in range(count):
        deliver(staged, f"f{number}", b"%d" % number)
    deliver(staged, "sub/same-size", b"abc")
    deliver(staged, "sub/longer", b"abc")
    deliver(staged, "sub/bit", b"abc")
    deliver(staged, "sub/gone", b"abc")
    deliver(staged, "sub/link", b"abc")
    deliver(staged, "sub/folder", b"abc")
    records = staged.records("s")
    assert staged.rehash("s", records) == ()
    base = staged.root / "s/sub"
    status = (base / "same-size").stat()
    (base / "same-size").write_bytes(b"abd")
    os.utime(base / "same-size", ns=(status.st_atime_ns, status.st_mtime_ns))
    (base / "longer").write_bytes(b"abcd")
    (base / "bit").chmod(0o755)
    (base / "gone").unlink()
    (base / "link").unlink()
    (base / "link").symlink_to("bit")
    (base / "folder").unlink()
    (base / "folder").mkdir()
    (base / "extra").write_bytes(b"")
    (base / "pipe").unlink(missing_ok=True)
    os.mkfifo(base / "pipe")
    assert staged.rehash("s", records) == (
        "sub/bit",
        "sub/extra",
        "sub/folder",
        "sub/gone",
        "sub/link",
        "sub/longer",
        "sub/pipe",
        "sub/same-size",
    )
    assert len(staged.rehash("nowhere", records)) == len(records)


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

    def full(_descriptor: int, _data: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(DiskError) as caught:
        sink.write(b"x")
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
    monkeypatch.undo()
    assert (staged.root / "s/f").read_bytes() == b"0123456789abc"
