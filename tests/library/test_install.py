"""What an install does to record and disk: every disposition, owners, settings, and the last look before a rename."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from importer.library import Library, LibraryError
from importer.library import disk as disk_module
from importer.library import install as install_module
from importer.library.settings import SpecialistSettings
from importer.model import Choices, InstalledSkill
from tests.library.scenes import (
    ORIGIN,
    OTHER_ORIGIN,
    Role,
    connector,
    files_of,
    install,
    planned,
    skill,
    staged_package,
    take_incoming,
    visible,
    whole,
)


def test_a_package_arrives_byte_for_byte_with_its_bits(quick: Path) -> None:
    files = skill("count-rows", data=bytes(range(256)) * 3)
    applied = install(quick, {"count-rows": files}, connectors=[connector("pubmed")])
    assert [(one.kind, one.name, one.reason) for one in applied.installed] == [
        ("skill", "count-rows", "new"),
        ("connector", "pubmed", "new"),
    ]
    base = quick / "skills/count-rows"
    assert {str(p.relative_to(base)): p.read_bytes() for p in base.rglob("*") if p.is_file()} == files
    assert [p.name for p in base.rglob("*") if p.is_file() and p.stat().st_mode & 0o100] == ["count"]
    assert (quick / "connectors/pubmed.json").read_bytes() == connector("pubmed").template
    assert os.listdir(quick / ".importer/staging") == []
    assert not (quick / ".importer/trash").exists()
    with Library.open(quick) as library:
        assert all(one.ok for one in library.verify())
        (past,) = library.history()
        assert (past.id, past.verb, past.origin, past.in_trash) == (applied.transaction, "install", ORIGIN, True)


def test_the_same_again_is_reused_and_stands_in_the_history(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    before = visible(quick)
    applied = install(quick, {"a": skill("a")})
    assert [(one.name, one.reason) for one in applied.reused] == [("a", "identical")]
    assert visible(quick) == before
    with Library.open(quick) as library:
        assert library.history()[0].id == applied.transaction


def test_what_is_replaced_goes_to_the_trash_as_it_was(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    (quick / "skills/a/notes.txt").write_text("mine")
    (quick / "skills/a/SKILL.md").write_text("edited")
    old = files_of(quick / "skills/a")
    applied = install(quick, {"a": skill("a", "New.\n")})
    assert [(one.name, one.reason) for one in applied.replaced] == [("a", "chosen-incoming")]
    assert files_of(quick / f".importer/trash/{applied.transaction}/skills/a") == old
    (note,) = applied.diagnostics
    assert (note.code, note.facts["files"]) == ("library-edits-trashed", ["SKILL.md", "notes.txt"])
    assert applied.transaction in note.message


def test_a_skill_of_nobodys_can_be_replaced_and_comes_back(quick: Path) -> None:
    (quick / "skills/a").mkdir(parents=True)
    (quick / "skills/a/SKILL.md").write_text("mine")
    applied = install(quick, {"a": skill("a")})
    assert [one.name for one in applied.replaced] == ["a"]
    assert (quick / f".importer/trash/{applied.transaction}/skills/a/SKILL.md").read_text() == "mine"


def test_a_link_is_replaced_as_a_link(quick: Path) -> None:
    (quick / "elsewhere").mkdir()
    (quick / "elsewhere/SKILL.md").write_text("theirs")
    (quick / "skills").mkdir()
    (quick / "skills/a").symlink_to(quick / "elsewhere")
    (quick / "skills/b").symlink_to("nowhere")
    applied = install(quick, {"a": skill("a"), "b": skill("b")})
    assert {one.name for one in applied.replaced} == {"a", "b"}
    assert (quick / "elsewhere/SKILL.md").read_text() == "theirs"
    trash = quick / f".importer/trash/{applied.transaction}/skills"
    assert trash.joinpath("a").is_symlink()
    assert os.readlink(trash / "b") == "nowhere"
    assert not (quick / "skills/a").is_symlink()


def test_a_skills_folder_that_is_a_link_stays_one(quick: Path) -> None:
    root = quick / "library"
    (quick / "shared").mkdir()
    root.mkdir()
    (root / "skills").symlink_to(quick / "shared")
    install(root, {"a": skill("a")})
    install(root, {"a": skill("a", "New.\n")})
    assert (root / "skills").is_symlink()
    assert sorted(os.listdir(quick / "shared")) == ["a"]


def test_a_library_that_is_a_link_stays_one(quick: Path) -> None:
    (quick / "real").mkdir()
    (quick / "link").symlink_to(quick / "real")
    install(quick / "link", {"a": skill("a")})
    assert (quick / "link").is_symlink()
    assert (quick / "real/skills/a/SKILL.md").exists()


# --- specialists -----------------------------------------------------------------------------------------------------


def _owners(root: Path) -> dict[str, tuple[str, ...]]:
    with Library.open(root) as library:
        return {one.name: one.owners for one in library.listing() if one.kind == "skill"}


def _users(root: Path) -> dict[str, tuple[str, ...]]:
    with Library.open(root) as library:
        return {one.name: one.users for one in library.listing() if one.kind in {"skill", "connector"}}


def test_a_specialist_owns_what_it_brings_and_names_what_it_does_not(quick: Path) -> None:
    install(quick, {"alone": skill("alone")}, connectors=[connector("pubmed")])
    install(quick, {"audit": skill("audit"), "alone": skill("alone")}, role=Role(connectors=("pubmed",)))
    assert _owners(quick) == {"alone": (), "audit": ("field-analyst",)}
    assert _users(quick) == {"alone": ("field-analyst",), "audit": ("field-analyst",), "pubmed": ("field-analyst",)}
    with Library.open(quick) as library:
        settings = library.specialist_settings("field-analyst")
        assert (settings.enabled, settings.setup_pending, dict(settings.values)) == (False, True, {})
        snapshot = library.snapshot(skills=["audit"])
        specialist = snapshot.specialists["field-analyst"]
        assert (specialist.revision, specialist.owned, specialist.edited) == (1, ("audit",), False)


def test_two_specialists_that_bring_one_skill_own_it_together(quick: Path) -> None:
    install(quick, {"audit": skill("audit")}, role=Role())
    install(quick, {"audit": skill("audit")}, role=Role(id="reader"))
    assert _owners(quick) == {"audit": ("field-analyst", "reader")}


def test_an_overwrite_raises_the_revision_keeps_settings_and_releases(quick: Path) -> None:
    install(quick, {"audit": skill("audit"), "chart": skill("chart")}, role=Role())
    with Library.open(quick) as library:
        library.set_specialist_settings(
            "field-analyst", SpecialistSettings(enabled=True, setup_pending=False, values={"tone": ["dry", 1, None]})
        )
    install(quick, {"audit": skill("audit")}, role=Role(version="2.0.0", prompt="Better."))
    assert _owners(quick) == {"audit": ("field-analyst",), "chart": ()}
    with Library.open(quick) as library:
        settings = library.specialist_settings("field-analyst")
        assert (settings.enabled, settings.setup_pending) == (True, False)
        assert dict(settings.values) == {"tone": ["dry", 1, None]}
        specialist = library.snapshot(skills=[]).specialists["field-analyst"]
        assert (specialist.revision, specialist.version, specialist.owned) == (2, "2.0.0", ("audit",))


def test_a_package_takes_no_owner_from_a_skill(quick: Path) -> None:
    install(quick, {"audit": skill("audit")}, role=Role())
    install(quick, {"audit": skill("audit", "New.\n")})
    assert _owners(quick) == {"audit": ("field-analyst",)}


def test_a_record_inside_a_package_is_never_believed(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    (quick / "skills/a/.source.json").write_text('{"owner": "host"}')
    (quick / "skills/a/.specialist-package.json").write_text("{}")
    (quick / "skills/a/.DS_Store").write_bytes(b"\0")
    with Library.open(quick) as library:
        assert all(one.ok for one in library.verify())
        assert not library.snapshot(skills=["a"]).skills["a"].edited


# --- the last look ---------------------------------------------------------------------------------------------------


def _stale(root: Path, between: object, skills: dict[str, dict[str, bytes]]) -> LibraryError:
    """Plan a replacement, let something happen, apply."""
    with Library.open(root) as library:
        staging = library.new_staging()
        package = staged_package(staging, skills)
        plan = planned(library, package, take_incoming(*skills))
        assert callable(between)
        between()
        before = whole(root)
        with library.writer(command="install") as writer, pytest.raises(LibraryError) as caught:
            writer.apply(plan, staging, ORIGIN)
        assert whole(root) == before
        assert os.listdir(root / ".importer/staging") == []
        return caught.value


def test_an_edit_that_keeps_size_and_times_is_seen(quick: Path) -> None:
    install(quick, {"a": skill("a"), "b": skill("b")})
    target = quick / "skills/b/SKILL.md"
    status = target.stat()

    def edit() -> None:
        target.write_bytes(b"X" + target.read_bytes()[1:])
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))

    problem = _stale(quick, edit, {"a": skill("a", "New.\n"), "b": skill("b", "New.\n")})
    assert problem.code == "library-stale"
    assert "stale" in problem.message
    assert "skill b" in problem.message


def test_an_executable_bit_that_changed_is_seen(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    problem = _stale(quick, lambda: (quick / "skills/a/SKILL.md").chmod(0o755), {"a": skill("a", "New.\n")})
    assert problem.code == "library-stale"


def test_something_that_appeared_or_vanished_is_seen(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    problem = _stale(quick, (quick / "skills/b").mkdir, {"b": skill("b")})
    assert problem.code == "library-stale"
    problem = _stale(quick, lambda: (quick / "skills/a").rename(quick / "skills/c"), {"a": skill("a", "New.\n")})
    assert problem.code == "library-stale"


def test_an_edit_between_the_hash_and_the_rename_is_taken_back(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(quick, {"a": skill("a"), "b": skill("b")})
    real = disk_module.read_items
    target = quick / "skills/b/SKILL.md"

    def late(paths: Sequence[str], named: Sequence[str]) -> list[disk_module.DiskTree]:
        trees = real(paths, named)
        assert [os.path.basename(path) for path in paths] == ["a", "b"]
        target.write_bytes(b"X" + target.read_bytes()[1:])
        return trees

    with Library.open(quick) as library:
        staging = library.new_staging()
        package = staged_package(staging, {"a": skill("a", "New.\n"), "b": skill("b", "New.\n")})
        plan = planned(library, package, take_incoming("a", "b"))
        monkeypatch.setattr(install_module, "read_items", late)
        with library.writer(command="install") as writer, pytest.raises(LibraryError, match="in this moment") as caught:
            writer.apply(plan, staging, ORIGIN)
    assert caught.value.code == "library-stale"
    assert target.read_bytes().startswith(b"X")
    assert (quick / "skills/a/SKILL.md").read_bytes() == skill("a")["SKILL.md"]
    assert not (quick / ".importer/trash").exists() or os.listdir(quick / ".importer/trash") == []


def test_names_that_could_lead_out_are_refused_here_too(quick: Path) -> None:
    for name in ("../evil", "a/b", ".importer", "..", "x\0"):
        with Library.open(quick) as library:
            staging = library.new_staging()
            package = staged_package(staging, {"a": skill("a")})
            package = replace(package, skills=(replace(package.skills[0], name=name),))
            plan = planned(library, replace(package, skills=()), Choices())
            from importer.model import Disposition, PlannedSkill, Reason

            evil = PlannedSkill(
                candidate=package.skills[0],
                disposition=Disposition.INSTALL,
                reason=Reason.NEW,
                installed=None,
                facts={},
            )
            with library.writer(command="install") as writer, pytest.raises(LibraryError) as caught:
                writer.apply(replace(plan, skills=(evil,)), staging, ORIGIN)
            assert caught.value.code == "library-name-unknown"
    assert set(os.listdir(quick)) <= {".importer"}


# --- snapshots -------------------------------------------------------------------------------------------------------


def test_a_snapshot_says_how_a_skill_differs(quick: Path) -> None:
    install(quick, {"a": skill("a")}, origin=OTHER_ORIGIN)
    (quick / "skills/a/SKILL.md").write_text("edited")
    (quick / "skills/a/references/units.md").unlink()
    (quick / "skills/a/new/deep").mkdir(parents=True)
    (quick / "skills/a/new/deep/x").write_text("x")
    (quick / "skills/a/scripts/count").chmod(0o644)
    with Library.open(quick) as library:
        found = library.snapshot(skills=["a", "none"]).skills
    assert set(found) == {"a"}
    one = found["a"]
    assert one.edited
    assert (one.modified, one.missing, one.extra) == (
        ("SKILL.md", "scripts/count"),
        ("references/units.md",),
        ("new/deep/x",),
    )
    assert one.origin == OTHER_ORIGIN


def test_unmanaged_things_are_part_of_a_snapshot(quick: Path) -> None:
    (quick / "skills/own").mkdir(parents=True)
    (quick / "skills/own/SKILL.md").write_text("mine")
    (quick / "skills/file").write_text("no folder")
    (quick / "skills/gone").symlink_to("nowhere")
    (quick / "skills/loop").symlink_to("loop")
    os.mkfifo(quick / "skills/own/pipe")
    (quick / "specialists/theirs").mkdir(parents=True)
    (quick / "specialists/theirs/manifest.json").write_text('{"version": "1.2.3"}')
    (quick / "specialists/theirs/specialist.json").write_text('{"name": "Theirs"}')
    (quick / "connectors").mkdir()
    (quick / "connectors/c.json").write_text("{}")
    with Library.open(quick) as library:
        snapshot = library.snapshot(skills=["own", "file", "gone", "loop"], connectors=["c", "d"])
    assert {name: one.managed for name, one in snapshot.skills.items()} == dict.fromkeys(
        ("own", "file", "gone", "loop"), False
    )
    assert len({one.digest for one in snapshot.skills.values()}) == 4
    assert set(snapshot.connectors) == {"c"}
    theirs = snapshot.specialists["theirs"]
    assert (theirs.version, theirs.name, theirs.revision, theirs.edited) == ("1.2.3", "Theirs", 0, True)
    assert not (quick / ".importer").exists()


def test_a_link_inside_a_skill_is_never_identical_to_a_file(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    digest = _digest(quick)
    units = quick / "skills/a/references/units.md"
    units.rename(quick / "units.md")
    units.symlink_to(quick / "units.md")
    assert _digest(quick) != digest


def _digest(root: Path) -> str:
    with Library.open(root) as library:
        one = library.snapshot(skills=["a"]).skills["a"]
    assert isinstance(one, InstalledSkill)
    return one.digest


def test_the_digest_on_disk_is_the_documented_one(quick: Path) -> None:
    import subprocess

    install(quick, {"a": skill("a", ä=b"1", zz=b"2", aa=b"3")})
    line = "find . -type f | sed 's|^./||' | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum | cut -d' ' -f1"
    done = subprocess.run(["sh", "-c", line], cwd=quick / "skills/a", capture_output=True, text=True, check=True)
    assert _digest(quick) == f"h1:{done.stdout.strip()}"


def test_a_removed_folder_counts_as_not_installed_and_installs_again(quick: Path) -> None:
    import shutil

    install(quick, {"a": skill("a")}, role=Role())
    shutil.rmtree(quick / "skills/a")
    shutil.rmtree(quick / "specialists/field-analyst")
    with Library.open(quick) as library:
        snapshot = library.snapshot(skills=["a"])
        assert (snapshot.skills, snapshot.specialists) == ({}, {})
        assert [(one.listed.name, one.ok) for one in library.verify()] == [("a", False), ("field-analyst", False)]
    applied = install(quick, {"a": skill("a")}, role=Role())
    assert {one.name for one in applied.installed} == {"a", "field-analyst"}
    with Library.open(quick) as library:
        assert library.snapshot(skills=[]).specialists["field-analyst"].revision == 2
        assert all(one.ok for one in library.verify())
