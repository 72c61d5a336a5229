"""Links, modes, archives in archives: what packages hold besides plain files, from every kind of source."""

from __future__ import annotations

import io
import stat
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.builders.archives import zip_bytes
from tests.builders.packages import below, skill, skill_md
from tests.builders.tars import member, pax, record, tar
from tests.builders.trees import LinkTo, Pipe, Run
from tests.builders.zips import Item, archive, extra, folder, link
from tests.cli.scene import Scene

GOOD = Item(name=b"demo/SKILL.md", content=skill_md("demo"))
OTHER = Item(name=b"demo/notes.txt", content=b"alpha beta gamma " * 300)


# --- links and kinds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../../outside", "../../../../etc/passwd", "missing.md", "references", "link.md", "."]
)
def test_a_link_that_is_no_copy_refuses_its_skill(scene: Scene, target: str) -> None:
    """From a folder, a zip and a tar, with one code; nothing of the machine's own files is read."""
    files = below("pack/demo", skill("demo"))
    good = [Item(name=name.encode(), content=data) for name, data in files.items()]
    tree = scene.tree({**files, "pack/demo/link.md": LinkTo(target)}, "tree")
    zipped = scene.raw(archive([*good, link(b"pack/demo/link.md", target.encode())]))
    tarred = scene.raw(
        tar(*(member(n, d) for n, d in files.items()), member("pack/demo/link.md", kind=b"2", link=target)), "p.tar"
    )
    for source in (tree, zipped, tarred):
        finding = scene.refused(source, "link-refused")
        assert finding["path"] == "pack/demo/link.md"
        assert target in finding["message"]


def test_a_link_to_a_file_of_the_package_is_a_copy(scene: Scene) -> None:
    """Also to one outside the skill, as repositories share files; it is said, and no link is ever kept."""
    files = below("pack/demo", skill("demo")) | {"shared/table.md": b"shared\n"}
    good = [Item(name=name.encode(), content=data) for name, data in files.items()]
    target = "../../shared/table.md"
    tree = scene.tree({**files, "pack/demo/link.md": LinkTo(target)}, "tree")
    zipped = scene.raw(archive([*good, link(b"pack/demo/link.md", target.encode())]))
    digests = set()
    for source in (tree, zipped):
        look = scene.taken(source)
        assert "shared/table.md" in look.found("link-copied")["message"]
        digests.add(look.skills["demo"]["digest"])
    assert len(digests) == 1
    scene.install(zipped)
    assert (scene.library / "skills/demo/link.md").read_bytes() == b"shared\n"
    assert not (scene.library / "skills/demo/link.md").is_symlink()


def test_a_link_that_only_lies_beside_the_skills_is_a_warning(scene: Scene) -> None:
    files = below("pack/demo", skill("demo"))
    look = scene.taken(scene.tree({**files, "skills": LinkTo("/etc"), "broken": LinkTo("nowhere")}))
    assert look.codes("warning") == ["link-refused", "skill-executables"]


def test_hard_links_pipes_and_devices_are_refused(scene: Scene) -> None:
    good = member("demo/SKILL.md", GOOD.content)
    for kind, code in ((b"1", "link-refused"), (b"6", "entry-kind-refused"), (b"3", "entry-kind-refused")):
        scene.refused(scene.raw(tar(good, member("demo/x", kind=kind, link="demo/SKILL.md")), "p.tar"), code)
    scene.refused(scene.tree({**below("demo", skill("demo")), "demo/pipe": Pipe()}), "entry-kind-refused")
    scene.refused(scene.raw(archive([GOOD, replace(OTHER, mode=0o010644)])), "entry-kind-refused")


def test_a_pax_header_that_smuggles_is_refused(scene: Scene) -> None:
    """A link's target by pax, and a name for every member."""
    good = member("demo/SKILL.md", GOOD.content)
    smuggled = pax(record("linkpath", "/etc/passwd")) + member("demo/x", kind=b"2", link="SKILL.md")
    for part in (smuggled, pax(record("path", "demo/y"), kind=b"g") + member("demo/x", b"x")):
        look = scene.look(scene.raw(tar(good, part), "p.tar"))
        assert look.status == 3
        assert set(look.codes("error")) <= {"archive-ambiguous", "archive-unreadable", "link-refused"}


# --- the executable bit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o100755, 0o104755, 0o102775, 0o100700])
def test_one_bit_survives_and_no_other(scene: Scene, mode: int) -> None:
    """0755 or 0644, from a zip and a tar: never setuid, never writable for others."""
    script = Item(name=b"demo/scripts/run", content=b"#!/bin/sh\n", mode=mode)
    zipped = scene.raw(archive([GOOD, replace(OTHER, mode=0o100666), script]))
    body = tar(
        member("demo/SKILL.md", GOOD.content),
        member("demo/notes.txt", OTHER.content, mode=0o666),
        member("demo/scripts/run", b"#!/bin/sh\n", mode=mode & 0o7777),
    )
    for source in (zipped, scene.raw(body, "p.tar")):
        look = scene.taken(source)
        assert look.skills["demo"]["executables"] == ["scripts/run"]
    scene.install(zipped)
    for name, expected in (("scripts/run", 0o755), ("notes.txt", 0o644), ("SKILL.md", 0o644)):
        assert stat.S_IMODE((scene.library / "skills/demo" / name).stat().st_mode) == expected


def test_without_modes_the_first_line_decides(scene: Scene) -> None:
    """A zip from Windows knows no modes."""
    script = Item(name=b"demo/scripts/run", content=b"#!/bin/sh\n", host=0, mode=0)
    plain = Item(name=b"demo/scripts/data", content=b"x", host=0, mode=0)
    look = scene.taken(scene.raw(archive([GOOD, script, plain])))
    assert look.skills["demo"]["executables"] == ["scripts/run"]


def test_what_can_be_run_is_found_and_said_in_one_line(scene: Scene) -> None:
    """By mode, by its first line, by its name: 300 of them are one finding with a count."""
    files: dict[str, bytes] = {f"lib/m{n}.py": b"x\n" for n in range(300)}
    files |= {"run": b"#!/bin/sh\n", "tool.jar": b"PK", "web.ts": b"x", "notes.txt": b"x"}
    look = scene.taken(scene.tree({**skill("demo"), **files, "go": Run(b"x")}))
    finding = look.found("skill-executables")
    assert finding["facts"]["count"] == 305
    assert len(finding["message"]) < 500


# --- archives in archives --------------------------------------------------------------------------------------------


def test_nested_archives_are_opened_one_level(scene: Scene) -> None:
    inner = zip_bytes(below("one", skill("one")))
    deeper = zip_bytes({"two/SKILL.md": skill_md("two"), "more.zip": inner})
    look = scene.taken(scene.zip({"one.zip": inner, "two.skill": deeper}))
    assert {name: skill["root"] for name, skill in look.skills.items()} == {
        "one": "one.zip!/one",
        "two": "two.skill!/two",
    }
    assert "more.zip" in look.found("archive-not-opened")["message"]


def test_an_archive_in_a_skill_is_its_resource(scene: Scene) -> None:
    inner = zip_bytes(below("other", skill("other")))
    look = scene.taken(scene.tree(skill("demo") | {"assets/Archive.zip": inner}))
    assert list(look.skills) == ["demo"]
    scene.install(look.report["token"])
    assert scene.installed()["skills/demo/assets/Archive.zip"] == inner


def test_a_nested_archive_that_lies_is_left_out_by_name(scene: Scene) -> None:
    """bzip2 and `../evil` inside one of two: that one is refused, with its reasons; the other stays importable."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as inner:
        inner.writestr("bad/SKILL.md", skill_md("bad"))
        inner.writestr("../evil", b"evil")
    source = scene.zip({"bad.zip": out.getvalue(), "good.zip": zip_bytes(below("good", skill("good")))})
    look = scene.look(source)
    assert look.status == 3
    assert "bad.zip" in look.left_out
    assert list(look.skills) == ["good"]
    assert {"path-unsafe", "archive-method-unsupported"} & set(look.codes("error"))
    scene.install(source, "--keep-going")
    assert {name.split("/")[1] for name in scene.installed()} == {"good"}
    assert not list(scene.folder.rglob("evil"))


@pytest.mark.parametrize("name", ["bad/notes.txt", "bad/SKILL.md"])
def test_a_nested_archive_that_is_damaged_takes_its_own_skills_along(scene: Scene, name: str) -> None:
    """Only delivering it tells; its neighbours stay importable, and a selection of them is not stopped by it."""
    inner = {"bad/SKILL.md": skill_md("bad"), "bad/notes.txt": b"notes" * 9, "side/SKILL.md": skill_md("side")}
    lies = {name: {"crc": 1}}
    items = [
        Item(name=n.encode(), content=data, local=lies.get(n, {}), central=lies.get(n, {})) for n, data in inner.items()
    ]
    source = scene.zip({"bad.zip": archive(items), "good.zip": zip_bytes(below("good", skill("good")))})
    finding = scene.refused(source, "archive-unreadable")
    assert finding["path"] == f"bad.zip!/{name}"
    look = scene.taken(source, "--skill", "good")
    assert look.found("archive-unreadable")["severity"] == "warning"
    report = scene.install(source, "--keep-going")
    assert [item["name"] for item in report["installed"]] == ["good"]
    assert sorted(item["name"] for item in report["skipped"]) == ["bad", "side"]


def test_a_nested_archive_is_named_once(scene: Scene) -> None:
    inner = zip_bytes(below("demo", skill("demo")))
    for code, data in (("archive-ambiguous", inner + b"more"), ("archive-unreadable", inner[:-9])):
        source = scene.zip({"in.zip": data, "other/SKILL.md": skill_md("other")})
        assert scene.refused(source, code)["path"] == "in.zip"


@pytest.mark.parametrize("name", ["package.zip", "package.tar.gz"])
def test_what_is_about_a_whole_file_names_that_file(scene: Scene, name: str) -> None:
    write = scene.zip if name.endswith(".zip") else scene.tar
    whole = write(skill("demo"), name).read_bytes()
    look = scene.look(scene.raw(whole[:-9], name))
    assert look.found("archive-unreadable")["path"] == name
    assert look.report["source"]["kind"] == ("zip" if name.endswith(".zip") else "tar")


def test_files_arrive_whole_and_byte_for_byte(scene: Scene) -> None:
    """Whatever their bytes are, from every kind of source with one digest."""
    files = skill("demo") | {
        "assets/a.bin": bytes(range(256)) * 40,
        "assets/empty": b"",
        "x.png": b"\x89PNG\r\n\x1a\n\xff",
    }
    sources: list[Path] = [scene.zip(below("demo", files)), scene.tar(below("demo", files)), scene.tree(files, "demo")]
    looks = [scene.taken(source) for source in sources]
    assert len({look.skills["demo"]["digest"] for look in looks}) == 1
    scene.install(sources[0])
    assert scene.installed() == below("skills/demo", files)
    assert [scene.taken(s).skills["demo"]["reason"] for s in sources] == ["identical"] * 3


def test_folders_and_extra_fields_of_honest_tools_are_no_news(scene: Scene) -> None:
    items = [
        folder(b"demo/"),
        replace(GOOD, local_extra=extra(0x5455, b"\3" + bytes(8))),
        folder(b"demo/empty/"),
        OTHER,
    ]
    assert scene.taken(scene.raw(archive(items, comment=b"0123456789abcdef"))).report["diagnostics"] == []
