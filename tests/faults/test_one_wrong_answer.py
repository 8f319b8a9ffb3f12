"""One wrong answer on the way to a real Solr, at each request of a verb in turn.

A proxy that restarts, or a Solr that stumbles once, costs a repetition and nothing else. A wrong
answer that stays, and a Solr that never answers, end a run when patience is at its end, and the
next run goes on from the checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr import Collection
from neardup_solr.testing import SIZES
from tests import command
from tests.faults.history import checkpointed
from tests.faults.scripted import Answer
from tests.faults.test_answers import error
from tests.faults.tiers import is_full, sized
from tests.solr.front import front
from tests.solr.test_nodes_away import neardup

WRONG = {
    "HTTP 500": error("it stumbled", 500),
    "text": Answer(kind="text/plain", body=b"upstream connect error"),
    "damaged JSON": Answer(body=b'{"responseHeader":{"status":0,"QTi'),
    "a redirect": Answer(status=302, kind="text/html", location="http://127.0.0.1:9/", body=b""),
}
DOCUMENTS = 24
BATCH = 4


@dataclass(slots=True)
class Way:
    """What lies between a client and its Solr: something wrong with some of the requests.

    `wrong` are the answers by the numbers of the requests that get them; every other of these
    requests does not even reach Solr. From `stays_from` on all get the answer `stays`, or none.
    """

    wrong: dict[int, Answer] = field(default_factory=dict)
    stays_from: int | None = None
    stays: Answer | None = None
    asked: list[str] = field(default_factory=list)
    over: Event = field(default_factory=Event)
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
        with self._lock:
            number = len(self.asked)
            self.asked.append(path.partition("?")[0])
        if self.stays_from is not None and number >= self.stays_from:
            if self.stays is None:
                self.over.wait()
            return self.stays or Answer(status=503, body=b"")
        lie = self.wrong.get(number)
        if lie is None:
            return answer()
        if number % 2:
            answer()
        return lie

    def heal(self) -> None:
        """Let all that is asked from now on be answered by Solr."""
        self.stays_from = None
        self.over.set()


@contextmanager
def through(way: Way, solr: Collection) -> Iterator[Collection]:
    """A client that is connected, and whose requests go that way from now on."""
    is_connected = Event()

    def pass_on(path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
        return way(path, body, answer) if is_connected.is_set() else answer()

    with front(solr.base, between=pass_on) as address, pytest.MonkeyPatch.context() as patch:
        patch.setattr(SIZES, "longest_wait", 0.001)
        collection = nd.connect(address, solr.name)
        is_connected.set()
        yield collection
        way.heal()


def texts(count: int = DOCUMENTS) -> list[nd.Document]:
    """Documents of which every two are near-duplicates."""
    words = [f"word{number}" for number in range(40)]
    return [
        nd.Document(id=f"d{at:03}", text=" ".join([f"topic{at // 2}", *words[at // 2 :], f"x{at}"]))
        for at in range(count)
    ]


def index(collection: Collection) -> object:
    """Index them in small batches, with a few checkpoints."""
    done = nd.index(texts(), collection, keep=(), batch=BATCH, checkpoint_every=DOCUMENTS // 2)
    assert (done.indexed, done.failed, done.documents) == (DOCUMENTS, 0, DOCUMENTS)
    return sorted(collection.ids())


def annotate(collection: Collection) -> object:
    """Add the fields to documents of other programs, then remove them."""
    done = nd.annotate(collection, batch=BATCH * 2)
    assert (done.failed, collection.count(["signature:*"])) == (0, DOCUMENTS)
    nd.strip(collection, batch=BATCH * 2)
    return collection.count(["signature:*"])


def gate(collection: Collection) -> object:
    """Let new documents in."""
    new = [nd.Document(id=f"n{one.id}", text=one.text) for one in texts()[:8]]
    news = [*new, nd.Document(id="other", text="nothing like any of the others")]
    decided = nd.gate(news, collection, index=True, batch=3, hold=0.1, reject=0.2)
    return [(one.action, one.document.id) for one in decided], collection.count()


def duplicates(collection: Collection) -> object:
    """Compare all documents, and mark the clusters."""
    found = nd.duplicates(collection, min_similarity=0.9)
    marks = nd.mark(collection, found, yes=True)
    assert nd.mark(collection, ()).cleared == marks.marked
    return [cluster.id for cluster in found.clusters], marks.marked


def report(collection: Collection) -> object:
    """Find the near-duplicates of each document."""
    found = nd.report(collection)
    return found.documents, [(pair.id, pair.other_id) for pair in found.pairs]


def search(collection: Collection) -> object:
    """Ask for the near-duplicates of a text, and of a document."""
    found = nd.search(collection, id="d000"), nd.search(collection, text=texts()[1].text)
    return [[match.id for match in matches] for matches in found]


# How many requests get a wrong answer; each kind of it a verb that writes, exports or reads.
VERBS = {index: 4, annotate: 2, gate: 2, duplicates: 4, report: 2, search: 4}
KINDS = sized(usual=1, full=len(WRONG))  # of wrong answers that each request gets


def some(asked: list[str], most: int) -> list[int]:
    """The numbers of requests all over a run, without the first one."""
    return list(range(1, len(asked), -(-len(asked) // most)))


@pytest.mark.parametrize(("verb", "most"), VERBS.items())
def test_one_wrong_answer_costs_nothing(
    solr: Collection, verb: Callable[[Collection], object], most: int, row: Any
) -> None:
    """At whichever request but the first: the result is that of a run without a fault."""
    if verb is not index:
        nd.index(texts(), solr)
    if verb is annotate:
        nd.strip(solr)
    clean = Way()
    with through(clean, solr) as collection:
        expected = verb(collection)
    runs = 0
    numbers = some(clean.asked, sized(usual=most, full=10_000))
    for place, number in enumerate(numbers):
        for at in range(KINDS):
            kind = [*WRONG][(place + at) % len(WRONG)]
            solr.delete_query("id:(n* OR other)")
            solr.commit()
            with through(Way(wrong={number: WRONG[kind]}), solr) as collection:
                assert verb(collection) == expected, (kind, clean.asked[number])
            runs += 1
    row("R6b", f"{verb.__name__}: {runs} of {runs} right")


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_answer_at_the_very_start_ends_at_once(solr: Collection, kind: str) -> None:
    """The address may be wrong: nothing is asked a second time, and nothing is told to go on."""
    way = Way(stays_from=0, stays=WRONG[kind])
    with (
        front(solr.base, between=way) as address,
        pytest.raises(nd.errors.SolrAnswerError) as caught,
    ):
        nd.connect(address, solr.name, patience=60)
    assert len(way.asked) == 1
    assert not caught.value.may_pass


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request has half a second, whatever patience is left."""
    monkeypatch.setattr(SIZES, "least_read_seconds", 0.5)
    monkeypatch.setattr(SIZES, "probe_seconds", 0.5)


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("stays", [None, *WRONG])
def test_a_solr_that_stays_silent_or_wrong(
    solr: Collection, tmp_path: Path, stays: str | None, row: Any
) -> None:
    """From whichever request on: the run ends in time and says how to go on, which it can."""
    patience, clean = 1.0, Way()
    with through(clean, solr) as collection:
        index(collection)
    longest = 0.0
    numbers = some(clean.asked, sized(usual=3, full=12))
    if stays and not is_full():
        # By day one of them each: a Solr that stays silent does so at all.
        numbers = [numbers[[*WRONG].index(stays) % len(numbers)]]
    for number in numbers:
        solr.delete_query("*:*")
        solr.commit()
        job = tmp_path / f"job{number}"
        way = Way(stays_from=number, stays=None if stays is None else WRONG[stays])
        with through(way, solr) as collection:
            began = time.monotonic()
            with pytest.raises(nd.SolrError) as caught:
                nd.index(
                    texts(), collection, keep=(), batch=BATCH, checkpoint_every=DOCUMENTS // 2,
                    job=job, patience=patience,
                )  # fmt: skip
            longest = max(longest, time.monotonic() - began)
            (note,) = caught.value.__notes__
            done = checkpointed(job)
            assert note.startswith(f"The first {done} records" if done else "No record")
            way.heal()
            again = nd.index(texts(), collection, keep=(), batch=BATCH, job=job, resume=True)
        assert (again.read, again.indexed, again.resumed) == (DOCUMENTS, DOCUMENTS, done)
        assert list(solr.ids()) == [one.id for one in texts()]
    assert longest < patience + 10
    row("R6c", f"{stays or 'never an answer'}: ended {longest - patience:.0f} s after its patience")


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    ("stays", "since"), [(None, 30), ("text", 9), *sized(usual=[], full=[("text", 30)])]
)
def test_a_solr_that_ends_the_command(
    solr: Collection, tmp_path: Path, stays: str | None, since: int
) -> None:
    """Its exit code is that of a run that can be resumed, and a line says how."""
    source, job = tmp_path / "texts.jsonl", tmp_path / "job"
    source.write_text("".join(f'{{"id":"{one.id}","text":"{one.text}"}}\n' for one in texts()))
    words = ["index", str(source), "-c", solr.name, "--batch", "4", "--checkpoint-every", "8",
             "--job", str(job)]  # fmt: skip
    way = Way(stays_from=since, stays=None if stays is None else WRONG[stays])
    with front(solr.base, between=way) as address:
        began = time.monotonic()
        # By day a silent Solr is met in this process, where a request has less time.
        run = neardup if stays or is_full() else command.neardup
        ended = run(*words, "--solr", address, "--patience", "3s")
        took = time.monotonic() - began
        assert ended.returncode == 4, ended.stderr
        assert took < 3 + 10 + 10  # and what an interpreter takes on a busy machine
        reached = checkpointed(job)
        assert (reached == 0) == (since == 9)
        told = f"No record of {source} is confirmed as stored: running the command again"
        told += " starts over."
        if reached:
            done = f"The first {reached} records of {source} are done"
            told = f"{done}: --resume continues after them."
        assert told in ended.stderr
        way.heal()
        again = command.neardup(*words, "--solr", address, "--resume")
        assert again.returncode == 0, again.stderr
    assert list(solr.ids()) == [one.id for one in texts()]
