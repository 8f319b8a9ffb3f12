"""Small clusters of a template that has several, or of values that are swapped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, combinations, groupby, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein, Postfix, Prefix

from neardup_solr.clusters.components import components
from neardup_solr.distinct import sort_distinct
from neardup_solr.guard import ALIKE, are_many
from neardup_solr.guard.negations import differ_in_negations
from neardup_solr.guard.template import (
    FEWEST,
    IN_SLOTS,
    MOST,
    SEVERAL,
    SLIGHT,
    SLIGHT_AT_ENDS,
    SLOTS,
    WORDS,
    Alignment,
    Template,
    compute_differing,
)
from neardup_solr.records import AnyId
from neardup_solr.regex import regex

RELATED = 0.5  # of the words of clusters of one template
SWAPPED = 0.1  # of the small clusters, which differ in the same words, or between the same
# Of the small clusters, in which a text has the same words more than another, and such words.
ADDED, ADDED_MOST = 0.05, 4
ALTERNATIVES = 0.2  # of pairs of these, that differ in the same words: of copies, now so, now so
_DIGIT = regex(r"\d")
NEGATED = 0.25, 1  # of the small clusters, that differ in negations alone, and such, to ask
AT_ENDS = 3  # words at either end of a text
PREFIX = 2  # letters before a word that make another one of it
LINKS = ("http", "https", "www")  # words before the name of a host
LINK = 8  # words of an address
Family: TypeAlias = tuple[AnyId, int, Sequence[str]]  # a cluster, its documents, and some texts
Swap: TypeAlias = tuple[str, ...]  # two runs of words, of which texts have the one or the other


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
    for label in sort_distinct(labels[[at for link in near for at in link]]).tolist():
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


class _Differences(NamedTuple):
    """Differences between texts of a cluster, by the words around them.

    `sites` are those of the first text and the others. `swaps` has the words in which each two
    texts differ, with the word on either side, and `written` these words as a whole. Numbers, words
    that are alike by their letters, short forms, and hosts of links are no sign of a template.
    Texts `are_swapped` if each two have such words for others, but none more or less; they
    `are_short` if they have few words besides. `shared` are words of all texts, `additions` those
    that a text has more than another, unless they are few of its words. They `are_slips` if all
    words in which texts differ are alike by their letters, `are_inner` if such words are not near
    the beginning or end of a text, where it may say when and where it was posted, and `negated` are
    words of two texts that differ in negations alone.
    """

    sites: list[set[tuple[str, ...]]]
    swaps: list[dict[Swap, tuple[str, str]]]
    written: dict[Swap, Swap]
    shared: set[str]
    additions: set[str]
    are_slips: bool
    are_swapped: bool
    are_short: bool
    are_inner: bool
    negated: Swap


def _find_differences(texts: Sequence[Sequence[str]]) -> _Differences:
    """Find where others have other words than the first text, and in which words all differ."""
    sites, swaps = list[set[tuple[str, ...]]](), list[dict[Swap, tuple[str, str]]]()
    written = dict[Swap, Swap]()
    additions = set[str]()
    are_swapped = are_single = are_slips = are_inner = True
    negated: Swap = ()
    short = 0
    for at, (first, other) in enumerate(combinations(texts, 2)):
        swap = dict[Swap, tuple[str, str]]()
        gaps = [*_find_gaps(first, other)]
        runs = [(first[start:stop], other[place:end], " ".join(first[stop : stop + 1]))
                for (start, stop), (place, end) in gaps]  # fmt: skip
        if not negated and differ_in_negations(runs):
            negated = tuple(filter(None, map(" ".join, runs[0][:2])))
        for (start, stop), (place, end) in gaps:
            words, others = " ".join(first[start:stop]), " ".join(other[place:end])
            are_swapped &= bool(words and others)
            are_single &= stop - start == end - place == 1
            is_slip = _is_slip(words, others)
            are_slips &= is_slip
            if is_slip:
                continue
            if not (words and others):
                longer = (first, start, stop) if words else (other, place, end)
                if added := _find_addition(*longer):
                    additions.add(added)
                continue
            if _DIGIT.search(words) or _DIGIT.search(others):
                continue
            is_link = start > 0 and first[start - 1] in LINKS
            if _is_short(words, others) or is_link:
                continue
            before, after = first[max(start - 2, 0) : start], first[stop : stop + 2]
            pair = _swap(words, others)
            are_inner &= min(start, len(first) - stop) >= AT_ENDS
            swap[pair] = " ".join(before[-1:]), " ".join(after[:1])
            written.setdefault(pair, tuple(sorted((words, others))))
            if at < len(texts) - 1 and len(before) > 1 and len(after) > 1:
                sites.append({("<", *before), (">", *after), ("<>", before[-1], after[0])})
        short += len(swap) > SLIGHT_AT_ENDS * len(first)
        swaps.append(swap)
    are_short = are_single and are_many(short, len(swaps), MOST)
    shared = set(texts[0]).intersection(*texts[1:])
    are_swapped &= any(swaps)
    return _Differences(
        sites,
        swaps,
        written,
        shared,
        additions,
        are_slips,
        are_swapped,
        are_short,
        are_inner,
        negated,
    )


def _find_addition(text: Sequence[str], start: int, stop: int) -> str:
    """Find the words that a text has more than another from word to word, "" if they are few."""
    is_within = start > 0 and stop < len(text)
    if stop - start <= (SLIGHT if is_within else SLIGHT_AT_ENDS) * len(text):
        return ""
    if not {*LINKS}.isdisjoint(text[max(start - LINK, 0) : stop]):
        return ""  # of an address, such as what tells where it was clicked
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
    negated = [at for at, each in enumerate(differences) if each.negated]
    if are_many(len(negated), len(differences), *NEGATED):
        chosen.update(negated)
    chosen.update(_find_valued(differences))
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


def _find_valued(differences: Sequence[_Differences]) -> list[int]:
    """Find the clusters whose texts have values for each other, of which any two may meet.

    Such as months: others meet others in other clusters, while a word and its synonym are the same
    two again and again. They are most of the clusters that do not differ in slips alone. A word
    that stands in more texts of which nobody has replaced it is no value.
    """
    values = {
        at: {each.written[pair] for pair in chain.from_iterable(each.swaps)}
        for at, each in enumerate(differences)
        if each.are_swapped and each.are_inner and all(each.swaps)
    }
    counts = Counter[str]()
    partners = dict[str, set[str]]()
    for pairs in values.values():
        counts.update({*chain.from_iterable(pairs)})
        for pair in pairs:
            for words in pair:
                partners.setdefault(words, set()).update(pair)
    free = {
        words for words, met in partners.items()
        if len(met) > 2  # itself is one
        and counts[words] > sum(each.shared.issuperset(words.split()) for each in differences)
    }  # fmt: skip
    valued = [at for at, pairs in values.items() if free.issuperset(chain.from_iterable(pairs))]
    others = sum(not each.are_slips for each in differences)
    return valued if are_many(len(valued), others, MOST, SEVERAL) else []


def _describe_swapped(cluster: Family, differences: _Differences, documents: int) -> Template:
    """Describe a cluster, and the words in which its texts differ."""
    name, size, forms = cluster
    alignment = Alignment([form.split()[:WORDS] for form in forms])
    template = alignment.describe(name, size, size / documents, forms)
    added = [(words,) for words in sorted(differences.additions)]
    negated = [differences.negated] if differences.negated else []
    swaps = chain.from_iterable(map(sorted, differences.swaps))
    values = dict.fromkeys([*negated, *added, *map(differences.written.__getitem__, swaps)])
    return replace(template, values=tuple(values)[:SLOTS], is_regular=True)


def _swap(words: str, others: str) -> Swap:
    """Make a pair of two runs of words, without the letters that both begin and end with.

    These belong to other words in scripts without blanks.
    """
    first, other = sorted((words, others))
    begin = Prefix.similarity(first, other)
    end = Postfix.similarity(first[begin:], other[begin:])
    return first[begin : len(first) - end], other[begin : len(other) - end]


def _is_slip(words: str, others: str) -> bool:
    """Tell whether two runs of words are alike by their letters.

    Legal is not alike to illegal, nor male to female: slips add no letters before a word.
    """
    short, long = sorted((words, others), key=len)
    is_prefixed = " " not in long and len(long) - len(short) >= PREFIX and long.endswith(short)
    return not (short and is_prefixed) and fuzz.ratio(words, others) >= ALIKE


def _is_short(words: str, others: str) -> bool:
    """Tell whether the shorter of two runs of words has letters of the longer one, in order."""
    short, long = sorted((words, others), key=len)
    letters = iter(long)
    return short[0] == long[0] and all(letter in letters for letter in short)
