"""Tars: good ones, and the same with exactly one lie."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import BudgetExceeded
from importer.diagnostics import Rejected
from importer.extract.tar_container import TarContainer, looks_like_tar
from importer.extract.tar_stream import stream_tar_gz
from importer.model import EntryKind, Listed
from tests.builders.containers import Forward, Keeper, Memory, Nobody, delivered, gated, meter, nothing, refusal
from tests.builders.tars import END, GNU, OLD, gz, header, long_name, member, pax, record, tar

SKILL = member("demo/SKILL.md", b"---\nname: demo\n---\n")
RUN = member("demo/run.sh", b"#!/bin/sh\n", mode=0o755)
GOOD = tar(member("demo/", kind=b"5", mode=0o755), SKILL, RUN)
HIDDEN = member("hidden.md", b"smuggled")


def container(data: bytes, encoding: str | None = None, **limits: int) -> TarContainer:
    return TarContainer(
        Memory(data), bundle=meter("bundle"), archive=meter("archive", **limits), name_encoding=encoding
    )


def names(data: bytes) -> list[str]:
    return [entry.name for entry in container(data).list(nothing)]


def streamed(data: bytes) -> list[tuple[Listed, bytes]]:
    found = []
    for entry in stream_tar_gz(Forward(gz(data), 97), nothing):
        body = b""
        while piece := entry.read(300):
            body += piece
        found.append((entry.listed, body))
    return found


def test_a_good_tar_is_listed_and_delivered() -> None:
    tree = gated(container(GOOD))
    assert [(entry.path.text, entry.size, entry.executable) for entry in tree.files] == [
        ("demo/SKILL.md", 19, False),
        ("demo/run.sh", 10, True),
    ]
    assert delivered(container(GOOD)) == {"demo/SKILL.md": b"---\nname: demo\n---\n", "demo/run.sh": b"#!/bin/sh\n"}
    assert looks_like_tar(GOOD[:512])


LONG = "demo/" + "x" * 90 + "/" + "y" * 90 + ".md"
ACCEPTED = {
    "old style": tar(member("a", b"x", magic=OLD)),
    "old style folder": tar(member("a/", kind=b"\0", magic=OLD), member("a/b", b"x", kind=b"\0", magic=OLD)),
    "gnu style": tar(member("a", b"x", magic=GNU)),
    "owners that are left out": tar(member("a", b"x", patch=(108, bytes(16)))),
    "a time before 1970": tar(member("a", b"x", patch=(136, b"\xff" * 12))),
    "a time far ahead": tar(member("a", b"x", patch=(136, b"\x80" + bytes(3) + b"\x7f" + b"\xff" * 7))),
    "an owner in base 256": tar(member("a", b"x", patch=(108, b"\x80\0\0\0" + b"\xff" * 4))),
    "device numbers of a file": tar(member("a", b"x", patch=(329, b"0000000\x000000000\x00"))),
    "prefix": tar(member("b.md", b"x", prefix=b"demo")),
    "leading dot": tar(member("./", kind=b"5"), member("./a", b"x")),
    "long name": tar(long_name(LONG.encode()), member(LONG.encode()[:100], b"x", magic=GNU)),
    "long name with several NULs": tar(long_name(LONG.encode(), end=bytes(9)), member("x", b"x", magic=GNU)),
    "long name and pax size": tar(long_name(b"a"), pax(record("size", "1")), member("x", b"x")),
    "pax name": tar(pax(record("path", LONG)), member("x", b"x")),
    "a long name cut behind a slash": tar(long_name(b"d" * 99 + b"/a"), member(b"d" * 99 + b"/", b"x", magic=GNU)),
    "pax name in UTF-8": tar(pax(record("path", "\u540d.md")), member("x", b"x")),
    "pax size that agrees": tar(pax(record("size", "1")), member("a", b"x")),
    "pax times and attributes": tar(
        pax(
            record("mtime", "1.5"),
            record("mtime", "1.6"),
            record("atime", "-2."),
            record("uid", "4294967295"),
            record("uname", "\xe4"),
            record("SCHILY.xattr.user.x", b"\xff\n="),
            record("LIBARCHIVE.xattr.com.apple.quarantine", "x"),
            record("SCHILY.fflags", "nodump"),
        ),
        member("a", b"x"),
    ),
    "comment for all": tar(pax(record("comment", "0" * 40), kind=b"g"), member("a", b"x")),
    "comments in a row": tar(*[pax(record("comment", "x"), kind=b"g")] * 3, member("a", b"x")),
    "size in base 256": tar(member("a", b"x", size_field=b"\x80" + bytes(10) + b"\x01")),
    "size with spaces": tar(member("a", b"x", size_field=b"         1  ")),
    "padding of 10 KiB": GOOD + bytes(10240 - len(GOOD)),
    "zeros that fill no block": GOOD + bytes(100),
    "a body that looks like a header": tar(member("a", SKILL)),
}


@pytest.mark.parametrize("data", ACCEPTED.values(), ids=ACCEPTED)
def test_what_honest_tools_write_is_accepted(data: bytes) -> None:
    tree = gated(container(data))
    assert tree.faults == ()
    assert tree.files
    assert all(path != "" for path in delivered(container(data)))
    assert [listed for listed, _ in streamed(data)] == list(container(data).list(nothing))


def test_long_names_are_the_names() -> None:
    for case in ("long name", "long name with several NULs", "pax name"):
        assert names(ACCEPTED[case]) == [LONG]
    assert names(ACCEPTED["prefix"]) == ["demo/b.md"]
    assert names(ACCEPTED["leading dot"]) == ["a"]


AMBIGUOUS = {
    "something after the end": GOOD + HIDDEN,
    "a second tar after the end": GOOD + GOOD,
    "one byte after the end": GOOD + bytes(511) + b"x",
    "a single zero block": tar(SKILL, bytes(512), HIDDEN),
    "one block between zero blocks": tar(SKILL, bytes(512), b"x" + bytes(511), end=bytes(512)),
    "pax size 0 over a real size": tar(pax(record("size", "0")), member("a", HIDDEN)),
    "pax size one more": tar(pax(record("size", "9")), member("a", b"12345678")),
    "pax size with a sign": tar(pax(record("size", "+1")), member("a", b"x")),
    "pax size with a zero in front": tar(pax(record("size", "01")), member("a", b"x")),
    "pax path for all": tar(pax(record("path", "evil"), kind=b"g"), SKILL),
    "pax size for all": tar(pax(record("size", "19"), kind=b"g"), SKILL),
    "pax path twice": tar(pax(record("path", "a"), record("path", "b")), member("x", b"x")),
    "two pax headers": tar(pax(record("mtime", "1")), pax(record("path", "b")), member("x", b"x")),
    "a comment for all between": tar(
        pax(record("path", "b")), pax(record("comment", "c"), kind=b"g"), member("x", b"x")
    ),
    "long name and pax path": tar(long_name(b"a"), pax(record("path", "b")), member("x", b"x")),
    "pax path and long name": tar(pax(record("path", "b")), long_name(b"a"), member("x", b"x")),
    "two long names": tar(long_name(b"a"), long_name(b"b"), member("x", b"x")),
    "long name with something after its NUL": tar(long_name(b"a\0b"), member("x", b"x")),
    "long name without a NUL": tar(long_name(LONG.encode(), end=b""), member("x", b"x", magic=GNU)),
    "long link target for a file": tar(long_name(b"a", kind=b"K"), member("x", b"x")),
    "two long link targets": tar(long_name(b"a", kind=b"K"), long_name(b"b", kind=b"K"), member("x", kind=b"2")),
    "pax linkpath for a file": tar(pax(record("linkpath", "/etc/passwd")), member("x", b"x")),
    "pax hdrcharset": tar(pax(record("hdrcharset", "BINARY")), member("x", b"x")),
    "pax key that nobody knows": tar(pax(record("SCHILY.realsize", "9")), member("x", b"x")),
    "sparse in pax": tar(pax(record("GNU.sparse.major", "1"), record("GNU.sparse.size", "99999")), member("x", b"x")),
    "sparse in GNU's old way": tar(member("x", b"x", kind=b"S", magic=GNU)),
    "a volume label": tar(member("x", kind=b"V", magic=GNU), SKILL),
    "a file from another volume": tar(member("x", b"x", kind=b"M", magic=GNU)),
    "a GNU directory dump": tar(member("x/", b"x", kind=b"D", magic=GNU)),
    "an unknown type": tar(member("x", b"x", kind=b"Z")),
    "a comment for nothing": tar(SKILL, pax(record("comment", "1"), kind=b"g")),
    "metadata for nothing": tar(SKILL, pax(record("mtime", "1"))),
    "a folder with contents": tar(member("x/", HIDDEN, kind=b"5")),
    "a symbolic link with contents": tar(member("x", HIDDEN, kind=b"2", link="SKILL.md")),
    "a hard link with contents": tar(member("x", HIDDEN, kind=b"1", link="SKILL.md")),
    "a device with contents": tar(member("x", HIDDEN, kind=b"3")),
    "a file with a slash at its end": tar(member("x/", b"x")),
    "an old file with a slash at its end": tar(member("x/", b"x", kind=b"\0", magic=OLD)),
    "an empty file with a slash at its end": tar(member("x/")),
    "something after the NUL of a name": tar(member(b"a\0b", b"x")),
    "something after the NUL of a prefix": tar(member("a", b"x", prefix=b"p\0q")),
    "something after the NUL of a link": tar(member("a", kind=b"2", link=b"p\0q")),
    "gnu times in the place of a prefix": tar(member("a", b"x", magic=GNU, prefix=b"0" * 24)),
    "a prefix in the old style": tar(member("a", b"x", magic=OLD, prefix=b"p")),
    "a long name over a folder's": tar(long_name(b"a.md"), member("a/", kind=b"\0", magic=OLD)),
    "a pax name over a folder's": tar(pax(record("path", "a.md")), member("a/", kind=b"\0", magic=OLD)),
    "a folder's name over a file's": tar(pax(record("path", "a/")), member("a", kind=b"\0")),
    "a pax time that is no number": tar(pax(record("mtime", "v.6")), member("a")),
    "a pax owner that is no text": tar(pax(record("uname", b"\xff")), member("a")),
    "a pax owner that is no number": tar(pax(record("uid", "")), member("a")),
    "another magic": tar(member("a", b"x", magic=b"ustar\x0001")),
    "a pax record that is too long": tar(pax(b"99 path=a\n"), member("x", b"x")),
    "a pax record that is too short": tar(pax(b"5 path=a\n"), member("x", b"x")),
    "a pax record without an end": tar(pax(b"9 path=abX"), member("x", b"x")),
    "a pax record without a key": tar(pax(b"6 =ab\n"), member("x", b"x")),
    "a pax length with a zero in front": tar(pax(b"010 path=a\n"), member("x", b"x")),
    "a pax length without an end": tar(pax(b"9" * 5000), member("x", b"x")),
    "a pax length of thousands of digits": tar(pax(b"9" * 5000 + b" path=a\n"), member("x", b"x")),
    "a pax record that ends with the header and no line": tar(pax(b"9 path=ab"), member("x", b"x")),
    "zeros behind the pax records": tar(pax(record("path", "a"), bytes(3)), member("x", b"x")),
    "a pax key that is no text": tar(pax(b"9 p\xffth=a\n"), member("x", b"x")),
}
UNREADABLE = {
    "nothing": b"",
    "half a header": GOOD[:300],
    "no tar": b"x" * 2048,
    "a wrong checksum in the first header": tar(member("a", b"x", checksum=1)),
    "a wrong checksum later": tar(SKILL, member("a", b"x", checksum=1), RUN),
    "no end": tar(SKILL, end=b""),
    "one zero block at the end": tar(SKILL, end=bytes(512)),
    "an end that is cut": tar(SKILL, end=bytes(1000)),
    "a body that is cut": SKILL[:520],
    "padding that is cut": SKILL[:-1],
    "a pax body that is cut": pax(record("path", "a"))[:514],
    "a pax body of whole blocks that is cut": header(b"x", kind=b"x", size=1024) + record("path", "a") * 40,
    "a size with a bit too many": tar(member("a", b"x", size_field=b"\x81" + bytes(10) + b"\x01")),
    "a size that is no number": tar(member("a", b"x", size_field=b"9" * 11 + b"\0")),
    "a size that is empty": tar(member("a", size_field=bytes(12))),
    "a size below zero": tar(member("a", size_field=b"\xff" * 12)),
    "a size that no file has": tar(member("a", size_field=b"\x80\xff" + bytes(10))),
    "a size in hexadecimal": tar(member("a", size_field=b"0x000000001\0")),
    "two numbers in a size": tar(member("a", b"x", size_field=b"0000001 001\0")),
    "a terabyte": tar(member("a", size_field=b"\x80" + bytes(5) + b"\x01" + bytes(5))),
    "an owner that is no number": tar(member("a", b"x", patch=(108, b"00D0000\0"))),
    "a group that is no number": tar(member("a", b"x", patch=(116, b"0000V00\0"))),
    "a time further ahead": tar(member("a", b"x", patch=(136, b"\x80" + bytes(3) + b"\x80" + bytes(7)))),
    "a time further back": tar(member("a", b"x", patch=(136, b"\xff" * 4 + b"\x7f" + bytes(7)))),
    "an owner below zero": tar(member("a", b"x", patch=(108, b"\xff" * 8))),
    "an owner that is too large": tar(member("a", b"x", patch=(108, b"\x80\0\0\1" + bytes(4)))),
    "a number in another base": tar(member("a", b"x", patch=(136, b"\x9d0000000000\0"))),
    "a time that is left out": tar(member("a", b"x", patch=(136, b" " * 12))),
    "a time that is no number": tar(member("a", b"x", patch=(136, b"00000000+00\0"))),
    "a device number that is no number": tar(member("a", b"x", patch=(329, b"x"))),
    "a second device number that is no number": tar(member("a", b"x", patch=(337, b"x"))),
    "a mode that is no number": tar(member("a", b"x", mode_field=b"rw-r--r-")),
}


@pytest.mark.parametrize("data", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_what_two_readers_could_read_differently_is_refused(data: bytes) -> None:
    _refused(data, "archive-ambiguous")


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_damaged_is_refused(data: bytes) -> None:
    _refused(data, "archive-unreadable")


def _refused(data: bytes, code: str) -> None:
    with pytest.raises(Rejected) as rejected:
        container(data).list(nothing)
    assert [one.code for one in rejected.value.diagnostics] == [code]
    assert isinstance(rejected.value.diagnostics[0].facts["offset"], int)
    assert f"byte {rejected.value.diagnostics[0].facts['offset']:,}" in rejected.value.diagnostics[0].message
    assert refusal(lambda: streamed(data)) == [code]


def test_a_sparse_file_is_called_one() -> None:
    with pytest.raises(Rejected, match="sparse file"):
        container(AMBIGUOUS["sparse in pax"]).list(nothing)


def test_what_nobody_wants_is_not_read() -> None:
    tree = gated(tar_file := container(GOOD))
    tar_file.deliver(tree.files, Nobody(), nothing)


def test_what_is_no_tar_at_all_is_said_so() -> None:
    with pytest.raises(Rejected, match="this is no tar"):
        container(UNREADABLE["no tar"]).list(nothing)
    with pytest.raises(Rejected, match="checksum is wrong"):
        container(UNREADABLE["a wrong checksum later"]).list(nothing)


def test_a_refusal_names_the_byte() -> None:
    with pytest.raises(Rejected) as rejected:
        container(tar(SKILL, member("a", b"x", checksum=1))).list(nothing)
    assert rejected.value.diagnostics[0].facts["offset"] == 1024


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (member("demo/l", kind=b"2", link="SKILL.md"), ""),
        (member("demo/l", kind=b"2", link="../../etc/passwd"), "link-refused"),
        (member("demo/l", kind=b"2", link=b"caf\xe9"), "link-refused"),
        (long_name(b"../" * 40, kind=b"K") + member("demo/l", kind=b"2", link="../"), "link-refused"),
        (pax(record("linkpath", "SKILL.md")) + member("demo/l", kind=b"2", link="SKILL.md"), "link-refused"),
        (member("demo/l", kind=b"1", link="demo/SKILL.md"), "link-refused"),
        (member("demo/n", kind=b"3"), "entry-kind-refused"),
        (member("demo/n", kind=b"4"), "entry-kind-refused"),
        (member("demo/n", kind=b"6"), "entry-kind-refused"),
        (member("demo/n", b"x", kind=b"7"), "entry-kind-refused"),
    ],
)
def test_links_and_special_files_are_for_the_gate_to_judge(part: bytes, code: str) -> None:
    tree = gated(container(tar(SKILL, part, RUN)))
    assert [fault.diagnostic.code for fault in tree.faults] == ([code] if code else [])
    assert {"demo/SKILL.md", "demo/run.sh"} <= {entry.path.text for entry in tree.files}


def test_a_link_is_delivered_with_the_bytes_of_its_target() -> None:
    files = delivered(container(tar(SKILL, member("demo/l.md", kind=b"2", link="SKILL.md"))))
    assert files["demo/l.md"] == files["demo/SKILL.md"]


def test_a_long_link_target_is_the_target() -> None:
    parts = (long_name(b"x" * 120, kind=b"K"), member("l", kind=b"2", link="x" * 100, magic=GNU))
    assert container(tar(*parts)).list(nothing)[0].link_target == "x" * 120


def test_a_folder_without_a_name_is_not_the_folder_of_everything() -> None:
    assert refusal(lambda: gated(container(tar(SKILL, member("", kind=b"5"))))) == ["path-unsafe"]
    assert refusal(lambda: gated(container(tar(SKILL, member("/", kind=b"5"))))) == ["path-unsafe"]


@pytest.mark.parametrize("name", ["../x", "/x", "a\\b", "././a", "a/../../b", "a\nb", "C:/x", "./../x", ".", ""])
def test_dangerous_names_refuse_the_whole_tar(name: str) -> None:
    for data in (tar(SKILL, member(name, b"x")), tar(SKILL, pax(record("path", name)), member("x", b"x"))):
        assert refusal(partial(gated, container(data))) == ["path-unsafe"]


@pytest.mark.parametrize("kind", [b"x", b"g"])
def test_behind_its_records_a_pax_header_holds_zeros(kind: bytes) -> None:
    """Newer versions of Python's own reader look for records there, older ones and other programs do not."""
    header = pax(record("comment", "0" * 40), kind=kind)
    assert [entry.name for entry in container(tar(header, SKILL)).list(nothing)] == ["demo/SKILL.md"]
    for at in (512 + 52, len(header) - 1):
        odd = header[:at] + b"\x16" + header[at + 1 :]
        assert refusal(partial(container(tar(odd, SKILL)).list, nothing)) == ["archive-ambiguous"]
    for at in (512 + 51, 512 + 53, len(header) - 1):
        with pytest.raises(Rejected, match="ends inside a") as caught:
            container(header[:at]).list(nothing)
        assert caught.value.diagnostics[0].code == "archive-unreadable"


def test_a_nul_in_a_pax_path_is_not_the_end_of_the_name() -> None:
    assert refusal(lambda: gated(container(tar(pax(record("path", b"a.md\0.exe")), member("x", b"x"))))) == [
        "path-unsafe"
    ]


def test_one_path_twice_is_ambiguous_also_with_a_dot_in_front() -> None:
    assert refusal(lambda: gated(container(tar(SKILL, SKILL)))) == ["archive-ambiguous"]
    again = tar(SKILL, member("./demo/SKILL.md", b"x"))
    assert refusal(lambda: gated(container(again))) == ["archive-ambiguous"]


def test_a_name_that_is_not_utf8_needs_its_code_page() -> None:
    data = tar(member("\u4e2d\u6587.md".encode("gbk"), b"x"))
    assert refusal(lambda: container(data).list(nothing)) == ["path-encoding"]
    assert [entry.name for entry in container(data, "gbk").list(nothing)] == ["\u4e2d\u6587.md"]
    both = tar(pax(record("path", "\u4e2d.md")), member("x", b"x"))
    assert [entry.name for entry in container(both, "gbk").list(nothing)] == ["\u4e2d.md"]
    assert refusal(lambda: container(tar(pax(record("path", b"caf\xe9")), member("x")), "gbk").list(nothing)) == [
        "path-encoding"
    ]


def test_a_code_page_that_is_none_is_refused() -> None:
    assert refusal(lambda: container(GOOD, "rot13")) == ["path-encoding"]


def test_metadata_headers_are_held_to_their_limits() -> None:
    body = record("uname", "1" * 50)
    data = tar(pax(body), member("a", b"x"))
    assert container(data, header_bytes=len(body)).list(nothing)
    with pytest.raises(BudgetExceeded) as exceeded:
        container(data, header_bytes=len(body) - 1).list(nothing)
    assert (exceeded.value.limit, exceeded.value.used, exceeded.value.max) == ("header_bytes", len(body), len(body) - 1)


def test_a_huge_metadata_header_is_refused_before_it_is_read() -> None:
    part = header(b"x", kind=b"x", size=1 << 30)
    with pytest.raises(BudgetExceeded, match="header_bytes"):
        container(tar(part)).list(nothing)


def test_metadata_headers_in_a_row_are_counted() -> None:
    comment = pax(record("comment", "x"), kind=b"g")
    row = tar(long_name(b"a"), pax(record("mtime", "1")), member("a", b"x"))
    assert container(row, headers=2).list(nothing)
    with pytest.raises(BudgetExceeded) as exceeded:
        container(row, headers=1).list(nothing)
    assert (exceeded.value.limit, exceeded.value.used) == ("headers", 2)
    with pytest.raises(BudgetExceeded, match="headers"):
        container(tar(*[comment] * 3, member("a", b"x")), headers=2).list(nothing)


def test_all_metadata_together_is_held_to_a_limit() -> None:
    part = pax(record("mtime", "1")) + member("a", b"x")
    size = len(record("mtime", "1"))
    assert container(tar(part, part), directory_bytes=2 * size).list(nothing)
    with pytest.raises(BudgetExceeded) as exceeded:
        container(tar(part, part), directory_bytes=2 * size - 1).list(nothing)
    assert (exceeded.value.limit, exceeded.value.used) == ("directory_bytes", 2 * size)


def test_entries_are_charged_before_they_are_kept() -> None:
    bundle = meter("bundle", entries=2)
    charged: list[str] = []

    def charge(amount: int, path: str, /) -> None:
        charged.append(path)
        bundle.charge("entries", amount, path)

    with pytest.raises(BudgetExceeded):
        container(GOOD).list(charge)
    assert charged == ["demo/", "demo/SKILL.md", "demo/run.sh"]


def test_delivery_charges_before_it_hands_on() -> None:
    tree = gated(container(GOOD))
    tar_file = container(GOOD)
    tar_file.list(nothing)
    bundle = meter("bundle", bytes=28)
    keeper = Keeper()
    with pytest.raises(BudgetExceeded):
        tar_file.deliver(tree.files, keeper, lambda amount, path: bundle.charge("bytes", amount, path))
    assert len(keeper.files) < 2
    exact = meter("bundle", bytes=29)
    tar_file.deliver(tree.files, keeper, lambda amount, path: exact.charge("bytes", amount, path))
    assert exact.used("bytes") == 29


def test_an_empty_tar_has_no_entries() -> None:
    assert list(container(END).list(nothing)) == []


def test_the_stream_skips_what_is_not_read() -> None:
    big = member("big.bin", b"z" * 700_000)
    seen = [(entry.listed.name, entry.read(3)) for entry in stream_tar_gz(Forward(gz(tar(big, SKILL))), nothing)]
    assert seen == [("big.bin", b"zzz"), ("demo/SKILL.md", b"---")]


def test_a_body_that_is_cut_never_ends_as_if_it_were_whole() -> None:
    entry = next(iter(stream_tar_gz(Forward(gz(SKILL[:520])), nothing)))
    assert entry.read(100) == SKILL[512:520]
    assert refusal(lambda: entry.read(100)) == ["archive-unreadable"]


def test_a_stream_holds_the_limits_that_it_is_given() -> None:
    data = gz(tar(long_name(b"a"), pax(record("mtime", "1")), member("a", b"x")))
    assert list(stream_tar_gz(Forward(data), nothing))
    with pytest.raises(BudgetExceeded, match="headers"):
        list(stream_tar_gz(Forward(data), nothing, archive=meter("archive", headers=1)))


def test_a_body_that_the_iterator_left_behind_is_over() -> None:
    entries = list(stream_tar_gz(Forward(gz(GOOD)), nothing))
    assert [entry.read(10) for entry in entries] == [b"", b"", b""]


def test_stopping_early_reads_no_further() -> None:
    noise = bytes((n * 7919 + n // 256) % 251 for n in range(600_000))
    source = Forward(gz(tar(SKILL, member("big.bin", noise), RUN), crc=0), 4096)
    entries = stream_tar_gz(source, nothing)
    assert next(entries).listed.name == "demo/SKILL.md"
    assert source.taken < 300_000


def test_a_streamed_tar_pays_for_what_it_skips() -> None:
    bundle = meter("bundle", stream_bytes=100_000)
    source = Forward(gz(tar(member("big.bin", b"z" * 1_000_000), SKILL)))
    with pytest.raises(BudgetExceeded) as exceeded:
        list(stream_tar_gz(source, lambda amount, path: bundle.charge("stream_bytes", amount, path)))
    assert exceeded.value.limit == "stream_bytes"


def test_a_file_that_shrinks_under_the_reader_is_refused() -> None:
    class Shrinking(Memory):
        cut = False

        def pread(self, size: int, offset: int, /) -> bytes:
            return b"" if self.cut else super().pread(size, offset)

    data = Shrinking(GOOD)
    tar_file = TarContainer(data, bundle=meter("bundle"), archive=meter("archive"))
    tree = gated(tar_file)
    data.cut = True
    assert refusal(lambda: tar_file.deliver(tree.files, Keeper(), nothing)) == ["archive-unreadable"]


def _flip(data: bytes, at: int, value: int) -> bytes:
    changed = bytearray(data)
    changed[at % len(data)] = value
    return bytes(changed)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([GOOD, ACCEPTED["pax name"], ACCEPTED["long name"], ACCEPTED["comment for all"]]),
    st.lists(st.tuples(st.integers(min_value=0, max_value=4000), st.integers(min_value=0, max_value=255)), max_size=3),
    st.integers(min_value=0, max_value=600),
)
def test_damage_ends_in_a_refusal_or_a_tar(data: bytes, flips: list[tuple[int, int]], cut: int) -> None:
    """Whatever the bytes are: a listing, or one of our own refusals; on disk and as a stream alike."""
    for at, value in flips:
        data = _flip(data, at, value)
    data = data[: len(data) - cut]

    def outcome(read: Callable[[], object]) -> str:
        try:
            read()
        except Rejected as rejected:
            return rejected.diagnostics[0].code
        except BudgetExceeded as exceeded:
            return exceeded.limit
        return "accepted"

    assert outcome(lambda: container(data).list(nothing)) == outcome(lambda: streamed(data))


def test_kinds_are_those_of_the_header() -> None:
    parts = [member(f"k{n}", kind=b"%d" % n, link="a") for n in range(1, 7)]
    kinds = [entry.kind for entry in container(tar(*parts)).list(nothing)]
    assert kinds == [
        EntryKind.HARDLINK,
        EntryKind.SYMLINK,
        EntryKind.SPECIAL,
        EntryKind.SPECIAL,
        EntryKind.DIRECTORY,
        EntryKind.SPECIAL,
    ]
