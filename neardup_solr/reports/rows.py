"""Columns and rows of results: pairs, clusters and matches, with texts and kept columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from typing import Any, Final, cast

from neardup_solr import records
from neardup_solr.reports.row_table import RowTable

COLUMNS: Final = ("id", "other_id", "distance", "similarity")
DUPLICATE_COLUMNS: Final = ("id", "other_id", "similarity", "distance", "measure", "cluster")
RELATION: Final = "relation"  # the column of what texts are to each other
ANSWER: Final = "answer"  # the column that people fill
MATCH_COLUMNS: Final = ("id", "distance", "similarity", "shared", "text")
ROWS_AT_ONCE: Final = 10_000
Columns = dict[str, list[Any]]  # of a table, by name


class Kept(list[Any]):
    """The values of a column of the source: its type is theirs, whatever its name is."""


def of_pairs(
    pairs: Sequence[records.Duplicate] | Sequence[records.Pair],
    names: Sequence[str],
    texts: Mapping[records.AnyId, str] = records.NOTHING,
    kept: Mapping[records.AnyId, Mapping[str, Any]] = records.NOTHING,
) -> Columns:
    """Make columns of these attributes of pairs, with those of `beside`."""
    columns = {name: [getattr(pair, name) for pair in pairs] for name in names}
    if not (texts or kept):
        return columns
    duplicates = cast(Sequence[records.Duplicate], pairs)
    keys = {
        "id": [records.key_of(pair.id, pair.sides[0]) for pair in duplicates],
        "other_id": [records.key_of(pair.other_id, pair.sides[1]) for pair in duplicates],
    }
    return beside(columns, texts, kept, keys)


def of_clusters(clusters: Iterable[records.Cluster], *, has_sides: bool) -> Columns:
    """Make columns of the members of clusters, compared with the canonical document."""
    rows = [
        (cluster.id, member.id, at == 0, member.similarity, member.distance, member.side)
        for cluster in clusters
        for at, member in enumerate(cluster.members)
    ]
    names = ("cluster", "id", "canonical", "similarity", "distance", "side")
    shown = names if has_sides else names[:-1]
    return {name: [row[at] for row in rows] for at, name in enumerate(shown)}


def beside(
    columns: Columns,
    texts: Mapping[records.AnyId, str],
    kept: Mapping[records.AnyId, Mapping[str, Any]],
    keys: Columns,
) -> Columns:
    """Add the texts and the kept columns of the documents to columns.

    `keys` has those of the documents, by the name of the column with their ids.
    """
    table = dict(columns)

    def spare_name(prefix: str, name: str) -> str:
        full = f"{prefix}{name}"
        return spare_name(prefix, f"kept_{name}") if full in table else full

    names = list(dict.fromkeys(name for values in kept.values() for name in values))
    for side, documents in keys.items():
        prefix = side.removesuffix("id")
        if texts:
            table[f"{prefix}text"] = [texts.get(key) for key in documents]
        for name in names:
            values = Kept(kept.get(key, {}).get(name) for key in documents)
            table[spare_name(prefix, name)] = values
    return table


def column_rows(columns: Columns) -> RowTable:
    """Make rows of columns."""
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return RowTable(rows, list(columns))


def pair_rows(pairs: Iterable[records.Pair]) -> RowTable:
    """Make rows of pairs: id, other_id, distance in words (or None), and similarity (0..1).

    With `answer`, too, if people are to answer.
    """
    pairs = list(pairs)
    columns = name_columns(pairs, COLUMNS)
    return RowTable((_row(pair, columns) for pair in pairs), columns)


def duplicate_rows(
    pairs: Sequence[records.Duplicate],
    measure: str,
    texts: Mapping[records.AnyId, str] = records.NOTHING,
    kept: Mapping[records.AnyId, Mapping[str, Any]] = records.NOTHING,
) -> RowTable:
    """Make rows of the pairs of a whole collection.

    Columns id, other_id, similarity, distance (None if it was not measured), measure, cluster and,
    by a measure of texts, relation; then the text and the kept columns of both documents, if they
    have any.
    """
    first = name_duplicate_columns(pairs, measure)

    def table(part: Sequence[records.Duplicate]) -> Columns:
        columns = of_pairs(part, first, texts, kept)
        return columns | {"similarity": [round(pair.similarity, 4) for pair in part]}

    names = list(table([]))
    parts = (pairs[at : at + ROWS_AT_ONCE] for at in range(0, len(pairs), ROWS_AT_ONCE))
    cells = chain.from_iterable(zip(*table(part).values(), strict=True) for part in parts)
    rows = (dict(zip(names, row, strict=True)) for row in cells)
    return RowTable(rows, names, names[len(first) :])


def match_rows(matches: Iterable[records.Match]) -> RowTable:
    """Make rows of a document's near-duplicates."""
    rows = (_row(match, MATCH_COLUMNS[:-1]) | {"text": match.content} for match in matches)
    return RowTable(rows, MATCH_COLUMNS)


def passage_rows(passages: Iterable[records.Passage]) -> RowTable:
    """Make rows of passages, with their texts."""
    names = [each.name for each in fields(records.Passage)]
    return RowTable((_row(each, names) for each in passages), names)


def name_duplicate_columns(pairs: Sequence[records.Duplicate], measure: str) -> tuple[str, ...]:
    """Name the columns of duplicates: by measures of texts, with what they are to each other."""
    relation = (RELATION,) if measure in records.RELATING else ()
    return name_columns(pairs, (*DUPLICATE_COLUMNS, *relation))


def name_columns(
    pairs: Sequence[records.Pair | records.Duplicate], columns: tuple[str, ...]
) -> tuple[str, ...]:
    """Name the columns of pairs: with `answer`, for people to fill, if they are to answer."""
    has_answers = bool(pairs) and pairs[0].answer is not None
    return (*columns, ANSWER) if has_answers else columns


def _row(
    pair: records.Pair | records.Match | records.Passage, columns: Sequence[str]
) -> dict[str, Any]:
    row = {name: getattr(pair, name) for name in columns}
    return row | {"similarity": round(pair.similarity, 4)}
