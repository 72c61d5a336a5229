"""The connections of one client, so that waiting on them can be ended: by whoever gives up, or by a time limit.

A time-out between two reads never ends an answer whose head arrives one byte at a time, and a thread that waits for a
silent host does not notice that somebody pressed Ctrl-C. Shutting the socket down ends both at once.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPENED = (".connect_tcp.complete", ".start_tls.complete")
_HEAD = ".receive_response_headers."


class Sockets:
    """Every socket that a client has open; safe to use from several threads."""

    def __init__(self) -> None:
        self.aborted = False
        """Whether nothing is asked any more."""
        self.interruptions = 0
        """How often every wait was ended."""
        self._held: WeakSet[socket.socket] = WeakSet()
        self._lock = threading.Lock()

    def add(self, opened: object) -> None:
        """Keep the socket of a stream that the HTTP client opened."""
        ask = getattr(opened, "get_extra_info", None)
        found = ask("socket") if ask is not None else None
        if isinstance(found, socket.socket):
            with self._lock:
                self._held.add(found)
                late = self.aborted
            if late:
                _shut(found)

    def interrupt(self) -> None:
        """End every wait on a connection; new ones may be opened."""
        with self._lock:
            self.interruptions += 1
            held = list(self._held)
        for one in held:
            _shut(one)

    def abort(self) -> None:
        """End every wait on a connection for good."""
        with self._lock:
            self.aborted = True
        self.interrupt()


class Watch:
    """One request, as the HTTP client's `trace` tells of it: its head has `seconds` from the first wait for it."""

    def __init__(self, sockets: Sockets, seconds: float) -> None:
        self._before = sockets.interruptions
        self._sockets = sockets
        self._seconds = seconds
        self._timer: threading.Timer | None = None

    def __call__(self, event: str, info: Mapping[str, Any], /) -> None:
        """Take one event: `connection.connect_tcp.complete`, `http11.receive_response_headers.started`, and others."""
        if event.endswith(_OPENED):
            self._sockets.add(info.get("return_value"))
        elif _HEAD in event:
            self.stop()
            if event.endswith(".started"):
                # Which connection serves which request is not told: whoever shares the client tries again.
                self._timer = threading.Timer(self._seconds, self._sockets.interrupt)
                self._timer.daemon = True
                self._timer.start()

    @property
    def expired(self) -> bool:
        """Whether the time of this request was up, or that of another one, whose end ended this one too."""
        return self._sockets.interruptions != self._before

    def stop(self) -> None:
        """The head is there, or will not come."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _shut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
