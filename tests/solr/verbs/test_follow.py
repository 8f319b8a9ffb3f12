"""annotate with `follow`: what comes or changes is annotated within seconds, whoever dies."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SettingsError, SourceError
from neardup_solr.testing import SIZES, fresh_core
from tests.command import NEARDUP
from tests.refusals import refusal
from tests.solr import api, theirs
from tests.solr.api import MARKS

SECONDS = 180.0  # for what takes two, or twenty if the kernel has to be compiled


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look, report, and see what was written more often than a server would like."""
    monkeypatch.setattr(SIZES, "standby_seconds", (1.5, 2))
    monkeypatch.setattr(SIZES, "follow_pause", 0.1)
    monkeypatch.setattr(SIZES, "follow_report", 0.5)
    monkeypatch.setattr(SIZES, "follow_visible", 100)
    monkeypatch.setattr(SIZES, "caught_up_seconds", 0.0)


@dataclass(slots=True)
class Following:
    """A follower in a thread of its own, with a session of its own."""

    solr: nd.Collection
    given: dict[str, Any] = field(default_factory=dict)
    ended: list[nd.types.AnnotateSummary | BaseException] = field(default_factory=list)
    rounds: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._follow)
        self._thread.start()

    def _follow(self) -> None:
        solr = nd.connect(self.solr.base, self.solr.name)
        try:
            self.ended.append(nd.annotate(solr, follow=True, on_progress=self._look, **self.given))
        except BaseException as error:
            self.ended.append(error)

    def _look(self, told: nd.types.Progress) -> None:
        self.rounds += 1
        if self._stop.is_set():
            raise KeyboardInterrupt

    def stop(self) -> nd.types.AnnotateSummary:
        """Interrupt it, and return its summary."""
        self._stop.set()
        self._thread.join(SECONDS)
        (done,) = self.ended
        if isinstance(done, BaseException):
            raise done
        return done


@contextmanager
def following(solr: nd.Collection, **given: Any) -> Iterator[Following]:
    """Follow a collection within the block."""
    made = Following(solr, given)
    try:
        yield made
    finally:
        made._stop.set()
        made._thread.join(SECONDS)


def until(is_so: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.1)


def hash_text(text: str) -> str:
    """The hash of a text of words in small letters, as a collection has it."""
    return hashlib.md5(text.encode()).hexdigest()


def wrong(solr: nd.Collection) -> list[str]:
    """The documents that have no fields, or those of another text."""
    found = solr.stored(list(solr.ids()), ["content", "md5_hash"])
    return [
        one["id"] for one in found
        if one.get("md5_hash") != hash_text(one.get("content", ""))
    ]  # fmt: skip


def put(solr: nd.Collection, *documents: dict[str, Any]) -> None:
    """Send documents as somebody else's program does, and commit."""
    assert not solr.add([orjson.dumps(one) for one in documents])
    solr.commit()


def is_right(solr: nd.Collection, count: int) -> Callable[[], bool]:
    """Return a check that there are so many documents, each with the fields of its text."""
    return lambda: solr.count() == count and wrong(solr) == []


def caught_up(caplog: pytest.LogCaptureFixture) -> list[tuple[int, int]]:
    """Documents read and annotated, each time that a follower said it had caught up."""
    line = r"caught up, ([\d,]+) documents? read, ([\d,]+) annotated"
    found = re.findall(line, caplog.text)
    return [(int(read.replace(",", "")), int(annotated)) for read, annotated in found]


def test_what_comes_or_changes_gets_its_fields(
    solr: nd.Collection, caplog: pytest.LogCaptureFixture
) -> None:
    """Those that were there, new ones, replaced ones, and texts that are set; each once."""
    caplog.set_level(logging.INFO, "neardup_solr")
    put(solr, *({"id": f"old{at}", "content": f"text number {at}"} for at in range(30)))
    with following(solr) as run:
        until(is_right(solr, 30))
        until(lambda: bool(caught_up(caplog)))
        api.set_fields(solr, {"id": "old2", "content": {"set": "only its text is set"}})
        put(
            solr,
            {"id": "old1", "content": "replaced as a whole"},
            {"id": "new", "content": "that was not there"},
        )
        until(is_right(solr, 31))
        solr.delete_ids(["old3"])
        solr.commit()
        until(lambda: sum(map(int, re.findall(r"(\d+) documents? annotated", caplog.text))) == 33)
        until(lambda: sum(annotated for _, annotated in caught_up(caplog)) == 33)
        done = run.stop()
    assert caught_up(caplog)[0] == (30, 30)
    assert sum(read for read, _ in caught_up(caplog)) == done.read
    assert len(caught_up(caplog)) <= 4  # once, however often it looks
    assert "stopped before" not in caplog.text
    assert (done.annotated, done.failed, done.redone) == (33, 0, 0)
    assert done.read == done.annotated + done.unchanged + done.without_text + done.gone


def test_stopped_before_it_has_caught_up(
    solr: nd.Collection, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line says so, and the summary counts what was done."""
    caplog.set_level(logging.INFO, "neardup_solr")
    monkeypatch.setattr(SIZES, "follow_portion", 10)
    put(solr, *({"id": f"{at}", "content": f"text number {at}"} for at in range(30)))
    with following(solr) as run:
        done = run.stop()
    assert done.read == done.annotated < 30
    assert caplog.text.count("stopped before it had caught up") == 1
    assert caught_up(caplog) == []


@pytest.mark.slow
def test_of_two_one_works_and_the_other_goes_on_after_it(solr: nd.Collection) -> None:
    """Who works writes all; when it ends, the other one does after some seconds."""
    with following(solr) as one, following(solr) as other:
        for batch in range(3):  # by which they notice each other
            put(solr, *({"id": f"{batch}-{at}", "content": f"number {at}"} for at in range(40)))
            until(is_right(solr, 40 * (batch + 1)))
        first = one.stop()
        put(solr, *({"id": f"last {at}", "content": f"number {at}"} for at in range(40)))
        until(is_right(solr, 160))
        second = other.stop()
    assert first.annotated + second.annotated == 160
    assert second.annotated >= 40


def test_other_settings_end_it_with_a_step(solr: nd.Collection) -> None:
    """Somebody who writes fields with other settings is not undone."""
    put(solr, {"id": "a", "content": "one two three"})
    with following(solr) as run:
        until(is_right(solr, 1))
        other = {"signature_settings": "of another run", "md5_hash": hash_text("four five six")}
        put(solr, {"id": "b", "content": "four five six", **other})
        until(lambda: bool(run.ended))
    (error,) = run.ended
    assert isinstance(error, SettingsError)
    assert str(error).startswith("the document 'b' now has [of another run], but this run uses")


@pytest.mark.slow
def test_killed_again_and_again_beside_a_writer(home: Path, tmp_path: Path) -> None:
    """The command, killed five times: nothing of the writer's is lost, nothing is left stale."""
    with theirs.collection() as solr, open(tmp_path / "log", "wb") as log:
        command = [*NEARDUP, "annotate", "-c", solr.name, "--solr", solr.base, "--follow"]
        made = theirs.documents(360)
        for kill in range(6):
            running = subprocess.Popen(command, stderr=log)
            theirs.add(solr, made[60 * kill : 60 * (kill + 1)])
            theirs.update(solr, {"key": f"k{60 * kill + 1}", "title": {"set": f"changed {kill}"}})
            time.sleep(2)
            if kill < 5:
                running.kill()
                running.wait()
        until(lambda: nd.doctor(solr).problems == ())
        running.send_signal(signal.SIGTERM)
        assert running.wait(SECONDS) == 0
        last = (tmp_path / "log").read_text("utf-8").splitlines()[-1]
        assert re.search(r"Read \d+ documents? = .*\d+ annotated", last)
        found = {one["key"]: one["title"] for one in theirs.select(solr, "title:changed", fl="*")}
        assert found == {f"k{60 * kill + 1}": f"changed {kill}" for kill in range(6)}


FERRY = "a ferry leaves the old pier at nine with a band and with lanterns on the upper deck"
BREAD = "how to bake bread with little yeast and much time in the mill by the river"


def clusters(solr: nd.Collection) -> list[list[str]]:
    """The marked clusters, each with the document to keep first."""
    marked = solr.stored(list(solr.ids(["neardup_cluster:[* TO *]"])), MARKS)
    found: dict[int, list[tuple[int, str]]] = {}
    for one in (one for one in marked if "neardup_cluster" in one):  # some may be gone by now
        found.setdefault(one["neardup_cluster"], []).append((one["neardup_rank"], one["id"]))
    return sorted([id for _, id in sorted(members)] for members in found.values())


def test_clusters_stay_marked_as_documents_come_and_go(
    solr: nd.Collection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By the arguments of the remembered run; then nothing is marked until something changes."""
    caplog.set_level(logging.INFO, "neardup_solr")
    remember = tmp_path / "known"
    put(solr, {"id": "a", "content": FERRY}, {"id": "b", "content": f"{FERRY} tonight"})
    nd.annotate(solr)
    nd.duplicates(solr, min_similarity=0.85, canonical="longest", remember=remember)

    def is_quiet() -> bool:
        """The file is not written any more.

        A marking that has not ended puts back the mark of a document that is replaced meanwhile.
        """
        written = remember.stat().st_mtime_ns
        caplog.clear()
        until(lambda: caplog.text.count(", 0 marks changed") == 3)
        return remember.stat().st_mtime_ns == written

    with following(solr, mark=True, remember=remember) as run:
        until(lambda: clusters(solr) == [["b", "a"]])
        put(
            solr,
            {"id": "c", "content": BREAD},
            {"id": "d", "content": f"{BREAD} again"},
            {"id": "e", "content": f"{FERRY} in the warm months of a year"},  # 0.77 alike
        )
        until(lambda: clusters(solr) == [["b", "a"], ["d", "c"]])
        until(is_quiet)
        put(solr, {"id": "c", "content": "something else altogether"})
        solr.delete_ids(["b"])
        solr.commit()
        until(lambda: clusters(solr) == [])
        until(is_quiet)
        done = run.stop()
    assert done.annotated == 4
    assert done.marked - done.cleared == 2  # those of b and c went with their documents


def test_marks_need_a_run_to_repeat(solr: nd.Collection, solr_url: str, tmp_path: Path) -> None:
    """A file that is none, or of another collection, is told with what writes it."""
    remember = tmp_path / "known"
    with refusal(SourceError, "not-remembered", f"{solr.place} --mark"):
        nd.annotate(solr, follow=True, mark=True, remember=remember)
    put(solr, {"id": "a", "content": FERRY})
    nd.annotate(solr)
    nd.duplicates(solr, remember=remember)
    with fresh_core(solr_url) as other:
        nd.index([("a", FERRY)], other)
        nd.duplicates(other, remember=tmp_path / "of another")
    with refusal(SourceError, "not-remembered", solr.name):
        nd.annotate(solr, follow=True, mark=True, remember=tmp_path / "of another")
    before = remember.read_bytes()
    remember.write_bytes(before[: len(before) // 2])
    with refusal(SourceError, "not-remembered", f"{solr.place} --mark"):
        nd.annotate(solr, follow=True, mark=True, remember=remember)
    for given in ({"mark": True}, {"mark": True, "follow": True}, {"remember": remember}):
        with refusal(ArgumentError, "arguments-conflict", "`mark`"):
            nd.annotate(solr, **given)


def test_a_log_that_nobody_reads_holds_no_follower_up(solr: nd.Collection) -> None:
    """It goes on though standard error is a full pipe, and a signal ends it."""
    put(solr, {"id": "old", "content": "a text of before"})
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 512)
    os.set_blocking(writer, True)
    words = ("annotate", "--follow", "--solr", solr.base, "-c", solr.name)
    process = subprocess.Popen([*NEARDUP, *words], stderr=writer)
    try:
        until(is_right(solr, 1))
        put(solr, {"id": "new", "content": "a text that comes later"})
        until(is_right(solr, 2))
        process.terminate()
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        os.close(writer)
        os.close(reader)
