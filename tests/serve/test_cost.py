"""What a search may cost Solr: it stays up, and nobody asks it for more than it works on."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.conftest import Cores
from tests.faults.scripted import Answer
from tests.serve.test_serve import CAFE, LISTINGS
from tests.services import Served, serving
from tests.solr.front import front

WORDS = [f"word{number}" for number in range(9_000)]
TERMS = 16_000  # that Solr is asked for at most


def make_words(count: int, seed: int) -> list[str]:
    """Make so many words whose shingles no other text has."""
    return random.Random(seed).choices(WORDS, k=count)


LONG = make_words(60_000, 0)
EXCERPTS = [{"id": f"excerpt{at}", "text": " ".join(LONG[at : at + 200])}
            for at in range(0, 60_000, 6_000)]  # fmt: skip


@pytest.fixture(scope="module")
def large(core_pool: Cores) -> Iterator[nd.Collection]:
    """A core with all fields: twenty listings, a text of 0.4 MB, and excerpts of another one."""
    core = core_pool.take()
    other = {"id": "large", "text": " ".join(make_words(60_000, 1))}
    nd.index([*LISTINGS, other, *EXCERPTS], core, settings={"fields": "all"})
    yield core
    core_pool.give_back(core.name)


def test_large_texts_are_searched_for_by_a_sample(large: nd.Collection) -> None:
    """They find themselves and their excerpts, always alike, by a bounded number of terms."""
    found = nd.search(large, text=" ".join(LONG), measure="containment", by="shingles")
    assert {match.id for match in found} == {each["id"] for each in EXCERPTS}
    (match,) = nd.search(large, text=" ".join(make_words(60_000, 1)), by="shingles")
    assert (match.id, match.similarity) == ("large", 1.0)
    assert match.shared <= TERMS
    assert [match] == nd.search(large, text=" ".join(make_words(60_000, 1)), by="shingles")


def test_ordinary_texts_are_searched_for_by_all_terms(large: nd.Collection) -> None:
    """Those of ten thousand words share all of them with themselves."""
    words = make_words(10_000, 2)
    nd.index([{"id": "own", "text": " ".join(words)}], large)
    (match,) = nd.search(large, text=" ".join(words), by="shingles")
    large.delete_ids(["own"])
    large.commit()
    assert match.shared == len({*zip(words, words[1:], words[2:], strict=False)})


class Gate:
    """A way to Solr that holds searches until it is opened, and counts those that it holds."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.lock = threading.Lock()
        self.held = self.most = 0

    def pass_on(self, path: str, body: bytes, ask: Callable[[], Answer]) -> Answer:
        """Hold the requests of searches, by what they are about."""
        if b"heldheldheld" not in body:
            return ask()
        with self.lock:
            self.held += 1
            self.most = max(self.most, self.held)
        self.opened.wait(120)
        with self.lock:
            self.held -= 1
        return ask()


def search_held(served: Served, number: int) -> int:
    """Search by a filter that the gate knows."""
    body = {"text": f"{CAFE} number {number}", "fq": "-id:heldheldheld"}
    return served.ask("search", body).status


def test_no_more_is_asked_than_solr_works_on(large: nd.Collection, tmp_path: Path) -> None:
    """Searches without an answer end in time, but others wait until Solr has answered them."""
    gate = Gate()
    change = "service.ANSWER_SECONDS = 2.0; service.KEPT_SECONDS = 100.0"
    with ExitStack() as held:
        address = held.enter_context(front(large.base, between=gate.pass_on))
        held.callback(gate.opened.set)
        log = tmp_path / "log"
        words = ("--hold", "0.8")
        served = held.enter_context(serving(f"{address}/{large.name}", log, *words, change=change))
        with ThreadPoolExecutor(40) as pool:
            assert {*pool.map(lambda n: search_held(served, n), range(40))} <= {429, 503}
            assert {*pool.map(lambda n: search_held(served, n), range(40))} <= {429, 503}
        assert 1 <= gate.most <= 8
        new = {"id": "near", "text": f"{CAFE} number 3 x"}
        while served.ask("check", new).status != 200:
            assert served.process.poll() is None
        gate.opened.set()
        while (answer := served.ask("search", {"text": CAFE})).status != 200:
            assert served.process.poll() is None
        assert answer.json["matches"]
        assert "never retrieved" not in log.read_text()
