"""evaluate: precision, recall and F1 of the pairs of a result, as a whole or by threshold."""

from __future__ import annotations

import math
import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from neardup_solr import records, reports
from neardup_solr.answers import DIFFERENT, SAME, Answer, choose_latest, parse_table, read_answers
from neardup_solr.arguments import Frame, Id, Per, checked, describe, require
from neardup_solr.clusters import Partition
from neardup_solr.errors import DataError, SourceError, counted
from neardup_solr.measures import floor
from neardup_solr.minhash.signature import wilson
from neardup_solr.progress import LOG
from neardup_solr.records import AnyId, Duplicate, Pair, as_whole, natural, ordered
from neardup_solr.reports import ANSWER, Columns, RowTable
from neardup_solr.reports.html import show_invisibles
from neardup_solr.sources import PAIR, read_columns, read_pairs
from neardup_solr.text.normalize import Markup, make_html_table

IdPair = tuple[AnyId, AnyId]

WIDTH = 0.05  # of a stratum, in similarity
LEVEL = 1.96  # standard deviations: 95 % confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Share from 0 to 1, with its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AnswerSheet(reports.Table):
    """Sample of pairs with an empty column named answer, for same, different or unsure.

    `write` it, fill the column, and give the file to `evaluate` with the result it was drawn from.
    """

    table: Columns
    whole_ids: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<AnswerSheet: {counted(len(self.table[ANSWER]), 'pair')} to judge>"

    def columns(self) -> Columns:
        """Return the columns id, other_id, similarity, answer, and texts and kept columns."""
        return self.table


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

        Raises DataError as `parse_table` does.
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

        Raises DataError if none is left.
        """
        same, different = (side.intersection(pairs) for side in (self.same, self.different))
        total, left = len(self.same | self.different), len(same | different)
        if not total:
            raise DataError("no answer is same or different", "fill in the column answer")
        if not left:
            reason = f"no answered pair (of {total:,}) is in the result"
            raise DataError(reason, "give the result from which they were drawn")
        if left < total:
            LOG.warning("answered pairs not in the result, so not counted: %d", total - left)
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
    require(isinstance(pairs, Iterable), f"`{name}` cannot be {describe(pairs)}", step)
    for pair in pairs:
        ids: Any = pair
        if not isinstance(pair, tuple | list):
            ids = [getattr(pair, name, None) for name in PAIR]
        ids = [*map(as_whole, ids)]
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


class PairResult(Protocol):
    """A result with pairs, such as that of `report` or `duplicates`."""

    @property
    def pairs(self) -> Sequence[Pair] | Sequence[Duplicate]:
        """The pairs."""


SomePairs = Iterable[Pair | Duplicate | tuple[Id, Id]]
KnownPairs = SomePairs | Frame | AnswerSheet | str | Path

MOST_CLOSED = 2_000_000  # pairs that follow from known ones
MOST_SHOWN = 10  # missed and false pairs in a notebook


def evaluate(
    known: KnownPairs,
    found: PairResult | SomePairs | Frame | str | Path,
    *,
    ordered: bool | None = None,
    as_given: bool = False,
) -> Evaluation:
    """Compare the pairs of a result with known pairs: precision, recall and F1.

    Example: `nd.evaluate("known.tsv", nd.duplicates("listings.csv")).f1`

    Each argument is a list of id pairs, or a table or file with the columns id and other_id (or
    only two columns); `found` may also be the result of `report` or `duplicates`. Known pairs are
    completed by transitivity: a–b and a–c imply b–c. If `ordered`, the first id of each implied
    pair is from the first source. `ordered` defaults to True for results with `against`.

    If `known` has a column named answer ("same", "different" or "unsure"; see `Duplicates.sample`),
    precision is estimated, with a 95 % confidence interval. `found` must then have similarities.

    Raises SourceError if a file cannot be read or has no known pairs; ArgumentError if there are no
    known pairs, a pair or an answer is invalid, the arguments seem swapped, or no answered pair is
    in `found`.
    """
    columns = columns_of(known)
    require(
        not _is_report(known, columns) or _is_report(found, columns_of(found)),
        "`known` is a report, but the result is not",
        "give the known pairs first",
        DataError,
    )
    has_sides = getattr(found, "against", None) if ordered is None else ordered
    in_order = bool(has_sides)
    answers = JudgedPairs.of(known, columns, in_order=in_order)
    if answers is not None:
        return _judge(answers, found, in_order=in_order)
    expected = _ids("known", known)
    require(bool(expected), "`known` contains no pairs", "give at least one known pair", DataError)
    reported = _ids("found", getattr(found, "pairs", found))
    ids = {str(id) for pair in reported for id in pair}
    if ids and ids.isdisjoint(str(id) for pair in expected for id in pair):
        problem = "none of the ids in the known pairs occurs in a found pair"
        LOG.warning("%s: check that both refer to the same documents", problem)
    are_whole = _has_whole_ids(found)
    return evaluate_pairs(
        expected, reported, are_whole=are_whole, has_sides=has_sides, as_given=as_given
    )


def _ids(name: str, pairs: Any) -> Sequence[IdPair]:
    if isinstance(pairs, str | Path):
        return known_pairs(pairs) if name == "known" else read_pairs(pairs)
    return list(id_pairs(name, pairs))


def _has_whole_ids(result: Any) -> bool:
    return {"id", "other_id"} <= set(getattr(result, "whole_ids", ()))


def _judge(answers: JudgedPairs, result: Any, *, in_order: bool) -> Evaluation:
    """Estimate the precision of a result from the answers to a sample of its pairs."""
    similarities = _similarities(result, in_order=in_order)
    here = answers.of_pairs(similarities)
    return Evaluation(
        found=len(similarities),
        known=len(here.same),
        missed=(),
        false=_sort_pairs(_as_given(here.different, are_whole=_has_whole_ids(result))),
        share=precision_of(similarities, here),
    )


def _similarities(result: Any, *, in_order: bool) -> dict[IdPair, float]:
    """Read the similarity of each pair of a result."""
    rows: Iterable[tuple[AnyId, AnyId, float]]
    if hasattr(result, "pairs"):
        rows = ((pair.id, pair.other_id, pair.similarity) for pair in result.pairs)
    else:
        columns = columns_of(result)
        names = ("id", "other_id", "similarity")
        require(
            set(names) <= columns.keys(),
            "answers need the similarities of all pairs, but the result has none",
            "give the nd.duplicates result from which the sample was drawn, or its file",
            DataError,
        )
        rows = zip(*(columns[name] for name in names), strict=True)
    similarities = {}
    for id, other_id, similarity in rows:
        try:
            similarities[key_of_pair(id, other_id, in_order=in_order)] = float(similarity)
        except (TypeError, ValueError):
            reason = f"{str(similarity)[:40]!r}, of {id} – {other_id}, is not a similarity"
            raise DataError(reason, "give the result as it was written") from None
    return similarities


def _is_report(value: object, columns: Mapping[str, object]) -> bool:
    """Return True for pairs that come with similarities, as only those of a result do."""
    return hasattr(value, "pairs") or ("similarity" in columns and ANSWER not in columns)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Evaluation:
    """Precision, recall and F1 of the pairs of a result.

    If precision was estimated from answers, recall and F1 are NaN.

    `found`: pairs in the result; `known`: known pairs, or those answered "same"; `missed`: known
    pairs not in the result; `false`: pairs in the result that are not known, or answered
    "different"; `share`: estimated precision with its interval, or None; `closed`: known pairs
    added by transitivity.
    """

    found: int
    known: int
    missed: tuple[IdPair, ...]
    false: tuple[IdPair, ...]
    share: Share | None = None
    closed: int = 0

    def __repr__(self) -> str:
        return f"<Evaluation: {self.summary}>"

    def _repr_html_(self) -> str:
        sides = [("missed", pair) for pair in self.missed[:MOST_SHOWN]]
        sides += [("false", pair) for pair in self.false[:MOST_SHOWN]]
        rows = [
            (kind, *(Markup(show_invisibles(str(id), is_id=True)) for id in pair))
            for kind, pair in sides
        ]
        table = make_html_table(("", "id", "other_id"), rows) if rows else ""
        more = len(self.missed) + len(self.false) - len(rows)
        note = f"<p>… and {more:,} more: <code>.missed</code>, <code>.false</code></p>"
        return f"<p>{self.summary}</p>{table}{note if more else ''}"

    @property
    def summary(self) -> str:
        """The figures in a sentence."""
        if self.share is not None:
            answers = counted(self.known + len(self.false), "answer")
            return f"precision {self.share} of {self.found:,} found pairs, from {answers}"
        counts = f"{self.right} of {self.known} known pairs found, {self.found} pairs reported"
        shares = f"precision {self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f}"
        return f"{counts}: {shares}{_say_closed(self.closed)}"

    @property
    def right(self) -> int:
        """Pairs that are found and known."""
        return self.known - len(self.missed)

    @checked
    def write(self, path: str | Path) -> None:
        """Write the missed and the false pairs to a .tsv, .csv, .jsonl or .xlsx file.

        The columns are `wrong` ("missed" or "false"), `id` and `other_id`.

        Raises SourceError if the suffix is unknown or the file cannot be written.
        """
        wrong = {"missed": self.missed, "false": self.false}
        names = ("wrong", *PAIR)
        cells = ((kind, *pair) for kind, pairs in wrong.items() for pair in pairs)
        RowTable((dict(zip(names, row, strict=True)) for row in cells), names).write(Path(path))

    @property
    def precision(self) -> float:
        """Share of the found pairs that are known, 0 to 1. It is 1 if none were found."""
        return _divide(self.right, self.found) if self.share is None else self.share.value

    @property
    def recall(self) -> float:
        """Share of the known pairs that were found, 0 to 1. It is 1 if none are known."""
        return _divide(self.right, self.known) if self.share is None else math.nan

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 to 1."""
        total = self.found + self.known
        return _divide(2 * self.right, total) if self.share is None else math.nan


def _say_closed(count: int) -> str:
    follow = counted(count, "pair that follows", "pairs that follow")
    return f"; {follow} from known pairs count{'s' * (count == 1)} as known" if count else ""


def _divide(part: int, whole: int) -> float:
    """Divide counts of pairs. The share of none is 1."""
    return part / whole if whole else 1.0


def evaluate_pairs(
    expected: Sequence[IdPair],
    reported: Sequence[IdPair],
    *,
    are_whole: bool = False,
    has_sides: bool | None = None,
    as_given: bool = False,
) -> Evaluation:
    """Compare reported with expected pairs. If they have sides, the order within a pair counts.

    None stands for pairs without an order, which are of two sides if no id is on both.

    An id is equal to its text. Those that were missed, or are false, have their ids as in the
    arguments, but whole numbers if all ids of the result `are_whole`. Pairs that follow from
    expected pairs are expected, too, unless these are to be taken `as_given`.
    """
    in_order = bool(has_sides)
    if has_sides is None:
        firsts, seconds = ({str(pair[end]) for pair in (*expected, *reported)} for end in (0, 1))
        has_sides = firsts.isdisjoint(seconds)
    follow = () if as_given else close_pairs(expected, has_sides)
    listed, closed, results = (
        _by_text(_as_given(pairs, are_whole=are_whole), in_order=in_order)
        for pairs in (expected, follow, reported)
    )
    right = closed | listed
    return Evaluation(
        found=len(results),
        known=len(right),
        missed=_sort_pairs(pair for ids, pair in right.items() if ids not in results),
        false=_sort_pairs(pair for ids, pair in results.items() if ids not in right),
        closed=len(right) - len(listed),
    )


def close_pairs(pairs: Iterable[IdPair], has_sides: bool) -> list[IdPair]:
    """Make all pairs of what chains of pairs connect. If these are of two sides, only pairs across.

    If they would be more than MOST_CLOSED, a warning is logged instead.
    """
    partition, ids = Partition(), dict[tuple[str, int], AnyId]()
    for pair in pairs:
        ends = [(str(id), side * has_sides) for side, id in enumerate(pair)]
        ids.update(zip(ends, pair, strict=True))
        partition.unite(*ends)
    clusters = defaultdict[Any, list[tuple[str, int]]](list)
    for end in sorted(ids, key=itemgetter(1)):
        clusters[partition.find(end)].append(end)
    if (count := sum(math.comb(len(members), 2) for members in clusters.values())) > MOST_CLOSED:
        LOG.warning("%s pairs follow from known pairs: too many, so none is added", f"{count:,}")
        return []
    return [
        (ids[end], ids[later])
        for ends in clusters.values()
        for end, later in combinations(ends, 2)
        if not has_sides or end[1] != later[1]
    ]


def _by_text(pairs: Iterable[IdPair], *, in_order: bool) -> dict[IdPair, IdPair]:
    """Map pairs by the texts of their ids, in natural order unless theirs counts."""
    in_turn = (pair if in_order else records.ordered(*pair) for pair in pairs)
    return {(str(id), str(other_id)): (id, other_id) for id, other_id in in_turn}


def _as_given(pairs: Iterable[IdPair], *, are_whole: bool) -> Iterable[IdPair]:
    """Return the pairs, with texts of whole numbers as numbers if all ids `are_whole`."""
    return ((_number(id), _number(other)) for id, other in pairs) if are_whole else pairs


def _number(id: AnyId) -> AnyId:
    return int(id) if re.fullmatch("0|-?[1-9][0-9]*", str(id)) else id


def _sort_pairs(pairs: Iterable[IdPair]) -> tuple[IdPair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (natural(pair[0]), natural(pair[1]))))


STEP = 0.01  # between thresholds, with known pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Pairs found at a threshold, with their precision and recall.

    With answers instead of known pairs, the precision lies between `low` and `high` with 95 %
    confidence, and `recall` and `f1` are None.
    """

    min_similarity: float
    found: int
    precision: float
    recall: float | None = None
    f1: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep(reports.Table):
    """Precision, recall and F1 of a result at each threshold.

    `closed` known pairs were added by transitivity.
    """

    points: tuple[Point, ...]
    closed: int = 0

    def __repr__(self) -> str:
        name = "precision" if self.best.f1 is None else "F1"
        value = self.best.precision if self.best.f1 is None else self.best.f1
        where = f"at min_similarity {self.best.min_similarity:g}"
        best = f"best {name} {value:.3f} {where}{_say_closed(self.closed)}"
        return f"<Sweep: {counted(len(self.points), 'threshold')}, {best}>"

    @property
    def best(self) -> Point:
        """The point of the highest F1 or, without known pairs, of the highest precision.

        Of equal points it is that of the lowest threshold.
        """
        return max(self.points, key=lambda point: point.precision if point.f1 is None else point.f1)

    def columns(self) -> Columns:
        """Make a row for each point, without the columns that no point has."""
        names = [name for name in Point.__slots__ if getattr(self.points[0], name) is not None]
        return {name: [getattr(point, name) for point in self.points] for name in names}

    def _repr_html_(self) -> str:
        columns = self.columns()
        rows = [
            [f"{value:.3f}" if isinstance(value, float) else value for value in row]
            for row in zip(*columns.values(), strict=True)
            if row[0] * 100 % 10 < 0.5 or row[0] == self.best.min_similarity
        ]
        return make_html_table(list(columns), rows)


def sweep(found: PairResult, known: KnownPairs, min_similarity: float, *, in_order: bool) -> Sweep:
    """Evaluate the pairs of a result at each threshold, from its `min_similarity` upwards.

    `known` is as for `evaluate`. Raises ArgumentError and SourceError as that does.
    """
    similarities = _similarities(found, in_order=in_order)
    answers, closed = JudgedPairs.of(known, columns_of(known), in_order=in_order), 0
    if answers is not None:
        points = _points_of_answers(similarities, answers.of_pairs(similarities), min_similarity)
    else:
        whole = evaluate(known, found)
        closed = whole.closed
        right = set(similarities) - {(str(id), str(other_id)) for id, other_id in whole.false}
        points = _points_of_known(similarities, right, whole.known, min_similarity)
    return Sweep(points=tuple(points), closed=closed)


def _points_of_known(
    similarities: Mapping[IdPair, float], right: Set[IdPair], expected: int, least: float
) -> Iterator[Point]:
    everything = np.sort(np.fromiter(similarities.values(), np.float64, len(similarities)))
    correct = np.sort([similarities[pair] for pair in right])
    for threshold in _thresholds(least, STEP):
        count = len(everything) - int(np.searchsorted(everything, floor(threshold)))
        true = len(correct) - int(np.searchsorted(correct, floor(threshold)))
        yield Point(
            min_similarity=threshold,
            found=count,
            precision=_divide(true, count),
            recall=_divide(true, expected),
            f1=_divide(2 * true, count + expected),
        )


def _points_of_answers(
    similarities: Mapping[IdPair, float], answers: JudgedPairs, least: float
) -> Iterator[Point]:
    for threshold in _thresholds(least, WIDTH):
        near = {pair: at for pair, at in similarities.items() if at >= floor(threshold)}
        near_answers = JudgedPairs(
            same=answers.same & near.keys(), different=answers.different & near.keys()
        )
        if near_answers.same or near_answers.different:
            share = precision_of(near, near_answers)
            yield Point(
                min_similarity=threshold,
                found=len(near),
                precision=share.value,
                low=share.low,
                high=share.high,
            )


def _thresholds(least: float, step: float) -> list[float]:
    """List the threshold of a result, and the round thresholds above it, up to 1."""
    first, last = math.floor(least / step + 1e-9) + 1, round(1 / step)
    return [least, *(round(at * step, 2) for at in range(first, last + 1))]
