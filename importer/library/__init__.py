"""The library: what is installed, and the transactions that change it. All of a change happens, or none of it.

What only a change needs is in its own module (`install`, `removal`, `rollback`, `doctor`), and loaded by it alone.
"""

from importer.library.config import Config
from importer.library.errors import LibraryError
from importer.library.library import Library

__all__ = ["Config", "Library", "LibraryError"]
