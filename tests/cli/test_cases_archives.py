"""Archives as real tools and real liars write them, from the command line: each kind of fault, and its control."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from tests.builders.archives import zip_bytes
from tests.builders.packages import below, skill, skill_md
from tests.builders.tars import gz, member, tar
from tests.builders.zips import DEFLATED, STORED, UTF8, Item, archive, link
from tests.cli.scene import Scene

GOOD = Item(name=b"demo/SKILL.md", content=skill_md("demo"))
OTHER = Item(name=b"demo/notes.txt", content=b"alpha beta gamma " * 300)


def test_the_controls_are_taken(scene: Scene) -> None:
    """The good packages that every lie below is told about."""
    look = scene.taken(scene.raw(archive([GOOD, OTHER])))
    assert look.report["diagnostics"] == []
    assert look.report["source"]["kind"] == "zip"
    assert look.report["source"]["resolved"]["sha256"]
    bare = scene.raw(tar(member("demo/SKILL.md", GOOD.content), member("demo/notes.txt", OTHER.content)), "p.tar")
    assert scene.taken(bare).report["source"]["kind"] == "tar"


# --- where the skill is ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapper", ["", "demo", "repo-main/demo", "a/b/c/demo"])
def test_one_skill_at_any_depth(scene: Scene, wrapper: str) -> None:
    """At the top of the archive, in its own folder, or under wrappers: the folder that holds SKILL.md is the skill."""
    files = below(wrapper, skill("demo")) if wrapper else skill("demo")
    look = scene.taken(scene.zip(files))
    assert look.skills["demo"]["root"] == wrapper
    scene.install(look.report["token"])
    assert scene.installed() == below("skills/demo", skill("demo"))


def test_a_skill_at_the_root_of_a_repository_is_named_by_its_frontmatter(scene: Scene) -> None:
    """The folder of a download is no name; the whole set of files is shown."""
    files = below("claude-android-skill-main", skill("android") | {f"docs/{n}.md": b"x" for n in range(62)})
    look = scene.taken(scene.zip(files))
    assert list(look.skills) == ["android"]
    assert look.skills["android"]["files"] == 65
    assert look.codes("warning") in (["skill-executables"], ["skill-executables", "skill-name-mismatch"])


def test_seven_skills_are_seven_skills(scene: Scene) -> None:
    files = {f"pack/s{n}/SKILL.md": skill_md(f"s{n}") for n in range(7)}
    look = scene.taken(scene.zip(files))
    assert look.report["package"]["kind"] == "bundle"
    assert len(look.skills) == 7


def test_what_an_operating_system_left_behind_is_dropped_first(scene: Scene) -> None:
    """Also under a wrapper; reported once with a count; a .env is content, and shown as what it is."""
    noise = ["__MACOSX/y/._SKILL.md", "y/.DS_Store", "y/a/Thumbs.db", "y/desktop.ini", "y/.git/config", "y/__MACOSX/x"]
    files = below("y", skill("y")) | {"y/.env": b"TOKEN=1\n"} | dict.fromkeys(noise, b"noise")
    look = scene.taken(scene.zip(files))
    finding = look.found("noise-ignored")
    assert (finding["severity"], finding["facts"]["count"]) == ("info", 6)
    assert ".env" in look.found("skill-secret-file")["message"]
    scene.install(look.report["token"])
    assert set(scene.installed()) == set(below("skills/y", skill("y"))) | {"skills/y/.env"}


def test_a_finder_zip_of_one_skill(scene: Scene) -> None:
    files = {"myskill/SKILL.md": skill_md("myskill"), "__MACOSX/myskill/._SKILL.md": b"\0\5\x16\7", ".DS_Store": b"\0"}
    look = scene.taken(scene.zip(files))
    assert list(look.skills) == ["myskill"]
    assert look.codes("info") == ["noise-ignored"]


def test_nothing_recognised_says_what_was_there(scene: Scene) -> None:
    finding = scene.refused(scene.zip({"README.md": b"# Hi\n", "src/main.py": b"1"}), "package-unrecognised")
    assert not scene.library.exists()
    assert "SKILL.md" in finding["message"]
    assert "README.md" in finding["message"]
    deep = scene.taken(scene.zip(below("one/two/three", skill("demo"))))
    assert list(deep.skills) == ["demo"]


def test_a_document_below_a_skill_is_its_resource(scene: Scene) -> None:
    files = skill("demo") | {"tests/fixtures/broken-skill/SKILL.md": b"broken\n"}
    look = scene.taken(scene.tree(files))
    assert list(look.skills) == ["demo"]
    assert "tests/fixtures/broken-skill/SKILL.md" in look.found("skill-nested-document")["message"]
    scene.install(look.report["token"])
    assert "skills/demo/tests/fixtures/broken-skill/SKILL.md" in scene.installed()


@pytest.mark.parametrize("size", [300_000, 3_000_000])
def test_a_damaged_archive_inside_leaves_its_neighbours_installable(scene: Scene, size: int) -> None:
    """Its bytes arrive, and turn out to be others than declared, beside those of the good skills."""
    data = bytes(range(256)) * (size // 256)
    lie = {"crc": 1}
    item = Item(name=b"bad/data.bin", content=data, method=STORED, local=lie, central=lie)
    bad = archive([Item(name=b"bad/SKILL.md", content=skill_md("bad")), item])
    files = below("good", skill("good")) | {"a.zip": bad, "b.zip": zip_bytes(below("fine", skill("fine")))}
    look = scene.look(scene.zip(files), "--keep-going")
    assert (look.status, list(look.left_out), sorted(look.skills)) == (0, ["bad"], ["fine", "good"])
    scene.install(look.report["token"])
    assert scene.installed() == below("skills/good", skill("good")) | below("skills/fine", skill("fine"))


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        (b"../evil.txt", "path-unsafe"),
        (b"demo/../../evil.txt", "path-unsafe"),
        (b"/etc/evil.txt", "path-unsafe"),
        (b"C:/evil.txt", "path-unsafe"),
        (b"demo\\scripts\\search.py", "path-unsafe"),
        (b"cfg\\SKILL.md", "path-unsafe"),
        (b"demo//evil.txt", "path-unsafe"),
        (b"demo/./evil.txt", "path-unsafe"),
        (b"demo/a\0b", "path-unsafe"),
        (b"demo/a\x1b[31mb", "path-unsafe"),
        (b"demo/a\nb", "path-unsafe"),
        ("demo/\u202egnp.exe".encode(), "path-unsafe"),
        ("demo/a\u200bb".encode(), "path-unsafe"),
        ("demo/a\U000e0041".encode(), "path-unsafe"),
    ],
    ids=lambda value: ascii(value) if isinstance(value, bytes) else "",
)
def test_a_name_that_could_escape_refuses_the_archive(scene: Scene, name: bytes, fault: str) -> None:
    """Wherever it lies, in zip and tar alike, and nothing is repaired; the name is shown escaped."""
    scene.refused(scene.raw(archive([GOOD, Item(name=name, content=b"evil")])), fault)
    if b"\0" not in name:
        body = tar(member("demo/SKILL.md", GOOD.content), member(name, b"evil"))
        scene.refused(scene.raw(gz(body), "p.tgz"), fault)
    scene.refused(
        scene.raw(archive([GOOD, Item(name=name, content=b"evil")])), fault, "--keep-going", "--skill", "demo"
    )


@pytest.mark.parametrize(
    "name",
    [
        "demo/aux.txt",
        "demo/a:b.svg",
        "demo/what?.md",
        "demo/a.",
        "demo/a ",
        "demo/" + "n" * 256,
        "demo/<x>",
        "demo/CON",
    ],
)
def test_a_name_that_some_systems_cannot_store_refuses_its_skill_only(scene: Scene, name: str) -> None:
    """And is a warning where nothing selected lies."""
    items = [GOOD, Item(name=name.encode(), content=b"x"), Item(name=b"good/SKILL.md", content=skill_md("good"))]
    source = scene.raw(archive(items))
    look = scene.look(source)
    assert look.status == 3
    assert look.codes("error") == ["path-unsafe"]
    assert look.left_out["demo"]["codes"] == ["path-unsafe"]
    assert list(scene.taken(source, "--skill", "good").skills) == ["good"]
    elsewhere = [GOOD, Item(name=name.replace("demo/", "docs/").encode(), content=b"x")]
    assert scene.taken(scene.raw(archive(elsewhere))).codes("warning") == ["path-unsafe"]


@pytest.mark.parametrize("pair", [("demo/Read.md", "demo/read.md"), ("demo/ä", "demo/a\u0308"), ("demo/x", "demo/x/y")])
def test_names_that_meet_on_some_system_refuse_their_skill(scene: Scene, pair: tuple[str, str]) -> None:
    items = [GOOD, *(Item(name=name.encode(), content=name.encode()) for name in pair)]
    assert scene.look(scene.raw(archive(items))).found("path-collision")["severity"] == "error"
    one = scene.taken(scene.raw(archive([GOOD, Item(name=pair[0].encode())])))
    assert one.skills["demo"]["files"] == 2


def test_names_in_other_scripts_are_kept(scene: Scene) -> None:
    """With the flag, and without it as Finder and Info-ZIP write them."""
    name = "demo/测试/Übersicht é.md"
    for flags in (UTF8, 0):
        item = Item(name=name.encode(), content=b"x", flags=flags)
        unflagged = replace(item, local={"flags": flags}, central={"flags": flags})
        look = scene.taken(scene.raw(archive([GOOD, unflagged])))
        assert look.skills["demo"]["files"] == 2
        assert look.codes("warning", "error") == []
    scene.install(scene.place("package.zip"))
    assert f"skills/{name}" in scene.installed()


def test_a_skill_that_is_named_in_another_script_keeps_a_readable_name(scene: Scene) -> None:
    look = scene.taken(scene.zip({"表格审查/SKILL.md": skill_md("表格 审查")}))
    (name,) = look.skills
    assert "表格" in name
    assert "skill" not in name


def test_names_in_an_old_code_page(scene: Scene) -> None:
    """Refused with the option that reads them; with it, read by that one code page, and said."""
    raw = "demo/说明.md".encode("gbk")
    item = Item(name=raw, content=b"x", host=0, local={"flags": 0}, central={"flags": 0})
    source = scene.raw(archive([GOOD, item]))
    finding = scene.refused(source, "path-encoding")
    assert "--name-encoding" in finding["message"]
    look = scene.taken(source, "--name-encoding", "gbk")
    scene.install(look.report["token"])
    assert "skills/demo/说明.md" in scene.installed()
    assert scene.run("preview", source, "--name-encoding", "no-such-page").status == 2


def test_one_name_twice(scene: Scene) -> None:
    for data in (
        archive([GOOD, OTHER, replace(OTHER, content=b"second")]),
        archive([GOOD, replace(GOOD, content=skill_md("demo", body="# Second\n"))]),
    ):
        scene.refused(scene.raw(data), "archive-ambiguous")


# --- two readers, two archives ---------------------------------------------------------------------------------------


def good_zip() -> bytes:
    return archive([GOOD, OTHER])


AMBIGUOUS = {
    "3 entries in total, 4 on this disk": archive([GOOD, OTHER, OTHER], end={"here": 4, "entries": 3}),
    "junk in front": b"junk" + good_zip(),
    "an end record in the comment": archive([GOOD], comment=b"see PK\x05\x06" + bytes(18)),
    "bytes behind the end, no comment": good_zip() + b"MCPB_SIG_V1" + bytes(2253),
    "bytes between entries": archive([GOOD, replace(OTHER, before=b"hidden")]),
    "an entry that is not listed": archive([GOOD, replace(OTHER, listed=False)]),
    "a name that differs": archive([GOOD, replace(OTHER, local={"name": b"demo/other.txt"})]),
    "a method that differs": archive([GOOD, replace(OTHER, local={"method": STORED})]),
    "sizes that differ": archive([GOOD, replace(OTHER, local={"size": 10})]),
    "an end that does not reach": archive([GOOD, OTHER], end={"offset": 0}),
}


@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_an_archive_that_can_be_read_in_two_ways(scene: Scene, kind: str) -> None:
    """The reason is always given, with a place in the file; Python's own reader opens most of these."""
    finding = scene.refused(scene.raw(AMBIGUOUS[kind]), "archive-ambiguous")
    assert any(character.isdigit() for character in finding["message"])


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("flags", [0, UTF8])
def test_a_link_is_a_link_whatever_its_flags_say(scene: Scene, flags: int, streamed: bool) -> None:
    """Neither an odd count nor a name without the UTF-8 flag hides one."""
    item = link("demo/über.md".encode(), b"/etc/passwd", flags=flags, streamed=streamed, method=DEFLATED)
    item = replace(item, local={"flags": flags | 8 * streamed}, central={"flags": flags | 8 * streamed})
    scene.refused(scene.raw(archive([GOOD, item])), "link-refused")


LYING = {
    "a CRC that is wrong": ("archive-unreadable", replace(OTHER, local={"crc": 1}, central={"crc": 1})),
    "10 of 5,100 bytes declared": ("archive-ambiguous", replace(OTHER, local={"size": 10}, central={"size": 10})),
    "more declared than there is": ("archive-ambiguous", replace(OTHER, local={"size": 9999}, central={"size": 9999})),
    "encrypted and stored": ("archive-encrypted", replace(OTHER, method=STORED, flags=1)),
    "bzip2": ("archive-method-unsupported", replace(OTHER, method=12)),
    "LZMA": ("archive-method-unsupported", replace(OTHER, method=14)),
}


@pytest.mark.parametrize("kind", LYING)
@pytest.mark.parametrize("where", ["selected", "elsewhere"])
def test_each_lie_about_an_entry_has_its_code(scene: Scene, kind: str, where: str) -> None:
    """Where the entry belongs to a skill that is wanted, nothing of that skill is installed."""
    code, item = LYING[kind]
    if where == "elsewhere":
        item = replace(item, name=b"docs/notes.txt")
    look = scene.look(scene.raw(archive([GOOD, item])))
    codes = look.codes("error", "warning")
    assert code in codes, codes
    if where == "selected":
        assert look.status == 3
    assert scene.installed() == {}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (good_zip()[:-30], "archive-unreadable"),
        (good_zip()[:200], "archive-unreadable"),
        (gzip.compress(tar(member("demo/SKILL.md", GOOD.content)))[:-9], "archive-unreadable"),
        (gz(tar(member("demo/SKILL.md", GOOD.content)), crc=1), "archive-unreadable"),
        (gz(tar(member("demo/SKILL.md", GOOD.content)), after=b"more"), "archive-ambiguous"),
        (tar(member("demo/SKILL.md", GOOD.content)) + b"hidden" + bytes(506), "archive-ambiguous"),
        (b"", "source-empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "package-unrecognised"),
        (b"Rar!\x1a\x07\x01\x00" + bytes(100), "package-unrecognised"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(100), "package-unrecognised"),
        (b"BZh91AY&SY" + bytes(100), "package-unrecognised"),
        (b"{", "connector-unreadable"),
    ],
    ids=[
        "no end",
        "cut short",
        "gzip cut",
        "gzip CRC",
        "gzip tail",
        "tar tail",
        "empty",
        "png",
        "rar",
        "7z",
        "bz2",
        "{",
    ],
)
def test_what_is_damaged_or_something_else_says_so(scene: Scene, data: bytes, code: str) -> None:
    """The content decides, whatever the file is called."""
    for name in ("package.zip", "package"):
        done = scene.run("preview", scene.raw(data, name), "--json")
        assert done.status in {1, 3}
        assert code in {d["code"] for d in done.json["diagnostics"]}, done.out
    assert scene.staged() == []


def test_the_content_decides_what_a_file_is(scene: Scene) -> None:
    """A zip that is called .skill, .tar or nothing at all, and a document that is called .zip."""
    data = zip_bytes(below("demo", skill("demo")))
    for name in ("a.skill", "a.tar", "a", "a.md", "a.json"):
        assert list(scene.taken(scene.raw(data, name)).skills) == ["demo"]
    look = scene.taken(scene.raw(skill_md("demo"), "b.zip"))
    assert look.report["source"]["kind"] == "file"
    body = tar(member("demo/SKILL.md", GOOD.content))
    for name, content in (("c.zip", body), ("d.zip", gzip.compress(body))):
        assert scene.taken(scene.raw(content, name)).report["source"]["kind"] == "tar"
