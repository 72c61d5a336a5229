"""A server that speaks the part of GitHub's REST API that reading a repository needs, over real git repositories.

`repos` makes the repositories, `api` answers for them, `faults` makes it misbehave on purpose.
"""

from tests.github.server.api import GitHubServer, Hosted, Limits, Request
from tests.github.server.faults import Fault
from tests.github.server.repos import Exe, GitRepo, Link, Submodule

__all__ = ["Exe", "Fault", "GitHubServer", "GitRepo", "Hosted", "Limits", "Link", "Request", "Submodule"]
