"""Removal, rollback, history, doctor and export, as a person types them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from pathlib import Path

import pytest

from tests.builders.archives import write_zip
from tests.builders.packages import below, skill
from tests.cli.conftest import Run
from tests.cli.test_main_job import SAMPLES, everything


@pytest.fixture
def team(run: Run, library: Path) -> Path:
    """A library with the sample specialist and its two skills."""
    assert run("install", SAMPLES / "field-analyst", "--yes").status == 0
    return library


def ids(run: Run) -> list[str]:
    """The transactions, the newest first."""
    return [one["id"] for one in run("history", "--json").json["transactions"]]


def test_a_removal_shows_first_and_a_token_does_it(run: Run, team: Path) -> None:
    """Without a terminal nothing changes; the token removes what was shown; history names the transaction."""
    before = everything(team)
    shown = run("remove", "specialist", "field-analyst", "--json")
    assert shown.status == 0
    assert everything(team) == before
    assert shown.json["released"] == ["chart-check", "table-audit"]
    done = run("remove", shown.json["token"], "--json")
    assert done.status == 0, done.out
    assert not (team / "specialists" / "field-analyst").exists()
    assert (team / "skills" / "table-audit" / "SKILL.md").is_file()
    assert ids(run)[0] == done.json["transaction"]
    assert run("remove", shown.json["token"], "--json").json["code"] == "token-used"
    assert run("remove", "skill", "table-audit", "--yes").status == 0


def test_a_used_skill_is_protected(run: Run, team: Path) -> None:
    """The refusal names who uses it, and nothing is recorded."""
    count = len(ids(run))
    refused = run("remove", "skill", "table-audit", "--yes", "--json")
    assert refused.status == 3
    assert "field-analyst" in refused.json["message"]
    assert len(ids(run)) == count
    assert run("remove", "skill", "nobody", "--yes").status == 1


def test_a_stale_removal_changes_nothing(run: Run, team: Path) -> None:
    """An edit after the preview of a removal is stale."""
    token = run("remove", "specialist", "field-analyst", "--json").json["token"]
    (team / "specialists" / "field-analyst" / "specialist.json").write_text("{}")
    refused = run("remove", token, "--json")
    assert refused.status == 5
    assert (team / "specialists" / "field-analyst" / "specialist.json").read_text() == "{}"


def test_rollback_brings_back_edits_and_modes(run: Run, library: Path) -> None:
    """A replaced skill comes back as it was, with what the person changed in it."""
    assert run("install", SAMPLES / "conflict" / "first", "--yes").status == 0
    (folder,) = (library / "skills").iterdir()
    (folder / "notes.txt").write_text("mine\n")
    (folder / "SKILL.md").chmod(0o755)
    before = everything(library)
    words = ["--choose", f"{folder.name}=incoming", "--confirm-overwrite", "--yes"]
    assert run("install", SAMPLES / "conflict" / "second", *words).status == 0
    assert everything(library) != before
    assert run("rollback", ids(run)[0], "--json").status == 0
    assert everything(library) == before
    assert (folder / "SKILL.md").stat().st_mode & 0o777 == 0o755
    assert run("rollback", "20000101-000000-000000").status == 1


def test_a_rollback_that_something_stands_on_is_refused(run: Run, library: Path, tmp_path: Path) -> None:
    """An install that was replaced later cannot be taken back; the reason says so."""
    assert run("install", SAMPLES / "conflict" / "first", "--yes").status == 0
    first = ids(run)[0]
    (folder,) = (library / "skills").iterdir()
    words = ["--choose", f"{folder.name}=incoming", "--confirm-overwrite", "--yes"]
    assert run("install", SAMPLES / "conflict" / "second", *words).status == 0
    refused = run("rollback", first, "--json")
    assert refused.status == 3
    assert refused.json["code"] == "library-rollback-refused"


def test_an_exported_skill_previews_as_reuse(run: Run, library: Path, tmp_path: Path) -> None:
    """Also an output that is there is never replaced unasked, and the bytes are the same each time."""
    assert run("install", SAMPLES / "reef-survey", "--yes").status == 0
    one, two = tmp_path / "one.zip", tmp_path / "two.zip"
    assert run("export", "skill", "reef-survey", "--output", one).status == 0
    assert run("export", "skill", "reef-survey", "--output", two).status == 0
    assert one.read_bytes() == two.read_bytes()
    again = run("preview", one, "--json")
    assert again.dispositions() == {"reef-survey": ("reuse", "identical")}
    refused = run("export", "skill", "reef-survey", "--output", one, "--json")
    assert (refused.status, refused.json["code"]) == (1, "export-output-exists")
    assert run("export", "skill", "reef-survey", "--output", one, "--force").status == 0


def test_an_exported_specialist_previews_as_reuse(run: Run, team: Path, tmp_path: Path) -> None:
    """It carries its own skills, and another revision than the expected one is stale."""
    archive = tmp_path / "team.zip"
    done = run("export", "specialist", "field-analyst", "--output", archive, "--json")
    assert done.status == 0, done.out
    assert done.json["bundled"] == ["chart-check", "table-audit"]
    shown = run("preview", archive, "--json")
    assert shown.status == 0
    assert {d for d, _ in shown.dispositions().values()} == {"reuse"}
    assert shown.json["specialist"]["reason"] == "identical"
    stale = run(
        "export", "specialist", "field-analyst", "--output", tmp_path / "x.zip", "--expected-revision", "7", "--json"
    )
    assert stale.status == 5
    bare = tmp_path / "bare.zip"
    assert run("export", "specialist", "field-analyst", "--output", bare, "--no-skills").status == 0
    assert sorted(zipfile.ZipFile(bare).namelist()) == ["manifest.json", "specialist.json"]


def test_overwriting_releases_what_is_no_longer_bundled(run: Run, team: Path, tmp_path: Path) -> None:
    """A skill that the new version leaves out stays, and belongs to nobody."""
    copy = tmp_path / "field-analyst"
    shutil.copytree(SAMPLES / "field-analyst", copy)
    shutil.rmtree(copy / "skills" / "chart-check")
    role = json.loads((copy / "specialist.json").read_text())
    role["skill_ids"] = ["table-audit"]
    (copy / "specialist.json").write_text(json.dumps(role))
    assert run("install", copy, "--yes", "--confirm-overwrite").status == 0
    owners = {s["name"]: s["owners"] for s in run("list", "--json").json["skills"]}
    assert owners == {"chart-check": [], "table-audit": ["field-analyst"]}


def test_verify_names_what_differs(run: Run, library: Path) -> None:
    """modified, missing, extra and the executable bit, each by name, with exit 6."""
    assert run("install", SAMPLES / "reef-survey", "--yes").status == 0
    folder = library / "skills" / "reef-survey"
    script = next(path for path in folder.rglob("*") if path.suffix == ".py")
    script.chmod(0o644)
    reference = next(path for path in (folder / "references").iterdir())
    reference.unlink()
    (folder / "SKILL.md").write_text("changed")
    (folder / "extra.txt").write_text("x")
    report = run("verify", "--json")
    assert report.status == 6
    (item,) = report.json["items"]
    assert item["modified"] == ["SKILL.md"]
    assert item["missing"] == [str(reference.relative_to(folder))]
    assert item["extra"] == ["extra.txt"]
    assert item["executable"] == [str(script.relative_to(folder))]
    assert run("verify", "nobody").status == 1


def test_a_record_that_cannot_be_read_is_explained_and_moved(run: Run, library: Path, tmp_path: Path) -> None:
    """A blocked command names doctor; afterwards list and install work."""
    assert run("install", SAMPLES / "reef-survey", "--yes").status == 0
    database = library / ".importer" / "library.db"
    database.write_bytes(b"this is no database at all, and it is long enough to be looked at\n" * 40)
    blocked = run("list", "--json")
    assert blocked.status == 1
    assert "importer doctor" in blocked.json["message"]
    assert "sqlite" not in (blocked.out + blocked.err).lower()
    repaired = run("doctor", "--json")
    assert repaired.status == 6
    assert run("list").status == 0
    archive = write_zip(tmp_path / "one.zip", below("one", skill("one")))
    assert run("install", archive, "--yes").status == 0
    moved = list((library / ".importer" / "trash").rglob("library.db"))
    assert moved
    assert moved[0].read_bytes().startswith(b"this is no database")


def test_a_refused_command_adds_no_transaction(run: Run, library: Path) -> None:
    """History holds what happened, nothing else."""
    run("install", SAMPLES / "lab-bundle", "--yes")
    run("install", SAMPLES / "reef-survey")
    assert ids(run) == []
    done = run("install", SAMPLES / "reef-survey", "--yes", "--json")
    assert ids(run) == [done.json["transaction"]]


def test_a_reader_answers_beside_a_stuck_writer(run: Run, library: Path) -> None:
    """A database that somebody holds for writing does not stop list, verify or a message that can be understood."""
    assert run("install", SAMPLES / "reef-survey", "--yes").status == 0
    holder = sqlite3.connect(library / ".importer" / "library.db", isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        assert run("list").status == 0
        assert run("verify").status == 0
    finally:
        holder.rollback()
        holder.close()


def test_history_can_be_pruned(run: Run, library: Path) -> None:
    """What is over the budget of the trash goes for good, and can no longer be rolled back."""
    assert run("install", SAMPLES / "reef-survey", "--yes").status == 0
    assert run("remove", "skill", "reef-survey", "--yes").status == 0
    removal = ids(run)[0]
    kept = run("history", "--prune", "--json")
    assert kept.json["pruned"] == []
    pruned = run("history", "--prune", "--budget", "trash.bytes=1", "--json")
    assert pruned.json["pruned"] == [removal]
    assert run("rollback", removal).status == 3


def test_nothing_is_made_only_to_say_that_there_is_nothing(run: Run, library: Path, tmp_path: Path) -> None:
    """Reading commands leave no library behind; a file is no library; an output needs its folder."""
    for words in (["list"], ["history"], ["verify"], ["history", "--prune"], ["rollback", "20260101-000000-abcdef"]):
        assert run(*words).status in {0, 1}
    assert not library.exists()
    file = tmp_path / "a-file"
    file.write_text("x")
    assert run("list", "--library", file, "--json").json["code"] == "library-no-folder"
    assert run("install", SAMPLES / "reef-survey", "--yes").status == 0
    nowhere = run("export", "skill", "reef-survey", "--output", tmp_path / "none" / "x.zip", "--json")
    assert nowhere.status == 1
    assert "there is no folder" in nowhere.json["message"]
