"""Blocks of CSV: whole rows, whose ids and texts compiled code reads if none is odd."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from neardup_solr.sources.blocks import encode_block, is_worth
from neardup_solr.text.packed import Packed, PackedColumns

MOST_BLOCKS: Final = 16  # that are joined until all quotes are closed


class ScannedRows(NamedTuple):
    """Rows of a block: their values by the places of columns, and the lines they begin in."""

    values: dict[int, Packed]
    begins: Sequence[int]
    lines: int


def blocks_of_rows(blocks: Iterable[bytes | None]) -> Iterator[bytes | None]:
    """Join blocks of whole lines to blocks of whole rows, in which the number of quotes is even.

    A quote that belongs to a value without quotes around it misleads this: whoever reads a block
    has to see that its last row ends. None is passed on.
    """
    held, is_open = list[bytes](), False
    for block in blocks:
        if block is not None:
            held.append(block)
            is_open ^= block.count(b'"') % 2 == 1
        if block is None or not is_open or len(held) == MOST_BLOCKS:
            if held:
                yield b"".join(held)
            held, is_open = [], False
        if block is None:
            yield None
    if held:
        yield b"".join(held)


def scan_block(
    block: bytes, number: int, delimiter: str, width: int, places: Sequence[int], names: Packed
) -> ScannedRows | None:
    """Read some columns of the rows of a block with a number, None if any row is odd.

    `width` is that of all rows, `places` those of the columns in them. A row whose first value is
    one of the `names` is odd.
    """
    from neardup_solr.kernel.csv_rows import scan_rows

    if not is_worth(scan_rows, number):
        return None
    codes = encode_block(block)
    most = len(codes) // 2 + 1
    columns, begins = PackedColumns(len(places), len(codes), most), np.empty(most + 1, np.int64)
    numbers = np.full(width, -1)
    numbers[list(places)] = range(len(places))
    rows, lines = scan_rows(
        codes, np.uint8(ord(delimiter)), numbers, names.data, names.bounds,
        columns.data, columns.bounds, begins,
    )  # fmt: skip
    if rows < 1:
        return None
    values = dict(zip(places, columns.take(rows), strict=True))
    return ScannedRows(values, range(rows) if rows == lines else begins[:rows].tolist(), lines)
