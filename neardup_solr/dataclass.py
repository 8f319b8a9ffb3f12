"""Dataclasses of which `__init__` alone is compiled, so that modules are imported in less time.

The standard library compiles each method of each class: half a millisecond for a frozen one, and a
command has eighty. To type checkers this is its decorator, and its `fields`, `replace` and `asdict`
take these classes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, fields
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any


class _ByFactory:
    """The default of an argument that a factory makes, as signatures show it."""

    def __repr__(self) -> str:
        return "<factory>"


def _make(
    plain: type,
    *,
    frozen: bool = False,
    eq: bool = True,
    repr: bool = True,
    slots: bool = False,
    kw_only: bool = False,
) -> type:
    """Make a dataclass, as `dataclasses.dataclass` does. A method of the class itself stays."""
    methods: dict[str, Any] = {"__repr__": _describe} if repr else {}
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        if slots:
            methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
    make = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    made: type[Any] = make(plain)
    if eq:
        compared = [each.name for each in fields(made) if each.compare]
        # Twice the first, as one alone would be a value instead of a tuple.
        methods |= _compare_by(attrgetter(*compared, compared[0]), is_hashable=frozen)
    for name, method in methods.items():
        if name not in vars(plain):
            setattr(made, name, method)
    made.__init__ = _compile_init(made, frozen=frozen)
    return made


def _compile_init(made: type, *, frozen: bool) -> Callable[..., None]:
    scope: dict[str, Any] = {"by_factory": _ByFactory(), "set_value": object.__setattr__}
    lines, positional, named = list[str](), ["self"], list[str]()
    for field in fields(made):
        name = value = argument = field.name
        if field.default is not MISSING:
            scope[f"default_{name}"] = field.default
            argument += f"=default_{name}"
            value = name if field.init else f"default_{name}"
        elif field.default_factory is not MISSING:
            scope[f"make_{name}"] = field.default_factory
            argument += "=by_factory"
            value = f"make_{name}()" + (f" if {name} is by_factory else {name}") * field.init
        if field.init:
            (named if field.kw_only else positional).append(argument)
        elif argument == name:  # `__post_init__` sets it
            continue
        lines.append(f"set_value(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    arguments = ", ".join([*positional, *(["*", *named] if named else [])])
    exec(f"def __init__({arguments}):\n " + "\n ".join(lines), scope)
    init: Callable[..., None] = scope["__init__"]
    init.__annotations__ = {each.name: each.type for each in fields(made) if each.init}
    init.__annotations__["return"] = None
    init.__module__, init.__qualname__ = made.__module__, f"{made.__qualname__}.__init__"
    return init


def _compare_by(get: Callable[[Any], Any], *, is_hashable: bool) -> dict[str, Any]:
    """Compare and hash by the values of fields."""

    def __eq__(self: object, other: object) -> Any:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:
        return hash(get(self))

    return {"__eq__": __eq__, "__hash__": __hash__ if is_hashable else None}


@recursive_repr()
def _describe(self: Any) -> str:
    values = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({', '.join(values)})"


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(**options: bool) -> Callable[[type], type]:
        """Make a dataclass of a class, by `frozen`, `eq`, `repr`, `slots` and `kw_only`."""
        return partial(_make, **options)
