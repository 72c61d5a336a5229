"""Finding credentials where none may stand: in a command line, in a URL, in prose. Pure, and it keeps no value.

A credential is known by its position (the value of `--api-key`, a header, user info) or by its shape (a published
prefix, a JWT, a private key). What only looks random is `LIKELY`: a person decides. Variables, placeholders,
references to a secret manager, digests, commits and UUIDs are no credentials.
"""

from importer.secrets.argv import scan_command_line, scan_text
from importer.secrets.findings import Finding, Level
from importer.secrets.names import Strength, is_credential_header, is_credential_query_key, strength
from importer.secrets.urls import scan_url
from importer.secrets.values import is_path, is_placeholder, redacted

__all__ = [
    "Finding",
    "Level",
    "Strength",
    "is_credential_header",
    "is_credential_query_key",
    "is_path",
    "is_placeholder",
    "redacted",
    "scan_command_line",
    "scan_text",
    "scan_url",
    "strength",
]
