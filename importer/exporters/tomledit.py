"""Servers put into Codex's TOML: new ones as text at the end, changed ones through tomlkit, which keeps the rest."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

from importer.exporters.texts import Json, Server, toml_table


class TomlEditFailed(ValueError):
    """tomlkit cannot change this document; nothing was changed."""


def append(text: str, root: str, servers: Mapping[str, Server]) -> str:
    """Return `text` with new servers as tables at its end; that is no TOML where `root` is closed (an inline table)."""
    newline = _newline(text)
    tables = "\n".join(toml_table(root, name, server) for name, server in servers.items())
    start = ""
    if text.strip():
        start = newline if text.endswith("\n") else newline + newline
    return text + start + tables.replace("\n", newline)


def replace(text: str, root: str, servers: Mapping[str, Server]) -> str:
    """Return `text` with the servers of these names changed key by key; what is equal keeps its place and comments.

    Raises:
        TomlEditFailed: tomlkit cannot do it.
    """
    return assign(text, root, servers)


def assign(text: str, root: str, servers: Mapping[str, Server]) -> str:
    """Return `text` with servers set inside the table that is there, whichever way it is written.

    Raises:
        TomlEditFailed: tomlkit cannot do it.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        parent = document[root]
        if not isinstance(parent, MutableMapping):
            raise TomlEditFailed(f"{root} is no table")
        for name, server in servers.items():
            written = tomlkit.parse(toml_table("t", "t", server))["t"]
            fresh = written["t"] if isinstance(written, MutableMapping) else None
            if not isinstance(fresh, MutableMapping):
                raise TomlEditFailed("a server is no table")
            current = parent.get(name)
            if not isinstance(current, MutableMapping):
                inline = tomlkit.inline_table()
                for key in fresh:
                    inline.append(key, fresh[key])
                parent[name] = inline
                continue
            for key in [key for key in current if key not in server]:
                del current[key]
            for key, value in server.items():
                if _plain(current.get(key)) != value:
                    current[key] = fresh[key]
        result = tomlkit.dumps(document)
    except (TOMLKitError, ValueError, KeyError, TypeError, AttributeError, IndexError) as fault:
        # A document that the standard library reads can still be beyond tomlkit; then it stays as it is.
        raise TomlEditFailed(type(fault).__name__) from None
    if "\r\n" in text and "\n" not in text.replace("\r\n", ""):
        result = result.replace("\r\n", "\n").replace("\n", "\r\n")
    return result


def _plain(value: object) -> Json | object:
    unwrap = getattr(value, "unwrap", None)
    return unwrap() if callable(unwrap) else value


def _newline(text: str) -> str:
    windows = text.count("\r\n")
    return "\r\n" if windows > text.count("\n") - windows else "\n"
