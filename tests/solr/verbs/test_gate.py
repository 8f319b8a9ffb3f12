"""The gate on a real Solr: its decisions are those of the whole collection's report."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow.parquet as pq
import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.conftest import Cores
from tests.copies import edited_copies
from tests.faults.scripted import Answer
from tests.finders import sure_finder
from tests.refusals import refusal
from tests.solr import api, theirs
from tests.solr.front import front

FOX = "the quick brown fox jumps over the lazy dog in the park near the old mill by the river"
ACTIONS = get_args(nd.types.Action)  # in rising order
LAMP = "seven old lamps stand in the street and nobody knows who lights them in the evening"


def document(id: str, text: str) -> nd.Document:
    """A document."""
    return nd.Document(id=id, text=text)


def actions(decisions: Iterator[nd.Decision]) -> dict[str, str]:
    """The action of each document by its id."""
    return {decision.id: decision.action for decision in decisions}


def drawn(count: int, seed: int, prefix: str) -> list[nd.Document]:
    """Texts of invented words of which many are edited copies of one another."""
    rng = random.Random(seed)
    texts = edited_copies(count, rng)
    rng.shuffle(texts)
    return [document(f"{prefix}{n}", " ".join(words)) for n, words in enumerate(texts)]


def reported(
    solr: nd.Collection, documents: Sequence[nd.Document], policy: dict[str, Any]
) -> list[tuple[str, str, tuple[tuple[str, float, int | None, int], ...]]]:
    """The decisions that follow from all pairs of `duplicates`: old ones, and those before."""
    bounds = [(action, policy[action]) for action in ("reject", "hold", "tag") if action in policy]
    verifying: dict[str, Any] = {
        "measure": policy.get("measure", "words"),
        "max_distance": policy.get("max_distance"),
        "min_similarity": min(bound for _, bound in bounds),
        "by": "bands",
        "cap": 10_000,
    }
    there = {document.id: number for number, document in enumerate(documents)}
    text = {document.id: document.text for document in documents}
    text |= solr.texts(list(solr.ids()))
    near: dict[str, list[nd.Duplicate]] = {id: [] for id in there}
    sides: list[dict[str, Any]] = [{"against": solr}, {}]
    for pair in (p for side in sides for p in nd.duplicates(documents, **side, **verifying).pairs):
        for id, other in ((pair.id, pair.other_id), (pair.other_id, pair.id)):
            if id in there and there.get(other, -1) < there[id]:
                near[id].append(replace(pair, id=id, other_id=other))
    admitted: set[str] = set()
    decisions: list[tuple[str, str, tuple[tuple[str, float, int | None, int], ...]]] = []
    for id in there:
        pairs = [p for p in near[id] if p.other_id not in there or p.other_id in admitted]
        pairs.sort(key=lambda p: (
            -p.similarity if p.distance is None else p.distance, -p.shared, p.other_id
        ))  # fmt: skip
        matches = [
            nd.Match(id=p.other_id, distance=p.distance, similarity=p.similarity,
                     shared=p.shared, content="") for p in pairs
        ]  # fmt: skip
        action = "allow"
        if matches:
            nearest = max(match.similarity for match in matches)
            action = next(action for action, bound in bounds if nearest >= bound - 1e-9)
        if any(text[match.id] == text[id] for match in matches):
            action = max(action, policy.get("exact", "reject"), key=ACTIONS.index)
        if action in ("allow", "tag"):
            admitted.add(id)
        rows = tuple((m.id, m.similarity, m.distance, m.shared) for m in matches)
        decisions.append((id, action, rows))
    return decisions


POLICIES: list[dict[str, Any]] = [
    {"reject": 0.97, "hold": 0.85, "tag": 0.6},
    {"exact": "tag", "tag": 0.5},
    {"hold": 0.9, "max_distance": 3},
    {"reject": 0.9, "tag": 0.4, "measure": "jaccard"},
    {"hold": 0.9, "tag": 0.8, "measure": "containment"},
    {"reject": 0.9, "tag": 0.5, "measure": "estimate", "exact": "hold"},
]


DRAWN = drawn(240, 7, "n")
OLD, NEW = DRAWN[:150], DRAWN[150:]


@pytest.fixture(scope="module")
def old(core_pool: Cores) -> Iterator[nd.Collection]:
    """A core with the old documents, only to be read."""
    with core_pool.filled(OLD) as core:
        yield core


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_decisions_are_those_of_the_whole_report(
    old: nd.Collection, policy: dict[str, Any]
) -> None:
    """Whatever the batches, each decision, match and number is that of `duplicates`."""
    expected = reported(old, NEW, policy)
    assert len({action for _, action, _ in expected}) > 1
    for batch in (1, 7, 50, 1000):
        gating: dict[str, Any] = {"batch": batch, "most": 1_000}
        found = [
            (one.id, one.action,
             tuple((m.id, m.similarity, m.distance, m.shared) for m in one.matches))
            for one in nd.gate(NEW, old, **policy, **gating)
        ]  # fmt: skip
        assert found == expected


def test_too_many_candidates_are_asked_in_halves(
    solr: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that finds too many is split; a single document gets the best, and says so."""
    monkeypatch.setattr(SIZES, "nearest_documents", 10)
    monkeypatch.setattr(SIZES, "fetched_documents", 10)
    nd.index([document(f"old{n}", f"{FOX} {n}") for n in range(30)], solr)
    new = [document("fox", f"{FOX} 3"), document("none", ""), document("lamp", LAMP)]
    found = list(nd.gate(new, solr))
    assert [(len(one.matches), one.complete) for one in found] == [
        (10, False), (0, True), (0, True)
    ]  # fmt: skip
    assert found[0].matches[0].id == "old3"


BOILERPLATE = " ".join(f"legal{number}" for number in range(40))


@pytest.fixture
def boilerplate(solr: nd.Collection, monkeypatch: pytest.MonkeyPatch) -> list[nd.Document]:
    """New documents for a collection in which most share a sentence, and where few are fetched."""
    monkeypatch.setattr(SIZES, "hot_term", 15)
    monkeypatch.setattr(SIZES, "fetched_documents", 30)
    monkeypatch.setattr(SIZES, "nearest_documents", 25)
    words = random.Random(4)

    def unlike(id: str) -> nd.Document:
        own = " ".join(f"w{words.randrange(10_000)}" for _ in range(12))
        return document(id, f"{own} {BOILERPLATE}")

    made = [unlike(f"old{number}") for number in range(60)]
    family = unlike("family").text
    near = [document(f"near{number}", f"{family} {number}") for number in range(5)]
    nd.index([*made, *near], solr)
    new = [unlike("far"), document("sixth", f"{family} 6"), document("lamp", LAMP)]
    return [*new, document("same", made[30].text)]


def test_bands_that_too_many_share_are_left_to_the_nearest(
    solr: nd.Collection, boilerplate: list[nd.Document], tmp_path: Path
) -> None:
    """Boilerplate fills no batch: hot bands are learnt, and what is near is found all the same."""
    terms = band_terms(boilerplate, tmp_path)
    finder = sure_finder(solr, fields=("content",))
    hits = finder.hits(terms)
    assert [each.is_cut for each in hits] == [True, True, False, True]
    assert {hit.id for hit in hits[1].best} >= {f"near{number}" for number in range(5)}
    for own, each in zip(terms, hits, strict=True):
        cold = {*own} - finder.hot
        assert len(cold) < len(own) or not each.is_cut
        everyone = solr_sharing(solr, cold)
        assert {hit.id for hit in each.best} >= everyone
    decided = list(nd.gate(boilerplate, solr, reject=0.95))
    assert [one.action for one in decided] == ["allow", "reject", "allow", "reject"]
    assert decided[3].matches[0].id == "old30"


def test_reports_of_boilerplate_are_those_of_one_search_each(
    solr: nd.Collection, boilerplate: list[nd.Document]
) -> None:
    """Documents with hot bands are searched for alone; the others find what they found before."""
    nd.index(boilerplate, solr)
    criteria: dict[str, Any] = {"by": "bands", "candidates": 25}
    pairs = nd.report(solr, **criteria).pairs
    searched = {
        tuple(sorted((id, match.id)))
        for id in solr.ids()
        for match in nd.search(solr, id=id, **criteria)
    }
    assert {tuple(sorted((pair.id, pair.other_id))) for pair in pairs} == searched != set()


def test_a_text_that_is_there_too_often_is_met(
    solr: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All bands of 40 copies are hot: the next copy meets the nearest of them."""
    monkeypatch.setattr(SIZES, "hot_term", 15)
    monkeypatch.setattr(SIZES, "fetched_documents", 30)
    monkeypatch.setattr(SIZES, "nearest_documents", 25)
    nd.index([document(f"old{number}", FOX) for number in range(40)], solr)
    [copy, lamp] = nd.gate([document("copy", FOX), document("lamp", LAMP)], solr)
    assert (copy.action, len(copy.matches)) == ("reject", 25)
    assert (lamp.action, lamp.matches) == ("allow", ())


def solr_sharing(solr: nd.Collection, terms: set[str]) -> set[str]:
    """The ids of all documents that have one of these bands."""
    if not terms:
        return set()
    found = api.select(solr, f"{{!terms f=content_bands}}{','.join(sorted(terms))}", fl="id")
    return {one["id"] for one in found}


def band_terms(documents: Sequence[nd.Document], folder: Path) -> list[tuple[str, ...]]:
    """The band terms of documents."""
    nd.signatures(documents, folder / "signatures.parquet")
    bands = pq.read_table(folder / "signatures.parquet")["bands"].to_pylist()
    return nd.signature.format_band_keys(np.array(bands, dtype=np.uint64))


def test_what_is_not_admitted_keeps_nobody_out(solr: nd.Collection) -> None:
    """A document is compared with admitted ones only, within its batch and before it."""
    nd.index([document("old", FOX)], solr)
    held = f"{FOX} a"  # near the old one, and held
    near_held = f"{FOX} a b c d e f"  # nearer to the held one than to the old one
    for batch in (1, 50):
        found = nd.gate(
            [document("1", held), document("2", near_held), document("3", LAMP),
             document("4", f"{LAMP} again")],
            solr,
            hold=0.9,
            tag=0.6,
            batch=batch,
        )  # fmt: skip
        one, two, three, four = found
        assert [d.action for d in (one, two, three)] == ["hold", "tag", "allow"]
        assert [match.id for match in two.matches] == ["old"]
        assert (four.action, four.matches[0].id) == ("hold", "3")
        assert (four.matches[0].distance, four.matches[0].shared > 0) == (1, True)


def test_a_document_is_not_its_own_near_duplicate(solr: nd.Collection) -> None:
    """One that would replace an old version is not compared with that, nor are those after it."""
    nd.index([document("7", FOX), document("8", LAMP)], solr)
    for batch in (1, 50):
        news = [document("7", f"{FOX} now"), document("9", f"{LAMP} too"), document("8", "gone"),
                document("10", LAMP), document("9", "other"), document("11", f"{LAMP} too"),
                ]  # fmt: skip
        found = list(nd.gate(news, solr, batch=batch))
        said = [(d.id, d.action, [m.id for m in d.matches]) for d in found]
        assert said == [
            ("7", "allow", []), ("9", "tag", ["8"]), ("8", "allow", []), ("10", "tag", ["9"]),
            ("9", "allow", []), ("11", "tag", ["10"]),
        ]  # fmt: skip


def test_what_cannot_be_indexed_is_rejected(solr: nd.Collection) -> None:
    """Every document gets a decision, in order, whatever is wrong with it."""
    nd.index([document("1", FOX)], solr)
    news = [document("", LAMP), document("2", "\ud800"), document("3", ""), document("4", "\u200b"),
            document("5", FOX)]  # fmt: skip
    found = list(nd.gate(news, solr))
    assert [d.action for d in found] == ["reject", "reject", "allow", "allow", "reject"]
    assert found[0].reason == "the id is empty"
    assert "lone surrogate" in found[1].reason
    assert found[2].reason == "it has no words to compare"
    assert found[4].reason == "the same text as '1'"


def test_admitted_documents_are_indexed(solr: nd.Collection) -> None:
    """With index, what is allowed or tagged is in the collection, with what it is near to."""
    policy: dict[str, Any] = {"reject": 0.98, "hold": 0.9, "tag": 0.6}
    news = [
        nd.Document(id="1", text=FOX, kept={"city": "Paris"}),
        nd.Document(id="2", text=f"{FOX} and back again on foot", kept={"city": "Rome"}),
        document("3", f"{FOX} today"),
        document("4", FOX.upper()),
        document("5", LAMP),
    ]
    gating: dict[str, Any] = {"index": True, "batch": 2}
    expected = {"1": "allow", "2": "tag", "3": "hold", "4": "reject", "5": "allow"}
    assert actions(nd.gate(news, solr, **policy, **gating)) == expected
    assert sorted(solr.ids()) == ["1", "2", "5"]
    assert solr.document("2", ["neardup_of", "city"]) == {"neardup_of": ["1"], "city": ["Rome"]}
    assert "neardup_of" not in solr.document("1", ["neardup_of", "city"])
    assert solr.count(["neardup_of:1"]) == 1
    # The same again, as after an interruption: nobody is held off by what came after it.
    assert actions(nd.gate(news, solr, **policy, **gating)) == expected
    assert nd.search(solr, text=LAMP)[0].id == "5"


def test_decisions_that_nobody_reads_are_not_silently_lost(solr: nd.Collection) -> None:
    """With `index`, a warning says that nothing was indexed; without it nothing would be done."""
    with pytest.warns(RuntimeWarning, match="were never read, so nothing was indexed"):
        nd.gate([document("fox", FOX)], solr, index=True)
    nd.gate([document("fox", FOX)], solr)
    assert solr.count() == 0


def test_who_stops_early_finds_what_was_indexed(solr: nd.Collection) -> None:
    """With `index`, leaving the loop commits what Solr has until then."""
    for decision in nd.gate(
        [document("fox", FOX), document("lamp", LAMP)], solr, index=True, batch=1
    ):
        assert decision.action == "allow"
        break
    assert list(solr.ids()) == ["fox"]


def test_what_solr_refuses_keeps_nobody_out(solr: nd.Collection) -> None:
    """A refused document is rejected with Solr's words, and its copy is judged without it."""
    news = [
        nd.Document(id="1", text=FOX, kept={"stars_i": "many"}),
        nd.Document(id="2", text=FOX, kept={"stars_i": 3}),
        nd.Document(id="3", text=FOX, kept={"stars_i": 4}),
        document("4", LAMP),
    ]
    one, two, three, four = nd.gate(news, solr, index=True)
    assert one.action == "reject"
    assert one.reason.startswith("Solr refused it: ")
    assert (two.action, two.matches) == ("allow", ())
    assert (three.action, three.reason) == ("reject", "the same text as '2'")
    assert four.action == "allow"
    assert sorted(solr.ids()) == ["2", "4"]


def test_filters_say_what_counts(solr: nd.Collection) -> None:
    """Only documents of the collection that match the filters are compared."""
    nd.index([nd.Document(id="1", text=FOX, kept={"city": "Paris"})], solr)
    for city, action in (("Paris", "reject"), ("Rome", "allow")):
        decided = nd.gate([document("2", FOX)], solr, fq=(f"city:{city}",))
        assert actions(decided) == {"2": action}


def test_a_collection_that_lacks_what_is_needed(solr: nd.Collection) -> None:
    """The error comes before the first decision is asked for, and says what is missing."""
    nd.index([document("1", FOX)], solr, settings={"fields": frozenset({"content", "signature"})})
    with refusal(nd.SettingsError, "fields-missing", "content_bands"):
        nd.gate([], solr)


def test_an_empty_collection_and_no_documents(solr: nd.Collection) -> None:
    """Nothing is near anything there; among themselves documents are still compared."""
    assert list(nd.gate([], solr)) == []
    assert actions(nd.gate([document("1", FOX), document("2", FOX)], solr)) == {
        "1": "allow", "2": "reject",
    }  # fmt: skip


def test_short_records_by_alignment(solr: nd.Collection) -> None:
    """The measure for short records weighs words by how rare they are in the collection."""
    nd.index([document(str(n), f"house {n} in mill lane number {n} of alton") for n in range(20)],
             solr)  # fmt: skip
    new = [document("x", "house 7 in mill lane numbr 7 of alton")]
    [found] = nd.gate(new, solr, tag=0.8, measure="aligned")
    assert (found.action, found.matches[0].id, found.matches[0].distance) == ("tag", "7", None)


def test_a_collection_of_somebody_else(home: Path) -> None:
    """An annotated collection is guarded by its own key and text fields; nothing is written."""
    with theirs.collection() as solr:
        theirs.add(solr, theirs.documents(200))
        nd.annotate(solr)
        given = theirs.select(solr, "title:* -_nest_path_:*", fl="key,title,body")
        titles = {one["key"]: "\n".join([one["title"], *one.get("body", [])]) for one in given}
        key, text = max(titles.items(), key=lambda item: len(item[1]))
        before = theirs.everything(solr)
        news = [document("new", text.upper()), document(key, text), document("else", LAMP)]
        copy, own, other = nd.gate(news, solr)
        assert (copy.action, copy.matches[0].id, copy.matches[0].distance) == ("reject", key, 0)
        assert key not in [match.id for match in own.matches]
        assert other.action == "allow"
        with refusal(nd.SettingsError, "data-at-risk"):
            nd.gate(news, solr, index=True)
        assert theirs.everything(solr) == before
        # Searches and reports by bands go by the same names, also by one request.
        first, again = (nd.search(solr, text=text, by="bands") for _ in range(2))
        assert first == again
        assert (first[0].id, first[0].content) == (key, text)
        assert nd.report(solr, by="bands").documents >= len(titles)


def test_a_collection_that_nobody_has_annotated(home: Path) -> None:
    """Nothing would ever be near its documents, so it is refused; without any it is not."""
    with theirs.collection() as solr:
        assert actions(nd.gate([document("new", FOX)], solr)) == {"new": "allow"}
        theirs.add(solr, theirs.documents(5))
        with refusal(nd.SettingsError, "fields-missing", "neardup annotate"):
            nd.gate([document("new", FOX)], solr)
        nd.annotate(solr)
        assert actions(nd.gate([document("new", FOX)], solr)) == {"new": "allow"}


def test_one_request_does(solr: nd.Collection) -> None:
    """Once the settings were met, a document without hot bands takes one request."""
    nd.index([document("1", FOX)], solr)
    requests: list[str] = []

    def note(path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
        requests.append(path.partition("?")[0].rpartition("/")[2])
        return answer()

    with front(solr.base, between=note) as address:
        passing = nd.connect(address, solr.name)
        requests.clear()
        first = list(nd.gate([document("new", FOX)], passing))
        assert len(requests) > 1
        requests.clear()
        assert list(nd.gate([document("new", FOX)], passing)) == first
        assert requests == ["select"]
    assert [(one.action, one.matches[0].id) for one in first] == [("reject", "1")]


def test_other_settings_are_noticed(solr: nd.Collection) -> None:
    """Whatever others do to a collection, the gate goes by the settings that it has now."""

    def gated() -> list[tuple[str, ...]]:
        # What has no words asks nothing of Solr, and so learns nothing of its settings.
        documents = [document("none", "\u200b"), document("new", FOX), document("newer", FOX)]
        decided = nd.gate(documents, solr, batch=1, exact="hold")
        return [tuple(match.id for match in one.matches) for one in decided]

    nd.index([document("1", FOX)], solr)
    assert gated() == [(), ("1",), ("1",)]
    elsewhere = solr.with_names(solr.names)
    nd.delete(elsewhere, query="*:*")
    assert gated() == [(), (), ("new",)]
    nd.index([document("2", FOX)], elsewhere, settings=nd.Settings(shingle_size=2))
    assert gated() == [(), ("2",), ("2",)]
    nd.delete(elsewhere, query="*:*")
    nd.index([document("3", FOX)], elsewhere, settings=nd.Settings(shingle_size=4))
    assert gated() == [(), ("3",), ("3",)]
    solr.add([{"id": "4", "content": FOX, "signature_settings": nd.Settings().fingerprint}])
    solr.commit()
    with refusal(nd.SettingsError, "settings-differ"):
        gated()


def test_the_same_run_again(solr: nd.Collection) -> None:
    """Who was admitted is again, for the same reasons; who was kept out is not let in."""
    new = drawn(300, 7, "n")
    policy: dict[str, Any] = {"reject": 0.97, "hold": 0.85, "tag": 0.6}
    first, second = (actions(nd.gate(new, solr, **policy, index=True)) for _ in range(2))
    assert {"allow", "tag", "hold", "reject"} == set(first.values())
    for id, action in first.items():
        assert second[id] == action or (action, second[id]) == ("hold", "reject")


def test_a_document_that_replaces_another_keeps_its_columns(solr: nd.Collection) -> None:
    """As with `index`: nothing is sent that lacks a column of the one there, unless asked for."""
    nd.index([nd.Document(id="1", text="a first text", kept={"price": "5"})], solr)
    nd.index([nd.Document(id="2", text="a second one", kept={"city": "Rome"})], solr)
    new = [nd.Document(id="1", text="quite another text of some words")]
    with refusal(nd.SettingsError, "data-at-risk", "price", "`keep`"):
        list(nd.gate(new, solr, index=True))
    assert solr.count(["price:5"]) == 1
    assert actions(nd.gate(new, solr)) == {"1": "allow"}
    assert actions(nd.gate(new, solr, index=True, keep=())) == {"1": "allow"}
    assert solr.count(["price:5"]) == 0


def test_the_gate_tells_which_documents_it_replaced(solr: nd.Collection) -> None:
    """One whose id the collection had before, or this run has sent; none if nothing is indexed."""
    nd.index([document("1", FOX)], solr)
    news = [document("1", LAMP), document("2", "a b c d"), document("3", "e f g h"),
            document("2", "quite another text"), document("4", LAMP)]  # fmt: skip
    assert [one.replaces for one in nd.gate(news, solr)] == [False] * 5
    for batch in (50, 2):
        found = list(nd.gate(news, solr, reject=0.9, index=True, batch=batch))
        assert [one.action for one in found] == ["allow"] * 4 + ["reject"]
        expected = [True, False, False, True, False] if batch == 50 else [True] * 4 + [False]
        assert [one.replaces for one in found] == expected


def test_the_progress_of_a_list_has_a_share(solr: nd.Collection) -> None:
    """What is in memory as a whole has a known number of records; a generator has not."""
    news = [document(str(n), f"{n} of the many words {n}") for n in range(120)]
    seen: list[nd.types.Progress] = []
    list(nd.gate(news, solr, on_progress=seen.append))
    nd.index(news, solr, on_progress=seen.append)
    assert {one.stage: one.share for one in seen} == {"deciding": 1.0, "indexing": 1.0}
    list(nd.gate(iter(news), solr, on_progress=seen.append))
    assert seen[-1].share is None


@pytest.mark.parametrize("batch", [1, 50])
def test_templates_are_held_and_copies_rejected(
    solr: nd.Collection, batch: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Alerts that would be rejected for each other are held, from the fifth on or its batch."""
    alerts = [
        document(str(n), f"disk usage on web {n} is {70 + n} percent of the volume var")
        for n in range(20)
    ]
    nd.index([alerts[0], document("fox", FOX), document("lamp", LAMP)], solr)
    coming = [*alerts[1:], document("copy", alerts[0].text), document("near", f"{LAMP} again")]
    asked: dict[str, Any] = {"reject": 0.6, "batch": batch}
    made = actions(nd.gate(coming, solr, **asked))
    count = 4 if batch == 1 else 0  # before it can be seen that they are a template
    expected = ["reject"] * count + ["hold"] * (19 - count)
    assert [made[one.id] for one in alerts[1:]] == expected
    assert (made["copy"], made["near"]) == ("reject", "reject")
    (said,) = [line.getMessage() for line in caplog.records]
    assert f"{19 - count} documents share “disk usage on web … is … percent" in said
    caplog.clear()
    made = actions(nd.gate(coming, solr, yes=True, **asked))
    assert set(made.values()) == {"reject"}
    assert not caplog.records


@pytest.mark.parametrize("batch", [1, 10, 200])
def test_templates_of_few_words_are_held(
    solr: nd.Collection, batch: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Short alerts are near to different ones that came in, and alike all the same."""
    rng = random.Random(1)
    alerts = [
        document(str(n), f"Disk usage on host-{n:03} is {rng.randrange(80, 100)} percent.")
        for n in range(200)
    ]
    made = list(nd.gate(alerts, solr, reject=0.8, batch=batch))
    assert len({one.matches[0].id for one in made if one.action == "hold"}) > 20
    near = [at for at, one in enumerate(made) if one.action in ("hold", "reject")]
    fifth = near[4] - near[4] % batch  # where its batch begins
    assert [at for at in near if made[at].action == "reject"] == [at for at in near if at < fifth]
    (said,) = [line.getMessage() for line in caplog.records]
    assert "share “disk usage on … is … percent”" in said


def test_templates_of_two_kinds_are_held(
    solr: nd.Collection, caplog: pytest.LogCaptureFixture
) -> None:
    """Reminders of classes and of meetings are alike, and of two templates."""
    first = "reminder the {} class in the harbour hall starts at ten, bring a towel, a bottle of"
    second = "reminder the {} meeting in the harbour hall starts at ten, bring a chair, a cup of"
    end = " water and your member card, and tell us a day before if you cannot come"
    texts = [first.format(name) + end for name in ("yoga", "judo", "dance", "tennis", "karate")]
    texts += [second.format(name) + end for name in ("chess", "garden", "book", "film", "choir")]
    coming = [document(f"{n}", text) for n, text in enumerate(texts)]
    nd.index([coming[0]], solr)
    made = actions(nd.gate(coming[1:], solr, reject=0.7))
    assert set(made.values()) == {"hold"}
    (said,) = [line.getMessage() for line in caplog.records]
    assert "9 documents of 2 kinds, such as “reminder the … " in said


def test_copies_of_different_texts_are_no_template(
    solr: nd.Collection, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is rejected for the text that it was made of, after many groups, too."""
    monkeypatch.setattr(SIZES, "template_groups", 100)
    count = 120
    texts = [" ".join(f"{word}{n}" for word in FOX.split()) for n in range(count)]
    coming = [document(f"{n}", text) for n, text in enumerate(texts)]
    coming += [document(f"near-{n}", f"{text} again") for n, text in enumerate(texts)]
    made = actions(nd.gate(coming, solr, reject=0.6, batch=100))
    assert {made[f"near-{n}"] for n in range(count)} == {"reject"}
    assert not caplog.records


@pytest.mark.parametrize("batch", [1, 50])
def test_digests_and_what_they_quote_are_held(solr: nd.Collection, batch: int) -> None:
    """Texts that a digest quotes, or that quote others, are no copies; an excerpt may be."""
    rng = random.Random(1)
    words = ["".join(rng.choices("aeioulmnrst", k=6)) for _ in range(60)]
    notices = [" ".join(words[at : at + 15]) for at in range(0, 60, 15)]
    pages = [f"{one} {other}" for one, other in zip(notices[::2], notices[1::2], strict=True)]
    asked: dict[str, Any] = {"reject": 0.8, "measure": "containment", "batch": batch}
    long = " ".join(f"{word}{n}" for n in range(3) for word in LAMP.split())
    nd.index([document("page", pages[0]), document("long", long)], solr)
    nd.index([document(f"notice {n}", notices[n]) for n in (2, 3)], solr)
    coming = [document("first", notices[0]), document("second", notices[1])]
    coming += [document("digest", pages[1]), document("excerpt", long.rsplit(" ", 5)[0])]
    made = actions(nd.gate(coming, solr, **asked))
    # With a batch of one, the first text of the page is decided about before the second comes.
    assert made == {
        "first": "reject" if batch == 1 else "hold", "second": "hold", "digest": "hold",
        "excerpt": "reject",
    }  # fmt: skip
    assert set(actions(nd.gate(coming, solr, yes=True, **asked)).values()) == {"reject"}
