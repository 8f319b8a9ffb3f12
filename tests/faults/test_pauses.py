"""Solr is stopped for a while, as a machine that swaps or sleeps does it."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.faults.place import Place, Places
from tests.faults.tiers import sized

DOCUMENTS = 10_000
SECONDS = sized(usual=2, full=30)


def stop_and_continue(here: Place) -> None:
    """Stop Solr in the middle of the work, for some seconds."""
    solr = here.find_solr()
    assert here.history.wait_for(DOCUMENTS // 3, 60)
    solr.suspend()
    time.sleep(SECONDS)
    solr.resume()


def test_a_pause(jobs: Places, row: Any) -> None:
    """A run waits for the answers, and sends nothing again."""
    here = jobs.make(DOCUMENTS)
    running = here.run()
    stop_and_continue(here)
    assert running.wait() == 0, running.said()
    assert here.history.resent() == 0
    assert here.verdict().is_right(), here.verdict()
    row("R4", f"{SECONDS} s: completes, no repeated ids, 0 sent again")


@pytest.mark.slow
def test_a_pause_longer_than_the_time_out(
    jobs: Places, monkeypatch: pytest.MonkeyPatch, row: Any
) -> None:
    """Requests that time out are sent again, and each document is there once."""
    monkeypatch.setattr(SIZES, "read_seconds", SECONDS / 4)
    monkeypatch.setattr(SIZES, "probe_seconds", SECONDS / 4)
    here = jobs.make(DOCUMENTS)
    stopping = threading.Thread(target=stop_and_continue, args=[here])
    stopping.start()
    target = nd.connect(here.collection.url)
    summary = nd.index(here.documents.path, target, job=here.job, batch=250)
    stopping.join()
    assert summary.indexed == DOCUMENTS
    assert here.history.resent() > 0
    assert here.verdict().is_right(), here.verdict()
    row("R4", f"{SECONDS} s, beyond the time-out: completes, no repeated ids")
