"""Passages cut out of their texts: characters, words, and whether they stand in quotation marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.distinct import sort_distinct
from neardup_solr.measures.folded import fold_texts
from neardup_solr.regex import regex
from neardup_solr.text.letters import depends
from neardup_solr.text.packed import Packed, pack
from neardup_solr.verbs.duplicates.parts import split_fitting

# Quotation marks before and behind a passage, and no apostrophes.
_MARKS = r"[\"'\u00ab\u00bb\u2039\u203a\u2018-\u201f\u3008-\u300b\u300c-\u300f]"
_OPENS, _CLOSES = regex(rf"(?<!\w){_MARKS}"), regex(rf"{_MARKS}(?!\w)")
BESIDE = 3  # characters beside a passage that are looked at
Numbers = NDArray[np.int64]
Texts = Callable[[Sequence[int]], Sequence[str | None]]


class Cut(NamedTuple):
    """Passages in both of their texts: arrays of shape (passages, 2).

    `starts` and `ends` are characters, the end behind the last; `quoted` is True in quotation
    marks. `texts` are the passages themselves if they were asked for.
    """

    starts: Numbers
    ends: Numbers
    quoted: NDArray[np.bool_]
    texts: list[tuple[str, str]]


def cut_texts(rows: Numbers, read: Texts, *, has_texts: bool) -> Cut:
    """Cut passages out of the texts that `read` gives by ascending rows.

    The columns of `rows` are both texts, the first letters and those behind the last of either.
    """
    owners = rows[:, :2].T.ravel()  # the first side of all passages, then the second
    firsts, lasts = rows[:, [2, 4]].T.ravel(), rows[:, [3, 5]].T.ravel()
    starts, ends = np.empty_like(firsts), np.empty_like(lasts)
    quoted, texts = np.zeros(len(owners), dtype=np.bool_), [""] * len(owners) * has_texts
    for packed, places, some in _read(owners, read):
        folded = fold_texts(packed)
        begins = folded.bounds[places]
        starts[some] = folded.places[begins + firsts[some]]
        ends[some] = folded.places[begins + lasts[some] - 1] + 1
        text, at = "", -1
        for passage, place in zip(some.tolist(), places.tolist(), strict=True):
            if place != at:
                at, text = place, packed[place]
            start, end = int(starts[passage]), int(ends[passage])
            while end < len(text) and depends(text[end]):
                end += 1
            ends[passage] = end
            is_open = _OPENS.search(text, max(start - BESIDE, 0), start + 1)
            is_closed = is_open and _CLOSES.search(text, end - 1, end + BESIDE)
            quoted[passage] = is_closed is not None
            if has_texts:
                texts[passage] = text[start:end]
    pairs = list(zip(texts[: len(rows)], texts[len(rows) :], strict=True))
    sides = (2, len(rows))
    return Cut(starts.reshape(sides).T, ends.reshape(sides).T, quoted.reshape(sides).T, pairs)


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
