"""The digest is the one that anybody can compute with sha256sum."""

from __future__ import annotations

import hashlib
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.digests import tree_digest
from tests.builders.packages import records

NAMES = st.from_regex(r"[a-zäö文0-9]{1,6}(?:/[a-zäö文0-9]{1,6}){0,2}\.md", fullmatch=True)


def oracle(files: dict[str, bytes]) -> str:
    lines = [
        f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n" for path in sorted(files, key=lambda text: text.encode())
    ]
    return "h1:" + hashlib.sha256("".join(lines).encode()).hexdigest()


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, st.binary(max_size=20), max_size=8), st.randoms())
def test_digest_is_the_documented_one_in_any_order(files: dict[str, bytes], order: random.Random) -> None:
    made = records(files)
    order.shuffle(made)
    assert tree_digest(made) == oracle(files)


def test_order_is_by_bytes_whatever_the_locale() -> None:
    files = {"zz": b"1", "aa": b"2", "ä": b"3", "Z": b"4"}
    assert tree_digest(records(files)) == oracle(files)


def test_executable_bit_and_mode_do_not_change_it() -> None:
    files = {"run": b"#!/bin/sh\n"}
    assert tree_digest(records(files, ["run"])) == tree_digest(records(files, mode_known=False))


def test_empty_tree_has_a_digest() -> None:
    assert tree_digest([]) == "h1:" + hashlib.sha256(b"").hexdigest()


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is not installed")
def test_sha256sum_gives_the_same_value(tmp_path: Path) -> None:
    files = {"SKILL.md": b"x", "scripts/a.py": b"y", "ä.md": b"z"}
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    command = "find . -type f | sed 's|^./||' | LC_ALL=C sort | xargs sha256sum | sha256sum"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert tree_digest(records(files)) == f"h1:{done.stdout.split()[0]}"
