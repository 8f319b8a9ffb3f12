"""Clients of a service, in a process of their own: at a rate, or as many at once.

A request counts from the moment when it was due, not from when it could be sent: so an answer that
is late is not hidden by the requests that waited for it.
"""

from __future__ import annotations

import asyncio
import gc
import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

KEPT = 16  # connections that are open from the start; more are opened if all are in use
LAST_SECONDS = 60.0  # that the last answers may take


@dataclass(slots=True)
class Asked:
    """A request, by the number of its body, and its answer; times are by time.monotonic().

    If no answer came, `status` is 0, and `done` when the connection was lost, or infinity.
    """

    number: int
    due: float
    done: float = math.inf
    status: int = 0
    has_retry_after: bool = False
    body: bytes = b""

    @property
    def ms(self) -> float:
        """How long the answer took."""
        return (self.done - self.due) * 1e3


def ask(
    port: int, bodies: Sequence[bytes], gaps: Sequence[float], flood: tuple[int, float] = (0, 0.0)
) -> tuple[list[Asked], list[Asked], float]:
    """Post checks, each a gap after the one before, and return all with the processor time.

    Before that comes a `flood`: so many connections for so many seconds, each of which asks again
    as soon as it has its answer. Its requests come first in what is returned.
    """
    gc.disable()
    return asyncio.run(_Clients(port, bodies).run(gaps, *flood))


class _Clients:
    def __init__(self, port: int, bodies: Sequence[bytes]) -> None:
        head = b"POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
        self.requests = [head % len(body) + body for body in bodies]
        self.port, self.waiting = port, 0
        self.idle: deque[_Connection] = deque()
        self.tasks: set[asyncio.Task[None]] = set()

    async def run(
        self, gaps: Sequence[float], connections: int, seconds: float
    ) -> tuple[list[Asked], list[Asked], float]:
        flooded, asked = list[Asked](), list[Asked]()
        for _ in range(KEPT):
            self.idle.append(await self.connect())
        busy, end = time.process_time(), time.monotonic() + seconds
        if connections:
            for _ in range(connections):
                self.start(self.flood(flooded, end))
            await asyncio.sleep(seconds)
        due = time.monotonic()
        for gap in gaps:
            due += gap
            if (pause := due - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            asked.append(Asked(len(asked), due))
            self.send(asked[-1])
        last = time.monotonic() + LAST_SECONDS
        while (self.waiting or self.tasks) and time.monotonic() < last:
            await asyncio.sleep(0.01)
        return flooded, asked, time.process_time() - busy

    async def connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        _, made = await loop.create_connection(lambda: _Connection(self), "127.0.0.1", self.port)
        return made

    def start(self, work: Any) -> None:
        self.tasks.add(task := asyncio.create_task(work))
        task.add_done_callback(self.tasks.discard)

    def send(self, one: Asked) -> None:
        """Send by the connection that has been idle longest, so that none is closed for that."""
        self.waiting += 1
        if self.idle:
            self.idle.popleft().send(one)
        else:
            self.start(self.send_by_another(one))

    async def send_by_another(self, one: Asked) -> None:
        try:
            (await self.connect()).send(one)
        except OSError:
            one.done, self.waiting = time.monotonic(), self.waiting - 1

    async def flood(self, made: list[Asked], end: float) -> None:
        connection = await self.connect()
        while (now := time.monotonic()) < end:
            made.append(one := Asked(len(made) % len(self.requests), now))
            self.waiting += 1
            connection.answered = asyncio.get_running_loop().create_future()
            connection.send(one)
            await connection.answered
            if connection.transport.is_closing():
                connection = await self.connect()
        connection.transport.close()


class _Connection(asyncio.Protocol):
    transport: asyncio.Transport

    def __init__(self, clients: _Clients) -> None:
        self.clients, self.content = clients, b""
        self.one: Asked | None = None
        self.answered: asyncio.Future[None] | None = None  # of one that a flood has for itself

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def send(self, one: Asked) -> None:
        self.one, self.content = one, b""
        self.transport.write(self.clients.requests[one.number])

    def data_received(self, data: bytes) -> None:
        self.content += data
        head, _, body = self.content.partition(b"\r\n\r\n")
        head = head.lower()
        size = head.partition(b"content-length: ")[2].partition(b"\r")[0]
        if self.one is None or not size or len(body) < int(size):
            return
        self.one.status, self.one.body = int(head[9:12]), body[: int(size)]
        self.one.has_retry_after = b"\r\nretry-after: " in head
        if b"\r\nconnection: close" in head:
            self.transport.close()
        self.finish()

    def connection_lost(self, error: Exception | None) -> None:
        if self in self.clients.idle:
            self.clients.idle.remove(self)
        self.finish()

    def finish(self) -> None:
        if self.one is None:
            return
        self.one.done, self.one = time.monotonic(), None
        self.clients.waiting -= 1
        if self.answered is not None:
            self.answered.set_result(None)
        elif not self.transport.is_closing():
            self.clients.idle.append(self)
