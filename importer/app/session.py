"""One run against one library: opened, recovered, with the limits that are in force."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from budgets import Budgets
from importer.app.errors import ImporterError, Status, machine_error
from importer.diagnostics import Rejected, shown
from importer.library import Config, Library

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from importer.app.request import Settings
    from importer.diagnostics import Diagnostic


class Session:
    """Holds the library open for one command.

    Raises (on entering):
        ImporterError: the library cannot be read, or its `config.toml` is not valid.
    """

    def __init__(self, settings: Settings, *, check: bool = True) -> None:
        """Take the settings; `check=False` goes on with the defaults where `config.toml` is not valid."""
        self.settings = settings
        self._check = check
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        root = os.fspath(self.settings.library)
        if os.path.lexists(root) and not os.path.isdir(root):
            raise ImporterError(
                "library-no-folder",
                f"{shown(root, 400)} is no folder; --library names the folder of a library",
                Status.FAILED,
                path=root,
            )
        try:
            self.library = Library.open(self.settings.library, lock_timeout=self.settings.lock_timeout)
            config = self.library.config
        except OSError as problem:
            raise machine_error(problem, "opening the library") from None
        except Rejected as rejected:
            if not self._check:
                config = Config()
                return self._ready(config)
            first = rejected.diagnostics[0]
            raise ImporterError(first.code, first.message, Status.FAILED, rejected.diagnostics) from None
        return self._ready(config)

    def _ready(self, config: Config) -> Self:
        self._stack.callback(self.library.close)
        self.config = config
        self.budgets = Budgets.default((*config.overrides, *self.settings.overrides))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def at_end(self, action: Callable[[], object]) -> None:
        """Do something when the session ends, before the library is closed."""
        self._stack.callback(action)

    @property
    def notices(self) -> tuple[Diagnostic, ...]:
        """What opening the library found and repaired."""
        return tuple(self.library.notices)
