"""Tars and gzipped tars: honest ones, with small damage in places that matter, held to what other readers make of them.

Most of the damage is put under a right checksum, so that a fair part is still accepted and has to be read alike.
"""

from __future__ import annotations

import gzip
import io
import os
import random
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from budgets import BudgetExceeded
from importer.diagnostics import Rejected
from importer.extract.gzip_stream import spool_gzip
from importer.extract.tar_container import TarContainer
from importer.extract.tar_stream import stream_tar_gz
from importer.model import Entry, Listed
from importer.paths import RelPath
from tests.builders.containers import Forward, Keeper, Memory, delivered, gated, meter, nothing
from tests.builders.tars import GNU, OLD, gz, long_name, member, pax, record, tar
from tests.fuzz.engine import Target

TOOLS = {
    "tar": ["tar", "--warning=no-timestamp", "--no-same-owner", "-xf", "-"],
    "bsdtar": ["bsdtar", "--no-same-owner", "--no-xattrs", "--no-fflags", "-xf", "-"],
}

LONG = "demo/" + "x" * 90 + "/" + "y" * 90 + ".md"
BASES = (
    tar(
        member("demo/", kind=b"5", mode=0o755),
        member("demo/SKILL.md", b"---\n" * 9),
        member("demo/run", b"#!", mode=0o755),
    ),
    tar(member("a/", kind=b"\0", magic=OLD), member("a/b", b"x", kind=b"\0", magic=OLD)),
    tar(member("a", b"x", magic=GNU), member("b", b"y" * 600, magic=GNU)),
    tar(member("b.md", b"x", prefix=b"demo")),
    tar(member("./", kind=b"5"), member("./a", b"x")),
    tar(long_name(LONG.encode()), member(LONG.encode()[:100], b"x", magic=GNU)),
    tar(pax(record("path", LONG), record("mtime", "1.5"), record("size", "1")), member("x", b"x")),
    tar(pax(record("comment", "0" * 40), kind=b"g"), member("a", member("inner", b"x"))),
)
_FIELDS = (
    (0, 100),
    (100, 108),
    (108, 124),
    (124, 136),
    (136, 148),
    (156, 157),
    (157, 257),
    (257, 265),
    (329, 345),
    (345, 500),
    (500, 512),
)
_BYTES = b"\0 01579-+./\\\x80\xff012345678xgLKSVMDNXA7"


def mutant(rng: random.Random) -> bytes:
    """Return an honest tar with one to three lies, most of them under a right checksum."""
    data = bytearray(rng.choice(BASES))
    if rng.random() < 0.2:
        data[:0] = rng.choice(BASES)[:-1024]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if len(data) >= 512:
            _damage(data, rng)
    return bytes(data)


def _damage(data: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(data) // 512) * 512
    what = rng.random()
    if what < 0.55:
        data[at + rng.randrange(*rng.choice(_FIELDS))] = rng.choice((*_BYTES, rng.randrange(256)))
        if rng.random() < 0.9:
            data[at + 148 : at + 156] = b" " * 8
            data[at + 148 : at + 156] = b"%06o\0 " % sum(data[at : at + 512])
    elif what < 0.7:
        data[rng.randrange(len(data))] = rng.randrange(256)
    elif what < 0.8:
        data[at:at] = data[at : at + 512 * rng.randint(1, 3)]
    elif what < 0.9:
        del data[at : at + 512 * rng.randint(1, 2)]
    elif what < 0.95:
        data[at:at] = bytes(512)
    elif (key := data.find(b"path=")) > 3:
        data[key - rng.randint(1, 3)] = rng.choice(b"0123456789 =\n")


def read_by_python(data: bytes) -> dict[str, bytes] | str:
    """Return the files that `tarfile` sees, or its complaint."""
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for one in archive:
                body = archive.extractfile(one) if one.isreg() else None
                if body is not None:
                    files[one.name.removeprefix("./")] = body.read()
    except (tarfile.TarError, ValueError) as problem:
        return str(problem)
    return files


def read_by_tool(command: list[str], data: bytes, folder: Path) -> dict[str, bytes] | str:
    """Return the files that a program extracts from its standard input, or its complaint."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    done = subprocess.run(command, cwd=folder, input=data, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    if done.returncode:
        return done.stderr.decode("utf-8", "replace")
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def accepted(data: bytes) -> dict[str, bytes] | None:
    """Return the files of a tar; None where something of it is refused or copied, so that readers may well differ.

    Raises:
        Rejected, BudgetExceeded: like the container.
    """
    container = TarContainer(Memory(data), bundle=meter("bundle"), archive=meter("archive"))
    tree = gated(container)
    if tree.faults or tree.notes or any(entry.link for entry in tree.files):
        return None
    return delivered(container, tree)


def feed_tar(data: bytes, _scratch: Path, /) -> str:
    """Read a tar as a file."""
    return "partly" if accepted(data) is None else "accepted"


def agree_tar(data: bytes, scratch: Path, whole: bool, /) -> None:
    """Hold what was accepted to `tarfile`, and now and then to programs."""
    files = accepted(data)
    assert read_by_python(data) == files, "tarfile"
    for name, command in TOOLS.items() if whole else ():
        if shutil.which(name):
            assert read_by_tool(command, data, scratch / name) == files, name


def packed_mutant(rng: random.Random) -> bytes:
    """Return a tar.gz that is damaged in the tar, in the gzip stream, or behind it."""
    data = mutant(rng) if rng.random() < 0.5 else rng.choice(BASES)
    packed = bytearray(gz(data) if rng.random() < 0.7 else gz(data, flags=8, fields=b"name.tar\0"))
    what = rng.random()
    if what < 0.4:
        packed[rng.randrange(len(packed))] = rng.randrange(256)
    elif what < 0.5:
        packed += rng.choice((b"\0" * 700, b"x", gz(b""), gz(data)))
    elif what < 0.6:
        del packed[rng.randrange(len(packed)) :]
    return bytes(packed)


def feed_packed(data: bytes, _scratch: Path, /) -> str:
    """Read a tar.gz both ways, as a stream and through a spooled copy: both must come to the same."""
    streamed, refused = _outcome(partial(_streamed, data))
    spooled, refused_too = _outcome(partial(_spooled, data))
    if bool(refused) != bool(refused_too) or streamed != spooled:
        raise ValueError(f"as a stream {refused or streamed!r}, spooled {refused_too or spooled!r}")
    return refused or "accepted"


def agree_packed(data: bytes, _scratch: Path, _whole: bool, /) -> None:
    """Hold what was inflated to Python's `gzip`."""
    out = io.BytesIO()
    spool_gzip(Memory(data), out.write, bundle=meter("bundle"))
    assert gzip.decompress(data) == out.getvalue()


Read = dict[str, tuple[Listed, bytes]]


def _outcome(read: Callable[[], Read]) -> tuple[Read, str]:
    try:
        return read(), ""
    except Rejected as rejected:
        return {}, rejected.diagnostics[0].code
    except BudgetExceeded as exceeded:
        return {}, exceeded.limit


def _streamed(data: bytes) -> Read:
    return {
        entry.listed.name: (entry.listed, b"".join(iter(partial(entry.read, 1000), b"")))
        for entry in stream_tar_gz(Forward(data, 777), nothing)
    }


def _spooled(data: bytes) -> Read:
    out = io.BytesIO()
    spool_gzip(Memory(data), out.write, bundle=meter("bundle"))
    container = TarContainer(Memory(out.getvalue()), bundle=meter("bundle"), archive=meter("archive"))
    listed = container.list(nothing)
    # Every member as a file of its own number: names are for the gate.
    path = RelPath("x")
    keeper = Keeper()
    found: Read = {}
    for one in listed:
        entry = Entry(path=path, size=one.size, packed=one.size, executable=None, handle=one.handle)
        container.deliver([entry], keeper, nothing)
        found[one.name] = (one, keeper.files["x"])
    return found


TARGET = Target(name="tar", make=mutant, feed=feed_tar, agree=agree_tar)
TARGET_PACKED = Target(name="tgz", make=packed_mutant, feed=feed_packed, agree=agree_packed)
