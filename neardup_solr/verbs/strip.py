"""strip: remove everything that annotate and mark added to a collection."""

from __future__ import annotations

import time
from dataclasses import dataclass

from neardup_solr.arguments import OneOrMore, checked, in_seconds, listed
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.progress import Failures, OnError, OnProgress, ignore
from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import OWN, VERSION
from neardup_solr.solr.update import Order, removal
from neardup_solr.verbs.annotate.rewrite import Found, RateLimit, Rewrite
from neardup_solr.verbs.lint import require_safe

# No document has them without the other fields, and they are slow to read.
_TERMS = frozenset({"content_ng", "content_sg", "content_bands"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StripSummary:
    """Counts of a run: documents that were `stripped` of our fields, and that `failed`.

    `redone` counts documents that others changed before they were written, and that were read
    again. `errors` says why the first 1,000 of the failed ones failed.
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
    """Remove our fields, marks included, from the documents of a collection.

    Everything else stays as it is, texts included; documents without our fields are not written.
    After an interruption the same call continues where it stopped. `query` (one or several) selects
    documents; `rate`, `threads`, `batch`, `patience`, `on_error` and `on_progress` are as for
    `annotate`.

    Raises SettingsError if an update would lose data, SolrError if Solr stops answering.
    """
    pace = RateLimit(rate=rate, threads=threads, batch=batch)
    found = schema.read_schema(collection)
    there = [name for name in OWN if collection.names.of(name) in found.fields]
    asked = [name for name in there if name not in _TERMS]
    if not asked:
        raise SettingsError(
            f"{collection.name!r} has none of our fields",
            "there is nothing to remove",
        )
    require_safe(collection)
    collection.commit()  # so that what an interrupted run has sent counts

    def make_orders(found: list[Found], again: bool) -> list[Order]:
        return [
            removal(one["id"], one[VERSION], there, collection.names)
            for one in found
            if not one.keys().isdisjoint(asked)
        ]

    any_of = " OR ".join(f"{collection.names.of(name)}:[* TO *]" for name in asked)
    run = Rewrite(
        collection=collection,
        stage="stripping",
        fields=[*asked, VERSION],
        orders=make_orders,
        pace=pace,
        failures=Failures(on_error),
        on_progress=on_progress or ignore,
    )
    patience = in_seconds(patience, "patience")
    with collection.session.outages.waited_for(patience):
        run.run([*listed(query), any_of])
    run.failures.warn()
    return StripSummary(
        stripped=run.read - run.gone - run.failures.count,
        redone=run.redone,
        failed=run.failures.count,
        errors=tuple(run.failures.first),
        seconds=time.monotonic() - run.started,
    )
