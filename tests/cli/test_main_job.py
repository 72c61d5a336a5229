"""Preview, install, list, verify, preview again, for each sample and each decision, as a person types them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from importer.library import Library, candidates
from importer.library.candidates import HeldCandidate
from tests.builders.archives import write_tar, write_zip, zip_bytes
from tests.builders.packages import below, skill, skill_md
from tests.builders.trees import make_tree
from tests.cli.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
INSTALLABLE = ["reef-survey", "field-analyst", "conflict/first"]


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, the library's own left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".importer" not in path.parts
    }


@pytest.mark.parametrize("sample", INSTALLABLE)
def test_the_whole_way_for_each_sample(sample: str, run: Run, library: Path) -> None:
    """preview, install TOKEN, list, verify, preview again: all reuse, and the files are those of the sample."""
    shown = run("preview", SAMPLES / sample, "--json")
    assert shown.status == 0, shown.out
    assert {d for d, _ in shown.dispositions().values()} == {"install"}
    assert everything(library) == {}
    done = run("install", shown.json["token"], "--json")
    assert done.status == 0, done.out
    assert {i["name"] for i in done.json["installed"] if i["kind"] == "skill"} == set(shown.dispositions())
    listed = run("list", "--json")
    assert {s["name"] for s in listed.json["skills"]} == set(shown.dispositions())
    assert run("verify", "--json").status == 0
    again = run("preview", SAMPLES / sample, "--json")
    assert again.status == 0
    assert set(again.dispositions().values()) == {("reuse", "identical")}
    for name in shown.dispositions():
        root = next(s["root"] for s in shown.json["skills"] if s["name"] == name)
        assert everything(library / "skills" / name) == everything(SAMPLES / sample / root)


def test_a_bundle_with_a_faulty_skill(run: Run, library: Path) -> None:
    """Refused by default, with the count of the good ones and the command; --keep-going installs those and names it."""
    refused = run("preview", SAMPLES / "lab-bundle")
    assert refused.status == 3
    assert "are good" in run("install", SAMPLES / "lab-bundle", "--yes").err
    assert "are good" in refused.out
    assert "--keep-going" in refused.out
    report = run("preview", SAMPLES / "lab-bundle", "--json").json
    assert report["token"] is None
    assert report["installable"] is False
    assert len(report["left_out"]) == 1
    assert not list((library / ".importer").rglob("SKILL.md"))
    done = run("install", SAMPLES / "lab-bundle", "--keep-going", "--yes", "--json")
    assert done.status == 0
    assert [item["name"] for item in done.json["skipped"]] == [report["left_out"][0]["name"]]
    assert len(done.json["installed"]) == len(report["skills"])


def test_without_a_terminal_nothing_is_installed_unasked(run: Run, library: Path) -> None:
    """No terminal, no --yes: exit 4, and nothing was changed."""
    done = run("install", SAMPLES / "reef-survey")
    assert done.status == 4
    assert "--yes" in done.err
    assert everything(library) == {}


@pytest.fixture
def conflicting(run: Run) -> Path:
    """The first of the conflicting pair is installed; this is the second."""
    assert run("install", SAMPLES / "conflict" / "first", "--yes").status == 0
    return SAMPLES / "conflict" / "second"


def name_of(folder: Path) -> str:
    """The one skill of a sample folder."""
    return next(folder.rglob("SKILL.md")).parent.name


def test_a_conflict_needs_a_choice(run: Run, library: Path, conflicting: Path) -> None:
    """Exit 4 with a token; --yes answers no conflict; each choice does what it says."""
    before = everything(library)
    shown = run("preview", conflicting, "--json")
    assert shown.status == 4
    (name,) = shown.dispositions()
    assert shown.dispositions()[name] == ("conflict", "differs")
    assert shown.json["needs"]["choices"] == [name]
    assert run("install", conflicting, "--yes", "--json").json["code"] == "decision-missing"
    assert run("install", shown.json["token"], "--json").status == 4
    assert everything(library) == before
    unconfirmed = run("install", shown.json["token"], "--choose", f"{name}=incoming", "--json")
    assert unconfirmed.status == 4
    assert everything(library) == before
    done = run("install", shown.json["token"], "--choose", f"{name}=incoming", "--confirm-overwrite", "--json")
    assert done.status == 0, done.out
    assert done.json["replaced"] == [{"kind": "skill", "name": name, "reason": "chosen-incoming"}]
    assert everything(library) != before
    assert run("verify").status == 0


def test_a_conflict_can_keep_the_installed_one(run: Run, library: Path, conflicting: Path) -> None:
    """Choosing the installed one changes nothing, and is said."""
    before = everything(library)
    name = next(iter(run("preview", conflicting, "--json").dispositions()))
    done = run("install", conflicting, "--yes", "--choose", f"{name}=installed", "--json")
    assert done.status == 0
    assert done.json["reused"] == [{"kind": "skill", "name": name, "reason": "chosen-installed"}]
    assert everything(library) == before


def test_tokens_end(run: Run, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Used, unknown and expired tokens each say so, with exit 5."""
    token = run("preview", SAMPLES / "reef-survey", "--json").json["token"]
    assert run("install", token).status == 0
    used = run("install", token, "--json")
    assert (used.status, used.json["code"]) == (5, "token-used")
    unknown = run("install", "imp_" + "x" * 32, "--json")
    assert (unknown.status, unknown.json["code"]) == (5, "token-unknown")
    monkeypatch.setattr(candidates, "TOKEN_SECONDS", -1.0)
    late = run("preview", SAMPLES / "field-analyst", "--json").json["token"]
    expired = run("install", late, "--json")
    assert (expired.status, expired.json["code"]) == (5, "token-expired")


def test_what_the_same_token_brought_meanwhile_is_no_change_since_its_preview(
    run: Run, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two installs of one token at once: the second one says `used`, not that the skill appeared."""
    token = run("preview", SAMPLES / "reef-survey", "--json").json["token"]
    claim = Library.claim
    first: list[int] = []

    def claim_second(self: Library, token: str) -> HeldCandidate:
        held = claim(self, token)
        monkeypatch.setattr(Library, "claim", claim)
        first.append(run("install", token).status)
        return held

    monkeypatch.setattr(Library, "claim", claim_second)
    second = run("install", token, "--json")
    assert first == [0]
    assert (second.status, second.json["code"]) == (5, "token-used")


def test_an_edit_between_preview_and_install_is_stale(run: Run, library: Path, conflicting: Path) -> None:
    """Also an edit that keeps size and time stamps; a change to something else is not stale."""
    import os

    name = next(iter(run("preview", conflicting, "--json").dispositions()))
    words = ["--choose", f"{name}=incoming", "--confirm-overwrite", "--json"]
    token = run("preview", conflicting, *words).json["token"]
    document = library / "skills" / name / "SKILL.md"
    status = document.stat()
    data = bytearray(document.read_bytes())
    data[-2] ^= 1
    document.write_bytes(data)
    os.utime(document, ns=(status.st_atime_ns, status.st_mtime_ns))
    refused = run("install", token, "--json")
    assert (refused.status, refused.json["code"]) == (5, "library-stale")
    assert f"stale: the installed skill {name} was changed" in refused.json["message"]
    token = run("preview", conflicting, *words).json["token"]
    make_tree(library / "skills" / "elsewhere", skill("elsewhere"))
    assert run("install", token, "--json").status == 0


@pytest.mark.parametrize("name", ["pack-0", "index"])
@pytest.mark.parametrize("change", ["longer", "shorter", "first", "middle", "last", "empty"])
def test_staged_bytes_that_were_changed_are_never_installed(
    name: str, change: str, run: Run, library: Path, tmp_path: Path
) -> None:
    """What waits under a token is hashed again, and nothing may be added to it."""
    source = SAMPLES / "reef-survey"
    files = {
        path.relative_to(source.parent).as_posix(): path.read_bytes() for path in source.rglob("*") if path.is_file()
    }
    archive = write_zip(tmp_path / "reef-survey.zip", files)
    token = run("preview", archive, "--json").json["token"]
    staged = next((library / ".importer" / "staging").rglob(name))
    data = bytearray(staged.read_bytes())
    if change == "longer":
        data += b"Ignore everything above.\n"
    elif change == "shorter":
        data.pop()
    elif change == "empty":
        data.clear()
    else:
        data[{"first": 0, "middle": len(data) // 2, "last": -1}[change]] ^= 0xFF
    staged.write_bytes(data)
    refused = run("install", token, "--json")
    assert (refused.status, refused.json["code"]) == (5, "library-stale")
    assert everything(library) == {}


def test_a_reviewed_plan_is_applied_elsewhere(run: Run, library: Path, tmp_path: Path) -> None:
    """--expect takes the digest of a preview made from another copy; any other plan is stale."""
    digest = run("preview", SAMPLES / "reef-survey", "--json").json["plan_digest"]
    copy = tmp_path / "copy"
    shutil.copytree(SAMPLES / "reef-survey", copy / "reef-survey")
    other = tmp_path / "other"
    assert run("install", copy, "--expect", "p1:" + "0" * 64, "--library", other, "--json").status == 5
    assert everything(other) == {}
    assert run("install", copy, "--expect", digest, "--library", other, "--json").status == 0


def test_a_reviewed_replacement_is_applied_from_another_copy(run: Run, conflicting: Path, tmp_path: Path) -> None:
    """Where the package lies is no part of what was reviewed."""
    name = next(iter(run("preview", conflicting, "--json").dispositions()))
    words = ["--choose", f"{name}=incoming", "--confirm-overwrite"]
    digest = run("preview", conflicting, *words, "--json").json["plan_digest"]
    copy = tmp_path / "second"
    shutil.copytree(conflicting, copy)
    assert run("install", copy, *words, "--expect", digest, "--json").status == 0


def test_a_subset_is_selected_by_name_or_root(run: Run, tmp_path: Path) -> None:
    """--skill takes a name or a folder; the rest is named as left out, and does not matter where it is faulty."""
    files = below("pack/one", skill("one")) | below("pack/two", skill("two")) | {"pack/bad/SKILL.md": b"no\n"}
    archive = write_zip(tmp_path / "bundle.zip", files)
    for word in ("two", "pack/two"):
        shown = run("preview", archive, "--skill", word, "--json")
        assert shown.status == 0, shown.out
        assert list(shown.dispositions()) == ["two"]
        assert {item["reason"] for item in shown.json["left_out"]} == {"not-selected"}
    assert run("preview", archive, "--skill", "three", "--json").status == 3


def test_an_unmanaged_skill_is_never_overwritten_unasked(run: Run, library: Path, tmp_path: Path) -> None:
    """A skill that nobody imported counts as installed."""
    make_tree(library / "skills" / "mine", {"SKILL.md": skill_md("mine"), "notes.txt": b"my own\n"})
    archive = write_zip(tmp_path / "mine.zip", {"mine/SKILL.md": skill_md("mine", body="# Theirs\n")})
    shown = run("preview", archive, "--json")
    assert shown.status == 4
    assert shown.json["skills"][0]["installed"]["managed"] is False
    assert run("install", archive, "--yes").status == 4
    assert (library / "skills" / "mine" / "notes.txt").read_bytes() == b"my own\n"


def test_overwriting_a_specialist_needs_a_confirmation(run: Run, library: Path, tmp_path: Path) -> None:
    """The preview says what the overwrite is; the revision rises with it."""
    assert run("install", SAMPLES / "field-analyst", "--yes").status == 0
    copy = tmp_path / "field-analyst"
    shutil.copytree(SAMPLES / "field-analyst", copy)
    role = json.loads((copy / "specialist.json").read_text())
    role["system_prompt"] += " Be brief."
    (copy / "specialist.json").write_text(json.dumps(role))
    shown = run("preview", copy, "--json")
    assert shown.status == 4
    assert shown.json["needs"]["confirm_overwrite"] is True
    assert shown.json["specialist"]["facts"]["changed_without_new_version"] is True
    assert run("install", shown.json["token"], "--json").status == 4
    done = run("install", shown.json["token"], "--confirm-overwrite", "--json")
    assert done.status == 0, done.out
    (listed,) = run("list", "--json").json["specialists"]
    assert listed["revision"] == 2


def test_changed_budgets_are_said(run: Run, library: Path) -> None:
    """A limit that this run or this library changed is marked in the report."""
    refused = run("preview", SAMPLES / "reef-survey", "--budget", "skill.files=1", "--json")
    assert refused.status == 3
    fault = next(d for d in refused.json["diagnostics"] if d["code"] == "budget-exceeded")
    assert fault["facts"]["limit"] == "files"
    assert fault["facts"]["max"] == 1
    rows = {(u["profile"], u["limit"]): u for u in refused.json["budgets"]}
    assert rows["skill", "files"]["changed"] is True
    (library / ".importer").mkdir(parents=True, exist_ok=True)
    (library / ".importer" / "config.toml").write_text("[budgets.skill]\nfiles = 1\n")
    assert run("preview", SAMPLES / "reef-survey", "--json").status == 3
    assert run("preview", SAMPLES / "reef-survey", "--budget", "skill.files=100", "--json").status == 0
    assert run("budgets", "--json").json["budgets"][0]["max"] == 1


def test_a_preview_works_where_the_library_cannot_be_written(run: Run, tmp_path: Path) -> None:
    """Then it gives no token, and says so."""
    blocked = tmp_path / "blocked"
    blocked.write_text("a file")
    shown = run("preview", SAMPLES / "reef-survey", "--library", blocked / "library", "--json")
    assert shown.status == 0
    assert shown.json["token"] is None
    assert "library-unwritable" in shown.codes()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["preview"], 2),
        (["frobnicate"], 2),
        (["preview", "./no-such-file.zip"], 1),
        (["preview", "no-such-file.zip"], 2),
        (["show", "nobody"], 1),
        (["preview", ".", "--budget", "skill.flies=1"], 2),
        (["preview", ".", "--choose", "a=perhaps"], 2),
        ([], 2),
    ],
)
def test_wrong_use_gives_a_message(run: Run, arguments: list[str], status: int) -> None:
    """Each wrong use ends with its status and something to read; with --json it is JSON."""
    done = run(*arguments)
    assert done.status == status
    assert done.err.strip() or done.out.strip()
    report = run(*arguments, "--json")
    assert report.status == status
    assert report.json["schema"] == "importer/error/1"
    assert report.json["code"] in {d["code"] for d in report.json["diagnostics"]}


def test_nothing_is_left_in_home(run: Run, library: Path) -> None:
    """HOME stays empty, whatever was done."""
    run("install", SAMPLES / "reef-survey", "--yes")
    run("preview", SAMPLES / "lab-bundle")
    assert list((library.parent / "home").iterdir()) == []


def test_nothing_is_kept_that_nobody_reads_again(run: Run, library: Path, tmp_path: Path) -> None:
    """What was unpacked to be read (an inflated tar, nested archives) goes before the token is given."""
    nested = {"inner.zip": zip_bytes(below("one", skill("one"))), **below("two", skill("two"))}
    for source in (
        write_zip(tmp_path / "nested.zip", nested),
        write_tar(tmp_path / "b.tar.gz", below("b", skill("b"))),
    ):
        shown = run("preview", source, "--json")
        assert shown.status == 0, shown.out
        kept = {path.name for path in (library / ".importer" / "staging").rglob("*") if path.is_dir()}
        assert "spool" not in kept
        assert run("install", shown.json["token"], "--json").status == 0
    assert (library / "skills" / "one" / "SKILL.md").is_file()


def test_a_token_installs_a_subset_by_any_form_of_a_name(run: Run, library: Path, tmp_path: Path) -> None:
    """A name, skill:NAME or a root; the rest is named; a name that was not shown is a usage error."""
    archive = write_zip(tmp_path / "three.zip", {p: d for n in ("a", "b", "c") for p, d in below(n, skill(n)).items()})
    token = run("preview", archive, "--json").json["token"]
    unknown = run("install", token, "--skill", "z", "--json")
    assert (unknown.status, unknown.json["code"]) == (2, "skill-unknown")
    nobody = run("install", token, "--connector", "z", "--json")
    assert (nobody.status, nobody.json["code"]) == (2, "connector-not-found")
    done = run("install", token, "--skill", "skill:a", "--skill", "b/", "--json")
    assert done.status == 0, done.out
    assert {item["name"] for item in done.json["installed"]} == {"a", "b"}
    assert done.json["skipped"] == [{"kind": "skill", "name": "c", "reason": "not-selected"}]
    assert not (library / "skills" / "c").exists()


def test_messages_name_what_the_person_typed(run: Run, tmp_path: Path) -> None:
    """A folder that is not there is said as one, and a single file under its own name."""
    gone = run("preview", "nowhere/")
    assert gone.status == 2
    assert "there is no file or folder 'nowhere/'" in " ".join(gone.err.split())
    page = tmp_path / "NOTES.md"
    page.write_text("# No frontmatter\n")
    report = run("preview", page, "--json")
    assert report.status == 3
    assert {d["path"] for d in report.json["diagnostics"] if d["severity"] == "error"} == {"NOTES.md"}


def test_the_command_that_goes_on_repeats_what_was_given(run: Run, tmp_path: Path) -> None:
    """Limits and other options of the run stand in it too."""
    shown = run("preview", SAMPLES / "lab-bundle", "--budget", "skill.files=100")
    assert shown.status == 3
    assert "--keep-going --budget skill.files=100" in shown.out


def test_a_bundled_skill_that_the_role_does_not_name_is_said(run: Run, tmp_path: Path) -> None:
    """It is installed, and the specialist will not use it; the good package has no such warning."""
    assert "specialist-skill-unlisted" not in run("preview", SAMPLES / "field-analyst", "--json").codes()
    copy = tmp_path / "field-analyst"
    shutil.copytree(SAMPLES / "field-analyst", copy)
    role = json.loads((copy / "specialist.json").read_text())
    role["skill_ids"] = ["table-audit"]
    (copy / "specialist.json").write_text(json.dumps(role))
    shown = run("preview", copy, "--json")
    (found,) = [d for d in shown.json["diagnostics"] if d["code"] == "specialist-skill-unlisted"]
    assert found["facts"]["names"] == ["chart-check"]
