"""Match probability of records of two sources, with weights that were learnt beforehand.

Two sources describe the same things in their own words, so few columns agree as `fields` expects it
of a match, and the classes that EM finds among the candidates are often not those that are meant.
But of two clean sources each record has one match at most, and the best of both records is right or
nothing is. For that it is enough to rank candidates, which can be learnt once from other tables: a
logistic regression over features that mean the same on each table.

Three features do: the share of the trigrams of the smaller record that the other has (the overlap
coefficient; a record of few words counts for more), the cosine of the trigrams of the values that
name the records, and the numbers that both have, alone or in a word, which tell models and editions
apart. A trigram weighs the square of its inverse document frequency, as words do in `aligned`, a
number the frequency itself.

`benchmarks/pretrain.py` learns the weights from labelled tables, and measures them on tables of
families that it left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from neardup_solr.kernel import shingle_hashes
from neardup_solr.measures import Flat
from neardup_solr.measures.columns import FieldColumn, Table
from neardup_solr.measures.fields import EQUAL_ODDS, OTHER_NAMES, mark_same
from neardup_solr.measures.levels import compare_fields
from neardup_solr.measures.other_names import NameColumns, choose_naming, list_names
from neardup_solr.measures.pairs import Pairs, in_parts, mutual_best, take_evenly
from neardup_solr.measures.text_hashes import hash_sets
from neardup_solr.measures.weights import Weights, estimate_weights
from neardup_solr.regex import regex
from neardup_solr.settings import Settings

# Nats, of the intercept first, then of each feature.
WEIGHTS = np.array([-2.80, 3.25, 1.16, 2.09])
TRIGRAMS = Settings(kind="chars", shingle_size=3)
WORDS = Settings(kind="words", shingle_size=1)
SAMPLE = 20_000  # other pairs that tell what they agree in
SLOT_BITS = 22  # of the hashes of terms, by which documents are counted

_NUMBERS = regex(r"\S*\d\S*")


class TermSets:
    """Sets of terms of records, each term with a weight.

    A term weighs a power of its inverse document frequency, among the records of a `sample` if
    there is one. `totals` (records,) are the weights of all terms of each.
    """

    def __init__(self, sets: Flat, power: int, sample: TermSets | None) -> None:
        slots = (sets.values >> np.uint64(64 - SLOT_BITS)).astype(np.int64)
        self._sets = sets
        if sample is None:
            counts = np.bincount(slots, minlength=1 << SLOT_BITS)
            each = np.maximum(np.arange(int(counts.max(initial=0)) + 1), 1)
            documents = max(len(sets.lengths), 1)
            self._weights = (np.log((1.0 + documents) / each) ** power)[counts]
        else:
            self._weights = sample._weights
        sums = np.concatenate([[0.0], np.cumsum(self._weights[slots])])
        self.totals: Table = np.diff(sums[sets.bounds])

    def weigh_shared(self, pairs: Pairs, threads: int) -> Table:
        """Weigh what the sets of each pair share, shape (pairs,)."""
        shared = np.empty(len(pairs), dtype=np.float64)

        def weigh_part(part: slice) -> None:
            shingle_hashes.weigh_common(
                *self._sets, pairs[part], 64 - SLOT_BITS, self._weights, shared[part]
            )

        in_parts(weigh_part, self._sets.lengths_of(pairs).sum(axis=1), threads)
        return shared


class WholeRecords:
    """Records of two sources, whose pairs are weighed.

    `forms` (records,) are the normal forms of the whole records, `columns` their fields. If they
    come a few at a time, those of a `sample` tell how rare a term is, how much a record says, and
    what names it.
    """

    def __init__(
        self, forms: Sequence[str], columns: Sequence[FieldColumn], threads: int,
        sample: WholeRecords | None = None,
    ) -> None:  # fmt: skip
        self._forms, self._columns, self._threads = forms, columns, threads
        self.names = NameColumns(columns)
        self._sample = sample

    @cached_property
    def _terms(self) -> tuple[TermSets, TermSets, TermSets]:
        """The trigrams and the numbers of records, and the trigrams of their names."""
        numbers = [" ".join(_NUMBERS.findall(form)) for form in self._forms]
        naming = choose_naming(self._columns if self._sample is None else self._sample._columns)
        names = list_names(self._forms, None if naming is None else self._columns[naming])
        of_sample = (None,) * 3 if self._sample is None else self._sample._terms
        return (
            TermSets(hash_sets(self._forms, TRIGRAMS), 2, of_sample[0]),
            TermSets(hash_sets(numbers, WORDS), 1, of_sample[1]),
            TermSets(hash_sets(names, TRIGRAMS), 2, of_sample[2]),
        )

    def measure_features(self, pairs: Pairs) -> Table:
        """Measure the features of pairs, shape (pairs, features)."""
        pairs = np.ascontiguousarray(pairs)
        records, _, names = self._terms
        usual = self if self._sample is None else self._sample
        totals = usual._terms[0].totals
        least = np.median(totals) / 2 if len(totals) else 0.0  # that one of few words counts for
        of_record, of_numbers, of_name = (
            terms.weigh_shared(pairs, self._threads) for terms in self._terms
        )
        features = (
            _divide(of_record, np.maximum(records.totals[pairs].min(axis=1), least)),
            of_numbers / math.log(max(len(totals), 2)),
            _divide(of_name, np.sqrt(names.totals[pairs].prod(axis=1))),
        )
        return np.stack(features, axis=1)

    def weigh(self, pairs: Pairs) -> Table:
        """Compute the log2 odds that the records of each pair are the same, shape (pairs,).

        Records that are equal in all fields have `EQUAL_ODDS` or better, and members of a family
        `OTHER_NAMES`, as in `fields`.
        """
        bits: Table = (WEIGHTS[0] + self.measure_features(pairs) @ WEIGHTS[1:]) / math.log(2)
        likely = np.flatnonzero(bits >= 0.0)
        levels = compare_fields(self._columns, pairs[likely], threads=self._threads)
        bits[likely[self.names.mark_others(pairs[likely], levels)]] = OTHER_NAMES
        are_equal = mark_same(self._columns, pairs)
        bits[are_equal] = np.maximum(bits[are_equal], EQUAL_ODDS)
        return bits

    def estimate_weights(self, pairs: Pairs, odds: Table) -> Weights:
        """Estimate weights of the fields that explain the best matches of both records.

        `odds` (pairs,) are those of `weigh`.
        """
        are_same = mutual_best(pairs, odds) & (odds >= 0.0)
        same, others = np.flatnonzero(are_same), np.flatnonzero(~are_same)
        some = take_evenly(others, SAMPLE)
        rows = np.concatenate([same, some])
        levels = compare_fields(self._columns, pairs[rows], threads=self._threads)
        fields = {column.name: column.kind for column in self._columns}
        sampled = len(others) / max(len(some), 1)
        return estimate_weights(fields, levels, are_same[rows], sampled=sampled)


def _divide(part: Table, whole: Table) -> Table:
    """Divide, 0 by 0 as 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)
