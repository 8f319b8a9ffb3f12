"""Values of numpy, pandas, Arrow and polars as those of Python and JSON."""

from __future__ import annotations

import math
from datetime import timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

# What stands for a missing value in pandas, by the names of the types: it need not be imported.
MISSING: Final = frozenset({"NAType", "NaTType"})


def unboxed(value: Any) -> Any:
    """A value of a library as Python's own; None for a missing one, such as NaN.

    Dates are left as they are, and so is what Python has no equivalent for.
    """
    kind = type(value)
    if kind is str or value is None or kind is int or kind is bool or kind is list or kind is bytes:
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if kind.__name__ in MISSING:
        return None
    if isinstance(value, str):  # numpy.str_, or an enum
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if hasattr(value, "as_py"):  # a scalar of Arrow
        return unboxed(value.as_py())
    if hasattr(value, "tolist") and hasattr(value, "dtype"):  # a scalar or an array of numpy
        return _of_numpy(value)
    return value


def _of_numpy(value: Any) -> Any:
    if value.dtype.kind not in "mM":
        return unboxed(value.tolist())
    if getattr(value, "shape", ()):
        return [_of_numpy(part) for part in value]
    text = str(value)  # in ISO form; `tolist` would give a number of nanoseconds
    return None if text == "NaT" else text


def plain(value: Any) -> Any:
    """A value as JSON has it: dates in ISO form, decimals as text, NaN as None.

    What has no such form is left as it is.
    """
    value = unboxed(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list | tuple | set | frozenset):  # tuples are the entries of a map
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    return str(value) if isinstance(value, timedelta | UUID | PurePath) else value
