"""Clients that attack a service with a real Solr: what others get stays right, and quick."""

from __future__ import annotations

import json
import random
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import neardup_solr as nd
from tests.conftest import Cores
from tests.serve.test_serve import CAFE, HEAD, LISTINGS, NEW, PATIENT, connect, receive
from tests.services import Served, serving

WORDS = [f"word{number}" for number in range(9_000)]
NEAR = {"id": "near", "text": f"{CAFE} number 3 x"}
GOOD = b'{"id": "good", "text": "a ferry leaves the old pier at nine with a band"}'


def make_text(words: int, seed: int) -> str:
    """Make a text of so many words that shares no shingle with another."""
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def change(text: str) -> str:
    """Change a word of forty."""
    words = text.split()
    words[::40] = ["changed"] * len(words[::40])
    return " ".join(words)


LARGE, LONG = make_text(90_000, 0), [make_text(9_000, seed) for seed in (1, 2)]


@pytest.fixture(scope="module")
def large(core_pool: Cores) -> Iterator[nd.Collection]:
    """A core with twenty listings, a text of 0.8 MB and two of 80 kB."""
    core = core_pool.take()
    texts = [{"id": f"large{number}", "text": text} for number, text in enumerate([LARGE, *LONG])]
    nd.index([*LISTINGS, *texts], core, settings={"fields": "all"})
    yield core
    core_pool.give_back(core.name)


@pytest.fixture(scope="module")
def served(large: nd.Collection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Its service, in which Solr has the time that a busy machine takes."""
    log = tmp_path_factory.mktemp("served") / "log"
    words = ("--hold", "0.8", "--tag", "0.5")
    change = (
        "service.ANSWER_SECONDS, service.ALLOWED_SECONDS, service.KEPT_SECONDS = 50.0, 45.0, 60.0"
    )
    with serving(large.url, log, *words, change=change) as service:
        yield service


def send(served: Served, path: str, body: object = None) -> socket.socket:
    """Send a request, and do not wait for its answer."""
    content = b"" if body is None else json.dumps(body).encode()
    method = b"GET" if body is None else b"POST"
    head = HEAD.replace(b"POST /check", b"%s /%s" % (method, path.encode()))
    client = connect(served)
    client.settimeout(60)
    client.sendall(head % len(content) + content)
    return client


ALIKE = make_text(1_000, 9)
FLOODS: dict[str, tuple[str, Any]] = {
    "texts near to large ones": ("check", {"id": "x", "text": change(LARGE)}),
    "long lists": (
        "check",
        {"documents": [{"id": str(n), "text": f"{change(ALIKE)} {n}"} for n in range(100)]},
    ),
    "searches": ("search", {"text": LARGE[:140_000], "measure": "words"}),
    "fields of large texts": ("entries", {"id": "x", "text": LARGE}),
    "explanations": ("explain?id=large1&other_id=large2", None),
}


@pytest.mark.parametrize("name", FLOODS)
def test_large_requests_hold_up_no_small_one(served: Served, name: str) -> None:
    """Small ones are answered as ever, before large ones that came earlier; too many get 429."""
    path, body = FLOODS[name]
    expected = [served.ask("check", document).json for document in NEW]
    with ExitStack() as opened:
        floods = [opened.enter_context(closing(send(served, path, body))) for _ in range(12)]
        assert served.ask("check", NEW[0]).json == expected[0]
        answered, _, _ = select.select(floods, [], [], 0)
        assert len(answered) < len(floods)
        answers = [receive(client) for client in floods]
        assert [served.ask("check", document).json for document in NEW] == expected
    assert {each.status for each in answers} <= {200, 429}
    assert answers[0].status == 200
    refused = [each for each in answers if each.status == 429]
    assert all(each.headers["retry-after"] == "1" for each in refused)
    assert refused or name not in ("texts near to large ones", "explanations")


TEXT = b'"text": "it leaves the pier at noon without a band"'
DEEP = b"[" * 5_000 + b"]" * 5_000
# What stands in a list beside a good document: its action, and what the reason, or the id, has.
BAD: dict[str, tuple[bytes, str, str]] = {
    "surrogate": (b'{"id": "a", "text": "blue \\ud800 door"}', "allow", "a"),
    "low surrogate": (b'{"id": "a", "text": "blue door \\udc00"}', "allow", "a"),
    "surrogate of an id": (b'{"id": "a\\ud83d", %s}' % TEXT, "allow", "a\ufffd"),
    "surrogate elsewhere": (b'{"id": "a", %s, "x": [{"\\udfff": "\\ud800"}]}' % TEXT, "allow", "a"),
    "bytes": (b'{"id": "a", "text": "blue \xff\xed\xa0\x80 door"}', "allow", "a"),
    "NUL": (b'{"id": "a", "text": "blue \0 door\t\\u0000"}', "allow", "a"),
    "1e400 elsewhere": (b'{"id": "a", %s, "x": -1e400}' % TEXT, "allow", "a"),
    "digits elsewhere": (b'{"id": "a", %s, "x": %s}' % (TEXT, b"9" * 5_000), "allow", "a"),
    "30 digits as an id": (b'{"id": %s, %s}' % (b"12" * 15, TEXT), "allow", "12" * 15),
    "1e400": (b'{"id": "a", "text": 1e400}', "failed", "the text in 'text' is the number inf"),
    "1e400 as an id": (b'{"id": 1e400, %s}' % TEXT, "failed", "the id in 'id' is the number inf"),
    "digits": (
        b'{"id": "a", "text": %s}' % (b"9" * 5_000),
        "failed",
        "the text in 'text' is a v",
    ),
    "digits as an id": (
        b'{"id": %s, %s}' % (b"9" * 5_000, TEXT),
        "failed",
        "id in 'id' is a v",
    ),
    "NaN": (b'{"id": "a", %s, "x": NaN}' % TEXT, "failed", "the field 'x' contains NaN"),
    "Infinity": (
        b'{"id": "a", %s, "x": [{"y": -Infinity}]}' % TEXT,
        "failed",
        "the field 'x' contains",
    ),
    "levels": (b'{"id": "a", %s, "x": %s}' % (TEXT, DEEP), "failed", "more than 200 nested levels"),
    "levels of objects": (
        b'{"id": "a", %s, "x": %s1%s}' % (TEXT, b'{"a":' * 5_000, b"}" * 5_000),
        "failed",
        "the field 'x' contains",
    ),
    "a key twice": (b'{"id": "a", "text": "x", "text": "y"}', "failed", "'text' appears twice"),
    "an id twice": (b'{"id": "a", "\\u0069d": "b", %s}' % TEXT, "failed", "'id' appears twice"),
    **{
        f"a key twice, {name}": (b'{"id": "a", %s}' % raw, "failed", part)
        for name, raw, part in (
            (
                "beside escaped quotes",
                b'"text": "x", "text": "y", "n": "%s"' % (b"\\u0022" * 9),
                "'text' appears twice",
            ),
            (
                "behind escaped quotes",
                b'"n": "\\u0022\\u0022\\u0022\\u0022", "text": "x", "text": "y"',
                "'text' appears twice",
            ),
            (
                "with a quote in it",
                b'%s, "\\"": 1, "\\u0022": 2, "n": "\\u0022\\u0022\\u0022"' % TEXT,
                "appears twice",
            ),
            (
                "in disguise",
                b'"te\\u0078t": "x", "text": "y", "n": "%s"' % (b"\\u0022" * 4),
                "'text' appears twice",
            ),
            (
                "deep inside",
                b'%s, "x": [{"y": {"z": 1, "z": 2, "n": "\\u0022\\u0022"}}]' % TEXT,
                "the field 'x' appears twice, or contains",
            ),
            ("alike", b'"text": "x", "text": "x", "n": "%s"' % (b"\\u0022" * 4), "appears twice"),
            ("three times", b'"text": "x", "text": 1, "text": null', "'text' appears twice"),
            ("without a name", b'%s, "": 1, "": 1, "n": "\\u0022\\u0022"' % TEXT, "appears twice"),
        )
    },
    "NaN as an id": (b'{"id": NaN, %s}' % TEXT, "failed", "the field 'id' contains NaN"),
    "null": (b'{"id": "a", "text": null}', "failed", "'text' is missing or null"),
    "a list as an id": (b'{"id": ["a"], %s}' % TEXT, "failed", "the id in 'id' is a list"),
    "no object": (b"[5]", "failed", "not a JSON object"),
}


def test_what_is_wrong_with_a_document_hits_no_other(served: Served) -> None:
    """It is read if Solr indexes it, else it fails by itself, and alone gets 400."""
    expected = served.ask("check", GOOD).json
    for name, (raw, action, part) in BAD.items():
        both = served.ask("check", b'{"documents": [%s, %s]}' % (raw, GOOD))
        assert both.status == 200, name
        first, second = both.json["decisions"]
        assert second == expected, name
        assert first["id"] in (None, part, "a"), name
        assert (first["action"], part in first["reason" if action == "failed" else "id"]) == (
            action,
            True,
        ), (name, first)
        alone = served.ask("check", raw)
        assert alone.status == (400 if action == "failed" else 200), name
        assert served.ask("entries", raw).status == alone.status, name


@pytest.mark.parametrize("size", [0, 20_000, 200_000])
def test_a_key_twice_is_refused_by_each_path(served: Served, size: int) -> None:
    """However it is written, and however large the request is: which one counts is unclear."""
    more = b'"n": "%s%s"' % (b"\\u0022" * 40, b"x" * size)
    for path, raw in {
        "search": b'{"text": "x", "text": "y", %s}',
        "check": b'{"documents": [], "documents": [{"id": "a", "text": "x"}], %s}',
        "entries": b'{"id": "a", "\\u0069d": "b", "text": "x", %s}',
    }.items():
        answer = served.ask(path, raw % more)
        assert answer.status == 400, path
        assert served.ask(path, (raw % more)[:-1] + b', "\\u006e": 1}').status == 400, path
    once = b'{"id": "a", "text": "\\u0022x\\u0022 \\" y", %s}' % more
    assert served.ask("check", once).status == 200


def test_solr_reads_alike(large: nd.Collection, served: Served) -> None:
    """A text with a surrogate or bytes that are not a character is decided as what Solr stores."""
    import requests

    text = CAFE.replace("Door", "\\ud800").encode()
    raw = b'{"id": "odd\\udc00", "content": "%s \xff number 3 x"}' % text
    with ExitStack() as held:
        held.callback(large.commit)
        held.callback(large.delete_query, "id:odd*")
        posted = requests.post(
            f"{large.url}/update?commit=true", b"[%s]" % raw, timeout=60,
            headers={"Content-Type": "application/json"},
        )  # fmt: skip
        posted.raise_for_status()
        (row,) = large.stored(["odd\ufffd"], ["content"])
    decision = served.ask("check", raw).json
    assert decision["id"] == "odd\ufffd"
    assert (
        served.ask("check", {"id": "odd", "text": row["content"]}).json | {"id": "odd\ufffd"}
        == decision
    )


SMUGGLED = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
FRAMES = [
    b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n0\r\n\r\n",
    b"transfer-encoding: Chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n",
    b"Content-Length: +%d\r\n\r\n",
    b"Content-Length: 0x0\r\n\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
]


def test_no_request_is_smuggled(served: Served) -> None:
    """If it is not clear where a request ends, the connection does, after an error."""
    for frame in FRAMES:
        head = frame.replace(b"%d", b"%d" % len(SMUGGLED))
        with connect(served) as client:
            client.sendall(b"POST /check HTTP/1.1\r\nHost: localhost\r\n" + head + SMUGGLED)
            answer = receive(client)
            assert answer.status in (400, 411, 501), frame
            assert answer.headers["connection"] == "close", frame
            assert client.recv(1) == b"", frame


def test_silent_connections_end(large: nd.Collection, tmp_path: Path) -> None:
    """Those that send nothing, blank lines, or a part of a head; those that work stay."""
    begun = [b"", b"\r\n", b"GET /health HTTP/1.1\r\n", b"G"]
    change = "body.REQUEST_SECONDS = 3.0"  # between two requests, on a busy machine, too
    with serving(large.url, tmp_path / "log", change=change) as served, ExitStack() as opened:
        working = opened.enter_context(connect(served))
        silent = [opened.enter_context(connect(served)) for _ in begun]
        for client, head in zip(silent, begun, strict=True):
            client.sendall(head)
        for _ in range(6):
            working.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert receive(working).status == 200
            time.sleep(0.6)
        assert [client.recv(12)[9:] for client in silent] == [b"", b"400", b"408", b"408"]
        assert [client.recv(1_000)[-1:] for client in silent]
        assert [client.recv(1) for client in silent] == [b""] * len(silent)
        working.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert receive(working).status == 200


def test_what_is_no_http_is_refused_once(large: nd.Collection, tmp_path: Path) -> None:
    """When its time is over, nothing more is written to it."""
    change = "body.REQUEST_SECONDS = 0.5"
    with serving(large.url, tmp_path / "log", change=change) as served:
        with connect(served) as client:
            client.sendall(b"POST /check HTTP/1.1\r\nContent-Length: -5\r\n\r\n{}")
            assert receive(client).status == 400
        with connect(served) as silent:  # whose time is over later
            assert silent.recv(1) == b""
        served.stop()
        assert [line for line in served.lines if line.get("level") == "ERROR"] == []


def test_no_file_is_read(served: Served) -> None:
    """Whatever the path is."""
    for path in ("../app.py", "%2e%2e/app.py", "..%2fservice.py", "/etc/passwd", "page.js/..",
                 "./service.py", "%00", "page.html", "openapi.json%00", "\\..\\w"):  # fmt: skip
        assert served.ask(path).status == 404, path


def test_the_last_token_is_revoked(large: nd.Collection, tmp_path: Path) -> None:
    """An empty file lets nobody in, also at the start; a line says if all may read it."""
    path = tmp_path / "tokens"
    path.write_text("ops c4n4ry-of-the-ops all\n")
    token = {"Authorization": "Bearer c4n4ry-of-the-ops"}

    path.chmod(0o644)
    with serving(large.url, tmp_path / "log", "--tokens", str(path)) as served:
        part = f"{path} can be read by all users: run chmod o-r {path}"
        assert served.log.read_text("utf-8").count(part) == 1
        path.chmod(0o600)
        assert served.ask("metrics", **token).status == 200
        described = served.ask("openapi.json").json
        assert described["security"] == [{"token": []}]
        path.write_text("# nobody\n")
        while served.ask("metrics", **token).status != 401:
            assert served.process.poll() is None
    with serving(large.url, tmp_path / "log", "--tokens", str(path)) as served:
        assert served.ask("metrics", **token).status == 401
        assert f"{path} contains no tokens, so nobody is admitted" in served.log.read_text("utf-8")
        path.write_text("ops c4n4ry-of-the-ops all\n")
        while served.ask("metrics", **token).status != 200:
            assert served.process.poll() is None


def test_the_end_resets_no_connection(large: nd.Collection, tmp_path: Path) -> None:
    """Under load, all that has been sent is answered or refused, until nobody can connect."""
    outcomes: list[object] = []
    words = ("--hold", "0.8", "--tag", "0.5")
    change = f"{PATIENT}; from neardup_solr.web import connection; connection.LAST_SECONDS = 30.0"
    with serving(large.url, tmp_path / "log", *words, change=change) as served:
        expected = served.ask("check", NEAR).json
        port = urlsplit(served.address).port

        def work(keeps: bool, number: int) -> None:
            connection = HTTPConnection("127.0.0.1", port, timeout=60)
            while True:
                try:
                    connection.connect() if connection.sock is None else None
                except ConnectionRefusedError:
                    return
                try:
                    connection.request("POST", "/check", json.dumps(NEAR))
                    answer = connection.getresponse()
                    body = json.loads(answer.read())
                    is_right = answer.status in (429, 503) or body == expected
                    outcomes.append(is_right or body)
                except OSError as error:
                    outcomes.append(error)
                if not keeps:
                    connection.close()

        threads = [threading.Thread(target=work, args=(n % 2, n)) for n in range(12)]
        for thread in threads:
            thread.start()
        with ExitStack() as opened:
            flooding = [opened.enter_context(closing(send(served, *FLOODS["searches"])))
                        for _ in range(4)]  # fmt: skip
            idle = [opened.enter_context(connect(served)) for _ in range(20)]
            before = len(outcomes)
            while len(outcomes) < before + 50:
                time.sleep(0.01)
            served.process.send_signal(signal.SIGTERM)
            body = json.dumps(NEAR).encode()
            time.sleep(0.4)
            for client in idle:
                client.sendall(HEAD % len(body) + body)
            assert {receive(client).status for client in idle} <= {200, 429, 503}
            assert {receive(client).status for client in flooding} <= {200, 429, 503}
        for thread in threads:
            thread.join()
        assert served.process.wait(timeout=60) == 0
    assert [each for each in outcomes if each is not True] == []
