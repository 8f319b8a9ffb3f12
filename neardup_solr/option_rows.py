"""Rows of the table of options by name, and descriptions of arguments that are made of them."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill

from neardup_solr.option_table import OPTIONS, Option

ROWS = {
    key: (heading, option)
    for heading, options in OPTIONS.items()
    for keys, option in options.items()
    for key in keys.split()
}


def find_row(scope: str, name: str) -> tuple[str, Option]:
    """Return the heading and the row of a name: that of a command or function, or else the shared.

    Raises KeyError if there is neither.
    """
    row = ROWS.get(f"{scope}.{name}") or ROWS.get(name)
    if row is None:
        raise KeyError(f"{scope} has an argument {name}, of which the table of options has no row")
    return row


def describe_arguments(function: str, names: Iterable[str]) -> str:
    """Describe the arguments of a function of the library, an indented paragraph for each."""
    return "\n".join(
        fill(
            f"{name}: {find_row(function, name)[1].text}",
            width=100,
            initial_indent=" " * 4,
            subsequent_indent=" " * 8,
        )
        for name in names
    )
