"""Ctrl-C once and twice, SIGTERM, and a reader of the output that is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.command import NEARDUP
from tests.faults.history import checkpointed
from tests.faults.killer import Command
from tests.faults.place import Place, Places
from tests.faults.tiers import sized

DOCUMENTS = 8_000
INTERVAL = 1_000
INTERRUPTED = 130
# What a busy machine gets beyond the seconds that a run has to stop in.
ALLOWANCE = 20.0


def stopped(here: Place, running: Command, *signals: int) -> float:
    """Send signals to a run in the middle of its work; how long it took to end with 130."""
    assert here.history.wait_for(DOCUMENTS // 3, 60), running.said()
    until = time.monotonic() + 60
    while not checkpointed(here.job):
        assert time.monotonic() < until, running.said()
        time.sleep(0.005)
    began = time.monotonic()
    for at, number in enumerate(signals):
        if at:
            time.sleep(0.2)  # so that they are two
        running.process.send_signal(number)
    assert running.wait() == INTERRUPTED, running.said()
    return time.monotonic() - began


def require_valid(here: Place) -> None:
    """What the checkpoint calls done is found, and the job goes on to its end."""
    done = checkpointed(here.job)
    assert 0 < done < DOCUMENTS
    assert set(here.documents.good[:done]) <= set(here.collection.ids())
    last = here.run("--resume")
    assert last.wait() == 0, last.said()
    assert here.verdict().is_right(), here.verdict()
    assert "Traceback" not in last.said()


@pytest.mark.parametrize("number", [signal.SIGTERM, *sized(usual=[], full=[signal.SIGINT])])
def test_a_signal_stops_at_a_checkpoint(jobs: Places, number: signal.Signals, row: Any) -> None:
    """Ctrl-C, or SIGTERM, ends a run after what was sent is verified; --resume goes on."""
    here = jobs.make(DOCUMENTS, interval=INTERVAL)
    took = stopped(here, here.run(), number)
    assert took < 2 + ALLOWANCE
    require_valid(here)
    row("R9", f"{number.name}: {took:.1f} s, checkpoint valid", "≤ 2 s")


def test_two_signals_stop_at_once(jobs: Places, row: Any) -> None:
    """A second Ctrl-C does not wait for anything; the last checkpoint holds."""
    here = jobs.make(DOCUMENTS, interval=INTERVAL)
    took = stopped(here, here.run(), signal.SIGINT, signal.SIGINT)
    assert took < 1 + ALLOWANCE
    require_valid(here)
    row("R9", f"SIGINT twice: {took:.1f} s, checkpoint valid", "≤ 1 s")


@pytest.mark.slow
def test_a_signal_while_solr_hangs(jobs: Places, row: Any) -> None:
    """A Solr that gives no answer does not keep a run that is to stop."""
    here = jobs.make(DOCUMENTS, interval=INTERVAL)
    solr = here.find_solr()
    running = here.run()
    try:
        assert here.history.wait_for(DOCUMENTS // 3, 60), running.said()
        solr.suspend()
        took = stopped(here, running, signal.SIGINT)
    finally:
        solr.resume()
    assert took < 2 + ALLOWANCE
    require_valid(here)
    row("R9", f"SIGINT while Solr hangs: {took:.1f} s, checkpoint valid", "≤ 2 s")


def test_nobody_reads_what_index_says(jobs: Places, row: Any) -> None:
    """A run whose reader is gone loses nothing, whether it goes on or stops."""
    here = jobs.make(3_000, every_bad=100, interval=INTERVAL)
    reader, writer = os.pipe()
    os.close(reader)
    running = subprocess.Popen([*NEARDUP, *here.words], stdout=writer, stderr=writer)
    os.close(writer)
    code = running.wait(120)
    assert code != 0  # it has dead letters, and cannot say so
    last = here.run("--resume")
    assert last.wait() == 1, last.said()
    assert here.verdict().is_right(), here.verdict()
    row("R9", "reader of index gone: lost 0")


def test_nobody_reads_the_output(tmp_path: Path, row: Any) -> None:
    """A command whose output is a closed pipe ends without a traceback."""
    source = tmp_path / "lines.txt"
    source.write_text("the same few words in each line\n" * 3_000)
    reader, writer = os.pipe()
    os.close(reader)
    running = subprocess.Popen(
        [*NEARDUP, "duplicates", str(source)], stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 1
    assert "Traceback" not in said
    assert "Error" not in said
    row("R9", "reader of the output gone: exit code 1, no traceback")
