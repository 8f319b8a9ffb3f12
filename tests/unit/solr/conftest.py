"""A server that answers like an empty Solr and notes the credentials, and no waiting."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

import pytest

from neardup_solr.testing import SIZES
from tests.faults.scripted import EMPTY, serving


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are repeated without a pause between the attempts."""
    monkeypatch.setattr(SIZES, "longest_wait", 0.0)


@dataclass
class Door:
    """A Solr without anything in it: its address, and the credentials that it was given."""

    address: str
    credentials: list[tuple[str, str] | None] = field(default_factory=list)


@pytest.fixture
def door() -> Iterator[Door]:
    """A server that answers like an empty Solr and notes the credentials of each request."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            sent = self.headers.get("Authorization", "").removeprefix("Basic ")
            user, colon, password = base64.b64decode(sent).decode().partition(":")
            made.credentials.append((user, password) if colon else None)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(EMPTY)))
            self.end_headers()
            self.wfile.write(EMPTY)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with serving(Handler) as address:
        made = Door(f"{address}/solr")
        yield made
