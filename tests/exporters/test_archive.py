"""Archives: the same bytes everywhere, read by our own strict reader and others, refused before they are written."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import BudgetExceeded, Budgets, Override
from importer.diagnostics import Rejected
from importer.exporters import ExportFile, not_bundled, write_skill_zip, write_specialist_zip
from importer.paths import RelPath
from tests.extract.zip_reading import read

LIMITS = Budgets.default()
SKILL = b"---\nname: demo\ndescription: A demo.\n---\n"


def limits(**changed: int) -> Budgets:
    """The defaults with changes such as `skill__files=4`."""
    names = {name: name.partition("__") for name in changed}
    return Budgets.default([Override.of(n[0], n[2], changed[name], "test") for name, n in names.items()])


def demo(*more: ExportFile) -> list[ExportFile]:
    return [
        ExportFile.of("zz.txt", b"last"),
        ExportFile.of("SKILL.md", SKILL),
        ExportFile.of("ä.txt", b"after zz"),
        ExportFile.of("scripts/run.sh", b"#!/bin/sh\n", executable=True),
        ExportFile.of("empty", b""),
        *more,
    ]


def skill_zip(files: list[ExportFile], name: str = "demo", budgets: Budgets = LIMITS) -> bytes:
    out = io.BytesIO()
    size = write_skill_zip(out, name, files, budgets)
    assert size == len(out.getvalue())
    return out.getvalue()


def specialist_zip(
    skills: dict[str, list[ExportFile]], extra: dict[str, bytes] | None = None, budgets: Budgets = LIMITS
) -> bytes:
    out = io.BytesIO()
    size = write_specialist_zip(out, b'{"a": 1}', b'{"b": 2}', skills, extra or {}, budgets)
    assert size == len(out.getvalue())
    return out.getvalue()


def refused(files: list[ExportFile], name: str = "demo") -> list[str]:
    out = io.BytesIO()
    with pytest.raises(Rejected) as caught:
        write_skill_zip(out, name, files, LIMITS)
    assert out.getvalue() == b"", "nothing is written before everything is checked"
    return [d.code for d in caught.value.diagnostics]


def test_our_own_reader_takes_it() -> None:
    reading = read(skill_zip(demo()))
    assert reading.files == {
        "demo/SKILL.md": SKILL,
        "demo/empty": b"",
        "demo/scripts/run.sh": b"#!/bin/sh\n",
        "demo/zz.txt": b"last",
        "demo/ä.txt": b"after zz",
    }
    assert reading.names == list(reading.files), "by the UTF-8 bytes of the path"
    assert [entry.name for entry in reading.listed if entry.executable] == ["demo/scripts/run.sh"]
    assert list(reading.notes) == []


def test_other_readers_take_it() -> None:
    with zipfile.ZipFile(io.BytesIO(skill_zip(demo()))) as archive:
        assert archive.testzip() is None
        for entry in archive.infolist():
            assert entry.date_time == (1980, 1, 1, 0, 0, 0)
            assert entry.compress_type == zipfile.ZIP_STORED
            assert entry.flag_bits == 0x800
            assert entry.extra == entry.comment == b""
            assert entry.create_system == 3
            assert entry.external_attr >> 16 in {0o100644, 0o100755}
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    assert modes["demo/scripts/run.sh"] == 0o100755
    assert modes["demo/SKILL.md"] == 0o100644


def test_the_order_of_what_comes_in_does_not_matter() -> None:
    assert skill_zip(demo()) == skill_zip(list(reversed(demo())))


def test_the_bytes_are_these() -> None:
    """Fixed once: another value on another system, or after a change here, is a fault."""
    digest = hashlib.sha256(skill_zip(demo())).hexdigest()
    assert digest == "366b848190ff88c7c296329c0dc289c2d5f218072d072b949ac60e5e3a123f27"


def test_the_same_bytes_whatever_the_surroundings(tmp_path: Path) -> None:
    script = (
        "import hashlib,io,os;os.umask(int(os.environ['MASK'],8))\n"
        "from tests.exporters.test_archive import demo,skill_zip,specialist_zip\n"
        "print(hashlib.sha256(skill_zip(demo())+specialist_zip({'demo':demo()})).hexdigest())"
    )
    seen = set()
    for number, (zone, locale, mask) in enumerate([("UTC", "C", "022"), ("America/New_York", "sv_SE.UTF-8", "077")]):
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TZ": zone, "LC_ALL": locale, "MASK": mask}
        environment |= {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONHASHSEED": str(number)}
        command = [sys.executable, "-c", script]
        ran = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=True)
        seen.add(ran.stdout)
    assert len(seen) == 1


def test_a_specialist_with_its_skills() -> None:
    data = specialist_zip(
        {"demo": demo(), "b": [ExportFile.of("SKILL.md", b"x")]}, {"README.txt": b"r", "LICENSE": b"l"}
    )
    names = read(data).names
    assert names == sorted(names, key=lambda name: name.encode())
    assert {"manifest.json", "specialist.json", "README.txt", "LICENSE", "skills/b/SKILL.md"} < set(names)
    assert "skills/demo/scripts/run.sh" in names


def test_a_specialist_takes_no_other_files_at_its_top() -> None:
    with pytest.raises(Rejected) as caught:
        specialist_zip({}, {"../evil": b"", "notes.md": b"", "LICENSE": b""})
    assert [d.code for d in caught.value.diagnostics] == ["export-file-refused"] * 2


def test_a_skill_needs_its_document() -> None:
    assert refused([ExportFile.of("x", b"")]) == ["export-skill-incomplete"]
    assert refused([ExportFile.of("sub/SKILL.md", b"")]) == ["export-skill-incomplete"]
    with pytest.raises(Rejected):
        specialist_zip({"demo": [ExportFile.of("skill.md", b"")]})


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../evil", "path-unsafe"),
        ("/etc/passwd", "path-unsafe"),
        ("a\\b", "path-unsafe"),
        ("con", "path-unsafe"),
        ("x" * 256, "path-unsafe"),
        ("\u202e", "path-unsafe"),
        ("skill.md", "path-collision"),
        ("SCRIPTS/other", "path-collision"),
        ("scripts", "path-collision"),
        ("zz.txt/inside", "path-collision"),
        ("zz.txt", "path-collision"),
    ],
)
def test_what_an_importer_would_refuse(path: str, code: str) -> None:
    """A file of the library that nobody checked: the path is not parsed, so that this is tried."""
    lie = ExportFile(path=RelPath(path), size=0, executable=False, chunks=lambda: ())
    assert code in refused(demo(lie))
    assert skill_zip(demo(ExportFile.of("other", b""))), "the control"


def test_a_name_that_would_escape() -> None:
    assert "path-unsafe" in refused(demo(), name="..")


@pytest.mark.parametrize(
    ("changed", "limit"),
    [
        ({"skill__files": 4}, "files"),
        ({"skill__file_bytes": 9}, "file_bytes"),
        ({"skill__total_bytes": 20}, "total_bytes"),
        ({"bundle__entries": 4}, "entries"),
        ({"bundle__archive_bytes": 500}, "archive_bytes"),
        ({"bundle__depth": 2}, "depth"),
    ],
)
def test_limits_of_a_skill(changed: dict[str, int], limit: str) -> None:
    with pytest.raises(BudgetExceeded) as caught:
        skill_zip(demo(), budgets=limits(**changed))
    assert caught.value.limit == limit


@pytest.mark.parametrize(
    ("changed", "limit"),
    [
        ({"specialist__files": 6}, "files"),
        ({"specialist__file_bytes": 9}, "file_bytes"),
        ({"specialist__total_bytes": 20}, "total_bytes"),
        ({"specialist__compressed_bytes": 500}, "compressed_bytes"),
        ({"specialist__depth": 3}, "depth"),
        ({"skill__files": 4}, "files"),
    ],
)
def test_limits_of_a_specialist(changed: dict[str, int], limit: str) -> None:
    """What is exported is within what an import allows: the two use the same limits."""
    with pytest.raises(BudgetExceeded) as caught:
        specialist_zip({"demo": demo()}, budgets=limits(**changed))
    assert caught.value.limit == limit
    assert specialist_zip({"demo": demo()}, budgets=limits(**dict.fromkeys(changed, 10000)))


def test_a_specialist_that_is_too_large_is_compressed() -> None:
    """What came in compressed goes out again, though nothing else is compressed; the reader gets the same bytes."""
    skills = {"demo": demo(ExportFile.of("text", b"the same words " * 4_000), ExportFile.of("noise", os.urandom(900)))}
    stored = specialist_zip(skills)
    small = specialist_zip(skills, budgets=limits(specialist__compressed_bytes=10_000))
    assert len(small) < 10_000 < len(stored)
    assert read(small).files == read(stored).files
    with zipfile.ZipFile(io.BytesIO(small)) as archive:
        assert archive.testzip() is None
        methods = {entry.filename: entry.compress_type for entry in archive.infolist()}
    assert methods["skills/demo/text"] == zipfile.ZIP_DEFLATED
    assert methods["skills/demo/noise"] == zipfile.ZIP_STORED
    assert specialist_zip(skills, budgets=limits(specialist__compressed_bytes=10_000)) == small
    with pytest.raises(BudgetExceeded):
        specialist_zip(skills, budgets=limits(specialist__compressed_bytes=len(small) - 200))


@pytest.mark.parametrize("second", [[b"oth"], [b"a"], [b"abcd"], []])
def test_a_file_that_changes_meanwhile(second: list[bytes]) -> None:
    passes: Iterator[list[bytes]] = iter([[b"ab", b"c"], second])
    lie = ExportFile(path=RelPath.parse("x"), size=3, executable=False, chunks=lambda: next(passes))
    with pytest.raises(Rejected) as caught:
        write_skill_zip(io.BytesIO(), "demo", demo(lie), LIMITS)
    assert [d.code for d in caught.value.diagnostics] == ["export-changed"]


def test_a_size_that_is_not_true() -> None:
    lie = ExportFile(path=RelPath.parse("x"), size=3, executable=False, chunks=lambda: [b"ab"])
    out = io.BytesIO()
    with pytest.raises(Rejected):
        write_skill_zip(out, "demo", demo(lie), LIMITS)
    assert b"demo/x" not in out.getvalue(), "found before its header is written"


def test_memory_does_not_grow_with_the_files() -> None:
    class Nowhere:
        def write(self, data: bytes, /) -> None:
            """Throw it away."""

    chunk = bytes(64 * 1024)
    size = 40 * 1024 * 1024
    big = ExportFile(
        path=RelPath.parse("big"),
        size=size,
        executable=False,
        chunks=lambda: (chunk for _ in range(size // len(chunk))),
    )
    tracemalloc.start()
    try:
        write_skill_zip(Nowhere(), "demo", demo(big), LIMITS)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1024 * 1024


def test_a_skill_of_another_name_is_not_bundled() -> None:
    assert not_bundled("demo", "demo") is None
    fault = not_bundled("demo", "Demo \u202e")
    assert fault is not None
    assert fault.code == "export-skill-name"


PATHS = st.lists(
    st.lists(st.sampled_from(["a", "bb", "ü", "é", "zz", "1", "~"]), min_size=1, max_size=3).map("/".join),
    max_size=6,
    unique=True,
)


@settings(max_examples=60, deadline=None)
@given(PATHS, st.data())
def test_what_is_written_is_read_back(paths: list[str], data: st.DataObject) -> None:
    wanted = [path for path in paths if not any(other.startswith(path + "/") for other in paths)]
    contents = {path: data.draw(st.binary(max_size=40)) for path in wanted}
    bits = {path: data.draw(st.booleans()) for path in wanted}
    files = [ExportFile.of(path, contents[path], executable=bits[path]) for path in wanted]
    reading = read(skill_zip([ExportFile.of("SKILL.md", SKILL), *files]))
    assert reading.files == {"demo/SKILL.md": SKILL} | {f"demo/{path}": body for path, body in contents.items()}
    assert {e.name for e in reading.listed if e.executable} == {f"demo/{path}" for path, bit in bits.items() if bit}
