"""Ordinary archives, written by the standard library as people's tools write them."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path


def zip_bytes(files: Mapping[str, bytes], executable: frozenset[str] = frozenset()) -> bytes:
    """Return an honest zip with Deflate and Unix modes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = (0o100755 if name in executable else 0o100644) << 16
            archive.writestr(info, data)
    return out.getvalue()


def write_zip(path: Path, files: Mapping[str, bytes], executable: frozenset[str] = frozenset()) -> Path:
    """Write an honest zip."""
    path.write_bytes(zip_bytes(files, executable))
    return path


def write_tar(path: Path, files: Mapping[str, bytes], executable: frozenset[str] = frozenset()) -> Path:
    """Write an honest tar, compressed where the suffix says so."""
    with tarfile.open(path, "w:gz" if path.suffix in {".gz", ".tgz"} else "w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mode = 0o755 if name in executable else 0o644
            archive.addfile(info, io.BytesIO(data))
    return path
