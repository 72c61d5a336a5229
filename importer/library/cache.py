"""Answers of a server that are kept on disk, within a budget. A cache: losing any of it loses nothing."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from importer import fs

if TYPE_CHECKING:
    from pathlib import Path

_KEY = re.compile(r"[0-9a-f]{16,128}")


class DiskCache:
    """Keeps values by hex key in one folder; the oldest go first once all together are over `limit` bytes."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = os.fspath(folder)
        self._limit = limit

    def get(self, key: str, /) -> bytes | None:
        """Return what was kept under `key`; None where there is nothing, or it cannot be read."""
        if not _KEY.fullmatch(key):
            return None
        try:
            with open(f"{self._folder}/{key}", "rb") as file:
                return file.read(self._limit)
        except OSError:
            return None

    def put(self, key: str, value: bytes, /) -> None:
        """Keep `value` as a whole file that only its owner can read.

        Raises:
            OSError: it cannot be written.
        """
        if not _KEY.fullmatch(key) or len(value) > self._limit:
            return
        fs.make_folders(self._folder, 0o700)
        fs.write_whole(f"{self._folder}/{key}", [value], replace=True, mode=0o600)
        self._prune()

    def _prune(self) -> None:
        """Remove the oldest files until the rest is within the limit; another process may do the same meanwhile."""
        files: list[tuple[float, int, str]] = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                files.append((status.st_mtime, status.st_size, entry.path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= self._limit:
                return
            fs.remove_file(path)
            total -= size
