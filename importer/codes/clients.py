"""Codes about what leaves the library: exports, merges, and clients' configurations."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "export-nothing-left": (
        "The client can express none of the connectors that were asked for.",
        "Choose another client; the other findings say why for each connector.",
    ),
    "export-transport-unsupported": (
        "A connector is left out: the client cannot be given its transport in a file.",
        "Add it in the client itself where it has another way, or choose another client.",
    ),
    "export-command-unsupported": (
        "A connector is left out: the client takes only a bare name or a path inside the plugin as a command.",
        "Put the program into the plugin, or name one that is on the PATH.",
    ),
    "export-url-unsupported": (
        "A connector is left out: the client does not take URLs of that form.",
        "Use https, without a fragment.",
    ),
    "export-oauth-omitted": (
        "How to sign in (OAuth) has no place in a client's file.",
        "Sign in from the client when it first connects.",
    ),
    "export-secret-variable": (
        "A secret is named as an environment variable.",
        "Set the variable in the environment that the client is started in.",
    ),
    "export-secret-prompted": (
        "The client asks for a secret when the server first starts.",
        "Have it at hand.",
    ),
    "export-secret-by-hand": (
        "The client can only hold the secret itself, which is never written here.",
        "Write it into the client's file yourself, in the field that is named.",
    ),
    "export-secret-omitted": (
        "The format forbids secrets, so the names are left out.",
        "Say in the plugin's README which environment variables or headers it needs.",
    ),
    "export-text-expanded": (
        "The client puts a value of its own in place of a part of the command, an argument or the URL.",
        "Check that this is meant: a variable in a URL is sent to that address.",
    ),
    "export-placeholder-literal": (
        "A placeholder stands in the command, an argument or the URL, and the client does not expand it.",
        "Write the value there yourself, or choose a client that expands it.",
    ),
    "export-npx-prompts": (
        "npx without -y waits for an answer.",
        "Put -y first in the connector's args.",
    ),
    "export-cmd-unsafe": (
        "An argument holds a character that cmd would act on, so the command is not started through cmd.",
        "Name the program by its full path.",
    ),
    "export-unverified": (
        "The document does not read back as it was written.",
        "Report it: this is a fault of the importer's. Nothing was written.",
    ),
    "export-skill-name": (
        "A skill cannot be bundled: the name in its SKILL.md is not the name of its folder.",
        "Leave it out, or make the two equal.",
    ),
    "export-skill-incomplete": (
        "A skill has no SKILL.md at its root.",
        "Bring it back; `verify` says what is missing.",
    ),
    "export-file-refused": (
        "A Specialist package has no place for a file.",
        "Leave it out.",
    ),
    "export-too-large": (
        "There is more than a plain zip can hold.",
        "Leave something out.",
    ),
    "export-changed": (
        "A file changed while it was exported.",
        "Export again.",
    ),
    "merge-unparsable": (
        "The client's file cannot be read as its format; it was left as it is.",
        "Mend it in an editor at the line that is named.",
    ),
    "merge-parent-invalid": (
        "Something else stands where the client keeps its servers; the file was left as it is.",
        "Mend it in an editor.",
    ),
    "merge-comments": (
        "The file has comments; the client does not read them (then the file was left as it is), or nobody has tried.",
        "Take them out where the client refuses them.",
    ),
    "merge-trailing-commas": (
        "The file has trailing commas; the client does not read them (then it was left as it is), or nobody has tried.",
        "Take them out where the client refuses them.",
    ),
    "merge-bom-dropped": (
        "The byte order mark at the start of the file was dropped, because the client may not read it.",
        "Nothing.",
    ),
    "merge-conflict": (
        "A server of that name is there already and differs.",
        "Decide with --choose NAME=incoming or --choose NAME=installed.",
    ),
    "merge-unconfirmed": (
        "A server would be overwritten.",
        "Look at the diff; --confirm-overwrite goes on.",
    ),
    "merge-input-open": (
        "An input of the file is used for a secret, and does not hide what is typed.",
        'Give it "type": "promptString" and "password": true.',
    ),
    "merge-keys-dropped": (
        "The server that was replaced had keys that the new one does not have.",
        "Take what you need from the backup.",
    ),
    "merge-comments-replaced": (
        "Comments inside a server that was replaced are gone.",
        "Take what you need from the backup.",
    ),
    "merge-neighbour-invalid": (
        "Another entry of the file is faulty, and the client then loads no server at all.",
        "Mend that entry; `doctor --client` lists what is wrong.",
    ),
    "merge-unverified": (
        "The edited file would differ in more than the servers; it was left as it is.",
        "Add the server by hand, and report it: this is a fault of the importer's.",
    ),
    "client-unparsable": (
        "The client cannot read its file at all.",
        "Mend it in an editor at the line that is named.",
    ),
    "client-bom": (
        "The file starts with a byte order mark, which the client does not read, or nobody has tried.",
        "Save the file as UTF-8 without BOM.",
    ),
    "client-comments": (
        "The file has comments, which the client does not read, or nobody has tried.",
        "Take them out.",
    ),
    "client-trailing-commas": (
        "The file has trailing commas, which the client does not read, or nobody has tried.",
        "Take them out.",
    ),
    "client-no-servers": (
        "No MCP server is configured in the file.",
        "Nothing, if none is meant to be.",
    ),
    "client-root-other": (
        "The servers stand under a key that other clients use.",
        "Rename the key to the one that is named.",
    ),
    "client-root-invalid": (
        "Something else than an object stands where the client keeps its servers.",
        "Mend it in an editor.",
    ),
    "client-schema": (
        "The document does not name the schema that its format demands.",
        "Write $schema as it is given.",
    ),
    "client-server-invalid": (
        "The entry of a server is no object.",
        "Mend or remove it.",
    ),
    "client-name": (
        "The client reads something into a character of the server's name.",
        "Rename the server.",
    ),
    "client-transport": (
        "An entry says how to start a server and where to reach one, or neither.",
        "Keep command or the URL, under the key that the client reads.",
    ),
    "client-remote-unsupported": (
        "The client skips remote servers in its file.",
        "Add the server in the client's settings.",
    ),
    "client-type": (
        "The type of a server is missing, unknown to the client, or read otherwise.",
        "Write one of the types that are named.",
    ),
    "client-field-rejected": (
        "The client refuses an entry, or the file, because of a key.",
        "Remove the key.",
    ),
    "client-field-ignored": (
        "The client ignores a key, or is not known to read it.",
        "Remove the key, or write the one that the client reads.",
    ),
    "client-field-deprecated": (
        "The client still reads a key that it means to drop.",
        "Write it in the new form.",
    ),
    "client-value-invalid": (
        "A value is of a kind that the client refuses, such as a number in env.",
        "Put it in quotes, or mend it as the message says.",
    ),
    "client-placeholder": (
        "The client does not expand a placeholder: the server gets it as it stands, or empty.",
        "Write the placeholder in the client's own form.",
    ),
    "client-input-missing": (
        "A placeholder asks for an input that is not declared.",
        "Declare it in inputs.",
    ),
    "client-unknown": (
        "There is no client of that id.",
        "Use one of the ids that the message lists.",
    ),
    "client-no-place": (
        "That client has no default place for its configuration.",
        "Name the file: --merge FILE, or --file FILE.",
    ),
    "client-config-missing": (
        "The client has no configuration at that place.",
        "Name the file with --file.",
    ),
    "export-merge-template": (
        "A template cannot be merged into a client's configuration.",
        "Leave out --format template, or --merge.",
    ),
    "export-one-template": (
        "A template describes one connector.",
        "Export them one by one.",
    ),
    "export-output-exists": (
        "The output file is there already.",
        "Choose another --output, or give --force.",
    ),
    "merge-file-changes": (
        "The configuration was changed by another program during every try.",
        "Close that program and merge again.",
    ),
    "merge-too-large": (
        "The file is too large to be a configuration of servers.",
        "Check the file's name.",
    ),
}
