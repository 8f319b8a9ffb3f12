"""Public functions: their arguments are checked, and their help lists them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from neardup_solr.arguments import checked
from neardup_solr.option_rows import describe_arguments

P = ParamSpec("P")
R = TypeVar("R")


def find_type(name: str) -> Any:
    """Return a type that only annotations name. Its module is loaded for the work anyway."""
    import neardup_solr as nd

    if name == "Connection":
        from neardup_solr.solr.access import Connection

        return Connection
    return getattr(nd if name in nd.__all__ else nd.types, name)


def documented(function: Callable[P, R]) -> Callable[P, R]:
    """List the arguments of a function in its help, as in the table of options.

    If the docstring does not tell what is returned, its type does.
    """
    plain = inspect.unwrap(function)
    listed = describe_arguments(plain.__name__, inspect.signature(plain).parameters)
    summary = inspect.getdoc(plain) or ""
    returned = "" if "Returns " in summary else f"\n\nReturns {plain.__annotations__['return']}."
    function.__doc__ = f"{summary}\n\nArguments:\n{listed}{returned}"
    return function


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a function when it is called, and list them in its help."""
    return documented(checked(function, find_type))
