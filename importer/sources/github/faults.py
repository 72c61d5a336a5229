"""What can go wrong on the way to GitHub, each with its own code, message and next step."""

from __future__ import annotations

import json
import re
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import httpx

from importer.diagnostics import Diagnostic, Fact, Rejected, Severity, error, shown
from importer.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from importer.sources.github.identity import Api, Identity

MAX_WAIT = 5.0
"""The longest pause, in seconds, that an answer may ask for and get; past it the person decides."""

NETWORK_CODES = frozenset(
    {
        "github-unreachable",
        "github-timeout",
        "github-connection-lost",
        "github-server-error",
        "github-bad-answer",
        "github-redirect-refused",
        "github-rate-limited",
    }
)
"""Codes that say that something failed on the way, not that the package is at fault."""


class Transient(OSError):
    """A fault that may pass: `diagnostic` is what it comes to if it does not, `wait` the pause that was asked for."""

    def __init__(self, diagnostic: Diagnostic, wait: float | None = None) -> None:
        self.diagnostic = diagnostic
        self.wait = wait
        self.progress = False
        """Whether the attempt got further than those before it."""
        super().__init__(f"{diagnostic.code}: {diagnostic.message}")


class Exhausted(Rejected):
    """A transient fault that did not pass."""


class FileFault(Exception):
    """One file cannot be had; everything else may still be."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message)


class Stopped(Exception):
    """Work was given up because something else ended the import."""


class BadDocument(ValueError):
    """An answer that is not the JSON it should be; the message is safe to print."""


@record
class Asked:
    """Who was asked for what, for messages."""

    api: Api
    identity: Identity
    what: str
    """What was asked for, as a person knows it: "the repository OWNER/REPO"."""

    @property
    def host(self) -> str:
        """The host as it is shown."""
        return shown(self.api.origin.label)

    @property
    def advice(self) -> str:
        """What to do to be known, or known better."""
        if self.identity.token:
            return f"the token of {self.identity.source} was used"
        return f"set {self.api.variables[0]} to a token that may read it"


def from_exception(fault: Exception, asked: Asked, host: str) -> Transient | Rejected:
    """Say what kept an answer from coming or from ending."""
    host = shown(host)
    if isinstance(fault, httpx.ConnectTimeout):
        return Transient(
            error("github-unreachable", f"{host} could not be reached: no connection in time; {_NETWORK}", host=host)
        )
    if isinstance(fault, httpx.TimeoutException):
        message = f"{host} went silent while it was asked for {asked.what}; try again later"
        return Transient(error("github-timeout", message, host=host))
    if isinstance(fault, (httpx.ConnectError, httpx.ProxyError)):
        tls = _tls_cause(fault)
        if isinstance(tls, ssl.SSLCertVerificationError):
            message = (
                f"{host}: its certificate was not accepted ({shown(str(tls))}); behind a proxy that opens TLS, set "
                "SSL_CERT_FILE to the file with its certificates"
            )
            return Rejected([error("github-unreachable", message, host=host)])
        if tls is not None:
            message = (
                f"{host}: what answers there does not speak TLS as expected ({shown(tls.reason or str(tls))}); check "
                "the address, its port, and HTTPS_PROXY"
            )
            return Rejected([error("github-unreachable", message, host=host)])
        return Transient(
            error(
                "github-unreachable",
                f"{host} could not be reached: {shown(asked.identity.scrub(str(fault)))}; {_NETWORK}",
                host=host,
            )
        )
    if isinstance(fault, httpx.DecodingError):
        return Transient(bad_answer(asked, "its compressed body is damaged"))
    if isinstance(fault, httpx.UnsupportedProtocol | httpx.InvalidURL):
        return Rejected([error("github-unreachable", f"{host}: {shown(asked.identity.scrub(str(fault)))}", host=host)])
    cause = shown(asked.identity.scrub(_short(fault)))
    message = f"the connection to {host} broke while {asked.what} was read ({cause}); try again"
    return Transient(error("github-connection-lost", message, host=host))


_NETWORK = "check its name, the network, and HTTPS_PROXY"


def bad_answer(asked: Asked, what: str, **facts: Fact) -> Diagnostic:
    """An answer that no API gives."""
    return _error(
        "github-bad-answer",
        f"{asked.host} was asked for {asked.what} and {what}; a proxy or a login page in between? Try again later",
        facts,
    )


def too_slow(asked: Asked) -> Diagnostic:
    """A body that would not end in any reasonable time."""
    return error("github-timeout", f"{asked.host} sends {asked.what} too slowly to end; try again later")


def _error(code: str, message: str, facts: Mapping[str, Fact]) -> Diagnostic:
    return Diagnostic(severity=Severity.ERROR, code=code, message=message, facts=facts)


def from_status(
    status: int, headers: Mapping[str, str], body: bytes, asked: Asked, *, now: float
) -> Transient | Rejected:
    """Say what an answer other than success means."""
    limited = _rate_limited(status, headers, body, asked, now)
    if limited is not None:
        return limited
    said = _said(body, asked)
    facts: dict[str, Fact] = {"status": status}
    if status == 401:
        held = asked.identity.source
        message = (
            f"{asked.host} refuses the token of {held}: expired, revoked or mistyped; set a new one, or unset it to go "
            "on without"
            if held
            else f"{asked.host} asks for a token; {asked.advice}"
        )
        return _rejected("github-unauthorized", message, {**facts, "variable": held or asked.api.variables[0]})
    if status == 403:
        sso = "its organisation asks for single sign-on" if "x-github-sso" in headers else "access is not allowed"
        return _rejected("github-forbidden", f"{asked.host} refuses {asked.what}: {sso}{said}; {asked.advice}", facts)
    if status in {404, 410}:
        message = (
            f"{asked.host} has no {asked.what.removeprefix('the ')}, or it is private and this request may not see it; "
            f"check the spelling; for a private one {asked.advice}"
        )
        return _rejected("github-not-found", message, {**facts, "variable": asked.api.variables[0]})
    if status == 409:
        return _rejected("github-empty", f"{asked.what} is empty: it has no commit yet{said}", facts)
    if status == 422:
        return _rejected("github-request-refused", f"{asked.host} cannot answer for {asked.what}{said}", facts)
    if status == 451:
        return _rejected("github-blocked", f"{asked.what} was taken down for legal reasons{said}", facts)
    if status >= 500:
        after = _retry_after(headers, now)
        when = "later" if after is None else _moment(now + after, now, facts)
        message = f"{asked.host} answered {status} when asked for {asked.what}{said}; try again {when}"
        failed = _error("github-server-error", message, facts)
        return Rejected([failed]) if after is not None and after > MAX_WAIT else Transient(failed, after)
    return _rejected(
        "github-bad-answer", f"{asked.host} answered {status} when asked for {asked.what}{said}; try again later", facts
    )


def _rejected(code: str, message: str, facts: Mapping[str, Fact]) -> Rejected:
    return Rejected([_error(code, message, facts)])


def _rate_limited(
    status: int, headers: Mapping[str, str], body: bytes, asked: Asked, now: float
) -> Transient | Rejected | None:
    """Tell a spent rate limit (the hourly one, or the one on bursts) from a refusal."""
    if status not in {403, 429}:
        return None
    remaining = headers.get("x-ratelimit-remaining", "").strip()
    after = _retry_after(headers, now)
    burst = status == 403 and re.search(rb"secondary rate limit|abuse detection", body, re.IGNORECASE)
    if status == 403 and remaining != "0" and after is None and not burst:
        return None
    reset = headers.get("x-ratelimit-reset", "").strip()
    until = now + after if after is not None else float(reset) if re.fullmatch(r"\d{1,12}", reset) else None
    facts: dict[str, Fact] = {"status": status, "variable": asked.identity.source or asked.api.variables[0]}
    when = "in a few minutes"
    if until is not None:
        when = _moment(until, now, facts)
    limit = headers.get("x-ratelimit-limit", "").strip()
    count = f" of {limit} requests an hour" if limit.isascii() and limit.isdecimal() and remaining == "0" else ""
    helps = (
        f"the token of {asked.identity.source} was used"
        if asked.identity.token
        else f"a token in {asked.api.variables[0]} raises it"
    )
    message = f"the rate limit{count} at {asked.host} is spent; try again {when}; {helps}"
    diagnostic = _error("github-rate-limited", message, facts)
    wait = None if until is None else until - now
    if wait is not None and wait <= MAX_WAIT:
        return Transient(diagnostic, max(wait, 0.5))
    return Rejected([diagnostic])


def _moment(until: float, now: float, facts: dict[str, Fact]) -> str:
    """Say when the server is to be asked again, at the latest in a year, and note it as facts."""
    until = min(until, now + 366 * 86_400)
    moment = datetime.fromtimestamp(until, UTC)
    facts["reset"] = moment.isoformat(timespec="seconds").replace("+00:00", "Z")
    facts["seconds"] = max(0, round(until - now))
    return f"after {moment:%Y-%m-%d %H:%M:%S} UTC (in {_span(until - now)})"


def _retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that `retry-after` asks for, as a number or as a date."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if re.fullmatch(r"\d{1,9}", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def _said(body: bytes, asked: Asked) -> str:
    """Quote the answer's own message, without the token even where a server repeats it."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    message = found.get("message") if isinstance(found, dict) else None
    if not isinstance(message, str) or not message.strip():
        return ""
    return f" ({shown(asked.identity.scrub(message), 160)!s})"


def _span(seconds: float) -> str:
    whole = max(1, round(seconds))
    return f"{whole} s" if whole < 120 else f"{round(whole / 60)} min"


def _tls_cause(fault: BaseException) -> ssl.SSLError | None:
    seen: BaseException | None = fault
    while seen is not None and not isinstance(seen, ssl.SSLError):
        seen = seen.__cause__ or seen.__context__
    return seen


def _short(fault: Exception) -> str:
    return str(fault)[:120] or type(fault).__name__
