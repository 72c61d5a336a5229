"""What a connector may be called, and what it is called when a client's configuration used another name."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MAX_NAME = 64
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_DOCUMENT_ENDINGS = (".json", ".jsonc", ".toml", ".connector", ".mcp")


def is_name(text: str) -> bool:
    """Whether `text` is a connector's name: 1 to 64 of a-z, 0-9 and "-", the first one no hyphen."""
    return _NAME.fullmatch(text) is not None


def slug(text: str) -> str:
    """Return a valid name made from `text`: accents dropped, everything else a hyphen.

    Where nothing can be kept it is `server-` and eight digits of the SHA-256 of the text, the same everywhere.
    """
    plain = unicodedata.normalize("NFKD", text[:1024]).encode("ascii", "ignore").decode("ascii").lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_NAME].strip("-")
    return name or f"server-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def document_name(label: str) -> str:
    """Return what a document's own file name calls the one server in it: `github.mcp.json` is github."""
    name = re.split(r"[/\\]", label)[-1]
    for ending in _DOCUMENT_ENDINGS:
        name = name.removesuffix(ending)
    return name.removeprefix("open-science-connector-") or "server"
