"""Whole columns of a collection by Solr's /export, block by block, complete or refused.

/export answers for a single shard only, by a single thread, and reports errors inside a success. So
all shards are asked at once, or a single shard for parts of its documents, and all documents are
counted against the number that each answer announced.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import islice
from operator import itemgetter, lt
from queue import Empty, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import orjson

from neardup_solr.errors import Passes, SolrAnswerError, SolrError
from neardup_solr.sizes import SIZES
from neardup_solr.solr.faults import LOG_AGAIN, NOT_SOLR, is_partial, is_success
from neardup_solr.solr.wording import plain

if TYPE_CHECKING:
    from neardup_solr.solr.session import CheckedSession

Block = list[dict[str, Any]]
Params = Mapping[str, str | Sequence[str]]

# Solr begins a new line for each document, and no string of JSON holds a bare line break.
_BETWEEN = b"},{\n"
_AHEAD = 2  # blocks of each shard, or of a part of it, that wait to be used
_PAUSE = 0.05  # seconds
_LACKS_DOC_VALUES = "must have DocValues"  # of Solr about a field, as all versions say it


def blocks(
    session: CheckedSession, shards: Sequence[str], params: Params, *, parts: int = 1
) -> Iterator[Block]:
    """The documents of all shards, by their addresses, in blocks of some thousands.

    A single shard is asked for so many `parts` of its documents at the same time. Its blocks are
    in the order of the export's sort, read ahead of their use; the sort is by the key of the
    documents, which tells if a document comes twice.
    Raises SolrAnswerError if an export broke off, or is not what Solr would write.
    """
    key = str(params["sort"]).partition(" ")[0]

    def of(shard: str, wanted: Params) -> Iterator[Block]:
        return _of_shard(session, shard, wanted, key)

    # A session of the user may have a single connection, for which the parts would wait.
    if len(shards) == 1 and parts > 1 and session.carrier is None:
        sources = [of(shards[0], _part(params, key, part, parts)) for part in range(parts)]
        with ExitStack() as ending:
            ahead = [ending.enter_context(_read_ahead(source)) for source in sources]
            yield from _in_order(ahead, key, shards[0])
        return
    with _read_ahead(*(of(shard, params) for shard in shards)) as read:
        yield from read if len(shards) == 1 else _once(read, key, shards[0])


def _part(params: Params, key: str, part: int, parts: int) -> Params:
    """Ask for a part of the documents: those whose keys have the same remainder of hashes."""
    chosen = f"{{!hash workers={parts} worker={part} cache=false}}"
    filters = params.get("fq", ())
    filters = [filters] if isinstance(filters, str) else [*filters]
    return {**params, "fq": [*filters, chosen], "partitionKeys": key}


def _in_order(parts: Sequence[Iterator[Block]], key: str, shard: str) -> Iterator[Block]:
    """The documents of all parts, each in the order of its keys, in that order."""
    by_key = itemgetter(key)
    before: Block = []  # the document before, if any
    rest: list[tuple[Iterator[Block], Block]] = [(part, []) for part in parts]
    while True:
        read = [(part, block or next(filter(None, part), [])) for part, block in rest]
        waiting = [(part, block) for part, block in read if block]
        if not waiting:
            return
        last = min(by_key(block[-1]) for _, block in waiting)
        cuts = [bisect_right(block, last, key=by_key) for _, block in waiting]
        ready = [doc for (_, block), cut in zip(waiting, cuts, strict=True) for doc in block[:cut]]
        merged = sorted(ready, key=by_key)
        _require_order(before + merged, key, shard)
        before = merged[-1:]
        yield merged
        rest = [(part, block[cut:]) for (part, block), cut in zip(waiting, cuts, strict=True)]


def _of_shard(session: CheckedSession, shard: str, params: Params, key: str) -> Iterator[Block]:
    """The documents of a shard: an export that breaks off is requested again, and gone on with.

    What came before is passed over then, by its keys.
    """
    came: Block = []  # the last document that came, if any
    answers: list[Iterator[Block]] = []  # the answer that is read, if any

    def following(deadline: float) -> Block | None:
        if not answers:
            answers.append(_read_answer(session, shard, params, key, deadline))
        try:
            for block in answers[0]:
                if came and block and block[0][key] <= came[0][key]:
                    block = block[bisect_right(block, came[0][key], key=itemgetter(key)) :]
                if block:
                    return block
        except SolrError:
            answers.clear()
            raise
        return None

    while block := session.lasting(following):
        came = block[-1:]
        yield block


def _read_answer(
    session: CheckedSession, shard: str, params: Params, key: str, deadline: float
) -> Iterator[Block]:
    """The documents of an answer, which are as many as it announces."""
    count = total = 0
    last: Block = []  # the document before, if any
    with closing(_parts(session.pieces(f"{shard}/export", params, deadline))) as parts:
        for number, part in enumerate(parts):
            try:
                answer = orjson.loads(part)
            except orjson.JSONDecodeError:
                raise _broke_off(shard, count, total) if number else _not_solr(shard) from None
            response: Any = answer.get("response") if isinstance(answer, dict) else None
            documents = response.get("docs") if isinstance(response, dict) else None
            if number == 0 and documents is not None:
                total = response.get("numFound")
            if not isinstance(documents, list) or type(total) is not int:
                raise _not_solr(shard)
            if not all(isinstance(document, dict) for document in documents):
                raise _not_solr(shard)
            if documents and "EXCEPTION" in documents[-1]:
                cause = f": {plain(str(documents[-1]['EXCEPTION']))}"
                if _LACKS_DOC_VALUES in cause:
                    raise _refuse_export(shard, cause)
                raise _broke_off(shard, count + len(documents) - 1, total, cause)
            header = answer.get("responseHeader")
            if number == 0 and not is_success(header):
                raise _not_solr(shard)
            if number == 0 and is_partial(header):
                reason = "Solr sent only part of the export"
                raise SolrAnswerError(shard, 200, reason, LOG_AGAIN, code="answer-partial")
            count += len(documents)
            _require_order(last + documents, key, shard)
            last = documents[-1:] or last
            yield documents
    if count != total:
        raise _broke_off(shard, count, total)


def _require_order(documents: Block, key: str, shard: str) -> None:
    """Refuse documents that are not in the order of their keys, or of which some come twice."""
    keys: list[Any] = [document.get(key) for document in documents]
    if not any(set(map(type, keys)) <= {kind} for kind in (str, int)):
        raise _not_solr(shard)
    if not all(map(lt, keys, islice(keys, 1, None))):
        reason = "the export contains a document twice, or its documents are out of order"
        raise SolrAnswerError(shard, 200, reason, LOG_AGAIN, code="answer-partial")


def _once(blocks: Iterator[Block], key: str, shard: str) -> Iterator[Block]:
    """Pass on the blocks of several shards. Refuse a document of two shards at the end."""
    import numpy as np

    hashes = []
    for block in blocks:
        hashes.append(np.fromiter((hash(doc[key]) for doc in block), np.int64, len(block)))
        yield block
    in_order = np.sort(np.concatenate(hashes)) if hashes else np.empty(0, np.int64)
    if count := int(np.count_nonzero(in_order[1:] == in_order[:-1])):
        reason = f"two shards contain documents with the same id ({count:,} ids)"
        step = "delete them by query, then index them again"
        raise SolrAnswerError(shard, 200, reason, step, code="id-repeated")


def _parts(pieces: Iterator[bytes]) -> Generator[bytes, None, None]:
    """The answer cut between documents, each part completed to JSON like that of the whole."""
    opening, held, size = b"", [], 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size < SIZES.export_block:
            continue
        joined = b"".join(held)
        cut = joined.rfind(_BETWEEN)
        if cut < 0 and len(joined) > SIZES.export_document:
            yield b""  # which is no JSON, and so refused
            return
        if cut >= 0:
            yield opening + joined[:cut] + b"}]}}"
            opening, joined = b'{"response":{"docs":[{', joined[cut + len(_BETWEEN) :]
        held, size = [joined], len(joined)
    yield opening + b"".join(held)


def _broke_off(shard: str, count: int, total: int, cause: str = "") -> SolrAnswerError:
    reason = f"the export stopped after {count:,} of {total:,} documents{cause}"
    return SolrAnswerError(shard, 200, reason, LOG_AGAIN, code="answer-partial")


def _refuse_export(shard: str, cause: str) -> SolrAnswerError:
    """Make the error for a field that cannot be exported, however often that is tried."""
    reason = f"the collection cannot be exported{cause.rstrip('.')}"
    step = "give the field docValues in the schema, and index the documents anew (see neardup lint)"
    error = SolrAnswerError(shard, 200, reason, step, code="collection-unfit")
    error.passes = Passes.NEVER
    return error


def _not_solr(shard: str) -> SolrAnswerError:
    reason = "the response is not a Solr export"
    return SolrAnswerError(shard, 200, reason, NOT_SOLR, code="not-solr")


@contextmanager
def _read_ahead(*sources: Iterator[Block]) -> Iterator[Iterator[Block]]:
    """Read sources by a thread each, some blocks ahead, and yield their blocks as they come.

    The first error ends them. With the block the threads end, too: each at its next block.
    """
    came: Queue[Block | BaseException | None] = Queue(_AHEAD * len(sources))
    stopped = Event()

    def read(source: Iterator[Block]) -> None:
        try:
            for block in source:
                if stopped.is_set():
                    return
                came.put(block)
            came.put(None)
        except BaseException as error:
            came.put(error)

    def blocks() -> Iterator[Block]:
        unfinished = len(sources)
        while unfinished:
            item = came.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                unfinished -= 1
            else:
                yield item

    threads = [Thread(target=read, args=[source], daemon=True) for source in sources]
    for thread in threads:
        thread.start()
    try:
        yield blocks()
    finally:
        stopped.set()
        for thread in threads:
            while thread.is_alive():
                with suppress(Empty):  # a full queue would hold the thread
                    came.get(timeout=_PAUSE)
