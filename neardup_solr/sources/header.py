"""Header of a table: which columns have the id, the texts and what is kept, if it is a header."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from neardup_solr.sources.column import (
    LACKING,
    describe_problem,
    dig,
    is_like_id,
    list_fields,
    list_near,
    matches,
    split_path,
)
from neardup_solr.sources.part import SourcePart
from neardup_solr.sources.reading import ROW, Reading
from neardup_solr.sources.table import NUMBERED

ROWS_BELOW: Final = 20  # a header, one of which may be the header itself
PROSE = 6  # words of a name that is rather a text, if those below are no longer
Objects: TypeAlias = Sequence[Mapping[Any, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Places of the id, the text and what is kept in each row, the latter by the names to keep.

    `names` are those of all columns of a row; `id` is None if records are numbered. The places
    after those of a row are of fields `within` its columns, each by the place of that and a path.
    """

    names: tuple[object, ...]
    id: int | None
    text: tuple[int, ...]
    keep: tuple[tuple[str, int], ...]
    within: tuple[tuple[int, str], ...] = ()

    def id_of(self, row: Sequence[Any]) -> Any:
        """Take the id of a row, which may have to be numbered."""
        return NUMBERED if self.id is None else row[self.id]

    def spread(self, row: Sequence[Any]) -> Sequence[Any]:
        """Add the values within its columns to a row."""
        return [*row, *(dig(row[at], path) for at, path in self.within)] if self.within else row

    def needed(self) -> tuple[list[int], Columns]:
        """List the places of the columns that are needed, and the columns among these."""
        fields = range(len(self.names), len(self.names) + len(self.within))
        used = [*self.text, *(at for _, at in self.keep), *(at for at, _ in self.within)]
        used = used if self.id is None else [*used, self.id]
        places = sorted({*used}.difference(fields))
        at = {place: number for number, place in enumerate([*places, *fields])}
        return places, Columns(
            names=tuple(self.names[place] for place in places),
            id=None if self.id is None else at[self.id],
            text=tuple(at[place] for place in self.text),
            keep=tuple((name, at[place]) for name, place in self.keep),
            within=tuple((at[place], path) for place, path in self.within),
        )


def find_columns(
    part: SourcePart,
    names: Sequence[object],
    reading: Reading,
    rows: Callable[[], Objects] = list,
) -> Columns:
    """Find the columns that a reading names, or fields within them, as doc.text is in doc.

    `rows` gives some of them, or what is like them, if their columns may have fields. Raises
    SourceError unless each name is that of a single column, or of a field.
    """
    within: list[tuple[int, str]] = []

    def at(name: str) -> int:
        places = matches(name, names)
        if len(places) == 1:
            return places[0]
        place, path = split_path(name, tuple(names))
        if path and not places and _have_field(rows(), name):
            within.append((place, path))
            return len(names) + len(within) - 1
        if not names:
            raise part.error("there are no columns: its rows are blank", "check the file")
        problem = describe_problem(name, [names[place] for place in places])
        raise part.error(
            f"{problem}{list_near(name, list_fields(rows()) or names)}",
            "check its name"
            if name in reading.keep
            else "name the right ones with `id` and `text`"
            + (number_them(reading) if name == reading.id else ""),
        )

    reading = choose_id(part, names, reading)
    return Columns(
        names=tuple(names),
        id=at(reading.id) if reading.has_ids else None,
        text=tuple(map(at, reading.text)),
        keep=tuple((name, at(name)) for name in reading.keep),
        within=tuple(within),
    )


def _have_field(rows: Objects, name: str) -> bool:
    """Tell whether a row has a field, or all lack the object that it would be in."""
    values = [dig(row, name, LACKING) for row in rows]
    has_value = any(value is not None and value is not LACKING for value in values)
    return has_value or (bool(values) and not any(value is LACKING for value in values))


def check_header(
    part: SourcePart, names: Sequence[Any], below: Iterable[tuple[int, Sequence[Any]]]
) -> None:
    """Refuse a header without the columns that are needed, if it is a title, or a record.

    `below` has the first rows below it, and how many rows are above each. Raises SourceError.
    """
    rows = [(above, strip_end(cells)) for above, cells in below]
    if has_columns(names, part.reading) or not rows or not names:
        return
    wide = [row for row in rows if len(row[1]) > 1]
    is_title = len(strip_end(names)) == 1 and len({len(cells) for _, cells in wide}) == 1
    headers = [row for row in rows if has_columns(row[1], part.reading)]
    headers = headers or (wide if is_title and len(wide) > 1 else [])
    if headers:
        above = headers[0][0]
        reason = f"its first line does not look like a header, but line {above + 1} does"
        step = f"if lines above the header are titles, set `skip_rows` to {above}"
        raise part.error(reason, step)
    are_records = all(str(cell).isdigit() for cell in (names[0], *rows[0][1][:1]))
    are_records = are_records and any(len(str(name).split()) > 2 for name in names)
    sizes = sorted(len(str(cells[0]).split()) for _, cells in rows if len(cells) == 1)
    is_text = len(names) == 1 and len(sizes) == len(rows)  # of a single column, as its first row
    is_long = is_text and len(str(names[0]).split()) >= max(PROSE, sizes[len(sizes) // 2] / 2)
    if are_records or is_long:
        reason = "has no header: its first line looks like a record"
        example = "text" if is_long else "id,text"
        raise part.error(reason, f"add the column names as the first line, such as {example}")


def strip_end(cells: Sequence[Any]) -> list[Any]:
    """List cells without empty ones at their end."""
    last = max((at for at, cell in enumerate(cells, 1) if str(cell or "").strip()), default=0)
    return list(cells[:last])


def choose_id(part: SourcePart, names: Iterable[object], reading: Reading) -> Reading:
    """Return the reading, by which records are numbered if none of the columns looks like an id.

    A notice says so. Without a guess, nothing changes.
    """
    names = list(names)
    if reading.guess != "number" or not reading.has_ids or matches(reading.id, names):
        return reading
    if any(isinstance(name, str) and is_like_id(name) for name in names):
        return reading
    part.on_notice(f"{part.name} has no column of ids: its records are numbered from 1")
    return replace(reading, id=ROW)


def number_them(reading: Reading) -> str:
    """Write the end of a next step: how to do without ids, and what is wrong with that."""
    step = ", or set `id` to :row to number the records"
    limit = " (in a collection, records with the same number replace each other)"
    return f"{step}{limit}" if reading.guess == "refuse" else step


def has_columns(names: Sequence[object], reading: Reading) -> bool:
    """Tell whether a table with these columns has those of the id and of the text."""
    needs_id = reading.has_ids and reading.guess != "number"
    needed = (reading.id, *reading.text) if needs_id else reading.text
    return all(len(matches(name, names)) == 1 for name in needed)
