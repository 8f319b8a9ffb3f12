"""An HTTP session that lets only understood answers through.

Every request to Solr, pysolr's included, goes through one `CheckedSession`: redirects are
refused, the answer has to be JSON with a `responseHeader` whose status is 0, and whatever else
comes back is translated, here and nowhere else, into one error of `neardup_solr.pure.errors`.
Credentials are taken out of the address, so no message and no log can show them.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

import orjson
import requests

from neardup_solr.pure.errors import (
    CoreMissing,
    SolrAnswerError,
    SolrError,
    SolrUnauthorized,
    SolrUnreachable,
)

CONNECT_SECONDS = 5.0
READ_SECONDS = 300.0  # a commit that merges segments may take minutes
_LOG = "look into Solr's log for the cause"


class CheckedSession(requests.Session):
    """A requests session that raises SolrError for every answer that is not a plain success."""

    # The signature is requests' own: pysolr and our client call it alike.
    def request(self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any) -> Any:
        """Send a request; the response is JSON with status 0, or an error of ours is raised."""
        shown = redacted(str(url))
        kwargs["allow_redirects"] = False
        kwargs["timeout"] = (CONNECT_SECONDS, READ_SECONDS)
        try:
            response = super().request(method, url, *args, **kwargs)
        except requests.exceptions.RequestException as error:
            raise SolrUnreachable(shown, _cause(error)) from None
        _check(response, shown)
        return response


def open_session(address: str) -> tuple[CheckedSession, str]:
    """A session for an address, and the address without the user and password it may hold.

    Raises SolrUnreachable where the address is not an http or https URL.
    """
    parts = _split(address)
    session = CheckedSession()
    session.headers["Accept"] = "application/json"
    if parts.username is not None:
        session.auth = (unquote(parts.username), unquote(parts.password or ""))
    return session, redacted(address).rstrip("/")


def redacted(address: str) -> str:
    """An address without user, password, query and fragment."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def answer(response: requests.Response) -> dict[str, Any]:
    """The JSON object of a response that a `CheckedSession` let through."""
    decoded: dict[str, Any] = orjson.loads(response.content)
    return decoded


def _split(address: str) -> SplitResult:
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


def _cause(error: requests.exceptions.RequestException) -> str:
    """A short cause: the innermost message of a chain that requests and urllib3 wrap thrice."""
    if isinstance(error, requests.exceptions.Timeout):
        return "no answer in time"
    inner: object = error
    while isinstance(inner, Exception):
        deeper = getattr(inner, "reason", None) or next(iter(inner.args), None)
        if not isinstance(deeper, Exception):
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
    "Remote end closed": "it closed the connection without an answer",
    "Connection reset": "it reset the connection",
}


def _check(response: requests.Response, url: str) -> None:
    status = response.status_code
    if status in (401, 403):
        raise SolrUnauthorized(url, status)
    if 300 <= status < 400:
        target = redacted(response.headers.get("Location", "nowhere"))
        reason = f"it redirects to {target}"
        raise SolrAnswerError(url, status, reason, "give that address if it is your Solr")
    decoded = _json(response)
    if decoded is None or (status == 404 and "error" not in decoded):
        raise _nobody(response, url)
    error = decoded.get("error")
    header = decoded.get("responseHeader")
    if status != 200 or error is not None:
        raise SolrAnswerError(url, status, f"Solr says: {_message(error, status)}", _LOG)
    if not isinstance(header, dict) or header.get("status") != 0:
        reason = "the answer has no responseHeader with status 0"
        raise SolrAnswerError(url, status, reason, "check that this is the address of a Solr")


def _json(response: requests.Response) -> dict[str, Any] | None:
    try:
        decoded = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return None
    return decoded if isinstance(decoded, dict) else None


def _nobody(response: requests.Response, url: str) -> SolrError:
    """The error for an answer that no core gave: there is no such core, or no Solr."""
    status = response.status_code
    if status == 404:
        base, _, name = url.partition("/solr/")
        if name and not name.startswith("admin/"):
            return CoreMissing(f"{base}/solr", name.partition("/")[0])
    kind = response.headers.get("Content-Type", "nothing").partition(";")[0]
    reason = f"no JSON came back but {kind} (HTTP {status})"
    return SolrAnswerError(url, status, reason, "check that this is the address of a Solr")


def _message(error: Any, status: int) -> str:
    message = error.get("msg") if isinstance(error, dict) else error
    first_line = str(message or f"HTTP {status}").strip().partition("\n")[0]
    return first_line[:500]
