"""Validate Solr's responses, and translate failures into our errors by tables of faults.

A response counts if it is JSON with a `responseHeader` whose status is 0. For all others, and for
no response at all, the tables have the sign of each fault, with the reason and the next step that
the user reads. `SolrError.passes` tells when the same request may succeed later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import orjson
import requests

from neardup_solr import errors
from neardup_solr.arguments import in_bytes
from neardup_solr.errors import Passes, SolrAnswerError, SolrError, SolrHalted
from neardup_solr.solr.wording import plain
from neardup_solr.variables import read_number


class Fault(NamedTuple):
    """A row of a table: the reason and the next step, which may be that of the moment ("")."""

    reason: str
    step: str = ""


NO_REASON = "Solr gives no reason"
SAYS = "Solr says: "  # before what an error repeats
NOT_SOLR = "check that this is the address of a Solr server"
LOG = "check Solr's log for the cause"
LOG_AGAIN = "check Solr's log, then run this again"
_TRUST = "set `ca` or $REQUESTS_CA_BUNDLE to its CA file"
_NAME = "set `cert` or $NEARDUP_SOLR_CERT to a PEM file with {} and its key"
_OF_PROXY = "set them in the proxy's address, as in http://user:password@proxy:3128"
_HOST_UNKNOWN = Fault("the host name is unknown")
_NO_TLS = Fault("it does not use TLS (is it an http:// address?)")
_CLOSED = Fault("it closed the connection without a response")
WANTS_CERTIFICATE = Fault("it requires a client certificate", _NAME.format("a certificate"))
_VALID = _NAME.format("a trusted certificate that has not expired")
REFUSES_CERTIFICATE = Fault("it refuses the client certificate", _VALID)
PROXY_REFUSES = Fault("the proxy refuses these credentials (HTTP 407)", _OF_PROXY)
_PROXY = "check the proxy setting (`proxy`, $HTTPS_PROXY or $HTTP_PROXY)"
PROXY_AWAY = Fault("the proxy does not answer", f"{_PROXY}, or add the host to $NO_PROXY")
PROXY_ODD = Fault("the address of the proxy is not valid", _PROXY)
CUT_OFF = Fault("it closed the connection in the middle of its response")
_SLOW = Fault("it did not respond in time")
_TUNNEL = "Tunnel connection failed"  # the proxy answers, but does not connect
# Signs in the innermost message of an exception, which may pass once a Solr has answered.
_OF_CONNECTION = {
    "Connection refused": Fault("nothing is listening at this address (connection refused)"),
    "Name or service not known": _HOST_UNKNOWN,
    "nodename nor servname": _HOST_UNKNOWN,
    "getaddrinfo failed": _HOST_UNKNOWN,
    "Temporary failure in name resolution": Fault("the host name cannot be resolved"),
    "(Hostname|IP address) mismatch": Fault("its TLS certificate is for a different host",
                                            "use the host name in the certificate"),
    "certificate has expired": Fault("its TLS certificate has expired", "renew it on that server"),
    "CERTIFICATE_VERIFY_FAILED": Fault("its TLS certificate is not trusted", _TRUST),
    "WRONG_VERSION_NUMBER": _NO_TLS,
    "RECORD_LAYER_FAILURE": _NO_TLS,
    "CERTIFICATE_REQUIRED": WANTS_CERTIFICATE,
    "ALERT_HANDSHAKE_FAILURE": Fault(
        "it refuses the TLS handshake (does it require a client certificate?)",
        WANTS_CERTIFICATE.step),
    "ALERT_(CERTIFICATE_|UNKNOWN_CA|BAD_CERTIFICATE)": REFUSES_CERTIFICATE,
    "NO_CERTIFICATE_OR_CRL_FOUND": Fault("the CA file contains no certificates", _TRUST),
    f"{_TUNNEL}: 407": PROXY_REFUSES,
    # As tinyproxy says of a wrong password.
    f"{_TUNNEL}: 401": Fault(PROXY_REFUSES.reason.replace("407", "401"), _OF_PROXY),
    _TUNNEL: Fault("the proxy does not connect to it",
                   "check that it is running, and that the proxy allows this host and port"),
    "EOF occurred in violation": _CLOSED,
    "Remote end closed": _CLOSED,
    "Connection reset": Fault("it reset the connection"),
    "IncompleteRead": CUT_OFF,
}  # fmt: skip
TOO_LARGE = "too large for this server (HTTP 413)"
# How a page of nginx, which is no JSON, begins.
_OF_PAGE = {
    b"No required SSL certificate": WANTS_CERTIFICATE,
    b"The SSL certificate error": REFUSES_CERTIFICATE,
    b"plain HTTP request was sent to HTTPS": Fault("it uses TLS", "use an https:// address"),
    b"413 Request Entity Too Large": Fault(
        TOO_LARGE, "raise its limit (client_max_body_size in nginx)"),
}  # fmt: skip
_COME_AGAIN = frozenset({429, 502, 503, 504})  # HTTP statuses
_REFUSED = frozenset({407, 413})  # by Solr or a proxy; of Solr all other 4xx are, too
_OF_JETTY = frozenset({404, 405})  # if no core has the path
# For the POST to such a path that Solr 10 does not know; Jetty says 404 in front of others.
_NO_POST = b"POST is not supported by this URL"
_OF_CLUSTER = frozenset({500, 503, 510})  # 510: no node can answer
# Solr takes nothing more until it is restarted. "Error opening new searcher", with nothing after
# it, is of a commit that could not be written; else too many searchers are being opened.
_HALTED = re.compile(
    "No space left on device|not enough space on the disk|Disk quota exceeded"
    "|File too large"  # for a limit of the process
    "|Read-only file system|IndexWriter is closed|IndexWriter has been closed"
    "|Server error writing document|Error logging add|^Error opening new searcher$"
)
# These name a document, whose values they repeat: no sign of a fault counts in them.
_OF_DOCUMENT = re.compile(
    r"ERROR: \[doc=|version conflict|Document contains|Document is missing"
    "|Exception writing document id"
)
KEEPER_AWAY = "ZooKeeper is unavailable"
# How a node begins what it says while it has no ZooKeeper, and what it names as the cause.
_NO_KEEPER = re.compile(
    "Cannot talk to ZooKeeper|KeeperErrorCode = (Session expired|ConnectionLoss)"
)
_KEEPER_LOST = re.compile(r"KeeperException\$(SessionExpired|ConnectionLoss)Exception")
# Signs of what the nodes of a SolrCloud say while a node is away, or another becomes the leader.
_DISTURBED = re.compile("|".join((
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
_SHARDS = "check that all shards are running, then run this again"
_WRITABLE = "make the collection writable (MODIFYCOLLECTION with readOnly=false)"
_WITH_SOLR = "give the address with /solr at the end, such as http://host:8983/solr"
_REDIRECT = "use that server if it is your Solr, or give credentials if it is a login page"
MAX_ANSWER = "NEARDUP_MAX_ANSWER"
_LARGEST = 1 << 30  # bytes: a page of 1,000 documents of a megabyte each
_PIECE = 1 << 20  # bytes
_LONGEST_MESSAGE = 500  # characters
_DECODED = "decoded"
# Before what another node said: at the begin of a later line in Solr 9, of a line in any version.
_REMOTE = "Remote error message: "
_SEVERAL = re.compile(r"\d+ Async exceptions during distributed update:")  # one a line
_PASSED_ON = re.compile(
    r"(Async exception during distributed update: |Error from server at \S+: "
    r"|org\.apache\.solr\.common\.SolrException: )+"
)
_OF_ERROR = "msg", "errorMessages", "details", "remoteError", "causedBy"  # in the order of reading


def redact(address: str) -> str:
    """An address without user, password, query and fragment."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


MARK = "neardup"  # the parameter that marks a request
_OF_ANOTHER = Fault(
    "the response belongs to a different request",
    "check the proxy or cache between this machine and Solr",
)


def marked(params: Mapping[str, Any], mark: str) -> dict[str, Any]:
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


def classify(
    response: requests.Response, decoded: Any, url: str, *, embedded: bool
) -> SolrError | None:
    """Return the error for a response with this JSON, or None if it is a whole success."""
    status = response.status_code
    content = decoded if isinstance(decoded, dict) else {}
    if status in (401, 403):
        message = _message(content.get("error"), 403) if content else ""
        if "read-only" in message:
            return answer_error(url, status, Fault(SAYS + plain(message), _WRITABLE))
        return errors.SolrUnauthorized(url, status)
    if status == 407:
        return answer_error(url, status, PROXY_REFUSES)
    if 300 <= status < 400:
        target = redact(response.headers.get("Location", "nowhere"))
        return answer_error(url, status, Fault(f"it redirects to {target}", _REDIRECT))
    if not isinstance(decoded, dict) or (status in _OF_JETTY and "error" not in decoded):
        return _foreign_error(response, url, embedded=embedded)
    if status != 200 or content.get("error") is not None:
        return _solr_error(url, status, content)
    fault = _partial(content) if is_success(content.get("responseHeader")) else _NO_HEADER
    return fault and answer_error(url, 200, fault)


def answer_error(
    url: str, status: int, fault: Fault, passes: Passes | None = None
) -> SolrAnswerError:
    """The error of an answer. It passes by its HTTP status unless `passes` says more."""
    error = SolrAnswerError(url, status, *fault)
    is_final = status in _REFUSED or (400 <= status < 500 and is_of_solr(error))
    by_status = Passes.NEVER if is_final else Passes.ONCE_ANSWERED
    by_status = Passes.ALWAYS if status in _COME_AGAIN else by_status
    error.passes = by_status if passes is None else passes
    return error


def _solr_error(url: str, status: int, decoded: Mapping[str, Any]) -> SolrError:
    """The error for what Solr says: of its disk, of its cluster, or of the request."""
    texts = messages(decoded.get("error"))
    message = _join(texts) or f"HTTP {status}"
    if _is_halted(texts):
        return SolrHalted(url, plain(message))
    without_keeper = _is_without_keeper(texts, status, decoded)
    if without_keeper:
        status = 503  # Solr says 400 or 500, too, depending on what it needed ZooKeeper for
    if status in _OF_CLUSTER and (fault := _cluster_fault(texts, url, without_keeper)):
        return answer_error(url, status, fault, Passes.ALWAYS)
    is_query = status == 400 and url.rstrip("/").endswith("/select")
    step = "check the query" if is_query else LOG
    return answer_error(url, status, Fault(SAYS + plain(message), step))


def _is_halted(texts: Sequence[str]) -> bool:
    """Return True if Solr takes nothing more until it is restarted."""
    return any(map(_HALTED.search, texts)) and not any(map(_OF_DOCUMENT.match, texts))


def _cluster_fault(texts: Sequence[str], url: str, without_keeper: bool = False) -> Fault | None:
    """The fault if Solr says that its cluster is at fault, and not what it was sent."""
    if any(map(_OF_DOCUMENT.match, texts)):
        return None
    message = _join(texts)
    if without_keeper or any(map(_NO_KEEPER.match, texts)):
        reason = f"{KEEPER_AWAY} (Solr says: {plain(message).rstrip('.')})"
        return Fault(reason, "start ZooKeeper, then run this again")
    if not _DISTURBED.search(message):
        return None
    name = url.partition("/solr/")[2].partition("/")[0]
    of = f" of {name!r}" if name and name != "admin" else ""
    for sign, reason in _NODE_AWAY.items():
        if match := re.search(sign, message):
            groups = {"says": message, "of": of, **match.groupdict()}
            groups["says"] = plain(groups["says"])
            return Fault(f"{reason} (Solr says: {{says}})".format(**groups), _START_NODE)
    return Fault(SAYS + plain(message), _NODES)


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
    return answer_error(url, status, Fault(f"{reason} (HTTP {status})", step))


PARTIAL = Fault("Solr returned only part of the results", _ALL)
_NO_HEADER = Fault("the response has no responseHeader with status 0", NOT_SOLR)


def _partial(decoded: Mapping[str, Any]) -> Fault | None:
    """The fault of an answer which Solr itself calls a part of the results."""
    if is_partial(decoded["responseHeader"]):
        return PARTIAL
    shards = decoded.get("shards.info", {})
    if not isinstance(shards, dict) or not all(isinstance(each, dict) for each in shards.values()):
        return Fault("its report on the shards is in an unknown format", NOT_SOLR)
    for failed in (shard["error"] for shard in shards.values() if "error" in shard):
        return Fault(f"one of its shards failed: {plain(_message(failed, 200))}", _SHARDS)
    response = decoded.get("response", {})
    if not isinstance(response, dict):
        return Fault("its response is in an unknown format", NOT_SOLR)
    is_rough = response.get("numFoundExact") is False
    return Fault("Solr did not count the results exactly", _ALL) if is_rough else None


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


def connection_fault(error: Exception) -> Fault:
    """Look up an exception by its innermost message, which requests and urllib3 wrap."""
    if isinstance(error, requests.exceptions.Timeout):
        return _SLOW
    inner: object = error
    while isinstance(inner, Exception):
        wrapped = [getattr(inner, "reason", None), *inner.args]
        deeper = next((each for each in wrapped if isinstance(each, Exception)), None)
        if deeper is None:
            break
        inner = deeper
    text = str(inner)
    if "Unable to connect to proxy" in str(error) and _TUNNEL not in text:
        return PROXY_AWAY
    faults = (fault for sign, fault in _OF_CONNECTION.items() if re.search(sign, text))
    return next(faults, Fault(text or "no response"))


def late(url: str) -> SolrAnswerError:
    """The error of an answer that came when nobody waited for it any more."""
    return answer_error(url, 503, _SLOW)


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
            fault = Fault(f"the response has more than {most:,} bytes", step)
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


def messages(error: Any) -> list[str]:
    """List what an error of Solr says, from the outside inwards, none twice.

    Up to Solr 9 the message has all that its details have. Since 10 the reason is in the details
    alone: in their `errorMessages`, or in the `remoteError` of another node, itself with details.
    """
    texts: list[str] = []
    rest = [error]
    while rest:
        part = rest.pop(0)
        if isinstance(part, dict):
            rest[:0] = [part.get(name) for name in _OF_ERROR]
        elif isinstance(part, list):
            rest[:0] = part
        elif part is not None:
            for text in _split(str(part)):
                if not any(text in other for other in texts):
                    texts.append(text)
    return texts


def _split(message: str) -> Iterator[str]:
    """Split a message into who passes it on, if anybody does, and what other nodes have said.

    Its further lines tell no more, but for those with the errors of other nodes. A page of HTML
    tells nothing.
    """
    first, *lines = message.strip().splitlines() or [""]
    has_all = _SEVERAL.match(first) is not None
    said = (
        line.removeprefix(_REMOTE)
        for line in lines
        if line.startswith(_REMOTE) or (has_all and line[:1].isalpha())
    )
    for line in (first, *said):
        if not line.startswith(("<", "request: ")):
            carried = _PASSED_ON.match(line)
            at = carried.end() if carried else 0
            yield from filter(None, (line[:at].rstrip(": "), line[at:].rstrip()[:_LONGEST_MESSAGE]))


def _join(texts: Sequence[str]) -> str:
    """Join the messages of an error to a reason: the outermost, then what it is about."""
    first, *rest = texts or [""]
    inner = "; ".join(text.rstrip(".") for text in rest)
    return (f"{first.rstrip('.:')}: {inner}" if inner else first)[:_LONGEST_MESSAGE]


def _message(error: Any, status: int) -> str:
    return _join(messages(error)) or f"HTTP {status}"


def _first_line(message: Any) -> str:
    return str(message).strip().partition("\n")[0]


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
            raise SolrAnswerError(url, 200, f"the response has no {path}", NOT_SOLR)


def require_page(decoded: Mapping[str, Any], request: Mapping[str, Any], url: str) -> None:
    """Refuse a page of documents with more or fewer of them than it counts and the request wants.

    `decoded` has `response.docs` and `response.numFound`; `request` has a `limit`, and an `offset`
    unless that is 0.
    """
    docs, total = decoded["response"]["docs"], decoded["response"]["numFound"]
    due = max(0, min(request["limit"], total - request.get("offset", 0)))
    if len(docs) != due:
        reason = f"the response has {len(docs):,} documents instead of {due:,}"
        raise SolrAnswerError(url, 200, reason, LOG_AGAIN)
    require_rows(docs, {}, url)


def require_asked(
    documents: Iterable[Mapping[str, Any]], ids: Iterable[str], key: str, url: str
) -> None:
    """Refuse documents of other ids than those that were asked for.

    A key that is no text may be written in several ways, so its values are not compared.
    """
    asked = {*ids}
    keys = (document[key] for document in documents)
    if any(isinstance(id, str) and id not in asked for id in keys):
        raise answer_error(url, 200, _OF_ANOTHER, Passes.ALWAYS)


def require_rows(
    rows: Iterable[Any], needed: Mapping[str, type | tuple[type, ...]], url: str
) -> None:
    """Refuse rows of an answer that are not all objects with these parts of these types."""
    for row in rows:
        if not isinstance(row, dict):
            raise SolrAnswerError(url, 200, "a row is not an object", NOT_SOLR)
        for name, kind in needed.items():
            if row.get(name) is None or not isinstance(row[name], kind):
                raise SolrAnswerError(url, 200, f"a row has no {name}", NOT_SOLR)


def require_once(documents: Sequence[Any], key: str, url: str) -> None:
    """Raise SolrAnswerError if a document lacks its key or appears twice."""
    require_rows(documents, {key: object}, url)
    if len({str(document[key]) for document in documents}) < len(documents):
        raise SolrAnswerError(url, 200, "the response contains a document twice", LOG_AGAIN)


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
        raise SolrAnswerError(url, 200, reason, NOT_SOLR)
    said = [messages(each.get("message")) for each in refusals]
    for texts in said:
        if _is_halted(texts):
            raise SolrHalted(url, _join(texts))
    for texts in said:
        if fault := _cluster_fault(texts, url):
            raise answer_error(url, 503, fault)
    return tuple(
        Refusal(id=str(each.get("id")), reason=_join(texts) or NO_REASON)
        for each, texts in zip(refusals, said, strict=True)
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
