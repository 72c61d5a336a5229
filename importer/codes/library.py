"""Codes about the library, its transactions, and the command line."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "library-edits-trashed": (
        "What was replaced held files that were not as installed; they went to the trash with it.",
        "Copy them from there, or roll the transaction back.",
    ),
    "library-unwritable": (
        "The library cannot be written: a preview is complete and gives no token.",
        "Give yourself the right to write there, or name another library with --library.",
    ),
    "library-locked": (
        "Another process is changing the library, or keeps its record busy; the message names it.",
        "Try again when it has finished.",
    ),
    "library-name-unknown": (
        "The library holds nothing of that name.",
        "Look at importer list.",
    ),
    "library-protected": (
        "Something stands against a removal: built in, enabled for the main agent, or used by a specialist.",
        "Remove what uses it first, or disable it.",
    ),
    "library-unmanaged": (
        "The importer did not install it, so it does not remove it.",
        "Delete it yourself, if you want it gone.",
    ),
    "library-skill-kept": (
        "A skill of a removed specialist stays, for the reason in the message.",
        "Nothing.",
    ),
    "library-no-folder": (
        "What was named as the library is a file.",
        "Name a folder; one that does not exist yet is made by the first install.",
    ),
    "library-transaction-unknown": (
        "The history holds no transaction of that id.",
        "Look at importer history.",
    ),
    "library-rollback-refused": (
        "A transaction cannot be taken back: something stands on it since, or its trash was pruned.",
        "Take back the later transaction first, or restore single files from the trash by hand.",
    ),
    "library-settings-large": (
        "A specialist's settings are larger than what is kept.",
        "Keep large values elsewhere, and their place in the settings.",
    ),
    "library-recovered": (
        "An interrupted transaction was finished or taken back; the message says which.",
        "Nothing.",
    ),
    "library-displaced": (
        "Something had taken the place of an item that recovery brought back; it was moved to the trash.",
        "Look at it there.",
    ),
    "library-recovery-due": (
        "A transaction was interrupted or is under way, and the library cannot be written.",
        "Run any command as somebody who may write there.",
    ),
    "library-recovery-failed": (
        "An interrupted transaction could neither be finished nor taken back yet; nothing was lost.",
        "Remove the cause that the message names (a full disk, a permission), then run importer doctor.",
    ),
    "library-damaged": (
        "The record, or the importer's own folder, cannot be read.",
        "Run importer doctor: it moves what cannot be read to the trash, unchanged.",
    ),
    "library-foreign": (
        "library.db is another program's database.",
        "Run importer doctor: it moves it to the trash, unchanged.",
    ),
    "library-newer": (
        "The record was written by a newer version of the importer.",
        "Update the importer.",
    ),
    "library-record-failed": (
        "SQLite cannot use the record, for a reason that it does not say more about.",
        "Try again; then run importer doctor.",
    ),
    "config-invalid": (
        "config.toml is no TOML, or one of its keys or values is not known; every fault is said.",
        "Mend the key that the message names; importer doctor moves a file that nothing can be read of to the trash.",
    ),
    "token-unknown": (
        "The library gave out no such token, or gave it out for another command.",
        "Preview again.",
    ),
    "token-expired": (
        "The token's ten minutes are over.",
        "Preview again.",
    ),
    "token-used": (
        "The token was used already, and is good only once.",
        "Preview again.",
    ),
    "disk-full": (
        "The disk, the quota or the process's limit for a file is used up; nothing was changed.",
        "Make room and try again.",
    ),
    "disk-read-only": (
        "The file system is read-only.",
        "Mount it for writing, or name another library.",
    ),
    "disk-permission": (
        "The system does not permit it; the message names the path.",
        "Give yourself the right, or ask the owner.",
    ),
    "disk-other-system": (
        "Two places that belong together are on different file systems.",
        "Bring the named folder onto one file system.",
    ),
    "disk-failed": (
        "The system refused an operation; the message names path and cause.",
        "Remove the cause and try again.",
    ),
    "doctor-well": (
        "The library was looked at, and all is well.",
        "Nothing.",
    ),
    "doctor-no-library": (
        "There is no library in that place yet.",
        "Nothing, or check --library.",
    ),
    "doctor-moved": (
        "Something that cannot be read was moved to the trash, unchanged, with a reason beside it.",
        "Look at it there; what is in the library goes on working.",
    ),
    "doctor-brought-back": (
        "An item was missing, and its own trash gave it back.",
        "Check that it is the one that you want.",
    ),
    "doctor-unknown-file": (
        "A file among the importer's own is none of its.",
        "Nothing, or move it away.",
    ),
    "doctor-unknown-trash": (
        "A folder in the trash belongs to no transaction of the record.",
        "Look at it; history --prune removes it when its time is over.",
    ),
    "doctor-item-missing": (
        "The record holds an item whose files are gone.",
        "Install it again, or remove it.",
    ),
    "doctor-item-edited": (
        "An item is no longer as it was installed.",
        "Nothing, if the edits are yours; importer verify names the files.",
    ),
    "consent-missing": (
        "Nobody agreed to it: the answer was no, or there was no terminal to ask on.",
        "Look at the preview, then give --yes or the token.",
    ),
    "decision-missing": (
        "A conflict, an overwrite or a selection is still open.",
        "Give the options that the message names.",
    ),
    "system-error": (
        "The operating system refused something; the message names the path and the cause.",
        "Mend the cause and try again; nothing was half done.",
    ),
    "internal-error": (
        "A mistake of the importer's.",
        "Report it with the output of the same command and --verbose.",
    ),
    "library-stale": (
        "Something that the preview showed has changed since.",
        "Preview again and look at what is different.",
    ),
}
