"""Header of a table, which names its columns, or is a title or a record instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

from neardup_solr.regex import regex
from neardup_solr.sources.column import has_columns, strip_end
from neardup_solr.sources.part import SourcePart

ROWS_BELOW: Final = 20  # a header, one of which may be the header itself
PROSE = 6  # words of a name that is rather a text, if those below are no longer
MOST: Final = 0.8  # of the values below a name, which are of its kind if it is a value, too
MANY_NAMES: Final = 8  # in an example
# Values that name no column, by their kinds. Years and small numbers do.
_KINDS: Final = (
    regex(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}(?:[T ,].*)?|\d{1,2}[. ]+[^\W\d_]{3,9}[. ]+\d{4}"),
    regex(
        r"[-+]?(?:(?:[A-Z]{3}|[^\w\s])\s?)?\d[\d.,' \u00a0]*[.,]\d+(?:\s?[^\W\d]{1,3}|\s?[^\w\s])?"
    ),
    regex(r"[^@\s]+@[^@\s]+\.\w+"),
    regex(r"(?:\w+://|www\.)\S+"),
    regex(r"[+(]?\d[\d ()/-]{6,}\d"),
    regex(r"(?:\S+\s+){3,}\S+[.!]"),
)


def check_header(
    part: SourcePart, names: Sequence[Any], below: Iterable[tuple[int, Sequence[Any]]],
    delimiter: str = ",",
) -> None:  # fmt: skip
    """Refuse a header without the columns that are needed, if it is a title, or a record.

    `below` has the first rows below it, and how many rows are above each; the `delimiter` stands
    between the names of the next step. Raises SourceError.
    """
    if has_columns(names, part.reading):
        return
    rows = [(above, strip_end(cells)) for above, cells in below]
    if not rows or not names:
        return
    wide = [row for row in rows if len(row[1]) > 1]
    is_title = len(strip_end(names)) == 1 and len({len(cells) for _, cells in wide}) == 1
    headers = [row for row in rows if has_columns(row[1], part.reading)]
    headers = headers or (wide if is_title and len(wide) > 1 else [])
    if headers:
        above = headers[0][0]
        reason = f"its first line does not look like a header, but line {above + 1} does"
        step = f"if lines above the header are titles, set `skip_rows` to {above}"
        raise part.error(reason, step, code="header-invalid")
    are_records = all(str(cell).isdigit() for cell in (names[0], *rows[0][1][:1]))
    are_records = are_records and any(len(str(name).split()) > 2 for name in names)
    are_records = are_records or _is_like(names, [cells for _, cells in rows])
    even = [[*map(_spell, cells)] for _, cells in rows if len(cells) == len(strip_end(names))]
    are_records = are_records or _has_values([*map(_spell, strip_end(names))], even)
    sizes = sorted(len(str(cells[0]).split()) for _, cells in rows if len(cells) == 1)
    is_text = len(names) == 1 and len(sizes) == len(rows)  # of a single column, as its first row
    is_long = is_text and len(str(names[0]).split()) >= max(PROSE, sizes[len(sizes) // 2] / 2)
    if are_records or is_long:
        reason = "has no header: its first line looks like a record"
        example = "text" if is_long else _name_columns(names, delimiter)
        step = f"add the column names as the first line, such as {example}"
        raise part.error(reason, step, code="header-invalid")


def _is_like(names: Sequence[Any], rows: Sequence[Sequence[Any]]) -> bool:
    """Tell whether a first line is a record like those below: a code, and a text as long.

    A code has digits, and letters and digits in the same places as theirs, such as K-017.
    """
    shapes = {_shape_of(cells[0]) for cells in (names, *rows) if cells}
    if len(shapes) > 1 or not any("9" in shape for shape in shapes):
        return False
    sizes = zip(
        *([len(str(cell).split()) for cell in cells] for cells in (names, *rows)), strict=False
    )
    return any(
        first > 2 and sorted(others)[len(others) // 2] > first / 2 for first, *others in sizes
    )


def _shape_of(cell: object) -> str:
    """Write a nine for each run of digits, and an "a" for each run of letters."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", str(cell)))


def _has_values(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether a first line has values where the rows, which are as wide, have such values.

    That is a date, an amount, an address or a sentence above others of its kind, a value that
    comes again, or a number that those below count on from.
    """
    rows = [row for row in rows if [*map(str.casefold, row)] != [*map(str.casefold, names)]]
    if len(names) < 2 or not rows:
        return False
    has_words = any(re.search(r"[^\W\d_]", name) for name in names)
    for name, *below in zip(names, *rows, strict=True):
        filled = [*filter(None, below)]
        if name.isdecimal():
            whole = [int(value) for value in (name, *filled) if value.isdecimal()]
            is_serial = all(second == first + 1 for first, second in pairwise(whole))
            if has_words and is_serial and len(whole) == len(filled) + 1 > 2:
                return True
        elif len(name) > 1 and name in filled:
            return True
        kinds = [kind for kind in _KINDS if kind.fullmatch(name)]
        if filled and any(
            sum(kind.fullmatch(value) is not None for value in filled) >= MOST * len(filled)
            for kind in kinds
        ):
            return True
    return False


def _spell(cell: object) -> str:
    return "" if cell is None else str(cell).strip()


def _name_columns(names: Sequence[Any], delimiter: str) -> str:
    """Write names for columns: of an id and a text if there are two and the first is a code."""
    first = _spell(names[0]) if names else ""
    is_code = bool(re.search(r"\d", first)) and not re.search(r"[\s,]", first)
    if len(names) < 3:
        return delimiter.join(("id", "text"))
    others = [f"column{at}" for at in range(2, min(len(names), MANY_NAMES) + 1)]
    more = ["..."] if len(names) > MANY_NAMES else []
    return delimiter.join(["id" if is_code else "column1", *others, *more])
