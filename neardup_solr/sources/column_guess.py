"""Guess by which columns the records of a table are compared, from the values of some of them.

Values tell, as columns are named in all languages; a name is a hint if it says id, note, stock or
when a record was entered. The order of the records tells nothing: they may be sorted by any column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from neardup_solr.measures.columns import FieldKind
from neardup_solr.records import as_text
from neardup_solr.regex import regex
from neardup_solr.sources.column import is_like_id, matches
from neardup_solr.sources.column_traits import (
    CATEGORIES,
    CONSTANT,
    DISTINCT,
    FEW,
    MOST,
    NUMBERS,
    ONE_VALUE,
    TOKEN,
    UNIQUE,
    ColumnValues,
    are_unique_codes,
    choose_kind,
    find_reason,
    is_amount,
    look_at,
)
from neardup_solr.sources.reading import ROW
from neardup_solr.text.normalize import normalize

FEWEST_ROWS = 5  # records that may be numbered: of fewer, chance makes it look so
FEWEST_SERIAL, FEWEST_CODES = 3, 12  # records whose first column is of ids, by its values
MOST_FIELDS = 16
MOST_SHOWN = 12  # of the columns that are left out
PROSE, LONG_PROSE = 200, 400  # bytes of a value by the median
NOTE = 30  # the same, of a column that is named like notes
BESIDE_PROSE = 3  # columns at most, with which records are texts anyway
TITLE = 12  # bytes
SENTENCE, STATUS = 6, 3.5  # words of a text, and bits of a column that says little beside it
_NOTE = regex(r"note|comment|remark|remarq|bemerk|notiz|anmerk|observa|komment|備考|备注|примеч")
# Reads named columns of all records, each with the number of its side.
Read = Callable[[Sequence[str]], Iterable[tuple[int, Mapping[str, Any]]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """Columns that were chosen: the id if none is named, and either fields or texts.

    `left_out` has the reason for each other column; `more` of them tell less than the fields.
    `beside` are those of them that no other column repeats.
    """

    id: str | None
    fields: dict[str, FieldKind] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    more: int = 0
    beside: tuple[str, ...] = ()

    @property
    def spelled(self) -> list[str]:
        """The fields as `parse_fields` reads them."""
        kinds = self.fields.items()
        return [name if kind == "text" and ":" not in name else f"{name}:{kind}"
                for name, kind in kinds]  # fmt: skip

    def describe_left_out(self) -> str:
        """Describe in a line what is not compared, "" if all is."""
        shown = [f"{name} ({why})" for name, why in self.left_out.items()]
        more = self.more + len(shown[MOST_SHOWN:])
        shown = shown[:MOST_SHOWN] + ([f"{more:,} more"] if more else [])
        return f"Left out: {', '.join(shown)}." if shown else ""


def guess_columns(
    sides: Sequence[Sequence[Mapping[str, Any]]],
    *,
    id: str | None = None,
    named: Sequence[str] = (),
    read: Read | None = None,
) -> Guess | None:
    """Choose columns by the values of some records, or None without a column to compare.

    `sides` are the records of a source, or of two, with values as JSON has them. `id` is the
    column of the ids, if it is named; else a column named "id" is, or a unique column that looks
    like ids and is not `named` to be compared. `read` reads columns of all records, if these are
    more: none is left out as a constant, or as unique, that only some of them show to be so.
    """
    names = dict.fromkeys(name for side in sides for row in side for name in row)
    columns = {
        name: look_at(name, [[as_text(row.get(name)).strip() for row in side] for side in sides])
        for name in names
    }
    ids = [[*columns][at] for at in matches(id or "id", columns)]
    reasons = _find_reasons(columns, ids, read)
    if id is None and not ids:
        free = {name: each for name, each in columns.items() if not matches(name, named)}
        ids = [ROW if len(columns) == 1 else _choose_id(free, reasons)]
        id = ids[0]
    others = {name: each for name, each in columns.items() if name not in ids}
    kept = {name: each for name, each in others.items() if name not in reasons}
    kept = kept or {name: each for name, each in others.items() if each.texts}  # all are equal
    if not kept:
        return None
    left_out = {name: why for name, why in reasons.items() if name in others and name not in kept}
    joined = _find_joined([*kept.values()]) if _count(columns) >= FEW else {}
    left_out |= joined
    kept = {name: each for name, each in kept.items() if name not in joined}
    fields = {name: choose_kind(each) for name, each in kept.items()}
    nested = {name for side in sides for row in side for name in kept if _is_nested(row.get(name))}
    texts, notes = _choose_texts(kept, fields)

    def list_beside(*compared: str) -> tuple[str, ...]:
        """List what tells records apart that are equal in what is compared, unless it is prose."""
        if sum(others[name].size for name in compared) >= PROSE and texts:
            return ()
        rest = (name for name in others if name not in compared and name not in joined)
        return tuple(sorted(rest, key=lambda name: -others[name].distinct)[:MOST_FIELDS])

    if texts and not nested:
        left_out |= {name: "not part of the text" for name in kept if name not in texts}
        return Guess(id=id, texts=texts, left_out=left_out, beside=list_beside(*texts))
    left_out |= dict.fromkeys(notes, "free text")
    fields = {name: kind for name, kind in fields.items() if name not in notes}
    telling = sorted(fields, key=lambda name: -kept[name].bits)[:MOST_FIELDS]
    more = len(fields) - len(telling)
    fields = {name: kind for name, kind in fields.items() if name in telling}
    beside = list_beside(*fields)
    if len(fields) == 1 and (nested or ROW in ids or kept[telling[0]].distinct >= DISTINCT):
        # Objects alone are no text.
        if nested:
            return None
        return Guess(id=id, texts=tuple(fields), left_out=left_out, beside=beside)
    return Guess(id=id, fields=fields, left_out=left_out, more=more, beside=beside)


def _is_nested(value: object) -> bool:
    """Tell whether a value cannot be a text."""
    several = value if isinstance(value, list) else [value]
    return any(isinstance(part, Mapping | list) for part in several)


def _count(columns: Mapping[str, ColumnValues]) -> int:
    """Count the records that were looked at."""
    return max((sum(map(len, each.sides)) for each in columns.values()), default=0)


def _find_reasons(
    columns: Mapping[str, ColumnValues], ids: Sequence[str], read: Read | None
) -> dict[str, str]:
    """Find the columns that cannot tell duplicates, with the reason for each."""
    reasons = {name: "no value" for name, each in columns.items() if not each.texts}
    if (records := _count(columns)) < FEW:
        rows = (name for name, each in columns.items() if each.texts and each.are_numbers_of_rows())
        return reasons | dict.fromkeys(rows if records >= FEWEST_ROWS else (), NUMBERS)
    for name, each in columns.items():
        if name not in ids and name not in reasons and (why := find_reason(each)):
            reasons[name] = why
    doubtful = {name: why for name, why in reasons.items() if why in (ONE_VALUE, UNIQUE, NUMBERS)}
    if read is not None and doubtful:
        for name in _refute(read, doubtful):
            del reasons[name]
    return reasons


def _refute(read: Read, reasons: Mapping[str, str]) -> set[str]:
    """Find the columns of which not all records are as the reason says."""
    seen = {name: set[int]() for name, why in reasons.items() if why != ONE_VALUE}
    counts = {name: Counter[str]() for name, why in reasons.items() if why == ONE_VALUE}
    refuted: set[str] = set()
    for side, row in read([*reasons]):
        for name in {*reasons} - refuted:
            key = normalize(as_text(row.get(name))).replace(" ", "")
            if not key:
                continue
            if name in counts:
                counts[name][key] += 1
                is_refuted = len(counts[name]) > CATEGORIES
            else:
                number = hash((side if reasons[name] == NUMBERS else 0, key))
                is_refuted = number in seen[name]
                seen[name].add(number)
            if is_refuted:
                refuted.add(name)
        if len(refuted) == len(reasons):
            break
    return refuted | {
        name
        for name, count in counts.items()
        if max(count.values(), default=0) < CONSTANT * count.total()
    }


def _choose_id(columns: Mapping[str, ColumnValues], reasons: Mapping[str, str]) -> str:
    """Choose the column of the ids: unique in all records, and named so or the first.

    Of few records, chance makes many columns unique: the first is of ids if its numbers leave few
    out, or if there are more records.
    """
    records = _count(columns)
    unique = [
        name
        for name, each in columns.items()
        if each.filled == each.share(TOKEN) == 1 and each.is_unique()
        and (records < FEW or reasons.get(name) in (UNIQUE, NUMBERS))
    ]  # fmt: skip
    first = [name for name in [*columns][:1] if name in unique]
    if first and records < FEW:
        each = columns[first[0]]
        is_code = are_unique_codes(each) and not is_amount(each)
        is_serial = records >= FEWEST_SERIAL and each.are_serial(2.0)
        first = first if is_code and (is_serial or records >= FEWEST_CODES) else []
    return next(iter([name for name in unique if is_like_id(name)] + first), ROW)


def _choose_texts(
    kept: Mapping[str, ColumnValues], kinds: Mapping[str, FieldKind]
) -> tuple[tuple[str, ...], list[str]]:
    """Choose the columns of a text if records are texts, and those that are notes beside fields."""
    texts = {name: each for name, each in kept.items() if kinds[name] == "text"}
    notes = [
        name for name, each in texts.items() if _NOTE.search(name.lower()) and each.size > NOTE
    ]
    prose = [name for name, each in texts.items() if name not in notes and each.size >= PROSE]
    titles = [
        name
        for name, each in texts.items()
        if name not in notes and each.size >= TITLE and each.distinct >= DISTINCT
    ]
    sentences = [
        name for name, each in texts.items() if each.size >= PROSE or each.length >= SENTENCE
    ]
    others = [each for name, each in kept.items() if name not in sentences]
    says_all = len(sentences) == 1 and kept[sentences[0]].distinct >= DISTINCT
    if says_all and len(others) <= BESIDE_PROSE and all(each.bits <= STATUS for each in others):
        return tuple(sentences), []
    beside = len(kept) - len({*titles, *prose, *notes})
    is_long = any(kept[name].size >= LONG_PROSE and kept[name].filled > 0.5 for name in prose)
    rest = [each for name, each in kept.items() if name not in (*prose, *notes)]
    # Without a name, a number or the like, only the prose tells records apart.
    is_apart = len(rest) > 1 and any(each.distinct >= DISTINCT for each in rest)
    if prose and (not beside or (is_long and beside <= BESIDE_PROSE) or not is_apart):
        return tuple(name for name in kept if name in titles or name in prose), []
    return (), prose + notes if is_apart else []


def _find_joined(columns: Sequence[ColumnValues]) -> dict[str, str]:
    """Find columns that repeat what others hold: a single column, or several joined."""
    words = {each.name: each.words for each in columns}
    counts = [Counter(chain.from_iterable(row)) for row in zip(*words.values(), strict=True)]
    joined: dict[str, str] = {}
    for each in sorted(columns, key=lambda each: each.size)[::-1]:  # the later of two equal ones
        if each.distinct < DISTINCT:  # few values are alike by chance
            continue
        rows = words[each.name]
        filled = [at for at, row in enumerate(rows) if row]
        most = MOST * len(filled)
        repeated = [counts[at][word] > 1 for at in filled for word in rows[at]]
        if sum(repeated) < MOST * max(len(repeated), 1):
            continue
        held = {
            name: sum(bool(other[at]) and other[at] <= rows[at] for at in filled)
            for name, other in words.items()
            if name != each.name and name not in joined
        }
        parts = [name for name, count in held.items() if count >= most / 2]
        same = [part for part in parts if sum(words[part][at] == rows[at] for at in filled) >= most]
        if same or len(parts) > 1:
            joined[each.name] = f"same as {same[0]}" if same else f"{', '.join(parts[:3])} … joined"
            for at in filled:
                counts[at].subtract(rows[at])
    return joined
