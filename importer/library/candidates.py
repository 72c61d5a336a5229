"""Previews that wait for their install, each under a token that is good once, for ten minutes.

Only the SHA-256 of a token is kept: who reads the record cannot install with it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from importer import codec
from importer.diagnostics import Diagnostic
from importer.library.errors import LibraryError
from importer.library.stagings import reopen
from importer.model import Choices, Origin, Package
from importer.records import record
from importer.tokens import PREFIX, RANDOM_BYTES

if TYPE_CHECKING:
    from importer.library.layout import Layout
    from importer.library.record import Record
    from importer.library.removal import RemovalPlan
    from importer.library.stagings import Staging
    from importer.model import Plan, PlannedConnector, PlannedSkill, PlannedSpecialist

TOKEN_SECONDS = 600.0
REMEMBERED_SECONDS = 30 * 86400.0
"""How long it is known of a token that it was there: until then it is "expired" or "used", later "unknown"."""


@record
class Held:
    """What a preview hands out."""

    token: str
    expires_at: str
    """UTC, RFC 3339."""


@record
class Waiting:
    """What is kept of a preview besides its staged files."""

    package: Package
    choices: Choices
    origin: Origin
    plan_digest: str
    summary: Mapping[str, tuple[str, ...]]
    """What `summary_of` makes of the plan."""
    diagnostics: tuple[Diagnostic, ...] = ()


@record
class HeldCandidate:
    """A candidate that was claimed; the token is spent by the transaction that installs it, not before."""

    staging: Staging
    package: Package
    choices: Choices
    origin: Origin
    plan_digest: str
    summary: Mapping[str, tuple[str, ...]]
    diagnostics: tuple[Diagnostic, ...]
    expires_at: str


def token_hash(token: str) -> str:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def rfc3339(seconds: float) -> str:
    """Return a time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def hold(record: Record, kind: str, staging: str | None, body: str, now: float) -> Held:
    """Keep `body` under a new token."""
    token = PREFIX + base64.urlsafe_b64encode(os.urandom(RANDOM_BYTES)).decode("ascii")
    expires = now + TOKEN_SECONDS
    record.hold(token_hash(token), kind, staging, expires, body)
    return Held(token=token, expires_at=rfc3339(expires))


def summary_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return by `kind NAME` the disposition, the reason, and what is installed: its digest and executables."""
    planned: list[tuple[str, PlannedSkill | PlannedConnector | PlannedSpecialist]] = [
        *((f"skill {skill.candidate.name}", skill) for skill in plan.skills),
        *((f"connector {connector.candidate.name}", connector) for connector in plan.connectors),
    ]
    if plan.specialist is not None:
        planned.append((f"specialist {plan.specialist.candidate.id}", plan.specialist))
    return {
        name: (
            one.disposition.value,
            one.reason.value,
            one.installed.digest if one.installed is not None else "",
            *getattr(one.installed, "executables", ()),
        )
        for name, one in planned
    }


def waiting_body(plan: Plan, *, origin: Origin, choices: Choices, diagnostics: Sequence[Diagnostic]) -> str:
    """Return what is kept of a plan."""
    waiting = Waiting(
        package=plan.package,
        choices=choices,
        origin=origin,
        plan_digest=plan.digest,
        summary=summary_of(plan),
        diagnostics=tuple(diagnostics),
    )
    return json.dumps(codec.encode(waiting))


def find(record: Record | None, kind: str, token: str, now: float) -> tuple[str | None, str, float]:
    """Return staging, body and expiry of what waits under a token.

    Raises:
        LibraryError: `token-unknown`, `token-used`, `token-expired`, or `token-unknown` for a token of another command.
    """
    found = record.candidate(token_hash(token)) if record is not None else None
    if found is None:
        raise LibraryError(
            "token-unknown", "this library gave out no such token (or long ago); preview again for a new one"
        )
    held_kind, staging, expires, used, body = found
    if used:
        raise LibraryError("token-used", "the token was used already, and is good only once; preview again")
    if expires <= now or body is None:
        raise LibraryError(
            "token-expired",
            f"the token expired at {rfc3339(expires)}, {TOKEN_SECONDS / 60:.0f} minutes after its preview; "
            "preview again",
        )
    if held_kind != kind:
        raise LibraryError("token-unknown", f"the token is for `importer {held_kind}`, not for `importer {kind}`")
    return staging, body, expires


def claim(layout: Layout, record: Record | None, token: str, now: Callable[[], float]) -> HeldCandidate:
    """Return the candidate that waits under a token.

    Raises:
        LibraryError: `token-unknown`, `token-used`, `token-expired`; `library-stale` where its files are gone.
    """
    staging, body, expires = find(record, "install", token, now())
    waiting = codec.decode(Waiting, json.loads(body))
    return HeldCandidate(
        staging=reopen(layout, staging or ""),
        package=waiting.package,
        choices=waiting.choices,
        origin=waiting.origin,
        plan_digest=waiting.plan_digest,
        summary={key: tuple(value) for key, value in waiting.summary.items()},
        diagnostics=waiting.diagnostics,
        expires_at=rfc3339(expires),
    )


@record
class HeldRemoval:
    """A removal that was claimed; its token is spent by the transaction that does it."""

    plan: RemovalPlan
    expires_at: str


def hold_removal(record: Record, plan: RemovalPlan, now: float) -> Held:
    """Keep a removal under a new token."""
    return hold(record, "remove", None, json.dumps(codec.encode(plan)), now)


def claim_removal(record: Record | None, token: str, now: float) -> HeldRemoval:
    """Return the removal that waits under a token. Raises LibraryError like `claim`."""
    from importer.library.removal import RemovalPlan

    _, body, expires = find(record, "remove", token, now)
    return HeldRemoval(plan=codec.decode(RemovalPlan, json.loads(body)), expires_at=rfc3339(expires))
