"""The library: what is installed, and the transactions that change it. All of a change happens, or none of it."""

from importer.library.candidates import Held, HeldCandidate
from importer.library.config import Config
from importer.library.errors import LibraryError
from importer.library.install import Applied, Outcome
from importer.library.library import Library
from importer.library.stagings import Staging
from importer.library.writer import Writer

__all__ = [
    "Applied",
    "Config",
    "Held",
    "HeldCandidate",
    "Library",
    "LibraryError",
    "Outcome",
    "Staging",
    "Writer",
]
