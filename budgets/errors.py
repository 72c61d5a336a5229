"""The two ways in which a budget says no."""

from __future__ import annotations


class BudgetExceeded(Exception):
    """More was delivered, or declared, than a limit allows.

    Attributes say everything a report needs: `profile` and `limit` by name, `used` and `max` in `unit`, and `path`,
    what was being read when it happened ("" where it is the whole thing).
    """

    def __init__(self, *, profile: str, limit: str, used: int, maximum: int, unit: str, path: str = "") -> None:
        self.profile = profile
        self.limit = limit
        self.used = used
        self.max = maximum
        self.unit = unit
        self.path = path
        super().__init__(f"{profile}.{limit}: {used} of at most {maximum} {unit}" + (f" at {path!r}" if path else ""))

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.profile, self.limit, self.used, self.max, self.unit, self.path))


def _rebuild(profile: str, limit: str, used: int, maximum: int, unit: str, path: str) -> BudgetExceeded:
    return BudgetExceeded(profile=profile, limit=limit, used=used, maximum=maximum, unit=unit, path=path)


class UnknownLimit(ValueError):
    """A name or a value that is no limit: the message lists what there is."""
