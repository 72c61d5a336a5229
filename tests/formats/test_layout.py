"""What is recognised by names, where the roots are, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.diagnostics import error
from importer.formats.layout import Kind, Layout, recognise
from importer.formats.roots import Names, Root
from importer.model import Fault
from tests.builders.packages import below, skill, specialist, tree


def codes(layout: Layout) -> list[str]:
    return [note.code for note in layout.notes]


def root_paths(layout: Layout) -> list[str]:
    return [root.path for root in layout.roots]


def only(layout: Layout) -> Root:
    assert len(layout.roots) == 1
    return layout.roots[0]


def fault(path: str, code: str = "link-refused") -> Fault:
    return Fault(path=path, diagnostic=error(code, "refused", path))


@pytest.mark.parametrize(
    ("names", "roots"),
    [
        pytest.param(["SKILL.md", "scripts/a.py"], [""], id="at the top"),
        pytest.param(["my-skill/SKILL.md"], ["my-skill"], id="one folder keeps its name"),
        pytest.param(["a/b/c/demo/SKILL.md", "a/b/c/demo/x"], ["a/b/c/demo"], id="three wrappers deep"),
        pytest.param([f"s{n}/SKILL.md" for n in range(7)], [f"s{n}" for n in range(7)], id="seven"),
        pytest.param(["one/SKILL.md", "deep/er/two/SKILL.md"], ["deep/er/two", "one"], id="different depths"),
        pytest.param(["a/SKILL.md", "a/b/SKILL.md", "ab/SKILL.md"], ["a", "ab"], id="a prefix is no parent"),
    ],
)
def test_roots_are_the_shallowest_of_each_branch(names: list[str], roots: list[str]) -> None:
    layout = recognise(tree(names))
    assert layout.kind is Kind.SKILLS
    assert root_paths(layout) == roots


def test_every_file_below_a_root_belongs_to_it_and_no_other() -> None:
    layout = recognise(tree({**below("p/a", skill("a")), **below("p/b", skill("b")), "p/README.md": b"x"}))
    assert [sorted(entry.path.text for entry in root.files) for root in layout.roots] == [
        ["p/a/SKILL.md", "p/a/references/units.md", "p/a/scripts/count.py"],
        ["p/b/SKILL.md", "p/b/references/units.md", "p/b/scripts/count.py"],
    ]
    assert [entry.path.text for entry in layout.outside] == ["p/README.md"]
    assert codes(layout) == ["files-outside"]
    assert layout.notes[0].facts["count"] == 1


def test_nested_document_is_a_resource_and_said() -> None:
    root = only(recognise(tree(["SKILL.md", "tests/fixtures/broken-skill/SKILL.md", "tests/skill.md"])))
    assert len(root.files) == 3
    assert [(d.code, d.facts["count"]) for d in root.findings] == [("skill-nested-document", 2)]


@pytest.mark.parametrize("spelling", ["skill.md", "Skill.md", "SKILL.MD"])
def test_other_spelling_is_recognised_and_reported(spelling: str) -> None:
    root = only(recognise(tree([f"demo/{spelling}"])))
    assert root.document is not None
    assert root.document.path.text == f"demo/{spelling}"
    assert [(d.code, d.severity, d.path) for d in root.findings] == [
        ("skill-document-name", "warning", f"demo/{spelling}")
    ]
    assert "SKILL.md" in root.findings[0].message


def test_two_spellings_are_a_collision_of_that_skill_only() -> None:
    layout = recognise(tree(["a/SKILL.md", "a/skill.MD", "b/SKILL.md"]))
    assert [[d.code for d in root.findings] for root in layout.roots] == [["path-collision"], []]


@pytest.mark.parametrize("name", [".source.json", ".specialist-package.json", ".SOURCE.json"])
def test_host_files_at_a_root_are_never_taken(name: str) -> None:
    root = only(recognise(tree(["a/SKILL.md", f"a/{name}", f"a/sub/{name}"])))
    assert [entry.path.text for entry in root.files] == ["a/SKILL.md", f"a/sub/{name}"]
    assert [d.code for d in root.findings] == ["host-file-ignored"]


def test_archives_outside_roots_are_nested_and_inside_are_resources() -> None:
    layout = recognise(tree(["a/SKILL.md", "a/Archive.zip", "more.zip", "x/one.SKILL", "data.tar.gz", "old.7z"]))
    assert [entry.path.text for entry in layout.nested] == ["more.zip", "x/one.SKILL"]
    assert "a/Archive.zip" in [entry.path.text for entry in layout.roots[0].files]
    closed = next(note for note in layout.notes if note.code == "archive-not-opened")
    assert closed.facts["names"] == ["data.tar.gz", "old.7z"]


def test_archives_in_a_nested_archive_are_named_and_not_opened() -> None:
    layout = recognise(tree(["a/SKILL.md", "deeper.zip"]), inner=True)
    assert layout.nested == ()
    assert codes(layout) == ["archive-not-opened", "files-outside"]


def test_nested_archives_alone_are_skills() -> None:
    assert recognise(tree(["one.zip", "two.skill"])).kind is Kind.SKILLS


@pytest.mark.parametrize(
    ("names", "folder", "fallback"),
    [
        (["SKILL.md"], None, ""),
        (["demo/SKILL.md"], "demo", ""),
        (["repo-main/SKILL.md", "repo-main/README.md"], None, "repo"),
        (["repo-1.2.0/SKILL.md"], None, "repo"),
        (["repo-0123abc/SKILL.md"], None, "repo"),
        (["repo-main/SKILL.md", "README.md"], "repo-main", ""),
        (["repo-main/demo-main/SKILL.md"], "demo-main", ""),
    ],
)
def test_folder_name_of_a_download_says_nothing(names: list[str], folder: str | None, fallback: str) -> None:
    root = only(recognise(tree(names)))
    assert (root.folder, root.fallback) == (folder, fallback)


# --- faults ----------------------------------------------------------------------------------------------------------


def test_fault_goes_to_the_skill_that_holds_it() -> None:
    layout = recognise(tree(["a/SKILL.md", "b/SKILL.md"], [fault("b/con.txt", "path-unsafe"), fault("docs/x")]))
    assert [[held.path for held in root.faults] for root in layout.roots] == [[], ["b/con.txt"]]
    assert [held.path for held in layout.faults] == ["docs/x"]


def test_fault_of_the_folder_itself_goes_to_its_skill() -> None:
    layout = recognise(tree(["a/SKILL.md", "b/SKILL.md"], [fault("b", "path-collision")]))
    assert [len(root.faults) for root in layout.roots] == [0, 1]


def test_refused_document_still_makes_a_root() -> None:
    layout = recognise(tree(["a/SKILL.md", "b/x.md"], [fault("b/SKILL.md")]))
    assert [(root.path, root.document is None, len(root.faults)) for root in layout.roots] == [
        ("a", False, 0),
        ("b", True, 1),
    ]


def test_refused_document_at_the_top_does_not_swallow_good_skills() -> None:
    layout = recognise(tree(["a/SKILL.md", "README.md"], [fault("SKILL.md")]))
    assert root_paths(layout) == ["a"]
    assert [held.path for held in layout.faults] == ["SKILL.md"]


# --- specialist ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["", "field-analyst-1.0"])
def test_specialist_at_the_top_or_under_one_wrapper(base: str) -> None:
    files = specialist() | {"README.txt": b"x", "LICENSE": b"y"}
    layout = recognise(tree(below(base, files) if base else files))
    assert layout.kind is Kind.SPECIALIST
    assert layout.specialist is not None
    assert layout.specialist.root == base
    assert layout.specialist.manifest is not None
    assert [root.folder for root in layout.roots] == ["chart-check", "table-audit"]
    assert len(layout.specialist.files) == 10
    assert layout.notes == ()


def test_lone_specialist_document_is_a_specialist_without_manifest() -> None:
    layout = recognise(tree(["specialist.json"]))
    assert layout.kind is Kind.SPECIALIST
    assert layout.specialist is not None
    assert layout.specialist.manifest is None


def test_a_specialist_without_skills_says_what_was_looked_for() -> None:
    layout = recognise(tree(["manifest.json", "specialist.json"]), inner=True)
    assert layout.kind is Kind.SPECIALIST
    assert not layout.roots
    assert layout.seen.startswith("nothing to import: looked for SKILL.md")


def test_lone_manifest_is_none() -> None:
    assert recognise(tree(["manifest.json"])).kind is Kind.DOCUMENTS


def test_bundled_folder_without_document_is_an_error_of_that_skill() -> None:
    layout = recognise(tree([*specialist(), "skills/empty/notes.md"]))
    assert [(root.path, [d.code for d in root.findings]) for root in layout.roots] == [
        ("skills/chart-check", []),
        ("skills/empty", ["skill-document-missing"]),
        ("skills/table-audit", []),
    ]


def test_files_without_a_place_in_a_specialist_are_named() -> None:
    odd = ["evil.sh", "README.md", "skills/loose.md", "other/SKILL.md"]
    layout = recognise(tree([*specialist(), *odd]))
    assert [note.code for note in layout.notes] == ["specialist-file-ignored"]
    assert layout.notes[0].facts["names"] == odd
    assert len(layout.roots) == 2


def test_bundled_document_in_another_case_is_reported() -> None:
    files = specialist(skills={"demo": {"skill.md": b"x"}})
    root = only(recognise(tree(files)))
    assert [d.code for d in root.findings] == ["skill-document-name"]


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["a/specialist.json", "a/manifest.json", "b/specialist.json"], Kind.NONE),
        (["x/y/specialist.json", "x/y/manifest.json"], Kind.NONE),
        (["a/specialist.json", "a/skills/one/SKILL.md", "b/SKILL.md"], Kind.SKILLS),
    ],
)
def test_specialist_that_is_not_the_whole_package_is_named(names: list[str], kind: Kind) -> None:
    layout = recognise(tree(names))
    assert layout.kind is kind
    assert "specialist-not-taken" in codes(layout)


def test_specialist_faults_inside_and_outside() -> None:
    layout = recognise(
        tree(below("p", specialist()), [fault("p/aux"), fault("p/skills/table-audit/nul"), fault("other")])
    )
    assert layout.specialist is not None
    assert [held.path for held in layout.specialist.faults] == ["p/aux"]
    assert [len(root.faults) for root in layout.roots] == [0, 1]
    assert [held.path for held in layout.faults] == ["other"]


# --- the rest --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "root"),
    [
        ("plugin.json", "agent-plugin", ""),
        ("p/plugin.json", "agent-plugin", "p"),
        (".claude-plugin/plugin.json", "claude-plugin", ""),
        ("p/.codex-plugin/plugin.json", "codex-plugin", "p"),
    ],
)
def test_plugins_are_recognised_and_their_skills_found(name: str, kind: str, root: str) -> None:
    layout = recognise(tree([name, "skills/demo/SKILL.md"]))
    assert [(mark.kind, mark.root) for mark in layout.plugins] == [(kind, root)]
    assert layout.notes[0].code == "plugin-recognised"
    assert root_paths(layout) == ["skills/demo"]


def test_many_plugins_are_one_note() -> None:
    layout = recognise(tree([f"p{n}/.claude-plugin/plugin.json" for n in range(300)]))
    assert len(layout.plugins) == 300
    assert [note.facts["count"] for note in layout.notes if note.code == "plugin-recognised"] == [300]


@pytest.mark.parametrize("names", [["github.json"], ["wrap/a.json", "wrap/b.json", "wrap/deep/c.json"]])
def test_json_at_the_top_may_be_a_connector(names: Sequence[str]) -> None:
    layout = recognise(tree(names))
    assert layout.kind is Kind.DOCUMENTS
    assert [entry.path.text for entry in layout.documents] == [n for n in names if n.count("/") <= 1]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "found no files"),
        (["README.md", "a/README.md", "b/README.md"], "3 files (3 .md): README.md, a/README.md, b/README.md"),
        (["SKILLS.md"], "the nearest names are SKILLS.md"),
    ],
)
def test_nothing_says_what_was_looked_for_and_what_was_found(names: list[str], said: str) -> None:
    layout = recognise(tree(names))
    assert layout.kind is Kind.NONE
    found = layout.unrecognised()
    assert found.code == "package-unrecognised"
    assert "SKILL.md" in found.message
    assert "specialist.json" in found.message
    assert said in found.message


def test_largest_bundle_is_cut_in_one_pass() -> None:
    names = [f"repo/g{n // 800}/s{n // 8}/f{n}.md" for n in range(28_000)]
    layout = recognise(tree([*names, *(f"repo/g{n // 800}/s{n // 8}/SKILL.md" for n in range(0, 28_000, 8))]))
    assert len(layout.roots) == 3_500
    assert sum(len(root.files) for root in layout.roots) == 31_500


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(["a", "a/b", "a/c/d", "a-b/c", "a.md", "b/a", "\xe9/a", "a/\U0001f41f"]),
        max_size=5,
        unique=True,
    )
)
def test_the_wrapper_is_the_one_folder_that_holds_every_file(names: list[str]) -> None:
    tops = {name.partition("/")[0] for name in names}
    expected = tops.pop() if len(tops) == 1 and all("/" in name for name in names) else ""
    assert Names(tree(names)).wrapper == expected
