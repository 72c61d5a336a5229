"""`python -m tests.bench [--runs N] [--only WORD]`: every figure as a ratio against a baseline of the same run.

Needs `unzip` and `sha256sum` on the path, and the `importer` command beside the Python that runs this.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench import github, inputs
from tests.bench.measure import compare, run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

IMPORTER = [sys.executable, "-m", "importer"]


class Bench:
    """The rows, over one temporary folder."""

    def __init__(self, folder: Path, runs: int, only: str) -> None:
        self.folder = folder
        self.runs = runs
        self.only = only
        self.fresh = itertools.count()

    def row(
        self, name: str, ours: Callable[[], Sequence[str]], baseline: Callable[[], Sequence[str]], expect: int = 0
    ) -> None:
        """Measure and print one row, where it was asked for."""
        if self.only in name:
            print(f"{name:<64} {compare(ours, baseline, runs=self.runs, expect=expect).row()}", flush=True)

    def preview(self, archive: Path, library: Path | None = None, *options: str) -> Callable[[], Sequence[str]]:
        """A preview into a fresh library, or over the one that is given."""

        def command() -> Sequence[str]:
            where = library or self.folder / f"library-{next(self.fresh)}"
            return [*IMPORTER, "preview", str(archive), "--library", str(where), "--json", *options]

        return command

    def unzip_test(self, archive: Path) -> Callable[[], Sequence[str]]:
        """`unzip -t`: inflate and check every CRC."""
        return lambda: ["unzip", "-tqq", str(archive)]

    def unzip_and_hash(self, archive: Path) -> Callable[[], Sequence[str]]:
        """`unzip` into a fresh folder, then `sha256sum` of every file."""

        def command() -> Sequence[str]:
            target = self.folder / f"unzipped-{next(self.fresh)}"
            script = f"unzip -qq '{archive}' -d '{target}' && find '{target}' -type f -print0 | xargs -0 sha256sum"
            return ["sh", "-c", script]

        return command

    def installed(self, archive: Path) -> Path:
        """A library that holds all of `archive`."""
        library = self.folder / f"library-{next(self.fresh)}"
        done = run([*IMPORTER, "install", str(archive), "--library", str(library), "--yes"])
        if done.status:
            raise RuntimeError(f"installing {archive.name} ended with {done.status}")
        return library


def main() -> None:
    """Measure everything."""
    options = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--only", default="", help="rows whose name holds this")
    chosen = options.parse_args()
    missing = [tool for tool in ("unzip", "sha256sum") if shutil.which(tool) is None]
    if missing:
        sys.exit(f"needs {', '.join(missing)} on the path")
    with tempfile.TemporaryDirectory(prefix="importer-bench-") as name:
        print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {chosen.runs} runs after one warm-up")
        print(f"{'ours / baseline':<64} {'min':>6} {'median':>6} {'max':>6}   {'peak RSS':>10}   seconds (medians)")
        rows(Bench(Path(name), chosen.runs, chosen.only), Path(name))


def rows(bench: Bench, folder: Path) -> None:
    """Every row, in the order in which README lists them."""
    full = inputs.specialist(folder / "specialist-200.zip", files=2_000, total=199 * inputs.MIB)
    some = inputs.specialist(folder / "specialist-60.zip", files=1_500, total=60_000_000)
    bundle = inputs.bundle(folder / "bundle.zip", skills=200, files=20)
    other = inputs.bundle(folder / "bundle-other.zip", skills=200, files=20, note="Another version.")
    tiny = inputs.bundle(folder / "bundle-tiny.zip", skills=200, files=20, size=2_000)
    nested = inputs.nested(folder / "nested.zip", archives=100)
    wide = inputs.wide(folder / "wide.zip", entries=32_768)
    bench.row("preview specialist 200 MiB, 2,000 files / unzip -t", bench.preview(full), bench.unzip_test(full))
    bench.row("preview specialist 60 MB, 1,500 files / unzip -t", bench.preview(some), bench.unzip_test(some))
    bench.row("preview specialist 200 MiB / unzip + sha256sum", bench.preview(full), bench.unzip_and_hash(full))
    bench.row("preview bundle 200 x 20 files / unzip -t", bench.preview(bundle), bench.unzip_test(bundle))
    bench.row("preview bundle 200 x 20 files / unzip + sha256sum", bench.preview(bundle), bench.unzip_and_hash(bundle))
    bench.row("preview bundle 200 x 20 tiny files / unzip + sha256sum", bench.preview(tiny), bench.unzip_and_hash(tiny))
    bench.row("preview 100 nested skill zips / unzip + sha256sum", bench.preview(nested), bench.unzip_and_hash(nested))
    bench.row("preview 32,768 entries / unzip -t", bench.preview(wide), bench.unzip_test(wide))
    bench.row("preview 32,768 entries / unzip + sha256sum", bench.preview(wide), bench.unzip_and_hash(wide))
    if bench.only in "over an equal library" or bench.only in "over another version":
        equal = bench.installed(bundle)
        bench.row("preview over an equal library / first preview", bench.preview(bundle, equal), bench.preview(bundle))
        over = bench.preview(other, equal)
        bench.row("preview over another version / first preview", over, bench.preview(other), expect=4)
        verify = lambda: [*IMPORTER, "verify", "--library", str(equal)]  # noqa: E731
        bench.row("verify bundle 200 x 20 files / unzip + sha256sum", verify, bench.unzip_and_hash(bundle))

    def install() -> Sequence[str]:
        library = folder / f"library-{next(bench.fresh)}"
        return [*IMPORTER, "install", str(bundle), "--library", str(library), "--yes"]

    bench.row("install bundle 200 x 20 files / unzip + sha256sum", install, bench.unzip_and_hash(bundle))
    click = lambda: [sys.executable, "-c", "import click"]  # noqa: E731
    script = Path(sys.executable).with_name("importer")
    command = str(script) if script.exists() else ""
    if command:
        bench.row("importer --version / python -c 'import click'", lambda: [command, "--version"], click)
        bench.row("importer budgets / python -c 'import click'", lambda: [command, "budgets"], click)
    growth(bench, folder)
    github.rows(bench, folder)


def growth(bench: Bench, folder: Path) -> None:
    """Time per entry and per MiB, each step against the one before it: flat is the ratio of the sizes."""
    before: tuple[int, Path] | None = None
    for entries in (1_000, 4_000, 16_000):
        archive = inputs.wide(folder / f"wide-{entries}.zip", entries=entries)
        if before is not None:
            name = f"growth: {entries:,} entries / {before[0]:,} entries ({entries / before[0]:.0f}x the work)"
            bench.row(name, bench.preview(archive), bench.preview(before[1]))
        before = (entries, archive)
    before = None
    for size in (10, 50, 200):
        archive = inputs.bundle(folder / f"size-{size}.zip", skills=10, files=20, size=size * inputs.MIB // 200)
        if before is not None:
            name = f"growth: {size} MiB / {before[0]} MiB ({size / before[0]:.0f}x the work)"
            bench.row(name, bench.preview(archive), bench.preview(before[1]))
        before = (size, archive)


if __name__ == "__main__":
    main()
