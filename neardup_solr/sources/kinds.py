"""The kinds of what is in memory, known without loading the library that it is of."""

from __future__ import annotations

from typing import Any, Final

# Classes of libraries, by their names: these are not loaded for it.
KINDS: Final = {
    ("pandas", "DataFrame"): "pandas",
    ("pandas", "Series"): "pandas.Series",
    ("polars", "DataFrame"): "polars",
    ("polars", "LazyFrame"): "lazy",
    ("polars", "Series"): "polars.Series",
}
# What has tables of Arrow has any of these.
DOORS: Final = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "to_batches")


def kind_of(source: Any) -> str:
    """Find the kind of what is in memory, "" if it is no source. A subclass counts as its base."""
    if isinstance(source, type):
        return ""
    for base in type(source).__mro__:
        if kind := KINDS.get((base.__module__.partition(".")[0], base.__name__)):
            return kind
    if any(hasattr(source, door) for door in DOORS):
        return "arrow"
    if hasattr(source, "keys") and hasattr(source, "__getitem__"):
        return "columns"
    is_iterable = hasattr(source, "__iter__") and not hasattr(source, "read")
    return "records" if is_iterable and not isinstance(source, bytes | bytearray) else ""


def can_be_read_again(source: Any) -> bool:
    """Tell whether what is in memory can be read again by places: a table, or a list."""
    kind = kind_of(source)
    is_table = kind in ("pandas", "polars", "lazy")
    if kind == "arrow":  # but no stream or dataset
        is_table = hasattr(source, "take") and hasattr(source, "__len__")
    return is_table or isinstance(source, list | tuple)
