"""The module that writes: whole files or none, removal that follows no link, errors with path and cause."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from importer import fs


def test_a_whole_file_appears_or_nothing(tmp_path: Path) -> None:
    target = tmp_path / "out.zip"

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fs.write_whole(str(target), broken(), replace=False)
    assert os.listdir(tmp_path) == []
    fs.write_whole(str(target), [b"a", b"b"], replace=False)
    assert target.read_bytes() == b"ab"
    with pytest.raises(fs.DiskError, match="something is there already") as caught:
        fs.write_whole(str(target), [b"c"], replace=False)
    assert str(target) in caught.value.message
    assert target.read_bytes() == b"ab"
    target.chmod(0o600)
    fs.write_whole(str(target), [b"c"], replace=True)
    assert target.read_bytes() == b"c"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["out.zip"]


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/config").write_text("old")
    (tmp_path / "link").symlink_to("real/config")
    fs.write_whole(str(tmp_path / "link"), [b"new"], replace=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real/config").read_text() == "new"
    assert os.listdir(tmp_path / "real") == ["config"]


def test_removal_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/keep").write_text("x")
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    (tree / "deep/link").symlink_to(tmp_path / "outside")
    (tree / "deep/file").write_text("x")
    (tree / "dangling").symlink_to("nowhere")
    (tree / "locked").mkdir()
    (tree / "locked/file").write_text("x")
    (tree / "locked").chmod(0o500)
    fs.remove_tree(str(tree))
    fs.remove_tree(str(tree))
    assert not tree.exists()
    assert (tmp_path / "outside/keep").exists()
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    fs.remove_tree(str(tmp_path / "link"))
    assert (tmp_path / "outside/keep").exists()


def test_a_copy_keeps_modes_times_and_links(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "d").mkdir(parents=True)
    (tree / "d/run").write_bytes(b"x" * (fs.CHUNK + 3))
    (tree / "d/run").chmod(0o4755)
    os.utime(tree / "d/run", ns=(1, 2_000_000_000))
    (tree / "link").symlink_to("d/run")
    (tree / "d").chmod(0o750)
    fs.copy_tree(str(tree), str(tmp_path / "copy"))
    copied = (tmp_path / "copy/d/run").stat()
    assert (stat.S_IMODE(copied.st_mode), copied.st_mtime_ns) == (0o755, 2_000_000_000)
    assert stat.S_IMODE((tmp_path / "copy/d").stat().st_mode) == 0o750
    assert os.readlink(tmp_path / "copy/link") == "d/run"
    assert (tmp_path / "copy/d/run").read_bytes() == (tree / "d/run").read_bytes()
    os.mkfifo(tree / "pipe")
    with pytest.raises(OSError, match="neither file"):
        fs.copy_tree(str(tree), str(tmp_path / "again"))


def test_folders_are_made_once_and_named(tmp_path: Path) -> None:
    made = fs.make_folders(str(tmp_path / "a/b/c"))
    assert made == [str(tmp_path / "a"), str(tmp_path / "a/b"), str(tmp_path / "a/b/c")]
    assert fs.make_folders(str(tmp_path / "a/b/c")) == []
    (tmp_path / "file").write_text("x")
    for path in ("file", "file/below"):
        with pytest.raises(OSError, match=str(tmp_path)):
            fs.make_folders(str(tmp_path / path))


def test_only_an_empty_folder_is_removed(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    assert not fs.remove_folder(str(tmp_path / "a"))
    assert fs.remove_folder(str(tmp_path / "a/b"))
    assert fs.remove_folder(str(tmp_path / "a"))
    assert fs.remove_folder(str(tmp_path / "a"))


@pytest.mark.parametrize("count", [3, 40])
def test_a_tree_is_synced_whole(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(count):
        (tmp_path / f"d{number % 3}").mkdir(exist_ok=True)
        (tmp_path / f"d{number % 3}/f{number}").write_text("x")
    fs.sync_tree(str(tmp_path))
    seen: list[str] = []
    monkeypatch.setattr(fs, "observer", lambda operation, path, _other: seen.append(f"{operation} {path}"))
    monkeypatch.setattr(fs, "_sync_file_system", lambda _path: False)
    fs.sync_tree(str(tmp_path))
    assert len([one for one in seen if one.startswith("fsync ")]) == count
    assert len([one for one in seen if one.startswith("fsync-folder ")]) == 1 + min(3, count)
    assert seen[-1] == f"fsync-folder {tmp_path}"


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "disk-full"),
        (errno.EDQUOT, "disk-full"),
        (errno.EFBIG, "disk-full"),
        (errno.EROFS, "disk-read-only"),
        (errno.EACCES, "disk-permission"),
        (errno.EPERM, "disk-permission"),
        (errno.EXDEV, "disk-other-system"),
        (errno.EBADF, "disk-failed"),
    ],
)
def test_an_error_is_said_with_path_and_cause(number: int, code: str) -> None:
    told = fs.explained(OSError(number, os.strerror(number), "/from", None, "/to\x1b[2J"), doing="move")
    assert (told.code, told.errno, told.path) == (code, number, "/to\x1b[2J")
    assert told.message.startswith("cannot move /to\\x1b[2J: ")
    assert fs.explained(told) is told
    assert (fs.explained(told, "/other").path, fs.explained(told, "/other").code) in {
        ("/other", code),
        (told.path, code),
    }
    assert fs.explained(OSError(number, "x", b"/bytes")).path == "/bytes"
    assert str(told) == told.message


def test_a_folder_is_locked_for_one(tmp_path: Path) -> None:
    one = fs.FolderLock.take(str(tmp_path))
    assert one is not None
    assert one.real
    assert fs.FolderLock.take(str(tmp_path)) is None
    one.release()
    one.release()
    again = fs.FolderLock.take(str(tmp_path))
    assert again is not None
    again.release()
    with pytest.raises(FileNotFoundError):
        fs.FolderLock.take(str(tmp_path / "none"))
