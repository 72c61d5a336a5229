"""Comparing two version labels. A label never decides identity; the digest does."""

from __future__ import annotations


def relation(incoming: str, installed: str) -> str:
    """Return what `incoming` is to `installed`: newer, older, same, or unknown where one is no SemVer version.

    Build metadata takes part only in "same": two versions that differ in it alone have no order.
    """
    if incoming == installed:
        return "same"
    import semver

    try:
        order = semver.Version.parse(incoming).compare(semver.Version.parse(installed))
    except ValueError:
        return "unknown"
    return "newer" if order > 0 else "older" if order < 0 else "unknown"
