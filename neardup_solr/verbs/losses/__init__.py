"""losses: what a write would lose or change of others, looked for in each batch to be written.

Solr rebuilds a document that it updates from what it keeps of it: values that are only indexed are
gone, a copyField target has its copies alone, a default comes in, and children without a place are
deleted. Only the documents tell which of them have any of this, and others come while a run goes
on. So each batch is looked at just before it is written, by three requests: for the schema, for the
fields that documents have (/admin/luke), and for the documents, with the versions that count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.solr import admin, query, schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.core import DOCS
from neardup_solr.solr.halves import ask_by_halves
from neardup_solr.solr.names import ID, VERSION, Names
from neardup_solr.solr.schema import INTERNAL, NEST_PATH, Schema
from neardup_solr.solr.update import Order
from neardup_solr.verbs.losses.copies import Row
from neardup_solr.verbs.losses.dangers import (
    AGAIN,
    GIVE,
    LACKS,
    ROOT,
    Danger,
    LossPlan,
    is_in_place,
    make_plan,
    query_hidden,
)

SHOWN = 3  # ids in a message
_NO_COPY = "a value in this field that is not a copy, so an update would lose or change it"
# Documents by ids that `query.by_ids` has as parameters, and their families.
FAMILY = f"{{!terms f={ROOT} v=$any separator=$separator cache=false}}"
_OTHERS = "{!bool must=*:* must_not=$these cache=false}"
_THESE = "{!terms f=$field_id v=$any separator=$separator cache=false}"


@dataclass(slots=True)
class LossCheck:
    """Looks at batches of a collection before they are written. `ours` are the names of our fields.

    It goes by a schema that says `layout`; `renew` gives one that goes by the schema of now.
    Several threads may use it at the same time.
    """

    collection: Collection
    ours: frozenset[str]
    layout: bytes = b""
    _plan: LossPlan | None = None
    _can_be_searched: dict[str, bool] = field(default_factory=dict)

    def renew(self) -> LossCheck:
        """Return this check if the schema still says what it goes by, else a new one."""
        layout = schema.read_layout(self.collection)
        return self if layout == self.layout else LossCheck(self.collection, self.ours, layout)

    def require_none(self, orders: Sequence[Order]) -> dict[str, int]:
        """Refuse orders that would lose or change anything but `ours`, by SettingsError.

        Returns the versions of the documents that were looked at: all but those that Solr changes
        in place, of which it loses nothing. No others may be written. An order with `others`
        replaces its document by all that Solr gives back of it.
        """
        if not orders:
            return {}
        plan = self._make_plan()
        if not (orders := [order for order in orders if not is_in_place(plan, order)]):
            return {}
        whole = {order.id for order in orders if order.others is not None}

        def look(ids: Sequence[str]) -> list[tuple[str, int]]:
            rows = self._look(plan, ids, whole)
            return [(self._id(row), int(row.get(VERSION, 0))) for row in rows]

        return dict(ask_by_halves([order.id for order in orders], look))

    def require_only(self, ids: Sequence[str]) -> None:
        """Refuse to replace documents that have values in other fields than `ours`.

        Raises SettingsError.
        """
        plan = self._make_plan()
        step = "name a different collection with `into`"
        for name in sorted({*(plan.described or ())} - self.ours - INTERNAL):
            each = plan.schema.field(name)
            if each is None or each.is_kept:
                rows = [row for row in self._read(ids, [name]) if row.get(name) is not None]
            else:
                rows = self._read(ids, [], query.having(name))
            self._refuse(name, rows, "a value in this field, which would be replaced", step)
        if plan.has_families:
            self._refuse(
                ROOT, self._read_children(ids, []), "a parent that would be replaced", step
            )

    def _make_plan(self) -> LossPlan:
        """Say what to look for, by the schema and the fields that documents have now."""
        described, plan = admin.describe_fields(self.collection), self._plan
        if plan is None or plan.described != described:
            self._can_be_searched.clear()
            fields = schema.read_schema(self.collection)
            self._plan = plan = make_plan(fields, described, self.ours, self._can_search)
        return plan

    def has_values(self, name: str) -> bool:
        """Return True if any document has a value in a field, or Solr cannot search for it.

        Solr lists the fields of documents that were deleted until it merges segments.
        """
        return self._count_having(name) != 0

    def count_written(self, fields: Schema, used: Iterable[str]) -> dict[str, int]:
        """Count the documents that have a value in a field, but in none that is copied to it.

        These are the `used` fields that copyFields fill and that are only indexed: there an update
        leaves the copies alone. Those that are `ours` are not asked about.
        """
        names = frozenset(used) - INTERNAL
        others = names - self.ours
        queries = {name: query_hidden(name, fields, names, self._can_search) for name in others}
        return {
            name: int(self._ask({"query": query, "limit": 0})["response"]["numFound"])
            for name, query in sorted(queries.items())
            if query
        }

    def _can_search(self, name: str) -> bool:
        """Return True if Solr can search for the documents that have any value in a field."""
        if name not in self._can_be_searched:
            self._can_be_searched[name] = self._count_having(name) is not None
        return self._can_be_searched[name]

    def _count_having(self, name: str) -> int | None:
        try:
            return int(self._ask({"query": query.having(name), "limit": 0})["response"]["numFound"])
        except SolrAnswerError as error:
            if error.status != 400:
                raise
            return None

    def _look(self, plan: LossPlan, ids: Sequence[str], whole: set[str]) -> list[Row]:
        """Read documents, and refuse those that would lose anything."""
        facet: dict[str, Any] = {
            f"danger{at}": {"type": "query", "q": each.query}
            for at, each in enumerate(plan.dangers)
        }
        if plan.has_families:
            facet["inside"] = {"type": "query", "q": FAMILY}
            facet["apart"] = {"type": "query", "q": _OTHERS, "domain": {"query": FAMILY}}
        request = query.by_ids(ids) | {"fields": [ID, VERSION, *plan.shown], "limit": len(ids)}
        request["params"] |= {"these": _THESE}
        decoded = self._ask(request | ({"facet": facet} if facet else {}))
        rows: list[Row] = decoded["response"]["docs"]
        facets = decoded.get("facets", {})
        for at, danger in enumerate(plan.dangers):
            if _count(facets, f"danger{at}"):
                self._refuse_danger(danger, ids)
        self._compare(plan, rows, whole)
        if plan.has_families and rows:
            is_apart = _count(facets, "apart") or _count(facets, "inside") != len(rows)
            # A document and its children have the same version.
            if is_apart or len({row.get(VERSION) for row in rows}) < len(rows):
                self._require_placed(plan, rows)
        return rows

    def _refuse_danger(self, danger: Danger, ids: Sequence[str]) -> None:
        rows = self._read(ids, [], danger.query)
        self._refuse(danger.name, rows, danger.reason, danger.step)

    def _require_placed(self, plan: LossPlan, rows: Sequence[Row]) -> None:
        """Refuse documents with children that would be deleted, or lose anything themselves."""
        key = self.collection.names.id
        ids, suspects = [self._id(row) for row in rows], list[Row]()
        has_place = NEST_PATH in plan.schema.fields
        unplaced = f"-{query.having(NEST_PATH)}" if has_place else "*:*"
        children = self._read_children(ids, [NEST_PATH, *plan.shown] if has_place else plan.shown)
        suspects += [row for row in children if not row.get(NEST_PATH)]
        # Those that are children of others, or in a family whose members are all of this batch.
        inside = {self._id(row) for row in self._read(ids, [], FAMILY)}
        versions = Counter(row.get(VERSION) for row in rows)
        doubtful = [
            row for row in rows if self._id(row) not in inside or versions[row[VERSION]] > 1
        ]
        for row in doubtful:
            request = {"query": f"{{!term f={ROOT} v=$root}}", "limit": 2, "fields": [key]}
            request["filter"] = [f"{{!lucene cache=false}}{unplaced}"]  # named children are safe
            family = self._ask(request | {"params": {"root": self._id(row)}})["response"]
            having = self._read([self._id(row)], [], f"{query.having(ROOT)} AND {unplaced}")
            if having and [self._id(each) for each in family["docs"]] != [self._id(row)]:
                suspects.append(row)
        reason = "a parent or children without _nest_path_, so an update would delete children"
        step = "index them again as named children, with a schema that has _nest_path_"
        self._refuse(ROOT, suspects, reason, step)
        for danger in plan.dangers:
            if children:
                self._refuse_danger(danger, [self._id(row) for row in children])
        self._compare(plan, children, set())

    def count_children(self, ids: Sequence[str]) -> int:
        """Count the documents that have these as parents."""
        return int(self._ask(_of_children(ids) | {"limit": 0})["response"]["numFound"])

    def _read_children(self, ids: Sequence[str], fields: Sequence[str]) -> list[Row]:
        """Read the documents that have these as parents."""
        request = _of_children(ids) | {"fields": [ID, *fields]}
        total = self.count_children(ids)
        return list(self._ask(request | {"limit": total})["response"]["docs"]) if total else []

    def _read(self, ids: Sequence[str], fields: Sequence[str], wanted: str = "") -> list[Row]:
        """Read fields of these documents, of those that a query finds if one is given."""
        filters = [f"{{!lucene cache=false}}{wanted}" if wanted[:2] != "{!" else wanted]
        request = query.by_ids(ids) | {"filter": filters if wanted else []}
        request |= {"fields": [ID, *fields], "limit": len(ids)}
        return list(self._ask(request)["response"]["docs"])

    def _ask(self, request: query.Request) -> dict[str, Any]:
        """Ask for documents by the collection's own names of fields."""
        physical = self.collection.with_names(Names(id=self.collection.names.id))
        needed = DOCS | ({"facets": dict} if "facet" in request else {})
        decoded: dict[str, Any] = physical.ask(query.of_leaders(query.at_once(request)), needed)
        return decoded

    def _id(self, row: Row) -> str:
        return str(row[self.collection.names.id])

    def _compare(self, plan: LossPlan, rows: Sequence[Row], whole: set[str]) -> None:
        """Refuse documents with copies, defaults or unknown fields that would not stay."""
        for name in plan.unknown:
            having = [row for row in rows if row.get(name) is not None]
            self._refuse(name, having, "this field, which the schema lacks", "add it again")
        for name in plan.defaults:
            lacking = [row for row in rows if row.get(name) is None]
            self._refuse(name, lacking, LACKS, GIVE)
        for target in plan.targets:
            changed = [row for row in rows if not target.stays(row, self._id(row) in whole)]
            self._refuse(target.field.name, changed, _NO_COPY, AGAIN)

    def _refuse(self, name: str, rows: Sequence[Row], reason: str, step: str) -> None:
        """Raise SettingsError that names documents, if there are any."""
        if not rows:
            return
        ids = [self._id(row) for row in rows]
        shown = ", ".join(map(repr, ids[:SHOWN]))
        more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
        have = "the document {} has" if len(ids) == 1 else "the documents {} have"
        documents = have.format(shown + more)
        into = f"write to a different collection: neardup annotate {self.collection.place}"
        step = step if "`into`" in step else f"{step}, or {into} --into OTHER"
        batch = "nothing of this batch was written"
        raise SettingsError(f"{name}: {documents} {reason} ({batch})", step, code="data-at-risk")


def _of_children(ids: Sequence[str]) -> query.Request:
    """Make a request for the documents that have these as parents."""
    request = query.by_ids(ids)
    request["params"] |= {"these": _THESE}
    return request | {"query": FAMILY, "filter": [_OTHERS]}


def _count(facets: Mapping[str, Any], name: str) -> int:
    facet = facets.get(name)
    return int(facet.get("count", 0)) if isinstance(facet, dict) else 0
