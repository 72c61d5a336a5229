"""Reading a repository: what is listed and delivered, pinned to one commit, with few requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from budgets import BudgetExceeded
from importer.model import EntryKind
from tests.github.harness import SKILL, hosted, read, refused
from tests.github.server import Exe, GitHubServer, GitRepo, Link, Submodule
from tests.github.server.faults import Fault, body, status, without
from tests.github.server.repos import Files

FILES: Files = {
    "README.md": b"read me\n",
    "skills/pdf/SKILL.md": SKILL,
    "skills/pdf/scripts/run.sh": Exe(b"#!/bin/sh\n"),
    "skills/pdf/empty.txt": b"",
    "skills/xls/SKILL.md": SKILL,
    "docs/ümlaut.md": b"u\n",
}


def test_a_whole_repository(server: GitHubServer, tmp_path: Path) -> None:
    repo = hosted(server, tmp_path, FILES)
    got = read(server)
    assert got.files == {path: data.data if isinstance(data, Exe) else data for path, data in FILES.items()}
    assert got.rows["skills/pdf/scripts/run.sh"].executable is True
    assert got.rows["README.md"].executable is False
    assert got.rows["skills/pdf"].kind is EntryKind.DIRECTORY
    assert got.resolved == {
        "host": server.url.removeprefix("http://"),
        "repository": "acme/skills",
        "repository_id": "1000",
        "ref": "main",
        "commit": repo.resolve("main"),
        "path": "",
    }
    assert got.container.folder == ""


def test_one_skill_costs_its_files_and_three_requests(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, FILES)
    got = read(server, "acme/skills/skills/pdf")
    assert sorted(got.files) == ["SKILL.md", "empty.txt", "scripts/run.sh"]
    assert got.requests == 3 + 3
    assert got.container.folder == "pdf"
    assert got.resolved["path"] == "skills/pdf"
    assert got.usage["archive_bytes"] == sum(map(len, got.files.values())) == got.charged


@pytest.mark.parametrize("text", ["acme/skills@main/skills/pdf/SKILL.md", "acme/skills:skills/pdf/SKILL.md"])
def test_a_skill_document_means_its_folder(server: GitHubServer, tmp_path: Path, text: str) -> None:
    hosted(server, tmp_path, FILES)
    got = read(server, text)
    assert "scripts/run.sh" in got.files
    assert got.resolved["path"] == "skills/pdf"


def test_a_skill_document_that_is_not_there(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, FILES)
    assert refused(server, "acme/skills/skills/SKILL.md").code == "github-path-not-found"
    assert refused(server, "acme/skills/SKILL.md").code == "github-path-not-found"


def test_a_link_that_cannot_be_read_is_a_fault_of_that_link(server: GitHubServer, tmp_path: Path) -> None:
    repo = hosted(server, tmp_path, {"s/SKILL.md": SKILL, "s/l": Link("SKILL.md"), "t/SKILL.md": SKILL})
    sha = repo.git("rev-parse", "main:s/l").decode().strip()
    for action, code in ((status(404), "github-incomplete"), (status(500), "github-server-error")):
        server.faults[:] = [Fault(f"blobs/{sha}", action)]
        got = read(server)
        assert set(got.files) == {"s/SKILL.md", "t/SKILL.md"}
        row = got.rows["s/l"]
        assert row.fault is not None
        assert (row.fault.code, row.fault.path) == (code, "s/l")


def test_another_file_is_that_file(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {**FILES, "dist/pdf.skill": b"PK.."})
    assert read(server, "acme/skills/dist/pdf.skill").files == {"pdf.skill": b"PK.."}


def test_base64_answers_give_the_same_bytes(server: GitHubServer, tmp_path: Path) -> None:
    files = {f"{n}.bin": bytes(range(256)) * (n * 7) + b"x" * n for n in range(12)}
    files["large.bin"] = bytes(range(256)) * 12_000
    hosted(server, tmp_path, files)
    server.limits.base64_only = True
    assert read(server).files == files
    server.faults.append(Fault("blobs/", without("content-type")))
    assert read(server).files == files


def test_a_file_that_looks_like_an_answer_is_a_file(server: GitHubServer, tmp_path: Path) -> None:
    files = {"a.json": b'{"sha": "x", "content": "aGk=", "encoding": "base64"}'}
    hosted(server, tmp_path, files)
    server.faults.append(Fault("blobs/", without("content-type")))
    assert read(server).files == files


def test_a_listing_that_says_nothing_of_being_cut_is_whole(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, FILES)
    server.faults.append(Fault("trees/", body(lambda data: data.replace(b', "truncated": false', b""))))
    assert "skills/pdf/SKILL.md" in read(server).files


def test_a_repository_with_sha256_objects(server: GitHubServer, tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "r", sha256=True)
    commit = repo.commit(FILES)
    server.add("acme/skills", repo)
    got = read(server, "acme/skills/skills/pdf")
    assert got.files["SKILL.md"] == SKILL
    assert got.resolved["commit"] == commit
    assert len(commit) == 64


def test_equal_files_are_fetched_once(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {f"s{n}/SKILL.md": SKILL for n in range(9)})
    got = read(server)
    assert len(got.files) == 9
    assert server.count("git/blobs") == 1


def test_what_is_pinned_does_not_move(server: GitHubServer, tmp_path: Path) -> None:
    """A push between the listing and the files changes nothing."""
    repo = hosted(server, tmp_path, {"SKILL.md": SKILL})
    from tests.github.server.faults import Fault, Reply

    def push(_handler: object, _reply: Reply) -> bool:
        repo.commit({"SKILL.md": b"other", "new.md": b"n"})
        return False

    server.faults.append(Fault("recursive", push, times=1))
    assert read(server).files == {"SKILL.md": SKILL}


# --- links, submodules -----------------------------------------------------------------------------------------------


def test_links_and_submodules_are_seen(server: GitHubServer, tmp_path: Path) -> None:
    hosted(
        server,
        tmp_path,
        {
            "LICENSE": b"MIT\n",
            "s/SKILL.md": SKILL,
            "s/inside": Link("SKILL.md"),
            "s/LICENSE": Link("../LICENSE"),
            "s/chain": Link("../hop"),
            "hop": Link("LICENSE"),
            "s/folder": Link("../other"),
            "other/x": b"x",
            "s/outside": Link("../../etc/passwd"),
            "s/absolute": Link("/etc/passwd"),
            "s/dangling": Link("../nothing"),
            "s/sub": Submodule(),
        },
    )
    got = read(server, "acme/skills/s")
    rows = got.rows
    assert got.files == {"SKILL.md": SKILL, "LICENSE": b"MIT\n", "chain": b"MIT\n"}
    assert (rows["inside"].kind, rows["inside"].link_target) == (EntryKind.SYMLINK, "SKILL.md")
    for name in ("folder", "outside", "absolute", "dangling"):
        assert rows[name].kind is EntryKind.SYMLINK, name
    assert (rows["sub"].kind, rows["sub"].special) == (EntryKind.SPECIAL, "submodule")
    assert got.notes == ["link-copied", "link-copied"]


def test_a_path_through_a_link_is_followed(server: GitHubServer, tmp_path: Path) -> None:
    hosted(
        server, tmp_path, {"real/s/SKILL.md": SKILL, "alias": Link("real"), "one": Link("real/s"), "up": Link("../x")}
    )
    assert read(server, "acme/skills/alias/s").resolved["path"] == "real/s"
    assert read(server, "acme/skills/one").files == {"SKILL.md": SKILL}
    assert refused(server, "acme/skills/up").code == "link-refused"


def test_a_submodule_as_the_source_is_named(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"x": b"", "sub": Submodule()})
    assert refused(server, "acme/skills/sub").code == "github-submodule"
    assert refused(server, "acme/skills/sub/deeper").code == "github-submodule"


def test_a_path_that_is_not_there_has_suggestions(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, FILES)
    found = refused(server, "acme/skills/skills/pfd")
    assert found.code == "github-path-not-found"
    assert "skills/pdf" in found.message


def test_a_path_in_another_normal_form_is_found(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"skills/e\u0301t\u00e9/SKILL.md": SKILL})
    assert read(server, "acme/skills/skills/\u00e9t\u00e9").files == {"SKILL.md": SKILL}


def test_a_link_to_a_skill_document_means_its_folder(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {**FILES, "docs/pdf.md": Link("../skills/pdf/SKILL.md")})
    got = read(server, "acme/skills/docs/pdf.md")
    assert sorted(got.files) == ["SKILL.md", "empty.txt", "scripts/run.sh"]
    assert got.resolved["path"] == "skills/pdf"


# --- truncated listings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 5, 13])
def test_a_listing_that_is_cut_is_walked(server: GitHubServer, tmp_path: Path, cut: int) -> None:
    files = {f"{a}/{b}/{c}.md": f"{a}{b}{c}".encode() for a in "abc" for b in "de" for c in "fgh"} | {"top": b"t"}
    hosted(server, tmp_path, files)
    server.limits.tree_entries = cut
    got = read(server)
    assert got.files == files
    assert got.notes == ["github-listing-walked"]
    assert sorted(row.name for row in got.listed) == sorted(
        {*files, *"abc", *(f"{a}/{b}" for a in "abc" for b in "de")}
    )


def test_a_cut_listing_below_a_path_is_not_walked_elsewhere(server: GitHubServer, tmp_path: Path) -> None:
    files = {f"{a}/{b}/{c}.md": f"{a}{b}{c}".encode() for a in "abc" for b in "de" for c in "fgh"}
    hosted(server, tmp_path, {**files, "b/e/LICENSE": Link("../../a/d/f.md")})
    server.limits.tree_entries = 5
    got = read(server, "acme/skills/b/e")
    assert got.files == {"f.md": b"bef", "g.md": b"beg", "h.md": b"beh", "LICENSE": b"adf"}
    assert server.count("git/trees") == 5  # the cut one, which names a/d; the top and b; all of b/e; for the link a/d


def test_a_folder_that_is_cut_itself_is_refused(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"a/1": b"1", "a/2": b"2"})
    server.limits.tree_entries = 1
    server.faults.append(
        Fault("trees/[0-9a-f]+$", body(lambda data: data.replace(b'"truncated": false', b'"truncated": true')))
    )
    assert refused(server).code == "github-listing-truncated"


# --- budgets ---------------------------------------------------------------------------------------------------------


def test_entries_are_charged_for_the_folder_asked_for_only(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {f"many/{n}": b"" for n in range(50)} | {"s/SKILL.md": SKILL, "s/a": b"a"})
    assert read(server, "acme/skills/s", budgets=[("bundle", "entries", 2)]).usage["entries"] == 2
    with pytest.raises(BudgetExceeded) as caught:
        read(server, "acme/skills/s", budgets=[("bundle", "entries", 1)])
    assert (caught.value.limit, caught.value.used) == ("entries", 2)


def test_bytes_are_refused_before_a_byte_is_fetched(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"a": b"x" * 600, "b": b"y" * 400})
    assert len(read(server, budgets=[("bundle", "bytes", 1000)]).files) == 2
    blobs = server.count("git/blobs")
    with pytest.raises(BudgetExceeded) as caught:
        read(server, budgets=[("bundle", "bytes", 999)])
    assert (caught.value.limit, caught.value.used, caught.value.max) == ("bytes", 1000, 999)
    assert server.count("git/blobs") == blobs


def test_downloads_are_charged(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"a": b"x" * 600, "b": b"y" * 400})
    assert read(server, budgets=[("bundle", "archive_bytes", 1000)]).usage["archive_bytes"] == 1000
    with pytest.raises(BudgetExceeded) as caught:
        read(server, budgets=[("bundle", "archive_bytes", 999)])
    assert caught.value.limit == "archive_bytes"


def test_requests_are_charged_before_they_are_made(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"a": b"1", "b": b"2", "c": b"3"})
    server.limits.hourly = 1000
    assert read(server, budgets=[("github", "requests", 6)]).requests == 6
    with pytest.raises(BudgetExceeded) as caught:
        read(server, budgets=[("github", "requests", 2)])
    assert caught.value.limit == "requests"
