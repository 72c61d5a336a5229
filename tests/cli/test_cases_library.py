"""What is installed meets what comes in: dispositions, edits, overwrites, removal, what a preview writes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from importer.fs import DiskError
from importer.library import Library
from importer.library.settings import SpecialistSettings
from tests.builders.packages import below, skill, skill_md, specialist
from tests.builders.trees import Run, make_tree
from tests.cli.scene import Scene


def tree_state(folder: Path) -> dict[str, tuple[int, int, bytes | str]]:
    """Everything below a folder with mode, change time and content: nothing may have been written, not even in vain."""
    state: dict[str, tuple[int, int, bytes | str]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content: bytes | str = path.read_bytes() if path.is_file() else "folder"
        state[path.relative_to(folder).as_posix()] = (status.st_mode, status.st_mtime_ns, content)
    return state


def test_install_export_preview_is_no_conflict_with_itself(scene: Scene) -> None:
    scene.install(scene.tree({**skill("demo"), "run": Run(b"#!/bin/sh\n")}, "demo"))
    exported = scene.place("demo-export.zip")
    assert scene.run("export", "skill", "demo", "--output", exported).status == 0
    look = scene.taken(exported)
    assert (look.skills["demo"]["disposition"], look.skills["demo"]["reason"]) == ("reuse", "identical")


def test_an_edit_is_never_overwritten_in_silence(scene: Scene) -> None:
    """What is on disk is hashed again: the original is a conflict, which names the edited file."""
    original = scene.zip(below("demo", skill("demo")))
    scene.install(original)
    edited = scene.library / "skills/demo/references/units.md"
    edited.write_bytes(b"# My units\n")
    look = scene.look(original)
    assert look.status == 4
    assert look.skills["demo"]["disposition"] == "conflict"
    assert look.skills["demo"]["installed"]["edited"] is True
    assert look.skills["demo"]["installed"]["modified"] == ["references/units.md"]
    assert "references/units.md" in look.human
    # Another package with the original in it is no way around.
    other = scene.zip(specialist(skills={"demo": skill("demo")}), "other.zip")
    assert scene.look(other).skills["demo"]["disposition"] == "conflict"
    for source in (original, other):
        assert scene.run("install", source, "--yes", "--confirm-overwrite").status == 4
    assert edited.read_bytes() == b"# My units\n"


def test_overwriting_a_specialist_keeps_what_the_person_set(scene: Scene) -> None:
    """The revision rises, settings stay, and a skill that it no longer bundles belongs to nobody."""
    scene.install(scene.zip(specialist()))
    settings = SpecialistSettings(enabled=True, setup_pending=False, values={"model": "large"})
    with Library.open(scene.library) as opened:
        opened.set_specialist_settings("field-analyst", settings)
    smaller = specialist(
        {"version": "1.1.0"}, {"skill_ids": ["table-audit"]}, skills={"table-audit": skill("table-audit")}
    )
    source = scene.zip(smaller, "smaller.zip")
    look = scene.look(source)
    assert look.report["specialist"]["releases"] == ["chart-check"]
    assert "chart-check" in look.human
    scene.install(source, "--confirm-overwrite")
    with Library.open(scene.library) as opened:
        assert opened.specialist_settings("field-analyst") == settings
    owners = {s["name"]: s["owners"] for s in scene.run("list", "--json").json["skills"]}
    assert owners == {"table-audit": ["field-analyst"], "chart-check": []}
    assert scene.run("list", "--json").json["specialists"][0]["revision"] == 2


@pytest.mark.parametrize(
    ("version", "fact"), [("1.0.0", "changed_without_new_version"), ("0.9.0", "downgrade"), ("1.0.1", None)]
)
def test_an_overwrite_says_what_it_is(scene: Scene, version: str, fact: str | None) -> None:
    scene.install(scene.zip(specialist()))
    changed = scene.zip(specialist({"version": version}, {"system_prompt": "Now answer in verse."}), "changed.zip")
    look = scene.look(changed)
    assert look.status == 4
    assert look.report["needs"]["confirm_overwrite"] is True
    facts = look.report["specialist"]["facts"]
    assert [name for name in ("changed_without_new_version", "downgrade") if facts.get(name)] == (
        [fact] if fact else []
    )
    (scene.library / "specialists/field-analyst/specialist.json").write_text("{}")
    assert scene.look(changed).report["specialist"]["installed"]["edited"] is True


def test_an_equal_version_with_other_content_differs(scene: Scene) -> None:
    """Identity is the content, never the version."""
    old = "metadata:\n  version: 1.0.0"
    scene.install(scene.zip(skill("demo", extra=old), "old.zip"))
    look = scene.look(scene.zip(skill("demo", body="# New\n", extra=old), "new.zip"))
    assert look.skills["demo"]["installed"]["relation"] == "same"
    assert "same version, other content" in look.human


def test_another_source_of_the_same_name_is_a_conflict_that_names_both(scene: Scene) -> None:
    """The record says where the installed one came from; nothing flips it."""
    first, second = scene.zip(skill("shadcn"), "first.zip"), scene.zip(skill("shadcn", body="# B\n"), "second.zip")
    scene.install(first)
    before = scene.run("show", "shadcn", "--json").json
    look = scene.look(second)
    assert look.status == 4
    assert look.skills["shadcn"]["installed"]["origin"] == "other"
    assert first.name in " ".join(look.human.split())
    assert second.name in look.human
    assert scene.run("install", second, "--yes").status == 4
    assert scene.run("show", "shadcn", "--json").json == before
    # Identical bytes from elsewhere are reused, and the record keeps its origin.
    copy = scene.place("copy.zip")
    shutil.copy(first, copy)
    scene.install(copy)
    assert scene.run("show", "shadcn", "--json").json["items"][0]["origin"] == before["items"][0]["origin"]


def test_a_persons_own_skill_counts_as_installed(scene: Scene) -> None:
    """Same bytes: reuse without an owner. Other bytes: a conflict, and what was replaced comes back."""
    mine = make_tree(scene.library / "skills" / "theme-factory", {**skill("theme-factory"), "mine.txt": b"my own\n"})
    source = scene.zip(below("theme-factory", skill("theme-factory")))
    look = scene.look(source)
    assert look.status == 4
    assert look.skills["theme-factory"]["installed"]["managed"] is False
    report = scene.install(source, "--choose", "theme-factory=incoming", "--confirm-overwrite")
    assert not (mine / "mine.txt").exists() or (mine / "mine.txt").read_bytes() == b"my own\n"
    assert scene.run("rollback", report["transaction"]).status == 0
    assert (mine / "mine.txt").read_bytes() == b"my own\n"


def test_removal_touches_only_what_was_installed(scene: Scene) -> None:
    scene.install(scene.zip(below("demo", skill("demo"))))
    foreign = make_tree(scene.library / "skills" / "foreign", {"SKILL.md": skill_md("foreign")})
    (scene.library / "skills" / "dangling").symlink_to("nowhere")
    assert scene.run("remove", "skill", "foreign", "--yes").status != 0
    assert scene.run("remove", "skill", "dangling", "--yes").status != 0
    (scene.library / "skills/demo/own.txt").write_bytes(b"own")
    assert scene.run("remove", "skill", "demo", "--yes").status == 0
    assert (foreign / "SKILL.md").exists()
    assert (scene.library / "skills" / "dangling").is_symlink()
    assert [p.name for p in (scene.library / "skills/demo").rglob("*")] in ([], ["own.txt"])


def test_links_where_skills_live(scene: Scene) -> None:
    """A skills folder that is a link stays one; a skill that is a link to a folder is somebody's own, and shown so."""
    elsewhere = scene.place("elsewhere")
    elsewhere.mkdir()
    scene.library.mkdir()
    (scene.library / "skills").symlink_to(elsewhere)
    scene.install(scene.zip(below("demo", skill("demo"))))
    assert (scene.library / "skills").is_symlink()
    assert (elsewhere / "demo" / "SKILL.md").exists()
    make_tree(scene.folder / "packages/linked", skill("linked"))
    (elsewhere / "linked").symlink_to(scene.folder / "packages/linked")
    source = scene.zip(below("linked", skill("linked", body="# Theirs\n")), "linked.zip")
    look = scene.look(source)
    assert look.status == 4
    assert look.skills["linked"]["installed"]["managed"] is False
    assert "a link to" in scene.run("list").out
    assert scene.run("install", source, "--yes", "--choose", "linked=installed").status == 0
    assert (elsewhere / "linked").is_symlink()


def test_a_preview_writes_nothing_that_anybody_sees(scene: Scene) -> None:
    """Not even a new time stamp on what is installed; and it lists everything."""
    scene.install(scene.zip(below("demo", skill("demo"))))
    before = tree_state(scene.library / "skills")
    look = scene.look(scene.zip(below("demo", skill("demo", body="# New\n")) | below("b", skill("b")), "new.zip"))
    assert set(look.skills) == {"demo", "b"}
    assert tree_state(scene.library / "skills") == before
    assert scene.run("remove", "skill", "demo").status == 0
    assert tree_state(scene.library / "skills") == before


def test_a_failed_swap_loses_neither_copy(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rename of the new one fails as if the folder were held open: the old one is back, and a retry works."""
    scene.install(scene.zip(below("demo", skill("demo")), "old.zip"))
    before = scene.installed()
    newer = scene.zip(below("demo", skill("demo", body="# New\n")), "new.zip")
    words = ("install", newer, "--yes", "--choose", "demo=incoming", "--confirm-overwrite", "--json")
    real, calls = os.rename, []

    def failing(*arguments: object, **options: object) -> None:
        calls.append(arguments)
        if len(calls) == 2:
            raise PermissionError(1, "Operation not permitted", str(arguments[1]))
        real(*arguments, **options)  # type: ignore[arg-type] # passed on as they came

    monkeypatch.setattr(os, "rename", failing)
    failed = scene.run(*words)
    monkeypatch.setattr(os, "rename", real)
    assert len(calls) >= 2
    assert failed.status == 1
    assert scene.installed() == before
    assert scene.staged() == []
    assert scene.run(*words).status == 0


def test_stale_files_do_not_stay(scene: Scene) -> None:
    """A file that the new version no longer has is gone after a replace; one that is new is there."""
    scene.install(scene.zip(below("demo", skill("demo") | {"old.txt": b"old"}), "old.zip"))
    newer = scene.zip(below("demo", skill("demo") | {"new.txt": b"new"}), "new.zip")
    scene.install(newer, "--choose", "demo=incoming", "--confirm-overwrite")
    assert set(scene.installed()) == set(below("skills/demo", skill("demo"))) | {"skills/demo/new.txt"}


def test_line_ends_are_hashed_as_they_are(scene: Scene) -> None:
    """The digest is that of the published bytes; a checkout that rewrites line ends differs, and is said to."""
    files = skill("demo")
    crlf = files | {"SKILL.md": files["SKILL.md"].replace(b"\n", b"\r\n")}
    scene.install(scene.zip(files, "lf.zip"))
    look = scene.look(scene.zip(crlf, "crlf.zip"))
    assert look.status == 4
    (item,) = scene.run("show", "demo", "--json").json["items"]
    assert item["digest"] == item["digest_now"]


def test_a_connector_that_vanishes_makes_a_specialist_stale(scene: Scene) -> None:
    """It resolved when it was shown; installed without it would be something else."""
    config = scene.raw(
        json.dumps({"mcpServers": {"pubmed": {"command": "uvx", "args": ["pubmed"]}}}).encode(), "c.json"
    )
    scene.install(config)
    source = scene.zip(specialist(None, {"connector_ids": ["pubmed"]}))
    look = scene.taken(source)
    assert scene.run("remove", "connector", "pubmed", "--yes").status == 0
    done = scene.run("install", look.report["token"], "--json")
    assert (done.status, done.json["code"]) == (5, "library-stale")
    assert "skills/table-audit/SKILL.md" not in scene.installed()


def test_a_library_that_cannot_be_read_is_said(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk error names the path that the person knows, and the cause."""
    scene.install(scene.zip(below("demo", skill("demo"))))

    def refusing(*_arguments: object, **_options: object) -> None:
        raise DiskError("disk-refused", "the disk refuses", "/library")

    monkeypatch.setattr(Library, "open", refusing)
    done = scene.run("list", "--json")
    assert (done.status, done.json["code"]) == (1, "disk-refused")


def test_200_skills_over_200_installed_ones_cost_one_look_at_each(scene: Scene) -> None:
    """Each installed skill is read once for a preview, whatever the number of skills of that name."""
    many = {f"s{n:03}/SKILL.md": skill_md(f"s{n:03}") for n in range(200)}
    scene.install(scene.zip(many, "old.zip"))
    newer = {name: data + b"More.\n" for name, data in many.items()}
    look = scene.look(scene.zip(newer, "new.zip"))
    assert len(look.report["needs"]["choices"]) == 200
    assert "each of the 200 conflicts" in look.human
    assert max(map(len, look.human.splitlines())) < 400
