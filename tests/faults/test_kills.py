"""Kill loops: Solr or the client is killed again and again, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from neardup_solr.failpoints import FAILPOINTS, KILLED, VARIABLE
from neardup_solr.testing import private_home
from tests.faults.history import checkpointed
from tests.faults.killer import SolrKiller, moments
from tests.faults.place import Places
from tests.faults.tiers import is_full, sized

DOCUMENTS = sized(usual=20_000, full=300_000)
KILLS = sized(usual=3, full=20)
INTERVAL = sized(usual=4_000, full=20_000)
BATCH, THREADS = 250, 2
NTHS = sized(usual=[1], full=[1, 2, 4])
EVERY_BAD = 500
SEED = 20_261_122


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An embedded Solr of these tests alone, as they kill it."""
    with private_home(tmp_path_factory.mktemp("kills")) as folder:
        yield folder


def test_server_kills(jobs: Places, row: Any) -> None:
    """One run of `neardup index` through many kills of Solr ends with 0, and nothing is lost."""
    here = jobs.make(DOCUMENTS, interval=INTERVAL)
    random = Random(SEED)
    killer = SolrKiller(here.history, here.proxy, moments(DOCUMENTS, KILLS, random), random)
    killer.start()
    running = here.run("--batch", str(BATCH), "--threads", str(THREADS))
    try:
        code = running.wait()
    finally:
        running.kill()
        killer.stop()
    assert code == 0, running.said()
    verdict = here.verdict()
    assert verdict.is_right(), verdict
    assert killer.kills == KILLS
    # What Solr has acknowledged is not sent again, as it finds it in its log.
    resent, ends = here.history.resent(), killer.kills + killer.replaying
    assert resent <= ends * THREADS * BATCH
    share = resent / DOCUMENTS
    assert not is_full() or share <= 0.05
    row(
        "R1",
        f"{DOCUMENTS:,} documents in batches of {BATCH}, {killer.kills} kills and"
        f" {killer.replaying} more during the replay: exit code 0, lost 0, {resent:,} sent again"
        f" ({share:.1%})",
    )


def test_client_kills(jobs: Places, row: Any) -> None:
    """Killed many times and resumed each time, a job ends as one that nobody disturbed."""
    here = jobs.make(DOCUMENTS, every_bad=EVERY_BAD, interval=INTERVAL)
    total = len(here.documents.good)
    most, sent_before, killed, durable = 0, 0, 0, 0
    for moment in moments(total, KILLS, Random(SEED)):
        running = here.run("--resume") if killed else here.run()
        killed += running.kill_when(partial(here.history.wait_for, moment, 0.01))
        most = max(most, here.history.resent() - sent_before)
        sent_before = here.history.resent()
        reached = checkpointed(here.job)
        assert reached >= durable
        durable = reached
        # What the checkpoint calls done is found by a search, without any further commit.
        assert here.collection.count() >= durable - durable // EVERY_BAD
    last = here.run("--resume")
    assert last.wait() == 1, last.said()  # the bad records are dead letters
    most = max(most, here.history.resent() - sent_before)
    verdict = here.verdict()
    assert verdict.is_right(), verdict
    assert killed == KILLS
    assert most <= INTERVAL
    row(
        "R2",
        f"{DOCUMENTS:,} documents, {killed} kills: lost 0,"
        f" {len(here.documents.bad):,} dead letters exact, after a kill at most {most:,}"
        f" sent again (interval {INTERVAL:,})",
    )


@pytest.mark.parametrize("nth", NTHS)
@pytest.mark.parametrize("name", FAILPOINTS)
def test_failpoint(jobs: Places, name: str, nth: int, row: Any) -> None:
    """Killed at a named place and resumed, a job ends as one that nobody disturbed."""
    here = jobs.make(3_000, every_bad=100, interval=500)
    words = ["--batch", "250"]
    assert here.run(*words, **{VARIABLE: f"{name}:{nth}"}).wait() == KILLED
    durable = checkpointed(here.job)
    assert here.collection.count() >= durable - durable // 100
    last = here.run(*words, "--resume")
    assert last.wait() == 1, last.said()
    verdict = here.verdict()
    assert verdict.is_right(), verdict
    assert here.history.resent() <= 500
    row("R2", f"{name}:{nth}: lost 0")
