"""Memory does not grow with what is fetched, measured in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.github.harness import SKILL, hosted
from tests.github.server import GitHubServer
from tests.github.server.faults import Fault, endless

READER = """
import re, sys
from budgets import Budgets
from importer.extract.tar_stream import stream_tar_gz
from importer.sources.github import GitHubSettings, MemoryCache, delivery, open_github
from importer.sources.reference import parse_source
from importer.diagnostics import Rejected
from tests.github.harness import admitted

class Count:
    total = 0
    def begin(self, entry, *, deflated=False): return self
    def take(self, entry, content, packed=None): Count.total += len(content)
    def write(self, data): Count.total += len(data)
    def done(self): pass

url, way = sys.argv[1:]
delivery.REQUEST_COST = delivery.SCARCE_COST = 0 if way == "blobs" else 1 << 40
made = Budgets.default()
try:
    container = open_github(
        parse_source("acme/skills/s", exists=lambda _: False),
        settings=GitHubSettings(environ={"GITHUB_API_URL": url}, cache=MemoryCache()),
        github_meter=made.meter("github"), bundle_meter=made.meter("bundle"), open_tar=stream_tar_gz,
    )
    entries = admitted(container.list(lambda n, path: None))
    container.deliver(entries, Count(), lambda n, path: None)
    print(Count.total, *container.failures)
except Rejected as fault:
    print(fault.diagnostics[0].code)
print(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
"""
MIB = 1024 * 1024
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")


def _peak(server: GitHubServer, way: str) -> tuple[str, int]:
    done = subprocess.run([sys.executable, "-c", READER, server.url, way], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said, peak = done.stdout.splitlines()
    return said, int(peak) // 1024


@pytest.mark.parametrize("base64", [False, True])
@pytest.mark.parametrize("way", ["blobs", "archive"])
def test_a_large_skill(server: GitHubServer, tmp_path: Path, way: str, base64: bool) -> None:
    line = b"a line that packs well, so that the server has little to do\n"
    files = {f"s/{n}.bin": bytes([n]) + line * (8 * MIB // len(line)) for n in range(3)}
    hosted(server, tmp_path, {"s/SKILL.md": SKILL, **files})
    server.limits.base64_only = base64
    said, peak = _peak(server, way)
    assert said == str(len(SKILL) + sum(map(len, files.values())))
    assert peak < 62


@pytest.mark.parametrize("where", ["skills$", "trees/", "blobs/", "legacy"])
def test_an_endless_body(server: GitHubServer, tmp_path: Path, where: str) -> None:
    hosted(server, tmp_path, {"s/SKILL.md": SKILL, "s/a": b"x" * 2 * MIB})
    server.faults.append(Fault(where, endless(b" " * 65536)))
    _, peak = _peak(server, "archive" if where == "legacy" else "blobs")
    assert peak < 62
