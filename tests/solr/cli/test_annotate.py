"""annotate, strip and doctor as a person meets them, on somebody else's collection."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.command import NEARDUP, neardup
from tests.solr import api, has_no_finding, theirs


@pytest.fixture
def solr(home: Path) -> Iterator[nd.Collection]:
    """Their collection with some documents, its names kept."""
    with theirs.collection() as made:
        theirs.add(made, theirs.documents(200))
        yield made


def run(solr: nd.Collection, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the server of this collection."""
    return neardup(*words, env={"NEARDUP_SOLR_URL": solr.base})


@has_no_finding
def test_annotate_search_doctor_strip(solr: nd.Collection) -> None:
    """The main path: the counts add up, documents are found, and all is as before in the end."""
    theirs.add(solr, [theirs.documents(2)[1] | {"key": "copy"}])
    before = theirs.everything(solr)
    done = run(solr, "annotate", "-c", solr.name)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Read 201 documents = 191 annotated + 10 without text (" in done.stderr
    found = run(solr, "search", "-c", solr.name, "--id", "k1")
    assert found.stdout.splitlines()[1].startswith("copy\t0\t1.0000\t")
    checked = run(solr, "doctor", "-c", solr.name)
    assert checked.returncode == 0
    assert [line.split("\t")[:3] for line in checked.stdout.splitlines()[1:]] == [
        ["note", "no-text", "10 of 201 documents"]
    ]
    assert "201 documents, 0 missing, 191 sampled: 0 problems." in checked.stderr
    stripped = run(solr, "strip", "-c", solr.name)
    assert stripped.stderr.startswith("191 documents stripped (")
    assert theirs.everything(solr) == before
    assert theirs.ours(solr) == {}


@has_no_finding
def test_doctor_tells_what_is_missing_stale_and_damaged(solr: nd.Collection) -> None:
    """Each kind is a finding with its remedy, and the exit code tells."""
    run(solr, "annotate", "-c", solr.name)
    theirs.update(
        solr,
        {"key": "new", "title": "<p>a new one</p>"},
        {"key": "k1", "title": {"set": "another title"}},
        {"key": "k2", "nd_content_bands": {"set": ["00ff"]}},
    )
    found = run(solr, "doctor", "-c", solr.name, "--format", "tsv")
    assert found.returncode == 3
    rows = [line.split("\t") for line in found.stdout.splitlines()[1:]]
    assert [row[:3] for row in rows] == [
        ["danger", "damaged", "1 of 190 sampled documents, such as 'k2'"],
        ["warning", "missing", "1 document"],
        ["warning", "stale", "1 of 190 sampled documents, such as 'k1'"],
        ["note", "no-text", "10 of 201 documents"],
    ]
    assert rows[0][4] == f"neardup annotate {solr.place} --which all"
    assert run(solr, "annotate", "-c", solr.name, "--which", "all").returncode == 0
    assert run(solr, "doctor", "-c", solr.name).returncode == 0


def test_into_another_collection(solr: nd.Collection) -> None:
    """A collection of ours beside theirs: texts and fields, and theirs as it was."""
    before, other = theirs.everything(solr), f"{solr.name}_beside"
    try:
        words = ("annotate", "-c", solr.name, "--into", other)
        assert "= 190 annotated + 10 without text (" in run(solr, *words).stderr
        theirs.update(solr, {"key": "k1", "title": {"set": "another title"}})
        assert "= 1 annotated + 189 unchanged + 10" in run(solr, *words).stderr
        beside = nd.connect(solr.base, other)
        assert beside.texts(["k1"])["k1"].startswith("another title\n")
        assert run(solr, "doctor", "-c", other).returncode == 0
    finally:
        api.drop(nd.connect(solr.base, other))
    theirs.update(solr, {"key": "k1", "title": {"set": before["k1"]["title"]}})
    assert theirs.everything(solr) == before
    assert theirs.ours(solr) == {}


def test_into_itself_and_other_names_are_refused(solr: nd.Collection) -> None:
    """One line each, with what to do; nothing is written."""
    into = run(solr, "annotate", "-c", solr.name, "--into", solr.name)
    assert (into.returncode, into.stdout) == (2, "")
    assert "would be written into itself" in into.stderr
    named = run(solr, "annotate", "-c", solr.name, "--text-field", "title")
    assert named.returncode == 3
    assert f"neardup init {solr.place} --text-field title" in named.stderr
    beside = f"{solr.name}_beside"
    both = run(solr, "annotate", "-c", solr.name, "--which", "all", "--into", beside)
    assert both.returncode == 2
    assert "--which all cannot be combined with --into: leave one out" in both.stderr
    assert run(solr, "annotate", "-c", solr.name, "--which", "some").returncode == 2
    assert theirs.ours(solr) == {}


def test_a_killed_run_goes_on(solr: nd.Collection) -> None:
    """Killed in the middle, twice, then run to its end: as if nothing had happened."""
    before = theirs.everything(solr)
    words = ["annotate", "-c", solr.name, "--batch", "10", "--rate", "40"]
    env = os.environ | {"NEARDUP_SOLR_URL": solr.base}
    for _ in range(2):
        killed = subprocess.Popen([*NEARDUP, *words], env=env, stderr=subprocess.DEVNULL)
        count = len(theirs.ours(solr))
        deadline = time.monotonic() + 60
        while len(theirs.ours(solr)) <= count and time.monotonic() < deadline:
            time.sleep(0.02)
            solr.commit()
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert 0 < len(theirs.ours(solr)) < 190
    last = run(solr, "annotate", "-c", solr.name)
    assert "annotated +" in last.stderr
    assert " unchanged + 10 without text (" in last.stderr
    assert len(theirs.ours(solr)) == 190
    assert theirs.everything(solr) == before
    assert run(solr, "doctor", "-c", solr.name).returncode == 0


def test_a_collection_that_is_not_prepared_is_refused_with_the_next_step(home: Path) -> None:
    """Without names of its own, without fields of ours: one line that leads to what adds them."""
    with theirs.collection(is_noted=False) as made:
        theirs.add(made, theirs.documents(20))
        for words in (["annotate"], ["annotate", "--text-field", "title"], ["doctor"]):
            done = run(made, words[0], "-c", made.name, *words[1:])
            assert (done.returncode, done.stdout) == (3, ""), words
            assert done.stderr.count("\n") == 1, done.stderr
            step = "init" if len(words) > 1 else "lint"  # which finds the text field by itself
            assert f"neardup {step} -c {made.name}" in done.stderr, (words, done.stderr)
        nothing = run(made, "strip", "-c", made.name)
        assert (nothing.returncode, nothing.stdout) == (3, "")
        assert "there is nothing to remove" in nothing.stderr
        assert theirs.ours(made) == {}
