"""`neardup index --resume`: after whatever end, it ends as a run that nobody disturbed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.checkpoint import (
    CHECKPOINT,
    KILLED,
    VARIABLE,
    read_checkpoint,
    read_letters,
)
from neardup_solr.minhash import sign
from neardup_solr.solr import admin
from neardup_solr.solr.collection import Collection
from tests.command import NEARDUP, neardup
from tests.faults.tiers import FAILPOINTS

RECORDS = 500
EVERY, BATCH = 100, 20
COUNTS = re.compile(r"Read ([\d,]+) records = ([\d,]+) indexed \+ ([\d,]+) repeated \+ ([\d,]+) f")


@dataclass
class Planned:
    """A source, and what has to come of it: texts by id, and the line and stage of each failure."""

    lines: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    failed: list[tuple[int, str]] = field(default_factory=list)
    repeated: int = 0


def planned() -> Planned:
    """Records of which some have no id, some are no JSON, some are refused by Solr, some repeat."""
    plan = Planned()
    for number in range(1, RECORDS + 1):
        record = {"id": f"r{number}", "text": f"the {number}th of many texts", "price_i": "17"}
        if number % 89 == 7:
            plan.lines.append('{"id": "half a rec')
            plan.failed.append((number, "read"))
            continue
        if number % 97 == 5:
            del record["id"]
            plan.failed.append((number, "read"))
        elif number % 101 == 3:
            record["price_i"] = "low"
            plan.failed.append((number, "solr"))
        else:
            if number % 53 == 11:
                record["id"] = "near"  # within a batch or in the next ones
            elif number % 71 == 9:
                record["id"] = f"far{number % 2}"
            plan.repeated += record["id"] in plan.texts
            plan.texts[record["id"]] = record["text"]
        plan.lines.append(json.dumps(record))
    return plan


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile the kernel before a child has to."""
    sign.compile_kernel()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The planned records in a file."""
    path = tmp_path / "ads.jsonl"
    path.write_text("\n".join(planned().lines) + "\n")
    return path


@dataclass
class Runs:
    """Runs of `neardup index` on one source, all of the same job."""

    solr: Collection
    source: str
    job: Path

    def words(self, *more: str) -> list[str]:
        """The words of the command."""
        limits = ["--checkpoint-every", str(EVERY), "--batch", str(BATCH)]
        place = ["--solr", self.solr.base, "-c", self.solr.name, "--job", str(self.job)]
        return ["index", self.source, "--keep", "price_i", *limits, *place, *more]

    def __call__(self, *more: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run it, with an input of two documents; with variables as a process, which may end."""
        input = '{"id": 1, "text": "one"}\n{"id": 2, "text": "two"}\n'
        if not env:
            return neardup(*self.words(*more), input=input)
        return subprocess.run(
            [*NEARDUP, *self.words(*more)],
            input=input,
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ | env,
        )

    def index(
        self,
        *,
        resume: bool = False,
        on_progress: Callable[[nd.types.Progress], None] | None = None,
    ) -> nd.types.IndexSummary:
        """Run it in this process."""
        return nd.index(
            self.source,
            self.solr,
            keep="price_i",
            checkpoint_every=EVERY,
            batch=BATCH,
            job=self.job,
            resume=resume,
            on_progress=on_progress,
        )

    def stopped(self) -> None:
        """Run it until it has some checkpoints, and end it there."""
        assert self(**{VARIABLE: "after-checkpoint:3"}).returncode == KILLED


@pytest.fixture
def runs(solr: Collection, source: Path, tmp_path: Path) -> Runs:
    """Runs on the planned source, into a fresh core."""
    return Runs(solr, str(source), tmp_path / "job")


def require_all(runs: Runs, ended: subprocess.CompletedProcess[str]) -> None:
    """The run ended as planned: its counts, each document, each dead letter once."""
    plan = planned()
    assert ended.returncode == 1, ended.stderr
    (counts,) = COUNTS.findall(ended.stderr)
    read, indexed, repeated, failed = (int(count.replace(",", "")) for count in counts)
    assert (read, repeated, failed) == (RECORDS, plan.repeated, len(plan.failed))
    assert indexed == len(plan.texts) == read - repeated - failed
    assert runs.solr.texts(list(plan.texts)) == plan.texts
    assert runs.solr.count() == len(plan.texts)
    letters = list(read_letters(runs.job))
    found = [(int(one.position.rpartition(" ")[2]), one.stage) for one in letters]
    assert sorted(found) == plan.failed
    kept = read_checkpoint(runs.job)
    assert kept is not None
    assert kept.has_ended


def test_an_undisturbed_run_is_as_planned(runs: Runs) -> None:
    """What the others are held to."""
    require_all(runs, runs())


@pytest.mark.parametrize("name", FAILPOINTS)
def test_a_run_that_was_killed_goes_on(runs: Runs, name: str) -> None:
    """At every named place: all in Solr, each dead letter once, the counts those of one run."""
    assert runs(**{VARIABLE: f"{name}:2"}).returncode == KILLED
    require_all(runs, runs("--resume"))


def test_it_goes_on_after_the_last_checkpoint(runs: Runs) -> None:
    """What is durable is not sent again, and the next run says how much that is."""
    runs.stopped()
    kept = read_checkpoint(runs.job)
    assert kept is not None
    assert kept.reached.read >= 100
    ended = runs("--resume")
    assert f"{kept.reached.read} records were done by an earlier run." in ended.stderr
    require_all(runs, ended)


def test_a_folder_of_parts_goes_on_too(runs: Runs, tmp_path: Path) -> None:
    """It is one source, and a part that has changed since is noticed."""
    plan, folder = planned(), tmp_path / "parts"
    folder.mkdir()
    for at in range(0, RECORDS, 150):
        part = folder / f"part-{at:05}.jsonl"
        part.write_text("\n".join(plan.lines[at : at + 150]) + "\n")
    runs.source = str(folder)
    runs.stopped()
    last = folder / "part-00450.jsonl"
    whole = last.read_text()
    last.write_text(whole + "\n")
    assert "parts has changed since it was indexed in part" in runs("--resume").stderr
    last.write_text(whole)
    runs.stopped()
    ended = runs("--resume")
    assert "were done by an earlier run" in ended.stderr
    assert runs.solr.texts(list(plan.texts)) == plan.texts
    found = [one.position for one in read_letters(runs.job)]
    parts = ((number - 1) // 150 * 150 for number, _ in plan.failed)
    assert sorted(found) == sorted(
        f"parts/part-{at:05}.jsonl, line {number - at}"
        for at, (number, _) in zip(parts, plan.failed, strict=True)
    )


def test_without_resume_it_begins_anew_and_says_so(runs: Runs) -> None:
    """The dead letters of the earlier run are not there twice."""
    runs.stopped()
    ended = runs()
    assert re.search(
        r"An earlier run stopped after \d+ records. This run starts over", ended.stderr
    )
    assert "were done by an earlier run" not in ended.stderr
    require_all(runs, ended)


def test_resume_without_an_earlier_run_begins_at_the_beginning(runs: Runs) -> None:
    """So one command serves for every start of a service."""
    require_all(runs, runs("--resume"))


def test_resume_of_a_job_that_has_ended_begins_anew(runs: Runs) -> None:
    """Nothing changes but versions."""
    require_all(runs, runs())
    ended = runs("--resume")
    assert "were done by an earlier run" not in ended.stderr
    require_all(runs, ended)


def refused(runs: Runs, *more: str) -> str:
    """The one line with which `--resume` is refused; nothing is sent."""
    kept, before = read_checkpoint(runs.job), runs.solr.count()
    ended = runs("--resume", *more)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert runs.solr.count() == before
    assert read_checkpoint(runs.job) == kept
    return line


def test_another_source_is_refused(runs: Runs) -> None:
    """A record more, or another text column: what was done is not what would be done."""
    runs.stopped()
    line = refused(runs, "--id-field", "price_i")
    assert line == (
        f"neardup: {runs.source} has changed since it was indexed in part, or is read in another"
        " way; leave --resume out to start over"
    )
    with open(runs.source, "a") as file:
        file.write('{"id": "new", "text": "one more"}\n')
    assert "has changed since it was indexed in part" in refused(runs)


def test_a_collection_that_was_emptied_is_refused(runs: Runs) -> None:
    """What the checkpoint calls done would be missing."""
    runs.stopped()
    nd.delete(runs.solr, query="*:*")
    line = refused(runs)
    assert "lacks documents that an earlier run indexed; leave --resume out to start over" in line


def test_a_collection_that_was_deleted_is_refused(runs: Runs) -> None:
    """And made again: it is another one, or is missing."""
    core = replace(runs.solr, name=f"{runs.solr.name}_gone")
    nd.init(core)
    gone = replace(runs, solr=core)
    try:
        gone.stopped()
    finally:
        admin.drop(core)
    ended = gone("--resume")
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert f"there is no core or collection '{core.name}'" in line
    nd.init(core)
    try:
        assert "lacks documents that an earlier run indexed" in refused(gone)
    finally:
        admin.drop(core)


def test_standard_input_cannot_go_on(solr: Collection, tmp_path: Path) -> None:
    """It can be read only once, so there is nothing to go on with."""
    runs = Runs(solr, "-", tmp_path / "job")
    first = ("--source-format", "jsonl")
    killed = runs(*first, "--checkpoint-every", "1", **{VARIABLE: "after-checkpoint"})
    assert killed.returncode == KILLED
    ended = runs(*first, "--resume")
    assert ended.returncode == 1
    assert ended.stderr == (
        "neardup: - cannot be read a second time; leave --resume out to start over\n"
    )


@pytest.mark.parametrize("stop", [100, 220])
def test_an_interrupt_at_any_batch_keeps_what_is_done(runs: Runs, stop: int) -> None:
    """The checkpoint never goes back, and the run that goes on ends as planned."""
    reached = []

    def interrupt(told: nd.types.Progress) -> None:
        kept = read_checkpoint(runs.job)
        reached.append(0 if kept is None else kept.reached.read)
        if told.done >= stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.index(on_progress=interrupt)
    kept = read_checkpoint(runs.job)
    assert kept is not None
    assert kept.reached.read >= max(reached)
    plan, done = planned(), runs.index(resume=True)
    assert done.resumed == kept.reached.read
    assert (done.read, done.repeated, done.failed) == (RECORDS, plan.repeated, len(plan.failed))
    found = [int(one.position.rpartition(" ")[2]) for one in read_letters(runs.job)]
    assert sorted(found) == [number for number, _ in plan.failed]
    assert runs.solr.texts(list(plan.texts)) == plan.texts


def test_an_interrupt_verifies_all_that_was_sent(solr: Collection, tmp_path: Path) -> None:
    """Wherever between two checkpoints it comes, at the very beginning of a stretch, too."""

    def until(last: int) -> Iterator[dict[str, str]]:
        for number in range(last):
            yield {"id": str(number), "text": f"text {number}"}
        raise KeyboardInterrupt

    for last in range(BATCH, 10 * BATCH, BATCH):
        folder = tmp_path / str(last)
        with pytest.raises(KeyboardInterrupt):
            nd.index(until(last), solr, checkpoint_every=EVERY, batch=BATCH, job=folder)
        kept = read_checkpoint(folder)
        assert kept is not None
        assert kept.reached.read == last


def test_ctrl_c_says_how_to_go_on(runs: Runs) -> None:
    """Exit code 130, a checkpoint, and a line with --resume; which then does the rest."""
    lines = [json.dumps({"id": str(one), "text": f"text {one}"}) for one in range(10_000)]
    Path(runs.source).write_text("\n".join(lines) + "\n")
    with subprocess.Popen([*NEARDUP, *runs.words()], stderr=subprocess.PIPE, text=True) as running:
        while not (runs.job / CHECKPOINT).exists():
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    kept = read_checkpoint(runs.job)
    assert kept is not None
    assert 0 < kept.reached.read < 10_000
    assert said.splitlines() == [
        f"The first {kept.reached.read:,} records of {runs.source} are done: --resume continues"
        " after them.",
        "neardup: interrupted",
    ]
    assert runs.solr.count() >= kept.reached.read
    ended = runs("--resume", "--batch", "1000", "--checkpoint-every", "20000")
    assert ended.returncode == 0
    assert "Read 10,000 records = 10,000 indexed + 0 repeated + 0 failed" in ended.stderr
    assert runs.solr.count() == 10_000
    assert not runs.job.exists()
