"""Clusters of a template, whose texts differ in the same places.

Copies that were edited differ now here, now there; documents of a template differ where all others
do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress, groupby, pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from neardup_solr.clusters.components import components
from neardup_solr.distinct import sort_distinct
from neardup_solr.errors import counted
from neardup_solr.records import AnyId

WORDS = 1_000  # at either end of a text that are looked at
FEWEST = 3  # texts; two always differ in the same places
# A place is shared if at most this part of the pairs of texts differ in it, and a slot from the
# other part on, and more for fewer texts, of which a single edit parts many pairs, up to the third.
SHARED, SLOT, OF_FEW, MOST_OF_FEW = 0.2, 0.5, 1.5, 0.6
# Of all differences, in slots, at least, of few texts, and of many; of the words, in the phrase.
IN_SLOTS, IN_SLOTS_OF_MANY = 0.6, 0.45
IN_PHRASE, IN_PHRASE_OF_MANY = 0.5, 0.25
# Worth a question: a template of so many texts, or of fewer that are much of all, or a cluster of
# another kind that is, and whose texts are that far from each other; or so many small templates,
# if they are most of the clusters.
MANY, SEVERAL, LARGE, MUCH, MOST, LOOSE = 8, 5, 20, 0.25, 0.5, 0.25
# Of the words that two texts differ in, up to which a few of them are no template: anywhere, and at
# the beginning or the end alone.
SLIGHT, SLIGHT_AT_ENDS = 0.04, 0.1
SHORT = 12  # words of a text, up to which few texts differ in the same places by chance
CUTS, COVERED = 4, 2 / 3  # ways to part a cluster into kinds, and the texts that they explain
PHRASE, VALUE, VALUES, SLOTS = 80, 30, 3, 2  # characters and numbers of what is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A cluster of documents that may not be copies, and the text that they share.

    `cluster` is its id; it has `documents`, which are the part `share` of all, and at least `texts`
    different ones; `differing` is the part of its pairs that are not equal. `phrase` is what all
    share, in normal form, with … where they differ; `values` are examples of what stands in its
    place, for each of some slots; `inner` slots are between shared words, and no chance, or
    all are at the ends.
    `is_regular` if they differ in the same places, so that it is a template, or several `kinds` of
    templates, of which the phrase is that of the largest; others are only large.
    """

    cluster: AnyId
    documents: int
    share: float
    texts: int
    differing: float
    phrase: str
    values: tuple[tuple[str, ...], ...]
    is_regular: bool
    inner: int = 0
    is_at_ends: bool = False
    kinds: int = 1
    distance: float = 0.0

    @property
    def is_sure(self) -> bool:
        """True if copies do not differ like this by chance, even in one cluster of many."""
        has_slots = self.inner >= (1 if self.texts >= SEVERAL else 2)
        return self.is_regular and (has_slots or self.texts >= MANY)

    @property
    def is_slight(self) -> bool:
        """True if texts differ in so little that a few of them may be copies."""
        return self.distance <= (SLIGHT_AT_ENDS if self.is_at_ends else SLIGHT)

    def __str__(self) -> str:
        share = f" ({100 * self.share:.0f} % of all)" if self.share >= 0.01 else ""
        s = "s" if self.documents == 1 else ""
        phrase = f"share{s} “{self.phrase}”" if self.phrase else "are linked, but are not copies"
        if self.kinds > 1 and self.phrase:
            phrase = f"of {self.kinds} kinds, such as “{self.phrase}”"
        values = " and in ".join(", ".join(some) for some in self.values)
        differ = f", and differ{s} in {values}" if values and self.is_regular else ""
        return f"{counted(self.documents, 'document')}{share} {phrase}{differ}"


def find_template(
    cluster: AnyId, documents: int, share: float, forms: Sequence[str]
) -> Template | None:
    """Find what a cluster's documents share, by the normal forms of some, the canonical first.

    Copies that were edited differ now here, now there, so that in each place most pairs agree.
    Documents of a template differ where all others do. A cluster may have several kinds of
    templates. None for fewer than three different texts.
    """
    if len(set(forms)) < FEWEST:
        return None
    texts = [[*words[:WORDS], *words[WORDS:][-WORDS:]] for words in map(str.split, forms)]
    whole = Alignment(texts)
    template = whole.describe(cluster, documents, share, forms)
    if template.is_regular or template.texts < SEVERAL:
        return template
    for groups in whole.part():
        parts = [
            Alignment([texts[at] for at in group]).describe(
                cluster, documents, share, [forms[at] for at in group]
            )
            for group in groups
        ]
        kinds = [
            part
            for part in parts
            if part.is_sure or (part.is_regular and part.inner and part.texts > FEWEST)
        ]
        if sum(kind.texts for kind in kinds) >= max(SEVERAL, COVERED * template.texts):
            first = max(kinds, key=lambda kind: kind.texts)
            return replace(
                first, texts=template.texts, differing=template.differing,
                distance=template.distance, kinds=len(kinds),
                inner=max(kind.inner for kind in kinds),
            )  # fmt: skip
    return template


class Alignment:
    """Texts, as words, aligned with the first of them (Levenshtein).

    There is a place for each word of the first, and one at its end.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._texts = texts
        # By place, what stands there in each text that differs from the first.
        self._edits: dict[int, dict[int, tuple[str, ...]]] = {}
        for row, other in enumerate(texts[1:], start=1):
            for place, words in _align(texts[0], other).items():
                self._edits.setdefault(place, {})[row] = words

    def describe(
        self, cluster: AnyId, documents: int, share: float, forms: Sequence[str]
    ) -> Template:
        """Describe what the texts share, and whether they differ in the same places."""
        first, count = self._texts[0], len(forms)
        texts = len(set(forms))
        differing = [0.0] * (len(first) + 1)
        for place in self._edits:
            differing[place] = self._differing(place)
        least = min(SLOT + OF_FEW / count, MOST_OF_FEW)
        are_slots = [
            part >= least and len({*self._edits[place].values()}) + 1 >= FEWEST
            for place, part in enumerate(differing)
        ]
        in_slots = sum(compress(differing, are_slots))
        in_phrase = sum(part <= SHARED for part in differing[:-1])
        runs = [(is_shared, len(list(run)))
                for is_shared, run in groupby(part <= SHARED for part in differing)]  # fmt: skip
        phrase: list[str] = []
        values: list[tuple[str, ...]] = []
        at = inner = weak = between = 0
        for is_shared, size in runs:
            part = slice(at, at + size)
            at += size
            phrase.append(" ".join(first[part]) if is_shared else "…")
            if any(are_slots[part]):
                is_between = part.start > 0 and at < len(first)
                between += is_between
                if is_between and len(first) >= SHORT:
                    weak += 1
                    inner += max(differing[part]) >= SLOT + OF_FEW / count
                if len(values) < SLOTS:
                    values.append(self._list_values(part))
        are_many = texts >= MANY
        enough = IN_SLOTS_OF_MANY if are_many else IN_SLOTS
        shared = IN_PHRASE_OF_MANY if are_many else IN_PHRASE
        return Template(
            cluster=cluster,
            documents=documents,
            share=share,
            texts=texts,
            differing=compute_differing(forms),
            phrase=_cut(" ".join(phrase), PHRASE) if in_phrase else "",
            values=tuple(values),
            is_regular=texts >= FEWEST
            and in_slots >= enough * sum(differing) > 0
            and in_phrase >= shared * len(first),
            inner=weak if inner else max(weak - 1, 0),
            is_at_ends=not between,
            distance=sum(differing) / max(len(first), 1),
        )

    def part(self) -> Iterable[list[list[int]]]:
        """Part the texts into kinds, in some ways: where the distance between them is wide."""
        places = list(self._edits)
        codes = np.zeros((len(self._texts), len(places)), dtype=np.int64)
        for column, place in enumerate(places):
            numbers: dict[tuple[str, ...], int] = {}
            for row, words in self._edits[place].items():
                codes[row, column] = numbers.setdefault(words, len(numbers) + 1)
        distances = (codes[:, None, :] != codes[None, :, :]).sum(axis=2)
        first, second = np.triu_indices(len(codes), 1)
        pairs = np.stack([first, second], axis=1).astype(np.uint32)
        steps = distances[first, second]
        for most in _find_cuts(distances):
            labels = components(len(codes), pairs[steps <= most])
            groups = [np.flatnonzero(labels == label).tolist() for label in sort_distinct(labels)]
            large = [group for group in groups if len(group) >= FEWEST]
            if large and len(groups) > 1:
                yield large

    def _differing(self, place: int) -> float:
        """Compute the part of all pairs that differ in a place where any does."""
        edits, count = self._edits[place], len(self._texts)
        alone = count - len(edits)
        if len(edits) == 1:  # most often
            return 1 - alone * (alone - 1) / (count * (count - 1))
        counts = Counter(edits.values())
        equal = sum(n * (n - 1) for n in (*counts.values(), alone))
        return 1 - equal / (count * (count - 1))

    def _list_values(self, part: slice) -> tuple[str, ...]:
        """List the first different values that the texts have in some places."""
        values: dict[str, None] = {}
        for row in range(len(self._texts)):
            if value := self._words(row, part):
                values[_cut(value, VALUE)] = None
                if len(values) == VALUES:
                    break
        return tuple(values)

    def _words(self, row: int, part: slice) -> str:
        """Join what a text has in some places."""
        first = self._texts[0]
        words = list[str]()
        for place in range(part.start, part.stop):
            usual = (first[place],) if place < len(first) else ("",)
            words += self._edits.get(place, {}).get(row, usual)
        return " ".join(filter(None, words))


def _find_cuts(distances: NDArray[np.int64]) -> list[int]:
    """Find some distances above which texts are of different kinds: before the widest gaps."""
    count = len(distances)
    nearest, steps = distances[0].copy(), []
    is_left = np.ones(count, dtype=np.bool_)
    is_left[0] = False
    for _ in range(count - 1):  # a minimum spanning tree (Prim 1957)
        rest = np.flatnonzero(is_left)
        chosen = rest[np.argmin(nearest[rest])]
        steps.append(int(nearest[chosen]))
        is_left[chosen] = False
        nearest = np.minimum(nearest, distances[chosen])
    values = sorted(set(steps))
    gaps = [(after / max(value, 1), value) for value, after in pairwise(values)]
    return [value for _, value in sorted(gaps, reverse=True)[:CUTS]]


def choose_doubtful(templates: Iterable[Template]) -> tuple[Template, ...]:
    """Choose the clusters to ask about before documents are removed, the largest first."""
    templates = list(templates)
    small = [
        each
        for each in templates
        if each.is_regular and each.texts < SEVERAL and not each.is_slight
    ]
    are_most = len(small) >= max(SEVERAL, MOST * len(templates))

    def is_doubtful(template: Template) -> bool:
        is_much = template.share >= MUCH
        is_loose = template.differing >= SLOT and template.distance >= LOOSE
        if template.documents >= LARGE and is_much and is_loose:
            return True
        is_frequent = template.texts >= (SEVERAL if is_much else MANY)
        is_small = template.texts < SEVERAL and template.is_slight
        return template.is_regular and (is_frequent or (are_most and not is_small))

    return tuple(filter(is_doubtful, templates))


def _align(first: Sequence[str], other: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Find what another text has in places of the first, and at its end, where it differs."""
    edits: dict[int, list[str]] = {}
    for edit in Levenshtein.editops(first, other):
        place = edit.src_pos
        replaced = first[place] if place < len(first) else ""
        words = edits.setdefault(place, [replaced])
        word = "" if edit.tag == "delete" else other[edit.dest_pos]
        if edit.tag == "insert":
            words.insert(-1, word)
        else:
            words[-1] = word
    return {place: tuple(words) for place, words in edits.items()}


def compute_differing(values: Sequence[object]) -> float:
    """Compute the part of all pairs that are not equal, 0 without pairs."""
    pairs = len(values) * (len(values) - 1)
    return 1 - sum(n * (n - 1) for n in Counter(values).values()) / pairs if pairs else 0.0


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
