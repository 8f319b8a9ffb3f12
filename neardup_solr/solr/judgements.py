"""Answers of people as documents of a collection of their own, which a team shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from neardup_solr.answers import Answer, parse_answers
from neardup_solr.errors import SolrAnswerError, SourceError, counted, place
from neardup_solr.solr import query
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import ID, VERSION
from neardup_solr.text.normalize import md5

PATIENCE = 60.0  # seconds for a Solr that is away
ATTEMPTS = 3  # if a Solr loses what it took
OVERLAP = 60_000 << 20  # a minute in versions, as the clocks of two shards may differ
OWN_ID = "one_id"  # of the document that is `id` in a file, as each answer has an id of its own
FIELDS = (OWN_ID, "other_id", "answer", "who", "when", "hash", "other_hash", "ordered")


def read_judgements(collection: Collection, since: int = 0) -> tuple[list[Answer], int]:
    """Read all answers of a collection in the order in which they came, and the newest version.

    With the version of an earlier time, read those that came `since`, and a few that came before.

    Raises SourceError if it has other documents, or one of them is not an answer.
    """
    newer = [f"{VERSION}:[{since - OVERLAP} TO *]"] if since else []
    with collection.session.outages.waited_for(PATIENCE):
        if not since:
            _require_own(collection)
        rows = collection.stored(list(collection.ids(newer)), [*FIELDS, VERSION])
    rows.sort(key=lambda row: int(row[VERSION]))
    newest = int(rows[-1][VERSION]) if rows else since
    return parse_answers(collection.url, b"\n".join(map(_make_line, rows))), newest


def add_judgements(collection: Collection, answers: Sequence[Answer]) -> None:
    """Add answers to a collection, and wait until they are durable.

    Each becomes a document that no other answer overwrites.

    Raises SourceError if the collection has other documents, or refuses an answer.
    """
    outages = collection.session.outages
    made = {document[ID]: document for document in map(_make_document, answers)}
    with outages.waited_for(PATIENCE):
        _require_own(collection)
        for at in range(0, len(made), query.PAGE):
            page = [*made][at : at + query.PAGE]
            for _ in range(ATTEMPTS):
                before = outages.count
                for refused in collection.add([made[id] for id in page]):
                    step = "create another one by neardup init"
                    raise SourceError(collection.url, f"refuses answers ({refused.reason})", step)
                collection.commit_since(before)
                if collection.count(ids=page) == len(page):
                    break
            else:
                step = "see its log, and answer again: nothing is noted twice"
                raise SourceError(collection.url, "loses the answers that it takes", step)


def _require_own(collection: Collection) -> None:
    """Refuse a collection that has documents other than answers, or cannot have answers."""
    apart = f"create one for them: neardup init {place('answers', collection.base)}"
    try:
        others = collection.count(["-answer:[* TO *]"])
    except SolrAnswerError as error:
        if "undefined field" not in error.reason:
            raise
        raise SourceError(collection.url, "has no fields for answers", apart) from None
    if others:
        reason = (
            f"has {counted(others, 'document')} that {'is' if others == 1 else 'are'} no answer"
        )
        raise SourceError(collection.url, reason, apart)


def _make_document(answer: Answer) -> dict[str, Any]:
    """Make the document of an answer, without what is empty. The same answer has the same id."""
    line = answer.to_line()
    row = orjson.loads(line)
    fields = {OWN_ID: row.pop("id"), **row}
    return {ID: md5(line.decode()), **{name: str(one) for name, one in fields.items() if one}}


def _make_line(row: dict[str, Any]) -> bytes:
    """Make the line of a document, whose values may come as lists."""
    own = {name: row.get(name) for name in FIELDS}
    values = {name: one[0] if isinstance(one, list) and one else one for name, one in own.items()}
    is_ordered = values.pop("ordered") == "True"
    return orjson.dumps({"id": values.pop(OWN_ID), **values, "ordered": is_ordered})
