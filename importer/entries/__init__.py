"""The one gate that every entry from every kind of source passes before anything else looks at it.

`admit` takes a container's listing and returns a `Tree`: files with checked paths, the faults that refuse the package
that holds them, and notes. What could escape, or be read in two ways, refuses the whole container instead. Nothing is
repaired, and nothing is left out in silence.
"""

from importer.entries.gate import HOST_FILES, admit, is_noise
from importer.entries.report import as_warning, copied_links, faults_below, share_faults

__all__ = [
    "HOST_FILES",
    "admit",
    "as_warning",
    "copied_links",
    "faults_below",
    "is_noise",
    "share_faults",
]
