"""Passages of texts: how long they are at least, where they stand, and those of a few texts."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.by_seed import Rows, collect_seeds, match_texts
from neardup_solr.candidates.passage_columns import Cut, Numbers, PassageColumns
from neardup_solr.kernel.growth import round_to_words
from neardup_solr.measures import Flat
from neardup_solr.measures.folded import Folded, fold_texts
from neardup_solr.records import AnyId, Passage
from neardup_solr.regex import regex
from neardup_solr.settings import MIN_WORDS
from neardup_solr.text.letters import depends

# In fewer texts, shorter passages are seldom formulas: 8 words were shared by chance by 5 pairs of
# 500 articles and by 27 of 2,964, and 12 words by 4 of these (benchmarks/passages.md).
FEWEST_WORDS, FEW, BY_WORD = 8, 52_000, 1.57  # words; those of all texts; pairs, by each word more
LEAST_SHARE = 0.6  # of the letters that so many words have on average: of a passage, at least
# Quotation marks before and behind a passage, and no apostrophes.
_MARKS = r"[\"'\u00ab\u00bb\u2039\u203a\u2018-\u201f\u3008-\u300b\u300c-\u300f]"
_OPENS, _CLOSES = regex(rf"(?<!\w){_MARKS}"), regex(rf"{_MARKS}(?!\w)")
BESIDE = 3  # characters beside a passage that are looked at


def choose_min_words(words: int) -> int:
    """Choose how many words a passage has at least in texts of so many: 8 to 20.

    So many that about a pair of documents shares a passage by chance.
    """
    by_size = log(max(words, 1) / FEW) / log(BY_WORD)
    return min(max(FEWEST_WORDS, FEWEST_WORDS + round(by_size)), MIN_WORDS)


def list_passages(
    ids: Sequence[AnyId], texts: Sequence[str], *, min_words: int = MIN_WORDS,
    has_texts: bool = False,
) -> list[Passage]:  # fmt: skip
    """List the passages that the first of some texts shares with each of the others, in order."""
    folded = fold_texts(texts)
    letters, sizes = Flat(folded.letters, folded.bounds), np.diff(folded.bounds)
    least = least_letters(sizes, folded.words, min_words)
    # One text is compared, so that a seed makes few pairs however many texts have it.
    parts = match_texts(
        letters, collect_seeds(letters, 1), least, 1, second_side=1, cap=len(letters.values)
    )
    rows = np.concatenate([np.empty((0, 8), dtype=np.int64), *parts])
    rows = round_passages(letters, rows, min_words)
    places = rows[:, :2].T.ravel()
    spans = spans_of(rows)
    cut = Cut.of_sides(*cut_passages(folded, texts, places, *spans, has_texts=has_texts))
    columns = PassageColumns.of(ids, rows[:, :2], rows, sizes, cut)
    return columns.list(range(len(columns)))


def least_letters(sizes: Numbers, words: Numbers, min_words: int) -> NDArray[np.float64]:
    """Compute the letters that a passage of each text has at least, by its letters and words."""
    return LEAST_SHARE * min_words * sizes / np.maximum(words, 1)


def round_passages(letters: Flat, rows: Rows, min_words: int) -> Rows:
    """Shorten passages to whole words, and keep those of so many."""
    round_to_words(letters.values, letters.bounds, rows)
    return rows[rows[:, 7] >= min_words]


def spans_of(rows: Rows) -> tuple[Numbers, Numbers]:
    """Return the first letters and those behind the last: of all first sides, then the second."""
    return rows[:, [2, 4]].T.ravel(), rows[:, [3, 5]].T.ravel()


def cut_passages(
    folded: Folded,
    texts: Sequence[str],
    places: Numbers,
    firsts: Numbers,
    lasts: Numbers,
    *,
    has_texts: bool,
) -> tuple[Numbers, Numbers, NDArray[np.bool_], list[str]]:
    """Cut passages out of the texts at these `places`: characters, quotation marks, and texts.

    The passages of a text are together. There are no texts unless a result `has_texts`.
    """
    begins = folded.bounds[places]
    starts = folded.places[begins + firsts].astype(np.int64)
    ends = folded.places[begins + lasts - 1].astype(np.int64) + 1
    quoted, cut = np.zeros(len(places), dtype=np.bool_), [""] * len(places) * has_texts
    text, at = "", -1
    for passage, place in enumerate(places.tolist()):
        if place != at:
            at, text = place, texts[place]
        start, end = int(starts[passage]), int(ends[passage])
        while end < len(text) and depends(text[end]):
            end += 1
        ends[passage] = end
        is_open = _OPENS.search(text, max(start - BESIDE, 0), start + 1)
        is_closed = is_open and _CLOSES.search(text, end - 1, end + BESIDE)
        quoted[passage] = is_closed is not None
        if has_texts:
            cut[passage] = text[start:end]
    return starts, ends, quoted, cut
