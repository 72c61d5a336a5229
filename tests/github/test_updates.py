"""What is newer than what was installed, with few requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from budgets import Budgets
from importer.sources.github import MemoryCache, Recorded, Upstream, check_updates
from tests.github.harness import SKILL, hosted, read, refused, settings_for
from tests.github.server import GitHubServer, GitRepo
from tests.github.server.faults import Fault, status


@pytest.fixture
def repo(server: GitHubServer, tmp_path: Path) -> GitRepo:
    return hosted(server, tmp_path, {"s/a/SKILL.md": SKILL, "s/b/SKILL.md": b"b"})


def _recorded(server: GitHubServer, name: str, text: str = "acme/skills") -> Recorded:
    return Recorded(name=name, resolved=dict(read(server, text, deliver=False).resolved), path=f"s/{name}")


def _check(server: GitHubServer, *items: Recorded, cache: MemoryCache | None = None) -> tuple[Upstream, ...]:
    meter = Budgets.default().meter("github")
    return check_updates(items, settings=settings_for(server, cache=cache), github_meter=meter)


def test_nothing_is_newer(server: GitHubServer, repo: GitRepo) -> None:
    (found,) = _check(server, _recorded(server, "a"))
    assert (found.outdated, found.reason, found.newest_commit) == (False, "current", repo.resolve("main"))


def test_a_newer_commit_counts_where_it_touches_the_folder(server: GitHubServer, repo: GitRepo) -> None:
    items = [_recorded(server, "a"), _recorded(server, "b")]
    old = repo.resolve("main")
    new = repo.commit({"s/a/SKILL.md": b"newer"})
    before = len(server.requests)
    a, b = _check(server, *items)
    assert (a.installed_commit, a.newest_commit, a.outdated, a.reason) == (old, new, True, "commit")
    assert (b.newest_commit, b.outdated, b.reason) == (new, False, "untouched")
    assert len(server.requests) - before == 4


def test_each_follows_its_own_branch(server: GitHubServer, repo: GitRepo) -> None:
    repo.commit({"s/a/SKILL.md": b"dev"}, branch="dev")
    item = _recorded(server, "a", "acme/skills@dev")
    repo.commit({"s/a/SKILL.md": b"main moved"})
    assert not _check(server, item)[0].outdated
    new = repo.commit({"s/a/SKILL.md": b"dev moved"}, branch="dev")
    (found,) = _check(server, item)
    assert (found.outdated, found.newest_commit, found.newest_ref) == (True, new, "dev")


def test_tags_of_one_series(server: GitHubServer, repo: GitRepo) -> None:
    repo.tag("v1.9", "main")
    item = _recorded(server, "a", "acme/skills@v1.9")
    assert _check(server, item)[0].reason == "current"
    new = repo.commit({"s/a/SKILL.md": b"2"})
    for tag in ("v1.10", "v2.0-rc.1", "pdf-v9.0", "nightly", "v1.8"):
        repo.tag(tag, "main")
    (found,) = _check(server, item)
    assert (found.newest_ref, found.newest_commit, found.reason) == ("v1.10", new, "tag")


def test_releases_come_before_tags(server: GitHubServer, repo: GitRepo) -> None:
    repo.tag("v1", "main")
    item = _recorded(server, "a", "acme/skills@v1")
    repo.commit({"s/a/SKILL.md": b"2"})
    repo.tag("v2", "main")
    repo.tag("v3", "main")
    server.repos["acme/skills"].releases.append("v2")
    (found,) = _check(server, item)
    assert (found.newest_ref, found.reason, found.outdated) == ("v2", "release", True)
    server.repos["acme/skills"].releases.append("v1")
    assert _check(server, item)[0].reason == "current"


def test_a_tag_that_moved(server: GitHubServer, repo: GitRepo) -> None:
    repo.tag("v1", "main")
    item = _recorded(server, "a", "acme/skills@v1")
    new = repo.commit({"s/a/SKILL.md": b"2"})
    repo.git("tag", "-f", "v1", new)
    (found,) = _check(server, item)
    assert (found.reason, found.newest_commit, found.outdated) == ("moved-tag", new, True)


def test_a_bare_commit_stays(server: GitHubServer, repo: GitRepo) -> None:
    item = _recorded(server, "a", f"acme/skills#{repo.resolve('main')}")
    repo.commit({"s/a/SKILL.md": b"2"})
    assert _check(server, item)[0].reason == "pinned"


def test_what_is_gone_concerns_its_items_only(server: GitHubServer, repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"s/a/SKILL.md": b"dev"}, branch="dev")
    gone = _recorded(server, "a", "acme/skills@dev")
    repo.git("update-ref", "-d", "refs/heads/dev")
    hosted(server, tmp_path, {"s/x/SKILL.md": SKILL}, "acme/lost")
    lost = _recorded(server, "x", "acme/lost")
    del server.repos["acme/lost"]
    other = Recorded(name="o", resolved={**gone.resolved, "host": "git.example.com"}, path="")
    empty = Recorded(name="e", resolved={"host": gone.resolved["host"]}, path="")
    found = _check(server, gone, lost, _recorded(server, "b"), other, empty)
    codes = [item.diagnostic.code if item.diagnostic else item.reason for item in found]
    assert codes == [
        "github-ref-not-found", "github-not-found", "current", "github-host-unknown", "github-record-incomplete",
    ]  # fmt: skip


def test_a_name_that_was_taken_over(server: GitHubServer, repo: GitRepo, tmp_path: Path) -> None:
    item = _recorded(server, "a")
    server.rename("acme/skills", "acme/moved")
    (moved,) = _check(server, item)
    assert moved.repository == "acme/moved"
    assert moved.renamed is not None
    assert moved.renamed.code == "github-renamed"
    del server.renamed["acme/skills"]
    hosted(server, tmp_path / "evil", {"s/a/SKILL.md": b"evil"})
    server.repos["acme/skills"].id = 4711
    (found,) = _check(server, item)
    assert found.diagnostic is not None
    assert found.diagnostic.code == "github-repository-changed"
    assert refused(server, expect_repository_id=item.resolved["repository_id"]).code == "github-repository-changed"


def test_a_rate_limit_ends_it(server: GitHubServer, repo: GitRepo) -> None:
    from importer.diagnostics import Rejected

    item = _recorded(server, "a")
    server.faults.append(Fault("", status(403, headers={"x-ratelimit-remaining": "0"})))
    with pytest.raises(Rejected) as caught:
        _check(server, item)
    assert caught.value.diagnostics[0].code == "github-rate-limited"


def test_a_second_look_is_free(server: GitHubServer, repo: GitRepo) -> None:
    item = _recorded(server, "a")
    repo.commit({"s/a/SKILL.md": b"2"})
    cache = MemoryCache()
    _check(server, item, cache=cache)
    server.limits.hourly = 100
    _check(server, item, cache=cache)
    assert server.limits.hourly == 100
