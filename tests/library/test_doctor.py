"""A record or a journal that is torn, empty, foreign or gone: said, moved away unchanged, and everything works on."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from importer.diagnostics import Rejected
from importer.library import Library, LibraryError
from importer.library.doctor import Examined
from tests.library.killing import killed_at, operations
from tests.library.scenes import Role, files_of, install, remove, skill, whole


def _doctor(root: Path) -> Examined:
    with Library.open(root) as library:
        return library.doctor()


def _codes(found: Examined) -> list[str]:
    return [finding.code for finding in found.findings]


def _moved(root: Path) -> dict[str, bytes]:
    """Return what doctors moved to the trash, by name."""
    rooms = [path for path in (root / ".importer/trash").iterdir() if path.name.startswith("doctor-")]
    return {path.name: path.read_bytes() for room in rooms for path in room.iterdir() if path.is_file()}


def _furnished(root: Path) -> Path:
    install(root, {"a": skill("a"), "b": skill("b")}, role=Role())
    install(root, {"a": skill("a", "New.\n")})
    return root


def _read_all(library: Library) -> None:
    library.listing()
    library.verify()
    library.history()


def _works(root: Path) -> None:
    """List, verify, install, remove: everything goes on."""
    with Library.open(root) as library:
        library.listing()
        library.verify()
    install(root, {"z": skill("z")})
    install(root, {"a": skill("a", "Newer.\n")})
    remove(root, "skill", "z")
    with Library.open(root) as library:
        assert all(one.ok for one in library.verify())
        assert not library.doctor().attention


def test_a_good_library_is_well(quick: Path) -> None:
    root = _furnished(quick)
    before = whole(root)
    found = _doctor(root)
    assert (_codes(found), found.attention) == (["doctor-well"], False)
    assert whole(root) == before


DAMAGES: dict[str, Callable[[Path], object]] = {
    "garbage": lambda path: path.write_bytes(os.urandom(9000)),
    "text": lambda path: path.write_text("hello"),
    "torn": lambda path: os.truncate(path, 5000),
    "middle": lambda path: path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 8192 + path.read_bytes()[12288:]),
    "header": lambda path: path.write_bytes(b"\0" * 100 + path.read_bytes()[100:]),
}


def _to_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "x").write_text("mine")


DAMAGES["folder"] = _to_folder


@pytest.mark.parametrize("damage", DAMAGES, ids=str)
def test_a_damaged_record_is_named_with_the_doctor_and_moved_unchanged(damage: str, quick: Path) -> None:
    root = _furnished(quick)
    database = root / ".importer/library.db"
    DAMAGES[damage](database)
    broken = database.read_bytes() if database.is_file() else None
    visible = {path: what for path, what in files_of(root).items() if not path.startswith(".importer")}
    with Library.open(root) as library:
        with pytest.raises(LibraryError) as caught:
            _read_all(library)
        assert caught.value.code in {"library-damaged", "library-foreign"}, caught.value
        assert "importer doctor" in caught.value.message
        assert str(database) in caught.value.message
        assert "sqlite" not in caught.value.message.lower()
        assert "malformed" not in caught.value.message
        with pytest.raises(LibraryError, match="importer doctor"), library.writer(command="install"):
            library.listing()
    found = _doctor(root)
    assert found.attention
    assert "doctor-moved" in _codes(found)
    if broken is not None:
        assert _moved(root)["library.db"] == broken
    assert _moved(root)["reason.txt"]
    assert {path: what for path, what in files_of(root).items() if not path.startswith(".importer")} == visible
    assert not _doctor(root).attention
    _works(root)


def test_a_foreign_database_is_moved_unchanged(quick: Path) -> None:
    root = _furnished(quick)
    database = root / ".importer/library.db"
    database.unlink()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.commit()
    theirs = database.read_bytes()
    with Library.open(root) as library, pytest.raises(LibraryError) as caught:
        library.listing()
    assert caught.value.code == "library-foreign"
    assert _doctor(root).attention
    assert _moved(root)["library.db"] == theirs
    _works(root)


def test_a_newer_record_is_left_alone(quick: Path) -> None:
    root = _furnished(quick)
    with closing(sqlite3.connect(root / ".importer/library.db")) as connection:
        connection.execute("PRAGMA user_version=99")
    for _ in range(2):
        with Library.open(root) as library:
            with pytest.raises(LibraryError, match="update the importer") as caught:
                library.listing()
            assert caught.value.code == "library-newer"
            found = library.doctor()
            assert ("library-newer" in _codes(found), found.attention) == (True, True)
            with pytest.raises(LibraryError), library.writer(command="install"):
                pass
    assert not [name for name in os.listdir(root / ".importer/trash") if name.startswith("doctor")]


@pytest.mark.parametrize("how", ["empty", "gone"])
def test_an_empty_or_lost_record_blocks_nothing(how: str, quick: Path) -> None:
    root = _furnished(quick)
    database = root / ".importer/library.db"
    if how == "empty":
        os.truncate(database, 0)
    else:
        database.unlink()
    with Library.open(root) as library:
        assert {(one.name, one.managed) for one in library.listing()} == {
            ("a", False),
            ("b", False),
            ("field-analyst", False),
        }
    found = _doctor(root)
    assert found.attention == (how == "empty")
    assert "doctor-unknown-trash" in _codes(found)
    _works(root)


@pytest.mark.parametrize("body", ["", "{", "[]", '{"id": 1}', "\x00", '{"moves": "x"}', "[" * 3000])
def test_a_journal_that_cannot_be_read_is_moved_and_blocks_nothing(body: str, quick: Path) -> None:
    root = _furnished(quick)
    before = whole(root)
    with closing(sqlite3.connect(root / ".importer/library.db")) as connection:
        connection.execute("INSERT INTO journal VALUES ('torn', ?)", (body,))
        connection.commit()
    with Library.open(root) as library:
        assert [(note.code, "importer doctor" in note.message) for note in library.notices] == [
            ("library-recovery-failed", True)
        ]
        assert len(library.listing()) == 3
        assert all(one.ok for one in library.verify())
        with pytest.raises(LibraryError, match="importer doctor"), library.writer(command="install"):
            pass
    found = _doctor(root)
    assert found.attention
    (kept,) = (data for name, data in _moved(root).items() if name.startswith("unreadable"))
    assert json.loads(kept) == [["journal", "torn", body]]
    now = whole(root)
    assert now[1] == before[1]
    assert {path: what for path, what in now[0].items() if "/doctor-" not in path} == before[0]
    _works(root)


@pytest.mark.parametrize("name", ["library.db-wal", "library.db-shm", "library.db-journal"])
def test_garbage_beside_the_record_blocks_nothing(name: str, quick: Path) -> None:
    root = _furnished(quick)
    before = whole(root)
    (root / ".importer" / name).write_bytes(os.urandom(5000))
    with Library.open(root) as library:
        assert all(one.ok for one in library.verify())
    assert not _doctor(root).attention
    assert whole(root)[1] == before[1]
    _works(root)


@pytest.mark.parametrize("name", ["staging", "trash", "writer.lock", "."])
def test_a_file_where_a_folder_is_needed_and_the_other_way_round(name: str, quick: Path) -> None:
    root = _furnished(quick)
    path = root / ".importer" / name
    if path.is_dir():
        shutil.rmtree(root / ".importer" if name == "." else path)
        path = root / ".importer" if name == "." else path
        path.write_text("what is this")
    else:
        path.unlink()
        path.mkdir()
    with pytest.raises(LibraryError, match="importer doctor"):
        install(root, {"a": skill("a", "Y.\n")})
    found = _doctor(root)
    assert found.attention
    assert "doctor-moved" in _codes(found)
    _works(root)


def test_files_of_nobodys_are_named_and_left_alone(quick: Path) -> None:
    root = _furnished(quick)
    (root / ".importer/journal").write_text("foreign")
    (root / ".importer/trash/mine").mkdir()
    (root / ".importer/trash/mine/file").write_text("x")
    (root / ".importer/staging/file").write_text("x")
    found = _doctor(root)
    assert {"doctor-unknown-file", "doctor-unknown-trash", "doctor-moved"} == set(_codes(found))
    assert (root / ".importer/journal").read_text() == "foreign"
    assert (root / ".importer/trash/mine/file").exists()
    assert "file" in _moved(root)
    _works(root)


def test_an_interrupted_transaction_whose_record_is_lost_comes_back(quick: Path) -> None:
    template = _furnished(quick / "template")
    counted = quick / "counted"
    shutil.copytree(template, counted)

    def change(root: Path) -> None:
        install(root, {"a": skill("a", "3.\n"), "b": skill("b", "3.\n")}, role=Role())

    renames = [n for n, name in enumerate(operations(lambda: change(counted))) if name == "rename"]
    root = quick / "broken"
    shutil.copytree(template, root)
    assert killed_at(renames[0] + 1, lambda: change(root))
    assert not (root / "skills/a").exists()
    (root / ".importer/library.db").write_bytes(b"torn")
    for name in ("library.db-wal", "library.db-shm"):
        (root / ".importer" / name).unlink(missing_ok=True)
    found = _doctor(root)
    assert "doctor-brought-back" in _codes(found)
    assert files_of(root / "skills") == files_of(template / "skills")


def test_a_manifest_that_lies_brings_nothing_from_elsewhere(quick: Path) -> None:
    root = _furnished(quick / "library")
    (quick / "secret").write_text("x")
    for number, (source, target) in enumerate(
        [
            ("../secret", "skills/c"),
            ("/etc/hostname", "skills/c"),
            (".importer/trash/bad3/x", "../out"),
            ("x", "/tmp/out"),
        ]
    ):
        folder = root / f".importer/trash/bad{number + 1}"
        folder.mkdir()
        (folder / "x").write_text("x")
        one = {"kind": "skill", "name": "c", "action": "replaced", "from": target, "to": source}
        (folder / "transaction.json").write_text(json.dumps({"taken": [one]}))
    assert "doctor-brought-back" not in _codes(_doctor(root))
    assert not (root / "skills/c").exists()
    assert sorted(os.listdir(quick)) == ["library", "secret"]


def test_missing_files_and_edits_are_told_apart(quick: Path) -> None:
    root = _furnished(quick)
    (root / "skills/a/SKILL.md").write_text("edited")
    found = _doctor(root)
    assert (_codes(found), found.attention) == (["doctor-item-edited"], False)
    shutil.rmtree(root / "skills/b")
    found = _doctor(root)
    assert (set(_codes(found)), found.attention) == ({"doctor-item-edited", "doctor-item-missing"}, True)


def test_a_faulty_configuration_is_said_by_the_doctor(quick: Path) -> None:
    root = _furnished(quick)
    (root / ".importer/config.toml").write_text("[host]\nskils = {}\n[budgets.skill]\nfiles = 0\nlines = 3\n")
    found = _doctor(root)
    assert (_codes(found), found.attention) == (["config-invalid"] * 3, True)


@pytest.mark.parametrize("content", [b"[[host", b"\xff\xfe", None], ids=["no TOML", "no UTF-8", "a folder"])
def test_a_configuration_that_nothing_can_be_read_of_is_moved_away(quick: Path, content: bytes | None) -> None:
    root = _furnished(quick)
    config = root / ".importer/config.toml"
    if content is None:
        config.mkdir()
    else:
        config.write_bytes(content)
    with pytest.raises(Rejected, match="importer doctor"), Library.open(root) as library:
        library.snapshot(skills=["a"])
    found = _doctor(root)
    assert (_codes(found), found.attention) == (["doctor-moved"], True)
    moved = next((root / ".importer/trash").glob("doctor-*/config.toml"))
    assert content is None or moved.read_bytes() == content
    assert not config.exists()
    assert not _doctor(root).attention
    install(root, {"z": skill("z")})


def test_a_recovery_that_fails_is_said_and_read_past(quick: Path) -> None:
    root = _furnished(quick / "library")
    counted = quick / "counted"
    shutil.copytree(root, counted)

    def change(place: Path) -> None:
        install(place, {"a": skill("a", "3.\n"), "b": skill("b", "3.\n")})

    renames = [n for n, name in enumerate(operations(lambda: change(counted))) if name == "rename"]
    assert killed_at(renames[2], lambda: change(root))
    from importer import fs

    def full(operation: str, path: str, _other: str) -> None:
        if operation == "rename":
            raise OSError(28, "No space left on device", path)

    fs.observer = full
    try:
        with Library.open(root) as library:
            assert [note.code for note in library.notices] == ["library-recovery-failed"]
            assert {one.name for one in library.listing()} == {"a", "b", "field-analyst"}
            assert all(one.ok for one in library.verify())
            found = library.doctor()
            assert found.attention
    finally:
        fs.observer = None
    with Library.open(root) as library:
        assert [note.code for note in library.notices] == ["library-recovered"]
        assert all(one.ok for one in library.verify())
    _works(root)


def test_something_put_in_the_place_of_an_item_on_its_way_is_kept(quick: Path) -> None:
    root = _furnished(quick / "library")
    counted = quick / "counted"
    shutil.copytree(root, counted)

    def change(place: Path) -> None:
        install(place, {"a": skill("a", "3.\n"), "b": skill("b", "3.\n")})

    renames = [n for n, name in enumerate(operations(lambda: change(counted))) if name == "rename"]
    assert killed_at(renames[1], lambda: change(root))
    (root / "skills/a").mkdir()
    (root / "skills/a/precious").write_text("mine")
    with Library.open(root) as library:
        assert [note.code for note in library.notices] == ["library-recovered", "library-displaced"]
        kept = Path(library.notices[1].path)
        assert all(one.ok for one in library.verify())
    assert (kept / "precious").read_text() == "mine"
