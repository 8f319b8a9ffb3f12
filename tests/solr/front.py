"""A server in front of a real Solr: TLS by a CA of its own, and doors that want credentials."""

from __future__ import annotations

import base64
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

from tests.faults.scripted import serving

PASSED_ON = ("Content-Type", "Content-Encoding")


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """Files of a certificate authority, and of a server that it vouches for."""

    ca: Path
    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What a request has to show: `user:password` of basic auth, and headers."""

    credentials: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


def certify(folder: Path, *, names: str = "DNS:localhost,IP:127.0.0.1") -> Certified:
    """A new CA, and a certificate by it for a server of these names."""
    ca, ca_key = folder / "ca.pem", folder / "ca.key"
    certificate, key = folder / "server.pem", folder / "server.key"
    uses = "keyUsage=critical,keyCertSign,cRLSign"
    _openssl(ca_key, ca, "/CN=a test's own CA", "basicConstraints=critical,CA:TRUE", uses)
    plain = "basicConstraints=critical,CA:FALSE"
    named = f"subjectAltName={names}"
    _openssl(key, certificate, "/CN=a server", plain, named, signer=(ca, ca_key))
    return Certified(ca=ca, certificate=certificate, key=key)


def _openssl(
    key: Path, made: Path, subject: str, *extensions: str, signer: tuple[Path, Path] | None = None
) -> None:
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
               "-nodes", "-days", "2", "-config", "/dev/null", "-subj", subject,
               "-keyout", str(key), "-out", str(made)]  # fmt: skip
    command += [word for extension in extensions for word in ("-addext", extension)]
    if signer is not None:
        command += ["-CA", str(signer[0]), "-CAkey", str(signer[1])]
    subprocess.run(command, check=True, capture_output=True)


@contextmanager
def front(
    target: str, *, door: Door | None = None, tls: Certified | None = None, path: str = "/solr"
) -> Iterator[str]:
    """A server that hands what it is asked below `path` on to a Solr; gives its address."""
    context = None
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls.certificate, tls.key)
    with serving(_handler(target, door or Door(), path), context) as address:
        yield f"{address}{path}"


def _handler(target: str, door: Door, path: str) -> type[BaseHTTPRequestHandler]:
    parts = urlsplit(target)
    wanted = dict(door.headers)
    if door.credentials is not None:
        wanted["Authorization"] = "Basic " + base64.b64encode(door.credentials.encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if any(self.headers.get(name) != value for name, value in wanted.items()):
                self._give(401, {}, b"who are you?")
                return
            inner = HTTPConnection(parts.netloc, timeout=60)
            kept = {n: v for n, v in self.headers.items() if n in PASSED_ON}
            inner.request(self.command, parts.path + self.path.removeprefix(path), body, kept)
            answer = inner.getresponse()
            given = {n: v for n, v in answer.getheaders() if n in PASSED_ON}
            self._give(answer.status, given, answer.read())
            inner.close()

        do_POST = do_GET

        def _give(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True  # the client did not like our certificate

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler
