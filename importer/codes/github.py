"""Codes about repositories and updates."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "github-reference-invalid": (
        "A reference to a repository that is malformed, or that names its ref in two ways.",
        "Write OWNER/REPO[@REF][/PATH] or an https URL of the repository, without credentials.",
    ),
    "github-host-unknown": (
        "A host that is not known to have a GitHub API.",
        "Add it to config.toml under github.hosts with its api URL, or set GITHUB_API_URL.",
    ),
    "github-api-invalid": (
        "The URL of an API is no plain https URL (http is allowed for this machine only).",
        "Correct GITHUB_API_URL or the api URL in config.toml.",
    ),
    "github-token-invalid": (
        "A variable that should hold a token holds something else.",
        "Set it again, or unset it.",
    ),
    "github-not-found": (
        "The repository does not exist, or it is private and the request may not see it.",
        "Check the spelling; for a private repository set GITHUB_TOKEN to a token that may read it.",
    ),
    "github-ref-not-found": (
        "The repository has no branch, tag or commit of that name.",
        "Check the spelling, or say with --ref what the ref is.",
    ),
    "github-path-not-found": (
        "The repository has no such file or folder at that commit.",
        "Check the spelling; the message suggests names that are close.",
    ),
    "github-empty": (
        "The repository has no commit yet.",
        "Nothing can be installed from it.",
    ),
    "github-rate-limited": (
        "The API takes no more requests until the time in the message.",
        "Wait until then, or set GITHUB_TOKEN: a token has a larger limit.",
    ),
    "github-unauthorized": (
        "The API refuses the token, or asks for one.",
        "Set the variable that the message names to a valid token, or unset it.",
    ),
    "github-forbidden": (
        "The API does not allow this request.",
        "Use a token that may read the repository; authorise it for single sign-on where asked.",
    ),
    "github-request-refused": (
        "The API cannot answer this request.",
        "Check the reference.",
    ),
    "github-blocked": (
        "The repository was taken down for legal reasons.",
        "It cannot be had from there.",
    ),
    "github-server-error": (
        "The server failed, also when it was asked again.",
        "Try again later.",
    ),
    "github-timeout": (
        "The server went silent, or sends too slowly to end.",
        "Try again later.",
    ),
    "github-connection-lost": (
        "The connection broke while an answer was read, also when it was tried again.",
        "Try again.",
    ),
    "github-unreachable": (
        "The host cannot be reached: its name, the network, the proxy, or its certificate.",
        "Check the name, HTTPS_PROXY and SSL_CERT_FILE.",
    ),
    "github-bad-answer": (
        "An answer is not what the API sends: a web page, broken JSON, far too many bytes.",
        "A proxy or a login page may be in between. Try again later.",
    ),
    "github-redirect-refused": (
        "The API redirects to another host, or in circles; credentials and requests do not follow.",
        "Check the API's URL.",
    ),
    "github-incomplete": (
        "A file of the commit cannot be had; the skill that holds it is refused.",
        "Try again later, or take the others with --keep-going.",
    ),
    "github-content-mismatch": (
        "The bytes of a file are not those of the commit.",
        "Try again; if it stays so, do not trust the server.",
    ),
    "github-listing-truncated": (
        "A folder holds more files than the API lists.",
        "Name a folder further down, or preview a clone.",
    ),
    "github-listing-walked": (
        "The API lists only part of the repository at once; it was read folder by folder.",
        "Nothing.",
    ),
    "github-link-followed": (
        "The path leads through a link of the repository, which was followed.",
        "Nothing.",
    ),
    "github-link-unread": (
        "Links outside of what --skill chose were not looked at: each would cost a request.",
        "Nothing; for a skill that holds one, choose it by its folder: --skill ROOT/.",
    ),
    "github-submodule": (
        "The path is a submodule: another repository.",
        "Name that repository instead.",
    ),
    "github-renamed": (
        "The repository was renamed or moved; the new one was read.",
        "Use the new name.",
    ),
    "github-repository-changed": (
        "The name belongs to another repository than the one that was installed from.",
        "Find out where the old one went, and install from there.",
    ),
    "github-record-incomplete": (
        "The record does not say where an installed item came from.",
        "Install it again from its repository.",
    ),
    "update-source-local": (
        "Something was asked to be updated that did not come from a place that can be asked.",
        "Install the new version from where it is.",
    ),
}
