"""Which candidates are taken, and what is said of the others."""

from __future__ import annotations

import pytest

from importer.formats.settle import select, selection_needed, settle_names
from tests.builders.packages import candidate, skill

A = candidate("alpha", "pack/alpha")
B = candidate("beta", "pack/beta")


def test_different_names_are_all_taken() -> None:
    settled = settle_names([B, A])
    assert settled.kept == (B, A)
    assert (settled.left_out, settled.diagnostics) == ((), ())


def test_same_files_are_taken_once_and_said() -> None:
    again = candidate("alpha", "examples/alpha")
    third = candidate("alpha", ".well-known/alpha")
    settled = settle_names([A, again, third, B])
    assert settled.kept == (third, B)
    assert [(d.severity, d.code) for d in settled.diagnostics] == [("info", "skill-duplicate")]
    assert settled.diagnostics[0].facts["roots"] == [".well-known/alpha", "pack/alpha", "examples/alpha"]
    assert [(left.root, left.codes) for left in settled.left_out] == [
        ("pack/alpha", ("skill-duplicate",)),
        ("examples/alpha", ("skill-duplicate",)),
    ]


def test_different_files_of_one_name_are_an_error_naming_both_roots() -> None:
    other = candidate("alpha", "other", skill("alpha", body="# Other\n"))
    settled = settle_names([A, other, B])
    assert settled.kept == (B,)
    (found,) = settled.diagnostics
    assert (found.severity, found.code) == ("error", "skill-name-clash")
    assert found.facts["roots"] == ["pack/alpha", "other"]
    assert "pack/alpha" in found.message
    assert "other" in found.message
    assert {left.root for left in settled.left_out} == {"pack/alpha", "other"}


def test_names_that_a_file_system_takes_for_one_clash() -> None:
    files = skill("x")
    settled = settle_names([candidate("straße", "a", files), candidate("strasse", "b", files)])
    assert [d.code for d in settled.diagnostics] == ["skill-name-clash"]
    assert settled.kept == ()


def test_executable_bits_are_part_of_the_same_where_they_are_known() -> None:
    files = skill("alpha")
    plain = candidate("alpha", "a", files)
    executable = candidate("alpha", "b", files, ["scripts/count.py"])
    unknown = candidate("alpha", "c", files, ["scripts/count.py"], mode_known=False)
    assert [d.code for d in settle_names([plain, executable]).diagnostics] == ["skill-name-clash"]
    assert [d.code for d in settle_names([plain, unknown]).diagnostics] == ["skill-duplicate"]


# --- selection -------------------------------------------------------------------------------------------------------

CLASH = candidate("alpha", "other/alpha", skill("alpha", body="x\n"))
TOP = candidate("top", "")


@pytest.mark.parametrize(
    ("wanted", "roots"),
    [
        pytest.param([], ["pack/alpha", "pack/beta", "other/alpha", ""], id="nothing said: all"),
        pytest.param(["beta"], ["pack/beta"], id="name"),
        pytest.param(["skill:beta"], ["pack/beta"], id="name with its kind"),
        pytest.param(["beta", "top"], ["pack/beta", ""], id="two"),
        pytest.param(["alpha"], ["pack/alpha", "other/alpha"], id="a clash stays one"),
        pytest.param(["other/alpha"], ["other/alpha"], id="root picks one of a clash"),
        pytest.param(["./other/alpha/"], ["other/alpha"], id="root as the shell completes it"),
        pytest.param(["."], [""], id="the top"),
    ],
)
def test_select(wanted: list[str], roots: list[str]) -> None:
    chosen, found = select([A, B, CLASH, TOP], wanted)
    assert [skill.root for skill in chosen] == roots
    assert found == ()


def test_name_wins_over_a_root_of_that_name_and_a_slash_asks_for_the_root() -> None:
    named, rooted = candidate("demo", "x"), candidate("other", "demo")
    assert select([named, rooted], ["demo"])[0] == (named,)
    assert select([named, rooted], ["demo/"])[0] == (rooted,)


def test_unknown_selection_says_what_there_is() -> None:
    chosen, found = select([A, B], ["alpha", "gamma\x1b"])
    assert chosen == (A,)
    assert [(d.severity, d.code) for d in found] == [("error", "skill-unknown")]
    assert found[0].facts["names"] == ["alpha", "beta"]
    assert "beta (pack/beta)" in found[0].message
    assert "gamma\\x1b" in found[0].message


def test_more_than_the_limit_needs_a_selection_with_the_names() -> None:
    skills = [candidate(f"s{n}", f"s{n}") for n in range(3)]
    assert selection_needed(skills, 3) is None
    found = selection_needed(skills, 2)
    assert found is not None
    assert found.code == "skill-selection-needed"
    assert found.facts["names"] == ["s0", "s1", "s2"]
    assert (found.facts["used"], found.facts["max"]) == (3, 2)
