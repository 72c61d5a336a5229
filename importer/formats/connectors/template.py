"""The connector template: read field by field, written in one way only.

Canonical bytes: UTF-8, the fields in the order of the format, two spaces of indentation, what is empty left out, hidden
characters escaped, one line break at the end. They are what is installed, and what the digest is over.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from importer.diagnostics import Diagnostic, Rejected, error, hidden, shown
from importer.digests import tree_digest
from importer.formats.connectors import guard, rules
from importer.formats.connectors.draft import Draft, Report, named
from importer.formats.connectors.recognise import TEMPLATE_KIND
from importer.formats.connectors.text import Decoded, Lines, decode
from importer.jsontext import Document, JsonFault, Node, Plain, parse
from importer.model import ConnectorTemplate
from importer.paths import RelPath
from importer.records import record
from importer.secrets import redacted

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, Sequence

_ROOT = ("schema_version", "kind", "name", "display_name", "description", "transport", "command", "args", "url",
         "required_secrets", "oauth")  # fmt: skip
_SECRETS = ("environment", "headers", "oauth_client_secret")
_OAUTH = ("client_metadata_url", "authorization_server_url", "scopes", "client_id", "redirect_uri")
_REQUIRED = ("schema_version", "kind", "name", "display_name", "transport")
_MAX_UNKNOWN = 20


def unreadable(fault: JsonFault, label: str) -> Diagnostic:
    """Return a syntax error with its place; a key that it quotes is cut where it is a credential by shape."""
    what = shown(redacted(fault.what))
    message = f"line {fault.line}, column {fault.column}: {what}; mend the JSON and preview again"
    return error("connector-unreadable", message, label, fault.line, column=fault.column)


class _Fields:
    """Typed access to the fields of one object; what has another type is said and left out."""

    def __init__(self, node: Node, prefix: str, known: Sequence[str], report: Report) -> None:
        self.report = report
        self.prefix = prefix
        self.values = {member.key: member.value for member in node.members or ()}
        unknown = 0
        for member in node.members or ():
            where = self.at(named(member.key))
            report.place(where, member.key_start)
            if member.key not in known:
                unknown += 1
                if unknown <= _MAX_UNKNOWN:
                    report.error(rules.INVALID, where, f"unknown field; expected only {', '.join(known)}")
        if unknown > _MAX_UNKNOWN:
            report.error(rules.INVALID, prefix, f"{unknown - _MAX_UNKNOWN} more unknown fields", count=unknown)

    def at(self, key: str) -> str:
        return f"{self.prefix}.{key}" if self.prefix else key

    def text(self, key: str, *, empty: bool = False) -> str | None:
        """Return a text field; None where it is missing or wrong. `empty` allows a blank one."""
        node = self.values.get(key)
        if node is None:
            return None
        if not isinstance(node.scalar, str):
            self.report.error(rules.INVALID, self.at(key), f"expected text, found {kind_of_value(node)}")
            return None
        if not node.scalar.strip() and not empty:
            self.report.error(rules.INVALID, self.at(key), "it is blank; write a value or leave the field out")
            return None
        return node.scalar

    def texts(self, key: str, *, empty: bool = False) -> list[str]:
        """Return a list of texts, without the items that are none."""
        node = self.values.get(key)
        if node is None:
            return []
        where = self.at(key)
        if node.items is None:
            self.report.error(rules.INVALID, where, f"expected a list of texts, found {kind_of_value(node)}")
            return []
        found: list[str] = []
        for number, item in enumerate(node.items):
            here = f"{where}[{number}]"
            self.report.place(here, item.start)
            if isinstance(item.scalar, str) and (item.scalar or empty):
                found.append(item.scalar)
                continue
            # Something keeps the place, so that later items keep their numbers.
            found.append("")
            if number < 2 * rules.MAX_ARGS:
                what = "an empty text" if item.scalar == "" else kind_of_value(item)
                self.report.error(rules.INVALID, here, f"expected text, found {what}")
        return found

    def object(self, key: str) -> Node | None:
        node = self.values.get(key)
        if node is None or node.members is not None:
            return node
        self.report.error(rules.INVALID, self.at(key), f"expected an object, found {kind_of_value(node)}")
        return None


def kind_of_value(node: Node) -> str:
    """Return what kind of JSON value a node is, without the value."""
    if node.members is not None:
        return "an object"
    if node.items is not None:
        return "a list"
    if node.scalar is None:
        return "null"
    if isinstance(node.scalar, bool):
        return "true" if node.scalar else "false"
    return "text" if isinstance(node.scalar, str) else "a number"


@record(kw_only=False)
class Read:
    """A connector that was read: without an error in `report` it can be installed once `asks` are answered."""

    draft: Draft
    report: Report
    asks: tuple[str, ...]


def read_document(document: Document, label: str, allowed: frozenset[str]) -> Read:
    """Read one template from its parsed text, saying every fault at once."""
    name = document.root.get("name")
    stated = name.scalar if name and isinstance(name.scalar, str) else ""
    report = Report(stated or label, Lines(document.text))
    if document.comments:
        report.place("comment", document.comments[0])
        report.error(rules.INVALID, "comment", "a template is plain JSON: it holds a comment; take it out")
    if document.trailing_commas:
        report.place("comma", document.trailing_commas[0])
        report.error(rules.INVALID, "comma", "a template is plain JSON: a comma stands before a bracket; take it out")
    draft = Draft(name=stated, stated_name=stated)
    fields = _Fields(document.root, "", _ROOT, report)
    draft.present = set(fields.values)
    for key in _REQUIRED:
        if key not in draft.present:
            report.error(rules.INVALID, key, "the field is missing; a template needs it")
    version = fields.values.get("schema_version")
    if version is not None and (type(version.scalar) is not int or version.scalar != 1):
        report.error(rules.INVALID, "schema_version", "expected the number 1, the only version that is read here")
    kind = fields.text("kind")
    if kind is not None and kind != TEMPLATE_KIND:
        report.error(rules.INVALID, "kind", f"'{named(kind)}' is another kind; expected {TEMPLATE_KIND}")
    fields.text("name")
    draft.display_name = fields.text("display_name") or ""
    draft.description = fields.text("description", empty=True) or ""
    draft.transport = fields.text("transport") or ""
    draft.command = fields.text("command") or ""
    draft.args = fields.texts("args", empty=True)
    draft.url = fields.text("url") or ""
    _secrets(fields, draft, report)
    _oauth(fields, draft, report)
    rules.check(draft, report)
    return Read(draft, report, guard.check(draft, report, allowed))


def _secrets(fields: _Fields, draft: Draft, report: Report) -> None:
    node = fields.object("required_secrets")
    if node is None:
        return
    secrets = _Fields(node, "required_secrets", _SECRETS, report)
    draft.environment = secrets.texts("environment")
    draft.headers = secrets.texts("headers")
    flag = secrets.values.get("oauth_client_secret")
    if flag is not None:
        draft.oauth_client_secret = flag.scalar is True
        if flag.scalar is not True:
            where = "required_secrets.oauth_client_secret"
            report.error(
                rules.INVALID, where, f"expected true, found {kind_of_value(flag)}; leave the field out for no"
            )


def _oauth(fields: _Fields, draft: Draft, report: Report) -> None:
    node = fields.object("oauth")
    if node is None:
        return
    oauth = _Fields(node, "oauth", _OAUTH, report)
    draft.oauth = {}
    for key in _OAUTH:
        if key not in oauth.values:
            continue
        draft.oauth[key] = tuple(oauth.texts(key)) if key == "scopes" else oauth.text(key) or ""


def to_template(draft: Draft) -> ConnectorTemplate:
    """Return a draft without faults as the value that exporters work from."""
    return ConnectorTemplate(
        name=draft.name,
        display_name=draft.display_name,
        transport=draft.transport,
        description=draft.description,
        command=draft.command,
        args=tuple(draft.args),
        url=draft.url,
        environment=tuple(draft.environment),
        headers=tuple(draft.headers),
        oauth_client_secret=draft.oauth_client_secret,
        oauth=draft.oauth,
    )


def template_bytes(template: ConnectorTemplate) -> bytes:
    """Return a template as canonical JSON: the same bytes for the same values, wherever it runs."""
    secrets: dict[str, Plain] = {}
    if template.environment:
        secrets["environment"] = list(template.environment)
    if template.headers:
        secrets["headers"] = list(template.headers)
    if template.oauth_client_secret:
        secrets["oauth_client_secret"] = True
    document: dict[str, Plain] = {
        "schema_version": 1,
        "kind": TEMPLATE_KIND,
        "name": template.name,
        "display_name": template.display_name,
    }
    if template.description:
        document["description"] = template.description
    document["transport"] = template.transport
    if template.command:
        document["command"] = template.command
    if template.args:
        document["args"] = list(template.args)
    if template.url:
        document["url"] = template.url
    if secrets:
        document["required_secrets"] = secrets
    if template.oauth is not None:
        document["oauth"] = _ordered(template.oauth)
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return (hidden().sub(_escaped, text) + "\n").encode("utf-8")


def _ordered(oauth: Mapping[str, str | tuple[str, ...]]) -> dict[str, Plain]:
    ordered: dict[str, Plain] = {}
    for key in _OAUTH:
        value = oauth.get(key)
        if value is not None:
            ordered[key] = value if isinstance(value, str) else list(value)
    return ordered


def _escaped(match: re.Match[str]) -> str:
    """Escape a character that nobody sees. Line breaks here are those between fields: json escaped all others."""
    return match.group() if match.group() == "\n" else json.dumps(match.group())[1:-1]


def read_template(data: bytes, *, label: str = "template", allowed: frozenset[str] | None = None) -> ConnectorTemplate:
    """Read one template again, as a library holds it: under the same rules as an import.

    Args:
        data: the document; plain JSON in UTF-8, a byte order mark in front is ignored.
        label: the name of the document for messages.
        allowed: `NAME:INDEX` that a person vouched for; None takes what only looks like a credential without asking,
            as it does for what was installed.

    Raises:
        Rejected: with everything that is wrong.
    """
    decoded = decode(data, label)
    if not isinstance(decoded, Decoded):
        raise Rejected([decoded])
    fault = None
    try:
        document = parse(decoded.text, comments=True, trailing_commas=True)
    except JsonFault as caught:
        fault = unreadable(caught, label)
        document = None
    if fault is not None or document is None:  # outside `except`: nothing of the document follows as a cause
        raise Rejected([fault] if fault else [])
    if document.root.members is None:
        raise Rejected([error(rules.INVALID, "a template is one JSON object", label)])
    read = read_document(document, label, allowed or frozenset())
    if read.report.faulty or (read.asks and allowed is not None):
        raise Rejected(read.report.found)
    return to_template(read.draft)


def connector_digest(name: str, data: bytes) -> str:
    """Return the `h1:` digest of the one file `<name>.json` with the bytes `data`."""
    return tree_digest([_File(RelPath.parse(f"{name}.json"), hashlib.sha256(data).hexdigest())])


@record(kw_only=False)
class _File:
    path: RelPath
    sha256: str
