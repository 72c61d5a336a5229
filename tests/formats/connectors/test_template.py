"""Every rule and every length of the template: one change to a good one, and the good one beside it."""
# ruff: noqa: E501  # one case a line or more reads best

from __future__ import annotations

import json

import pytest

from importer.diagnostics import Severity
from importer.formats.connectors import Kind, looks_like_connectors
from tests.formats.connectors.build import Json, codes, errors, read, remote, signed_in, stdio

INVALID = "connector-invalid"
SECRET = "connector-secret-embedded"


@pytest.mark.parametrize("document", [stdio(), remote(), signed_in()], ids=["stdio", "remote", "oauth"])
def test_good_templates(document: Json) -> None:
    reading = read(document)
    assert reading.kind is Kind.TEMPLATE
    assert reading.diagnostics == ()
    assert len(reading.candidates) == 1
    assert reading.left_out == ()
    assert looks_like_connectors(json.dumps(document).encode())


def test_what_a_candidate_says() -> None:
    candidate = read(stdio()).candidates[0]
    assert (candidate.name, candidate.stated_name, candidate.display_name) == ("github", "github", "GitHub")
    assert (candidate.transport, candidate.secrets) == ("stdio", ("GITHUB_TOKEN",))
    assert candidate.summary == "npx -y gh-mcp"
    assert candidate.asks == ()
    assert read(signed_in()).candidates[0].secrets == ("oauth_client_secret",)


NAMES_64 = [f"N{number}" for number in range(64)]

AT_THE_LIMIT: list[Json] = [
    stdio(name="a" * 64), stdio(name="0"), stdio(name="a-"), stdio(display_name="x" * 128), stdio(description="x" * 2000),
    stdio(description="two\nlines\tand a tab"), stdio(command="c" * 1024), stdio(args=["a"] * 128),
    stdio(args=["a b " * 512]), stdio(args=[""]), stdio(args=[]), stdio(args=None), stdio(description=None),
    stdio(required_secrets=None), stdio(required_secrets={}), stdio(required_secrets={"environment": NAMES_64}),
    stdio(required_secrets={"environment": ["A" * 128]}), stdio(required_secrets={"headers": []}),
    remote(transport="sse"), remote(url="http://localhost:1/x"), remote(url="https://h.example/" + "a/" * 1014),
    remote(required_secrets={"headers": NAMES_64}), remote(required_secrets={"headers": ["X!#$%&'*+.^_`|~9-"]}),
    remote(required_secrets=None, oauth={}), signed_in(scopes=["s"] * 32), signed_in(scopes=["s" * 128]),
    signed_in(redirect_uri="http://127.0.0.1/cb"), signed_in(redirect_uri=None),
    remote(required_secrets=None, oauth={"client_metadata_url": "https://c.example/meta.json"}),
]  # fmt: skip


@pytest.mark.parametrize("document", AT_THE_LIMIT, ids=str)
def test_at_the_limit(document: Json) -> None:
    reading = read(document)
    assert errors(reading) == []
    assert len(reading.candidates) == 1


FAULTS: list[tuple[Json, str]] = [
    (stdio(schema_version=None), "schema_version"), (stdio(schema_version=2), "schema_version"),
    (stdio(schema_version=True), "schema_version"), (stdio(schema_version=1.0), "schema_version"),
    (stdio(schema_version="1"), "schema_version"), (stdio(kind=None), "kind"),
    (stdio(kind="open-science.connector/2"), "kind"), (stdio(name=None), "name"), (stdio(name=""), "name"),
    (stdio(name="a" * 65), "name"), (stdio(name="-a"), "name"), (stdio(name="A"), "name"), (stdio(name="ä"), "name"),
    (stdio(name="a_b"), "name"), (stdio(name="a\n"), "name"), (stdio(name=3), "name"), (stdio(display_name=None), "display_name"),
    (stdio(display_name="  "), "display_name"), (stdio(display_name="x" * 129), "display_name"),
    (stdio(display_name="a\nb"), "display_name"), (stdio(description="x" * 2001), "description"),
    (stdio(description="a\0b"), "description"), (stdio(description=[]), "description"),
    (stdio(transport="http"), "transport"), (stdio(transport=["stdio"]), "transport"),
    (stdio(command=None), "command"), (stdio(command=" "), "command"), (stdio(command="c" * 1025), "command"),
    (stdio(command="a\nb"), "command"), (stdio(command="np\u200bx"), "command"), (stdio(command=["npx"]), "command"),
    (stdio(args=["-y"] * 129), "args"), (stdio(args=["-y", "a b " * 512 + "a"]), "args[1]"), (stdio(args="-y"), "args"),
    (stdio(args=["-y", 3]), "args[1]"), (stdio(args=["-y", "a\0b"]), "args[1]"), (stdio(url="https://h.example"), "url"),
    (stdio(oauth={}), "oauth"), (stdio(required_secrets={"headers": ["X"]}), "required_secrets.headers"),
    (stdio(required_secrets=[]), "required_secrets"),
    (stdio(required_secrets={"environment": ["A", "B", "C D"]}), "required_secrets.environment[2]"),
    (stdio(required_secrets={"environment": ["A=b"]}), "required_secrets.environment[0]"),
    (stdio(required_secrets={"environment": ["1A"]}), "required_secrets.environment[0]"),
    (stdio(required_secrets={"environment": [""]}), "required_secrets.environment[0]"),
    (stdio(required_secrets={"environment": [None]}), "required_secrets.environment[0]"),
    (stdio(required_secrets={"environment": ["A" * 129]}), "required_secrets.environment[0]"),
    (stdio(required_secrets={"environment": [*NAMES_64, "Z"]}), "required_secrets.environment"),
    (stdio(required_secrets={"environment": ["A", "A"]}), "required_secrets.environment[1]"),
    (stdio(required_secrets={"environment": {"A": "b"}}), "required_secrets.environment"),
    (stdio(required_secrets={"enviroment": ["A"]}), "required_secrets.enviroment"),
    (stdio(extra=1), "extra"), (stdio(env={"A": "b"}), "env"),
    (remote(url=None), "url"), (remote(url=""), "url"), (remote(url="ftp://h.example"), "url"), (remote(url="h.example"), "url"),
    (remote(url="https://"), "url"), (remote(url="https://h.example/a b"), "url"), (remote(url="${MY_URL}"), "url"),
    (remote(url="https://${HOST}/mcp"), "url"), (remote(url="https://h.example:99999/"), "url"), (remote(url="https://[::1"), "url"),
    (remote(url="https://h.example/" + "a/" * 1015 + "b"), "url"), (remote(url="https://h.example/\u202e"), "url"),
    (remote(command="npx"), "command"), (remote(args=["a"]), "args"),
    (remote(required_secrets={"environment": ["A"]}), "required_secrets.environment"),
    (remote(required_secrets={"headers": ["A B"]}), "required_secrets.headers[0]"),
    (remote(required_secrets={"headers": ["A:b"]}), "required_secrets.headers[0]"),
    (remote(required_secrets={"headers": ["X-A", "x-a"]}), "required_secrets.headers[1]"),
    (remote(required_secrets={"headers": [*NAMES_64, "Z"]}), "required_secrets.headers"),
    (remote(oauth={}), "required_secrets.headers"), (remote(required_secrets=None, oauth=[]), "oauth"),
    (remote(required_secrets={"oauth_client_secret": False}), "required_secrets.oauth_client_secret"),
    (remote(required_secrets={"oauth_client_secret": True}), "required_secrets.oauth_client_secret"),
    (signed_in(token_url="https://h.example"), "oauth.token_url"), (signed_in(authorization_server_url=None), "oauth.client_id"),
    (signed_in(authorization_server_url="h"), "oauth.authorization_server_url"),
    (signed_in(client_metadata_url="https://c.example"), "oauth.client_metadata_url"),
    (signed_in(client_id=" "), "oauth.client_id"), (signed_in(client_id=3), "oauth.client_id"), (signed_in(client_id="a\0"), "oauth.client_id"), (signed_in(scopes=["s"] * 33), "oauth.scopes"),
    (signed_in(scopes=["s" * 129]), "oauth.scopes[0]"), (signed_in(scopes=["a b"]), "oauth.scopes[0]"),
    (signed_in(scopes="read"), "oauth.scopes"), (signed_in(redirect_uri="https://127.0.0.1/"), "oauth.redirect_uri"),
    (signed_in(redirect_uri="http://localhost/"), "oauth.redirect_uri"),
    (signed_in(redirect_uri="http://127.0.0.1/#x"), "oauth.redirect_uri"), (signed_in(redirect_uri="http://127.0.0.1/#"), "oauth.redirect_uri"),
    (signed_in(redirect_uri="http://a@127.0.0.1/"), "oauth.redirect_uri"),
    (signed_in(redirect_uri="http://127.0.0.1.example/"), "oauth.redirect_uri"),
    (remote(required_secrets=None, oauth={"redirect_uri": "http://127.0.0.1/"}), "oauth.redirect_uri"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "path"), FAULTS, ids=str)
def test_one_fault(document: Json, path: str) -> None:
    reading = read(document)
    assert reading.kind is Kind.TEMPLATE
    assert reading.candidates == ()
    assert [(left.kind, left.codes) for left in reading.left_out] == [("connector", (INVALID,))]
    assert errors(reading) == [(INVALID, path)]
    assert reading.left_out[0].reason


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (remote(url="https://a:b@h.example/"), "url"),
        (remote(url="https://a@h.example/"), "url"),
        (remote(url="https://h.example/?api_key=abc"), "url"),
        (remote(url="https://h.example/?apiKey=${KEY}"), "url"),
        (remote(url="https://h.example/?token=YOUR_TOKEN"), "url"),
        (remote(url="https://h.example/?key="), "url"),
        (stdio(args=["-y", "x", "--token", "abc"]), "args[3]"),
        (stdio(args=["-y", "-e", "API_KEY=abc"]), "args[2]"),
        (stdio(command="gh-mcp --token abc"), "command"),
        (stdio(description="Use sk-proj-" + "aB3dE6gH9" * 4), "description"),
        (signed_in(redirect_uri="http://127.0.0.1/?client_secret=abc"), "oauth.redirect_uri"),
    ],
)
def test_a_credential(document: Json, path: str) -> None:
    reading = read(document)
    assert errors(reading) == [(SECRET, path)]
    fault = next(d for d in reading.diagnostics if d.severity is Severity.ERROR)
    assert {"rule", "where", "start", "length"} <= set(fault.facts)
    assert "required_secrets" in fault.message


def test_a_query_key_points_at_a_header_or_an_environment_secret() -> None:
    message = next(d.message for d in read(remote(url="https://h.example/?api_key=${K}")).diagnostics)
    assert "required_secrets.headers" in message
    assert "environment secret" in message


def test_a_placeholder_after_a_credential_flag_is_a_warning() -> None:
    reading = read(stdio(args=["-y", "x", "--token", "${TOKEN}"]))
    assert [(d.severity, d.code, d.path) for d in reading.diagnostics] == [
        (Severity.WARNING, "connector-placeholder", "args[3]")
    ]
    assert len(reading.candidates) == 1


def test_all_faults_at_once_with_lines() -> None:
    document = stdio(name="A", url="https://u:p@h.example/?token=x", args=[1], extra=1, display_name=None)
    document["required_secrets"] = {"environment": ["A", "B", "C="], "headers": ["X"]}
    text = json.dumps(document, indent=1)
    reading = read(text)
    assert set(errors(reading)) == {
        (INVALID, "name"), (INVALID, "url"), (INVALID, "args[0]"), (INVALID, "extra"), (INVALID, "display_name"),
        (INVALID, "required_secrets.environment[2]"), (INVALID, "required_secrets.headers"), (SECRET, "url"),
    }  # fmt: skip
    lines = text.split("\n")
    for found in reading.diagnostics:
        if found.path in {"name", "url", "extra"}:
            assert found.line is not None
            assert f'"{found.path}"' in lines[found.line - 1]
        if found.path == "required_secrets.environment[2]":
            assert found.line is not None
            assert '"C="' in lines[found.line - 1]


@pytest.mark.parametrize("text", ['// c\n{"a":1}', '{"a":1,}'])
def test_a_template_is_plain_json(text: str) -> None:
    spoilt = text.replace('"a":1', json.dumps(stdio())[1:-1])
    assert [code for code, _ in errors(read(spoilt))] == [INVALID]
    assert errors(read(stdio())) == []


def test_a_byte_order_mark_is_said() -> None:
    reading = read(b"\xef\xbb\xbf" + json.dumps(stdio()).encode())
    assert codes(reading) == ["connector-bom"]
    assert len(reading.candidates) == 1


def test_local_paths_and_npx_are_warnings() -> None:
    reading = read(stdio(command="/usr/local/bin/npx", args=["pkg", "--root=/home/me", "./data"]))
    assert [(d.code, d.path) for d in reading.diagnostics] == [
        ("connector-local-path", "command"),
        ("connector-local-path", "args[1]"),
        ("connector-local-path", "args[2]"),
        ("connector-npx-asks", "args"),
    ]
    assert all(d.severity is Severity.WARNING for d in reading.diagnostics)


def test_secrets_over_plain_http_are_a_warning() -> None:
    assert codes(read(remote(url="http://h.example/"))) == ["connector-plain-http"]
    assert codes(read(remote(url="http://h.example/", required_secrets=None))) == []


def test_arguments_keep_order_and_repeats() -> None:
    args = ["-y", "x", "-e", "A", "-e", "B", "-e", "A", ""]
    candidate = read(stdio(args=args)).candidates[0]
    assert json.loads(candidate.template)["args"] == args
