"""A fixed list of tasks, shared by the calling thread and a few helpers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budgets import BudgetExceeded
from importer.diagnostics import Rejected
from importer.workers import together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NEVER = 1 << 62
_NOW = -1


class Crew:
    """Runs tasks 0..n-1, each once, and raises what the first of them (by number) raised.

    The first `own` tasks are short steps of the interpreter, which two threads would only fight over: the caller runs
    them alone. The others spend their time in code that needs no interpreter, and any thread takes them.

    Where one task refuses its input, the tasks after it stop within one step and those before it are finished, so that
    the reason does not depend on which thread was faster. A spent budget or a failing disk stops everything. The
    caller's thread works too, which is why Ctrl-C is seen at once; the helpers then stop at their next step.
    """

    def __init__(self, own: int, tasks: int, run: Callable[[int], None], threads: int) -> None:
        self._own = iter(range(own))
        self._shared = iter(range(own, tasks))
        self._run = run
        self._helpers = max(0, min(threads - 1, tasks - own))
        self._failed = _NEVER
        self._failures: dict[int, Exception] = {}

    def stopped(self, task: int) -> bool:
        """Tell a running task whether to give up."""
        return task > self._failed

    def work(self) -> None:
        """Run everything.

        Raises:
            Rejected, BudgetExceeded, OSError: the failure of the task with the lowest number.
        """

        def work() -> None:
            self._take(self._own)
            self._take(self._shared)

        try:
            together(work, self._helpers, lambda: self._take(self._shared), self._stop)
        finally:
            # What runs the tasks knows this crew: with the circle open, what both hold goes at once.
            del self._run
        if self._failures:
            first = self._failures[min(self._failures)]
            # A failure knows the frames that it passed, what they hold, and so this crew: only one way may lead on.
            self._failures.clear()
            try:
                raise first
            finally:
                del first

    def _stop(self) -> None:
        self._failed = _NOW

    def _take(self, tasks: Iterator[int]) -> None:
        """Take tasks until there are none, or one before them failed."""
        for task in tasks:
            if self.stopped(task):
                return
            try:
                self._run(task)
            except Rejected as failure:
                self._failures[task] = failure
                self._failed = min(self._failed, task)
            except (BudgetExceeded, OSError) as failure:
                self._failures[task] = failure
                self._stop()
