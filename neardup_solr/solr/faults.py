"""The tables of faults in what a Solr answers: the sign of each, its reason, and the next step.

`SolrError.passes` tells when the same request may succeed later. Faults without an answer are in
`connection_faults`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import requests

from neardup_solr import errors
from neardup_solr.errors import Passes, SolrAnswerError, SolrError, SolrHalted
from neardup_solr.regex import regex
from neardup_solr.solr.address import redact
from neardup_solr.solr.connection_faults import (
    PROXY_REFUSES,
    REFUSES_CERTIFICATE,
    SLOW,
    WANTS_CERTIFICATE,
    Fault,
)
from neardup_solr.solr.wording import describe_error, join_messages, list_messages, plain

SAYS = "Solr says: "  # before what an error repeats
NOT_SOLR = "check that this is the address of a Solr server"
LOG = "check Solr's log for the cause"
LOG_AGAIN = "check Solr's log, then run this again"
TOO_LARGE = "too large for this server (HTTP 413)"
# How a page of nginx, which is no JSON, begins.
_OF_PAGE = {
    b"No required SSL certificate": WANTS_CERTIFICATE,
    b"The SSL certificate error": REFUSES_CERTIFICATE,
    b"plain HTTP request was sent to HTTPS": Fault(
        "it uses TLS", "use an https:// address", code="address-invalid"),
    b"413 Request Entity Too Large": Fault(
        TOO_LARGE, "raise its limit (client_max_body_size in nginx)", code="request-too-large"),
}  # fmt: skip
_COME_AGAIN = frozenset({429, 502, 503, 504})  # HTTP statuses
_REFUSED = frozenset({407, 413})  # by Solr or a proxy; of Solr all other 4xx are, too
_OF_JETTY = frozenset({404, 405})  # if no core has the path
# For the POST to such a path that Solr 10 does not know; Jetty says 404 in front of others.
_NO_POST = b"POST is not supported by this URL"
_OF_CLUSTER = frozenset({500, 503, 510})  # 510: no node can answer
# Solr takes nothing more until it is restarted. "Error opening new searcher", with nothing after
# it, is of a commit that could not be written; else too many searchers are being opened.
_HALTED = regex(
    "No space left on device|not enough space on the disk|Disk quota exceeded"
    "|File too large"  # for a limit of the process
    "|Read-only file system|IndexWriter is closed|IndexWriter has been closed"
    "|Server error writing document|Error logging add|^Error opening new searcher$"
)
# These name a document, whose values they repeat: no sign of a fault counts in them.
_OF_DOCUMENT = regex(
    r"ERROR: \[doc=|version conflict|Document contains|Document is missing"
    "|Exception writing document id"
)
KEEPER_AWAY = "ZooKeeper is unavailable"
# How a node begins what it says while it has no ZooKeeper, and what it names as the cause.
_NO_KEEPER = regex("Cannot talk to ZooKeeper|KeeperErrorCode = (Session expired|ConnectionLoss)")
_KEEPER_LOST = regex(r"KeeperException\$(SessionExpired|ConnectionLoss)Exception")
# A query for any value in a field of which nothing tells that: it never succeeds.
_NOT_SEARCHED = regex("FieldExistsQuery requires that the field indexes")
# What a Solr says of its own state while it cannot answer, and then can again.
_OF_STATE = regex(
    "memory is full|heap space|GC overhead|Metaspace|native thread|closed|Too many open files"
    "|Input/output error|No such file|Stale file|[Tt]imed? ?out|[Ii]nterrupted"
)
# Signs of what the nodes of a SolrCloud say while a node is away, or another becomes the leader.
_DISTURBED = regex("|".join((
    KEEPER_AWAY, "Cannot talk to ZooKeeper", "KeeperErrorCode", "Could not find collection in zk",
    "No registered leader was found", "leader from zk", "leader props", "Exception finding leader",
    "information about the leader", "says we are the leader", "says it is coming from",
    "now thinks it is the leader", "No leader replicas available", "No active replicas found",
    "servers hosting shard", "No live SolrServers", "Error trying to proxy request",
    "SolrServerException",  # of a request of a node to another
    "Async exception", "talking to server at", r"java\.net\.", r"java\.nio\.", "EofException",
    "Server refused connection", "Connection refused", "Connection reset", "Timeout occurred",
    "has stalled", "CoreContainer is", "SolrCore is",
)))  # fmt: skip
# Those that name the part that is away; {of} is the collection, `says` what the reason repeats.
_NODE_AWAY = {
    r"servers hosting shard: (?P<shard>[\w.-]+)": "no replica of {shard}{of} answers",
    r"(?P<says>No registered leader was found).*?slice: (?P<shard>[\w.-]+)": (
        "{shard}{of} has no leader"
    ),
    r"(?P<says>Error trying to proxy request for url: \S+)": "no replica{of} answers",
}
_START_NODE = "start its node, then run this again"
_NODES = "check that all nodes are running, then run this again"
# What a header says if a limit of time, memory or hits ended a search early.
_PARTIAL = ("partialResults", "segmentTerminatedEarly", "maxHitsTerminatedEarly")
_ALL = "remove timeAllowed, minExactCount and shards.tolerant from the defaults of its /select"
PARTIAL = Fault("Solr returned only part of the results", _ALL, code="answer-partial")
_NO_HEADER = Fault("the response has no responseHeader with status 0", NOT_SOLR, code="not-solr")
_SHARDS = "check that all shards are running, then run this again"
_WRITABLE = "make the collection writable (MODIFYCOLLECTION with readOnly=false)"
_WITH_SOLR = "give the address with /solr at the end, such as http://host:8983/solr"
_REDIRECT = "use that server if it is your Solr, or give credentials if it is a login page"


def classify(
    response: requests.Response, decoded: Any, url: str, *, embedded: bool
) -> SolrError | None:
    """Return the error for a response with this JSON, or None if it is a whole success."""
    status = response.status_code
    content = decoded if isinstance(decoded, dict) else {}
    if status in (401, 403):
        message = describe_error(content.get("error"), 403) if content else ""
        if "read-only" in message:
            fault = Fault(SAYS + plain(message), _WRITABLE, code="collection-read-only")
            return answer_error(url, status, fault)
        return errors.SolrUnauthorized(url, status)
    if status == 407:
        return answer_error(url, status, PROXY_REFUSES)
    if 300 <= status < 400:
        target = redact(response.headers.get("Location", "nowhere"))
        fault = Fault(f"it redirects to {target}", _REDIRECT, code="not-solr")
        return answer_error(url, status, fault)
    if not isinstance(decoded, dict) or (status in _OF_JETTY and "error" not in decoded):
        return _foreign_error(response, url, embedded=embedded)
    if status != 200 or content.get("error") is not None:
        return _solr_error(url, status, content)
    lack = _partial(content) if is_success(content.get("responseHeader")) else _NO_HEADER
    return lack and answer_error(url, 200, lack)


def answer_error(
    url: str, status: int, fault: Fault, passes: Passes | None = None
) -> SolrAnswerError:
    """The error of an answer. It passes by its HTTP status unless `passes` says more."""
    reason, step, code = fault
    error = SolrAnswerError(url, status, reason, step, code=code)
    is_final = status in _REFUSED or (400 <= status < 500 and is_of_solr(error))
    by_status = Passes.NEVER if is_final else Passes.ONCE_ANSWERED
    by_status = Passes.ALWAYS if status in _COME_AGAIN else by_status
    error.passes = by_status if passes is None else passes
    return error


def _solr_error(url: str, status: int, decoded: Mapping[str, Any]) -> SolrError:
    """The error for what Solr says: of its disk, of its cluster, or of the request."""
    texts = list_messages(decoded.get("error"))
    message = join_messages(texts) or f"HTTP {status}"
    if is_halted(texts):
        return SolrHalted(url, plain(message))
    without_keeper = _is_without_keeper(texts, status, decoded)
    if without_keeper:
        status = 503  # Solr says 400 or 500, too, depending on what it needed ZooKeeper for
    if status in _OF_CLUSTER and (fault := find_cluster_fault(texts, url, without_keeper)):
        return answer_error(url, status, fault, Passes.ALWAYS)
    status = 400 if any(map(_NOT_SEARCHED.search, texts)) else status
    step = LOG
    if url.rstrip("/").endswith("/select"):  # which is refused with 500, too
        step = "check the query" if status == 400 else "check the query, and Solr's log"
    code = "solr-refused" if 400 <= status < 500 else "solr-failed"
    code = "request-too-large" if status == 413 else code
    return answer_error(url, status, Fault(SAYS + plain(message), step, code=code))


def is_halted(texts: Sequence[str]) -> bool:
    """Return True if Solr takes nothing more until it is restarted."""
    return any(map(_HALTED.search, texts)) and not any(map(_OF_DOCUMENT.match, texts))


def find_cluster_fault(
    texts: Sequence[str], url: str, without_keeper: bool = False
) -> Fault | None:
    """The fault if Solr says that its cluster is at fault, and not what it was sent."""
    if any(map(_OF_DOCUMENT.match, texts)):
        return None
    message = join_messages(texts)
    if without_keeper or any(map(_NO_KEEPER.match, texts)):
        reason = f"{KEEPER_AWAY} (Solr says: {plain(message).rstrip('.')})"
        return Fault(reason, "start ZooKeeper, then run this again", code="cluster-disturbed")
    if not _DISTURBED.search(message):
        return None
    name = url.partition("/solr/")[2].partition("/")[0]
    of = f" of {name!r}" if name and name != "admin" else ""
    for sign, reason in _NODE_AWAY.items():
        if match := re.search(sign, message):
            groups = {"says": message, "of": of, **match.groupdict()}
            groups["says"] = plain(groups["says"])
            reason = f"{reason} (Solr says: {{says}})".format(**groups)
            return Fault(reason, _START_NODE, code="cluster-disturbed")
    return Fault(SAYS + plain(message), _NODES, code="cluster-disturbed")


def _is_without_keeper(texts: Sequence[str], status: int, decoded: Mapping[str, Any]) -> bool:
    """Return True if an error comes from a node that does not reach its ZooKeeper."""
    header, error = decoded.get("responseHeader"), decoded.get("error")
    is_fault = status >= 500 and isinstance(header, Mapping) and header.get("zkConnected") is False
    causes = str(error.get("metadata")) if isinstance(error, Mapping) else ""
    return bool(is_fault or _KEEPER_LOST.search(causes) or any(map(_NO_KEEPER.match, texts)))


def _foreign_error(response: requests.Response, url: str, *, embedded: bool) -> SolrError:
    """The error for an answer that no core gave: the core is missing, or it is not a Solr."""
    status = response.status_code
    base, slash, name = url.partition("/solr/")
    is_missing = status == 404 or (status == 405 and _NO_POST in response.content)
    if is_missing and name and not name.startswith("admin/"):
        return errors.CoreMissing(f"{base}/solr", name.partition("/")[0], embedded)
    for sign, fault in _OF_PAGE.items():
        if sign in response.content[:1_000]:
            return answer_error(url, status, fault)
    kind = response.headers.get("Content-Type", "something else").partition(";")[0]
    reason = "the response is damaged JSON, or does not come from Solr"
    if not response.content:
        reason = "the response is empty"
    elif "json" not in kind:
        reason = f"the response is not JSON but {kind}"
    step = NOT_SOLR if slash else _WITH_SOLR
    if status == 200 and kind == "text/html":
        step += ", or give credentials if it is a login page"
    return answer_error(url, status, Fault(f"{reason} (HTTP {status})", step, code="not-solr"))


def _partial(decoded: Mapping[str, Any]) -> Fault | None:
    """The fault of an answer which Solr itself calls a part of the results."""
    if is_partial(decoded["responseHeader"]):
        return PARTIAL
    shards = decoded.get("shards.info", {})
    if not isinstance(shards, dict) or not all(isinstance(each, dict) for each in shards.values()):
        return Fault("its report on the shards is in an unknown format", NOT_SOLR, code="not-solr")
    for failed in (shard["error"] for shard in shards.values() if "error" in shard):
        reason = f"one of its shards failed: {plain(describe_error(failed, 200))}"
        return Fault(reason, _SHARDS, code="cluster-disturbed")
    response = decoded.get("response", {})
    if not isinstance(response, dict):
        return Fault("its response is in an unknown format", NOT_SOLR, code="not-solr")
    is_rough = response.get("numFoundExact") is False
    rough = Fault("Solr did not count the results exactly", _ALL, code="answer-partial")
    return rough if is_rough else None


def is_success(header: Any) -> bool:
    """Return True if a `responseHeader` says that all went well: its status is the number 0."""
    status = header.get("status") if isinstance(header, dict) else None
    return type(status) is int and status == 0


def is_partial(header: Mapping[str, Any]) -> bool:
    """Return True if a `responseHeader` says that Solr stopped before it had seen everything."""
    return any(header.get(sign) for sign in _PARTIAL)


def is_of_solr(error: SolrError) -> bool:
    """Return True if an error is what a Solr has answered."""
    return isinstance(error, SolrHalted) or error.reason.startswith(SAYS)


def may_be_of_query(error: SolrError) -> bool:
    """Return True if the query may be why Solr failed (500), as filters that it cannot read are."""
    is_failure = isinstance(error, SolrAnswerError) and error.status == 500
    if not (is_failure and is_of_solr(error) and error.passes is Passes.ONCE_ANSWERED):
        return False
    is_query = error.url.rstrip("/").endswith(("/select", "/export"))
    return is_query and not _OF_STATE.search(error.reason)


def late(url: str) -> SolrAnswerError:
    """The error of an answer that came when nobody waited for it any more."""
    return answer_error(url, 503, SLOW)
