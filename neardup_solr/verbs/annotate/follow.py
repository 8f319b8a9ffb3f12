"""annotate --follow: annotate new and changed documents, until an interrupt."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path

from neardup_solr import progress
from neardup_solr.errors import SettingsError, counted
from neardup_solr.progress import LOG, OnProgress, Progress, ignore
from neardup_solr.settings import Settings
from neardup_solr.sizes import SIZES
from neardup_solr.solr import query, schema
from neardup_solr.solr.core import DOCS
from neardup_solr.solr.names import ID, SETTINGS, VERSION
from neardup_solr.solr.refusals import Sent
from neardup_solr.solr.schema import Schema
from neardup_solr.solr.unsigned import with_text
from neardup_solr.solr.update import Order
from neardup_solr.verbs.annotate.follow_marks import FollowMarks
from neardup_solr.verbs.annotate.rewrite import Rewrite, Row, pages
from neardup_solr.verbs.annotate.standby import Standby
from neardup_solr.verbs.update_safety import require_safe

OVERLAP = 10_000 << 20  # ten seconds in versions: milliseconds and 20 bits
LISTED = 10_000  # ids and versions in an answer
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
    _caught_up: tuple[int, int] = (0, 0)  # read and annotated when it had last caught up
    _is_behind: bool = False  # since it began, until it has caught up
    _next_line: float = 0.0  # when that may be logged again
    _behind: float = 0.0  # longest wait of a document in the last minute since it was listed
    _newest: dict[str, int] = field(default_factory=dict)  # listed of each shard
    _done: dict[str, int] = field(default_factory=dict)  # versions that need nothing
    _waiting: dict[str, tuple[int, float]] = field(default_factory=dict)  # version, since when
    _sweep: Iterator[list[Version]] | None = None
    _standby: Standby = field(default_factory=Standby)
    _marks: FollowMarks | None = None
    _outages: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def follow(self) -> dict[str, int]:
        """Follow until an interrupt, finish what was begun then, and return counts of marks.

        Raises SourceError if `remember` names no run of the collection, SettingsError if documents
        cannot be marked.
        """
        run, make_orders = self.run, self.run.make_orders
        if self.remember is not None:
            self._marks = FollowMarks(run.collection, self.remember)

        def choose_orders(rows: list[Row], again: bool) -> list[Order]:
            orders = make_orders(rows, again)
            self._note_read(rows, {order.id for order in orders})
            return self._standby.choose(orders)

        on_progress, run.on_progress = run.on_progress, ignore
        run.make_orders, run.on_sent = choose_orders, self._note_sent
        run.params = {"commitWithin": str(SIZES.follow_visible)}
        try:
            progress.run_aside(partial(self._repeat, on_progress))
        except KeyboardInterrupt:
            self._stop.set()
            outages, end = run.collection.session.outages, time.monotonic() + STOPPING
            outages.stop_waiting()
            self._ended.wait(STOPPING)
            is_marking = False
            if self._marks is not None:
                self._marks.take(end - time.monotonic())
                is_marking = self._marks.is_running
            if self._has_work() or is_marking or outages.count != self._outages:
                rest = f", {len(self._waiting):,} waiting" if self._waiting else ""
                rest += ", while writing marks" if is_marking else ""
                line = "following %s: stopped before it had caught up%s"
                LOG.info(line, run.collection.name, rest)
        return {} if self._marks is None else dict(self._marks.counts)

    def _repeat(self, on_progress: OnProgress) -> None:
        """Look, write what is due, and report, again and again."""
        looked, reported, before = 0.0, time.monotonic(), self._annotated
        try:
            self._begin()
            while not self._stop.is_set():
                self._stop.wait(
                    0 if self._has_work() else looked + SIZES.follow_pause - time.monotonic()
                )
                is_time = time.monotonic() >= reported + SIZES.follow_report
                self._begin_again(is_time=is_time)
                if time.monotonic() >= looked + SIZES.follow_pause:
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
                    self._standby.forget_dropped()
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
        self._sweep, self._is_behind = (
            chain(pages(recent, SIZES.follow_portion), self._look_through([])),
            True,
        )
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
                step = "run this again to use the new names"
                raise SettingsError(reason, step, code="settings-differ")
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
            yield from pages(due, SIZES.follow_portion)
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
        return not self._standby.is_on and bool(self._waiting or self._sweep)

    def _write_due(self) -> None:
        """Annotate documents that wait, those that wait longest first, or else look through some.

        If another follower works, try only a few, if they have waited too long.
        """
        now, standby = time.monotonic(), self._standby
        due = list(islice(self._waiting, SIZES.follow_portion))
        if standby.is_on:
            due = [id for id in due if standby.is_late(self._waiting[id][1])]
        elif not due and self._sweep is not None:
            page = next(self._sweep, None)
            due = [id for id, _ in page or ()]
            self._sweep = None if page is None else self._sweep
        before, dropped = self._annotated, self.run.redone
        standby.begin_round()
        self.run.go_through(iter(due))
        self.run.read -= len(standby.left)
        self.run.undone.clear()  # they come again with their new versions
        for id in due:
            if id not in standby.left:
                _, since = self._waiting.pop(id, (0, now))
                self._behind = max(self._behind, time.monotonic() - since)
        standby.end_round(self._annotated - before, self.run.redone - dropped)

    def _mark_anew(self) -> None:
        """Begin another marking if that is due."""
        if self._marks is None:
            return
        self._marks.take()
        if self._marks.is_due and not self._standby.is_on and not self._has_work():
            state = dict(self._newest), self.run.collection.count(self.filters)
            self._marks.begin(state, SIZES.follow_report)

    def _note_read(self, rows: Sequence[Row], ordered: set[str]) -> None:
        """Note the versions that were read, and if another follower has written them.

        Raises SettingsError if another program writes fields with other settings.
        """
        ours = self.settings.fingerprint
        for row in rows:
            id = row["id"]
            if (theirs := row.get(SETTINGS, ours)) != ours:
                reason = f"the document {id!r} now has [{theirs}], but this run uses [{ours}]"
                step = "finish changing the settings, then run this again"
                raise SettingsError(reason, step, code="settings-differ")
            self._done[id] = row[VERSION]
        self._standby.note_read([row["id"] for row in rows], ordered)

    def _note_sent(self, sent: Sent) -> None:
        self._annotated += len(sent.versions) + len(sent.unsure)
        self._done.update(sent.versions)
        self._standby.note_dropped(sent.dropped)
        self.run.redone += len(sent.dropped)
        self.run.read -= len(sent.dropped)  # they are read again

    def _report_caught_up(self) -> None:
        """Log once that nothing is left to do, if a look finds no more."""
        read, annotated = self.run.read, self._annotated
        is_behind = self._is_behind or annotated > self._caught_up[1]
        is_idle = not self._standby.is_on and not self._has_work()
        if is_behind and is_idle and time.monotonic() >= self._next_line:
            documents = counted(read - self._caught_up[0], "document")
            done = f"caught up, {documents} read, {annotated - self._caught_up[1]:,} annotated"
            LOG.info("following %s: %s", self.run.collection.name, done)
            self._is_behind, self._caught_up = False, (read, annotated)
            self._next_line = time.monotonic() + SIZES.caught_up_seconds

    def _report(self, annotated: int) -> None:
        """Log what was done in the last minute, and how far behind this is."""
        now = time.monotonic()
        waits = [now - since for _, since in self._waiting.values()]
        late = f"at most {max(0.0, self._behind, *waits):.1f} s behind"
        late += f", {len(waits):,} waiting" if waits else ""
        late = "as another follower is active" if self._standby.is_on else late
        marks = ""
        if self._marks is not None:
            marks = f", {counted(self._marks.changed, 'mark')} changed"
            self._marks.changed = 0
        done = f"{counted(annotated, 'document')} annotated in the last minute"
        LOG.info("following %s: %s, %s%s", self.run.collection.name, done, late, marks)


def _between(since: int | str, until: int | str) -> str:
    return f"{{!cache=false}}{VERSION}:[{since} TO {until}]"
