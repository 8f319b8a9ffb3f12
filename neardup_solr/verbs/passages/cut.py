"""Passages cut out of the texts of a corpus, some texts at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from neardup_solr.candidates.passage_columns import Cut, Numbers
from neardup_solr.candidates.passages import cut_passages, spans_of
from neardup_solr.distinct import sort_distinct
from neardup_solr.measures.folded import fold_texts
from neardup_solr.text.packed import Packed, pack
from neardup_solr.verbs.duplicates.parts import split_fitting

Texts = Callable[[Sequence[int]], Sequence[str | None]]


def cut_texts(rows: Numbers, read: Texts, *, has_texts: bool) -> Cut:
    """Cut passages out of the texts that `read` gives by ascending rows.

    The columns of `rows` are both texts, the first letters and those behind the last of either.
    """
    owners = rows[:, :2].T.ravel()  # the first side of all passages, then the second
    firsts, lasts = spans_of(rows)
    starts, ends = np.empty_like(firsts), np.empty_like(lasts)
    quoted, texts = np.zeros(len(owners), dtype=np.bool_), [""] * len(owners) * has_texts
    for packed, places, some in _read(owners, read):
        starts[some], ends[some], quoted[some], cut = cut_passages(
            fold_texts(packed), packed, places, firsts[some], lasts[some], has_texts=has_texts
        )
        for passage, text in zip(some.tolist(), cut, strict=False):
            texts[passage] = text
    return Cut.of_sides(starts, ends, quoted, texts)


def _read(owners: Numbers, read: Texts) -> Iterator[tuple[Packed, Numbers, Numbers]]:
    """Yield texts in parts, each with the passages that it has, and their places among the texts.

    The passages of a text are together.
    """
    order, needed = np.argsort(owners, kind="stable"), sort_distinct(owners)
    ends = np.concatenate([[0], np.searchsorted(owners[order], needed, side="right")])
    done = [0, 0]  # texts and bytes
    for part in split_fitting(len(needed), lambda: (done[0], done[1])):
        packed = pack([text or "" for text in read(needed[part].tolist())])
        some = order[ends[part.start] : ends[part.stop]]
        yield packed, np.searchsorted(needed[part], owners[some]), some
        done[:] = part.stop, done[1] + packed.size
