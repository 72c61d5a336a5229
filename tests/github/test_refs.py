"""Which commit a reference means: the longest ref wins, the default branch is asked, and few requests are needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.github.harness import SKILL, read, refused
from tests.github.server import GitHubServer, GitRepo

DEEP = "a/b/c/d/e"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """`main`, branches with slashes, and tags that share their names' beginnings."""
    repo = GitRepo(tmp_path_factory.mktemp("git") / "r")
    first = repo.commit({"f.md": b"main", f"{DEEP}/SKILL.md": SKILL})
    repo.commit({"f.md": b"feature", f"{DEEP}/SKILL.md": SKILL}, branch="feature/x")
    repo.commit({"f.md": b"master", "skills/SKILL.md": SKILL}, branch="master")
    repo.commit({"f.md": b"tagged", "c/SKILL.md": SKILL}, branch="other")
    repo.tag("main/a/b", "other")
    repo.tag("v1.0", first)
    repo.tag("v2.0", "other", annotated=True)
    repo.tag("same", "other")
    repo.commit({"f.md": b"same branch"}, branch="same")
    return repo


@pytest.fixture(autouse=True)
def _repo(server: GitHubServer, made: GitRepo) -> None:
    server.add("acme/skills", made)


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize(
    ("text", "ref", "path"),
    [
        ("acme/skills", "main", ""),
        ("acme/skills@feature/x", "feature/x", ""),
        (f"acme/skills@feature/x/{DEEP}", "feature/x", DEEP),
        ("acme/skills@main/a/b/c", "main/a/b", "c"),
        (f"acme/skills@v1.0/{DEEP}", "v1.0", DEEP),
        (f"acme/skills@v1.0:{DEEP}", "v1.0", DEEP),
        ("acme/skills@v2.0/c", "v2.0", "c"),
        ("acme/skills#feature/x", "feature/x", ""),
        ("acme/skills@master/skills/SKILL.md", "master", "skills"),
    ],
)
def test_refs_with_slashes(server: GitHubServer, text: str, ref: str, path: str, listed: bool) -> None:
    server.limits.list_refs = listed
    got = read(server, text, deliver=False)
    assert (got.resolved["ref"], got.resolved["path"]) == (ref, path)
    assert got.requests <= 5 or not listed


def test_a_deep_path_costs_five_requests_at_most(server: GitHubServer) -> None:
    assert read(server, f"acme/skills@feature/x/{DEEP}", deliver=False).requests == 4
    assert read(server, "acme/skills@v2.0/c", deliver=False).requests == 4


def test_a_path_that_no_ref_can_have_is_no_ref(server: GitHubServer, made: GitRepo) -> None:
    made.commit({".claude/skills/x/SKILL.md": SKILL}, branch="dots")
    got = read(server, "acme/skills@dots/.claude/skills/x", deliver=False)
    assert got.requests == 3


def test_the_default_branch_is_asked(server: GitHubServer) -> None:
    server.repos["acme/skills"].default_branch = "master"
    got = read(server, only="f.md")
    assert (got.resolved["ref"], got.files) == ("master", {"f.md": b"master"})


def test_a_commit_is_a_ref(server: GitHubServer, made: GitRepo) -> None:
    commit = made.resolve("feature/x")
    assert commit
    for tail in (f"#{commit}", f"@{commit}", f"@{commit}/{DEEP}", f"@{commit[:10]}"):
        assert read(server, f"acme/skills{tail}", deliver=False).resolved["commit"] == commit


def test_ref_type_settles_a_branch_and_a_tag_of_one_name(server: GitHubServer, made: GitRepo) -> None:
    url = server.url + "/acme/skills/tree/same"
    assert read(server, url + "?ref_type=heads", deliver=False).resolved["commit"] == made.resolve("heads/same")
    assert read(server, url + "?ref_type=tags", deliver=False).resolved["commit"] == made.resolve("tags/same")


def test_the_option_settles_it(server: GitHubServer) -> None:
    got = read(server, "acme/skills@main/a/b/c/d/e", ref="main", deliver=False)
    assert (got.resolved["ref"], got.resolved["path"]) == ("main", DEEP)
    assert read(server, f"acme/skills/{DEEP}", ref="feature/x", deliver=False).resolved["ref"] == "feature/x"
    assert read(server, "acme/skills@feature/x", ref="feature/x", deliver=False).resolved["path"] == ""
    for text, ref in (("acme/skills@main/a", "v1.0"), ("acme/skills#main", "v1.0"), ("acme/skills", "a..b")):
        assert refused(server, text, ref=ref).code == "github-reference-invalid"


@pytest.mark.parametrize("text", ["acme/skills@nothing", "acme/skills@no/a/b/c/d", "acme/skills#" + "0" * 40])
def test_a_ref_that_is_not_there(server: GitHubServer, text: str) -> None:
    found = refused(server, text)
    assert found.code == "github-ref-not-found"
    assert "main" in found.message


def test_refs_come_in_pages(server: GitHubServer, tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "r")
    commit = repo.commit({f"{DEEP}/SKILL.md": SKILL}, branch="main")
    refs = "".join(f"create refs/heads/many{n:03}x {commit}\n" for n in range(150))
    repo.git("update-ref", "--stdin", stdin=f"{refs}create refs/heads/many999/z {commit}\n".encode())
    server.add("acme/many", repo)
    got = read(server, f"acme/many@many999/z/{DEEP}", deliver=False)
    assert got.resolved["ref"] == "many999/z"
    server.limits.list_refs = True
    assert refused(server, f"acme/many@many/{DEEP}").code == "github-ref-not-found"


def test_owner_and_repository_are_encoded(server: GitHubServer) -> None:
    refused(server, "acme/skills@a%2fb")
    assert all("%252f" in path or "@" not in path for path in server.paths())
