"""Whole processes, timed from outside, with the peak memory that the operating system saw."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The peak that the system reports for a child starts at its parent's size: a small launcher keeps that out.
_LAUNCHER = (
    "import os,resource,sys,time\n"
    "start=time.perf_counter();pid=os.fork()\n"
    "if pid==0:\n"
    " null=os.open(os.devnull,os.O_RDWR)\n"
    " os.dup2(null,0);os.dup2(null,1);os.dup2(null,2)\n"
    " os.execvp(sys.argv[1],sys.argv[1:])\n"
    "_,status=os.waitpid(pid,0)\n"
    "took=time.perf_counter()-start\n"
    "print(took,resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,os.waitstatus_to_exitcode(status))\n"
)


@dataclass(frozen=True, slots=True)
class Run:
    """One run: wall seconds, peak memory in MiB, exit status."""

    seconds: float
    mib: float
    status: int


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> Run:
    """Run a command to its end, its output thrown away; our modules are compiled once, as after an installation."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command],
        capture_output=True,
        text=True,
        check=True,
        env={**kept, **(environment or {})},
    )
    seconds, kib, status = done.stdout.split()
    return Run(float(seconds), int(kib) / 1024, int(status))


@dataclass(frozen=True, slots=True)
class Compared:
    """A command against its baseline: the ratios of the pairs, and the largest peak memory of the command."""

    ratios: tuple[float, ...]
    mib: float
    seconds: float
    baseline: float

    def row(self) -> str:
        """Return min, median and max of the ratio."""
        low, middle, high = min(self.ratios), statistics.median(self.ratios), max(self.ratios)
        times = f"{self.seconds:7.3f} s / {self.baseline:7.3f} s"
        return f"{low:6.2f} {middle:6.2f} {high:6.2f}   {self.mib:6.1f} MiB   {times}"


def compare(
    ours: Callable[[], Sequence[str]],
    baseline: Callable[[], Sequence[str]],
    *,
    runs: int,
    expect: int = 0,
) -> Compared:
    """Run both in turn, one warm-up first, and return the ratio of each pair.

    Raises:
        RuntimeError: our command ended with another status than `expect`: then nothing was measured.
    """
    ratios: list[float] = []
    peak = 0.0
    times: list[float] = []
    base_times: list[float] = []
    for number in range(runs + 1):
        theirs = run(baseline())
        mine = run(ours())
        if mine.status != expect:
            raise RuntimeError(f"{ours()} ended with {mine.status}, not {expect}")
        peak = max(peak, mine.mib)
        if number:
            ratios.append(mine.seconds / theirs.seconds)
            times.append(mine.seconds)
            base_times.append(theirs.seconds)
    return Compared(tuple(ratios), peak, statistics.median(times), statistics.median(base_times))
