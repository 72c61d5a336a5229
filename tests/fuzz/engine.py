"""Runs targets: makes a case from a seed, feeds it, and holds what happens to the invariants.

Whatever the input is: no exception but our own, no write outside the scratch folder, memory and time bounded.
"""

from __future__ import annotations

import faulthandler
import random
import resource
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from budgets import BudgetExceeded
from importer.diagnostics import Rejected
from tests.fuzz import guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_GROWTH = 96 * 1024
"""KiB that the process may grow by after the first cases."""
MAX_SECONDS = 20.0
"""For one case. Generous, since the machine may be busy; a hang is what this is for."""


class Feed(Protocol):
    """Gives the bytes to the code under test and returns a word for what came of it ("accepted", a code)."""

    def __call__(self, data: bytes, scratch: Path, /) -> str:
        """Raise nothing but `Rejected`, `BudgetExceeded` and `OSError`."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """One kind of input."""

    name: str
    make: Callable[[random.Random], bytes]
    """Makes one input from a seeded source of chance, and from nothing else."""
    feed: Feed
    agree: Callable[[bytes, Path, bool], None] | None = None
    """Holds an accepted input against other readers (all of them where the flag says so); raises `AssertionError`."""


@dataclass(kw_only=True)
class Finding:
    """An invariant that did not hold."""

    target: str
    case: str
    what: str
    data: bytes


@dataclass(kw_only=True)
class Tally:
    """What a run came to."""

    cases: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    compared: int = 0
    findings: list[Finding] = field(default_factory=list)


def case(target: Target, seed: str, number: int) -> bytes:
    """Return the input of one case: the same on every machine."""
    return target.make(random.Random(f"{target.name}:{seed}:{number}"))


def run(
    targets: Iterable[Target],
    *,
    seed: str,
    cases: int | None = None,
    seconds: float | None = None,
    every: int = 40,
    first: int = 0,
    stop_after: int = 10,
) -> Tally:
    """Run cases of each target in turn until there were `cases` of each, or `seconds` are over.

    Every `every`-th accepted case is held against all other readers, the rest against those in the process.
    """
    tally = Tally()
    chosen = list(targets)
    deadline = None if seconds is None else time.monotonic() + seconds
    number = first
    grown = 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        while (cases is None or number < first + cases) and (deadline is None or time.monotonic() < deadline):
            for target in chosen:
                _one(target, seed, number, Path(scratch), every, tally)
            number += 1
            if number == first + 200:
                grown = _memory()
            if grown and _memory() > grown + MAX_GROWTH:
                what = f"memory grew from {grown} to {_memory()} KiB"
                tally.findings.append(Finding(target="all", case=f"{seed}:{number}", what=what, data=b""))
            if len(tally.findings) >= stop_after:
                break
    return tally


def _one(target: Target, seed: str, number: int, scratch: Path, every: int, tally: Tally) -> None:
    data = case(target, seed, number)

    def found(what: str) -> None:
        tally.findings.append(Finding(target=target.name, case=f"{seed}:{number}", what=what, data=data))

    tally.cases += 1
    strays: list[str] = []
    start = time.monotonic()
    faulthandler.dump_traceback_later(MAX_SECONDS * 6, exit=True)
    try:
        with guard.writes_only_in(scratch, strays):
            outcome = target.feed(data, scratch)
    except Rejected as refused:
        outcome = refused.diagnostics[0].code
    except BudgetExceeded:
        outcome = "budget-exceeded"
    except OSError as failure:
        outcome = f"OSError {failure.errno}"
    except Exception:
        found(traceback.format_exc())
        return
    finally:
        faulthandler.cancel_dump_traceback_later()
    tally.outcomes[f"{target.name}: {outcome}"] += 1
    if strays:
        found(f"wrote outside: {strays[:5]}")
    if time.monotonic() - start > MAX_SECONDS:
        found(f"took {time.monotonic() - start:.1f} s")
    if outcome == "accepted" and target.agree is not None:
        whole = tally.outcomes[f"{target.name}: accepted"] % every == 0
        tally.compared += whole
        try:
            target.agree(data, scratch, whole)
        except AssertionError as difference:
            found(f"readers differ: {difference}")


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
