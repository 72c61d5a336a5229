"""The two files of a Specialist package: every rule, every fault at once, each with its field and line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.codes import CODES
from importer.diagnostics import Diagnostic
from importer.formats.specialist import READ_BYTES, SpecialistReading, read_specialist, unlisted_skills
from tests.builders.packages import as_json, manifest, specialist_document

GOOD_MANIFEST = as_json(manifest())
GOOD_DOCUMENT = as_json(specialist_document())
ABSENT = None


def with_manifest(**changes: object) -> SpecialistReading:
    return read_specialist(as_json(manifest(**changes)), GOOD_DOCUMENT)


def with_document(**changes: object) -> SpecialistReading:
    return read_specialist(GOOD_MANIFEST, as_json(specialist_document(**changes)))


def said(reading: SpecialistReading) -> list[tuple[str, str]]:
    return [(d.code, d.path) for d in reading.diagnostics]


def only(reading: SpecialistReading) -> Diagnostic:
    assert len(reading.diagnostics) == 1, said(reading)
    return reading.diagnostics[0]


def test_good_package() -> None:
    reading = read_specialist(GOOD_MANIFEST, GOOD_DOCUMENT)
    assert said(reading) == []
    assert reading.document is not None
    assert (reading.document.id, reading.document.version, reading.id) == ("field-analyst", "1.0.0", "field-analyst")
    assert reading.document.skill_ids == ("table-audit", "chart-check")
    assert reading.document.connector_ids == ()


def test_display_name_is_optional() -> None:
    reading = with_document(display_name=ABSENT)
    assert reading.document is not None
    assert reading.document.display_name == ""


def test_every_fault_of_both_files_is_said_together() -> None:
    bad_manifest = manifest(schema_version=2, id="os-thing", version="1.0", exported_with_app_version=ABSENT, extra=1)
    bad_document = specialist_document(
        name="!",
        description=" ",
        system_prompt=ABSENT,
        systemPrompt="x",
        skill_ids=["a", "a", "", 3],
        connector_ids="none",
        enabled=True,
        icon_key="x",
    )
    reading = read_specialist(as_json(bad_manifest), as_json(bad_document), "wrap")
    assert reading.document is None
    assert reading.id == ""
    assert sorted(said(reading)) == sorted(
        [
            ("specialist-manifest-invalid", "wrap/manifest.json: schema_version"),
            ("specialist-manifest-invalid", "wrap/manifest.json: id"),
            ("specialist-manifest-invalid", "wrap/manifest.json: version"),
            ("specialist-manifest-invalid", "wrap/manifest.json: exported_with_app_version"),
            ("specialist-field-unknown", "wrap/manifest.json: extra"),
            ("specialist-field-invalid", "wrap/specialist.json: name"),
            ("specialist-field-invalid", "wrap/specialist.json: description"),
            ("specialist-field-missing", "wrap/specialist.json: system_prompt"),
            ("specialist-field-unknown", "wrap/specialist.json: systemPrompt"),
            ("specialist-field-invalid", "wrap/specialist.json: skill_ids[1]"),
            ("specialist-field-invalid", "wrap/specialist.json: skill_ids[2]"),
            ("specialist-field-invalid", "wrap/specialist.json: skill_ids[3]"),
            ("specialist-field-invalid", "wrap/specialist.json: connector_ids"),
            ("specialist-field-forbidden", "wrap/specialist.json: enabled"),
            ("specialist-field-forbidden", "wrap/specialist.json: icon_key"),
        ]
    )
    assert all(d.severity == "error" for d in reading.diagnostics)


def test_a_fault_has_its_line() -> None:
    found = only(with_document(skill_ids=["a", "a"]))
    # { name display_name description system_prompt "skill_ids": [ "a" "a"
    assert (found.line, found.path) == (8, "specialist.json: skill_ids[1]")
    assert only(with_manifest(extra=1)).line == 6


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "said_in"),
    [
        pytest.param(None, "missing", id="missing"),
        pytest.param(b"", "the document ends", id="empty"),
        pytest.param(b"[]", "found a list", id="list"),
        pytest.param(b"{", "line 1", id="cut"),
        pytest.param(b'{"id": 1, "id": 1}', "stands twice", id="duplicate key"),
        pytest.param(b'{"id": 1,}', "trailing comma", id="trailing comma"),
        pytest.param(b'{"id": NaN}', "expected a value", id="NaN"),
        pytest.param(b"// x\n{}", "comment", id="comment"),
        pytest.param(b'{"a": "\xff"}', "0xFF", id="not UTF-8"),
        pytest.param("{}".encode("utf-16"), "UTF-16", id="UTF-16"),
        pytest.param(b"[" * 100, "nested deeper", id="deep"),
        pytest.param(b" " * (READ_BYTES + 1), "1,048,576 bytes", id="too long"),
    ],
)
def test_file_that_is_no_object(data: bytes | None, said_in: str) -> None:
    first = only(read_specialist(data, GOOD_DOCUMENT))
    second = only(read_specialist(GOOD_MANIFEST, data))
    assert (first.code, second.code) == ("specialist-manifest-invalid", "specialist-document-invalid")
    assert said_in in first.message
    assert said_in in second.message


def test_byte_order_mark_is_said_and_passed_over() -> None:
    reading = read_specialist(b"\xef\xbb\xbf" + GOOD_MANIFEST, GOOD_DOCUMENT)
    assert said(reading) == [("text-byte-order-mark", "manifest.json")]
    assert reading.document is not None


# --- manifest --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [2, 0, "1", True, 1.5, [1], {}])
def test_schema_version_is_the_number_1(value: object) -> None:
    assert said(with_manifest(schema_version=value)) == [
        ("specialist-manifest-invalid", "manifest.json: schema_version")
    ]


@pytest.mark.parametrize("value", ["a", "0", "a-b", "a--b", "a-", "x" * 128, "os", "osprey"])
def test_good_ids(value: str) -> None:
    reading = with_manifest(id=value)
    assert said(reading) == []
    assert reading.id == value


@pytest.mark.parametrize(
    "value",
    ["-", "", "-a", "A", "a b", "a_b", "a.b", "ä", "a\n", "x" * 129, "x" * 5_000, "os-a", "mcp-a", "con", "nul", 1],
)
def test_bad_ids(value: object) -> None:
    assert said(with_manifest(id=value)) == [("specialist-manifest-invalid", "manifest.json: id")]


@pytest.mark.parametrize("key", ["version", "exported_with_app_version"])
@pytest.mark.parametrize("value", ["1.0.0-..", "1.0", "v1.0.0", "01.0.0", "1.0.0 ", "", 1, None])
def test_bad_versions(key: str, value: object) -> None:
    assert said(with_manifest(**{key: value})) == [("specialist-manifest-invalid", f"manifest.json: {key}")]


def test_null_is_a_value_and_no_absence() -> None:
    text = json.dumps(specialist_document() | {"display_name": None}).encode()
    assert said(read_specialist(GOOD_MANIFEST, text)) == [("specialist-field-invalid", "specialist.json: display_name")]


# --- specialist.json -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("id", "manifest.json"),
        ("version", "manifest.json"),
        ("icon_key", "looks"),
        ("color_key", "looks"),
        ("capability_mode", "may do"),
        ("full_access", "may do"),
        ("selected_capabilities", "may do"),
        ("enabled", "disabled"),
    ],
)
def test_forbidden_fields_have_their_own_message(key: str, reason: str) -> None:
    found = only(with_document(**{key: "x"}))
    assert (found.code, found.path) == ("specialist-field-forbidden", f"specialist.json: {key}")
    assert reason in found.message


def test_system_prompt_in_the_spelling_of_memory_is_explained() -> None:
    found = only(with_document(systemPrompt="x"))
    assert found.code == "specialist-field-unknown"
    assert "system_prompt" in found.message


@pytest.mark.parametrize("key", ["name", "description", "system_prompt", "skill_ids", "connector_ids"])
def test_required_fields(key: str) -> None:
    assert said(with_document(**{key: ABSENT})) == [("specialist-field-missing", f"specialist.json: {key}")]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "ab"),
        ("name", "x" * 80),
        ("name", "  " + "x" * 80 + " "),
        ("name", "Field_Analyst-2 Größe"),
        ("name", "潮汐 分析"),
        ("name", "हिन्दी विश्लेषक"),
        ("display_name", "x"),
        ("display_name", "x" * 80),
        ("display_name", "Anything (even this)!"),
        ("description", "x" * 1_000),
        ("system_prompt", "x" * 32_768),
        ("system_prompt", "line\n\tline"),
        ("skill_ids", []),
        ("connector_ids", ["pubmed"]),
    ],
)
def test_good_values(key: str, value: object) -> None:
    assert said(with_document(**{key: value})) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "x"),
        ("name", " x "),
        ("name", "x" * 81),
        ("name", "a.b"),
        ("name", "a\u0660"),
        ("name", "a\nb"),
        ("name", "\u0301ab"),
        ("name", "a\u200bb"),
        ("name", "\u3164\u3164"),
        ("name", 5),
        ("display_name", ""),
        ("display_name", " "),
        ("display_name", "x" * 81),
        ("description", ""),
        ("description", " \n"),
        ("description", "x" * 1_001),
        ("system_prompt", "\t"),
        ("system_prompt", "a\0b"),
        ("system_prompt", "x" * 32_769),
        ("system_prompt", ["x"]),
        ("skill_ids", "a"),
        ("skill_ids", {"a": 1}),
    ],
)
def test_bad_values(key: str, value: object) -> None:
    reading = with_document(**{key: value})
    assert said(reading) == [("specialist-field-invalid", f"specialist.json: {key}")]
    assert reading.document is None


def test_name_is_trimmed_and_in_normal_form() -> None:
    reading = with_document(name="  Cafe\u0301 ")
    assert reading.document is not None
    assert reading.document.name == "Café"


def test_text_hidden_by_json_escapes_is_reported() -> None:
    data = as_json(specialist_document()).replace(b"You check", b"You\\udb40\\udc41\\u200b check")
    reading = read_specialist(GOOD_MANIFEST, data)
    assert said(reading) == [("text-hidden-characters", "specialist.json: system_prompt")]
    assert reading.document is not None


def test_bundled_and_not_named_is_a_warning() -> None:
    document = read_specialist(GOOD_MANIFEST, GOOD_DOCUMENT).document
    assert document is not None
    assert unlisted_skills(document, ["table-audit", "chart-check"], "specialist.json") == ()
    (found,) = unlisted_skills(document, ["table-audit", "extra"], "specialist.json")
    assert (found.severity, found.code) == ("warning", "specialist-skill-unlisted")
    assert found.facts["names"] == ["extra"]


def test_thousands_of_faults_are_capped() -> None:
    found = with_document(skill_ids=[""] * 5_000).diagnostics
    assert len(found) == 201
    assert found[-1].code == "diagnostics-capped"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(specialist_document())) | st.text(max_size=6), JSON, max_size=6))
def test_any_values_give_a_reading(changes: dict[str, object]) -> None:
    reading = read_specialist(as_json(manifest() | changes), as_json(specialist_document() | changes))
    assert all(d.code in CODES for d in reading.diagnostics)
    assert (reading.document is None) is any(d.severity == "error" for d in reading.diagnostics)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_give_a_reading(first: bytes, second: bytes) -> None:
    assert read_specialist(first, second).document is None
