"""The command in a process of its own: real signals, real pipes, real memory, another locale."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INTERRUPTED_AT = """
import os, signal, sys
from importer import fs
from importer.cli import main
left = int(sys.argv[1])
def observer(operation, path, other):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGINT)
fs.observer = observer
sys.exit(main(sys.argv[2:]))
"""
MEASURED = """
import sys
from importer.cli import main
status = main(sys.argv[1:])
with open("/proc/self/status") as file:
    peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
print(peak * 1024, file=sys.stderr)
sys.exit(status)
"""
"""Prints the peak of the program itself; what `getrusage` gives may be that of the process it was started from."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended; its output is bytes, since how it is encoded may be the question."""

    status: int
    out: bytes
    err: bytes


def surroundings(folder: Path, **changes: str) -> dict[str, str]:
    """Return an environment with a home, a library and a folder for temporary files below `folder`."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ}
    places = {"HOME": "home", "TMPDIR": "temporary", "IMPORTER_LIBRARY": "library"}
    return kept | {name: str(folder / place) for name, place in places.items()} | {"PYTHONPATH": str(ROOT)} | changes


def child(folder: Path, *words: object, code: str = "", umask: int = -1, **changes: str) -> Ended:
    """Run the command, or a program around it, in a process of its own."""
    program = ["-c", code] if code else ["-m", "importer"]
    done = subprocess.run(
        [sys.executable, *program, *map(str, words)],
        env=surroundings(folder, **changes),
        cwd=folder,
        umask=umask,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert b"Traceback" not in done.stderr + done.stdout, done.stderr.decode("utf-8", "replace")
    return Ended(done.returncode, done.stdout, done.stderr)
