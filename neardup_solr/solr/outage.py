"""Waiting for a Solr that is away, restarts, or replays its log.

Documents that Solr has accepted, and not committed, are in its log. If it was killed, it replays
that log after it has started; until then a commit is accepted and does nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from neardup_solr.errors import (
    CoreMissing,
    ServerError,
    SolrAnswerError,
    SolrError,
    SolrHalted,
    SolrUnauthorized,
    SolrUnreachable,
)
from neardup_solr.progress import LOG
from neardup_solr.solr.answers import is_of_cluster
from neardup_solr.solr.retry import Retry

PROBE_PAUSE = 0.5  # seconds between two looks whether it is back
PATIENT_ATTEMPTS = 30  # then a request that ends the server each time is given up
# What the answers of a Solr say that is about to end, or has just begun.
_ENDING = ("SolrCore", "CoreContainer", "shutting down", "shut down")
_REPLAY, _REPLAYED = "TLOG.state", 3
_REPLAYING = "Solr is away, or still replays its log"
_LATER = "see that it runs and can be searched, then run the same command again"

Ask = Callable[..., dict[str, Any]]


class Outages:
    """The outages of one Solr, which are waited for within a block of `waited_for`.

    `home` is the address of the collection that is looked for; `ask` asks an address for JSON, and
    gives up soon. `revive` starts a Solr of ours again if it has ended. `count` is how often Solr
    did not answer; `halted` says why no update may be sent any more.
    """

    def __init__(self, ask: Ask) -> None:
        self.home, self.revive = "", _nothing
        self.count = 0
        self.halted: SolrHalted | None = None
        self.has_served = False  # whether the collection has answered yet
        self._ask = ask
        self._patience = 0.0
        self._given_up: Exception | None = None  # why, once patience was at its end
        self._lock = threading.Lock()  # held by the thread that looks whether Solr is back

    @contextmanager
    def waited_for(self, seconds: float) -> Iterator[None]:
        """Within the block, wait for a Solr that is away for at most so many seconds each time.

        A request that gets no answer is sent again once the collection can be searched and has
        replayed its log. Nothing is waited for before the collection has answered once: its
        address may be wrong.
        """
        before, self._patience = self._patience, seconds
        self.halted = self._given_up = None
        try:
            yield
        finally:
            self._patience = before

    def hurry(self) -> None:
        """Wait for no outage any more: the user wants to stop."""
        self._patience = 0.0

    def until_ready(self) -> None:
        """Return once the collection answers and has replayed its log.

        Raises SolrUnreachable if patience is at its end before.
        """
        self.until(self.is_over, lambda: SolrUnreachable(self.home, _REPLAYING, _LATER))

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
            if time.monotonic() - began >= self._patience:
                raise error()
            time.sleep(pause)

    @property
    def patience(self) -> float:
        """For how many seconds an outage is waited for."""
        return self._patience

    @property
    def are_waited_for(self) -> bool:
        """Whether there is any patience left."""
        return self._patience > 0

    def patient(self, retry: Retry) -> Retry:
        """How often and how long to try again if outages are waited for."""
        seconds = max(retry.seconds, 2 * self._patience)
        return Retry(attempts=PATIENT_ATTEMPTS, seconds=seconds, first_wait=retry.first_wait)

    def is_one(self, error: SolrError) -> bool:
        """Whether an error says that Solr is away, or back but not ready yet.

        That no connection was made is for the caller to judge: the address may be wrong.
        """
        if isinstance(error, CoreMissing):
            return self.has_served
        if isinstance(error, SolrAnswerError):
            if is_of_cluster(error):  # the address is right: the cluster knows the collection
                return True
            is_ending = error.status == 500 and any(sign in error.reason for sign in _ENDING)
            return self.has_served and (is_ending or error.status in (502, 503, 504))
        return isinstance(error, SolrUnreachable)

    def wait(self, error: SolrError) -> None:
        """Wait until Solr is back; raises the error, or why it cannot be started, at the end.

        Raises SolrUnauthorized at once if it is back and refuses the credentials.
        """
        self.count += 1
        with self._lock:
            # Of a cloud one node may be away, and the others answer.
            with suppress(ServerError):
                self.revive()
            if self.is_over():
                return
            if self._given_up is not None:  # another thread has waited as long as it may
                raise self._given_up
            began = time.monotonic()
            bound = spoken(self._patience)
            LOG.warning("%s: %s; waiting up to %s for it", error.url, error.reason, bound)
            fault: Exception = error
            while time.monotonic() - began < self._patience:
                try:
                    self.revive()
                    fault = error
                    if self.is_over():
                        away = spoken(time.monotonic() - began)
                        LOG.warning("%s: it answers again, after %s", error.url, away)
                        return
                except SolrUnauthorized as refused:
                    fault = refused
                    break
                except ServerError as ended:
                    fault = ended
                time.sleep(PROBE_PAUSE)
            self._given_up = fault
            raise fault from None

    def is_over(self) -> bool:
        """Whether the collection answers, and has replayed what was not committed."""
        if not self.home:
            return True
        base, _, name = self.home.rpartition("/")
        try:
            found = self._ask(f"{self.home}/select", q="*:*", rows="0")
        except SolrUnauthorized:
            raise  # which no waiting changes, and asking again may lock the account
        except SolrError:
            return False
        if found["responseHeader"].get("zkConnected") is False:  # it takes no updates then
            return False
        try:
            told = self._ask(f"{base}/admin/metrics", group="core", prefix=_REPLAY)
        except SolrError:
            return True  # it does not tell; what it has replayed is counted anyway
        cores = told.get("metrics")
        own = f"solr.core.{name}"
        return not isinstance(cores, dict) or all(
            state.get(_REPLAY, _REPLAYED) == _REPLAYED
            for core, state in cores.items()
            if core == own or core.startswith(f"{own}.")
        )


def _nothing() -> object:
    """A Solr that is not ours is started by others."""
    return None


def spoken(seconds: float) -> str:
    """A time in words, such as "5 minutes" or "12 seconds"."""
    minutes, rest = divmod(round(seconds), 60)
    number, unit = (minutes, "minute") if minutes and not rest else (round(seconds), "second")
    return f"{number} {unit}{'' if number == 1 else 's'}"
