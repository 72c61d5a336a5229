"""Real git repositories, made in one `git fast-import` each."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

ENVIRON = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


@dataclass(frozen=True)
class Exe:
    """An executable file."""

    data: bytes


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True)
class Submodule:
    """A commit of another repository."""

    sha: str = "1" * 40


Files = Mapping[str, bytes | Exe | Link | Submodule]


class GitRepo:
    """A bare repository; every change is a commit on a branch."""

    def __init__(self, folder: Path, *, sha256: bool = False) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--bare", *(["--object-format=sha256"] if sha256 else []), ".")
        self._lock = threading.Lock()
        self._batch: subprocess.Popen[bytes] | None = None

    def git(self, *args: str, stdin: bytes = b"") -> bytes:
        """Run git in the repository and return what it prints."""
        done = subprocess.run(["git", *args], cwd=self.folder, env=ENVIRON, input=stdin, capture_output=True)
        if done.returncode:
            raise RuntimeError(f"git {' '.join(args)}: {done.stderr.decode()}")
        return done.stdout

    def commit(self, files: Files, *, branch: str = "main", remove: Iterable[str] = ()) -> str:
        """Put `files` over what the branch has, and return the new commit."""
        self._close()
        parent = self.resolve(branch)
        lines = [f"commit refs/heads/{branch}\ncommitter T <t@example.com> 1700000000 +0000\ndata 1\nx\n".encode()]
        if parent:
            lines.append(f"from {parent}\n".encode())
        lines += [b"D %s\n" % _quoted(path) for path in remove]
        for path, entry in files.items():
            lines.append(_change(path, entry))
        self.git("fast-import", "--quiet", "--force", stdin=b"".join(lines))
        found = self.resolve(branch)
        assert found
        return found

    def tag(self, name: str, target: str, *, annotated: bool = False) -> None:
        """Make a tag."""
        if annotated:
            self.git("-c", "user.name=T", "-c", "user.email=t@example.com", "tag", "-a", "-m", "x", name, target)
        else:
            self.git("tag", name, target)

    def resolve(self, name: str) -> str | None:
        """Return the commit that a ref or SHA means, the branch before the tag; None where there is none."""
        for full in (f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}", name):
            if full == name and not all(c in "0123456789abcdef" for c in name):
                continue
            done = subprocess.run(
                ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{full}^{{commit}}"],
                cwd=self.folder, env=ENVIRON, capture_output=True,
            )  # fmt: skip
            if done.returncode == 0:
                return done.stdout.decode().strip()
        return None

    def refs(self, prefix: str = "refs/") -> list[tuple[str, str, str]]:
        """Return (full name, type, sha) of every ref that starts with `prefix`."""
        out = self.git("for-each-ref", "--format=%(refname)%00%(objecttype)%00%(objectname)").decode()
        rows = [tuple(line.split("\0")) for line in out.splitlines()]
        return [(name, kind, sha) for name, kind, sha in rows if name.startswith(prefix)]

    def tree(self, sha: str, *, recursive: bool) -> list[tuple[str, str, str, int | None, str]]:
        """Return (mode, type, sha, size, path) for each entry."""
        out = self.git("ls-tree", "-z", "-l", *(["-r", "-t"] if recursive else []), sha)
        rows = []
        for line in out.split(b"\0")[:-1]:
            head, _, path = line.partition(b"\t")
            mode, kind, name, size = head.decode().split()
            rows.append((mode, kind, name, None if size == "-" else int(size), path.decode("utf-8", "replace")))
        return rows

    def object(self, sha: str) -> tuple[str, bytes] | None:
        """Return the type and the bytes of an object, or None."""
        with self._lock:
            if self._batch is None:
                self._batch = subprocess.Popen(
                    ["git", "cat-file", "--batch"], cwd=self.folder, env=ENVIRON,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                )  # fmt: skip
            batch = self._batch
            assert batch.stdin is not None
            assert batch.stdout is not None
            batch.stdin.write(sha.encode() + b"\n")
            batch.stdin.flush()
            head = batch.stdout.readline().split()
            if head[-1] == b"missing":
                return None
            data = batch.stdout.read(int(head[2]))
            batch.stdout.read(1)
            return head[1].decode(), data

    def archive(self, commit: str, prefix: str) -> bytes:
        """Return what GitHub serves as a tarball."""
        return self.git("archive", "--format=tar.gz", f"--prefix={prefix}/", commit)

    def _close(self) -> None:
        with self._lock:
            if self._batch is not None:
                assert self._batch.stdin is not None
                assert self._batch.stdout is not None
                self._batch.stdin.close()
                self._batch.wait()
                self._batch.stdout.close()
                self._batch = None

    close = _close


def _quoted(path: str) -> bytes:
    return b'"' + path.replace("\\", "\\\\").replace('"', '\\"').encode() + b'"'


def _change(path: str, entry: bytes | Exe | Link | Submodule) -> bytes:
    if isinstance(entry, Submodule):
        return b"M 160000 %s %s\n" % (entry.sha.encode(), _quoted(path))
    mode, data = (
        (b"100755", entry.data)
        if isinstance(entry, Exe)
        else (b"120000", entry.target.encode())
        if isinstance(entry, Link)
        else (b"100644", entry)
    )
    return b"M %s inline %s\ndata %d\n" % (mode, _quoted(path), len(data)) + data + b"\n"
