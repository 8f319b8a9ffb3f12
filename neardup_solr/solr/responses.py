"""Validate Solr's responses, and translate failures into our errors by tables of faults.

A response counts if it is JSON with a `responseHeader` whose status is 0. For all others, and for
no response at all, the tables have the sign of each fault, with the reason and the next step that
the user reads. `SolrError.passes` tells when the same request may succeed later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
import requests

from neardup_solr.errors import Passes, SolrAnswerError
from neardup_solr.solr.address import redact
from neardup_solr.solr.connection_faults import Fault
from neardup_solr.solr.faults import LOG_AGAIN, NOT_SOLR, answer_error, classify
from neardup_solr.units import in_bytes
from neardup_solr.variables import read_number

MAX_ANSWER = "NEARDUP_MAX_ANSWER"
_LARGEST = 1 << 30  # bytes: a page of 1,000 documents of a megabyte each
_PIECE = 1 << 20  # bytes
_DECODED = "decoded"


MARK = "neardup"  # the parameter that marks a request
_OF_ANOTHER = Fault(
    "the response belongs to a different request",
    "check the proxy or cache between this machine and Solr",
    code="proxy",
)


def add_mark(params: Mapping[str, Any], mark: str) -> dict[str, Any]:
    """Add a mark to the parameters of a request, which Solr repeats in its answer."""
    return {"echoParams": "explicit", **params, MARK: mark}


def check(
    response: requests.Response,
    url: str,
    *,
    embedded: bool,
    mark: str = "",
    is_repeated: bool = False,
) -> bool:
    """Raise our error for a response that is not a plain success of a Solr, or of another request.

    Returns True if it repeats the `mark` of the request; with `is_repeated` it has to.
    The parsed JSON is kept with the response for `answer`, as large ones take a while to parse.
    """
    decoded = _json(response)
    repeated = _mark_in(decoded) if mark else None
    if repeated not in (None, mark):
        raise answer_error(url, response.status_code, _OF_ANOTHER, Passes.ALWAYS)
    if error := classify(response, decoded, url, embedded=embedded):
        raise error
    if is_repeated and repeated is None:
        raise answer_error(url, 200, _OF_ANOTHER, Passes.ALWAYS)
    vars(response)[_DECODED] = decoded
    return repeated is not None


def _mark_in(decoded: Any) -> str | None:
    """The mark of the request that an answer repeats, None if it repeats none."""
    for name in ("responseHeader", "params", MARK):
        decoded = decoded.get(name) if isinstance(decoded, dict) else None
    return None if decoded is None else str(decoded)


def read_body(response: requests.Response, url: str, most: int) -> None:
    """Read the rest of the body of a response, up to so many bytes.

    Raises SolrAnswerError if it is larger, errors of requests if it breaks off.
    """
    pieces, size = [], 0
    for piece in response.iter_content(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            response.close()
            step = f"if this is expected, raise the limit, for example ${MAX_ANSWER}=4G"
            fault = Fault(
                f"the response has more than {most:,} bytes", step, code="answer-too-large"
            )
            raise answer_error(url, response.status_code, fault)
    vars(response)["_content"] = b"".join(pieces)


def largest(usual: int = _LARGEST) -> int:
    """The bytes that an answer may have. An export, which is not held as a whole, may have more.

    $NEARDUP_MAX_ANSWER says how many; raises ArgumentError if that is no size.
    """
    return read_number(MAX_ANSWER, usual, "set it to a size such as 512M or 4G", in_bytes)


def _json(response: requests.Response) -> Any:
    try:
        return orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return None


def answer(response: requests.Response, needed: Mapping[str, type] | None = None) -> dict[str, Any]:
    """The JSON object of a response that a `CheckedSession` let through.

    `needed` are the types of the parts that it must have, by paths such as "response.docs".
    Raises SolrAnswerError if a part is missing.
    """
    decoded: dict[str, Any] = vars(response)[_DECODED]
    require_parts(decoded, needed or {}, redact(str(response.url)))
    return decoded


def require_parts(decoded: Mapping[str, Any], needed: Mapping[str, type], url: str) -> None:
    """Refuse an answer without these parts of these types. See `answer`."""
    for path, kind in needed.items():
        part: Any = decoded
        for name in path.split("."):
            part = part.get(name) if isinstance(part, dict) else None
        if type(part) is not kind:  # as True is a number to Python, but not here
            reason = f"the response has no {path}"
            raise SolrAnswerError(url, 200, reason, NOT_SOLR, code="not-solr")


def require_page(decoded: Mapping[str, Any], request: Mapping[str, Any], url: str) -> None:
    """Refuse a page of documents with more or fewer of them than it counts and the request wants.

    `decoded` has `response.docs` and `response.numFound`; `request` has a `limit`, and an `offset`
    unless that is 0.
    """
    docs, total = decoded["response"]["docs"], decoded["response"]["numFound"]
    due = max(0, min(request["limit"], total - request.get("offset", 0)))
    if len(docs) != due:
        reason = f"the response has {len(docs):,} documents instead of {due:,}"
        raise SolrAnswerError(url, 200, reason, LOG_AGAIN, code="answer-partial")
    require_rows(docs, {}, url)


def require_asked(
    documents: Iterable[Mapping[str, Any]], ids: Iterable[str], key: str, url: str
) -> None:
    """Refuse documents of other ids than those that were asked for.

    A key that is no text may be written in several ways, so its values are not compared.
    """
    wanted = {*ids}
    keys = (document[key] for document in documents)
    if any(isinstance(id, str) and id not in wanted for id in keys):
        raise answer_error(url, 200, _OF_ANOTHER, Passes.ALWAYS)


def require_rows(
    rows: Iterable[Any], needed: Mapping[str, type | tuple[type, ...]], url: str
) -> None:
    """Refuse rows of an answer that are not all objects with these parts of these types."""
    for row in rows:
        if not isinstance(row, dict):
            raise SolrAnswerError(url, 200, "a row is not an object", NOT_SOLR, code="not-solr")
        for name, kind in needed.items():
            if row.get(name) is None or not isinstance(row[name], kind):
                raise SolrAnswerError(url, 200, f"a row has no {name}", NOT_SOLR, code="not-solr")


def require_single(rows: Sequence[Any], names: Iterable[str], url: str) -> None:
    """Refuse rows whose first one has a list where a single value is due, as of some proxies."""
    for name in names if rows else ():
        if isinstance(rows[0], dict) and type(rows[0].get(name)) is list:
            reason = f"a row has a list in {name}, which has a single value"
            step = "check the schema, and the proxy between this machine and Solr"
            raise SolrAnswerError(url, 200, reason, step, code="not-solr")


def require_once(documents: Sequence[Any], key: str, url: str) -> None:
    """Raise SolrAnswerError if a document lacks its key or appears twice."""
    require_rows(documents, {key: object}, url)
    if len({str(document[key]) for document in documents}) < len(documents):
        reason = "the response contains a document twice"
        raise SolrAnswerError(url, 200, reason, LOG_AGAIN, code="answer-partial")
