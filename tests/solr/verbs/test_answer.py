"""Answers about documents of a real Solr: noted by stored texts, obeyed, marked, remembered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.answers import EARLIEST, Answer, read_answers
from neardup_solr.solr import admin
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.judgements import add_judgements
from neardup_solr.verbs.answer import read_from
from tests.command import neardup
from tests.reviews import reviewing
from tests.unit.verbs.test_review import ask

TEXTS = {
    "1": "the quick brown fox jumps over the lazy dog in the park",
    "2": "the quick brown fox jumps over the lazy dog in the garden",
    "3": "the quick brown fox jumps over the lazy cat in the garden",
    "4": "a text that has nothing to do with any of the others",
    "5": "the quick brown fox jumps over the lazy dog in the park",
}


def clusters(solr: Collection) -> dict[str, int]:
    """The mark of each document that has one."""
    rows = solr.stored(list(TEXTS), ["neardup_cluster"])
    return {row["id"]: row["neardup_cluster"] for row in rows if "neardup_cluster" in row}


def test_answers_are_obeyed_in_a_collection(solr: Collection, tmp_path: Path) -> None:
    """Marks and remembered runs agree with them, until a text changes, which is told."""
    path, remembered = tmp_path / "answers.jsonl", tmp_path / "remembered"
    nd.index([{"id": id, "text": text} for id, text in TEXTS.items()], solr)
    with pytest.raises(nd.DocumentNotFound):
        nd.answer(solr, "1", "9", "same", answers=path)
    assert not path.exists()
    nd.answer(solr, "1", "5", "different", answers=path)
    ran = neardup("answer", "4", "1", "same", "--answers", str(path), *place(solr))
    assert "4 – 1 noted as same" in ran.stderr
    hashes = {row["id"]: row["md5_hash"] for row in solr.stored(list(TEXTS), ["md5_hash"])}
    noted = read_answers(path)
    assert (noted[0].hash, noted[0].other_hash) == (hashes["1"], hashes["5"])
    assert (noted[1].hash, noted[1].other_hash) == (hashes["4"], hashes["1"])
    # The same texts in a file have the same hashes.
    rows = [{"id": id, "text": text} for id, text in TEXTS.items()]
    assert nd.duplicates(rows, answers=path).clusters == nd.duplicates(solr, answers=path).clusters
    for _ in range(2):
        found = nd.duplicates(solr, answers=path, remember=remembered)
        assert str(found.answered) == "2 answers obeyed"
        assert found.labels["1"] == found.labels["4"] != found.labels.get("5")
    ran = neardup("duplicates", "--mark", "--yes", "--answers", str(path), *place(solr))
    assert ran.returncode == 0, ran.stderr
    marked = clusters(solr)
    assert marked["1"] == marked["4"] != marked.get("5")
    nd.index([{"id": "5", "text": f"{TEXTS['5']} today"}], solr)
    found = nd.duplicates(solr, answers=path, remember=remembered)
    assert found.answered is not None
    assert [one.pair[:2] for one in found.answered.changed] == [("1", "5")]
    assert found.labels["1"] == found.labels["5"]
    assert found.clusters == nd.duplicates(solr, answers=path).clusters


def place(solr: Collection) -> tuple[str, ...]:
    """The options that name a collection."""
    return ("--solr", solr.base, "-c", solr.name)


@pytest.fixture
def shared(solr: Collection) -> Iterator[Collection]:
    """A collection for answers beside that of the documents."""
    made = nd.connect(solr.base, f"{solr.name}-answers")
    nd.init(made)
    yield made
    admin.drop(made)


def test_a_team_shares_answers_in_a_collection(
    solr: Collection, shared: Collection, tmp_path: Path
) -> None:
    """Each answer is a document of its own, and says what its line in a file would say."""
    nd.index([{"id": id, "text": text} for id, text in TEXTS.items()], solr)
    path = tmp_path / "answers.jsonl"
    for answers in (str(path), shared.url):
        for one, other, word in (("1", "5", "same"), ("1", "5", "different"), ("4", "1", "same")):
            ran = neardup("answer", one, other, word, "--answers", answers, "--who", "Åsa\n\x01",
                          *place(solr))  # fmt: skip
            assert f"noted as {word} in {answers}" in ran.stderr
    ours, theirs = ([replace(one, when=EARLIEST) for one in read_from(answers)]
                    for answers in (path, shared))  # fmt: skip
    assert ours == theirs
    assert shared.count() == 3
    assert [one.answer for one in nd.list_answers(shared).latest] == ["same", "different"]
    found = nd.duplicates(solr, answers=shared)
    assert found.clusters == nd.duplicates(solr, answers=path).clusters
    assert str(found.answered) == "2 answers obeyed"
    ran = neardup("duplicates", "--answers", shared.url, *place(solr))
    assert "2 answers obeyed." in ran.stderr
    ran = neardup("report", "--answers", shared.url, *place(solr))
    assert "2 answers obeyed." in ran.stderr
    decisions = nd.gate([{"id": "1", "text": TEXTS["1"]}], solr, answers=shared.url)
    assert [one.reason for one in decisions] == ["the same as '4' by an answer"]
    found.write(tmp_path / "pairs.csv")
    assert nd.import_answers(solr, tmp_path / "pairs.csv", answers=shared).known == 1


def test_hostile_answers_are_kept_as_they_are(shared: Collection) -> None:
    """Line breaks, quotes, controls and long ids come back, sides and times too."""
    ids = ["a\nb", 'x"\\', "\x01\x1f\x7f", "  ", "*:*", "é" * 256, "${x}", "1,2", "\u202e\u2028"]
    now = datetime.now(UTC).replace(microsecond=0)
    made = [
        Answer(id=one, other_id=other, answer="same", when=now, ordered=at % 2 == 0, who=one)
        for at, (one, other) in enumerate(pairwise(ids))
    ]
    add_judgements(shared, made)
    add_judgements(shared, made)  # as after an answer of Solr that did not arrive
    found = read_from(shared)
    assert {*found} == {*made}
    assert len(found) == len(made)


def test_a_collection_of_documents_takes_no_answers(solr: Collection) -> None:
    """A wrong address spoils nothing; one that is missing, or away, is one message."""
    nd.index([{"id": id, "text": text} for id, text in TEXTS.items()], solr)
    for call in (nd.list_answers, lambda answers: nd.duplicates(solr, answers=answers)):
        with pytest.raises(nd.SourceError, match="5 documents that are no answer; create one for"):
            call(answers=solr.url)
    with pytest.raises(nd.SourceError, match="that are no answer"):
        nd.answer(solr, "1", "2", "same", answers=solr)
    assert solr.count() == len(TEXTS)
    with pytest.raises(nd.CoreMissing, match="neardup init -c none --solr"):
        nd.answer(solr, "1", "2", "same", answers=f"{solr.base}/none")
    with pytest.raises(nd.SolrUnreachable):
        nd.answer(solr, "1", "2", "same", answers="http://127.0.0.1:9/solr/answers")
    for address in (solr.base, "zk://ann:secret@host:2181/solr", "ftp://host/solr/answers"):
        with pytest.raises(nd.ArgumentError, match="name the collection in the addr") as refused:
            nd.answer(solr, "1", "2", "same", answers=address)
        assert "secret" not in str(refused.value)
    with pytest.raises(nd.ArgumentError, match="name a file, or a collection"):
        nd.duplicates([], answers=5)  # type: ignore[arg-type]


def test_answers_in_a_cloud(cloud: str) -> None:
    """A SolrCloud of two shards keeps them, too, in the order in which they came."""
    shared = nd.connect(cloud, "answers")
    nd.init(shared, shards=2)
    for number in range(20):
        nd.answer(None, "a", "b", ("same", "different")[number % 2], answers=shared.url, who="Ann")
    assert [one.answer for one in read_from(shared)] == ["same", "different"] * 10
    (latest,) = nd.list_answers(shared.url).latest
    assert latest.answer == "different"


def test_two_reviews_share_a_collection(shared: Collection, tmp_path: Path) -> None:
    """What one has kept, the other does not ask, and a command hears of it at once."""
    words = ("--answers", shared.url)
    asked = set()
    with (
        reviewing(tmp_path / "a.jsonl", 12, *words) as one,
        reviewing(tmp_path / "b.jsonl", 12, *words) as other,
    ):
        for at, address in enumerate((one, other) * 3):
            number = ask(address, "next").json()["number"]
            assert number not in asked
            asked.add(number)
            ask(address, "answer", number=number, answer="same")
            assert len(nd.list_answers(shared).latest) == at + 1
    assert not list(tmp_path.glob("*.jsonl"))
