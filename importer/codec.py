"""The values of `importer.model` as plain JSON values, and back: how a candidate waits for its install.

The form is our own and lives as long as a token does. It follows the types of the fields, so a field that is added to
a value is carried without a change here. `FileRecord`, of which there are thousands, is a line of one text
for all of them.
"""

from __future__ import annotations

import base64
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from importer.model import FileRecord
from importer.paths import RelPath

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]
T = TypeVar("T")
_LEAVES = frozenset({type(None), bool, int, float, str})


class CodecError(ValueError):
    """A value that is not of the form that this module writes; the message names the place."""


def encode(value: object) -> Plain:
    """Return a value of the model (a dataclass, a tuple or mapping of them, a leaf) as plain JSON values."""
    if type(value) in _LEAVES:
        return cast("Plain", value)
    if isinstance(value, Enum):
        return encode(value.value)
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, RelPath):
        return value.text
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, tuple) and value and isinstance(value[0], FileRecord):
        return "\n".join(map(_record_line, value))
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    if isinstance(value, frozenset):
        return [encode(item) for item in sorted(value)]
    if is_dataclass(value):
        return {name: encode(getattr(value, name)) for name in _names(value.__class__)}
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form here")


def decode(kind: type[T], plain: object) -> T:
    """Return the value of type `kind` that `encode` made `plain` of.

    Raises:
        CodecError: `plain` has another form.
    """
    value = _decode(kind, plain, kind.__name__)
    if not isinstance(value, kind):
        raise CodecError(f"expected a {kind.__name__}")
    return value


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _hints(kind: type) -> tuple[tuple[str, Any, bool], ...]:
    hints = get_type_hints(kind)
    return tuple(
        (field.name, hints[field.name], field.default is MISSING and field.default_factory is MISSING)
        for field in fields(kind)
    )


def _decode(kind: Any, plain: object, where: str) -> object:
    origin = get_origin(kind)
    if origin in {Union, types.UnionType}:
        return _union(get_args(kind), plain, where)
    if origin is tuple and get_args(kind)[0] is FileRecord and isinstance(plain, str):
        return tuple(_file_record(line, where) for line in plain.split("\n"))
    if origin in {tuple, list, frozenset}:
        if not isinstance(plain, list):
            raise CodecError(f"{where}: expected a list")
        inner = get_args(kind)[0]
        items = [_decode(inner, item, where) for item in plain]
        return items if origin is list else frozenset(items) if origin is frozenset else tuple(items)
    if origin is Mapping:
        if not isinstance(plain, dict):
            raise CodecError(f"{where}: expected an object")
        inner = get_args(kind)[1]
        return types.MappingProxyType({str(key): _decode(inner, item, where) for key, item in plain.items()})
    return _plain_type(kind, plain, where)


def _plain_type(kind: Any, plain: object, where: str) -> object:
    if kind is bytes and isinstance(plain, str):
        return base64.b64decode(plain, validate=True)
    if kind is RelPath and isinstance(plain, str):
        return RelPath.parse(plain)
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(plain)
        except ValueError as problem:
            raise CodecError(f"{where}: {problem}") from None
    if is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind, plain, where)
    if kind is type(None) or kind is None:
        if plain is None:
            return None
    elif type(plain) is kind:
        return plain
    raise CodecError(f"{where}: expected {getattr(kind, '__name__', kind)}, not {type(plain).__name__}")


def _dataclass(kind: type, plain: object, where: str) -> object:
    if not isinstance(plain, dict):
        raise CodecError(f"{where}: expected an object")
    values: dict[str, object] = {}
    for name, hint, required in _hints(kind):
        if name in plain:
            values[name] = _decode(hint, plain[name], f"{where}.{name}")
        elif required:
            raise CodecError(f"{where}.{name} is missing")
    return kind(**values)


def _union(kinds: tuple[Any, ...], plain: object, where: str) -> object:
    for kind in kinds:
        if (plain is None) != (kind is type(None)):
            continue
        try:
            return _decode(kind, plain, where)
        except CodecError:
            continue
    raise CodecError(f"{where}: a {type(plain).__name__} is none of its types")


def _record_line(record: FileRecord) -> str:
    """Return a record as one line: flags, size, SHA-256 and path, which holds no line end."""
    path, size, sha256, executable, mode_known, shebang = record
    return f"{executable | mode_known << 1 | shebang << 2} {size} {sha256} {path.text}"


def _file_record(line: str, where: str) -> FileRecord:
    flags, _, rest = line.partition(" ")
    size, _, rest = rest.partition(" ")
    sha256, space, path = rest.partition(" ")
    if not (flags.isdecimal() and size.isdecimal() and space and path):
        raise CodecError(f"{where}: expected lines of flags, size, SHA-256 and path")
    return FileRecord(
        path=RelPath(path),
        size=int(size),
        sha256=sha256,
        executable=bool(int(flags) & 1),
        mode_known=bool(int(flags) & 2),
        shebang=bool(int(flags) & 4),
    )
