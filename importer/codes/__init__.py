"""Every code that a diagnostic or an error can carry, with what it means and what to do about it.

A code is permanent: it never changes its meaning and is never used for something else. README's table is made from
this list, and a test holds every code in the sources to it.
"""

from __future__ import annotations

from importer.codes import clients, connectors, containers, github, library, skills, specialists

CODES: dict[str, tuple[str, str]] = {
    **containers.CODES,
    **skills.CODES,
    **specialists.CODES,
    **connectors.CODES,
    **clients.CODES,
    **github.CODES,
    **library.CODES,
}
