"""A place for libraries where syncing costs nothing, if the machine has one: these tests count on many of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = "/dev/shm"


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Path]:
    """Return an empty folder, in memory where the machine has a file system there."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="importer-test-", dir=MEMORY))
    yield folder
    shutil.rmtree(folder)
