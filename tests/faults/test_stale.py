"""A proxy that gives earlier answers instead of the right ones, of which none is believed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

import neardup_solr as nd
from tests.conftest import Cores
from tests.faults.scripted import Answer
from tests.faults.tiers import sized
from tests.services import serving
from tests.solr.front import front

COMPLETE = {"complete": True}  # which it is not if the documents cannot be counted
ROUNDS = sized(usual=6, full=60)
SHARE = 0.2  # of answers that are those of earlier requests
WORDS = [f"word{number}" for number in range(300)]


def make_documents() -> Iterator[dict[str, str]]:
    """Make twenty pairs of documents that differ in a word."""
    draw = random.Random(1)
    for number in range(20):
        words = draw.choices(WORDS, k=40)
        yield {"id": f"first{number}", "text": " ".join(words)}
        yield {"id": f"second{number}", "text": " ".join(["changed", *words[1:]])}


DOCUMENTS = [*make_documents()]
NEW = [{**document, "id": f"new {document['id']}"} for document in DOCUMENTS[:3]]


class Stale:
    """A way to Solr that mixes in earlier answers, most of them of the same path, while it `lies`.

    With `is_mute` Solr's answers do not repeat parameters of requests.
    """

    def __init__(self, *, is_mute: bool) -> None:
        self.is_mute, self.lies = is_mute, False
        self.told = 0
        self.draw = random.Random(2)
        self.earlier: list[tuple[str, Answer]] = []

    def pass_on(self, path: str, body: bytes, ask: Callable[[], Answer]) -> Answer:
        """Give Solr's answer, or an earlier one."""
        answer, place = ask(), path.partition("?")[0]
        if self.is_mute and b'"responseHeader"' in answer.body:
            decoded: dict[str, Any] = orjson.loads(answer.body)
            decoded["responseHeader"].pop("params", None)
            answer = replace(answer, body=orjson.dumps(decoded))
        self.earlier.append((place, answer))
        if not self.lies or self.draw.random() > SHARE:
            return answer
        is_same = self.draw.random() < 0.7
        self.told += 1
        return self.draw.choice(
            [other for at, other in self.earlier[-60:] if not is_same or at == place]
        )


@pytest.fixture(scope="module")
def listings(core_pool: Cores) -> Iterator[nd.Collection]:
    """A core with the documents and all fields."""
    core = core_pool.take()
    nd.index(DOCUMENTS, core, settings={"fields": "all"})
    yield core
    core_pool.give_back(core.name)


def list_pairs(result: nd.Report | nd.Duplicates) -> list[tuple[str, str]]:
    """List the ids of pairs."""
    return sorted((pair.id, pair.other_id) for pair in result.pairs)


CALLS: dict[str, Callable[[nd.Collection], object]] = {
    **{f"search for {n}": partial(nd.search, text=DOCUMENTS[n]["text"]) for n in range(4)},
    "search by id": lambda solr: nd.search(solr, id="first3"),
    "search by bands": lambda solr: nd.search(solr, id="first3", by="bands"),
    "gate": lambda solr: [each.action for each in nd.gate(NEW, solr, reject=0.8, patience=0)],
    "explain": lambda solr: nd.explain(solr, "first3", "second3").verdict,
    "report": lambda solr: list_pairs(nd.report(solr)),
    "duplicates": lambda solr: list_pairs(nd.duplicates(solr)),
}  # fmt: skip


@pytest.mark.parametrize("is_mute", [False, True])
def test_no_call_believes_an_answer_to_another_request(
    listings: nd.Collection, is_mute: bool
) -> None:
    """A result is right, or an error of ours; without repeated parameters it is no other error."""
    expected = {name: call(listings) for name, call in CALLS.items()}
    stale, outcomes = Stale(is_mute=is_mute), Counter[str]()
    with front(listings.base, between=stale.pass_on) as address:
        solr = nd.connect(address, listings.name)
        for call in CALLS.values():
            call(solr)
        solr.session.retry = replace(solr.session.retry, attempts=1)
        stale.lies = True
        for _ in range(ROUNDS):
            for name, call in CALLS.items():
                try:
                    result = call(solr)
                except nd.NeardupError:
                    outcomes["refused"] += 1
                else:
                    outcomes["right" if result == expected[name] else "wrong"] += 1
    assert stale.told
    assert outcomes["right"]
    assert outcomes["refused"]
    assert outcomes["wrong"] == 0 or is_mute


def test_what_is_indexed_is_all_there(core_pool: Cores) -> None:
    """`index` waits for the answers to its own requests."""
    core, stale = core_pool.take(), Stale(is_mute=False)
    with front(core.base, between=stale.pass_on) as address:
        solr = nd.connect(address, core.name)
        nd.index(DOCUMENTS[:2], solr)
        stale.lies = True
        nd.index(DOCUMENTS, solr)
        stale.lies = False
        assert {*core.ids()} == {document["id"] for document in DOCUMENTS}
        assert core.texts(["first7"]) == {"first7": DOCUMENTS[14]["text"]}
    core_pool.give_back(core.name)


@pytest.mark.parametrize("is_mute", [False, True])
def test_the_service_answers_rightly_or_503(
    listings: nd.Collection, tmp_path: Path, is_mute: bool
) -> None:
    """Whatever is missing in an answer, nothing is an internal error."""
    requests: list[tuple[str, object]] = [
        *(("search", {"text": document["text"]}) for document in DOCUMENTS[:4]),
        ("search", {"id": "first3", "by": "bands"}),
        *(("check", document) for document in NEW),
        ("explain?id=first3&other_id=second3", None),
    ]
    stale = Stale(is_mute=is_mute)
    with ExitStack() as held:
        address = held.enter_context(front(listings.base, between=stale.pass_on))
        collection = f"{address}/{listings.name}"
        served = held.enter_context(serving(collection, tmp_path / "log", "--reject", "0.8"))
        expected = [served.ask(path, body).json for path, body in requests]
        stale.lies = True
        statuses, wrong = Counter[int](), list[tuple[object, object]]()
        for _ in range(2 * ROUNDS):
            for (path, body), right in zip(requests, expected, strict=True):
                answer = served.ask(path, body)
                statuses[answer.status] += 1
                kept = {name: value for name, value in answer.json.items() if name in right}
                if answer.status == 200 and kept | COMPLETE != right | COMPLETE:
                    wrong.append((answer.json, right))
        stale.lies = False
    assert stale.told
    # Without repeated parameters, an answer without documents may be that to any request.
    assert statuses.keys() - ({404} if is_mute else set()) == {200, 503}
    assert wrong == [] or is_mute
