"""The guard before removals: it finds what would be removed although it may be no copy.

It looks at what would be removed, whatever is kept: documents that are far from the one that is
kept for them, clusters whose documents have little in common but the one that links them, and
templates, whose texts differ in the same places. Before any of these are removed, marked or
rejected, somebody is asked.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, compress, groupby, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein, Postfix, Prefix

from neardup_solr.clusters import components
from neardup_solr.errors import counted
from neardup_solr.measures import floor
from neardup_solr.records import AnyId, Cluster, Member, key_of

SHARE = 0.01  # of what is removed, if it may be no copies, to ask
LETTERS, ALIKE = 2_000, 70  # at the beginning of a text; percent of them that texts share in order
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
RELATED = 0.5  # of the words of clusters of one template
SWAPPED = 0.1  # of the small clusters, which differ in the same words, or between the same
# Of the small clusters, in which a text has the same words more than another, and such words.
ADDED, ADDED_MOST = 0.05, 4
ALTERNATIVES = 0.2  # of pairs of these, that differ in the same words: of copies, now so, now so
CUTS, COVERED = 4, 2 / 3  # ways to part a cluster into kinds, and the texts that they explain
# Pairs that differ in numbers alone, and their share of the others, to ask: of texts, and of
# records, as dates and codes of these have slips
NUMERIC, NUMERIC_OF_RECORDS = (1, 0.25), (3, 0.5)
SYMBOLIC = 0.05  # pairs that differ in symbols alone, as a share of all, to ask
OTHERS = 2  # pairs that `equal` would separate for each that it is meant for, at most
# Documents are unrelated below this part of the threshold; that part of the pairs of a cluster.
UNRELATED, LINKED = 0.5, 0.5
ENDS = 8  # documents of a cluster that are compared with each other
# Records that are equal in what was compared, not in the rest, and their share, to ask.
EQUAL = ((8, 0.2), (3, 0.5))
FEWEST_RARE, RARE = 3, 3  # such in a column in which records seldom differ, and times by chance
LOOK = "no option that was tried separates them: look at them in a page such as report.html"
LINKS = ("http", "https", "www")  # words before the name of a host
_DIGIT = re.compile(r"\d")
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
    def has_numbers(self) -> bool:
        """True if the documents differ in numbers in any of the places."""
        return any(all(map(_DIGIT.search, some)) for some in self.values)

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


Family: TypeAlias = tuple[AnyId, int, Sequence[str]]  # a cluster, its documents, and some texts


def find_families(clusters: Sequence[Family], documents: int) -> list[Template]:
    """Find small clusters of a template that has several, by their texts, the canonical first.

    Two texts of a cluster may differ in any words. But if they differ between the same words as
    those of other clusters do, which have much else in common, all are of a template. So they are
    if one has a value in the place of another, such as "men" and "women", as those of others do.
    """
    differences = [_find_differences([form.split()[:WORDS] for form in forms])
                   for _, _, forms in clusters]  # fmt: skip
    sites = [each.sites for each in differences]
    swapped = [_describe_swapped(clusters[at], differences[at], documents)
               for at in _find_swapped(differences)]  # fmt: skip
    places: dict[tuple[str, ...], list[int]] = {}
    for at, between in enumerate(sites):
        for context in {context for contexts in between for context in contexts}:
            places.setdefault(context, []).append(at)
    recurring = {context: set(where) for context, where in places.items() if len(where) > 1}
    links = set[tuple[int, int]]()
    for where in recurring.values():
        links.update(pairwise(sorted(where)))
    near = [
        link for link in links
        if Levenshtein.normalized_similarity(*(clusters[at][2][0].split()[:WORDS] for at in link))
        >= RELATED
    ]  # fmt: skip
    labels = components(len(clusters), np.array(near, dtype=np.uint32).reshape(-1, 2))
    templates = []
    for label in np.unique(labels[[at for link in near for at in link]]).tolist():
        family = np.flatnonzero(labels == label).tolist()
        between = [contexts for at in family for contexts in sites[at]]
        again = [any(len(recurring.get(each, set()) & {*family}) > 1 for each in contexts)
                 for contexts in between]  # fmt: skip
        if len(again) < SEVERAL or sum(again) < IN_SLOTS * len(again):
            continue
        forms = [form for at in family for form in clusters[at][2]]
        template = Alignment([form.split()[:WORDS] for form in forms]).describe("", 0, 0, forms)
        templates += [
            replace(template, cluster=name, documents=size, share=size / documents, is_regular=True)
            for name, size, _ in map(clusters.__getitem__, family)
        ]
    names = {each.cluster for each in templates}
    return templates + [each for each in swapped if each.cluster not in names]


Swap: TypeAlias = tuple[str, ...]  # two runs of words, of which texts have the one or the other


class _Differences(NamedTuple):
    """Where texts of a cluster differ, by the words around, and in which words.

    `sites` are those of the first text and the others. `swaps` has the words in which each two
    texts differ, with the word on either side. Numbers, words that are alike by their letters,
    short forms, and hosts of links are no sign of a template. Texts `are_swapped` if each two have
    such words for others, but none more or less; they `are_short` if they have few words besides.
    `shared` are words of all texts, `additions` those that a text has more than another, unless
    they are few of its words. They `are_slips` if all words in which texts differ are alike by
    their letters.
    """

    sites: list[set[tuple[str, ...]]]
    swaps: list[dict[Swap, tuple[str, str]]]
    shared: set[str]
    additions: set[str]
    are_slips: bool
    are_swapped: bool
    are_short: bool


def _find_differences(texts: Sequence[Sequence[str]]) -> _Differences:
    """Find where others have other words than the first text, and in which words all differ."""
    sites, swaps = list[set[tuple[str, ...]]](), list[dict[Swap, tuple[str, str]]]()
    additions = set[str]()
    are_swapped = are_single = are_slips = True
    short = 0
    for at, (first, other) in enumerate(combinations(texts, 2)):
        swap = dict[Swap, tuple[str, str]]()
        for (start, stop), (place, end) in _find_gaps(first, other):
            words, others = " ".join(first[start:stop]), " ".join(other[place:end])
            are_swapped &= bool(words and others)
            are_single &= stop - start == end - place == 1
            is_slip = fuzz.ratio(words, others) >= ALIKE
            are_slips &= is_slip
            if is_slip or _DIGIT.search(words) or _DIGIT.search(others):
                continue
            if not (words and others):
                longer = (first, start, stop) if words else (other, place, end)
                if added := _find_addition(*longer):
                    additions.add(added)
                continue
            is_link = start > 0 and first[start - 1] in LINKS
            if _is_short(words, others) or is_link:
                continue
            before, after = first[max(start - 2, 0) : start], first[stop : stop + 2]
            swap[_swap(words, others)] = " ".join(before[-1:]), " ".join(after[:1])
            if at < len(texts) - 1 and len(before) > 1 and len(after) > 1:
                sites.append({("<", *before), (">", *after), ("<>", before[-1], after[0])})
        short += len(swap) > SLIGHT_AT_ENDS * len(first)
        swaps.append(swap)
    are_short = are_single and are_many(short, len(swaps), MOST)
    shared = set(texts[0]).intersection(*texts[1:])
    are_swapped &= any(swaps)
    return _Differences(sites, swaps, shared, additions, are_slips, are_swapped, are_short)


def _find_addition(text: Sequence[str], start: int, stop: int) -> str:
    """Find the words that a text has more than another from word to word, "" if they are few."""
    is_within = start > 0 and stop < len(text)
    if stop - start <= (SLIGHT if is_within else SLIGHT_AT_ENDS) * len(text):
        return ""
    # In scripts without blanks the first word overlaps with the one before.
    overlaps = start > 0 and stop - start > 1 and text[start][0] == text[start - 1][-1]
    start += overlaps and not text[start].isascii()
    words = " ".join(text[start:stop])
    return words if any(map(str.isalpha, words)) else ""


def _find_gaps(
    first: Sequence[str], other: Sequence[str]
) -> Iterable[tuple[tuple[int, int], tuple[int, int]]]:
    """Find the words of two texts, from where to where, between those that they share."""
    codes = Levenshtein.opcodes(first, other)
    for is_shared, run in groupby(codes, key=lambda code: code.tag == "equal"):
        if not is_shared:
            parts = [*run]
            yield (parts[0].src_start, parts[-1].src_end), (parts[0].dest_start, parts[-1].dest_end)


def are_many(count: int, of_all: int, share: float, fewest: int = 1) -> bool:
    """Tell whether so many are `fewest` and a share of the others."""
    return count >= fewest + share * max(of_all - fewest, 0)


def _find_swapped(differences: Sequence[_Differences]) -> list[int]:
    """Find the clusters whose texts have one value of several in the same place, as others do.

    Copies are edited now so, now so, even if some words are often replaced. So each two texts of a
    cluster differ in the same words as those of several others, which are most of what differs in
    these; or between the same words as those of several others, and in few alternatives; or most
    clusters have short texts with one word for another; or most have a longer text.
    """
    least = max(SEVERAL, SWAPPED * sum(len(each.swaps) for each in differences))
    short = [at for at, each in enumerate(differences) if each.are_short]
    pairs = sum(len(differences[at].swaps) for at in short)  # of texts: one is too little to tell
    is_usual = pairs > 1 and are_many(len(short), len(differences), MOST)
    chosen = {*short} if is_usual else set[int]()
    swapped = {at: [*filter(None, each.swaps)]
               for at, each in enumerate(differences) if each.are_swapped}  # fmt: skip
    anywhere = Counter(swap for each in differences for swap in {*chain(*each.swaps)})
    chosen.update(_find_longer(differences, anywhere))
    alone = Counter(swap for swaps in swapped.values() for swap in {*map(frozenset, swaps)})
    places = dict[tuple[str, str], dict[int, set[Swap]]]()
    for at, swaps in swapped.items():
        if all(
            alone[frozenset(swap)] >= max(least, IN_SLOTS * max(map(anywhere.__getitem__, swap)))
            for swap in swaps
        ):
            chosen.add(at)
        for swap, place in chain.from_iterable(each.items() for each in swaps):
            places.setdefault(place, {}).setdefault(at, set()).add(swap)
    for where in places.values():
        if len(where) >= least and 1 - compute_differing([*chain(*where.values())]) >= ALTERNATIVES:
            chosen.update(where)
    return sorted(chosen)


def _find_longer(differences: Sequence[_Differences], swaps: Counter[Swap]) -> list[int]:
    """Find the clusters of which a text has words more, such as "live", that few others share.

    They are most of those that do not differ in slips alone. Copies may lack a value, of which
    there are many, such as a trade. Whoever describes the same things in other words, as another
    catalogue does, has words for others as often: `swaps` counts these.
    """
    others = sum(not each.are_slips for each in differences)
    least = max(FEWEST, ADDED * others)
    added = Counter(words for each in differences for words in each.additions)
    repeated = {
        words for words, count in added.items()
        if count >= least
        and count > sum(each.shared.issuperset(words.split()) for each in differences)
    }  # fmt: skip
    longer = [
        at
        for at, each in enumerate(differences)
        if each.additions & repeated and all(swaps[swap] < least for swap in chain(*each.swaps))
    ]
    are_few = len(repeated) <= ADDED_MOST
    return longer if are_few and are_many(len(longer), others, MOST, SEVERAL) else []


def _describe_swapped(cluster: Family, differences: _Differences, documents: int) -> Template:
    """Describe a cluster, and the words in which its texts differ."""
    name, size, forms = cluster
    alignment = Alignment([form.split()[:WORDS] for form in forms])
    template = alignment.describe(name, size, size / documents, forms)
    added = [(words,) for words in sorted(differences.additions)]
    values = dict.fromkeys([*added, *chain.from_iterable(map(sorted, differences.swaps))])
    return replace(template, values=tuple(values)[:SLOTS], is_regular=True)


def _swap(words: str, others: str) -> Swap:
    """Make a pair of two runs of words, without the letters that both begin and end with.

    These belong to other words in scripts without blanks.
    """
    one, other = sorted((words, others))
    begin = Prefix.similarity(one, other)
    end = Postfix.similarity(one[begin:], other[begin:])
    return one[begin : len(one) - end], other[begin : len(other) - end]


def _is_short(one: str, other: str) -> bool:
    """Tell whether the shorter of two runs of words has letters of the longer one, in order."""
    short, long = sorted((one, other), key=len)
    letters = iter(long)
    return short[0] == long[0] and all(letter in letters for letter in short)


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
        differing = [self._differing(place) for place in range(len(first) + 1)]
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
        slots: list[dict[str, None]] = []
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
                rows = (self._words(row, part) for row in range(count))
                slots.append(dict.fromkeys(_cut(value, VALUE) for value in rows if value))
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
            values=tuple(tuple(values)[:VALUES] for values in slots[:SLOTS]),
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
            groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
            large = [group for group in groups if len(group) >= FEWEST]
            if large and len(groups) > 1:
                yield large

    def _differing(self, place: int) -> float:
        """Compute the part of all pairs that differ in a place."""
        edits = self._edits.get(place)
        if not edits:
            return 0.0
        counts = Counter(edits.values())
        count = len(self._texts)
        equal = sum(n * (n - 1) for n in (*counts.values(), count - len(edits)))
        return 1 - equal / (count * (count - 1))

    def _words(self, row: int, part: slice) -> str:
        """Join what a text has in some places."""
        first = self._texts[0]
        words = list[str]()
        for place in range(part.start, part.stop):
            own = (first[place],) if place < len(first) else ("",)
            words += self._edits.get(place, {}).get(row, own)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Far:
    """Removed documents that are below the threshold to the one that is kept for them.

    They are `count` of `removed`, and somebody is asked from the part `share` on; the farthest is
    `id`, of the `similarity` to `kept`.
    """

    count: int
    removed: int
    share: float
    id: AnyId
    kept: AnyId
    similarity: float

    @property
    def is_much(self) -> bool:
        """True if somebody is to be asked."""
        return self.count >= self.share * self.removed

    def __str__(self) -> str:
        are = "is" if self.count == 1 else "are"
        documents = counted(self.removed, "removed document")
        worst = f"such as {self.id} to {self.kept} ({self.similarity:.2f})"
        return f"{self.count:,} of {documents} {are} not near to the document that is kept, {worst}"


# A removed document, and the cluster in which it is.
Removal: TypeAlias = tuple[Member, Cluster]


def list_far(
    clusters: Iterable[Cluster],
    least: float,
    same: Collection[AnyId] = (),
    most: int | None = None,
) -> list[Removal]:
    """List the documents that are removed for one that is not near.

    They are less similar than `least`, or more than `most` words apart. Those that are the `same`
    by an answer do not count, by their keys.
    """
    bound = floor(least)
    return [
        (member, cluster)
        for cluster in clusters
        for member in cluster.members
        if not (member.similarity >= bound and (most is None or (member.distance or 0) <= most))
        and key_of(member.id, member.side) not in same
    ]


def describe_far(
    far: Sequence[Removal], clusters: Iterable[Cluster], share: float = SHARE, of_all: float = 1.0
) -> Far | None:
    """Describe documents that are far, which are the part `of_all` of those. None without any."""
    if not far:
        return None
    similarity, (member, cluster) = min(
        ((0.0 if math.isnan(each[0].similarity) else each[0].similarity, each) for each in far),
        key=lambda each: each[0],
    )
    return Far(
        count=round(len(far) / of_all),
        removed=sum(len(each.members) - 1 for each in clusters),
        share=share,
        id=member.id,
        kept=cluster.canonical,
        similarity=similarity,
    )


def are_alike(form: str, other: str) -> bool:
    """Tell whether two texts are alike by their letters, as those with many slips are."""
    return fuzz.ratio(form[:LETTERS], other[:LETTERS]) >= ALIKE


def are_unlike(forms: Sequence[str], least: float) -> bool:
    """Tell whether many pairs of some texts have little in common, for a threshold."""
    texts = [*dict.fromkeys(forms)][:ENDS]
    runs = [{*pairwise(form.split()[:WORDS])} for form in texts]
    pairs = [*combinations(range(len(texts)), 2)]
    unlike = sum(
        len(runs[one] & runs[other]) < UNRELATED * least * min(len(runs[one]), len(runs[other]))
        and not are_alike(texts[one], texts[other])
        for one, other in pairs
    )
    return unlike >= max(LINKED * len(pairs), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """Removed documents that have little in common but the one that links them, as a digest does.

    They are `count` of `removed`; `id` and `other_id` are two of them, of this `similarity`,
    and `kept` the keys of those that link them.
    """

    count: int
    removed: int
    id: AnyId
    other_id: AnyId
    similarity: float
    kept: tuple[AnyId, ...] = ()

    @property
    def is_much(self) -> bool:
        """True if somebody is to be asked."""
        return self.count >= SHARE * self.removed

    def __str__(self) -> str:
        are = "is" if self.count == 1 else "are"
        documents = counted(self.removed, "removed document")
        pair = f"{self.id} and {self.other_id}, similarity {self.similarity:.2f}"
        return f"{self.count:,} of {documents} {are} linked only by another, such as {pair}"


def _align(first: Sequence[str], other: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Find what another text has in places of the first, and at its end, where it differs."""
    edits: dict[int, list[str]] = {}
    for edit in Levenshtein.editops(first, other):
        place = edit.src_pos
        own = first[place] if place < len(first) else ""
        words = edits.setdefault(place, [own])
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
