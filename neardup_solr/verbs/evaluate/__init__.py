"""evaluate: precision, recall and F1 of found pairs against known pairs, or against answers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.arguments import Frame, Id, checked, require, shown
from neardup_solr.errors import SourceError
from neardup_solr.progress import LOG
from neardup_solr.records import AnyId, Duplicate, Pair, natural, ordered
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
    if there are no known pairs, if something is not a pair, if `known` looks like a report and
    `found` like known pairs, if an answer is not one of these, or if none of the answered pairs is
    in `found`.
    """
    require(
        not (_is_report(known) and not _is_report(found)),
        "`known` is a report, and `found` is none",
        "give the known pairs first: nd.evaluate(known, found)",
    )
    answers = Answers.of(known)
    if answers is not None:
        return _judge(answers, found)
    known_ids = _ids("known", known)
    require(bool(known_ids), "`known` has no pairs", "give at least one known pair")
    found_ids = _ids("found", getattr(found, "pairs", found))
    told = {str(id) for pair in found_ids for id in pair}
    if told and told.isdisjoint(str(id) for pair in known_ids for id in pair):
        LOG.warning(
            "none of the ids of the known pairs is in a found pair: check that both are of the"
            " same documents"
        )
    return evaluate_pairs(known_ids, found_ids, are_whole=_has_whole_ids(found))


def _ids(name: str, pairs: Any) -> Sequence[IdPair]:
    if isinstance(pairs, str | Path):
        return known_pairs(pairs) if name == "known" else read_pairs(pairs)
    return list(id_pairs(name, pairs))


def _has_whole_ids(found: Any) -> bool:
    return {"id", "other_id"} <= set(getattr(found, "whole_ids", ()))


def _judge(answers: Answers, found: Any) -> Evaluation:
    """Estimate the precision of a result from the answers to a sample of its pairs."""
    similarities = _similarities(found)
    here = answers.of_pairs(similarities)
    return Evaluation(
        found=len(similarities),
        known=len(here.same),
        missed=(),
        false=_sorted(_as_given(here.different, are_whole=_has_whole_ids(found))),
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
    """The ids of pairs, texts or whole numbers. Raises ArgumentError if something is not a pair."""
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
        first, second = (str(id) if isinstance(id, str) else int(id) for id in ids)
        yield first, second


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
    """The precision, recall and F1 of found pairs. The order within a pair does not matter.

    `found` and `known` count pairs; `missed` are known but not found, `false` found but not known.
    If the precision was estimated from answers, `share` has it with its interval. Then `known`
    counts the pairs answered "same", `false` has those answered "different", and recall and F1 are
    NaN: nobody was asked about pairs that were not found. Ids are whole numbers if those of what
    was found are.
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
            (kind, *(Markup(invisibles.shown(str(id), is_id=True)) for id in pair))
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


def evaluate_pairs(
    known: Iterable[IdPair], found: Iterable[IdPair], *, are_whole: bool = False
) -> Evaluation:
    """Compare found pairs with known pairs. The order within a pair does not matter.

    An id is equal to its text. Those that were missed, or are false, are as they were given, but
    whole numbers if all ids of what was compared `are_whole`.
    """
    known_ones = _by_text(_as_given(known, are_whole=are_whole))
    found_ones = _by_text(_as_given(found, are_whole=are_whole))
    return Evaluation(
        found=len(found_ones),
        known=len(known_ones),
        missed=_sorted(pair for text, pair in known_ones.items() if text not in found_ones),
        false=_sorted(pair for text, pair in found_ones.items() if text not in known_ones),
    )


def _by_text(pairs: Iterable[IdPair]) -> dict[IdPair, IdPair]:
    """Pairs in natural order, by the texts of their ids."""
    in_order = (ordered(*pair) for pair in pairs)
    return {(str(id), str(other_id)): (id, other_id) for id, other_id in in_order}


def _as_given(pairs: Iterable[IdPair], *, are_whole: bool) -> Iterable[IdPair]:
    """The pairs, with texts of whole numbers as numbers if all ids `are_whole`."""
    return ((_number(id), _number(other)) for id, other in pairs) if are_whole else pairs


def _number(id: AnyId) -> AnyId:
    return int(id) if re.fullmatch("0|-?[1-9][0-9]*", str(id)) else id


def _sorted(pairs: Iterable[IdPair]) -> tuple[IdPair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (natural(pair[0]), natural(pair[1]))))
