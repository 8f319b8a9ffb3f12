"""evaluate: precision, recall and F1 of found pairs against known pairs, or against answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.arguments import Frame, Id, checked, require, shown
from neardup_solr.errors import SourceError
from neardup_solr.records import Duplicate, Pair, natural, ordered
from neardup_solr.reports.html import invisibles
from neardup_solr.reports.rows import write_rows
from neardup_solr.sources.pairs import read_pairs
from neardup_solr.text.markup import Markup, html_table
from neardup_solr.verbs.evaluate.answers import (
    ANSWER,
    Answers,
    AnswerSheet,
    IdPair,
    Share,
    columns_of,
    precision_of,
)

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates import Duplicates
    from neardup_solr.verbs.report import Report


SomePairs = Iterable[Pair | Duplicate | tuple[Id, Id]]
KnownPairs = SomePairs | Frame | AnswerSheet | str | Path

MOST_SHOWN = 10  # missed and false pairs in a notebook


def evaluate(
    known: KnownPairs, found: Report | Duplicates | SomePairs | Frame | str | Path
) -> Evaluation:
    """Compare found pairs with known pairs: precision, recall and F1.

    `known` and `found` are pairs, tuples of two ids, a DataFrame with the columns id and other_id
    (or with two columns of ids), or a file of them as `read_pairs` reads it; `found` may also be
    the result of `report` or `duplicates`. The order within a pair does not matter.

    `known` may be a table with the column answer as well: the pairs of `Duplicates.sample`, with
    the answers "same", "different" or "unsure", or none. Then `found` has to come with the
    similarities of its pairs, as results and their files do, and the precision is estimated, with
    its 95 % confidence interval.

    Raises SourceError if a file cannot be read, or a file of known pairs has none; ArgumentError
    if something is not a pair, if `known` looks like a report and `found` like known pairs, if an
    answer is not one of these, or if none of the answered pairs is in `found`.
    """
    require(
        not (_is_report(known) and not _is_report(found)),
        "`known` is a report, and `found` is none",
        "give the known pairs first: nd.evaluate(known, found)",
    )
    answers = Answers.of(known)
    if answers is not None:
        return _judge(answers, found)
    known_ids = known_pairs(known) if isinstance(known, str | Path) else id_pairs("known", known)
    if isinstance(found, str | Path):
        return evaluate_pairs(known_ids, read_pairs(found))
    return evaluate_pairs(known_ids, id_pairs("found", getattr(found, "pairs", found)))


def _judge(answers: Answers, found: Any) -> Evaluation:
    """Estimate the precision of a result from the answers to a sample of its pairs."""
    similarities = _similarities(found)
    here = answers.of_pairs(similarities)
    return Evaluation(
        found=len(similarities),
        known=len(here.same),
        missed=(),
        false=_sorted(here.different),
        share=precision_of(similarities, here),
    )


def _similarities(found: Any) -> dict[IdPair, float]:
    """The similarity of each found pair."""
    pairs = getattr(found, "pairs", None)
    if pairs is not None:
        return {ordered(str(p.id), str(p.other_id)): p.similarity for p in pairs}
    columns = columns_of(found)
    require(
        {"id", "other_id", "similarity"} <= columns.keys(),
        "answers need the similarities of all pairs, and `found` has none",
        "give the result of nd.duplicates that the sample was drawn from, or its file",
    )
    rows = zip(*(columns[name] for name in ("id", "other_id", "similarity")), strict=True)
    return {ordered(str(id), str(other)): float(similarity) for id, other, similarity in rows}


def _is_report(given: object) -> bool:
    """Tell whether pairs come with similarities, as only found ones do."""
    return hasattr(given, "pairs") or (
        "similarity" in columns_of(given) and ANSWER not in columns_of(given)
    )


def id_pairs(name: str, pairs: Any) -> Iterator[IdPair]:
    """The ids of pairs as texts; raises ArgumentError if something is not a pair."""
    step = f"give `{name}` as pairs, tuples of two ids, or a file of them"
    columns = columns_of(pairs)
    if {"id", "other_id"} <= columns.keys():
        pairs = zip(columns["id"], columns["other_id"], strict=True)
    elif isinstance(pairs, Frame):
        step = f"give `{name}` the columns id and other_id"
        pairs = pairs.to_numpy().tolist()
    require(isinstance(pairs, Iterable), f"`{name}` cannot be {shown(pairs)}", step)
    for one in pairs:
        ids = one if isinstance(one, tuple | list) else _ids_of(one)
        are_ids = len(ids) == 2 and all(isinstance(id, str | Integral) for id in ids)
        require(are_ids, f"{str(one)[:60]!r} in `{name}` is not a pair of two ids", step)
        yield str(ids[0]), str(ids[1])


def _ids_of(pair: Any) -> tuple[Any, ...]:
    return (getattr(pair, "id", None), getattr(pair, "other_id", None))


def known_pairs(path: str | Path) -> list[tuple[str, str]]:
    """The pairs of a file, as `read_pairs` reads it: at least one.

    Raises SourceError if it cannot be read, or has no pair: any report would be complete.
    """
    pairs = read_pairs(path)
    if not pairs:
        raise SourceError(str(path), "has no pairs", "give a file with two columns of ids")
    return pairs


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Evaluation:
    """The precision, recall and F1 of found pairs; the order within a pair does not matter.

    `found` and `known` count pairs; `missed` are known but not found, `false` found but not known.
    If the precision was estimated from answers, `share` has it with its interval. Then `known`
    counts the pairs answered "same", `false` has those answered "different", and recall and F1 are
    NaN: nobody was asked about pairs that were not found.
    """

    found: int
    known: int
    missed: tuple[IdPair, ...]
    false: tuple[IdPair, ...]
    share: Share | None = None

    def __repr__(self) -> str:
        return f"<Evaluation: {self.summary}>"

    def _repr_html_(self) -> str:
        sides = [("missed", pair) for pair in self.missed[:MOST_SHOWN]]
        sides += [("false", pair) for pair in self.false[:MOST_SHOWN]]
        rows = [
            (kind, *(Markup(invisibles.shown(id, is_id=True)) for id in pair))
            for kind, pair in sides
        ]
        table = html_table(("", "id", "other_id"), rows) if rows else ""
        more = len(self.missed) + len(self.false) - len(rows)
        note = f"<p>… and {more:,} more: <code>.missed</code>, <code>.false</code></p>"
        return f"<p>{self.summary}</p>{table}{note if more else ''}"

    @property
    def summary(self) -> str:
        """The figures in one sentence."""
        if self.share is not None:
            answers = f"{self.known + len(self.false):,} answers"
            return f"precision {self.share} of {self.found:,} found pairs, from {answers}"
        return (
            f"{self.right} of {self.known} known pairs found among {self.found} reported:"
            f" precision {self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f}"
        )

    @property
    def right(self) -> int:
        """Pairs that are found and known."""
        return self.known - len(self.missed)

    @checked
    def write(self, path: str | Path) -> None:
        """Write the missed and the false pairs to a .tsv, .csv, .jsonl or .xlsx file.

        The columns are wrong ("missed" or "false"), id and other_id. The file is written
        completely or not at all.

        Raises SourceError if the suffix is not known or the file cannot be written.
        """
        wrong = {"missed": self.missed, "false": self.false}
        rows = [
            {"wrong": kind, "id": id, "other_id": other_id}
            for kind, pairs in wrong.items()
            for id, other_id in pairs
        ]
        write_rows(rows, ("wrong", "id", "other_id"), Path(path))

    @property
    def precision(self) -> float:
        """Share of the found pairs that are known, in 0..1; 1 if none were found."""
        if self.share is not None:
            return self.share.value
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of the known pairs that were found, in 0..1; 1 if none are known."""
        if self.share is not None:
            return math.nan
        return self.right / self.known if self.known else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall (van Rijsbergen 1979), in 0..1."""
        if self.share is not None:
            return math.nan
        total = self.found + self.known
        return 2 * self.right / total if total else 1.0


def evaluate_pairs(known: Iterable[IdPair], found: Iterable[IdPair]) -> Evaluation:
    """Compare found pairs with known pairs; the order within a pair does not matter."""
    known_set = {ordered(*pair) for pair in known}
    found_set = {ordered(*pair) for pair in found}
    return Evaluation(
        found=len(found_set),
        known=len(known_set),
        missed=_sorted(known_set - found_set),
        false=_sorted(found_set - known_set),
    )


def _sorted(pairs: Iterable[IdPair]) -> tuple[IdPair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (natural(pair[0]), natural(pair[1]))))
