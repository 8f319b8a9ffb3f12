"""annotate: computed fields added to the documents of a collection that is already there."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from neardup_solr.errors import SettingsError
from neardup_solr.progress import SILENT, Progress, Watching
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import OWN, SETTINGS, TEXT, VERSION
from neardup_solr.solr.update import Order, orders, removal
from neardup_solr.text import normalize
from neardup_solr.verbs import index
from neardup_solr.verbs.annotate import guard
from neardup_solr.verbs.annotate.rewrite import DEFAULT_PACE, Found, Pace, Rewrite, Task
from neardup_solr.verbs.index import Sending

MD5 = "md5_hash"
READ = (TEXT, MD5, SETTINGS, VERSION)
Which = Literal["needed", "missing", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateSummary:
    """What a run did: `read` = `annotated` + `unchanged` + `without_text` + `gone` + `failed`.

    `unchanged` documents had the fields of their text already, `gone` ones were deleted after
    their id was read; `redone` of the annotated were changed by others before they were written,
    and were read again. `settings` are those that were used.
    """

    read: int
    annotated: int
    unchanged: int
    without_text: int
    gone: int
    failed: int
    redone: int
    settings: Settings
    seconds: float


def annotate(
    collection: Collection,
    *,
    settings: Settings | Mapping[str, Any] | None = None,
    filters: Sequence[str] = (),
    which: Which = "needed",
    pace: Pace = DEFAULT_PACE,
    watching: Watching = SILENT,
) -> AnnotateSummary:
    """Add the computed fields to documents of a collection, in place, by its `names`.

    Only documents whose fields are missing, or stale because the text changed since, are written
    ("needed"); "missing" passes over those that have fields without reading their texts, "all"
    writes every one. Each is updated atomically, and only where nobody has changed it since it was
    read; where somebody has, it is read again. All else in a document stays as it is. After an
    interruption the same call goes on where it stopped. Nested documents stay with their parent,
    and are not annotated themselves.

    Raises SettingsError where the collection was annotated with other settings or an update would
    lose data, SchemaError where fields are missing, SolrError where Solr stops answering.
    """
    collection.require_fields(["id", SETTINGS])  # one that is not prepared would only give riddles
    found = guard.require_safe(collection)
    settled = settled_for(collection, settings)
    run = _Annotation(collection=collection, settings=settled, which=which)
    if which == "missing":
        filters = [*filters, f"-{collection.names.of(SETTINGS)}:[* TO *]"]
    rewriting = Rewrite(collection=collection, task=run.task(), pace=pace, watching=watching)
    rewriting.run([*filters, *guard.roots_only(found)])
    return run.summary(rewriting)


@dataclass(slots=True, kw_only=True)
class _Annotation:
    """What a run makes of documents, and how many of them need nothing."""

    collection: Collection
    settings: Settings
    which: Which
    unchanged: int = 0
    without_text: int = 0

    def task(self) -> Task:
        """What is read, and what becomes of it."""
        own = guard.own_fields(self.collection)
        return Task(stage="annotating", fields=READ, own=own, orders=self.orders)

    def orders(self, found: list[Found], again: bool) -> list[Order]:
        """Orders for the documents that need them; the others are counted, once."""
        needed, emptied = [], []
        for one in found:
            annotated, text = SETTINGS in one, one.get(TEXT)
            if text is None and not annotated:
                self.without_text += not again
            elif text is None:
                emptied.append(one)
            elif is_current(one, text, self.settings) and (again or self.which != "all"):
                self.unchanged += not again
            else:
                needed.append(one)
        fields = [name for name in OWN if name in (*self.settings.fields, SETTINGS)]
        names = self.collection.names
        removals = [removal(one["id"], one[VERSION], fields, names) for one in emptied]
        versions = {one["id"]: one[VERSION] for one in needed}
        documents = [Document(id=one["id"], text=one[TEXT]) for one in needed]
        return orders(documents, versions, self.settings, names) + removals

    def summary(self, rewriting: Rewrite) -> AnnotateSummary:
        """The counts of the whole run."""
        rest = self.unchanged + self.without_text + rewriting.gone + rewriting.failed
        return AnnotateSummary(
            read=rewriting.read,
            annotated=rewriting.read - rest,
            unchanged=self.unchanged,
            without_text=self.without_text,
            gone=rewriting.gone,
            failed=rewriting.failed,
            redone=len(rewriting.redone),
            settings=self.settings,
            seconds=time.monotonic() - rewriting.started,
        )


def is_current(stored: Mapping[str, Any], text: str, settings: Settings) -> bool:
    """Whether stored fields are those of this text under these settings."""
    if stored.get(SETTINGS) != settings.fingerprint:
        return False
    return bool(stored.get(MD5) == normalize.md5(normalize.normalize(text)))


def settled_for(collection: Collection, settings: Settings | Mapping[str, Any] | None) -> Settings:
    """The settings to annotate with; the text counts as one of the fields, as it is there.

    Raises SettingsError where the collection has others, SchemaError where it lacks fields.
    """
    always = {TEXT, MD5}
    if isinstance(settings, Settings):
        settings = replace(settings, fields=settings.fields | always)
    elif settings and "fields" in settings:
        settings = {**settings, "fields": frozenset(settings["fields"]) | always}
    settled = collection.settled(settings)
    if not always <= settled.fields:
        reason = f"the collection has documents without {', '.join(sorted(always))}"
        raise SettingsError(reason, "strip it first: neardup strip")
    collection.require_fields(["id", *sorted(settled.fields), SETTINGS])
    return settled


def annotate_into(
    collection: Collection,
    other: Collection,
    *,
    settings: Settings | Mapping[str, Any] | None = None,
    filters: Sequence[str] = (),
    pace: Pace = DEFAULT_PACE,
    watching: Watching = SILENT,
) -> AnnotateSummary:
    """Write texts and computed fields of a collection into another one; nothing is written here.

    For a collection in which an update would lose data. Documents of the other one whose text is
    the same still are left alone; those deleted here stay there. Nested documents are left out.

    Raises SettingsError where the other collection has other settings or both are the same one,
    SchemaError where it lacks fields, SolrError where Solr stops answering.
    """
    guard.require_readable(collection)
    guard.require_other(collection, other)
    settled = settled_for(other, settings)
    collection.commit()
    wanted = [*filters, *guard.roots_only(schema.described(collection))]
    run = _Into(collection=collection, other=other, settings=settled, pace=pace, watching=watching)
    run.total = collection.count(wanted)
    done = index.index(
        run.documents(wanted),
        other,
        settings=settled,
        sending=Sending(threads=pace.threads, batch_documents=pace.batch),
        watching=Watching(on_error=watching.on_error),
    )
    return AnnotateSummary(
        read=run.read,
        annotated=done.indexed,
        unchanged=run.unchanged,
        without_text=run.without_text,
        gone=run.gone,
        failed=done.failed,
        redone=0,
        settings=settled,
        seconds=done.seconds,
    )


@dataclass(slots=True, kw_only=True)
class _Into:
    """One run: what is read here, and how much of it is there already."""

    collection: Collection
    other: Collection
    settings: Settings
    pace: Pace
    watching: Watching
    total: int = 0
    read: int = 0
    unchanged: int = 0
    without_text: int = 0
    gone: int = 0

    def documents(self, filters: Sequence[str]) -> Iterator[Document]:
        """The documents that are not there, or with another text, at the pace that is asked."""
        ids, since = self.collection.ids(filters), time.monotonic()
        while page := list(islice(ids, self.pace.batch)):
            texts = {one["id"]: one.get(TEXT) for one in self.collection.stored(page, [TEXT])}
            there = {one["id"]: one for one in self.other.stored(page, [MD5, SETTINGS])}
            self.read += len(page)
            self.gone += len(page) - len(texts)
            sent = 0
            for id, text in texts.items():
                if text is None:
                    self.without_text += 1
                elif is_current(there.get(id, {}), text, self.settings):
                    self.unchanged += 1
                else:
                    sent += 1
                    yield Document(id=id, text=text)
            total = max(self.total, self.read)
            self.watching.on_progress(Progress("annotating", self.read, total))
            since = self.pace.wait(sent, since)
