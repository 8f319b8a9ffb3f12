"""review: the server of the page, the file of answers, and what a terminal shows."""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

import neardup_solr as nd
from tests.command import neardup
from tests.refusals import refusal
from tests.reviews import NEAR, make_people, reviewing


def read_answers(path: Path) -> list[nd.types.Answer]:
    """All answers in a file, in its order; a line that was cut by a kill is none."""
    answers = []
    for line in path.read_bytes().splitlines():
        with suppress(json.JSONDecodeError):
            row = json.loads(line)
            fields = ("id", "other_id", "answer", "who", "hash", "other_hash")
            answers.append(nd.types.Answer(**{field: row[field] for field in fields}))
    return answers


def ask(address: str, what: str, **fields: Any) -> requests.Response:
    place, _, token = address.partition("#")
    headers = {"Authorization": f"Bearer {fields.pop('token', token)}"}
    return requests.post(place + what, json={"reader": "x"} | fields, headers=headers, timeout=30)


def test_an_answer_is_on_the_disk_before_the_next_question(tmp_path: Path) -> None:
    """Kills between two keys, or while an answer is under way, lose none that was confirmed."""
    path = tmp_path / "answers.jsonl"
    confirmed: list[int] = []

    def answer(address: str) -> None:
        with suppress(requests.ConnectionError):  # killed
            number = ask(address, "next").json()["number"]
            while number is not None:
                reply = ask(address, "answer", number=number, answer="different").json()
                confirmed.append(number)
                number = reply["number"]

    for kill in range(kills := int(os.environ.get("NEARDUP_KILLS", "3"))):
        before = len(confirmed)
        with reviewing(path, 60) as address:
            thread = threading.Thread(target=answer, args=(address,))
            thread.start()
            while len(confirmed) < before + 1 + kill and thread.is_alive():
                thread.join(0.002)
        thread.join()
        assert len(confirmed) <= len(read_answers(path)) <= len(confirmed) + kill + 1
    assert len({one.pair for one in read_answers(path)}) == len(read_answers(path)) > kills
    assert {one.who for one in read_answers(path)} == {"ann"}
    assert all(one.hash and one.other_hash for one in read_answers(path))


def test_answers_are_beside_the_source_unless_they_are_named(tmp_path: Path) -> None:
    """So that a first review needs the name of the list alone."""
    path = tmp_path / "table.answers.jsonl"
    with reviewing(path, 3, is_named=False) as address:
        number = ask(address, "next").json()["number"]
        ask(address, "answer", number=number, answer="same")
    assert [each.answer for each in read_answers(path)] == ["same"]


def test_browsers_and_processes_never_get_the_same_pair(tmp_path: Path) -> None:
    """Of 210 pairs each is asked about once, by two browsers of one review and one of another."""
    path = tmp_path / "answers.jsonl"
    seen: dict[str, list[int]] = {"x": [], "y": [], "z": []}
    words = ("--measure", "words")
    with reviewing(path, 21, *words) as address, reviewing(path, 21, *words) as other:

        def read(reader: str) -> None:
            place = other if reader == "z" else address
            number = ask(place, "next", reader=reader).json()["number"]
            while number is not None:
                seen[reader].append(number)
                reply = ask(place, "answer", reader=reader, number=number, answer="different")
                number = reply.json()["number"]

        threads = [threading.Thread(target=read, args=(reader,)) for reader in seen]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert all(seen.values())
    assert sorted(number for each in seen.values() for number in each) == [*range(210)]
    assert len({one.pair for one in read_answers(path)}) == len(read_answers(path)) == 210


def test_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with reviewing(path) as address:
        assert ask(address, "next", token="wrong").status_code == 403
        assert ask(address, "answer", number=10**9, answer="same").status_code == 400
        assert ask(address, "answer", number=0, answer="perhaps").status_code == 400
        assert ask(address, "nonsense", number=0).status_code == 404
        assert ask(address, "next", reader="x" * 99).status_code == 400
        place, _, token = address.partition("#")
        headers = {"Authorization": f"Bearer {token}"}
        deep = requests.post(place + "next", data=b"[" * 9_000, headers=headers, timeout=30)
        assert deep.status_code == 400
        with closing(socket.create_connection(("127.0.0.1", int(place.split(":")[2][:-1])))) as one:
            one.send(
                b"POST /next HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
            )  # and hangs up

        def stream() -> Iterator[bytes]:
            for _ in range(1600):
                yield b"x" * (1 << 16)

        with suppress(requests.ConnectionError):  # it does not read on
            assert requests.post(place + "next", data=stream(), headers=headers).status_code == 413
        for word in ("", "review.js", "next", "nothing"):  # by a name that leads here
            send = requests.post if word == "next" else requests.get
            refused = send(place + word, headers=headers | {"Host": "evil.example"}, timeout=30)
            assert refused.status_code == 421
            assert "evil.example" in refused.json()["error"]
            refused = send(place + word, headers=headers | {"Origin": "http://x"}, timeout=30)
            assert refused.status_code == 403
        page = requests.get(place, timeout=30)
        assert NEAR not in page.text
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
        assert ask(address, "next").status_code == 200
    assert path.read_bytes() == b""


def test_a_foreign_host_is_advised_no_option_of_serve(tmp_path: Path) -> None:
    """A review has no --allow-host."""
    with reviewing(tmp_path / "answers.jsonl", 3) as address:
        place, _, token = address.partition("#")
        headers = {"Authorization": f"Bearer {token}", "Host": "evil.example"}
        refused = requests.post(f"{place}next", json={"reader": "x"}, headers=headers, timeout=30)
        assert refused.status_code == 421
        assert "allow_host" not in refused.json()["next"]


def test_what_another_review_answers_is_not_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with reviewing(path) as address:
        with reviewing(path) as other:
            first = ask(address, "next").json()["number"]
            left = ask(other, "answer", number=first, answer="same").json()["bar"]
            assert ask(address, "next", reader="new").json()["bar"] == left
            held = ask(other, "next").json()["number"]
            assert ask(address, "next", reader="z").json()["number"] not in (first, held)
        assert ask(address, "next", reader="later").json()["number"] == held  # of a killed process


@pytest.mark.parametrize("is_running", [False, True])
@pytest.mark.parametrize(("second", "word"), [("same", "same"), ("different", "different")])
def test_what_follows_from_answers_is_not_asked(
    tmp_path: Path, is_running: bool, second: str, word: str
) -> None:
    """1 and 3 are as 2 and 3 if 1 and 2 are the same, whoever said so, and when."""
    path = tmp_path / "answers.jsonl"

    def judge() -> None:
        for ids, judgement in ((("0", "1"), "same"), (("1", "2"), second)):
            nd.answer(tmp_path / "table.csv", *ids, judgement, answers=path)  # type: ignore[arg-type]

    if not is_running:
        with reviewing(path, 3):
            pass  # which writes the table
        judge()
    with reviewing(path, 3) as address:
        first = ask(address, "next").json()
        if is_running:
            assert first["number"] is not None
            judge()
        last = ask(address, "next", reader="new").json()
        assert (last["number"], last["tally"]["left"]) == (None, 0)
        assert f"2 {word}" in last["bar"] or word == "different"
        nd.answer(tmp_path / "table.csv", 1, 2, "unsure", answers=path)
        assert ask(address, "next", reader="new").json()["tally"]["left"] == 1


def test_an_answer_about_a_text_that_has_changed_is_asked_again(tmp_path: Path) -> None:
    path, lines = tmp_path / "answers.jsonl", f"id,text\n1,{NEAR}\n2,{NEAR} %s\n"
    with reviewing(path, lines=lines % "closed") as address:
        assert ask(address, "answer", number=0, answer="same").json()["number"] is None
    with reviewing(path, lines=lines % "CLOSED") as address:  # the same normal form
        assert ask(address, "next").json()["number"] is None
    with reviewing(path, lines=lines % "open") as address:
        assert ask(address, "next").json()["number"] == 0


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with reviewing(path, most_bytes=1000) as address:
        found = ask(address, "next").json()
        confirmed = 0
        while "error" not in found:
            found = ask(address, "answer", number=found["number"], answer="same").json()
            confirmed += "error" not in found
        assert "the answer was not saved" in found["error"]
        assert "check free space" in found["error"]
        assert ask(address, "next").status_code == 200
    assert len(read_answers(path)) == confirmed > 2
    with reviewing(path) as address:  # there is space again
        number = ask(address, "next").json()["number"]
        assert ask(address, "answer", number=number, answer="same").status_code == 200
    assert len(read_answers(path)) == confirmed + 1


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_file_that_is_away_is_told_and_loses_nothing(tmp_path: Path, what: str) -> None:
    """No answer is taken until it is back, and no question is forgotten."""
    path = tmp_path / "folder" / "answers.jsonl"
    path.parent.mkdir()
    moved = path.parent if what == "folder" else path
    (tmp_path / "folder" / "table.csv").touch()
    confirmed: list[int] = []
    with reviewing(path, 4, "--measure", "words") as address:
        while (number := ask(address, "next").json()["number"]) is not None:
            moved.rename(tmp_path / "away")
            for action, fields in {
                "next": {}, "look": {}, "answer": {"number": number, "answer": "different"},
                "skip": {"number": number}, "back": {},
            }.items():  # fmt: skip
                refused = ask(address, action, **fields)
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "1"), action
                assert str(path) in refused.json()["error"]
                assert ask(address, "next", reader="another").status_code == 503
            (tmp_path / "away").rename(moved)
            assert ask(address, "answer", number=number, answer="different").status_code == 200
            confirmed.append(number)
    assert sorted(confirmed) == [*range(6)]
    assert len(read_answers(path)) == 6


def test_a_file_that_is_replaced_takes_the_answers(tmp_path: Path) -> None:
    """As by git or an editor; a lock of another program on it does not matter."""
    path, other = tmp_path / "answers.jsonl", tmp_path / "other.jsonl"
    with reviewing(path, 6, "--measure", "words") as address:
        for count in range(1, 6):
            number = ask(address, "next").json()["number"]
            other.write_bytes(path.read_bytes())
            other.replace(path)
            with path.open("rb+") as locked:
                os.lockf(locked.fileno(), os.F_LOCK, 1 << 20)
                assert ask(address, "answer", number=number, answer="different").status_code == 200
            assert len(read_answers(path)) == count


def test_a_log_that_nobody_reads_holds_nobody_up(tmp_path: Path) -> None:
    """Questions are asked as ever, and a signal ends the review, though its last line waits."""
    table = tmp_path / "table.csv"
    table.write_text(f"id,text\n1,{NEAR}\n2,{NEAR} closed\n")
    reader, writer = os.pipe()
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    words = ("review", str(table), "--answers", str(tmp_path / "answers.jsonl"))
    with subprocess.Popen(
        [sys.executable, "-m", "neardup_solr", *words],
        stdout=subprocess.PIPE,
        stderr=writer,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        port = int(address.partition("/#")[0].rpartition(":")[2])
        for _ in range(500 if sys.platform == "linux" else 5_000):  # each is a line
            with closing(socket.create_connection(("127.0.0.1", port))) as client:
                client.sendall(b"no request\r\n\r\n")
                assert client.recv(12) == b"HTTP/1.1 400"
        assert ask(address, "answer", number=0, answer="same").status_code == 200
        process.terminate()
        assert process.wait(timeout=60) == 0
    assert len(read_answers(tmp_path / "answers.jsonl")) == 1
    os.close(writer)
    os.close(reader)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_lets_the_last_answer_be_saved(tmp_path: Path, number: signal.Signals) -> None:
    """A request that has begun is answered, also when the terminal is closed."""
    path, table = tmp_path / "answers.jsonl", tmp_path / "table.csv"
    table.write_text(f"id,text\n1,{NEAR}\n2,{NEAR} closed\n")
    words = ("review", str(table), "--answers", str(path))
    with subprocess.Popen(
        [sys.executable, "-m", "neardup_solr", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        place, _, token = address.partition("#")
        body = b'{"reader": "x", "number": 0, "answer": "same"}'
        head = f"POST /answer HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        port = int(place.rstrip("/").rpartition(":")[2])
        with closing(socket.create_connection(("127.0.0.1", port))) as client:
            client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:5])
            assert ask(address, "next").status_code == 200
            process.send_signal(number)
            time.sleep(0.3)
            client.sendall(body[5:])
            assert client.recv(12) == b"HTTP/1.1 200"
        assert process.wait(timeout=60) == 0
    assert len(read_answers(path)) == 1


def test_nobody_is_redirected(tmp_path: Path) -> None:
    """A path that is nearly right is refused, and named; so are a wrong method and a key twice."""
    with reviewing(tmp_path / "answers.jsonl") as address:
        place, _, token = address.partition("#")
        headers = {"Authorization": f"Bearer {token}", "Host": "localhost:1"}

        def send(method: str, path: str, body: bytes = b"{}") -> requests.Response:
            return requests.request(
                method, place + path, data=body, headers=headers, timeout=30, allow_redirects=False
            )

        for path, near in {
            "next/": "POST /next", "/next": "POST /next", "Answer": "POST /answer",
            "review.js/": "GET /review.js", "/": "GET /",
        }.items():  # fmt: skip
            for method in ("GET", "POST", "PUT"):
                refused = send(method, path)
                assert (refused.status_code, refused.json()["next"]) == (404, f"use {near}")
        assert send("GET", "nothing").status_code == 404
        for method, path, right in (("GET", "next", "POST"), ("POST", "review.js", "GET")):
            refused = send(method, path)
            assert (refused.status_code, refused.json()["next"]) == (405, f"send {right}")
            assert right in refused.headers["allow"]
        for keys in (b'"reader": "y"', b'"r\\u0065ader": "y"', b'"reader": "x", "n": "\\u0022"'):
            assert send("POST", "next", b'{"reader": "x", %s}' % keys).status_code == 400
        assert send("POST", "next", b'{"reader": "x"}').status_code == 200


def test_interrupted_it_tells_what_it_kept(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    table = tmp_path / "t.csv"
    table.write_text(f"id,text\n1,{NEAR}\n2,{NEAR} closed\n")
    words = ("review", str(table), "--answers", str(path), "--kind", "chars")
    command = [sys.executable, "-m", "neardup_solr", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    ask(address, "answer", number=0, answer="same")
    shown = ask(address, "values").json()
    chosen = {"number": shown["number"], "state": shown["state"], "picks": {"text": 1}}
    assert ask(address, "choose", **chosen).json()["left"] == 0
    place, _, token = address.partition("#")
    head = f"POST /next HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
    port = int(place.rstrip("/").rpartition(":")[2])
    with closing(socket.create_connection(("127.0.0.1", port))) as client:  # which hangs up
        client.send(f"{head}Content-Length: 99\r\n\r\n{{".encode())
    ask(address, "next")
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert (
        f"Saved 1 answer and 1 choice of a value to {path}, which now has 1 same, 0 different"
        in told
    )
    assert '1 of 1 answers are "same", so nothing was learned' in told
    assert "to be asked about less similar pairs, too, start again with --reach 0.3." in told
    assert "compared by --measure jaccard; --measure words counts" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_on_a_terminal_it_opens_the_browser(tmp_path: Path, end: signal.Signals) -> None:
    """The token is in no argument, but in a file of the user alone, which is gone afterwards.

    The address comes first, then the bars; once the page is there, nothing is drawn any more. It
    is served while the browser runs, and the review ends even then.
    """
    browser, opened, seen = (tmp_path / name for name in ("browser", "opened", "seen"))
    browser.write_text(
        '#!/bin/sh\n(echo "$@"; stat -c %a "${1#file://}"; cat "${1#file://}")'
        f' > "{opened}.part"\nmv "{opened}.part" "{opened}"\n'
        f'while ! test -e "{seen}"; do sleep 0.05; done\n'
    )
    browser.chmod(0o755)
    table = tmp_path / "t.csv"
    table.write_text(f"id,text\n1,{NEAR}\n2,{NEAR} closed\n")
    words = ("review", str(table), "--answers", str(tmp_path / "answers.jsonl"))
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "neardup_solr", *words],
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"BROWSER": str(browser), "TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    while b"ends the review" not in shown:
        shown += os.read(ours, 1 << 16)
    address = re.search(rb"http://127.0.0.1:\d+/#(\S+)", shown)
    assert address is not None
    assert shown.startswith(address[0])
    assert address.end() < shown.index(b"have been compared") < shown.index("━".encode())
    while not opened.exists():
        time.sleep(0.02)
    arguments = ""
    for child in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.Error):  # it has ended
            arguments += " ".join(child.cmdline())
    assert str(browser) in arguments
    assert ask(address[0].decode(), "next").ok
    if end == signal.SIGTERM:
        seen.touch()
    after = shown.partition(b"ends the review")[2]
    while select.select([ours], [], [], 1.0)[0]:
        after += os.read(ours, 1 << 16)
    process.send_signal(end)
    said = b""
    while b"Saved 0 answers to " not in said:
        said += os.read(ours, 1 << 16)
    assert process.wait(timeout=60) == 0
    seen.touch()
    os.close(ours)
    assert after.strip() == b"."
    argument, mode, page = opened.read_text().splitlines()
    token = address[1].decode()
    assert token not in arguments + argument
    assert mode == "600"
    assert f'content="0; url={address[0].decode()}"' in page
    assert not Path(argument.removeprefix("file://")).parent.exists()


def test_records_are_shown_field_by_field(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    lines = "id,name,zip\n1,Lantern Court,10115\n2,Lantern Court Hotel,10115\n3,Mill,20095\n"
    fields = ("--field", "name", "--field", "zip:exact")
    with reviewing(path, 0, *fields, lines=lines) as address:
        question = (reply := ask(address, "next").json())["question"]
    assert reply["measure"] == "fields"
    names = [name for _, name, *_ in question["rows"]]
    assert names == ["at first", "name", "zip", "others", "together", "threshold"]


PEOPLE = ("--field", "name,street,born:date")


def answer_all(address: str, most: int = 40) -> list[str]:
    """Answer as the days of birth are, and return what was learned each time."""
    learned, reply = list[str](), ask(address, "next").json()
    while reply["number"] is not None and len(learned) < most:
        born = next(values for values, name, *_ in reply["question"]["rows"] if name == "born")
        word = "same" if born[0] == born[1] else "different"
        reply = ask(address, "answer", number=reply["number"], answer=word).json()
        learned.append(reply["note"]["learned"])
    return learned


def test_each_answer_says_what_was_learned(tmp_path: Path) -> None:
    """Of a column of the two records, once there are answers of both kinds; unsure teaches none."""
    with reviewing(tmp_path / "answers.jsonl", 0, *PEOPLE, lines=make_people()) as address:
        learned = answer_all(address, 12)
        unsure = ask(address, "next").json()["number"]
        reply = ask(address, "answer", number=unsure, answer="unsure").json()
    assert learned[0].startswith("Nothing was learned yet")
    assert any(re.match("Learned: .*“(name|street|born)”", each) for each in learned)
    assert reply["note"]["learned"].startswith("Nothing new")


def test_it_writes_the_file_that_unique_writes(tmp_path: Path) -> None:
    """By the answers, beside the source, and replaces a file only if somebody agrees."""
    path, source, clean = (tmp_path / name for name in ("a.jsonl", "table.csv", "table.clean.csv"))
    with reviewing(path, 0, *PEOPLE, lines=make_people()) as address:
        assert ask(address, "next").json()["outputs"]["clean"] == [clean.name, str(tmp_path)]
        answer_all(address)
        clean.write_text("mine")
        asks = ask(address, "clean").json()["asks"]
        assert len(asks) == 1
        assert clean.read_text() == "mine"
        assert "asks" in ask(address, "clean", agreed=["another question"]).json()
        reply = ask(address, "clean", agreed=asks).json()
        written = clean.read_text()
        assert ask(address, "clean", agreed=asks, canonical="longest").status_code == 400
        assert ask(address, "clean", agreed=asks, canonical="fullest").json()["fuller"] == 0
    other = tmp_path / "unique.csv"
    words = (str(source), *PEOPLE, "--answers", str(path), "--unique", str(other))
    assert neardup("duplicates", *words).returncode == 0
    assert written == other.read_text()
    assert neardup("duplicates", *words, "--canonical", "fullest").returncode == 0
    assert clean.read_text() == other.read_text()
    assert reply["kept"] == len(written.splitlines()) - 1 == 72
    assert (reply["records"], reply["removed"], reply["failed"]) == (92, 20, 0)


def test_a_source_that_has_changed_is_asked_about(tmp_path: Path) -> None:
    """As one that is cut off would be written as it is."""
    source, clean = tmp_path / "table.csv", tmp_path / "table.clean.csv"
    path = tmp_path / "a.jsonl"
    with reviewing(path, 0, *PEOPLE, lines=make_people()) as address:
        ask(address, "next")
        lines = source.read_text().splitlines(keepends=True)
        source.write_text("".join(lines[:30]))
        changed, _ = asks = ask(address, "clean").json()["asks"]  # the guard asks the second
        assert "29 records" in changed
        assert not clean.exists()
        assert ask(address, "clean", agreed=asks[1:]).json()["asks"] == [changed]
        assert ask(address, "clean", agreed=asks).json()["records"] == 29
        path.rename(tmp_path / "away")
        for action in ("clean", "values", "model"):
            refused = ask(address, action)
            assert (refused.status_code, refused.json()["code"]) == (503, "file-missing")
            assert "put it back" in refused.json()["error"]
        path.mkdir()
        assert ask(address, "next").json()["code"] == "file-kind"


def test_it_asks_what_the_guard_asks(tmp_path: Path) -> None:
    names = enumerate(("web-01", "web-02", "db-03", "db-04", "mail-7"))
    lines = "".join(f"{n},Disk usage on {m} is {90 + n} percent of the volume\n" for n, m in names)
    clean = tmp_path / "table.clean.csv"
    with reviewing(
        tmp_path / "a.jsonl", 0, "--measure", "words", lines=f"id,text\n{lines}"
    ) as address:
        (question,) = ask(address, "clean").json()["asks"]
        assert "template" in question
        assert not clean.exists()
        assert ask(address, "clean", agreed=[question]).json()["kept"] == 1
        for agreed in ("yes", [1], [["yes"]]):
            assert ask(address, "clean", agreed=agreed).status_code == 400
    assert len(clean.read_text().splitlines()) == 2


def test_it_saves_the_model_that_duplicates_reads(tmp_path: Path) -> None:
    """Once there are answers enough; the counts are those of the answers."""
    path, model = tmp_path / "a.jsonl", tmp_path / "table.model.json"
    with reviewing(path, 0, *PEOPLE, lines=make_people()) as address:
        refused = ask(address, "model")
        assert (refused.status_code, refused.json()["code"]) == (503, "no-pairs")
        assert not model.exists()
        answer_all(address)
        reply, tally = ask(address, "model").json(), ask(address, "next").json()["tally"]
        assert (reply["same"], reply["different"]) == (tally["same"], tally["different"])
        assert "asks" in ask(address, "model").json()
    assert len(nd.duplicates(tmp_path / "table.csv", model=model).pairs) == 20


def test_without_pairs(tmp_path: Path) -> None:
    with refusal(nd.ArgumentError, "no-pairs"):
        nd.review([{"id": 1, "text": "one two"}], answers=tmp_path / "a.jsonl")
    with refusal(nd.ArgumentError, "argument-out-of-range", "`reach`", "7"):
        nd.review([{"id": 1, "text": "one two"}], answers=tmp_path / "a.jsonl", reach=7)


def test_ports_that_cannot_be(tmp_path: Path) -> None:
    """They are refused before any document is read."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for port in (taken.getsockname()[1], -1, 1 << 16):
            with pytest.raises(nd.ArgumentError, match=r"port.*cannot be"):
                nd.review(tmp_path / "none.csv", answers=tmp_path / "a.jsonl", port=port)
    with pytest.raises(nd.SourceError, match="cannot be written"):
        nd.review([{"id": 1, "text": "one two"}], answers=tmp_path / "none" / "a.jsonl")


TWINS = """id,name,street,city
1,Anna Lindqvist,12 Mill Road,Bonn
2,Anne Lindqvist,12 Mill Road,Bonn
3,Jonas Weber,3 Castle Lane,Ulm
4,Jonas Weber,3 Castle Lane,Ulm
5,Ida Berg,7 Quay Street,Kiel
6,Ida Bergs,7 Quay Street,Kiel
7,Ida Berg,7 Quay Street,Kiel
8,Olaf Stern,1 Beach Walk,Jena
"""


def answer_pairs(address: str, word: str, *texts: str) -> None:
    """Answer the pairs of which a record has one of these texts, and skip the others."""
    shown = ask(address, "next").json()
    for _ in range(30):
        if shown["number"] is None:
            return
        is_meant = any(text in json.dumps(shown["question"]) for text in texts)
        fields = {"answer": word} if is_meant else {}
        shown = ask(
            address, "answer" if is_meant else "skip", number=shown["number"], **fields
        ).json()


@pytest.mark.parametrize("chooses", [False, True])
def test_records_that_people_are_unsure_of_stay_apart(tmp_path: Path, chooses: bool) -> None:
    """In the clean file and among values to choose; the command goes by the similarity."""
    path, clean = tmp_path / "a.jsonl", tmp_path / "table.clean.csv"
    words = ("--field", "name,street,city")
    with reviewing(path, 0, *words, lines=TWINS) as address:
        before = ask(address, "clean").json()
        answer_pairs(address, "unsure", "Lindqvist", "Bergs")
        nd.answer(tmp_path / "table.csv", 5, 7, "same", answers=path)
        asks = ask(address, "clean").json()["asks"]
        if chooses:
            assert ask(address, "values").json()["groups"] == 0
        reply = ask(address, "clean", agreed=asks).json()
    lines = clean.read_text().splitlines()
    assert before["kept"] == 4
    assert [line.split(",")[0] for line in lines[1:]] == ["1", "2", "3", "5", "6", "8"]
    assert (reply["kept"], reply["removed"], reply["obeyed"]) == (6, 2, 1)
    command = (str(tmp_path / "table.csv"), *words, "--answers", str(path))
    ran = neardup("duplicates", *command, "--unique", str(tmp_path / "b.csv"))
    assert ran.returncode == 0
    assert len((tmp_path / "b.csv").read_text().splitlines()) == 5
    assert all(each.answer == "unsure" for each in nd.Answers(path).latest if each.id != "5")


def count_removed(address: str) -> tuple[int, int]:
    """Write the clean file, whatever is asked before: what it lacks, and what of it is unseen."""
    asks: list[str] = []
    while "asks" in (reply := ask(address, "clean", agreed=asks).json()):
        asks += reply["asks"]
    return reply["removed"], reply["unseen"]


def test_what_nobody_has_looked_at_is_counted_and_asked_about(tmp_path: Path) -> None:
    """The clean file lacks as many records by the program alone as the page says."""
    words = ("--field", "name,street,born:date")
    with reviewing(tmp_path / "a.jsonl", 0, *words, lines=make_people()) as address:
        rest = ask(address, "finish").json()
        assert count_removed(address) == (rest["unseen"], rest["unseen"])
        assert rest["unseen"] > 10
        assert rest["asks"]
        shown, before, likely, same = ask(address, "unseen").json(), rest["unseen"], [], 0
        while "unseen" in shown:
            assert shown["similarity"] >= shown["threshold"]
            likely.append(shown["similarity"])
            word = ("unsure", "same", "different")[len(likely) % 3]
            same += word == "same"
            shown = ask(address, "answer", number=shown["number"], answer=word).json()
            if len(likely) == 4:
                rest = ask(address, "finish").json()
                assert count_removed(address) == (rest["unseen"] + same, rest["unseen"])
                assert rest["unseen"] < before
        assert likely[0] == min(likely)
        rest = ask(address, "finish").json()
        assert (rest["unseen"], rest["asks"]) == (0, False)
        assert rest["unsureApart"] == len(likely) // 3
        assert count_removed(address) == (same, 0)


def test_what_nobody_has_looked_at_in_two_lists(tmp_path: Path) -> None:
    """Records of the first list are left out, each once."""
    other, lines = tmp_path / "other.csv", f"id,text\n1,{NEAR}\n2,{NEAR} closed\n3,other words\n"
    other.write_text(f"id,text\na,{NEAR} daily\nb,{NEAR} every day\nc,an unlike text\n")
    with reviewing(tmp_path / "a.jsonl", 0, "--against", str(other), lines=lines) as address:
        assert ask(address, "finish").json()["unseen"] == 2
        assert count_removed(address) == (2, 2)
        shown = ask(address, "unseen").json()
        while "unseen" in shown:
            shown = ask(address, "answer", number=shown["number"], answer="same").json()
        assert ask(address, "finish").json()["unseen"] == 0
        assert count_removed(address) == (2, 0)


def test_the_next_best_match_in_two_lists_counts_as_unseen(tmp_path: Path) -> None:
    """If the best one is different, the file takes the next one, and says that nobody saw it."""
    lines = make_people()
    other, people = tmp_path / "other.csv", lines.splitlines()[1:]
    firsts = [line.split(",") for line in people if len(line.split(",")[0]) < 3]
    again = [f"t{id},{name[:-1]},{street},{born}" for id, name, street, born in firsts[:6]]
    other.write_text("\n".join(["id,name,street,born", *map(",".join, firsts), *again]))
    lines = "\n".join(["id,name,street,born", *map(",".join, firsts)])
    words = ("--field", "name,street,born:date", "--against", str(other))
    with reviewing(tmp_path / "a.jsonl", 0, *words, lines=lines) as address:
        shown = ask(address, "unseen").json()
        while "unseen" in shown:
            shown = ask(address, "answer", number=shown["number"], answer="different").json()
        rest = ask(address, "finish").json()
        assert (rest["unseen"], rest["isOfBest"]) == (0, True)
        assert count_removed(address) == (6, 6)


def test_a_skipped_pair_comes_after_all_others(tmp_path: Path) -> None:
    """Also one that was drawn at random, which is in the other queue as well."""
    with reviewing(tmp_path / "a.jsonl", 5, "--measure", "words") as address:
        shown, order = ask(address, "next").json(), list[int]()
        for _ in range(10):
            order.append(shown["number"])
            word = "skip" if len(order) == 3 else "answer"
            shown = ask(address, word, number=shown["number"], answer="different").json()
        assert len({*order}) == 10
        assert shown["number"] == order[2]
