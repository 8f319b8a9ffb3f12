"""The trials of wrong and surprising input give what they should, each as a user would type it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from neardup_solr.embedded import cores, lifecycle
from neardup_solr.solr import admin
from neardup_solr.solr.collection import open_collection
from tests import ROOT
from tests.trials import TRIALS, Trial, problems, run, write_files


@pytest.fixture
def embedded(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The embedded Solr, which is asked if no other is named; its collections go afterwards."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    monkeypatch.setenv("NEARDUP_HOME", str(home))
    server = lifecycle.start()
    there = set(cores(server) or ())
    yield
    for name in set(cores(server) or ()) - there:
        admin.drop(open_collection(server.url, name))


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.title)
@pytest.mark.usefixtures("embedded")
def test_a_trial_gives_what_it_should(trial: Trial, tmp_path: Path) -> None:
    """The right exit code, a line that says what to do, and no error from inside."""
    write_files(tmp_path)
    code, said = run(trial, ROOT, tmp_path, now=True)
    assert list(problems(trial, code, said)) == []


def test_there_are_trials_enough() -> None:
    """At least forty, each tried once."""
    assert len({trial.title for trial in TRIALS}) == len(TRIALS) >= 40
