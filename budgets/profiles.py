"""Every limit there is, by profile, and the changes that one run or one library makes to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from budgets.errors import UnknownLimit
from budgets.limits import Limit, Profile, Unit
from budgets.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KIB = 1024
MIB = 1024 * KIB


def _limit(name: str, maximum: int, unit: Unit, what: str) -> Limit:
    return Limit(name=name, max=maximum, unit=unit, what=what)


SKILL = Profile(
    name="skill",
    limits=(
        _limit("files", 16_384, Unit.FILES, "files in one skill"),
        _limit("file_bytes", 50 * MIB, Unit.BYTES, "one file of a skill, decompressed"),
        _limit("total_bytes", 128 * MIB, Unit.BYTES, "one skill, decompressed"),
        _limit("depth", 8, Unit.LEVELS, "folders inside a skill, counted from its root"),
    ),
)
BUNDLE = Profile(
    name="bundle",
    limits=(
        _limit("archive_bytes", 256 * MIB, Unit.BYTES, "the outer file as it is on disk"),
        _limit("bytes", 256 * MIB, Unit.BYTES, "decompressed bytes of what is selected, all levels together"),
        _limit("entries", 32_768, Unit.ENTRIES, "entries as listed, folders and noise included, all levels together"),
        _limit("skills", 256, Unit.SKILLS, "skills of one import"),
        _limit("ratio", 1_000, Unit.RATIO, "decompressed size of one entry against its compressed size"),
        _limit("depth", 32, Unit.LEVELS, "segments of one path in the outer container"),
        _limit("nested_bytes", 64 * MIB, Unit.BYTES, "one nested archive, compressed"),
        _limit(
            "stream_bytes", 1_024 * MIB, Unit.BYTES, "decompressed bytes read to verify an archive, selected or not"
        ),
    ),
)
SPECIALIST = Profile(
    name="specialist",
    limits=(
        _limit("compressed_bytes", 50 * MIB, Unit.BYTES, "the archive as it is on disk"),
        _limit("total_bytes", 200 * MIB, Unit.BYTES, "all files, decompressed"),
        _limit("files", 2_000, Unit.FILES, "files in the package"),
        _limit("file_bytes", 25 * MIB, Unit.BYTES, "one file, decompressed"),
        _limit("ratio", 1_000, Unit.RATIO, "decompressed size of one entry against its compressed size"),
        _limit("depth", 32, Unit.LEVELS, "segments of one path"),
    ),
)
ARCHIVE = Profile(
    name="archive",
    limits=(
        _limit("directory_bytes", 16 * MIB, Unit.BYTES, "a zip's central directory, or all metadata headers of a tar"),
        _limit("path_bytes", 1_024, Unit.BYTES, "one path, in UTF-8"),
        _limit("segment_bytes", 255, Unit.BYTES, "one segment of a path, in UTF-8"),
        _limit("header_bytes", 64 * KIB, Unit.BYTES, "one tar metadata header (pax, GNU name)"),
        _limit("headers", 1_000, Unit.HEADERS, "tar metadata headers in a row"),
    ),
)
PREVIEW = Profile(
    name="preview",
    limits=(_limit("text_bytes", 4 * MIB, Unit.BYTES, "SKILL.md text carried by one preview answer"),),
)
GITHUB = Profile(
    name="github",
    limits=(
        _limit("requests", 512, Unit.REQUESTS, "GitHub requests of one import"),
        _limit("cache_bytes", 64 * MIB, Unit.BYTES, "answers kept on disk to save rate limit"),
    ),
)
CONNECTOR = Profile(
    name="connector",
    limits=(
        _limit("bytes", 256 * KIB, Unit.BYTES, "one connector template"),
        _limit("config_bytes", 4 * MIB, Unit.BYTES, "one client configuration"),
    ),
)
TRASH = Profile(
    name="trash",
    limits=(
        _limit("bytes", 1_024 * MIB, Unit.BYTES, "what `history --prune` leaves in the trash"),
        _limit("days", 90, Unit.DAYS, "how long `history --prune` leaves it there"),
    ),
)
DEFAULTS: tuple[Profile, ...] = (SKILL, BUNDLE, SPECIALIST, ARCHIVE, PREVIEW, GITHUB, CONNECTOR, TRASH)


@dataclass(frozen=True, kw_only=True, slots=True)
class Override:
    """One changed limit: `profile.limit = value`, and who changed it (`--budget`, `config.toml`)."""

    profile: str
    limit: str
    value: int
    by: str

    @classmethod
    def parse(cls, text: str, by: str) -> Override:
        """Read `PROFILE.LIMIT=VALUE`.

        Raises:
            UnknownLimit: the form is another one, the name is unknown, or the value is no positive whole number.
        """
        name, equals, value = text.partition("=")
        profile, dot, limit = name.strip().partition(".")
        if not equals or not dot:
            raise UnknownLimit(f"expected PROFILE.LIMIT=VALUE, such as skill.files=20000, not {text!r}")
        try:
            number = int(value.strip().replace("_", ""))
        except ValueError:
            raise UnknownLimit(f"{name.strip()}: expected a whole number, not {value.strip()!r}") from None
        return cls.of(profile, limit, number, by)

    @classmethod
    def of(cls, profile: str, limit: str, value: object, by: str) -> Override:
        """Check one change against the limits there are.

        Raises:
            UnknownLimit: there is no such limit, or `value` is no positive whole number.
        """
        known = {p.name: p for p in DEFAULTS}
        if profile not in known:
            raise UnknownLimit(f"no budget profile {profile!r}; there are: {', '.join(known)}")
        names = [limit_.name for limit_ in known[profile].limits]
        if limit not in names:
            raise UnknownLimit(f"profile {profile} has no limit {limit!r}; it has: {', '.join(names)}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UnknownLimit(f"{profile}.{limit}: expected a positive whole number, not {value!r}")
        return cls(profile=profile, limit=limit, value=value, by=by)


@dataclass(frozen=True, kw_only=True, slots=True)
class Budgets:
    """All profiles of one run. Meters come from here, so a changed limit is never forgotten in a report."""

    profiles: Mapping[str, Profile]
    overrides: tuple[Override, ...] = ()

    @classmethod
    def default(cls, overrides: Iterable[Override] = ()) -> Budgets:
        """Return the defaults with `overrides` put over them, the later ones winning."""
        applied = tuple(overrides)
        profiles = {profile.name: profile for profile in DEFAULTS}
        for change in applied:
            profile = profiles[change.profile]
            limits = tuple(
                replace(limit, max=change.value) if limit.name == change.limit else limit for limit in profile.limits
            )
            profiles[change.profile] = replace(profile, limits=limits)
        return cls(profiles=profiles, overrides=applied)

    def meter(self, profile: str) -> Meter:
        """Return a fresh meter for `profile`."""
        changed = frozenset(change.limit for change in self.overrides if change.profile == profile)
        return Meter(self.profiles[profile], changed)

    def max(self, profile: str, limit: str) -> int:
        """Return the maximum of one limit."""
        return self.profiles[profile].limit(limit).max
