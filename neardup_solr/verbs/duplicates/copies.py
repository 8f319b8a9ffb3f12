"""Exact copies: documents whose texts are equal, or whose signatures are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates import ONE_SIDE, SPREAD, Copies, Joining, Sides
from neardup_solr.measures.equality import Equality
from neardup_solr.minhash import sign
from neardup_solr.records import as_text
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.parts import AT_ONCE
from neardup_solr.verbs.duplicates.plan import RunPlan

if TYPE_CHECKING:
    from neardup_solr.measures.columns import FieldColumn


def find_copies(
    plan: RunPlan, corpus: Corpus, columns: Sequence[FieldColumn] = ()
) -> Copies | None:
    """Find the documents whose normal forms are equal, and their values in `columns`, too.

    None if the normal forms of all are not needed before documents are compared.
    """
    if not (corpus.measure.needs_frequencies or plan.request.by == "words"):
        return None
    forms = corpus.forms()
    keys = sign.hash_texts(forms)
    for column in columns:
        keys = keys * SPREAD ^ column.numbers.astype(np.uint64)
    rows = np.array([row for row, form in enumerate(forms) if not form], dtype=np.int64)
    keys[rows] += SPREAD * (rows + 1).astype(np.uint64)  # what is gone is no copy
    return _group_copies(plan, corpus, keys, np.arange(len(keys)), columns)


def number_equal(
    equality: Equality, corpus: Corpus, rows: NDArray[Any], columns: Sequence[FieldColumn]
) -> NDArray[np.int64]:
    """Number the texts of `rows`, by row: equal if they have in common what has to be equal."""
    keys, numbers = dict[object, int](), np.zeros(len(corpus), dtype=np.int64)
    for at in range(0, len(rows), AT_ONCE):
        part = rows[at : at + AT_ONCE].tolist()
        for row, text in zip(part, read_whole(corpus, part, columns), strict=True):
            numbers[row] = keys.setdefault(equality.key(text), len(keys))
    return numbers


def read_whole(corpus: Corpus, rows: Sequence[int], columns: Sequence[FieldColumn]) -> list[str]:
    """Read the texts of rows, of records with the values that equal ones of a field share."""
    if all(column.kind == "text" for column in columns):
        return [text or "" for text in corpus.texts(rows)]
    texts = corpus.values(rows, [column.name for column in columns if column.kind == "text"])
    parts = [[as_text(value) for value in values] for values in texts.values()]
    parts += [
        [column.values[number] if number >= 0 else "" for number in column.numbers[rows].tolist()]
        for column in columns
        if column.kind != "text"
    ]
    return list(map("\n".join, zip(*parts, strict=True)))


def find_signed_copies(
    plan: RunPlan, corpus: Corpus, joining: Joining, alike: NDArray[np.uint64] | None = None
) -> Copies:
    """Find the documents whose signatures are equal, and of many such the normal forms.

    `alike` has the hashes of the bands of each, if these are known.
    """
    from neardup_solr.candidates.by_band import hash_signatures

    keys = hash_signatures(
        corpus.signatures,
        joining,
        first=0 if alike is None else corpus.settings.bands * corpus.settings.rows,
        last=corpus.signatures.shape[1],
        before=alike,
    )
    rows = np.empty(0, dtype=np.int64)
    if corpus.measure.needs_texts:
        _, numbers, counts = np.unique(keys, return_inverse=True, return_counts=True)
        rows = np.flatnonzero(counts[numbers] > joining.cap)
    for at in range(0, len(rows), AT_ONCE):
        part = rows[at : at + AT_ONCE]
        texts = [text or "" for text in corpus.texts(part.tolist())]
        keys[part] = keys[part] * SPREAD ^ sign.hash_texts(corpus.normalize(texts))
    return _group_copies(plan, corpus, keys, rows, ())


def _group_copies(
    plan: RunPlan, corpus: Corpus, keys: NDArray[np.uint64], rows: NDArray[Any],
    columns: Sequence[FieldColumn],
) -> Copies:  # fmt: skip
    """Make sets of the documents of equal keys, of the same group and side.

    Those of `rows` also have in common what has to be equal.
    """
    if plan.equal:
        numbers = number_equal(plan.equal, corpus, rows, columns)
        keys = keys * SPREAD ^ numbers.astype(np.uint64)
    if len(corpus.groups):
        keys ^= corpus.groups * SPREAD
    is_star = bool(plan.answers)  # a chain would break at two that are different
    return Copies(keys, number_sides(corpus), is_star=is_star)


def number_sides(corpus: Corpus) -> Sides:
    """Number the side of each document, if only those of different sides are compared."""
    if not corpus.is_across:
        return ONE_SIDE
    return (np.arange(len(corpus)) >= corpus.bounds[1]).astype(np.uint8)
