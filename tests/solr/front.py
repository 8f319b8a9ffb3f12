"""A server in front of a real Solr: TLS by a CA of its own, and doors that want credentials."""

from __future__ import annotations

import base64
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

from tests.faults.scripted import Answer, serving

PASSED_ON = ("Content-Type", "Content-Encoding")

Between = Callable[[str, bytes, Callable[[], Answer]], Answer]


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


def certify(
    folder: Path, *, names: str = "DNS:localhost,IP:127.0.0.1,IP:::1", is_expired: bool = False
) -> Certified:
    """A new CA, and a certificate by it for a server of these names."""
    ca, ca_key = folder / "ca.pem", folder / "ca.key"
    certificate, key = folder / "server.pem", folder / "server.key"
    uses = "keyUsage=critical,keyCertSign,cRLSign"
    _openssl(ca_key, ca, "/CN=a test's own CA", "basicConstraints=critical,CA:TRUE", uses)
    plain = "basicConstraints=critical,CA:FALSE"
    named = f"subjectAltName={names}"
    _openssl(key, certificate, "/CN=a server", plain, named, signer=(ca, ca_key))
    if is_expired:
        _expire(certificate, key, (ca, ca_key))
    return Certified(ca=ca, certificate=certificate, key=key)


def certify_client(by: Certified, name: str = "me", *, is_expired: bool = False) -> Path:
    """A PEM file of a certificate by a CA for a client, and of its key."""
    made, key = by.ca.with_name(f"{name}.pem"), by.ca.with_name(f"{name}.key")
    plain, signer = "basicConstraints=critical,CA:FALSE", (by.ca, by.ca.with_suffix(".key"))
    _openssl(key, made, f"/CN={name}", plain, signer=signer)
    if is_expired:
        _expire(made, key, signer)
    made.write_text(made.read_text() + key.read_text())
    return made


def _expire(certificate: Path, key: Path, signer: tuple[Path, Path]) -> None:
    """Let a certificate have been good until yesterday; no command makes such a one at once."""
    request = certificate.with_suffix(".request")
    again = ("-x509toreq", "-in", certificate, "-signkey", key, "-out", request)
    dated = ("-req", "-in", request, "-days", "-1", "-CA", signer[0], "-CAkey", signer[1])
    for words in (again, (*dated, "-out", certificate)):
        command = ["openssl", "x509", *words, "-copy_extensions", "copyall"]
        subprocess.run(command, check=True, capture_output=True)


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


def passed_on(path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
    """The answer of Solr."""
    return answer()


@contextmanager
def front(
    target: str,
    *,
    door: Door | None = None,
    tls: Certified | None = None,
    path: str = "/solr",
    between: Between = passed_on,
) -> Iterator[str]:
    """A server that hands what it is asked below `path` on to a Solr; gives its address.

    `between` gets the path and body of a request, and a call that has Solr answer it.
    """
    context = None
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls.certificate, tls.key)
    with serving(_handler(target, door or Door(), path, between), context) as address:
        yield f"{address}{path}"


def _handler(target: str, door: Door, path: str, between: Between) -> type[BaseHTTPRequestHandler]:
    parts = urlsplit(target)
    wanted = dict(door.headers)
    if door.credentials is not None:
        wanted["Authorization"] = "Basic " + base64.b64encode(door.credentials.encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: no waiting for its acknowledgement

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if any(self.headers.get(name) != value for name, value in wanted.items()):
                self._give(401, {}, b"who are you?")
                return
            given = between(self.path, body, lambda: self._of_solr(body))
            kind = {"Content-Type": given.kind}
            if given.encoding is not None:
                kind["Content-Encoding"] = given.encoding
            if given.location is not None:
                kind["Location"] = given.location
            self._give(given.status, kind, given.body)

        do_POST = do_GET

        def _of_solr(self, body: bytes) -> Answer:
            inner = HTTPConnection(parts.netloc, timeout=60)
            kept = {n: v for n, v in self.headers.items() if n in PASSED_ON}
            inner.request(self.command, parts.path + self.path.removeprefix(path), body, kept)
            answer = inner.getresponse()
            kind, packed = (answer.getheader(name) for name in PASSED_ON)
            given = Answer(
                status=answer.status, kind=kind or "", encoding=packed, body=answer.read()
            )
            inner.close()
            return given

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
