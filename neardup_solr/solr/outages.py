"""The outages of a Solr, which are waited for with patience."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from neardup_solr import errors
from neardup_solr.errors import SolrError, SolrUnauthorized, SolrUnreachable
from neardup_solr.progress import LOG, until
from neardup_solr.sizes import SIZES
from neardup_solr.solr.metrics import SolrMetrics

_REPLAYING = "Solr is unavailable, or is still replaying its log"
_LATER = "check that it is running and can be searched, then run the same command again"
Ask = Callable[..., dict[str, Any]]


class Outages:
    """The outages of a Solr, which are waited for within a block of `waited_for`.

    `home` is the address of the collection that is looked for; `ask` asks an address for JSON, and
    `metrics` a server for its metrics; both give up soon, at a time at the latest. `revive` starts
    a Solr of ours again if it has ended. `count` is how often a request got no right answer;
    `halted` says why no update may be sent any more.
    """

    def __init__(self, ask: Ask, metrics: Callable[[str, float], SolrMetrics]) -> None:
        self.home = ""
        self.revive: Callable[[], object] = lambda: None  # others start a Solr that is not ours
        self.count = 0
        self.halted: errors.SolrHalted | None = None
        self.has_served = False  # whether the collection has answered yet
        self._ask, self._metrics = ask, metrics
        self.patience = 0.0  # seconds for which an outage is waited for
        self._given_up: Exception | None = None  # why, once patience was at its end
        self._lock = threading.Lock()  # held by the thread that looks whether Solr is back

    @contextmanager
    def waited_for(self, seconds: float) -> Iterator[None]:
        """Within the block, wait for a right answer to each request for at most so many seconds.

        A request without a right answer is sent again once the collection can be searched and has
        replayed its log. Nothing is waited for before a first right answer: the address
        may be wrong.
        """
        before, self.patience = self.patience, seconds
        self.halted = self._given_up = None
        try:
            yield
        finally:
            if self.patience == seconds:  # unless the user wants to stop
                self.patience = before

    def stop_waiting(self) -> None:
        """Wait for no outage any more: the user wants to stop."""
        self.patience = 0.0

    @property
    def are_waited_for(self) -> bool:
        """Return True if any patience is left."""
        return self.patience > 0

    def until_ready(self) -> None:
        """Return once the collection answers and has replayed its log.

        Raises SolrUnreachable if patience is at its end before.
        """
        end = time.monotonic() + self.patience
        if not until(lambda: self.is_over(end), self.patience, SIZES.outage_pause):
            raise self._unready()

    def _unready(self) -> SolrUnreachable:
        return SolrUnreachable(self.home, _REPLAYING, _LATER)

    def wait(self, error: SolrError, end: float, *, is_second: bool = False) -> None:
        """Wait until Solr is back. Raises the error, or why it cannot be started, at the end.

        If Solr answers at once, the `is_second` of the errors of a request is logged, as more may
        come. Raises SolrUnauthorized without waiting if it refuses the credentials.
        """
        self.count += 1
        bound = format_time(self.patience)
        with self._lock:
            fault = self._look(end, error)
            if fault is None:
                if is_second:
                    LOG.warning("%s: %s; retrying for up to %s", error.url, error.reason, bound)
                return
            if self._given_up is not None:  # another thread has waited as long as it may
                raise self._given_up
            began = time.monotonic()
            if not isinstance(fault, SolrUnauthorized):
                LOG.warning("%s: %s; waiting up to %s for it", error.url, error.reason, bound)
            while not isinstance(fault, SolrUnauthorized | None):
                if not self.are_waited_for or time.monotonic() + SIZES.outage_pause >= end:
                    break
                time.sleep(SIZES.outage_pause)
                fault = self._look(end, error)
            took = format_time(time.monotonic() - began)
            if fault is None:
                LOG.warning("%s: it is available again after %s", error.url, took)
                return
            if isinstance(fault, SolrUnauthorized | errors.ServerError):
                self._given_up = fault
            else:
                self._given_up = error
                if self.are_waited_for:
                    _explain(error, fault, took)
            raise self._given_up from None

    def _look(self, end: float, unready: SolrError) -> SolrError | errors.ServerError | None:
        """Start a Solr of ours if it has ended, and return why it is not back, None if it is."""
        ended = None
        try:
            self.revive()
        except errors.ServerError as error:
            ended = error  # of a cloud a node may be away, and the others answer
        fault = self._fault(end, unready)
        return ended if ended and fault else fault

    def is_over(self, end: float = math.inf) -> bool:
        """Return True if the collection answers by then, and has replayed its log."""
        fault = self._fault(end, self._unready())
        if isinstance(fault, SolrUnauthorized):
            raise fault  # which no waiting changes, and asking again may lock the account
        return fault is None

    def _fault(self, end: float, unready: SolrError) -> SolrError | None:
        """Return why the collection cannot be searched, `unready` while it replays its log."""
        if not self.home:
            return None
        try:
            decoded = self._ask(f"{self.home}/select", end, q="*:*", rows="0")
        except SolrError as error:
            return error
        if decoded["responseHeader"].get("zkConnected") is False:  # it takes no updates then
            return unready
        return None if self._has_replayed(end) else unready

    def _has_replayed(self, end: float) -> bool:
        """Return True if no core of the collection replays its log, as far as Solr tells."""
        base, _, name = self.home.rpartition("/")
        try:
            return not self._metrics(base, end).is_replaying([name])
        except SolrError:
            return True  # what it has replayed is counted anyway


def _explain(error: SolrError, last: SolrError, waited: str) -> None:
    """Give an error what was wrong at the end of a wait: not always what was at first."""
    error.reason = f"it was still unavailable after {waited}: {last.reason}"
    error.code = last.code
    # What says which part is away says what to start; other answers send to Solr's log.
    is_clear = isinstance(last, SolrUnreachable) or last.next_step.startswith("start ")
    error.next_step = last.next_step if is_clear else _LATER


def format_time(seconds: float) -> str:
    """Say a time in words, such as "5 minutes" or "12 seconds"."""
    minutes, rest = divmod(round(seconds), 60)
    is_even = minutes and not rest
    number, unit = (minutes, "minute") if is_even else (round(seconds), "second")
    return errors.counted(number, unit)
