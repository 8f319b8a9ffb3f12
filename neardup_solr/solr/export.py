"""Whole columns of a collection by Solr's /export, block by block, complete or refused.

/export answers for one shard only and reports errors inside a success. So all shards are asked at
once, and the documents that came are counted against the number that each shard announced.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from queue import Empty, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import orjson

from neardup_solr.errors import SolrAnswerError
from neardup_solr.solr.answers import NOT_SOLR

if TYPE_CHECKING:
    from neardup_solr.solr.session import CheckedSession

Block = list[dict[str, Any]]

# Solr puts each document on lines of its own, and no string of JSON holds a bare line break.
_BETWEEN = b"},{\n"
_BLOCK = 1 << 23  # bytes
_AHEAD = 2  # blocks of each shard that wait to be used
_PAUSE = 0.05  # seconds


def blocks(
    session: CheckedSession, shards: Sequence[str], params: dict[str, str]
) -> Iterator[Block]:
    """The documents of all shards, given by their addresses, in blocks of some thousands.

    The blocks of one shard are in the order of the export's sort, read ahead of their use.
    Raises SolrAnswerError if an export broke off.
    """
    with closing(_Readers([_of_shard(session, shard, params) for shard in shards])) as readers:
        yield from readers.blocks()


def _of_shard(session: CheckedSession, shard: str, params: dict[str, str]) -> Iterator[Block]:
    count, found = 0, 0
    with closing(_parts(session.pieces(f"{shard}/export", params))) as parts:
        for part in parts:
            try:
                answer = orjson.loads(part)
            except orjson.JSONDecodeError:
                raise _broke_off(shard, count, found) if count else _not_solr(shard) from None
            if isinstance(answer, dict):
                found = max(found, _announced(answer, shard))
                answer = answer["response"]["docs"]
            count += len(answer)
            if answer and "EXCEPTION" in answer[-1]:
                raise _broke_off(shard, count - 1, found)
            yield answer
    if count != found:
        raise _broke_off(shard, count, found)


def _announced(answer: dict[str, Any], shard: str) -> int:
    """How many documents an answer announces; 0 for the last part, which announces none."""
    response = answer.get("response")
    if not isinstance(response, dict) or not isinstance(response.get("docs"), list):
        raise _not_solr(shard)
    return int(response.get("numFound", 0))


def _parts(pieces: Iterator[bytes]) -> Generator[bytes, None, None]:
    """The answer cut between documents, each part completed to JSON of its own.

    The first and the last are objects like the whole answer, those between are lists.
    """
    opening, held, size = b"", [], 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size < _BLOCK:
            continue
        joined = b"".join(held)
        cut = joined.rfind(_BETWEEN)
        if cut >= 0:
            yield opening + joined[:cut] + (b"}]" if opening else b"}]}}")
            opening, joined = b"[{", joined[cut + len(_BETWEEN) :]
        held, size = [joined], len(joined)
    rest = b"".join(held)
    yield b'{"response":{"docs":[{' + rest if opening else rest


def _broke_off(shard: str, count: int, found: int) -> SolrAnswerError:
    reason = f"the export broke off after {count:,} of {found:,} documents"
    return SolrAnswerError(shard, 200, reason, "look into Solr's log, then run it again")


def _not_solr(shard: str) -> SolrAnswerError:
    return SolrAnswerError(shard, 200, "the answer is not an export of Solr", NOT_SOLR)


class _Readers:
    """Threads that each read one shard some blocks ahead."""

    def __init__(self, sources: Sequence[Iterator[Block]]) -> None:
        self._queue: Queue[Block | BaseException | None] = Queue(_AHEAD * len(sources))
        self._stopped = Event()
        self._threads = [
            Thread(target=self._read, args=[source], daemon=True) for source in sources
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, source: Iterable[Block]) -> None:
        try:
            for block in source:
                if self._stopped.is_set():
                    return
                self._queue.put(block)
            self._queue.put(None)
        except BaseException as error:
            self._queue.put(error)

    def blocks(self) -> Iterator[Block]:
        """The blocks of all shards as they come; the first error ends them."""
        open_ones = len(self._threads)
        while open_ones:
            got = self._queue.get()
            if isinstance(got, BaseException):
                raise got
            if got is None:
                open_ones -= 1
            else:
                yield got

    def close(self) -> None:
        """Let the threads end: each stops at its next block."""
        self._stopped.set()
        for thread in self._threads:
            while thread.is_alive():
                with suppress(Empty):  # a full queue would hold the thread
                    self._queue.get(timeout=_PAUSE)
