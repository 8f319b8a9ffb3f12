"""Templates: texts that share a phrase and differ from each other in the same places of it.

Alerts of many hosts, invoices and form letters are near-duplicates by any measure, and no copies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import mmh3
import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from neardup_solr.errors import counted
from neardup_solr.measures.words import hash_runs
from neardup_solr.records import AnyId

WORDS = 1_000  # at either end of a text that are looked at
FEWEST = 3  # texts; two always differ in the same places
# A place is shared if at most this part of the pairs of texts differ in it, and a slot from the
# other part on, and more for few texts, of which a single edit parts many pairs.
SHARED, SLOT, OF_FEW = 0.2, 0.5, 1.5
IN_SLOTS, IN_PHRASE = 2 / 3, 0.25  # of all differences, and of the words, at least
# Worth a question: a template of so many texts, or of fewer that are much of all, or a cluster of
# another kind that is; or so many small templates, if they are most of the clusters.
MANY, SEVERAL, LARGE, MUCH, MOST = 8, 5, 20, 0.25, 0.5
RUN, SHORT, FEWEST_TEXTS = 3, 60, 5  # words that are common together, of texts of so many or more
_DIGIT = re.compile(r"\d")
PHRASE, VALUE, VALUES, SLOTS = 80, 30, 3, 2  # characters and numbers of what is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A cluster of documents that may be no copies, and what they share.

    `cluster` is its id; it has `documents`, which are the part `share` of all, and at least `texts`
    different ones; `differing` is the part of its pairs that are not equal. `phrase` is what all
    share, in normal form, with … where they differ; `values` are examples of what stands in its
    place, for each of some slots. `is_regular` if they differ in the same places, so that it is a
    template; others are only large.
    """

    cluster: AnyId
    documents: int
    share: float
    texts: int
    differing: float
    phrase: str
    values: tuple[tuple[str, ...], ...]
    is_regular: bool

    @property
    def has_numbers(self) -> bool:
        """True if the documents differ in numbers in any of the places."""
        return any(all(map(_DIGIT.search, some)) for some in self.values)

    def __str__(self) -> str:
        share = f" ({100 * self.share:.0f} % of all)" if self.share >= 0.01 else ""
        s = "s" if self.documents == 1 else ""
        phrase = f"share{s} “{self.phrase}”" if self.phrase else "are linked, but no copies"
        values = " and in ".join(", ".join(some) for some in self.values)
        differ = f", and differ{s} in {values}" if values and self.is_regular else ""
        return f"{counted(self.documents, 'document')}{share} {phrase}{differ}"


def find_template(
    cluster: AnyId, documents: int, share: float, forms: Sequence[str]
) -> Template | None:
    """Find what a cluster's documents share, by the normal forms of some, the canonical first.

    The words of each are aligned with those of the first (Levenshtein). Copies that were edited
    differ now here, now there, so that in each place most pairs agree. Documents of a template
    differ where all others do. None for fewer than three different texts.
    """
    if len(set(forms)) < FEWEST:
        return None
    texts = [[*words[:WORDS], *words[WORDS:][-WORDS:]] for words in map(str.split, forms)]
    rows = [_align(texts[0], other) for other in texts]
    differing = [_differing(column) for column in zip(*rows, strict=True)]
    least = SLOT + OF_FEW / len(forms)
    in_slots = sum(part for part in differing if part >= least)
    in_phrase = sum(part <= SHARED for part in differing[:-1])
    runs = [(first, len(list(run))) for first, run in groupby(part <= SHARED for part in differing)]
    phrase: list[str] = []
    slots: list[dict[str, None]] = []
    at = 0
    for is_shared, size in runs:
        part = slice(at, at + size)
        at += size
        phrase.append(" ".join(texts[0][part]) if is_shared else "…")
        if max(differing[part]) >= least:
            values = (" ".join(filter(None, (" ".join(w) for w in row[part]))) for row in rows)
            slots.append(dict.fromkeys(_cut(value, VALUE) for value in values if value))
    return Template(
        cluster=cluster,
        documents=documents,
        share=share,
        texts=len(set(forms)),
        differing=_differing(forms),
        phrase=_cut(" ".join(phrase), PHRASE) if in_phrase else "",
        values=tuple(tuple(values)[:VALUES] for values in slots[:SLOTS]),
        is_regular=in_slots >= IN_SLOTS * sum(differing) > 0
        and in_phrase >= IN_PHRASE * len(texts[0]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """Runs of `size` words that the part `share` of all texts or more have, by their hashes."""

    size: int
    share: float
    hashes: NDArray[np.uint64]

    def strip(self, forms: Sequence[str]) -> list[str]:
        """Take the runs out of normal forms.

        A form of which nothing is left becomes a word, which equals only its exact copies.
        """
        hashed, bounds = hash_runs(forms, self.size)
        are_common = np.isin(hashed, self.hashes)
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
    once = np.unique(np.stack([hashed, owners.astype(np.uint64)], axis=1), axis=0)
    runs, counts = np.unique(once[:, 0], return_counts=True)
    least = max(_part(counts) if share is None else share * len(forms), FEWEST_TEXTS)
    return Common(size=size, share=least / max(len(forms), 1), hashes=runs[counts >= least])


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


def choose_doubtful(clusters: Iterable[Template]) -> tuple[Template, ...]:
    """Choose the clusters to ask about before documents are removed, the largest first."""
    templates = list(clusters)
    small = [each for each in templates if each.is_regular and each.texts < SEVERAL]
    are_most = len(small) >= max(SEVERAL, MOST * len(templates))

    def is_doubtful(template: Template) -> bool:
        is_much = template.share >= MUCH
        if template.documents >= LARGE and is_much and template.differing >= SLOT:
            return True
        is_frequent = template.texts >= (SEVERAL if is_much else MANY)
        return template.is_regular and (is_frequent or are_most)

    return tuple(filter(is_doubtful, templates))


def _align(first: Sequence[str], other: Sequence[str]) -> list[tuple[str, ...]]:
    """List what another text has in the place of each word of the first, and at its end."""
    places = [[word] for word in [*first, ""]]
    for edit in Levenshtein.editops(first, other):
        word = "" if edit.tag == "delete" else other[edit.dest_pos]
        if edit.tag == "insert":
            places[edit.src_pos].insert(-1, word)
        else:
            places[edit.src_pos][-1] = word
    return list(map(tuple, places))


def _differing(values: Sequence[object]) -> float:
    """Compute the part of all pairs that are not equal, 0 without pairs."""
    pairs = len(values) * (len(values) - 1)
    return 1 - sum(n * (n - 1) for n in Counter(values).values()) / pairs if pairs else 0.0


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
