"""What real tools write is read with the contents that they packed."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from importer.extract.gzip_stream import spool_gzip
from importer.extract.tar_container import TarContainer
from importer.extract.tar_stream import stream_tar_gz
from importer.model import EntryKind
from tests.builders.containers import Forward, Memory, delivered, gated, meter, nothing
from tests.builders.trees import Content, LinkTo, Run, make_tree

DEEP = "pack/" + "d" * 90 + "/" + "e" * 80 + "/note.md"
PLAIN: Mapping[str, Content] = {
    "pack/SKILL.md": b"---\nname: pack\n---\n" * 50,
    "pack/scripts/run.sh": Run(b"#!/bin/sh\nexit 0\n"),
    "pack/empty.txt": b"",
    "pack/\xe4\u20ac\u540d.md": "\xfcber".encode(),
    "pack/copy.md": LinkTo("SKILL.md"),
}
ALL: Mapping[str, Content] = {**PLAIN, DEEP: b"deep", "pack/" + "n" * 200 + ".md": b"long"}


def body(content: Content) -> bytes:
    return content.body if isinstance(content, Run) else content if isinstance(content, bytes) else b""


def expected(files: Mapping[str, Content]) -> dict[str, bytes]:
    return {name: body(files["pack/SKILL.md"] if isinstance(one, LinkTo) else one) for name, one in files.items()}


def check(data: bytes, files: Mapping[str, Content], prefix: str = "") -> None:
    container = TarContainer(Memory(data), bundle=meter("bundle"), archive=meter("archive"))
    tree = gated(container)
    assert tree.faults == ()
    wanted = {prefix + name: content for name, content in expected(files).items()}
    assert delivered(container, tree) == wanted
    runs = {entry.path.text for entry in tree.files if entry.executable}
    assert runs == {prefix + "pack/scripts/run.sh"}
    streamed = {}
    for entry in stream_tar_gz(Forward(gzip.compress(data), 1000), nothing):
        if entry.listed.kind is EntryKind.FILE:
            streamed[entry.listed.name] = b"".join(iter(partial(entry.read, 999), b""))
    assert streamed == {name: data for name, data in wanted.items() if not name.endswith("copy.md")}


def run(command: list[str], folder: Path) -> bytes:
    if shutil.which(command[0]) is None:
        pytest.skip(
            f"{command[0]} is not installed: install it to run this test (apt install libarchive-tools git tar)"
        )
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE).stdout


@pytest.mark.parametrize("style", ["gnu", "oldgnu", "posix", "ustar", "v7"])
def test_gnu_tar(tmp_path: Path, style: str) -> None:
    files = ALL if style in {"gnu", "oldgnu", "posix"} else PLAIN
    make_tree(tmp_path, files)
    check(run(["tar", f"--format={style}", "-cf", "-", "pack"], tmp_path), files)


def test_gnu_tar_of_the_folder_itself(tmp_path: Path) -> None:
    make_tree(tmp_path, ALL)
    check(run(["tar", "-cf", "-", "."], tmp_path), ALL)


@pytest.mark.parametrize("style", ["gnutar", "pax", "ustar", "v7"])
def test_bsdtar(tmp_path: Path, style: str) -> None:
    files = ALL if style in {"gnutar", "pax"} else PLAIN
    make_tree(tmp_path, files)
    check(run(["bsdtar", f"--format={style}", "-cf", "-", "pack"], tmp_path), files)


@pytest.mark.parametrize("style", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
def test_python(tmp_path: Path, style: int) -> None:
    files = PLAIN if style == tarfile.USTAR_FORMAT else ALL
    make_tree(tmp_path, files)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=style) as archive:
        archive.add(tmp_path / "pack", "pack")
    check(out.getvalue(), files)


def test_git_archive(tmp_path: Path) -> None:
    make_tree(tmp_path, ALL)
    identity = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["git", "init", "-q"], ["git", "add", "-A"], [*identity, "commit", "-qm", "x"]):
        run(command, tmp_path)
    check(run(["git", "archive", "--prefix=repo-main/", "HEAD"], tmp_path), ALL, "repo-main/")


@pytest.mark.parametrize("tool", ["tar", "bsdtar"])
def test_gzip_through_a_pipe(tmp_path: Path, tool: str) -> None:
    make_tree(tmp_path, ALL)
    out = io.BytesIO()
    spool_gzip(Memory(run([tool, "-czf", "-", "pack"], tmp_path)), out.write, bundle=meter("bundle"))
    check(out.getvalue(), ALL)
