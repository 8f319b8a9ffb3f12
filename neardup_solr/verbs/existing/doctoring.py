"""doctor: whether the fields of a collection are those of its texts, and how its server fares."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

import mmh3

from neardup_solr.edges.client import Solr
from neardup_solr.edges.existing import schema
from neardup_solr.edges.existing.health import health
from neardup_solr.pure.config import Settings
from neardup_solr.pure.errors import SettingsError
from neardup_solr.pure.solr.atomic import SETTINGS
from neardup_solr.pure.solr.diagnosis import Counted, Sampled, findings
from neardup_solr.pure.solr.findings import NOTE, Finding
from neardup_solr.pure.solr.names import OWN, TEXT
from neardup_solr.pure.solr.schema import Schema
from neardup_solr.verbs.existing import guarding

SAMPLE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What doctor counted and found: `settings` has the documents of each fingerprint.

    `documents` are those of the collection without nested ones, `missing` those of them that have
    text and none of our fields, `without_text` those that have none (None: it cannot be searched,
    and `missing` may have no text either), `sampled` those that were computed anew.
    """

    documents: int
    settings: Mapping[str, int]
    missing: int
    without_text: int | None
    sampled: int
    findings: tuple[Finding, ...]

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The findings for which something has to be done."""
        return tuple(one for one in self.findings if one.level != NOTE)


def doctor(solr: Solr, *, sample: int = SAMPLE) -> Diagnosis:
    """Count documents by settings, missing ones included, and compute a sample anew.

    The sample has `sample` documents that have our fields, the same ones in every run. Nothing is
    written, so documents that are not committed yet do not count.

    Raises SettingsError where settings are not understood, SchemaError where the collection has
    no fields of ours, SolrError where Solr does not answer.
    """
    if sample < 0:
        raise SettingsError(f"a sample cannot have {sample} documents", "give 0 or more")
    solr.require_fields([SETTINGS])
    found = schema.described(solr)
    roots, settings = guarding.roots_only(found), solr.values(SETTINGS)
    documents, with_text = solr.count(roots), _with_text(solr, found)
    missing = solr.count([*roots, f"-{solr.names.of(SETTINGS)}:[* TO *]", *with_text])
    without_text = documents - solr.count([*roots, *with_text]) if with_text else None
    told = health(solr)
    sampled = _sampled(solr, sample)
    counted = Counted(
        name=solr.core, text=solr.names.text, settings=settings, documents=documents,
        missing=missing, without_text=without_text, sampled=sampled, heap=told.heap,
        disk=told.disk, deleted=told.deleted, replaying=told.replaying, inactive=told.inactive,
    )  # fmt: skip
    return Diagnosis(
        documents=documents,
        settings=settings,
        missing=missing,
        without_text=without_text,
        sampled=sampled.documents,
        findings=tuple(findings(counted)),
    )


def _sampled(solr: Solr, size: int) -> Sampled:
    ids = solr.ids([f"{solr.names.of(SETTINGS)}:[* TO *]"])
    drawn = heapq.nsmallest(size, ids, key=mmh3.hash)
    sampled, known = Sampled(), dict[str, Settings]()
    for one in solr.stored(drawn, [TEXT, *OWN]):
        fingerprint = one[SETTINGS]
        if fingerprint not in known:
            known[fingerprint] = Settings.parse(fingerprint)
        sampled.add(one, known[fingerprint])
    return sampled


def _with_text(solr: Solr, found: Schema) -> list[str]:
    """A filter for documents with text, where one of its fields can be searched for."""
    fields = {name: found.field(name) for name in solr.names.text}
    if not all(one is not None and (one.indexed or one.doc_values) for one in fields.values()):
        return []
    return [" OR ".join(f"{name}:[* TO *]" for name in fields)]
