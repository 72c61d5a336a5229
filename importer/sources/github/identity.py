"""Which API a host has, and which token belongs to it.

A token goes to the API that it belongs to and nowhere else: GITHUB_TOKEN and GH_TOKEN to github.com's and to the one
that GITHUB_API_URL names, GH_ENTERPRISE_TOKEN and GITHUB_ENTERPRISE_TOKEN to the others; where none is set, the `gh`
command is asked for the host's.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import shutil
import subprocess
from dataclasses import field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from importer.diagnostics import Rejected, error, shown
from importer.records import record
from importer.sources.reference import GITHUB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from importer.sources.github.settings import GitHubSettings

GITHUB_API = "https://api.github.com"
_OWN = ("GITHUB_TOKEN", "GH_TOKEN")
_ENTERPRISE = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")


@record
class Origin:
    """Scheme, host and port: what two URLs must share before a credential may follow."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> Origin:
        """Return the origin of an absolute http(s) URL. `ValueError` where it has none, or carries user info."""
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
            raise ValueError("no plain http(s) URL")
        return cls(
            scheme=parts.scheme,
            host=parts.hostname,
            port=parts.port or (443 if parts.scheme == "https" else 80),
        )

    @property
    def label(self) -> str:
        """The host as a person knows it, with a port that is not the usual one."""
        usual = 443 if self.scheme == "https" else 80
        return self.host if self.port == usual else f"{self.host}:{self.port}"


@record
class Api:
    """Where the API of a host is."""

    base: str
    """Its URL without a slash at the end."""
    web_host: str
    """The host of the web pages: what a reference names."""
    origin: Origin
    variables: tuple[str, ...]
    """The environment variables that may hold a token for it, the first one being the one to recommend."""
    gh_host: str
    """The host name that the `gh` command knows it by."""


@record
class Identity:
    """Who asks. The token is shown nowhere."""

    token: str = field(default="", repr=False)
    source: str = ""
    """Where the token is from: a variable's name or `gh auth token`; "" without a token."""

    @property
    def fingerprint(self) -> str:
        """Tell identities apart in a cache without holding the token."""
        if not self.token:
            return "anonymous"
        return hashlib.sha256(b"importer github identity\0" + self.token.encode()).hexdigest()[:24]

    def scrub(self, text: str) -> str:
        """Take the token out of a text that came from outside."""
        return text.replace(self.token, "***") if self.token else text


def default_host(settings: GitHubSettings) -> str:
    """Return the web host that a shorthand means: github.com, or that of GITHUB_API_URL."""
    url = settings.environ.get("GITHUB_API_URL", "").strip()
    if not url:
        return GITHUB
    try:
        origin = Origin.of(url)
    except ValueError:
        return GITHUB
    return _web_host(origin)


def api_of(host: str, settings: GitHubSettings) -> Api:
    """Return the API of a web host; "" is what a shorthand means.

    Raises:
        Rejected: the host is not known, or the URL of its API is not one that a token may be sent to.
    """
    given = settings.environ.get("GITHUB_API_URL", "").strip()
    configured = {name.lower(): url for name, url in settings.hosts.items()}
    if not host:
        if given:
            return _api(given, "GITHUB_API_URL", _OWN)
        host = GITHUB
    if host in configured:
        api = _api(configured[host], f"config.toml, github.hosts.{host}", _ENTERPRISE, host)
        own = {Origin.of(GITHUB_API)} | ({_api(given, "GITHUB_API_URL", _OWN).origin} if given else set())
        return _api(configured[host], "config.toml", _OWN, host) if api.origin in own else api
    if host == GITHUB:
        return _api(GITHUB_API, "", _OWN)
    if given and host == default_host(settings):
        return _api(given, "GITHUB_API_URL", _OWN)
    raise Rejected(
        [
            error(
                "github-host-unknown",
                f"{shown(host)} is not known as a GitHub host; add it to config.toml as "
                f'[github.hosts."{shown(host)}"] with its api URL, or set GITHUB_API_URL',
                host=host,
            )
        ]
    )


def identity_for(api: Api, settings: GitHubSettings) -> Identity:
    """Return the token that belongs to an API, or the anonymous identity.

    Raises:
        Rejected: what the variable holds cannot be a token (it is not quoted).
    """
    for variable in api.variables:
        value = settings.environ.get(variable, "").strip()
        if value:
            return _checked(value, variable)
    found = (settings.run_gh(api.gh_host) or "").strip()
    return _checked(found, "gh auth token") if found else Identity()


def gh_token(hostname: str, environ: Mapping[str, str]) -> str | None:
    """Ask `gh auth token --hostname HOST`, for `GitHubSettings.run_gh`; None without the command or a token."""
    command = shutil.which("gh", path=environ.get("PATH"))
    if command is None:
        return None
    quiet = {**environ, "GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1"}
    try:
        done = subprocess.run(  # noqa: S603 - the command's own path, and a host name that urlsplit gave
            [command, "auth", "token", "--hostname", hostname],
            env=quiet,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    return done.stdout[:8192].decode("ascii", "replace").strip() or None


def _checked(token: str, source: str) -> Identity:
    if not _TOKEN.fullmatch(token):
        message = f"the value of {source} holds characters that no token has; set it again, or unset it"
        raise Rejected([error("github-token-invalid", message, variable=source)])
    return Identity(token=token, source=source)


def _api(url: str, where: str, variables: tuple[str, ...], web_host: str = "") -> Api:
    try:
        parts = urlsplit(url)
        origin = Origin.of(url)
    except ValueError:
        origin = None
        parts = None
    if origin is None or parts is None or parts.query or parts.fragment:
        message = f"{where} is no plain https URL of an API: {shown(_redacted(url))!r}; expected https://HOST/api/v3"
        raise Rejected([error("github-api-invalid", message)])
    if origin.scheme == "http" and not _loopback(origin.host):
        message = f"{where} is a plain http URL of {shown(origin.host)}; only this machine may be asked without TLS"
        raise Rejected([error("github-api-invalid", message)])
    host = origin.host
    gh_host = GITHUB if host == "api.github.com" else host.removeprefix("api.") if host.endswith(".ghe.com") else host
    return Api(
        base=url.rstrip("/"),
        web_host=web_host or _web_host(origin),
        origin=origin,
        variables=variables,
        gh_host=gh_host,
    )


def _web_host(origin: Origin) -> str:
    if origin.host == "api.github.com":
        return GITHUB
    return origin.label.removeprefix("api.") if origin.host.endswith(".ghe.com") else origin.label


def _loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _redacted(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//***@", url)
