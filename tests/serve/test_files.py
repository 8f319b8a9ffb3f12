"""The files that a service reads again: replaced in place, gone for a moment, not even files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import neardup_solr as nd
from tests.conftest import Cores
from tests.refusals import refusal
from tests.services import Served, serving, until

FIRST, SECOND = "feeder c4n4ry-of-the-first check\n", "feeder c4n4ry-of-the-other check\n"
TEXT = "Lantern House, 4 Harbour Street: fish and wine by the old lighthouse, every day until nine"
NEAR = {"id": "near", "text": f"{TEXT} x"}
OLD, NEW = ({"Authorization": f"Bearer c4n4ry-of-the-{name}"} for name in ("first", "other"))


@pytest.fixture(scope="module")
def listings(core_pool: Cores) -> Iterator[nd.Collection]:
    """A core with a listing."""
    core = core_pool.take()
    nd.index([{"id": "1", "text": TEXT}], core)
    yield core
    core_pool.give_back(core.name)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the files."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def served(listings: nd.Collection, place: Path) -> Iterator[Served]:
    """A service with tokens and answers."""
    (place / "tokens").write_text(FIRST)
    (place / "tokens").chmod(0o600)
    (place / "answers").touch()
    words = ("--hold", "0.8", "--tokens", str(place / "tokens"))
    with serving(listings.url, place / "log", *words, "--answers", str(place / "answers")) as found:
        yield found


@pytest.fixture
def tokens(served: Served, place: Path) -> Iterator[Path]:
    """The file of the tokens, which is mended after each test."""
    path = place / "tokens"
    yield path
    clear(path)
    path.write_text(FIRST)
    path.chmod(0o600)
    until(lambda: check(served, **OLD) == 200)


@pytest.fixture
def answers(served: Served, tokens: Path, place: Path) -> Iterator[Path]:
    """The file of the answers, which is mended after each test."""
    path = place / "answers"
    yield path
    clear(path)
    path.touch()
    until(lambda: check(served, **OLD) == 200)


def clear(path: Path) -> None:
    """Remove what is at a path."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def check(served: Served, **headers: str) -> int:
    """Ask for a decision, and give the status."""
    return served.ask("check", NEAR, **headers).status


def messages(served: Served) -> list[str]:
    """The messages of the log."""
    return [line["message"] for line in served.lines if "message" in line]


def write_in_place(path: Path, text: str) -> None:
    """Write another text of the same size to a file, whose times stay as they were."""
    before = path.stat()
    assert before.st_size == len(text)
    with path.open("r+") as file:
        file.write(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def make_socket(path: Path) -> None:
    """Make a socket at a path."""
    with closing(socket.socket(socket.AF_UNIX)) as made:
        here = os.getcwd()
        os.chdir(path.parent)  # the name of a socket is short
        made.bind(path.name)
        os.chdir(here)


KINDS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "missing": lambda path: None,
    "folder": Path.mkdir,
    "loop": lambda path: path.symlink_to(path.name),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "socket": make_socket,
    "binary": lambda path: path.write_bytes(b"\xff\xfe\0"),
    "no line": lambda path: path.write_text("feeder\n"),
}
ONLY_TOKENS: dict[str, Callable[[Path], object]] = {
    "large": lambda path: path.write_text("#" * (2 << 20)),
}


@pytest.mark.parametrize("kind", [*KINDS, *ONLY_TOKENS])
def test_tokens_that_cannot_be_read(served: Served, tokens: Path, kind: str) -> None:
    """The previous ones stay valid, which is told once; when the file is back, it is read."""
    before = len(messages(served))
    clear(tokens)
    (KINDS | ONLY_TOKENS)[kind](tokens)
    until(lambda: len(messages(served)) > before)
    for _ in range(3):
        assert check(served, **OLD) == 200
        time.sleep(0.3)
    *missing, told = messages(served)[before:]
    assert len(missing) <= 1  # if it looked between the two steps
    assert told.startswith(f"{tokens}: ")
    assert told.endswith("; the previous tokens remain valid")
    clear(tokens)
    tokens.write_text(SECOND)
    tokens.chmod(0o600)
    until(lambda: check(served, **NEW) == 200)
    assert check(served, **OLD) == 401


def test_a_correction_that_is_wrong_is_told(served: Served, tokens: Path) -> None:
    """Each time that the file has changed, with what is wrong, and never with a token."""
    wrong = {"c": "no token", "c c4n4ry": "too short", f"c {'c4n4ry' * 3}": "no right",
             f"c {'c4n4ry' * 3} cheks": "unknown right", FIRST: "name"}  # fmt: skip
    for line, fault in wrong.items():
        before = len(messages(served))
        tokens.write_text(f"{FIRST}{line}\n")
        until(lambda before=before: len(messages(served)) > before)  # type: ignore[misc]
        assert fault in messages(served)[before]
        assert "c4n4ry" not in "".join(messages(served))
        assert check(served, **OLD) == 200


def test_tokens_replaced_in_place(served: Served, tokens: Path) -> None:
    """The same size, the same time, the same file: only the content tells."""
    for text, valid in ((SECOND, NEW), (FIRST, OLD), (SECOND, NEW)):
        write_in_place(tokens, text)
        until(lambda valid=valid: check(served, **valid) == 200)  # type: ignore[misc]


def test_tokens_that_are_half_written(served: Served, tokens: Path) -> None:
    """What is being written is not taken, be it empty by now; an empty file lets nobody in."""
    for text in (SECOND, FIRST, SECOND):
        with tokens.open("w") as file:
            assert check(served, **OLD) == 200
            file.write(FIRST + text)
    until(lambda: check(served, **NEW) == 401)
    tokens.write_text("")
    until(lambda: check(served, **OLD) == 401)


def test_a_hangup_reads_the_tokens(served: Served, tokens: Path) -> None:
    """And breaks no request, however many are under way; the log says so."""
    body = json.dumps(NEAR).encode()
    parts = urlsplit(served.address)
    head = (
        f"POST /check HTTP/1.1\r\nHost: localhost\r\nAuthorization: {OLD['Authorization']}\r\n"
        f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )
    with ExitStack() as held:
        clients = [
            held.enter_context(socket.create_connection((parts.hostname, parts.port), 60))
            for _ in range(20)
        ]
        for client in clients:
            client.sendall(head.encode())
        for client in clients:  # its token was accepted, and its body is waited for
            assert client.recv(1024).startswith(b"HTTP/1.1 100 ")
        write_in_place(tokens, SECOND)
        before = len(messages(served))
        for _ in range(3):
            served.process.send_signal(signal.SIGHUP)
        until(lambda: "the tokens were read again: 1 client" in messages(served)[before:])
        assert check(served, **NEW) == 200
        for client in clients:
            client.sendall(body)
            answer = HTTPResponse(client)
            answer.begin()
            assert answer.status == 200
    tokens.write_text("feeder\n")
    served.process.send_signal(signal.SIGHUP)
    until(lambda: "line 1 has no token" in messages(served)[-1])
    assert check(served, **NEW) == 200


def test_what_is_wrong_at_the_start_is_a_line_of_json(
    listings: nd.Collection, tmp_path: Path
) -> None:
    """Of tokens that others can read, or none, as of a filter that no document matches."""
    tokens = tmp_path / "tokens"
    tokens.write_text("# nobody\n")
    tokens.chmod(0o644)
    words = ("--tokens", str(tokens), "--fq", "id:nothing")
    with serving(listings.url, tmp_path / "log", *words) as served:
        told = [each["message"] for each in served.lines if each.get("level") == "WARNING"]
        assert len(told) == 3
        plain = [line for line in served.log.read_text("utf-8").splitlines() if line[0] != "{"]
        assert [line for line in plain if str(tokens) in line] == []


def test_a_hangup_without_tokens(listings: nd.Collection, tmp_path: Path) -> None:
    """It does not end the service either."""
    with serving(listings.url, tmp_path / "log") as served:
        served.process.send_signal(signal.SIGHUP)
        until(lambda: len(messages(served)) > 1)
        assert check(served) == 200
        assert served.stop() == 0


@pytest.mark.parametrize("moment", ["m.watch", "server.bind", "server.run"])
def test_a_hangup_while_it_starts(listings: nd.Collection, tmp_path: Path, moment: str) -> None:
    """It ends nothing, and the service that has started reads the tokens once more."""
    tokens = tmp_path / "tokens"
    tokens.write_text(FIRST)
    tokens.chmod(0o600)
    # The signal comes, and a second later the process goes on.
    change = f"import os, time; f = {moment}; {moment} = lambda *given: "
    change += "(f(*given), os.kill(os.getpid(), 1), time.sleep(1.5))[0]"
    if moment != "m.watch":
        change = change.replace("(f(*given), ", "(").replace("(1.5))[0]", "(1.5), f(*given))[-1]")
    words = ("--tokens", str(tokens))
    with serving(listings.url, tmp_path / "log", *words, change=change) as served:
        until(lambda: any("read again" in each["message"] for each in served.lines))
        assert served.stop() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_answers_that_cannot_be_read(served: Served, answers: Path, kind: str) -> None:
    """Nothing is decided without them, which is told; when the file is back, they are obeyed."""
    clear(answers)
    KINDS[kind](answers)
    until(lambda: check(served, **OLD) == 503)
    refused = served.ask("ready").json
    assert str(answers) in refused["error"]
    assert ("put it back" in refused["next"]) == (kind == "missing")
    assert served.ask("health").status == 200
    clear(answers)
    nd.answer(None, "near", "1", "different", answers=answers)
    until(lambda: check(served, **OLD) == 200)
    assert served.ask("check", NEAR, **OLD).json["action"] == "allow"


def test_answers_replaced_in_place(served: Served, answers: Path) -> None:
    """The same size, the same time, the same file: they are read again."""
    line = json.dumps({"id": "near", "other_id": "1", "answer": "different"}) + "\n"
    other = line.replace("different", "unsure") + "   "
    answers.write_text(line)
    for text, action in ((None, "allow"), (other, "hold"), (line, "allow"), (other, "hold")):
        if text is not None:
            write_in_place(answers, text)
        until(lambda action=action: served.ask("check", NEAR, **OLD).json["action"] == action)  # type: ignore[misc]


def test_the_folder_of_the_files_is_away(served: Served, answers: Path, place: Path) -> None:
    """For a moment: the tokens stay, decisions wait for the answers, and then all goes on."""
    away = place.with_name("away")
    shutil.move(place, away)
    until(lambda: check(served, **OLD) == 503)
    shutil.move(away, place)
    until(lambda: check(served, **OLD) == 200)


def test_missing_tokens_are_refused_at_the_start(listings: nd.Collection, tmp_path: Path) -> None:
    """By the code of a file that is not there."""
    with refusal(nd.SourceError, "file-missing", "none"):
        nd.serve(listings, port=0, tokens=tmp_path / "none")


@pytest.mark.parametrize("option", ["--tokens", "--answers", "--model"])
def test_a_pipe_is_refused_at_the_start(
    listings: nd.Collection, tmp_path: Path, option: str
) -> None:
    """At once, and with one line: nobody may ever write to it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused = threading.Event()

    def start() -> None:
        with pytest.raises(nd.SourceError, match="pipe"):
            nd.serve(listings, port=0, **{option[2:]: pipe})  # type: ignore[arg-type]
        refused.set()

    threading.Thread(target=start, daemon=True).start()
    assert refused.wait(60)
