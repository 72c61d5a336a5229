"""The fields of a SKILL.md held to the specification: each departure is said once, with its line."""

from __future__ import annotations

import pytest

from tests.builders.packages import skill_md
from tests.builders.readings import front, one, read, said


@pytest.mark.parametrize("form", ["description: |\n  {}", "description: >-\n  {}", "description: {}"])
@pytest.mark.parametrize(("size", "long"), [(1024, False), (1025, True)])
def test_length_is_measured_on_the_folded_value(form: str, size: int, long: bool) -> None:
    reading = read(front("name: demo\n" + form.format("ä" * size)))
    assert [d.code for d in reading.diagnostics] == (["skill-field-long"] if long else [])
    if long:
        facts = one(reading, "skill-field-long").facts
        assert (facts["field"], facts["used"], facts["max"]) == ("description", 1025, 1024)


def test_description_cut_short_by_a_comment() -> None:
    reading = read(front("name: demo\ndescription: Fixes issue #12 and C #sharp code"))
    assert said(reading) == [("warning", "skill-description-cut", 3)]
    assert one(reading, "skill-description-cut").facts["lost"] == "12 and C #sharp code"
    assert reading.description == "Fixes issue"
    assert said(read(front("name: demo # a comment\ndescription: C# code\nlicense: MIT # see LICENSE"))) == []


@pytest.mark.parametrize("text", ["has >200MB or >5M rows", "for <repo>", "a -> b"])
def test_markup_in_the_description_is_for_one_client(text: str) -> None:
    reading = read(front(f"name: demo\ndescription: {text}"))
    assert said(reading) == [("warning", "skill-description-markup", 3)]
    assert "claude.ai" in reading.diagnostics[0].message


def test_description_that_hides_something_behind_escapes_is_reported() -> None:
    reading = read(front('name: demo\ndescription: "Fine\\u200b\\U000E0041."'))
    assert [d.code for d in reading.diagnostics] == ["text-hidden-characters"]
    assert reading.diagnostics[0].path == "pack/demo/SKILL.md: description"
    assert reading.diagnostics[0].facts["count"] == 2
    assert not read(front('name: demo\ndescription: "a\\0b"')).usable


def test_unknown_fields_are_one_warning() -> None:
    reading = read(front("name: demo\ntype: x\ndescription: Fine.\nlibrary: y\nversion: 1.0.0"))
    assert said(reading) == [("warning", "skill-field-unknown", 3)]
    found = one(reading, "skill-field-unknown")
    assert found.facts["fields"] == ["type", "library", "version"]
    assert "metadata.version" in found.message
    assert reading.document["other_fields"] == ["type", "library", "version"]


@pytest.mark.parametrize(
    ("lines", "tools"),
    [
        ("allowed-tools: [Read, Bash(git:*)]", ["Read", "Bash(git:*)"]),
        ("allowed-tools:\n  - Read\n  - Write", ["Read", "Write"]),
        ("allowed-tools: Read, Write,Bash(a, b)", ["Read", "Write", "Bash(a, b)"]),
    ],
)
def test_tools_as_a_list_or_with_commas(lines: str, tools: list[str]) -> None:
    reading = read(front(f"name: demo\ndescription: Fine.\n{lines}"))
    assert said(reading) == [("warning", "skill-field-form", 4)]
    assert reading.document["allowed_tools"] == tools


def test_comma_inside_a_tool_is_none_between_tools() -> None:
    assert said(read(front("name: demo\ndescription: Fine.\nallowed-tools: Bash(a,b) Read"))) == []


def test_metadata_that_is_no_text_is_one_warning() -> None:
    reading = read(
        front(
            "name: demo\ndescription: Fine.\nmetadata:\n  a: 1\n  b: [x]\n  c: yes\n"
            '  d: "1"\n  e: text\n  f: 2024-01-01'
        )
    )
    assert said(reading) == [("warning", "skill-field-form", 4)]
    assert reading.diagnostics[0].facts["keys"] == ["a", "b", "c", "f"]


@pytest.mark.parametrize("line", ["metadata: text", "license: [a]", "compatibility: {a: b}", "allowed-tools: {a: b}"])
def test_field_of_another_form_is_a_warning(line: str) -> None:
    reading = read(front(f"name: demo\ndescription: Fine.\n{line}"))
    assert said(reading) == [("warning", "skill-field-form", 4)]


@pytest.mark.parametrize(("size", "codes"), [(0, ["skill-field-long"]), (500, []), (501, ["skill-field-long"])])
def test_compatibility_has_1_to_500_characters(size: int, codes: list[str]) -> None:
    text = "x" * size
    assert [d.code for d in read(front(f'name: demo\ndescription: x\ncompatibility: "{text}"')).diagnostics] == codes


@pytest.mark.parametrize(
    ("lines", "version", "stated", "codes"),
    [
        ("license: MIT", "0.1.0", False, []),
        ("version: 1.2.3", "1.2.3", True, ["skill-field-unknown"]),
        ("version: 1.10", "0.1.0", False, ["skill-version-invalid", "skill-field-unknown"]),
        ("version: [1]", "0.1.0", False, ["skill-version-invalid", "skill-field-unknown"]),
        ("version: 1.0.0-..", "0.1.0", False, ["skill-version-invalid", "skill-field-unknown"]),
        ("metadata:\n  version: 2.0.0-rc.1+x", "2.0.0-rc.1+x", True, []),
        ("metadata:\n  version: v1.0.0", "0.1.0", False, ["skill-version-invalid"]),
        ("metadata:\n  version: 01.0.0", "0.1.0", False, ["skill-version-invalid"]),
        ("version: 1.0.0\nmetadata:\n  version: 1.0.0", "1.0.0", True, ["skill-field-unknown"]),
        ("version: 1.0\nmetadata:\n  version: 1.0.0", "1.0.0", True, ["skill-version-invalid", "skill-field-unknown"]),
        (
            "version: 1.0.0\nmetadata:\n  version: 2.0.0",
            "1.0.0",
            True,
            ["skill-version-invalid", "skill-field-unknown"],
        ),
    ],
)
def test_version(lines: str, version: str, stated: bool, codes: list[str]) -> None:
    reading = read(front(f"name: demo\ndescription: x\n{lines}"))
    assert (reading.version, reading.version_stated) == (version, stated)
    assert [d.code for d in reading.diagnostics] == codes
    assert reading.usable


@pytest.mark.parametrize(("lines", "codes"), [(500, []), (501, ["skill-body-long"])])
def test_body_under_500_lines_is_recommended(lines: int, codes: list[str]) -> None:
    reading = read(front("name: demo\ndescription: x", "line\n" * lines))
    assert [d.code for d in reading.diagnostics] == codes
    assert reading.body_lines == lines


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "folder", "name"),
    [
        pytest.param("demo", "demo", "demo", id="the same"),
        pytest.param("demo", None, "demo", id="the folder says nothing"),
        pytest.param("潮汐-调查", "潮汐-调查", "潮汐-调查", id="other script"),
        pytest.param("हिन्दी", "हिन्दी", "हिन्दी", id="with marks"),
    ],
)
def test_name_without_a_departure(stated: str, folder: str | None, name: str) -> None:
    reading = read(front(f"name: {stated}\ndescription: x"), folder=folder)
    assert said(reading) == []
    assert reading.name == name


@pytest.mark.parametrize(
    ("line", "folder", "name"),
    [
        pytest.param("name: demo", "other", "demo", id="another folder"),
        pytest.param("", "ruff", "ruff", id="no name"),
        pytest.param("name: ''", "ruff", "ruff", id="empty name"),
        pytest.param("name: page--cro", "page-cro", "page-cro", id="doubled hyphen"),
        pytest.param("name: page--cro", None, "page-cro", id="doubled hyphen, slug"),
        pytest.param("name: routing/file-based", "file-based", "file-based", id="slash, folder"),
        pytest.param("name: routing/file-based", "Bad Folder", "routing-file-based", id="slash, slug"),
        pytest.param("name: My Skill", "My Skill", "my-skill", id="spaces"),
        pytest.param("name: a_b:c.d", None, "a-b-c-d", id="punctuation"),
        pytest.param("name: Über Größe", None, "über-größe", id="letters of any script"),
        pytest.param("name: 数据 分析", None, "数据-分析", id="Han"),
        pytest.param("name: aux", None, "aux-skill", id="device"),
        pytest.param("name: aux", "tool", "tool", id="device, folder"),
        pytest.param("name: com1", "com1", "com1-skill", id="device twice"),
        pytest.param(f"name: {'x' * 65}", None, "x" * 64, id="too long"),
        pytest.param(f"name: {'𐐨' * 64}", None, "𐐨" * 63, id="too many bytes"),
        pytest.param("license: x", "My Folder", "my-folder", id="folder's slug"),
        pytest.param("name: '???'", "!!!", "pack", id="nothing but the package"),
        pytest.param("name: a\u200bb", None, "a-b", id="hidden character"),
        pytest.param("name: a\u3164b", None, "a-b", id="letter that draws nothing"),
    ],
)
def test_every_departure_is_reported_with_both_names(line: str, folder: str | None, name: str) -> None:
    reading = read(front(f"{line}\ndescription: x".lstrip("\n")), folder=folder, fallback="Pack!")
    assert reading.usable
    assert [d.code for d in reading.diagnostics] == ["skill-name-mismatch"]
    found = reading.diagnostics[0]
    assert found.severity == "warning"
    assert found.facts["folder"] == (folder or "")
    assert found.facts["name"] == name == reading.name


def test_no_name_anywhere_is_an_error() -> None:
    reading = read(front("name: '!!!'\ndescription: x"), folder=None)
    assert said(reading) == [("error", "skill-frontmatter-invalid", 2)]
    assert reading.name == ""


@pytest.mark.parametrize("name", ["mcp-builder", "os-tools"])
def test_reserved_prefix_is_a_warning(name: str) -> None:
    reading = read(skill_md(name), folder=name)
    assert said(reading) == [("warning", "skill-name-reserved", 2)]


@pytest.mark.parametrize(
    ("stated", "folder"), [("name: demo", "other"), ("license: x", "demo"), ("name: My Skill", "My Skill")]
)
def test_inside_a_specialist_name_and_folder_are_equal(stated: str, folder: str) -> None:
    reading = read(front(f"{stated}\ndescription: x"), folder=folder, bundled=True)
    assert [(d.severity.value, d.code) for d in reading.diagnostics] == [("error", "skill-name-mismatch")]
    assert said(read(skill_md("demo"), folder="demo", bundled=True)) == []
