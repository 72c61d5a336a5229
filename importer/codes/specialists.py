"""Codes about Specialist packages."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "specialist-manifest-invalid": (
        "manifest.json is missing, no JSON object, or one of its fields is wrong.",
        "Ask the author to mend the field that the message names.",
    ),
    "specialist-document-invalid": (
        "specialist.json is missing, or no JSON object.",
        "Ask the author to mend it.",
    ),
    "specialist-field-missing": (
        "specialist.json lacks a field that it must have.",
        "Ask the author to add it.",
    ),
    "specialist-field-invalid": (
        "A field of specialist.json has a value that is not allowed.",
        "Ask the author to mend it; the message says what is expected.",
    ),
    "specialist-field-unknown": (
        "manifest.json or specialist.json has a field that the format does not know.",
        "Ask the author to delete it.",
    ),
    "specialist-field-forbidden": (
        "specialist.json decides something that is not the package's to decide.",
        "Ask the author to delete the field.",
    ),
    "specialist-file-ignored": (
        "A file has no place in a Specialist package and is not installed.",
        "Ask the author to move it into a skill, or to leave it out.",
    ),
    "specialist-skill-unlisted": (
        "The package bundles a skill that its own skill_ids do not name.",
        "Nothing; ask the author which of the two is meant.",
    ),
    "specialist-not-taken": (
        "A Specialist package lies inside a larger package and was not taken.",
        "Preview its folder by itself.",
    ),
    "specialist-protected": (
        "The id or the name belongs to a specialist of the host application.",
        "Ask the author for another id and name.",
    ),
    "specialist-name-taken": (
        "Another installed specialist has the same name.",
        "Tell them apart by their ids, or remove one.",
    ),
    "specialist-skill-unresolved": (
        "The specialist names a skill that is neither in the package nor installed.",
        "Install that skill; the specialist works without it until then.",
    ),
    "specialist-connector-unresolved": (
        "The specialist names a connector that is not installed.",
        "Install a connector of that name.",
    ),
    "specialist-overwrite": (
        "A specialist of that id is installed and differs.",
        "Look at what is said about versions and edits; --confirm-overwrite goes on.",
    ),
}
