"""`neardup dead-letters`: what index could not index, shown, mended and indexed again."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import stat
import subprocess
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.testing import fresh_core
from tests.command import NEARDUP, neardup
from tests.refusals import refusal
from tests.solr.cli.conftest import Run

LETTERS = "dead-letters.jsonl"
CSV = """\
id,text,city
1,Blue Door Cafe 12 Harbour Street,Alton
,The Old Mill 3 River Walk,Berwick
3,Blue Door Books,Mill Lane,Alton
4,The New Mill 5 River Walk,Berwick
"""


@pytest.fixture
def job(solr: nd.Collection, run: Run, tmp_path: Path) -> Path:
    """The folder of a job with two dead letters: one without an id, one with a field too many."""
    source = tmp_path / "ads.csv"
    source.write_text(CSV)
    said = run("index", str(source), "--keep", "city", "--job", str(tmp_path / "job"))
    assert said.returncode == 1
    assert f"neardup dead-letters show --job {tmp_path / 'job'}" in said.stderr
    assert solr.count() == 2
    return tmp_path / "job"


def mend(folder: Path, **records: object) -> None:
    """Write other records into dead letters, by the number of their line ("line_3")."""
    lines = []
    for line in (folder / LETTERS).read_text().splitlines():
        letter = json.loads(line)
        number = letter["position"].rpartition(" ")[2]
        lines.append(
            json.dumps(letter | {"record": records.get(f"line_{number}", letter["record"])})
        )
    (folder / LETTERS).write_text("\n".join(lines) + "\n")


def test_show_prints_a_row_for_each(run: Run, job: Path) -> None:
    """Position, id, stage, reason and the record; in JSONL as they are in their file."""
    said = run("dead-letters", "show", "--job", str(job))
    assert said.stdout.splitlines() == [
        "position\tid\tstage\treason\trecord",
        "ads.csv, line 3\t\tread\tthe id is empty\t"
        '{"id": "", "text": "The Old Mill 3 River Walk", "city": "Berwick"}',
        "ads.csv, line 4\t\tread\t4 fields, but the header has 3\t"
        "3,Blue Door Books,Mill Lane,Alton",
    ]
    assert said.stderr == f"2 dead letters in {job / LETTERS}\n"
    assert said.returncode == 0
    said = run("dead-letters", "show", "--job", str(job), "--format", "jsonl")
    assert said.stdout == (job / LETTERS).read_text()


@pytest.mark.parametrize("suffix", ["tsv", "csv", "jsonl"])
def test_show_writes_a_file(run: Run, job: Path, tmp_path: Path, suffix: str) -> None:
    """As it prints them."""
    path = tmp_path / f"letters.{suffix}"
    said = run("dead-letters", "show", "--job", str(job), "-o", str(path))
    assert said.stdout == ""
    printed = run("dead-letters", "show", "--job", str(job), "--format", suffix).stdout
    assert path.read_text() == printed
    assert len(printed.splitlines()) == 2 + (suffix != "jsonl")


def test_show_cuts_records_off_in_a_terminal(job: Path) -> None:
    """What would move the cursor is escaped, and each letter keeps to its columns."""
    mend(job, line_4="\x1b[2J" + "3,Blue Door Books," * 1_000)
    person, command = pty.openpty()
    env = os.environ | {"COLUMNS": "100", "TERM": "xterm"}
    words = [*NEARDUP, "dead-letters", "show", "--job", str(job)]
    ran = subprocess.run(words, stdout=command, stderr=subprocess.PIPE, env=env, timeout=60)
    os.close(command)
    shown = b""
    try:
        while part := os.read(person, 65_536):
            shown += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(person)
    text = re.sub(r"\x1b\[\d*m", "", shown.decode())  # bold
    assert ran.returncode == 0
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "\\x1b[2J3,Blue" in text
    assert "\x1b[2J" not in text
    assert len(text.splitlines()) < 12


def test_show_needs_no_solr_for_a_job(job: Path) -> None:
    """Nobody has to answer where the job went."""
    env = {"NEARDUP_SOLR_URL": "http://127.0.0.1:9/solr"}
    said = neardup("dead-letters", "show", "--job", str(job), env=env)
    assert (said.returncode, len(said.stdout.splitlines())) == (0, 3)


def test_retry_indexes_what_was_mended_and_keeps_the_rest(
    solr: nd.Collection, run: Run, job: Path
) -> None:
    """What is indexed goes from the file, the rest stays with the reason of now."""
    mend(job, line_3={"id": "2", "text": "The Old Mill 3 River Walk", "city": "Berwick"})
    os.chmod(job / LETTERS, 0o644)  # as some editors leave it
    said = run("dead-letters", "retry", "--job", str(job))
    assert said.returncode == 1
    lines = said.stderr.splitlines()
    assert lines[0] == "ads.csv, line 4: 4 fields, but the header has 3"
    assert lines[1] == "Read 2 dead letters = 1 indexed + 0 repeated + 1 failed."
    assert lines[3] == f"To be corrected: {job / LETTERS}"
    assert solr.document("2", ["content", "city"]) == {
        "content": "The Old Mill 3 River Walk",
        "city": ["Berwick"],
    }
    (left,) = nd.dead_letters(job=job)
    assert (left.position, left.record) == ("ads.csv, line 4", "3,Blue Door Books,Mill Lane,Alton")
    assert stat.S_IMODE((job / LETTERS).stat().st_mode) == 0o600
    mend(job, line_4='3,"Blue Door Books, Mill Lane",Alton')
    said = run("dead-letters", "retry", "--job", str(job))
    assert said.returncode == 0
    assert solr.document("3", ["content"])["content"] == "Blue Door Books, Mill Lane"
    assert solr.count() == 4
    assert not job.exists()


def test_a_reason_that_is_another_one_now_is_kept(run: Run, job: Path) -> None:
    """The file and `show` tell what is wrong by now, with the record as it was mended."""
    record = {"id": "2", "text": 17, "city": "Berwick"}
    mend(job, line_3=record, line_4=None)
    assert run("dead-letters", "retry", "--job", str(job)).returncode == 1
    first, second = nd.dead_letters(job=job)
    assert (first.reason, first.record) == ("the text in 'text' is the number 17, not text", record)
    assert (second.reason, second.record) == ("4 fields, but the header has 3", None)


def test_a_document_that_solr_refuses_again_stays(solr: nd.Collection, tmp_path: Path) -> None:
    """Its reason is Solr's, and the record is the whole one."""
    record = {"id": "7", "text": "A blue door", "price_i": "low"}
    source = tmp_path / "a.jsonl"
    source.write_text(json.dumps(record) + "\n")
    folder = tmp_path / "job"
    assert nd.index(source, solr, keep="price_i", job=folder).failed == 1
    (before,) = nd.dead_letters(job=folder)
    assert before.stage == "solr"
    done = nd.retry(solr, job=folder)
    assert (done.read, done.indexed, done.failed, done.left) == (1, 0, 1, (folder / LETTERS,))
    assert done.errors[0].position == "a.jsonl, line 1"
    assert nd.dead_letters(job=folder) == [before]
    mend(folder, line_1=record | {"price_i": "17"})
    done = nd.retry(solr, job=folder)
    assert (done.read, done.indexed, done.failed, done.left) == (1, 1, 0, ())
    assert (solr.count(), folder.exists()) == (1, False)


def test_the_jobs_of_a_collection_are_found_by_its_name(
    solr: nd.Collection, run: Run, tmp_path: Path
) -> None:
    """Without --job: those in the user's data folder, each with its own file."""
    home = {"NEARDUP_HOME": str(tmp_path / "home")}
    said = run("dead-letters", "show", **home)
    assert said.returncode == 0
    assert said.stderr == f"There are no dead letters of {solr.name} at {solr.base}.\n"
    for name in ("a", "b"):
        source = tmp_path / f"{name}.jsonl"
        source.write_text(f'{{"text": "{name} b c"}}\n' + '{"id": 1, "text": "d e f"}\n' * 2)
        assert run("index", str(source), **home).returncode == 1
    said = run("dead-letters", "show", **home)
    assert [line.split("\t")[0] for line in said.stdout.splitlines()[1:]] == [
        "a.jsonl, line 1",
        "b.jsonl, line 1",
    ]
    assert said.stderr.count("1 dead letter in ") == 2
    folders = sorted((tmp_path / "home" / "jobs").iterdir())
    for folder in folders:
        mend(folder, line_1={"id": folder.name, "text": "g h i"})
    said = run("dead-letters", "retry", **home)
    assert "Read 2 dead letters = 2 indexed + 0 repeated + 0 failed." in said.stderr
    assert (said.returncode, solr.count()) == (0, 3)
    assert list((tmp_path / "home" / "jobs").iterdir()) == []
    said = run("dead-letters", "retry", **home)
    assert said.returncode == 0
    assert said.stderr.splitlines()[-1].startswith("There are no dead letters to index in ")


def test_a_job_goes_to_its_own_collection_and_no_other(
    solr: nd.Collection, solr_url: str, run: Run, job: Path
) -> None:
    """One of another Solr, or another collection that is named, is refused; the letters stay."""
    mend(job, line_3={"id": "2", "text": "a b c"}, line_4={"id": "3", "text": "d e f"})
    said = run(
        "dead-letters", "retry", "--job", str(job), NEARDUP_SOLR_URL="http://127.0.0.1:9/solr"
    )
    assert said.returncode == 4
    assert said.stderr.startswith("neardup: ")
    assert len(nd.dead_letters(job=job)) == 2
    with fresh_core(solr_url) as other:
        said = run("dead-letters", "retry", "--job", str(job), "--solr", other.url)
        assert (said.returncode, other.count(), solr.count()) == (3, 0, 2)
        assert f"is for the collection '{solr.name}', not '{other.name}'; retry" in said.stderr
    assert len(nd.dead_letters(job=job)) == 2


def test_a_job_without_an_address_is_sent_to_where_it_was(
    solr: nd.Collection, job: Path, tmp_path: Path
) -> None:
    """The checkpoint tells the Solr and the collection."""
    mend(job, line_3={"id": "2", "text": "a b c"}, line_4={"id": "3", "text": "d e f"})
    env = {"NEARDUP_SOLR_URL": None, "NEARDUP_HOME": str(tmp_path / "home")}
    said = neardup("dead-letters", "retry", "--job", str(job), env=env)
    assert (said.returncode, solr.count()) == (0, 4), said.stderr


def test_a_job_that_has_not_ended_is_left_as_it_is(
    run: Run, spawn: Run, job: Path, tmp_path: Path
) -> None:
    """`index --resume` would cut its file; what it says is what to do."""
    words = ("index", str(tmp_path / "ads.csv"), "--keep", "city", "--job", str(job))
    killed = spawn(*words, "--checkpoint-every", "1", NEARDUP_FAILPOINT="after-checkpoint")
    assert killed.returncode == 137
    said = run("dead-letters", "retry", "--job", str(job))
    assert said.returncode == 3
    assert said.stderr.startswith(f"neardup: the job in {job} has not ended; finish it first: run")
    assert len(run("dead-letters", "show", "--job", str(job)).stdout.splitlines()) == 3


def test_a_job_at_work_is_refused(solr: nd.Collection, run: Run, job: Path) -> None:
    """Its lock is that of index."""
    refusals = []

    def retry(_: object) -> None:
        refusals.append(run("dead-letters", "retry", "--job", str(job)))

    nd.index(job.with_name("ads.csv"), solr, keep="city", job=job, on_progress=retry)
    for said in refusals:
        assert said.returncode == 3
        assert said.stderr.startswith("neardup: another run of this job is in progress")
    assert refusals
    assert len(nd.dead_letters(job=job)) == 2


def test_a_file_that_is_edited_meanwhile_loses_nothing(solr: nd.Collection, job: Path) -> None:
    """What a person saves while its records are indexed is not written over."""
    mend(job, line_3={"id": "2", "text": "a b c"})
    edited = (job / LETTERS).read_text().replace("Blue Door", "Green Door")

    def save(_: object) -> None:
        (job / LETTERS).write_text(edited)

    with refusal(nd.errors.JobError, "job-unreadable", job / LETTERS):
        nd.retry(solr, job=job, on_progress=save)
    assert (job / LETTERS).read_text() == edited
    assert nd.retry(solr, job=job).indexed == 1


def test_a_folder_without_a_job_is_named(run: Run, tmp_path: Path) -> None:
    """One line, by both commands."""
    for word in ("show", "retry"):
        said = run("dead-letters", word, "--job", str(tmp_path))
        assert said.returncode == 3
        assert said.stderr.startswith(f"neardup: there is no job in {tmp_path}; give the folder")
        assert list(tmp_path.iterdir()) == []


def test_letters_that_were_edited_wrongly_are_refused_before_anything_is_indexed(
    solr: nd.Collection, run: Run, job: Path
) -> None:
    """The line is named, and nothing is removed."""
    mend(job, line_3={"id": "2", "text": "a b c"})
    with open(job / LETTERS, "a") as file:
        file.write("{]\n")
    before = (job / LETTERS).read_bytes()
    said = run("dead-letters", "retry", "--job", str(job))
    assert said.returncode == 3
    assert said.stderr.startswith(f"neardup: line 3 of the dead letters in {job / LETTERS} cannot")
    assert (job / LETTERS).read_bytes() == before
    assert solr.count() == 2


@pytest.mark.parametrize(
    "failpoint", ["before-send", "after-send", "before-commit", "after-commit"]
)
def test_a_killed_retry_loses_nothing(
    solr: nd.Collection, run: Run, spawn: Run, job: Path, failpoint: str
) -> None:
    """The file is what it was until all is found by a search; the next retry ends it."""
    mend(job, line_3={"id": "2", "text": "a b c"}, line_4={"id": "3", "text": "d e f"})
    before = (job / LETTERS).read_bytes()
    said = spawn("dead-letters", "retry", "--job", str(job), NEARDUP_FAILPOINT=failpoint)
    assert said.returncode == 137
    assert (job / LETTERS).read_bytes() == before
    said = run("dead-letters", "retry", "--job", str(job))
    assert (said.returncode, solr.count(), job.exists()) == (0, 4, False)


def test_a_retry_killed_at_any_moment_loses_nothing(solr: nd.Collection, tmp_path: Path) -> None:
    """Each of 300 records is in Solr or in the file, wherever SIGKILL strikes."""
    source, folder = tmp_path / "a.jsonl", tmp_path / "job"
    lines = [json.dumps({"text": f"word {one} and another"}) for one in range(300)]
    good = [json.dumps({"id": f"good-{one}", "text": "a b c"}) for one in range(301)]
    source.write_text("\n".join(good + lines) + "\n")
    assert nd.index(source, solr, job=folder).failed == 300
    records = {f"line_{n}": {"id": str(n), "text": f"word {n}"} for n in range(302, 602)}
    mend(folder, **records)
    env = os.environ | {"NEARDUP_SOLR_URL": solr.url}
    words = [*NEARDUP, "dead-letters", "retry", "--job", str(folder)]
    delay, rounds = 0.2, 0
    while any(map(folder.glob, ("*.json", LETTERS))) and rounds < 40:
        with subprocess.Popen(words, env=env, stderr=subprocess.DEVNULL) as running:
            try:
                running.wait(delay)
            except subprocess.TimeoutExpired:
                running.send_signal(signal.SIGKILL)
        solr.commit()
        left = (
            [one.record for one in nd.dead_letters(job=folder)]
            if (folder / LETTERS).exists()
            else []
        )
        there = {str(number) for number in range(302, 602)}
        there -= {str(record["id"]) for record in left if isinstance(record, dict)}
        assert not there or solr.count(ids=sorted(there)) == len(there)
        delay, rounds = delay + 0.25, rounds + 1
    assert {path.name for path in folder.glob("*")} <= {"lock"}  # if it was killed at its very end
    assert rounds > 1
    assert solr.count() == 601
