"""What a test needs around a container: bytes in memory, a receiver that keeps them, meters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from budgets import Budgets, Meter, Override
from importer.diagnostics import Rejected
from importer.entries import admit
from importer.model import Entry, Tree
from importer.ports import Container, FileSink


class Memory:
    """Bytes in memory that are read by position."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def size(self) -> int:
        return len(self._data)

    def pread(self, size: int, offset: int, /) -> bytes:
        return self._data[offset : offset + size]


class Forward:
    """Bytes in memory that are read forwards, in pieces of at most `piece` bytes; counts what was read."""

    def __init__(self, data: bytes, piece: int = 1 << 30) -> None:
        self._data = data
        self._piece = piece
        self.taken = 0

    def read(self, size: int, /) -> bytes:
        found = self._data[self.taken : self.taken + min(size, self._piece)]
        self.taken += len(found)
        return found


class Keeper:
    """A receiver that keeps every file that was delivered whole."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.begun: list[str] = []
        self._lock = threading.Lock()

    def begin(self, entry: Entry, /, *, deflated: bool = False) -> FileSink:
        del deflated
        with self._lock:
            self.begun.append(entry.path.text)
        return _Kept(self, entry.path.text)

    def take(self, entry: Entry, content: bytes | memoryview, _packed: bytes | memoryview | None = None, /) -> None:
        self.begin(entry)
        self.keep(entry.path.text, bytes(content))

    def keep(self, path: str, data: bytes) -> None:
        with self._lock:
            self.files[path] = data


class Nobody:
    """A receiver that wants nothing."""

    def begin(self, _entry: Entry, /, *, deflated: bool = False) -> None:
        return None

    def take(self, _entry: Entry, _content: bytes | memoryview, _packed: bytes | memoryview | None = None, /) -> None:
        return


class _Kept:
    def __init__(self, keeper: Keeper, path: str) -> None:
        self._keeper = keeper
        self._path = path
        self._data = bytearray()

    def write(self, data: bytes | memoryview, /) -> None:
        self._data += data

    def packed(self, data: bytes | memoryview, /) -> None:
        raise AssertionError("nobody said that it was deflated")

    def done(self) -> None:
        self._keeper.keep(self._path, bytes(self._data))


def meter(profile: str, **limits: int) -> Meter:
    """Return a meter with some limits changed."""
    return Budgets.default([Override.of(profile, name, value, "test") for name, value in limits.items()]).meter(profile)


def nothing(amount: int, path: str, /) -> None:
    """Charge nobody."""


def gated(container: Container, bundle: Meter | None = None) -> Tree:
    """List a container and pass the gate."""
    bundle = bundle or meter("bundle")
    listed = container.list(lambda amount, path: bundle.charge("entries", amount, path))
    return admit(listed, bundle=bundle, archive=meter("archive"))


def delivered(container: Container, tree: Tree | None = None) -> dict[str, bytes]:
    """Return the bytes of all files of a container, by path."""
    tree = tree or gated(container)
    keeper = Keeper()
    container.deliver(tree.files, keeper, nothing)
    container.verify_rest(nothing)
    return keeper.files


def refusal(call: Callable[[], object]) -> Sequence[str]:
    """Return the codes that a call is refused with; none where it is not."""
    try:
        call()
    except Rejected as rejected:
        return [diagnostic.code for diagnostic in rejected.diagnostics]
    return []
