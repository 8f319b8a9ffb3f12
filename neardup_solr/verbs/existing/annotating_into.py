"""annotate_into: a collection's texts and computed fields, written into another one beside it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from neardup_solr.edges.client import Solr
from neardup_solr.edges.existing import schema
from neardup_solr.pure.config import Settings
from neardup_solr.pure.model import Document
from neardup_solr.pure.solr.atomic import SETTINGS
from neardup_solr.pure.solr.names import TEXT
from neardup_solr.verbs import indexing
from neardup_solr.verbs.existing import guarding
from neardup_solr.verbs.existing.annotating import MD5, AnnotateSummary, is_current, settled_for
from neardup_solr.verbs.existing.rewriting import DEFAULT_PACE, SILENT, Pace, Watching
from neardup_solr.verbs.indexing import Sending


def annotate_into(
    solr: Solr,
    other: Solr,
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
    guarding.require_readable(solr)
    guarding.require_other(solr, other)
    settled = settled_for(other, settings)
    solr.commit()
    wanted = [*filters, *guarding.roots_only(schema.described(solr))]
    run = _Into(solr=solr, other=other, settings=settled, pace=pace, watching=watching)
    run.total = solr.count(wanted)
    done = indexing.index(
        run.documents(wanted),
        other,
        settings=settled,
        sending=Sending(threads=pace.threads, batch_documents=pace.batch),
        watching=indexing.Watching(on_error=watching.on_error),
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

    solr: Solr
    other: Solr
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
        ids, since = self.solr.ids(filters), time.monotonic()
        while page := list(islice(ids, self.pace.batch)):
            texts = {one["id"]: one.get(TEXT) for one in self.solr.stored(page, [TEXT])}
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
            self.watching.on_progress(self.read, max(self.total, self.read))
            since = self.pace.wait(sent, since)
