"""Documents that Solr refused, and the versions of those that it took, by answers of /update."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from neardup_solr.errors import SolrAnswerError, SolrHalted
from neardup_solr.solr.faults import (
    NOT_SOLR,
    SAYS,
    TOO_LARGE,
    answer_error,
    find_cluster_fault,
    is_halted,
)
from neardup_solr.solr.wording import join_messages, list_messages

NO_REASON = "Solr gives no reason"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A document that Solr did not take: its id ("(unknown)" if it has none) and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Result of an update request: new versions and refused documents.

    A Solr that keeps no versions gives none. Updates are also `dropped`, as their documents have
    changed or gone since they were read, or `unsure`: another node of the cluster decided on them,
    and its decision is not passed on.
    """

    versions: Mapping[str, int] = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()
    dropped: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()

    def __or__(self, other: Sent) -> Sent:
        return Sent(
            versions={**self.versions, **other.versions},
            refused=self.refused + other.refused,
            dropped=self.dropped | other.dropped,
            unsure=self.unsure | other.unsure,
        )


def parse_refusals(url: str, decoded: Mapping[str, Any]) -> tuple[Refusal, ...]:
    """The documents, or the deletes, that were refused according to an answer of /update.

    Raises SolrAnswerError if the answer is not understood. A tolerant chain blames each document
    for whatever is wrong: if that is a full disk, SolrHalted is raised, and SolrAnswerError with
    the status 503 if a node of the cluster is away.
    """
    refusals = decoded["responseHeader"].get("errors", [])
    if not isinstance(refusals, list) or not all(isinstance(each, dict) for each in refusals):
        reason = "the response has a list of errors in an unknown format"
        raise SolrAnswerError(url, 200, reason, NOT_SOLR, code="not-solr")
    messages = [list_messages(each.get("message")) for each in refusals]
    for texts in messages:
        if is_halted(texts):
            raise SolrHalted(url, join_messages(texts))
    for texts in messages:
        if fault := find_cluster_fault(texts, url):
            raise answer_error(url, 503, fault)
    return tuple(
        Refusal(id=str(each.get("id")), reason=join_messages(texts) or NO_REASON)
        for each, texts in zip(refusals, messages, strict=True)
    )


def refuse_alone(id: str, error: SolrAnswerError) -> Refusal:
    """The refusal of a document that was sent alone: too large (413), or with an error."""
    reason = TOO_LARGE if error.status == 413 else error.reason.removeprefix(SAYS)
    return Refusal(id=id, reason=reason)


def versions_in(decoded: Mapping[str, Any]) -> dict[str, int]:
    """Read the versions of the documents that an answer of /update says were added.

    They are a list [id, version, id, version, …]. Version 0 is that of a document on which another
    node decides.
    """
    adds = decoded.get("adds", [])
    pairs = zip(map(str, adds[::2]), adds[1::2], strict=False) if isinstance(adds, list) else ()
    return {id: version for id, version in pairs if type(version) is int}
