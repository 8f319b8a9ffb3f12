"""The lists of a page as JSON inside it: compact rows, harmless whatever the texts contain.

A document is named by its row, in the natural order of ids. The words of a text are separated by
a space; a space inside a word as it is shown becomes U+00A0, a word that was joined to that
before begins with U+2009, the first of a line with a line feed. Words themselves contain no
spaces of any kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup_solr.records import AnyId, Cluster, Duplicate, Member, key_of, largest, natural
from neardup_solr.regex import regex
from neardup_solr.reports.html.passage_spans import Span, list_spans
from neardup_solr.reports.pair import PairTable, Record, Row
from neardup_solr.sizes import SIZES
from neardup_solr.text import diff
from neardup_solr.text.diff import Change, Words

if TYPE_CHECKING:
    from neardup_solr.measures.weights import Evidence

MOST_KEPT = 1_000  # characters of a kept value
FIRST_MEMBERS, FIRST_PAIRS = 100, 10  # of a cluster, before other clusters are left out for them
TURN = 10  # documents of each cluster whose texts come before further ones of another
_OF_CLUSTER, _OF_MEMBER = 50, 24  # bytes of a row, about, without the ids
_DIGITS = 4  # of a similarity
_INNER, _JOINED, _BREAK = "\u00a0", "\u2009", "\n"
# What could end the script element or a line in it, and what UTF-8 cannot encode.
_UNSAFE = regex("[<>&\u2028\u2029\ud800-\udfff]")


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


def list_clusters(clusters: Sequence[Cluster], pairs: Sequence[Duplicate]) -> Iterator[Listed]:
    """List all clusters, the largest first, with some of their members and pairs if it has many.

    Clusters are left out beyond a size of the page; their ids and figures are read when the page
    opens. Pairs of no cluster are not listed.
    """
    in_order = largest(clusters)
    sizes = np.array([len(cluster.members) for cluster in in_order], dtype=np.int64)
    ids = [cluster.id for cluster in in_order]
    each = _OF_MEMBER + _OF_CLUSTER // 2 + sum(len(str(id)) for id in ids) // max(len(ids), 1)
    members = shares(sizes, SIZES.page_rows // each, least=FIRST_MEMBERS)
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
    most = shares(counts, SIZES.page_pairs, least=FIRST_PAIRS)
    for cluster, key, *at_most in zip(listed, keys, members.tolist(), most.tolist(), strict=False):
        yield _list_cluster(cluster, key, of_cluster[key], *at_most)


def documents(listed: Iterable[Listed]) -> Iterator[AnyId]:
    """Yield the keys of the listed documents, those first whose texts are needed first.

    Ten documents of each cluster, the largest cluster first, then ten more of each; in a
    cluster first the canonical document and those of the listed pairs.
    """
    waiting = []
    for each in listed:
        keys = [*_keys_of(each)]
        yield from keys[:TURN]
        waiting.append(keys[TURN:])
    while waiting := [keys for keys in waiting if keys]:
        for keys in waiting:
            yield from keys[:TURN]
            del keys[:TURN]


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
    records: Mapping[AnyId, Record],
    table: PairTable,
    evidence: Mapping[tuple[AnyId, AnyId], Sequence[Evidence]],
) -> Iterator[str]:
    """Embed the documents, clusters and pairs as blocks of JSON, a line for each.

    Pairs come with the diffs of their texts and of each field of their records, the words that the
    measure takes for the same, with the answers of people and the relation of the documents.
    """
    keys = sorted(set(chain.from_iterable(map(_keys_of, listed))), key=_place)
    row_of = {key: row for row, key in enumerate(keys)}
    names = list_fields(records)
    words = {key: diff.split(text) for key, text in texts.items()}

    def describe_pair(pair: Duplicate) -> list[object]:
        ends = ends_of(pair)
        facts = [*map(row_of.__getitem__, ends), round(pair.similarity, _DIGITS)]
        more: list[object] = [None, [], pair.answer or "", [], pair.relation or "", []]
        if all(end in words for end in ends):
            first, second = map(words.__getitem__, ends)
            if spans := [] if table.kinds else list_spans(first, second):
                more[5] = describe_spans(spans)
            else:
                row = table.compare("", first, second)
                more[:2] = steps(row.changes), [*row.same]
        if all(end in records for end in ends):
            both = [records[end] for end in ends]
            fields = table.list_rows(both, evidence.get(ends, ()), pair.similarity)
            more[3] = [describe(each, names[each.field] if each.values else "") for each in fields]
        return [*facts, pair.distance, pair.shared, *_cut(more)]

    yield from _block("ids", (_name_of(key, row_of) for key in keys))
    yield from _block("clusters", (_cluster(each, row_of) for each in listed))
    yield from _block("texts", (pack(words[key]) if key in words else None for key in keys))
    if names:
        yield from _block("kept", (_pack_record(records.get(key), names) for key in keys))
    yield from _block("pairs", (list(map(describe_pair, each.pairs)) for each in listed))


def list_fields(records: Mapping[AnyId, Record]) -> dict[str, int]:
    """Number the fields of some records."""
    names = dict.fromkeys(chain.from_iterable(records.values()))
    return {name: at for at, name in enumerate(names)}


def take_contents(
    keys: Iterable[AnyId], texts: Mapping[AnyId, str], record_of: Callable[[AnyId], Record]
) -> tuple[dict[AnyId, str], dict[AnyId, Record]]:
    """Take the texts and records of a page in this order, as far as they have room.

    A text whose lines are all in its record is left out.
    """
    room = SIZES.page_text
    kept: tuple[dict[AnyId, str], dict[AnyId, Record]] = {}, {}
    for key in keys:
        record, text = record_of(key), texts.get(key)
        if text is not None and record and {*text.split("\n")} <= {*record.values()}:
            text = None
        size = len(text or "") + sum(map(len, record.values()))
        if size <= room:
            room -= size
            if text is not None:
                kept[0][key] = text
            if record:
                kept[1][key] = record
    return kept


def encoded(value: object) -> str:
    r"""Encode a value as JSON that is safe in a script element: `<` becomes \u003c, and so on."""
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


def describe(row: Row, name: str | int = "") -> list[object]:
    """Describe a row by its name or number, with a diff unless its values are the same."""
    differs = any(change.kind not in ("equal", "same") for change in row.changes)
    bits = None if row.bits is None else round(row.bits, 1)
    words = steps(row.changes) if differs else []
    return _cut([row.field if name == "" else name, words, [*row.same], row.level, bits])


def describe_spans(spans: Sequence[Span]) -> list[list[object]]:
    """Describe passages: the first word and the number of words in either text, and a diff."""
    return [[*span, steps(changes)] for *span, changes in spans]


def steps(changes: Iterable[Change]) -> list[int]:
    """Count the words of a diff in groups of three: those equal, removed and added."""
    numbers = [0, 0, 0]
    for change in changes:
        removed = change.first.stop - change.first.start
        added = change.second.stop - change.second.start
        if change.kind != "equal":
            numbers[-2:] = [numbers[-2] + removed, numbers[-1] + added]
        elif numbers[-2:] == [0, 0]:
            numbers[-3] += removed
        else:
            numbers += [removed, 0, 0]
    return numbers


def _cut(values: list[object], least: int = 1) -> list[object]:
    """Leave out the last values that are nothing, beyond the first."""
    while len(values) > least and values[-1] in (None, "", []):
        del values[-1]
    return values


def _keys_of(each: Listed) -> dict[AnyId, None]:
    """List the keys of a listed cluster, once each, those first that are shown first."""
    members = [key_of(member.id, member.side) for member in each.members]
    ends = chain.from_iterable(map(ends_of, each.pairs))
    return dict.fromkeys((members[0], *ends, *members, each.key))


def ends_of(pair: Duplicate) -> tuple[AnyId, AnyId]:
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
    similarities = [pair.similarity for pair in pairs] or [0.0]
    members = cluster.members[:most_members]
    pairs = choose_pairs(pairs, cluster.bridges, most_pairs)
    return Listed(cluster=cluster, key=key, members=members, pairs=pairs,
                  low=min(similarities), high=max(similarities))  # fmt: skip


def pack(words: Words) -> str:
    """Write words as a page has them."""
    shown = [word.replace(" ", _INNER) for word in words.shown]
    for places, mark in ((words.joined, _JOINED), (words.begun - {0}, _BREAK)):
        for place in places:
            shown[place] = mark + shown[place]
    return " ".join(shown)


def _pack_record(record: Record | None, names: Iterable[str]) -> list[str | None] | None:
    values = [] if record is None else [record.get(name, "") for name in names]
    return [pack(diff.split(value)) if value else None for value in values] or None


def _cluster(each: Listed, row_of: Mapping[AnyId, int]) -> list[object]:
    cluster, members = each.cluster, each.members
    rows = [row_of[key_of(member.id, member.side)] for member in members]
    bridges = set(cluster.bridges)
    return [
        row_of[each.key], rows[0], len(cluster.members), cluster.pairs, cluster.diameter,
        len(cluster.bridges), round(each.low, _DIGITS), round(each.high, _DIGITS),
        [row for row, member in zip(rows, members, strict=True) if member.id in bridges], rows,
        [round(member.similarity, _DIGITS) for member in members],
        [member.distance for member in members],
    ]  # fmt: skip


def _block(name: str, values: Iterable[object]) -> Iterator[str]:
    yield f'<script type="application/json" id="{name}">[\n'
    separator = ""
    for value in values:
        yield f"{separator}{encoded(value)}"
        separator = ",\n"
    yield "\n]</script>\n"
