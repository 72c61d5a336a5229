"""Where a package's files stand between its source and the library: hashed and inspected as they pass, kept in packs.

The folder is private to this process (its root has mode 0700 and a random name), so a name in it means what it meant a
moment ago. Nothing is held in memory. Files are made of what the packs hold only when a package is installed: each is
inflated and hashed again on its way, and compared with its record.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
from array import array
from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from importer import fs
from importer.inspection import PLAIN_TEXT, FileInspector, inspect
from importer.model import FileRecord
from importer.packs import INDEX, Blob, Pack, PackDamaged, PackReader, Packs, has_size, read_index, write_index
from importer.paths import RelPath
from importer.workers import run_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from importer.inspection import Inspection
    from importer.model import Entry

TREE = "tree"
"""The folder inside the staging folder that files are unpacked to."""
_BATCH = 32
"""Files that a thread unpacks before it asks for more."""


class Part(NamedTuple):
    """A folder whose files are checked, and made where they are wanted."""

    folder: str
    records: Sequence[FileRecord]
    wanted: bool = True


class _Folder:
    """The files of one candidate, in the order in which they were delivered."""

    __slots__ = ("_ordered", "inspections", "places", "records")

    def __init__(self) -> None:
        self._ordered: tuple[FileRecord, ...] = ()
        self.records: list[FileRecord] = []
        self.places = array("Q")
        """Three numbers for each record, its blob: there may be tens of thousands."""
        self.inspections: dict[str, Inspection] = {}

    def add(self, record: FileRecord, blob: Blob, inspection: Inspection) -> None:
        self.records.append(record)
        self.places.extend((blob.pack << 1 | blob.deflated, blob.start, blob.length))
        if inspection is not PLAIN_TEXT:
            self.inspections[record.path.text] = inspection

    def ordered(self) -> tuple[FileRecord, ...]:
        if len(self._ordered) != len(self.records):
            # The order of code points is that of the bytes of UTF-8.
            self._ordered = tuple(sorted(self.records, key=lambda record: record.path.text))
        return self._ordered

    def blobs(self) -> Iterator[tuple[str, Blob]]:
        """Yield the path of each file with its blob."""
        places = iter(self.places)
        for record, pack, start, length in zip(self.records, places, places, places, strict=True):
            yield record.path.text, Blob(pack >> 1, start, length, pack & 1 == 1)


class StagedFolder:
    """Receives the files of one import, from several threads at once; everything else happens between deliveries.

    An entry is placed before it is delivered, and found again by its identity: two containers of one import may hold
    entries that are equal.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._base = os.fspath(root)
        self._lock = threading.Lock()
        self._places: dict[int, tuple[Entry, str, RelPath]] = {}
        self._made: set[str] = set()
        self._folders: dict[str, _Folder] = {}
        self._packs = Packs(self._base)
        self._reader = PackReader(self._base)

    # --- what comes from a container ---------------------------------------------------------------------------------

    def place(self, entry: Entry, folder: str, path: RelPath) -> None:
        """Say where an entry goes: to `path` inside `folder`, which is a relative path inside the staging folder."""
        self._places[id(entry)] = (entry, folder, path)

    def begin(self, entry: Entry, /, *, deflated: bool = False) -> _Sink | None:
        """Take the file of an entry piece by piece; None where it was not placed. Raises OSError."""
        place = self._places.pop(id(entry), None)
        if place is None:
            return None
        _, folder, path = place
        return _Sink(self, self._pack(), folder, path, entry.executable, deflated)

    def take(self, entry: Entry, content: bytes | memoryview, packed: bytes | memoryview | None = None, /) -> None:
        """Take a small file as a whole. Raises OSError.

        Args:
            entry: where it was not placed, nothing happens.
            content: the file.
            packed: the same as one Deflate stream, where it came as that.
        """
        place = self._places.pop(id(entry), None)
        if place is None:
            return
        _, folder, path = place
        pack = self._pack()
        start = pack.end
        pack.append(content if packed is None else packed)
        blob = Blob(pack.number, start, pack.end - start, packed is not None)
        self._packs.give_back(pack)
        whole = content if isinstance(content, bytes) else bytes(content)
        inspection = inspect(whole)
        self._record(folder, path, len(whole), hashlib.sha256(whole).hexdigest(), entry.executable, blob, inspection)

    def _pack(self) -> Pack:
        if not self._made:
            self._make(self._base)
        return self._packs.lend()

    def _record(
        self,
        folder: str,
        path: RelPath,
        size: int,
        sha256: str,
        executable: bool | None,
        blob: Blob,
        inspection: Inspection,
    ) -> None:
        record = FileRecord(
            path=path,
            size=size,
            sha256=sha256,
            executable=inspection.shebang if executable is None else executable,
            mode_known=executable is not None,
            shebang=inspection.shebang,
        )
        with self._lock:
            files = self._folders.get(folder)
            if files is None:
                files = self._folders[folder] = _Folder()
            files.add(record, blob, inspection)

    # --- what was delivered ------------------------------------------------------------------------------------------

    def records(self, folder: str) -> tuple[FileRecord, ...]:
        """Return one record for each file that was delivered to a folder, ordered by the UTF-8 bytes of its path."""
        files = self._folders.get(folder)
        return files.ordered() if files is not None else ()

    def inspections(self, folder: str) -> Mapping[str, Inspection]:
        """Return by path what was seen in the files of a folder as they came; plain text is not mentioned."""
        files = self._folders.get(folder)
        return MappingProxyType(files.inspections if files is not None else {})

    def read(self, folder: str, path: RelPath, limit: int) -> bytes:
        """Return at most `limit` bytes from the start of one file.

        Raises:
            KeyError: nothing was delivered under that path.
            OSError: it cannot be read.
        """
        files = self._folders.get(folder)
        blob = next((blob for name, blob in files.blobs() if name == path.text), None) if files is not None else None
        if blob is None:
            raise KeyError(path.text)
        self._packs.flush()
        return b"".join(self._reader.content(blob, limit))[:limit]

    def spool(self, name: str) -> tuple[BinaryIO, Path]:
        """Create a file beside the packs, for a nested archive or an inflated tar.

        Returns:
            The file, open for writing, and its path. It goes with `drop_spool`, or when the staging folder does.
        """
        self._make(f"{self._base}/spool")
        path = self.root / "spool" / f"{len(name)}-{os.urandom(6).hex()}"
        return io.BufferedWriter(fs.NewFile(os.fspath(path)), 1 << 16), path

    def drop_spool(self) -> None:
        """Remove every spooled file: once the candidates are staged, nobody reads them again. Raises OSError."""
        spool = f"{self._base}/spool"
        if spool in self._made:
            fs.remove_tree(spool)
            self._made.discard(spool)

    # --- from a preview to its install -------------------------------------------------------------------------------

    def seal(self) -> None:
        """Write down where each file lies, for whoever installs it; nothing is delivered after that. Raises OSError."""
        self._make(self._base)
        self._packs.flush()
        write_index(self._base, self._packs.sizes(), self._blobs())

    def unpack(self, parts: Sequence[Part]) -> tuple[str, ...]:
        """Hash every file of some folders again, compare it with its record, and make files of those that are wanted.

        Files are made below `TREE`; whatever is there already is removed first.

        Returns:
            The files (folder and path) that are no longer what was delivered, or gone; where a pack or the index is
            another one, those, and nothing is made.

        Raises:
            OSError: a pack cannot be read, or a file cannot be written.
        """
        tree = f"{self._base}/{TREE}"
        fs.remove_tree(tree)
        self._made = {folder for folder in self._made if not folder.startswith(tree)}
        if not any(part.records for part in parts):
            return ()
        self._packs.flush()
        blobs, differing = self._index()
        if differing:
            return tuple(sorted(differing))
        work: list[tuple[FileRecord, str, str]] = []
        for part in parts:
            target = f"{tree}/{part.folder}" if part.wanted else ""
            if target:
                for folder in sorted({f"{target}/{record.path.parent}".rstrip("/") for record in part.records}):
                    self._make(folder)
            work += [
                (record, f"{part.folder}/{record.path.text}", f"{target}/{record.path.text}" if target else "")
                for record in part.records
            ]

        def some(batch: Sequence[tuple[FileRecord, str, str]]) -> None:
            for record, name, target in batch:
                blob = blobs.get(name)
                if blob is None or not self._unpack(record, blob, target):
                    differing.append(name)

        run_each(some, [work[at : at + _BATCH] for at in range(0, len(work), _BATCH)])
        return tuple(sorted(differing))

    def _unpack(self, record: FileRecord, blob: Blob, target: str) -> bool:
        """Make one file at `target`, or none where that is empty; return whether its bytes are those of its record."""
        whole = hashlib.sha256()
        size = 0
        descriptor = fs.create(target, executable=record.executable) if target else -1
        try:
            for data in self._reader.content(blob, record.size):
                whole.update(data)
                size += len(data)
                if target:
                    fs.write(descriptor, data, target)
        except PackDamaged:
            return False
        finally:
            if target:
                os.close(descriptor)
        return size == record.size and whole.hexdigest() == record.sha256

    def _index(self) -> tuple[Mapping[str, Blob], list[str]]:
        """Return by folder and path where the files lie, and which of packs and index are not as `seal` left them."""
        if self._folders:
            return dict(self._blobs()), []
        try:
            sizes, blobs = read_index(self._base)
        except PackDamaged:
            return {}, [INDEX]
        changed = [number for number, size in enumerate(sizes) if not has_size(self._base, number, size)]
        return blobs, [f"pack-{number}" for number in changed]

    def _blobs(self) -> Iterator[tuple[str, Blob]]:
        for folder, files in self._folders.items():
            for path, blob in files.blobs():
                yield f"{folder}/{path}", blob

    def write(self, folder: str, path: RelPath, data: bytes) -> None:
        """Make a file below `TREE` with these bytes, made by the importer itself. Raises OSError."""
        parent = f"{self._base}/{TREE}/{folder}/{path.parent}".rstrip("/")
        self._make(parent)
        fs.write_new(f"{parent}/{path.name}", data)

    def sync(self) -> None:
        """Make every file below `TREE` durable, with its name. Raises OSError."""
        fs.sync_tree(f"{self._base}/{TREE}")
        fs.sync_folder(self._base)
        fs.sync_folder(os.path.dirname(self._base))

    def close(self) -> None:
        """Close what is open, also after a delivery that was broken off."""
        self._packs.close()
        self._reader.close()

    def _make(self, folder: str) -> None:
        with self._lock:
            if not self._made:
                fs.make_folder(self._base, 0o700)
                self._made.add(self._base)
            missing: list[str] = []
            while folder not in self._made:
                missing.append(folder)
                folder = os.path.dirname(folder)
            for path in reversed(missing):
                fs.make_folder(path)
                self._made.add(path)


class _Sink:
    """Takes one file in pieces. It counts as delivered once `done` was called."""

    __slots__ = (
        "_deflated",
        "_executable",
        "_folder",
        "_hash",
        "_inspector",
        "_pack",
        "_path",
        "_size",
        "_staged",
        "_start",
    )

    def __init__(
        self, staged: StagedFolder, pack: Pack, folder: str, path: RelPath, executable: bool | None, deflated: bool
    ) -> None:
        self._staged = staged
        self._pack = pack
        self._start = pack.end
        self._folder = folder
        self._path = path
        self._executable = executable
        self._deflated = deflated
        self._hash = hashlib.sha256()
        self._inspector = FileInspector(self._again)
        self._size = 0

    def write(self, data: bytes | memoryview, /) -> None:
        """Take the next bytes of the file."""
        self._hash.update(data)
        self._inspector.feed(data)
        if not self._deflated:
            self._pack.append(data)
        self._size += len(data)

    def packed(self, data: bytes | memoryview, /) -> None:
        """Take the next bytes of the Deflate stream that the file comes in, where `begin` was told of one."""
        self._pack.append(data)

    def _blob(self) -> Blob:
        return Blob(self._pack.number, self._start, self._pack.end - self._start, self._deflated)

    def _again(self) -> Iterator[bytes]:
        self._pack.flush()
        return self._staged._reader.content(self._blob(), self._size)

    def done(self) -> None:
        """Record the file."""
        inspection = self._inspector.result()
        # It knows this sink: with the circle open, what both hold goes at once.
        del self._inspector
        blob = self._blob()
        self._staged._packs.give_back(self._pack)
        self._staged._record(
            self._folder, self._path, self._size, self._hash.hexdigest(), self._executable, blob, inspection
        )
