"""Packages that claim what is not theirs, that meet each other, or that are faulty inside: from the command line."""

from __future__ import annotations

import json

import pytest

from tests.builders.archives import zip_bytes
from tests.builders.packages import below, skill, skill_md, specialist
from tests.cli.scene import Scene


@pytest.mark.parametrize("record", [".source.json", ".specialist-package.json"])
def test_a_host_record_is_never_taken_from_a_package(scene: Scene, record: str) -> None:
    """It gives no owner and no origin, is not installed, and the skill can be removed like any other."""
    claim = json.dumps({"owner": "reviewer", "specialist_id": "reviewer", "protected": True}).encode()
    plain, claiming = scene.zip(skill("demo"), "plain.zip"), scene.zip(skill("demo") | {record: claim}, "claim.zip")
    look = scene.taken(claiming)
    assert record in look.found("host-file-ignored")["message"]
    assert look.skills["demo"]["digest"] == scene.taken(plain).skills["demo"]["digest"]
    assert look.skills["demo"]["files"] == 3
    scene.install(look.report["token"])
    assert set(scene.installed()) == set(below("skills/demo", skill("demo")))
    (listed,) = scene.run("list", "--json").json["skills"]
    assert listed["owners"] == []
    assert scene.run("remove", "skill", "demo", "--yes").status == 0
    # Deeper in the skill the name means nothing, and the file is content.
    kept = scene.taken(scene.zip(skill("demo") | {f"references/{record}": claim}))
    assert kept.skills["demo"]["files"] == 4


def test_two_candidates_of_one_name_are_an_error_naming_both(scene: Scene) -> None:
    """Also over an installed skill of that name: neither is taken, and no last one wins."""
    scene.install(scene.zip(below("demo", skill("demo")), "first.zip"))
    before = scene.installed()
    files = below("one/demo", skill("demo", body="# One\n")) | below("two/demo", skill("demo", body="# Two\n"))
    source = scene.zip(files)
    finding = scene.refused(source, "skill-name-clash")
    assert "one/demo" in finding["message"]
    assert "two/demo" in finding["message"]
    assert scene.run("install", source, "--yes", "--keep-going").status == 3
    assert scene.installed() == before
    look = scene.look(source, "--skill", "two/demo", "--choose", "demo=incoming")
    assert look.skills["demo"]["root"] == "two/demo"


def test_one_skill_published_three_times_is_taken_once(scene: Scene) -> None:
    files = below("skills/demo", skill("demo"))
    files |= below("examples/demo", skill("demo")) | below(".well-known/demo", skill("demo"))
    look = scene.taken(scene.zip(files))
    assert list(look.skills) == ["demo"]
    message = look.found("skill-duplicate")["message"]
    assert sum(root in message for root in ("skills/demo", "examples/demo", ".well-known/demo")) >= 2
    assert {item["reason"] for item in look.report["left_out"]} <= {"duplicate"}


def test_more_candidates_than_one_import_takes_ask_for_a_selection(scene: Scene) -> None:
    """Exit 4 with every name; a selection goes on."""
    source = scene.zip({f"s{n:03}/SKILL.md": skill_md(f"s{n:03}") for n in range(257)})
    look = scene.look(source)
    assert look.status == 4
    assert look.report["needs"]["selection"] == [f"s{n:03}" for n in range(257)]
    assert "--skill" in look.human
    few = scene.zip({f"s{n}/SKILL.md": skill_md(f"s{n}") for n in range(4)}, "few.zip")
    limit = ("--budget", "bundle.skills=3")
    assert scene.look(few, *limit).status == 4
    staged = scene.staged()
    assert scene.run("install", few, "--yes", *limit).status == 4
    assert scene.staged() == staged
    assert list(scene.taken(few, *limit, "--skill", "s0", "--skill", "s3").skills) == ["s0", "s3"]
    assert len(scene.taken(few, "--budget", "bundle.skills=4").skills) == 4
    assert scene.installed() == {}


def test_plugins_of_others_give_their_skills_and_are_named(scene: Scene) -> None:
    files = below("skills/demo", skill("demo")) | {".claude-plugin/plugin.json": b'{"name": "p", "author": "someone"}'}
    look = scene.taken(scene.tree(files))
    assert "Claude Code" in look.found("plugin-recognised")["message"]
    assert list(look.skills) == ["demo"]


# --- specialists -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapper", ["", "field-analyst-main"])
@pytest.mark.parametrize("kind", ["zip", "tar", "folder"])
def test_a_specialist_from_every_kind_of_source(scene: Scene, wrapper: str, kind: str) -> None:
    files = specialist() | {"README.txt": b"read me\n", "LICENSE": b"free\n"}
    files = below(wrapper, files) if wrapper else files
    source = {"zip": scene.zip, "tar": scene.tar, "folder": scene.tree}[kind](files)
    look = scene.taken(source)
    assert look.report["package"]["id"] == "field-analyst"
    assert look.report["specialist"]["disposition"] == "install"
    assert set(look.skills) == {"table-audit", "chart-check"}
    scene.install(look.report["token"])
    names = {"/".join(name.split("/")[:3]) for name in scene.installed()}
    assert {"specialists/field-analyst/manifest.json", "specialists/field-analyst/specialist.json"} < names
    again = scene.look(source)
    assert again.status == 0
    assert again.report["specialist"]["reason"] == "identical"
    assert "installed already" in again.human


IDS = ["-", "a" * 129, "os-tools", "mcp-tools", "Upper", "../up", "a b", "-a", ""]


@pytest.mark.parametrize("identity", IDS)
def test_an_id_that_is_none(scene: Scene, identity: str) -> None:
    finding = scene.refused(scene.zip(specialist({"id": identity})), "specialist-manifest-invalid")
    assert "id" in finding["message"]


@pytest.mark.parametrize("version", ["1.0", "1.0.0-..", "01.0.0", "v1.0.0", "1.0.0-01", "", "latest"])
def test_a_version_that_is_none(scene: Scene, version: str) -> None:
    for field in ("version", "exported_with_app_version"):
        finding = scene.refused(scene.zip(specialist({field: version})), "specialist-manifest-invalid")
        assert field in finding["message"]


@pytest.mark.parametrize("version", ["1.0.0", "1.0.0-rc.1+build.5", "0.0.1"])
def test_a_version_and_an_id_at_their_bounds(scene: Scene, version: str) -> None:
    look = scene.taken(scene.zip(specialist({"version": version, "id": "a" * 128})))
    assert look.report["package"]["version"] == version
    assert scene.taken(scene.zip(specialist({"id": "0-9-"}))).report["package"]["id"] == "0-9-"


def test_every_fault_of_both_files_at_once(scene: Scene) -> None:
    files = specialist(
        {"id": "-", "version": "1", "schema_version": 2, "more": 1},
        {"name": "x", "description": " ", "icon_key": "a", "enabled": True, "extra": 1, "skill_ids": ["a", "a", ""]},
    )
    look = scene.look(scene.zip(files))
    assert look.status == 3
    text = " ".join(d["message"] for d in look.report["diagnostics"] if d["severity"] == "error")
    for field in ("id", "version", "schema_version", "more", "name", "description", "icon_key", "enabled", "extra"):
        assert field in text
    assert "skill_ids" in text
    assert {"specialist-field-forbidden", "specialist-field-unknown"} < set(look.codes("error"))


FAULTY = {
    "no document": {"notes.md": b"x"},
    "another name": {"SKILL.md": skill_md("other-name")},
    "not UTF-8": {"SKILL.md": b"---\nname: bad\ndescription: \xff\n---\n"},
}


@pytest.mark.parametrize("kind", FAULTY)
def test_a_faulty_bundled_skill(scene: Scene, kind: str) -> None:
    """Not installable; with --keep-going it is left out by name, and the rest installed."""
    source = scene.zip(specialist(skills={"table-audit": skill("table-audit"), "bad": FAULTY[kind]}))
    look = scene.look(source)
    assert look.status == 3
    assert look.left_out["bad"]["reason"] == "faulty"
    assert list(look.skills) == ["table-audit"]
    report = scene.install(source, "--keep-going")
    assert {"kind": "skill", "name": "bad", "reason": "faulty"} in report["skipped"]
    assert not (scene.library / "skills/bad").exists()


def test_a_bundled_folder_with_a_bad_name(scene: Scene) -> None:
    source = scene.zip(specialist(skills={"table-audit": skill("table-audit"), "Bad Name": skill("Bad Name")}))
    look = scene.look(source)
    assert look.status == 3
    assert "Bad Name" in look.human


def test_names_that_resolve_to_nothing_are_warnings(scene: Scene) -> None:
    changes = {"skill_ids": ["table-audit", "chart-check", "nowhere"], "connector_ids": ["pubmed"]}
    look = scene.taken(scene.zip(specialist(None, changes)))
    text = " ".join(d["message"] for d in look.report["diagnostics"] if d["severity"] == "warning")
    assert "nowhere" in text
    assert "pubmed" in text


def test_a_bundled_skill_obeys_the_rules_of_every_skill(scene: Scene) -> None:
    """300 files are fine and verify; 11 folders deep is refused by the preview, not by a later check."""
    wide = {f"data/f{n}.txt": b"x" for n in range(300)}
    source = scene.zip(specialist(skills={"table-audit": skill("table-audit") | wide}))
    scene.install(source)
    assert scene.run("verify", "--json").status == 0
    deep = {"/".join("abcdefghijk") + "/x.txt": b"x"}
    finding = scene.refused(
        scene.zip(specialist(skills={"table-audit": skill("table-audit") | deep})), "budget-exceeded"
    )
    assert (finding["facts"]["profile"], finding["facts"]["limit"], finding["facts"]["used"]) == ("skill", "depth", 11)


def test_what_has_no_place_in_a_specialist_package_is_named(scene: Scene) -> None:
    look = scene.taken(scene.zip(specialist() | {"setup.sh": b"rm -rf /\n", "skills/loose.md": b"x"}))
    assert look.found("specialist-file-ignored")["facts"]["names"] == ["setup.sh", "skills/loose.md"]
    scene.install(look.report["token"])
    assert not [name for name in scene.installed() if "setup.sh" in name or "loose" in name]


# --- a host's own ----------------------------------------------------------------------------------------------------


def test_what_the_host_ships_is_never_replaced(scene: Scene) -> None:
    """Built-in skills, reserved connectors, protected specialists by id and by name."""
    config = scene.library / ".importer" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(
        '[host]\nskills = { demo = "1.2.0" }\nconnectors = ["pubmed"]\nspecialists = ["reviewer"]\n'
        'specialist_names = ["Reviewer"]\n'
    )
    look = scene.taken(scene.zip(skill("demo")))
    assert (look.skills["demo"]["disposition"], look.skills["demo"]["reason"]) == ("reuse", "builtin")
    assert look.found("skill-builtin")["severity"] == "warning"
    for changes, document in (({"id": "reviewer"}, {}), ({}, {"name": " REVIEWER "})):
        look = scene.look(scene.zip(specialist(changes, document)))
        assert look.status == 3, look.human
        assert "eviewer" in look.human.lower()


def test_every_item_has_its_own_verdict(scene: Scene) -> None:
    """One conflict does not hide the rest, nor the identical one, nor what is new."""
    scene.install(scene.zip(below("same", skill("same")) | below("changed", skill("changed")), "old.zip"))
    files = (
        below("same", skill("same")) | below("changed", skill("changed", body="# New\n")) | below("new", skill("new"))
    )
    look = scene.look(scene.zip(files))
    assert look.status == 4
    assert {n: (s["disposition"], s["reason"]) for n, s in look.skills.items()} == {
        "same": ("reuse", "identical"),
        "changed": ("conflict", "differs"),
        "new": ("install", "new"),
    }
    assert look.report["needs"]["choices"] == ["changed"]


def test_nested_candidates_meet_those_outside(scene: Scene) -> None:
    """A nested archive holds another skill of the same name: both places are named."""
    inner = zip_bytes(below("demo", skill("demo", body="# Other\n")))
    finding = scene.refused(scene.zip(below("demo", skill("demo")) | {"more.zip": inner}), "skill-name-clash")
    assert "more.zip!/demo" in finding["message"]
