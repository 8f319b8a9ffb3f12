"""The speed at which documents are written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from neardup_solr.checks import require_positive
from neardup_solr.errors import ArgumentError
from neardup_solr.solr.update import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """Speed at which documents are written: arguments of `annotate` and `strip`, checked.

    At most `rate` documents a second (0: no limit), by `threads` threads; `batch` documents are
    read and sent at once, fewer if the rate is lower.

    Raises ArgumentError if a number is out of range.
    """

    rate: float = 0.0
    threads: int = 2
    batch: int = 500

    def __post_init__(self) -> None:
        if self.rate < 0:
            reason, step = f"`rate` cannot be {self.rate:g}", "give 0 or more per second"
            raise ArgumentError(reason, step, code="argument-out-of-range")
        require_positive(threads=self.threads, batch=self.batch)

    def portions(self, orders: list[Order]) -> Iterator[list[Order]]:
        """Part orders into what is sent at once: a batch, but no more than a second's share."""
        size = max(1, int(min(self.batch, self.rate or self.batch)))
        return (orders[at : at + size] for at in range(0, len(orders), size))

    def wait(self, sent: int, since: float) -> float:
        """Wait until `sent` documents `since` that time are due, and return the time.

        It is called for each portion, so that a pause is not made up for later.
        """
        if self.rate:
            time.sleep(max(0.0, sent / self.rate - (time.monotonic() - since)))
        return time.monotonic()
