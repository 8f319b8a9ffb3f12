"""Queues of requests: each kind and size of request has its own, with its threads.

So neither a slow client, nor a flood, nor large texts hold up the others.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from starlette.requests import Request

from neardup_solr.cores import count_cores
from neardup_solr.records import NOTHING
from neardup_solr.verbs.serve.documents import Json
from neardup_solr.verbs.serve.metrics import Metrics
from neardup_solr.verbs.serve.request_log import RETRY_AFTER
from neardup_solr.verbs.serve.service import SEND, Service
from neardup_solr.web.body import load_plain, parse_object, read_body
from neardup_solr.web.failure import Failure

TOGETHER = 16  # documents that one question is about, if requests are small
SMALL, MEDIUM = 16 << 10, 128 << 10  # bytes of requests; larger ones are parsed by a thread
LIGHT, HEAVY = 1 << 24, 1 << 28  # pairs of words that a question compares, in 20 ms and in 300
WAITING = 4  # requests that wait, for each one that is worked on
BODIES = 64  # of the most bytes, which are read at the same time
SILENCE_PAUSE = 0.5  # seconds between two looks whether Solr answers a question

Check = tuple[list[Any], "asyncio.Future[Any]"]  # the documents of a request, and its decisions


@dataclass(slots=True)
class Queue:
    """Requests that wait for each other, and for those of no other queue, on so many `threads`.

    They have at most `size` bytes and `documents` documents. Small checks are asked about by one
    question of `TOGETHER` documents or so; what comes meanwhile is gathered for the next one. What
    compares more than `steps` pairs of words, or finds many documents, goes to the queue `longer`.
    A thread keeps what it has asked the `service` until Solr answers; whoever waits is refused
    earlier.
    """

    service: Service

    size: float = math.inf
    documents: float = math.inf
    steps: float = math.inf
    longer: Queue | None = None
    threads: int = 1
    waiting: deque[Check] = field(default_factory=deque)
    under_way: int = 0
    requests: int = 0  # that are worked on or wait
    held: int = 0  # bytes of these
    pool: ThreadPoolExecutor = field(init=False)
    workers: set[int] = field(default_factory=set)  # threads by their numbers

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(self.threads, initializer=self._begin)

    def _begin(self) -> None:
        self.workers.add(threading.get_ident())
        self.service.keep_threads()

    @property
    def is_light(self) -> bool:
        """True if documents that share a band with many others are left to another queue."""
        return self.steps == LIGHT

    @property
    def is_silent(self) -> bool:
        """True if all threads wait for a Solr that does not answer in time."""
        return self.service.count_silent([*self.workers]) == self.threads

    async def decide(self, records: list[Any]) -> Any:
        """Return the decisions about the documents of a request, once it is its turn."""
        decisions: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.waiting.append((records, decisions))
        self._ask()
        return await decisions

    def _ask(self) -> None:
        """Ask the next questions, as long as a thread is free."""
        while checks := self._take():
            self._question(checks)

    def _take(self) -> list[Check]:
        """Take what the next question is about, nothing while no thread is free."""
        checks, documents = list[Check](), 0
        most = TOGETHER if self.is_light else 1
        while self.waiting and self.under_way < self.threads and documents < most:
            checks.append(self.waiting.popleft())
            documents += len(checks[-1][0])
        self.under_way += bool(checks)
        return checks

    def _question(self, checks: list[Check]) -> None:
        """Let a thread decide about requests, and give each its decisions."""
        requests = [records for records, _ in checks]
        longer = self.longer or self

        def finish(done: asyncio.Future[Any]) -> None:
            error = done.exception()
            if error is not None and len(checks) > 1:  # it may be of one, and not hit the others
                self.under_way += len(checks) - 1
                for check in checks:
                    self._question([check])
                return
            self.under_way -= 1
            for check, decisions in zip(checks, () if error else done.result(), strict=not error):
                if decisions is None:
                    longer.waiting.append(check)
                elif not check[1].done():
                    check[1].set_result(decisions)
            if error is not None and not checks[0][1].done():
                checks[0][1].set_exception(error)
            self._ask()
            longer._ask()

        self.run(self.service.check, requests, self.is_light, self.steps).add_done_callback(finish)

    def run(self, work: Callable[..., Any], *arguments: Any) -> asyncio.Task[Any]:
        """Let a thread of the queue work. Raises SolrUnreachable once Solr does not answer in time.

        The thread goes on then, and is free for other work when Solr has answered.
        """
        return asyncio.create_task(self._run(partial(work, *arguments)))

    async def _run(self, work: Callable[[], Any]) -> Any:
        worker: list[int] = []

        def start() -> Any:
            worker.append(threading.get_ident())
            return work()

        done = asyncio.get_running_loop().run_in_executor(self.pool, start)
        try:
            while not (await asyncio.wait([done], timeout=SILENCE_PAUSE))[0]:
                if self.service.count_silent(worker) if worker else self.is_silent:
                    raise self.service.make_silence()
            return done.result()
        finally:
            if not done.done():
                done.cancel()  # if it has not begun
                done.add_done_callback(_forget)


def _forget(done: asyncio.Future[Any]) -> None:
    """Look at what became of work that nobody waits for, which Python would complain about."""
    if not done.cancelled():
        done.exception()


class Queues:
    """The queues of a service, and what is admitted to them: `at_work` requests at a time.

    A request has at most `size` bytes.
    """

    def __init__(self, service: Service, metrics: Metrics, size: int, at_work: int) -> None:
        self.service, self.metrics, self.size, self.at_work = service, metrics, size, at_work
        make_queue = partial(Queue, service)
        processors = count_cores()
        self.large = make_queue(threads=max(1, min(at_work, processors // 2)))
        many = make_queue(steps=HEAVY, longer=self.large)
        small, medium = make_queue(SMALL, 1, LIGHT, many), make_queue(MEDIUM, TOGETHER, LIGHT, many)
        others = make_queue(MEDIUM, TOGETHER, threads=at_work)
        self.checks, self.others = (small, medium, self.large), (others, self.large)
        # Small requests about documents of the collection, which may be large.
        self.by_id = make_queue(threads=min(at_work, processors))
        self.for_metrics = make_queue()
        self._counted = small, medium, many, others, self.large, self.by_id
        metrics.at_work.set_function(lambda: sum(queue.requests for queue in self._counted))
        self._coming = 0  # bytes of requests that are read

    def close(self) -> None:
        """Let nobody wait any more. What is worked on goes on."""
        for queue in (*self._counted, self.for_metrics):
            queue.pool.shutdown(wait=False, cancel_futures=True)

    @asynccontextmanager
    async def admit(
        self, request: Request, queues: Sequence[Queue]
    ) -> AsyncIterator[tuple[Queue, Json]]:
        """Give the queue of a request, unless too much waits there, and its fields."""
        announced = min(int(request.headers.get("content-length") or 0), self.size)
        coming = announced or self.size
        is_flood = coming > SMALL and self._coming > BODIES * self.size
        self._require_room(_choose_queue(queues, announced), announced, is_flood)
        self._coming += coming
        try:
            body = await read_body(request, self.size)
        finally:
            self._coming -= coming
        fields = load_plain(body) if len(body) <= MEDIUM else None
        queue = self.large if fields is None else _choose_queue(queues, len(body), fields)
        with self.hold(queue, len(body)):
            if fields is None:
                fields = await queue.run(parse_object, body, SEND)
            yield queue, fields

    @contextmanager
    def hold(self, queue: Queue, size: int) -> Iterator[None]:
        """Keep a request of so many bytes in a queue, unless too much waits there."""
        self._require_room(queue, size)
        queue.requests, queue.held = queue.requests + 1, queue.held + size
        try:
            yield
        finally:
            queue.requests, queue.held = queue.requests - 1, queue.held - size

    def _require_room(self, queue: Queue, size: int, is_full: bool = False) -> None:
        if queue.is_silent:
            raise self.service.make_silence()
        most = 1 + WAITING
        is_full |= queue.requests >= most * self.at_work or queue.held + size > most * self.size
        if is_full:
            self.metrics.refused.inc()
            reason = "too many waiting requests"
            raise Failure(429, reason, "try again later", **RETRY_AFTER, code="busy")


def _choose_queue(queues: Sequence[Queue], size: int, fields: Mapping[str, Any] = NOTHING) -> Queue:
    """Choose the first queue for a request of so many bytes and of these fields."""
    documents = fields.get("documents")
    count = len(documents) if isinstance(documents, list) else 1
    return next(queue for queue in queues if size <= queue.size and count <= queue.documents)
