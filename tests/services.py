"""A service as a process of its own, and requests to it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of the service; the names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, which is JSON."""
        return json.loads(self.body)


def read_answer(found: HTTPResponse) -> Answer:
    """Read an answer to its end."""
    headers = {name.lower(): value for name, value in found.getheaders()}
    return Answer(status=found.status, headers=headers, body=found.read())


@dataclass(slots=True, kw_only=True)
class Served:
    """A service that runs: its address, which ends with a slash, and what it logs."""

    address: str
    process: subprocess.Popen[str]
    log: Path
    headers: dict[str, str] = field(default_factory=dict)

    def ask(
        self, path: str, body: object = None, *, method: str | None = None, **headers: str
    ) -> Answer:
        """Send a request with a body of JSON, or of bytes, and give the answer."""
        parts = urlsplit(self.address)
        connection = HTTPConnection(parts.hostname or "", parts.port, timeout=120)
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(
                method or ("GET" if body is None else "POST"),
                parts.path + path,
                sent,
                {**self.headers, **named},
            )
            return read_answer(connection.getresponse())
        finally:
            connection.close()

    def metrics(self) -> dict[str, float]:
        """The metrics, by name and labels."""
        lines = self.ask("metrics").body.decode().splitlines()
        split = (line.rpartition(" ") for line in lines if not line.startswith("#"))
        return {name: float(value) for name, _, value in split}

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines of its log so far, without one that is being written."""
        lines = self.log.read_text("utf-8").rpartition("\n")[0].splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


def until(is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def make_command(address: str, change: str = "") -> list[str]:
    """Make the command that serves a collection, with a `change` of what it consists of."""
    run = "from neardup_solr import log; from neardup_solr.web import body, server"
    run += "; from neardup_solr.verbs.serve import service"
    run += "; import neardup_solr.__main__ as m"
    return [sys.executable, "-c", f"{run}; {change or 'pass'}; m.main()", *_serve(address)]


def _serve(address: str) -> list[str]:
    return ["serve", "--solr", address, "--port", "0"]


@contextmanager
def serving(
    address: str, log: Path, *words: str, change: str = "", program: str = ""
) -> Iterator[Served]:
    """Serve the collection at an address ("http://host:8983/solr/name") on a free port.

    `change` is run in the process before, such as "body.REQUEST_SECONDS = 1"; `program` is another
    neardup than that of the tests.
    """
    command = [program, *_serve(address)] if program else make_command(address, change)
    with log.open("w", encoding="utf-8") as written, log.with_name("address").open("w") as out:
        process = subprocess.Popen([*command, *words], stdout=out, stderr=written, text=True)
    try:
        while not (found := re.search(r" at (http://\S+/); ", log.read_text("utf-8"))):
            assert process.poll() is None, log.read_text("utf-8")
            time.sleep(0.05)
        yield Served(address=found[1], process=process, log=log)
    finally:
        process.kill()
        process.wait(timeout=60)
