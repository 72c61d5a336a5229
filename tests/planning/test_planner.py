"""The disposition table, row by row, and over everything that can be put into it."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.model import (
    Choice,
    Choices,
    ConnectorCandidate,
    Disposition,
    FileRecord,
    Host,
    InstalledConnector,
    InstalledSkill,
    InstalledSpecialist,
    Origin,
    Package,
    Reason,
    SkillCandidate,
    Snapshot,
    SpecialistCandidate,
)
from importer.paths import RelPath
from importer.planning.planner import plan

HERE = Origin(kind="zip", reference="/packages/a.zip")
ELSEWHERE = Origin(kind="zip", reference="/packages/b.zip")


def digest(word: str) -> str:
    return "h1:" + hashlib.sha256(word.encode()).hexdigest()


def record(path: str = "SKILL.md", *, executable: bool = False, known: bool = True) -> FileRecord:
    return FileRecord(path=RelPath.parse(path), size=3, sha256="0" * 64, executable=executable, mode_known=known)


def skill(
    name: str = "reef", *, content: str = "one", version: str = "1.0.0", files: tuple[FileRecord, ...] = ()
) -> SkillCandidate:
    return SkillCandidate(
        name=name,
        stated_name=name,
        version=version,
        version_stated=True,
        description="Counts corals.",
        root=name,
        files=files or (record(),),
        digest=digest(content),
        staged="r0",
    )


def installed(
    name: str = "reef",
    *,
    content: str = "one",
    recorded: str | None = None,
    managed: bool = True,
    version: str | None = "1.0.0",
    executables: tuple[str, ...] = (),
    origin: Origin | None = HERE,
    users: tuple[str, ...] = (),
) -> InstalledSkill:
    return InstalledSkill(
        name=name,
        digest=digest(content),
        executables=executables,
        managed=managed,
        version=version,
        recorded_digest=digest(recorded or content) if managed else None,
        recorded_executables=executables,
        origin=origin if managed else None,
        users=users,
    )


def package(*skills: SkillCandidate) -> Package:
    return Package(kind="bundle", skills=skills)


def holding(*skills: InstalledSkill, host: Host | None = None) -> Snapshot:
    return Snapshot(skills={s.name: s for s in skills}, host=host or Host())


CHOSE_INSTALLED = Choices(by_name={"reef": Choice.INSTALLED})
CHOSE_INCOMING = Choices(by_name={"reef": Choice.INCOMING})
UPDATE = Choices(update=True)

ROWS = [
    pytest.param(holding(), Choices(), Disposition.INSTALL, Reason.NEW, id="none"),
    pytest.param(
        holding(host=Host(skills={"reef": "1.0.0"})), Choices(), Disposition.REUSE, Reason.BUILTIN, id="built in"
    ),
    pytest.param(
        holding(installed(content="other"), host=Host(skills={"reef": "1.0.0"})),
        CHOSE_INCOMING,
        Disposition.REUSE,
        Reason.BUILTIN,
        id="built in, and no choice takes it away",
    ),
    pytest.param(holding(installed()), Choices(), Disposition.REUSE, Reason.IDENTICAL, id="same digest"),
    pytest.param(
        holding(installed(managed=False)), Choices(), Disposition.REUSE, Reason.IDENTICAL, id="same digest, unmanaged"
    ),
    pytest.param(
        holding(installed()), CHOSE_INCOMING, Disposition.REUSE, Reason.IDENTICAL, id="a choice without a conflict"
    ),
    pytest.param(
        holding(installed(content="two")), Choices(), Disposition.CONFLICT, Reason.DIFFERS, id="differs, no choice"
    ),
    pytest.param(
        holding(installed(content="two")), CHOSE_INSTALLED, Disposition.REUSE, Reason.CHOSEN_INSTALLED, id="installed"
    ),
    pytest.param(
        holding(installed(content="two")), CHOSE_INCOMING, Disposition.REPLACE, Reason.CHOSEN_INCOMING, id="incoming"
    ),
    pytest.param(holding(installed(content="two")), UPDATE, Disposition.REPLACE, Reason.UPDATE, id="update"),
    pytest.param(
        holding(installed(content="edited", recorded="two")),
        UPDATE,
        Disposition.CONFLICT,
        Reason.DIFFERS,
        id="update of an edited one",
    ),
    pytest.param(
        holding(installed(content="two", origin=ELSEWHERE)),
        UPDATE,
        Disposition.CONFLICT,
        Reason.DIFFERS,
        id="update from another origin",
    ),
    pytest.param(
        holding(installed(content="two", managed=False)),
        UPDATE,
        Disposition.CONFLICT,
        Reason.DIFFERS,
        id="update of what nobody imported",
    ),
    pytest.param(
        holding(installed(content="two")),
        Choices(by_name={"skill:reef": Choice.INSTALLED, "reef": Choice.INCOMING}),
        Disposition.REUSE,
        Reason.CHOSEN_INSTALLED,
        id="a choice with its kind comes first",
    ),
]


@pytest.mark.parametrize(("snapshot", "choices", "disposition", "reason"), ROWS)
def test_each_row_of_the_table(snapshot: Snapshot, choices: Choices, disposition: Disposition, reason: Reason) -> None:
    """Every row gives its disposition with its reason."""
    planned = plan(package(skill()), snapshot, choices, HERE).skills[0]
    assert (planned.disposition, planned.reason) == (disposition, reason)


def test_a_conflict_needs_a_choice_and_a_replace_a_confirmation() -> None:
    """What is missing is named; what was given is not asked again."""
    snapshot = holding(installed(content="two"))
    undecided = plan(package(skill()), snapshot, Choices(), HERE)
    assert (undecided.choices_needed, undecided.confirm_needed) == (("reef",), False)
    chosen = plan(package(skill()), snapshot, CHOSE_INCOMING, HERE)
    assert (chosen.choices_needed, chosen.confirm_needed) == ((), True)
    confirmed = plan(package(skill()), snapshot, replace(CHOSE_INCOMING, confirm_overwrite=True), HERE)
    assert (confirmed.choices_needed, confirmed.confirm_needed) == ((), False)


def test_the_executable_bit_counts_where_the_source_knows_it() -> None:
    """The same bytes with another bit differ; a source without modes cannot tell."""
    snapshot = holding(installed())
    known = skill(files=(record("run", executable=True),))
    assert plan(package(known), snapshot, Choices(), HERE).skills[0].facts["only_modes_differ"] is True
    unknown = skill(files=(record("run", executable=True, known=False),))
    assert plan(package(unknown), snapshot, Choices(), HERE).skills[0].reason is Reason.IDENTICAL


@pytest.mark.parametrize(
    ("incoming", "present", "expected"),
    [
        ("1.1.0", "1.0.0", "newer"),
        ("1.0.0-rc.1", "1.0.0", "older"),
        ("1.0.0", "1.0.0", "same"),
        ("1.0.0", None, "unknown"),
        ("1.0.0+a", "1.0.0+b", "unknown"),
        ("1.10.0", "1.9.0", "newer"),
    ],
)
def test_a_conflict_compares_versions(incoming: str, present: str | None, expected: str) -> None:
    """Versions are compared as SemVer, and only labels a conflict."""
    snapshot = holding(installed(content="two", version=present))
    assert plan(package(skill(version=incoming)), snapshot, Choices(), HERE).skills[0].facts["relation"] == expected


def test_a_conflict_says_who_uses_it_and_where_it_came_from() -> None:
    """Users and origin are facts of the conflict."""
    facts = (
        plan(package(skill()), holding(installed(content="two", users=("ana",))), Choices(), ELSEWHERE).skills[0].facts
    )
    assert (facts["users"], facts["origin"], facts["edited"]) == (["ana"], "other", False)
    unmanaged = (
        plan(package(skill()), holding(installed(content="two", managed=False)), Choices(), HERE).skills[0].facts
    )
    assert unmanaged["origin"] == "unmanaged"


def connector(name: str = "reef", content: str = "c") -> ConnectorCandidate:
    return ConnectorCandidate(
        name=name,
        stated_name=name,
        display_name=name,
        transport="stdio",
        secrets=(),
        template=b"{}",
        digest=digest(content),
        summary="npx x",
    )


def test_one_name_in_both_kinds_is_asked_for_with_its_kind() -> None:
    """A skill and a connector of one name have two answers."""
    both = Package(kind="bundle", skills=(skill(),), connectors=(connector(),))
    snapshot = Snapshot(
        skills={"reef": installed(content="two")},
        connectors={
            "reef": InstalledConnector(name="reef", digest=digest("x"), managed=True, recorded_digest=digest("x"))
        },
    )
    assert plan(both, snapshot, Choices(), HERE).choices_needed == ("skill:reef", "connector:reef")
    answered = Choices(by_name={"skill:reef": Choice.INSTALLED, "connector:reef": Choice.INCOMING})
    result = plan(both, snapshot, answered, HERE)
    assert (result.skills[0].reason, result.connectors[0].reason) == (Reason.CHOSEN_INSTALLED, Reason.CHOSEN_INCOMING)


def test_a_reserved_connector_is_kept_and_said() -> None:
    """A reserved name is a reuse, with a warning."""
    snapshot = Snapshot(host=Host(connectors=frozenset({"reef"})))
    result = plan(Package(kind="connectors", connectors=(connector(),)), snapshot, Choices(), HERE)
    assert result.connectors[0].reason is Reason.BUILTIN
    assert [d.code for d in result.diagnostics] == ["connector-builtin"]


def specialist(*, content: str = "s", version: str = "1.0.0", name: str = "Field Analyst") -> SpecialistCandidate:
    return SpecialistCandidate(
        id="field-analyst",
        version=version,
        name=name,
        display_name="",
        description="d",
        system_prompt="p",
        skill_ids=("reef", "gone"),
        connector_ids=("pubmed",),
        bundled=("reef",),
        files=(),
        digest=digest(content),
        staged="specialist",
    )


def present(*, content: str = "s", version: str = "1.0.0", owned: tuple[str, ...] = ("reef",)) -> InstalledSpecialist:
    return InstalledSpecialist(
        id="field-analyst",
        version=version,
        name="Field Analyst",
        revision=3,
        digest=digest(content),
        recorded_digest=digest(content),
        owned=owned,
    )


def team(candidate: SpecialistCandidate) -> Package:
    return Package(kind="specialist", specialist=candidate, skills=(skill(),))


def test_a_specialist_is_new_identical_or_overwritten() -> None:
    """The specialist has its own row; an overwrite says what it is and needs a confirmation."""
    new = plan(team(specialist()), Snapshot(), Choices(), HERE)
    assert new.specialist is not None
    assert (new.specialist.reason, new.confirm_needed) == (Reason.NEW, False)
    same = plan(team(specialist()), Snapshot(specialists={"field-analyst": present()}), Choices(), HERE)
    assert same.specialist is not None
    assert same.specialist.reason is Reason.IDENTICAL
    older = Snapshot(specialists={"field-analyst": present(content="x", version="2.0.0", owned=("reef", "tides"))})
    over = plan(team(specialist()), older, Choices(), HERE)
    assert over.specialist is not None
    assert over.specialist.disposition is Disposition.REPLACE
    assert over.confirm_needed
    assert over.specialist.facts["downgrade"] is True
    assert over.specialist.releases == ("tides",)
    unchanged_label = Snapshot(specialists={"field-analyst": present(content="x")})
    facts = plan(team(specialist()), unchanged_label, Choices(), HERE).specialist
    assert facts is not None
    assert facts.facts["changed_without_new_version"] is True


def test_protected_ids_and_names_are_errors() -> None:
    """What the host ships is not taken over, under whatever spelling."""
    host = Host(specialists=frozenset({"field-analyst"}), specialist_names=frozenset({" FIELD analyst "}))
    codes = [d.code for d in plan(team(specialist()), Snapshot(host=host), Choices(), HERE).diagnostics]
    assert codes.count("specialist-protected") == 2


def test_unresolved_names_are_warnings_and_part_of_the_digest() -> None:
    """A connector that vanishes makes another plan."""
    without = plan(team(specialist()), Snapshot(), Choices(), HERE)
    assert [d.code for d in without.diagnostics] == ["specialist-skill-unresolved", "specialist-connector-unresolved"]
    pubmed = InstalledConnector(name="pubmed", digest=digest("p"), managed=True)
    with_it = plan(team(specialist()), Snapshot(connectors={"pubmed": pubmed}), Choices(), HERE)
    assert without.digest != with_it.digest


NAMES = ("a", "b", "c")
CONTENTS = ("one", "two")
skills = st.builds(
    lambda name, content, version: skill(name, content=content, version=version),
    st.sampled_from(NAMES),
    st.sampled_from(CONTENTS),
    st.sampled_from(["1.0.0", "2.0.0"]),
)
present_skills = st.builds(
    lambda name, content, recorded, managed: installed(name, content=content, recorded=recorded, managed=managed),
    st.sampled_from(NAMES),
    st.sampled_from(CONTENTS),
    st.sampled_from(CONTENTS),
    st.booleans(),
)
all_choices = st.builds(
    Choices,
    by_name=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(Choice)),
    confirm_overwrite=st.booleans(),
    update=st.booleans(),
)


@settings(max_examples=200, deadline=None)
@given(
    incoming=st.lists(skills, unique_by=lambda s: s.name),
    here=st.lists(present_skills, unique_by=lambda s: s.name),
    choices=all_choices,
    built_in=st.frozensets(st.sampled_from(NAMES)),
)
def test_the_planner_is_total_ordered_and_never_overwrites_unasked(
    incoming: list[SkillCandidate], here: list[InstalledSkill], choices: Choices, built_in: frozenset[str]
) -> None:
    """Every candidate is planned once, in order; nothing that differs goes without a choice or an update."""
    snapshot = holding(*here, host=Host(skills=dict.fromkeys(built_in, "1.0.0")))
    result = plan(package(*incoming), snapshot, choices, HERE)
    assert [s.candidate for s in result.skills] == incoming
    assert plan(package(*incoming), snapshot, choices, HERE) == result
    for planned in result.skills:
        name = planned.candidate.name
        same = planned.installed is not None and planned.installed.digest == planned.candidate.digest
        if planned.disposition is Disposition.REPLACE:
            assert name not in built_in
            assert not same
            asked = choices.by_name.get(name) is Choice.INCOMING
            assert asked or (choices.update and planned.installed is not None and not planned.installed.edited)
            assert result.confirm_needed is not choices.confirm_overwrite
        if planned.disposition is Disposition.INSTALL:
            assert planned.installed is None
        assert (name in result.choices_needed) == (planned.disposition is Disposition.CONFLICT)


@settings(max_examples=100, deadline=None)
@given(
    incoming=st.lists(skills, unique_by=lambda s: s.name, min_size=1),
    here=st.lists(present_skills, unique_by=lambda s: s.name),
)
def test_a_plan_that_was_applied_plans_to_nothing(incoming: list[SkillCandidate], here: list[InstalledSkill]) -> None:
    """After every choice is made for the incoming, what is planned again is reuse, identical."""
    choices = Choices(by_name=dict.fromkeys(NAMES, Choice.INCOMING), confirm_overwrite=True)
    before = plan(package(*incoming), holding(*here), choices, HERE)
    after = {s.name: s for s in here}
    for planned in before.skills:
        if planned.disposition in {Disposition.INSTALL, Disposition.REPLACE}:
            candidate = planned.candidate
            after[candidate.name] = InstalledSkill(
                name=candidate.name,
                digest=candidate.digest,
                executables=candidate.executables,
                managed=True,
                version=candidate.version,
                recorded_digest=candidate.digest,
                recorded_executables=candidate.executables,
            )
    again = plan(package(*incoming), holding(*after.values()), Choices(), HERE)
    assert {s.reason for s in again.skills} == {Reason.IDENTICAL}


@pytest.mark.parametrize(
    "change",
    [
        {"digest": digest("else")},
        {"version": "9.9.9"},
        {"files": (record(executable=True),)},
        {"name": "other"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_plan_digest_covers_what_is_shown(change: dict[str, object]) -> None:
    """Bytes, version, bits and name all reach the digest; the folder in the archive does not."""
    base = plan(package(skill()), Snapshot(), Choices(), HERE).digest
    changed = replace(skill(), **change)  # type: ignore[arg-type]  # one field at a time, by name
    assert plan(package(changed), Snapshot(), Choices(), HERE).digest != base
    moved = replace(skill(), root="elsewhere", staged="r9")
    assert plan(package(moved), Snapshot(), Choices(), ELSEWHERE).digest == base
