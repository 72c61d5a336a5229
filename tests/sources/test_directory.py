"""A folder as a container: what is listed, what is not followed, what changes under the reader."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from budgets import BudgetExceeded
from importer.entries import faults_below
from importer.model import Entry, EntryKind
from importer.ports import FileSink
from importer.sources.directory import DirectoryContainer
from tests.builders.containers import Keeper, Nobody, delivered, gated, meter, nothing, refusal
from tests.builders.trees import Content, LinkTo, Pipe, Run, make_tree

GOOD: dict[str, Content] = {
    "demo/SKILL.md": b"---\nname: demo\n---\n",
    "demo/scripts/run": Run(b"#!/bin/sh\n"),
    "demo/references/big.bin": bytes(700_000),
    "other/SKILL.md": b"x",
}


def body(content: Content) -> bytes:
    return content.body if isinstance(content, Run) else content if isinstance(content, bytes) else b""


def test_a_folder_is_listed_and_delivered(tmp_path: Path) -> None:
    container = DirectoryContainer(make_tree(tmp_path / "src", GOOD))
    tree = gated(container)
    assert {entry.path.text: entry.size for entry in tree.files} == {name: len(body(one)) for name, one in GOOD.items()}
    assert [entry.path.text for entry in tree.files if entry.executable] == ["demo/scripts/run"]
    assert delivered(container, tree) == {name: body(one) for name, one in GOOD.items()}
    assert (container.kind, list(container.notes())) == ("directory", [])
    container.close()
    container.close()


def test_names_come_in_the_order_of_their_bytes(tmp_path: Path) -> None:
    make_tree(tmp_path / "src", dict.fromkeys(("z", "\xe4", "B", "a/x", "a/b/c", "a-b"), b""))
    listed = DirectoryContainer(tmp_path / "src").list(nothing)
    assert [item.name for item in listed] == ["B", "a", "a-b", "z", "\xe4", "a/b", "a/x", "a/b/c"]


def test_the_folder_may_be_given_as_a_link(tmp_path: Path) -> None:
    make_tree(tmp_path / "src", GOOD)
    (tmp_path / "link").symlink_to("src")
    assert len(gated(DirectoryContainer(tmp_path / "link")).files) == len(GOOD)


def test_links_are_listed_and_never_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    root = make_tree(
        tmp_path / "src",
        {
            **GOOD,
            "demo/in.md": LinkTo("SKILL.md"),
            "demo/out.md": LinkTo("../../secret"),
            "demo/abs.md": LinkTo(str(tmp_path / "secret")),
            "demo/folder": LinkTo(str(tmp_path)),
            "demo/loop": LinkTo("."),
        },
    )
    container = DirectoryContainer(root)
    tree = gated(container)
    assert {fault.path: fault.diagnostic.facts["fault"] for fault in tree.faults} == {
        "demo/out.md": "outside",
        "demo/abs.md": "absolute",
        "demo/folder": "absolute",
        "demo/loop": "folder",
    }
    files = delivered(container, tree)
    assert files["demo/in.md"] == files["demo/SKILL.md"]
    assert b"secret" not in b"".join(files.values())


def test_git_is_seen_and_not_entered(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "src", {**GOOD, ".git/config": b"x", "demo/.git/objects/ab": b"y"})
    charged: list[str] = []
    listed = DirectoryContainer(root).list(lambda _amount, path: charged.append(path))
    assert [item.name for item in listed if ".git" in item.name] == [".git", "demo/.git"]
    assert [path for path in charged if ".git" in path] == [".git", "demo/.git"]
    assert [note.code for note in gated(DirectoryContainer(root)).notes] == ["noise-ignored"]


def test_special_files_are_named_and_not_opened(tmp_path: Path) -> None:
    tree = gated(DirectoryContainer(make_tree(tmp_path / "src", {**GOOD, "demo/pipe": Pipe()})))
    assert [(fault.path, fault.diagnostic.code) for fault in tree.faults] == [("demo/pipe", "entry-kind-refused")]
    assert tree.faults[0].diagnostic.facts["kind"] == "named pipe"


def test_a_hard_link_on_disk_is_a_file(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "src", GOOD)
    os.link(root / "demo/SKILL.md", root / "demo/again.md")
    tree = gated(DirectoryContainer(root))
    assert tree.faults == ()
    assert "demo/again.md" in {entry.path.text for entry in tree.files}


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "src", GOOD)
    (root / os.fsdecode(b"caf\xe9.md")).write_text("x")
    assert refusal(lambda: gated(DirectoryContainer(root))) == ["path-encoding"]


def test_entries_are_charged_while_the_folder_is_read(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "src", {f"f{n}": b"" for n in range(20)})
    gated(DirectoryContainer(root), meter("bundle", entries=20))
    with pytest.raises(BudgetExceeded) as exceeded:
        gated(DirectoryContainer(root), meter("bundle", entries=19))
    assert (exceeded.value.limit, exceeded.value.used) == ("entries", 20)


def test_what_lies_too_deep_is_named_and_not_entered(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "src", {**GOOD, "a/b/c": b"x", "d/e/f/g/h": b"x"})
    bundle = meter("bundle", depth=3)
    tree = gated(DirectoryContainer(root, max_depth=3), bundle)
    assert [(fault.path, fault.diagnostic.code) for fault in tree.faults] == [("d/e/f/g", "budget-exceeded")]
    assert "a/b/c" in {entry.path.text for entry in tree.files}


def test_a_very_deep_folder_needs_no_recursion_and_no_descriptors(tmp_path: Path) -> None:
    root = tmp_path / "src"
    root.mkdir()
    where = os.open(root, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=where)
        inner = os.open("d", os.O_RDONLY, dir_fd=where)
        os.close(where)
        where = inner
    os.close(where)
    assert len(DirectoryContainer(root).list(nothing)) == 33
    assert len(DirectoryContainer(root, max_depth=1200).list(nothing)) == 1201
    _remove_deep(root)


def _remove_deep(root: Path) -> None:
    """Take a chain of folders apart from the top: its paths are too long for anything else."""
    spare = root.with_name("spare")
    while (root / "d").exists():
        (root / "d").rename(spare)
        if (spare / "d").exists():
            (spare / "d").rename(root / "next")
            spare.rmdir()
            (root / "next").rename(root / "d")
        else:
            spare.rmdir()


class Meddler(Keeper):
    """A receiver that does something to the disk when a certain file begins."""

    def __init__(self, path: str, act: Callable[[], object]) -> None:
        super().__init__()
        self._path = path
        self._act = act

    def begin(self, entry: Entry, /, *, deflated: bool = False) -> FileSink:
        if entry.path.text == self._path:
            self._act()
        return super().begin(entry, deflated=deflated)


def test_what_changed_since_it_was_listed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    path = tmp_path / "src/demo/SKILL.md"

    def replace_by_link() -> None:
        path.unlink()
        path.symlink_to(tmp_path / "secret")

    def replace_by_pipe() -> None:
        path.unlink()
        os.mkfifo(path)

    def replace_folder() -> None:
        (tmp_path / "src/demo").rename(tmp_path / "away")
        (tmp_path / "src/demo").symlink_to(tmp_path / "away")

    acts: dict[str, Callable[[], object]] = {
        "longer": lambda: path.write_bytes(b"x" * 100),
        "shorter": lambda: path.write_bytes(b""),
        "touched": lambda: os.utime(path, ns=(5, 5)),
        "removed": path.unlink,
        "link": replace_by_link,
        "pipe": replace_by_pipe,
    }
    for name, act in acts.items():
        _clear(tmp_path / "src")
        make_tree(tmp_path / "src", GOOD)
        meddler = Meddler("demo/SKILL.md", act)
        assert refusal(partial(_deliver, tmp_path / "src", meddler)) == ["source-changed"], name
        assert "demo/SKILL.md" not in meddler.files
        assert b"secret" not in b"".join(meddler.files.values())
    _clear(tmp_path / "src")
    container = DirectoryContainer(make_tree(tmp_path / "src", GOOD))
    tree = gated(container)
    replace_folder()
    assert refusal(lambda: container.deliver(tree.files, Keeper(), nothing)) == ["source-changed"]


def _deliver(root: Path, keeper: Keeper) -> None:
    container = DirectoryContainer(root)
    container.deliver(gated(container).files, keeper, nothing)


def _clear(root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "src", GOOD)
    container = DirectoryContainer(root)
    tree = gated(container)
    appended = False

    def charge(_amount: int, path: str, /) -> None:
        nonlocal appended
        if path == "demo/references/big.bin" and not appended:
            appended = True
            with (root / path).open("ab") as file:
                file.write(b"more")

    assert refusal(lambda: container.deliver(tree.files, Keeper(), charge)) == ["source-changed"]


def test_a_file_that_is_rewritten_while_it_is_read_is_refused(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "src", GOOD)
    container = DirectoryContainer(root)
    tree = gated(container)

    def charge(_amount: int, path: str, /) -> None:
        os.utime(root / path, ns=(5, 5))

    assert refusal(lambda: container.deliver(tree.files[:1], Keeper(), charge)) == ["source-changed"]


def test_delivery_is_charged_before_it_is_handed_on(tmp_path: Path) -> None:
    container = DirectoryContainer(make_tree(tmp_path / "src", GOOD))
    tree = gated(container)
    total = sum(entry.size for entry in tree.files)
    exact, short = meter("bundle", bytes=total), meter("bundle", bytes=total - 1)
    container.deliver(tree.files, Keeper(), lambda amount, path: exact.charge("bytes", amount, path))
    assert exact.used("bytes") == total
    keeper = Keeper()
    with pytest.raises(BudgetExceeded):
        container.deliver(tree.files, keeper, lambda amount, path: short.charge("bytes", amount, path))
    assert len(keeper.files) < len(GOOD)


def test_only_what_is_wanted_is_opened(tmp_path: Path) -> None:
    container = DirectoryContainer(make_tree(tmp_path / "src", GOOD))
    tree = gated(container)
    keeper = Keeper()
    container.deliver([entry for entry in tree.files if entry.path.text == "other/SKILL.md"], keeper, nothing)
    assert keeper.begun == ["other/SKILL.md"]


def test_what_nobody_wants_is_not_opened(tmp_path: Path) -> None:
    container = DirectoryContainer(make_tree(tmp_path / "src", GOOD))
    tree = gated(container)
    (tmp_path / "src/other/SKILL.md").unlink()
    container.deliver(tree.files, Nobody(), nothing)


def test_a_missing_or_wrong_folder_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert refusal(lambda: DirectoryContainer(tmp_path / "nothing")) == ["source-not-found"]
    assert refusal(lambda: DirectoryContainer(tmp_path / "file")) == ["source-unreadable"]
    assert refusal(lambda: DirectoryContainer(tmp_path / "file/below")) == ["source-not-found"]
    assert refusal(lambda: DirectoryContainer("a\0b")) == ["source-not-found"]


def test_what_may_not_be_read_is_a_fault_of_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_tree(tmp_path / "src", {**GOOD, "demo/locked/x": b"x", "demo/secret.md": b"x"})
    _deny(monkeypatch, root, {"demo/locked", "demo/secret.md"})
    tree = gated(DirectoryContainer(root))
    found = faults_below(tree, "demo")
    assert [(one.code, one.path) for one in found] == [
        ("source-unreadable", "demo/secret.md"),
        ("source-unreadable", "demo/locked"),
    ]
    assert all(one.facts["cause"] == "permission denied" for one in found)
    assert faults_below(tree, "other") == ()


def test_a_folder_that_may_not_be_read_at_all_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    container = DirectoryContainer(make_tree(tmp_path / "src", GOOD))

    def deny(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("importer.sources.directory.os.open", deny)
    assert refusal(lambda: container.list(nothing)) == ["source-unreadable"]


def _deny(monkeypatch: pytest.MonkeyPatch, root: Path, denied: set[str]) -> None:
    """Forbid some paths as the system would; root may read everything, so for root it is done by hand."""
    if os.geteuid() != 0:
        for path in denied:
            (root / path).chmod(0)
        return
    names = {path.rpartition("/")[2] for path in denied}
    really_open, really_access = os.open, os.access

    def deny_open(path: str, flags: int, *, dir_fd: int | None = None) -> int:
        if path in names:
            raise PermissionError(13, "Permission denied")
        return really_open(path, flags, dir_fd=dir_fd)

    def deny_access(path: str, mode: int, *, dir_fd: int | None = None, effective_ids: bool = False) -> bool:
        return path not in names and really_access(path, mode, dir_fd=dir_fd, effective_ids=effective_ids)

    monkeypatch.setattr("importer.sources.directory.os.open", deny_open)
    monkeypatch.setattr("importer.sources.directory.os.access", deny_access)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "src", {**GOOD, "demo/l": LinkTo("nothing")})
    before = set(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else set()
    container = DirectoryContainer(root)
    tree = gated(container)
    (root / "other/SKILL.md").unlink()
    assert refusal(lambda: container.deliver(tree.files, Keeper(), nothing)) == ["source-changed"]
    shutil.rmtree(root / "demo/scripts")
    assert refusal(lambda: container.deliver(tree.files[2:], Keeper(), nothing)) == ["source-changed"]
    container.close()
    assert (set(os.listdir("/proc/self/fd")) if before else set()) == before


def test_empty_folders_are_listed(tmp_path: Path) -> None:
    listed = DirectoryContainer(make_tree(tmp_path / "src", {"a/": b""})).list(nothing)
    assert [(item.name, item.kind) for item in listed] == [("a", EntryKind.DIRECTORY)]
