"""The one gate: a good listing, and the same with one entry that must not pass."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.diagnostics import Diagnostic, Rejected, Severity, error
from importer.entries import admit, as_warning, copied_links, faults_below, share_faults
from importer.model import EntryKind, Fault, Listed, Tree
from importer.paths import RelPath, fold_key
from tests.builders.containers import meter, refusal
from tests.builders.trees import listed, listing

GOOD = ("demo/", "demo/SKILL.md", "demo/references/units.md", "other/SKILL.md")


def gate(*items: str | tuple[str, str] | Listed, **limits: int) -> Tree:
    entries = [item if isinstance(item, Listed) else listing(item)[0] for item in items]
    return admit(entries, bundle=meter("bundle", **limits), archive=meter("archive"))


def paths(tree: Tree) -> list[str]:
    return [entry.path.text for entry in tree.files]


def codes(tree: Tree) -> list[str]:
    return [fault.diagnostic.code for fault in tree.faults]


def test_a_good_listing_passes_in_its_order() -> None:
    tree = gate("z/SKILL.md", *GOOD)
    assert paths(tree) == ["z/SKILL.md", "demo/SKILL.md", "demo/references/units.md", "other/SKILL.md"]
    assert (tree.faults, tree.notes) == ((), ())


@pytest.mark.parametrize(
    "name", ["../x", "/x", "a\\b", "a/../b", "C:/x", "a\0b", "a\x1b[2Jb", "a\u202eb", "a//b", "./a", ""]
)
def test_a_name_that_could_escape_refuses_everything(name: str) -> None:
    assert refusal(lambda: gate(*GOOD, name)) == ["path-unsafe"]


def test_all_dangerous_names_are_told_at_once_and_escaped() -> None:
    with pytest.raises(Rejected) as rejected:
        gate("../a", "ok.md", "b\x1b[31m", "c/\u202egpj.md")
    assert [one.code for one in rejected.value.diagnostics] == ["path-unsafe"] * 3
    text = "".join(one.message + one.path for one in rejected.value.diagnostics)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_report_of_many_dangerous_names_has_an_end() -> None:
    with pytest.raises(Rejected) as rejected:
        gate(*(f"../{number}" for number in range(1000)))
    assert len(rejected.value.diagnostics) == 201


def test_a_name_that_is_no_text_is_an_encoding_fault() -> None:
    assert refusal(lambda: gate(*GOOD, "caf\udce9.md")) == ["path-encoding"]


@pytest.mark.parametrize(
    "name", ["demo/con", "demo/a?.md", "demo/x.", "demo/ x", "demo/" + "n" * 256, "demo/.GIT/config"]
)
def test_a_name_that_some_systems_cannot_store_is_a_fault_of_its_package(name: str) -> None:
    tree = gate(*GOOD, name)
    assert codes(tree) == ["path-unsafe"]
    assert tree.faults[0].path == name
    assert len(faults_below(tree, "demo")) == 1
    assert faults_below(tree, "other") == ()
    assert paths(tree) == [name for name in GOOD if not name.endswith("/")]


def test_an_over_long_name_gives_the_numbers() -> None:
    fault = gate("demo/" + "n" * 256).faults[0].diagnostic
    assert fault.facts["limit"] == "segment_bytes"
    assert (fault.facts["used"], fault.facts["max"]) == (256, 255)


def test_one_name_with_two_contents_refuses_everything() -> None:
    assert refusal(lambda: gate(*GOOD, "demo/SKILL.md")) == ["archive-ambiguous"]
    assert refusal(lambda: gate(*GOOD, ("demo/SKILL.md", "other/SKILL.md"))) == ["archive-ambiguous"]
    assert refusal(lambda: gate("a/con", "a/con")) == ["archive-ambiguous"]


def test_a_folder_may_be_listed_twice() -> None:
    assert set(codes(gate(*GOOD, "demo"))) == {"path-collision"}
    assert codes(gate(*GOOD, "demo/", "demo/")) == []


def test_only_a_folder_may_end_with_a_slash_and_needs_none() -> None:
    assert refusal(lambda: gate(*GOOD, listed("demo/x/", EntryKind.FILE))) == ["path-unsafe"]
    assert codes(gate(*GOOD, listed("demo/xy", EntryKind.DIRECTORY), "demo/x")) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("demo/a.md", "demo/A.md"),
        ("demo/stra\xdfe.md", "demo/STRASSE.md"),
        ("demo/caf\xe9.md", "demo/cafe\u0301.md"),
        ("demo/\u212a.md", "demo/k.md"),
        ("demo/Docs/a.md", "demo/docs/b.md"),
        ("demo/Docs/a.md", "demo/docs"),
        ("demo/docs", "demo/docs/b.md"),
        ("demo/Docs", "demo/docs/b.md"),
        ("demo/x/", "demo/X"),
        ("demo/x/", "demo/x"),
        ("demo/Docs/", "demo/docs/b.md"),
        ("demo/x/y/Z/1", "demo/x/y/z/2"),
    ],
)
def test_names_that_are_one_name_elsewhere_collide(one: str, other: str) -> None:
    for pair in ((one, other), (other, one)):
        tree = gate(*GOOD, *pair)
        assert set(codes(tree)) == {"path-collision"}, pair
        assert faults_below(tree, "demo")
        assert not faults_below(tree, "other")
        facts = faults_below(tree, "demo")[0].facts
        assert facts["first"]
        assert facts["second"]


def test_a_collision_is_told_once_for_a_package_that_holds_both_sides() -> None:
    tree = gate("demo/a", "demo/A")
    assert sorted(fault.path for fault in tree.faults) == ["demo/A", "demo/a"]
    assert len(faults_below(tree, "demo")) == 1


@pytest.mark.parametrize(
    ("names", "sides"),
    [
        (["d/Docs/a", "d/docs/b", "d/Docs/c", "d/docs/e"], ["d/Docs", "d/docs"]),
        (["A/B/C/x", "a/b/c/y"], ["A", "A/B/C", "a", "a/b/c"]),
        (["A/b/x", "a/b/y"], ["A", "A/b", "a", "a/b"]),
        (["d/Docs", "d/docs/b"], ["d/Docs", "d/docs/b"]),
        (["d/x/", "d/x"], ["d/x"]),
        (["d/\xe9", "d/e\u0301"], ["d/\xe9"]),
    ],
)
def test_of_folders_that_collide_the_first_and_the_last_are_told_once(names: list[str], sides: list[str]) -> None:
    assert sorted(fault.path for fault in gate(*names).faults) == sorted(sides)


def test_a_root_that_collides_is_not_taken_on_either_side() -> None:
    tree = gate("Demo/SKILL.md", "demo/SKILL.md", "good/SKILL.md")
    assert faults_below(tree, "demo")
    assert faults_below(tree, "Demo")
    assert not faults_below(tree, "good")


def test_a_collision_beside_names_that_sort_between() -> None:
    tree = gate("demo/docs", "demo/docs-old/a", "demo/docs.md", "demo/docs /x", "demo/docs/a")
    assert "path-collision" in codes(tree)


def test_of_two_spellings_of_one_composed_name_one_file_is_left() -> None:
    tree = gate("demo/caf\xe9", "demo/CAF\xc9", "demo/cafe\u0301")
    assert paths(tree) == ["demo/caf\xe9", "demo/CAF\xc9"]
    assert set(codes(tree)) == {"path-collision"}


def test_more_collisions_than_anybody_has_refuse_everything() -> None:
    names = [f"{letter}{number}" for number in range(1001) for letter in "aA"]
    assert refusal(lambda: gate(*names)) == ["path-collision"]
    assert len(gate(*names[:2000]).faults) == 2000


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["a", "A", "b", "\xe9", "E\u0301", "a-", "a.b"]), min_size=1, max_size=4), max_size=7
    )
)
def test_collisions_are_those_that_a_plain_comparison_finds(split: list[list[str]]) -> None:
    names = list(dict.fromkeys("/".join(segments) for segments in split))
    tree = gate(*names)
    parsed = [RelPath.parse(name).text for name in names]
    assert bool(tree.faults) == _plainly_collides(parsed)


def _plainly_collides(names: list[str]) -> bool:
    """Whether a folding file system would meet one name twice: as two spellings, or as a file and a folder."""
    seen: dict[str, tuple[str, bool]] = {}
    for name in names:
        segments = name.split("/")
        for depth in range(1, len(segments) + 1):
            prefix, is_file = "/".join(segments[:depth]), depth == len(segments)
            held = seen.setdefault(fold_key(prefix), (prefix, is_file))
            if held != (prefix, is_file):
                return True
            if is_file and names.count(name) > 1:
                return True
    return False


NOISE = [
    "__MACOSX/demo/._SKILL.md",
    "demo/.DS_Store",
    "demo/._x",
    "Thumbs.db",
    "demo/desktop.ini",
    ".git/config",
    "demo/.git",
    "a/.git/hooks/x",
]


@pytest.mark.parametrize("name", NOISE)
def test_noise_is_dropped_and_said(name: str) -> None:
    tree = gate(*GOOD, name)
    assert paths(tree) == paths(gate(*GOOD))
    assert codes(tree) == []
    note = tree.notes[0]
    assert (note.code, note.severity, note.facts["count"], note.facts["names"]) == (
        "noise-ignored",
        Severity.INFO,
        1,
        [name],
    )


def test_noise_is_said_once_with_a_count_and_the_first_names() -> None:
    tree = gate(*GOOD, *NOISE)
    assert len(tree.notes) == 1
    assert (tree.notes[0].facts["count"], tree.notes[0].facts["names"]) == (len(NOISE), NOISE[:5])
    assert tree.notes[0].message.startswith("8 entries that")
    assert tree.notes[0].message.endswith("and 3 more")
    one = gate(*GOOD, NOISE[1]).notes[0].message
    assert one.startswith("1 entry that")
    assert one.endswith("demo/.DS_Store")


@pytest.mark.parametrize(
    "name", [".gitignore", "demo/.github/x", "demo/.env", "demo/_DS_Store", "MACOSX/x", "demo/x._y", "a.git/x"]
)
def test_what_only_looks_like_noise_is_content(name: str) -> None:
    assert name in paths(gate(*GOOD, name))


def test_a_dangerous_name_refuses_even_among_noise() -> None:
    assert refusal(lambda: gate(*GOOD, "__MACOSX/../../x")) == ["path-unsafe"]
    assert refusal(lambda: gate(*GOOD, "__MACOSX/._a\\b")) == ["path-unsafe"]


def test_noise_is_no_reason_for_a_fault() -> None:
    tree = gate(
        *GOOD, "__MACOSX/con", "__MACOSX/x", "__MACOSX/X", ("__MACOSX/l", "/etc/passwd"), ".git/" + "d/" * 40 + "x"
    )
    assert codes(tree) == []


def test_a_path_at_the_depth_passes_and_one_deeper_is_a_fault_where_it_is() -> None:
    assert codes(gate("a/b/c", depth=3)) == []
    tree = gate("good/SKILL.md", "a/b/c/d", depth=3)
    fault = tree.faults[0]
    assert fault.path == "a/b/c/d"
    assert fault.diagnostic.code == "budget-exceeded"
    facts = fault.diagnostic.facts
    assert (facts["profile"], facts["limit"], facts["used"], facts["max"]) == ("bundle", "depth", 4, 3)
    assert paths(tree) == ["good/SKILL.md"]


def test_the_deepest_path_is_what_the_report_of_budgets_shows() -> None:
    for names, deepest in (((), 0), (("a/b/c", "d"), 3), (("d", "a/b"), 2)):
        bundle = meter("bundle")
        admit(listing(*names), bundle=bundle, archive=meter("archive"))
        assert bundle.used("depth") == deepest


def test_accents_written_apart_are_composed_and_that_is_said_once() -> None:
    tree = gate("demo/cafe\u0301.md", "demo/e\u0301te\u0301.md")
    assert paths(tree) == ["demo/caf\xe9.md", "demo/\xe9t\xe9.md"]
    assert [(note.code, note.facts["count"]) for note in tree.notes] == [("name-normalised", 2)]
    many = gate(*(f"{number}e\u0301" for number in range(7))).notes[0]
    assert (many.facts["count"], many.facts["names"]) == (7, [f"{number}\xe9" for number in range(5)])


def test_special_files_and_hard_links_are_faults_that_say_what_they_are() -> None:
    special = gate(*GOOD, listed("demo/null", EntryKind.SPECIAL))
    assert codes(special) == ["entry-kind-refused"]
    assert special.faults[0].diagnostic.facts["kind"] == "device"
    hard = gate(*GOOD, listed("demo/h", EntryKind.HARDLINK, target="demo/SKILL.md"))
    assert codes(hard) == ["link-refused"]
    assert hard.faults[0].diagnostic.facts["fault"] == "hard-link"


def test_what_a_container_cannot_deliver_is_a_fault_of_its_package() -> None:
    locked = Listed(
        name="demo/x",
        kind=EntryKind.FILE,
        size=1,
        packed=1,
        executable=None,
        handle=0,
        fault=error("archive-encrypted", "x is encrypted", "demo/x"),
    )
    tree = gate(*GOOD, locked)
    assert [one.code for one in faults_below(tree, "demo")] == ["archive-encrypted"]
    assert "demo/x" not in paths(tree)


def fault(path: str, diagnostic: Diagnostic | None = None) -> Fault:
    return Fault(path=path, diagnostic=diagnostic or error("link-refused", path, path))


def test_faults_are_shared_out_to_the_roots_that_hold_them() -> None:
    both = error("path-collision", "a and b", "a/x")
    tree = Tree(
        files=(), faults=(fault("a/x", both), fault("b/x", both), fault("c"), fault("ab/y"), fault("a")), notes=()
    )
    shares, outside = share_faults(tree, ["a", "d"])
    assert list(shares) == ["a"]
    assert shares["a"] == (both, tree.faults[4].diagnostic)
    assert [(one.severity, one.path) for one in outside] == [(Severity.WARNING, "c"), (Severity.WARNING, "ab/y")]
    everything, nothing = share_faults(tree, [""])
    assert len(everything[""]) == 4
    assert nothing == ()


def test_a_fault_where_nothing_selected_lies_is_a_warning() -> None:
    assert as_warning(error("link-refused", "x", "p", None, target="t")).severity is Severity.WARNING
    assert as_warning(error("link-refused", "x", "p", None, target="t")).facts == {"target": "t"}


def test_copies_are_said_with_their_targets() -> None:
    tree = gate(*GOOD, ("demo/l.md", "SKILL.md"), ("demo/m.md", "../other/SKILL.md"))
    notes = copied_links(tree.files)
    assert [note.code for note in notes] == ["link-copied"]
    assert notes[0].facts["links"] == ["demo/l.md -> demo/SKILL.md", "demo/m.md -> other/SKILL.md"]
    assert notes[0].message.startswith("2 symbolic links are taken as copies")
    assert copied_links(gate(*GOOD).files) == ()
    one = copied_links(gate(*GOOD, ("demo/l.md", "SKILL.md")).files)[0].message
    assert one == "1 symbolic link is taken as a copy of the file: demo/l.md -> demo/SKILL.md"
    many = copied_links(gate(*GOOD, *((f"demo/{number}.md", "SKILL.md") for number in range(7))).files)[0]
    assert many.message.endswith("and 2 more")
