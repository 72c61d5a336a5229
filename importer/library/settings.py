"""What the person set locally: kept in the record beside the packages, and never taken from one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING

from importer.diagnostics import shown
from importer.library.errors import LibraryError
from importer.records import record

if TYPE_CHECKING:
    from importer.library.record import Record

MAX_BYTES = 1 << 20


@record
class SpecialistSettings:
    """A specialist's own settings; `values` is a free mapping of the host application's, of JSON values."""

    enabled: bool = False
    setup_pending: bool = True
    values: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))


def is_enabled(record: Record, skill: str) -> bool:
    """Return whether a skill is enabled for the main agent."""
    body = record.settings("skill", skill)
    return body is not None and bool(_mapping(body).get("enabled"))


def set_enabled(record: Record, skill: str, enabled: bool) -> None:
    """Say whether a skill is enabled for the main agent."""
    record.set_settings("skill", skill, json.dumps({"enabled": True}) if enabled else None)


def specialist_settings(record: Record | None, name: str) -> SpecialistSettings:
    """Return a specialist's settings. Raises LibraryError where there is no such specialist."""
    _installed(record, name)
    body = record.settings("specialist", name) if record is not None else None
    found = _mapping(body) if body is not None else {}
    values = found.get("values")
    return SpecialistSettings(
        enabled=bool(found.get("enabled", False)),
        setup_pending=bool(found.get("setup_pending", True)),
        values=MappingProxyType(values if isinstance(values, dict) else {}),
    )


def set_specialist_settings(record: Record, name: str, settings: SpecialistSettings) -> None:
    """Keep a specialist's settings.

    Raises:
        LibraryError: there is no such specialist, or the values are too large.
        TypeError: a value that JSON does not have.
    """
    _installed(record, name)
    body = json.dumps(
        {"enabled": settings.enabled, "setup_pending": settings.setup_pending, "values": dict(settings.values)}
    )
    if len(body) > MAX_BYTES:
        raise LibraryError("library-settings-large", f"settings have {len(body):,} bytes; {MAX_BYTES:,} are kept")
    record.set_settings("specialist", name, body)


def _installed(record: Record | None, name: str) -> None:
    if record is None or record.item("specialist", name) is None:
        raise LibraryError("library-name-unknown", f"no specialist {shown(name, 100)} is installed")


def _mapping(body: str) -> dict[str, object]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
