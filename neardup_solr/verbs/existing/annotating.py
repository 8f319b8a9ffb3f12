"""annotate: computed fields added to the documents of a collection that is already there."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from neardup_solr.edges.client import Solr
from neardup_solr.pure.config import Settings
from neardup_solr.pure.errors import SettingsError
from neardup_solr.pure.model import Document
from neardup_solr.pure.solr.atomic import SETTINGS, VERSION, Order, orders, removal
from neardup_solr.pure.solr.names import OWN, TEXT
from neardup_solr.pure.text import normalize
from neardup_solr.verbs.existing import guarding
from neardup_solr.verbs.existing.rewriting import (
    DEFAULT_PACE,
    SILENT,
    Found,
    Pace,
    Rewriting,
    Task,
    Watching,
)
from neardup_solr.verbs.settings import settle

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
    solr: Solr,
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
    solr.require_fields(["id", SETTINGS])  # one that is not prepared would only give riddles
    found = guarding.require_safe(solr)
    settled = settled_for(solr, settings)
    run = _Annotating(solr=solr, settings=settled, which=which)
    if which == "missing":
        filters = [*filters, f"-{solr.names.of(SETTINGS)}:[* TO *]"]
    rewriting = Rewriting(solr=solr, task=run.task(), pace=pace, watching=watching)
    rewriting.run([*filters, *guarding.roots_only(found)])
    return run.summary(rewriting)


@dataclass(slots=True, kw_only=True)
class _Annotating:
    """What a run makes of documents, and how many of them need nothing."""

    solr: Solr
    settings: Settings
    which: Which
    unchanged: int = 0
    without_text: int = 0

    def task(self) -> Task:
        """What is read, and what becomes of it."""
        return Task(fields=READ, own=guarding.own_fields(self.solr), orders=self.orders)

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
        names = self.solr.names
        removals = [removal(one["id"], one[VERSION], fields, names) for one in emptied]
        versions = {one["id"]: one[VERSION] for one in needed}
        documents = [Document(id=one["id"], text=one[TEXT]) for one in needed]
        return orders(documents, versions, self.settings, names) + removals

    def summary(self, rewriting: Rewriting) -> AnnotateSummary:
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


def settled_for(solr: Solr, settings: Settings | Mapping[str, Any] | None) -> Settings:
    """The settings to annotate with; the text counts as one of the fields, as it is there.

    Raises SettingsError where the collection has others, SchemaError where it lacks fields.
    """
    always = {TEXT, MD5}
    if isinstance(settings, Settings):
        settings = replace(settings, fields=settings.fields | always)
    elif settings and "fields" in settings:
        settings = {**settings, "fields": frozenset(settings["fields"]) | always}
    settled = settle(solr, settings)
    if not always <= settled.fields:
        reason = f"the collection has documents without {', '.join(sorted(always))}"
        raise SettingsError(reason, "strip it first: neardup strip")
    solr.require_fields(["id", *sorted(settled.fields), SETTINGS])
    return settled
