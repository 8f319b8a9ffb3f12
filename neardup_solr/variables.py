"""Numbers in environment variables."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from neardup_solr.errors import ArgumentError

N = TypeVar("N", int, float)


def read_number(name: str, usual: N, next_step: str, parse: Callable[[str], N]) -> N:
    """Read a number of 0 or more, by default `usual`.

    Raises ArgumentError, with this next step, if the variable is set to anything else.
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return usual
    with suppress(ValueError):
        number = parse(text)
        if 0 <= number < math.inf:
            return number
    raise ArgumentError(f"${name} cannot be {text!r}", next_step, code="argument-invalid")
