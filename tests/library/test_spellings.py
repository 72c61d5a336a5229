"""A file system that takes two spellings of a name for one: what is installed under the other spelling is found.

Such a file system cannot be mounted everywhere, so the library's own way from a path to the disk is made to behave like
one.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from importer.library import Library
from importer.library.layout import Layout
from importer.paths import fold_key
from tests.library.scenes import Role, files_of, install, remove, rollback, skill, whole


@pytest.fixture
def folding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a path mean whatever there is that differs from it only in case."""
    real = Layout.full

    def full(self: Layout, path: str) -> str:
        folder, name = os.path.split(real(self, path))
        if os.path.isdir(folder) and not os.path.lexists(f"{folder}/{name}"):
            name = next((other for other in os.listdir(folder) if fold_key(other) == fold_key(name)), name)
        return f"{folder}/{name}"

    monkeypatch.setattr(Layout, "full", full)


def _names(root: Path) -> list[str]:
    return sorted(os.listdir(root / "skills"))


@pytest.mark.usefixtures("folding")
def test_another_spelling_is_the_installed_skill(quick: Path) -> None:
    install(quick, {"Straße": skill("Straße")}, role=Role())
    with Library.open(quick) as library:
        found = library.snapshot(skills=["STRASSE", "straße", "other"]).skills
        assert {asked: one.name for asked, one in found.items()} == {"STRASSE": "Straße", "straße": "Straße"}
        assert all(one.managed and not one.edited for one in found.values())
        assert found["STRASSE"].users == ("field-analyst",)


@pytest.mark.usefixtures("folding")
def test_the_same_bytes_under_another_spelling_are_reused(quick: Path) -> None:
    files = skill("foo")
    install(quick, {"foo": files})
    applied = install(quick, {"FOO": files})
    assert [(one.name, one.reason) for one in applied.reused] == [("FOO", "identical")]
    assert _names(quick) == ["foo"]


@pytest.mark.usefixtures("folding")
def test_a_replacement_takes_the_old_spelling_away_and_brings_it_back(quick: Path) -> None:
    install(quick, {"foo": skill("foo")}, role=Role())
    before = whole(quick)
    old = files_of(quick / "skills/foo")
    applied = install(quick, {"FOO": skill("FOO", "New.\n")})
    assert [one.name for one in applied.replaced] == ["FOO"]
    assert _names(quick) == ["FOO"]
    with Library.open(quick) as library:
        assert [(one.name, one.owners) for one in library.listing() if one.kind == "skill"] == [
            ("FOO", ("field-analyst",))
        ]
        assert all(one.ok for one in library.verify())
    rollback(quick, applied.transaction)
    assert _names(quick) == ["foo"]
    assert files_of(quick / "skills/foo") == old
    assert whole(quick)[1]["items"] == before[1]["items"]
    assert whole(quick)[1]["owners"] == before[1]["owners"]


@pytest.mark.usefixtures("folding")
def test_a_person_who_renamed_it_only_in_case_still_has_it(quick: Path) -> None:
    install(quick, {"foo": skill("foo")})
    (quick / "skills/foo").rename(quick / "skills/Foo")
    with Library.open(quick) as library:
        assert [(one.name, one.managed) for one in library.listing()] == [("Foo", True)]
        assert all(one.ok for one in library.verify())
        assert library.snapshot(skills=["foo"]).skills["foo"].managed
        assert not library.doctor().attention
    remove(quick, "skill", "foo")
    assert _names(quick) == []


def test_on_other_file_systems_two_spellings_are_two(quick: Path) -> None:
    install(quick, {"foo": skill("foo")})
    applied = install(quick, {"FOO": skill("FOO", "Other.\n")})
    assert [one.name for one in applied.installed] == ["FOO"]
    assert _names(quick) == ["FOO", "foo"]
