"""A candidate comes back from its JSON as it was; anything else is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer import codec
from importer.diagnostics import Diagnostic, Severity
from importer.model import (
    Choice,
    Choices,
    ConnectorCandidate,
    FileRecord,
    LeftOut,
    Origin,
    Package,
    SkillCandidate,
    SpecialistCandidate,
)
from importer.paths import RelPath


@dataclass(frozen=True)
class Records:
    """A value with records in it."""

    files: tuple[FileRecord, ...]


_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SPECIALIST = {
    **dict.fromkeys(("id", "version", "name", "display_name", "description", "system_prompt", "digest", "staged"), "x"),
    **{name: [] for name in ("skill_ids", "connector_ids", "bundled")},
}
_names = st.lists(_text, max_size=3).map(tuple)
_path = st.from_regex(r"[a-zä]{1,5}(/[a-z]{1,5}){0,2}", fullmatch=True).map(RelPath.parse)
_record = st.builds(
    FileRecord,
    path=_path,
    size=st.integers(0, 2**40),
    sha256=st.just("ab" * 32),
    executable=st.booleans(),
    mode_known=st.booleans(),
    shebang=st.booleans(),
)
_files = st.lists(_record, max_size=3).map(tuple)
_fact = st.one_of(st.integers(), _text, st.booleans(), st.lists(_text, max_size=2), st.lists(st.integers(), max_size=2))
_facts = st.dictionaries(_text, _fact, max_size=2)
_skill = st.builds(
    SkillCandidate,
    name=_text,
    stated_name=_text,
    version=_text,
    version_stated=st.booleans(),
    description=_text,
    root=_text,
    files=_files,
    digest=_text,
    staged=_text,
    document=_facts,
    text=st.none() | _text,
)
_specialist = st.builds(
    SpecialistCandidate,
    id=_text,
    version=_text,
    name=_text,
    display_name=_text,
    description=_text,
    system_prompt=_text,
    skill_ids=_names,
    connector_ids=_names,
    bundled=_names,
    files=_files,
    digest=_text,
    staged=_text,
)
_connector = st.builds(
    ConnectorCandidate,
    name=_text,
    stated_name=_text,
    display_name=_text,
    transport=_text,
    secrets=_names,
    template=st.binary(max_size=30),
    digest=_text,
    summary=_text,
    asks=_names,
)
_left = st.builds(LeftOut, kind=_text, name=_text, root=_text, reason=_text, codes=_names)
_package = st.builds(
    Package,
    kind=_text,
    skills=st.lists(_skill, max_size=2).map(tuple),
    connectors=st.lists(_connector, max_size=2).map(tuple),
    specialist=st.none() | _specialist,
    left_out=st.lists(_left, max_size=2).map(tuple),
)


@settings(max_examples=80, deadline=None)
@given(_package)
def test_a_package_comes_back_as_it_was(package: Package) -> None:
    assert codec.decode(Package, json.loads(json.dumps(codec.encode(package)))) == package


@pytest.mark.parametrize(
    "value",
    [
        Choices(by_name={"a": Choice.INCOMING}, confirm_overwrite=True, allowed=frozenset({"b:1", "a:0"})),
        Origin(kind="github", reference="x", resolved={"commit": "0" * 40}),
        Diagnostic(severity=Severity.WARNING, code="a-b", message="m", line=3, facts={"n": [1], "t": ["x"], "b": True}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_values_come_back_as_they_were(value: Any) -> None:
    assert codec.decode(type(value), json.loads(json.dumps(codec.encode(value)))) == value


def test_a_field_that_came_later_has_its_default() -> None:
    plain = codec.encode(Origin(kind="zip", reference="x"))
    assert isinstance(plain, dict)
    del plain["resolved"]
    plain["unknown"] = 1
    assert codec.decode(Origin, plain) == Origin(kind="zip", reference="x")


@pytest.mark.parametrize(
    ("kind", "plain", "said"),
    [
        (Origin, [], "expected an object"),
        (Origin, {"kind": "zip"}, "Origin.reference is missing"),
        (Origin, {"kind": 1, "reference": "x"}, "Origin.kind: expected str"),
        (Origin, {"kind": "zip", "reference": "x", "resolved": []}, "Origin.resolved: expected an object"),
        (Choices, {"by_name": {"a": "both"}}, "Choices.by_name"),
        (Choices, {"confirm_overwrite": 1}, "expected bool"),
        (Choices, {"allowed": {}}, "expected a list"),
        (SpecialistCandidate, {**SPECIALIST, "files": "1 2 x"}, "expected lines of flags"),
        (SpecialistCandidate, {**SPECIALIST, "files": "x 2 abc a/b"}, "expected lines of flags"),
        (Diagnostic, {"severity": "error", "code": "a", "message": "m", "line": "3"}, "Diagnostic.line"),
    ],
)
def test_another_form_is_refused_with_its_place(kind: type, plain: object, said: str) -> None:
    with pytest.raises(codec.CodecError, match=said.replace("[", r"\[")):
        codec.decode(kind, plain)


def test_a_value_without_a_form_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError):
        codec.encode(object())
