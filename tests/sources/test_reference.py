"""What a typed SOURCE means."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.sources.reference import GitHubRef, LocalRef, Refused, SourceRef, TokenRef, UrlRef, is_ref_name
from importer.sources.reference import parse_source as parse

SHA = "0123456789abcdef0123456789abcdef01234567"


def _parse(text: str, *existing: str) -> SourceRef:
    return parse(text, exists=lambda path: path in existing, hosts={"git.example.com", "127.0.0.1:8080"})


def _github(text: str) -> tuple[str, str, str, str, str, tuple[str, ...], str]:
    ref = _parse(text)
    assert isinstance(ref, GitHubRef), ref
    return (ref.host, ref.owner, ref.repo, ref.ref, ref.path, ref.rest, ref.ref_type)


def _refused(text: str) -> Refused:
    ref = _parse(text)
    assert isinstance(ref, Refused), ref
    return ref


@pytest.mark.parametrize(
    "text",
    ["./a/b", "../x.zip", "/tmp/x", "~/skills", "~me/x", ".", "..", ".\\x", "C:\\x", "C:/x", "\\\\server\\share"],
)
def test_what_looks_local_is_local(text: str) -> None:
    assert _parse(text) == LocalRef(path=text)


@pytest.mark.parametrize("text", ["owner/repo", "imp_" + "a" * 32, "git@github.com:o/r", "a.zip"])
def test_what_exists_wins(text: str) -> None:
    assert _parse(text, text) == LocalRef(path=text)


def test_a_url_is_never_a_path() -> None:
    assert isinstance(_parse("https://github.com/o/r", "https://github.com/o/r"), GitHubRef)


def test_a_token_has_its_own_form() -> None:
    token = "imp_" + "Ab-_" * 8
    assert _parse(token) == TokenRef(token=token)
    assert isinstance(_parse(token[:-1]), Refused)
    assert isinstance(_parse(token + "a"), Refused)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("o/r", ("", "o", "r", "", "", (), "")),
        ("o/r/", ("", "o", "r", "", "", (), "")),
        ("o/r/skills/pdf", ("", "o", "r", "", "skills/pdf", (), "")),
        ("o/r:skills/pdf", ("", "o", "r", "", "skills/pdf", (), "")),
        ("o/r@main", ("", "o", "r", "", "", ("main",), "")),
        ("o/r@feature/x/skills", ("", "o", "r", "", "", ("feature", "x", "skills"), "")),
        ("o/r@feature/x:skills/pdf", ("", "o", "r", "feature/x", "skills/pdf", (), "")),
        (f"o/r#{SHA}", ("", "o", "r", SHA, "", (), "")),
        ("o/r/skills/pdf#feature/x", ("", "o", "r", "feature/x", "skills/pdf", (), "")),
        ("o/r@refs/heads/a/b", ("", "o", "r", "", "", ("a", "b"), "heads")),
        ("o/r/a@b/c:d", ("", "o", "r", "", "a@b/c:d", (), "")),
        ("o/.github", ("", "o", ".github", "", "", (), "")),
        ("https://github.com/o/r", ("github.com", "o", "r", "", "", (), "")),
        ("http://www.github.com/o/r.git/", ("github.com", "o", "r", "", "", (), "")),
        ("HTTPS://GitHub.com/O/R", ("github.com", "O", "R", "", "", (), "")),
        ("github.com/o/r/tree/main", ("github.com", "o", "r", "", "", ("main",), "")),
        ("https://github.com/o/r?tab=readme-ov-file", ("github.com", "o", "r", "", "", (), "")),
        (
            "https://github.com/o/r/tree/main/skills/pdf/",
            ("github.com", "o", "r", "", "", ("main", "skills", "pdf"), ""),
        ),
        ("https://github.com/o/r/tree/main/a%20b#L1", ("github.com", "o", "r", "", "", ("main", "a b"), "")),
        (
            "https://github.com/o/r/tree/copilot/scaffold-x/s?ref_type=heads",
            ("github.com", "o", "r", "", "", ("copilot", "scaffold-x", "s"), "heads"),
        ),
        ("https://github.com/o/r/tree/copilot%2Fx/s", ("github.com", "o", "r", "", "", ("copilot/x", "s"), "")),
        ("https://github.com/o/r/blob/v1/s/SKILL.md", ("github.com", "o", "r", "", "", ("v1", "s", "SKILL.md"), "")),
        ("https://github.com/o/r/commit/" + SHA, ("github.com", "o", "r", SHA, "", (), "")),
        ("https://github.com/o/r/releases/tag/v1.0", ("github.com", "o", "r", "v1.0", "", (), "tags")),
        (
            "https://raw.githubusercontent.com/o/r/refs/heads/main/s/SKILL.md",
            ("github.com", "o", "r", "", "", ("main", "s", "SKILL.md"), "heads"),
        ),
        ("https://github.com/o/r.git#v2", ("github.com", "o", "r", "v2", "", (), "")),
        ("git@github.com:o/r.git", ("github.com", "o", "r", "", "", (), "")),
        ("git@github.com:o/r/tree/b", ("github.com", "o", "r", "", "", ("b",), "")),
        ("ssh://git@git.example.com:10022/o/r.git", ("git.example.com", "o", "r", "", "", (), "")),
        ("git+https://github.com/o/r", ("github.com", "o", "r", "", "", (), "")),
        ("http://127.0.0.1:8080/o/r", ("127.0.0.1:8080", "o", "r", "", "", (), "")),
    ],
)
def test_repositories(text: str, want: tuple[object, ...]) -> None:
    assert _github(text) == want


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/o%2Fr/x",
        "https://github.com/o/r%2F..%2Fx",
        "https://github.com/o/..%2fr",
        "https://github.com/o/%2e%2e",
        "https://github.com/o/%252e%252e",
        "https://github.com/o/r/tree/main/a%2Fb",
        "https://github.com/o/r/tree/main/%2e%2e/b",
        "https://github.com/o/r/tree/main/../b",
        "https://github.com/o/r/tree/main/a%5Cb",
        "https://github.com/o/r/tree/..%2fx/b",
        "https://github.com/o/r/tree/main/a%zz",
        "https://github.com/o/r/tree/main/%ff",
        "https://github.com/o/r/tree/main/a%00",
        "https://github.com/o/r/tree",
        "https://github.com/o/r/issues/5",
        "https://github.com/o",
        "https://github.com/",
        "https://github.com/o/r?ref=x",
        "https://github.com:99999/o/r",
        "ftp://github.com/o/r",
        "git@unknown.example:o/r",
        "o/r@..",
        "o/r/../x",
        "o/r/a//b",
        "o/%2e%2e/x",
        "o/r%2Fx",
        "o%2Fr/x",
        "o/..",
        "-o/r",
        "o.x/r",
        "o/r@main#v1",
        "o/r@",
        "o/r#",
        "o/r@a b",
    ],
)
def test_what_is_no_repository_says_why(text: str) -> None:
    assert _refused(text).diagnostic.code == "github-reference-invalid"


@pytest.mark.parametrize(
    "text", ["https://s3cret@github.com/o/r", "https://me:s3cret@github.com/o/r", "s3cret@github.com:o/r"]
)
def test_credentials_are_refused_and_not_repeated(text: str) -> None:
    found = _refused(text).diagnostic
    assert found.code == "github-reference-invalid"
    assert "s3cret" not in repr(found)
    assert "GITHUB_TOKEN" in found.message


@pytest.mark.parametrize(("text", "code"), [
    ("nothing", "source-not-found"), ("dist/pdf.zip", "source-not-found"), ("a.skill", "source-not-found"),
    ("", "source-unrecognised"), ("  ", "source-unrecognised"), ("a\0b/c", "source-unrecognised"),
])  # fmt: skip
def test_what_is_nothing_at_all(text: str, code: str) -> None:
    assert _refused(text).diagnostic.code == code


def test_other_urls_are_told_apart() -> None:
    assert _parse("https://example.com/x") == UrlRef(url="https://example.com/x", host="example.com")
    assert _parse("file:///tmp/a%20b") == LocalRef(path="/tmp/a b")


@pytest.mark.parametrize("name", ["main", "a/b", "v1.0", SHA, "日本", "a@b"])
def test_names_of_refs(name: str) -> None:
    assert is_ref_name(name)


@pytest.mark.parametrize(
    "name", ["", "a..b", ".a", "a/.b", "a.lock/b", "a b", "a~1", "a^", "a:b", "@", "a@{1}", "a/", "-a", "a.", "a\x7f"]
)
def test_names_that_no_ref_has(name: str) -> None:
    assert not is_ref_name(name)


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_has_an_answer(text: str) -> None:
    found = _parse(text)
    if isinstance(found, GitHubRef):
        assert "/" not in found.owner + found.repo
        for segment in (found.owner, found.repo, *found.path.split("/")):
            assert segment not in {".", ".."}


@given(st.text(alphabet="ogithub.cmr/@:#%2Fe.?=\\ -", max_size=40))
@settings(max_examples=300, deadline=None)
def test_no_reference_climbs(text: str) -> None:
    found = _parse("https://github.com/" + text)
    if isinstance(found, GitHubRef):
        every = (
            found.owner,
            found.repo,
            *found.path.split("/"),
            *found.ref.split("/"),
            *"/".join(found.rest).split("/"),
        )
        assert ".." not in every
