"""doctor: check if the documents of a collection are sound."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from neardup_solr.checks import require
from neardup_solr.errors import SolrAnswerError, counted
from neardup_solr.minhash import encode_documents
from neardup_solr.records import Document
from neardup_solr.regex import regex
from neardup_solr.settings import Settings
from neardup_solr.solr import schema, unsigned
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.health import Health, is_replaying, read_health
from neardup_solr.solr.names import ID, OWN, SETTINGS, TEXT
from neardup_solr.solr.query import having
from neardup_solr.text.characters import is_unspaced
from neardup_solr.verbs.findings import DANGER, NOTE, WARNING, Finding, by_level, select
from neardup_solr.verbs.solr_versions import check_versions

_REPLAYING = (
    "Solr is replaying the update log after a crash, or a replica is catching up with its leader"
)
HTML = regex(r"</?(?:p|br|div|span|a|b|i|li|ul|td|tr|table|h[1-6])(?:\s[^<>]*)?/?>", re.I)
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
        (json,) = encode_documents([Document(id=id, text=text)], settings)
        computed = orjson.loads(json)
        # Marks are not made of the text alone.
        names = (name for name in OWN if name in settings.fields)
        differing = {name for name in names if _differ(stored.get(name), computed.get(name))}
        if "md5_hash" in differing or (differing and "md5_hash" not in settings.fields):
            self.stale.append(id)
        elif differing:
            self.damaged.append(id)
        if HTML.search(text):
            self.html.append(id)
        if settings.normalization == 1 and is_unspaced(text):
            self.unspaced.append(id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Counts and findings of `doctor`.

    `documents`: documents, without nested ones; `settings`: number of documents by fingerprint;
    `missing`: documents with text but without neardup fields; `without_text`: documents without
    text, None if text cannot be searched; `sample`: recomputed documents with problems; `place`:
    command options for the collection; `text`: fields with the text; `health`: state of the server.
    """

    documents: int = 0
    settings: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0
    without_text: int | None = 0
    sample: Sampled = field(default_factory=Sampled)
    place: str = "-c NAME"
    text: Sequence[str] = (TEXT,)
    health: Health = field(default_factory=Health)

    @property
    def sampled(self) -> int:
        """Number of recomputed documents."""
        return self.sample.documents

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings, the most serious first."""
        return by_level([*_documents(self), *_server(self.health)])

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Findings that require action."""
        return tuple(finding for finding in self.findings if finding.level != NOTE)


def diagnose(collection: Collection, *, sample: int) -> Diagnosis:
    """Count the documents by settings, and recompute the fields of a sample."""
    reason = f"`sample` cannot be {sample}"
    require(sample >= 0, reason, "give 0 or more", code="argument-out-of-range")
    try:
        return _diagnose(collection, sample)
    except SolrAnswerError as error:  # of a cloud, nothing can be read of such a shard
        if not is_replaying(collection):
            raise
        reason = f"{_REPLAYING}, and cannot be read meanwhile ({error.reason})"
        step = "wait until it has finished, then run this again"
        raise SolrAnswerError(
            error.url, error.status, reason, step, code="solr-unreachable"
        ) from None


def _diagnose(collection: Collection, sample: int) -> Diagnosis:
    collection.require_fields([SETTINGS])
    fields = schema.read_schema(collection)
    roots, settings = unsigned.roots_only(fields), collection.values(SETTINGS)
    documents, with_text = collection.count(roots), unsigned.with_text(collection, fields)
    missing = unsigned.count_unsigned(collection, fields)
    without_text = documents - collection.count([*roots, *with_text]) if with_text else None
    return Diagnosis(
        documents=documents,
        settings=settings,
        missing=missing,
        without_text=without_text,
        sample=_draw_sample(collection, sample),
        place=collection.place,
        text=collection.names.text,
        health=read_health(collection),
    )


def _draw_sample(collection: Collection, size: int) -> Sampled:
    import mmh3

    ids = collection.ids([having(collection.names.of(SETTINGS))])
    drawn = heapq.nsmallest(size, ids, key=mmh3.hash)
    sampled, parsed = Sampled(), dict[str, Settings]()
    for row in collection.stored(drawn, [TEXT, *OWN]):
        fingerprint = row[SETTINGS]
        if fingerprint not in parsed:
            parsed[fingerprint] = Settings.parse(fingerprint)
        if TEXT in parsed[fingerprint].fields:  # or nothing tells whether it has changed
            sampled.add(row, parsed[fingerprint])
    return sampled


def _documents(counts: Diagnosis) -> Iterator[Finding]:
    again, sampled, text = f"neardup annotate {counts.place}", counts.sample, counts.text
    kinds = "; ".join(f"{count:,} with [{name}]" for name, count in counts.settings.items())
    has = "with text" if counts.without_text is not None else "perhaps with text"
    unspaced, _, annotate = unsigned.UNSPACED.partition("; ")

    def such(ids: Sequence[str]) -> str:
        first = f", such as {ids[0]!r}" if ids else ""
        return f"{len(ids):,} of {sampled.documents:,} sampled documents{first}"

    return select(
        (len(counts.settings) > 1, DANGER, "mixed", "signature_settings",
         f"documents have different settings: {kinds}",
         f"neardup strip {counts.place}, then {again}; or finish an interrupted reband"),
        (counts.missing, WARNING, "missing", counted(counts.missing, "document"),
         f"{has}, but without neardup fields", again),
        (counts.without_text, NOTE, "no-text",
         f"{counts.without_text or 0:,} of {counted(counts.documents, 'document')}",
         f"without a text in {', '.join(text)}: annotate skips them",
         "if they should have text, name the correct field: neardup init"
         f" {counts.place} --text-field FIELD"),
        (sampled.stale, WARNING, "stale", such(sampled.stale),
         "their text has changed since the neardup fields were computed", again),
        (sampled.damaged, DANGER, "damaged", such(sampled.damaged),
         "the neardup fields do not match the text", f"{again} --which all"),
        (sampled.unspaced, NOTE, "blanks", such(sampled.unspaced), unspaced, annotate),
        (len(sampled.html) > SOME_HTML * sampled.documents, NOTE, "html", such(sampled.html),
         "their text contains HTML: tag names count as words",
         "index the text without tags into a separate field (HTMLStripFieldUpdate"
         "ProcessorFactory) and name that field"),
    )  # fmt: skip


def _server(health: Health) -> Iterator[Finding]:
    disk, heap = LITTLE_DISK if health.disk is None else health.disk, health.heap or 0.0
    deleted, unknown = health.deleted or 0.0, health.unknown
    yield from select(
        (health.without_keeper, DANGER, "zookeeper", "ZooKeeper",
         "it is unavailable: nothing can be written, and the state of the replicas is unknown",
         "start it, then run this again"),
        (health.inactive, DANGER, "replicas", ", ".join(health.inactive),
         "not active", "check the log of their node"),
        (health.replaying, DANGER, "replaying", "update log",
         _REPLAYING,
         "wait until it has finished; until then, a commit has no effect"),
        (disk < LITTLE_DISK, DANGER, "disk", f"{disk / 2**20:,.0f} MB free",
         "if the disk fills up, the index stays closed until Solr is restarted", "free some space"),
        (heap > FULL_HEAP, WARNING, "heap", f"{heap:.0%} of Java's memory",
         "little memory is free at the moment", "if this persists, give Solr more memory"),
        (deleted > MANY_DELETED, NOTE, "deleted", f"{deleted:.0%} of the index",
         "deleted and rewritten documents still take up space",
         "merging frees this space; to force it, use /update?commit=true&expungeDeletes=true"),
        (unknown, NOTE, "unknown", ", ".join(unknown),
         "Solr does not tell their state" if len(unknown) > 1 else "Solr does not tell its state",
         "let this user read /admin/metrics, /admin/info/system and /admin/cores, or check on the"
         " server"),
    )  # fmt: skip
    if health.versions:
        yield from check_versions(health.versions)


def _differ(stored: Any, computed: Any) -> bool:
    """Return True if two values differ. Lists are compared as sets, as docValues return them."""
    if isinstance(stored, list) or isinstance(computed, list):
        return set(stored or ()) != set(computed or ())
    return (stored or None) != (computed or None)
