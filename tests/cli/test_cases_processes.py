"""What only a process of its own can show: memory that stays flat, and bytes that no surrounding changes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from importer import Request, Session, Settings, preview
from tests.builders.archives import zip_bytes
from tests.builders.packages import below, skill, skill_md, specialist
from tests.builders.trees import Run, make_tree
from tests.builders.zips import DEFLATED, Item, archive, deflate
from tests.cli.child import MEASURED, Ended, child
from tests.cli.conftest import run_importer

MIB = 1 << 20
PEAK = 96 * MIB
measures = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured where /proc is")


@pytest.fixture
def folder(quick: Path) -> Path:
    """The folders of a child's surroundings."""
    for name in ("home", "temporary"):
        (quick / name).mkdir()
    return quick


def measured(folder: Path, *words: object) -> tuple[Ended, int]:
    """Run the command; return how it ended, and its peak memory in bytes."""
    done = child(folder, *words, code=MEASURED)
    assert list((folder / "home").iterdir()) == list((folder / "temporary").iterdir()) == []
    return done, int(done.err.split()[-1])


def bomb(name: str, document: bytes = b"") -> bytes:
    """Return a small zip of two files of 50 MiB of zeros each, a skill where there is a document."""
    zeros = bytes(50 * MIB)
    packed = deflate(zeros, 9)
    items = [Item(name=f"{name}/{n}.bin".encode(), content=zeros, method=DEFLATED, packed=packed) for n in "ab"]
    return archive([*([Item(name=f"{name}/SKILL.md".encode(), content=document)] if document else []), *items])


@pytest.fixture(scope="module")
def bombs() -> tuple[bytes, bytes]:
    """Return twenty nested bombs in one small zip: nothing but zeros, and as skills."""
    one = bomb("s")
    as_skill = bomb("s", skill_md("s"))
    return (
        zip_bytes({f"n{n:02}.zip": one for n in range(20)}),
        zip_bytes({f"n{n:02}.zip": as_skill for n in range(20)}),
    )


@measures
@pytest.mark.parametrize("kind", [0, 1], ids=["zeros", "skills"])
def test_nested_bombs_are_refused_in_little_memory(folder: Path, bombs: tuple[bytes, bytes], kind: int) -> None:
    """2 GiB behind a file of some KB: all levels share one budget, nothing is held in memory, nothing stays."""
    source = folder / "bomb.zip"
    source.write_bytes(bombs[kind])
    assert source.stat().st_size < 512 * 1024
    done, peak = measured(folder, "preview", source, "--json")
    assert done.status == 3
    assert peak < PEAK
    report = json.loads(done.out)
    assert report["token"] is None
    assert {"budget-exceeded", "package-unrecognised"} & {d["code"] for d in report["diagnostics"]}
    assert not [path for path in (folder / "library").rglob("*") if path.is_file() and path.stat().st_size > MIB]
    # With the ratio out of the way the total stops it.
    total = "bundle.bytes=60000000" if kind else "bundle.stream_bytes=300000000"
    done, peak = measured(folder, "preview", source, "--json", "--budget", "bundle.ratio=100000", "--budget", total)
    assert done.status == 3
    assert peak < PEAK


@measures
def test_a_specialist_at_its_real_limits(folder: Path) -> None:
    """200 MiB in 2,000 files: taken, in the same memory; one file more is refused before anything is inflated."""
    document = skill_md("table-audit")
    changes = {"skill_ids": ["table-audit"]}
    base = specialist(None, changes, skills={"table-audit": {"SKILL.md": document}})
    count = 2_000 - len(base)
    left = 200 * MIB - sum(map(len, base.values()))
    # Constant data that compresses 200:1, made once and used by every entry.
    block = (b"0123456789abcdef" * 16 + bytes(range(256))) * 256
    sizes = [left // count] * (count - 1)
    sizes.append(left - sum(sizes))
    packed = {size: deflate((block * 2)[:size], 1) for size in set(sizes)}
    items = [Item(name=name.encode(), content=data) for name, data in base.items()]
    items += [
        Item(
            name=f"skills/table-audit/d/{n:04}.bin".encode(),
            content=(block * 2)[:size],
            packed=packed[size],
        )
        for n, size in enumerate(sizes)
    ]
    source = folder / "large.zip"
    source.write_bytes(archive(items))
    done, peak = measured(folder, "preview", source, "--json", "--budget", "skill.total_bytes=1000000000")
    report = json.loads(done.out)
    assert done.status == 0, report["diagnostics"]
    assert peak < PEAK
    rows = {(u["profile"], u["limit"]): (u["used"], u["max"]) for u in report["budgets"]}
    assert rows["specialist", "files"] == (2_000, 2_000)
    assert rows["specialist", "total_bytes"] == (200 * MIB, 200 * MIB)
    source.write_bytes(archive([*items, Item(name=b"skills/table-audit/one-more", content=b"")]))
    more, _ = measured(folder, "preview", source, "--json", "--budget", "skill.total_bytes=1000000000")
    assert more.status == 3
    facts = [d["facts"] for d in json.loads(more.out)["diagnostics"] if d["code"] == "budget-exceeded"]
    assert [(f["profile"], f["limit"], f["used"]) for f in facts] == [("specialist", "files", 2_001)]


SURROUNDINGS: list[tuple[dict[str, str], int]] = [
    ({"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONUTF8": "0"}, 0o022),
    ({"TZ": "America/New_York", "LC_ALL": "C.UTF-8", "HOME": "/nowhere"}, 0o077),
]


def test_digests_and_exports_do_not_depend_on_the_surroundings(folder: Path) -> None:
    """Time zone, locale, umask: the same digest, the same bytes of an archive, ordered by the bytes of the names."""
    odd = skill("table-audit") | {"aa": b"1", "zz": b"2", "ä": b"3", "Z": b"4"}
    skills = {"table-audit": odd, "chart-check": skill("chart-check")}
    make_tree(folder / "role", {**specialist(skills=skills), "skills/table-audit/run": Run(b"#!/bin/sh\n")})
    seen: set[tuple[str, ...]] = set()
    for number, (changes, umask) in enumerate(SURROUNDINGS):
        library = folder / f"library-{number}"
        options = ["--library", library, "--json"]
        done = child(folder, "install", "./role", "--yes", *options, umask=umask, **changes)
        assert done.status == 0, done.out
        outputs = [folder / f"skill-{number}.zip", folder / f"role-{number}.zip"]
        words = (["skill", "table-audit"], ["specialist", "field-analyst"])
        for word, output in zip(words, outputs, strict=True):
            ended = child(folder, "export", *word, "--output", output, *options, umask=umask, **changes)
            assert ended.status == 0, ended.out
        again = run_importer("preview", outputs[1], *options)
        assert {disposition for disposition, _ in again.dispositions().values()} == {"reuse"}
        assert again.json["specialist"]["disposition"] == "reuse"
        digests = [skill["digest"] for skill in again.json["skills"]]
        seen.add((*digests, *(hashlib.sha256(p.read_bytes()).hexdigest() for p in outputs)))
        assert run_importer("verify", *options).status == 0
    assert len(seen) == 1


def test_the_digest_is_what_anybody_can_work_out(folder: Path) -> None:
    """`sha256sum` over the files sorted by the bytes of their names, piped into `sha256sum`."""
    files = skill("demo") | {"aa": b"1", "zz": b"2", "ä": b"3"}
    make_tree(folder / "demo", dict(files))
    report = json.loads(child(folder, "preview", "./demo", "--json").out)
    lines = b"".join(
        hashlib.sha256(files[name]).hexdigest().encode() + b"  " + name.encode() + b"\n"
        for name in sorted(files, key=lambda name: name.encode())
    )
    assert report["skills"][0]["digest"] == "h1:" + hashlib.sha256(lines).hexdigest()


@measures
def test_a_bundle_of_many_bytes_that_nobody_selects(folder: Path) -> None:
    """A repository may be far larger than its skills: 300 MB beside a small skill cost their verification only."""
    filler = bytes(range(256)) * 3_906
    packed = deflate(filler, 9)
    items = [Item(name=name.encode(), content=data) for name, data in below("demo", skill("demo")).items()]
    items += [Item(name=f"data/{n}.bin".encode(), content=filler, packed=packed) for n in range(300)]
    source = folder / "repository.zip"
    source.write_bytes(archive(items))
    done, peak = measured(folder, "preview", source, "--json")
    assert done.status == 0
    assert peak < PEAK
    rows = {(u["profile"], u["limit"]): u["used"] for u in json.loads(done.out)["budgets"]}
    assert rows["bundle", "bytes"] == sum(map(len, skill("demo").values()))


KILLED_ONCE_HELD = """
import os, signal, sys
from importer import fs
from importer.cli import main
held = False
def observer(operation, path, other):
    global held
    if held:
        os.kill(os.getpid(), signal.SIGKILL)
    held = (operation, path) == ("record", "hold")
fs.observer = observer
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_an_install_that_is_killed_leaves_nothing_for_its_ten_minutes(folder: Path) -> None:
    """Nobody was told its token; a preview's own stays, since somebody was."""
    source = make_tree(folder / "demo", skill("demo"))
    assert child(folder, "install", source, "--yes", code=KILLED_ONCE_HELD).status == -signal.SIGKILL
    staging = folder / "library/.importer/staging"
    assert len(list(staging.iterdir())) == 1
    assert child(folder, "list").status == 0
    assert list(staging.iterdir()) == []
    token = json.loads(child(folder, "preview", source, "--json").out)["token"]
    assert child(folder, "list").status == 0
    assert child(folder, "install", token).status == 0
    assert list(staging.iterdir()) == []


def test_a_session_keeps_no_descriptor_of_a_preview(folder: Path) -> None:
    """A host application makes thousands of them."""
    source = make_tree(folder / "demo", skill("demo"))
    counts = []
    with Session(Settings(library=folder / "library")) as session:
        for _ in range(3):
            assert preview(session, Request(source=str(source))).installable
            counts.append(len(os.listdir("/dev/fd")))
    assert len(set(counts)) == 1
