"""The meter: the one mutable thing here, and safe to charge from several threads."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from budgets.errors import BudgetExceeded

if TYPE_CHECKING:
    from budgets.limits import Profile


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """How far one limit was used; `changed` says that the maximum is not the default one."""

    profile: str
    limit: str
    used: int
    max: int
    unit: str
    changed: bool


class Meter:
    """Counts against one profile.

    A running total (`charge`) and a high-water mark (`check`) are both kept per limit; at the maximum passes, one over
    raises `BudgetExceeded`. A refused charge stays counted, so a caller that goes on is refused again.
    """

    def __init__(self, profile: Profile, changed: frozenset[str] = frozenset()) -> None:
        self.profile = profile
        self._max = {limit.name: limit.max for limit in profile.limits}
        self._unit = {limit.name: str(limit.unit) for limit in profile.limits}
        self._used = dict.fromkeys(self._max, 0)
        self._changed = changed
        self._lock = threading.Lock()

    def charge(self, limit: str, amount: int, path: str = "") -> None:
        """Add `amount` to what was delivered under `limit`.

        Raises:
            BudgetExceeded: the total is now over the maximum.
        """
        with self._lock:
            used = self._used[limit] + amount
            self._used[limit] = used
        if used > self._max[limit]:
            raise self._exceeded(limit, used, path)

    def check(self, limit: str, value: int, path: str = "") -> None:
        """Hold one value (a size, a depth, a ratio) to `limit`; the largest seen is remembered, nothing is added up.

        Raises:
            BudgetExceeded: `value` is over the maximum.
        """
        with self._lock:
            self._used[limit] = max(self._used[limit], value)
        if value > self._max[limit]:
            raise self._exceeded(limit, value, path)

    def max(self, limit: str) -> int:
        """Return the maximum of `limit`."""
        return self._max[limit]

    def used(self, limit: str) -> int:
        """Return the total charged, or the largest value checked, so far."""
        return self._used[limit]

    def remaining(self, limit: str) -> int:
        """Return how much may still be charged; 0 once the limit is spent."""
        return max(0, self._max[limit] - self._used[limit])

    def usage(self) -> tuple[Usage, ...]:
        """Return one row for each limit, in the profile's order."""
        return tuple(
            Usage(
                profile=self.profile.name,
                limit=limit.name,
                used=self._used[limit.name],
                max=limit.max,
                unit=str(limit.unit),
                changed=limit.name in self._changed,
            )
            for limit in self.profile.limits
        )

    def _exceeded(self, limit: str, used: int, path: str) -> BudgetExceeded:
        return BudgetExceeded(
            profile=self.profile.name,
            limit=limit,
            used=used,
            maximum=self._max[limit],
            unit=self._unit[limit],
            path=path,
        )
