"""Zip archives whose bytes depend on names, contents and executable bits only.

Entries are stored: what zlib writes differs between its versions and builds (zlib-ng, hardware), so the same skill
would give other bytes on another machine. Only a Specialist package that would be too large for an import is
compressed, by `deflate`, which is slow and the same everywhere. Names are sorted by their UTF-8 bytes and carry the
UTF-8 flag, the date is 1980-01-01 00:00:00 everywhere, modes are 0644 or 0755, and there is no extra field, no comment,
no entry for a folder, no data descriptor. The checksum stands in front of the data, so each file is read twice, in
chunks; a file that changes in between ends the export. Memory grows with the number of files, not with their sizes;
where files are compressed, with the compressed size of one of them.

What this importer would refuse is refused here before a byte is written: paths, collisions, and the limits. Only the
size of a compressed package is not known before; there the limit ends a half-written archive.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from struct import pack
from typing import Protocol

from budgets import Budgets, Meter
from importer.diagnostics import Diagnostic, Rejected, error, shown
from importer.exporters.deflate import deflate
from importer.paths import PathRefused, RelPath, fold_key, sort_key
from importer.records import record

_LOCAL = 0x04034B50
_CENTRAL = 0x02014B50
_END = 0x06054B50
_VERSION = 20
_UNIX = 3 << 8
_UTF8 = 0x0800
_STORED = 0
_DEFLATED = 8
_DATE = (0 << 9) | (1 << 5) | 1
_REGULAR = 0o100000
_MAX_ENTRIES = 0xFFFE
_MAX_BYTES = 0xFFFFFFFE

Chunks = Callable[[], Iterable[bytes]]


class Out(Protocol):
    """Where the bytes of an archive go."""

    def write(self, data: bytes, /) -> object:
        """Take the next bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportFile:
    """One file to put into an archive; `chunks` gives its content from the start each time it is called."""

    path: RelPath
    """From the root of the skill, or of the archive."""
    size: int
    executable: bool
    chunks: Chunks

    @classmethod
    def of(cls, path: str, data: bytes, *, executable: bool = False) -> ExportFile:
        """Make one of bytes in memory.

        Raises:
            importer.paths.PathRefused: `path` is no path of ours.
        """
        return cls(path=RelPath.parse(path), size=len(data), executable=executable, chunks=lambda: (data,))


@record(kw_only=False)
class _Written:
    name: bytes
    method: int
    packed: int
    size: int
    crc: int
    mode: int
    offset: int


def write_skill_zip(out: Out, name: str, files: Sequence[ExportFile], budgets: Budgets) -> int:
    """Write one skill under a folder of its name; return the number of bytes written.

    Raises:
        Rejected: a path that an importer would refuse, two that meet, no SKILL.md, or a file that changed meanwhile.
        BudgetExceeded: the skill, or the archive, is over a limit.
    """
    _charge_skill(files, budgets, "")
    if not any(file.path.text == "SKILL.md" for file in files):
        message = f"{shown(name)} has no SKILL.md at its root: it would not be a skill"
        raise Rejected([error("export-skill-incomplete", message, name)])
    placed = _placed({f"{name}/{file.path.text}": file for file in files}, len(files))
    bundle = budgets.meter("bundle")
    bundle.check("entries", len(placed))
    bundle.check("archive_bytes", archive_size(placed))
    for path, _ in placed:
        bundle.check("depth", path.depth + 1, path.text)
    return _write(out, placed)


def write_specialist_zip(
    out: Out,
    manifest: bytes,
    payload: bytes,
    skills: Mapping[str, Sequence[ExportFile]],
    extra: Mapping[str, bytes],
    budgets: Budgets,
) -> int:
    """Write a Specialist package; return the number of bytes written.

    Args:
        out: takes the archive.
        manifest: `manifest.json`, byte for byte.
        payload: `specialist.json`, byte for byte.
        skills: the bundled skills by name, each with its files from the skill's root.
        extra: `README.txt` and `LICENSE`, where there are any.
        budgets: the limits that an import of it will have.

    Raises:
        Rejected: as `write_skill_zip`; or another file at the top than the format allows.
        BudgetExceeded: the package, or one of its skills, is over a limit.
    """
    faults: list[Diagnostic] = []
    wanted: dict[str, ExportFile] = {}
    for top in sorted(set(extra) - {"README.txt", "LICENSE"}):
        faults.append(error("export-file-refused", "a Specialist package has no place for this file", top))
    tops = {"manifest.json": manifest, "specialist.json": payload, **extra}
    if not faults:
        wanted.update((path, ExportFile.of(path, data)) for path, data in tops.items())
    count = len(tops)
    for name, files in skills.items():
        _charge_skill(files, budgets, f"skills/{name}")
        count += len(files)
        if not any(file.path.text == "SKILL.md" for file in files):
            message = f"{shown(name)} has no SKILL.md at its root: it cannot be bundled"
            faults.append(error("export-skill-incomplete", message, f"skills/{name}"))
        wanted.update((f"skills/{name}/{file.path.text}", file) for file in files)
    if faults:
        raise Rejected(faults)
    placed = _placed(wanted, count)
    meter = budgets.meter("specialist")
    meter.check("files", len(placed))
    for path, file in placed:
        meter.check("file_bytes", file.size, path.text)
        meter.check("depth", path.depth + 1, path.text)
        meter.charge("total_bytes", file.size, path.text)
    compress = archive_size(placed) > meter.max("compressed_bytes")
    return _write(out, placed, meter if compress else None)


def archive_size(placed: Sequence[tuple[RelPath, ExportFile]]) -> int:
    """Return the exact size in bytes of an archive of these files: nothing is compressed."""
    return 22 + sum(30 + 46 + 2 * len(sort_key(path)) + file.size for path, file in placed)


def not_bundled(name: str, stated_name: str) -> Diagnostic | None:
    """Return why a skill cannot be bundled with a specialist, or None: there its two names must be equal."""
    if stated_name == name:
        return None
    message = (
        f"{shown(name)} cannot be bundled: its SKILL.md says {shown(stated_name)!r}, and in a Specialist package that "
        "must be the name of its folder; leave it out, or rename one of them"
    )
    return error("export-skill-name", message, f"skills/{name}", name=shown(name), stated=shown(stated_name))


def _charge_skill(files: Sequence[ExportFile], budgets: Budgets, root: str) -> None:
    meter: Meter = budgets.meter("skill")
    meter.check("files", len(files), root)
    for file in files:
        path = f"{root}/{file.path.text}" if root else file.path.text
        meter.check("file_bytes", file.size, path)
        meter.check("depth", file.path.depth, path)
        meter.charge("total_bytes", file.size, path)


def _placed(wanted: Mapping[str, ExportFile], count: int) -> list[tuple[RelPath, ExportFile]]:
    """Return the files under checked paths, in the order of the archive."""
    faults: list[Diagnostic] = []
    if len(wanted) != count:
        faults.append(error("path-collision", "one path is exported twice"))
    placed: list[tuple[RelPath, ExportFile]] = []
    for text, file in wanted.items():
        try:
            placed.append((RelPath.parse(text), file))
        except PathRefused as refused:
            message = f"{shown(refused.fault)}: an importer would refuse it; rename it before the export"
            faults.append(error("path-unsafe", message, text))
    faults += _collisions([path.text for path, _ in placed])
    if len(placed) > _MAX_ENTRIES or archive_size(placed) > _MAX_BYTES:
        faults.append(error("export-too-large", "more than a plain zip can hold: 65,534 files or 4 GiB"))
    if faults:
        raise Rejected(faults)
    return sorted(placed, key=lambda item: sort_key(item[0]))


def _collisions(paths: Sequence[str]) -> Iterator[Diagnostic]:
    seen: dict[str, tuple[str, bool]] = {}
    for path in paths:
        segments = path.split("/")
        for end in range(1, len(segments) + 1):
            part, is_file = "/".join(segments[:end]), end == len(segments)
            first, was_file = seen.setdefault(fold_key(part), (part, is_file))
            if first != part or was_file != is_file:
                message = f"{shown(part)} and {shown(first)} are one on some systems; rename one before the export"
                yield error("path-collision", message, part)
                break


def _write(out: Out, placed: Sequence[tuple[RelPath, ExportFile]], compressed: Meter | None = None) -> int:
    """Write the archive; `compressed` has the limit for its size where the entries have to be compressed."""
    offset = 0
    written: list[_Written] = []
    overhead = archive_size(placed) - sum(file.size for _, file in placed)
    for path, file in placed:
        name = sort_key(path)
        crc = _checksum(path, file)
        mode = _REGULAR | (0o755 if file.executable else 0o644)
        content = None
        if compressed is not None:
            content = deflate(_checked(path, file, crc), file.size - 1)
        method, packed = (_STORED, file.size) if content is None else (_DEFLATED, len(content))
        if compressed is not None:
            overhead += packed
            compressed.check("compressed_bytes", overhead, path.text)
        written.append(_Written(name, method, packed, file.size, crc, mode, offset))
        sizes = (crc, packed, file.size, len(name), 0)
        out.write(pack("<IHHHHHIIIHH", _LOCAL, _VERSION, _UTF8, method, 0, _DATE, *sizes) + name)
        for chunk in _checked(path, file, crc) if content is None else (content,):
            out.write(chunk)
        offset += 30 + len(name) + packed
    directory = 0
    for entry in written:
        header = pack(
            "<IHHHHHHIIIHHHHHII",
            _CENTRAL,
            _UNIX | _VERSION,
            _VERSION,
            _UTF8,
            entry.method,
            0,
            _DATE,
            entry.crc,
            entry.packed,
            entry.size,
            len(entry.name),
            0,
            0,
            0,
            0,
            entry.mode << 16,
            entry.offset,
        )
        out.write(header + entry.name)
        directory += len(header) + len(entry.name)
    out.write(pack("<IHHHHIIH", _END, 0, 0, len(written), len(written), directory, offset, 0))
    return offset + directory + 22


def _checked(path: RelPath, file: ExportFile, crc: int) -> Iterator[bytes]:
    """Yield a file's content, which must be what it was when its checksum was taken."""
    size = again = 0
    for chunk in file.chunks():
        size, again = size + len(chunk), zlib.crc32(chunk, again)
        if size > file.size:
            break
        yield chunk
    if size != file.size or again != crc:
        raise _changed(path)


def _checksum(path: RelPath, file: ExportFile) -> int:
    size = crc = 0
    for chunk in file.chunks():
        size, crc = size + len(chunk), zlib.crc32(chunk, crc)
        if size > file.size:
            break
    if size != file.size:
        raise _changed(path)
    return crc


def _changed(path: RelPath) -> Rejected:
    message = f"{shown(path.text)} changed while it was exported; nothing was exported, try again"
    return Rejected([error("export-changed", message, path.text)])
