"""An HTTP session that lets only understood answers through, and waits for a Solr that is away.

Every request to Solr, pysolr's included, goes through a `CheckedSession`. After faults that pass
it is repeated; redirects are refused; the answer has to be a whole success. Anything else becomes
an error of `neardup_solr.errors`, by the tables of `faults` and nowhere else. Credentials are
taken out of the address, so no message and no log can show them.
"""

from __future__ import annotations

import math
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import unquote

import requests
from requests import PreparedRequest, Request
from urllib3.exceptions import LocationParseError

from neardup_solr import errors
from neardup_solr.errors import SolrAnswerError, SolrError, SolrUnauthorized, SolrUnreachable
from neardup_solr.files import page
from neardup_solr.progress import ignore
from neardup_solr.records import NOTHING
from neardup_solr.regex import regex
from neardup_solr.sizes import SIZES
from neardup_solr.solr import connection_faults, credentials, faults, metrics, refusals, responses
from neardup_solr.solr.access import Access, Connection, require_private
from neardup_solr.solr.address import parse_address, past_proxies, redact
from neardup_solr.solr.connection_faults import Fault, find_connection_fault
from neardup_solr.solr.credentials import TOKEN
from neardup_solr.solr.faults import is_of_solr, may_be_of_query
from neardup_solr.solr.masking import JSON, hide_secrets
from neardup_solr.solr.metrics import SolrMetrics
from neardup_solr.solr.nodes import Nodes
from neardup_solr.solr.outages import Outages
from neardup_solr.solr.responses import answer
from neardup_solr.solr.retry import Retry, retrying

CONNECT_SECONDS = 5.0
# Once something has answered: requests uses the same bound for the sending of a body, which a Solr
# that collects its garbage may take a while to read.
SEND_SECONDS = 60.0
READ_SHARE = 0.75  # of the time that is left with patience
PATIENT_ATTEMPTS = 30  # then a request that ends the server each time is dropped
SAME_ANSWERS = 4  # to a query, while others are answered: Solr cannot read it
_AGAIN = "check that it is running, then run the same command again"
_EMBEDDED = "run the same command again: it restarts Solr (neardup solr logs shows why it ended)"
# Solr's names of what is needed, by the end of a path; a schema that can be read is changed.
_RIGHTS = {"update": "update", "select": "read", "get": "read", "export": "read",
           "fields": "schema-read", "schema": "schema-edit"}  # fmt: skip
_LENGTHS = ("Content-Length", "Transfer-Encoding")
# The paths of handlers that repeat the parameters of a request in its answer, if they are asked to.
_REPEATING = regex(r"/(select|schema(/[a-z]+)?)/?$")

T = TypeVar("T")


class CheckedSession(requests.Session):
    """A requests session that raises SolrError for every answer that is not a plain success.

    `retry` bounds how often a request is repeated after a fault that passes; `embedded` says that
    the Solr is the embedded Solr, for the next steps that errors name. `carrier` is a session
    of the user, which sends the requests with all that it adds to them; answers are checked here.
    `outages` says whether a Solr that is away is waited for, and counts its outages.
    """

    def __init__(
        self,
        *,
        retry: Retry | None = None,
        embedded: bool = False,
        carrier: requests.Session | None = None,
    ) -> None:
        super().__init__()
        self.retry, self.embedded, self.carrier = retry or Retry(), embedded, carrier
        self.source = ""  # of user and password, for messages
        self.reached = False  # whether a Solr has answered yet, if only by an error
        self.read_seconds = SIZES.read_seconds
        self.allowed_seconds: float | None = None  # that Solr may take for a search, if bounded
        self.most_bytes = responses.largest  # of an answer
        self.keeping: dict[int, float] = {}  # seconds for which threads keep what they have asked
        self.asked: dict[int, float] = {}  # when they asked what has no answer yet
        self.outages = Outages(self._probe, self.metrics)
        self.nodes = Nodes()
        self._repeating: set[str] = set()  # addresses whose answers repeat the marks of requests
        self._prepared: dict[Any, PreparedRequest] = {}  # those so far, without their bodies
        self._process = os.getpid()

    # The signature is that of requests: pysolr and our client call it alike.
    def request(self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any) -> Any:
        """Send a request. The response is JSON with status 0, or an error of ours is raised."""
        kwargs = self._mark(str(url), kwargs)
        return self.lasting(lambda end: self._ask_checked(end, method, url, *args, **kwargs))

    def ask(
        self,
        method: str,
        url: str,
        needed: Mapping[str, type] = NOTHING,
        *,
        require: Callable[[dict[str, Any]], None] = ignore,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Send a request and return the JSON of the answer, which has the parts that are `needed`.

        `require` refuses it by SolrAnswerError if more is wrong with it; see also `responses`.
        """

        kwargs = self._mark(url, kwargs)

        def send(deadline: float) -> dict[str, Any]:
            decoded = answer(self._ask_checked(deadline, method, url, **kwargs), needed)
            require(decoded)
            return decoded

        return self.lasting(send)

    def assume_reachable(self) -> None:
        """Treat the collection as reachable: another process has reached it, so it may be away."""
        self.reached = self.outages.has_served = True

    def once(
        self,
        method: str,
        url: str,
        needed: Mapping[str, type] = NOTHING,
        *,
        seconds: float = math.inf,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """As `ask`, but sent once, whatever becomes of it, and answered in so many seconds."""
        deadline = min(self._deadline(), time.monotonic() + seconds)
        kwargs = self._mark(url, kwargs)
        return answer(self._ask_checked(deadline, method, url, **kwargs), needed)

    def keep(self, seconds: float) -> None:
        """Let this thread wait for answers for so many seconds, if they come in time or not.

        A Solr that is slow works on while nobody waits: who gives up early asks it for more and
        more. What comes after `read_seconds` is late, and refused. `asked` tells others who waits.
        """
        self.keeping[threading.get_ident()] = seconds

    def prepare_request(self, request: Request) -> PreparedRequest:
        """As requests does, but only once for requests that differ in nothing but the body."""
        has_body = isinstance(request.data, bytes) and bool(request.data)
        # Credentials of another kind may depend on the body.
        is_plain = request.auth is leave or isinstance(request.auth, tuple | None)
        if self.cookies or not has_body or not is_plain:
            return super().prepare_request(request)
        request.params = {**request.params}  # which is the caller's, who may ask again
        mark = request.params.pop(responses.MARK, None)
        parts = (tuple(part.items()) for part in (request.params, request.headers, self.headers))
        key = (request.method, request.url, request.auth, *parts)
        if key not in self._prepared:
            self._prepared[key] = super().prepare_request(request).copy()
            self._prepared[key].body = None  # which may be large
        again = self._prepared[key].copy()
        if mark is not None:
            again.url = f"{again.url}&{responses.MARK}={mark}"  # beside echoParams
        again.prepare_body(request.data, None)
        return again

    def pieces(
        self, url: str, params: Mapping[str, str | Sequence[str]], deadline: float = math.inf
    ) -> Iterator[bytes]:
        """Yield the body of a large answer as it comes. Only its status is checked.

        It is requested once; see `lasting` for the deadline.
        Raises SolrAnswerError if it breaks off: what came by then is not all of it.
        """
        shown = redact(url)
        with self._from_node(shown, deadline, "GET", url, params=params, stream=True) as response:
            if response.status_code != 200:
                self._check(response, shown)
            try:
                yield from response.iter_content(SIZES.answer_piece)
            except requests.exceptions.RequestException as error:
                reason = f"the response was cut off: {find_connection_fault(error).reason}"
                raise SolrAnswerError(
                    shown, 200, reason, faults.LOG, code="answer-partial"
                ) from None

    def metrics(self, base: str, deadline: float = math.inf) -> SolrMetrics:
        """Read the metrics of the server at an address. They are requested once.

        Raises SolrError if it does not give them.
        """
        fault: SolrUnreachable | None = None
        for url in self.nodes.in_turn(f"{base}/{metrics.PATH}"):
            soon = min(deadline, time.monotonic() + SIZES.probe_seconds)
            try:
                return metrics.parse(b"".join(self.pieces(url, metrics.PARAMS, soon)))
            except SolrUnreachable as error:
                fault = fault or error
        assert fault is not None
        raise fault

    def lasting(self, send: Callable[[float], T]) -> T:
        """Call `send`, and call it again after faults that may pass.

        It gets the time, by time.monotonic(), at which patience ends; infinity without patience.
        Then the usual few attempts are made. A query to which Solr gives the same error again and
        again, while it answers others, is not waited for.
        The `may_pass` of the error in the end tells its kind.
        """
        outages, deadline = self.outages, self._deadline()
        is_patient, faults = deadline < math.inf, 0
        reasons: list[str] = []

        def passes(error: SolrError) -> bool:
            nonlocal faults
            if is_of_query := is_patient and may_be_of_query(error):
                reasons.append(error.reason)
                if reasons.count(error.reason) >= SAME_ANSWERS:
                    error.passes = errors.Passes.NEVER
                    return False
            is_missing = isinstance(error, errors.CoreMissing) and not is_patient
            if is_missing or not self.may_pass(error):
                return False
            self.reached = True  # or Solr says to come again
            faults += 1
            if is_patient and outages.are_waited_for:
                outages.wait(error, deadline, is_second=faults == 2 and not is_of_query)
            self.nodes.next_node()  # what is wrong may be wrong with this node alone
            return outages.are_waited_for or not is_patient  # unless the user wants to stop

        retry = self.retry
        if is_patient:
            retry = replace(retry, attempts=PATIENT_ATTEMPTS, seconds=outages.patience)
        try:
            result = retrying(lambda: send(deadline), retry=retry, passes=passes)
        except SolrError as error:
            error.may_pass = error.may_pass or self.may_pass(error)
            self.reached = self.reached or is_of_solr(error)
            raise
        self.reached = True
        return result

    def _mark(self, url: str, options: dict[str, Any]) -> dict[str, Any]:
        """Mark a request whose answer can repeat its parameters.

        Otherwise nobody would notice a proxy that mixes up answers, or keeps old ones. A request
        without parameters is marked once this Solr is known to repeat them.
        """
        path, _, written = url.partition("?")
        params = options.get("params") or {}
        if not _REPEATING.search(path) or not (params or written or self._repeating):
            return options
        return {**options, "params": responses.add_mark(params, secrets.token_hex(8))}

    def _deadline(self) -> float:
        """Tell when patience ends for a request that begins now, infinity without any."""
        waits = self.outages.are_waited_for
        return time.monotonic() + self.outages.patience if waits else math.inf

    def may_pass(self, error: SolrError) -> bool:
        """Return True if Solr, or the way to it, is at fault: the request may succeed later."""
        if error.passes is errors.Passes.ONCE_SERVED:
            return self.outages.has_served
        once_answered = error.passes is errors.Passes.ONCE_ANSWERED
        return error.passes is errors.Passes.ALWAYS or (once_answered and self.reached)

    def _probe(self, url: str, deadline: float, **params: str) -> dict[str, Any]:
        seconds = min(SIZES.probe_seconds, deadline - time.monotonic())
        try:
            return self.once("GET", url, seconds=seconds, params={**params, "wt": "json"})
        except SolrError:
            self.nodes.next_node()  # the next may be well
            raise

    def _options(self, url: str, deadline: float) -> dict[str, Any]:
        """Choose the options that every request is sent with.

        A request gets most of the time that is left, so that it can be sent again if its answer is
        lost.
        Raises SolrUnreachable for a node of the cluster that may not be used, as a password goes
        along, SolrHalted for an update of a Solr that is halted: a commit could lose what it had
        accepted.
        """
        if self.outages.halted is not None and redact(url).endswith("/update"):
            raise self.outages.halted
        is_elsewhere = self.nodes.is_elsewhere(url)
        if is_elsewhere and not self.nodes.may_have(url):
            reason = "the cluster lists this node, but your credentials must not be sent to it"
            step = "give a node's https:// address, as the other nodes use it"
            raise SolrUnreachable(redact(url), reason, step)
        if self._process != os.getpid():
            # After a fork the parent's connections are open here too; both would use the same ones.
            self._process = os.getpid()
            (self.carrier or self).close()
        seconds = max(SIZES.least_read_seconds, READ_SHARE * (deadline - time.monotonic()))
        reading = self.keeping.get(threading.get_ident(), self.read_seconds)
        sending = SEND_SECONDS if self.reached else CONNECT_SECONDS
        options: dict[str, Any] = {
            "allow_redirects": False,
            "stream": True,
            "timeout": (min(sending, seconds, self.read_seconds), min(reading, seconds)),
            "proxies": past_proxies(url),
        }
        if self.auth is not None:
            options["auth"] = self.auth
        elif is_elsewhere and self.carrier is None:
            options["auth"] = leave  # or requests would look for a password in ~/.netrc
        if self.verify is not True:
            # With each request, or requests would prefer $REQUESTS_CA_BUNDLE to the session's.
            options["verify"] = self.verify
        return options

    def _ask_checked(
        self, deadline: float, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any
    ) -> requests.Response:
        """The checked response of the first node that answers."""
        shown, fault = redact(str(url)), None
        mark = (kwargs.get("params") or {}).get(responses.MARK, "")
        for place in self.nodes.in_turn(str(url)):
            if fault is not None and time.monotonic() > deadline:
                break
            try:
                response = self._from_node(shown, deadline, method, place, *args, **kwargs)
            except SolrUnreachable as error:
                fault = fault or error
                continue
            if fault is not None:
                self.outages.count += 1  # what the node that is away had taken may be lost
            return self._check(response, shown, mark)
        assert fault is not None
        raise fault

    def _from_node(
        self, shown: str, deadline: float, method: Any, url: str, *args: Any, **kwargs: Any
    ) -> requests.Response:
        send = super().request if self.carrier is None else self.carrier.request
        thread, began = threading.get_ident(), time.monotonic()
        self.asked[thread] = began
        try:
            response = send(method, url, *args, **kwargs | self._options(url, deadline))
            if not kwargs.get("stream") or response.status_code != 200:
                responses.read_body(response, shown, self.most_bytes())
                is_empty = response.status_code == 200 and not response.content
                if is_empty and not any(name in response.headers for name in _LENGTHS):
                    raise self._unreachable(shown, connection_faults.CUT_OFF)  # inside its headers
        except requests.exceptions.ContentDecodingError:
            reason = "the response is damaged: it cannot be decompressed"
            raise SolrAnswerError(shown, 200, reason, faults.NOT_SOLR, code="not-solr") from None
        except LocationParseError:  # which requests lets through for the address of a proxy
            raise self._unreachable(shown, connection_faults.PROXY_ODD) from None
        except requests.exceptions.RequestException as error:
            # A hook of the carrier may raise an error that comes with an answer.
            if error.response is None:
                raise self._unreachable(shown, find_connection_fault(error)) from None
            response = error.response
        finally:
            del self.asked[thread]
        if thread in self.keeping and time.monotonic() - began > self.read_seconds:
            raise faults.late(shown)
        return response

    def _check(self, response: requests.Response, shown: str, mark: str = "") -> requests.Response:
        try:
            is_repeated = bool(mark) and shown in self._repeating
            if responses.check(
                response, shown, embedded=self.embedded, mark=mark, is_repeated=is_repeated
            ):
                self._repeating.add(shown)
            if shown.endswith("/update"):  # a tolerant chain tells of a full disk in a success
                decoded = answer(response)
                refusals.parse_refusals(shown, decoded)
                for each in decoded["responseHeader"].get("errors", ()):
                    each["message"] = self._hidden(str(each.get("message")))
        except SolrUnauthorized as error:
            challenge = response.headers.get("WWW-Authenticate", "").lower()
            error.reason, error.next_step = self._explain_refusal(error, challenge)
            raise
        except SolrError as error:
            if self.allowed_seconds is not None and error.reason == faults.PARTIAL.reason:
                error.reason = f"Solr gave this up after {self.allowed_seconds:g} s"
                error.next_step = "try again later, or ask for less"
                error.code = "solr-unreachable"
            error.reason = self._hidden(error.reason)
            error.args = tuple(self._hidden(a) if isinstance(a, str) else a for a in error.args)
            if isinstance(error, SolrAnswerError):
                pause = response.headers.get("Retry-After", "")  # Solr sends no date
                error.retry_after = float(pause) if pause.isdecimal() else 0.0
            if isinstance(error, errors.SolrHalted):
                self.outages.halted = error
            raise
        if shown.startswith(f"{self.outages.home}/"):
            self.outages.has_served = True
        return response

    def _explain_refusal(self, error: SolrUnauthorized, challenge: str) -> tuple[str, str]:
        """Say what is wrong: no credentials, those that were sent, or what they allow."""
        status, step = f"(HTTP {error.status})", error.next_step
        if challenge.startswith("certificate"):  # CertAuthPlugin, where Jetty only wants one
            reason, step, _ = connection_faults.WANTS_CERTIFICATE
            return f"{reason} {status}", step
        shown = self._name_credentials(error.status)
        if error.status == 403 and not shown:
            return f"Solr does not allow this {status}", step
        if error.status == 403:
            right = _RIGHTS.get(error.url.rstrip("/").rpartition("/")[2])
            role = f"the permission {right}" if right else f"more permissions: {page('security')}"
            step = f"ask its administrator for a role with {role}"
            name = error.url.partition("/solr/")[2].partition("/")[0]
            if not self.outages.has_served and name not in ("", "admin"):
                # By its rights, a name that no collection has is a path that only "all" allows.
                step += f", or check the name {name!r}"
            return f"Solr does not allow this with {shown} {status}", step
        if not shown:
            is_token = challenge.startswith("bearer")
            wanted = "a token" if is_token else "a user and a password"
            return f"Solr requires {wanted} {status}", f"set ${TOKEN}" if is_token else step
        if self.source == f"${TOKEN}":
            step = f"set ${TOKEN} to a new one, then run this again"
        return f"Solr refuses {shown} {status}", step

    def _name_credentials(self, status: int) -> str:
        """Name the credentials that were sent, "" if none were."""
        if self.auth is None and self.cert and status == 403:
            return "the client certificate"
        if self.auth is None and self.carrier is None:
            return ""
        if self.source == f"${TOKEN}":
            return f"the token from {self.source}"
        return f"the user and password from {self.source}" if self.source else "these credentials"

    def _hidden(self, text: str) -> str:
        return hide_secrets(text, self.auth, self.proxies, self.headers)

    def _unreachable(self, shown: str, fault: Fault) -> SolrUnreachable:
        # As some servers refuse that no certificate was sent.
        if fault is connection_faults.REFUSES_CERTIFICATE and not (self.carrier or self).cert:
            fault = connection_faults.WANTS_CERTIFICATE
        step = _EMBEDDED if self.embedded else fault.step or (_AGAIN if self.reached else "")
        return SolrUnreachable(shown, fault.reason, *filter(None, [step]), code=fault.code)


def leave(request: PreparedRequest) -> PreparedRequest:
    """Leave a request as it is, or requests would look for a password in ~/.netrc."""
    return request


def open_session(
    address: str | Connection, *, embedded: bool = False, access: Access | None = None
) -> CheckedSession:
    """A session for an address.

    Instead of an address, a connection of the user: its session sends the requests, with
    its headers, certificates, proxies and adapters, and `access` is not used.

    Raises ArgumentError if the address is not an http or https URL, the CA file of `access` cannot
    be read, or a password would go unencrypted to another machine; SettingsError for a user
    without a password, or the other way round.
    """
    url = address if isinstance(address, str) else address.url
    parts = parse_address(url)
    if not isinstance(address, str):
        carrier = address.get_session()
        session = CheckedSession(carrier=carrier)
        session.auth = address.auth or carrier.auth
        if session.auth is None and parts.username is not None:
            session.auth = (unquote(parts.username), unquote(parts.password or ""))
        return session
    access = access or Access()
    session = CheckedSession(embedded=embedded)
    session.headers.update({"Accept": JSON, **access.headers})
    if parts.scheme == "https":
        session.verify, session.cert = access.authority() or True, access.certificate()
    if access.proxy is not None:
        session.proxies = {"http": access.proxy, "https": access.proxy}
    if embedded:
        session.auth = credentials.as_sent(*access.embedded) if access.embedded else None
    elif "Authorization" in session.headers and not parts.username:
        session.auth = leave
    elif secret := credentials.find_credentials(parts):
        session.source = secret.source
        if secret.user is None:
            session.auth, session.headers["Authorization"] = leave, f"Bearer {secret.password}"
        else:
            session.auth = credentials.as_sent(secret.user, secret.password)
    require_private(parts, session.source, access)
    return session
