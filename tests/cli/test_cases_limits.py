"""Every limit from the command line: exactly at it passes, one over is refused with the facts, whatever the source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from budgets import Budgets
from tests.builders.archives import zip_bytes
from tests.builders.packages import below, skill_md, specialist
from tests.builders.tars import gz, member, pax, record, tar
from tests.builders.zips import Item, archive
from tests.cli.scene import Look, Report, Scene

Build = Callable[[Scene, Mapping[str, bytes]], Path]
SKILL = {"SKILL.md": skill_md("demo"), "a.txt": b"a" * 700, "b/c/d.txt": b"d" * 50}
KINDS: dict[str, Build] = {
    "zip": lambda scene, files: scene.zip(files),
    "tar": lambda scene, files: scene.tar(files, "package.tar"),
    "tar.gz": lambda scene, files: scene.tar(files),
    "folder": lambda scene, files: scene.tree(dict(files), "demo"),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def exactly(scene: Scene, source: Path, name: str, value: int, *options: str) -> Report:
    """Preview with a limit of exactly `value`, then with one less; return the facts of the refusal."""
    at = scene.taken(source, "--budget", f"{name}={value}", *options)
    assert f"{name}: at most {value:,}" in at.human
    finding = scene.refused(source, "budget-exceeded", "--budget", f"{name}={value - 1}", *options)
    facts: Report = finding["facts"]
    profile, limit = name.split(".")
    assert (facts["profile"], facts["limit"], facts["max"]) == (profile, limit, value - 1)
    assert facts["used"] > facts["max"]
    assert facts["unit"]
    assert finding["path"].strip("./")
    assert "!/" not in finding["path"].partition("!/")[2]
    assert f"--budget {name}=" in finding["message"]
    return facts


def used(look: Look, name: str) -> int:
    """Return how far a limit was used, as the report says."""
    row = next(u for u in look.report["budgets"] if f"{u['profile']}.{u['limit']}" == name)
    value: int = row["used"]
    return value


@kinds
@pytest.mark.parametrize(
    ("limit", "value", "over"),
    [
        ("files", 3, 3),
        ("file_bytes", 700, 700),
        ("total_bytes", sum(map(len, SKILL.values())), sum(map(len, SKILL.values()))),
        ("depth", 2, 2),
    ],
)
def test_limits_of_one_skill(scene: Scene, kind: str, limit: str, value: int, over: int) -> None:
    """Counted from the skill's own root, wherever that lies; directories and noise spend nothing."""
    wrapped = below("demo" if kind == "folder" else "w/x/y/demo", SKILL | {".DS_Store": b"z" * 900})
    source = KINDS[kind](scene, wrapped)
    facts = exactly(scene, source, f"skill.{limit}", value)
    assert facts["used"] == over


@kinds
def test_a_skill_without_a_folder_is_named_all_the_same(scene: Scene, kind: str) -> None:
    exactly(scene, KINDS[kind](scene, SKILL), "skill.files", len(SKILL))


def test_one_skill_over_a_limit_does_not_touch_the_others(scene: Scene) -> None:
    """It is refused with its own diagnostic, and nobody reads the rest as a whole."""
    files = below("demo", SKILL) | {"good/SKILL.md": skill_md("good")}
    limit = ("--budget", "skill.files=2")
    look = scene.look(scene.zip(files), *limit)
    assert look.status == 3
    assert list(look.skills) == ["good"]
    assert look.left_out["demo"]["codes"] == ["budget-exceeded"]
    report = scene.install(scene.zip(files), *limit, "--keep-going")
    assert [item["name"] for item in report["skipped"]] == ["demo"]


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_the_outer_file(scene: Scene, kind: str) -> None:
    source = KINDS[kind](scene, below("demo", SKILL))
    assert exactly(scene, source, "bundle.archive_bytes", source.stat().st_size)["used"] == source.stat().st_size


@kinds
def test_bytes_of_what_is_selected(scene: Scene, kind: str) -> None:
    """What is not selected costs nothing; a repository may be far larger than its skills."""
    files = below("demo", SKILL) | below("other", SKILL | {"SKILL.md": skill_md("other")}) | {"big.bin": b"x" * 9000}
    source = KINDS[kind](scene, files)
    size = sum(map(len, SKILL.values()))
    exactly(scene, source, "bundle.bytes", size, "--skill", "demo")
    assert used(scene.taken(source, "--skill", "demo"), "bundle.bytes") == size


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_entries_are_counted_as_they_are_listed(scene: Scene, kind: str) -> None:
    """Folders and noise included, before a list is built."""
    files = below("demo", SKILL) | {"demo/.DS_Store": b"x", "__MACOSX/._x": b"x"}
    exactly(scene, KINDS[kind](scene, files), "bundle.entries", 5)


def test_entries_of_a_folder(scene: Scene) -> None:
    """A folder is listed like an archive with entries for its folders."""
    source = scene.tree(dict(below("demo", SKILL)), "folder")
    count = used(scene.taken(source), "bundle.entries")
    assert count >= 3
    exactly(scene, source, "bundle.entries", count)


@kinds
def test_skills_of_one_import(scene: Scene, kind: str) -> None:
    """One more than allowed asks for a selection; a selection that is too large is refused."""
    source = KINDS[kind](scene, {f"s{n}/SKILL.md": skill_md(f"s{n}") for n in range(3)})
    assert len(scene.taken(source, "--budget", "bundle.skills=3").skills) == 3
    assert scene.look(source, "--budget", "bundle.skills=2").status == 4
    words = ("--skill", "s0", "--skill", "s1", "--skill", "s2")
    facts = scene.refused(source, "budget-exceeded", "--budget", "bundle.skills=2", *words)["facts"]
    assert (facts["limit"], facts["used"], facts["max"]) == ("skills", 3, 2)


def test_the_ratio_of_one_entry(scene: Scene) -> None:
    """Rounded up; an honest skill of 189:1 passes by default, a bomb does not, selected or not."""
    bomb = Item(name=b"demo/zeros", content=bytes(300_000))
    ratio = -(-300_000 // len(bomb.data()))
    document = Item(name=b"demo/SKILL.md", content=SKILL["SKILL.md"])
    exactly(scene, scene.raw(archive([document, bomb])), "bundle.ratio", ratio)
    dense = Item(name=b"demo/zeros", content=bytes(60_000_000))
    assert len(dense.content) // len(dense.data()) > 1000
    facts = scene.refused(scene.raw(archive([document, dense])), "budget-exceeded")["facts"]
    assert (facts["limit"], facts["max"]) in {("ratio", 1000), ("file_bytes", 50 * 1024 * 1024)}


@pytest.mark.parametrize("kind", ["zip", "tar", "folder"])
def test_the_depth_of_the_outer_container(scene: Scene, kind: str) -> None:
    """32 by default: a skill far down is found; deeper is refused where it lies in what is selected."""
    folder = "/".join("f" * 30)
    source = KINDS[kind](scene, {f"{folder}/demo/SKILL.md": SKILL["SKILL.md"]})
    exactly(scene, source, "bundle.depth", 32)


def test_nested_archives(scene: Scene) -> None:
    """One nested archive by its compressed size."""
    inner = zip_bytes(below("demo", SKILL))
    source = scene.zip({"demo.zip": inner, "good/SKILL.md": skill_md("good")})
    look = scene.taken(source, "--budget", f"bundle.nested_bytes={len(inner)}")
    assert set(look.skills) == {"demo", "good"}
    over = scene.look(source, "--budget", f"bundle.nested_bytes={len(inner) - 1}")
    assert over.status == 3
    assert over.found("budget-exceeded")["facts"]["limit"] == "nested_bytes"
    assert list(over.skills) == ["good"]


def test_all_levels_share_the_outer_limits(scene: Scene) -> None:
    """Bytes and entries of nested archives are added up; none has a budget of its own."""
    inner = {f"n{n}.zip": zip_bytes(below(f"s{n}", SKILL | {"SKILL.md": skill_md(f"s{n}")})) for n in range(4)}
    source = scene.zip(inner)
    size = 4 * (len(skill_md("s0")) + 750)
    exactly(scene, source, "bundle.bytes", size)
    exactly(scene, source, "bundle.entries", 4 + 4 * 3)


SPECIALIST = specialist()


@pytest.mark.parametrize("kind", ["zip", "tar", "folder"])
@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("files", len(SPECIALIST)),
        ("total_bytes", sum(map(len, SPECIALIST.values()))),
        ("file_bytes", max(map(len, SPECIALIST.values()))),
        ("depth", 4),
    ],
)
def test_limits_of_a_specialist_package(scene: Scene, kind: str, limit: str, value: int) -> None:
    source = KINDS[kind](scene, SPECIALIST)
    assert exactly(scene, source, f"specialist.{limit}", value)["used"] == value


def test_a_specialist_archive_and_its_ratio(scene: Scene) -> None:
    files = SPECIALIST | {"skills/table-audit/zeros.bin": bytes(100_000)}
    source = scene.zip(files)
    exactly(scene, source, "specialist.compressed_bytes", source.stat().st_size)
    item = Item(content=bytes(100_000))
    exactly(scene, source, "specialist.ratio", -(-100_000 // len(item.data())))


def test_a_bundled_skill_is_held_to_both_profiles(scene: Scene) -> None:
    source = scene.zip(SPECIALIST)
    exactly(scene, source, "skill.files", 3)


def test_text_of_a_preview(scene: Scene) -> None:
    """Past it a skill stays importable; its text is left out, and that is said."""
    files = {f"s{n}/SKILL.md": skill_md(f"s{n}") for n in range(3)}
    size = len(skill_md("s0"))
    source = scene.zip(files)
    whole = scene.taken(source, "--budget", f"preview.text_bytes={3 * size}")
    assert [s["text"] is not None for s in whole.skills.values()] == [True] * 3
    look = scene.taken(source, "--budget", f"preview.text_bytes={3 * size - 1}")
    assert [s["text"] is not None for s in look.skills.values()] == [True, True, False]
    assert look.found("preview-text-left-out")["facts"]["max"] == 3 * size - 1
    scene.install(look.report["token"])


def test_names_and_headers(scene: Scene) -> None:
    """One path, one segment; the zip's directory; one tar header, and how many stand in a row."""
    document = SKILL["SKILL.md"]
    long = "demo/" + "/".join("p" * 40 for _ in range(4))
    for kind in ("zip", "tar", "folder"):
        source = KINDS[kind](scene, {"demo/SKILL.md": document, long: b"x"})
        for limit, value in (("path_bytes", len(long)), ("segment_bytes", 40)):
            assert scene.taken(source, "--budget", f"archive.{limit}={value}").skills
            assert scene.look(source, "--budget", f"archive.{limit}={value - 1}").status == 3
    zipped = scene.raw(archive([Item(name=b"demo/SKILL.md", content=document)]))
    exactly(scene, zipped, "archive.directory_bytes", 46 + len("demo/SKILL.md"))
    comment = record("comment", "c" * 100)
    one = scene.raw(tar(pax(comment), member("demo/SKILL.md", document)), "p.tar")
    exactly(scene, one, "archive.header_bytes", len(comment))
    chain = scene.raw(tar(pax(comment, kind=b"g"), pax(comment, kind=b"g"), member("demo/SKILL.md", document)), "q.tar")
    assert scene.taken(chain, "--budget", "archive.headers=2").skills
    assert scene.look(chain, "--budget", "archive.headers=1").status == 3


def test_bytes_that_are_only_read_to_verify(scene: Scene) -> None:
    """A gzip stream is inflated whole, whatever is selected in it."""
    body = tar(member("demo/SKILL.md", SKILL["SKILL.md"]), member("other.bin", bytes(5000)))
    source = scene.raw(gz(body), "p.tgz")
    assert scene.taken(source, "--budget", f"bundle.stream_bytes={2 * len(body)}").skills
    look = scene.look(source, "--budget", f"bundle.stream_bytes={len(body) - 1}")
    assert look.status == 3
    assert look.found("budget-exceeded")["facts"]["limit"] == "stream_bytes"


def test_every_limit_is_listed_with_its_value(scene: Scene) -> None:
    """Names and values of the formats, as `budgets` shows them."""
    listed = {(b["profile"], b["limit"]): b["max"] for b in scene.run("budgets", "--json").json["budgets"]}
    mib = 1 << 20
    expected = {
        "skill": {"files": 16_384, "file_bytes": 50 * mib, "total_bytes": 128 * mib, "depth": 8},
        "bundle": {
            "archive_bytes": 256 * mib, "bytes": 256 * mib, "entries": 32_768, "skills": 256, "ratio": 1_000,
            "nested_bytes": 64 * mib, "depth": 32,
        },
        "specialist": {
            "compressed_bytes": 50 * mib, "total_bytes": 200 * mib, "files": 2_000, "file_bytes": 25 * mib,
            "ratio": 1_000, "depth": 32,
        },
        "preview": {"text_bytes": 4 * mib},
        "github": {"requests": 512},
        "connector": {"bytes": 256 * 1024},
    }  # fmt: skip
    assert {(p, n): v for p, limits in expected.items() for n, v in limits.items()}.items() <= listed.items()
    assert len(listed) == sum(len(profile.limits) for profile in Budgets.default().profiles.values())
    human = scene.run("budgets").out
    assert "16,384" in human
    for words in (("skill.files",), ("skill.files=0",), ("skill.files=x",), ("nothing.files=1",), ("skill=1",)):
        assert scene.run("preview", ".", "--budget", *words).status == 2
