"""Faults of the network between the client and a real Solr.

Whatever happens to a connection: a call that returns has told the truth, any other raises an error
of ours, and once the fault is gone everything is there, once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, cycle
from typing import Any
from urllib.parse import urlsplit

import pytest

import neardup_solr as nd
from tests.faults.proxy import End, Fault, Proxy, proxied
from tests.faults.tiers import sized

POINTS = sized(usual=10, full=200)
ONCE, AGAIN = 1, 4  # attempts
BATCH = 3
ENDS: tuple[End, ...] = ("close", "reset")
TEXT = "a text of some words, the same in each document"
READ_SECONDS = 0.5  # in which no answer comes


@pytest.fixture
def proxy(solr: nd.Collection) -> Iterator[Proxy]:
    """A proxy before the Solr of the fixture `solr`."""
    port = urlsplit(solr.url).port
    assert port is not None
    with proxied(port) as made:
        yield made


def client(proxy: Proxy, solr: nd.Collection, attempts: int) -> nd.Collection:
    """A client whose next request is by a new connection, to a Solr that has answered it before."""
    made = nd.connect(proxy.url, solr.name)
    made.session.retry = replace(made.session.retry, attempts=attempts, first_wait=0.001)
    made.session.close()
    return made


def cuts(total: int) -> list[int]:
    """Bytes at which to cut, from none to all of them, and one that is never reached."""
    return [round(total * at / (POINTS - 1)) for at in range(POINTS)] + [2 * total]


def faults_of(call: Callable[[], object], proxy: Proxy) -> list[Fault]:
    """Cuts all over the request and all over the answer of a call that goes well."""
    before = dict(proxy.passed)
    call()
    sizes = {way: proxy.passed[way] - before[way] for way in before}
    assert min(sizes.values()) > 100
    ends = cycle(ENDS)
    return [Fault(request=at, end=next(ends)) for at in cuts(sizes["request"])] + [
        Fault(response=at, end=next(ends)) for at in cuts(sizes["response"])
    ]


def succeeds(call: Callable[[], object]) -> bool:
    """Whether a call returns; only an error of ours is another way to end."""
    try:
        call()
    except nd.NeardupError:
        return False
    return True


def both_ways(
    faults: list[Fault], proxy: Proxy, solr: nd.Collection, call: Callable[[nd.Collection], bool]
) -> int:
    """Call once through each fault by a client that never tries again, and by one that does.

    Gives how often the latter got through. It gives up only if an answer ends within its headers:
    to HTTP that is an empty answer, and those are not asked for again.
    """
    single = again = 0
    for fault in faults:
        target = client(proxy, solr, ONCE)
        proxy.fault(fault)
        single += call(target)
        proxy.heal()
        target = client(proxy, solr, AGAIN)
        proxy.fault(fault)
        through = call(target)
        assert through or (fault.response is not None and fault.end == "close")
        again += through
        proxy.heal()
    assert 0 < single < len(faults) // 4  # else the faults did not reach the calls
    assert again > 0.8 * len(faults)
    return again


def test_updates_that_are_cut(solr: nd.Collection, proxy: Proxy, row: Any) -> None:
    """An update that is cut has raised, or its documents are there.

    Tried again, all documents are there, once, and whole.
    """
    numbers = count()
    sent: list[str] = []
    acknowledged: set[str] = set()

    def batch() -> list[dict[str, str]]:
        ids = [str(next(numbers)) for _ in range(BATCH)]
        sent.extend(ids)
        return [{"id": id, "content": TEXT} for id in ids]

    def add(target: nd.Collection, documents: list[dict[str, str]]) -> bool:
        def call() -> None:
            assert target.add(documents) == ()

        taken = succeeds(call)
        if taken:
            acknowledged.update(one["id"] for one in documents)
        return taken

    first = client(proxy, solr, ONCE)
    tried = faults_of(lambda: add(first, batch()), proxy)
    through = both_ways(tried, proxy, solr, lambda target: add(target, batch()))
    solr.commit()
    found = list(solr.ids())
    assert len(found) == len(set(found)) == solr.count()
    assert acknowledged <= set(found) <= set(sent)
    whole = solr.texts(found)
    assert set(whole.values()) == {TEXT}
    for target in sent:  # what failed is sent again, as a user would
        if target not in acknowledged:
            solr.add([{"id": target, "content": TEXT}])
    solr.commit()
    assert sorted(solr.ids()) == sorted(sent)
    row("R5", f"{len(tried)} of {len(tried)} cuts of an update right, {through} overcome at once")


def test_searches_that_are_cut(solr: nd.Collection, proxy: Proxy, row: Any) -> None:
    """A search cut at any byte has either raised, or found all there is; tried again, it finds."""
    ids = [f"{number:03}" for number in range(40)]
    solr.add([{"id": id, "content": TEXT} for id in ids])
    solr.commit()

    def search(target: nd.Collection) -> bool:
        def call() -> None:
            assert target.texts(ids) == dict.fromkeys(ids, TEXT)

        return succeeds(call)

    first = client(proxy, solr, ONCE)
    tried = faults_of(lambda: search(first), proxy)
    through = both_ways(tried, proxy, solr, search)
    row("R5", f"{len(tried)} of {len(tried)} cuts of a search right, {through} overcome at once")


def test_exports_that_are_cut(solr: nd.Collection, proxy: Proxy) -> None:
    """An export cut at any byte has either raised, or given all there is."""
    ids = [f"{number:03}" for number in range(40)]
    solr.add([{"id": id, "signature": TEXT} for id in ids])
    solr.commit()
    shard = client(proxy, solr, ONCE)

    def export() -> bool:
        def call() -> None:
            assert [one["id"] for one in shard.export(["id", "signature"])] == ids

        shard.session.close()  # so that the fault meets a new connection
        return succeeds(call)

    tried = faults_of(export, proxy)
    taken = 0
    for fault in tried:
        proxy.fault(fault)
        taken += export()
        proxy.heal()
    assert 0 < taken < len(tried) // 4


SHAPES = {
    "latency": Fault(latency=0.05),
    "slow": Fault(rate=20_000),
    "slicer": Fault(piece=7),
    "slow slicer": Fault(piece=50, rate=20_000),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_slow_connections(solr: nd.Collection, proxy: Proxy, shape: str, row: Any) -> None:
    """Documents go through latency, few bytes a second and tiny pieces, once and whole."""
    ids = [f"{number:03}" for number in range(20)]
    documents = [{"id": id, "content": TEXT} for id in ids]
    target = client(proxy, solr, ONCE)
    proxy.fault(SHAPES[shape], connections=100)
    assert target.add(documents) == ()
    target.commit()
    assert target.texts(ids) == dict.fromkeys(ids, TEXT)
    assert sorted(target.ids()) == ids
    row("R5", f"{shape}: all there, once")


HOLES = {
    "request": Fault(request=0, end="hang"),
    "answer": Fault(response=0, end="hang"),
    "middle of the answer": Fault(response=60, end="hang"),
}


@pytest.mark.parametrize("hole", HOLES)
def test_black_holes(solr: nd.Collection, proxy: Proxy, hole: str, row: Any) -> None:
    """Where nothing passes any more, a call ends by its time-outs; then all is there once."""
    target = client(proxy, solr, 3)
    patient, target.session.read_seconds = target.session.read_seconds, READ_SECONDS
    proxy.fault(HOLES[hole], connections=100)
    before, began = proxy.connections, time.monotonic()
    assert not succeeds(lambda: target.add([{"id": "1", "content": TEXT}]))
    took = time.monotonic() - began
    assert proxy.connections == before + 3  # the attempts, each on a connection of its own
    # The time-outs, with a generous allowance for a busy machine.
    assert took < 3 * READ_SECONDS + 20
    proxy.heal()
    target.session.read_seconds = patient
    assert target.add([{"id": "1", "content": TEXT}]) == ()
    target.commit()
    assert list(target.ids()) == ["1"]
    row("R5", f"black hole in the {hole}: ended after its time-outs")


def test_a_connection_that_hangs_only_once(solr: nd.Collection, proxy: Proxy) -> None:
    """An update that timed out may have been applied: sent again, it is there once."""
    target = client(proxy, solr, AGAIN)
    patient, target.session.read_seconds = target.session.read_seconds, 3.0
    before = proxy.connections
    proxy.fault(Fault(response=0, end="hang"))
    assert target.add([{"id": "1", "content": TEXT}, {"id": "2", "content": TEXT}]) == ()
    target.session.read_seconds = patient
    target.commit()
    assert list(target.ids()) == ["1", "2"]
    assert proxy.connections >= before + 2


def test_answers_that_come_twice(solr: nd.Collection, proxy: Proxy, row: Any) -> None:
    """The second copy of an answer is never taken for the answer to the next request."""
    solr.add([{"id": str(number), "content": f"{TEXT} {number}"} for number in range(30)])
    solr.commit()
    target = client(proxy, solr, AGAIN)
    proxy.fault(Fault(copies=2), connections=100)
    for number in range(30):
        assert target.texts([str(number)]) == {str(number): f"{TEXT} {number}"}
    row("R5", "30 of 30 doubled answers told apart")


def test_many_threads_through_faults(solr: nd.Collection, proxy: Proxy) -> None:
    """Threads that share a session all get through connections of which every other is cut."""
    target = client(proxy, solr, 12)
    refused: list[object] = []

    def send(part: int) -> None:
        for number in range(10):
            proxy.fault(Fault(request=100 * number, end=ENDS[number % 2]))
            refused.extend(target.add([{"id": f"{part}-{number}", "content": TEXT}]))

    threads = [threading.Thread(target=send, args=[part]) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    proxy.heal()
    solr.commit()
    assert refused == []
    assert sorted(solr.ids()) == sorted(f"{p}-{n}" for p in range(4) for n in range(10))
