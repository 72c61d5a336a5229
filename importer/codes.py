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
    # sources
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
    # skills
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
    "plugin-recognised": (
        "The package holds the manifest of a plugin; the message says of which kind.",
        "Nothing.",
    ),
    "package-unrecognised": (
        "Nothing that can be imported was found; the message says what was looked for and what there was.",
        "Check that it is the right file or folder.",
    ),
    "text-byte-order-mark": (
        "A file starts with a byte order mark, which was passed over.",
        "Ask the author to save it as UTF-8 without one.",
    ),
    # specialists
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
    # connectors
    "connector-secret-embedded": (
        "A credential stands in the arguments or the URL of a connector (error), or what looks like one (warning). "
        "Facts: rule, where, start, length; never the value.",
        "Take it out, and name an environment variable or a header in required_secrets. For a warning that is wrong, "
        "--allow-arg CONNECTOR:INDEX keeps the argument. A real credential that was published should be revoked.",
    ),
    "connector-arg-allowed": (
        "An argument that looks like a credential is kept, because --allow-arg vouches for it.",
        "Nothing.",
    ),
    "connector-values-dropped": (
        "Environment variables or headers came with values. Their names are kept, no value is.",
        "Enter the values again where the connector is used, also those that are no secrets.",
    ),
    "connector-placeholder": (
        "A placeholder such as ${TOKEN} or <your key> stands in the command, the arguments or the URL.",
        "Nothing fills it in here. Better have the program read an environment variable.",
    ),
    "connector-invalid": (
        "A field of a connector is missing, wrong, too long, or excluded by another; path names the field.",
        "Mend the field, or ask the author to.",
    ),
    "connector-unreadable": (
        "The document is no JSON or TOML in UTF-8; the message says where.",
        "Mend it there and preview again.",
    ),
    "connector-registry-document": (
        "The file is a registry's server.json, which does not say how to start a server here.",
        "Preview a client's configuration of that server, or a connector template.",
    ),
    "connector-none": (
        "The configuration holds no server.",
        "Check that it is the right file.",
    ),
    "connector-not-found": (
        "--connector names a connector that the document does not have.",
        "Take one of the names in the message.",
    ),
    "connector-not-selected": (
        "The document holds servers that --connector did not ask for.",
        "Nothing.",
    ),
    "connector-too-many": (
        "The configuration holds more servers than are read at once.",
        "Name the ones that are wanted with --connector.",
    ),
    "connector-name-changed": (
        "A server's name is no connector name; the connector is called by a form of it that is.",
        "Use the new name with other commands.",
    ),
    "connector-name-collision": (
        "Two servers would get the same connector name.",
        "Rename one, or choose one with --connector and its own name.",
    ),
    "connector-key-ignored": (
        "A key of the configuration has no place in a connector.",
        "Set it again in the client, where it is needed.",
    ),
    "connector-transport-inferred": (
        "The server says no type; one is taken from its address.",
        "Write the type into the configuration if another one is meant.",
    ),
    "connector-arg-converted": (
        "An argument is a number or a boolean; it is taken as text.",
        "Nothing.",
    ),
    "connector-local-path": (
        "The command or an argument is a path of the machine that the configuration was written on.",
        "Check that it is there on the machine that the connector goes to.",
    ),
    "connector-plain-http": (
        "The address is http while secrets are sent to it.",
        "Use https.",
    ),
    "connector-npx-asks": (
        "npx is called without -y and would wait for an answer.",
        "Add -y in front of the package.",
    ),
    "connector-bom": (
        "The file starts with a byte order mark, which is ignored.",
        "Nothing.",
    ),
    # exports, merges, clients
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
    # github
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
    # library, plan, command line
    "skill-builtin": (
        "The host application ships a skill of that name; it is kept.",
        "Nothing, or ask for a package under another name.",
    ),
    "connector-builtin": (
        "The host application reserves the name; its own connector is kept.",
        "Nothing, or give the connector another name.",
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
    "update-source-local": (
        "Something was asked to be updated that did not come from a place that can be asked.",
        "Install the new version from where it is.",
    ),
    "specialist-overwrite": (
        "A specialist of that id is installed and differs.",
        "Look at what is said about versions and edits; --confirm-overwrite goes on.",
    ),
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
    "connector-still-named": (
        "A specialist names the connector that is being removed.",
        "Nothing; the specialist works without it.",
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
        "Mend the key that the message names.",
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
        "An install without a terminal was not confirmed.",
        "Look at the preview, then give --yes or the token.",
    ),
    "decision-missing": (
        "A conflict, an overwrite or a selection is still open.",
        "Give the options that the message names.",
    ),
    "skill-not-found": (
        "The preview behind a token showed no such skill.",
        "Use one of the names that it showed.",
    ),
    "preview-text-left-out": (
        "The text of a SKILL.md did not fit into the preview's budget; the skill is importable.",
        "Preview that skill alone with --skill, or raise preview.text_bytes.",
    ),
    "source-host-unknown": (
        "A URL of a host that is not known as a GitHub host.",
        "Add the host to config.toml, or download the archive and preview the file.",
    ),
    "source-is-token": (
        "A token was given where a source is expected.",
        "Use `importer install TOKEN`.",
    ),
    "system-error": (
        "The operating system refused something; the message names the path and the cause.",
        "Mend the cause and try again; nothing was half done.",
    ),
    "internal-error": (
        "A mistake of the importer's.",
        "Report it with the output of the same command and --verbose.",
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
    "library-stale": (
        "Something that the preview showed has changed since.",
        "Preview again and look at what is different.",
    ),
}
