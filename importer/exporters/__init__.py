"""What leaves the library: connectors in each client's own form, merges into their files, and archives.

Nothing here opens a file. `render` and `merge` go from values and bytes to text and bytes, `check_config` reads bytes,
the archive writers hand bytes to an object with `write`; whoever calls them does the reading and the writing.
"""

from __future__ import annotations

from importer.exporters.archive import ExportFile, not_bundled, write_skill_zip, write_specialist_zip
from importer.exporters.check import check_config
from importer.exporters.clients import CLIENTS, Client, Place, Surroundings
from importer.exporters.merge import Conflict, MergeResult, merge
from importer.exporters.render import How, NeededSecret, Rendered, render

__all__ = [
    "CLIENTS",
    "Client",
    "Conflict",
    "ExportFile",
    "How",
    "MergeResult",
    "NeededSecret",
    "Place",
    "Rendered",
    "Surroundings",
    "check_config",
    "merge",
    "not_bundled",
    "render",
    "write_skill_zip",
    "write_specialist_zip",
]
