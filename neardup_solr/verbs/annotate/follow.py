"""Follow a collection: annotate what is new or has changed within seconds, until interrupted.

Whatever changes a document gives it a version above all others in its shard. So a follower asks
each shard every second for what is newer than what it has seen. What it may have missed before,
it looks through beside that, the newest first: all documents when it begins, and whenever Solr was
away or the schema has changed; once a minute those that lack our fields.

Nothing is stored anywhere, not even who works if several follow a collection. A follower that finds
most of its documents annotated by somebody else before it wrote them stands by: from then on it
reads documents some seconds later, and tries to write a few that are still to be annotated. If it
can, nobody else works any more, and it does again. Two that work at the same time only try to
write the same: Solr takes an update for the version that was read, and drops the other.

Clusters are marked in another thread, as that may take longer than documents may wait: at most
once a minute, if the collection is not as it was when the last marking began.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path

from neardup_solr.errors import SettingsError, SolrError, SourceError, counted
from neardup_solr.progress import LOG, OnProgress, Progress, ignore
from neardup_solr.settings import Settings
from neardup_solr.solr import query, schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.documents import DOCS
from neardup_solr.solr.names import ID, SETTINGS, VERSION
from neardup_solr.solr.responses import Sent
from neardup_solr.solr.schema import Schema, with_text
from neardup_solr.solr.update import Order
from neardup_solr.threads import run_aside, start_thread
from neardup_solr.verbs.annotate.rewrite import Rewrite, Row, pages
from neardup_solr.verbs.duplicates import duplicates
from neardup_solr.verbs.duplicates.remember import read_asked
from neardup_solr.verbs.lint import require_safe
from neardup_solr.verbs.mark import Marks, mark, require_markable

EVERY = 1.0  # seconds between two looks for what is new
MINUTE = 60.0
VISIBLE = 2_000  # milliseconds after which searches find what was written, by a soft commit
OVERLAP = 10_000 << 20  # ten seconds in versions: milliseconds and 20 bits
LISTED = 10_000  # ids and versions in an answer
PORTION = 2_000  # documents that are read and written before the next look
STANDBY = 4.0, 6.0  # seconds for which another follower may be late, at random
TRIED = 20  # documents by which a follower that stands by sees if another works
STOPPING = 20.0  # seconds for what has begun, once an interrupt came

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
    _stop: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def follow(self) -> None:
        """Follow until an interrupt, and finish what was begun then.

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
            run_aside(partial(self._repeat, on_progress))
        except KeyboardInterrupt:
            self._stop.set()
            run.collection.session.outages.stop_waiting()
            self._ended.wait(STOPPING)

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
        self._sweep = chain(pages(recent, PORTION), self._look_through([]))
        LOG.info("following %s: all documents are looked through once", collection.name)

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
                reason = f"{collection.name!r} was prepared with other names meanwhile"
                raise SettingsError(reason, "run it again to follow with these")
            if schema.read_schema(collection) != self.schema:
                self._check()
                self._begin()
            elif not self._has_work():
                lacking = f"-{collection.names.of(SETTINGS)}:[* TO *]"
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
        return [
            (row[ID], row[VERSION]) for row in collection.names.logical_all(rows, [ID, VERSION])
        ]

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

    def _mark_anew(self) -> None:
        """Count the marks that a marking has changed, and begin another marking if that is due."""
        if self._marking is not None and self._marking[0].done():
            (future, state), self._marking = self._marking, None
            try:
                marks = future.result()
            except (SolrError, SourceError) as error:  # what Solr did not take is tried again
                LOG.warning("following %s: marks: %s", self.run.collection.name, error)
            else:
                self._marked = state
                self._changed_marks += marks.marked + marks.cleared
        is_busy = self._marking is not None or self._standby is not None or self._has_work()
        if self._mark is None or is_busy or time.monotonic() < self._next_marking:
            return
        self._next_marking = time.monotonic() + MINUTE
        state = dict(self._newest), self.run.collection.count(self.filters)
        if state != self._marked:
            self._marking = start_thread(self._mark), state

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
                reason = f"the document {id!r} has [{theirs}] now, and this follows with [{ours}]"
                raise SettingsError(reason, "finish that change of settings, then run this again")
            self._late += id in self._dropped and id not in ordered
            self._dropped.discard(id)
            self._done[id] = row[VERSION]

    def _note_sent(self, sent: Sent) -> None:
        self._annotated += len(sent.versions) + len(sent.unsure)
        self._done.update(sent.versions)
        self._dropped |= sent.dropped
        self.run.redone += len(sent.dropped)
        self.run.read -= len(sent.dropped)  # they are read again

    def _report(self, annotated: int) -> None:
        """Log what was done in the last minute, and how far behind this is."""
        now = time.monotonic()
        waits = [now - since for _, since in self._waiting.values()]
        late = f"at most {max(0.0, self._behind, *waits):.1f} s behind"
        late += f", {len(waits):,} waiting" if waits else ""
        late = late if self._standby is None else "as another follower works"
        marks = f", {counted(self._changed_marks, 'mark')} changed" if self._mark else ""
        done = f"{counted(annotated, 'document')} annotated in the last minute"
        LOG.info("following %s: %s, %s%s", self.run.collection.name, done, late, marks)
        self._changed_marks = 0


def _between(since: int | str, until: int | str) -> str:
    return f"{{!cache=false}}{VERSION}:[{since} TO {until}]"


def _make_marking(collection: Collection, remember: Path) -> Callable[[], Marks]:
    """Make what marks the clusters of a remembered run anew, by the arguments of that run."""
    arguments = read_asked(remember, collection)
    require_markable(collection)

    def mark_anew() -> Marks:
        result = duplicates(collection, remember=remember, **arguments)
        # The user has confirmed the marks of the remembered run; a line is logged now, too.
        return mark(collection, result, yes=True, patience=collection.session.outages.patience)

    return mark_anew
