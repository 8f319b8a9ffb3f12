"""Blocks of CSV: whole rows, whose ids and texts compiled code reads if none is odd."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from neardup_solr.sources.blocks import encode_block, is_worth
from neardup_solr.text.packed import Packed, make_room

MOST_BLOCKS: Final = 16  # that are joined until all quotes are closed


class ScannedRows(NamedTuple):
    """Rows of a block: their ids, if there are any, their texts, and the lines they begin in."""

    ids: Packed | tuple[()]
    texts: Packed
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
    block: bytes, number: int, delimiter: str, columns: tuple[int, int | None, int], names: Packed
) -> ScannedRows | None:
    """Read the ids and the texts of the rows of a block with a number, None if any is odd.

    `columns` are the width of the rows, and the places of the id and the text. A row whose first
    value is one of the `names` is odd.
    """
    from neardup_solr.kernel.csv_rows import scan_rows

    if not is_worth(scan_rows, number):
        return None
    width, id, text = columns
    codes = encode_block(block)
    most = len(codes) // 2 + 1
    ids, texts = make_room(len(codes), most), make_room(len(codes), most)
    begins = np.empty(most + 1, np.int64)
    rows, lines = scan_rows(
        codes, np.uint8(ord(delimiter)), np.array([width, -1 if id is None else id, text]),
        names.data, names.bounds, ids.data, ids.bounds, texts.data, texts.bounds, begins,
    )  # fmt: skip
    if rows < 1:
        return None
    taken = () if id is None else ids.trim(rows)
    lines_of_rows = range(rows) if rows == lines else begins[:rows].tolist()
    return ScannedRows(taken, texts.trim(rows), lines_of_rows, lines)
