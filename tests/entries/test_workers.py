"""Two threads, one outcome."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from importer.workers import run_each


def test_every_item_is_worked_on_once() -> None:
    seen: list[int] = []
    lock = threading.Lock()

    def work(item: int) -> None:
        with lock:
            seen.append(item)

    run_each(work, range(500))
    assert sorted(seen) == list(range(500))
    run_each(work, [])
    run_each(work, [7])
    assert len(seen) == 501


@pytest.mark.parametrize("thread", ["main", "helper"])
def test_the_first_failure_stops_the_rest_and_is_raised(thread: str) -> None:
    here = threading.current_thread()
    both = threading.Barrier(2)
    done: list[int] = []

    def work(item: int) -> None:
        if item < 2:
            # Both threads have one item each now.
            both.wait(10)
            if (threading.current_thread() is here) == (thread == "main"):
                raise OSError(item)
        else:
            done.append(item)

    before = threading.active_count()
    with pytest.raises(OSError, match=r"[01]"):
        run_each(work, range(100_000))
    assert threading.active_count() == before
    assert len(done) < 99_998


class _Held:
    """Something that can be seen to go."""


def test_what_failed_is_let_go_with_its_failure() -> None:
    here = threading.current_thread()
    both = threading.Barrier(2)

    def fail() -> weakref.ref[_Held]:
        held = _Held()

        def work(_item: int) -> None:
            both.wait(10)
            if threading.current_thread() is not here:
                raise OSError(str(held))

        with pytest.raises(OSError, match="_Held"):
            run_each(work, range(2))
        return weakref.ref(held)

    gc.collect()
    gc.disable()
    try:
        assert fail()() is None
    finally:
        gc.enable()
