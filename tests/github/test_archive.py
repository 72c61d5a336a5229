"""The archive of a commit against its blobs: the same bytes, with fewer requests, read no further than needed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from budgets import BudgetExceeded
from importer.extract.tar_stream import stream_tar_gz
from importer.sources.github import delivery
from tests.github.harness import SKILL, Receiver, admitted, hosted, prices, read, reference, refused, settings_for
from tests.github.server import Exe, GitHubServer, Link
from tests.github.server.faults import Fault, cut, html, status
from tests.github.server.repos import Files

FILES: Files = {
    "a/SKILL.md": SKILL,
    "a/run.sh": Exe(b"#!/bin/sh\n"),
    "a/empty": b"",
    "a/copy.md": SKILL,
    "b/SKILL.md": b"b",
    "ü/日本.md": b"j",
    "large.bin": bytes(range(256)) * 6000,
}
PLAIN = {path: data.data if isinstance(data, Exe) else data for path, data in FILES.items()}


@pytest.fixture(autouse=True)
def _cheap_archive(monkeypatch: pytest.MonkeyPatch, _surroundings: None) -> None:
    prices(monkeypatch, "archive")


def test_both_ways_give_the_same(server: GitHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosted(server, tmp_path, FILES)
    by_archive = read(server)
    assert by_archive.requests == 3 + 2
    assert server.count("git/blobs") == 0
    prices(monkeypatch, "blobs")
    by_blobs = read(server)
    assert by_archive.files == by_blobs.files == PLAIN
    assert by_archive.listed == by_blobs.listed
    assert server.count("legacy.tar.gz") == 1


def test_attributes_do_not_change_what_is_delivered(server: GitHubServer, tmp_path: Path) -> None:
    """The archive leaves one file out, substitutes in another and converts the line ends of a third: the blobs win."""
    files: Files = {
        ".gitattributes": b"hidden.md export-ignore\nsub.md export-subst\ndos.md text eol=crlf\n",
        "dos.md": b"one\ntwo\n",
        "hidden.md": b"hidden\n",
        "sub.md": b"commit $Format:%H$\n",
        "plain.md": b"plain\n",
        "large.bin": bytes(range(256)) * 6000,
    }
    hosted(server, tmp_path, files)
    assert read(server).files == files
    assert server.count("legacy.tar.gz") == 1
    assert server.count("git/blobs") == 4


def test_it_is_read_no_further_than_needed(server: GitHubServer, tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(4_000_000)
    hosted(server, tmp_path, {"a/SKILL.md": SKILL, "a/1": b"1", "a/2": b"2", "z.bin": noise})
    got = read(server, "acme/skills/a")
    assert len(got.files) == 3
    assert got.usage["archive_bytes"] < 1_000_000
    assert got.usage["stream_bytes"] < 300_000


def test_the_cheaper_way_is_chosen(server: GitHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    noise = random.Random(1).randbytes(3_000_000)
    many = {f"many/{n}.md": b"%d\n" % n for n in range(60)}
    hosted(server, tmp_path, {**many, "noise.bin": noise, "z/SKILL.md": SKILL, "z/1": b"1", "z/2": b"2"})
    small = read(server, "acme/skills/z")
    assert (small.requests, server.count("legacy")) == (3 + 3, 0)
    whole = read(server, "acme/skills/many")
    assert (whole.requests, server.count("legacy")) == (3 + 2, 1)
    assert len(whole.files) == 60


def test_a_scarce_rate_limit_decides(server: GitHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """200 files and 60 requests an hour: the archive, not 52 of them."""
    prices(monkeypatch, "blobs")
    files = {f"s/{n}.md": b"%d\n" % n for n in range(213)}
    hosted(server, tmp_path, files)
    server.limits.hourly = 60
    got = read(server)
    assert got.files == files
    assert got.requests == 5


def test_more_files_than_requests_are_had_from_the_archive(
    server: GitHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices(monkeypatch, "blobs")
    hosted(server, tmp_path, {f"s/{n}.md": b"%d\n" % n for n in range(40)})
    assert len(read(server, budgets=[("github", "requests", 20)]).files) == 40
    server.faults.append(Fault("tarball", status(404)))
    blobs = server.count("git/blobs")
    assert refused(server, budgets=[("github", "requests", 20)]).code == "github-not-found"
    assert server.count("git/blobs") == blobs


def test_too_few_requests_are_seen_before_a_file_is_fetched(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"a": b"a", "b": b"b", "c": b"c"})
    with pytest.raises(BudgetExceeded) as caught:
        read(server, budgets=[("github", "requests", 4)])
    assert (caught.value.limit, caught.value.used, caught.value.max) == ("requests", 6, 4)
    assert len(server.requests) == 3


def test_a_web_page_for_an_archive_is_called_that(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {f"s/{n}.md": b"%d\n" % n for n in range(40)})
    server.faults.append(Fault("legacy", html()))
    assert refused(server, budgets=[("github", "requests", 20)]).code == "github-bad-answer"


def test_links_are_read_from_it(server: GitHubServer, tmp_path: Path) -> None:
    hosted(server, tmp_path, {"SKILL.md": SKILL} | {f"l{n}": Link(f"x{n}/SKILL.md") for n in range(30)})
    got = read(server, deliver=False)
    assert [got.rows[f"l{n}"].link_target for n in range(30)] == [f"x{n}/SKILL.md" for n in range(30)]
    assert got.requests == 5


@pytest.mark.parametrize(
    "fault",
    [
        Fault("tarball", status(404)),
        Fault("legacy", status(403)),
        Fault("legacy", html()),
        Fault("legacy", status(502)),
    ],
    ids=["404", "403", "html", "502"],
)
def test_blobs_stand_in_for_an_archive_that_cannot_be_had(server: GitHubServer, tmp_path: Path, fault: Fault) -> None:
    hosted(server, tmp_path, FILES)
    fault.hits = 0
    server.faults.append(fault)
    assert read(server).files == PLAIN
    assert server.count("git/blobs") == 6


def test_an_archive_that_breaks_off_is_read_again(server: GitHubServer, tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(3_000_000)
    files = {"a": b"a", "b": noise, "c": noise[::-1], "d": b"d"}
    hosted(server, tmp_path, files)
    server.faults.append(Fault("legacy", cut(2_000_000), times=1))
    got = read(server)
    assert got.files == files
    assert server.count("legacy") == 2
    assert server.count("git/blobs") == 0


def test_it_is_held_to_the_byte_budgets(server: GitHubServer, tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(500_000)
    hosted(server, tmp_path, {"a": noise, "b": b"b" * 3_000_000, "c": b"c"})
    for limit, value in (("archive_bytes", 400_000), ("stream_bytes", 3_000_000)):
        with pytest.raises(BudgetExceeded) as caught:
            read(server, budgets=[("bundle", limit, value)])
        assert caught.value.limit == limit


def test_a_hint_saves_the_second_pass(server: GitHubServer, tmp_path: Path) -> None:
    from budgets import Budgets
    from importer.sources.github import open_github

    files = {f"s{n}/{name}": b"%d %s" % (n, name.encode()) for n in range(40) for name in ("SKILL.md", "a.md")}
    hosted(server, tmp_path, files)
    made = Budgets.default()
    container = open_github(
        reference("acme/skills", server),
        settings=settings_for(server),
        github_meter=made.meter("github"),
        bundle_meter=made.meter("bundle"),
        open_tar=stream_tar_gz,
    )
    entries = admitted(container.list(lambda n, path: None))
    documents = [entry for entry in entries if entry.path.name == "SKILL.md"]
    rest = [entry for entry in entries if entry.path.name != "SKILL.md"]
    receiver = Receiver()
    container.hint(rest)
    container.deliver(documents, receiver, lambda n, path: None)
    assert len(receiver.files) == 40
    container.deliver(rest, receiver, lambda n, path: None)
    container.close()
    assert receiver.files == files
    assert len(server.requests) == 5


def test_prices_are_what_the_tests_think() -> None:
    assert delivery.REQUEST_COST == 1 << 40
