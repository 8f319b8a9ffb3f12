"""What becomes of documents on their way into the model of Solr when one thing goes wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.failpoint import KILLED
from neardup_solr.index_job import read_checkpoint, read_letters
from neardup_solr.settings import Settings
from neardup_solr.solr import settle
from neardup_solr.solr.retry import Retry
from neardup_solr.testing import SIZES
from neardup_solr.verbs.delivery import LOST, Delivery, Stretch
from tests.faults.model import Busy, Crash, Cut, DiskFull, Kind, Model, SoftCommit, client, running
from tests.faults.tiers import FAILPOINTS, sized
from tests.refusals import refusal

GONE: Final = Crash(away=10**9)
WAITING: Final = "waiting up to"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again at once whether Solr is back."""
    monkeypatch.setattr(SIZES, "outage_pause", 0.001)


class Place:
    """A model of Solr that runs, and its address."""

    def __init__(self, model: Model, address: str) -> None:
        self.model, self.address = model, address

    def client(self) -> nd.Collection:
        """A client that has asked nothing yet."""
        return client(self.address, self.model)

    def index(self, source: Any, **more: Any) -> nd.types.IndexSummary:
        """Index a source by one thread in batches of three, and verify it all at the end."""
        chosen: dict[str, Any] = {"batch": 3, "threads": 1, "keep": (), "on_error": lambda _: None}
        return nd.index(source, self.client(), **chosen | more)

    def texts(self) -> dict[str, str]:
        """What Solr has even if it loses its logs now."""
        return {id: one.fields["content"] for id, one in self.model.durable().items()}

    def sent(self) -> Counter[str]:
        """How many times each document was sent."""
        return Counter(id for ids in self.model.sent for id in ids)


@pytest.fixture
def place() -> Iterator[Place]:
    """An empty Solr."""
    model = Model()
    with running(model) as address:
        yield Place(model, address)


def documents(count: int, *, word: str = "text") -> list[nd.Document]:
    """Documents d0, d1, …, each with a text of its own."""
    return [nd.Document(id=f"d{number}", text=f"{word} of {number}") for number in range(count)]


def due(records: list[nd.Document]) -> dict[str, str]:
    """The last text of each id."""
    return {one.id: one.text for one in records}


# What Solr loses.


def test_what_is_lost_is_sent_again_and_nothing_else(place: Place, row: Any) -> None:
    """Killed without its logs before the third batch, Solr gets the first two, and the third."""
    place.model.plan("add", 2, Crash(keeps_logs=False))
    done = place.index(documents(12))
    assert (done.read, done.indexed, done.failed) == (12, 12, 0)
    assert done.resent == 6
    assert place.texts() == due(documents(12))
    assert place.sent() == Counter({f"d{n}": 2 if n < 9 else 1 for n in range(12)})
    row("R1", "a model of Solr that loses 6 of 12 acknowledged documents: those sent again, lost 0")


def test_what_is_replayed_is_not_sent_again(place: Place) -> None:
    """A Solr that keeps its log needs none of what it acknowledged a second time."""
    place.model.plan("commit", 1, Crash(away=3, loading=2, replay=20))
    done = place.index(documents(12))
    assert done.resent == 0
    assert place.sent() == Counter({f"d{n}": 1 for n in range(12)})
    assert place.texts() == due(documents(12))


def test_what_is_lost_each_time_is_a_dead_letter(place: Place, tmp_path: Path) -> None:
    """A document that Solr never finds is given up, with its record; the others are there."""
    place.model.drops = lambda document: document["id"] == "d4"
    done = place.index(documents(7), job=tmp_path / "job")
    assert (done.read, done.indexed, done.failed) == (7, 6, 1)
    assert done.resent == settle.ROUNDS
    (letter,) = read_letters(tmp_path / "job")
    assert (letter.id, letter.stage, letter.reason) == ("d4", "solr", LOST)
    assert letter.record == {"id": "d4", "text": "text of 4"}
    assert set(place.texts()) == {f"d{n}" for n in range(7)} - {"d4"}


def test_what_is_lost_each_time_is_given_up_though_solr_is_busy(place: Place) -> None:
    """A Solr that says 503 each time, then takes a document and drops it, is not asked forever."""
    place.model.drops = lambda document: document["id"] == "d1"
    for nth in range(1, 600, 2):
        place.model.plan("add", nth, Busy(retry_after=None))
    done = place.index(documents(2))
    assert (done.indexed, [one.reason for one in done.errors]) == (1, [LOST])
    assert done.resent < 300  # so many it would be if only the plans had come to an end


def test_what_is_refused_when_it_is_sent_again_has_failed(place: Place) -> None:
    """The reason is what Solr says then."""
    times = Counter[str]()

    def refuses(document: Mapping[str, Any]) -> str | None:
        times[document["id"]] += 1
        return "it is one too many" if document["id"] == "d2" and times["d2"] > 1 else None

    place.model.refuses = refuses
    place.model.plan("commit", 1, Crash(keeps_logs=False))
    done = place.index(documents(4))
    assert [str(one) for one in done.errors] == [
        "a document (id 'd2'): Solr refused it: it is one too many"
    ]
    assert (done.indexed, done.failed) == (3, 1)
    assert set(place.texts()) == {"d0", "d1", "d3"}


def test_a_solr_that_is_killed_again_and_again_costs_no_document(place: Place) -> None:
    """What is lost with a Solr that ends is sent again each time, however often that is."""
    kills = 2 * settle.ROUNDS
    for number in range(kills):
        # That of the stretch, later those after each sending; each is asked for again, and done.
        place.model.plan("commit", 2 + 2 * number if number else 1, Crash(keeps_logs=False))
    done = place.index(documents(4))
    assert (place.model.crashes, done.resent) == (kills, 4 * kills)
    assert (done.indexed, done.failed) == (4, 0)
    assert place.texts() == due(documents(4))


def test_a_solr_that_loses_everything_is_an_error(place: Place) -> None:
    """If nothing of a stretch is ever found, the documents are not to blame."""
    place.model.drops = lambda _: True
    with refusal(nd.errors.SolrAnswerError, "write-incomplete", "7 documents"):
        place.index(documents(7))


def test_a_solr_that_tells_no_versions_is_verified_by_ids(place: Place) -> None:
    """What it loses is sent again all the same."""
    place.model.tells_versions = False
    place.model.plan("commit", 1, Crash(keeps_logs=False))
    done = place.index(documents(5))
    assert done.resent == 5
    assert place.texts() == due(documents(5))


# Which record of an id wins.

REPEATED: Final = [*documents(4), *documents(5, word="again"), *documents(3, word="last")]


@pytest.mark.parametrize("is_cloud", [False, True])
@pytest.mark.parametrize("every", [4, 100])
@pytest.mark.parametrize("fault", [Crash(keeps_logs=False), Crash(replay=5), Cut(applied=1)])
@pytest.mark.parametrize("kind", ["add", "commit", "search"])
def test_the_last_record_of_an_id_wins(
    place: Place, kind: Kind, fault: Crash | Cut, every: int, is_cloud: bool
) -> None:
    """Whatever is lost and sent again, and at whichever request."""
    place.model.is_cloud = is_cloud
    for nth in range(1 + is_cloud, 7, sized(usual=2, full=1)):
        place.model.plan(kind, nth, fault)
        done = place.index(REPEATED, batch=2, threads=2, checkpoint_every=every)
        assert place.texts() == due(REPEATED), f"request {nth}"
        assert (done.indexed, done.repeated) == (5, 7)
        place.model.forget_plans()


def test_the_last_record_wins_though_each_is_lost_at_first(place: Place) -> None:
    """An earlier one that is sent again comes before the last one is sent at all."""
    dropped = set()

    def drops(document: Mapping[str, Any]) -> bool:
        is_new = document["content"] not in dropped
        dropped.add(document["content"])
        return document["id"] == "d" and is_new

    place.model.drops = drops
    texts = ["one", "two", "three"]
    records = [nd.Document(id="d", text=text) for text in texts]
    others = documents(3)
    mixed = [one for pair in zip(records, others, strict=True) for one in pair]
    done = place.index(mixed, batch=2, checkpoint_every=4)
    assert place.texts() == due(mixed)
    assert (done.indexed, done.repeated, done.failed) == (4, 2, 0)


def drops_once(text: str) -> Callable[[Mapping[str, Any]], bool]:
    """Documents with this text are lost with a success, the first time."""
    lost: list[object] = []

    def drops(document: Mapping[str, Any]) -> bool:
        is_lost = document["content"] == text and not lost
        lost.extend([text] * is_lost)
        return is_lost

    return drops


def test_an_older_document_in_a_cloud_does_not_stand_for_the_new_one(place: Place) -> None:
    """Its nodes tell no versions; others of the stretch are new, and so may have any."""
    place.model.is_cloud = True
    place.index([("d0", "old"), ("d1", "old as well")])
    place.model.drops = drops_once("new")
    done = place.index([("d0", "new"), ("d2", "another")])
    assert (done.indexed, done.resent) == (2, 1)
    assert place.texts() == {"d0": "new", "d1": "old as well", "d2": "another"}


@pytest.mark.parametrize("by", ["index", "gate"])
def test_an_earlier_record_in_a_cloud_does_not_stand_for_the_last_one(
    place: Place, by: str
) -> None:
    """An id that comes again is sent once what came before is verified."""
    place.model.is_cloud = True
    place.model.drops = drops_once("last")
    records = [("d0", "first"), ("d1", "one"), ("d2", "two"), ("d0", "last")]
    if by == "index":
        assert place.index(records, batch=2).resent == 1
    else:
        list(nd.gate(records, place.client(), index=True, batch=2))
    assert place.texts() == {"d0": "last", "d1": "one", "d2": "two"}


def test_an_earlier_record_does_not_stand_for_the_last_one(place: Place) -> None:
    """It may have got a later version than others of the stretch of the last one, as here.

    A request that was given up is carried out late: the earlier record comes between two others.
    """
    came: list[str] = []

    def late(document: Mapping[str, Any]) -> None:
        came.append(document["content"])
        if came.count("last") == 1 and came[-1] == "last":
            place.model.apply({"id": "d1", "content": "earlier"})

    place.model.refuses = late
    place.model.drops = lambda document: document["content"] == "last" and came.count("last") == 1
    texts = [("x", "other"), ("d1", "earlier"), ("d0", "first"), ("d1", "last")]
    records = [nd.Document(id=id, text=text) for id, text in texts]
    done = place.index(records, batch=1, checkpoint_every=4)
    assert place.texts() == due(records)
    assert done.resent == 1


def test_versions_of_documents_that_were_refused_later_do_not_count(place: Place) -> None:
    """A stretch may have as many versions as documents, though not of the same ones."""
    target = Delivery(collection=place.client(), settings=Settings(), as_record=lambda _: {})
    target.collection.take([{"id": "d1", "content": "one"}])
    stretch = Stretch(documents={"d1": nd.Document(id="d1", text="one")}, versions={"d2": 5})
    assert target.commit(stretch) == []


# What is verified.


def test_what_is_only_visible_is_not_verified(place: Place) -> None:
    """During the replay a commit does nothing, even if a soft commit makes documents visible."""
    target = Delivery(collection=place.client(), settings=Settings(), as_record=lambda _: {})
    place.client().take([{"id": "before", "content": "x"}])
    place.model.crash(Crash(away=0, replay=6))
    with target.collection.session.outages.waited_for(60):
        stretch = Stretch(documents={"d0": documents(1)[0]})
        target.note(stretch, target.collection.take([{"id": "d0", "content": "text of 0"}]))
        place.model.plan("search", 0, SoftCommit())
        target.verify(stretch)
    assert "d0" in place.texts()


def test_a_replay_that_does_not_end_costs_no_document(place: Place, tmp_path: Path) -> None:
    """Once patience is at its end, the run ends with an error that names the replay."""
    place.client().take([{"id": "before", "content": "x"}])
    place.model.crash(Crash(away=0, replay=10**9))
    with pytest.raises(nd.SolrUnreachable):
        place.index(documents(3), patience=0.05, job=tmp_path / "job")
    assert list(read_letters(tmp_path / "job")) == []


# Solr can write nothing more.


@pytest.mark.parametrize("tolerant", [True, False])
def test_nothing_is_committed_once_the_disk_is_full(
    place: Place, tolerant: bool, tmp_path: Path, row: Any
) -> None:
    """The run ends with what to do; after a restart it goes on from its checkpoint."""
    place.model.tolerant = tolerant
    place.model.plan("add", 4, DiskFull())
    with pytest.raises(nd.SolrHalted):
        place.index(documents(30), job=tmp_path / "job")
    assert (place.model.asked["commit"], place.model.halted_commits) == (1, 0)  # that at the start
    assert not place.texts()
    place.model.crash(Crash(away=0))
    done = place.index(documents(30), job=tmp_path / "job", resume=True)
    assert (done.indexed, done.failed) == (30, 0)
    assert place.texts() == due(documents(30))
    chain = "tolerant" if tolerant else "plain"
    row("R3", f"a model of Solr, {chain} chain: 0 commits after the first fault, lost 0 in the end")


def test_a_full_disk_leaves_the_last_checkpoint(place: Place, tmp_path: Path) -> None:
    """The error says where `resume` goes on, and it sends nothing that is done."""
    job = tmp_path / "job"
    place.model.plan("add", 9, DiskFull())
    with pytest.raises(nd.SolrHalted) as caught:
        place.index(documents(60), checkpoint_every=12, job=job)
    kept = read_checkpoint(job)
    assert kept is not None
    assert 12 <= kept.reached.read <= 24
    note = (
        f"The first {kept.reached.read} records of a list are done: `resume` continues after them."
    )
    assert caught.value.__notes__ == [note]
    place.model.crash(Crash(away=0))
    before = place.sent()
    done = place.index(documents(60), checkpoint_every=12, job=job, resume=True)
    assert (done.indexed, done.failed, done.resumed) == (60, 0, kept.reached.read)
    assert set(place.sent() - before) == {f"d{n}" for n in range(kept.reached.read, 60)}
    assert place.texts() == due(documents(60))


@pytest.mark.parametrize("change", ["order", "text"])
def test_records_that_changed_before_the_checkpoint_are_not_passed_over(
    place: Place, tmp_path: Path, change: str
) -> None:
    """As a query without an order gives them: both ends and the number of records are the same."""
    job, records = tmp_path / "job", documents(600)
    place.model.plan("add", 90, DiskFull())
    with pytest.raises(nd.SolrHalted):
        place.index(records, checkpoint_every=150, job=job)
    kept = read_checkpoint(job)
    assert kept is not None
    assert kept.reached.read >= 150
    place.model.crash(Crash(away=0))
    if change == "order":
        records[120], records[480] = records[480], records[120]
    elif change == "text":
        records[120] = nd.Document(id="d120", text="another text")
    before, again = place.sent(), "has changed since it was partly indexed.*leave `resume` out"
    with pytest.raises(nd.errors.JobError, match=again):
        place.index(records, checkpoint_every=150, job=job, resume=True)
    assert place.sent() == before
    done = place.index(records, checkpoint_every=150, job=job)
    assert (done.indexed, place.texts()) == (600, due(records))


def test_a_session_that_saw_a_full_disk_sends_no_update(place: Place) -> None:
    """Not even if it is asked to; another block, after the restart, may."""
    collection = place.client()
    place.model.plan("add", 0, DiskFull())
    with collection.session.outages.waited_for(60):
        for call in (lambda: collection.take([{"id": "a"}]), collection.commit):
            with pytest.raises(nd.SolrHalted):
                call()
    assert (place.model.asked["commit"], place.model.halted_commits) == (0, 0)
    place.model.crash(Crash(away=0))
    with collection.session.outages.waited_for(60):
        collection.commit()


# The process is killed.

# A process whose children index a source each and are killed at a named place, its second time.
KILLED_AT = """
import os, sys
import neardup_solr as nd
from neardup_solr.failpoint import VARIABLE

address, name, *places = sys.argv[1:]
nd.index([], nd.connect(address, collection=name))  # imports what the children need
for place in places:
    if (child := os.fork()) == 0:
        os.environ[VARIABLE] = f"{place}:2"
        solr = nd.connect(address, collection=name)
        nd.index(f"{place}.jsonl", solr, batch=3, checkpoint_every=12, job=place)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_run_that_was_killed_at_a_named_place_goes_on(place: Place, tmp_path: Path) -> None:
    """All is in Solr, each dead letter once, and what is durable is not sent again."""
    count, bad = 60, (2, 15, 16, 31, 59)
    for name in FAILPOINTS:
        records = [
            {"id": f"{name} {at}"} | ({} if at in bad else {"text": f"text of {at}"})
            for at in range(count)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    command = [sys.executable, "-c", KILLED_AT, place.address, place.model.name, *FAILPOINTS]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, check=True)
    assert ended.stdout.split() == [str(KILLED)] * len(FAILPOINTS)
    for name in FAILPOINTS:
        good = {f"{name} {at}": f"text of {at}" for at in range(count) if at not in bad}
        kept, before = read_checkpoint(tmp_path / name), place.sent()
        reached = kept.reached.read if kept else 0
        assert (reached > 0) == (name != "before-send")
        done = place.index(
            tmp_path / f"{name}.jsonl", checkpoint_every=12, job=tmp_path / name, resume=True
        )
        assert (done.read, done.indexed, done.failed) == (count, len(good), len(bad))
        assert done.resumed == reached
        assert set(place.sent() - before) == {id for id in good if int(id.split()[1]) >= reached}
        assert {id: text for id, text in place.texts().items() if id in good} == good
        letters = [one.position.rpartition(" ")[2] for one in read_letters(tmp_path / name)]
        assert letters == [str(at + 1) for at in bad]


def test_the_seal_of_a_job_is_that_of_earlier_versions(place: Place, tmp_path: Path) -> None:
    """A job goes on under a later version: records that were read are spelled as they were."""
    lines = [json.dumps({"id": f"d{at}", "text": f"téxt of {at}", "n": at}) for at in range(30)]
    (tmp_path / "lines.jsonl").write_text("\n".join([*lines, '{"id": "no text"}', *lines[:2]]))
    seals = "0e9acc76462743cf92cf36f0f5f910af", "816dbab65fab8a92ac54d6562ccb054d"
    for keep, seal in zip(((), ("n",)), seals, strict=True):
        job = tmp_path / f"job{len(keep)}"
        place.index(tmp_path / "lines.jsonl", batch=7, keep=keep, job=job)
        kept = read_checkpoint(job)
        assert kept is not None
        assert kept.reached.seal == seal


# How long Solr is waited for.


def test_without_patience_nothing_is_waited_for(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    """A Solr that ends is an error after the usual few attempts."""
    place.model.plan("add", 1, GONE)
    with pytest.raises(nd.SolrUnreachable):
        place.index(documents(9), patience=0)
    assert WAITING not in caplog.text
    assert place.model.turned_away < 3 * Retry().attempts


def test_patience_ends(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    """A Solr that stays away is waited for once, and no second time."""
    place.model.plan("add", 1, GONE)
    with pytest.raises(nd.SolrUnreachable):
        place.index(documents(9), patience=0.3)
    assert caplog.text.count(WAITING) == 1


def test_each_outage_is_waited_for(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    """As often as Solr ends, it is waited for, and told in a line."""
    for nth in range(0, 8, 2):
        place.model.plan("add", nth, Crash(away=3))
    assert place.index(documents(15), patience=60).indexed == 15
    assert caplog.text.count(WAITING) == caplog.text.count("it is available again") == 4


@pytest.mark.parametrize(
    ("crash", "error"),
    [(GONE, nd.SolrUnreachable), (Crash(away=0, loading=10**9), nd.CoreMissing)],
)
def test_the_first_contact_is_not_waited_for(
    place: Place, crash: Crash, error: type[nd.SolrError], caplog: pytest.LogCaptureFixture
) -> None:
    """The address may be wrong, or the name."""
    place.model.crash(crash)
    with pytest.raises(error):
        place.index(documents(3), patience=60)
    assert WAITING not in caplog.text
    assert place.model.turned_away <= 1
    assert not place.model.sent


def test_a_core_that_is_being_loaded_is_waited_for(place: Place) -> None:
    """After an outage, "there is no such core" is no answer that counts."""
    place.model.plan("add", 1, Crash(away=0, loading=20))
    assert place.index(documents(9), patience=60).indexed == 9
    assert place.texts() == due(documents(9))


@pytest.mark.parametrize("status", [503, *sized(usual=[], full=[429])])  # 429: test_answers
def test_retry_after_is_honoured(place: Place, status: int) -> None:
    """A request is not sent again before the time that Solr asks for."""
    place.model.plan("add", 0, Busy(status=status, retry_after="1"))
    began = time.monotonic()
    place.client().take([{"id": "d0", "content": "x"}])
    assert time.monotonic() - began >= 1
    assert place.model.sent == [["d0"], ["d0"]]


# The user stops.


def test_an_interrupt_verifies_what_was_sent(place: Place, tmp_path: Path) -> None:
    """What was sent by then is done; `resume` sends only the rest."""

    def interrupt(progress: nd.types.Progress) -> None:
        if progress.done == 6:
            raise KeyboardInterrupt

    job = tmp_path / "job"
    with pytest.raises(KeyboardInterrupt):
        place.index(documents(90), job=job, on_progress=interrupt)
    kept = read_checkpoint(job)
    assert kept is not None
    sent = set(place.sent())
    assert 6 <= kept.reached.read == len(sent) < 90
    assert set(place.texts()) == sent
    done = place.index(documents(90), job=job, resume=True)
    assert (done.indexed, done.resumed) == (90, len(sent))
    assert place.sent() == Counter({f"d{n}": 1 for n in range(90)})
    assert place.texts() == due(documents(90))


def test_a_second_interrupt_ends_at_once(place: Place, tmp_path: Path) -> None:
    """Nothing is verified any more, and the last checkpoint holds."""

    def interrupt(progress: nd.types.Progress) -> None:
        if progress.done >= 30:
            raise KeyboardInterrupt

    job = tmp_path / "job"
    with pytest.raises(KeyboardInterrupt):
        place.index(documents(90), job=job, checkpoint_every=24, on_progress=interrupt)
    commits = place.model.asked["commit"]
    kept = read_checkpoint(job)
    assert kept is not None
    assert 0 < kept.reached.read < 30
    assert commits <= 1 + 3  # that at the start, and those of the stretches that were full
    done = place.index(documents(90), job=job, resume=True)
    assert done.resumed == kept.reached.read
    assert place.texts() == due(documents(90))


def test_an_interrupt_waits_for_no_outage(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    """A user who stops while Solr is unavailable does not want to wait for it."""

    def interrupt(progress: nd.types.Progress) -> None:
        place.model.crash(GONE)
        raise KeyboardInterrupt

    collection = place.client()
    collection.session.retry = Retry(attempts=2, first_wait=0.001)
    with pytest.raises(KeyboardInterrupt):
        nd.index(documents(3), collection, keep=(), on_progress=interrupt, patience=10**6)
    assert WAITING not in caplog.text


def test_a_source_that_breaks_off_is_verified_as_far_as_it_went(place: Place) -> None:
    """What came before the fault is durable when the error is told."""

    def broken() -> Iterator[nd.Document]:
        yield from documents(9)
        raise nd.SourceError("the tape", "it tore", "mend it")

    with pytest.raises(nd.SourceError, match="it tore"):
        place.index(broken())
    assert place.texts() == due(documents(9))


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        (["bad", "good"], (2, 1, 0, 1)),
        (["good", "bad"], (2, 1, 0, 1)),
        (["bad", "bad"], (2, 0, 0, 2)),
        (["bad", "good", "good"], (3, 1, 1, 1)),
        (["good", "bad", "good"], (3, 1, 1, 1)),
        (["good", "good", "bad"], (3, 1, 1, 1)),
    ],
)
@pytest.mark.parametrize("every", [1, 4, 100])
def test_a_refused_record_is_not_counted_as_repeated(
    place: Place, texts: list[str], counts: tuple[int, ...], every: int
) -> None:
    """Whatever Solr refuses of the records of one id: read = indexed + repeated + failed."""
    place.model.refuses = lambda document: "no" if "bad" in document["content"] else None
    records = [nd.Document(id="d", text=f"{text} {at}") for at, text in enumerate(texts)]
    done = place.index(records, batch=1, checkpoint_every=every)
    assert (done.read, done.indexed, done.repeated, done.failed) == counts


def test_a_record_that_is_not_sent_does_not_stand_for_one_that_is_refused(place: Place) -> None:
    """If the first record of an id counts, and Solr refuses it, no other one was indexed."""
    place.model.refuses = lambda document: "no" if "bad" in document["content"] else None
    records = [nd.Document(id="d", text="bad"), nd.Document(id="d", text="good")]
    done = place.index(nd.Source(records, on_repeat="first"), batch=1)
    assert (done.read, done.indexed, done.repeated, done.failed) == (2, 0, 1, 1)
    assert place.texts() == {}


def test_bad_records_in_a_row_are_not_held(place: Place, tmp_path: Path) -> None:
    """Checkpoints are written, and dead letters with them, while only bad records come."""
    job = tmp_path / "job"
    far: list[int] = []

    def source() -> Iterator[Any]:
        yield from documents(5)
        for number in range(600):
            yield {"id": f"b{number}"}
            if number == 599:
                kept = read_checkpoint(job)
                far.append(kept.reached.read if kept else 0)

    done = place.index(source(), job=job, batch=10, checkpoint_every=20)
    assert (done.read, done.indexed, done.failed) == (605, 5, 600)
    assert far[0] > 500
    assert len(list(read_letters(job))) == 600


# Several cores.

GOOD: Final = st.builds(
    lambda at, word, times: json.dumps({"id": f"d{at}", "text": f"{word} of {at} " * times}),
    st.integers(0, 30), st.sampled_from(["text", "té\"xt\\", ""]), st.integers(1, 9),
)  # fmt: skip
BAD: Final = st.sampled_from(
    ['{"id": "no text"}', '{"id": "cut off', '{"id": "half", "text": "\\ud800"}']
)


@settings(max_examples=sized(usual=20, full=100), deadline=None)
@given(
    parts=st.lists(st.tuples(st.lists(GOOD, max_size=20), st.lists(BAD, max_size=2)), max_size=5),
    batch=st.integers(1, 9),
)
def test_any_number_of_threads_sends_the_same(
    parts: list[tuple[list[str], list[str]]], batch: int
) -> None:
    """The requests, the documents, the errors and the dead letters are those of one thread."""
    first = [json.dumps({"id": f"e{at}", "text": f"text of {at}"}) for at in range(20)]
    lines = first + [line for part in parts for lines in part for line in lines]
    found = []
    for threads in ("1", "2", "3", "7"):
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
            patch.setenv("NEARDUP_THREADS", threads)
            for name, size in (("read_block", 300), ("read_alone", 1), ("index_batch_text", 600)):
                patch.setattr(SIZES, name, size)
            patch.chdir(folder)
            Path("lines.jsonl").write_text("\n".join(lines) + "\n")
            model = Model()
            with running(model) as address:
                done = Place(model, address).index(
                    "lines.jsonl", batch=batch, checkpoint_every=20, job="job"
                )
            letters = Path("job/dead-letters.jsonl")
            kept = letters.read_bytes() if letters.exists() else b""
            fields = {id: one.fields for id, one in model.visible.items()}
            counts = done.read, done.indexed, done.repeated, done.failed, done.words
            found.append((model.sent, fields, counts, [*map(str, done.errors)], kept))
    assert found[1:] == [found[0]] * 3
    requests, fields, counts, errors, _ = found[0]
    good = [json.loads(line) for line in lines if line[8] in "de" and line[-1] == "}"]
    texts = {one["id"]: one["text"] for one in good}
    assert {id: one["content"] for id, one in fields.items()} == texts
    assert all(len(set(ids)) == len(ids) <= batch for ids in requests)
    failed, repeated = len(lines) - len(good), len(good) - len(texts)
    assert counts[:4] == (len(lines), len(texts), repeated, failed)
    assert len(errors) == failed
