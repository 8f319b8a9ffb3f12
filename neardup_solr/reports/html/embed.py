"""What a page lists, as JSON inside it: compact rows, harmless whatever the texts contain.

A document is known by its row, in the natural order of ids. Texts come in parts, each of a few
rows, so that a page need not read all of them to show some. The words of a text are separated by
one space; a space inside a word as it is shown becomes U+00A0, and a word that was joined to the
one before begins with U+2009. Words themselves contain no spaces of any kind.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from neardup_solr.records import Cluster, Duplicate, largest, natural
from neardup_solr.text import diff
from neardup_solr.text.diff import Words

MOST_PAIRS = 10_000
MOST_OF_CLUSTER = 500  # pairs of one cluster
PART = 1 << 18  # characters of texts that a page reads in one go
_DIGITS = 4  # of a similarity
_INNER, _JOINED = "\u00a0", "\u2009"
# What could end the script element or a line in it, and what UTF-8 cannot encode.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The clusters and pairs that are listed, and a sentence on those that are not."""

    clusters: Sequence[Cluster]
    pairs: Sequence[Duplicate]
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Packed:
    """The words of a text, with a space between: as a page has them, and their normal forms."""

    shown: str
    forms: str


def listing(
    clusters: Sequence[Cluster], pairs: Sequence[Duplicate], *, most: int = MOST_PAIRS
) -> Listing:
    """The largest clusters, in the given order, with up to 10,000 pairs in all, 500 of each.

    The pairs of a cluster are listed in the given order; pairs of no cluster are not listed.
    """
    room, wanted = most, set()
    for cluster in largest(clusters):
        if room <= 0:
            break
        wanted.add(cluster.id)
        room -= min(cluster.pairs, MOST_OF_CLUSTER)
    listed_clusters = [cluster for cluster in clusters if cluster.id in wanted]
    counts: Counter[str] = Counter()
    listed_pairs = []
    for pair in pairs:
        if pair.cluster in wanted and counts[pair.cluster] < MOST_OF_CLUSTER:
            counts[pair.cluster] += 1
            listed_pairs.append(pair)
    in_clusters = sum(cluster.pairs for cluster in clusters)
    if len(listed_pairs) >= in_clusters:
        return Listing(clusters=listed_clusters, pairs=listed_pairs, note=None)
    where = ""
    if len(listed_clusters) < len(clusters):
        where = f", of the {len(listed_clusters):,} largest of {len(clusters):,} clusters"
    note = (
        f"This page lists {len(listed_pairs):,} of {in_clusters:,} pairs{where}; the figures count"
        " all pairs. Write .tsv or .parquet to get every pair."
    )
    return Listing(clusters=listed_clusters, pairs=listed_pairs, note=note)


def facts(about: Mapping[str, object], curve: tuple[int, int] | None) -> Iterator[str]:
    """The facts in the head of the page."""
    yield from _block("facts", [dict(about) | {"curve": curve}])


def rows(
    clusters: Sequence[Cluster], pairs: Sequence[Duplicate], texts: Mapping[str, str]
) -> Iterator[str]:
    """The documents, clusters, pairs and diffs as blocks of JSON, a line for each."""
    ids = sorted(_ids(clusters, pairs), key=natural)
    row_of = {id: row for row, id in enumerate(ids)}
    place_of = {cluster.id: place for place, cluster in enumerate(clusters)}
    words = {id: _packed(diff.split(texts[id])) for id in ids if id in texts}
    shown = [pair for pair in pairs if pair.cluster in place_of]
    yield from _block("ids", ids)
    yield from _parts("texts", (words[id].shown if id in words else None for id in ids))
    yield from _block("clusters", (_cluster(cluster, row_of) for cluster in clusters))
    yield from _block("pairs", (_pair(pair, place_of[pair.cluster], row_of) for pair in shown))
    yield from _block("diffs", (_diff(words.get(p.id), words.get(p.other_id)) for p in shown))


def encoded(value: object) -> str:
    r"""A value as JSON that is safe in a script element: `<` becomes \u003c, and so on."""
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


def steps(first: Sequence[str], second: Sequence[str]) -> list[int]:
    """A diff as groups of three numbers: words that are equal, removed and added."""
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


def _ids(clusters: Iterable[Cluster], pairs: Iterable[Duplicate]) -> set[str]:
    ids = {member.id for cluster in clusters for member in cluster.members}
    ids.update(id for cluster in clusters for id in (cluster.id, cluster.canonical))
    ids.update(id for cluster in clusters for id in cluster.bridges)
    ids.update(id for pair in pairs for id in (pair.id, pair.other_id))
    return ids


def _packed(words: Words) -> _Packed:
    shown = [word.replace(" ", _INNER) for word in words.shown]
    for place in words.joined:
        shown[place] = _JOINED + shown[place]
    return _Packed(shown=" ".join(shown), forms=" ".join(words.forms))


def _cluster(cluster: Cluster, row_of: Mapping[str, int]) -> list[object]:
    return [
        row_of[cluster.id],
        row_of[cluster.canonical],
        cluster.pairs,
        cluster.diameter,
        [row_of[id] for id in cluster.bridges],
        [row_of[member.id] for member in cluster.members],
        [round(member.similarity, _DIGITS) for member in cluster.members],
        [member.distance for member in cluster.members],
    ]


def _pair(pair: Duplicate, place: int, row_of: Mapping[str, int]) -> list[object]:
    return [
        place,
        row_of[pair.id],
        row_of[pair.other_id],
        round(pair.similarity, _DIGITS),
        pair.distance,
        pair.shared,
    ]


def _diff(first: _Packed | None, second: _Packed | None) -> list[int] | None:
    if first is None or second is None:
        return None
    return steps(first.forms.split(), second.forms.split())


def _block(name: str, values: Iterable[object]) -> Iterator[str]:
    yield from _script(f'id="{name}"', map(encoded, values))


def _parts(name: str, values: Iterable[object]) -> Iterator[str]:
    """Blocks of the values in turn, each of about PART characters, with its first row."""
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
    yield from _script(f'class="{name}" id="{name}-{first}" data-from="{first}"', lines)


def _script(attributes: str, lines: Iterable[str]) -> Iterator[str]:
    yield f'<script type="application/json" {attributes}>[\n'
    separator = ""
    for line in lines:
        yield f"{separator}{line}"
        separator = ",\n"
    yield "\n]</script>\n"
