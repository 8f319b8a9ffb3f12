"""One rule for all tables: the cosine of the character trigrams of the column that names a record.

It is what a user writes in an afternoon, so every family has to do better. The user knows which
column that is. A trigram weighs its inverse document frequency: without it, the rule is worse in
the mean. Of two sources, pairs are those that are the best match of both records.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy import sparse

from lib.kinds import IdPair, Row, Table
from neardup_solr.measures.pairs import mutual_best
from neardup_solr.text.normalize import normalize

NAMES = ("title", "name", "song", "song_name", "company", "affiliation", "holder", "address")
PARTS = ("first", "first_name", "last", "surname")  # of the name of a person
LEAST = 0.6
AT_ONCE = 500  # records


def get_name(row: Row) -> str:
    """Get the name of a record: the first of its naming columns that is filled."""
    values = {column.lower(): value for column, value in row.items()}
    parts = " ".join(values[column] for column in PARTS if values.get(column))
    return next((values[column] for column in NAMES if values.get(column)), parts)


def weigh_trigrams(texts: Sequence[str]) -> sparse.csr_array:
    """Weigh the trigrams of texts, rows of length 1: shape (texts, trigrams)."""
    numbers: dict[str, int] = {}
    rows, columns = list[int](), list[int]()
    for row, text in enumerate(texts):
        form = f" {normalize(text)} "
        for at in range(len(form) - 2):
            rows.append(row)
            columns.append(numbers.setdefault(form[at : at + 3], len(numbers)))
    ones = np.ones(len(rows), dtype=np.float32)
    counts = sparse.csr_array((ones, (rows, columns)), shape=(len(texts), len(numbers)))
    counts.sum_duplicates()
    documents = np.bincount(counts.indices, minlength=len(numbers))
    counts.data *= np.log((1 + len(texts)) / documents)[counts.indices]
    lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
    counts.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(counts.indptr))
    return counts


def find_pairs(table: Table) -> list[IdPair]:
    """Find the pairs of a table by the rule."""
    rows = [row for side in table.sides for row in side]
    border = len(table.sides[0]) if len(table.sides) > 1 else len(rows)
    trigrams = weigh_trigrams([get_name(row) for row in rows])
    others = trigrams.T.tocsr()
    pairs, cosines = [], []
    for start, end in pairwise([*range(0, border, AT_ONCE), border]):
        part = (trigrams[start:end] @ others).tocoo()
        found = np.stack([part.row + start, part.col], axis=1)
        near = part.data >= LEAST
        near &= found[:, 1] >= border if border < len(rows) else found[:, 1] > found[:, 0]
        pairs.append(found[near])
        cosines.append(part.data[near])
    near_pairs = np.concatenate(pairs).astype(np.uint32)
    if border < len(rows):
        near_pairs = near_pairs[mutual_best(near_pairs, np.concatenate(cosines))]
    ids = [next(row[name] for name in row if name.lower() == "id") for row in rows]
    return [(ids[first], ids[second]) for first, second in near_pairs.tolist()]
