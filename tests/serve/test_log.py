"""The log of a service: whoever reads it, or does not, holds nobody up."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.conftest import Cores
from tests.services import Served, make_command

SHORT = "log.MOST = 8_000"  # characters that wait, so that fewer requests fill the log
PLAIN = "{"  # how a line of JSON begins


@pytest.fixture(scope="module")
def listings(core_pool: Cores) -> Iterator[nd.Collection]:
    """An empty core."""
    core = core_pool.take()
    yield core
    core_pool.give_back(core.name)


class Pipe:
    """A pipe of 4 KiB that is read only when a test asks for it."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        if sys.platform == "linux":
            import fcntl

            fcntl.fcntl(self.writer, fcntl.F_SETPIPE_SZ, 4096)
        self.text = ""

    def read_until(self, pattern: str) -> re.Match[str]:
        """Read on until something has come, and return it."""
        while not (match := re.search(pattern, self.text)):
            part = os.read(self.reader, 1 << 16)
            assert part, self.text
            self.text += part.decode()
        return match


@contextmanager
def serving_into(pipe: Pipe, address: str) -> Iterator[Served]:
    """Serve a collection, and log into a pipe."""
    process = subprocess.Popen(make_command(address, SHORT), stderr=pipe.writer, text=True)
    try:
        place = pipe.read_until(r" at (http://\S+/); ")[1]
        yield Served(address=place, process=process, log=Path(os.devnull))
    finally:
        process.kill()
        process.wait(timeout=60)


def count_dropped(served: Served) -> float:
    """How many lines the service says that it has dropped."""
    return served.metrics()["neardup_log_lines_dropped_total"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
def test_an_address_that_cannot_be_printed_ends_no_service(listings: nd.Collection) -> None:
    """Standard output may be on a full disk, too."""
    pipe = Pipe()
    with Path("/dev/full").open("w") as full:
        process = subprocess.Popen(
            make_command(listings.url), stdout=full, stderr=pipe.writer, text=True
        )
    try:
        place = pipe.read_until(r" at (http://\S+/); ")[1]
        served = Served(address=place, process=process, log=Path(os.devnull))
        assert served.ask("health").status == 200
        assert served.stop() == 0
    finally:
        process.kill()
        process.wait(timeout=60)


def test_a_log_that_nobody_reads_holds_nobody_up(listings: nd.Collection) -> None:
    """All is answered; each line is read later or counted, and a signal ends the service."""
    pipe = Pipe()
    with serving_into(pipe, listings.url) as served:
        requests = 0
        while count_dropped(served) < 50:
            assert served.ask("nothing", X_Request_Id=f"n-{requests}").status == 404
            requests += 1
        dropped = count_dropped(served)
        match = pipe.read_until(r"and (\d+) lines were dropped")
        lost = int(match[1])
        # The line of the request for metrics comes before there is room, or after it.
        assert lost in (dropped, dropped + 1)
        served.ask("nothing", X_Request_Id="last")
        pipe.read_until('"last".*\n')
        lines = [json.loads(line) for line in pipe.text.splitlines() if line.startswith(PLAIN)]
        told = [line["id"] for line in lines if line.get("path") == "(unknown)"]
        assert told[:3] == ["n-0", "n-1", "n-2"]
        assert requests - dropped <= len(told) <= requests
        while count_dropped(served) == lost:
            served.ask("nothing")
        began = time.monotonic()
        assert served.stop(signal.SIGTERM) == 0
        assert time.monotonic() - began < 20


def free_port() -> int:
    """A port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.mark.parametrize("kind", ["full disk", "closed", "reader gone"])
def test_a_log_that_cannot_be_written(listings: nd.Collection, kind: str) -> None:
    """Requests are answered as ever, what is lost is counted, and a signal ends the service."""
    if kind == "full disk" and not Path("/dev/full").exists():
        pytest.skip("there is no such device here")
    port, pipe = free_port(), Pipe()
    os.close(pipe.reader)
    with ExitStack() as opened:
        opened.callback(os.close, pipe.writer)
        full = os.open("/dev/full", os.O_WRONLY) if kind == "full disk" else pipe.writer
        process = subprocess.Popen(
            [*make_command(listings.url), "--port", str(port)],
            stderr=full,
            text=True,
            preexec_fn=(lambda: os.close(2)) if kind == "closed" else None,
        )
        opened.callback(process.kill)
        served = Served(address=f"http://127.0.0.1:{port}/", process=process, log=Path(os.devnull))
        while True:
            try:
                assert served.ask("health").status == 200
                break
            except ConnectionRefusedError:
                assert process.poll() is None
                time.sleep(0.05)
        for _ in range(20):
            assert served.ask("nothing").status == 404
        while kind != "closed" and count_dropped(served) < 20:
            assert process.poll() is None
        assert served.stop(signal.SIGTERM) == 0
