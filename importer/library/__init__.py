"""The library: what is installed, and the transactions that change it. All of a change happens, or none of it."""

from importer.library.candidates import Held, HeldCandidate, HeldRemoval
from importer.library.config import Config
from importer.library.doctor import Examined
from importer.library.errors import LibraryError
from importer.library.history import Past
from importer.library.install import Applied, Outcome
from importer.library.inventory import Listed, Shown
from importer.library.library import Library
from importer.library.removal import RemovalPlan, RemovedItem
from importer.library.rows import Change, Item
from importer.library.settings import SpecialistSettings
from importer.library.stagings import Staging
from importer.library.trash import Pruned
from importer.library.writer import Writer

__all__ = [
    "Applied",
    "Change",
    "Config",
    "Examined",
    "Held",
    "HeldCandidate",
    "HeldRemoval",
    "Item",
    "Library",
    "LibraryError",
    "Listed",
    "Outcome",
    "Past",
    "Pruned",
    "RemovalPlan",
    "RemovedItem",
    "Shown",
    "SpecialistSettings",
    "Staging",
    "Writer",
]
