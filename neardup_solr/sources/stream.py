"""Streams of blocks: read their beginning, and go on from the first block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from neardup_solr.errors import RecordError

BLOCK: Final = 2**18


def read_head(
    stream: Iterator[bytes], is_enough: Callable[[bytes], bool]
) -> tuple[bytes, Iterator[bytes]]:
    """Read as much of a stream as is enough, and return it with the rest, or its damage."""
    parts, size, due = list[bytes](), 0, 0
    try:
        for block in stream:
            parts.append(block)
            size += len(block)
            if size < due:
                continue
            parts = [b"".join(parts)]
            if is_enough(parts[0]):
                break
            due = size + size // 4 if size > BLOCK else 0  # a large head is looked at seldom
    except RecordError as error:
        stream = fail(error)
    return b"".join(parts), stream


def fail(error: RecordError) -> Iterator[Any]:
    """Raise the error of a damaged source, once what stands before it was read."""
    raise error
    yield
