"""Update documents of a collection in place, and undo no other change.

`annotate`, `strip` and `reband` share it: they say what is read of a document, and what is written.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

from neardup_solr import errors, progress
from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.progress import Failures, OnProgress, Progress, ignore
from neardup_solr.solr import update
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import VERSION
from neardup_solr.solr.refusals import Refusal, Sent
from neardup_solr.solr.settle import settle
from neardup_solr.solr.update import Order
from neardup_solr.verbs.annotate.rate_limit import RateLimit
from neardup_solr.verbs.annotate.whole import WholeWriter, make_writer
from neardup_solr.verbs.field_names import own_fields
from neardup_solr.verbs.losses import LossCheck

Row = dict[str, Any]
T = TypeVar("T")
_INSTEAD = "use an update chain that keeps the fields, or annotate into a different collection"
_GIVEN_UP = "every attempt to write it failed: another program changed it, or a node lost it"
FIRST = 3  # documents that are updated one by one and compared, before any other is updated


@dataclass(slots=True)
class Rewrite:
    """A run: how many documents were `read`, `gone` or `redone`, and what failed.

    `fields` are read of each document, and `make_orders` makes the orders for these rows; its
    second argument is True if they are read again, because Solr dropped the first order for a
    document that had changed. `stage` names the work in reports of progress. `params` go with all
    updates, and `on_sent` gets the outcome.
    """

    collection: Collection
    stage: str
    fields: Sequence[str]
    make_orders: Callable[[list[Row], bool], list[Order]]
    pace: RateLimit = field(default_factory=RateLimit)
    failures: Failures = field(default_factory=lambda: Failures(ignore))
    on_progress: OnProgress = ignore
    params: Mapping[str, str] = field(default_factory=dict)
    on_sent: Callable[[Sent], None] = ignore
    total: int = 0
    read: int = 0
    gone: int = 0
    redone: int = 0
    started: float = field(default_factory=time.monotonic)
    undone: list[str] = field(default_factory=list)
    _untried: int = FIRST
    _ours: frozenset[str] = frozenset()
    _writer: WholeWriter | None = None
    _losses: LossCheck = field(init=False)

    def run(self, filters: Sequence[str]) -> None:
        """Update all documents that match the filters. Those that others change are read again.

        Raises SolrAnswerError if Solr refuses a whole batch, SettingsError if an update changes
        more than it should: then a single document was touched.
        """
        self.total = self.collection.count(filters)
        self.prepare()
        outages, ids = self.collection.session.outages, self.collection.ids
        everything: Iterable[str] = ids(filters)
        count, again = outages.count, set[str]()

        def send(rest: Iterable[str]) -> None:
            self.undone = []
            again.update(self.go_through(iter(rest), again=rest is not everything))

        def missing() -> Iterable[str]:
            """List the ids to read again: all, if Solr was away and may have lost some."""
            nonlocal count
            before, count = count, outages.count
            return self.undone if count == before else ids(filters)

        settle(self.collection, send, missing, everything)
        for id in self.undone:
            self._fail(Refusal(id=id, reason=_GIVEN_UP))
        self.redone = len(again)

    def end(self) -> dict[str, Any]:
        """Log what failed, and list counts of the run by their names in summaries."""
        self.failures.warn()
        return {
            "redone": self.redone,
            "failed": self.failures.count,
            "errors": tuple(self.failures.first),
            "seconds": time.monotonic() - self.started,
        }

    def prepare(self) -> None:
        """Look how this collection can be written. The first documents will be compared."""
        self._read_schema()
        self._untried = FIRST

    def _read_schema(self) -> None:
        """Look how documents can be written by the schema of now."""
        self._ours = own_fields(self.collection)
        losses = LossCheck(self.collection, self._ours).renew()  # first: the schema may change
        self._writer = make_writer(self.collection, self._ours)
        self._losses = losses

    def go_through(self, ids: Iterator[str], *, again: bool = False) -> set[str]:
        """Read, order and send at the same time: the next page is read while another is sent.

        Returns the ids that were ordered, if they are gone through again.
        """
        ordered: set[str] = set()
        waiting: deque[Future[Sent]] = deque()
        since = time.monotonic()
        with progress.thread_pool(1 + self.pace.threads) as pool:
            read = progress.prefetch(pool, self._read_page, pages(ids, self.pace.batch))
            for ids_read, rows in read:
                self._count_read(len(ids_read), len(rows), again=again)
                orders = self.make_orders(rows, again)
                if again:
                    ordered.update(order.id for order in orders)
                for portion in self.pace.portions(orders):
                    while len(waiting) > self.pace.threads:
                        self._acknowledge(waiting.popleft().result())
                    waiting.append(pool.submit(self._send, self._try_first(portion)))
                    since = self.pace.wait(len(portion), since)
            while waiting:
                self._acknowledge(waiting.popleft().result())
            return ordered

    def _read_page(self, ids: list[str]) -> tuple[list[str], list[Row]]:
        return ids, self.collection.stored(ids, self.fields, of_leaders=True)

    def _try_first(self, orders: list[Order]) -> list[Order]:
        """Send and compare the first orders of a run, and return those that are left."""
        if orders and self._untried:
            self._look(orders)  # of this batch none is sent if one is refused
        while orders and self._untried:
            self._untried -= 1
            sent = _update_and_compare(self.collection, orders[0], self._ours, self._update)
            self._acknowledge(sent)
            orders = orders[1:]
        return orders

    def _update(self, orders: Sequence[Order]) -> Sent:
        """Write documents whole where that comes to the same, and update the others.

        Of those that have changed since they were read no update is sent, as Solr would drop it.
        """
        orders, versions = self._look(orders)
        params = {**self.params, **self._writer.params} if self._writer else self.params
        current = [order for order in orders if versions.get(order.id) == order.version]
        sent = update.send(self.collection, current, params)
        changed = {order.id for order in orders} - {order.id for order in current}
        return replace(sent, dropped=sent.dropped | changed)

    def _look(self, orders: Sequence[Order]) -> tuple[Sequence[Order], Mapping[str, int]]:
        """Choose how to write documents, and refuse to if that would lose anything of others."""
        if self._losses.renew() is not self._losses:
            self._read_schema()
        if self._writer is not None:
            orders = self._writer.complete(orders)
        return orders, self._losses.require_none(orders)

    def _send(self, orders: list[Order]) -> Sent:
        sent = self._update(orders)
        if len(sent.refused) == len(orders) > 1:
            reason = f"Solr refuses every document: {sent.refused[-1].reason}"
            lint = f"neardup lint {self.collection.place}"
            next_step = f"check whether the schema has changed ({lint}), then run it again"
            raise SolrAnswerError(self.collection.url, 400, reason, next_step, code="solr-refused")
        return sent

    def _count_read(self, ids: int, rows: int, *, again: bool) -> None:
        self.gone += ids - rows
        if not again:
            self.read += ids
            self.on_progress(Progress(self.stage, self.read, max(self.total, self.read)))

    def _acknowledge(self, sent: Sent) -> None:
        # Documents that another node handled are read again too: they may need nothing more.
        self.undone += sorted(sent.dropped | sent.unsure)
        self.on_sent(sent)
        for refusal in sent.refused:
            self._fail(refusal)

    def _fail(self, refusal: Refusal) -> None:
        self.failures.add(
            errors.RecordError("not written", refusal.reason, refusal.id, code="record-refused")
        )


def pages(ids: Iterator[T], size: int) -> Iterator[list[T]]:
    """Part ids, or pairs with ids, into lists of at most so many."""
    while page := list(islice(ids, size)):
        yield page


def _update_and_compare(
    collection: Collection,
    order: Order,
    ours: frozenset[str],
    update_all: Callable[[Sequence[Order]], Sent],
) -> Sent:
    """Send an order alone, commit, and compare the fields that are not `ours`.

    Raises SettingsError if any has changed; the document is then restored as far as Solr allows,
    and the error says so.
    """

    def read() -> Row:
        document = next(iter(collection.whole([order.id])), {})
        return {name: value for name, value in document.items() if name not in ours}

    before, sent = read(), update_all([order])
    if order.id not in sent.versions and order.id not in sent.unsure:
        return sent
    collection.commit()
    after = read()
    # A change by another program before or after ours has another version.
    version = sent.versions.get(order.id, after.get(VERSION))
    if before.get(VERSION) != order.version or after.get(VERSION) != version:
        return sent
    names = sorted((before.keys() | after.keys()) - {VERSION})
    changed = {name: before.get(name) for name in names if before.get(name) != after.get(name)}
    if not changed:
        return sent
    put_back = "they could not be restored"
    if (latest := sent.versions.get(order.id)) is not None:
        update.send(collection, [Order(order.id, latest, changed)])
        collection.commit()
        now = read()
        if all(now.get(name) == value for name, value in changed.items()):
            put_back = "they were restored"
    reason = f"an update of the document {order.id!r} changed other fields: {', '.join(changed)}"
    raise SettingsError(f"{reason} ({put_back})", _INSTEAD, code="data-at-risk")
