"""How often and how long a fault that may pass is tried again.

One `Patience` serves a whole import, so that a host that is down ends the import soon however many files it has: at
most `ATTEMPTS` tries of one request, `RETRIES` repetitions in all, and none that starts more than `SECONDS` after its
operation did, or after the last try that got further than those before. With the read time-out of 15 s that keeps a
persistent fault below 40 requests and 40 seconds.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from importer.sources.github.faults import Exhausted, Transient

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenacity import RetryCallState

    from importer.sources.github.settings import Clock

ATTEMPTS = 4
RETRIES = 14
SECONDS = 20.0
FIRST_WAIT = 0.4
LONGEST_WAIT = 1.6

Result = TypeVar("Result")


class Patience:
    """Repeats operations that raise `Transient`; safe to use from several threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._left = RETRIES
        self._trouble: float | None = None
        self._lock = threading.Lock()

    @property
    def spent(self) -> bool:
        """Whether nothing is repeated any more."""
        return self._left <= 0

    def run(self, operation: Callable[[], Result]) -> Result:
        """Return what `operation` returns, repeating it while it raises `Transient` and patience lasts.

        Raises:
            Exhausted: with the last fault's diagnostic.
        """
        from tenacity import Retrying, retry_if_exception_type

        started, first = self._clock.monotonic(), 0

        def stop(state: RetryCallState) -> bool:
            nonlocal started, first
            fault = state.outcome.exception() if state.outcome else None
            if isinstance(fault, Transient) and fault.progress:
                started, first = self._clock.monotonic(), state.attempt_number - 1
            return self._give_up(started, state.attempt_number - first, fresh=first > 0)

        retrying = Retrying(
            retry=retry_if_exception_type(Transient), wait=_wait, stop=stop, sleep=self._clock.sleep, reraise=True
        )
        try:
            result = retrying(operation)
        except Transient as fault:
            raise Exhausted([fault.diagnostic]) from None
        with self._lock:
            self._trouble = None
        return result

    def _give_up(self, started: float, attempt: int, *, fresh: bool) -> bool:
        now = self._clock.monotonic()
        with self._lock:
            if self._trouble is None or fresh:
                self._trouble = started
            if self._left <= 0 or attempt >= ATTEMPTS or now - min(started, self._trouble) > SECONDS:
                return True
            self._left -= 1
            return False


def _wait(state: RetryCallState) -> float:
    """Return the pause that the answer asked for, or one that doubles each time up to `LONGEST_WAIT`."""
    fault = state.outcome.exception() if state.outcome else None
    if isinstance(fault, Transient) and fault.wait is not None:
        return fault.wait
    return min(LONGEST_WAIT, FIRST_WAIT * float(2 ** (state.attempt_number - 1)))
