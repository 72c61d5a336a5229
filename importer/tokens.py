"""The form of a preview's token, which nothing else that can be typed as a source has."""

from __future__ import annotations

import re

PREFIX = "imp_"
RANDOM_BYTES = 24
_FORM = re.compile(PREFIX + r"[A-Za-z0-9_-]{32}")


def is_token(text: str) -> bool:
    """Return whether `text` has the form of a token; whether there is such a token only the library knows."""
    return _FORM.fullmatch(text) is not None
