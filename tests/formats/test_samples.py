"""The samples show what their texts say they show, and their scripts run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from importer.formats.layout import Kind, Layout, recognise
from importer.formats.review import review_files
from importer.formats.roots import Root
from importer.formats.skill import SkillReading, read_skill
from importer.formats.specialist import read_specialist, unlisted_skills
from tests.builders.packages import Files, inspections, records, tree

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def load(name: str) -> Files:
    base = SAMPLES / name
    return {path.relative_to(base).as_posix(): path.read_bytes() for path in sorted(base.rglob("*")) if path.is_file()}


def read(files: Files, root: Root, *, folder: str | None = None, bundled: bool = False) -> SkillReading:
    assert root.document is not None
    data = files[root.document.path.text]
    return read_skill(data, complete=True, root=root.path, folder=folder or root.folder, bundled=bundled)


def codes(reading: SkillReading) -> list[str]:
    return [found.code for found in reading.diagnostics]


def review(files: Files, root: Root) -> list[str]:
    prefix = len(root.path) + 1 if root.path else 0
    own = {entry.path.text[prefix:]: files[entry.path.text] for entry in root.files}
    found = review_files(root.path, records(own), inspections(own), own["SKILL.md"], "SKILL.md")
    return [each.code for each in found]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=SAMPLES, capture_output=True, text=True)


def test_good_skill_has_nothing_but_its_script_to_say() -> None:
    files = load("reef-survey")
    layout = recognise(tree(files))
    reading = read(files, layout.roots[0], folder="reef-survey")
    assert (reading.name, reading.version, codes(reading)) == ("reef-survey", "1.2.0", [])
    assert review(files, layout.roots[0]) == ["skill-executables"]
    assert layout.notes == ()


def test_bundle_has_one_good_one_mended_and_one_faulty_skill() -> None:
    files = load("lab-bundle")
    layout = recognise(tree(files))
    readings = {root.path: read(files, root) for root in layout.roots}
    assert {path: codes(reading) for path, reading in readings.items()} == {
        "dilution-plan": [],
        "freezer-log": ["skill-frontmatter-invalid", "skill-field-unknown"],
        "plate-layout": ["skill-frontmatter-repaired"],
    }
    assert [path for path, reading in readings.items() if not reading.usable] == ["freezer-log"]
    assert [note.code for note in layout.notes] == ["files-outside"]


def test_specialist_is_in_order() -> None:
    files = load("field-analyst")
    layout: Layout = recognise(tree(files))
    assert layout.kind is Kind.SPECIALIST
    reading = read_specialist(files["manifest.json"], files["specialist.json"])
    assert reading.diagnostics == ()
    assert reading.document is not None
    bundled = [read(files, root, bundled=True) for root in layout.roots]
    assert [codes(each) for each in bundled] == [[], []]
    assert unlisted_skills(reading.document, [each.name for each in bundled], "specialist.json") == ()
    assert [review(files, root) for root in layout.roots] == [[], ["skill-executables"]]
    assert layout.notes == ()


def test_the_pair_conflicts() -> None:
    pair = [(files, recognise(tree(files)).roots[0]) for files in (load("conflict/first"), load("conflict/second"))]
    readings = [read(files, root) for files, root in pair]
    assert [(each.name, each.version, codes(each)) for each in readings] == [
        ("site-notes", "1.0.0", []),
        ("site-notes", "1.1.0", []),
    ]
    assert [review(files, root) for files, root in pair] == [[], []]


def test_cover_script_reads_its_example() -> None:
    done = run("reef-survey/scripts/cover.py", "reef-survey/assets/example.csv", "--category", "hard_coral", "--json")
    assert done.returncode == 0, done.stderr
    sites = json.loads(done.stdout)["sites"]
    assert {site: row["hard_coral"]["transects"] for site, row in sites.items()} == {"Lagoon": 3, "North Wall": 4}


def test_plan_script_plans() -> None:
    done = run("lab-bundle/dilution-plan/scripts/plan.py", "1000", "500", "100", "0.1")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3


def test_layout_script_gives_the_same_plate_for_the_same_seed(tmp_path: Path) -> None:
    samples = tmp_path / "samples.txt"
    samples.write_text("a\nb\n", encoding="utf-8")
    plates = {run("lab-bundle/plate-layout/scripts/layout.py", str(samples), "--seed", "7").stdout for _ in range(2)}
    assert len(plates) == 1
    assert plates.pop().count("positive") == 12


def test_audit_script_names_rows(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("site,n\nNorth,1\nnorth ,2\n,3\n", encoding="utf-8")
    done = run("field-analyst/skills/table-audit/scripts/audit.py", str(table))
    assert done.returncode == 1, done.stderr
    assert "empty in rows 3" in done.stdout
