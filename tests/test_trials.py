"""The trials of wrong and surprising input give what they should, each as a user would type it."""

from pathlib import Path

import pytest

from tests import ROOT
from tests.trials import TRIALS, Trial, problems, run, write_files


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.title)
@pytest.mark.usefixtures("address")
def test_a_trial_gives_what_it_should(trial: Trial, tmp_path: Path) -> None:
    """The right exit code, a line that says what to do, and no error from inside."""
    write_files(tmp_path)
    code, said = run(trial, ROOT, tmp_path, now=True)
    assert list(problems(trial, code, said)) == []


def test_a_source_line_is_not_a_message(tmp_path: Path) -> None:
    """A message counts as said only if the error has it, not a line of the traceback."""
    (tmp_path / "broken.py").write_text("raise OSError('no')  # give ids=['12']\n")
    trial = Trial(title="", now="import broken", code=1, says="give ids=")
    code, said = run(trial, ROOT, tmp_path, now=True)
    assert said.strip() == "OSError: no"
    assert list(problems(trial, code, said)) == ["does not say 'give ids='"]


def test_there_are_trials_enough() -> None:
    """At least forty, each tried once."""
    assert len({trial.title for trial in TRIALS}) == len(TRIALS) >= 40
