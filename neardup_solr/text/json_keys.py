"""Keys that an object of JSON has twice, of which a parser keeps one: in which, is unclear.

Whoever reads one value where another program reads the other can be deceived: a text that is
checked is not the one that is stored.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import orjson

_QUOTE: Final = ord('"')
_BACKSLASH: Final = ord("\\")


def has_key_twice(value: Any, written: bytes) -> bool:
    """Tell whether an object, or any within it, was written with a key twice.

    `value` is what a parser made of `written`, which is valid JSON. Keys and strings are counted
    in both: each key that was lost is missing in the value. Escapes do not matter: a key may be
    spelled in two ways, and a string may hold quotes.
    """
    if isinstance(value, dict):  # flat objects without escaped quotes are seen soonest
        strings = len(value) + list(map(type, value.values())).count(str)
        if written.count(b'"') == 2 * strings:
            return False
    try:
        if b"\\" not in written:  # then no string holds a quote
            return written.count(b'"') != orjson.dumps(value).count(b'"')
        return _count_quotes(written) != _count_quotes(orjson.dumps(value))
    except TypeError:  # orjson's, for more than 254 levels
        return _count_quotes(written) != 2 * _count_strings(value)


def _count_quotes(written: bytes) -> int:
    """Count the quotes around keys and strings, and none within them.

    An odd number of backslashes escapes a quote: of two, the first one escapes the other.
    """
    codes = np.frombuffer(written, np.uint8)
    slashes = np.flatnonzero((codes[1:] == _QUOTE) & (codes[:-1] == _BACKSLASH))
    are_several = codes[slashes - 1] == _BACKSLASH
    escaped = len(slashes) - int(np.count_nonzero(are_several))
    for slash in slashes[are_several].tolist():
        before = slash
        while before >= 0 and written[before] == _BACKSLASH:
            before -= 1
        escaped += (slash - before) % 2
    return int(np.count_nonzero(codes == _QUOTE)) - escaped


def _count_strings(value: Any) -> int:
    """Count the keys and strings of a value of any depth."""
    count, waiting = 0, [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            count += len(value)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        else:
            count += isinstance(value, str)
    return count
