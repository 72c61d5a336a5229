"""Each rule with its control: what is a credential, and the honest thing that looks like it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.secrets import (
    Level,
    Strength,
    is_credential_query_key,
    is_path,
    is_placeholder,
    redacted,
    scan_command_line,
    scan_text,
    scan_url,
    strength,
)
from tests.secrets.corpus import body, hexadecimal, packed, uuid

RANDOM = body("rules", 40)


def level(*args: str, command: str = "acme") -> Level | None:
    found = scan_command_line(command, args)
    return found[0].level if found else None


@pytest.mark.parametrize(
    ("leaks", "honest"),
    [
        (("--api-key", "omk_x"), ("--api-key-file", "omk_x")),
        (("--token", "100"), ("--max-tokens", "100")),
        (("--auth-token", "me"), ("--author", "me")),
        (("-u", "admin:S3cretPass"), ("-u", "1000:1000")),
        (("-e", "API_KEY=abc"), ("-e", "API_KEY")),
        (("-e", "API_KEY=abc"), ("-e", "LOG_LEVEL=abc")),
        (("-e", "KEY=value"), ("-e", "KEYMAP=value")),
        (("--env=API_KEY=abc",), ("--env=API_KEY",)),
        (("-eAPI_KEY=abc",), ("-extra=abc",)),
        (("sh", "-c", "TOKEN=abc run"), ("sh", "-c", "TOKEN=$TOKEN_FROM_HOST run")),
        (("-H", "Authorization: Bearer abc"), ("-H", "Accept: application/json")),
        (("-HAuthorization: Bearer abc",), ("-HAccept: text/html",)),
        (("--header", "X-Api-Key: abc"), ("--header", "X-Api-Version: abc")),
        (("--password", "correct horse"), ("--password-stdin",)),
        (("--secret", "abc"), ("--secret-name", "abc")),
        (("--token", "abc"), ("--token", "op://vault/item/field")),
        (("--token", "abc"), ("--token", "keychain:abc")),
        (("--token", "abc"), ("--token", "./token.txt")),
        (("--token", "abc"), ("--use-token", "abc")),
        (("--token", "-abc.9"), ("--token", "--stdio")),
        (("--api-key", uuid("a")), ("--workspace-id", uuid("a"))),
        (("--hash", "ghp_" + body("x", 36)), ("--hash", hexadecimal("x", 40))),
        (("postgres://me:abc@db/x",), ("postgres://db/x",)),
        (("https://h/x?token=abc",), ("https://h/x?tokenizer=abc",)),
        (("{'password': 'abc'}",), ("{'passwordFile': 'abc'}",)),
        (('--config={"apiKey":"abc"}',), ('--config={"apiKeyName":"abc"}',)),
        (("--opts", packed(password="abcdef")), ("--opts", packed(region="abcdef"))),
        (("Server=a;Password=abc;",), ("Server=a;User=abc;",)),
        (("/apikey:abc",), ("/config:abc",)),
    ],
)
def test_certain_and_its_control(leaks: tuple[str, ...], honest: tuple[str, ...]) -> None:
    assert level(*leaks) is Level.CERTAIN
    assert level(*honest) in {None, Level.PLACEHOLDER}


@pytest.mark.parametrize(
    ("asks", "honest"),
    [
        ((RANDOM,), ("listRepositoriesForOrganization",)),
        ((hexadecimal("l", 32),), (hexadecimal("l", 40),)),
        (("-k", "S3cretPass!"), ("-k", "column")),
        (("-pS3cretPass",), ("-p8080:8080",)),
        (("-p", "S3cretPass"), ("-p", "3000")),
        (("--key", "abc123xyz"), ("--key", "name")),
        (("--key", uuid("k")), ("--key-id", uuid("k"))),
        (("--auth", hexadecimal("k", 64)), ("--commit", hexadecimal("k", 64))),
        (("--contract", "0x" + hexadecimal("k", 64)), ("--contract", "0x" + hexadecimal("k", 40))),
        (("--unknown", RANDOM), ("--document-id", RANDOM)),
        (("postgres://app:app@db/x",), ("postgres://app@db/x",)),
        ((f"https://h/{hexadecimal('u', 32)}/mcp",), (f"https://h/{uuid('u')}/mcp",)),
    ],
)
def test_likely_and_its_control(asks: tuple[str, ...], honest: tuple[str, ...]) -> None:
    assert level(*asks) is Level.LIKELY
    assert level(*honest) is None


def test_a_program_that_takes_a_password_makes_a_glued_flag_certain() -> None:
    assert level("-phunter2", command="/usr/bin/mysql") is Level.CERTAIN
    assert level("-phunter2", command="acme") is None


def test_the_user_of_a_container_is_no_password() -> None:
    assert level("run", "-u", "node:node", "image", command="docker") is None
    assert level("-u", "node:node", command="curl") is Level.CERTAIN


@pytest.mark.parametrize(
    "value",
    [
        "${TOKEN}", "${env:TOKEN}", "${input:token}", "$TOKEN", "$env:TOKEN", "%TOKEN%", "{{token}}", "<your token>",
        "YOUR_API_KEY", "your-api-key-here", "xxx", "xxxxxxxx", "XXXX-XXXX", "***", "...", "sk-...", "changeme",
        "changeme123", "ghp_xxxxxxxxxxxxxxxxxxxx", "sk-your-key", "Bearer ${TOKEN}", "Bearer <token>", "GITHUB_TOKEN",
        "my-api-key", "REPLACE_ME", "insert-token-here", "[token]", "{token}", "${TOKEN:-}", "example-key", "\u2026",
    ],
)  # fmt: skip
def test_placeholders(value: str) -> None:
    assert is_placeholder(value)
    assert level("--token", value) is Level.PLACEHOLDER


@pytest.mark.parametrize(
    "value", ["SECRET", "hunter2", "P@$$w0rd", "abc<def>ghi12345", "pa$word", "${TOKEN:-hunter2hunter2}", "1234", "x"]
)
def test_what_is_no_placeholder(value: str) -> None:
    assert not is_placeholder(value)
    assert level("--token", value) is Level.CERTAIN


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("GITHUB_TOKEN", Strength.STRONG), ("apiKey", Strength.STRONG), ("exaApiKey", Strength.STRONG),
        ("X-API-Key", Strength.STRONG), ("PGPASSWORD", Strength.STRONG), ("AWS_SECRET_ACCESS_KEY", Strength.STRONG),
        ("SECRET_KEY_BASE", Strength.STRONG), ("TOKEN_2", Strength.STRONG), ("key", Strength.WEAK),
        ("auth", Strength.WEAK), ("AWS_ACCESS_KEY_ID", Strength.NONE), ("TOKEN_FILE", Strength.NONE),
        ("max-tokens", Strength.NONE), ("author", Strength.NONE), ("monkey", Strength.NONE),
        ("primary_key", Strength.NONE), ("no-password", Strength.NONE), ("LOG_LEVEL", Strength.NONE),
        ("", Strength.NONE),
    ],
)  # fmt: skip
def test_names(name: str, how: Strength) -> None:
    assert strength(name) is how


@pytest.mark.parametrize(
    "key",
    [
        "accesstoken", "apikey", "auth", "authorization", "clientassertion", "clientsecret", "code", "credential",
        "credentials", "idtoken", "jwt", "key", "passwd", "password", "refreshtoken", "secret", "token", "tokenkey",
        "access_token", "client-secret", "tavilyApiKey", "X-Amz-Signature", "sig", "pwd", "subscription-key",
    ],
)  # fmt: skip
def test_query_keys(key: str) -> None:
    assert is_credential_query_key(key)
    for value in ("", "abc", "${TOKEN}"):
        found = scan_url(f"https://h.example/mcp?a=1&{key}={value}")
        assert [each.level for each in found] == [Level.CERTAIN]
        assert key in found[0].where


@pytest.mark.parametrize("key", ["codec", "keyword", "author", "tokenizer", "max_tokens", "profile", "id", "sort_key"])
def test_query_keys_that_only_look_alike(key: str) -> None:
    assert scan_url(f"https://h.example/mcp?{key}=abc") == []


@pytest.mark.parametrize(
    "url",
    [
        "https://user:pass@h/", "https://user@h/", "https://h/x?a%70i_key=1", "https://h/x#access_token=1",
        "https://h/x;token=abc", f"https://h/{RANDOM}", "https://h/%67hp_" + body("p", 36),
        f"https://h/x?x=ghp_{body('q', 36)}",
        "https://h/?c=%7B%22apiKey%22%3A%22abc%22%7D", "http://[bad/ghp_" + body("b", 36),
    ],
)  # fmt: skip
def test_urls(url: str) -> None:
    assert Level.CERTAIN in {found.level for found in scan_url(url)}


@pytest.mark.parametrize(
    "url", ["https://h/", "https://h:8443/a/b.c?x=1#top", "http://[::1]/x", "http://[bad", "", "::"]
)
def test_urls_without_a_credential(url: str) -> None:
    assert scan_url(url) == []


def test_a_random_query_without_a_name_is_asked_about_and_not_repeated() -> None:
    (found,) = scan_url(f"https://h.example/mcp?{RANDOM}")
    assert found.level is Level.LIKELY
    assert RANDOM not in repr(found)
    assert scan_url("https://h.example/mcp?listRepositories") == []


@pytest.mark.parametrize(("value", "start"), [("ab", ""), ("abcde", "a"), ("abcdefgh", "ab"), ("abcdefghijkl", "abcd")])
def test_of_a_short_value_less_is_shown(value: str, start: str) -> None:
    (found,) = scan_command_line("acme", ["--token", value])
    assert (found.start, found.length) == (start, len(value))


PREFIXES = [
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "sk-proj-", "sk-ant-", "sk-or-v1-", "xoxb-",
    "xoxp-", "xapp-1-", "AIza", "ya29.", "GOCSPX-", "sk_live_", "rk_live_", "whsec_", "ntn_", "secret_", "figd_",
    "lin_api_", "hf_", "npm_", "pypi-", "BSA", "tvly-", "pplx-", "gsk_", "xai-", "r8_", "sbp_", "sntrys_", "dop_v1_",
    "ATATT3", "apify_api_", "nvapi-", "pcsk_", "hvs.", "glsa_",
]  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
def test_known_prefixes(prefix: str) -> None:
    token = prefix + body(prefix, 44)
    assert level(token) is Level.CERTAIN
    assert level("--note", f"see {token}, please") is Level.CERTAIN
    assert level(prefix + "x" * 44) in {None, Level.PLACEHOLDER}
    assert level(prefix + "YOUR_TOKEN_GOES_RIGHT_HERE") in {None, Level.PLACEHOLDER}
    assert token not in redacted(token)


@pytest.mark.parametrize(
    "token",
    [
        "AKIA" + body("k", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
        "ASIA" + body("s", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
        "fc-" + hexadecimal("f", 32), "dapi" + hexadecimal("d", 32), "key-" + hexadecimal("m", 32),
    ],
)  # fmt: skip
def test_known_prefixes_with_an_alphabet(token: str) -> None:
    assert level(token) is Level.CERTAIN
    assert level("desk" + token) is not Level.CERTAIN


@pytest.mark.parametrize(
    "word", ["desk-" + "abcdefghijklmnopqrstuvwxyz", "task-runner-for-many-projects", "hf_transfer"]
)
def test_words_that_end_like_a_prefix(word: str) -> None:
    assert level(word) is None


def test_redacted_keeps_four_characters_and_the_length() -> None:
    token = "ghp_" + body("red", 36)
    assert redacted(f"a {token} b") == "a ghp_…(40 characters) b"
    assert redacted("a word") == "a word"


def test_prose_is_searched_by_shape_only() -> None:
    assert scan_text("Needs an API key: --api-key abc, password: x", "description") == []
    assert [f.rule for f in scan_text("use ghp_" + body("prose", 36), "description")] == ["known-prefix"]


@pytest.mark.parametrize(
    "text", ["/home/me", "~/x", "./x", "../x", "C:\\x", "\\\\host\\x", "file:///x", "dist/index.js"]
)
def test_paths(text: str) -> None:
    assert is_path(text)


@pytest.mark.parametrize(
    "text", ["/c", "npx", "@scope/pkg", "owner/repo", "https://h/x.js", "jsr:@a/b", "a@1.2.js", "."]
)
def test_what_is_no_path(text: str) -> None:
    assert not is_path(text)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60), st.lists(st.text(max_size=80), max_size=6))
def test_any_text_is_taken(command: str, args: list[str]) -> None:
    for found in scan_command_line(command, args):
        assert found.field == "command" or found.index in range(len(args))
    for arg in args:
        scan_url(arg)
        scan_text(arg, "x")
        json.dumps(redacted(arg))


ALPHABET = st.sampled_from("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")


@settings(max_examples=100, deadline=None)
@given(st.text(ALPHABET, min_size=20, max_size=60))
def test_any_value_of_a_credential_flag_is_certain_and_never_told(value: str) -> None:
    found = scan_command_line("acme", ["--api-key", value, f"--token={value}"])
    assert {each.level for each in found} <= {Level.CERTAIN, Level.PLACEHOLDER}
    assert len(found) == 2
    assert all(value not in repr(each) for each in found)
