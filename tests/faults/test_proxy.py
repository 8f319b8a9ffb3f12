"""The proxy that makes faults of the network: it passes exactly what it is told to."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from tests.faults.proxy import End, Fault, Proxy, proxied

REQUEST = b"POST /solr/x/update HTTP/1.1\r\nContent-Length: 10\r\n\r\n0123456789"
SECONDS = 10.0


class Echo:
    """A server that sends back what it gets, and keeps it."""

    def __init__(self) -> None:
        self.got = bytearray()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                try:
                    while data := connection.recv(1000):
                        self.got += data
                        connection.sendall(data)
                except OSError:
                    continue

    def after(self, count: int) -> bytes:
        """What it got, once that is as much as this; its thread may lag behind."""
        deadline = time.monotonic() + SECONDS
        while len(self.got) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        return bytes(self.got)

    def close(self) -> None:
        """Stop to listen; a connection ends with its client."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self._thread.join(SECONDS)


@pytest.fixture
def echo() -> Iterator[Echo]:
    """A server that is stopped afterwards."""
    made = Echo()
    yield made
    made.close()


def answered(proxy: Proxy, request: bytes, enough: int = 1 << 20) -> bytes:
    """What comes back until the connection ends, or until there is enough."""
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=SECONDS) as client:
        client.sendall(request)
        got = bytearray()
        while len(got) < enough and (data := client.recv(1000)):
            got += data
        return bytes(got)


def test_without_a_fault_everything_passes(echo: Echo) -> None:
    """Bytes go both ways, and a whole request is told."""
    told: list[tuple[str, bytes]] = []
    with proxied(echo.port, lambda path, body: told.append((path, body))) as proxy:
        assert answered(proxy, REQUEST * 2, enough=2 * len(REQUEST)) == REQUEST * 2
    assert told == [("/solr/x/update", b"0123456789")] * 2
    assert proxy.passed == {"request": 2 * len(REQUEST), "response": 2 * len(REQUEST)}


@pytest.mark.parametrize("at", [0, 1, 20, len(REQUEST)])
def test_a_request_is_cut_at_its_byte(echo: Echo, at: int) -> None:
    """So many bytes arrive, and no more; a part of a request is not told as one."""
    told: list[str] = []
    with proxied(echo.port, lambda path, _: told.append(path)) as proxy:
        proxy.fault(Fault(request=at))
        answered(proxy, REQUEST)
    assert proxy.passed["request"] == at
    assert echo.after(at) == REQUEST[:at]
    assert told == ["/solr/x/update"] * (at == len(REQUEST))


@pytest.mark.parametrize("at", [0, 1, 20])
def test_an_answer_is_cut_at_its_byte(echo: Echo, at: int) -> None:
    """So many bytes come back, and the request went through."""
    with proxied(echo.port) as proxy:
        proxy.fault(Fault(response=at))
        assert answered(proxy, REQUEST) == REQUEST[:at]
    assert echo.after(len(REQUEST)) == REQUEST


def test_a_reset_is_one(echo: Echo) -> None:
    """The client sees a reset, not an end."""
    with proxied(echo.port) as proxy:
        proxy.fault(Fault(request=20, end="reset"))
        with pytest.raises(ConnectionResetError):
            answered(proxy, REQUEST)


@pytest.mark.parametrize("fault", [Fault(request=0, end="hang"), Fault(response=0, end="hang")])
def test_a_black_hole_says_nothing(echo: Echo, fault: Fault) -> None:
    """The connection stays open and nothing comes."""
    with proxied(echo.port) as proxy:
        proxy.fault(fault)
        with socket.create_connection(("127.0.0.1", proxy.port), timeout=0.3) as client:
            client.sendall(REQUEST)
            with pytest.raises(TimeoutError):
                client.recv(1)


def test_copies_and_pieces(echo: Echo) -> None:
    """Each piece of an answer comes twice; the request goes through once."""
    with proxied(echo.port) as proxy:
        proxy.fault(Fault(copies=2, piece=1))
        got = answered(proxy, b"abc", enough=6)
    assert got == b"aabbcc"
    assert echo.after(3) == b"abc"


@pytest.mark.parametrize("end", ["close", "reset"])
def test_faults_pass(echo: Echo, end: End) -> None:
    """The second connection has the fault, too, if two were asked for; the third has not."""
    with proxied(echo.port) as proxy:
        proxy.fault(Fault(response=0, end=end), connections=2)
        for _ in range(2):
            try:
                assert answered(proxy, REQUEST) == b""
            except ConnectionResetError:
                assert end == "reset"
        assert answered(proxy, REQUEST, enough=len(REQUEST)) == REQUEST
        assert proxy.connections == 3


def test_nobody_behind_it() -> None:
    """A server that is away resets the connection, as its own port would refuse it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with proxied(free.getsockname()[1]) as proxy, pytest.raises(ConnectionResetError):
            answered(proxy, REQUEST)
