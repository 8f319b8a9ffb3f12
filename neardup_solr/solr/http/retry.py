"""Retries: of named faults only, bounded in attempts and in time, with full jitter."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from neardup_solr.errors import SolrAnswerError, SolrError, SolrUnreachable

T = TypeVar("T")
PASSING = frozenset({429, 502, 503, 504})  # 500 is not: a full disk answers so, and stays full


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How often and how long to try again: whole requests, safe because documents go by id."""

    attempts: int = 6
    seconds: float = 60.0
    first_wait: float = 0.2


def retrying(call: Callable[[], T], *, retry: Retry, passes: Callable[[SolrError], bool]) -> T:
    """The result of a call, tried again after faults of which `passes` says that they pass.

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
            wait = max(asked, random.uniform(0, retry.first_wait * 2**attempt))
            if not passes(error) or attempt == retry.attempts or time.monotonic() + wait > deadline:
                raise
            time.sleep(wait)
    raise AssertionError("a retry has at least one attempt")


def passes(error: SolrError) -> bool:
    """Whether a fault may pass by itself: no connection, 429, 502, 503 or 504."""
    if isinstance(error, SolrAnswerError):
        return error.status in PASSING
    return isinstance(error, SolrUnreachable)
