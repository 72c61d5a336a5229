"""`python -m tests.fuzz --minutes N`: fuzz for a while; every find is kept as a file and named with its seed."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz.engine import case, run
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Return 0 where every invariant held, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default: 1)")
    parser.add_argument("--seed", default="1", help="same seed, same cases (default: 1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--every", type=int, default=40, help="hold each N-th accepted case against every reader")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="only this kind of input")
    parser.add_argument("--keep", type=Path, help="where finds are kept (default: a new temporary folder)")
    parser.add_argument("--case", type=int, help="write this one case to standard output and stop")
    options = parser.parse_args()
    targets = [TARGETS[name] for name in options.target or TARGETS]
    if options.case is not None:
        sys.stdout.buffer.write(case(targets[0], options.seed, options.case))
        return 0
    tally = run(targets, seed=options.seed, seconds=options.minutes * 60, every=options.every, first=options.first)
    print(f"{tally.cases:,} cases, {tally.compared:,} of them held against every reader")
    for outcome, count in tally.outcomes.most_common():
        print(f"  {count:9,}  {outcome}")
    if not tally.findings:
        return 0
    folder = options.keep or Path(tempfile.mkdtemp(prefix="fuzz-finds-"))
    folder.mkdir(parents=True, exist_ok=True)
    for number, finding in enumerate(tally.findings):
        kept = folder / f"{finding.target}-{number}"
        kept.write_bytes(finding.data)
        print(f"\n{finding.target} {finding.case}, kept as {kept}\n{finding.what}")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
