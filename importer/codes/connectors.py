"""Codes about connectors."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "connector-secret-embedded": (
        "A credential stands in the arguments or the URL of a connector (error), or what looks like one "
        "(warning). Facts: rule, where, start, length; never the value.",
        "Take it out, and name an environment variable or a header in required_secrets. For a warning that is "
        "wrong, --allow-arg CONNECTOR:INDEX keeps the argument. A real credential that was published should "
        "be revoked.",
    ),
    "connector-arg-allowed": (
        "An argument that looks like a credential is kept, because --allow-arg vouches for it.",
        "Nothing.",
    ),
    "connector-allow-unused": (
        "--allow-arg names an argument that nothing asks about.",
        "Take the CONNECTOR:INDEX that the preview prints, or leave the option out.",
    ),
    "connector-duplicate": (
        "Several documents of the package have the same connector; it was taken once.",
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
    "connector-builtin": (
        "The host application reserves the name; its own connector is kept.",
        "Nothing, or give the connector another name.",
    ),
    "connector-still-named": (
        "A specialist names the connector that is being removed.",
        "Nothing; the specialist works without it.",
    ),
}
