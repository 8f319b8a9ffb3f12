"""doctor: whether the fields of a collection match its texts, and the state of its server."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mmh3
import orjson

from neardup_solr.arguments import checked, require
from neardup_solr.errors import counted
from neardup_solr.minhash import encode_documents
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.solr import schema
from neardup_solr.solr.admin import Health, health
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import ID, OWN, SETTINGS, TEXT
from neardup_solr.text.normalize import is_unspaced
from neardup_solr.verbs.lint import (
    DANGER,
    NOTE,
    WARNING,
    Finding,
    by_level,
    check_versions,
    select,
)

SAMPLE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Counts and findings of `doctor`: `settings` counts the documents of each fingerprint.

    `documents` counts those of the collection without nested ones, `missing` those that have text
    but none of our fields, `without_text` those without text (None if text cannot be searched;
    then `missing` may include them), `sampled` those that were computed anew.
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
        return tuple(finding for finding in self.findings if finding.level != NOTE)


@checked
def doctor(collection: Collection, *, sample: int = SAMPLE) -> Diagnosis:
    """Count documents by settings, missing ones included, and compute a sample anew.

    The sample has `sample` documents that have our fields, the same ones in every run. Nothing is
    written, so documents that are not committed yet do not count.

    Raises SettingsError if settings are not understood, SchemaError if the collection has none of
    our fields, SolrError if Solr does not answer.
    """
    require(sample >= 0, f"`sample` cannot be {sample}", "give 0 or more")
    collection.require_fields([SETTINGS])
    fields = schema.read_schema(collection)
    roots, settings = schema.roots_only(fields), collection.values(SETTINGS)
    documents, with_text = collection.count(roots), schema.with_text(collection, fields)
    missing = schema.count_unsigned(collection, fields)
    without_text = documents - collection.count([*roots, *with_text]) if with_text else None
    sampled = _draw_sample(collection, sample)
    counts = Counted(
        place=collection.place, text=collection.names.text, settings=settings, documents=documents,
        missing=missing, without_text=without_text, sampled=sampled, health=health(collection),
    )  # fmt: skip
    return Diagnosis(
        documents=documents,
        settings=settings,
        missing=missing,
        without_text=without_text,
        sampled=sampled.documents,
        findings=tuple(findings(counts)),
    )


def _draw_sample(collection: Collection, size: int) -> Sampled:
    ids = collection.ids([f"{collection.names.of(SETTINGS)}:[* TO *]"])
    drawn = heapq.nsmallest(size, ids, key=mmh3.hash)
    sampled, parsed = Sampled(), dict[str, Settings]()
    for row in collection.stored(drawn, [TEXT, *OWN]):
        fingerprint = row[SETTINGS]
        if fingerprint not in parsed:
            parsed[fingerprint] = Settings.parse(fingerprint)
        if TEXT in parsed[fingerprint].fields:  # or nothing tells whether it has changed
            sampled.add(row, parsed[fingerprint])
    return sampled


HTML = re.compile(r"</?(?:p|br|div|span|a|b|i|li|ul|td|tr|table|h[1-6])(?:\s[^<>]*)?/?>", re.I)
FULL_HEAP, LITTLE_DISK, MANY_DELETED = 0.95, 1 << 30, 0.5
SOME_HTML = 0.05  # share of the sample


@dataclass(slots=True, kw_only=True)
class Sampled:
    """Documents that were computed anew: their number, and the ids of those with a problem.

    The text of `stale` ones has changed since; `damaged` ones have the same text, but other fields
    than it gives; `html` ones have tags in their text; `unspaced` ones are of a script without
    blanks, under settings that know no such scripts.
    """

    documents: int = 0
    stale: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    unspaced: list[str] = field(default_factory=list)

    def add(self, stored: Mapping[str, Any], settings: Settings) -> None:
        """Compute the fields of a stored document anew, and compare."""
        self.documents += 1
        id, text = str(stored[ID]), str(stored.get(TEXT, ""))
        ((json, _),) = encode_documents([Document(id=id, text=text)], settings)
        made = orjson.loads(json)
        # Marks are not made of the text alone.
        differing = {n for n in OWN if n in settings.fields and _differ(stored.get(n), made.get(n))}
        if "md5_hash" in differing or (differing and "md5_hash" not in settings.fields):
            self.stale.append(id)
        elif differing:
            self.damaged.append(id)
        if HTML.search(text):
            self.html.append(id)
        if settings.normalization == 1 and is_unspaced(text):
            self.unspaced.append(id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Counts of a collection: documents by settings fingerprint, `missing` ones, a sample.

    `without_text` have nothing in the `text` fields; None if those cannot be searched.
    """

    place: str
    settings: Mapping[str, int] = field(default_factory=dict)
    text: Sequence[str] = (TEXT,)
    documents: int = 0
    missing: int = 0
    without_text: int | None = 0
    sampled: Sampled = field(default_factory=Sampled)
    health: Health = field(default_factory=Health)


def findings(counts: Counted) -> list[Finding]:
    """All findings, the most serious first."""
    return by_level([*_documents(counts), *_server(counts.health)])


def _documents(counts: Counted) -> Iterator[Finding]:
    again, sampled, text = f"neardup annotate {counts.place}", counts.sampled, counts.text
    kinds = "; ".join(f"{count:,} with [{name}]" for name, count in counts.settings.items())
    has = "they have text" if counts.without_text is not None else "they may have text"
    unspaced, _, annotate = schema.UNSPACED.partition("; ")

    def such(ids: Sequence[str]) -> str:
        first = f", such as {ids[0]!r}" if ids else ""
        return f"{len(ids):,} of {sampled.documents:,} sampled documents{first}"

    return select(
        (len(counts.settings) > 1, DANGER, "mixed", "signature_settings",
         f"documents have different settings: {kinds}",
         f"neardup strip {counts.place}, then {again}; or finish an interrupted reband"),
        (counts.missing, WARNING, "missing", counted(counts.missing, "document"),
         f"{has}, but none of our fields", again),
        (counts.without_text, NOTE, "no-text",
         f"{counts.without_text or 0:,} of {counted(counts.documents, 'document')}",
         f"they have no text in {', '.join(text)}: annotate passes over them",
         "if they should have one, name the right field: neardup init"
         f" {counts.place} --text-field FIELD"),
        (sampled.stale, WARNING, "stale", such(sampled.stale),
         "their text has changed since", again),
        (sampled.damaged, DANGER, "damaged", such(sampled.damaged),
         "our fields are not those of the text", f"{again} --which all"),
        (sampled.unspaced, NOTE, "blanks", such(sampled.unspaced), unspaced, annotate),
        (len(sampled.html) > SOME_HTML * sampled.documents, NOTE, "html", such(sampled.html),
         "their text contains HTML: names of tags count as words",
         "index the text without tags into its own field (HTMLStripFieldUpdate"
         "ProcessorFactory) and name that field"),
    )  # fmt: skip


def _server(health: Health) -> Iterator[Finding]:
    disk, heap = LITTLE_DISK if health.disk is None else health.disk, health.heap or 0.0
    deleted = health.deleted or 0.0
    yield from select(
        (health.without_keeper, DANGER, "zookeeper", "ZooKeeper",
         "it is away: nothing can be written, and the state of the replicas is unknown",
         "start it, then run this again"),
        (health.inactive, DANGER, "replicas", ", ".join(health.inactive),
         "these replicas do not answer", "see the log of their node"),
        (health.replaying, DANGER, "replaying", "update log",
         "Solr is replaying it after a crash",
         "wait until that is done; until then a commit does nothing"),
        (disk < LITTLE_DISK, DANGER, "disk", f"{disk / 2**20:,.0f} MB free",
         "if the disk is full, the index closes until Solr restarts", "free some space"),
        (heap > FULL_HEAP, WARNING, "heap", f"{heap:.0%} of Java's memory",
         "little is free at the moment", "if so for long, add memory"),
        (deleted > MANY_DELETED, NOTE, "deleted", f"{deleted:.0%} of the index",
         "deleted and rewritten documents still take space",
         "merges free it, or /update?commit=true&expungeDeletes=true"),
    )  # fmt: skip
    if health.versions:
        yield from check_versions(health.versions)


def _differ(stored: Any, made: Any) -> bool:
    """Return True if two values differ. Lists are compared as sets, as docValues return them."""
    if isinstance(stored, list) or isinstance(made, list):
        return set(stored or ()) != set(made or ())
    return (stored or None) != (made or None)
