"""An HTTP session that lets only understood answers through.

Every request to Solr, pysolr's included, goes through one `CheckedSession`. After faults that pass
it is repeated; redirects are refused; the answer has to be JSON with a `responseHeader` whose
status is 0. Anything else becomes an error of `neardup_solr.errors`, here and in `answers` and
nowhere else. Credentials are taken out of the address, so no message and no log can show them.
"""

from __future__ import annotations

import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable
from urllib.parse import SplitResult, unquote, urlsplit

import requests
from requests import PreparedRequest, Request, Session
from urllib3.exceptions import LocationParseError

from neardup_solr.errors import (
    ArgumentError,
    CoreMissing,
    ServerError,
    SettingsError,
    SolrAnswerError,
    SolrError,
    SolrHalted,
    SolrUnreachable,
)
from neardup_solr.progress import LOG as LOGGED
from neardup_solr.solr.answers import (
    CUT_OFF,
    LOG,
    NOT_SOLR,
    answer,
    cause,
    check,
    next_step,
    redacted,
    refused_by,
    take_in,
)
from neardup_solr.solr.credentials import as_sent, credentials, is_loopback, require_private

CONNECT_SECONDS = 5.0
# Once something has answered: requests uses the same bound for the sending of a body, which a Solr
# that collects its garbage may take a while to read.
SEND_SECONDS = 60.0
PROBE_SECONDS = 10.0  # for the answer that shows that a Solr is back
PROBE_PAUSE = 0.5
PATIENT_ATTEMPTS = 30  # then a request that ends the server each time is given up
READ_SECONDS = 300.0  # a commit that merges segments may take minutes
PIECE = 1 << 20  # bytes of a large answer
_AGAIN = "see that it runs, then run the same command again"
_EMBEDDED = "run the same command again: it restarts Solr (neardup solr logs shows why it ended)"
# The first that is set counts; requests knows the first two, OpenSSL the last.
AUTHORITIES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
HEADERS = "NEARDUP_SOLR_HEADERS"
PROXIES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
# What the answers of a Solr say that is about to end, or has just begun.
_ENDING = ("SolrCore", "CoreContainer", "shutting down", "shut down")
_LENGTHS = {"content-length", "transfer-encoding"}
_REPLAY, _REPLAYED = "TLOG.state", 3  # of what was not committed when it was killed
_REPLAYING = "Solr still replays its log, or is away"
_LATER = "wait until it has ended, then run the same command again"
T = TypeVar("T")
LONGEST_WAIT = 30.0  # seconds between two attempts, if the server does not ask for more
PASSING = frozenset({429, 502, 503, 504})  # 500 is not: a full disk answers so, and stays full


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a Solr of yours is reached, beyond its address.

    `ca` is a PEM file of certificate authorities to trust instead of the usual ones (None: that of
    $REQUESTS_CA_BUNDLE, $CURL_CA_BUNDLE or $SSL_CERT_FILE, else the usual ones); `headers` go with
    every request; `proxy` is the address of a proxy for all of them (None: those of the
    environment, which are never used for this machine itself). `plain_http` lets a password go
    unencrypted to another machine. `embedded` has user and password of the embedded Solr, if it
    asks for them.
    """

    ca: str | Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    proxy: str | None = field(default=None, repr=False)
    plain_http: bool = False
    embedded: tuple[str, str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        odd = next(
            (name for name, value in self.headers.items() if not _is_header(name, value)), None
        )
        if odd is not None:  # the value may be a secret
            reason = f"`headers` cannot have {odd!r} with its value"
            raise ArgumentError(reason, "give names and values of one line, in Latin letters")
        if self.proxy is not None and not _is_url(_with_scheme(self.proxy), PROXIES):
            shown = self.proxy.rpartition("@")[2]
            raise ArgumentError(
                f"`proxy` cannot be {shown!r}", "give an address such as http://proxy:3128"
            )

    def authority(self) -> str | None:
        """The file (or folder) of certificate authorities to trust; None for the usual ones.

        Raises ArgumentError if there is no such file, or it cannot be read.
        """
        named = {"ca": self.ca} | {name: os.environ.get(name) for name in AUTHORITIES}
        name, path = next(((name, path) for name, path in named.items() if path), ("", None))
        if path is not None and not os.access(path, os.R_OK):
            said = f"the CA file {path}" + (f" of {_said(name)}" if name != "ca" else "")
            raise ArgumentError(f"{said} cannot be read", "name a PEM file of certificates")
        return None if path is None else str(path)


def _with_scheme(proxy: str) -> str:
    """The address of a proxy as requests takes it: it may leave http:// out."""
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_header(name: str, value: str) -> bool:
    """Whether HTTP can carry a header."""
    try:
        requests.utils.check_header_validity((name, value))
        value.encode("latin-1")
        return name.isascii() and " " not in name
    except (requests.exceptions.InvalidHeader, UnicodeEncodeError):
        return False


def _said(name: str) -> str:
    """What names a CA file; the option `--ca` sets the first of the variables."""
    return f"`ca` or ${name}" if name == AUTHORITIES[0] else f"${name}"


def from_environment() -> Access:
    """The access whose headers stand in $NEARDUP_SOLR_HEADERS, one "Name: value" a line.

    A variable, not an option: all users of a machine can read the value of an option.
    Raises SettingsError if a line is no header; its value is not shown.
    """
    headers = {}
    for number, line in enumerate(os.environ.get(HEADERS, "").splitlines(), start=1):
        name, colon, value = map(str.strip, line.partition(":"))
        if line.strip():
            if not (name and colon) or " " in name:
                reason = f"line {number} of ${HEADERS} is no header"
                raise SettingsError(reason, 'write each as "Name: value", one a line')
            headers[name] = value
    return Access(headers=headers)


def located(url: str, core: str, *, is_core: bool) -> tuple[str, str]:
    """The server's address and the collection's name, from an address that may name both.

    With `is_core` the address ends with the name, wherever the server has its /solr.
    """
    base, slash, name = url.partition("/solr/")
    if slash and name:
        return f"{base}/solr", name.strip("/")
    if is_core and not url.endswith("/solr"):
        base, _, core = url.rpartition("/")
        return base, core
    return url, core


def past_proxies(url: str) -> dict[str, str]:
    """This machine itself is never reached through a proxy of the environment."""
    host = urlsplit(url).hostname or ""
    return {"no_proxy": host} if is_loopback(host) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How often and how long to try again: whole requests, safe because documents go by id."""

    attempts: int = 6
    seconds: float = 60.0
    first_wait: float = 0.2


def retrying(call: Callable[[], T], *, retry: Retry, passes: Callable[[SolrError], bool]) -> T:
    """The result of a call, tried again after faults that pass according to `passes`.

    Waits a random time up to a bound that doubles ("full jitter", Brooker 2015), and at least as
    long as the server asks for.
    Raises the last SolrError once attempts or time are used up, others at once.
    """
    deadline = time.monotonic() + retry.seconds
    for attempt in range(1, retry.attempts + 1):
        try:
            return call()
        except SolrError as error:
            asked = error.retry_after if isinstance(error, SolrAnswerError) else 0.0
            bound = min(LONGEST_WAIT, retry.first_wait * 2**attempt)
            wait = max(asked, random.uniform(0, bound))
            if not passes(error) or attempt == retry.attempts or time.monotonic() + wait > deadline:
                raise
            time.sleep(wait)
    raise AssertionError("a retry has at least one attempt")


def passes(error: SolrError) -> bool:
    """Whether a fault may pass by itself: no connection, 429, 502, 503 or 504."""
    if isinstance(error, SolrAnswerError):
        return error.status in PASSING
    return isinstance(error, SolrUnreachable)


Prepare = Callable[[Request], PreparedRequest]


class Prepared:
    """The requests that were prepared so far, by everything but their bodies."""

    def __init__(self) -> None:
        self._known: dict[Any, PreparedRequest] = {}

    def prepared(self, request: Request, session: Session, prepare: Prepare) -> PreparedRequest:
        """A request of this session with its own body.

        `prepare` makes those that are new, and those that may differ in more than the body.
        """
        has_body = isinstance(request.data, bytes) and bool(request.data)
        # Credentials of another kind may depend on the body.
        if not has_body or not isinstance(request.auth, tuple | None):
            return prepare(request)
        params = tuple(request.params.items())
        own = tuple(request.headers.items())
        key = (
            request.method,
            request.url,
            params,
            own,
            request.auth,
            tuple(session.headers.items()),
        )
        if key not in self._known:
            self._known[key] = prepare(request).copy()
            self._known[key].body = None  # which may be large
        again = self._known[key].copy()
        again.prepare_body(request.data, None)
        return again


class CheckedSession(requests.Session):
    """A requests session that raises SolrError for every answer that is not a plain success.

    `retry` bounds how often a request is repeated after a fault that passes; `embedded` says that
    the Solr is the embedded one, for the next steps that errors name. `carrier` is the user's own
    session, which sends the requests with all that it adds to them; answers are checked here.
    `home` is the address of the collection that is waited for if Solr is away (see `patient`),
    `revive` starts a Solr of ours again if it has ended, and gives its address. `outages` counts
    how often Solr did not answer.
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
        self.reached = False  # whether anything has answered yet
        self.home, self.revive = "", _nothing
        self.outages = 0
        self._patience = 0.0
        self._has_served = False  # whether the collection has answered yet
        self._halted: SolrHalted | None = None
        self._given_up: Exception | None = None  # why, once patience was at its end
        self._outage = threading.Lock()  # held by the thread that looks whether Solr is back
        self._prepared = Prepared()
        self._process = os.getpid()

    # The signature is requests' own: pysolr and our client call it alike.
    def request(self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any) -> Any:
        """Send a request; the response is JSON with status 0, or an error of ours is raised."""
        sent = kwargs | self._ruled(str(url))
        shown = redacted(str(url))

        def send() -> requests.Response:
            self._require_open(shown)
            return self._answered(shown, method, url, *args, **sent)

        return self._lasting(send)

    def prepare_request(self, request: requests.Request) -> requests.PreparedRequest:
        """As requests does, but only once for requests that differ in nothing but the body."""
        prepare = super().prepare_request
        return prepare(request) if self.cookies else self._prepared.prepared(request, self, prepare)

    def pieces(self, url: str, params: Mapping[str, str]) -> Iterator[bytes]:
        """The body of a large answer, piece by piece as it comes; only its status is checked.

        Raises SolrAnswerError if it breaks off: what was given by then is not all of it.
        """
        sent = {"params": params, "stream": True, **self._ruled(url)}

        def send() -> requests.Response:
            shown = redacted(url)
            response = self._received(shown, "GET", url, **sent)
            if response.status_code != 200:
                self._checked(response, shown)
            return response

        with self._lasting(send) as response:
            try:
                yield from response.iter_content(PIECE)
            except requests.exceptions.RequestException as error:
                reason = f"the answer broke off: {_cause(error)}"
                raise SolrAnswerError(redacted(url), 200, reason, LOG) from None

    @contextmanager
    def patient(self, seconds: float) -> Iterator[None]:
        """Within the block, wait for a Solr that is away for at most so many seconds each time.

        A request that gets no answer is sent again once the collection can be searched and has
        replayed its log. Nothing is waited for before the collection has answered once: its
        address may be wrong.
        """
        before, self._patience = self._patience, seconds
        self._halted = self._given_up = None
        try:
            yield
        finally:
            self._patience = before

    def hurry(self) -> None:
        """Wait for no outage any more: the user wants to stop."""
        self._patience = 0.0

    def until_ready(self) -> None:
        """Return once the collection answers and has replayed its log.

        Until then a commit is accepted and does nothing. Raises SolrUnreachable if patience is at
        its end before.
        """
        deadline = time.monotonic() + self._patience
        while not self._is_back():
            if time.monotonic() >= deadline:
                raise SolrUnreachable(self.home, _REPLAYING, _LATER)
            time.sleep(PROBE_PAUSE)

    def _lasting(self, send: Callable[[], requests.Response]) -> requests.Response:
        """The response to a request, sent again after faults that pass, and after outages."""
        is_patient, is_over = self._patience > 0, False

        def waiting() -> requests.Response:
            nonlocal is_over
            try:
                return send()
            except SolrError as error:
                if self._patience and self._is_outage(error):
                    is_over = True  # unless it comes back
                    self._wait_for_it(error)
                    is_over = False
                raise

        def passes(error: SolrError) -> bool:
            # If patience is at its end, or the user wants to stop, nobody waits for it any more.
            is_left = not is_over and (self._patience > 0 or not is_patient)
            return is_left and self._passes(error)

        retry = self.retry
        if is_patient:
            seconds = max(retry.seconds, 2 * self._patience)
            retry = replace(retry, attempts=PATIENT_ATTEMPTS, seconds=seconds)
        return retrying(waiting, retry=retry, passes=passes)

    def _is_outage(self, error: SolrError) -> bool:
        """Whether Solr is away, or back but not ready yet."""
        if isinstance(error, CoreMissing):
            return self._has_served
        if isinstance(error, SolrAnswerError):
            is_ending = error.status == 500 and any(sign in error.reason for sign in _ENDING)
            return self._has_served and (is_ending or error.status in (502, 503, 504))
        return isinstance(error, SolrUnreachable) and self.reached

    def _wait_for_it(self, error: SolrError) -> None:
        """Wait until Solr is back; raises the error, or why it cannot be started, at the end."""
        self.outages += 1
        with self._outage:
            if self._is_back():
                return
            if self._given_up is not None:  # another thread has waited as long as it may
                raise self._given_up
            began = time.monotonic()
            bound = spoken(self._patience)
            LOGGED.warning("%s: %s; waiting up to %s for it", error.url, error.reason, bound)
            fault: Exception = error
            while time.monotonic() - began < self._patience:
                try:
                    self.revive()
                except ServerError as ended:
                    fault = ended
                else:
                    fault = error
                    if self._is_back():
                        away = spoken(time.monotonic() - began)
                        LOGGED.warning("%s: it answers again, after %s", error.url, away)
                        return
                time.sleep(PROBE_PAUSE)
            self._given_up = fault
            raise fault from None

    def _is_back(self) -> bool:
        """Whether the collection answers, and has replayed what was not committed."""
        if not self.home:
            return True
        base, _, name = self.home.rpartition("/")
        try:
            self._probed(f"{self.home}/select", q="*:*", rows="0")
        except SolrError:
            return False
        try:
            states = self._probed(f"{base}/admin/metrics", group="core", prefix=_REPLAY)
        except SolrError:
            return True  # it does not tell; what it has replayed is counted anyway
        cores = states.get("metrics")
        own = {f"solr.core.{name}"}
        return not isinstance(cores, dict) or all(
            state.get(_REPLAY, _REPLAYED) == _REPLAYED
            for core, state in cores.items()
            if core in own or core.startswith(f"solr.core.{name}.")
        )

    def _probed(self, url: str, **params: str) -> dict[str, Any]:
        sent = self._ruled(url) | {"timeout": (CONNECT_SECONDS, PROBE_SECONDS)}
        return answer(self._answered(url, "GET", url, params={**params, "wt": "json"}, **sent))

    def _require_open(self, url: str) -> None:
        """Send no update to a Solr that is halted: a commit could lose what it had accepted."""
        if self._halted is not None and url.endswith("/update"):
            raise self._halted

    def _ruled(self, url: str) -> dict[str, Any]:
        """What every request is sent with."""
        if self._process != os.getpid():
            # After a fork the parent's connections are open here too; both would use the same ones.
            self._process = os.getpid()
            (self.carrier or self).close()
        ruled: dict[str, Any] = {
            "allow_redirects": False,
            "timeout": (SEND_SECONDS if self.reached else CONNECT_SECONDS, READ_SECONDS),
            "proxies": past_proxies(url),
        }
        if self.auth is not None:
            ruled["auth"] = self.auth
        if self.verify is not True:
            # With each request, or requests would prefer $REQUESTS_CA_BUNDLE to the session's.
            ruled["verify"] = self.verify
        return ruled

    def _answered(self, shown: str, *args: Any, **kwargs: Any) -> requests.Response:
        return self._checked(self._received(shown, *args, **kwargs), shown)

    def _received(self, shown: str, *args: Any, **kwargs: Any) -> requests.Response:
        send = super().request if self.carrier is None else self.carrier.request
        try:
            response = send(*args, **kwargs | {"stream": True})
            if not kwargs.get("stream") or response.status_code != 200:
                take_in(response, shown)
                self._require_ended(response, shown)
        except requests.exceptions.ContentDecodingError:
            self.reached = True
            reason = "the answer is damaged: it cannot be unpacked"
            raise SolrAnswerError(shown, 200, reason, NOT_SOLR) from None
        except LocationParseError:  # which requests lets through for the address of a proxy
            raise self._unreachable(shown, "the proxy on the way has no valid address") from None
        except requests.exceptions.RequestException as error:
            # A hook of the carrier may raise an error that comes with an answer.
            if error.response is None:
                raise self._unreachable(shown, _cause(error)) from None
            response = error.response
        self.reached = True
        return response

    def _require_ended(self, response: requests.Response, shown: str) -> None:
        """Refuse an answer that was cut off inside its headers, which looks like an empty one."""
        told = {name.lower() for name in response.headers}
        if response.status_code == 200 and not response.content and not _LENGTHS & told:
            raise self._unreachable(shown, CUT_OFF)

    def _checked(self, response: requests.Response, shown: str) -> requests.Response:
        try:
            check(response, shown, embedded=self.embedded)
            if shown.endswith("/update"):  # a tolerant chain tells of a full disk in a success
                refused_by(shown, answer(response))
        except SolrAnswerError as error:
            error.retry_after = _seconds(response.headers.get("Retry-After", ""))
            raise
        except SolrHalted as error:
            self._halted = error
            raise
        self._has_served = self._has_served or shown.startswith(f"{self.home}/")
        return response

    def _passes(self, error: SolrError) -> bool:
        if self._patience and self._is_outage(error):
            return True
        # If nothing has ever answered, the address is wrong rather than the Solr busy.
        return passes(error) and (self.reached or not isinstance(error, SolrUnreachable))

    def _unreachable(self, shown: str, cause: str) -> SolrUnreachable:
        if self.embedded:
            return SolrUnreachable(shown, cause, _EMBEDDED)
        if remedy := next_step(cause) or (_AGAIN if self.reached else None):
            return SolrUnreachable(shown, cause, remedy)
        return SolrUnreachable(shown, cause)


def _nothing() -> object:
    """A Solr that is not ours is started by others."""
    return None


def spoken(seconds: float) -> str:
    """A time in words, such as "5 minutes" or "12 seconds"."""
    minutes, rest = divmod(round(seconds), 60)
    number, unit = (minutes, "minute") if minutes and not rest else (round(seconds), "second")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _seconds(retry_after: str) -> float:
    """The seconds of a Retry-After header; a date, which no Solr sends, counts as none."""
    return float(retry_after) if retry_after.isdecimal() else 0.0


@runtime_checkable
class Connection(Protocol):
    """What is used of a connection that the user has, such as a `pysolr.Solr`."""

    url: str
    auth: Any

    def get_session(self) -> requests.Session:
        """The session that sends its requests."""


def open_session(
    address: str | Connection, *, embedded: bool = False, access: Access | None = None
) -> tuple[CheckedSession, str]:
    """A session for an address, and the address without user and password.

    Instead of an address, a connection that the user has: its own session sends the requests, with
    its headers, certificates, proxies and adapters, and `access` is not used.

    Raises ArgumentError if the address is not an http or https URL, the CA file of `access` cannot
    be read, or a password would go unencrypted to another machine; SettingsError if there is a
    user without a password, or the other way round.
    """
    url = address if isinstance(address, str) else address.url
    parts = _split(url)
    if isinstance(address, str):
        access = access or Access()
        session = CheckedSession(embedded=embedded)
        _furnish(session, access, is_tls=parts.scheme == "https")
        if embedded:
            session.auth = as_sent(*access.embedded) if access.embedded else None
        else:
            found = credentials(parts)
            require_private(parts, found, access.headers, plain_http=access.plain_http)
            session.auth = as_sent(found.user, found.password) if found else None
    else:
        carrier = address.get_session()
        session = CheckedSession(carrier=carrier)
        session.auth = address.auth or carrier.auth
        if session.auth is None and parts.username is not None:
            session.auth = (unquote(parts.username), unquote(parts.password or ""))
    return session, redacted(url).rstrip("/")


def _furnish(session: CheckedSession, access: Access, *, is_tls: bool) -> None:
    session.headers.update({"Accept": "application/json", **access.headers})
    if is_tls and (authority := access.authority()):
        session.verify = authority
    if access.proxy is not None:
        session.proxies = {"http": access.proxy, "https": access.proxy}


def _split(address: str) -> SplitResult:
    # It would be cut at the "/", and half of a password shown as its host and port.
    if re.search(r"://[^/?#]*[/?#].*@", address, re.DOTALL):
        shown = address.rpartition("@")[2]
        raise ArgumentError(
            f"`address` (…@{shown}) has an '@' after its first '/', '?' or '#'",
            "in a user or password write %2F for '/', %3F for '?', %23 for '#' and %40 for '@'",
        )
    if not _is_url(address):
        shown = address.rpartition("@")[2]
        raise ArgumentError(
            f"`address` cannot be {shown!r}", "give one such as http://host:8983/solr"
        )
    return urlsplit(address)


def _is_url(address: str, schemes: Sequence[str] = ("http", "https")) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _cause(error: requests.exceptions.RequestException) -> str:
    return "no answer in time" if isinstance(error, requests.exceptions.Timeout) else cause(error)
