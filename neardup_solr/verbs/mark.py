"""mark: clusters written into their collection, so that queries can collapse them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import mmh3

from neardup_solr import errors
from neardup_solr.argument_types import OneOrMore
from neardup_solr.checks import listed
from neardup_solr.errors import ArgumentError, DataError, SettingsError, SolrAnswerError, counted
from neardup_solr.progress import OnProgress, Progress, gc_disabled, ignore
from neardup_solr.records import Cluster
from neardup_solr.sizes import SIZES
from neardup_solr.solr import schema, update
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import MARKS, SETTINGS, VERSION
from neardup_solr.solr.patience import keep_patience
from neardup_solr.solr.query import having
from neardup_solr.solr.settle import settle
from neardup_solr.solr.update import Order
from neardup_solr.verbs.duplicates.result import Duplicates
from neardup_solr.verbs.field_names import own_fields
from neardup_solr.verbs.losses import LossCheck

CLUSTER = MARKS[0]
MUST_EXIST = 1  # as _version_: Solr refuses the update of a missing document
TEXTS = ("md5_hash", "signature")  # what tells one text from another, the first that there is

Mark = tuple[int | None, ...]  # the values of MARKS
NO_MARK: Mark = (None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Counts of a `mark` run, and filter queries that use the marks.

    `marked`: documents whose marks changed; `unchanged`: documents that already had their marks;
    `vanished`: members no longer in the collection, or replaced during the run; `cleared`:
    documents no longer in a cluster; `torn`: earlier clusters that only partly match `fq`; `fq`:
    filter query that leaves near-duplicates out; `collapse`: filter query that returns one document
    of each cluster.
    """

    clusters: int
    marked: int
    unchanged: int
    vanished: int
    cleared: int
    torn: int = 0
    fq: str = field(default="", compare=False)
    collapse: str = field(default="", compare=False)


def mark_clusters(
    collection: Collection,
    clusters: Duplicates | Sequence[Cluster],
    *,
    fq: OneOrMore,
    yes: bool,
    dry_run: bool,
    patience: float | str,
    on_progress: OnProgress | None,
) -> Marks:
    """Mark the documents of each cluster, and clear earlier marks."""
    on_progress = on_progress or ignore
    members = clusters.clusters if isinstance(clusters, Duplicates) else clusters
    filters = listed(fq) or (clusters.fq if isinstance(clusters, Duplicates) else ())
    _require_apart(members)
    with keep_patience([collection], patience):
        require_markable(collection)
    doubt = next((each.doubt for each in members if each.doubt), "")
    if doubt and not (yes or dry_run):
        templates = clusters.templates if isinstance(clusters, Duplicates) else ()
        raise errors.TemplateError(templates, doubt)
    with keep_patience([collection], patience):
        if not dry_run:
            collection.commit()  # what an interrupted run has sent counts as well
        with gc_disabled():
            taken, torn = _outside(collection, filters)
            wanted = _marks_of_members(members, taken)
        run = _MarkRun(collection, wanted, filters, on_progress)
        rest = run.missing()
        if wanted and not wanted.keys() & run.marks.keys():
            reason = f"the collection {collection.name!r} contains no document of these clusters"
            step = "mark the collection in which the clusters were found"
            raise DataError(reason, step, code="id-unknown")
        if not dry_run and (rest := settle(collection, run.send, run.missing, rest)):
            reason = f"the marks of {counted(len(rest), 'document')} were not kept: {run.reason}"
            step = "run this again when no other program is writing and all nodes are running"
            raise SolrAnswerError(collection.url, 200, reason, step, code="write-incomplete")
    present = run.wanted.keys() & run.marks.keys()
    marked = len(present & run.touched)
    return Marks(
        clusters=len(members),
        marked=marked,
        unchanged=len(present) - marked,
        vanished=len(wanted) - len(present),
        cleared=len(run.touched - wanted.keys()),
        torn=torn,
        fq=collection.names.canonical_filter,
        collapse=collection.names.collapse_filter,
    )


def numbers(ids: Iterable[str], others: Set[int] = frozenset()) -> dict[str, int]:
    """Number cluster ids as in `neardup_cluster`: 1 to 2,147,483,647, no two alike.

    It is the upper 31 bits of MurmurHash3 (x86, 32 bit) of the id, seed 0, and so the same in
    every run. If that is 0, or taken by an id that comes before by code point (with 10,000
    clusters, a pair in about 40 collections; with a million, about 230 pairs) or is among the
    `others`, the next seed is tried.
    """
    taken: dict[int, str] = {}
    for id in sorted(set(ids)):
        number, seed = 0, 0
        while number == 0 or number in taken or number in others:
            number, seed = mmh3.hash(id, seed, signed=False) >> 1, seed + 1
        taken[number] = id
    return {id: number for number, id in taken.items()}


@dataclass(slots=True)
class _MarkRun:
    """Marking of the `wanted` documents, and clearing of all others that match the filters.

    `marks` are those that were read last, `sent` those that were sent last, `touched` all documents
    that got others, `texts` hashes of their texts as they were first. `versions` are of the
    documents that are to be written next. `reason` says why some marks do not stay.
    """

    collection: Collection
    wanted: Mapping[str, Mark]
    filters: Sequence[str]
    on_progress: OnProgress
    marks: Mapping[str, Mark] = field(default_factory=dict)
    sent: Mapping[str, Mark] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    texts: dict[str, int] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    reason: str = "other programs change these documents, or a failing node loses updates"

    def missing(self) -> Mapping[str, Mark]:
        """Find the documents whose marks are not the wanted ones, with those they should have."""
        if self.sent and self._have_arrived():
            return {}
        with gc_disabled():
            self.marks = _marks(self.collection, self.wanted, self.filters)
            missing = self._list_missing()
            if replaced := self._find_replaced(missing):
                self.wanted = {id: m for id, m in self.wanted.items() if id not in replaced}
                missing = self._list_missing()
        self.touched.update(missing)
        return missing

    def _list_missing(self) -> dict[str, Mark]:
        wanted, marks = self.wanted, self.marks
        missing = {id: mark for id, mark in wanted.items() if marks.get(id, mark) != mark}
        others = (id for id, mark in marks.items() if id not in wanted and mark != NO_MARK)
        return missing | dict.fromkeys(others, NO_MARK)

    def _find_replaced(self, missing: Iterable[str]) -> Set[str]:
        """Find the documents that have another text now than at the first look.

        Those that had their marks then, and lack them now, were replaced as well.
        """
        is_first, ids = not self.sent, list(missing)
        rows = self.collection.stored(ids, [VERSION, TEXTS[0]], of_leaders=True)
        without = [row["id"] for row in rows if TEXTS[0] not in row]
        rest = self.collection.stored(without, [VERSION, TEXTS[1]], of_leaders=True)
        rows = [row for row in rows if TEXTS[0] in row] + rest
        self.versions = {row["id"]: row.get(VERSION, MUST_EXIST) for row in rows}
        texts = {
            row["id"]: hash(next((row[each] for each in TEXTS if each in row), "")) for row in rows
        }
        if is_first:
            self.texts = texts
        return {
            id for id, text in texts.items() if id in self.wanted and self.texts.get(id) != text
        }

    def send(self, marks: Mapping[str, Mark]) -> None:
        """Send marks in batches. What Solr refuses is missing again."""
        losses = LossCheck(self.collection, own_fields(self.collection))
        orders = [self._order(id, mark) for id, mark in marks.items()]
        for at in range(0, len(orders), SIZES.mark_batch):
            batch = orders[at : at + SIZES.mark_batch]
            losses = losses.renew()
            versions = losses.require_none(batch)
            current = [
                each for each in batch if versions.get(each.id, each.version) == each.version
            ]
            refused = update.send(self.collection, current).refused
            self.reason = refused[-1].reason if refused else self.reason
            sent = min(at + SIZES.mark_batch, len(orders))
            self.on_progress(Progress("marking" if self.wanted else "undoing", sent, len(orders)))
        self.sent = marks

    def _order(self, id: str, mark: Mark) -> Order:
        fields = dict(zip(map(self.collection.names.of, MARKS), mark, strict=True))
        return Order(id, self.versions.get(id, MUST_EXIST), fields)

    def _have_arrived(self) -> bool:
        """Return True if documents have the marks that were sent, and no others are marked."""
        rows = self.collection.stored(list(self.sent), MARKS)
        expected = len(self.wanted.keys() & self.marks.keys())
        marked = self.collection.count([_any_mark(self.collection), *self.filters])
        return {row["id"]: _mark_of(row) for row in rows} == self.sent and marked == expected


def _require_apart(clusters: Sequence[Cluster]) -> None:
    """Refuse clusters that share a document, by ArgumentError."""
    seen: set[str] = set()
    for member in (member for cluster in clusters for member in cluster.members):
        if member.id in seen:
            reason = f"the document {member.id!r} appears twice"
            step = "mark the clusters from a single run of duplicates"
            raise ArgumentError(reason, step, code="id-repeated")
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
    inside = collection.values(CLUSTER, filters)
    every = collection.values(CLUSTER)
    outside = [number for number, count in every.items() if count > inside.get(number, 0)]
    return frozenset(map(int, outside)), len(inside.keys() & outside)


def _marks(
    collection: Collection, wanted: Iterable[str], filters: Sequence[str]
) -> dict[str, Mark]:
    """Read the marks of these documents, if they exist, and of all others that match."""
    marked_by = [_any_mark(collection), *filters]
    key = schema.read_schema(collection).field(collection.names.id)
    if key is not None and key.is_exported:
        exported = collection.exported(["id", *MARKS], filters=marked_by)
        marked = {row["id"]: _mark_of(row) for block in exported for row in block}
    else:
        ids = list(collection.ids(marked_by))
        marked = {row["id"]: _mark_of(row) for row in collection.stored(ids, MARKS)}
    others = collection.stored([id for id in wanted if id not in marked], MARKS)
    return {row["id"]: _mark_of(row) for row in others} | marked


def _any_mark(collection: Collection) -> str:
    """Make a filter for documents that have a mark."""
    return having(*map(collection.names.of, MARKS))


def _mark_of(row: Mapping[str, Any]) -> Mark:
    return tuple(row.get(name) for name in MARKS)


def require_markable(collection: Collection) -> None:
    """Refuse a collection whose documents cannot be marked, by SettingsError with the remedy."""
    collection.require_placed()
    collection.require_fields([SETTINGS])  # what was never prepared lacks more than marks
    try:
        collection.require_fields(MARKS)
    except errors.SchemaError as error:
        remedy = f"add them with: neardup init {collection.place}; nothing has to be indexed again"
        if collection.session.embedded:
            remedy = "restart Solr: neardup solr stop, then run this again"
        lacking = ", ".join(error.missing)
        reason = f"the collection {collection.name!r} lacks the fields for marks, {lacking}"
        raise SettingsError(reason, remedy, code="fields-missing") from None
