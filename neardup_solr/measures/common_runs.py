"""Runs of words that most texts share, such as a notice at their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mmh3
import numpy as np
from numpy.typing import NDArray

from neardup_solr.distinct import mark_among
from neardup_solr.measures.text_hashes import hash_runs

RUN, SHORT, FEWEST_TEXTS = 3, 60, 5  # words that are common together, of texts of so many or more


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """Runs of `size` words that the part `share` of all texts or more have, by their hashes.

    `texts` counts those that differ.
    """

    size: int
    share: float
    texts: int
    hashes: NDArray[np.uint64]

    def __str__(self) -> str:
        """Describe the runs, or why there are none."""
        runs = "words" if self.size == 1 else f"runs of {self.size} words"
        if len(self.hashes):
            share = f"{100 * self.share:.3g} %"
            return f"{runs} that at least {share} of the texts share: {len(self.hashes)}"
        if self.texts < FEWEST_TEXTS:
            return f"it needs {FEWEST_TEXTS} different texts, not {self.texts}"
        if self.share > 1:
            return f"all {runs} are in all texts"
        return f"no {runs} are shared by at least {100 * self.share:.3g} % of the texts"

    def strip(self, forms: Sequence[str]) -> list[str]:
        """Take the runs out of normal forms.

        A form of which nothing is left becomes a word, which equals only its exact copies.
        """
        hashed, bounds = hash_runs(forms, self.size)
        are_common = mark_among(hashed, self.hashes)
        stripped = []
        for form, first, last in zip(forms, bounds.tolist(), bounds[1:].tolist(), strict=False):
            words = np.array(form.split())
            is_taken = np.zeros(len(words), dtype=np.bool_)
            for at in np.flatnonzero(are_common[first:last]).tolist():
                is_taken[at : at + self.size] = True
            rest = " ".join(words[~is_taken].tolist())
            stripped.append(rest or (form and f"0{mmh3.hash64(form, signed=False)[0]:x}"))
        return stripped


def find_common(forms: Sequence[str], share: float | None = None) -> Common:
    """Find the runs of words that most texts have, or the part `share` of them, copies left out.

    Of how many texts have each run, the logarithms are parted in two where the variance between the
    parts is greatest (Otsu 1979), each run counted as often as it comes. Single words are looked at
    if the texts are short.
    """
    forms = list(dict.fromkeys(filter(None, forms)))
    size = RUN if np.median([form.count(" ") + 1 for form in forms] or [0]) >= SHORT else 1
    hashed, bounds = hash_runs(forms, size)
    owners = np.repeat(np.arange(len(forms)), np.diff(bounds))
    order = np.argsort(hashed, kind="stable")  # so the owners of a run stay in their order
    hashed, owners = hashed[order], owners[order]
    is_run = np.diff(hashed, prepend=hashed[:1] ^ np.uint64(1)) != 0
    is_owner = is_run | (np.diff(owners, prepend=-1) != 0)
    starts = np.flatnonzero(is_run)
    runs, counts = hashed[starts], np.add.reduceat(is_owner, starts, dtype=np.int64)
    least = max(_part(counts) if share is None else share * len(forms), FEWEST_TEXTS)
    return Common(
        size=size, share=least / max(len(forms), 1), texts=len(forms), hashes=runs[counts >= least]
    )


def _part(counts: NDArray[np.int64]) -> float:
    """Part counts, each counted as often as it says, by their logarithms."""
    values, times = np.unique(counts, return_counts=True)
    if len(values) < 2:
        return float(values.max(initial=0)) + 1
    weights, logs = values * times, np.log(values)
    below = np.cumsum(weights)[:-1]
    sums, above = np.cumsum(weights * logs)[:-1], weights.sum() - below
    means, others = sums / below, ((weights * logs).sum() - sums) / above
    at = int(np.argmax(below * above * (means - others) ** 2))
    return float(np.sqrt(values[at] * values[at + 1]))
