"""SKILL.md as people publish it, from the command line: taken with every deviation said, or refused with its reason."""

from __future__ import annotations

import pytest

from tests.builders.packages import BODY, skill, skill_md
from tests.cli.scene import Scene

DESCRIPTION = "Checks a public table before it is analysed."


def document(front: str, *, end: str = "\n", closed: bool = True) -> bytes:
    """Return a document with this frontmatter and these line ends."""
    text = f"---\n{front}\n---" + ("\n" + BODY if closed else "")
    return text.replace("\n", end).encode()


def front(**fields: str) -> str:
    """Return good frontmatter, with fields changed or added as they are written."""
    return "\n".join(f"{k.replace('_', '-')}: {v}" for k, v in ({"name": "demo", "description": "x"} | fields).items())


def test_a_good_document_has_nothing_to_say(scene: Scene) -> None:
    look = scene.taken(scene.zip({"demo/SKILL.md": document(front())}))
    assert look.report["diagnostics"] == []
    assert list(look.skills) == ["demo"]


@pytest.mark.parametrize(
    ("text", "code", "says", "value"),
    [
        pytest.param(
            front(description="Configure the harness: Hooks, MCP Servers, Skills"),
            "skill-frontmatter-repaired",
            'description: "Configure the harness: Hooks, MCP Servers, Skills"',
            "Configure the harness: Hooks, MCP Servers, Skills",
            id="unquoted colon",
        ),
        pytest.param(
            front(argument_hint='[action] — e.g. "list", "status"'),
            "skill-frontmatter-repaired",
            "argument-hint",
            "x",
            id="text behind a flow sequence",
        ),
        pytest.param(
            front(description="Reviews code # and tests"), "skill-description-cut", " #", "Reviews code", id="comment"
        ),
    ],
)
def test_a_value_that_is_no_yaml_is_recovered(scene: Scene, text: str, code: str, says: str, value: str) -> None:
    """The skill is taken, with the line, and what its author should have written."""
    look = scene.taken(scene.zip({"demo/SKILL.md": document(text)}))
    finding = look.found(code)
    assert finding["severity"] == "warning"
    assert finding["path"] == "demo/SKILL.md"
    assert finding["line"] == (4 if "argument-hint" in text else 3)
    assert says in finding["message"]
    assert look.skills["demo"]["description"] == value


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("closed", [True, False], ids=["newline", "end of file"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["bare", "BOM"])
def test_bytes_are_kept_as_they_are_published(scene: Scene, end: str, closed: bool, mark: bytes) -> None:
    """Line ends and a byte order mark are passed over for reading, and installed as they are."""
    data = mark + document(front(description="A demo skill"), end=end, closed=closed)
    look = scene.taken(scene.zip({"demo/SKILL.md": data}))
    assert look.skills["demo"]["description"] == "A demo skill"
    assert [d["code"] for d in look.every("text-byte-order-mark")] == ["text-byte-order-mark"] * bool(mark)
    scene.install(look.report["token"])
    assert scene.installed() == {"skills/demo/SKILL.md": data}


@pytest.mark.parametrize("length", [1024, 1025, 1602])
@pytest.mark.parametrize("style", ["|", ">-"])
def test_a_long_description_is_measured_as_it_is_read(scene: Scene, length: int, style: str) -> None:
    """Folded or literal: the value counts, not the source; too long is no reason to refuse."""
    words = ("word " * 400)[: length - 1] + "x"
    lines = [words[at : at + 100] for at in range(0, length, 100)] if style == "|" else [words]
    value = "\n".join(lines)
    if style == "|":
        value = value[: length - 1]
    text = f"name: demo\ndescription: {style}\n" + "\n".join("  " + line for line in value.split("\n"))
    look = scene.taken(scene.zip({"demo/SKILL.md": document(text)}))
    measured = len(look.skills["demo"]["description"])
    assert bool(look.every("skill-field-long")) is (measured > 1024)


@pytest.mark.parametrize(
    ("text", "folder", "name", "codes"),
    [
        pytest.param("description: x", "ruff", "ruff", ["skill-name-mismatch"], id="no name"),
        pytest.param(
            "name: routing/file-based\ndescription: x\ntype: core\nlibrary: y",
            "file-based",
            "file-based",
            ["skill-field-unknown", "skill-name-mismatch"],
            id="a slash in the name, unknown keys",
        ),
        pytest.param("name: page--cro\ndescription: x", "page-cro", "page-cro", ["skill-name-mismatch"], id="hyphens"),
        pytest.param("name: Page CRO\ndescription: x", "Page_CRO", "page-cro", ["skill-name-mismatch"], id="a title"),
        pytest.param("name: other\ndescription: x", "demo", "other", ["skill-name-mismatch"], id="another folder"),
        pytest.param("name: 表格审查\ndescription: x", "demo", "表格审查", ["skill-name-mismatch"], id="Chinese"),
        pytest.param(
            "name: 表格 审查\ndescription: x", "My Tables", "表格-审查", ["skill-name-mismatch"], id="Chinese slug"
        ),
        pytest.param(
            "name: mcp-builder\ndescription: x", "mcp-builder", "mcp-builder", ["skill-name-reserved"], id="mcp-"
        ),
    ],
)
def test_a_name_falls_back_and_that_is_said(scene: Scene, text: str, folder: str, name: str, codes: list[str]) -> None:
    """To the folder where that is a name, else to a readable form of it; both are named."""
    look = scene.taken(scene.zip({f"{folder}/SKILL.md": document(text)}))
    assert list(look.skills) == [name]
    assert look.codes("warning") == codes
    for finding in look.every("skill-name-mismatch"):
        assert name in finding["message"]


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        pytest.param("version: 1.0.0", "skill-field-unknown", "metadata.version", id="version at the top"),
        pytest.param("allowed-tools: [Read, Bash]", "skill-field-form", "allowed-tools", id="tools as a list"),
        pytest.param("allowed-tools: Read, Bash", "skill-field-form", "allowed-tools", id="tools with commas"),
        pytest.param("metadata:\n  stars: {a: [1]}", "skill-field-form", "metadata", id="metadata that is no text"),
        pytest.param("hooks:\n  - a\n  - b: [c]", "skill-field-unknown", "hooks", id="an unknown structure"),
        pytest.param("compatibility: " + "y" * 501, "skill-field-long", "compatibility", id="long compatibility"),
    ],
)
def test_fields_beyond_the_specification_are_warnings(scene: Scene, line: str, code: str, says: str) -> None:
    look = scene.taken(scene.zip({"demo/SKILL.md": document(front() + "\n" + line)}))
    finding = look.found(code)
    assert finding["severity"] == "warning"
    assert says in finding["message"]
    assert finding["line"] == 4


def test_the_version_is_the_text_that_was_written(scene: Scene) -> None:
    """1.10.0 and not 1.1; a version that is none is 0.1.0, and said."""
    assert scene.taken(scene.zip({"demo/SKILL.md": document(front(version="1.10.0"))})).skills["demo"]["version"] == (
        "1.10.0"
    )
    look = scene.taken(scene.zip({"demo/SKILL.md": document(front() + "\nmetadata:\n  version: 1.10")}))
    assert look.skills["demo"]["version"] == "0.1.0"
    assert "1.10" in look.found("skill-version-invalid")["message"]


@pytest.mark.parametrize("text", ["files of >200MB or >5M rows", "takes <repo>", "turns a -> b"])
def test_markup_in_a_description_is_a_warning_for_one_client(scene: Scene, text: str) -> None:
    look = scene.taken(scene.zip({"demo/SKILL.md": document(front(description=text))}))
    assert "claude.ai" in look.found("skill-description-markup")["message"]


@pytest.mark.parametrize(
    ("data", "line", "says"),
    [
        pytest.param(b"# Just Markdown\n", 1, "frontmatter", id="no frontmatter"),
        pytest.param(b"", 1, "empty", id="empty"),
        pytest.param(document("name: demo"), 1, "description", id="no description"),
        pytest.param(document(front(description='"  "')), 3, "description", id="blank description"),
        pytest.param(document("name: demo\ndescription: [a, b]"), 3, "description", id="description is a list"),
        pytest.param(document(front() + "\nname: other"), 4, "twice", id="key twice"),
        pytest.param(document("a: &a [x]\nb: *a\n" + front()), 2, "anchor", id="anchor"),
        pytest.param(document(front(description="!!python/name:os.system x")), 3, "tag", id="tag"),
        pytest.param(document(front()).replace(b": x", b": \xff"), 3, "UTF-8", id="not UTF-8"),
        pytest.param(document(front()).replace(b": x", b": x\0y"), 3, "NUL", id="NUL"),
        pytest.param(b"---\nname: demo\ndescription: x\n", 1, "closed", id="fence not closed"),
    ],
)
def test_a_document_that_says_too_little_is_refused_with_its_line(
    scene: Scene, data: bytes, line: int, says: str
) -> None:
    source = scene.zip({"demo/SKILL.md": data, "good/SKILL.md": skill_md("good")})
    finding = scene.refused(source, "skill-frontmatter-invalid")
    look = scene.look(source)
    assert finding["path"] == "demo/SKILL.md"
    assert finding["line"] == line
    assert says in finding["message"]
    assert look.left_out["demo"]["reason"] == "faulty"
    assert list(look.skills) == ["good"]
    scene.install(source, "--keep-going")
    assert set(scene.installed()) == {"skills/good/SKILL.md"}


def test_every_document_without_frontmatter_is_listed(scene: Scene) -> None:
    """A count that is lower than expected is never the only sign."""
    files = {f"s{n}/SKILL.md": skill_md(f"s{n}") if n % 3 else b"# No frontmatter\n" for n in range(9)}
    look = scene.look(scene.zip(files))
    assert look.status == 3
    assert set(look.left_out) == {"s0", "s3", "s6"}
    assert [d["path"] for d in look.every("skill-frontmatter-invalid")] == [f"s{n}/SKILL.md" for n in (0, 3, 6)]
    assert "6 of 9 are good" in look.human
    assert "--keep-going" in look.human


@pytest.mark.parametrize("name", ["skill.md", "Skill.md", "SKILL.MD"])
def test_another_spelling_of_the_document_is_found_and_kept(scene: Scene, name: str) -> None:
    look = scene.taken(scene.zip({f"demo/{name}": skill_md("demo"), "demo/a.txt": b"a"}))
    finding = look.found("skill-document-name")
    assert (finding["severity"], finding["path"]) == ("warning", f"demo/{name}")
    assert "SKILL.md" in finding["message"]
    scene.install(look.report["token"])
    assert set(scene.installed()) == {f"skills/demo/{name}", "skills/demo/a.txt"}


def test_two_spellings_in_one_folder_are_a_collision(scene: Scene) -> None:
    source = scene.zip({"demo/SKILL.md": skill_md("demo"), "demo/skill.MD": skill_md("demo", body="# Other\n")})
    assert "skill.MD" in scene.refused(source, "path-collision")["message"]


def test_names_that_meet_once_they_are_readable_are_an_error_naming_both(scene: Scene) -> None:
    source = scene.zip(
        {
            "a/SKILL.md": document("name: My Skill\ndescription: x"),
            "b/SKILL.md": document("name: my_skill\ndescription: y"),
        }
    )
    # Neither folder is asked for: both are valid names, so nothing meets.
    assert set(scene.taken(source).skills) == {"a", "b"}
    met = scene.zip(
        {
            "A B/SKILL.md": document("name: My Skill\ndescription: x"),
            "B A/SKILL.md": document("name: my_skill\ndescription: y"),
        }
    )
    finding = scene.refused(met, "skill-name-clash")
    assert "A B" in finding["message"]
    assert "B A" in finding["message"]
    assert list(scene.taken(met, "--skill", "A B").skills) == ["my-skill"]


def test_dead_links_and_pointers_are_said(scene: Scene) -> None:
    body = "See [the guide](references/guide.md) and [units](references/units.md).\n"
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    files = skill("demo", body=body) | {"data/big.bin": pointer}
    look = scene.look(scene.tree(files))
    assert look.status == 3
    assert look.codes("error") == ["skill-lfs-pointer"]
    assert "references/guide.md" in look.found("skill-link-dead")["message"]
    assert "units" not in look.found("skill-link-dead")["message"]
    assert "data/big.bin" in look.found("skill-lfs-pointer")["message"]
