"""How the library says no: one exception, with a code, a safe message, and the path that the person knows."""

from __future__ import annotations

import errno

from importer.fs import DiskError, explained


class LibraryError(DiskError):
    """The library cannot do what was asked. `code` says which kind it is:

    * `token-…`: a token is unknown, used, expired, or for another command;
    * `library-stale`: something that the plan depends on has changed;
    * `library-locked`: another writer did not finish in time;
    * `library-protected`: something stands against a removal, or a rollback;
    * `library-name-unknown`, `library-transaction-unknown`: there is no such thing;
    * everything else: the library, its record or its disk needs attention first.
    """


def stale(what: str, path: str = "") -> LibraryError:
    """Return the refusal for a plan that no longer fits; `what` says what has changed."""
    return LibraryError(
        "library-stale", f"stale: {what}; nothing was changed. Preview again and look at what is different", path
    )


def own(problem: OSError, path: str, doing: str = "write") -> LibraryError:
    """Say an error among the importer's own things; where something is in the way, the doctor moves it."""
    told = explained(problem, path, doing)
    blocked = problem.errno in {errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ELOOP}
    hint = "; `importer doctor` moves what is in the way to the trash" if blocked else ""
    return LibraryError(told.code, told.message + hint, told.path, problem.errno or 0)
