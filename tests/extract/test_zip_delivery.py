"""Delivering: what comes out does not depend on threads, the first failure stops the rest, Ctrl-C ends it."""

from __future__ import annotations

import gc
import threading
import weakref
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from budgets import BudgetExceeded
from importer.diagnostics import Rejected
from importer.extract.crew import Crew
from importer.extract.zip_container import ZipContainer
from importer.model import EntryKind
from tests.builders.zips import STORED, Item, archive, deflate, folder, link
from tests.extract.zip_reading import Collector, MemoryFile, as_entry, budgets, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from importer.model import Entry, Listed
    from tests.extract.zip_reading import Sink

LARGE = [Item(name=f"large-{n}.txt".encode(), content=bytes([65 + n]) * 400_000) for n in range(4)]
MEDIUM = [Item(name=f"medium-{n}.txt".encode(), content=f"{n} some text ".encode() * 6_000) for n in range(8)]
SMALL = [Item(name=f"small-{n}.txt".encode(), content=b"small %d" % n) for n in range(150)]
ITEMS = [
    folder(b"d/"),
    *SMALL[:50],
    *LARGE[:2],
    *MEDIUM,
    *SMALL[50:],
    *LARGE[2:],
    Item(name=b"empty", content=b"", method=STORED),
]


def opened(items: Sequence[Item], threads: int = 2, **limits: int) -> tuple[ZipContainer, list[Listed]]:
    """Return a container that was listed, and its entries."""
    made = budgets(bundle__ratio=2_000, **limits)
    container = ZipContainer(
        MemoryFile(archive(items)), bundle=made.meter("bundle"), archive=made.meter("archive"), threads=threads
    )
    return container, list(container.list(nothing))


def nothing(_amount: int, _path: str, /) -> None:
    """Charge nobody."""


def files(listed: Sequence[Listed]) -> list[Entry]:
    return [as_entry(entry) for entry in listed if entry.kind is EntryKind.FILE]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_contents_do_not_depend_on_threads(threads: int) -> None:
    reading = read(archive(ITEMS), threads=threads, limits=budgets(bundle__ratio=2_000))
    assert reading.files == {item.name.decode(): item.content for item in ITEMS if not item.name.endswith(b"/")}
    assert reading.bundle.used("bytes") == sum(len(item.content) for item in ITEMS)
    assert reading.bundle.used("stream_bytes") == reading.bundle.used("bytes")


def test_a_part_is_delivered_and_the_rest_is_verified() -> None:
    container, listed = opened(ITEMS)
    collector = Collector()
    wanted = [entry for entry in files(listed) if entry.path.text in {"small-3.txt", "large-1.txt"}]
    container.deliver(wanted, collector, nothing)
    assert set(collector.files()) == {"small-3.txt", "large-1.txt"}
    container.verify_rest(nothing)
    assert len(collector.sinks) == 2


@pytest.mark.parametrize("position", [0, 40, 100])
@pytest.mark.parametrize("threads", [1, 2])
def test_what_nobody_wanted_must_be_sound_too(position: int, threads: int) -> None:
    wrong: dict[str, int | bytes] = {"crc": 5}
    items = list(ITEMS)
    items.insert(position, Item(name=b"bad", content=b"bad", local=wrong, central=wrong))
    container, listed = opened(items, threads)
    container.deliver([entry for entry in files(listed) if entry.path.text == "small-3.txt"], Collector(), nothing)
    with pytest.raises(Rejected) as caught:
        container.verify_rest(nothing)
    assert caught.value.diagnostics[0].path == "bad"


@pytest.mark.parametrize(
    "item",
    [
        Item(name=b"empty", content=b"", method=STORED, local={"crc": 5}, central={"crc": 5}),
        Item(name=b"empty", content=b"", packed=b""),
        folder(b"x/", method=8, packed=b"\x07"),
    ],
    ids=["crc of nothing", "no stream", "folder"],
)
def test_entries_without_content_are_verified_too(item: Item) -> None:
    container, _ = opened([SMALL[0], item])
    with pytest.raises(Rejected):
        container.verify_rest(nothing)


def test_a_declined_file_is_charged_and_checked_all_the_same() -> None:
    wrong: dict[str, int | bytes] = {"crc": 5}
    container, listed = opened([SMALL[0], SMALL[1]])
    charged: list[str] = []
    collector = Collector(decline=frozenset({"small-0.txt"}))
    container.deliver(files(listed), collector, lambda _amount, path: charged.append(path))
    assert set(collector.files()) == {"small-1.txt"}
    assert sorted(charged) == ["small-0.txt", "small-1.txt"]
    container, listed = opened([replace(SMALL[0], local=wrong, central=wrong)])
    with pytest.raises(Rejected):
        container.deliver(files(listed), collector, nothing)


def test_a_copy_of_a_link_s_target_is_delivered_from_the_same_entry() -> None:
    container, listed = opened([SMALL[0], link(b"copy", b"small-0.txt"), LARGE[0]])
    target = next(entry for entry in listed if entry.name == "small-0.txt")
    copy = as_entry(target._replace(name="copy"))
    collector = Collector()
    container.deliver([as_entry(target), copy], collector, nothing)
    assert collector.files() == {"small-0.txt": SMALL[0].content, "copy": SMALL[0].content}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("large", [False, True])
def test_no_file_is_finished_that_is_not_what_it_declares(threads: int, large: bool) -> None:
    wrong: dict[str, int | bytes] = {"crc": 5}
    bad = replace(LARGE[0] if large else SMALL[0], name=b"bad", local=wrong, central=wrong)
    container, listed = opened([*ITEMS, bad], threads)
    collector = Collector()
    with pytest.raises(Rejected) as caught:
        container.deliver(files(listed), collector, nothing)
    assert caught.value.diagnostics[0].path == "bad"
    assert "bad" not in collector.files()


def test_of_several_faults_always_the_same_one_is_said() -> None:
    wrong: dict[str, int | bytes] = {"crc": 5}
    items = [replace(item, local=wrong, central=wrong) for item in LARGE]
    found = set()
    for threads in (1, 2, 2, 2, 4, 4):
        container, _ = opened(items, threads)
        with pytest.raises(Rejected) as caught:
            container.verify_rest(nothing)
        found.add(caught.value.diagnostics[0].path)
    assert found == {"large-0.txt"}


class Failing(Collector):
    """A receiver whose disk is full."""

    def begin(self, entry: Entry, /, *, deflated: bool = False) -> Sink | None:
        """Fail at one file."""
        if entry.path.text == "large-2.txt":
            raise OSError(28, "no space left")
        return super().begin(entry, deflated=deflated)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_the_disk_and_a_spent_budget_come_through(threads: int) -> None:
    container, listed = opened(ITEMS, threads)
    with pytest.raises(OSError, match="no space left"):
        container.deliver(files(listed), Failing(), nothing)
    container, listed = opened(ITEMS, threads, bundle__stream_bytes=1_000_000)
    with pytest.raises(BudgetExceeded):
        container.deliver(files(listed), Collector(), nothing)
    assert threading.active_count() == 1


class Interrupted(Collector):
    """A receiver during which a person presses Ctrl-C."""

    def begin(self, entry: Entry, /, *, deflated: bool = False) -> Sink | None:
        """Raise in the caller's thread, as Python does."""
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        return super().begin(entry, deflated=deflated)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_every_thread(threads: int) -> None:
    container, listed = opened(ITEMS, threads)
    with pytest.raises(KeyboardInterrupt):
        container.deliver(files(listed), Interrupted(), nothing)
    assert threading.active_count() == 1


def test_a_closed_container_holds_nothing() -> None:
    container, _ = opened(ITEMS)
    container.close()
    container.verify_rest(nothing)


@pytest.fixture
def no_search() -> Iterator[None]:
    """Let nothing look for cycles: what is let go must go by itself."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


LIE = Item(name=b"lie", content=bytes(20_000), packed=deflate(bytes(20_000_000)))


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "item", [LIE, replace(LARGE[0], name=b"bad", packed=LARGE[1].data()), replace(SMALL[0], name=b"bad", packed=b"\7")]
)
def test_a_refused_archive_is_let_go_at_once(item: Item, threads: int) -> None:
    made = budgets(bundle__ratio=2_000)
    data = MemoryFile(archive([*ITEMS, item]))
    there = weakref.ref(data)
    container = ZipContainer(data, bundle=made.meter("bundle"), archive=made.meter("archive"), threads=threads)
    container.list(nothing)
    with pytest.raises(Rejected) as caught:
        container.verify_rest(nothing)
    assert caught.value.diagnostics
    del caught, container, data
    assert there() is None


def test_what_a_lie_was_inflated_to_is_not_kept_for_its_report() -> None:
    container, _ = opened([LIE], 1)
    with pytest.raises(Rejected) as caught:
        container.verify_rest(nothing)
    held: list[int] = []
    frame: TracebackType | None = caught.value.__traceback__
    while frame is not None:
        held += [len(value) for value in frame.tb_frame.f_locals.values() if isinstance(value, bytes)]
        frame = frame.tb_next
    assert max(held) < 1_000_000


def _broken_off(size: int) -> bytes:
    """Return a stream of zeros that goes on with a block of no type that there is."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(bytes(size)) + packer.flush(zlib.Z_SYNC_FLUSH) + b"\x07"


BROKEN = replace(LIE, name=b"broken", packed=_broken_off(20_000_000))


@pytest.mark.parametrize(("item", "enough"), [(LIE, 20_100_000), (BROKEN, 21_000_000)])
def test_what_a_lie_was_inflated_to_is_paid_for(item: Item, enough: int) -> None:
    bundle = budgets(bundle__stream_bytes=enough, bundle__ratio=2_000).meter("bundle")
    for spent in (False, True):
        made = budgets()
        container = ZipContainer(MemoryFile(archive([item])), bundle=bundle, archive=made.meter("archive"), threads=1)
        container.list(nothing)
        with pytest.raises(BudgetExceeded if spent else Rejected):
            container.verify_rest(nothing)


# --- the crew --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize(("own", "tasks"), [(0, 0), (0, 1), (1, 1), (3, 10), (10, 10), (0, 50)])
def test_every_task_runs_once(own: int, tasks: int, threads: int) -> None:
    ran: list[int] = []
    Crew(own, tasks, ran.append, threads).work()
    assert sorted(ran) == list(range(tasks))


def test_a_refusal_lets_earlier_tasks_finish_and_stops_later_ones() -> None:
    started = threading.Event()
    refused = threading.Event()
    seen: dict[int, bool] = {}

    def run(task: int) -> None:
        if task == 0:
            started.set()
            assert refused.wait(10)
            seen[0] = crew.stopped(0)
            raise Rejected([])
        if task == 1:
            assert started.wait(10)
            refused.set()
            raise Rejected([])
        raise AssertionError("a task after the refused one was run")

    crew = Crew(0, 3, run, 2)
    with pytest.raises(Rejected):
        crew.work()
    assert seen == {0: False}
    assert crew.stopped(1)


def test_a_spent_budget_stops_earlier_tasks_as_well() -> None:
    started = threading.Event()
    stopped = threading.Event()

    def run(task: int) -> None:
        if task == 0:
            started.set()
            while not crew.stopped(0):
                stopped.wait(0.001)
            stopped.set()
        else:
            assert started.wait(10)
            raise BudgetExceeded(profile="bundle", limit="bytes", used=2, maximum=1, unit="bytes")

    crew = Crew(0, 2, run, 2)
    with pytest.raises(BudgetExceeded):
        crew.work()
    assert stopped.is_set()
