"""What a person is told of a skill's files."""

from __future__ import annotations

import pytest

from importer.diagnostics import Diagnostic
from importer.formats.review import is_program, is_secret_file, relative_links, review_files
from tests.builders.packages import Files, inspections, records, skill, skill_md


def review(files: Files, executables: list[str] | None = None, *, mode_known: bool = True) -> list[Diagnostic]:
    made = records(files, executables or [], mode_known=mode_known)
    return list(review_files("pack/demo", made, inspections(files), files.get("SKILL.md", b""), "SKILL.md"))


def codes(found: list[Diagnostic]) -> list[tuple[str, str]]:
    return [(d.severity.value, d.code) for d in found]


def test_plain_skill_has_nothing_to_say() -> None:
    assert review({"SKILL.md": skill_md(), "references/units.md": b"# Units\n"}) == []


def test_three_hundred_programs_are_one_line() -> None:
    found = review({"SKILL.md": skill_md(), **{f"scripts/{n:03}.py": b"x" for n in range(300)}})
    assert codes(found) == [("warning", "skill-executables")]
    assert found[0].facts["count"] == 300
    assert "300 files" in found[0].message
    assert len(found[0].message) < 400


@pytest.mark.parametrize(
    ("path", "data", "executable"),
    [
        pytest.param("run", b"#!/bin/sh\n", False, id="shebang without extension"),
        pytest.param("run", b"\x00ELF", True, id="mode"),
        pytest.param("lib/tool.jar", b"PK", False, id="jar"),
        pytest.param("a.ts", b"let a", False, id="ts"),
        pytest.param("A.EXE", b"MZ", False, id="capitals"),
        pytest.param("x.ps1", b"", False, id="ps1"),
    ],
)
def test_programs_by_mode_shebang_and_name(path: str, data: bytes, executable: bool) -> None:
    found = review({"SKILL.md": skill_md(), path: data}, [path] if executable else [])
    assert codes(found) == [("warning", "skill-executables")]
    assert found[0].facts["names"] == [path]


@pytest.mark.parametrize("name", ["a.md", "Makefile", "data.csv", "py", ".sh", "a.shx", "sh/readme"])
def test_names_that_are_no_programs(name: str) -> None:
    assert not is_program(name)


@pytest.mark.parametrize(
    "name",
    [".env", "y/.env", ".env.local", "id_rsa", "certs/server.pem", "a.key", "credentials.json", ".npmrc", ".ENV"],
)
def test_secret_files_are_shown_as_what_they_are(name: str) -> None:
    assert is_secret_file(name)
    assert ("warning", "skill-secret-file") in codes(review({"SKILL.md": skill_md(), name: b"A=1"}))


@pytest.mark.parametrize("name", [".env.example", "env", "id_rsa.pub", "key.md", ".env.sample", "monkey"])
def test_names_that_hold_no_secret(name: str) -> None:
    assert not is_secret_file(name)


def test_lfs_pointer_is_an_error_of_the_skill() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
    found = review({"SKILL.md": skill_md(), "assets/model.bin": pointer})
    assert ("error", "skill-lfs-pointer") in codes(found)
    assert found[0].path == "pack/demo/assets/model.bin"


def test_hidden_characters_are_said_for_each_file() -> None:
    found = review(
        {
            "SKILL.md": skill_md(body="plain\nzero\u200bwidth\n"),
            "references/a.md": "tag\U000e0041s \u202e".encode(),
            "references/b.md": b"fine",
            "c.bin": b"\x00\xe2\x80\x8b",
        }
    )
    assert codes(found) == [("warning", "text-hidden-characters")] * 2
    assert [(d.path, d.facts["count"]) for d in found] == [("pack/demo/SKILL.md", 1), ("pack/demo/references/a.md", 2)]
    assert found[0].line == 6


# --- links -----------------------------------------------------------------------------------------------------------


def test_dead_links_are_one_warning_with_lines() -> None:
    body = (
        "[units](references/units.md) and [folder](./scripts/) and [gone](references/gone.md)\n"
        "![pic](<assets/my pic.png>) [up](../other/SKILL.md) [web](https://example.org/a.md) [part](#part)\n"
        "[gone again](references/gone.md#top)\n"
    )
    found = review(skill("demo", body=body))
    dead = next(d for d in found if d.code == "skill-link-dead")
    assert dead.facts["targets"] == ["references/gone.md", "assets/my pic.png", "../other/SKILL.md"]
    assert dead.facts["lines"] == [5, 6, 6]
    assert (dead.path, dead.line) == ("pack/demo/SKILL.md", 5)


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[a](b.md)", [(1, "b.md")]),
        ('[a](b.md "title")', [(1, "b.md")]),
        ("[a](b%20c.md)", [(1, "b%20c.md")]),
        ("[a](b_(c).md)", [(1, "b_(c).md")]),
        ("[a]: ./b.md", [(1, "./b.md")]),
        ("[a](b.md?raw=1#x)", [(1, "b.md")]),
        ("`[a](b.md)`", []),
        ("``[a](b.md) ` ``", []),
        ("` [a](b.md)", [(1, "b.md")]),
        ("```\n[a](b.md)\n```\n[c](d.md)", [(4, "d.md")]),
        ("~~~\n```\n[a](b.md)\n~~~\n", []),
        ("[a](mailto:x@y.z) [b](//host/x) [c](/abs) [d](C:/x)", []),
        ("[a]({{ base }}/x.md) [b](<name>.md) [c](...)", []),
        ("- [ ] task\n[text] (not a link)", []),
    ],
)
def test_links_of_markdown(text: str, links: list[tuple[int, str]]) -> None:
    assert relative_links(text) == links


def test_percent_encoded_link_finds_its_file() -> None:
    files = {"SKILL.md": skill_md(body="[a](references/my%20file.md)\n"), "references/my file.md": b"x"}
    assert review(files) == []


@pytest.mark.parametrize(
    "line", ["`" * 60_000 + "a](b", "](" * 30_000, "](a(" * 15_000, "[" * 60_000 + "]: x", "` " * 30_000]
)
def test_hostile_lines_end_soon(line: str) -> None:
    relative_links("\n".join([line] * 10))
