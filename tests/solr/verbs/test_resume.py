"""`neardup index --resume`: after whatever end, it ends as a run that nobody disturbed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.command import NEARDUP, neardup
from tests.faults.tiers import FAILPOINTS
from tests.solr import api

VARIABLE, KILLED = "NEARDUP_FAILPOINT", 137
RECORDS = 150
EVERY, BATCH = 50, 10
POSITION = re.compile(r"(?:ads|parts/part-(\d+))\.jsonl, line (\d+)")
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
        if number % 59 == 7:
            plan.lines.append('{"id": "half a rec')
            plan.failed.append((number, "read"))
            continue
        if number % 67 == 5:
            del record["id"]
            plan.failed.append((number, "read"))
        elif number % 43 == 3:
            record["price_i"] = "low"
            plan.failed.append((number, "solr"))
        else:
            if number % 27 == 11:
                record["id"] = "near"  # in the next stretches
            elif number % 35 == 9:
                record["id"] = f"far{number % 2}"
            plan.repeated += record["id"] in plan.texts
            plan.texts[record["id"]] = record["text"]
        plan.lines.append(json.dumps(record))
    return plan


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compile the kernel before a child has to."""
    texts = [("1", "ascii"), ("2", "wïde")]
    nd.signatures(texts, tmp_path_factory.mktemp("compiled") / "signatures.parquet")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The planned records in a file."""
    path = tmp_path / "ads.jsonl"
    path.write_text("\n".join(planned().lines) + "\n")
    return path


@dataclass
class Runs:
    """Runs of `neardup index` on one source, all of the same job."""

    solr: nd.Collection
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
def runs(solr: nd.Collection, source: Path, tmp_path: Path) -> Runs:
    """Runs on the planned source, into a fresh core."""
    return Runs(solr, str(source), tmp_path / "job")


@dataclass
class Checkpoint:
    """The content of a job's checkpoint, empty before the first."""

    content: dict[str, Any]

    @property
    def read(self) -> int:
        """Count the records that are done."""
        return int(self.content["reached"]["read"]) if self.content else 0


def read_checkpoint(job: Path) -> Checkpoint:
    """Read the checkpoint of a job."""
    path = job / "checkpoint.json"
    return Checkpoint(json.loads(path.read_text("utf-8")) if path.exists() else {})


def line_of(position: str) -> int:
    """The line of a record in the planned source, whichever part it stands in."""
    found = POSITION.fullmatch(position)
    assert found is not None
    return int(found[1] or 0) + int(found[2])


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
    found = [(line_of(one.position), one.stage) for one in nd.dead_letters(job=runs.job)]
    assert sorted(found) == plan.failed
    kept = read_checkpoint(runs.job)
    assert kept.content["has_ended"]


# The others, on a model of Solr: tests/faults/test_delivery.py.
DAILY = ("before-commit", "after-commit", "before-checkpoint")


@pytest.mark.parametrize(
    "name",
    [one if one in DAILY else pytest.param(one, marks=pytest.mark.slow) for one in FAILPOINTS],
)
def test_a_run_that_was_killed_goes_on(runs: Runs, name: str) -> None:
    """At every named place: all in Solr, each dead letter once, the counts those of one run."""
    assert runs(**{VARIABLE: f"{name}:2"}).returncode == KILLED
    require_all(runs, runs("--resume"))


def test_a_folder_of_parts_goes_on_after_the_last_checkpoint(runs: Runs, tmp_path: Path) -> None:
    """It is one source, and a part that changes is noticed; what is durable is not sent again."""
    plan, folder = planned(), tmp_path / "parts"
    folder.mkdir()
    for at in range(0, RECORDS, 50):
        part = folder / f"part-{at:05}.jsonl"
        part.write_text("\n".join(plan.lines[at : at + 50]) + "\n")
    runs.source = str(folder)
    runs.stopped()
    with added(part, "\n"):
        assert "parts has changed since it was partly indexed" in runs("--resume").stderr
    kept = read_checkpoint(runs.job)
    assert kept.read >= EVERY
    ended = runs("--resume")
    assert f"{kept.read} records were done by an earlier run." in ended.stderr
    require_all(runs, ended)


def test_resume_without_an_earlier_run_or_after_its_end_begins_at_the_beginning(runs: Runs) -> None:
    """So one command serves for every start of a service; the second time only versions change."""
    for _ in range(2):
        ended = runs("--resume")
        assert "done by an earlier run" not in ended.stderr
        require_all(runs, ended)


@contextmanager
def added(path: Path, more: str) -> Iterator[None]:
    """Add to a file for a while; afterwards it is as before, and as old."""
    whole, time = path.read_text(), path.stat().st_mtime_ns
    path.write_text(whole + more)
    yield
    path.write_text(whole)
    os.utime(path, ns=(time, time))


def refused(runs: Runs, *more: str) -> str:
    """The one line with which `--resume` is refused; nothing is sent."""
    kept, before = read_checkpoint(runs.job), runs.solr.count()
    ended = runs("--resume", *more)
    assert ended.returncode == 3
    (line,) = ended.stderr.splitlines()
    assert runs.solr.count() == before
    assert read_checkpoint(runs.job) == kept
    return line


def test_what_is_not_as_it_was_is_refused(runs: Runs) -> None:
    """What was done is not what would be done, or is no longer there; without --resume it begins.

    A source with a record more, or another id; a collection that was emptied, deleted, made again.
    """
    core = runs.solr.beside(f"{runs.solr.name}_gone")
    runs = replace(runs, solr=core)
    nd.init(core)
    try:
        runs.stopped()
        line = refused(runs, "--id-field", "price_i")
        assert line == (
            f"neardup: {runs.source} has changed since it was partly indexed, or is now"
            " being read with different settings; leave --resume out to start over"
        )
        with added(Path(runs.source), '{"id": "new", "text": "one more"}\n'):
            assert "has changed since it was partly indexed" in refused(runs)
        nd.delete(core, query="*:*")
        lacks = "lacks some documents"
        assert lacks in refused(runs)
        api.drop(core)
        ended = runs("--resume")
        assert ended.returncode == 3
        (line,) = ended.stderr.splitlines()
        assert f"there is no core or collection '{core.name}'" in line
        nd.init(core)
        assert lacks in refused(runs)
        ended = runs()
        assert re.search(
            r"An earlier run stopped after \d+ records. This run starts over", ended.stderr
        )
        assert "done by an earlier run" not in ended.stderr
        require_all(runs, ended)
    finally:
        api.drop(core)


def test_standard_input_cannot_go_on(solr: nd.Collection, tmp_path: Path) -> None:
    """It can be read only once, so there is nothing to go on with."""
    runs = Runs(solr, "-", tmp_path / "job")
    first = ("--source-format", "jsonl")
    killed = runs(*first, "--checkpoint-every", "1", **{VARIABLE: "after-checkpoint"})
    assert killed.returncode == KILLED
    ended = runs(*first, "--resume")
    assert ended.returncode == 3
    assert ended.stderr == (
        "neardup: - cannot be read a second time; leave --resume out to start over\n"
    )


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine verify what was sent before an interrupt, however long that takes."""
    monkeypatch.setattr(SIZES, "last_seconds", 60.0)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("stop", [40, 90])
def test_an_interrupt_at_any_batch_keeps_what_is_done(runs: Runs, stop: int) -> None:
    """The checkpoint never goes back, and the run that goes on ends as planned."""
    reached = []

    def interrupt(told: nd.types.Progress) -> None:
        kept = read_checkpoint(runs.job)
        reached.append(kept.read)
        if told.done >= stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.index(on_progress=interrupt)
    kept = read_checkpoint(runs.job)
    assert kept.read >= max(reached)
    plan, done = planned(), runs.index(resume=True)
    assert done.resumed == kept.read
    assert (done.read, done.repeated, done.failed) == (RECORDS, plan.repeated, len(plan.failed))
    found = [line_of(one.position) for one in nd.dead_letters(job=runs.job)]
    assert sorted(found) == [number for number, _ in plan.failed]
    assert runs.solr.texts(list(plan.texts)) == plan.texts


@pytest.mark.usefixtures("patient")
def test_an_interrupt_verifies_all_that_was_sent(solr: nd.Collection, tmp_path: Path) -> None:
    """Wherever between two checkpoints it comes, at the very beginning of a stretch, too."""

    def until(last: int) -> Iterator[dict[str, str]]:
        for number in range(last):
            yield {"id": str(number), "text": f"text {number}"}
        raise KeyboardInterrupt

    for last in range(BATCH, 6 * BATCH, BATCH):
        folder = tmp_path / str(last)
        with pytest.raises(KeyboardInterrupt):
            nd.index(until(last), solr, checkpoint_every=EVERY, batch=BATCH, job=folder)
        kept = read_checkpoint(folder)
        assert kept.read == last


def test_ctrl_c_says_how_to_go_on(runs: Runs) -> None:
    """Exit code 130, a checkpoint, and a line with --resume; which then does the rest."""
    lines = [json.dumps({"id": str(one), "text": f"text {one}"}) for one in range(4_000)]
    Path(runs.source).write_text("\n".join(lines) + "\n")
    with subprocess.Popen([*NEARDUP, *runs.words()], stderr=subprocess.PIPE, text=True) as running:
        while not (runs.job / "checkpoint.json").exists():
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    kept = read_checkpoint(runs.job)
    assert 0 < kept.read < 4_000
    assert said.splitlines() == [
        f"The first {kept.read:,} records of {runs.source} are done: --resume continues"
        " after them.",
        "neardup: interrupted",
    ]
    assert runs.solr.count() >= kept.read
    ended = runs("--resume", "--batch", "1000", "--checkpoint-every", "20000")
    assert ended.returncode == 0
    assert "Read 4,000 records = 4,000 indexed + 0 repeated + 0 failed" in ended.stderr
    assert runs.solr.count() == 4_000
    assert not runs.job.exists()
