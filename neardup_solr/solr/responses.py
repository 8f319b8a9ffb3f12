"""Answers of Solr that count, and the errors for all others, or for no answer at all.

An answer has to be JSON with a `responseHeader` whose status is 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import orjson
import requests

from neardup_solr.arguments import in_bytes
from neardup_solr.errors import (
    ArgumentError,
    CoreMissing,
    SettingsError,
    SolrAnswerError,
    SolrError,
    SolrHalted,
    SolrUnauthorized,
)

NOT_SOLR = "check that this is the address of a Solr"
LOG = "look into Solr's log for the cause"
NODES = "see that all nodes run, then run it again"
LOG_AGAIN = "look into Solr's log, then run it again"
_DECODED = "decoded"
MAX_ANSWER = "NEARDUP_MAX_ANSWER"
_LARGEST = 1 << 30  # bytes: a page of 1,000 documents of a megabyte each
_LARGER = f"if it is right, allow more, such as ${MAX_ANSWER}=4G"
_PIECE = 1 << 20  # bytes
_READ_ONLY = "read-only"
_WRITABLE = "make the collection writable (MODIFYCOLLECTION with readOnly=false)"
_UNFINISHED = "give the address with /solr at its end, such as http://host:8983/solr"
SAYS = "Solr says: "  # before what an error repeats
KEEPER_AWAY = "ZooKeeper is away"
# How a node begins what it says while it has no ZooKeeper, and what it names as the cause.
_NO_KEEPER = (
    "Cannot talk to ZooKeeper",
    "KeeperErrorCode = Session expired",
    "KeeperErrorCode = ConnectionLoss",
)
_KEEPER_LOST = (
    "org.apache.zookeeper.KeeperException$SessionExpiredException",
    "org.apache.zookeeper.KeeperException$ConnectionLossException",
)
# What a node says of nodes that are away, and why Solr cannot do it then.
_OUTAGES = {
    r"(?s)(?P<said>.*servers hosting shard: (?P<shard>[\w.-]+).*)": (
        "no replica of {shard}{of} answers"
    ),
    r"(?s)(?P<said>No registered leader was found).*?slice: (?P<shard>[\w.-]+)": (
        "{shard}{of} has no leader"
    ),
    r"(?P<said>Error trying to proxy request for url: \S+)": "no replica{of} answers",
}
_AGAIN = ", then run it again"
# What the nodes of a SolrCloud say while one of them is away, or another becomes the leader.
_DISTURBED = (
    KEEPER_AWAY,
    "No registered leader was found",
    "leader from zk",
    "leader props",
    "Exception finding leader",
    "information about the leader",
    "says we are the leader",
    "says it is coming from",
    "now thinks it is the leader",
    "No leader replicas available",
    "No active replicas found",
    "Could not find collection in zk",
    "Cannot talk to ZooKeeper",
    "KeeperErrorCode",
    "Async exception",
    "talking to server at",
    "SolrServerException",  # of what a node asks of another one
    "java.net.",
    "java.nio.",
    "EofException",
    "Server refused connection",
    "Connection refused",
    "Connection reset",
    "Timeout occurred",
    "has stalled",
    "servers hosting shard",
    "No live SolrServers",
    "Error trying to proxy request",
    "CoreContainer is",
    "SolrCore is",
)
# These name a document, whose values they repeat.
_OF_DOCUMENT = (
    "ERROR: [doc=",
    "version conflict",
    "Document contains",
    "Document is missing",
    "Exception writing document id",
)
_HALTED = (
    "No space left on device",
    "not enough space on the disk",
    "Disk quota exceeded",
    "File too large",  # for a limit of the process
    "Read-only file system",
    "IndexWriter is closed",
    "IndexWriter has been closed",
    "Server error writing document",
)
# A commit that could not be written; if more follows, too many searchers are being opened.
_NO_SEARCHER = "Error opening new searcher"
# What a header says if a limit of time, memory or hits ended a search early.
_PARTIAL = ("partialResults", "segmentTerminatedEarly", "maxHitsTerminatedEarly")
_ALL = "take limits such as timeAllowed and minExactCount out of the defaults of its /select"
TOO_LARGE = "too large for this server (HTTP 413)"
PROXY_REFUSES = "the proxy on the way refuses these credentials (HTTP 407)"
PROXY_ASKS = PROXY_REFUSES.replace("407", "401")  # as tinyproxy says of a wrong password
PROXY_NEXT = "give them in the proxy's address as http://user:password@proxy:3128"
PROXY_SHUT = "the proxy on the way does not connect to it"
PROXY_AWAY = "the proxy on the way does not answer"
_PROXY = "Unable to connect to proxy"
_TUNNEL = "Tunnel connection failed"  # the proxy answers, but does not connect
_TRUST = "name the file of its own CA with `ca` or $REQUESTS_CA_BUNDLE"
WANTS_CERTIFICATE = "it asks for a client certificate"
REFUSES_CERTIFICATE = "it refuses the client certificate"
REFUSES_TLS = "it refuses the TLS handshake (does it ask for a client certificate?)"
_NAME_ONE = "name a PEM file of one and its key with `cert` or $NEARDUP_SOLR_CERT"
_NAME_VALID = _NAME_ONE.replace("one", "one that it trusts and that has not expired,", 1)
CUT_OFF = "it closed the connection in the middle of its answer"
_CAUSES = {
    "Connection refused": "nothing listens there (connection refused)",
    "Name or service not known": "the host name is not known",
    "nodename nor servname": "the host name is not known",
    "getaddrinfo failed": "the host name is not known",
    "Temporary failure in name resolution": "the host name cannot be looked up",
    "Hostname mismatch": "its TLS certificate is one of another host",
    "IP address mismatch": "its TLS certificate is one of another host",
    "certificate has expired": "its TLS certificate has expired",
    "CERTIFICATE_VERIFY_FAILED": "its TLS certificate is not trusted",
    "WRONG_VERSION_NUMBER": "it does not speak TLS (is it an http:// address?)",
    "RECORD_LAYER_FAILURE": "it does not speak TLS (is it an http:// address?)",
    "CERTIFICATE_REQUIRED": WANTS_CERTIFICATE,
    "ALERT_HANDSHAKE_FAILURE": REFUSES_TLS,
    "ALERT_CERTIFICATE_": REFUSES_CERTIFICATE,
    "ALERT_UNKNOWN_CA": REFUSES_CERTIFICATE,
    "ALERT_BAD_CERTIFICATE": REFUSES_CERTIFICATE,
    "NO_CERTIFICATE_OR_CRL_FOUND": "the file of the CA holds no certificate",
    f"{_TUNNEL}: 407": PROXY_REFUSES,
    f"{_TUNNEL}: 401": PROXY_ASKS,
    _TUNNEL: PROXY_SHUT,
    "EOF occurred in violation": "it closed the connection without an answer",
    "Remote end closed": "it closed the connection without an answer",
    "Connection reset": "it reset the connection",
    "IncompleteRead": CUT_OFF,
}
# What to do about a cause; nothing if the server probably just does not run.
REMEDIES = {
    "its TLS certificate is not trusted": _TRUST,
    "the file of the CA holds no certificate": _TRUST,
    "its TLS certificate is one of another host": "give the host by the name it is made out to",
    "its TLS certificate has expired": "renew it on that server",
    WANTS_CERTIFICATE: _NAME_ONE,
    REFUSES_CERTIFICATE: _NAME_VALID,
    REFUSES_TLS: _NAME_ONE,
    PROXY_REFUSES: PROXY_NEXT,
    PROXY_ASKS: PROXY_NEXT,
    PROXY_SHUT: "see that it runs, and that the proxy allows this host and port",
    PROXY_AWAY: "check the proxy that is set (`proxy`, $HTTPS_PROXY or $HTTP_PROXY), or name the"
    " host in $NO_PROXY",
}


# How a page of nginx, which is no JSON, begins to say what is wrong.
_PAGES = {
    b"No required SSL certificate": (WANTS_CERTIFICATE, _NAME_ONE),
    b"The SSL certificate error": (REFUSES_CERTIFICATE, _NAME_VALID),
    b"plain HTTP request was sent to HTTPS": ("it speaks TLS", "give an https:// address"),
    b"413 Request Entity Too Large": (TOO_LARGE, "raise its limit (client_max_body_size of nginx)"),
}


def redact(address: str) -> str:
    """An address without user, password, query and fragment."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def check(response: requests.Response, url: str, *, embedded: bool) -> None:
    """Raise our error for a response that is not a plain success of a Solr.

    The parsed JSON is kept with the response for `answer`, as large ones take a while to parse.
    """
    status = response.status_code
    if status in (401, 403):
        raise _access_error(response, url)
    if status == 407:
        raise SolrAnswerError(url, status, PROXY_REFUSES, PROXY_NEXT)
    if 300 <= status < 400:
        target = redact(response.headers.get("Location", "nowhere"))
        reason = f"it redirects to {target}"
        step = "give that address if it is your Solr, or credentials if it is a page to log in"
        raise SolrAnswerError(url, status, reason, step)
    decoded = _json(response)
    if not isinstance(decoded, dict) or (status == 404 and "error" not in decoded):
        raise _nobody(response, url, embedded=embedded)
    header, error = decoded.get("responseHeader"), decoded.get("error")
    if status != 200 or error is not None:
        raise _answer_error(url, status, header, error, embedded=embedded)
    if not is_success(header):
        reason = "the answer has no responseHeader with status 0"
        raise SolrAnswerError(url, status, reason, NOT_SOLR)
    _require_whole(decoded, url)
    vars(response)[_DECODED] = decoded


def _answer_error(url: str, status: int, header: Any, error: Any, *, embedded: bool) -> SolrError:
    """The error for what Solr says, with what a cluster that is at fault needs."""
    if is_halted(said := _message(error, status)):
        return SolrHalted(url, said)
    without_keeper = is_without_keeper(said, status, header, error)
    if without_keeper:
        status = 503  # Solr says 400 or 500, too, depending on what it needed ZooKeeper for
    if status in (500, 503, 510) and not said.startswith(_OF_DOCUMENT):
        if told := explain_outage(said, url, without_keeper=without_keeper, embedded=embedded):
            return SolrAnswerError(url, status, *told)
        if is_disturbed(said):
            return SolrAnswerError(url, status, SAYS + said, NODES)
    is_query = status == 400 and url.rstrip("/").endswith("/select")
    return SolrAnswerError(url, status, SAYS + said, "check the query" if is_query else LOG)


def explain_outage(
    said: str, url: str, *, without_keeper: bool = False, embedded: bool = False
) -> tuple[str, str] | None:
    """Say why Solr cannot do it, and what it said, and the next step. None if it is unknown.

    `without_keeper` tells that the node does not reach its ZooKeeper.
    """
    start = "start it with: neardup solr start" if embedded else ""
    if without_keeper or is_without_keeper(said):
        return f"{KEEPER_AWAY} (Solr says: {said.rstrip('.')})", (start or "start it") + _AGAIN
    name = url.partition("/solr/")[2].partition("/")[0]
    of = f" of {name!r}" if name and name != "admin" else ""
    for pattern, reason in _OUTAGES.items():
        if found := re.search(pattern, said):
            why = f"{reason.format(of=of, **found.groupdict())} (Solr says: {found['said']})"
            return why, (start or "start its node") + _AGAIN
    return None


def is_without_keeper(said: str, status: int = 0, header: Any = None, error: Any = None) -> bool:
    """Return True if an error comes from a node that does not reach its ZooKeeper.

    Solr's words are looked at, and in an answer its `responseHeader` and its `error`.
    """
    is_fault = status >= 500 and isinstance(header, Mapping) and header.get("zkConnected") is False
    causes = str(error.get("metadata")) if isinstance(error, Mapping) else ""
    is_cause = any(sign in causes for sign in _KEEPER_LOST)
    return is_fault or is_cause or said.startswith(_NO_KEEPER)


def is_success(header: Any) -> bool:
    """Return True if a `responseHeader` says that all went well: its status is the number 0."""
    status = header.get("status") if isinstance(header, dict) else None
    return type(status) is int and status == 0


def is_partial(header: Mapping[str, Any]) -> bool:
    """Return True if a `responseHeader` says that Solr stopped before it had found everything."""
    return any(header.get(sign) for sign in _PARTIAL)


def _require_whole(decoded: Mapping[str, Any], url: str) -> None:
    """Refuse an answer which Solr itself calls a part of what there is."""
    if is_partial(decoded["responseHeader"]):
        raise SolrAnswerError(url, 200, "Solr gave only a part of the results", _ALL)
    shards = decoded.get("shards.info", {})
    if not isinstance(shards, dict) or not all(isinstance(one, dict) for one in shards.values()):
        raise SolrAnswerError(url, 200, "what it says of its shards is not understood", NOT_SOLR)
    for one in shards.values():
        if "error" in one:
            said = f"a shard of it failed: {_message(one['error'], 200)}"
            raise SolrAnswerError(url, 200, said, "see that all shards run, then run it again")
    response = decoded.get("response", {})
    if not isinstance(response, dict):
        raise SolrAnswerError(url, 200, "its response is not understood", NOT_SOLR)
    if response.get("numFoundExact") is False:
        raise SolrAnswerError(url, 200, "Solr counted the results only roughly", _ALL)


def is_refusal(error: SolrAnswerError) -> bool:
    """Return True if Solr or a proxy has refused the request, and would do so again."""
    if error.status in (407, 413):
        return True
    return is_of_solr(error) and 400 <= error.status < 500 and error.status != 429


def is_of_solr(error: SolrError) -> bool:
    """Return True if an error is what a Solr has answered."""
    return isinstance(error, SolrHalted) or error.reason.startswith(SAYS)


def is_of_cluster(error: SolrAnswerError) -> bool:
    """Return True if an answer tells of a cluster that is at fault (510: nobody can be asked)."""
    return error.status in (500, 503, 510) and is_disturbed(error.reason)


def is_disturbed(message: str) -> bool:
    """Return True if Solr says that the cluster is at fault, not what it was sent: it passes."""
    message = message.removeprefix(SAYS)
    return not message.startswith(_OF_DOCUMENT) and any(sign in message for sign in _DISTURBED)


def is_halted(message: str) -> bool:
    """Return True if Solr says that it can write nothing more until it is restarted."""
    return message == _NO_SEARCHER or any(sign in message for sign in _HALTED)


def _access_error(response: requests.Response, url: str) -> SolrError:
    """The error for what is not allowed, with these credentials or at all."""
    decoded = _json(response)
    said = _message(decoded.get("error"), 403) if isinstance(decoded, dict) else ""
    if _READ_ONLY in said:
        return SolrAnswerError(url, response.status_code, SAYS + said, _WRITABLE)
    return SolrUnauthorized(url, response.status_code)


def read_body(response: requests.Response, url: str) -> None:
    """Read the body of a response that is still to come, up to the largest answer there may be.

    Raises SolrAnswerError if it is larger, errors of requests if it breaks off.
    """
    most, held, size = largest(), [], 0
    for piece in response.iter_content(_PIECE):
        held.append(piece)
        size += len(piece)
        if size > most:
            response.close()
            reason = f"the answer has more than {most:,} bytes"
            raise SolrAnswerError(url, response.status_code, reason, _LARGER)
    vars(response)["_content"] = b"".join(held)


def largest() -> int:
    """The bytes that one answer may have. An export, which is not held as a whole, may have more.

    $NEARDUP_MAX_ANSWER says how many; raises SettingsError if that is no size.
    """
    named = os.environ.get(MAX_ANSWER)
    try:
        return in_bytes(named) if named else _LARGEST
    except ArgumentError as error:
        raise SettingsError(f"${MAX_ANSWER}: {error.reason}", error.next_step) from None


def _json(response: requests.Response) -> Any:
    try:
        return orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return None


def _nobody(response: requests.Response, url: str, *, embedded: bool) -> SolrError:
    """The error for an answer that no core gave: there is no such core, or it is not a Solr."""
    status = response.status_code
    base, slash, name = url.partition("/solr/")
    if status == 404 and name and not name.startswith("admin/"):
        return CoreMissing(f"{base}/solr", name.partition("/")[0], embedded)
    for sign, told in _PAGES.items():
        if sign in response.content[:1_000]:
            return SolrAnswerError(url, status, *told)
    kind = response.headers.get("Content-Type", "something else").partition(";")[0]
    reason = "the answer is damaged JSON, or not from a Solr"
    if not response.content:
        reason = "the answer is empty"
    elif "json" not in kind:
        reason = f"the answer is not JSON but {kind}"
    reason = f"{reason} (HTTP {status})"
    step = NOT_SOLR if slash else _UNFINISHED
    if status == 200 and kind == "text/html":
        step += ", or give credentials if it is a page to log in"
    return SolrAnswerError(url, status, reason, step)


def _message(error: Any, status: int) -> str:
    message = error.get("msg") if isinstance(error, dict) else error
    return _first_line(message or f"HTTP {status}")[:500]


def _first_line(message: Any) -> str:
    return str(message).strip().partition("\n")[0]


def answer(response: requests.Response, needed: Mapping[str, type] | None = None) -> dict[str, Any]:
    """The JSON object of a response that a `CheckedSession` let through.

    `needed` are the types of the parts that it must have, by paths such as "response.docs".
    Raises SolrAnswerError if one is missing.
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
            raise SolrAnswerError(url, 200, f"the answer has no {path}", NOT_SOLR)


def require_page(decoded: Mapping[str, Any], request: Mapping[str, Any], url: str) -> None:
    """Refuse a page of documents with more or fewer of them than it counts and was asked for.

    `decoded` has `response.docs` and `response.numFound`; `request` has a `limit`, and an `offset`
    unless that is 0.
    """
    docs, total = decoded["response"]["docs"], decoded["response"]["numFound"]
    due = max(0, min(request["limit"], total - request.get("offset", 0)))
    if len(docs) != due:
        reason = f"the answer has {len(docs):,} documents instead of {due:,}"
        raise SolrAnswerError(url, 200, reason, LOG_AGAIN)
    require_rows(docs, {}, url)


def require_rows(rows: Iterable[Any], needed: Mapping[str, type], url: str) -> None:
    """Refuse rows of an answer that are not all objects with these parts of these types."""
    for row in rows:
        if not isinstance(row, dict):
            raise SolrAnswerError(url, 200, "the answer has a row that is no object", NOT_SOLR)
        for name, kind in needed.items():
            if row.get(name) is None or not isinstance(row[name], kind):
                raise SolrAnswerError(url, 200, f"the answer has a row without {name}", NOT_SOLR)


def require_once(documents: Sequence[Any], key: str, url: str) -> None:
    """Refuse documents of an answer without their key, or of which one comes twice."""
    require_rows(documents, {key: object}, url)
    if len({str(one[key]) for one in documents}) < len(documents):
        raise SolrAnswerError(url, 200, "the answer has a document twice", LOG_AGAIN)


def cause(error: Exception) -> str:
    """A short cause: the innermost message, which requests and urllib3 wrap several times."""
    if isinstance(error, requests.exceptions.Timeout):
        return "no answer in time"
    inner: object = error
    while isinstance(inner, Exception):
        wrapped = [getattr(inner, "reason", None), *inner.args]
        deeper = next((each for each in wrapped if isinstance(each, Exception)), None)
        if deeper is None:
            break
        inner = deeper
    text = str(inner)
    if _PROXY in str(error) and _TUNNEL not in text:
        return PROXY_AWAY
    return next((said for sign, said in _CAUSES.items() if sign in text), text or "no answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A document that Solr did not take: its id ("(unknown)" if it has none) and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Outcome of documents or updates that were sent: their new versions, those `refused`.

    A Solr that keeps no versions tells none. Updates are also `dropped`, as their documents have
    changed or gone since they were read, or `unsure`: another node of the cluster decided on them,
    which does not say how.
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
    errors = decoded["responseHeader"].get("errors", [])
    if not isinstance(errors, list) or not all(isinstance(each, dict) for each in errors):
        reason = "the answer has a list of errors that is not understood"
        raise SolrAnswerError(url, 200, reason, NOT_SOLR)
    messages = [_first_line(each.get("message")) for each in errors]
    if said := next(filter(is_halted, messages), None):
        raise SolrHalted(url, said)
    if said := next(filter(is_disturbed, messages), None):
        raise SolrAnswerError(url, 503, *(explain_outage(said, url) or (SAYS + said, NODES)))
    return tuple(
        Refusal(id=str(each.get("id")), reason=said)
        for each, said in zip(errors, messages, strict=True)
    )


def refuse_alone(id: str, error: SolrAnswerError) -> Refusal:
    """The refusal of a document that was sent on its own: too large (413), or with an error."""
    reason = TOO_LARGE if error.status == 413 else error.reason.removeprefix(SAYS)
    return Refusal(id=id, reason=reason)


def versions_in(decoded: Mapping[str, Any]) -> dict[str, int]:
    """The versions of the documents that an answer of /update says were added.

    Solr lists them as [id, version, id, version, …], with version 0 for what another node of its
    cluster decides on; those are left out.
    """
    adds = decoded.get("adds", [])
    pairs = zip(map(str, adds[::2]), adds[1::2], strict=False) if isinstance(adds, list) else ()
    return {id: version for id, version in pairs if isinstance(version, int) and version > 0}
