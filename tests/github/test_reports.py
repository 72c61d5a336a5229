"""What people reported of other importers, each as a test of what is right here."""

from __future__ import annotations

from pathlib import Path

import pytest

from budgets import Budgets
from importer.model import EntryKind
from importer.sources.github import Recorded, check_updates
from importer.sources.reference import GitHubRef, Refused, parse_source
from tests.github.harness import SKILL, Receiver, admitted, hosted, read, reference, refused, settings_for
from tests.github.server import GitHubServer, Link, Submodule
from tests.github.server.faults import Fault, hang, status
from tests.github.server.repos import Files


def test_a_branch_with_slashes_in_a_web_address(server: GitHubServer, tmp_path: Path) -> None:
    """ "Remote branch copilot not found": the branch was copilot/scaffold-repo."""
    repo = hosted(server, tmp_path, {"x": b"x"})
    commit = repo.commit({"s/SKILL.md": SKILL}, branch="copilot/scaffold-repo")
    for tail in ("copilot/scaffold-repo/s", "copilot/scaffold-repo/s?ref_type=heads", "copilot%2Fscaffold-repo/s"):
        got = read(server, f"{server.url}/acme/skills/tree/{tail}")
        assert (got.resolved["commit"], got.resolved["path"]) == (commit, "s")
    assert read(server, "acme/skills/s", ref="copilot/scaffold-repo").resolved["commit"] == commit


def test_the_default_branch_beside_a_stale_main(server: GitHubServer, tmp_path: Path) -> None:
    repo = hosted(server, tmp_path, {"SKILL.md": b"stale"})
    repo.commit({"SKILL.md": SKILL}, branch="master")
    server.repos["acme/skills"].default_branch = "master"
    got = read(server)
    assert (got.files, got.resolved["ref"]) == ({"SKILL.md": SKILL}, "master")


def test_an_update_stays_on_its_branch(server: GitHubServer, tmp_path: Path) -> None:
    """A skill from `dev` was replaced by the one of `main`."""
    repo = hosted(server, tmp_path, {"s/SKILL.md": b"main"})
    repo.commit({"s/SKILL.md": b"dev"}, branch="dev")
    items = [
        Recorded(name=ref, resolved=dict(read(server, f"acme/skills@{ref}", deliver=False).resolved), path="s")
        for ref in ("dev", "main")
    ]
    newer = repo.commit({"s/SKILL.md": b"main 2"})
    dev, main = check_updates(items, settings=settings_for(server), github_meter=Budgets.default().meter("github"))
    assert (dev.outdated, dev.newest_ref) == (False, "dev")
    assert (main.outdated, main.newest_commit) == (True, newer)


def test_a_commit_as_the_ref(server: GitHubServer, tmp_path: Path) -> None:
    repo = hosted(server, tmp_path, {"SKILL.md": b"old"})
    old = repo.resolve("main")
    repo.commit({"SKILL.md": b"new"})
    got = read(server, f"acme/skills#{old}")
    assert (got.files, got.resolved["commit"]) == ({"SKILL.md": b"old"}, old)


def test_a_rate_limit_half_way_is_no_success(server: GitHubServer, tmp_path: Path) -> None:
    """ "Success" with 52 of 213 files, and subfolders that were silently absent."""
    hosted(server, tmp_path, {f"s/{n}.md": b"%d" % n for n in range(213)})
    limited = status(403, "API rate limit exceeded", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "4102444800"})
    server.faults.append(Fault("blobs/", limited, skip=52))
    found = refused(server)
    assert found.code == "github-rate-limited"
    assert "GITHUB_TOKEN" in found.message
    assert str(found.facts["reset"]).startswith("20")


def test_one_folder_that_cannot_be_listed_is_a_failure(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {f"{a}/{b}.md": b"x" for a in "abc" for b in "def"})
    server.limits.tree_entries = 4
    server.faults.append(Fault("trees/[0-9a-f]+$|recursive", status(404), skip=3))
    assert refused(server).code == "github-not-found"


def test_a_misspelt_repository_asks_for_no_password(server: GitHubServer) -> None:
    found = refused(server, "acme/skils")
    assert found.code == "github-not-found"
    assert "private" in found.message


def test_a_host_that_never_answers_is_no_matter_of_passwords(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"SKILL.md": SKILL})
    server.faults.append(Fault("", hang()))
    found = refused(server, settings=settings_for(server, read_timeout=0.1))
    assert found.code == "github-timeout"
    assert len(server.requests) <= 4


def test_a_submodule_is_seen(server: GitHubServer, tmp_path: Path) -> None:
    """ "No skills found": the folders were submodules."""
    hosted(server, tmp_path, {"skills/a": Submodule(), "README.md": b"r"})
    row = read(server).rows["skills/a"]
    assert (row.kind, row.special) == (EntryKind.SPECIAL, "submodule")


def test_a_pointer_of_lfs_is_delivered_as_what_it_is(server: GitHubServer, tmp_path: Path) -> None:
    """Its text tells it apart; what looks at staged files says so. The archive of the commit has the same text."""
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n"
    hosted(server, tmp_path, {".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n", "a.bin": pointer})
    assert read(server).files["a.bin"] == pointer


def test_ssh_references_are_read_or_explained(server: GitHubServer) -> None:
    def parsed(text: str) -> GitHubRef | str:
        found = parse_source(text, exists=lambda _: False, hosts={"git.example.com"})
        return found if isinstance(found, GitHubRef) else found.diagnostic.code if isinstance(found, Refused) else ""

    branch = parsed("git@github.com:o/r/tree/b")
    assert isinstance(branch, GitHubRef)
    assert (branch.owner, branch.repo, branch.rest) == ("o", "r", ("b",))
    port = parsed("ssh://git@git.example.com:10022/o/r.git")
    assert isinstance(port, GitHubRef)
    assert port.host == "git.example.com"
    assert parsed("git@nowhere.example:o/r") == "github-reference-invalid"


def test_a_renamed_repository_is_recorded_by_its_id_and_new_name(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"SKILL.md": SKILL})
    server.rename("acme/skills", "other/better")
    got = read(server)
    assert (got.resolved["repository"], got.resolved["repository_id"]) == ("other/better", "1000")
    assert got.notes == ["github-renamed"]


def test_a_file_elsewhere_that_windows_cannot_store_is_not_even_listed(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"icons/devicon:react.svg": b"x", "trail:of.md": b"y", "s/SKILL.md": SKILL})
    got = read(server, "acme/skills/s")
    assert [row.name for row in got.listed] == ["SKILL.md"]
    assert {"icons/devicon:react.svg", "trail:of.md"} <= set(read(server, deliver=False).rows)


def test_a_long_path_is_listed_for_the_gate_to_judge(server: GitHubServer, tmp_path: Path) -> None:
    long = "/".join(["x" * 90] * 4) + "/f"
    hosted(server, tmp_path, {long: b"f", "SKILL.md": SKILL})
    assert read(server).files[long] == b"f"


def test_a_skill_at_the_top_comes_with_all_its_files(server: GitHubServer, tmp_path: Path) -> None:
    files: Files = {"SKILL.md": SKILL, **{f"references/{n}.md": b"%d" % n for n in range(62)}}
    hosted(server, tmp_path, files)
    got = read(server)
    assert got.files == files
    assert got.container.folder == ""


def test_mirrors_of_one_skill_are_fetched_once(server: GitHubServer, tmp_path: Path) -> None:
    places = ("skills/demo", "examples/demo", ".well-known/skills/demo")
    hosted(server, tmp_path, {f"{place}/SKILL.md": SKILL for place in places})
    got = read(server)
    assert len(got.files) == 3
    assert server.count("git/blobs") == 1


def test_names_that_look_like_climbing_stay_inside(server: GitHubServer, tmp_path: Path) -> None:
    """Folders are compared as paths, not as text: `skills/pdf-extra` is not in `skills/pdf`."""
    hosted(
        server, tmp_path, {"s/pdf/SKILL.md": SKILL, "s/pdf-extra/x.md": b"x", "s/pdf.md": b"y", "s/l": Link("pdf.md")}
    )
    assert list(read(server, "acme/skills/s/pdf").files) == ["SKILL.md"]


def test_two_skills_of_one_repository_stand_alone(server: GitHubServer, tmp_path: Path) -> None:
    """One missing file refuses its skill and no other; the next delivery starts afresh."""
    repo = hosted(server, tmp_path, {"a/SKILL.md": b"a", "a/x": b"ax", "b/SKILL.md": b"b"})
    sha = repo.git("rev-parse", "main:a/x").decode().strip()
    server.faults.append(Fault(f"blobs/{sha}", status(404), times=1))
    made = Budgets.default()
    from importer.extract.tar_stream import stream_tar_gz
    from importer.sources.github import open_github

    container = open_github(
        reference("acme/skills", server),
        settings=settings_for(server),
        github_meter=made.meter("github"),
        bundle_meter=made.meter("bundle"),
        open_tar=stream_tar_gz,
    )
    entries = admitted(container.list(lambda n, path: None))
    first, second = Receiver(), Receiver()
    container.deliver(entries, first, lambda n, path: None)
    assert {path: found.code for path, found in container.failures.items()} == {"a/x": "github-incomplete"}
    assert set(first.files) == {"a/SKILL.md", "b/SKILL.md"}
    container.deliver([entry for entry in entries if entry.path.text == "a/x"], second, lambda n, path: None)
    assert container.failures == {}
    assert second.files == {"a/x": b"ax"}
    container.close()


@pytest.mark.parametrize("way", ["blobs", "archive"])
def test_progress_adds_up(server: GitHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    from importer.extract.tar_stream import stream_tar_gz
    from importer.sources.github import open_github
    from tests.github.harness import prices

    class Seen:
        def __init__(self) -> None:
            self.expected = (0, 0)
            self.rows: list[tuple[int, int]] = []

        def expect(self, files: int, size: int, /) -> None:
            self.expected = (files, size)

        def advance(self, files: int, size: int, /) -> None:
            self.rows.append((files, size))

    prices(monkeypatch, way)
    hosted(server, tmp_path, {"a": b"a" * 3_000_000, "b": b"b", "c": b"", "d": b"b"})
    seen, made = Seen(), Budgets.default()
    container = open_github(
        reference("acme/skills", server),
        settings=settings_for(server),
        github_meter=made.meter("github"),
        bundle_meter=made.meter("bundle"),
        open_tar=stream_tar_gz,
        progress=seen,
    )
    container.deliver(admitted(container.list(lambda n, path: None)), Receiver(), lambda n, path: None)
    container.close()
    assert seen.expected == (4, 3_000_002)
    assert (sum(row[0] for row in seen.rows), sum(row[1] for row in seen.rows)) == seen.expected
    assert len(seen.rows) > 5
