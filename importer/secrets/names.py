"""Which names belong to a credential: environment variables, flags, headers, query keys.

The last word decides: `GITHUB_TOKEN` holds one, `TOKEN_FILE` says where one is, `--max-tokens` counts something else.
"""

from __future__ import annotations

import re
from enum import IntEnum

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
MAX_NAME = 200
"""Characters of a name that are looked at."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as one text."""
    return frozenset(text.split())


class Strength(IntEnum):
    """How much a name says about its value."""

    NONE = 0
    WEAK = 1
    """`key`, `auth`, `pass`: the value has to look like a credential too."""
    STRONG = 2


_STRONG = word_set(
    "token secret secrets password passwords passwd pwd passphrase passcode apikey apikeys jwt credential pat bearer "
    "authorization apitoken"
)
# Words written together: PGPASSWORD, githubtoken. ("hotkey" shows why "key" is not among them.)
_STRONG_ENDS = ("token", "secret", "password", "passwd", "passphrase", "apikey", "secretkey", "accesskey", "privatekey")
_WEAK = word_set("key keys auth pass sig signature cookie cookies tokens credentials creds pin otp totp pw")
_KEY_STRONG = word_set(
    "api access secret private auth service license encryption signing master account subscription admin app bot "
    "client deploy session shared anon role token hmac rsa ssh storage consumer personal secretaccess write"
)
_KEY_INNOCENT = word_set(
    "public primary sort partition foreign project projects cache object issue space index routing map hot short row "
    "group unique translation registry config join dedupe idempotency parent product event feature property field "
    "lookup metric label context state column record row host known sheet board"
)
# --max-tokens, --no-password, --use-token: a count or a switch.
_COUNTS = word_set("max min num count limit budget window per context total chunk")
_SWITCHES = word_set("no skip disable without use with require requires allow show print has needs enable")
_TAILS = word_set("value base64 b64 raw literal plaintext base")


def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, whatever joins them: `exaApiKey` is exa, api, key."""
    return tuple(word.lower() for word in _WORD.findall(name[:MAX_NAME]))


def strength(name: str) -> Strength:
    """Say whether `name` is that of a credential."""
    parts = list(words(name))
    while len(parts) > 1 and (parts[-1].isdigit() or parts[-1] in _TAILS):
        parts.pop()
    if not parts or parts[0] in _SWITCHES:
        return Strength.NONE
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last in {"token", "tokens"} and not _COUNTS.isdisjoint(parts[:-1]):
        return Strength.NONE
    if last in {"key", "keys"}:
        if before in _KEY_INNOCENT:
            return Strength.NONE
        return Strength.STRONG if before in _KEY_STRONG else Strength.WEAK
    if last in _STRONG or last.endswith(_STRONG_ENDS):
        return Strength.STRONG
    return Strength.WEAK if last in _WEAK else Strength.NONE


def is_credential_header(name: str) -> bool:
    """Say whether an HTTP header of that name carries a credential."""
    return strength(name) is not Strength.NONE


def is_credential_query_key(name: str) -> bool:
    """Say whether a query key of that name carries a credential."""
    lowered = re.sub(r"[^a-z]", "", name[:MAX_NAME].lower())
    return strength(name) is not Strength.NONE or lowered in {"code", "clientassertion", "tokenkey"}


# Words after which a random-looking value is an identifier.
_IDENTIFIERS = word_set(
    "id ids uuid guid name path file dir directory folder url uri host hostname port type model version ref sha sha256 "
    "digest commit hash checksum integrity region zone tag image level format schema query database db table project "
    "org organization team user username email scope scopes mode workspace tenant account page sheet channel profile "
    "instance cluster branch repo repository package from endpoint server domain site bucket prefix label env ttl "
    "limit timeout arn client public fingerprint config cert certificate thumbprint revision build release"
)


def is_identifier(name: str) -> bool:
    """Say whether a name promises an identifier, a place or a setting instead of a credential."""
    parts = words(name)
    return bool(parts) and parts[-1] in _IDENTIFIERS and strength(name) is Strength.NONE
