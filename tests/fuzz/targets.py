"""All targets by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz import documents, tars, zips

if TYPE_CHECKING:
    from tests.fuzz.engine import Target

TARGETS: dict[str, Target] = {
    target.name: target for target in (zips.TARGET, tars.TARGET, tars.TARGET_PACKED, *documents.TARGETS)
}
