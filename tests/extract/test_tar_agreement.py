"""Whatever tar is accepted here, programs see the same files in it, byte for byte; damaged ones are for the fuzzer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.extract.test_tar import ACCEPTED, GOOD
from tests.fuzz.tars import BASES, TOOLS, accepted, read_by_python, read_by_tool

CASES = {**ACCEPTED, "good": GOOD, **{f"base {number}": data for number, data in enumerate(BASES)}}


@pytest.mark.parametrize("data", CASES.values(), ids=CASES)
def test_other_readers_see_the_same(data: bytes, tmp_path: Path) -> None:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (apt install tar libarchive-tools)")
    files = accepted(data)
    assert files is not None
    assert read_by_python(data) == files
    for tool, command in TOOLS.items():
        assert read_by_tool(command, data, tmp_path / tool) == files, tool
