"""strip: everything that annotate and marks added, taken out of a collection again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from neardup_solr.arguments import OneOrMore, checked, listed
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.progress import Failures, OnError, OnProgress, unheard
from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import OWN, VERSION
from neardup_solr.solr.update import Order, removal
from neardup_solr.verbs.annotate import guard
from neardup_solr.verbs.annotate.rewrite import Found, Pace, Rewrite, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class StripSummary:
    """What a run did: documents `stripped` of our fields, `redone` among them, and `failed` ones.

    `redone` documents were changed by others before they were written, and were read again.
    `errors` says of the first 1,000 that failed why.
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
    batch: int = 1_000,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> StripSummary:
    """Take our fields, marks included, out of the documents of a collection that have any.

    Everything else stays as it is, texts included, and documents that have none are not written.
    After an interruption the same call goes on where it stopped. `query` (one or several) says
    which documents; `rate`, `threads`, `batch`, `on_error` and `on_progress` are as for
    `annotate`.

    Raises SettingsError if an update would lose data, SolrError if Solr stops answering.
    """
    pace = Pace(rate=rate, threads=threads, batch=batch)
    found = schema.described(collection)
    there = [name for name in OWN if collection.names.of(name) in found.fields]
    asked = [name for name in there if name not in _TERMS]
    if not asked:
        raise SettingsError(
            f"{collection.name!r} has no fields of ours",
            "there is nothing to take out; neardup init adds them",
        )
    guard.require_safe(collection)
    collection.commit()  # what an interrupted run has sent counts as well
    any_of = " OR ".join(f"{collection.names.of(name)}:[* TO *]" for name in asked)
    run = Rewrite(
        collection=collection,
        task=_task(collection, asked, there),
        pace=pace,
        failures=Failures(on_error),
        on_progress=on_progress or unheard,
    )
    run.run([*listed(query), any_of])
    run.failures.warn()
    return StripSummary(
        stripped=run.read - run.gone - run.failures.count,
        redone=len(run.redone),
        failed=run.failures.count,
        errors=tuple(run.failures.first),
        seconds=time.monotonic() - run.started,
    )


# Never without the other fields, and slow to ask for: a term for each shingle of a text.
_TERMS = frozenset({"content_ng", "content_sg", "content_bands"})


def _task(collection: Collection, asked: Sequence[str], there: Sequence[str]) -> Task:
    def orders(found: list[Found], again: bool) -> list[Order]:
        return [
            removal(one["id"], one[VERSION], there, collection.names)
            for one in found
            if not one.keys().isdisjoint(asked)
        ]

    return Task(
        stage="stripping", fields=[*asked, VERSION], own=guard.own_fields(collection), orders=orders
    )
