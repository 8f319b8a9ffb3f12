"""Documents that Solr does not take: what its tolerant chain says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from neardup_solr.edges.http.answers import NOT_SOLR
from neardup_solr.pure.errors import SolrAnswerError

TOO_LARGE = "too large for this server (HTTP 413)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A document that Solr did not take: its id ("(unknown)" where it has none) and why."""

    id: str
    reason: str


def refused_by(url: str, decoded: Mapping[str, Any]) -> tuple[Refusal, ...]:
    """The documents that an answer of /update says were refused, or the deletes.

    Raises SolrAnswerError where what it says is not understood.
    """
    errors = decoded["responseHeader"].get("errors", [])
    if not isinstance(errors, list) or not all(isinstance(each, dict) for each in errors):
        reason = "the answer has a list of errors that is not understood"
        raise SolrAnswerError(url, 200, reason, NOT_SOLR)
    return tuple(
        Refusal(id=str(each.get("id")), reason=_first_line(each.get("message"))) for each in errors
    )


def too_large(document: bytes | Mapping[str, Any]) -> Refusal:
    """The refusal of a document that is too large for the server on its own."""
    named = orjson.loads(document) if isinstance(document, bytes) else document
    return Refusal(id=str(named.get("id")), reason=TOO_LARGE)


def _first_line(message: Any) -> str:
    return str(message).strip().partition("\n")[0]
