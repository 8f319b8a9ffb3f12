"""Lists of names in one word: those with a comma are quoted, as in CSV."""

from __future__ import annotations

from collections.abc import Iterable

from neardup_solr.checks import (
    require,
)
from neardup_solr.errors import ArgumentError


def split_names(typed: Iterable[str]) -> tuple[str, ...]:
    """Split names that were given one by one, or as a line of CSV: those with a comma in quotes.

    Raises ArgumentError if a quote has no end, or if there is no name in one, such as a variable
    of the shell that is not set.
    """
    import csv

    names: list[str] = []
    for each in typed:
        try:
            cells = [cell.strip() for row in csv.reader([each], strict=True) for cell in row]
        except csv.Error:
            why = "names with commas or quotes must be written as in CSV"
            step = "for example '\"Surname, name\",city'"
            raise ArgumentError(why, step, code="argument-invalid") from None
        reason = f"{each!r} is no name"
        require(any(cells), reason, "omit it, or give a name", code="argument-invalid")
        names += filter(None, cells)
    return tuple(names)


def join_names(names: Iterable[str]) -> str:
    """Join names to what `split_names` splits."""
    quoted = ((name, name.replace('"', '""')) for name in names)
    return ",".join(f'"{each}"' if {*name} & {*',"\r\n'} else name for name, each in quoted)
