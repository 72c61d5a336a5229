"""Preview and install packages of strangers for agents: what would change, within budgets, all of it or nothing.

    with Session(Settings(library=Path("library"))) as session:
        shown = preview(session, Request(source="reef-survey.zip"))
        if shown.installable:
            done = install(session, shown)

Everything here is loaded when it is first asked for, so importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from importer.version import __version__

if TYPE_CHECKING:
    from importer.app.errors import ImporterError, Status
    from importer.app.installing import install_preview as install
    from importer.app.installing import install_token
    from importer.app.previewing import preview
    from importer.app.request import Request, Settings, default_library
    from importer.app.results import Installation, Item, Preview
    from importer.app.session import Session
    from importer.diagnostics import Diagnostic, Severity
    from importer.model import Choice, Choices, Disposition, Plan, Reason

_WHERE = {
    "Choice": "importer.model",
    "Choices": "importer.model",
    "Diagnostic": "importer.diagnostics",
    "Disposition": "importer.model",
    "ImporterError": "importer.app.errors",
    "Installation": "importer.app.results",
    "Item": "importer.app.results",
    "Plan": "importer.model",
    "Preview": "importer.app.results",
    "Reason": "importer.model",
    "Request": "importer.app.request",
    "Session": "importer.app.session",
    "Settings": "importer.app.request",
    "Severity": "importer.diagnostics",
    "Status": "importer.app.errors",
    "default_library": "importer.app.request",
    "install": "importer.app.installing:install_preview",
    "install_token": "importer.app.installing",
    "preview": "importer.app.previewing",
}

__all__ = [
    "Choice",
    "Choices",
    "Diagnostic",
    "Disposition",
    "ImporterError",
    "Installation",
    "Item",
    "Plan",
    "Preview",
    "Reason",
    "Request",
    "Session",
    "Settings",
    "Severity",
    "Status",
    "__version__",
    "default_library",
    "install",
    "install_token",
    "preview",
]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'importer' has no attribute {name!r}")
    module, _, attribute = _WHERE[name].partition(":")
    value: object = getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
