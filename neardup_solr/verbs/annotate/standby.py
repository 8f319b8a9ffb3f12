"""Followers that stand by: of several that follow a collection, one works."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from neardup_solr.sizes import SIZES
from neardup_solr.solr.update import Order

TRIED = 20  # documents by which a follower that stands by sees if another works


@dataclass(slots=True)
class Standby:
    """Sees by the documents whether another follower works, and leaves them to it.

    A follower stands by while another has written most of what both were to write; it tries a few
    documents from time to time, and works again once nobody has written them.
    """

    left: set[str] = field(default_factory=set)  # documents of this round, to another follower
    _dropped: set[str] = field(default_factory=set)  # that another program has changed meanwhile
    _late: int = 0  # documents that another follower has written, of those read in this round
    _next_try: float | None = None  # None while this follower works

    @property
    def is_on(self) -> bool:
        """True while another follower works."""
        return self._next_try is not None

    def is_late(self, since: float) -> bool:
        """Return True if a document has waited too long for another follower."""
        return time.monotonic() - since >= SIZES.standby_seconds[0]

    def begin_round(self) -> None:
        """Begin to read and write some documents."""
        self._late = 0
        self.left.clear()

    def choose(self, orders: list[Order]) -> list[Order]:
        """Choose the orders to send: a few, if it is time to try, while another follower works."""
        if self._next_try is None:
            return orders
        tried = TRIED if time.monotonic() >= self._next_try else 0
        self.left.update(order.id for order in orders[tried:])
        return orders[:tried]

    def note_read(self, ids: Sequence[str], ordered: set[str]) -> None:
        """Note documents that were read, and those of them that are to be written."""
        for id in ids:
            self._late += id in self._dropped and id not in ordered
            self._dropped.discard(id)

    def note_dropped(self, ids: Iterable[str]) -> None:
        """Note documents that another program changed before they were written."""
        self._dropped.update(ids)

    def forget_dropped(self) -> None:
        """Forget these documents, or those deleted meanwhile would stay."""
        self._dropped.clear()

    def end_round(self, written: int, dropped: int) -> None:
        """Stand by if another follower was faster, or else work."""
        if self._late > (0 if self.is_on else written) or (self.is_on and dropped):
            self._next_try = time.monotonic() + random.uniform(*SIZES.standby_seconds)
        elif written:
            self._next_try = None
