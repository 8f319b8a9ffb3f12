"""Measures of short records: how much of the weight of their words can be aligned.

aligned: as `alignment` describes it. records: of their numbers, a share has to agree, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from neardup_solr import measures
from neardup_solr.measures import Flat, Measurements
from neardup_solr.measures.alignment import compare_records
from neardup_solr.measures.frequencies import count_words, split_words
from neardup_solr.measures.pairs import Pairs
from neardup_solr.text.packed import Packed, pack

NUMBERS = 0.35  # of the weight of numbers that both have, the share that has to agree


def _pack(forms: Sequence[str]) -> Flat:
    """Pack the words of normal forms as UTF-8, which takes less memory than strings."""
    texts = pack([" ".join(split_words(form)) for form in forms])
    return Flat(texts.data[: texts.bounds[-1]], texts.bounds.astype(np.int64))


def _compare(
    texts: Flat, pairs: Pairs, comparer: measures.Comparer, numbers: float = 0.0
) -> Measurements:
    forms = Packed(texts.values, texts.bounds.view(np.uint64))
    counts = comparer.frequencies or count_words(forms, comparer.settings.normalization, str.split)
    similarities = compare_records(
        forms, pairs, counts, threads=comparer.threads, numbers=numbers, split=str.split
    )
    return Measurements(similarities)


ALIGNED = measures.Measure(
    name="aligned",
    # Three quarters of the weight have to agree: the lower end of the widest gap in the
    # similarities of the demo's invented listings to their nearest ones (0.743 to 0.834). See
    # docs/measures.md#how-aligned-works.
    default=0.75,
    needs_frequencies=True,
    joins_numbers=True,
    way="words",
    prepare=lambda forms, _: _pack(forms),
    compare=_compare,
)

# The threshold and the share of numbers were chosen leaving each set out: benchmarks/first.md.
RECORDS = replace(ALIGNED, name="records", default=0.7, compare=partial(_compare, numbers=NUMBERS))
