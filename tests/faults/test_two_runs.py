"""Two runs at once: of one job, and of two jobs with the same ids."""

from __future__ import annotations

import signal
from typing import Any

from tests.faults.killer import Command
from tests.faults.place import Places

DOCUMENTS = 4_000


def test_a_second_run_of_a_job_is_refused(jobs: Places, row: Any) -> None:
    """While a job is at work another run of it ends in one line, and the first is not disturbed."""
    here = jobs.make(DOCUMENTS, interval=1_000)
    first = here.run()
    assert here.history.wait_for(1_000, 60), first.said()
    first.process.send_signal(signal.SIGSTOP)  # so that it is at work as long as the second runs
    second = Command([*here.words, "--resume"], here.folder / "second.txt", {})
    assert second.wait() == 3
    (line,) = second.said().splitlines()
    assert line.startswith("neardup: another run of this job is in progress")
    first.process.send_signal(signal.SIGCONT)
    assert first.wait() == 0, first.said()
    assert here.history.resent() == 0
    assert here.verdict().is_right(), here.verdict()
    row("R10", "second run of a job refused, the first undisturbed")


def test_two_jobs_on_the_same_ids(jobs: Places, row: Any) -> None:
    """Two jobs that send the same documents at the same time end well, with each of them once."""
    here = jobs.make(DOCUMENTS, interval=1_000)
    other = ["--job", str(here.folder / "another job")]  # the last of the options counts
    running = [here.run(), here.run(*other)]
    assert [one.wait() for one in running] == [0, 0], running[0].said()
    assert here.history.resent() >= DOCUMENTS  # both have sent all of them
    assert here.verdict().is_right(), here.verdict()
    row("R10", f"two jobs: {DOCUMENTS:,} documents, each once")
