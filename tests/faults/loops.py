"""Runs of `neardup index` through kills of Solr or of the run, and what has to hold after them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random

from tests.faults.history import checkpointed
from tests.faults.killer import SolrKiller, moments
from tests.faults.place import Place

BATCH, THREADS = 250, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How often was killed, also during a replay, and how many documents were sent again.

    `most` is the largest number of them after one kill; it is counted for kills of the client.
    """

    kills: int
    replaying: int = 0
    resent: int
    most: int = 0


def kill_server(here: Place, kills: int, random: Random) -> Outcome:
    """One run through kills of Solr: it ends with 0, nothing is lost, little is sent again."""
    total = len(here.documents.good)
    killer = SolrKiller(here.history, here.proxy, moments(total, kills, random), random)
    killer.start()
    running = here.run("--batch", str(BATCH))
    try:
        code = running.wait()
    finally:
        running.kill()
        killer.stop()
    assert code == 0, running.said()
    verdict = here.verdict()
    assert verdict.is_right(), verdict
    assert killer.kills == kills
    # What Solr has acknowledged is not sent again, as it finds it in its log.
    resent = here.history.resent()
    assert resent <= (killer.kills + killer.replaying) * THREADS * BATCH
    return Outcome(kills=killer.kills, replaying=killer.replaying, resent=resent)


def kill_client(here: Place, kills: int, random: Random, interval: int) -> Outcome:
    """Killed many times and resumed each time, a job ends as one that nobody disturbed."""
    history, bad = here.history, set(here.documents.bad)
    records = sorted([*here.documents.good, *bad])
    most = before = killed = durable = 0
    for moment in moments(len(here.documents.good), kills, random):
        running = here.run("--resume") if killed else here.run()
        killed += running.kill_when(partial(history.wait_for, moment, 0.01))
        most, before = max(most, history.resent() - before), history.resent()
        reached = checkpointed(here.job)
        assert reached >= durable
        durable = reached
        # What the checkpoint calls done is found by a search, without any further commit.
        assert here.collection.count() >= len(set(records[:durable]) - bad)
    last = here.run("--resume")
    assert last.wait() == (1 if bad else 0), last.said()  # the bad records are dead letters
    most = max(most, history.resent() - before)
    verdict = here.verdict()
    assert verdict.is_right(), verdict
    assert killed == kills
    assert most <= interval
    return Outcome(kills=killed, resent=history.resent(), most=most)
