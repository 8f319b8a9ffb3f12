"""The folder of a job: what it keeps, from run to run, whatever happens to it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from neardup_solr.dead_letter_file import LETTERS, Letter, line_of
from neardup_solr.errors import JobError, RecordError, SourceError
from neardup_solr.index_job import (
    CHECKPOINT,
    LOCK,
    Job,
    JobSpec,
    Position,
    all_jobs,
    folder_for,
    folders_of,
    read_checkpoint,
    read_letters,
)
from tests.refusals import refusal

SERVER = "http://127.0.0.1:8983/solr"
WORK = JobSpec(
    source="ads.csv",
    identity="a file",
    reading={"id": "ad", "text": ["title", "body"], "keep": []},
    server=SERVER,
    collection="ads",
)
REACHED = Position(read=100, repeated=3, failed=2, words=900, last=("98", "99"))


def refused(*numbers: int) -> list[RecordError]:
    """Errors on some lines, with all that a dead letter has."""
    return [
        RecordError(f"ads.csv, line {one}", "no id", None, record={"text": "ä"}, stage="read")
        for one in numbers
    ]


def positions(folder: Path) -> list[str]:
    """Where the records of the dead letters stand."""
    return [letter.position for letter in read_letters(folder)]


def ended(folder: Path, *numbers: int) -> None:
    """A job that has ended, with dead letters for some lines."""
    with Job(folder) as job:
        job.keep(WORK, REACHED, refused(*numbers), has_ended=True)


def mode(path: Path) -> int:
    """Who may read and write a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_checkpoint_is_read_as_it_was_written(tmp_path: Path) -> None:
    """The work, how far it is, and whether it has ended."""
    with Job(tmp_path / "job") as job:
        job.keep(WORK, REACHED, ())
        found = read_checkpoint(job.folder)
        assert found is not None
        assert (found.work, found.reached, found.has_ended) == (WORK, REACHED, False)
        job.keep(WORK, REACHED, (), has_ended=True)
    found = read_checkpoint(tmp_path / "job")
    assert found is not None
    assert found.has_ended


def test_what_is_kept_is_on_the_disk_before_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dead letters first, each file with an fsync: a machine that goes down has both or neither."""
    happened: list[str] = []
    monkeypatch.setattr("neardup_solr.index_job.stop_at", happened.append)
    monkeypatch.setattr(os, "fsync", lambda _: happened.append("fsync"))
    with Job(tmp_path / "a" / "new" / "job") as job:
        assert mode(job.folder) == 0o700
        for dead, has_ended in ((refused(1), False), ((), False), ((), True)):
            happened.clear()
            job.keep(WORK, REACHED, dead, has_ended=has_ended)
            letters = ["fsync"] if dead or has_ended else []
            assert happened == [
                "before-dead-letters", *letters, "after-dead-letters",
                "before-checkpoint", "fsync", "after-checkpoint",
            ]  # fmt: skip


def test_the_umask_does_not_decide_who_may_read(tmp_path: Path) -> None:
    """Records of a source are for their owner: files 0600, their folder 0700."""
    code = (
        "import os; os.umask(0)\n"
        "from tests.unit.test_index_job import *\n"
        f"folder = Path({str(tmp_path / 'job')!r})\n"
        "with Job(folder) as job:\n"
        "    job.keep(WORK, REACHED, refused(7))\n"
        "    job.keep(WORK, REACHED, refused(8), has_ended=True)\n"
        "    job.keep_letters(read_letters(folder))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    folder = tmp_path / "job"
    assert mode(folder) == 0o700
    assert {mode(folder / name) for name in (CHECKPOINT, LETTERS)} == {0o600}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b'{"format": 1}',
        b'{"format": 2}',
        b'{"format": 1, "work": {}, "reached": {"last": []}, "has_ended": false}',
        b'{"format": 1, "work": {"colour": 1}, "reached": {"last": []}, "has_ended": false}',
        b'{"format": 1, "work": [], "reached": 5, "has_ended": false}',
    ],
)
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, content: bytes) -> None:
    """Nothing is guessed: the error names the file and what to do."""
    (tmp_path / CHECKPOINT).write_bytes(content)
    with refusal(JobError, "job-unreadable", CHECKPOINT):
        read_checkpoint(tmp_path)


def test_every_cut_of_a_checkpoint_is_refused(tmp_path: Path) -> None:
    """However much of it is missing at its end."""
    with Job(tmp_path / "job") as job:
        job.keep(WORK, REACHED, ())
        path = job.folder / CHECKPOINT
        whole = path.read_bytes()
        for length in range(len(whole)):
            path.write_bytes(whole[:length])
            with pytest.raises(JobError):
                read_checkpoint(job.folder)


def test_a_folder_without_a_job_has_nothing(tmp_path: Path) -> None:
    """No checkpoint and no dead letters; that is no error."""
    assert read_checkpoint(tmp_path) is None
    assert positions(tmp_path) == []
    assert positions(tmp_path / "missing") == []


def test_letters_come_back_as_they_were(tmp_path: Path) -> None:
    """Objects, raw lines that are not UTF-8, what was too large, and what JSON does not have."""
    given = [
        RecordError("a, line 1", "bad", "7", record={"n": 2**70, "deep": [{"a": None}]}),
        RecordError("a, line 2", "invalid UTF-8", record="caf\udce9 \0 \u2028"),
        RecordError("a, line 3", "too_large", record=None),
        RecordError("a, line 4", "refused", "9", record={"at": Path("x")}, stage="solr"),
    ]
    with Job(tmp_path / "job") as job:
        job.keep(WORK, REACHED, given)
    first, second, third, fourth = read_letters(tmp_path / "job")
    assert first == Letter(
        position="a, line 1", id="7", stage="read", reason="bad", record=given[0].record
    )
    assert (second.record, third.record) == (given[1].record, None)
    assert (fourth.record, fourth.stage) == ({"at": "x"}, "solr")


def test_a_record_that_json_cannot_hold_leaves_a_letter(tmp_path: Path) -> None:
    """Lists within lists without end: the letter says where the record is, without it."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with Job(tmp_path / "job") as job:
        job.keep(WORK, REACHED, [RecordError("a, line 1", "bad", record={"deep": deep})])
    (letter,) = read_letters(tmp_path / "job")
    assert (letter.position, letter.record) == ("a, line 1", None)


def test_letters_after_the_last_checkpoint_do_not_count(tmp_path: Path) -> None:
    """A run that goes on cuts them off, and adds its own once."""
    with Job(tmp_path / "job") as job:
        job.keep(WORK, REACHED, refused(7))
    folder = tmp_path / "job"
    with open(folder / LETTERS, "a") as file:
        file.write('{"position": "half a li')
    assert positions(folder) == ["ads.csv, line 7"]
    with Job(folder) as job:
        job.begin(read_checkpoint(folder))
        job.keep(WORK, REACHED, refused(8))
    assert positions(folder) == ["ads.csv, line 7", "ads.csv, line 8"]
    assert len((folder / LETTERS).read_text().splitlines()) == 2


def test_a_job_that_ends_cuts_off_what_came_after_the_last_checkpoint(tmp_path: Path) -> None:
    """The document of such a letter may have been indexed by the run that went on."""
    with Job(tmp_path / "job") as job:
        job.keep(WORK, REACHED, refused(7))
    folder = tmp_path / "job"
    with open(folder / LETTERS, "a") as file:
        file.write((folder / LETTERS).read_text().replace("line 7", "line 8"))
    with Job(folder) as job:
        job.begin(read_checkpoint(folder))
        job.keep(WORK, REACHED, (), has_ended=True)
    assert positions(folder) == ["ads.csv, line 7"]


def test_a_first_letter_that_did_not_fit_is_written_over(tmp_path: Path) -> None:
    """A run whose disk was full before its first checkpoint leaves a part of a line."""
    line = line_of(Letter(position="ads.csv, line 7", id="7", stage="read", reason="", record=""))
    for length in (0, 1, 12, 20, len(line) - 1):
        folder = tmp_path / str(length)
        folder.mkdir()
        (folder / LETTERS).write_text(line[:length])
        with Job(folder) as job:
            job.begin(None)
            job.keep(WORK, REACHED, refused(5))
        assert positions(folder) == ["ads.csv, line 5"]


def test_a_new_run_writes_over_the_letters_of_the_last_one(tmp_path: Path) -> None:
    """They stay until its first checkpoint; then they are no longer true."""
    folder = tmp_path / "job"
    ended(folder, 7, 8, 9)
    with Job(folder) as job:
        job.begin(None)
        assert len(positions(folder)) == 3
        job.keep(WORK, REACHED, ())
        assert positions(folder) == []
        job.keep(WORK, REACHED, refused(5))
    assert positions(folder) == ["ads.csv, line 5"]


def test_letters_of_a_job_that_has_ended_may_be_edited(tmp_path: Path) -> None:
    """Lines that became longer, blank lines, lines that were taken out."""
    folder = tmp_path / "job"
    ended(folder, 7, 8, 9)
    first, _, third = read_letters(folder)
    longer = replace(third, record={"ad": "1", "text": "long " * 1_000})
    (folder / LETTERS).write_text(f"{line_of(first)}\n{line_of(longer)}\n")
    assert list(read_letters(folder)) == [first, longer]
    (folder / LETTERS).unlink()
    assert positions(folder) == []


@pytest.mark.parametrize("change", ["", "x", "longer"])
def test_letters_that_changed_before_the_end_are_told(tmp_path: Path, change: str) -> None:
    """A run that went on would cut them in their middle, or fill what is missing with zeros."""
    folder = tmp_path / "job"
    with Job(folder) as job:
        job.keep(WORK, REACHED, refused(7, 8))
    content = (folder / LETTERS).read_text()
    edited = content.replace("no id", "no id at all") if change == "longer" else change
    (folder / LETTERS).write_text(edited)
    with refusal(JobError, "line-invalid" if change == "x" else "job-unreadable", LETTERS):
        list(read_letters(folder))
    with Job(folder) as job, refusal(JobError, "job-unreadable", LETTERS):
        job.begin(read_checkpoint(folder))
    assert (folder / LETTERS).read_text() == edited


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "7",
        "{}",
        '{"position": "a", "id": null, "stage": "read", "reason": "b"}',
        '{"position": "a", "id": 7, "stage": "read", "reason": "b", "record": null}',
        '{"position": "a", "id": null, "stage": "read", "reason": "b", "record": [1]}',
        '{"position": null, "id": null, "stage": "read", "reason": "b", "record": ""}',
    ],
)
def test_a_letter_that_was_edited_wrongly_is_named(tmp_path: Path, line: str) -> None:
    """By the number of its line."""
    folder = tmp_path / "job"
    ended(folder, 7)
    with open(folder / LETTERS, "a") as file:
        file.write(line)
    with refusal(JobError, "line-invalid", "line 2"):
        list(read_letters(folder))


def test_letters_are_replaced_as_a_whole(tmp_path: Path) -> None:
    """An error while they are written leaves those there were."""
    folder = tmp_path / "job"
    ended(folder, 7, 8)
    before = list(read_letters(folder))
    with Job(folder) as job:
        with pytest.raises(ZeroDivisionError):
            job.keep_letters(before[1 // one] for one in (1, 0))
        assert list(read_letters(folder)) == before
        job.keep_letters(before[1:])
    assert list(read_letters(folder)) == before[1:]
    assert sorted(path.name for path in folder.iterdir()) in (
        [CHECKPOINT, LETTERS],
        [CHECKPOINT, LETTERS, LOCK],
    )


def test_files_of_somebody_else_are_left_alone(tmp_path: Path) -> None:
    """A checkpoint of another program, or lines that are no dead letters, stop a job."""
    for name, content in ((CHECKPOINT, '{"epoch": 3}'), (LETTERS, '{"to": "me"}\n')):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text(content)
        with Job(folder) as job, pytest.raises(JobError, match="`job`"):
            job.begin(None)
        assert (folder / name).read_text() == content


def test_letters_that_were_edited_are_not_written_over(tmp_path: Path) -> None:
    """What was mended is to be indexed first; what is as the job has left it may go."""
    ended(tmp_path, 1, 2)
    with Job(tmp_path) as job:
        job.begin(None)
        letters = list(read_letters(tmp_path))
        job.keep_letters(letters[:1])
        job.begin(None)
        os.utime(job.letters, ns=(0, 7))
        with refusal(JobError, "job-has-letters", LETTERS):
            job.begin(None)
        job.letters.unlink()
        job.begin(None)


def test_a_second_run_of_a_job_is_refused(tmp_path: Path) -> None:
    """In the same process and in another one; afterwards it may run."""
    folder = tmp_path / "job"
    code = f"from tests.unit.test_index_job import *\nwith Job(Path({str(folder)!r})): pass"
    with Job(folder) as job:
        job.keep(WORK, REACHED, ())
        with refusal(JobError, "job-busy", str(folder)), Job(folder):
            pass
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "JobError: another run" in other.stderr
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_is_left_of_a_job_that_has_nothing_to_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its usual folder goes; of a folder that the user named, nothing else does."""
    monkeypatch.setenv("NEARDUP_HOME", str(tmp_path))
    usual, named, own = all_jobs() / "ads-1", tmp_path / "named", tmp_path / "own"
    own.mkdir()
    (own / "thesis.txt").write_text("years of work")
    for folder in (usual, named, own):
        ended(folder, 7)
        with Job(folder) as job:
            job.end()
    assert not usual.exists()
    assert not named.exists()
    assert [path.name for path in own.iterdir()] == ["thesis.txt"]


# A child that fills its disk: at most so many bytes may be written to a file.
FULL = """
import resource, signal
from tests.refusals import refusal
from tests.unit.test_index_job import *
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({bytes}, {bytes}))
folder = Path({folder!r})
try:
    with Job(folder) as job:
        job.begin(read_checkpoint(folder))
        {act}
except SourceError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("file", "bytes", "act"),
    [
        (LETTERS, 1_000, "job.keep(WORK, REACHED, refused(*range(100)))"),
        (CHECKPOINT, 200, "job.keep(WORK, REACHED, ())"),
        (LETTERS, 200, "job.keep_letters(list(read_letters(folder)) * 10)"),
    ],
)
def test_a_full_disk_leaves_the_last_checkpoint_whole(
    tmp_path: Path, file: str, bytes: int, act: str
) -> None:
    """The error names the file; checkpoint and dead letters are those of before."""
    folder = tmp_path / "job"
    with Job(folder) as job:
        job.keep(WORK, REACHED, refused(7, 8))
    kept, letters = read_checkpoint(folder), list(read_letters(folder))
    code = FULL.format(bytes=bytes, folder=str(folder), act=act)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.startswith(
        f"{folder / file}: cannot be written (File too large); free some space"
    )
    assert read_checkpoint(folder) == kept
    assert list(read_letters(folder)) == letters
    assert not list(folder.glob(".neardup-*"))


def test_letters_on_a_full_device_are_an_error(tmp_path: Path) -> None:
    """/dev/full takes no byte: the checkpoint does not claim what is not written."""
    folder = tmp_path / "job"
    with Job(folder) as job:
        job.keep(WORK, REACHED, ())
        kept = read_checkpoint(folder)
        job.letters.symlink_to("/dev/full")
        with refusal(SourceError, "file-unwritable", LETTERS):
            job.keep(WORK, replace(REACHED, read=200), refused(7))
    assert read_checkpoint(folder) == kept


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """A file stands where it should be, or no folder can be above it."""
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "job"):
        with refusal(SourceError, "file-unwritable", str(place)), Job(place):
            pass


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the usual folders, which is the test's own."""
    monkeypatch.setenv("NEARDUP_HOME", str(tmp_path))
    return all_jobs()


def test_the_usual_folder_is_that_of_file_and_collection(jobs: Path) -> None:
    """The same for the same, whatever the current folder; another for another."""
    usual = folder_for(["a/../ads.csv"], SERVER, "ads", can_resume=True)
    assert usual == folder_for(["ads.csv"], SERVER, "ads", can_resume=True)
    assert usual.parent == jobs
    assert usual.name.startswith("ads-ads.csv-")
    others: Sequence[tuple[list[str], str, str]] = [
        (["b/ads.csv"], SERVER, "ads"),
        (["ads.csv"], "http://127.0.0.1:1/solr", "ads"),
        (["ads.csv"], SERVER, "news"),
        (["ads.csv", "b/ads.csv"], SERVER, "ads"),
    ]
    found = {folder_for(*other, can_resume=True) for other in others}
    assert len(found | {usual}) == 5
    piped = [folder_for(["-"], SERVER, "ads", can_resume=False) for _ in range(2)]
    assert piped[0] != piped[1]
    assert piped[0].name.startswith("ads-stdin-")


@pytest.mark.parametrize("name", ["..", "/", "a b/Ä ö!.csv", "\udcff.csv", "x" * 300])
def test_the_usual_folder_is_within_that_of_the_jobs(jobs: Path, name: str) -> None:
    """Whatever the source is called."""
    usual = folder_for([name], SERVER, "ads", can_resume=True)
    assert usual.parent == jobs
    assert len(usual.name.encode()) < 100


def test_the_jobs_of_a_collection_are_found(jobs: Path) -> None:
    """By server and collection; a damaged one of another collection is not in the way."""
    assert folders_of(SERVER, "ads") == []
    for name, work in {
        "ads-b": WORK,
        "ads-a": WORK,
        "ads-elsewhere": replace(WORK, server="http://127.0.0.1:1/solr"),
        "news": replace(WORK, collection="news"),
    }.items():
        with Job(jobs / name) as job:
            job.keep(work, REACHED, ())
    (jobs / "empty").mkdir()
    assert folders_of(SERVER, "ads") == [jobs / "ads-a", jobs / "ads-b"]
    (jobs / "news" / CHECKPOINT).write_text("{")
    assert folders_of(SERVER, "ads") == [jobs / "ads-a", jobs / "ads-b"]
    (jobs / "ads-b" / CHECKPOINT).write_text("{")
    with pytest.raises(JobError, match="ads-b"):
        folders_of(SERVER, "ads")


def test_the_checkpoint_is_json_with_its_format(tmp_path: Path) -> None:
    """What another version writes is told by its number."""
    with Job(tmp_path) as job:
        job.keep(WORK, REACHED, refused(7))
    content = json.loads((tmp_path / CHECKPOINT).read_bytes())
    assert content["format"] == 1
    assert content["work"] == asdict(WORK)
    assert content["reached"]["letters"] == (tmp_path / LETTERS).stat().st_size
