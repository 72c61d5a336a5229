"""What a person typed as SOURCE: a path, a token of an earlier preview, a repository on GitHub, or another URL.

The rules, in this order: what starts with `./`, `../`, `/` or `~` is a path; so is whatever exists; a token has a form
that nothing else has (`imp_` and 32 url-safe characters); a URL says itself what it is; only then comes the shorthand
`OWNER/REPO`. The one question about the world, whether a path exists, is asked through a callable.

A reference to a repository is one of

* `https://HOST/OWNER/REPO[.git]`, with `/tree/REF/PATH`, `/blob/REF/PATH`, `/commit/SHA`, `/releases/tag/TAG`;
* `OWNER/REPO[@REF][/PATH]`, `OWNER/REPO[@REF]:PATH`, `OWNER/REPO[/PATH]#REF`;
* `git@HOST:OWNER/REPO[.git]`, `ssh://git@HOST/OWNER/REPO[.git]` (read over the API all the same).

A ref may hold slashes, so what follows `tree/` or `@` is kept unsplit: only the repository knows where the ref ends.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from importer.diagnostics import Diagnostic, error, hidden, shown
from importer.records import record
from importer.tokens import is_token

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

GITHUB = "github.com"
# Patterns are kept as text: `re` compiles one when it is first asked for, and a command asks for few of them.
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*://"
_SCP = r"(?s)(?P<user>[^/@:\s]+)@(?P<host>[A-Za-z0-9.-]+):(?P<path>.*)"
_OWNER = r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}"
_REPO = r"[A-Za-z0-9._-]{1,100}"
_LOCAL_START = r"\.{1,2}(?:[/\\]|$)|[/\\~]|[A-Za-z]:[/\\]"
_PERCENT = r"%(?![0-9A-Fa-f]{2})"
_BAD_IN_REF = r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//"
_ARCHIVE_NAME = r"(?i)\.(zip|skill|tar|tgz|tar\.gz|md|json)$"
FORMS = "a path, an https URL of a repository, OWNER/REPO[@REF][/PATH], or the token of a preview"


@record
class LocalRef:
    """Something on this machine. `path` is as typed; `~` is not expanded yet."""

    path: str


@record
class TokenRef:
    """The token of an earlier preview."""

    token: str


@record
class UrlRef:
    """An http(s) URL of a host that is not known as a GitHub host."""

    url: str
    host: str


@record
class GitHubRef:
    """A repository, with a folder or file in it.

    Either `ref` and `path` say what is meant, or `rest` holds "REF/PATH" whose border is not known yet (its first item
    is certainly of the ref). All are empty for the whole repository at its default branch.
    """

    text: str
    """As typed, for display; it carries no credentials."""
    host: str
    """The web host of a full URL, with its port where it has one; "" for a shorthand."""
    owner: str
    repo: str
    ref: str = ""
    path: str = ""
    rest: tuple[str, ...] = ()
    ref_type: str = ""
    """"heads" or "tags" where the reference says which of them the ref is."""


@record
class Refused:
    """What was typed is no reference; `diagnostic` says why and what is one."""

    diagnostic: Diagnostic


SourceRef = LocalRef | TokenRef | GitHubRef | UrlRef | Refused


class _NotOne(ValueError):
    """Why a text is no reference to a repository; the message is safe to print."""


@record(frozen=False, kw_only=False)
class _Place:
    """What stands after OWNER/REPO."""

    ref: str = ""
    path: str = ""
    rest: tuple[str, ...] = ()
    ref_type: str = field(default="")


def parse_source(
    text: str, *, exists: Callable[[str], bool], hosts: Collection[str] = frozenset({GITHUB})
) -> SourceRef:
    """Say what `text` means.

    Args:
        text: what was typed.
        exists: whether a path, as typed, is there.
        hosts: the web hosts whose repositories are read through the GitHub API; github.com is always one.
    """
    if not text or text.isspace():
        return _refuse("source-unrecognised", f"the source is empty; expected {FORMS}")
    if "\0" in text:
        return _refuse("source-unrecognised", f"a NUL character in {shown(text)!r}: that is neither a path nor a URL")
    if re.match(_LOCAL_START, text) or (not re.match(_SCHEME, text) and exists(text)):
        return LocalRef(path=text)
    if is_token(text):
        return TokenRef(token=text)
    try:
        return _remote(text.strip(), frozenset(hosts) | {GITHUB})
    except _NotOne as fault:
        return _refuse("github-reference-invalid", str(fault))


def is_ref_name(text: str) -> bool:
    """Whether git could have a branch or tag of this name (the rules of `git check-ref-format`), or it is a SHA."""
    if not text or len(text) > 400 or re.search(_BAD_IN_REF, text) or text == "@" or hidden().search(text):
        return False
    if text[0] in "/-" or text[-1] in "/.":
        return False
    return not any(part.startswith(".") or part.endswith(".lock") for part in text.split("/"))


def recorded_ref(*, host: str, repository: str, ref: str, path: str) -> GitHubRef:
    """Return the reference to a place that was recorded earlier (`repository` is OWNER/REPO)."""
    owner, _, repo = repository.partition("/")
    text = f"{repository}@{ref}" + (f":{path}" if path else "")
    return GitHubRef(text=text, host=host, owner=owner, repo=repo, ref=ref, path=path)


def _refuse(code: str, message: str) -> Refused:
    return Refused(diagnostic=error(code, message))


def _remote(text: str, hosts: frozenset[str]) -> SourceRef:
    scp = re.fullmatch(_SCP, text)
    if scp and not re.match(_SCHEME, text):
        _check_user(scp["user"])
        return _from_path(text, scp["host"].lower(), scp["path"].lstrip("/"), hosts, "", "")
    if re.match(_SCHEME, text):
        return _from_url(text, hosts)
    first = text.partition("/")[0].lower()
    if first in hosts or first == "www.github.com":
        return _from_url(f"https://{text}", hosts)
    return _shorthand(text)


def _check_user(user: str) -> None:
    if user != "git":
        raise _NotOne(
            "a user name stands in the reference; leave it out (a token belongs in the variable GITHUB_TOKEN)"
        )


# --- URLs ------------------------------------------------------------------------------------------------------------


def _from_url(text: str, hosts: frozenset[str]) -> SourceRef:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _NotOne("the URL cannot be read: its host or port is malformed") from None
    scheme = parts.scheme.lower().removeprefix("git+")
    host = (parts.hostname or "").removesuffix(".")
    if scheme == "file":
        if host not in {"", "localhost"}:
            raise _NotOne("a file URL of another machine; copy the file here first")
        return LocalRef(path=unquote(parts.path))
    if not host:
        raise _NotOne("the URL names no host")
    if parts.password is not None or (parts.username and not (parts.username == "git" and scheme == "ssh")):
        raise _NotOne(
            f"the URL of {shown(host)} carries a user name or a password; leave them out and put a token into the "
            "environment variable GITHUB_TOKEN"
        )
    if scheme in {"ssh", "git"}:
        return _from_path(text, host, parts.path.lstrip("/"), hosts, "", parts.fragment)
    if scheme not in {"http", "https"}:
        raise _NotOne(f"the scheme {shown(scheme)!r} is not read; expected https")
    netloc = host if port in {None, 80, 443} else f"{host}:{port}"
    if host == "raw.githubusercontent.com":
        owner, repo, *rest = [*parts.path.strip("/").split("/"), ""]
        return _from_path(text, GITHUB, f"{owner}/{repo}/raw/{'/'.join(rest)}".rstrip("/"), hosts, "", "")
    if host == "www.github.com":
        netloc = GITHUB
    if netloc not in hosts:
        return UrlRef(url=text, host=netloc)
    return _from_path(text, netloc, parts.path.strip("/"), hosts, parts.query, parts.fragment)


def _from_path(text: str, host: str, path: str, hosts: frozenset[str], query: str, fragment: str) -> GitHubRef:
    if host not in hosts:
        known = ", ".join(sorted(hosts))
        raise _NotOne(
            f"{shown(host)} is not known as a GitHub host; known: {shown(known)}. Add it to config.toml as "
            f'[github.hosts."{shown(host)}"] with its api URL'
        )
    raw = path.rstrip("/").split("/") if path.rstrip("/") else []
    if len(raw) < 2:
        raise _NotOne(f"{shown(text)!r} names no repository; expected OWNER/REPO after the host")
    owner, repo = _repository(_decoded(raw[0], "owner"), _decoded(raw[1], "repository"))
    place = _web_place(text, raw[2:])
    place.ref_type = _ref_type(query) or place.ref_type
    if fragment and not raw[2:]:
        place.ref = _checked_ref(unquote(fragment))
    return GitHubRef(
        text=text,
        host=host,
        owner=owner,
        repo=repo,
        ref=place.ref,
        path=place.path,
        rest=place.rest,
        ref_type=place.ref_type,
    )


def _web_place(text: str, raw: list[str]) -> _Place:
    """Read what follows OWNER/REPO in an address of the web pages."""
    if not raw:
        return _Place()
    page, after = raw[0], raw[1:]
    if page in {"tree", "blob", "raw", "blame", "commits"} and after:
        return _unsplit([_first_of_ref(after[0]), *(_decoded(part, "path") for part in after[1:])])
    if page in {"tree", "blob"}:
        raise _NotOne(f"{shown(text)!r} ends after /{page}/; expected /{page}/REF/PATH")
    if page == "commit" and len(after) == 1:
        return _Place(ref=_checked_ref(_decoded(after[0], "commit")))
    if page == "releases" and len(after) >= 2 and after[0] == "tag":
        tag = "/".join(_first_of_ref(part) for part in after[1:])
        return _Place(ref=_checked_ref(tag), ref_type="tags")
    raise _NotOne(
        f"{shown(text)!r} is a page of the repository ({shown(page)!r}), not a folder of it; expected "
        "https://HOST/OWNER/REPO or https://HOST/OWNER/REPO/tree/REF/PATH"
    )


def _unsplit(rest: list[str]) -> _Place:
    if rest[:2] in (["refs", "heads"], ["refs", "tags"]) and len(rest) > 2:
        return _Place(rest=tuple(rest[2:]), ref_type=rest[1])
    return _Place(rest=tuple(rest))


def _ref_type(query: str) -> str:
    """Read `ref_type`, the one key that says something about the ref; others (tab=, plain=) are about the page."""
    for pair in query.split("&") if query else ():
        key, _, value = pair.partition("=")
        if key == "ref":
            raise _NotOne("a query '?ref=' is not read; write /tree/REF/PATH or give --ref REF")
        if key == "ref_type" and value in {"heads", "branch"}:
            return "heads"
        if key == "ref_type" and value in {"tags", "tag"}:
            return "tags"
    return ""


def _first_of_ref(segment: str) -> str:
    """Decode a segment that is certainly part of a ref, where an encoded "/" is a "/"; a ref never holds "..".

    Some tools write `tree/feature%2Fx/PATH`, which leaves no doubt where the ref ends at the earliest.
    """
    if re.search(_PERCENT, segment):
        raise _NotOne(f"{shown(segment)!r} holds a stray '%'")
    return _checked_ref(_text(segment))


def _decoded(segment: str, what: str) -> str:
    """Decode one segment of a URL, refusing what decodes to a separator or to a dot segment."""
    if re.search(_PERCENT, segment):
        raise _NotOne(f"the {what} holds a stray '%': {shown(segment)!r}")
    plain = _text(segment)
    if "/" in plain or "\\" in plain:
        raise _NotOne(f"the {what} holds an encoded separator: {shown(segment)!r}; write it as '/'")
    return _plain_segment(plain, what)


def _text(segment: str) -> str:
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise _NotOne(f"{shown(segment)!r} is not UTF-8 once decoded") from None


def _plain_segment(segment: str, what: str) -> str:
    once = unquote(segment)
    if segment in {"", ".", ".."} or once in {".", ".."}:
        raise _NotOne(f"the {what} has an empty or a dot segment ({shown(segment)!r}); write the path without it")
    if re.search(r"%2[fF]|%5[cC]|%2[eE]", segment):
        raise _NotOne(f"the {what} holds an encoded separator or dot: {shown(segment)!r}; write it plainly")
    if "\\" in segment or any(unicodedata.category(character) in {"Cc", "Cs"} for character in segment):
        raise _NotOne(f"the {what} holds a backslash or a control character: {shown(segment)!r}")
    return segment


# --- the shorthand ---------------------------------------------------------------------------------------------------


def _shorthand(text: str) -> GitHubRef | Refused:
    body, hash_sign, fragment = text.partition("#")
    if "/" not in body.rstrip("/"):
        return _refuse(
            "source-not-found",
            f"there is no file or folder {shown(text)!r} here, and it is no reference either; expected {FORMS}",
        )
    owner, _, after = body.partition("/")
    found = re.match(r"[^/:@]*", after)
    repo = found.group() if found else ""
    tail = after[len(repo) :].rstrip("/")
    if not tail and re.search(_ARCHIVE_NAME, repo):
        return _refuse(
            "source-not-found",
            f"there is no file {shown(text)!r} here; for a repository of that name write "
            f"https://{GITHUB}/{shown(owner)}/{shown(repo)}",
        )
    owner, repo = _repository(_plain_segment(owner, "owner"), _plain_segment(repo, "repository"))
    place = _shorthand_place(tail)
    if hash_sign:
        if place.ref or place.rest:
            raise _NotOne(f"{shown(text)!r} names a ref twice, with '@' and with '#'; leave one out")
        place.ref = _checked_ref(fragment)
    return GitHubRef(
        text=text, host="", owner=owner, repo=repo, ref=place.ref, path=place.path, rest=place.rest,
        ref_type=place.ref_type,
    )  # fmt: skip


def _shorthand_place(tail: str) -> _Place:
    if not tail:
        return _Place()
    if tail.startswith("@"):
        ref, colon, path = tail[1:].partition(":")
        if colon:
            return _Place(ref=_checked_ref(ref), path=_checked_path(path))
        segments = tail[1:].split("/")
        _checked_ref(segments[0])
        return _unsplit([segments[0], *(_plain_segment(part, "path") for part in segments[1:])])
    return _Place(path=_checked_path(tail[1:]))


def _checked_path(path: str) -> str:
    path = path.strip("/")
    return "/".join(_plain_segment(part, "path") for part in path.split("/")) if path else ""


def _checked_ref(ref: str) -> str:
    if not is_ref_name(ref):
        raise _NotOne(
            f"{shown(ref)!r} cannot be the name of a branch, a tag or a commit (a name has no '..', no control "
            "character, no space, none of ~ ^ : ? * [ and no empty or dotted segment)"
        )
    return ref


def _repository(owner: str, repo: str) -> tuple[str, str]:
    repo = repo.removesuffix(".git")
    if not re.fullmatch(_OWNER, owner):
        raise _NotOne(f"{shown(owner)!r} cannot be an owner: letters, digits and hyphens are allowed; expected {FORMS}")
    if not re.fullmatch(_REPO, repo) or repo in {".", ".."}:
        raise _NotOne(
            f"{shown(repo)!r} cannot be a repository: letters, digits, '.', '_' and '-' are allowed; expected {FORMS}"
        )
    return owner, repo
