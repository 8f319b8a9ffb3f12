"""A session that waits for a Solr that is away, as long as it is told to and no longer."""

from __future__ import annotations

import json
import threading

import pytest

from neardup_solr import Collection
from neardup_solr.errors import (
    CoreMissing,
    NeardupError,
    ServerError,
    SolrAnswerError,
    SolrHalted,
    SolrUnauthorized,
    SolrUnreachable,
)
from neardup_solr.solr.collection import open_collection
from neardup_solr.solr.outages import format_time
from neardup_solr.solr.retry import Retry
from neardup_solr.testing import SIZES
from tests.faults.scripted import Answer, answering
from tests.refusals import refusal

WELL = Answer(
    body=b'{"responseHeader":{"status":0},"response":{"numFound":0,"start":0,"docs":[]}}',
)
SILENT = Answer(silent=True)
NOT_FOUND = Answer(status=404, body=b'{"message":"Not Found","status":"404"}')
WAITING = "waiting up to"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again at once whether Solr is back."""
    monkeypatch.setattr(SIZES, "outage_pause", 0.001)


def opened(address: str) -> Collection:
    """A collection whose client does not wait long before it tries again."""
    collection = open_collection(address, "name")
    collection.session.retry = Retry(attempts=3, first_wait=0.001)
    return collection


def failed(message: str, status: int = 500) -> Answer:
    """An error of Solr."""
    content = {"responseHeader": {"status": status}, "error": {"msg": message, "code": status}}
    return Answer(status=status, body=json.dumps(content).encode())


def replaying(**states: object) -> Answer:
    """What Solr tells of the logs of its cores."""
    cores = {f"solr.core.{name}": {"TLOG.state": state} for name, state in states.items()}
    content = {"responseHeader": {"status": 0}, "metrics": cores}
    return Answer(body=json.dumps(content).encode())


def replaying_10(**states: int) -> Answer:
    """What Solr 10 tells of them: lines of text, in a cloud with the collection."""
    lines = ["# TYPE solr_core_update_log_state gauge"]
    for name, state in states.items():
        collection, shard, _ = (*name.split("."), "", "")[:3]
        of = (
            f'collection="{collection}",core="{name}",shard="s\\"{{}} 0"'
            if shard
            else f'core="{name}"'
        )
        lines.append(f'solr_core_update_log_state{{category="TLOG",{of}}} {state}.0')
    return Answer(kind="text/plain; version=0.0.4", body="\n".join([*lines, ""]).encode())


@pytest.mark.parametrize(
    "fault",
    [SILENT, NOT_FOUND, failed("SolrCore is closed"), failed("no reason that anybody knows")]
    + [failed("come again", status) for status in (502, 503, 504)]
    + [
        Answer(kind="text/plain", body=b"no upstream"),
        Answer(status=400, kind="text/html", body=b"<html>"),
        Answer(body=b'{"responseHeader":{"sta'),
        Answer(status=302, location="http://elsewhere/"),
    ],
)
def test_what_is_answered_wrongly_after_right_answers_is_waited_for(
    fault: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told in one line, and the request is sent again once a search answers."""
    # The first answers well; then the request fails, and twice the search that looks for Solr.
    script = [WELL, fault, SILENT, SILENT, WELL, replaying(name=3), WELL]
    with answering(*script) as (address, asked):
        collection = opened(address)
        with collection.session.outages.waited_for(60):
            collection.count()
            assert collection.count() == 0
    assert caplog.text.count(WAITING) == 1
    assert "it is available again" in caplog.text
    assert collection.session.outages.count == 1
    assert len(asked) == len(script)


def test_what_solr_refuses_is_no_outage() -> None:
    """It would be the same if it were asked for again."""
    with answering(WELL, failed("no such field", 400)) as (address, asked):
        collection = opened(address)
        with collection.session.outages.waited_for(60):
            collection.count()
            with pytest.raises(SolrAnswerError, match="no such field"):
                collection.count()
    assert len(asked) == 2
    assert collection.session.outages.count == 0


def test_a_query_that_solr_cannot_read_is_no_outage(caplog: pytest.LogCaptureFixture) -> None:
    """Solr says 500 of some, and answers others meanwhile."""
    again = [failed("unexpected end-of-string"), WELL, replaying(name=3)]
    with answering(WELL, *3 * again, again[0], WELL) as (address, asked):
        collection = opened(address)
        with collection.session.outages.waited_for(10**6):
            collection.count()
            with pytest.raises(SolrAnswerError, match="unexpected end-of-string") as caught:
                collection.count(["id:/(/"])
            assert collection.count() == 0
    assert not caught.value.may_pass
    assert "query" in caught.value.next_step
    assert len(asked) == 12
    assert not caplog.records


@pytest.mark.parametrize("state", ["Java heap space", "this IndexReader is closed"])
def test_a_state_of_solr_is_waited_for(state: str) -> None:
    """It may pass, though others are answered meanwhile."""
    again = [failed(state), WELL, replaying(name=3)]
    with answering(WELL, *6 * again, WELL) as (address, _):
        collection = opened(address)
        with collection.session.outages.waited_for(10**6):
            collection.count()
            assert collection.count(["id:a"]) == 0


@pytest.mark.parametrize(
    ("fault", "error"),
    [(SILENT, SolrUnreachable), (NOT_FOUND, CoreMissing)],
)
def test_nothing_is_waited_for_before_the_first_answer(
    fault: Answer, error: type[NeardupError], caplog: pytest.LogCaptureFixture
) -> None:
    """The address may be wrong."""
    with answering(fault) as (address, asked):
        collection = opened(address)
        with collection.session.outages.waited_for(10**6), pytest.raises(error):
            collection.count()
    assert len(asked) == 1
    assert WAITING not in caplog.text


def test_patience_ends_once(caplog: pytest.LogCaptureFixture) -> None:
    """A request whose wait was in vain is not sent again, however many attempts it has."""
    with answering(WELL, SILENT) as (address, _):
        collection = opened(address)
        with collection.session.outages.waited_for(0.05):
            collection.count()
            with pytest.raises(SolrUnreachable):
                collection.count()
            with pytest.raises(SolrUnreachable):
                collection.count()  # another thread, as it were
    assert caplog.text.count(WAITING) == 1


def test_the_error_in_the_end_has_the_last_cause() -> None:
    """A server that first says to come again, and then goes, is not one that says so."""
    with answering(WELL, failed("restarting", 503), SILENT) as (address, _):
        collection = opened(address)
        with collection.session.outages.waited_for(0.6):
            collection.count()
            with pytest.raises(SolrAnswerError) as caught:
                collection.count()
    said = str(caught.value)
    assert "it was still unavailable after " in said  # so many seconds
    assert "restarting" not in said
    assert said.endswith("check that it is running, then run the same command again")


def test_threads_wait_together(caplog: pytest.LogCaptureFixture) -> None:
    """All that are sent meanwhile share one wait, and its end."""
    errors: list[NeardupError] = []

    def count() -> None:
        try:
            collection.count()
        except NeardupError as error:
            errors.append(error)

    with answering(WELL, SILENT) as (address, _):
        collection = opened(address)
        with collection.session.outages.waited_for(0.2):
            collection.count()
            threads = [threading.Thread(target=count) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert [type(error) for error in errors] == [SolrUnreachable] * 4
    assert caplog.text.count(WAITING) == 1


def test_a_new_block_is_as_patient_as_the_first(caplog: pytest.LogCaptureFixture) -> None:
    """What was given up before is waited for again."""
    with answering(WELL, SILENT) as (address, _):
        collection = opened(address)
        collection.count()
        for _ in range(2):
            with collection.session.outages.waited_for(0.02), pytest.raises(SolrUnreachable):
                collection.count()
    assert caplog.text.count(WAITING) == 2


def test_nobody_waits_for_a_user_who_wants_to_stop(caplog: pytest.LogCaptureFixture) -> None:
    """A request that was sent with patience fails at once when there is none left."""
    with answering(WELL, SILENT) as (address, asked):
        collection = opened(address)

        def hurry() -> None:
            collection.session.outages.stop_waiting()

        collection.session.outages.revive = hurry
        with collection.session.outages.waited_for(10**6):
            collection.count()
            with pytest.raises(SolrUnreachable):
                collection.count()
    assert caplog.text.count(WAITING) == 1
    assert len(asked) < 10


def test_credentials_that_are_refused_meanwhile_are_told_at_once() -> None:
    """No waiting changes them, and each further attempt could lock the account."""
    refused = Answer(status=401)
    with answering(WELL, SILENT, SILENT, refused) as (address, asked):
        collection = opened(address)
        with collection.session.outages.waited_for(10**6):
            collection.count()
            with pytest.raises(SolrUnauthorized):
                collection.count()
    assert len(asked) == 4


def test_a_solr_of_ours_is_started_again() -> None:
    """Before each look whether it is back: here it is not at the first one."""
    started = []
    with answering(WELL, SILENT, SILENT, WELL, replaying(name=3), WELL) as (address, _):
        collection = opened(address)
        collection.session.outages.revive = lambda: started.append(1)
        with collection.session.outages.waited_for(60):
            collection.count()
            collection.count()
    assert len(started) == 2


def test_why_it_cannot_be_started_is_the_error() -> None:
    """At the end of patience, that is more than "it does not answer"."""

    def revive() -> None:
        raise ServerError("its disk is full", "make room")

    with answering(WELL, SILENT) as (address, _):
        collection = opened(address)
        collection.session.outages.revive = revive
        with collection.session.outages.waited_for(0.02):
            collection.count()
            with refusal(ServerError, "other"):
                collection.count()


@pytest.mark.parametrize(
    "told",
    [
        replaying(name=3),
        replaying(name=3, other=0),
        replaying(**{"name.shard1.replica_n1": 3, "names": 0}),
        replaying(),
        failed("no such handler", 404),
        NOT_FOUND,
        Answer(body=b'{"responseHeader":{"status":0}}'),
        replaying_10(name=3),
        replaying_10(name=3, other=0, names=0),
        replaying_10(**{"name.shard1.replica_n1": 3, "names.shard1.replica_n1": 0}),
        replaying_10(),
        Answer(kind="text/plain", body=b""),
        Answer(kind="text/plain", body=b'solr_core_update_log_state{core="name"} much\n\xff{}'),
        Answer(kind="text/html", body=b"<html>"),
    ],
)
def test_it_is_ready_once_its_own_log_is_replayed(told: Answer) -> None:
    """Other cores do not count; one that tells nothing of its log has to be believed."""
    with answering(WELL, told) as (address, asked):
        opened(address).session.outages.until_ready()
    assert len(asked) == 2


@pytest.mark.parametrize(
    "told",
    [
        replaying(name=0),
        replaying(**{"name.shard1.replica_n1": 0, "name.shard2.replica_n2": 3}),
        replaying_10(name=0),
        replaying_10(**{"name.shard1.replica_n1": 0, "name.shard2.replica_n2": 3}),
        replaying_10(name=1),
    ],
)
def test_it_is_waited_for_until_its_log_is_replayed(told: Answer) -> None:
    """A commit would do nothing before; of a collection, the log of every shard counts."""
    with answering(WELL, told, WELL, told, SILENT, WELL, replaying(name=3)) as (address, asked):
        collection = opened(address)
        with collection.session.outages.waited_for(60):
            collection.session.outages.until_ready()
    assert len(asked) == 7


def test_a_replay_that_does_not_end_is_an_error() -> None:
    """What is sent meanwhile would seem to be lost."""
    with answering(WELL, *[replaying(name=0), WELL] * 1_000) as (address, _):
        collection = opened(address)
        with (
            collection.session.outages.waited_for(0.02),
            refusal(SolrUnreachable, "solr-unreachable", "log"),
        ):
            collection.session.outages.until_ready()


BLAMED = Answer(
    body=b'{"responseHeader":{"status":0,"errors":[{"type":"ADD","id":"1",'
    b'"message":"Server error writing document id 1 to the index."}]}}'
)


@pytest.mark.parametrize("answer", [failed("No space left on device"), BLAMED])
def test_a_full_disk_is_sent_no_further_update(answer: Answer) -> None:
    """In the same block neither documents nor a commit; searches are, and the next block is."""
    with answering(answer, WELL) as (address, asked):
        collection = opened(address)
        with collection.session.outages.waited_for(60):
            with pytest.raises(SolrHalted):
                collection.add([{"id": "1"}])
            with pytest.raises(SolrHalted):
                collection.commit()
            with pytest.raises(SolrHalted):
                collection.add([{"id": "2"}])
            assert len(asked) == 1
            assert collection.count() == 0
        with collection.session.outages.waited_for(60):
            collection.commit()
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (59.6, "1 minute"),
        (90, "90 seconds"),
        (300, "5 minutes"),
        (0.4, "0 seconds"),
    ],
)
def test_times_are_told_in_words(seconds: float, words: str) -> None:
    """Whole minutes as such, all else in seconds."""
    assert format_time(seconds) == words
