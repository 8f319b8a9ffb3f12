"""The lists of a page as JSON inside it: compact rows, harmless whatever the texts contain.

A document is named by its row, in the natural order of ids. Texts, kept columns and pairs come in
parts, so that a page need not read all of them to show some. The words of a text are separated by
a space; a space inside a word as it is shown becomes U+00A0, a word that was joined to that
before begins with U+2009, the first of a line with a line feed. Words themselves contain no
spaces of any kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Frequencies
from neardup_solr.measures.aligned import stand_ins
from neardup_solr.records import AnyId, Cluster, Duplicate, Member, key_of, largest, natural
from neardup_solr.text import diff
from neardup_solr.text.diff import Words

MOST_ROWS = 12 << 20  # bytes of clusters and ids, which a page reads when it opens
MOST_PAIRS = 20_000
MOST_TEXTS = 24 << 20  # characters
MOST_KEPT = 1_000  # characters of a kept value
FIRST_MEMBERS, FIRST_PAIRS = 100, 10  # of a cluster, before other clusters are left out for them
TURN = 10  # documents of each cluster whose texts come before further ones of another
PART = 1 << 18  # characters that a page reads at once
_OF_CLUSTER, _OF_MEMBER = 50, 24  # bytes of a row, about, without the ids
_DIGITS = 4  # of a similarity
_INNER, _JOINED, _BREAK = "\u00a0", "\u2009", "\n"
# What could end the script element or a line in it, and what UTF-8 cannot encode.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A cluster as a page lists it: `members` and `pairs` are some of all, if it has many.

    `key` is that of the document that the cluster is named by.
    `low` and `high` are the similarities of the least and of the most similar of all its pairs.
    """

    cluster: Cluster
    key: AnyId
    members: Sequence[Member]
    pairs: Sequence[Duplicate]
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Packed:
    """The words of a text, with a space between: as a page has them, and their normal forms."""

    shown: str
    forms: str


def list_clusters(clusters: Sequence[Cluster], pairs: Sequence[Duplicate]) -> Iterator[Listed]:
    """List all clusters, the largest first, with some of their members and pairs if it has many.

    Clusters are left out only beyond MOST_ROWS bytes; their ids and figures are read when the page
    opens. Pairs of no cluster are not listed.
    """
    in_order = largest(clusters)
    sizes = np.array([len(cluster.members) for cluster in in_order], dtype=np.int64)
    ids = [cluster.id for cluster in in_order]
    each = _OF_MEMBER + _OF_CLUSTER // 2 + sum(len(str(id)) for id in ids) // max(len(ids), 1)
    members = shares(sizes, MOST_ROWS // each, least=FIRST_MEMBERS)
    listed = in_order[: int(np.count_nonzero(members))]
    has_sides = any(pair.sides[1] for pair in pairs)
    keys = [_key(cluster) if has_sides else cluster.id for cluster in listed]
    of_cluster: dict[AnyId, list[Duplicate]] = {key: [] for key in keys}
    # Clusters of the second side alone may have the names of others.
    apart = {key_of(member.id, 1): key for cluster, key in zip(listed, keys, strict=True)
             if key != cluster.id for member in cluster.members}  # fmt: skip
    for pair in pairs:
        key: AnyId = pair.cluster
        if apart:
            key = apart.get(key_of(pair.id, pair.sides[0]), key)
        if pair.cluster != "" and key in of_cluster:
            of_cluster[key].append(pair)
    counts = np.array(list(map(len, of_cluster.values())), dtype=np.int64)
    most = shares(counts, MOST_PAIRS, least=FIRST_PAIRS)
    for cluster, key, *at_most in zip(listed, keys, members.tolist(), most.tolist(), strict=False):
        yield _list_cluster(cluster, key, of_cluster[key], *at_most)


def documents(listed: Iterable[Listed]) -> Iterator[AnyId]:
    """Yield the keys of the listed documents, those first whose texts are needed first.

    Ten documents of each cluster, the largest cluster first, then ten more of each; in a
    cluster first the canonical document and those of the listed pairs.
    """
    left: Iterable[list[AnyId]] = (list(_keys_of(each)) for each in listed)
    while left:
        longer = []
        for keys in left:
            yield from keys[:TURN]
            if keys[TURN:]:
                longer.append(keys[TURN:])
        left = longer


def shares(sizes: NDArray[np.int64], room: int, *, least: int) -> NDArray[np.int64]:
    """Share `room` among items: all get as much, but none more than it has.

    If that were less than `least` for each, the first ones get those, and the others nothing.
    """
    low, high = least, max(int(sizes.max(initial=0)), least)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(sizes, middle).sum() <= room else (low, middle - 1)
    counts = np.minimum(sizes, low)
    counts[np.cumsum(counts) > room] = 0
    return counts


def choose_pairs(pairs: Sequence[Duplicate], bridges: Iterable[str], most: int) -> list[Duplicate]:
    """Choose up to `most` pairs to look at, the least similar first.

    Of more, a third are the least similar, a third the least similar of documents
    that are bridges, and the others examples from the least to the most similar.
    """
    rising = sorted(pairs, key=lambda pair: pair.similarity)
    if len(rising) <= most:
        return rising
    third = -(-most // 3)
    is_bridge = set(bridges)
    least, rest = rising[:third], rising[third:]
    at_bridges = [place for place, pair in enumerate(rest)
                  if pair.id in is_bridge or pair.other_id in is_bridge][:most // 3]  # fmt: skip
    others = sorted(set(range(len(rest))).difference(at_bridges))
    wanted = most - third - len(at_bridges)
    last, steps = len(others) - 1, max(wanted - 1, 1)
    examples = [others[step * last // steps] for step in range(wanted)]
    return least + [rest[place] for place in sorted([*at_bridges, *examples])]


def facts(about: Mapping[str, object]) -> Iterator[str]:
    """Embed the facts in the head of the page."""
    yield from _block("facts", [dict(about)])


def rows(
    listed: Sequence[Listed],
    texts: Mapping[AnyId, str],
    kept: Mapping[AnyId, Mapping[str, Any]],
    frequencies: Frequencies | None,
) -> Iterator[str]:
    """Embed the documents, clusters and pairs as blocks of JSON, a line for each.

    Pairs come with their diffs, and with `frequencies` also with the words that stand for each
    other, without those that the diff has beside each other, and with the answers of people.
    """
    keys = sorted(set(chain.from_iterable(map(_keys_of, listed))), key=_place)
    row_of = {key: row for row, key in enumerate(keys)}
    words = {key: _pack_words(diff.split(text)) for key, text in texts.items()}

    def describe(pair: Duplicate) -> list[object]:
        ends = _ends(pair)
        first, second = map(words.get, ends)
        figures = [round(pair.similarity, _DIGITS), pair.distance, pair.shared]
        facts = [*map(row_of.__getitem__, ends), *figures]
        answer = [[], pair.answer] if pair.answer else []
        if first is None or second is None:
            return [*facts, None, *answer]
        forms = first.forms.split(), second.forms.split()
        stand = [] if frequencies is None else [_standing(*forms, frequencies)]
        return [*facts, steps(*forms), *stand, *answer[len(stand) :]]

    yield from _block("ids", (_name_of(key, row_of) for key in keys))
    yield from _block("clusters", (_cluster(each, row_of) for each in listed))
    yield from _parts("texts", (words[key].shown if key in words else None for key in keys))
    if kept:
        yield from _parts("kept", (_format_values(kept.get(key, {})) for key in keys))
    yield from _parts("pairs", (list(map(describe, each.pairs)) for each in listed))


def within(keys: Iterable[AnyId], texts: Mapping[AnyId, str]) -> Iterator[tuple[AnyId, str]]:
    """Yield the keys and texts of a page in this order, as far as they have room."""
    room = MOST_TEXTS
    for key in keys:
        if key in texts and len(text := texts[key]) <= room:
            room -= len(text)
            yield key, text


def encoded(value: object) -> str:
    r"""Encode a value as JSON that is safe in a script element: `<` becomes \u003c, and so on."""
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


def steps(first: Sequence[str], second: Sequence[str]) -> list[int]:
    """Count the words of a diff in groups of three: those equal, removed and added."""
    numbers = [0, 0, 0]
    for change in diff.changes(first, second):
        removed = change.first.stop - change.first.start
        added = change.second.stop - change.second.start
        if change.kind != "equal":
            numbers[-2:] = [numbers[-2] + removed, numbers[-1] + added]
        elif numbers[-2:] == [0, 0]:
            numbers[-3] += removed
        else:
            numbers += [removed, 0, 0]
    return numbers


def _standing(
    first: Sequence[str], second: Sequence[str], frequencies: Frequencies
) -> list[list[int]]:
    """List the places of words that stand for each other, and are not equal in the diff."""
    equal = {
        pair
        for change in diff.changes(first, second)
        if change.kind == "equal"
        for pair in zip(
            range(change.first.start, change.first.stop),
            range(change.second.start, change.second.stop),
            strict=True,
        )
    }
    return [each for each in stand_ins(first, second, frequencies) if (*each,) not in equal]


def _keys_of(each: Listed) -> dict[AnyId, None]:
    """List the keys of a listed cluster, once each, those first that are shown first."""
    members = [key_of(member.id, member.side) for member in each.members]
    ends = chain.from_iterable(map(_ends, each.pairs))
    return dict.fromkeys((members[0], *ends, *members, each.key))


def _ends(pair: Duplicate) -> tuple[AnyId, AnyId]:
    """Return the keys of the two documents of a pair."""
    return key_of(pair.id, pair.sides[0]), key_of(pair.other_id, pair.sides[1])


def _key(cluster: Cluster) -> AnyId:
    """Return the key of the document that names a cluster: of the first side, if it has any."""
    return key_of(cluster.id, min(member.side for member in cluster.members))


def _place(key: AnyId) -> tuple[object, ...]:
    """Return the sort key of a document: its id, the first side before the other."""
    return (*natural(key[1]), 1) if isinstance(key, tuple) else (*natural(key), 0)


def _name_of(key: AnyId, row_of: Mapping[AnyId, int]) -> str:
    """Name a document by its id, with the side if the first has it too."""
    if not isinstance(key, tuple):
        return str(key)
    return f"{key[1]} (other side)" if key[1] in row_of else str(key[1])


def _list_cluster(
    cluster: Cluster, key: AnyId, pairs: Sequence[Duplicate], most_members: int, most_pairs: int
) -> Listed:
    similarities = [pair.similarity for pair in pairs]
    return Listed(
        cluster=cluster,
        key=key,
        members=cluster.members[:most_members],
        pairs=choose_pairs(pairs, cluster.bridges, most_pairs),
        low=min(similarities, default=0.0),
        high=max(similarities, default=0.0),
    )


def _pack_words(words: Words) -> _Packed:
    shown = [word.replace(" ", _INNER) for word in words.shown]
    for places, mark in ((words.joined, _JOINED), (words.begun - {0}, _BREAK)):
        for place in places:
            shown[place] = mark + shown[place]
    return _Packed(shown=" ".join(shown), forms=" ".join(words.forms))


def _format_values(kept: Mapping[str, Any]) -> list[str | None]:
    """Spell the values of kept columns as texts."""
    return [None if value is None else str(value)[:MOST_KEPT] for value in kept.values()]


def _cluster(each: Listed, row_of: Mapping[AnyId, int]) -> list[object]:
    cluster, members = each.cluster, each.members
    rows = [row_of[key_of(member.id, member.side)] for member in members]
    bridges = set(cluster.bridges)
    return [
        row_of[each.key],
        rows[0],
        len(cluster.members),
        cluster.pairs,
        cluster.diameter,
        len(cluster.bridges),
        round(each.low, _DIGITS),
        round(each.high, _DIGITS),
        [row for row, member in zip(rows, members, strict=True) if member.id in bridges],
        rows,
        [round(member.similarity, _DIGITS) for member in members],
        [member.distance for member in members],
    ]


def _block(name: str, values: Iterable[object]) -> Iterator[str]:
    yield from _script(f'id="{name}"', map(encoded, values))


def _parts(name: str, values: Iterable[object]) -> Iterator[str]:
    """Embed the values in blocks of about PART characters, each with its first row."""
    lines: list[str] = []
    first, size = 0, 0
    for value in values:
        if size > PART:
            yield from _part(name, first, lines)
            lines, first, size = [], first + len(lines), 0
        lines.append(encoded(value))
        size += len(lines[-1])
    yield from _part(name, first, lines)


def _part(name: str, first: int, lines: Iterable[str]) -> Iterator[str]:
    yield from _script(f'data-of="{name}" id="{name}-{first}" data-from="{first}"', lines)


def _script(attributes: str, lines: Iterable[str]) -> Iterator[str]:
    yield f'<script type="application/json" {attributes}>[\n'
    separator = ""
    for line in lines:
        yield f"{separator}{line}"
        separator = ",\n"
    yield "\n]</script>\n"
