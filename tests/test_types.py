"""The types of `nd.types`: all that users hold or choose can be imported."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import neardup_solr as nd
from website import ROOT, library

OURS = "neardup_solr"
# A collection is opened and given to verbs, which are written with its methods; and the base of
# results with tables has no use of its own.
NOT_FOR_USERS = {"Collection", "Table"}


@cache
def imported(module: ModuleType) -> dict[str, tuple[str, str]]:
    """The names that a module imports, also for type checkers alone: their module and name."""
    tree = ast.parse(inspect.getsource(module))
    imports = [one for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)]
    return {
        alias.asname or alias.name: (one.module or "", alias.name)
        for one in imports
        for alias in one.names
    }


def place_of(module: ModuleType, name: str) -> ModuleType | None:
    """Return the module of ours that defines a name; None if it is not ours."""
    if name not in imported(module):
        is_own = not inspect.ismodule(getattr(module, name, module))
        return module if is_own else None
    place, own = imported(module)[name]
    if not place.startswith(OURS) or f"{place}.{own}" in sys.modules:
        return None
    return place_of(import_module(place), own)


def annotations_of(what: Any) -> Iterator[tuple[str, ModuleType]]:
    """The annotations of a function, or of a class's fields, properties and methods."""
    if inspect.isclass(what):
        for base in what.__mro__:
            if base.__module__.startswith(OURS):
                fields = vars(base).get("__annotations__", {})
                for name, kind in fields.items():
                    if not name.startswith("_"):
                        yield getattr(kind, "__forward_arg__", kind), sys.modules[base.__module__]
                for name, member in vars(base).items():
                    if not name.startswith("_") or name in ("__next__", "__iter__"):
                        ways = ("fget", "func", "__func__")  # of properties and class methods
                        plain = next(
                            (getattr(member, w) for w in ways if hasattr(member, w)), member
                        )
                        yield from annotations_of(None if inspect.isclass(plain) else plain)
    elif inspect.isfunction(what):
        function = inspect.unwrap(what)
        for kind in function.__annotations__.values():
            yield kind, sys.modules[function.__module__]


def test_whatever_users_hold_can_be_imported() -> None:
    """Each type of ours in an annotation of something public is a name of nd or nd.types."""
    held = {name: getattr(nd, name) for name in nd.__all__}
    waiting = [what for name, what in held.items() if name not in NOT_FOR_USERS]
    while waiting:
        for kind, module in annotations_of(waiting.pop()):
            for node in ast.walk(ast.parse(kind)):
                name = getattr(node, "id", getattr(node, "attr", ""))
                place = place_of(module, name)
                if place is not None and name not in held:
                    held[name] = vars(place)[name]
                    if name not in NOT_FOR_USERS:
                        waiting.append(held[name])
    names = held.keys() - NOT_FOR_USERS - set(nd.__all__)
    assert len(names) > 30
    assert names == {*nd.types.__all__}
    for name in names:
        assert getattr(nd.types, name) is held[name], name


def test_each_type_is_on_a_page() -> None:
    """The reference has classes and choices, and docs/library.md what stands for other types."""
    text = library.types_page() + (ROOT / "docs" / "library.md").read_text("utf-8")
    for name in nd.types.__all__:
        assert name.startswith("_") or f"| `{name}` |" in text or f"## {name}\n" in text, name
