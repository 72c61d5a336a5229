"""A repository as a source, through the command line, against a server that speaks GitHub's API over real git."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.archives import write_zip
from tests.builders.packages import below, skill, skill_md
from tests.builders.trees import make_tree
from tests.cli.conftest import Run
from tests.github.server import GitHubServer, GitRepo, faults
from tests.github.server.repos import Exe, Link

REPOSITORY = below("skills/reef", skill("reef")) | below("skills/tide", skill("tide")) | {"README.md": b"# Skills\n"}


def with_modes(files: dict[str, bytes]) -> dict[str, bytes | Exe]:
    """Scripts are executable in the repository."""
    return {path: Exe(data) if path.endswith(".py") else data for path, data in files.items()}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """A repository of two skills."""
    git = GitRepo(tmp_path / "repo.git")
    git.commit(with_modes(REPOSITORY))
    return git


@pytest.fixture
def server(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHubServer]:
    """The API on loopback, named by the environment."""
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with GitHubServer() as running:
        running.add("acme/skills", repo)
        monkeypatch.setenv("GITHUB_API_URL", running.url)
        yield running


def test_the_whole_way_from_a_repository(run: Run, server: GitHubServer, library: Path, repo: GitRepo) -> None:
    """preview, install, show, verify, preview again: pinned to the full commit, executables kept."""
    commit = repo.resolve("main")
    shown = run("preview", "acme/skills", "--json")
    assert shown.status == 0, shown.out + shown.err
    assert shown.json["source"]["kind"] == "github"
    assert shown.json["source"]["resolved"]["commit"] == commit
    assert set(shown.dispositions()) == {"reef", "tide"}
    assert run("install", shown.json["token"], "--json").status == 0
    assert (library / "skills/reef/scripts/count.py").stat().st_mode & 0o100
    (item,) = run("show", "reef", "--json").json["items"]
    assert item["origin"]["resolved"]["commit"] == commit
    assert item["origin"]["resolved"]["repository_id"]
    assert item["path"] == "skills/reef"
    assert run("verify").status == 0
    again = run("preview", "acme/skills", "--json")
    assert {reason for _, reason in again.dispositions().values()} == {"identical"}


def test_one_skill_costs_few_requests(run: Run, server: GitHubServer) -> None:
    """At most five requests besides the files of the skill."""
    shown = run("preview", "acme/skills/skills/reef", "--json")
    assert shown.status == 0, shown.out
    assert list(shown.dispositions()) == ["reef"]
    assert not shown.codes("warning") & {"skill-name-mismatch"}
    assert len(server.paths()) <= 5 + 3
    before = len(server.requests)
    by_name = run("preview", "acme/skills", "--skill", "tide", "--json", "--no-cache")
    assert list(by_name.dispositions()) == ["tide"]
    assert len(server.requests) - before <= 5 + 3
    assert not any("reef" in path for path in server.paths()[before:])


def test_links_elsewhere_cost_a_chosen_skill_nothing(run: Run, server: GitHubServer, repo: GitRepo) -> None:
    """Its own links are followed to wherever they lead; those of the others are not even read, and that is said."""
    others = {f".agent/skills/{n}.md": Link(f"../../skills/reef/{n}") for n in range(30)}
    repo.commit({**others, "skills/tide/LICENSE": Link("../../LICENSE"), "LICENSE": Link("legal/MIT")})
    repo.commit({"legal/MIT": b"MIT\n"})
    shown = run("preview", "acme/skills", "--skill", "tide", "--json")
    assert shown.status == 0, shown.out
    assert len(server.requests) <= 5 + 3 + 3
    assert "github-link-unread" in shown.codes("info")
    assert "link-refused" not in shown.codes()
    (taken,) = [d for d in shown.json["diagnostics"] if d["code"] == "link-copied"]
    assert "legal/MIT" in taken["message"]
    repo.commit({"other/SKILL.md": skill_md("wave"), "other/l.md": Link("../legal/MIT")})
    named = run("preview", "acme/skills", "--skill", "wave", "--json")
    assert named.dispositions() == {"wave": ("install", "new")}
    assert named.json["skills"][0]["files"] == 2


@pytest.mark.parametrize("arguments", [("acme/skills", "--ref", "../x"), ("acme/skills@main/a", "--ref", "v1")])
def test_a_ref_that_is_none_is_a_wrong_use(run: Run, server: GitHubServer, arguments: tuple[str, ...]) -> None:
    """Said as such, before anybody is asked."""
    wrong = run("preview", *arguments, "--json")
    assert wrong.status == 2
    assert wrong.json["code"] == "github-reference-invalid"
    assert server.requests == []


def test_ctrl_c_does_not_wait_for_a_silent_host(server: GitHubServer, library: Path) -> None:
    """The files are fetched in other threads; what was staged goes, and the exit status says that it was stopped."""
    server.faults.append(faults.Fault("/git/blobs/", faults.hang()))
    command = [sys.executable, "-m", "importer", "install", "acme/skills", "--yes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        while not server.count("/git/blobs/"):
            assert child.poll() is None
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=10)  # the read time-out is longer
    assert child.returncode == 130
    assert b"Traceback" not in said
    assert not list(library.rglob("SKILL.md"))


def test_the_same_from_a_folder_a_download_and_a_reference(
    run: Run, server: GitHubServer, repo: GitRepo, tmp_path: Path
) -> None:
    """One repository, three ways, the same digests."""
    folder = make_tree(tmp_path / "checkout", REPOSITORY)
    for script in folder.rglob("*.py"):
        os.chmod(script, 0o755)
    download = tmp_path / "skills-main.zip"
    executable = frozenset(f"skills-main/{path}" for path in REPOSITORY if path.endswith(".py"))
    write_zip(download, below("skills-main", REPOSITORY), executable)
    digests = []
    for source in (folder, download, "acme/skills"):
        report = run("preview", source, "--json").json
        digests.append({s["name"]: (s["digest"], tuple(s["executables"])) for s in report["skills"]})
    assert digests[0] == digests[1] == digests[2]
    assert set(digests[0]) == {"reef", "tide"}
    assert zipfile.is_zipfile(io.BytesIO(download.read_bytes()))


def test_updates_are_previews(run: Run, server: GitHubServer, library: Path, repo: GitRepo) -> None:
    """What nobody edited is a replacement, reason update; what was edited is a conflict; both need what they need."""
    assert run("install", "acme/skills", "--yes").status == 0
    old = repo.resolve("main")
    assert {i["outdated"] for i in run("outdated", "--json").json["items"]} == {False}
    new = repo.commit({"skills/reef/SKILL.md": skill_md("reef", body="# Newer\n")})
    rows = {i["name"]: i for i in run("outdated", "--json").json["items"]}
    assert (rows["reef"]["installed_commit"], rows["reef"]["newest_commit"]) == (old, new)
    assert rows["reef"]["outdated"] is True
    assert rows["tide"]["outdated"] is False
    shown = run("update", "reef", "--json")
    assert shown.status == 4, shown.out
    assert shown.json["schema"] == "importer/preview/1"
    assert shown.dispositions() == {"reef": ("replace", "update")}
    assert run("install", shown.json["token"], "--json").status == 4
    (library / "skills/reef/notes.txt").write_text("mine\n")
    edited = run("update", "reef", "--json")
    assert edited.dispositions() == {"reef": ("conflict", "differs")}
    assert edited.json["skills"][0]["installed"]["extra"] == ["notes.txt"]
    (library / "skills/reef/notes.txt").unlink()
    everything = run("update", "--confirm-overwrite", "--json")
    assert everything.status == 0, everything.out
    done = run("install", everything.json["token"], "--json")
    assert done.status == 0, done.out
    assert (library / "skills/reef/SKILL.md").read_bytes() == skill_md("reef", body="# Newer\n")
    (item,) = run("show", "reef", "--json").json["items"]
    assert item["origin"]["resolved"]["commit"] == new


def test_a_rename_is_reported_by_every_command(run: Run, server: GitHubServer, repo: GitRepo) -> None:
    """The new name is read, and said once."""
    assert run("install", "acme/skills", "--yes").status == 0
    server.rename("acme/skills", "acme/better")
    repo.commit({"skills/reef/SKILL.md": skill_md("reef", body="# Newer\n")})
    for command in ("outdated", "update"):
        said = run(command, "--json")
        assert [d["code"] for d in said.json["diagnostics"]].count("github-renamed") == 1
    assert run("update", "--json").json["source"]["resolved"]["repository"] == "acme/better"


def test_an_update_of_what_is_gone_fails(run: Run, server: GitHubServer, repo: GitRepo) -> None:
    """It is no success to have learnt nothing; what else is newer is previewed all the same."""
    repo.commit({"skills/wave/SKILL.md": skill_md("wave")}, branch="dev")
    assert run("install", "acme/skills@main", "--skill", "reef", "--yes").status == 0
    assert run("install", "acme/skills@dev", "--skill", "wave", "--yes").status == 0
    repo.git("branch", "-D", "dev")
    gone = run("update", "wave", "--json")
    assert gone.status == 1
    assert gone.json["schema"] == "importer/error/1"
    assert gone.codes("error") == {"github-ref-not-found"}
    both = run("update", "reef", "wave", "--json")
    assert both.status == 1
    assert both.dispositions() == {"reef": ("reuse", "identical")}
    assert both.codes("error") == {"github-ref-not-found"}


def test_what_cannot_be_had_installs_nothing(run: Run, server: GitHubServer, library: Path) -> None:
    """A repository that is missing or private, a limit, a file that never comes: each its code, nothing staged."""
    missing = run("preview", "acme/none", "--json")
    assert missing.status in {1, 3}
    assert missing.json["code"] == "github-not-found"
    assert "GITHUB_TOKEN" in missing.json["message"]
    assert not list((library / ".importer").rglob("SKILL.md")) if library.exists() else True


def test_a_file_that_is_gone_fails_its_skill_only(run: Run, server: GitHubServer, repo: GitRepo, library: Path) -> None:
    """Refused with the file named; --keep-going goes on without that skill."""
    broken = below("skills/broken", skill("broken") | {"references/big.md": b"gone\n" * 50})
    repo.commit(with_modes(broken))
    (sha,) = [
        row[2] for row in repo.tree(str(repo.resolve("main")), recursive=True) if row[4].endswith("references/big.md")
    ]
    server.faults.append(faults.Fault(f"/git/blobs/{sha}", faults.status(404)))
    server.faults.append(faults.Fault("/tarball/", faults.status(404)))
    refused = run("preview", "acme/skills", "--json")
    assert refused.status == 3, refused.out
    fault = next(d for d in refused.json["diagnostics"] if d["code"] == "github-incomplete")
    assert "references/big.md" in fault["path"] + fault["message"]
    done = run("install", "acme/skills", "--yes", "--keep-going", "--json")
    assert done.status == 0, done.out
    assert {i["name"] for i in done.json["installed"]} == {"reef", "tide"}
    assert not (library / "skills/broken").exists()


def test_a_large_file_that_is_another_one_fails_its_skill_only(
    run: Run, server: GitHubServer, repo: GitRepo, library: Path
) -> None:
    """It is handed on as it arrives, and turns out to be wrong at its end: the others are whole all the same."""
    repo.commit(with_modes(below("skills/broken", skill("broken") | {"references/big.md": b"large\n" * 300_000})))
    server.faults.append(faults.Fault("/tarball/", faults.status(404)))
    wrong = faults.body(lambda data: data[:-1] + b"!" if len(data) > 1 << 20 else data)
    server.faults.append(faults.Fault("/git/blobs/", wrong))
    shown = run("preview", "acme/skills", "--keep-going", "--json")
    assert shown.status == 0, shown.out
    assert "github-content-mismatch" in shown.codes()
    done = run("install", shown.json["token"], "--json")
    assert done.status == 0, done.out
    assert {i["name"] for i in done.json["installed"]} == {"reef", "tide"}
