"""Reading as a whole: selection, budgets, what a person vouches for, and that no value gets out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import BudgetExceeded, Override
from importer.diagnostics import Rejected, Severity
from importer.formats.connectors import Kind, looks_like_connectors, read_template
from tests.formats.connectors.build import Json, codes, errors, read, remote, servers, stdio
from tests.secrets import corpus, holdout

NPX = {"command": "npx", "args": ["-y", "x"]}
RANDOM = corpus.body("reading", 40)


def test_selection_by_either_name() -> None:
    document = servers(**{"My Server": NPX, "other": {"url": ""}})
    for wanted in ("My Server", "my-server"):
        reading = read(document, wanted=[wanted])
        assert [c.name for c in reading.candidates] == ["my-server"]
        assert errors(reading) == []
        assert "connector-not-selected" in codes(reading)


def test_a_name_that_is_not_there() -> None:
    reading = read(servers(a=NPX), wanted=["a", "b"])
    assert [code for code, _ in errors(reading)] == ["connector-not-found"]
    assert [c.name for c in reading.candidates] == ["a"]
    assert [code for code, _ in errors(read(stdio(), wanted=["b"]))] == ["connector-not-found"]
    assert errors(read(stdio(), wanted=["github"])) == []


def test_more_servers_than_are_read_at_once_need_a_selection() -> None:
    assert len(read(servers(**{f"s{n}": NPX for n in range(256)})).candidates) == 256
    many = servers(**{f"s{n}": NPX for n in range(257)})
    assert [code for code, _ in errors(read(many))] == ["connector-too-many"]
    assert [c.name for c in read(many, wanted=["s7"]).candidates] == ["s7"]


def test_likely_asks_and_allowing_answers() -> None:
    document = servers(a={"command": "x", "args": ["first", RANDOM]})
    reading = read(document)
    (candidate,) = reading.candidates
    assert candidate.asks == ("args[1]",)
    (found,) = reading.diagnostics
    assert (found.severity, found.code, found.path) == (Severity.WARNING, "connector-secret-embedded", "args[1]")
    assert "--allow-arg a:1" in found.message
    assert found.facts["start"] == RANDOM[:4]
    assert found.facts["length"] == 40
    assert RANDOM not in repr(reading)
    for wrong in ("a:0", "b:1", "a:2"):
        assert read(document, allowed=[wrong]).candidates[0].asks == ("args[1]",)
    allowed = read(document, allowed=["a:1"])
    assert allowed.candidates[0].asks == ()
    assert codes(allowed) == ["connector-arg-allowed"]
    assert allowed.candidates[0].template == candidate.template


def test_allowing_never_silences_what_is_certain() -> None:
    reading = read(servers(a={"command": "x", "args": ["--token", RANDOM]}), allowed=["a:0", "a:1"])
    assert errors(reading) == [("connector-secret-embedded", "args[1]")]


def test_a_likely_address_is_asked_about_too() -> None:
    document = remote(url="https://h.example/" + corpus.hexadecimal("x", 32))
    reading = read(document)
    assert reading.candidates[0].asks == ("url",)
    assert corpus.hexadecimal("x", 32) not in repr(reading)
    assert read(document, allowed=["linear:url"]).candidates[0].asks == ()


def test_budgets() -> None:
    template = json.dumps(stdio())
    small = [Override.of("connector", "bytes", len(template) - 1, "test")]
    with pytest.raises(BudgetExceeded) as spent:
        read(template, overrides=small)
    assert (spent.value.profile, spent.value.limit, spent.value.used) == ("connector", "bytes", len(template))
    assert errors(read(template)) == []
    config = json.dumps(servers(a=NPX))
    with pytest.raises(BudgetExceeded) as spent:
        read(config, overrides=[Override.of("connector", "config_bytes", len(config) - 1, "test")])
    assert spent.value.limit == "config_bytes"


def test_a_configuration_may_be_longer_than_a_template_and_one_server_may_not() -> None:
    long = {"command": "x", "args": ["a b " * 100]}
    reading = read(servers(a=long, b=NPX), overrides=[Override.of("connector", "bytes", 300, "test")])
    assert [code for code, _ in errors(reading)] == ["budget-exceeded"]
    assert reading.diagnostics[-1].facts["connector"] == "a"
    assert [c.name for c in reading.candidates] == ["b"]
    assert [left.codes for left in reading.left_out] == [("budget-exceeded",)]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"mcpServers": {"a": {"command": "x"}', Kind.CLIENT_CONFIG),
        (b'{"kind": "open-science.connector", ', Kind.TEMPLATE),
        (b'{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', Kind.CLIENT_CONFIG),
        (b"no json", Kind.NOT_CONNECTORS),
        (b'{"mcpServers": "\xff"}', Kind.NOT_CONNECTORS),
        ('{"mcpServers": {}}'.encode("utf-16"), Kind.NOT_CONNECTORS),
        (b'{"a":' * 100 + b"1" + b"}" * 100, Kind.NOT_CONNECTORS),
        (b"", Kind.NOT_CONNECTORS),
    ],
)
def test_what_cannot_be_read(data: bytes, kind: Kind) -> None:
    reading = read(data)
    assert reading.kind is kind
    assert [code for code, _ in errors(reading)] == ["connector-unreadable"]


def test_a_syntax_fault_has_its_line() -> None:
    (found,) = read('{"mcpServers": {\n "a": {"command": "x"}\n "b": {}\n}}').diagnostics
    assert found.line == 3
    assert looks_like_connectors(b'{"mcpServers": {\n "a": {"command": "x"}\n "b": {}\n}}')


def test_a_key_that_is_a_secret_is_not_quoted() -> None:
    token = "ghp_" + corpus.body("key", 36)
    for document in (
        f'{{"mcpServers":{{"{token}":1,"{token}":2}}}}',
        servers(**{token: {"command": ""}}),
        {**stdio(), token: 1},
    ):
        reading = read(document)
        assert errors(reading) != []
        assert token not in repr(reading.diagnostics)
        assert token not in repr(reading.left_out)


@pytest.mark.parametrize("entry", [*corpus.LEAKING, *holdout.LEAKING], ids=lambda entry: entry.id)
def test_no_secret_of_the_corpora_is_repeated(entry: corpus.Entry) -> None:
    reading = read(servers(leak=entry.server()))
    if entry.id == "positional-password":  # the one that is missed
        return
    assert "connector-secret-embedded" in codes(reading)
    assert entry.secret not in repr(reading)
    assert not (reading.candidates and not reading.candidates[0].asks)


@pytest.mark.parametrize("entry", [*corpus.CLEAN, *holdout.CLEAN], ids=lambda entry: entry.id)
def test_honest_entries_are_installable(entry: corpus.Entry) -> None:
    reading = read(servers(honest=entry.server()))
    assert errors(reading) == []
    assert [c.asks for c in reading.candidates] == [()]


def test_read_template_tells_every_fault_and_no_value() -> None:
    bad = json.dumps(stdio(name="A", args=["--token", RANDOM])).encode()
    with pytest.raises(Rejected) as refused:
        read_template(bad)
    assert {d.code for d in refused.value.diagnostics if d.severity is Severity.ERROR} == {
        "connector-invalid",
        "connector-secret-embedded",
    }
    assert RANDOM not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"3", b"\xff", b'{"mcpServers": {}}', b'{"kind": "open-science.connector"}']
)
def test_read_template_refuses_everything_else(data: bytes) -> None:
    with pytest.raises(Rejected) as refused:
        read_template(data)
    assert refused.value.__context__ is None


def test_read_template_takes_what_was_vouched_for() -> None:
    data = read(servers(a={"command": "x", "args": [RANDOM]}), allowed=["a:0"]).candidates[0].template
    assert read_template(data).args == (RANDOM,)
    assert read_template(data, allowed=frozenset({"a:0"})).args == (RANDOM,)
    with pytest.raises(Rejected):
        read_template(data, allowed=frozenset())


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-9, 99)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
)
KEYS = st.sampled_from(
    ["mcpServers", "servers", "command", "args", "env", "headers", "url", "serverUrl", "type", "kind", "schema_version",
     "name", "display_name", "transport", "required_secrets", "environment", "oauth", "scopes", "client_id", "packages",
     "inputs", "mcp", "$schema", "description"]
) | st.text(max_size=8)  # fmt: skip
VALUES = SCALARS | st.sampled_from(["open-science.connector", "stdio", "http", "https://h.example/", "npx", "./x"])
ANY_JSON = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=25
)


@settings(max_examples=200, deadline=None)
@given(ANY_JSON)
def test_any_json_is_read_without_an_exception(document: object) -> None:
    reading = read(document)
    names = [c.name for c in reading.candidates]
    assert len(set(names)) == len(names)
    for candidate in reading.candidates:
        read_template(candidate.template)
    if reading.kind is Kind.NOT_CONNECTORS:
        assert not reading.candidates
    looks_like_connectors(json.dumps(document).encode())


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_without_an_exception(data: bytes) -> None:
    for head in (b"", b'{"mcpServers":', b"[mcp_servers.a]\n", b"\xef\xbb\xbf{"):
        read(head + data)
        looks_like_connectors(head + data)


SECRET = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=8, max_size=30).map(
    lambda text: "§" + text
)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.text(max_size=10).filter(lambda name: "§" not in name), SECRET, max_size=4),
    st.dictionaries(st.text(max_size=10).filter(lambda name: "§" not in name), SECRET, max_size=4),
    st.booleans(),
)
def test_no_value_of_env_or_headers_is_in_the_output(env: Json, headers: Json, is_remote: bool) -> None:
    where: Json = {"url": "https://h.example/mcp"} if is_remote else {"command": "npx"}
    reading = read(servers(a={**where, "env": env, "headers": headers, "oauth": env, "envFile": "§file"}))
    output = repr(reading) + "".join(c.template.decode() for c in reading.candidates)
    assert "§" not in output
