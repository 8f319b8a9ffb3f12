"""duplicates: the whole collection, from Solr and from a source."""

from itertools import combinations
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.measures.words import similarity, word_distance
from neardup_solr.minhash import signature
from neardup_solr.records import natural
from neardup_solr.settings import DEFAULT_FIELDS
from neardup_solr.solr.collection import Solr
from neardup_solr.text import normalize

TEXTS = {
    "9": "one two three four five six seven eight nine ten",
    "10": "one two three four five six seven eight nine eleven",
    "11": "One, two, three; four five six seven eight nine ten!",
    "x": "a b c d e f g h",
    "y": "a b c d e f g i",
    "z": "quite another text that resembles none of the others at all",
    "empty": " . ",
    "also empty": "",
}
DOCUMENTS = [nd.Document(id=id, text=text) for id, text in TEXTS.items()]
LOOSE = nd.Verifying(limits=nd.Limits(min_similarity=0.7))


def rows(found: nd.Duplicates) -> list[tuple[str, str, int | None, str]]:
    """Ids, distance and cluster of each pair."""
    return [(pair.id, pair.other_id, pair.distance, pair.cluster) for pair in found.pairs]


EXPECTED = [("9", "10", 1, "9"), ("9", "11", 0, "9"), ("10", "11", 1, "9"), ("x", "y", 1, "x")]


def test_collection_and_source_give_the_same(solr: Solr) -> None:
    """With and without a server the same pairs come out, in clusters, by natural order."""
    nd.index(DOCUMENTS, solr)
    stored, signed = nd.duplicates(solr, verifying=LOOSE), nd.duplicates(DOCUMENTS, verifying=LOOSE)
    assert rows(stored) == rows(signed) == EXPECTED
    assert stored == signed
    assert (stored.documents, len(stored.clusters), stored.hot_keys) == (8, 2, 0)


def test_estimates_need_no_text(solr: Solr) -> None:
    """By signatures alone, the estimate is the share of equal values."""
    nd.index(DOCUMENTS, solr)
    verifying = nd.Verifying(measure="estimate", limits=nd.Limits(min_similarity=0.4))
    found = nd.duplicates(solr, verifying=verifying)
    assert rows(found) == [(a, b, None, c) for a, b, _, c in EXPECTED]
    entries = {d.id: signature.entry(d, nd.Settings()) for d in DOCUMENTS}
    for pair in found.pairs:
        one, other = (nd.decode(entries[id].signature) for id in (pair.id, pair.other_id))
        assert pair.similarity == (one == other).mean()


def test_demo_listings_against_all_pairs_that_share_a_band() -> None:
    """The pairs are just those of an exhaustive look at all that share a band."""
    from neardup_solr import demo

    documents = list(nd.read(demo.listings()))
    entries = [signature.entry(document, nd.Settings()) for document in documents]
    words = {e.id: normalize.normalize(e.content).split() for e in entries}
    expected: dict[tuple[str, str], tuple[int | None, float]] = {}
    for one, other in combinations(sorted(entries, key=lambda e: natural(e.id)), 2):
        longest = max(one.num_words, other.num_words)
        distance = word_distance(words[one.id], words[other.id], at_most=int(0.3 * longest + 1e-9))
        if set(one.bands) & set(other.bands) and distance is not None:
            expected[one.id, other.id] = (distance, similarity(distance, longest))
    found = nd.duplicates(documents, verifying=LOOSE)
    assert {(p.id, p.other_id): (p.distance, p.similarity) for p in found.pairs} == expected


def test_a_million_identical_documents_in_small() -> None:
    """Identical texts are one cluster, chained where they are more than the cap, and counted."""
    documents = [nd.Document(id=str(n), text="the very same text") for n in range(1000)]
    found = nd.duplicates(documents, verifying=nd.Verifying(cap=100))
    assert (len(found.clusters), len(found.pairs), found.hot_keys) == (1, 999, 42)
    [cluster] = found.clusters
    assert (len(cluster.members), cluster.diameter, cluster.bridges) == (1000, 1, ())


def test_what_a_collection_lacks(solr: Solr) -> None:
    """An empty collection, and one without signatures, say what to do."""
    with pytest.raises(nd.SettingsError, match="has no documents"):
        nd.duplicates(solr)
    few = nd.Settings(fields=frozenset(DEFAULT_FIELDS) - {"signature"})
    nd.index(DOCUMENTS, solr, settings=few)
    with pytest.raises(nd.SettingsError, match="without signature"):
        nd.duplicates(solr)


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"measure": "nope"}, "--measure nope is not known"),
        ({"cap": 1}, "a cap of 1"),
        (
            {"measure": "estimate", "limits": nd.Limits(max_distance=2)},
            "the measure estimate has no dist",
        ),
    ],
)
def test_choices_that_cannot_be(choice: dict[str, object], reason: str) -> None:
    """A choice that cannot be is refused with the reason."""
    with pytest.raises(nd.SettingsError, match=reason):
        nd.Verifying(**choice)  # type: ignore[arg-type]  # a table of mixed values


def test_bad_records_are_told_and_left_out(tmp_path: Path) -> None:
    """A source's bad records go to on_error, and the rest is compared."""
    source = tmp_path / "a.jsonl"
    lines = [
        '{"id": 1, "text": "same"}',
        '{"id": 2}',
        '{"id": 3, "text": "same"}',
        '{"id": 4, "text": "b"}',
    ]
    source.write_text("\n".join(lines))
    errors: list[nd.RecordError] = []
    found = nd.duplicates(source, working=nd.Working(on_error=errors.append))
    assert rows(found) == [("1", "3", 0, "1")]
    assert [error.position for error in errors] == ["a.jsonl, line 2"]
    assert found.gaps == ("records that could not be used: 1",)
    assert not found.complete
