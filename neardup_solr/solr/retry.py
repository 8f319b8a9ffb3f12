"""Requests to Solr that are repeated after a fault that passes."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from neardup_solr.errors import SolrAnswerError, SolrError
from neardup_solr.sizes import SIZES

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Retry limits. Whole requests are repeated, which is safe: documents are sent by id."""

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
            least = error.retry_after if isinstance(error, SolrAnswerError) else 0.0
            bound = min(SIZES.longest_wait, retry.first_wait * 2**attempt)
            wait = max(least, random.uniform(0, bound))
            if attempt == retry.attempts or not passes(error) or time.monotonic() + wait > deadline:
                raise
            time.sleep(wait)
    raise AssertionError("a retry has at least one attempt")
