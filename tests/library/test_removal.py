"""Removal: only what the library installed, to the trash; what protects a skill; what of the person's own stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from importer.library import Library, LibraryError
from importer.library.removal import RemovalPlan
from tests.library.scenes import Role, connector, files_of, install, remove, rollback, skill, visible, whole


def _plan(root: Path, kind: str, name: str, *with_skills: str) -> RemovalPlan:
    with Library.open(root) as library:
        return library.plan_removal(kind, name, with_skills)


def _refused(root: Path, kind: str, name: str, *with_skills: str) -> list[tuple[str, object]]:
    """Return what stands against a removal, after trying it all the same."""
    before = whole(root)
    plan = _plan(root, kind, name, *with_skills)
    assert plan.refusals
    with (
        Library.open(root) as library,
        library.writer(command="remove") as writer,
        pytest.raises(LibraryError) as caught,
    ):
        writer.remove(plan)
    assert caught.value.code == plan.refusals[0].code
    assert whole(root) == before
    return [(d.code, d.facts.get("reason", d.facts.get("name"))) for d in plan.refusals]


def test_a_removed_skill_is_in_the_trash_with_its_edits(quick: Path) -> None:
    install(quick, {"a": skill("a"), "b": skill("b")})
    (quick / "skills/a/SKILL.md").write_text("edited")
    (quick / "skills/a/.DS_Store").write_bytes(b"\0")
    old = files_of(quick / "skills/a")
    plan = _plan(quick, "skill", "a")
    assert (plan.refusals, plan.released) == ((), ())
    assert [(one.name, one.edited, one.kept) for one in plan.items] == [("a", ("SKILL.md",), ())]
    applied = remove(quick, "skill", "a")
    assert [(one.kind, one.name) for one in applied.removed] == [("skill", "a")]
    assert sorted(os.listdir(quick / "skills")) == ["b"]
    assert files_of(quick / f".importer/trash/{applied.transaction}/skills/a") == old
    with Library.open(quick) as library:
        assert [one.name for one in library.listing()] == ["b"]
        assert library.history()[0].verb == "remove"


def test_a_persons_own_files_stay_where_they_are(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    base = quick / "skills/a"
    (base / "mine.txt").write_text("1")
    (base / "references/mine.md").write_text("2")
    (base / "own/deep").mkdir(parents=True)
    (base / "own/deep/x").write_text("3")
    (base / "own/link").symlink_to("deep/x")
    inode = (base / "own/deep/x").stat().st_ino
    plan = _plan(quick, "skill", "a")
    assert plan.items[0].kept == ("mine.txt", "own/deep/x", "own/link", "references/mine.md")
    applied = remove(quick, "skill", "a")
    assert {path for path, what in files_of(base).items() if what != "folder"} == set(plan.items[0].kept)
    assert (base / "own/deep/x").stat().st_ino == inode
    trash = quick / f".importer/trash/{applied.transaction}"
    assert sorted(os.listdir(trash)) == ["skills", "transaction.json"]
    assert {p for p, what in files_of(trash / "skills/a").items() if what != "folder"} == set(skill("a"))


def test_a_linked_skill_loses_its_link_only(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    (quick / "skills/a").rename(quick / "elsewhere")
    (quick / "skills/a").symlink_to(quick / "elsewhere")
    remove(quick, "skill", "a")
    assert not os.path.lexists(quick / "skills/a")
    assert (quick / "elsewhere/SKILL.md").exists()


def test_what_is_gone_from_the_disk_goes_from_the_record(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    (quick / "skills/a").rename(quick / "elsewhere")
    applied = remove(quick, "skill", "a")
    with Library.open(quick) as library:
        assert library.listing() == ()
        assert library.history()[0].id == applied.transaction


def test_an_unknown_name_is_said(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    for kind, name in (("skill", "b"), ("specialist", "a"), ("connector", "a"), ("plugin", "a"), ("skill", "../a")):
        with pytest.raises(LibraryError) as caught:
            _plan(quick, kind, name)
        assert caught.value.code == "library-name-unknown"
    with pytest.raises(LibraryError) as caught:
        _plan(quick / "none", "skill", "a")
    assert caught.value.code == "library-name-unknown"
    assert not (quick / "none").exists()


def test_what_nobody_imported_is_not_removed(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    (quick / "skills/own").mkdir()
    (quick / "skills/own/SKILL.md").write_text("mine")
    assert _refused(quick, "skill", "own") == [("library-unmanaged", "own")]


@pytest.mark.parametrize("role", [Role(), Role(names=("alone",))])
def test_a_skill_that_a_specialist_uses_is_protected_by_its_name(role: Role, quick: Path) -> None:
    install(quick, {"alone": skill("alone")})
    install(quick, {} if role.names else {"audit": skill("audit")}, role=role)
    name = "alone" if role.names else "audit"
    assert _refused(quick, "skill", name) == [("library-protected", "users")]
    plan = _plan(quick, "skill", name)
    assert "field-analyst" in plan.refusals[0].message
    assert plan.refusals[0].facts["users"] == ["field-analyst"]


def test_a_skill_that_is_enabled_for_the_main_agent_is_protected(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    with Library.open(quick) as library:
        library.set_skill_enabled("a", True)
        assert library.skill_enabled("a")
        with pytest.raises(LibraryError):
            library.set_skill_enabled("b", True)
    assert _refused(quick, "skill", "a") == [("library-protected", "enabled")]
    with Library.open(quick) as library:
        library.set_skill_enabled("a", False)
    remove(quick, "skill", "a")


def test_what_the_host_ships_is_protected(quick: Path) -> None:
    install(quick, {"pdf": skill("pdf")}, role=Role(), connectors=[connector("pubmed")])
    (quick / ".importer/config.toml").write_text(
        '[host]\nskills = { pdf = "1.0.0" }\nspecialists = ["field-analyst"]\nconnectors = ["pubmed"]\n'
    )
    assert ("library-protected", "builtin") in _refused(quick, "skill", "pdf")
    assert _refused(quick, "specialist", "field-analyst") == [("library-protected", "builtin")]
    assert _refused(quick, "connector", "pubmed") == [("library-protected", "builtin")]


def test_a_specialist_goes_and_its_skills_stay_standalone(quick: Path) -> None:
    install(quick, {"audit": skill("audit"), "chart": skill("chart")}, role=Role())
    plan = _plan(quick, "specialist", "field-analyst")
    assert (plan.released, [one.name for one in plan.items]) == (("audit", "chart"), ["field-analyst"])
    applied = remove(quick, "specialist", "field-analyst")
    assert [one.name for one in applied.released] == ["audit", "chart"]
    with Library.open(quick) as library:
        assert [(one.name, one.owners, one.users) for one in library.listing()] == [
            ("audit", (), ()),
            ("chart", (), ()),
        ]
        with pytest.raises(LibraryError):
            library.specialist_settings("field-analyst")
    remove(quick, "skill", "audit")


def test_skills_go_with_their_specialist_when_named_and_unprotected(quick: Path) -> None:
    install(quick, {"audit": skill("audit"), "chart": skill("chart"), "count": skill("count")}, role=Role())
    install(quick, {}, role=Role(id="reader", names=("chart",)))
    with Library.open(quick) as library:
        library.set_skill_enabled("count", True)
    assert _refused(quick, "specialist", "field-analyst", "chart", "count", "nobody") == [
        ("library-protected", "users"),
        ("library-protected", "enabled"),
        ("library-name-unknown", "nobody"),
    ]
    plan = _plan(quick, "specialist", "field-analyst", "all")
    assert [one.name for one in plan.items] == ["field-analyst", "audit"]
    assert plan.released == ("chart", "count")
    assert [d.code for d in plan.notes] == ["library-skill-kept", "library-skill-kept"]
    applied = remove(quick, "specialist", "field-analyst", ["all"])
    assert [one.name for one in applied.removed] == ["field-analyst", "audit"]
    assert sorted(os.listdir(quick / "skills")) == ["chart", "count"]


def test_a_connector_that_is_named_goes_with_a_word(quick: Path) -> None:
    install(quick, {"a": skill("a")}, role=Role(connectors=("pubmed",)), connectors=[connector("pubmed")])
    plan = _plan(quick, "connector", "pubmed")
    assert [(d.code, d.facts["specialist"]) for d in plan.notes] == [("connector-still-named", "field-analyst")]
    remove(quick, "connector", "pubmed")
    assert os.listdir(quick / "connectors") == []


def test_a_removal_that_was_previewed_is_checked_again(quick: Path) -> None:
    install(quick, {"a": skill("a"), "b": skill("b")})
    plan = _plan(quick, "skill", "a")
    (quick / "skills/a/SKILL.md").write_text("edited")
    with (
        Library.open(quick) as library,
        library.writer(command="remove") as writer,
        pytest.raises(LibraryError, match="stale") as caught,
    ):
        writer.remove(plan)
    assert caught.value.code == "library-stale"
    plan = _plan(quick, "skill", "a")
    (quick / "skills/b/SKILL.md").write_text("unrelated")
    with Library.open(quick) as library, library.writer(command="remove") as writer:
        writer.remove(plan)


def test_a_new_revision_makes_a_removal_stale(quick: Path) -> None:
    install(quick, {"a": skill("a")}, role=Role())
    plan = _plan(quick, "specialist", "field-analyst")
    install(quick, {"a": skill("a")}, role=Role(prompt="Other."))
    install(quick, {"a": skill("a")}, role=Role())
    with (
        Library.open(quick) as library,
        library.writer(command="remove") as writer,
        pytest.raises(LibraryError) as caught,
    ):
        writer.remove(plan)
    assert caught.value.code == "library-stale"
    assert _plan(quick, "specialist", "field-analyst").items[0].revision == 3


def test_planning_a_removal_changes_nothing(quick: Path) -> None:
    install(quick, {"a": skill("a")}, role=Role())
    before = files_of(quick)
    _plan(quick, "specialist", "field-analyst", "all")
    after = files_of(quick)
    assert {k: v for k, v in after.items() if "library.db" not in k} == {
        k: v for k, v in before.items() if "library.db" not in k
    }


# --- rollback --------------------------------------------------------------------------------------------------------


def _why_not(root: Path, transaction: str) -> str:
    before = whole(root)
    with pytest.raises(LibraryError) as caught:
        rollback(root, transaction)
    assert whole(root) == before
    assert caught.value.code == "library-rollback-refused"
    return caught.value.message


def test_the_history_says_what_a_rollback_of_a_rollback_did(quick: Path) -> None:
    """Back and forth: what goes again is removed, what comes again is restored; so is what belongs to somebody."""
    install(quick, {"a": skill("a"), "b": skill("b")}, role=Role())
    released = install(quick, {"a": skill("a")}, role=Role(prompt="Other."))
    back = rollback(quick, released.transaction)
    with Library.open(quick) as library:
        past = {one.id: {(c.kind, c.name): c.action for c in one.changes} for one in library.history()}
    assert past[released.transaction]["skill", "b"] == "released"
    assert past[back.transaction]["skill", "b"] == "owned"
    removed = remove(quick, "specialist", "field-analyst")
    first = rollback(quick, removed.transaction)
    second = rollback(quick, first.transaction)
    third = rollback(quick, second.transaction)
    assert [[one.name for one in done.removed] for done in (first, second, third)] == [[], ["field-analyst"], []]
    assert [[one.name for one in done.restored] for done in (first, second, third)] == [
        ["field-analyst"],
        [],
        ["field-analyst"],
    ]


def test_a_replacement_rolls_back_exactly(quick: Path) -> None:
    install(quick, {"a": skill("a"), "b": skill("b")}, role=Role())
    (quick / "skills/a/mine.txt").write_text("mine")
    (quick / "skills/a/SKILL.md").chmod(0o755)
    before = visible(quick)
    with Library.open(quick) as library:
        record = {one.name: (one.item, one.owners) for one in library.listing()}
    applied = install(quick, {"a": skill("a", "New.\n"), "c": skill("c")}, role=Role(prompt="Other."))
    assert visible(quick) != before
    back = rollback(quick, applied.transaction)
    assert {(one.kind, one.name) for one in back.restored} == {("skill", "a"), ("specialist", "field-analyst")}
    assert {(one.kind, one.name) for one in back.removed} == {("skill", "c")}
    now = {path: what for path, what in visible(quick).items() if not path.startswith(".importer/trash/")}
    assert now == before
    with Library.open(quick) as library:
        assert {one.name: (one.item, one.owners) for one in library.listing()} == record
        past = {one.id: one for one in library.history()}
        assert past[applied.transaction].undone_by == back.transaction
        assert past[back.transaction].undoes == applied.transaction
    assert not (quick / f".importer/trash/{applied.transaction}").exists()
    assert "already" in _why_not(quick, applied.transaction)


def test_a_removal_rolls_back_among_the_files_that_stayed(quick: Path) -> None:
    install(quick, {"a": skill("a")}, role=Role())
    remove(quick, "specialist", "field-analyst")
    base = quick / "skills/a"
    (base / "own").mkdir()
    (base / "own/x").write_text("1")
    (base / "references/mine.md").write_text("2")
    (base / "SKILL.md").write_text("edited")
    before = files_of(base)
    applied = remove(quick, "skill", "a")
    (base / "own/later").write_text("3")
    rollback(quick, applied.transaction)
    assert files_of(base) == before | {"own/later": files_of(base)["own/later"]}


def test_a_specialist_comes_back_with_settings_and_skills(quick: Path) -> None:
    from importer.library.settings import SpecialistSettings

    install(quick, {"a": skill("a"), "b": skill("b")}, role=Role())
    with Library.open(quick) as library:
        library.set_specialist_settings("field-analyst", SpecialistSettings(enabled=True, values={"k": 1}))
    before = whole(quick)
    applied = remove(quick, "specialist", "field-analyst", ["a"])
    rollback(quick, applied.transaction)
    now = whole(quick)
    assert {p: w for p, w in now[0].items() if ".importer" not in p} == before[0]
    assert {k: v for k, v in now[1].items() if k != "history"} == {k: v for k, v in before[1].items() if k != "history"}


def test_a_rollback_rolls_back(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    applied = install(quick, {"a": skill("a", "New.\n")})
    new = files_of(quick / "skills/a")
    back = rollback(quick, applied.transaction)
    rollback(quick, back.transaction)
    assert files_of(quick / "skills/a") == new


def test_what_stands_on_it_is_named(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    applied = install(quick, {"a": skill("a", "New.\n")})
    later = install(quick, {"a": skill("a", "Newer.\n")})
    assert later.transaction in _why_not(quick, applied.transaction)
    rollback(quick, later.transaction)
    rollback(quick, applied.transaction)


def test_a_later_edit_stands_on_it(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    applied = install(quick, {"a": skill("a", "New.\n")})
    (quick / "skills/a/SKILL.md").write_text("edited since")
    assert "edited since" in _why_not(quick, applied.transaction)


def test_a_later_specialist_stands_on_it(quick: Path) -> None:
    first = install(quick, {"a": skill("a")})
    applied = install(quick, {"a": skill("a", "New.\n")})
    install(quick, {}, role=Role(names=("a",)))
    assert "field-analyst" in _why_not(quick, applied.transaction)
    assert "a was changed since" in _why_not(quick, first.transaction)


def test_something_in_its_place_stands_on_it(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    applied = remove(quick, "skill", "a")
    (quick / "skills/a").mkdir()
    assert "has the place" in _why_not(quick, applied.transaction)
    (quick / "skills/a").rmdir()
    install(quick, {"a": skill("a", "Other.\n")})
    assert "installed again since" in _why_not(quick, applied.transaction)


def test_a_file_that_would_meet_another_is_named(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    (quick / "skills/a/mine.txt").write_text("x")
    applied = remove(quick, "skill", "a")
    (quick / "skills/a/SKILL.md").write_text("a new one")
    assert "SKILL.md" in _why_not(quick, applied.transaction)


def test_trash_that_is_gone_or_changed_is_said(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    applied = remove(quick, "skill", "a")
    trashed = quick / f".importer/trash/{applied.transaction}/skills/a"
    (trashed / "SKILL.md").write_text("changed")
    assert "changed in the trash" in _why_not(quick, applied.transaction)
    trashed.rename(quick / "elsewhere")
    assert "no longer in the trash" in _why_not(quick, applied.transaction)


def test_an_unknown_transaction_is_said(quick: Path) -> None:
    install(quick, {"a": skill("a")})
    with pytest.raises(LibraryError) as caught:
        rollback(quick, "nothing")
    assert caught.value.code == "library-transaction-unknown"


def test_history_is_pruned_by_age_and_bytes(quick: Path) -> None:
    install(quick, {"a": skill("a", data=b"x" * 1000)})
    first = install(quick, {"a": skill("a", data=b"y" * 1000)})
    second = install(quick, {"a": skill("a", data=b"z" * 1000)})
    with Library.open(quick) as library:
        with library.writer(command="prune") as writer:
            assert writer.prune(max_bytes=10_000, max_days=1).transactions == ()
            pruned = writer.prune(max_bytes=2_000, max_days=1)
            assert len(pruned.transactions) == 1
            assert pruned.bytes > 1000
            assert pruned.left_bytes <= 2_000
        left = {past.id: past.in_trash for past in library.history()}
        assert sorted((left[first.transaction], left[second.transaction])) == [False, True]
    later = time.time() + 3 * 86400
    with Library.open(quick, clock=lambda: later) as library, library.writer(command="prune") as writer:
        assert len(writer.prune(max_bytes=10_000, max_days=2).transactions) == 1
    assert os.listdir(quick / ".importer/trash") == []
    assert "no longer in the trash" in _why_not(quick, second.transaction)
