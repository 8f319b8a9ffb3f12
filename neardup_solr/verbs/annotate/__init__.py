"""annotate: add fields to documents of a collection. strip: remove them. reband: other bands."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from neardup_solr import arguments
from neardup_solr.arguments import OneOrMore, Which, checked, listed, require, require_positive
from neardup_solr.errors import RecordError, SettingsError, SolrAnswerError
from neardup_solr.measures.auto import choose_measure
from neardup_solr.minhash import signature
from neardup_solr.progress import Callbacks, Failures, OnError, OnProgress, Progress, ignore
from neardup_solr.records import Document
from neardup_solr.settings import (
    ANNOTATED,
    DEFAULT_SETTINGS,
    Settings,
    fit_shingles,
    settings_of,
)
from neardup_solr.solr import admin, schema
from neardup_solr.solr.collection import Collection, waiting
from neardup_solr.solr.names import (
    BANDS,
    ID,
    OWN,
    SETTINGS,
    TEXT,
    VERSION,
    Names,
    require_name,
)
from neardup_solr.solr.query import having
from neardup_solr.solr.unsigned import roots_only
from neardup_solr.solr.update import Order, orders
from neardup_solr.text import normalize
from neardup_solr.verbs import init
from neardup_solr.verbs.annotate.follow import Follower
from neardup_solr.verbs.annotate.rate_limit import RateLimit
from neardup_solr.verbs.annotate.rewrite import Rewrite, Row, pages
from neardup_solr.verbs.field_names import choose_names, own_fields
from neardup_solr.verbs.index import index
from neardup_solr.verbs.losses import LossCheck
from neardup_solr.verbs.safety import NATIVE, require_other, require_safe
from neardup_solr.verbs.search import normal_forms, sample_texts
from neardup_solr.verbs.text_fields import require_texts

MD5 = "md5_hash"
READ = (TEXT, MD5, SETTINGS, VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateSummary:
    """Counts of an annotation run.

    `read`: documents read, the sum of the next five; `annotated`: documents that got fields;
    `unchanged`: documents whose fields were current; `without_text`: documents without text;
    `gone`: documents deleted meanwhile; `failed`: documents that could not be annotated; `errors`:
    their first 1,000 errors; `redone`: annotated documents read again because others changed them;
    `settings`: settings used; `marked`: documents whose cluster marks changed; `cleared`: documents
    no longer in a cluster.
    """

    read: int
    annotated: int
    unchanged: int
    without_text: int
    gone: int
    failed: int
    errors: tuple[RecordError, ...]
    redone: int
    settings: Settings
    seconds: float
    marked: int = 0
    cleared: int = 0


@checked
def annotate(
    collection: Collection,
    *,
    into: Collection | str | None = None,
    which: Which = "needed",
    query: OneOrMore = (),
    text: OneOrMore = (),
    prefix: str | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    rate: float = 0,
    threads: int = 2,
    batch: int = 500,
    patience: float | str = "5m",
    follow: bool = False,
    mark: bool = False,
    remember: str | Path | None = None,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> AnnotateSummary:
    """Add the computed fields to documents of a collection, in place or in another collection.

    Example: `nd.annotate(books).annotated`

    `which` selects documents: "needed" (fields are missing or outdated), "missing" (no fields) or
    "all". Nested documents are not annotated. After an interruption, run the same call again.

    With `into`, a second collection (by name: on the same Solr, created if missing) receives the
    ids, texts and fields, and `collection` stays unchanged. `text` and `prefix` default to the
    values that `init` stored, and may differ from these values only with `into`.

    With `follow`, new and changed documents are annotated within seconds, until KeyboardInterrupt.
    With `mark` as well, cluster marks are updated at most once a minute.

    Raises SettingsError if the collection was annotated with different settings or an update would
    lose data, SchemaError if fields are missing, SourceError if the file `remember` is
    not from `duplicates`, SolrError if Solr stops answering.
    """
    pace = RateLimit(rate=rate, threads=threads, batch=batch)
    reason = "`follow` keeps all documents of one collection up to date"
    is_plain = into is None and which == "needed"
    require(is_plain or not follow, reason, "omit `into` and `which`")
    require(follow or not mark, "`mark` needs `follow`", "set both, or use `duplicates` and `mark`")
    both = mark == (remember is not None)
    require(both, "`mark` and `remember` must be used together", "give both or neither")
    patience = arguments.in_seconds(patience, "patience")
    with collection.session.outages.waited_for(patience):
        collection = _rename_fields(collection, listed(text), prefix, in_place=into is None)
        if into is not None:
            reason = f"`which` is {which!r}, but `into` is also given"
            require(which == "needed", reason, "omit one of them")
            reason = f"{into!r} would be written into itself"
            require(into != collection.name, reason, "name a different collection with `into`")
            other = into if isinstance(into, Collection) else _open_or_create(collection, into)
            watching = Callbacks(on_error=on_error, on_progress=on_progress or ignore)
            return _copy(collection, other, settings, listed(query), pace, patience, watching)
        collection.require_fields(["id", SETTINGS])  # or the errors would be obscure
        safe = require_safe(collection)
        settings = choose_settings(collection, settings, ANNOTATED)
        task = _Task(settings=settings, which=which)
        make_orders = partial(task.make_orders, names=collection.names)
        failures, on_progress = Failures(on_error), on_progress or ignore
        run = Rewrite(collection, "annotating", READ, make_orders, pace, failures, on_progress)
        missing = [f"-{having(collection.names.of(SETTINGS))}"] if which == "missing" else []
        filters = [*listed(query), *missing, *roots_only(safe)]
        marks = dict[str, int]()
        if follow:
            path = None if remember is None else Path(remember)
            marks = Follower(run, safe, filters, settings, remember=path).follow()
        else:
            run.run(filters)
        return task.summary(read=run.read, gone=run.gone, **run.end(), **marks)


def _rename_fields(
    collection: Collection, text: Sequence[str], prefix: str | None, *, in_place: bool
) -> Collection:
    """Give a collection other names of fields. In place they have to be those that it keeps."""
    if not (text or prefix is not None):
        return collection
    choose_names(collection.names, "", text=text, prefix=prefix)  # refused before any request
    names = choose_names(
        collection.names, schema.read_schema(collection).key, text=text, prefix=prefix
    )
    if in_place and names != collection.names:
        reason = f"{collection.name!r} was not prepared with these field names"
        command = f"neardup init {collection.place}{names.options(collection.names)}"
        raise SettingsError(reason, f"prepare it so that searches use them too: {command}")
    return collection.with_names(names)


def _open_or_create(collection: Collection, name: str) -> Collection:
    """Open another collection of the same server, which is created if it is missing."""
    require_name(name)
    other = collection.beside(name)
    if not admin.exists(other):
        init.init(other)
    return other.with_names(other.kept_names())


@dataclass(slots=True, kw_only=True)
class _Task:
    """Orders for the documents that need fields by these settings, and counts of the others."""

    settings: Settings
    which: Which = "needed"
    unchanged: int = 0
    without_text: int = 0

    def needs_fields(
        self, stored: Mapping[str, Any], text: str | None, *, again: bool = False
    ) -> bool:
        """Return True if a document has to be written. The others are counted, once."""
        if text is None:
            self.without_text += not again
            return False
        if is_current(stored, text, self.settings) and (again or self.which != "all"):
            self.unchanged += not again
            return False
        return True

    def make_orders(self, stored: list[Row], again: bool, *, names: Names) -> list[Order]:
        """Make orders for the documents that need any. Without a text they lose our fields."""
        written = [name for name in OWN if name in (*self.settings.fields, SETTINGS)]
        nothing = dict.fromkeys(map(names.of, written))
        made, needed = list[Order](), list[Row]()
        for row in stored:
            if row.get(TEXT) is None and SETTINGS in row:
                made.append(Order(row["id"], row[VERSION], nothing))
            elif self.needs_fields(row, row.get(TEXT), again=again):
                needed.append(row)
        versions = {row["id"]: row[VERSION] for row in needed}
        documents = [Document(id=row["id"], text=row[TEXT]) for row in needed]
        return orders(documents, versions, self.settings, names) + made

    def summary(self, *, read: int, gone: int, failed: int, **rest: Any) -> AnnotateSummary:
        """Make the summary of the whole run."""
        done = {"unchanged": self.unchanged, "without_text": self.without_text}
        rest |= {"annotated": read - sum(done.values()) - gone - failed, **done}
        return AnnotateSummary(read=read, gone=gone, failed=failed, settings=self.settings, **rest)


def is_current(stored: Mapping[str, Any], text: str, settings: Settings) -> bool:
    """Return True if the stored fields are those of this text under these settings."""
    is_ours = stored.get(SETTINGS) == settings.fingerprint
    normal = normalize.normalize(text, settings.normalization) if is_ours else ""
    return is_ours and bool(stored.get(MD5) == normalize.md5(normal))


def choose_settings(
    collection: Collection, settings: Settings | Mapping[str, Any] | None, usual: Settings,
    source: Collection | None = None,
) -> Settings:  # fmt: skip
    """Choose the settings to annotate with. The text counts as a field, as it is stored.

    They are the `usual` ones, unless others are chosen or stored, with the measure that suits
    the first texts of the collection, or of its `source`.

    Raises SettingsError if the collection has other settings, SchemaError if it lacks fields.
    """
    always = {TEXT, MD5}
    if isinstance(settings, Settings):
        settings = replace(settings, fields=settings.fields | always)
    elif settings and "fields" in settings:
        fields = settings_of({"fields": settings["fields"]}, usual).fields
        settings = {**settings, "fields": fields | always}

    def choose() -> Settings:
        """Choose the measure by the first texts."""
        wanted = settings_of(settings, usual)
        texts = list(sample_texts(source or collection))
        forms = normal_forms(texts, wanted)
        measure = choose_measure(wanted, [len(form.split()) for form in forms])[0]
        chosen = fit_shingles(settings, usual, map(len, texts))
        return chosen if measure == "words" else replace(chosen, measure=measure)

    step = {}
    if source is None:
        others = f"to change others: neardup strip {collection.place}, then annotate again"
        step["step"] = f"omit these settings; to change bands: neardup reband; {others}"
    chosen = collection.choose_settings(settings, choose, **step)
    if not always <= chosen.fields:
        reason = f"the collection has documents without {', '.join(sorted(always - chosen.fields))}"
        raise SettingsError(reason, f"strip it first: neardup strip {collection.place}")
    collection.require_fields(["id", *sorted(chosen.fields), SETTINGS])
    return chosen


def _copy(
    collection: Collection, other: Collection, settings: Settings | Mapping[str, Any] | None,
    query: Sequence[str], pace: RateLimit, patience: float, watching: Callbacks,
) -> AnnotateSummary:  # fmt: skip
    """Index the texts of a collection into another, but those that it has already."""
    require_texts(collection, schema.read_schema(collection), collection.names.text)
    require_other(collection, other)
    losses = LossCheck(other, own_fields(other) | {*other.names.fields([ID, TEXT]), NATIVE})
    task = _Task(settings=choose_settings(other, settings, DEFAULT_SETTINGS, collection))
    collection.commit()
    filters = [*query, *roots_only(schema.read_schema(collection))]
    total, read, gone = collection.count(filters), 0, 0

    def documents() -> Iterator[Document]:
        """Yield the documents that the other lacks or has with another text, at that pace."""
        nonlocal read, gone, losses
        since = time.monotonic()
        for page in pages(collection.ids(filters), pace.batch):
            texts = {row["id"]: row.get(TEXT) for row in collection.stored(page, [TEXT])}
            copies = {row["id"]: row for row in other.stored(page, [MD5, SETTINGS])}
            read += len(page)
            gone += len(page) - len(texts)
            needed = [
                Document(id=id, text=text or "")
                for id, text in texts.items()
                if task.needs_fields(copies.get(id, {}), text)
            ]
            if replaced := [each.id for each in needed if each.id in copies]:
                losses = losses.renew()
                losses.require_only(replaced)
            yield from needed
            watching.on_progress(Progress("annotating", read, max(total, read)))
            since = pace.wait(len(needed), since)

    summary = index(
        documents(), other, id="id", keep=(), settings=task.settings, threads=pace.threads,
        batch=pace.batch, patience=patience, on_error=watching.on_error,
    )  # fmt: skip
    counts = {"errors": summary.errors, "seconds": summary.seconds, "redone": 0}
    return task.summary(read=read, gone=gone, failed=summary.failed, **counts)


# No document has them without the other fields, and they are slow to read.
_TERMS = frozenset({"content_ng", "content_sg", "content_bands"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StripSummary:
    """Counts of a `strip` run.

    `stripped`: documents whose fields were removed; `redone`: documents read again because others
    changed them; `failed`: documents that could not be changed; `errors`: their first 1,000 errors.
    """

    stripped: int
    redone: int
    failed: int
    errors: tuple[RecordError, ...]
    seconds: float


@checked
def strip(
    collection: Collection,
    *,
    query: OneOrMore = (),
    rate: float = 0,
    threads: int = 2,
    batch: int = 500,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> StripSummary:
    """Remove the neardup fields, including marks, from the documents of a collection.

    Example: `nd.strip(books, query="title:bread").stripped`

    Other fields stay as they are. After an interruption, run the same call again.

    Raises SettingsError if an update would lose data, SolrError if Solr stops answering.
    """
    pace = RateLimit(rate=rate, threads=threads, batch=batch)
    with waiting([collection], patience):
        existing = schema.read_schema(collection).fields
        ours = [name for name in OWN if collection.names.of(name) in existing]
        read = [name for name in ours if name not in _TERMS]
        if not read:
            reason = f"{collection.name!r} has no neardup fields"
            raise SettingsError(reason, "there is nothing to remove")
        require_safe(collection)
        collection.commit()  # so that what an interrupted run has sent counts
        nothing = dict.fromkeys(map(collection.names.of, ours))

        def make_orders(stored: list[Row], again: bool) -> list[Order]:
            annotated = (row for row in stored if not row.keys().isdisjoint(read))
            return [Order(row["id"], row[VERSION], nothing) for row in annotated]

        failures, on_progress = Failures(on_error), on_progress or ignore
        fields = [*read, VERSION]
        run = Rewrite(collection, "stripping", fields, make_orders, pace, failures, on_progress)
        run.run([*listed(query), having(*map(collection.names.of, read))])
        return StripSummary(stripped=run.read - run.gone - run.failures.count, **run.end())


@checked
def reband(
    collection: Collection,
    *,
    bands: int,
    rows: int,
    patience: float | str = "5m",
    on_progress: OnProgress | None = None,
) -> int:
    """Recompute the bands of a collection from its stored signatures.

    Example: `nd.reband(listings, bands=35, rows=3)`

    Returns the number of updated documents. Until the call ends, searches fail because documents
    have different settings. If Solr is away, the call waits for it, at most `patience` (seconds,
    or "5m"). After an interruption, run the same call again.

    Raises ArgumentError if a number is below 1; SettingsError if `bands` × `rows` exceeds the
    stored hashes, the stored settings are mixed or lack signatures or bands, an id could be in
    several shards, or an update would lose data; SolrError if Solr does not answer or refuses
    updates.
    """
    require_positive(bands=bands, rows=rows)
    with waiting([collection], patience):
        collection.require_placed()
        collection.commit()
        settings = _choose_settings(collection, bands, rows)

        def make_orders(documents: list[Row], again: bool) -> list[Order]:
            rows = [row for row in documents if row.get(SETTINGS) != settings.fingerprint]
            return [Order(row["id"], row[VERSION], names.physical(fields(row))) for row in rows]

        def fields(row: Row) -> dict[str, Any]:
            keys = signature.make_band_keys(signature.decode(row.get("signature", "")), settings)
            return {SETTINGS: settings.fingerprint, BANDS: keys}

        names, read = collection.names, ["signature", SETTINGS, VERSION]
        run, field = Rewrite(collection, "rebanding", read, make_orders), names.of(SETTINGS)
        run.on_progress = on_progress or ignore
        run.run([having(field), f'-{field}:"{settings.fingerprint}"'])
        if run.failures.count:
            reason = f"some updates failed: {run.failures.first[-1].reason}"
            raise SolrAnswerError(collection.url, 200, reason, "run this again")
        return run.read - run.gone


def _choose_settings(collection: Collection, bands: int, rows: int) -> Settings:
    """Choose the settings of a collection, with other bands."""
    collection.require_fields([SETTINGS, "signature", BANDS])
    stored = [Settings.parse(fingerprint) for fingerprint in collection.values(SETTINGS)]
    stored = stored or [collection.needed_settings()]  # which says what is missing
    chosen = replace(stored[0], bands=bands, rows=rows)
    chosen.require("signature", BANDS)
    for settings in stored:
        if replace(settings, bands=bands, rows=rows) != chosen:
            reason = f"documents have [{stored[0].fingerprint}] and [{settings.fingerprint}]"
            other = "which differ in more than bands and rows"
            raise SettingsError(f"{reason}, {other}", f"see: neardup doctor {collection.place}")
    return chosen
