"""Everything that changes a library, each over a library in which it matters: what is tried at every operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from importer.library import Library
from importer.library.settings import SpecialistSettings
from tests.library.scenes import Role, connector, install, remove, rollback, skill


@dataclass(frozen=True)
class Story:
    """A library as it was, and one change to it."""

    name: str
    prepare: Callable[[Path], None]
    act: Callable[[Path], None]


def _furnish(root: Path) -> None:
    """Make a library with a bit of everything: a specialist, a skill of nobody's, edits and extra files."""
    install(
        root,
        {"count-rows": skill("count-rows"), "chart-check": skill("chart-check", assets=b"\0\1")},
        role=Role(connectors=("pubmed",)),
        connectors=[connector("pubmed")],
    )
    install(root, {"alone": skill("alone", deep=b"x")})
    (root / "skills/own").mkdir()
    (root / "skills/own/SKILL.md").write_text("mine")
    (root / "skills/alone/notes").mkdir()
    (root / "skills/alone/notes/mine.txt").write_text("keep me")
    (root / "skills/alone/references/mine.md").write_text("and me")
    (root / "skills/alone/scripts/count").write_text("#!/bin/sh\nwc -c\n")
    (root / "skills/alone/SKILL.md").chmod(0o755)
    with Library.open(root) as library:
        library.set_specialist_settings(
            "field-analyst", SpecialistSettings(enabled=True, setup_pending=False, values={"tone": "dry"})
        )


def _install(root: Path) -> None:
    install(
        root,
        {"fresh": skill("fresh"), "second": skill("second")},
        role=Role(id="reader", names=("alone",)),
        connectors=[connector("files")],
    )


def _replace(root: Path) -> None:
    install(
        root,
        {"count-rows": skill("count-rows", "Better.\n"), "alone": skill("alone", "Other.\n"), "own": skill("own")},
        role=Role(version="2.0.0", prompt="You check better."),
        connectors=[connector("pubmed", "uvx")],
        version="2.0.0",
    )


def _remove_specialist(root: Path) -> None:
    remove(root, "specialist", "field-analyst", ["count-rows"])


def _remove_skill(root: Path) -> None:
    remove(root, "skill", "alone")


def _last(root: Path) -> str:
    with Library.open(root) as library:
        return library.history()[0].id


def _nothing(_root: Path) -> None:
    return


def _after(*steps: Callable[[Path], None]) -> Callable[[Path], None]:
    def prepare(root: Path) -> None:
        for step in (_furnish, *steps):
            step(root)

    return prepare


def _roll_back(root: Path) -> None:
    rollback(root, _last(root))


STORIES = (
    Story("install", _furnish, _install),
    Story("first-install", _nothing, _install),
    Story("replace", _furnish, _replace),
    Story("remove-specialist", _furnish, _remove_specialist),
    Story("remove-skill", _furnish, _remove_skill),
    Story("roll-back-replace", _after(_replace), _roll_back),
    Story("roll-back-removal", _after(_remove_skill), _roll_back),
    Story("roll-back-install", _after(_install), _roll_back),
)
