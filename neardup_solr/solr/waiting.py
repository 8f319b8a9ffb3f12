"""Waiting for a Solr that is away, restarts, or replays its log, trying again, other nodes.

Documents that Solr has accepted, and not committed, are in its log. If it was killed, it replays
that log after it has started; until then a commit is accepted and does nothing.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from neardup_solr.errors import (
    ServerError,
    SolrAnswerError,
    SolrError,
    SolrHalted,
    SolrUnauthorized,
    SolrUnreachable,
    counted,
)
from neardup_solr.progress import LOG
from neardup_solr.solr.credentials import is_loopback
from neardup_solr.solr.responses import is_of_cluster

LONGEST_WAIT = 30.0  # seconds between two attempts, if the server does not ask for more
PASSING = frozenset({429, 502, 503, 504})  # "come again", also to the very first request
T = TypeVar("T")
PROBE_PAUSE = 0.5  # seconds between two looks whether it is back
NOTICE_SECONDS = 50.0  # until a cloud has noticed that a node has gone, and chosen new leaders
PAUSE = 1.0  # seconds between two looks at a cloud that may catch up
PATIENT_ATTEMPTS = 30  # then a request that ends the server each time is given up
_REPLAY, _REPLAYED = "TLOG.state", 3
_REPLAYING = "Solr is away, or still replays its log"
_LATER = "see that it runs and can be searched, then run the same command again"

Ask = Callable[..., dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Bounds of trying again: whole requests, safe because documents go by id."""

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
            if attempt == retry.attempts or not passes(error) or time.monotonic() + wait > deadline:
                raise
            time.sleep(wait)
    raise AssertionError("a retry has at least one attempt")


def passes(error: SolrError) -> bool:
    """Return True if a fault may pass: no connection, 429, 502, 503, 504, a node that is away."""
    if isinstance(error, SolrAnswerError):
        return error.status in PASSING or is_of_cluster(error)
    return isinstance(error, SolrUnreachable)


class Outages:
    """The outages of one Solr, which are waited for within a block of `waited_for`.

    `home` is the address of the collection that is looked for; `ask` asks an address for JSON, and
    gives up soon, at a given time at the latest. `revive` starts a Solr of ours again if it has
    ended. `count` is how often a request got no right answer; `halted` says why no update may be
    sent any more.
    """

    def __init__(self, ask: Ask) -> None:
        self.home = ""
        self.revive: Callable[[], object] = lambda: None  # one that is not ours, others start
        self.count = 0
        self.halted: SolrHalted | None = None
        self.has_served = False  # whether the collection has answered yet
        self._ask = ask
        self.patience = 0.0  # seconds for which an outage is waited for
        self._given_up: Exception | None = None  # why, once patience was at its end
        self._fault: SolrError | None = None  # of the last look whether it is back
        self._lock = threading.Lock()  # held by the thread that looks whether Solr is back

    @contextmanager
    def waited_for(self, seconds: float) -> Iterator[None]:
        """Within the block, wait for a right answer to each request for at most so many seconds.

        A request that gets none, or a wrong one, is sent again once the collection can be searched
        and has replayed its log. Nothing is waited for before a first right answer: the address
        may be wrong.
        """
        before, self.patience = self.patience, seconds
        self.halted = self._given_up = None
        try:
            yield
        finally:
            self.patience = before

    def stop_waiting(self) -> None:
        """Wait for no outage any more: the user wants to stop."""
        self.patience = 0.0

    def until_ready(self) -> None:
        """Return once the collection answers and has replayed its log.

        Raises SolrUnreachable if patience is at its end before.
        """
        end = time.monotonic() + self.patience
        missed = SolrUnreachable(self.home, _REPLAYING, _LATER)
        self.until(lambda: self.is_over(end), lambda: missed)

    def until(
        self,
        is_so: Callable[[], bool],
        error: Callable[[], SolrUnreachable],
        pause: float = PROBE_PAUSE,
    ) -> None:
        """Return once something is so, which is asked for again and again with pauses.

        Raises the error if patience is at its end before.
        """
        began = time.monotonic()
        while not is_so():
            if time.monotonic() - began >= self.patience:
                raise error()
            time.sleep(pause)

    @property
    def are_waited_for(self) -> bool:
        """Return True if there is any patience left."""
        return self.patience > 0

    def wait(self, error: SolrError, end: float, *, is_second: bool = False) -> None:
        """Wait until Solr is back. Raises the error, or why it cannot be started, at the end.

        If Solr is there, the `is_second` of the errors of a request is told, as more may come.

        Raises SolrUnauthorized at once if it is back and refuses the credentials.
        """
        self.count += 1
        bound = format_time(self.patience)
        with self._lock:
            # Of a cloud one node may be away, and the others answer.
            with suppress(ServerError):
                self.revive()
            if self.is_over(end):
                if is_second:
                    LOG.warning("%s: %s; trying for %s", error.url, error.reason, bound)
                return
            if self._given_up is not None:  # another thread has waited as long as it may
                raise self._given_up
            began = time.monotonic()
            LOG.warning("%s: %s; waiting up to %s for it", error.url, error.reason, bound)
            fault: Exception = error
            while time.monotonic() < end and self.are_waited_for:
                try:
                    self.revive()
                    fault = error
                    if self.is_over(end):
                        away = format_time(time.monotonic() - began)
                        LOG.warning("%s: it answers again, after %s", error.url, away)
                        return
                except SolrUnauthorized as refused:
                    fault = refused
                    break
                except ServerError as ended:
                    fault = ended
                time.sleep(PROBE_PAUSE)
            if fault is error and self.are_waited_for:
                self._explain(error, format_time(time.monotonic() - began))
            self._given_up = fault
            raise fault from None

    def _explain(self, error: SolrError, waited: str) -> None:
        """Give an error what was wrong at the end of a wait: not always what was at first."""
        last = self._fault or error
        error.reason = f"it has not come back in {waited}: {last.reason}"
        # What says which part is away says what to start; other answers send to Solr's log.
        is_told = isinstance(last, SolrUnreachable) or last.next_step.startswith("start ")
        error.next_step = last.next_step if is_told else _LATER

    def is_over(self, end: float = math.inf) -> bool:
        """Return True if the collection answers by then, and has replayed its log."""
        if not self.home:
            return True
        base, _, name = self.home.rpartition("/")
        try:
            found = self._ask(f"{self.home}/select", end, q="*:*", rows="0")
        except SolrUnauthorized:
            raise  # which no waiting changes, and asking again may lock the account
        except SolrError as error:
            self._fault = error
            return False
        self._fault = None
        if found["responseHeader"].get("zkConnected") is False:  # it takes no updates then
            return False
        try:
            told = self._ask(f"{base}/admin/metrics", end, group="core", prefix=_REPLAY)
        except SolrError:
            return True  # it does not tell; what it has replayed is counted anyway
        cores = told.get("metrics")
        own = f"solr.core.{name}"
        return not isinstance(cores, dict) or all(
            state.get(_REPLAY, _REPLAYED) == _REPLAYED
            for core, state in cores.items()
            if core == own or core.startswith(f"{own}.")
        )


class Nodes:
    """The addresses by which one Solr can be reached: the one that was given, and further nodes.

    Requests are written for the address that was given, and go to the node that answered last.
    `has_secrets` tells whether a password goes with them, which must not get to other places in
    other ways than the address that was given allows.
    """

    def __init__(self, given: str = "", *, has_secrets: bool = False) -> None:
        self.given, self.has_secrets = given, has_secrets
        self.is_cloud: bool | None = None  # None as long as nobody knows
        self._nodes: tuple[str, ...] = (given,)  # the one that is asked next is the first

    def learn(self, addresses: Iterable[str]) -> None:
        """Learn further nodes, and forget those that are none any more."""
        now = self._nodes[0]
        nodes = list(dict.fromkeys((self.given, *filter(self.may_have, addresses))))
        at = nodes.index(now) if now in nodes else 0
        self._nodes = (*nodes[at:], *nodes[:at])

    def may_have(self, address: str) -> bool:
        """Return True if requests may go to an address that the cluster names."""
        try:
            if not self.is_elsewhere(address):
                return True
            own, other = urlsplit(self.given), urlsplit(address)
            is_near = is_loopback(own.hostname or "")
            is_private = own.scheme == "https" or not is_near or is_loopback(other.hostname or "")
        except ValueError:  # it is no address
            return False
        return own.scheme == other.scheme and (is_private or not self.has_secrets)

    def is_elsewhere(self, address: str) -> bool:
        """Return True if an address has another host, or another scheme, than that given."""
        if not self.given or address.startswith(f"{self.given}/"):  # nearly always
            return False
        own, other = urlsplit(self.given), urlsplit(address)
        return (own.scheme, own.hostname) != (other.scheme, other.hostname)

    def in_turn(self, url: str) -> Iterator[str]:
        """The request's address at each node: at the one that answered last, then at the others."""
        nodes = self._nodes  # another thread may learn others
        if not url.startswith(f"{self.given}/") or len(nodes) < 2:
            yield url
            return
        for node in nodes:
            yield node + url[len(self.given) :]
            if self._nodes[0] == node:  # it did not answer
                self.next_node()

    def next_node(self) -> None:
        """Ask another node next time: what is wrong may be wrong with this one alone."""
        now, *others = self._nodes
        self._nodes = (*others, now)


def format_time(seconds: float) -> str:
    """Say a time in words, such as "5 minutes" or "12 seconds"."""
    minutes, rest = divmod(round(seconds), 60)
    is_even = minutes and not rest
    return counted(minutes, "minute") if is_even else counted(round(seconds), "second")
