"""An HTTP session that lets only understood answers through.

Every request to Solr, pysolr's included, goes through one `CheckedSession`: faults that pass are
repeated, redirects are refused, the answer has to be JSON with a `responseHeader` whose status is
0, and whatever else comes back is translated, here and nowhere else, into one error of
`neardup_solr.pure.errors`. Credentials are taken out of the address, so no message and no log can
show them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

import orjson
import requests

from neardup_solr.edges.retry import Retry, passes, retrying
from neardup_solr.pure.errors import (
    CoreMissing,
    SolrAnswerError,
    SolrError,
    SolrUnauthorized,
    SolrUnreachable,
)

CONNECT_SECONDS = 5.0
READ_SECONDS = 300.0  # a commit that merges segments may take minutes
PIECE = 1 << 20  # bytes of a large answer
NOT_SOLR = "check that this is the address of a Solr"
_LOG = "look into Solr's log for the cause"
_AGAIN = "see that it runs, then run the same command again"
_EMBEDDED = "run the same command again, it starts Solr anew (neardup solr logs says why it ended)"
_UNFINISHED = "give the address with /solr at its end, such as http://host:8983/solr"
# What to do next, by the last part of the path and the HTTP status.
_NEXT = {("select", 400): "check the query (--fq, --query)"}


class CheckedSession(requests.Session):
    """A requests session that raises SolrError for every answer that is not a plain success.

    `retry` bounds how often a request is repeated after a fault that passes; `embedded` says that
    the Solr is the embedded one, for what errors tell to do next.
    """

    def __init__(self, *, retry: Retry | None = None, embedded: bool = False) -> None:
        super().__init__()
        self.retry, self.embedded = retry or Retry(), embedded
        self.reached = False  # whether anything has answered yet

    # The signature is requests' own: pysolr and our client call it alike.
    def request(self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any) -> Any:
        """Send a request; the response is JSON with status 0, or an error of ours is raised."""
        kwargs["allow_redirects"] = False
        kwargs["timeout"] = (CONNECT_SECONDS, READ_SECONDS)
        kwargs["proxies"] = _no_proxy(str(url))

        def send() -> requests.Response:
            return self._answered(redacted(str(url)), method, url, *args, **kwargs)

        return retrying(send, retry=self.retry, passes=self._passes)

    def pieces(self, url: str, params: Mapping[str, str]) -> Iterator[bytes]:
        """The body of a large answer, piece by piece as it comes; only its status is checked.

        Raises SolrAnswerError where it breaks off: what was given by then is not the whole.
        """

        def send() -> requests.Response:
            shown = redacted(url)
            sent = {"params": params, "allow_redirects": False, "proxies": _no_proxy(url)}
            timeout = (CONNECT_SECONDS, READ_SECONDS)
            response = self._received(shown, "GET", url, stream=True, timeout=timeout, **sent)
            if response.status_code != 200:
                self._checked(response, shown)
            return response

        with retrying(send, retry=self.retry, passes=self._passes) as response:
            try:
                yield from response.iter_content(PIECE)
            except requests.exceptions.RequestException as error:
                reason = f"the answer broke off: {_cause(error)}"
                raise SolrAnswerError(redacted(url), 200, reason, _LOG) from None

    def _answered(self, shown: str, *args: Any, **kwargs: Any) -> requests.Response:
        return self._checked(self._received(shown, *args, **kwargs), shown)

    def _received(self, shown: str, *args: Any, **kwargs: Any) -> requests.Response:
        try:
            response = super().request(*args, **kwargs)
        except requests.exceptions.ContentDecodingError:
            self.reached = True
            reason = "the answer is damaged: it cannot be unpacked"
            raise SolrAnswerError(shown, 200, reason, NOT_SOLR) from None
        except requests.exceptions.RequestException as error:
            raise self._unreachable(shown, _cause(error)) from None
        self.reached = True
        return response

    def _checked(self, response: requests.Response, shown: str) -> requests.Response:
        try:
            _check(response, shown, embedded=self.embedded)
        except SolrAnswerError as error:
            error.retry_after = _seconds(response.headers.get("Retry-After", ""))
            raise
        return response

    def _passes(self, error: SolrError) -> bool:
        # Where nothing has ever answered, the address is wrong rather than the Solr busy.
        return passes(error) and (self.reached or not isinstance(error, SolrUnreachable))

    def _unreachable(self, shown: str, cause: str) -> SolrUnreachable:
        if self.embedded:
            return SolrUnreachable(shown, cause, _EMBEDDED)
        if self.reached:
            return SolrUnreachable(shown, cause, _AGAIN)
        return SolrUnreachable(shown, cause)


def _seconds(retry_after: str) -> float:
    """The seconds of a Retry-After header; a date, which no Solr sends, counts as none."""
    return float(retry_after) if retry_after.isdecimal() else 0.0


def open_session(address: str, *, embedded: bool = False) -> tuple[CheckedSession, str]:
    """A session for an address, and the address without the user and password it may hold.

    Raises SolrUnreachable where the address is not an http or https URL.
    """
    parts = _split(address)
    session = CheckedSession(embedded=embedded)
    session.headers["Accept"] = "application/json"
    if parts.username is not None:
        session.auth = (unquote(parts.username), unquote(parts.password or ""))
    return session, redacted(address).rstrip("/")


def redacted(address: str) -> str:
    """An address without user, password, query and fragment."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def answer(response: requests.Response, needed: Mapping[str, type] | None = None) -> dict[str, Any]:
    """The JSON object of a response that a `CheckedSession` let through.

    `needed` are the types of the parts that it must have, by paths such as "response.docs".
    Raises SolrAnswerError where one is missing.
    """
    decoded: dict[str, Any] = orjson.loads(response.content)
    for path, kind in (needed or {}).items():
        part: Any = decoded
        for name in path.split("."):
            part = part.get(name) if isinstance(part, dict) else None
        if not isinstance(part, kind):
            url = redacted(str(response.url))
            raise SolrAnswerError(url, response.status_code, f"the answer has no {path}", NOT_SOLR)
    return decoded


def _split(address: str) -> SplitResult:
    # Such an address would be cut at the "/", and half a password shown as its host and port.
    if re.search(r"://[^/?#]*[/?#].*@", address, re.DOTALL):
        raise SolrUnreachable(
            address.rpartition("@")[2],
            "an '@' stands after the first '/', '?' or '#' of this address",
            "in a user or password write %2F for '/', %3F for '?', %23 for '#' and %40 for '@'",
        )
    try:
        parts = urlsplit(address)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise SolrUnreachable(
            address.rpartition("@")[2], "not an address such as http://host:8983/solr"
        )
    return parts


def _no_proxy(url: str) -> dict[str, str]:
    """This machine itself is never reached through a proxy of the environment."""
    host = urlsplit(url).hostname or ""
    try:
        loopback = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        loopback = False
    return {"no_proxy": host} if loopback else {}


def _cause(error: requests.exceptions.RequestException) -> str:
    """A short cause: the innermost message of a chain that requests and urllib3 wrap thrice."""
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
    return next((said for sign, said in _CAUSES.items() if sign in text), text or "no answer")


_CAUSES = {
    "Connection refused": "nothing listens there (connection refused)",
    "Name or service not known": "the host name is not known",
    "nodename nor servname": "the host name is not known",
    "getaddrinfo failed": "the host name is not known",
    "Temporary failure in name resolution": "the host name cannot be looked up",
    "CERTIFICATE_VERIFY_FAILED": "its TLS certificate is not trusted",
    "WRONG_VERSION_NUMBER": "it does not speak TLS (is it an http:// address?)",
    "RECORD_LAYER_FAILURE": "it does not speak TLS (is it an http:// address?)",
    "Remote end closed": "it closed the connection without an answer",
    "Connection reset": "it reset the connection",
    "IncompleteRead": "it closed the connection in the middle of its answer",
}


def _check(response: requests.Response, url: str, *, embedded: bool) -> None:
    status = response.status_code
    if status in (401, 403):
        raise SolrUnauthorized(url, status)
    if 300 <= status < 400:
        target = redacted(response.headers.get("Location", "nowhere"))
        reason = f"it redirects to {target}"
        raise SolrAnswerError(url, status, reason, "give that address if it is your Solr")
    decoded = _json(response)
    if not isinstance(decoded, dict) or (status == 404 and "error" not in decoded):
        raise _nobody(response, url, embedded=embedded)
    error = decoded.get("error")
    header = decoded.get("responseHeader")
    if status != 200 or error is not None:
        next_step = _NEXT.get((url.rstrip("/").rpartition("/")[2], status), _LOG)
        raise SolrAnswerError(url, status, f"Solr says: {_message(error, status)}", next_step)
    if not isinstance(header, dict) or header.get("status") != 0:
        reason = "the answer has no responseHeader with status 0"
        raise SolrAnswerError(url, status, reason, NOT_SOLR)


def _json(response: requests.Response) -> Any:
    try:
        return orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return None


def _nobody(response: requests.Response, url: str, *, embedded: bool) -> SolrError:
    """The error for an answer that no core gave: there is no such core, or no Solr."""
    status = response.status_code
    base, slash, name = url.partition("/solr/")
    if status == 404 and name and not name.startswith("admin/"):
        return CoreMissing(f"{base}/solr", name.partition("/")[0], embedded)
    reason = f"{_came_back(response)} (HTTP {status})"
    return SolrAnswerError(url, status, reason, NOT_SOLR if slash else _UNFINISHED)


def _came_back(response: requests.Response) -> str:
    if not response.content:
        return "an empty answer came back"
    kind = response.headers.get("Content-Type", "something else").partition(";")[0]
    if "json" not in kind:
        return f"no JSON came back but {kind}"
    return "the JSON that came back is damaged, or none of Solr's"


def _message(error: Any, status: int) -> str:
    message = error.get("msg") if isinstance(error, dict) else error
    first_line = str(message or f"HTTP {status}").strip().partition("\n")[0]
    return first_line[:500]
