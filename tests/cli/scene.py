"""A scene for packages from strangers: both views of one preview, and what must not have happened afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from importer.diagnostics import hidden
from tests.builders.archives import write_tar, write_zip
from tests.builders.trees import Content, make_tree
from tests.cli.conftest import Done, run_importer

Report = dict[str, Any]


def raw_characters(text: str) -> list[str]:
    """Return what reached the output and could hide, reorder or move something there."""
    return [repr(c) for c in hidden().findall(text.replace("\n", ""))]


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder, the library's own left out."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".importer" not in path.relative_to(folder).parts
    }


@dataclass(frozen=True, slots=True)
class Look:
    """One preview, in both views."""

    status: int
    report: Report
    human: str

    @property
    def skills(self) -> dict[str, Report]:
        """The skills of the report, by name."""
        return {skill["name"]: skill for skill in self.report["skills"]}

    @property
    def left_out(self) -> dict[str, Report]:
        """What is left out, by name."""
        return {item["name"]: item for item in self.report["left_out"]}

    def found(self, code: str) -> Report:
        """Return the one finding of that code."""
        found = self.every(code)
        assert len(found) == 1, (code, self.report["diagnostics"])
        return found[0]

    def every(self, code: str) -> list[Report]:
        """Return every finding of that code."""
        return [d for d in self.report["diagnostics"] if d["code"] == code]

    def codes(self, *severities: str) -> list[str]:
        """Return the codes of some severities, each once, sorted."""
        return sorted({d["code"] for d in self.report["diagnostics"] if d["severity"] in severities})


@dataclass(frozen=True, slots=True)
class Scene:
    """A fresh library, and places to make packages in."""

    folder: Path
    library: Path

    def place(self, name: str = "package") -> Path:
        """Return a path for a package that nothing else uses."""
        place = self.folder / "packages" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def zip(self, files: Mapping[str, bytes], name: str = "package.zip") -> Path:
        """Write an honest zip."""
        return write_zip(self.place(name), files)

    def tar(self, files: Mapping[str, bytes], name: str = "package.tar.gz") -> Path:
        """Write an honest tar."""
        return write_tar(self.place(name), files)

    def tree(self, files: Mapping[str, Content], name: str = "package") -> Path:
        """Write a folder."""
        return make_tree(self.place(name), files)

    def raw(self, data: bytes, name: str = "package.zip") -> Path:
        """Write bytes."""
        place = self.place(name)
        place.write_bytes(data)
        return place

    def staged(self) -> list[str]:
        """Return what waits in the library's staging folder."""
        staging = self.library / ".importer" / "staging"
        return [p.relative_to(staging).as_posix() for p in staging.rglob("*")] if staging.exists() else []

    def installed(self) -> dict[str, bytes]:
        """Return every file of the library that is not its own."""
        return files_below(self.library) if self.library.exists() else {}

    def look(self, source: Path | str, *options: str) -> Look:
        """Preview in both views, and hold both to what is true of every preview."""
        staged, before = self.staged(), self.installed()
        done = run_importer("preview", source, *options, "--json")
        report = done.json
        assert report["schema"] == "importer/preview/1", report
        human = run_importer("preview", source, *options)
        assert self.installed() == before
        assert human.status == done.status
        assert not raw_characters(done.out + done.err + human.out + human.err)
        for finding in report["diagnostics"]:
            assert finding["code"] in human.out, finding
        for item in report["left_out"]:
            assert " left out " in human.out, item
        if done.status == 3:
            assert (report["token"], report["installable"]) == (None, False)
            assert "error" in {d["severity"] for d in report["diagnostics"]}
            assert self.staged() == staged
        else:
            assert report["installable"] is (done.status == 0)
        return Look(done.status, report, human.out)

    def taken(self, source: Path | str, *options: str) -> Look:
        """Preview what is installable without a question."""
        look = self.look(source, *options)
        assert look.status == 0, json.dumps(look.report["diagnostics"], indent=1)
        assert not look.codes("error")
        return look

    def refused(self, source: Path | str, code: str, *options: str) -> Report:
        """Preview what is refused for one reason; return the finding."""
        look = self.look(source, *options)
        assert look.status == 3, look.human
        assert look.codes("error") == [code], look.report["diagnostics"]
        error: Report = next(d for d in look.report["diagnostics"] if d["severity"] == "error")
        return error

    def install(self, source: Path | str, *options: str) -> Report:
        """Install without a question, and verify."""
        done = run_importer("install", source, "--yes", *options, "--json")
        assert done.status == 0, done.out
        assert run_importer("verify").status == 0
        return done.json

    def run(self, *words: object) -> Done:
        """Run any command."""
        return run_importer(*words)
