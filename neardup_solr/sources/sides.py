"""Columns of two sources that are compared: by one name, or by two, as in title=headline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from neardup_solr.comma_names import join_names
from neardup_solr.errors import DataError, SourceError
from neardup_solr.records import as_text
from neardup_solr.regex import regex
from neardup_solr.sources.column import is_like_id, matches, show_names
from neardup_solr.sources.column_guess import Guess, guess_columns
from neardup_solr.sources.column_traits import DISTINCT, choose_kind, look_at, number_rows
from neardup_solr.sources.reading import ROW
from neardup_solr.sources.values import plain
from neardup_solr.text.normalize import normalize

_WORD = regex(r"\w+")
ALIKE = 0.1  # of the words of either column, at least, that the other has
Rows = Sequence[Mapping[str, Any]]


def name_of(name: str, side: int) -> str:
    """Name the column of a side: of title=headline, headline in the second."""
    first, sign, second = name.partition("=")
    return (first, second)[side] if first and sign and second else name


def pair_columns(first: Rows, second: Rows, wanted: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Pair the columns of two sides that have one name, or whose values have most words in common.

    Each is paired once, those that are `wanted` of either side if these are named.
    """
    words, other_words = (_count_words(side) for side in (first, second))
    scores = sorted(
        (name != match, -min(_share(counts, others), _share(others, counts)), place, name, match)
        for place, (name, counts) in enumerate(words.items())
        for match, others in other_words.items()
    )
    only, pairs = {*wanted}, dict[str, str]()
    for _, score, _, name, match in scores:
        is_free = name not in pairs and match not in pairs.values()
        if -score >= ALIKE and is_free and (not only or {name, match} & only):
            pairs[name] = match
    return [(name, pairs[name]) for name in words if name in pairs]


def _count_words(rows: Rows) -> dict[str, Counter[str]]:
    """Count the words of each column."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        for name, value in row.items():
            words = _WORD.findall(normalize(as_text(value)))  # the parts of a date, too
            counts.setdefault(name, Counter()).update(words)
    return counts


def _share(words: Counter[str], others: Mapping[str, int]) -> float:
    """Compute the share of words that others have, too."""
    return sum(count for word, count in words.items() if word in others) / max(words.total(), 1)


class UnpairedError(DataError):
    """Columns of two sources have other names in either."""

    code = "columns-unpaired"


def require_telling(
    argument: str, guess: Guess | None, sides: Sequence[Any], labels: Sequence[str],
    rows: Sequence[Any], common: Sequence[str],
) -> dict[str, str]:  # fmt: skip
    """Refuse two sources if little that tells records apart is in both, and each has other columns.

    Return the other columns that look alike, with how they are paired.
    """
    compared = () if guess is None else (*guess.fields, *guess.texts)
    columns = [look_at(name, [[as_text(row[name]).strip() for row in side] for side in sides])
               for name in compared]  # fmt: skip
    columns = [column for column in columns if not number_rows(column)]
    are_telling = any(column.distinct >= DISTINCT / 2 for column in columns)
    ids = () if guess is None else (guess.id or "id",)
    first, second = ([{str(name): value for name, value in row.items()
                       if not matches(str(name), (*common, *ids)) and not is_like_id(str(name))}
                      for row in side] for side in rows)  # fmt: skip
    pairs = pair_columns(first, second)
    others = [
        look_at(name, [[as_text(row.get(name)).strip() for row in first]]) for name, _ in pairs
    ]
    words, other_words = (sum(column.length for column in each) for each in (columns, others))
    if (any(first) and any(second) and not are_telling) or (pairs and other_words >= words):
        raise refuse_unpaired(argument, labels, rows, [], None)
    return {name: f"to compare it, name {'='.join(pair)}" for pair in pairs for name in pair}


def require_rows(labels: Sequence[str], rows: Sequence[Any]) -> None:
    """Refuse one of two sides that has columns, but no rows, by SourceError."""
    for label, side_rows in zip(labels, rows, strict=True) if len(rows) > 1 else ():
        if not side_rows:
            step = "check that it is complete, and the right one"
            raise SourceError(label, "has columns, but no rows", step, code="file-empty")


def refuse_unpaired(
    argument: str, labels: Sequence[str], rows: Sequence[Any], wanted: Sequence[str],
    lacking: int | None,
) -> UnpairedError:  # fmt: skip
    """Make the error that two sources name their columns differently, with what may be pairs.

    Raises SourceError if one of them has columns, but no rows.
    """
    require_rows(labels, rows)
    ids = [{name for name in side[0] if is_like_id(str(name))} if side else set() for side in rows]
    for side, id_names in zip(rows, ids, strict=True):  # and what only numbers its rows
        texts = {name: [as_text(row.get(name)).strip() for row in side] for name in side[0]}
        id_names |= {name for name, values in texts.items() if name not in wanted
                     and number_rows(look_at(str(name), [values]))}  # fmt: skip
    free = [[{str(name): value for name, value in row.items() if name not in id_names}
             for row in side] for side, id_names in zip(rows, ids, strict=True)]  # fmt: skip
    pairs = pair_columns(free[0], free[1], wanted)
    if not pairs:
        columns = [[*dict.fromkeys(name for row in side for name in row)] or ["…"] for side in free]
        places = [[name for name in each if name in wanted] or each for each in columns]
        pairs = [(places[0][0], places[1][0])]
    spelled = []
    for pair in pairs:
        sides = zip(free, pair, strict=True)
        values = [[as_text(row.get(name)).strip() for row in side] for side, name in sides]
        kind = choose_kind(look_at(pair[0], values))
        suffix = f":{kind}" if argument == "fields" and kind != "text" else ""
        spelled.append(("=".join(pair) if pair[0] != pair[1] else pair[0]) + suffix)
    has = [f"{label} has {show_names(each)}" for label, each in zip(
        labels, ([*side[0]] if side else [] for side in rows), strict=True)]  # fmt: skip
    if lacking is not None:
        has[lacking] += f", but no column {wanted[0]!r}"
    reason = ", ".join(has) + (": too little is in both" if lacking is None else "")
    return UnpairedError(reason, f"pair the columns with `{argument}` {join_names(spelled)!r}")


def choose_ids(rows: Sequence[Any], named: Sequence[str]) -> str:
    """Choose the column of the ids of each of two sides that have none in common."""
    ids = []
    for at, side in enumerate(rows):
        values = [{str(name): plain(value) for name, value in row.items()} for row in side]
        columns = [*dict.fromkeys(name for row in values for name in row)]
        guess = guess_columns([values], named=[name_of(each, at) for each in named])
        usual = [columns[place] for place in matches("id", columns)]
        ids.append(usual[0] if usual else ROW if guess is None or guess.id is None else guess.id)
    return ids[0] if ids[0] == ids[1] else "=".join(ids)
