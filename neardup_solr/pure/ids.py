"""Ids: which ones Solr keeps as they are, and their natural order."""

from __future__ import annotations

MAX_ID_BYTES = 512  # longer ids are refused rather than cut; UTF-8 bytes
_LONGEST_NUMBER = 4_000  # digits; Python refuses to read longer ones


def problem(id: str) -> str | None:
    """Why an id cannot be one: empty, over 512 bytes of UTF-8, or with a lone surrogate; or None.

    Solr would take the first, and replace the characters of the last.
    """
    try:
        size = len(id.encode())
    except UnicodeEncodeError:
        return "the id holds a lone surrogate or bytes that are not UTF-8"
    if size == 0:
        return "the id is empty"
    return f"the id takes {size:,} bytes, more than {MAX_ID_BYTES}" if size > MAX_ID_BYTES else None


def natural(id: str) -> tuple[int, int, str]:
    """Sort key of an id: whole numbers by value and before all other ids, those by code point."""
    if id.isascii() and id.isdigit() and len(id) <= _LONGEST_NUMBER:
        return (0, int(id), id)
    return (1, 0, id)


def ordered(id: str, other_id: str) -> tuple[str, str]:
    """Two ids, the earlier in natural order first."""
    return (id, other_id) if natural(id) <= natural(other_id) else (other_id, id)
