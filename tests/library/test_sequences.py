"""Any sequence of installs, replacements, removals and rollbacks leaves record and disk in agreement."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from importer.library import Library, LibraryError
from tests.library.conftest import MEMORY
from tests.library.scenes import Role, connector, install, remove, rollback, skill, whole

SKILLS = ("a", "b", "c")
ROLES = ("reader", "writer")

_skills = st.dictionaries(st.sampled_from(SKILLS), st.integers(0, 2), max_size=3)
_installs = st.tuples(
    st.just("install"),
    _skills,
    st.sampled_from((None, *ROLES)),
    st.integers(0, 1),
    st.lists(st.sampled_from(SKILLS), max_size=1),
)
_removals = st.tuples(
    st.just("remove"),
    st.sampled_from(
        [("skill", name) for name in SKILLS] + [("specialist", name) for name in ROLES] + [("connector", "k")]
    ),
    st.sampled_from(((), ("all",), ("a",))),
)
_rollbacks = st.tuples(st.just("rollback"), st.integers(0, 5))
_edits = st.tuples(st.just("edit"), st.sampled_from(SKILLS), st.sampled_from(("SKILL.md", "mine.txt")))
_steps = st.lists(st.one_of(_installs, _removals, _rollbacks, _edits), min_size=3, max_size=10)


def _step(root: Path, step: tuple[object, ...]) -> bool:
    """Do one step; return whether it changed anything."""
    match step:
        case ("install", dict(skills), role, int(version), list(named)):
            install(
                root,
                {str(name): skill(str(name), f"Version {number}.\n") for name, number in skills.items()},
                role=Role(id=str(role), prompt=f"Prompt {version}.", names=tuple(n for n in named if n not in skills))
                if role
                else None,
                connectors=[connector("k", f"c{version}")] if version else [],
            )
        case ("remove", (str(kind), str(name)), tuple(also)):
            remove(root, kind, name, [str(one) for one in also] if kind == "specialist" else [])
        case ("rollback", int(back)):
            with Library.open(root) as library:
                history = library.history()
            if back < len(history):
                rollback(root, history[back].id)
        case ("edit", str(name), str(path)):
            if (root / "skills" / name).is_dir():
                (root / "skills" / name / path).write_text(os.urandom(4).hex())
        case _:
            raise AssertionError(step)
    return step[0] in {"install", "remove"}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_steps)
def test_record_and_disk_agree_after_any_sequence(steps: list[tuple[object, ...]]) -> None:
    root = Path(tempfile.mkdtemp(prefix="importer-test-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
    edited: set[str] = set()
    try:
        for step in steps:
            before = whole(root)
            try:
                changed = _step(root, step)
            except LibraryError:
                assert whole(root) == before
                changed = False
            if step[0] == "edit":
                edited.add(str(step[1]))
            with Library.open(root) as library:
                assert library.notices == []
                for seen in library.verify():
                    assert seen.ok or seen.listed.name in edited, (seen.listed.name, seen.difference, step)
                roles = {one.name for one in library.listing() if one.kind == "specialist"}
                for one in library.listing():
                    assert set(one.owners) <= roles
                    assert one.present
                assert not changed or library.history()
            staging = root / ".importer/staging"
            assert not staging.exists() or os.listdir(staging) == []
        _unwind(root)
    finally:
        shutil.rmtree(root)


def _unwind(root: Path) -> None:
    """Take everything back that can be: whatever is refused, record and disk go on agreeing."""
    with Library.open(root) as library:
        names = [past.id for past in library.history()]
    for name in names:
        try:
            rollback(root, name)
        except LibraryError as problem:
            if problem.code != "library-rollback-refused":
                raise
    with Library.open(root) as library:
        assert not library.doctor().attention
