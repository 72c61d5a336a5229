"""One limit, and a named set of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """What a limit counts."""

    BYTES = "bytes"
    FILES = "files"
    ENTRIES = "entries"
    SKILLS = "skills"
    LEVELS = "levels"
    RATIO = "times"
    REQUESTS = "requests"
    HEADERS = "headers"
    DAYS = "days"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """The most that is allowed of one thing: a positive whole number, never "unlimited"."""

    name: str
    max: int
    unit: Unit
    what: str
    """One line for people: what is counted, and where it is counted from."""

    def __post_init__(self) -> None:
        if type(self.max) is not int or self.max < 1:
            raise ValueError(f"limit {self.name}: the maximum is a positive whole number, not {self.max!r}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """A named set of limits that are charged together."""

    name: str
    limits: tuple[Limit, ...]

    def limit(self, name: str) -> Limit:
        """Return the limit called `name`; a `KeyError` is a mistake of the caller's, never of an input's."""
        for limit in self.limits:
            if limit.name == name:
                return limit
        raise KeyError(f"{self.name}.{name}")
