"""What a value looks like: a credential by its shape, a placeholder, a reference to a secret manager, a path.

The shapes are the published forms of well-known services' tokens, JWT (RFC 7519) and PEM (RFC 7468).
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from importer.secrets.names import word_set

MAX_SCANNED = 8192
"""Characters of one string that are looked at: four times the longest argument that is allowed."""


class Shape(NamedTuple):
    """A part of a text that is a credential by its shape."""

    rule: str
    value: str
    start: int
    end: int


# One alternation, tried at each place once; no branch can match an empty text, and none nests a repetition.
_SHAPES = re.compile(
    r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|gl(?:pat|dt|rt|ptt|ft|soat|cbt)-[A-Za-z0-9_-]{16,}"
    r"|sk-(?:proj-|ant-|or-v1-|svcacct-|admin-|lf-|ak-)[A-Za-z0-9_-]{12,}|sk-[A-Za-z0-9]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"
    r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{16,}|GOCSPX-[A-Za-z0-9_-]{16,}"
    r"|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}|ntn_[A-Za-z0-9]{20,}"
    r"|secret_[A-Za-z0-9]{24,}|figd_[A-Za-z0-9_-]{16,}|lin_(?:api|oauth)_[A-Za-z0-9]{16,}|hf_[A-Za-z0-9]{20,}"
    r"|napi_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{20,}|pypi-[A-Za-z0-9_-]{16,}|BSA[A-Za-z0-9_-]{20,}|fc-[0-9a-f]{20,}"
    r"|tvly-[A-Za-z0-9-]{16,}|pplx-[A-Za-z0-9]{16,}|gsk_[A-Za-z0-9]{16,}|xai-[A-Za-z0-9]{16,}|r8_[A-Za-z0-9]{16,}"
    r"|sbp_[A-Za-z0-9]{16,}|sntry[su]_[A-Za-z0-9+/=_-]{16,}|do[opr]_v1_[A-Za-z0-9]{16,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|dapi[0-9a-f]{32}|ATATT3[A-Za-z0-9_=-]{16,}"
    r"|ATCTT3[A-Za-z0-9_=-]{16,}|[0-9]{8,10}:[A-Za-z0-9_-]{35}|[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"
    r"|SK[0-9a-f]{32}|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}|AKC[A-Za-z0-9]{30,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{24,}"
    r"|key-[0-9a-f]{32}|[0-9a-f]{32}-us[0-9]{1,2}|xkeysib-[A-Za-z0-9-]{20,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}"
    r"|PMAK-[A-Za-z0-9-]{20,}|NRAK-[A-Za-z0-9]{20,}|glsa_[A-Za-z0-9_]{20,}|glc_[A-Za-z0-9+/=]{20,}"
    r"|hv[sb]\.[A-Za-z0-9_-]{20,}|dp\.(?:pt|st|sa|ct)\.[A-Za-z0-9.]{20,}|pcsk_[A-Za-z0-9_]{20,}|e2b_[0-9a-f]{20,}"
    r"|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{16,}|tskey-[A-Za-z0-9-]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}"
    r"|apify_api_[A-Za-z0-9]{16,}|ctx7sk-[A-Za-z0-9-]{16,}|sgp_[A-Za-z0-9_]{20,}|CFPAT-[A-Za-z0-9_-]{20,}"
    r"|nvapi-[A-Za-z0-9_-]{20,}|jina_[A-Za-z0-9]{20,}|lsv2_(?:pt|sk)_[A-Za-z0-9_]{20,}|phx_[A-Za-z0-9]{20,}"
    r"|re_[A-Za-z0-9]{8,}_[A-Za-z0-9]{12,}"
)
_JWT = re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")
_PEM = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_WEBHOOK = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks)/[A-Za-z0-9_/-]{16,}"
)
_SCHEME = re.compile(r"(?i)\b(bearer|basic|token|apikey|api-key)\s+([A-Za-z0-9._~+/=:-]{8,})")

_SPAN = re.compile(
    r"\$\{[A-Za-z_][\w.]*:?-(?P<default>[^{}]*)\}|\$\{[^{}]*\}|\$\([^()]*\)|\{\{[^{}]*\}\}|<[^<>]+>"
    r"|\{[A-Za-z_][\w .:-]*\}|\[[A-Za-z_][\w .-]*\]|\u00ab[^\u00ab\u00bb]*\u00bb"
)
_VARIABLE = re.compile(
    r"(?:(?:Bearer|Basic|Token)\s+)?(?:\$(?:env:)?[A-Za-z_]\w*|%[A-Za-z_]\w*%|env\.[A-Za-z_]\w*)", re.I
)
_MASK = re.compile(r"[xX]{4,}|\*{3,}|\.{3}|\u2026|\u2022{2,}|#{4,}")
_MASK_WHOLE = re.compile(r"[xX0_.*#?-]{3,}|[xX]{3,}[-_ ][xX-]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_BEGIN = word_set("your insert replace enter paste put change changeme placeholder dummy redacted todo tbd fixme")
_NOUNS = word_set(
    "api key keys token tokens secret password passwd pwd pass access auth client credential credentials bearer pat "
    "user username id personal account private service app application here value goes string"
)
_LAST = word_set("token key secret password")
_SAMPLES = word_set("example sample dummy fake my")
_REFERENCE = re.compile(
    r"(?i)(?:op|bw|doppler|infisical|secret|secrets|vault|keyring|akeyless|ssm|gcp-?sm|aws-?sm|azure-?kv|conjur)://"
    r"|(?:vault|keychain|keyring|secretsmanager|ssm|env|file|sops|cmd|1password|bitwarden):[^\s]"
    r"|arn:aws[a-z-]*:(?:secretsmanager|ssm|kms):|projects/[^/\s]+/secrets/|@microsoft\.keyvault\(|ref\+[a-z]+://"
)
_MODES = word_set(
    "true false yes no on off none null auto default prompt stdin env - oauth oauth2 keyring keychain file ask "
    "interactive disabled enabled required optional"
)
_DIGEST = re.compile(r"(?:sha(?:1|224|256|384|512)|md5|blake[23]\w*)[:-][A-Za-z0-9+/=_-]{16,}", re.I)
_UUID = re.compile(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_CHAIN_ADDRESS = re.compile(r"0x[0-9A-Fa-f]{40}")
_RUN = re.compile(r"[A-Za-z0-9]+")
_NUMBER = re.compile(r"[0-9][0-9._,]*")
_PATH = re.compile(r"(?:~|\.{1,2})?/|~$|[A-Za-z]:[\\/]|\\\\|file:", re.I)
_FILE = re.compile(
    r"[\w./\\ -]+\.(?:json|ya?ml|toml|txt|pem|key|crt|cer|p12|pfx|env|ini|conf|cfg|js|mjs|cjs|ts|py|sh|jar|exe|db)"
)


def shapes(text: str) -> list[Shape]:
    """Return the parts of a text that are credentials by their shape; placeholders of that shape are none."""
    text = text[:MAX_SCANNED]
    found = [
        Shape("known-prefix", match.group(), *match.span())
        for match in _SHAPES.finditer(text)
        if not _glued(text, match.start()) and not is_placeholder(match.group())
    ]
    found += [Shape("jwt", match.group(), *match.span()) for match in _JWT.finditer(text)]
    found += [Shape("private-key", text[match.start() :], match.start(), len(text)) for match in _PEM.finditer(text)]
    found += [
        Shape("webhook-url", match.group(), *match.span())
        for match in _WEBHOOK.finditer(text)
        if not is_placeholder(match.group())
    ]
    for match in _SCHEME.finditer(text):
        value = match.group(2)
        if not is_placeholder(value) and (is_secretish(value) or is_opaque(value)):
            found.append(Shape("authorization", value, *match.span(2)))
    return found


def _glued(text: str, start: int) -> bool:
    """Say whether a prefix only ends a longer word: `desk-…` is no `sk-…`."""
    return start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_-") and text[start : start + 1].isalnum()


def redacted(text: str) -> str:
    """Return a text in which everything that is a credential by its shape is cut down to four characters."""
    for shape in sorted(shapes(text), key=lambda found: -found.start):
        text = f"{text[: shape.start]}{shape.value[:4]}…({len(shape.value)} characters){text[shape.end :]}"
    return text


def is_placeholder(value: str) -> bool:
    """Say whether something stands in for a value: `${TOKEN}`, `<your key>`, `YOUR_API_KEY`, `xxxx`, `changeme`."""
    value = value[:MAX_SCANNED].strip().strip("\"'`")
    if not value:
        return False
    if _VARIABLE.fullmatch(value) or _MASK.search(value) or _MASK_WHOLE.fullmatch(value):
        return True
    if _SPAN.search(value):
        rest = re.sub(r"(?i)^(bearer|basic|token)\b", "", _SPAN.sub(lambda span: span.group("default") or "", value))
        bare = re.sub(r"[^A-Za-z0-9]", "", rest)
        return not bare or _words_stand_in(rest) or (len(bare) < 8 and not bare.isdigit())
    return _words_stand_in(value)


def _words_stand_in(value: str) -> bool:
    parts = [part.lower() for part in _PART.findall(value)]
    if not parts or len(value) > 100:
        return False
    if "your" in parts or parts[0] in _BEGIN:
        return True
    wordy = not any(character.isdigit() for character in value)
    if wordy and not _SAMPLES.isdisjoint(parts) and (len(parts) > 1 and not _NOUNS.isdisjoint(parts)):
        return True
    # GITHUB_TOKEN, API_KEY: the name of the variable instead of its value.
    if re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", value) and parts[-1] in _NOUNS:
        return True
    # sentry-user-token: words that end in what they stand for.
    return wordy and len(parts) > 2 and parts[-1] in _LAST and bool(re.fullmatch(r"[a-z]+(?:[-_][a-z]+)+", value))


def is_reference(value: str) -> bool:
    """Say whether a value names the place of a secret in a secret manager."""
    return _REFERENCE.match(value.strip()) is not None


def is_mode(value: str) -> bool:
    """Say whether a value is a switch or the name of a method."""
    return value.strip().lower() in _MODES


def is_number(value: str) -> bool:
    """Say whether a value is a plain number or version."""
    return _NUMBER.fullmatch(value) is not None


def is_path(value: str) -> bool:
    """Say whether a value is a path here: absolute, from the home folder, dotted, or a file by its ending."""
    if re.fullmatch(r"/[A-Za-z?]{0,2}", value):  # cmd /c
        return False
    if _PATH.match(value):
        return not (value.startswith("/") and "/" not in value[1:] and is_opaque(value[1:]))
    return "://" not in value and len(value) <= 512 and _FILE.fullmatch(value) is not None and "@" not in value


def is_secretish(value: str) -> bool:
    """Say whether a short value could be a password or a key: letters and digits mixed, no path, no version, no tag."""
    if len(value) < 6 or any(character.isspace() for character in value) or is_path(value) or "/" in value:
        return False
    if is_number(value) or is_digest(value) or re.fullmatch(r"v?[0-9]+(?:\.[0-9A-Za-z-]+)+", value):
        return False
    digits = sum(character.isdigit() for character in value)
    inner_upper = any(a.islower() and b.isupper() for a, b in pairwise(value))
    letters = any(character.isalpha() for character in value)
    punctuation = any(character in "!@#$%^&*+?~" for character in value)
    mixed = any(character.islower() for character in value) and any(character.isupper() for character in value)
    some_digit = digits >= 2 or (digits == 1 and mixed and len(value) >= 8)
    return letters and (some_digit or punctuation or (inner_upper and len(value) >= 16))


def is_password_like(value: str) -> bool:
    """Say whether a value is mixed as people mix passwords: capitals or signs, and digits. Stricter than secretish."""
    mixed = any(c.islower() for c in value) and any(c.isupper() for c in value)
    signs = any(character in "!@#$%^&*+?~" for character in value)
    return len(value) >= 8 and is_secretish(value) and (mixed or signs)


def is_digest(value: str) -> bool:
    """Say whether a value is a digest, a git commit, or a UUID."""
    if _DIGEST.fullmatch(value) or _UUID.fullmatch(value):
        return True
    return len(value) in {40, 64, 128} and _HEX.fullmatch(value) is not None


def is_opaque(value: str) -> bool:
    """Say whether a value is a long random text: what a token looks like that nobody gave a prefix."""
    if len(value) < 20 or len(value) > MAX_SCANNED or any(character.isspace() for character in value):
        return False
    if is_digest(value) or is_placeholder(value) or _CHAIN_ADDRESS.fullmatch(value):
        return False
    if _HEX.fullmatch(value):
        return len(value) >= 24 and not value.isdigit()
    return any(_random(run) for run in _RUN.findall(value))


def _random(run: str) -> bool:
    """Judge one run of letters and digits: how often the kind of character changes tells a token from words."""
    if len(run) < 16 or is_digest(run) or run.isdigit() or (run.isalpha() and (run.islower() or run.isupper())):
        return False
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in run]
    changes = sum(a != b for a, b in pairwise(kinds)) / (len(run) - 1)
    if "d" not in kinds:
        return len(run) >= 20 and changes >= 0.42
    mixed = "u" in kinds and "l" in kinds
    return changes >= (0.35 if mixed else 0.24)
