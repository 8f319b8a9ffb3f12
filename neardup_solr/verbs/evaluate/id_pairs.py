"""Pairs of ids, read from what a user gives: a list, a table, a file, or a result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, Protocol

from neardup_solr.argument_types import Frame, Id
from neardup_solr.checks import describe, require
from neardup_solr.errors import DataError, SourceError
from neardup_solr.records import AnyId, Duplicate, Pair, as_whole, natural, ordered
from neardup_solr.reports.rows import ANSWER
from neardup_solr.sources import read_pairs
from neardup_solr.sources.pair_files import PAIR, read_columns
from neardup_solr.verbs.evaluate.sample import AnswerSheet

IdPair = tuple[AnyId, AnyId]


class PairResult(Protocol):
    """A result with pairs, such as that of `report` or `duplicates`."""

    @property
    def pairs(self) -> Sequence[Pair] | Sequence[Duplicate]:
        """The pairs."""


SomePairs = Iterable[Pair | Duplicate | tuple[Id, Id]]
KnownPairs = SomePairs | Frame | AnswerSheet | str | Path


def columns_of(source: object) -> Mapping[str, Sequence[Any]]:
    """Read the columns of a file of pairs, a DataFrame or a sheet, and none of anything else."""
    if isinstance(source, str | Path):
        return read_columns(source)
    if isinstance(source, AnswerSheet):
        return source.table
    if isinstance(source, Frame):
        frame: Any = source
        return {str(name): frame[name].to_numpy().tolist() for name in frame.columns}
    return {}


def key_of_pair(id: AnyId, other_id: AnyId, *, in_order: bool) -> IdPair:
    """Return the ids of a pair as texts: `in_order` in their order, else in natural order."""
    ids = str(as_whole(id)), str(as_whole(other_id))
    return ids if in_order else ordered(*ids)


def id_pairs(name: str, pairs: Any) -> Iterator[IdPair]:
    """Yield the ids of pairs, texts or whole numbers. Raises ArgumentError for another value."""
    step = f"set `{name}` to pairs (tuples of two ids), or give a file of pairs"
    columns = columns_of(pairs)
    if set(PAIR) <= columns.keys():
        pairs = zip(*(columns[name] for name in PAIR), strict=True)
    elif isinstance(pairs, Frame):
        step = f"`{name}` needs the columns id and other_id"
        pairs = pairs.to_numpy().tolist()
    reason = f"`{name}` cannot be {describe(pairs)}"
    require(isinstance(pairs, Iterable), reason, step, code="argument-type")
    for pair in pairs:
        ids: Any = pair
        if not isinstance(pair, tuple | list):
            ids = [getattr(pair, name, None) for name in PAIR]
        ids = [*map(as_whole, ids)]
        are_ids = len(ids) == 2 and all(isinstance(id, str | Integral) for id in ids)
        reason = f"{str(pair)[:60]!r} in `{name}` is not a pair of two ids"
        require(are_ids, reason, step, code="argument-type")
        first, second = (str(id) if isinstance(id, str) else int(id) for id in ids)
        yield first, second


def known_pairs(path: str | Path) -> list[tuple[str, str]]:
    """Read the pairs of a file, as `read_pairs` does: at least one.

    Raises SourceError if it cannot be read, or has no pair: any report would be complete.
    """
    pairs = read_pairs(path)
    if not pairs:
        reason = "has no pairs"
        raise SourceError(str(path), reason, "give a file with two columns of ids", code="no-pairs")
    return pairs


def list_pairs(name: str, pairs: Any) -> Sequence[IdPair]:
    if isinstance(pairs, str | Path):
        return known_pairs(pairs) if name == "known" else read_pairs(pairs)
    return list(id_pairs(name, pairs))


def has_whole_ids(result: Any) -> bool:
    return {"id", "other_id"} <= set(getattr(result, "whole_ids", ()))


def read_similarities(result: Any, *, in_order: bool) -> dict[IdPair, float]:
    """Read the similarity of each pair of a result."""
    rows: Iterable[tuple[AnyId, AnyId, float]]
    if hasattr(result, "pairs"):
        rows = ((pair.id, pair.other_id, pair.similarity) for pair in result.pairs)
    else:
        columns = columns_of(result)
        names = ("id", "other_id", "similarity")
        reason = "answers need the similarities of all pairs, but the result has none"
        step = "give the nd.duplicates result from which the sample was drawn, or its file"
        require(set(names) <= columns.keys(), reason, step, DataError, code="column-missing")
        rows = zip(*(columns[name] for name in names), strict=True)
    similarities = {}
    for id, other_id, similarity in rows:
        try:
            similarities[key_of_pair(id, other_id, in_order=in_order)] = float(similarity)
        except (TypeError, ValueError):
            reason = f"{str(similarity)[:40]!r}, of {id} – {other_id}, is not a similarity"
            step = "give the result as it was written"
            raise DataError(reason, step, code="line-invalid") from None
    return similarities


def is_report(value: object, columns: Mapping[str, object]) -> bool:
    """Return True for pairs that come with similarities, as only those of a result do."""
    return hasattr(value, "pairs") or ("similarity" in columns and ANSWER not in columns)


def write_numbers(pairs: Iterable[IdPair], *, are_whole: bool) -> Iterable[IdPair]:
    """Return the pairs, with texts of whole numbers as numbers if all ids `are_whole`."""
    return ((_number(id), _number(other)) for id, other in pairs) if are_whole else pairs


def _number(id: AnyId) -> AnyId:
    return int(id) if re.fullmatch("0|-?[1-9][0-9]*", str(id)) else id


def sort_pairs(pairs: Iterable[IdPair]) -> tuple[IdPair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (natural(pair[0]), natural(pair[1]))))
