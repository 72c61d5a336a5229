"""Value classes that are cheap to define: `@record` is `@dataclass(frozen=True, kw_only=True, slots=True)`.

A command defines about a hundred value classes before it does anything. `dataclass` writes, compiles and runs the
source of six methods for each of them; here the methods are there already, and the definition takes a tenth of the
time. Whoever makes the values pays for it: making one takes half as long again. So this is for what a run has by the
hundreds; what it has by the ten thousands is a named tuple.

The standard library still reads the fields and makes the slots: `fields`, `replace`, `is_dataclass`, `copy` and
`pickle` work on records as on any dataclass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, frozen: bool = True, kw_only: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(
    cls: type[T] | None = None, /, *, frozen: bool = True, kw_only: bool = True
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a value class of `cls`, with slots, from its annotations.

    Args:
        cls: the class as written; not derived from another record.
        frozen: whether its values cannot be changed, and have a hash.
        kw_only: whether its fields are given by keyword only.

    Raises:
        TypeError: a field asks for more than a default, a default factory and `repr=False`.
    """
    if cls is None:
        return lambda cls: _made(cls, frozen, kw_only)
    return _made(cls, frozen, kw_only)


def _made(cls: type[T], frozen: bool, kw_only: bool) -> type[T]:
    made = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(cls)
    all_fields = fields(made)  # type: ignore[arg-type]  # made by the line above
    for item in all_fields:
        if not (item.init and item.compare) or item.hash is not None or item.kw_only is not kw_only:
            raise TypeError(f"{cls.__qualname__}.{item.name}: a record has no such field; use a dataclass")
    names = tuple(item.name for item in all_fields)
    methods: dict[str, Any] = {
        "__init__": _init(made, all_fields, () if kw_only else names),
        "__repr__": _repr(tuple(item.name for item in all_fields if item.repr)),
        **_comparison(names, frozen),
        **({"__setattr__": _refuse, "__delattr__": _refuse, "__setstate__": _set_state} if frozen else {}),
    }
    for name, method in methods.items():
        setattr(made, name, method)
    return made


def _init(made: type, all_fields: tuple[Field[Any], ...], positions: tuple[str, ...]) -> Callable[..., None]:
    # A slot's own descriptor sets it also where __setattr__ refuses.
    slots = {item.name: getattr(made, item.name).__set__ for item in all_fields}
    defaults = {item.name: item.default for item in all_fields if item.default is not MISSING}
    factories = [(item.name, item.default_factory) for item in all_fields if item.default_factory is not MISSING]
    finish = getattr(made, "__post_init__", None)

    def __init__(self: object, /, *positional: object, **given: object) -> None:  # noqa: N807
        if positional:
            placed = dict(zip(positions, positional, strict=False))
            if len(placed) < len(positional) or placed.keys() & given.keys():
                raise TypeError(f"{made.__qualname__}() takes by position, each once: {', '.join(positions)}")
            given = {**placed, **given}
        values = {**defaults, **given}
        for name, factory in factories:
            if name not in given:
                values[name] = factory()
        if values.keys() != slots.keys():
            odd = ", ".join(sorted(values.keys() ^ slots.keys()))
            raise TypeError(f"{made.__qualname__}() needs what is missing, or does not know what is given: {odd}")
        for name, value in values.items():
            slots[name](self, value)
        if finish is not None:
            finish(self)

    return __init__


def _repr(names: tuple[str, ...]) -> Callable[[object], str]:
    @recursive_repr()
    def __repr__(self: object) -> str:  # noqa: N807
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _comparison(names: tuple[str, ...], frozen: bool) -> dict[str, Any]:
    def __eq__(self: object, other: object) -> bool:  # noqa: N807
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(tuple([getattr(self, name) for name in names]))

    return {"__eq__": __eq__, "__hash__": __hash__ if frozen else None}


def _refuse(self: object, name: str, _value: object = None) -> None:
    raise FrozenInstanceError(f"{type(self).__qualname__}.{name}: a record cannot be changed")


def _set_state(self: object, state: tuple[None, dict[str, object]]) -> None:
    for name, value in state[1].items():
        object.__setattr__(self, name, value)
