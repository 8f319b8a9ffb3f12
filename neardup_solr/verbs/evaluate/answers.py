"""Pairs of ids: those to ask people about, their answers, and the precision that these show."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from neardup_solr.answers import (
    DIFFERENT,
    SAME,
    Answer,
    choose_latest,
    parse_table,
    read_answers,
)
from neardup_solr.arguments import Frame, Per, checked, describe, require
from neardup_solr.errors import ArgumentError, SourceError, counted
from neardup_solr.minhash.signature import wilson
from neardup_solr.progress import LOG
from neardup_solr.records import AnyId, Duplicate, ordered
from neardup_solr.reports import tables
from neardup_solr.reports.tables import ANSWER, Columns, RowTable
from neardup_solr.sources.pairs import PAIR, read_columns, read_pairs

IdPair = tuple[AnyId, AnyId]

WIDTH = 0.05  # of a stratum, in similarity
LEVEL = 1.96  # standard deviations: 95 % confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share in 0..1, and the bounds between which it lies with 95 % confidence."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AnswerSheet(tables.Table):
    """A sample of the pairs of a result with an empty column answer: same, different or unsure.

    `write` it, fill the column, and give the file to `evaluate` with the result it was drawn from.
    """

    table: Columns
    whole_ids: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<AnswerSheet: {counted(len(self.table[ANSWER]), 'pair')} to judge>"

    def columns(self) -> Columns:
        """Return the columns id, other_id, similarity, answer, and texts and kept columns."""
        return self.table

    @checked
    def write(self, path: str | Path) -> None:
        """Write the sheet to a .csv, .tsv or .jsonl file, completely or not at all.

        Raises SourceError if the suffix is another or the file cannot be written.
        """
        write_columns(self.table, Path(path))


def draw(pairs: Sequence[Duplicate], size: int, per: Per, seed: int) -> list[Duplicate]:
    """Draw pairs at random: as many of each stratum of similarity, or each with equal chance."""
    shuffled = random.Random(seed).sample(pairs, len(pairs))
    if per == "pair":
        return shuffled[:size]
    turn: dict[int, int] = {}
    turns = []
    for pair in shuffled:  # the first of each stratum, then the second of each …
        stratum = _stratum(pair.similarity)
        turn[stratum] = turn.get(stratum, 0) + 1
        turns.append(turn[stratum])
    order = sorted(range(len(shuffled)), key=turns.__getitem__)
    return [shuffled[at] for at in sorted(order[:size])]


def _stratum(similarity: float) -> int:
    return min(math.floor(similarity / WIDTH + 1e-9), round(1 / WIDTH) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPairs:
    """The pairs that were answered "same", and those that were answered "different"."""

    same: frozenset[IdPair]
    different: frozenset[IdPair]

    @classmethod
    def of(
        cls, source: object, columns: Mapping[str, Sequence[Any]], *, in_order: bool
    ) -> JudgedPairs | None:
        """Take answers from a table, by its columns, or return None without any.

        Keys of pairs are `in_order` as `key_of_pair` makes them.

        Raises ArgumentError as `parse_table` does.
        """
        if not {*PAIR, ANSWER} <= columns.keys():
            return None
        if "when" in columns and str(source).endswith(".jsonl"):  # a file that is added to
            answers: Iterable[Answer] = choose_latest(read_answers(str(source)))
        else:
            answers = parse_table(columns, ordered=in_order)
        pairs: dict[str, set[IdPair]] = defaultdict(set)
        for answer in answers:
            key = key_of_pair(answer.id, answer.other_id, in_order=in_order)
            pairs[answer.answer].add(key)
        return cls(same=frozenset(pairs[SAME]), different=frozenset(pairs[DIFFERENT]))

    def of_pairs(self, pairs: Collection[IdPair]) -> JudgedPairs:
        """Keep the answers to these pairs, and log how many are about others.

        Raises ArgumentError if none is left.
        """
        same, different = (side.intersection(pairs) for side in (self.same, self.different))
        total, left = len(self.same | self.different), len(same | different)
        if not total:
            raise ArgumentError("there is no answer", "fill the column answer")
        if not left:
            reason = f"none of the {total:,} answered pairs is in `found`"
            raise ArgumentError(reason, "give the result they were drawn from")
        if left < total:
            LOG.warning(
                "%s answered pairs are not in `found`, and do not count", f"{total - left:,}"
            )
        return JudgedPairs(same=same, different=different)


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


def precision_of(similarities: Mapping[IdPair, float], answers: JudgedPairs) -> Share:
    """Estimate the share of same pairs among all, from answers to some of each stratum.

    The mean of the strata, weighed by their sizes (Cochran 1977, section 5.3), with the interval of
    Wilson (1927) for as many independent answers as would have its variance. A stratum without an
    answer counts with the next below it, else above it.
    """
    sizes, judged, same = np.zeros((3, round(1 / WIDTH)), dtype=np.int64)
    for similarity in similarities.values():
        sizes[_stratum(similarity)] += 1
    for pair in answers.same | answers.different:
        judged[_stratum(similarities[pair])] += 1
        same[_stratum(similarities[pair])] += pair in answers.same
    groups: list[list[int]] = []  # size, asked, same
    waiting = 0
    for size, count, right in zip(*(x[::-1].tolist() for x in (sizes, judged, same)), strict=True):
        if count:
            groups.append([size + waiting, count, right])
            waiting = 0
        else:
            waiting += size
    groups[-1][0] += waiting
    table = np.array(groups, dtype=np.float64)
    weights = table[:, 0] / table[:, 0].sum()
    value = float(weights @ (table[:, 2] / table[:, 1]))
    # Smoothed, so that a few equal answers do not count as certain.
    smooth = (table[:, 2] + 0.5) / (table[:, 1] + 1)
    left = 1 - table[:, 1] / table[:, 0]
    variance = float(weights**2 @ (left * smooth * (1 - smooth) / table[:, 1]))
    if variance == 0:  # all were answered
        return Share(value=value, low=value, high=value)
    middle = float(weights @ smooth)
    interval = wilson(np.asarray(value), middle * (1 - middle) / variance, LEVEL)
    return Share(value=value, low=float(interval.low), high=float(interval.high))


def write_columns(columns: Columns, path: Path) -> None:
    """Write columns to a file of rows, completely or not at all."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    RowTable(rows, list(columns)).write(path)


def key_of_pair(id: AnyId, other_id: AnyId, *, in_order: bool) -> IdPair:
    """Return the ids of a pair as texts: `in_order` in their order, else in natural order."""
    ids = str(id), str(other_id)
    return ids if in_order else ordered(*ids)


def id_pairs(name: str, pairs: Any) -> Iterator[IdPair]:
    """Yield the ids of pairs, texts or whole numbers; ArgumentError if something is no pair."""
    step = f"give `{name}` as pairs, tuples of two ids, or a file of them"
    columns = columns_of(pairs)
    if set(PAIR) <= columns.keys():
        pairs = zip(*(columns[name] for name in PAIR), strict=True)
    elif isinstance(pairs, Frame):
        step = f"give `{name}` the columns id and other_id"
        pairs = pairs.to_numpy().tolist()
    require(isinstance(pairs, Iterable), f"`{name}` cannot be {describe(pairs)}", step)
    for pair in pairs:
        ids: Any = pair
        if not isinstance(pair, tuple | list):
            ids = [getattr(pair, name, None) for name in PAIR]
        are_ids = len(ids) == 2 and all(isinstance(id, str | Integral) for id in ids)
        require(are_ids, f"{str(pair)[:60]!r} in `{name}` is not a pair of two ids", step)
        first, second = (str(id) if isinstance(id, str) else int(id) for id in ids)
        yield first, second


def known_pairs(path: str | Path) -> list[tuple[str, str]]:
    """Read the pairs of a file, as `read_pairs` does: at least one.

    Raises SourceError if it cannot be read, or has no pair: any report would be complete.
    """
    pairs = read_pairs(path)
    if not pairs:
        raise SourceError(str(path), "has no pairs", "give a file with two columns of ids")
    return pairs
