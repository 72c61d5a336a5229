"""Running the command in this process: the same entry point as the script's, its output kept apart."""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from importer.cli import main

if TYPE_CHECKING:
    from tests.cli.scene import Scene


MEMORY = "/dev/shm"


@dataclass(frozen=True, slots=True)
class Done:
    """How one run ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    def dispositions(self) -> dict[str, tuple[str, str]]:
        """Each skill of a preview with its disposition and reason."""
        return {skill["name"]: (skill["disposition"], skill["reason"]) for skill in self.json["skills"]}

    def codes(self, severity: str | None = None) -> set[str]:
        """The codes of a report's diagnostics."""
        return {d["code"] for d in self.json["diagnostics"] if severity in (None, d["severity"])}


Run = Callable[..., Done]


def run_importer(*arguments: object) -> Done:
    """Run one command line."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main([str(argument) for argument in arguments])
    text = err.getvalue()
    assert "Traceback" not in text, text
    return Done(status, out.getvalue(), text)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library that does not exist yet, named by the environment; HOME is a folder that nothing may appear in."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("IMPORTER_LIBRARY", str(tmp_path / "library"))
    return tmp_path / "library"


@pytest.fixture
def run(library: Path) -> Run:  # noqa: ARG001, RUF100
    """Run the command against the fresh library."""
    return run_importer


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Path]:
    """An empty folder where syncing costs nothing, if the machine has one: what is synced is not what is looked at."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="importer-test-", dir=MEMORY))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def scene(quick: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A fresh library between folders that stay empty: HOME, the working folder and the folder for temporary files."""
    from tests.cli.scene import Scene

    home, temporary, working = empty = [quick / name for name in ("home", "temporary", "working")]
    for folder in empty:
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("IMPORTER_LIBRARY", str(quick / "library"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(working)
    yield Scene(quick, quick / "library")
    for folder in empty:
        assert list(folder.iterdir()) == [], folder
    assert {path.name for path in quick.iterdir()} <= {"home", "temporary", "working", "packages", "library"}
