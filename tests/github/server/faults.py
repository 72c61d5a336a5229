"""Ways for the server to misbehave, each a small function over the answer that it was about to give."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.github.server.api import Handler


@dataclass
class Reply:
    """What the server is about to send."""

    status: int
    headers: dict[str, str]
    body: bytes


Action = Callable[["Handler", Reply], bool]
"""Changes the reply and returns False to have it sent, or sends something itself and returns True."""


@dataclass
class Fault:
    """Something wrong with the answers to requests whose path matches `where`."""

    where: str
    action: Action
    times: int | None = None
    """How often; None is always."""
    skip: int = 0
    """How many matching requests are answered well before."""
    hits: int = field(default=0)

    def takes(self, path: str) -> bool:
        """Whether this request is one of them."""
        if not re.search(self.where, path):
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.times is not None and self.hits >= self.times:
            return False
        self.hits += 1
        return True


def status(code: int, message: str = "", headers: Mapping[str, str] | None = None) -> Action:
    """Answer with an error, as GitHub words it."""

    def act(_handler: Handler, reply: Reply) -> bool:
        reply.status = code
        reply.headers |= {"content-type": "application/json; charset=utf-8", **(headers or {})}
        reply.headers.pop("location", None)
        reply.body = json.dumps({"message": message or f"status {code}"}).encode()
        return False

    return act


def html(code: int = 200) -> Action:
    """Answer with a web page: a proxy's login, say."""

    def act(_handler: Handler, reply: Reply) -> bool:
        reply.status = code
        reply.headers["content-type"] = "text/html; charset=utf-8"
        reply.body = b"<!DOCTYPE html><html><title>Sign in</title></html>"
        return False

    return act


def body(change: Callable[[bytes], bytes]) -> Action:
    """Change the body; its length is stated truly."""

    def act(_handler: Handler, reply: Reply) -> bool:
        reply.body = change(reply.body)
        return False

    return act


def header(name: str, value: str) -> Action:
    """Set one header."""

    def act(_handler: Handler, reply: Reply) -> bool:
        reply.headers[name] = value
        return False

    return act


def cut(after: int) -> Action:
    """State the whole length, send `after` bytes, and break the connection."""

    def act(handler: Handler, reply: Reply) -> bool:
        handler.send_head(reply.status, {**reply.headers, "content-length": str(len(reply.body))})
        handler.wfile.write(reply.body[:after])
        handler.close_connection = True
        return True

    return act


def shorter(by: int) -> Action:
    """State a length that is too small, and send no more than that."""

    def act(handler: Handler, reply: Reply) -> bool:
        size = max(0, len(reply.body) - by)
        handler.send_head(reply.status, {**reply.headers, "content-length": str(size)})
        handler.wfile.write(reply.body[:size])
        return True

    return act


def endless(chunk: bytes = b"x" * 65536) -> Action:
    """Send the body, and then go on for ever."""

    def act(handler: Handler, reply: Reply) -> bool:
        handler.send_head(reply.status, {**reply.headers, "connection": "close"})
        handler.close_connection = True
        try:
            handler.wfile.write(reply.body)
            while not handler.owner.closing.is_set():
                handler.wfile.write(chunk)
        except OSError:
            pass
        return True

    return act


def hang() -> Action:
    """Say nothing at all."""

    def act(handler: Handler, _reply: Reply) -> bool:
        handler.owner.closing.wait(60)
        handler.close_connection = True
        return True

    return act


def trickle(seconds: float) -> Action:
    """Send the body one byte at a time."""

    def act(handler: Handler, reply: Reply) -> bool:
        handler.send_head(reply.status, {**reply.headers, "content-length": str(len(reply.body))})
        try:
            for at in range(len(reply.body)):
                if handler.owner.closing.wait(seconds):
                    break
                handler.wfile.write(reply.body[at : at + 1])
                handler.wfile.flush()
        except OSError:
            pass
        handler.close_connection = True
        return True

    return act


def slow_head(seconds: float) -> Action:
    """Send the status line, and then a header one byte at a time."""

    def act(handler: Handler, _reply: Reply) -> bool:
        try:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-pad: ")
            handler.wfile.flush()
            while not handler.owner.closing.wait(seconds):
                handler.wfile.write(b"x")
                handler.wfile.flush()
        except OSError:
            pass
        handler.close_connection = True
        return True

    return act


def without(name: str) -> Action:
    """Leave one header out."""

    def act(_handler: Handler, reply: Reply) -> bool:
        reply.headers.pop(name, None)
        return False

    return act


def redirect(location: str, code: int = 302) -> Action:
    """Send the client elsewhere."""

    def act(_handler: Handler, reply: Reply) -> bool:
        reply.status = code
        reply.headers["location"] = location
        reply.body = b""
        return False

    return act


def drop() -> Action:
    """Break the connection without an answer."""

    def act(handler: Handler, _reply: Reply) -> bool:
        handler.close_connection = True
        return True

    return act
