"""Every code that a diagnostic or an error can carry, with what it means and what to do about it.

A code is permanent: it never changes its meaning and is never used for something else. README's table is made from
this list, and a test holds every code in the sources to it.
"""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    # budgets and containers
    "budget-exceeded": (
        "More was delivered or declared than a limit allows; facts name profile, limit, used, max and unit.",
        "Ask why the package is that large. If you trust it, raise the limit with --budget for one run.",
    ),
    "archive-unreadable": (
        "The archive is damaged or cut short, or is no archive at all.",
        "Download it again; if it stays so, ask its author to pack it again.",
    ),
    "archive-ambiguous": (
        "Two careful readers could see two different contents; the message says where and what disagrees.",
        "Do not install it. Ask the author to pack it again with an ordinary tool.",
    ),
    "archive-encrypted": (
        "An entry is encrypted.",
        "Unpack it with its password and preview the folder.",
    ),
    "archive-method-unsupported": (
        "An entry is compressed with a method that is not read here.",
        "For Deflate64 install the extra 'deflate64'; otherwise ask for an archive with Deflate, or preview the folder.",
    ),
    # paths, links, kinds
    "path-unsafe": (
        "A name could escape, be read in two ways, or cannot be stored on every system.",
        "Do not install an archive that tries to escape. Otherwise ask the author to rename the file.",
    ),
    "path-encoding": (
        "A name without the UTF-8 flag is not UTF-8.",
        "Say which code page it was written in with --name-encoding, such as --name-encoding gbk.",
    ),
    "path-collision": (
        "Two names are one on a case-insensitive or normalising file system, or a file stands where a folder is needed.",
        "Ask the author to rename one of them.",
    ),
    "link-refused": (
        "A link points outside the package, to a folder, or to nothing.",
        "Ask the author to publish the file itself.",
    ),
    "link-copied": (
        "A symbolic link to a file of the package was taken as a copy of that file.",
        "Nothing.",
    ),
    "entry-kind-refused": (
        "A device, socket, pipe or other special file.",
        "Ask the author to leave it out.",
    ),
    "noise-ignored": (
        "Files that an operating system or git left behind were dropped.",
        "Nothing.",
    ),
    "diagnostics-capped": (
        "There were more findings than are shown.",
        "Mend the first ones and preview again.",
    ),
    # skills
    # specialists
    # connectors
    # github
    # library, plan, command line
    "library-stale": (
        "Something that the preview showed has changed since.",
        "Preview again and look at what is different.",
    ),
}
