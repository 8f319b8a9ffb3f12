"""Update documents of a collection in place, once or as they change, and undo no other change.

`annotate`, `strip` and `reband` share it: they say what is read of a document, and what is written.

In a schema with nested documents, Solr looks for the children of each document that it updates all
over a segment of its index: with 300,000 short documents in a segment, writing documents whole was
two to three times as fast. A document that can be read exactly is read here, and written whole. It
carries the version that was read with it, as an update does, so a change that another program has
made meanwhile is never overwritten.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from neardup_solr import errors, progress
from neardup_solr.arguments import require, require_positive
from neardup_solr.errors import SettingsError, SolrAnswerError, counted
from neardup_solr.progress import LOG, Failures, OnProgress, Progress, ignore
from neardup_solr.records import NOTHING
from neardup_solr.settings import Settings
from neardup_solr.solr import admin, query, schema, update, update_chain
from neardup_solr.solr.collection import DOCS, Collection
from neardup_solr.solr.names import ID, SETTINGS, VERSION
from neardup_solr.solr.refusals import Refusal, Sent
from neardup_solr.solr.schema import INTERNAL, NEST_PATH, Schema
from neardup_solr.solr.settle import settle
from neardup_solr.solr.unsigned import with_text
from neardup_solr.solr.update import Order
from neardup_solr.verbs.field_names import own_fields
from neardup_solr.verbs.losses import LossCheck
from neardup_solr.verbs.safety import require_safe

if TYPE_CHECKING:
    from neardup_solr.verbs.mark import Marks

Row = dict[str, Any]
T = TypeVar("T")
_GIVEN_UP = "every attempt to write it failed: another program changed it, or a node lost it"
FIRST = 3  # documents that are updated one by one and compared, before any other is updated

# Classes of types whose values come back from JSON as they were, if they are in docValues alone.
_EXACT = frozenset(
    {"StrField", "UUIDField", "BoolField", "IntPointField", "LongPointField", "DoublePointField",
     "DatePointField"}
)  # fmt: skip
# And if they are stored.
_EXACT_STORED = _EXACT | {
    "TextField", "SortableTextField", "BinaryField", "LatLonPointSpatialField"
}  # fmt: skip
# In JSON these are not spelt as Solr spells them where it copies them into a text.
_SPELT = frozenset({"DatePointField", "BinaryField"})
# Processors that leave alone what a document has.
_QUIET = frozenset(
    f"{name}UpdateProcessorFactory" for name in ("Log", "Tolerant", "Distributed", "Run")
) | {"IgnoreCommitOptimizeUpdateProcessorFactory"}
# Those of Solr's _default configset give new documents their form: values, names, fields.
_FORMING = frozenset(
    f"{name}UpdateProcessorFactory"
    for name in ("UUID", "RemoveBlankField", "FieldNameMutating", "NumFieldLimiting",
                 "ParseBooleanField", "ParseLongField", "ParseDoubleField", "ParseDateField",
                 "AddSchemaFields")
)  # fmt: skip
# A node of a SolrCloud that passes a document on says by this that processors before the
# distributing processor are done with it.
_FORMED = {"update.distrib": "NONE"}
_NESTED = query.having(NEST_PATH)
_REMEMBERED = 10_000  # sets of fields: documents have few, or any is used once
_ALONE = (f"-{_NESTED}", f"-{{!parent which='*:* -{_NESTED}' v='{_NESTED}'}}")  # no family


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
        require(self.rate >= 0, f"`rate` cannot be {self.rate:g}", "give 0 or more per second")
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
    pace: RateLimit = RateLimit()
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
            raise SolrAnswerError(self.collection.url, 400, reason, next_step)
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
        self.failures.add(errors.RecordError("not written", refusal.reason, refusal.id))


def pages(ids: Iterator[T], size: int) -> Iterator[list[T]]:
    """Part ids, or pairs with ids, into lists of at most so many."""
    while page := list(islice(ids, size)):
        yield page


_INSTEAD = "use an update chain that keeps the fields, or annotate into a different collection"


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
    raise SettingsError(f"{reason} ({put_back})", _INSTEAD)


@dataclass(frozen=True, slots=True)
class WholeWriter:
    """Makes orders of updates write whole documents of a collection.

    `choose_written` chooses which of a document's fields are written, by their names. `params` go
    with each request that holds whole documents.
    """

    collection: Collection
    choose_written: Callable[[frozenset[str]], frozenset[str] | None]
    params: Mapping[str, str]

    def complete(self, orders: Sequence[Order]) -> list[Order]:
        """Add the other fields to the orders of documents that can be written whole.

        Documents with children or without anything to change stay as they are, as do those that
        have changed since, or hold a value that only Solr reads exactly.
        """
        ids = [order.id for order in orders if order.fields]
        key = self.collection.names.id
        stored = self.collection.whole(ids, _ALONE) if ids else []
        documents = {str(document[key]): document for document in stored}
        return [self._complete(order, documents.get(order.id, NOTHING)) for order in orders]

    def _complete(self, order: Order, document: Mapping[str, Any]) -> Order:
        if document.get(VERSION) != order.version:
            return order
        written = self.choose_written(frozenset(document))
        if written is None:
            return order
        # In the order that the document has, in which Solr copies from them.
        others = {
            name: value
            for name, value in document.items()
            if name in written and name not in order.fields
        }
        return replace(order, others=others)


def make_writer(collection: Collection, ours: frozenset[str]) -> WholeWriter | None:
    """Prepare to write documents of a collection whole, or None if updates have to be atomic.

    So they have to be if something of the user's would run a second time, if not all fields of the
    documents can be read exactly, or if children look like other documents.
    """
    fields, config = schema.read_schema(collection), admin.configuration(collection)
    used = admin.used_fields(collection)
    if NEST_PATH not in fields.fields or config is None or used is None:
        return None
    chain = set(update_chain.list_processors(config))
    if not chain <= _QUIET | _FORMING or update_chain.may_choose_chain(collection):
        return None
    # Of those that are not exact some are in no answer, so they are looked for here.
    inexact = (name for name in used - INTERNAL - ours if not _is_exact(name, fields))
    if any(used.isdisjoint(fields.sources(name, used)) for name in inexact):
        return None
    params = _FORMED if chain & _FORMING else NOTHING
    choose_written = lru_cache(_REMEMBERED)(partial(_choose_written, fields))
    return WholeWriter(collection, choose_written, params)


def _choose_written(schema: Schema, names: frozenset[str]) -> frozenset[str] | None:
    """Choose the fields to write of a document, or None if not all are read exactly.

    What Solr copies from another of its fields is left out, or the field would hold it twice.
    """
    written = [name for name in names - INTERNAL if names.isdisjoint(schema.sources(name, names))]
    return frozenset(written) if all(_is_exact(name, schema) for name in written) else None


def _is_exact(name: str, schema: Schema) -> bool:
    """Return True if the values of a field can be read and written again with nothing changed.

    That they are copied to fields of other types counts as well.
    """
    field = schema.field(name)
    if field is None or field.kind not in (_EXACT_STORED if field.stored else _EXACT):
        return False
    copies = [schema.field(place) for place in schema.destinations(name)]
    same = all(copy is not None and copy.kind == field.kind for copy in copies)
    return field.is_kept and (same or field.kind not in _SPELT)


EVERY = 1.0  # seconds between two looks for what is new
MINUTE = 60.0
VISIBLE = 2_000  # milliseconds after which searches find what was written, by a soft commit
OVERLAP = 10_000 << 20  # ten seconds in versions: milliseconds and 20 bits
LISTED = 10_000  # ids and versions in an answer
PORTION = 2_000  # documents that are read and written before the next look
STANDBY = 4.0, 6.0  # seconds for which another follower may be late, at random
TRIED = 20  # documents by which a follower that stands by sees if another works
STOPPING = 20.0  # seconds for what has begun, once an interrupt came
CAUGHT_UP = 10.0  # seconds at least between two lines about that, as documents may trickle in

Version = tuple[str, int]  # a document's id, and its version


@dataclass(slots=True)
class Follower:
    """A run that follows a collection: `run` reads and writes documents by their ids.

    `schema` is the collection's, `filters` select the documents, `settings` are those of their
    fields. Clusters are marked as the run of `duplicates` that `remember` names finds them.
    """

    run: Rewrite
    schema: Schema
    filters: Sequence[str]
    settings: Settings
    remember: Path | None
    _annotated: int = 0
    _caught_up: tuple[int, int] = (0, 0)  # read and annotated when it had last caught up
    _is_behind: bool = False  # since it began, until it has caught up
    _next_line: float = 0.0  # when that may be logged again
    _behind: float = 0.0  # longest wait of a document in the last minute since it was listed
    _newest: dict[str, int] = field(default_factory=dict)  # listed of each shard
    _done: dict[str, int] = field(default_factory=dict)  # versions that need nothing
    _waiting: dict[str, tuple[int, float]] = field(default_factory=dict)  # version, since when
    _sweep: Iterator[list[Version]] | None = None
    _dropped: set[str] = field(default_factory=set)  # that another program has changed meanwhile
    _left: set[str] = field(default_factory=set)  # to another follower
    _late: int = 0  # documents that another follower has written, of those read last
    _standby: float | None = None  # when documents are tried, if another follower works
    _outages: int = 0
    _mark: Callable[[], Marks] | None = None
    _marking: tuple[Future[Marks], object] | None = None  # that runs, and what it began with
    _marked: object = None  # newest versions and count of documents before the last good marking
    _next_marking: float = 0.0
    _changed_marks: int = 0
    _marks: Counter[str] = field(default_factory=Counter)
    _stop: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def follow(self) -> dict[str, int]:
        """Follow until an interrupt, finish what was begun then, and return counts of marks.

        Raises SourceError if `remember` names no run of the collection, SettingsError if documents
        cannot be marked.
        """
        run, make_orders = self.run, self.run.make_orders
        if self.remember is not None:
            self._mark = _make_marking(run.collection, self.remember)

        def choose_orders(rows: list[Row], again: bool) -> list[Order]:
            orders = make_orders(rows, again)
            self._note_read(rows, {order.id for order in orders})
            return orders if self._standby is None else self._choose(orders)

        on_progress, run.on_progress = run.on_progress, ignore
        run.make_orders, run.on_sent = choose_orders, self._note_sent
        run.params = {"commitWithin": str(VISIBLE)}
        try:
            progress.run_aside(partial(self._repeat, on_progress))
        except KeyboardInterrupt:
            self._stop.set()
            outages, end = run.collection.session.outages, time.monotonic() + STOPPING
            outages.stop_waiting()
            self._ended.wait(STOPPING)
            self._take_marks(end - time.monotonic())
            if self._has_work() or self._marking or outages.count != self._outages:
                rest = f", {len(self._waiting):,} waiting" if self._waiting else ""
                rest += ", while writing marks" if self._marking else ""
                line = "following %s: stopped before it had caught up%s"
                LOG.info(line, run.collection.name, rest)
        return dict(self._marks)

    def _repeat(self, on_progress: OnProgress) -> None:
        """Look, write what is due, and report, again and again."""
        looked, reported, before = 0.0, time.monotonic(), self._annotated
        try:
            self._begin()
            while not self._stop.is_set():
                self._stop.wait(0 if self._has_work() else looked + EVERY - time.monotonic())
                is_time = time.monotonic() >= reported + MINUTE
                self._begin_again(is_time=is_time)
                if time.monotonic() >= looked + EVERY:
                    looked = time.monotonic()
                    self._list_new()
                    self._report_caught_up()
                self._write_due()
                self._mark_anew()
                total = self._annotated + len(self._waiting)
                on_progress(Progress("following", self._annotated, total))
                if is_time:
                    self._report(self._annotated - before)
                    reported, before, self._behind = time.monotonic(), self._annotated, 0.0
                    self._dropped.clear()  # or those deleted meanwhile would stay
        finally:
            self._ended.set()

    def _begin(self) -> None:
        """Begin, or begin anew: nothing that was seen before counts."""
        collection = self.run.collection
        self._outages = collection.session.outages.count
        self.run.prepare()
        names = collection.shard_names() if collection.session.nodes.is_cloud else [""]
        self._newest = dict.fromkeys(names, 0)
        for shard in names:
            self._newest[shard] = max((v for _, v in self._ask("desc", 1, [], shard)), default=0)
        self._done, self._waiting = {}, {}
        self._list_new()  # earlier documents are looked through, beside those that come
        self._done = {id: version for id, (version, _) in self._waiting.items()}
        self._waiting = {}
        recent = reversed(list(self._done.items()))
        self._sweep, self._is_behind = chain(pages(recent, PORTION), self._look_through([])), True
        LOG.info("following %s: all documents are checked once", collection.name)

    def _begin_again(self, *, is_time: bool) -> None:
        """Begin anew if Solr was away or the schema has changed, which is looked at once a minute.

        Raises SettingsError if the text is that of other fields now.
        """
        collection = self.run.collection
        if collection.session.outages.count != self._outages:
            collection.session.outages.until_ready()  # what it replays has older versions
            self._check()
            self._begin()
        elif is_time:
            collection.require_fields([ID, SETTINGS])
            if collection.kept_names() != collection.names:
                reason = f"the field names of {collection.name!r} have changed in the meantime"
                raise SettingsError(reason, "run this again to use the new names")
            if schema.read_schema(collection) != self.schema:
                self._check()
                self._begin()
            elif not self._has_work():
                lacking = f"-{query.having(collection.names.of(SETTINGS))}"
                self._sweep = self._look_through([lacking, *with_text(collection, self.schema)])

    def _check(self) -> None:
        """Refuse a collection whose schema no longer lets it be annotated."""
        collection = self.run.collection
        collection.require_fields([ID, *sorted(self.settings.fields), SETTINGS])
        self.schema = require_safe(collection)
        collection.choose_settings(self.settings)

    def _list_new(self) -> None:
        """List what is newer than what was listed before, and some of that, shard by shard.

        Of two documents that are written at the same time, a search may see the newer document
        first.
        """
        now = time.monotonic()
        for shard, before in self._newest.items():
            since, is_full = before - OVERLAP, True
            while is_full:
                versions = self._ask("asc", LISTED, [_between(since, "*")], shard)
                is_full = len(versions) == LISTED and versions[-1][1] > since
                since = versions[-1][1] if versions else since
                for id, version in versions:
                    if self._done.get(id, 0) < version:
                        self._waiting[id] = version, self._waiting.get(id, (0, now))[1]
            self._newest[shard] = max(before, since)
        oldest = min(self._newest.values()) - OVERLAP
        self._done = {id: version for id, version in self._done.items() if version >= oldest}

    def _look_through(self, filters: Sequence[str]) -> Iterator[list[Version]]:
        """Yield all documents that match the filters, the newest first."""
        until: int | str = "*"
        while versions := self._ask("desc", LISTED, [_between("*", until), *filters]):
            due = (pair for pair in versions if self._done.get(pair[0], 0) < pair[1])
            yield from pages(due, PORTION)
            last = versions[-1][1]
            until = last if last != until and len(versions) == LISTED else last - 1

    def _ask(self, order: str, most: int, filters: Sequence[str], shard: str = "") -> list[Version]:
        """List ids and versions, in the order of versions."""
        collection = self.run.collection
        request = {
            "query": "*:*",
            "filter": [*filters, *self.filters],
            "sort": f"{VERSION} {order},{ID} asc",
            "fields": [ID, VERSION],
            "limit": most,
        }
        request = query.of_replica(request, shard) if shard else request
        rows = collection.ask(query.of_leaders(request), DOCS)["response"]["docs"]
        logical = collection.names.logical_all(rows, [ID, VERSION])
        return [(row[ID], row[VERSION]) for row in logical]

    def _has_work(self) -> bool:
        return self._standby is None and bool(self._waiting or self._sweep)

    def _write_due(self) -> None:
        """Annotate documents that wait, those that wait longest first, or else look through some.

        If another follower works, try only a few, if they have waited too long.
        """
        now = time.monotonic()
        due = list(islice(self._waiting, PORTION))
        if self._standby is not None:
            due = [id for id in due if now - self._waiting[id][1] >= STANDBY[0]]
        elif not due and self._sweep is not None:
            page = next(self._sweep, None)
            due = [id for id, _ in page or ()]
            self._sweep = None if page is None else self._sweep
        before, dropped, self._late = self._annotated, self.run.redone, 0
        self._left.clear()
        self.run.go_through(iter(due))
        self.run.read -= len(self._left)
        self.run.undone.clear()  # they come again with their new versions
        for id in due:
            if id not in self._left:
                _, since = self._waiting.pop(id, (0, now))
                self._behind = max(self._behind, time.monotonic() - since)
        written, dropped = self._annotated - before, self.run.redone - dropped
        if self._late > (written if self._standby is None else 0) or (self._standby and dropped):
            self._standby = time.monotonic() + random.uniform(*STANDBY)
        elif written:
            self._standby = None

    def _take_marks(self, seconds: float = 0.0) -> None:
        """Count the marks that a marking has changed, if it ends within so many seconds."""
        if self._marking is None or not wait([self._marking[0]], seconds).done:
            return
        (future, state), self._marking = self._marking, None
        try:
            marks = future.result()
        except (errors.SolrError, errors.SourceError) as error:  # it is tried again
            LOG.warning("following %s: marking failed: %s", self.run.collection.name, error)
        else:
            self._marked = state
            self._changed_marks += marks.marked + marks.cleared
            self._marks.update(marked=marks.marked, cleared=marks.cleared)

    def _mark_anew(self) -> None:
        """Begin another marking if that is due."""
        self._take_marks()
        is_busy = self._marking is not None or self._standby is not None or self._has_work()
        if self._mark is None or is_busy or time.monotonic() < self._next_marking:
            return
        self._next_marking = time.monotonic() + MINUTE
        state = dict(self._newest), self.run.collection.count(self.filters)
        if state != self._marked:
            self._marking = progress.start_thread(self._mark), state

    def _choose(self, orders: list[Order]) -> list[Order]:
        """Choose a few orders, if it is time to try, and leave the others to whoever works."""
        assert self._standby is not None
        tried = TRIED if time.monotonic() >= self._standby else 0
        self._left.update(order.id for order in orders[tried:])
        return orders[:tried]

    def _note_read(self, rows: Sequence[Row], ordered: set[str]) -> None:
        """Note the versions that were read, and if another follower has written them.

        Raises SettingsError if another program writes fields with other settings.
        """
        ours = self.settings.fingerprint
        for row in rows:
            id = row["id"]
            if (theirs := row.get(SETTINGS, ours)) != ours:
                reason = f"the document {id!r} now has [{theirs}], but this run uses [{ours}]"
                raise SettingsError(reason, "finish changing the settings, then run this again")
            self._late += id in self._dropped and id not in ordered
            self._dropped.discard(id)
            self._done[id] = row[VERSION]

    def _note_sent(self, sent: Sent) -> None:
        self._annotated += len(sent.versions) + len(sent.unsure)
        self._done.update(sent.versions)
        self._dropped |= sent.dropped
        self.run.redone += len(sent.dropped)
        self.run.read -= len(sent.dropped)  # they are read again

    def _report_caught_up(self) -> None:
        """Log once that nothing is left to do, if a look finds no more."""
        read, annotated = self.run.read, self._annotated
        is_behind = self._is_behind or annotated > self._caught_up[1]
        is_idle = self._standby is None and not self._has_work()
        if is_behind and is_idle and time.monotonic() >= self._next_line:
            documents = counted(read - self._caught_up[0], "document")
            done = f"caught up, {documents} read, {annotated - self._caught_up[1]:,} annotated"
            LOG.info("following %s: %s", self.run.collection.name, done)
            self._is_behind, self._caught_up = False, (read, annotated)
            self._next_line = time.monotonic() + CAUGHT_UP

    def _report(self, annotated: int) -> None:
        """Log what was done in the last minute, and how far behind this is."""
        now = time.monotonic()
        waits = [now - since for _, since in self._waiting.values()]
        late = f"at most {max(0.0, self._behind, *waits):.1f} s behind"
        late += f", {len(waits):,} waiting" if waits else ""
        late = late if self._standby is None else "as another follower is active"
        marks = f", {counted(self._changed_marks, 'mark')} changed" if self._mark else ""
        done = f"{counted(annotated, 'document')} annotated in the last minute"
        LOG.info("following %s: %s, %s%s", self.run.collection.name, done, late, marks)
        self._changed_marks = 0


def _between(since: int | str, until: int | str) -> str:
    return f"{{!cache=false}}{VERSION}:[{since} TO {until}]"


def _make_marking(collection: Collection, remember: Path) -> Callable[[], Marks]:
    """Make what marks the clusters of a remembered run anew, by the arguments of that run."""
    from neardup_solr.verbs.duplicates import duplicates
    from neardup_solr.verbs.duplicates.remember import read_asked
    from neardup_solr.verbs.mark import mark, require_markable

    arguments = read_asked(remember, collection)
    require_markable(collection)

    def mark_anew() -> Marks:
        patience = collection.session.outages.patience
        result = duplicates(collection, remember=remember, **{**arguments, "patience": patience})
        # The user has confirmed the marks of the remembered run; a line is logged now, too.
        return mark(collection, result, yes=True, patience=patience)

    return mark_anew
