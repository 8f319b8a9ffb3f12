"""mark: clusters written into their collection, so that queries can collapse them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import mmh3

from neardup_solr.arguments import OneOrMore, checked, in_seconds, listed
from neardup_solr.errors import (
    ArgumentError,
    SchemaError,
    SettingsError,
    SolrAnswerError,
    TemplateError,
    counted,
)
from neardup_solr.progress import OnProgress, Progress, ignore
from neardup_solr.records import Cluster
from neardup_solr.solr import schema, update
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import MARKS, SETTINGS
from neardup_solr.threads import gc_disabled
from neardup_solr.verbs.duplicates import Duplicates

FIELDS = MARKS
CLUSTER = FIELDS[0]
BATCH = 1_000
PASSES = 3  # documents that were indexed again meanwhile have lost their marks: mark them again
MUST_EXIST = 1  # as _version_: Solr refuses the update of a document that is not there

Mark = tuple[int | None, ...]  # the values of FIELDS
NO_MARK: Mark = (None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Counts of a run: `marked` + `unchanged` + `vanished` are all members of clusters.

    `marked` documents got new or other marks, `unchanged` ones had them already, `vanished` ones
    are no longer in the collection. `cleared` documents had marks of an earlier run and are no
    longer in a cluster. `torn` counts clusters of an earlier run of which only some documents match
    `fq`: the others keep its marks, and may be without the document to keep. `fq` is the filter
    query that leaves near-duplicates out of a search of the collection, `collapse` the one for one
    document of each cluster.
    """

    clusters: int
    marked: int
    unchanged: int
    vanished: int
    cleared: int
    torn: int = 0
    fq: str = field(default="", compare=False)
    collapse: str = field(default="", compare=False)


@checked
def mark(
    collection: Collection,
    clusters: Duplicates | Sequence[Cluster],
    *,
    fq: OneOrMore = (),
    yes: bool = False,
    dry_run: bool = False,
    patience: float | str = "5m",
    on_progress: OnProgress | None = None,
) -> Marks:
    """Mark the members of clusters in their collection, and no other documents.

    `clusters` are those of `duplicates`, or its whole result: give that if the run had filters. A
    member gets `neardup_cluster` (the number of its cluster), `neardup_canonical` (1 for the
    document to keep, else 0) and `neardup_rank` (0 for that one, then 1, 2, … in the order of the
    members). Other marks of an earlier run are cleared, but not those of documents that do not
    match `fq`, Solr filter queries (default: those of the run of `duplicates`); `torn` of the
    result counts clusters that are parted by that. Only what differs is sent, in place: Solr
    rewrites only the documents that are cleared. Without clusters, all marks are cleared. After an
    interruption the same call continues where it stopped. A dry run only counts. A result with
    `templates`, whose documents may be no copies, is only marked with `yes`.

    A Solr that is away or restarts is waited for, at most `patience` (seconds, or "5m") each time.
    `on_progress` is told how many documents have been sent, after each batch.

    Raises ArgumentError if a document is in two clusters, or none of them is in the collection,
    TemplateError if clusters may be templates, SettingsError if the collection has no fields for
    marks, SolrError if Solr does not answer, or refuses updates.
    """
    on_progress = on_progress or ignore
    members = clusters.clusters if isinstance(clusters, Duplicates) else clusters
    filters = listed(fq) or (clusters.fq if isinstance(clusters, Duplicates) else ())
    _require_apart(members)
    require_markable(collection)
    if isinstance(clusters, Duplicates) and clusters.doubt and not (yes or dry_run):
        raise TemplateError(clusters.templates, clusters.doubt)
    with collection.session.outages.waited_for(in_seconds(patience, "patience")):
        if not dry_run:
            collection.commit()  # what an interrupted run has sent counts as well
        with gc_disabled():
            taken, torn = _outside(collection, filters)
            wanted = _marks_of_members(members, taken)
            run = _MarkRun(collection=collection, wanted=wanted, filters=filters, torn=torn)
        differing = run.differing()
        if run.wanted and not run.wanted.keys() & run.found.keys():
            reason = f"no document of these clusters is in the collection {collection.name!r}"
            raise ArgumentError(reason, "mark the collection that they were found in")
        attempts = collection.session.attempts(PASSES)
        while differing and not dry_run and next(attempts, None) is not None:
            outages = collection.session.outages.count
            run.send(differing, on_progress)
            if collection.commit_since(outages):
                attempts = collection.session.attempts(PASSES)
            differing = {} if run.has_arrived(differing) else run.differing()
    if differing and not dry_run:
        reason = f"the marks of {counted(len(differing), 'document')} do not stay: {run.reason}"
        step = "run it again when nobody else writes, and all nodes run"
        raise SolrAnswerError(collection.url, 200, reason, step)
    return run.counts(len(members))


def numbers(ids: Iterable[str], others: Set[int] = frozenset()) -> dict[str, int]:
    """Number cluster ids as in `neardup_cluster`: 1 to 2,147,483,647, no two alike.

    It is the upper 31 bits of MurmurHash3 (x86, 32 bit) of the id, seed 0, and so the same in
    every run. If that is 0, or taken by an id that comes before by code point (with 10,000
    clusters, one pair in about 40 collections; with a million, about 230 pairs) or is one of the
    `others`, the next seed is tried.
    """
    taken: dict[int, str] = {}
    for id in sorted(set(ids)):
        number, seed = 0, 0
        while number == 0 or number in taken or number in others:
            number, seed = mmh3.hash(id, seed, signed=False) >> 1, seed + 1
        taken[number] = id
    return {id: number for number, id in taken.items()}


@dataclass(slots=True, kw_only=True)
class _MarkRun:
    """One run: what is wanted, what was read last, what was sent, and why Solr refused some.

    Only documents that match the `filters` may lose their marks, which parts `torn` clusters.
    """

    collection: Collection
    wanted: dict[str, Mark]
    filters: Sequence[str]
    torn: int
    found: dict[str, Mark] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    reason: str = "others change these documents, or a node that fails loses what it took"

    def differing(self) -> dict[str, Mark]:
        """Find the documents whose marks are not the wanted ones, with those they should have."""
        with gc_disabled():
            wanted = self.wanted
            found = _marks(self.collection, wanted, self.filters)
            differing = {id: mark for id, mark in wanted.items() if found.get(id, mark) != mark}
            others = (id for id in found if id not in wanted)
            differing |= {id: NO_MARK for id in others if found[id] != NO_MARK}
        self.found = found
        self.touched.update(differing)
        return differing

    def send(self, marks: Mapping[str, Mark], on_progress: OnProgress) -> None:
        """Send marks in batches. What Solr refuses will still differ."""
        updates = [_update(id, mark) for id, mark in marks.items()]
        for at in range(0, len(updates), BATCH):
            refused = update.set_fields(self.collection, updates[at : at + BATCH])
            self.reason = refused[-1].reason if refused else self.reason
            sent = min(at + BATCH, len(updates))
            on_progress(Progress("marking" if self.wanted else "undoing", sent, len(updates)))

    def has_arrived(self, marks: Mapping[str, Mark]) -> bool:
        """Tell whether documents have the marks that were sent, and no others are marked."""
        there = {row["id"]: _mark_of(row) for row in self.collection.stored(list(marks), FIELDS)}
        expected = len(self.wanted.keys() & self.found.keys())
        marked = self.collection.count([_any_mark(self.collection), *self.filters])
        return there == marks and marked == expected

    def counts(self, clusters: int) -> Marks:
        """Count what came of the run, by what was read last."""
        there = self.wanted.keys() & self.found.keys()
        marked = len(there & self.touched)
        return Marks(
            clusters=clusters,
            marked=marked,
            unchanged=len(there) - marked,
            vanished=len(self.wanted) - len(there),
            cleared=len(self.touched - self.wanted.keys()),
            torn=self.torn,
            fq=self.collection.names.canonical_filter,
            collapse=self.collection.names.collapse_filter,
        )


def _require_apart(clusters: Sequence[Cluster]) -> None:
    """Refuse clusters that share a document, by ArgumentError."""
    seen: set[str] = set()
    for member in (member for cluster in clusters for member in cluster.members):
        if member.id in seen:
            reason = f"the document {member.id!r} is in two clusters"
            raise ArgumentError(reason, "mark the clusters of one run of duplicates")
        seen.add(member.id)


def _marks_of_members(clusters: Sequence[Cluster], taken: Set[int]) -> dict[str, Mark]:
    """Make the marks of all members. No cluster gets a number that is taken."""
    number_of = numbers((str(cluster.id) for cluster in clusters), taken)
    return {
        str(member.id): (number_of[str(cluster.id)], int(member.id == cluster.canonical), rank)
        for cluster in clusters
        for rank, member in enumerate(cluster.members)
    }


def _outside(collection: Collection, filters: Sequence[str]) -> tuple[Set[int], int]:
    """List the numbers of clusters with documents that do not match the filters.

    Count those that have others that match, too, whose marks will differ.
    """
    if not filters:
        return frozenset(), 0
    own = collection.values(CLUSTER, filters)
    every = collection.values(CLUSTER)
    outside = [number for number, count in every.items() if count > own.get(number, 0)]
    return frozenset(map(int, outside)), len(own.keys() & outside)


def _marks(
    collection: Collection, wanted: Iterable[str], filters: Sequence[str]
) -> dict[str, Mark]:
    """Read the marks of these documents, if they exist, and of all others that match."""
    having = [_any_mark(collection), *filters]
    key = schema.read_schema(collection).field(collection.names.id)
    if key is not None and key.is_exported:
        exported = collection.exported(["id", *FIELDS], filters=having)
        marked = {row["id"]: _mark_of(row) for block in exported for row in block}
    else:
        ids = list(collection.ids(having))
        marked = {row["id"]: _mark_of(row) for row in collection.stored(ids, FIELDS)}
    others = collection.stored([id for id in wanted if id not in marked], FIELDS)
    return {row["id"]: _mark_of(row) for row in others} | marked


def _any_mark(collection: Collection) -> str:
    """Make a filter for documents that have a mark."""
    return " OR ".join(f"{collection.names.of(name)}:[* TO *]" for name in FIELDS)


def _mark_of(row: Mapping[str, Any]) -> Mark:
    return tuple(row.get(name) for name in FIELDS)


def _update(id: str, mark: Mark) -> dict[str, Any]:
    values = {name: {"set": value} for name, value in zip(FIELDS, mark, strict=True)}
    return {"id": id, "_version_": MUST_EXIST, **values}


def require_markable(collection: Collection) -> None:
    """Refuse a collection whose documents cannot be marked, by SettingsError with the remedy."""
    collection.require_placed()
    collection.require_fields([SETTINGS])  # what was never prepared lacks more than marks
    try:
        collection.require_fields(FIELDS)
    except SchemaError as error:
        remedy = (
            "restart it: neardup solr stop, then run this again"
            if collection.session.embedded
            else f"add them with: neardup init {collection.place}; nothing has to be indexed again"
        )
        lacking = ", ".join(error.missing)
        reason = f"the collection {collection.name!r} lacks the fields for marks, {lacking}"
        raise SettingsError(reason, remedy) from None
