"""Whatever is accepted, every reader lists and extracts alike.

And whatever real tools write is accepted, or its reason is known.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from importer.extract.deflate64 import deflate64_inflater
from importer.model import EntryKind
from tests.builders.zips import DEFLATED, STORED, UTF8, Item, archive, extra, folder, link, unicode_name
from tests.extract.zip_readers import COMMANDS, Disagreement, can_read, hold, our_view, tool, with_command, with_zipfile
from tests.extract.zip_reading import read, refused

if TYPE_CHECKING:
    from collections.abc import Sequence

FILES = {
    "skill/SKILL.md": b"---\nname: skill\ndescription: Tells the tide.\n---\n\n# Tides\n" * 40,
    "skill/scripts/tide.py": b"#!/usr/bin/env python3\nprint('high')\n",
    "skill/assets/empty": b"",
    "skill/assets/table.bin": bytes(range(256)) * 400,
    "skill/references/gezeiten übersicht.md": b"Ebbe und Flut\n" * 30,
}


def agree(data: bytes, scratch: Path, readers: Sequence[str] = tuple(COMMANDS)) -> None:
    """Assert that the archive is accepted and that every reader sees what we see."""
    ours = our_view(data)
    assert ours is not None
    hold(ours, with_zipfile(data), "zipfile")
    for reader in readers:
        tool(COMMANDS[reader][0])
        if can_read(reader, data):
            hold(ours, with_command(reader, data, scratch), reader)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Return a folder with a skill in it, one file executable."""
    base = tmp_path / "published"
    for name, content in FILES.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (base / "skill/scripts/tide.py").chmod(0o755)
    (base / "skill/assets/folder").mkdir()
    return base


ZIP = {
    "plain": ("zip", "-r", "{out}", "skill"),
    "best": ("zip", "-9", "-r", "{out}", "skill"),
    "stored": ("zip", "-0", "-r", "{out}", "skill"),
    "no extras": ("zip", "-X", "-r", "{out}", "skill"),
    "no folders": ("zip", "-D", "-r", "{out}", "skill"),
    "dos": ("zip", "-k", "-j", "{out}", "skill/SKILL.md"),
    "descriptors": ("zip", "-fd", "-r", "{out}", "skill"),
    "7z": ("7z", "a", "-tzip", "{out}", "skill"),
    "7z stored": ("7z", "a", "-tzip", "-mx0", "{out}", "skill"),
    "7z utf-8": ("7z", "a", "-tzip", "-mcu=on", "-mx9", "{out}", "skill"),
    "bsdtar": ("bsdtar", "-a", "-cf", "{out}", "skill"),
    "bsdtar stored": ("bsdtar", "-cf", "{out}", "--format", "zip", "--options", "zip:compression=store", "skill"),
    "piped zip": ("sh", "-c", "zip -q -r - skill | cat > {out}"),
}


@pytest.mark.parametrize("how", ZIP)
def test_archives_of_real_tools(how: str, published: Path, tmp_path: Path) -> None:
    program = ZIP[how][0] if ZIP[how][0] != "sh" else "zip"
    tool(program)
    out = tmp_path / "made.zip"
    command = [part.format(out=out) for part in ZIP[how]]
    subprocess.run(
        command, cwd=published, check=True, capture_output=True, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    )
    data = out.read_bytes()
    agree(data, tmp_path)
    if how != "dos":
        reading = read(data)
        assert {path: reading.files[path] for path in FILES} == FILES
        assert reading.entry("skill/scripts/tide.py").executable
        assert reading.entry("skill/SKILL.md").executable is False


def test_git_archive(published: Path, tmp_path: Path) -> None:
    tool("git")
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
    }  # fmt: skip
    (published / "link").symlink_to("skill/SKILL.md")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=published, check=True, env=environment, capture_output=True)
    done = subprocess.run(
        ["git", "archive", "--format=zip", "--prefix=repo-main/", "HEAD"],
        cwd=published, check=True, env=environment, capture_output=True,
    )  # fmt: skip
    agree(done.stdout, tmp_path)
    reading = read(done.stdout)
    assert reading.entry("repo-main/link").link_target == "skill/SKILL.md"
    assert reading.entry("repo-main/skill/scripts/tide.py").executable


def test_links_of_real_tools(published: Path, tmp_path: Path) -> None:
    (published / "skill/LICENSE.md").symlink_to("SKILL.md")
    for command in (
        ["zip", "-qry", "zip.zip", "skill"],
        ["7z", "a", "-tzip", "-snl", "7z.zip", "skill"],
        ["bsdtar", "-a", "-cf", "bsdtar.zip", "skill"],
    ):
        tool(command[0])
        subprocess.run(command, cwd=published, check=True, capture_output=True)
        data = (published / f"{command[0]}.zip").read_bytes()
        agree(data, tmp_path, [reader for reader in COMMANDS if reader != "bsdtar from a pipe"])
        assert read(data).entry("skill/LICENSE.md").link_target == "SKILL.md"


class Pipe(io.RawIOBase):
    """A stream that can only be written."""

    def __init__(self) -> None:
        self.content = b""

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: bytes, /) -> int:  # type: ignore[override] # zipfile gives bytes only
        """Keep it."""
        self.content += bytes(data)
        return len(data)


def written(compression: int, *, piped: bool = False, zip64: bool = False, comment: bytes = b"") -> bytes:
    """Return an archive that Python's zipfile writes."""
    target: io.BytesIO | Pipe = Pipe() if piped else io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as out:
        for name, content in FILES.items():
            with out.open(zipfile.ZipInfo(name), "w", force_zip64=zip64) as entry:
                entry.write(content)
        out.writestr("skill/folder/", b"")
        out.comment = comment
    return target.content if isinstance(target, Pipe) else target.getvalue()


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("zip64", [False, True])
def test_archives_of_zipfile(compression: int, piped: bool, zip64: bool, tmp_path: Path) -> None:
    agree(written(compression, piped=piped, zip64=zip64, comment=b"made by a test"), tmp_path)


# --- known losses: each has its reason -------------------------------------------------------------------------------


def lost(program: str, arguments: str, folder: Path) -> bytes:
    """Return what a shell command writes to its output."""
    tool(program)
    done = subprocess.run(["sh", "-c", f"{program} {arguments} | cat"], cwd=folder, check=True, capture_output=True)
    return done.stdout


def test_bsdtar_to_a_pipe_is_padded_with_zeros(published: Path) -> None:
    data = lost("bsdtar", "--format zip -cf - skill", published)
    refused(data, says="zero bytes follow the end of the archive")


def test_zip_with_forced_zip64_fields(published: Path) -> None:
    data = lost("zip", "-q -fz -r out.zip skill && cat out.zip", published)
    refused(data, says="the directory gives a Zip64 field to an entry that needs none")


def test_zip_of_its_standard_input_is_a_named_pipe(published: Path) -> None:
    data = lost("zip", "--version > /dev/null; cat skill/SKILL.md | zip -q - -", published)
    (entry,) = read(data).listed
    assert (entry.kind, entry.special) == (EntryKind.SPECIAL, "named pipe")


def test_encrypted_archives_of_real_tools(published: Path) -> None:
    commands = {
        "zip": ["zip", "-q", "-r", "-P", "secret", "e.zip", "skill"],
        "7z": ["7z", "a", "-tzip", "-psecret", "e7.zip", "skill"],
        "7z AES": ["7z", "a", "-tzip", "-psecret", "-mem=AES256", "aes.zip", "skill"],
    }
    for command in commands.values():
        tool(command[0])
        subprocess.run(command, cwd=published, check=True, capture_output=True)
        out = published / next(part for part in command if part.endswith(".zip"))
        faults = {e.fault.code for e in read(out.read_bytes()).listed if e.fault is not None}
        assert faults == {"archive-encrypted"}


@pytest.mark.parametrize("method", ["BZip2", "LZMA", "PPMd"])
def test_methods_of_7z(method: str, published: Path) -> None:
    tool("7z")
    subprocess.run(
        ["7z", "a", "-tzip", f"-mm={method}", "m.zip", "skill"], cwd=published, check=True, capture_output=True
    )
    entry = read((published / "m.zip").read_bytes()).entry("skill/SKILL.md")
    assert entry.fault is not None
    assert entry.fault.code == "archive-method-unsupported"
    assert method.lower() in entry.fault.message.lower()


def test_deflate64_of_7z(published: Path, tmp_path: Path) -> None:
    tool("7z")
    (published / "skill/large.txt").write_bytes(b"tide table, high and low water\n" * 100_000)
    subprocess.run(
        ["7z", "a", "-tzip", "-mm=Deflate64", "d.zip", "skill"], cwd=published, check=True, capture_output=True
    )
    data = (published / "d.zip").read_bytes()
    entry = read(data).entry("skill/large.txt")
    if deflate64_inflater() is None:
        assert entry.fault is not None
        assert "pip install" in entry.fault.message
    else:
        agree(data, tmp_path)


# --- honest archives of every shape ----------------------------------------------------------------------------------

SEGMENT = st.text(st.sampled_from("abcXYZ019_-+.,=@()[]{}~!#$%&';^` äßé漢字しゅ한글🦀"), min_size=1, max_size=12).map(
    lambda text: text.strip(" .") or "x"
)
CONTENT = st.one_of(
    st.binary(max_size=300), st.builds(bytes.__mul__, st.binary(min_size=1, max_size=40), st.integers(0, 9_000))
)
TIMES = extra(0x5455, b"\x01\0\0\0\0")


@st.composite
def honest(draw: st.DrawFn) -> Item:
    """Return an entry that says one thing, in one of the many ways in which tools say it."""
    streamed = draw(st.booleans())
    wide = draw(st.integers(0, 4)) == 0
    return Item(
        name=draw(st.lists(SEGMENT, min_size=1, max_size=3).map("/".join)).encode(),
        content=draw(CONTENT).replace(b"PK", b"pk"),
        method=draw(st.sampled_from([STORED, DEFLATED])),
        streamed=streamed,
        wide=wide,
        needed=45 if wide else 20,
        host=draw(st.sampled_from([3, 19])),
        mode=draw(st.sampled_from([0o100644, 0o100755, 0o100600])),
        local_extra=draw(st.sampled_from([b"", TIMES])),
        central_extra=draw(st.sampled_from([b"", TIMES])),
        comment=draw(st.sampled_from([b"", b"note"])),
    )


@st.composite
def honest_archives(draw: st.DrawFn) -> bytes:
    """Return an archive of such entries."""
    items = []
    for number, item in enumerate(draw(st.lists(honest(), min_size=1, max_size=6))):
        item.name = b"%d-" % number + item.name + (b"x" if re.search(rb";[0-9]*\Z", item.name) else b"")
        if draw(st.integers(0, 5)) == 0:
            item.local_extra += unicode_name(item.name, item.name)
            # unzip cannot read such a field beside narrow descriptors, see test_unicode_path_fields.
            item.flags |= UTF8
        items.append(item)
        if draw(st.integers(0, 5)) == 0:
            items.append(folder(b"folder-%d/" % number))
        if draw(st.integers(0, 7)) == 0:
            items.append(link(b"link-%d" % number, b"0-target"))
    order = draw(st.permutations(range(len(items))))
    comment = draw(st.sampled_from([b"", b"a comment"]))
    return archive(items, order=order, comment=comment, end64={} if draw(st.integers(0, 4)) == 0 else None)


@settings(max_examples=60, deadline=None)
@given(data=honest_archives())
def test_honest_archives_are_read_as_zipfile_reads_them(data: bytes) -> None:
    ours = our_view(data)
    assert ours is not None
    hold(ours, with_zipfile(data), "zipfile")


@pytest.mark.parametrize("reader", COMMANDS)
def test_honest_archives_are_read_alike_by_programs(reader: str, tmp_path: Path) -> None:
    tool(COMMANDS[reader][0])

    @settings(
        max_examples=int(os.environ.get("AGREE_CASES", "25")),
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
        database=None,
    )
    @given(data=honest_archives())
    def compare(data: bytes) -> None:
        ours = our_view(data)
        assert ours is not None
        hold(ours, with_command(reader, data, tmp_path), reader)

    compare()


def test_a_reader_that_differs_is_noticed(tmp_path: Path) -> None:
    """The comparison itself: an archive that is refused here for its duplicate, as each reader sees it."""
    tool("unzip")
    data = archive([Item(name=b"a.txt", content=b"one"), Item(name=b"b.txt", content=b"two")])
    ours = our_view(data)
    assert ours is not None
    other = archive([Item(name=b"a.txt", content=b"one"), Item(name=b"b.txt", content=b"2")])
    with pytest.raises(Disagreement, match=r"b\.txt"):
        hold(ours, with_command("unzip", other, tmp_path), "unzip")
    with pytest.raises(Disagreement, match="exit"):
        with_command("unzip", other[:-30], tmp_path)
    with pytest.raises(Disagreement, match="zipfile"):
        with_zipfile(other[:-30])
