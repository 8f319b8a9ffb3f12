"""Kill loops: Solr or the client is killed again and again, and nothing is lost."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.faults.history import checkpointed
from tests.faults.loops import BATCH, kill_client, kill_server
from tests.faults.place import Places
from tests.faults.tiers import FAILPOINTS, is_full, sized

DOCUMENTS = sized(usual=10_000, full=300_000)
KILLS = sized(usual=1, full=20)
INTERVAL = sized(usual=2_000, full=20_000)
NTHS = sized(usual=[1], full=[1, 2, 4])
EVERY_BAD = 500
SEED = 20_261_122


@pytest.fixture(scope="module")
def home(killed: Path) -> Path:
    """The jobs are on an embedded Solr that may be killed."""
    return killed


@pytest.mark.parametrize(
    ("documents", "kills"),
    [(DOCUMENTS, KILLS), pytest.param(30_000, 10, marks=pytest.mark.slow, id="ten")],
)  # ten on other versions: scripts/test --solr-version 8.11.4 -m slow THIS_FILE -k ten
def test_server_kills(jobs: Places, documents: int, kills: int, row: Any) -> None:
    """One run of `neardup index` through many kills of Solr ends with 0, and nothing is lost."""
    outcome = kill_server(jobs.make(documents, interval=INTERVAL), kills, Random(SEED))
    share = outcome.resent / documents
    assert not is_full() or documents < DOCUMENTS or share <= 0.05
    row(
        "R1",
        f"{documents:,} documents in batches of {BATCH}, {outcome.kills} kills and"
        f" {outcome.replaying} more during the replay: exit code 0, lost 0, {outcome.resent:,}"
        f" sent again ({share:.1%})",
    )


def test_client_kills(jobs: Places, row: Any) -> None:
    """Killed many times and resumed each time, a job loses nothing and repeats no dead letter."""
    here = jobs.make(DOCUMENTS, every_bad=EVERY_BAD, interval=INTERVAL)
    outcome = kill_client(here, KILLS, Random(SEED), INTERVAL)
    row(
        "R2",
        f"{DOCUMENTS:,} documents, {outcome.kills} kills: lost 0,"
        f" {len(here.documents.bad):,} dead letters exact, after a kill at most {outcome.most:,}"
        f" sent again (interval {INTERVAL:,})",
    )


@pytest.mark.slow  # each name once: test_delivery.py, some on Solr: test_resume.py
@pytest.mark.parametrize("nth", NTHS)
@pytest.mark.parametrize("name", FAILPOINTS)
def test_failpoint(jobs: Places, name: str, nth: int, row: Any) -> None:
    """Killed at a named place and resumed, a job ends as one that nobody disturbed."""
    here = jobs.make(1_500, every_bad=50, interval=250)
    words = ["--batch", "125"]
    assert here.run(*words, NEARDUP_FAILPOINT=f"{name}:{nth}").wait() == 137
    durable = checkpointed(here.job)
    assert here.collection.count() >= durable - durable // 50
    last = here.run(*words, "--resume")
    assert last.wait() == 1, last.said()
    verdict = here.verdict()
    assert verdict.is_right(), verdict
    assert here.history.resent() <= 250
    row("R2", f"{name}:{nth}: lost 0")
