"""The talk with a real Solr: exact values, long queries, answers that are no success."""

import multiprocessing
from collections.abc import Mapping
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import DocumentNotFound, SolrAnswerError
from neardup_solr.testing import SIZES
from tests.hostile import HOSTILE
from tests.refusals import refusal


def add(solr: nd.Collection, *documents: Mapping[str, object]) -> None:
    """Add documents and make them visible."""
    assert solr.add(documents) == ()
    solr.commit()


def test_hostile_ids_are_exact(solr: nd.Collection) -> None:
    """Each of 39 hostile ids gives back just its own document, alone and in a list."""
    add(solr, *({"id": id, "content": f"text of {id}"} for id in HOSTILE))
    for id in HOSTILE:
        assert solr.document(id, ["id", "content"]) == {"id": id, "content": f"text of {id}"}
    assert solr.texts(HOSTILE) == {id: f"text of {id}" for id in HOSTILE}
    assert sorted(solr.ids()) == sorted(HOSTILE)


# The terms of a document are its words; all that share one are compared.
BY_WORD = nd.Settings(shingle_size=1)


def test_hostile_filter_values_are_exact(solr: nd.Collection) -> None:
    """A value that must be equal is looked up as it is."""
    rows = [{"id": f"{at}{side}", "text": "one two three", "city": value}
            for at, value in enumerate(HOSTILE) for side in "ab"]  # fmt: skip
    nd.index(rows, solr, keep="city", settings=BY_WORD)
    assert len(nd.search(solr, id="0a", by="shingles")) == len(rows) - 1
    for at in range(len(HOSTILE)):
        found = nd.search(solr, id=f"{at}a", by="shingles", same="city")
        assert [match.id for match in found] == [f"{at}b"], HOSTILE[at]


def test_hostile_ids_are_deleted_one_by_one(solr: nd.Collection) -> None:
    """Deleting an id takes away that document and no other."""
    add(solr, *({"id": id} for id in HOSTILE))
    for left, id in enumerate(HOSTILE, start=1):
        solr.delete_ids([id])
        solr.commit()
        assert solr.count() == len(HOSTILE) - left


def test_a_refused_delete_is_an_error(solr: nd.Collection) -> None:
    """Solr answers a delete that it does not understand with status 0: that is no success."""
    add(solr, {"id": "1"})
    with refusal(SolrAnswerError, "solr-refused", "'a:('"):
        solr.delete_query("a:(")
    assert solr.count() == 1


def test_documents_are_counted_by_id_and_filter(solr: nd.Collection) -> None:
    """Ids that are there, those of them that match, and all that match."""
    add(solr, *({"id": id, "num_words": len(id)} for id in HOSTILE))
    assert solr.count(ids=[*HOSTILE[:9], "nope"]) == 9
    assert solr.count(["num_words:3"], ids=["a,b", "two words"]) == 1
    assert solr.count(ids=[]) == 0


def test_unknown_id(solr: nd.Collection) -> None:
    """An id that is not there is a clear error."""
    with refusal(DocumentNotFound, "id-unknown", "'nope'"):
        solr.document("nope", ["id"])


def shared(solr: nd.Collection, words: list[str]) -> list[tuple[str, int]]:
    """The documents that share words with a text, best first, and how many."""
    found = nd.search(
        solr, text=" ".join(words), by="shingles", measure="containment", min_similarity=0
    )
    return [(match.id, match.shared) for match in found]


@pytest.mark.parametrize("count", [1, 1000, 1001, 3000])
def test_score_is_the_number_of_shared_terms(solr: nd.Collection, count: int) -> None:
    """Below and beyond 1,024 clauses alike, hits are counted exactly and ordered by it."""
    words = [f"w{number}" for number in range(count)]
    half = words[: count // 2] or ["other"]
    texts = [("all", words), ("half", half), ("none", ["other"])]
    nd.index([(id, " ".join(each)) for id, each in texts], solr, settings=BY_WORD)
    found = sorted(shared(solr, words), key=lambda each: -each[1])
    assert found == [("all", count), *([("half", count // 2)] if count > 1 else [])]


def test_query_of_more_than_two_megabytes(solr: nd.Collection) -> None:
    """A query that no form could carry works."""
    words = [f"w{number}{'z' * 150}" for number in range(15_000)]
    assert len(" ".join(words)) > 2 * 2**20
    nd.index([("1", " ".join(words[::7_000]))], solr, settings=BY_WORD)
    assert shared(solr, words) == [("1", 3)]


def test_hits_are_paged(solr: nd.Collection) -> None:
    """Hits beyond one page of a thousand come in order, none twice, none missing."""
    nd.index([(f"{n:04}", "one two three") for n in range(2_100)], solr, settings=BY_WORD)
    found = nd.search(solr, text="one two three", by="shingles", candidates=3_000)
    assert [match.id for match in found] == [f"{n:04}" for n in range(2_100)]


def test_ids_are_paged(solr: nd.Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cursor gives all ids of the matching documents."""
    monkeypatch.setattr(SIZES, "page_of_ids", 7)
    add(solr, *({"id": f"{n:04}", "content_ng": ["even" if n % 2 else "odd"]} for n in range(25)))
    assert list(solr.ids()) == [f"{n:04}" for n in range(25)]
    assert len(list(solr.ids(["content_ng:odd"]))) == 13


def test_parts_of_an_export_are_the_whole(
    solr: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts that are read at the same time give the documents of one export, in its order."""
    ids = [*HOSTILE, *map(str, range(300))]
    for at in range(0, len(ids), 100):  # a segment each
        add(solr, *({"id": id, "num_words": len(id)} for id in ids[at : at + 100]))
    solr.delete_ids(ids[::9])
    solr.commit()
    monkeypatch.setattr(SIZES, "export_block", 500)
    for filters in [], ["num_words:3"], ["num_words:3", "-id:17*"], ["num_words:99"]:
        whole, *in_parts = [
            list(solr.exported(["id", "num_words"], filters=filters, parts=parts))
            for parts in (1, 2, 3, 7)
        ]
        flat = [one for block in whole for one in block]
        assert all([one for block in blocks for one in block] == flat for blocks in in_parts)
        assert len(flat) == solr.count(filters)


def test_refused_documents_are_named(solr: nd.Collection) -> None:
    """A document that Solr refuses is returned with its reason; the others are in."""
    refused = solr.add([{"id": "1"}, {"id": "2", "num_words": "many"}, {"id": "3"}])
    solr.commit()
    assert [refusal.id for refusal in refused] == ["2"]
    assert "num_words" in refused[0].reason
    assert sorted(solr.ids()) == ["1", "3"]


def test_any_value_is_set(solr: nd.Collection) -> None:
    """Updates in Solr's binary format set what indexing sends, of hostile ids and texts."""
    long = ["ä" * length for length in (1, 15, 16, 79, 80, 9_000)]
    texts = {
        id: " ".join([*long[at % 6 :], "x", *HOSTILE[: at + 1]]) for at, id in enumerate(HOSTILE)
    }
    names = ["first_word", "num_words", "md5_hash", "signature", "content"]
    nd.index([nd.Document(id=id, text=text) for id, text in texts.items()], solr)
    expected = {one["id"]: one for one in solr.stored(HOSTILE, names)}
    nd.delete(solr, query="*:*")
    add(solr, *({"id": id, "content": text, "city": "Ulm"} for id, text in texts.items()))
    assert nd.annotate(solr).annotated == len(texts)
    found = {one["id"]: one for one in solr.stored(HOSTILE, [*names, "city"])}
    assert found == {id: {**row, "city": ["Ulm"]} for id, row in expected.items()}


def test_ready_made_json_is_sent_as_it_is(solr: nd.Collection) -> None:
    """Documents that are JSON bytes already and mappings go in one batch, and answer alike."""
    refused = solr.add([b'{"id":"1"}', {"id": "2"}, b'{"id":"3","num_words":"many"}'])
    solr.commit()
    assert [refusal.id for refusal in refused] == ["3"]
    assert sorted(solr.ids()) == ["1", "2"]


def test_values_of_a_field_are_counted(solr: nd.Collection) -> None:
    """The settings in use come with the number of their documents."""
    add(solr, *({"id": str(n), "signature_settings": "a" if n else "b"} for n in range(3)))
    assert solr.values("signature_settings") == {"a": 2, "b": 1}


def test_an_open_collection_works_after_a_fork(solr: nd.Collection) -> None:
    """Each process talks on connections of its own: answers do not get into the wrong hands."""
    solr.add([{"id": str(number), "content": f"text {number}"} for number in range(40)])
    solr.commit()
    assert solr.texts(["7"]) == {"7": "text 7"}

    def asks(wrong: Any) -> None:
        for number in list(range(40)) * 10:
            if solr.texts([str(number)]) != {str(number): f"text {number}"}:
                wrong.value += 1

    forked = multiprocessing.get_context("fork")
    wrong = forked.Value("i", 0)
    children = [forked.Process(target=asks, args=(wrong,)) for _ in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * 4
    assert wrong.value == 0
    assert solr.texts(["8"]) == {"8": "text 8"}
