"""The gate's short ways: a file in a folder that was looked at, and a listing in which nothing can collide."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.diagnostics import Rejected
from importer.entries import admit, collisions, gate
from importer.model import EntryKind, Listed
from importer.paths import PathRefused, RelPath, plain_segment
from tests.builders.containers import meter, refusal
from tests.builders.trees import listing

SEGMENTS = st.sampled_from(
    [
        *(
            "a",
            "A",
            "b.md",
            "SKILL.md",
            ".git",
            "._b",
            ".DS_Store",
            "Thumbs.db",
            "con",
            "aux.txt",
            "x.",
            " y",
            "y ",
            "..",
        ),
        *(
            ".",
            "",
            "\xe9",
            "e\u0301",
            "a\\b",
            "C:",
            "a:b",
            "\x07",
            "git~1",
            ".GIT",
            "__MACOSX",
            "n" * 256,
            "\u212a",
            "a b",
        ),
    ]
)
NAMES = st.lists(SEGMENTS, min_size=1, max_size=5).map("/".join)
KINDS = st.sampled_from([EntryKind.FILE] * 6 + [EntryKind.DIRECTORY, EntryKind.SYMLINK, EntryKind.SPECIAL])


def outcome(items: list[Listed]) -> object:
    """Return the tree, or what refuses it."""
    bundle = meter("bundle", depth=4)
    try:
        return admit(items, bundle=bundle, archive=meter("archive")), bundle.used("depth")
    except Rejected as rejected:
        return rejected.diagnostics


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(NAMES, KINDS), max_size=8), st.booleans())
def test_known_folders_change_nothing(rows: list[tuple[str, EntryKind]], twice: bool) -> None:
    if twice:
        # Most arbitrary names refuse everything: keep those that only a package is refused for.
        rows = [row for row in rows if not isinstance(outcome(_listed([row])), tuple) or _passes(row[0])]
    items = _listed(rows)
    short = outcome(items)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "_KNOWN_FOLDERS", 0)
        patch.setattr(collisions, "_all_apart", lambda *_: False)
        assert short == outcome(items)


def _passes(name: str) -> bool:
    try:
        RelPath.parse(name)
    except PathRefused:
        return False
    return True


def _listed(rows: list[tuple[str, EntryKind]]) -> list[Listed]:
    return [
        Listed(name=name, kind=kind, size=1, packed=1, executable=None, handle=at)
        for at, (name, kind) in enumerate(rows)
    ]


@pytest.mark.parametrize("name", ["/etc", "/", "/SKILL.md"])
def test_an_absolute_path_does_not_lie_in_the_top_that_is_known(name: str) -> None:
    assert outcome(listing("README.md", "SKILL.md"))
    assert refusal(lambda: admit(listing("README.md", name), bundle=meter("bundle"), archive=meter("archive"))) == [
        "path-unsafe"
    ]


def test_a_folder_that_is_listed_does_not_say_how_deep_its_files_lie() -> None:
    tree = admit(listing("a/b/", "a/b/c.md"), bundle=meter("bundle", depth=2), archive=meter("archive"))
    assert [fault.diagnostic.code for fault in tree.faults] == ["budget-exceeded"]


@settings(max_examples=400, deadline=None)
@given(NAMES, st.text(st.characters(min_codepoint=1), max_size=6) | st.text("aA.~-_ :con1git", max_size=8))
def test_a_plain_segment_can_stand_in_any_folder_that_a_path_can(folder: str, segment: str) -> None:
    if not plain_segment(segment) or not _passes(folder):
        return
    text = RelPath.parse(folder).text
    assert RelPath.parse(f"{text}/{segment}").text == f"{text}/{segment}"


@pytest.mark.parametrize(
    "segment", ["", ".", "..", "a/b", "a.", " a", "con", "NUL.txt", ".git", ".GIT", "a:", "\xe9", "a\n"]
)
def test_what_needs_a_second_look_is_not_plain(segment: str) -> None:
    assert not plain_segment(segment)


def test_a_listing_of_more_folders_than_files_takes_no_more_memory_than_its_names() -> None:
    inner = "/".join(["x" * 30] * 30)
    items = _listed([(f"{number:04}/{inner}/f", EntryKind.FILE) for number in range(2_000)])
    names = sum(len(item.name) for item in items)
    tracemalloc.start()
    try:
        assert not admit(items, bundle=meter("bundle"), archive=meter("archive")).faults
        assert tracemalloc.get_traced_memory()[1] < 6 * names
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("few", [0, 5_000])
def test_collisions_are_found_among_many_folders(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(collisions, "_FEW_FOLDERS", few)
    items = _listed([(f"{number}/a/b/c/f", EntryKind.FILE) for number in range(1_000)])
    odd = _listed([("7/a/B/c/g", EntryKind.FILE)])
    assert not admit(items, bundle=meter("bundle"), archive=meter("archive")).faults
    tree = admit([*items, *odd], bundle=meter("bundle"), archive=meter("archive"))
    assert {fault.diagnostic.code for fault in tree.faults} == {"path-collision"}
