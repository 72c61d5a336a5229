"""What a path is, by its content; and files that are read by position."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from importer.diagnostics import Rejected
from importer.sources.file import FileBytes, SingleFileContainer
from importer.sources.local import LocalKind, recognise
from tests.builders.containers import Keeper, Nobody, delivered, gated, nothing, refusal
from tests.builders.tars import gz, member, tar

EMPTY_ZIP = b"PK\x05\x06" + bytes(18)
CONTENTS = [
    (b"PK\x03\x04" + bytes(26), LocalKind.ZIP, "a zip archive"),
    (EMPTY_ZIP, LocalKind.ZIP, "a zip archive"),
    (b"# A title, and a text about PK\x05\x06", LocalKind.MARKDOWN, "# A title"),
    (b"\x00\x01\x02\x03" + EMPTY_ZIP, LocalKind.ZIP, "end record"),
    (b"\x7fELF" + bytes(100) + EMPTY_ZIP, LocalKind.ZIP, "end record"),
    (tar(member("a", b"x")), LocalKind.TAR, "tar"),
    (gz(b"x"), LocalKind.GZIP, "gzip"),
    (b"---\nname: x\n---\n", LocalKind.MARKDOWN, "---"),
    (b"\xef\xbb\xbf---\r\nname: x\r\n---\r\n", LocalKind.MARKDOWN, "---"),
    (b"# A title\n", LocalKind.MARKDOWN, "# A title"),
    (b"[a link](x)\n", LocalKind.MARKDOWN, "[a link]"),
    ("\xe4".encode() * 3000, LocalKind.MARKDOWN, "\xe4"),
    (b'{"mcpServers": {}}', LocalKind.JSON, "JSON"),
    (b'\xef\xbb\xbf \n// a comment\n{"a": 1}', LocalKind.JSON, "JSON"),
    (b'[{"a": 1}]', LocalKind.JSON, "JSON"),
    (b"<!DOCTYPE html><html>", LocalKind.UNKNOWN, "HTML"),
    (b"#!/bin/sh\n", LocalKind.UNKNOWN, "script"),
    (b" \n\n", LocalKind.UNKNOWN, "blanks"),
    (b"7z\xbc\xaf'\x1c" + bytes(30), LocalKind.UNKNOWN, "7-Zip"),
    (b"BZh91AY&SY", LocalKind.UNKNOWN, "bzip2"),
    (b"\xfd7zXZ\x00", LocalKind.UNKNOWN, "xz"),
    (b"\x01\x02\x03\x04", LocalKind.UNKNOWN, "01 02 03 04"),
    (bytes(10240), LocalKind.UNKNOWN, "00 00"),
]


@pytest.mark.parametrize(("data", "kind", "found"), CONTENTS)
def test_content_decides_and_the_name_plays_no_part(tmp_path: Path, data: bytes, kind: LocalKind, found: str) -> None:
    for name in ("thing", "thing.zip", "thing.md"):
        path = tmp_path / name
        path.write_bytes(data)
        seen = recognise(path)
        assert seen.kind is kind
        assert found in seen.found


def test_what_is_found_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes("\x1b[31m\u202e text".encode())
    assert "\x1b" not in recognise(path).found
    assert "\u202e" not in recognise(path).found


def test_a_folder_is_a_folder_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert recognise(tmp_path).kind is LocalKind.DIRECTORY
    assert recognise(tmp_path / "link").kind is LocalKind.DIRECTORY


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Path]:
    with socket.socket(socket.AF_UNIX) as server:
        where = os.getcwd()
        os.chdir(tmp_path)
        try:
            server.bind("socket")
        finally:
            os.chdir(where)
        yield tmp_path / "socket"


def test_what_is_not_there_or_no_file_says_so(tmp_path: Path, listening: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nothing")
    cases = {
        tmp_path / "nothing": "source-not-found",
        tmp_path / "empty/below": "source-not-found",
        tmp_path / "dangling": "source-not-found",
        tmp_path / ("n" * 300): "source-not-found",
        tmp_path / "loop": "source-unreadable",
        tmp_path / "pipe": "source-unreadable",
        listening: "source-unreadable",
        Path("/dev/null"): "source-unreadable",
        tmp_path / "empty": "source-empty",
    }
    for path, code in cases.items():
        assert refusal(partial(recognise, path)) == [code], path
        if code != "source-empty":
            assert refusal(partial(FileBytes, path)) == [code], path
    assert refusal(lambda: recognise("a\0b")) == ["source-not-found"]
    assert refusal(lambda: FileBytes("a\0b")) == ["source-not-found"]
    assert refusal(lambda: FileBytes(tmp_path)) == ["source-unreadable"]


def test_permission_denied_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"x")

    def deny(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    # By hand: root may read everything.
    monkeypatch.setattr("importer.sources.file.os.open", deny)
    with pytest.raises(Rejected) as rejected:
        recognise(path)
    assert rejected.value.diagnostics[0].code == "source-unreadable"
    assert "permission denied" in rejected.value.diagnostics[0].message


def test_a_file_is_read_by_position(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to("f")
    with FileBytes(tmp_path / "link") as data:
        assert data.size == 10
        assert data.pread(4, 3) == b"3456"
        assert data.pread(100, 8) == b"89"
        assert data.pread(1, 10) == b""
        assert data.pread(1, 99) == b""


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f"

    def changed(how: str) -> None:
        path.write_bytes(b"0123456789")
        os.utime(path, ns=(1, 1))
        with FileBytes(path) as data:
            if how == "shorter":
                path.write_bytes(b"0")
                data.pread(10, 0)
            elif how == "longer":
                path.write_bytes(b"0123456789a")
                assert data.pread(100, 0) == b"0123456789"
            elif how == "rewritten":
                path.write_bytes(b"abcdefghij")
            elif how == "replaced":
                (tmp_path / "g").write_bytes(b"another")
                (tmp_path / "g").replace(path)
                assert data.pread(100, 0) == b"0123456789"

    for how in ("shorter", "longer", "rewritten"):
        assert refusal(partial(changed, how)) == ["source-changed"], how
    assert refusal(lambda: changed("not at all")) == []
    assert refusal(lambda: changed("replaced")) == []


def test_another_error_is_not_hidden_by_a_change(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"0")

    def fail() -> None:
        with FileBytes(path):
            path.write_bytes(b"changed")
            raise KeyError

    with pytest.raises(KeyError):
        fail()


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    def opened() -> int:
        return len(os.listdir("/dev/fd"))

    (tmp_path / "f").write_bytes(b"x")
    before = opened()
    with FileBytes(tmp_path / "f") as data:
        assert opened() == before + 1
    assert opened() == before
    data.close()
    assert refusal(partial(FileBytes, tmp_path)) == ["source-unreadable"]
    container = SingleFileContainer(FileBytes(tmp_path / "f"))
    container.close()
    assert opened() == before


def test_a_single_file_is_charged_and_held_to_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"0123")
    charged: list[tuple[int, str]] = []
    container = SingleFileContainer(FileBytes(path))
    container.list(lambda amount, name: charged.append((amount, name)))
    tree = gated(container)
    container.deliver(tree.files, Keeper(), lambda amount, name: charged.append((amount, name)))
    assert charged == [(1, "SKILL.md"), (4, "SKILL.md")]

    container.deliver(tree.files, Nobody(), nothing)
    os.utime(path, ns=(5, 5))
    keeper = Keeper()
    assert refusal(lambda: container.deliver(tree.files, keeper, nothing)) == ["source-changed"]
    assert keeper.files == {}
    container.close()


def test_one_markdown_file_is_a_package_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_bytes(b"---\nname: notes\n---\n" * 20_000)
    container = SingleFileContainer(FileBytes(path))
    tree = gated(container)
    assert [(entry.path.text, entry.size) for entry in tree.files] == [("SKILL.md", 400_000)]
    assert delivered(container, tree) == {"SKILL.md": path.read_bytes()}
    path.write_bytes(b"other")
    with pytest.raises(Rejected):
        delivered(container, tree)
    container.close()
    assert container.kind == "file"
    assert list(container.notes()) == []
    container.verify_rest(nothing)
