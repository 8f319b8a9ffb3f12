"""The file of answers: what is read of it, however it was edited, and what is appended."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import subprocess
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.answers import (
    NO_PAIR,
    Answer,
    ValueChoice,
    choose_latest,
    hash_text,
    list_choices,
)
from neardup_solr.answers.answer_file import AnswerFile, append_answers
from neardup_solr.answers.format import read_answers
from neardup_solr.answers.verdicts import Verdicts
from neardup_solr.minhash import make_entry
from tests.command import NEARDUP
from tests.faults.tiers import sized
from tests.refusals import refusal

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LINE = b'{"id":"1","other_id":"2","answer":"same","when":"2026-03-01T12:00:00Z"}\n'


def answer(one: str, other: str, word: str, minute: int = 0) -> Answer:
    """An answer that was given so many minutes after noon."""
    when = NOON + timedelta(minutes=minute)
    return Answer(id=one, other_id=other, answer=word, who="Ann", when=when)  # type: ignore[arg-type]


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    """All facts of an answer come back, and what was there before is still there."""
    path = tmp_path / "answers.jsonl"
    first = Answer(id="é\n1", other_id="2", answer="same", who="Åsa", when=NOON, hash="a" * 32,
                   other_hash="b" * 32, ordered=True)  # fmt: skip
    append_answers(path, [first])
    before = path.read_bytes()
    append_answers(path, [answer("3", "4", "unsure"), answer("4", "3", "different", 1)])
    assert path.read_bytes().startswith(before)
    assert read_answers(path) == [
        first, answer("3", "4", "unsure"), answer("4", "3", "different", 1)
    ]  # fmt: skip


def test_a_choice_of_a_value_is_no_answer_about_a_pair(tmp_path: Path) -> None:
    """It is read back, in the words of an answer that no version takes for one about a pair."""
    path = tmp_path / "answers.jsonl"
    choice = ValueChoice(column="phone", value="030 1", values="a" * 32)
    old = Answer(id="1", other_id="1", answer="unsure", who="Åsa", when=NOON, withdraws=NO_PAIR,
                 choice=choice)  # fmt: skip
    new = replace(old, when=NOON + timedelta(minutes=5))
    back = replace(new, withdraws=new.time, when=NOON + timedelta(minutes=9))
    append_answers(path, [new, back, old, answer("1", "1", "unsure")])
    lines = read_answers(path)
    assert lines[:3] == [new, back, old]
    assert list_choices(lines) == [old]
    assert choose_latest(lines) == [answer("1", "1", "unsure")]
    as_before = [replace(line, choice=None) for line in lines]  # as earlier versions read them
    assert choose_latest(as_before) == [answer("1", "1", "unsure")]


def test_the_latest_answer_counts_in_any_order_of_lines() -> None:
    """Neither the order of the ids nor that of the lines matters, unless sides are named."""
    old, new = answer("10", "9", "same"), answer("9", "10", "different", 5)
    other = answer("a", "b", "same", 9)
    assert choose_latest([old, new, other]) == choose_latest([new, other, old]) == [other, new]
    left, right = (
        Answer(id=one, other_id=two, answer="same", when=NOON, ordered=True)
        for one, two in (("1", "2"), ("2", "1"))
    )
    assert len(choose_latest([left, right, answer("1", "2", "same")])) == 3


def test_an_answer_that_is_withdrawn_leaves_the_one_before() -> None:
    """The withdrawn answer alone does not count, wherever its line is, and however often it is."""
    old, new = answer("1", "2", "same"), answer("2", "1", "different", 5)
    back = replace(new, answer="unsure", withdraws=new.time, when=NOON + timedelta(minutes=9))
    for lines in ([old, new, back], [back, new, old], [old, back, new, back]):
        assert choose_latest(lines) == [old]
    assert choose_latest([new, back]) == []
    assert choose_latest([old, new, back, answer("1", "2", "unsure", 11)])[0].answer == "unsure"
    elsewhere = replace(back, other_id="3")
    assert choose_latest([old, new, elsewhere]) == [new]


@pytest.mark.parametrize("begin", [b"", b"\n\n", b"\xef\xbb\xbf", b"\r\n"])
def test_faults_in_what_is_added_have_their_lines(tmp_path: Path, begin: bytes) -> None:
    """Lines are counted from the start of the file, after others have added to it and edited it."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(begin + LINE)
    with closing(AnswerFile(path)) as file:
        assert file.read()
        append_answers(path, [answer("3", "4", "same"), answer("5", "6", "same", 1)])
        assert file.read()
        assert len(file.latest) == 3
        with path.open("ab") as added:
            added.write(b'\n{"id":"7","other_id":"8","answer":"no"}')  # without a time and an end
        assert file.read()
        assert not file.read()
        assert file.latest[0].when == NOON + timedelta(minutes=1)
        lines = path.read_bytes().count(b"\n") + 1
        whole = path.read_bytes()
        path.write_bytes(whole + b"\n# of Ann\n")
        for _ in range(2):
            with refusal(nd.SourceError, "line-invalid", f"line {lines + 1}"):
                file.read()
        path.write_bytes(whole.replace(b'"7"', b'"9"'))
        assert file.read()
        assert file.latest[0].id == "9"
        path.unlink()
        for _ in range(2):  # it may have been moved, and come back
            with pytest.raises(nd.SourceError, match="is missing"):
                file.read()
            with pytest.raises(nd.SourceError, match="is missing"):
                file.append([answer("1", "2", "same")])
        path.touch()
        assert file.read()
        assert file.latest == []
        file.append([answer("1", "2", "same")])
    assert len(read_answers(path)) == 1


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "loop", "away"])
def test_a_file_that_is_away_is_told_until_it_is_back(tmp_path: Path, kind: str) -> None:
    """Nothing is written elsewhere meanwhile, and then all goes on with what the file has."""
    path = tmp_path / "folder" / "answers.jsonl"
    path.parent.mkdir()
    with closing(AnswerFile(path)) as file:
        file.append([answer("1", "2", "same")])
        moved = path.parent if kind == "away" else path
        moved.rename(tmp_path / "moved")
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "loop":
            path.symlink_to(path.name)
        for _ in range(2):
            with pytest.raises(nd.SourceError, match=r"answers\.jsonl"):
                file.read()
            with pytest.raises(nd.SourceError, match=r"answers\.jsonl"):
                file.append([answer("3", "4", "same")])
        assert not path.is_file()
        if kind == "folder":
            path.rmdir()
        elif kind in ("pipe", "loop"):
            path.unlink()
        (tmp_path / "moved").rename(moved)
        assert file.read()
        assert [one.pair[:2] for one in file.latest] == [("1", "2")]
        file.append([answer("3", "4", "same", 1)])
        assert file.read()
        assert len(file.latest) == len(read_answers(path)) == 2


def test_an_answer_goes_to_the_file_that_is_there(tmp_path: Path) -> None:
    """Not to one that was replaced since it was read, of the same size and time."""
    path, other = tmp_path / "answers.jsonl", tmp_path / "other.jsonl"
    path.write_bytes(LINE)
    with closing(AnswerFile(path)) as file:
        assert file.read()
        other.write_bytes(LINE.replace(b'"1"', b'"7"'))
        os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
        other.replace(path)
        file.append([answer("3", "4", "same")])
        assert [one.id for one in read_answers(path)] == ["7", "3"]
        assert file.read()
        before = path.stat()
        path.write_bytes(path.read_bytes().replace(b'"7"', b'"8"'))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert file.read()
        assert {one.id for one in file.latest} == {"8", "3"}


def test_no_pipe_is_waited_for(tmp_path: Path) -> None:
    """A file to which answers are added is refused at once if it is a pipe."""
    path = tmp_path / "answers.jsonl"
    os.mkfifo(path)
    for use in (
        lambda: AnswerFile(path),
        lambda: append_answers(path, [answer("1", "2", "same")]),
        lambda: nd.answer(None, "1", "2", "same", answers=path),
        lambda: nd.Answers(path).add(pandas.DataFrame([{"id": 1, "other_id": 2, "answer": "no"}])),
    ):
        with pytest.raises(nd.SourceError, match="pipe"):
            use()


def test_the_command_waits_for_no_pipe(tmp_path: Path) -> None:
    """It is refused in one line, and at once."""
    os.mkfifo(tmp_path / "answers.jsonl")
    words = ("answer", "1", "2", "same", "--answers", str(tmp_path / "answers.jsonl"))
    ran = subprocess.run([*NEARDUP, *words], capture_output=True, text=True, timeout=120)
    assert ran.returncode
    assert ran.stderr.count("\n") == 1
    assert "it is a pipe" in ran.stderr


def test_newer_answers_win_over_older_ones_that_contradict() -> None:
    """A and B same, B and C same, A and C different: the oldest of the three is set aside."""

    def set_aside(answers: list[Answer]) -> list[Answer]:
        return list(Verdicts((one, *one.pair[:2]) for one in answers).set_aside)

    said = [answer("A", "C", "different", 3), answer("B", "C", "same", 2), answer("A", "B", "same")]
    assert [one.pair[:2] for one in set_aside(said)] == [("A", "B")]
    said = [*said[1:], answer("A", "C", "different", -3)]
    assert set_aside(said) == [said[-1]]
    assert set_aside([answer("A", "B", "unsure", 4), answer("B", "C", "same", 2)]) == []


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + LINE,
        LINE.replace(b"\n", b"\r\n") + b"\r\n\r\n",
        LINE.rstrip(),
        b'{"id":1,"other_id":2,"answer":" YES ","when":"2026-03-01T13:00:00+01:00"}',
        b'{"id":"1","other_id":"2","answer":"1","when":"2026-03-01 12:00","note":"by hand"}',
    ],
)
def test_what_editors_make_of_a_file_is_read(tmp_path: Path, content: bytes) -> None:
    """A byte order mark, CRLF, blank lines, numbers as ids and other words are no problem."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(content)
    (found,) = read_answers(path)
    assert (found.id, found.other_id, found.answer, found.when) == ("1", "2", "same", NOON)


def test_an_answer_without_a_time_follows_the_line_before(tmp_path: Path) -> None:
    """A line that is added by hand at the end counts, and not one of yesterday."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(LINE + b'{"id":"2","other_id":"1","answer":"no"}\n')
    assert [one.answer for one in choose_latest(read_answers(path))] == ["different"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b'"{""id"":""1"",""other_id"":""2""}"',
            "line 2 is not JSON: the file has a different format",
        ),
        (b"id,other_id,answer\n1,2,same", "line 2 is not JSON: the file has a different format"),
        (b"<<<<<<< HEAD", "line 2 is a git conflict marker; delete the markers and keep both"),
        (b"hello", "line 2 is not an answer; correct it, or remove it"),
        (b"[1, 2]", "line 2 is not an answer"),
        (b'{"id":"1","answer":"same"}', "line 2 does not have two ids"),
        (
            LINE.replace(b'"when"', b'"answer":"no","n":"\\u0022","when"'),
            "line 2 has a key twice",
        ),
        (LINE.replace(b'"when"', b'"\\u0069d":"3","when"'), "line 2 has a key twice"),
        (b'{"id":"1","other_id":null,"answer":"same"}', "line 2 does not have two ids"),
        (b'{"id":"1","other_id":"2"}', "line 2 has the invalid answer ''"),
        (
            b'{"id":"1","other_id":"2","answer":"maybe"}',
            "has the invalid answer 'maybe'; use same, ",
        ),
        (
            b'{"id":"1","other_id":"2","answer":"same","when":"May"}',
            "line 2 has the invalid time 'May'",
        ),
        (
            LINE.replace(b'"when"', b'"choice":{"column":"a","value":7},"when"'),
            "line 2 has an invalid choice",
        ),
        (
            LINE.replace(b"2026-03-01T12:00:00Z", b"0001-01-01T00:00+14:00"),
            "has the invalid time '0001",
        ),
    ],
)
def test_a_line_that_is_no_answer_is_one_message(tmp_path: Path, content: bytes, said: str) -> None:
    """Nothing of the file is used or changed before it is mended."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(LINE + content)
    with pytest.raises(nd.SourceError, match=r"answers\.jsonl") as refused:
        read_answers(path)
    assert said in str(refused.value)
    assert path.read_bytes() == LINE + content


@pytest.mark.parametrize("cut", [1, 2, 40, -2])
def test_a_cut_line_is_told_and_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, cut: int
) -> None:
    """A last line that is cut in the middle does not count, and does not spoil the next one."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(LINE + LINE[:cut])
    assert len(read_answers(path)) == 1
    assert "1 answer is cut off and ignored, the first in line 2" in caplog.text
    append_answers(path, [answer("3", "4", "same")])
    assert path.read_bytes().startswith(LINE + LINE[:cut] + b"\n")
    assert [one.pair[:2] for one in read_answers(path)] == [("1", "2"), ("3", "4")]
    assert len(caplog.records) == 1  # a command that reads the file again does not say it again


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device here")
def test_a_device_is_no_file_of_answers() -> None:
    """A device without an end is not read; /dev/null has no answers, and takes none."""
    with refusal(nd.SourceError, "file-kind", "/dev/full"):
        read_answers("/dev/full")
    assert read_answers("/dev/null") == []
    for path in ("/dev/full", "/dev/null"):
        with pytest.raises(nd.SourceError, match="cannot be written"):
            append_answers(path, [answer("1", "2", "same")])


@pytest.mark.parametrize("name", ["missing.jsonl", "", "no/such/folder.jsonl"])
def test_a_file_that_cannot_be_read_is_one_message(tmp_path: Path, name: str) -> None:
    """A wrong name does not silently stand for no answers."""
    with pytest.raises(nd.SourceError, match="cannot be read"):
        read_answers(tmp_path / name)
    if name != "missing.jsonl":
        with pytest.raises(nd.SourceError, match="cannot be written"):
            append_answers(tmp_path / name, [answer("1", "2", "same")])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
)
KEYS = ("id", "other_id", "answer", "when", "who", "hash", "ordered")


@settings(max_examples=sized(usual=100, full=1_000), deadline=None)
@given(
    lines=st.lists(
        st.binary(max_size=60)
        | st.dictionaries(st.sampled_from(KEYS), JSON).map(lambda row: json.dumps(row).encode()),
        max_size=4,
    )
)
def test_any_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    """Whatever is in a file, it is answers, or one message about the file."""
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl"
    path.write_bytes(LINE + b"\n".join(lines))
    told = ""
    found: list[Answer] = []
    try:
        found = read_answers(path)
    except nd.SourceError as refused:
        told = str(refused)
    assert "answers.jsonl: line " in told or found[0].pair[:2] == ("1", "2")
    assert b"".join(one.to_line() for one in choose_latest(found)).count(b"\n") <= 5


def _append_many(path: Path, who: int) -> None:
    for number in range(200):
        append_answers(path, [answer(f"{who}-{number}", "x" * 200, "same")])


def test_several_processes_append_without_mixing_lines(tmp_path: Path) -> None:
    """Each of their answers is a whole line."""
    path = tmp_path / "answers.jsonl"
    spawning = multiprocessing.get_context("fork")
    workers = [spawning.Process(target=_append_many, args=(path, who)) for who in range(3)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert [one.exitcode for one in workers] == [0, 0, 0]
    assert {one.id for one in read_answers(path)} == {
        f"{who}-{number}" for who in range(3) for number in range(200)
    }
    assert len(read_answers(path)) == 600


def test_the_hash_is_that_of_solr() -> None:
    """A text in a file and in a collection has one hash, that of its normal form."""
    entry = make_entry(nd.Document(id="1", text="  Chef,  WANTED in Köln! "), nd.Settings())
    assert hash_text(" Chef, wanted  in Köln!") == entry.md5_hash != hash_text("Chef in Köln")


def test_nothing_is_logged_of_a_good_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file without faults is read in silence."""
    caplog.set_level(logging.DEBUG)
    (tmp_path / "answers.jsonl").write_bytes(LINE * 3)
    assert len(read_answers(tmp_path / "answers.jsonl")) == 3
    assert not caplog.records


@pytest.mark.parametrize("name", ["answers", "model"])
def test_a_file_that_is_missing_is_named_so(tmp_path: Path, name: str) -> None:
    """A program can tell it from one that cannot be read."""
    rows = [{"id": n, "text": f"some words {n}"} for n in range(3)]
    missing: Any = {name: tmp_path / "none.jsonl"}
    with refusal(nd.errors.SourceError, "file-missing", "none.jsonl"):
        nd.duplicates(rows, **missing)
