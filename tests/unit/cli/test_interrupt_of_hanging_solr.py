"""Ctrl-C while a command waits for a Solr that hangs."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import orjson

import neardup_solr as nd
from tests.command import NEARDUP, sign_once
from tests.faults.scripted import serving

SOON = 22.0  # seconds: two, and what a busy machine gets beyond that


@contextmanager
def hanging() -> Iterator[tuple[str, threading.Event]]:
    """A Solr that answers all but documents: its address, and whether it has got some."""
    got, over = threading.Event(), threading.Event()
    fields = [{"name": name} for name in ("id", "signature_settings", *nd.Settings().fields)]
    counted = {"facets": {"count": 0}, "response": {"numFound": 0, "docs": []}}
    body = orjson.dumps({"responseHeader": {"status": 0}, "fields": fields} | counted)
    used = orjson.dumps({"responseHeader": {"status": 0}, "fields": {}})  # by no document

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if "/update" in self.path and b'"signature_settings"' in asked:
                got.set()
                over.wait()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            answer = used if "/admin/luke" in self.path else body
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            with suppress(OSError):  # the command may be gone by then
                self.wfile.write(answer)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with serving(Handler) as address:
        try:
            yield f"{address}/solr/x", got
        finally:
            over.set()


def test_an_interrupt_does_not_wait_for_senders(tmp_path: Path) -> None:
    """One Ctrl-C is enough while threads wait for a Solr that took documents and hangs."""
    sign_once()  # or the command would say that it does
    listings = tmp_path / "listings.csv"
    listings.write_text("id,text\n1,Blue Door Cafe\n")
    with hanging() as (address, got):
        running = subprocess.Popen(
            [*NEARDUP, "index", str(listings), "--solr", address],
            stderr=subprocess.PIPE,
            text=True,
        )
        with running:
            assert got.wait(30)
            running.send_signal(signal.SIGINT)
            _, said = running.communicate(timeout=SOON)
    assert running.returncode == 130
    assert said.splitlines()[1:] == ["neardup: interrupted"]


def test_an_interrupt_ends_the_wait_for_a_solr_that_hangs() -> None:
    """One Ctrl-C is enough where Solr takes a request and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/solr/x"
        running = subprocess.Popen(
            [*NEARDUP, "delete", "1", "--solr", address], stderr=subprocess.PIPE, text=True
        )
        with running:
            connection, _ = silent.accept()
            with connection:
                connection.recv(1024)
                running.send_signal(signal.SIGINT)
                _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (130, "neardup: interrupted\n")
