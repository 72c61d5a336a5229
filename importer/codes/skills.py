"""Codes about skills."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "skill-document-missing": (
        "A folder that must be a skill has no SKILL.md.",
        "Ask the author for it; --keep-going leaves the skill out.",
    ),
    "skill-document-name": (
        "The document is spelled otherwise than SKILL.md.",
        "Ask the author to rename it; on many systems it is not found as it is.",
    ),
    "skill-frontmatter-invalid": (
        "SKILL.md has no frontmatter that can be used, or no description; the message says why and where.",
        "Ask the author to mend that line; --keep-going leaves the skill out.",
    ),
    "skill-frontmatter-repaired": (
        "A value of the frontmatter is no YAML and was read as text, because it can be read in one way only.",
        "Ask the author to write the quoted form that the message shows.",
    ),
    "skill-field-unreadable": (
        "A field of the frontmatter, or a line in it, cannot be read and was passed over.",
        "Ask the author to mend that line.",
    ),
    "skill-field-unknown": (
        "The frontmatter has fields that the specification does not know.",
        "Nothing; an agent may ignore them. Authors put their own fields under metadata.",
    ),
    "skill-field-form": (
        "A field has another form than the specification gives it: a list for a text, a number for a text.",
        "Nothing; ask the author to write it as the message says.",
    ),
    "skill-field-long": (
        "A field is longer than the specification allows.",
        "Nothing, or use another agent where yours refuses it.",
    ),
    "skill-description-cut": (
        "The description ends at ' #', because YAML takes the rest for a comment.",
        "Ask the author to write the description in quotes.",
    ),
    "skill-description-markup": (
        "The description holds '<' or '>', which claude.ai refuses.",
        "Nothing for other agents; for an upload to claude.ai ask the author to reword it.",
    ),
    "skill-name-mismatch": (
        "The name in the frontmatter is missing, not valid, or not the folder's; inside a Specialist package an error.",
        "Look at the name that it is planned under.",
    ),
    "skill-name-reserved": (
        "The name starts with a prefix that hosts keep for themselves.",
        "Nothing, unless the host has a skill of that name.",
    ),
    "skill-name-clash": (
        "Skills with different files would be installed under one name.",
        "Choose one by its root with --skill ROOT/.",
    ),
    "skill-duplicate": (
        "The same skill is in the package more than once and was taken once.",
        "Nothing.",
    ),
    "skill-unknown": (
        "--skill names no skill of the package.",
        "Take a name or a root from the list in the message.",
    ),
    "skill-selection-needed": (
        "The package has more skills than one import takes.",
        "Choose with --skill NAME, or raise bundle.skills for one run.",
    ),
    "skill-version-invalid": (
        "A version is not SemVer, or two versions differ; the message says which is used.",
        "Ask the author for a version such as 1.2.0 in metadata.version.",
    ),
    "skill-body-long": (
        "The text of SKILL.md is longer than recommended.",
        "Nothing; a model reads all of it each time.",
    ),
    "skill-link-dead": (
        "SKILL.md links to files that the skill does not have.",
        "Ask the author for the missing files.",
    ),
    "skill-executables": (
        "The skill has files that can be run: by their mode, by '#!', or by their name.",
        "Read them before an agent starts them.",
    ),
    "skill-secret-file": (
        "The skill has files of a kind that holds keys or passwords.",
        "Look at them; tell the author if they were not meant to be published.",
    ),
    "skill-lfs-pointer": (
        "A file is only the pointer that Git LFS leaves; its content is missing.",
        "Fetch the repository with git-lfs and preview the folder.",
    ),
    "skill-nested-document": (
        "A SKILL.md lies below another skill and was kept as its resource.",
        "Nothing, or preview that folder by itself.",
    ),
    "plugin-recognised": (
        "The package holds the manifest of a plugin; the message says of which kind.",
        "Nothing.",
    ),
    "skill-builtin": (
        "The host application ships a skill of that name; it is kept.",
        "Nothing, or ask for a package under another name.",
    ),
    "preview-text-left-out": (
        "The text of a SKILL.md did not fit into the preview's budget; the skill is importable.",
        "Preview that skill alone with --skill, or raise preview.text_bytes.",
    ),
}
