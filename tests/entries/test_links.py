"""Symbolic links: a copy of a file of the package, or refused with the reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.entries import admit, faults_below
from importer.entries.links import MAX_HOPS
from importer.model import Entry, EntryKind, Tree
from tests.builders.containers import meter
from tests.builders.trees import listed, listing

FILES = ("demo/SKILL.md", "demo/references/units.md", "shared/legal.md")


def gate(*items: str | tuple[str, str]) -> Tree:
    return admit(listing(*items), bundle=meter("bundle"), archive=meter("archive"))


def entry(tree: Tree, path: str) -> Entry | None:
    return next((one for one in tree.files if one.path.text == path), None)


@pytest.mark.parametrize(
    ("path", "target", "end"),
    [
        ("demo/l", "SKILL.md", "demo/SKILL.md"),
        ("demo/l", "./SKILL.md", "demo/SKILL.md"),
        ("demo/l", "references/units.md", "demo/references/units.md"),
        ("demo/l", "references//units.md", "demo/references/units.md"),
        ("demo/l", "../shared/legal.md", "shared/legal.md"),
        ("demo/x/l", "../../shared/legal.md", "shared/legal.md"),
        ("l", "demo/SKILL.md", "demo/SKILL.md"),
        ("demo/x/l", ".././../shared/./legal.md", "shared/legal.md"),
    ],
)
def test_a_link_to_a_file_of_the_package_is_a_copy(path: str, target: str, end: str) -> None:
    tree = gate(*FILES, (path, target))
    assert tree.faults == ()
    copy, original = entry(tree, path), entry(tree, end)
    assert copy is not None
    assert original is not None
    assert copy.link == end
    assert (copy.size, copy.packed, copy.executable, copy.handle) == (
        original.size,
        original.packed,
        original.executable,
        original.handle,
    )


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("/etc/passwd", "absolute"),
        ("/", "absolute"),
        ("../../etc/passwd", "outside"),
        ("../../demo/SKILL.md", "outside"),
        ("nothing.md", "dangling"),
        ("references/nothing.md", "dangling"),
        ("skill.md", "dangling"),
        ("..\\SKILL.md", "dangling"),
        ("SKILL.md\0x", "dangling"),
        ("C:/x", "dangling"),
        ("references", "folder"),
        ("references/", "folder"),
        ("SKILL.md/", "folder"),
        (".", "folder"),
        ("..", "folder"),
        ("../shared", "folder"),
        ("", "unknown"),
        ("references/../SKILL.md", "not-plain"),
        ("nothing/../SKILL.md", "not-plain"),
        ("l", "cycle"),
        ("SKILL.md/x", "dangling"),
    ],
)
def test_every_other_link_is_refused_and_says_why(target: str, fault: str) -> None:
    tree = gate(*FILES, ("demo/l", target))
    assert entry(tree, "demo/l") is None
    refused = faults_below(tree, "demo")
    assert [one.code for one in refused] == ["link-refused"]
    assert refused[0].facts["fault"] == fault
    assert faults_below(tree, "shared") == ()


@pytest.mark.parametrize("target", ["nothing", "empty", "device"])
def test_a_link_to_what_is_no_file_is_refused(target: str) -> None:
    device = listed("demo/device", EntryKind.SPECIAL)
    tree = admit(
        [*listing(*FILES, "demo/empty/", ("demo/l", target)), device], bundle=meter("bundle"), archive=meter("archive")
    )
    refused = [one.diagnostic for one in tree.faults if one.path == "demo/l"]
    assert [one.facts["fault"] for one in refused] == ["dangling" if target == "nothing" else "not-a-file"]


def test_a_target_that_nobody_could_read_is_refused() -> None:
    items = listing(*FILES, ("demo/l", "x"))
    items[-1] = items[-1]._replace(link_target=None)
    tree = admit(items, bundle=meter("bundle"), archive=meter("archive"))
    assert tree.faults[0].diagnostic.facts["fault"] == "unknown"


def test_a_link_may_lead_through_links_but_not_in_circles() -> None:
    chain = [(f"demo/l{n}", f"l{n + 1}") for n in range(MAX_HOPS - 1)]
    tree = gate(*FILES, *chain, (f"demo/l{MAX_HOPS - 1}", "SKILL.md"))
    assert tree.faults == ()
    longer = gate(*FILES, ("demo/l", "l0"), *chain, (f"demo/l{MAX_HOPS - 1}", "SKILL.md"))
    assert [one.path for one in longer.faults] == ["demo/l"]
    circle = gate(*FILES, ("demo/a", "b"), ("demo/b", "a"))
    assert [one.diagnostic.facts["fault"] for one in circle.faults] == ["cycle", "cycle"]


def test_a_link_to_a_folder_opens_no_way_to_what_is_in_it() -> None:
    tree = gate(*FILES, ("demo/d", "../shared"), ("demo/l", "d/legal.md"), ("demo/m", "d/../SKILL.md"))
    assert [one.diagnostic.facts["fault"] for one in tree.faults] == ["folder", "through-link", "not-plain"]


def test_a_file_below_a_link_is_a_collision() -> None:
    tree = gate(*FILES, ("demo/d", "../shared"), "demo/d/evil.md")
    assert {one.diagnostic.code for one in tree.faults} == {"path-collision", "link-refused"}


def test_a_link_to_noise_or_to_another_refused_entry_is_refused() -> None:
    tree = gate(*FILES, ".git/config", "demo/con", ("demo/l", "../.git/config"), ("demo/m", "con"))
    assert [one.diagnostic.code for one in tree.faults] == ["path-unsafe", "link-refused", "link-refused"]


def test_a_target_with_accents_written_apart_is_found() -> None:
    tree = gate("demo/cafe\u0301.md", ("demo/l", "cafe\u0301.md"))
    copy = entry(tree, "demo/l")
    assert copy is not None
    assert copy.link == "demo/caf\xe9.md"


def test_copies_stand_where_the_links_were_listed() -> None:
    tree = gate("b", ("a", "c"), "c")
    assert [one.path.text for one in tree.files] == ["b", "a", "c"]


def test_many_links_in_a_row_end() -> None:
    links = [(f"l{n}", f"l{n + 1}") for n in range(3000)]
    assert len(gate(*links).faults) == 3000


SEGMENT = st.sampled_from(["a", "b", "..", ".", "l", "x"])


@settings(max_examples=150, deadline=None)
@given(st.lists(SEGMENT, min_size=1, max_size=5), st.booleans())
def test_a_copy_is_what_the_operating_system_reads(
    tmp_path_factory: pytest.TempPathFactory, segments: list[str], absolute: bool
) -> None:
    """Whatever is taken for a copy, the system itself would read from the same file inside the folder."""
    target = ("/" if absolute else "") + "/".join(segments)
    root = Path(os.path.realpath(tmp_path_factory.mktemp("t")))
    for name in ("a/b/x", "a/x", "b/x", "x"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "b/l").symlink_to(target)
    tree = gate("a/b/x", "a/x", "b/x", "x", ("b/l", target))
    copy = entry(tree, "b/l")
    if copy is not None:
        assert (root / "b/l").read_text() == copy.link
