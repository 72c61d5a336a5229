"""Runs one kind of work on two threads: inflating, hashing and reading all let the other thread run."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
THREADS = 2
"""One for each core of a small machine; each holds one chunk, so memory stays flat."""


def run_each(work: Callable[[T], None], items: Sequence[T], threads: int = THREADS) -> None:
    """Call `work` once for each item, on this thread and `threads` - 1 others.

    The first exception of any thread stops the rest after the item that they are at, and is raised here; so is an
    interruption of this thread. When the call returns or raises, no other thread is at work any more.
    """
    source = iter(items)
    lock = threading.Lock()
    stop = threading.Event()

    def loop() -> None:
        while not stop.is_set():
            with lock:
                try:
                    item = next(source)
                except StopIteration:
                    return
            work(item)

    together(loop, min(threads, len(items)) - 1, loop, stop.set)


def together(work: Callable[[], None], helpers: int, helper: Callable[[], None], stop: Callable[[], None]) -> None:
    """Run `work` on this thread and `helper` on `helpers` others, and wait for all of them.

    Args:
        work: what this thread does.
        helpers: how many threads are started.
        helper: what each of them does.
        stop: called where one of them raises, also for an interruption; the others are to end soon.

    Raises:
        BaseException: what this thread raised, else what the first of the others did.
    """
    failed: list[BaseException] = []

    def run() -> None:
        try:
            helper()
        except BaseException as problem:  # noqa: BLE001 - handed to the thread that waits
            failed.append(problem)
            stop()

    threads = [threading.Thread(target=run, daemon=True) for _ in range(helpers)]
    for thread in threads:
        thread.start()
    try:
        work()
    except BaseException:
        stop()
        raise
    finally:
        # Also after an interruption: nobody may write on once the caller cleans up.
        for thread in threads:
            thread.join()
    if failed:
        try:
            raise failed[0]
        finally:
            # What was raised knows this frame: it must not be known here.
            failed.clear()
