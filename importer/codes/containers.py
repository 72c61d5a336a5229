"""Codes about ways to a package, containers, their entries, and budgets."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
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
        "For Deflate64 install the extra 'deflate64'; otherwise ask for an archive with Deflate, or preview "
        "the folder.",
    ),
    "source-unrecognised": (
        "What was typed as the source is neither a path nor a URL nor any other reference.",
        "Give a path, a URL, OWNER/REPO, or the token of a preview.",
    ),
    "source-not-found": (
        "Nothing is at that path.",
        "Check the spelling and the folder that you are in.",
    ),
    "source-unreadable": (
        "A file or folder cannot be read, or is no file or folder but a pipe, a socket or a device.",
        "Give a regular file or a folder, and see that you may read it.",
    ),
    "source-empty": (
        "The file has no bytes.",
        "Fetch or pack it again.",
    ),
    "source-changed": (
        "A file or folder changed while it was read.",
        "Wait until nothing writes to it, and preview again.",
    ),
    "path-unsafe": (
        "A name could escape, be read in two ways, or cannot be stored on every system.",
        "Do not install an archive that tries to escape. Otherwise ask the author to rename the file.",
    ),
    "path-encoding": (
        "A name without the UTF-8 flag is not UTF-8.",
        "Say which code page it was written in with --name-encoding, such as --name-encoding gbk.",
    ),
    "path-collision": (
        "Two names are one on a case-insensitive or normalising file system, or a file stands where a folder "
        "is needed.",
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
    "name-normalised": (
        "A name had its accents written apart from their letters, and is kept in the composed form (Unicode NFC).",
        "Nothing.",
    ),
    "text-hidden-characters": (
        "A text file holds hidden or invisible characters: what people see is not all that a model reads.",
        "Look at the places with an editor that shows such characters; do not install what you cannot explain.",
    ),
    "noise-ignored": (
        "Files that an operating system or git left behind were dropped.",
        "Nothing.",
    ),
    "diagnostics-capped": (
        "There were more findings than are shown.",
        "Mend the first ones and preview again.",
    ),
    "host-file-ignored": (
        "A record of the host application was in the package; it is never taken from one.",
        "Nothing.",
    ),
    "files-outside": (
        "Files that belong to no skill of the package; they are not installed.",
        "Nothing.",
    ),
    "archive-not-opened": (
        "An archive inside the package was not opened.",
        "Unpack it and preview it by itself.",
    ),
    "package-unrecognised": (
        "Nothing that can be imported was found; the message says what was looked for and what there was.",
        "Check that it is the right file or folder.",
    ),
    "text-byte-order-mark": (
        "A file starts with a byte order mark, which was passed over.",
        "Ask the author to save it as UTF-8 without one.",
    ),
    "source-host-unknown": (
        "A URL of a host that is not known as a GitHub host.",
        "Add the host to config.toml, or download the archive and preview the file.",
    ),
    "source-is-token": (
        "A token was given where a source is expected.",
        "Use `importer install TOKEN`.",
    ),
}
