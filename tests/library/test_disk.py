"""What stands on disk, hashed: small files at once, large ones later, and nothing missed between the two."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from importer.library import LibraryError, disk
from importer.library.disk import LARGE, read_item, read_items
from tests.builders.trees import make_tree

SIZES = (0, 1, LARGE - 1, LARGE, LARGE + 1, 3 * LARGE + 7, (1 << 20) + 5)


def test_every_size_is_hashed_as_it_is_and_large_files_are_as_small_ones(tmp_path: Path) -> None:
    files = {f"d{size % 3}/f{size}": bytes([size % 251]) * size for size in SIZES}
    roots = [make_tree(tmp_path / name, files) for name in ("one", "two")]
    (roots[1] / "d0/f0").chmod(0o755)
    paths = [str(root) for root in roots]
    trees = read_items(paths, paths)
    for tree in trees:
        assert {file.path.text: (file.sha256, file.size) for file in tree.files} == {
            name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()
        }
        assert sorted(tree.stamps) == sorted(files)
        assert [file.path.text for file in tree.files] == sorted(files)
    assert trees[0].digest == trees[1].digest
    assert [tree.executables for tree in trees] == [(), ("d0/f0",)]
    assert [read_item(path) for path in paths] == trees


@pytest.mark.parametrize("size", [10, LARGE + 10])
def test_what_happens_while_it_is_read(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_tree(tmp_path / "one", {"f": b"a" * size})
    real = os.read
    more = [b"b" * 100]

    def growing(descriptor: int, most: int) -> bytes:
        if more:
            (root / "f").write_bytes(b"a" * size + more.pop())
        return real(descriptor, most)

    monkeypatch.setattr(os, "read", growing)
    (file,) = read_item(str(root)).files
    assert file.sha256 == hashlib.sha256(b"a" * size + b"b" * 100).hexdigest()
    # And reads that bring less than was asked for are no end.
    monkeypatch.setattr(os, "read", lambda descriptor, most: real(descriptor, min(most, 7)))
    (file,) = read_item(str(root)).files
    assert file.sha256 == hashlib.sha256(b"a" * size + b"b" * 100).hexdigest()


def test_a_large_file_that_cannot_be_read_is_named_by_its_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    roots = [make_tree(tmp_path / name, {"f": b"x" * (LARGE + 1)}) for name in ("one", "two")]
    real = disk._Reading.hash

    def vanished(self: disk._Reading, large: disk._Large) -> None:
        if large.full.startswith(str(roots[1])):
            os.unlink(large.full)
        real(self, large)

    monkeypatch.setattr(disk._Reading, "hash", vanished)
    with pytest.raises(FileNotFoundError):
        read_items([str(root) for root in roots], ["the one", "the two"])

    def refused(self: disk._Reading, large: disk._Large) -> None:
        raise PermissionError(13, "Permission denied", large.full)

    monkeypatch.setattr(disk._Reading, "hash", refused)
    with pytest.raises(LibraryError) as caught:
        read_items([str(roots[0])], ["the one"])
    assert (caught.value.code, caught.value.path) == ("disk-permission", "the one")
