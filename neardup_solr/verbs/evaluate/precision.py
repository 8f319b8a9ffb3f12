"""Precision, estimated from the answers to a sample of pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup_solr.answers import DIFFERENT, SAME, Answer, choose_latest
from neardup_solr.answers.format import parse_table, read_answers
from neardup_solr.errors import DataError
from neardup_solr.minhash.signature import wilson
from neardup_solr.progress import LOG
from neardup_solr.reports.rows import ANSWER
from neardup_solr.sources.pair_files import PAIR
from neardup_solr.verbs.evaluate.id_pairs import IdPair, key_of_pair
from neardup_solr.verbs.evaluate.sample import WIDTH, stratum_of

LEVEL = 1.96  # standard deviations: 95 % confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Share from 0 to 1, with its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f})"


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
            reason = "no answer is same or different"
            raise DataError(reason, "fill in the column answer", code="no-pairs")
        if not left:
            reason = f"no answered pair (of {total:,}) is in the result"
            raise DataError(reason, "give the result from which they were drawn", code="no-pairs")
        if left < total:
            LOG.warning("answered pairs not in the result, so not counted: %d", total - left)
        return JudgedPairs(same=same, different=different)


def precision_of(similarities: Mapping[IdPair, float], answers: JudgedPairs) -> Share:
    """Estimate the share of same pairs among all, from answers to some of each stratum.

    The mean of the strata, weighed by their sizes (Cochran 1977, section 5.3), with the interval of
    Wilson (1927) for as many independent answers as would have its variance. A stratum without an
    answer counts with the next below it, else above it.
    """
    sizes, judged, same = np.zeros((3, round(1 / WIDTH)), dtype=np.int64)
    for similarity in similarities.values():
        sizes[stratum_of(similarity)] += 1
    for pair in answers.same | answers.different:
        judged[stratum_of(similarities[pair])] += 1
        same[stratum_of(similarities[pair])] += pair in answers.same
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
