"""strip: everything that annotate and marks added, taken out of a collection again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from neardup_solr.errors import SettingsError
from neardup_solr.progress import SILENT, Watching
from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import OWN, VERSION
from neardup_solr.solr.update import Order, removal
from neardup_solr.verbs.annotate import guard
from neardup_solr.verbs.annotate.rewrite import DEFAULT_PACE, Found, Pace, Rewrite, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class StripSummary:
    """What a run did: documents `stripped` of our fields, `redone` among them, and `failed` ones.

    `redone` documents were changed by others before they were written, and were read again.
    """

    stripped: int
    redone: int
    failed: int
    seconds: float


def strip(
    collection: Collection,
    *,
    filters: Sequence[str] = (),
    pace: Pace = DEFAULT_PACE,
    watching: Watching = SILENT,
) -> StripSummary:
    """Take our fields, marks included, out of the documents of a collection that have any.

    Everything else stays as it is, texts included, and documents that have none are not written.
    After an interruption the same call goes on where it stopped.

    Raises SettingsError where an update would lose data, SolrError where Solr stops answering.
    """
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
        collection=collection, task=_task(collection, asked, there), pace=pace, watching=watching
    )
    run.run([*filters, any_of])
    return StripSummary(
        stripped=run.read - run.gone - run.failed,
        redone=len(run.redone),
        failed=run.failed,
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
