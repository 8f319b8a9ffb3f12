"""A local HTTP server that answers every request as it is told."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

import neardup_solr as nd

EMPTY = b'{"responseHeader": {"status": 0}, "fields": []}'  # to what is asked first: a fresh schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One HTTP answer."""

    status: int = 200
    kind: str = "application/json"
    body: bytes = b'{"responseHeader":{"status":0}}'
    location: str | None = None
    encoding: str | None = None
    retry_after: str | None = None
    silent: bool = False  # closes the connection instead
    missing: int = 0  # bytes that are announced but do not come before the connection is closed


@contextmanager
def answering(*answers: Answer) -> Iterator[tuple[str, list[str]]]:
    """A server that gives these answers in turn, then the last one again and again.

    Gives its address, ending in /solr, and the list of paths that it was asked for.
    """
    asked: list[str] = []
    turns = count()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: no waiting for its acknowledgement

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = answers[min(next(turns), len(answers) - 1)]
            asked.append(self.path)
            if answer.silent:
                self.close_connection = True
                return
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(answer.body) + answer.missing))
            if answer.location is not None:
                self.send_header("Location", answer.location)
            if answer.encoding is not None:
                self.send_header("Content-Encoding", answer.encoding)
            if answer.retry_after is not None:
                self.send_header("Retry-After", answer.retry_after)
            self.end_headers()
            self.wfile.write(answer.body)
            self.close_connection = self.close_connection or answer.missing > 0

        do_POST = do_CONNECT = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with serving(Handler) as address:
        yield f"{address}/solr", asked


@contextmanager
def connected(*answers: Answer, **options: Any) -> Iterator[tuple[nd.Collection, list[str]]]:
    """An open collection, x, whose requests get these answers in turn, and the paths it asks for.

    It has reached its Solr: what `nd.connect` asks for is answered rightly, and left out.
    """
    with answering(Answer(body=EMPTY), *answers) as (address, asked):
        opened = nd.connect(address, "x", **options)
        asked.clear()
        yield opened, asked


@contextmanager
def serving(
    handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext | None = None
) -> Iterator[str]:
    """A local server with this handler, by TLS if there is a context; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if context is not None:
        # Shaken hands in the connection's own thread: a client that refuses must not block others.
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"{'http' if context is None else 'https'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
