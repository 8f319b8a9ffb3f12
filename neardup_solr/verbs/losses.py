"""losses: what a write would lose or change of others, looked for in each batch to be written.

Solr rebuilds a document that it updates from what it keeps of it: values that are only indexed are
gone, a copyField target has its copies alone, a default comes in, and children without a place are
deleted. Only the documents tell which of them have any of this, and others come while a run goes
on. So each batch is looked at just before it is written, by three requests: for the schema, for the
fields that documents have (/admin/luke), and for the documents, with the versions that count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from struct import pack, unpack
from typing import Any

from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.solr import admin, query, schema
from neardup_solr.solr.collection import DOCS, Collection
from neardup_solr.solr.halves import ask_by_halves
from neardup_solr.solr.names import ID, VERSION, Names
from neardup_solr.solr.schema import INTERNAL, NEST_PATH, Copy, Field, Schema
from neardup_solr.solr.update import Order

Row = Mapping[str, Any]

ROOT = "_root_"
SHOWN = 3  # ids in a message
MOST_FIELDS = 100  # that a request names; instead of more it asks for all
MOST_SOURCES = 50  # of a copyField target that a query names
_WHOLE = frozenset({"IntPointField", "LongPointField", "TrieIntField", "TrieLongField"})
_SINGLE = frozenset({"FloatPointField", "TrieFloatField"})
_NUMBERS = _WHOLE | _SINGLE | {"DoublePointField", "TrieDoubleField"}
_DATES = frozenset({"DatePointField", "TrieDateField"})
_JAVA_DATE = "%a %b %d %H:%M:%S UTC %Y"
AGAIN = "index these documents again without it"
_ONLY_COPIED = "a value in this field without a source of the copy, so an update would lose it"
_NO_COPY = "a value in this field that is not a copy, so an update would lose or change it"
_LACKS = "no value in this field, so an update would give it the default"
_GIVE = "index these documents again with a value"
# Documents by ids that `query.by_ids` has as parameters, and their families.
_FAMILY = f"{{!terms f={ROOT} v=$any separator=$separator cache=false}}"
_OTHERS = "{!bool must=*:* must_not=$these cache=false}"
_THESE = "{!terms f=$field_id v=$any separator=$separator cache=false}"


@dataclass(frozen=True, slots=True)
class _Danger:
    """Documents that `query` finds would lose or change a field by an update, and the remedy."""

    name: str
    query: str
    reason: str
    step: str


@dataclass(frozen=True, slots=True)
class _Plan:
    """Dangers in documents that have the `described` fields, None if Solr does not tell.

    `dangers` are found by queries. What has to be read are the `targets` of copyFields that Solr
    gives back, with their sources, fields `unknown` to the schema, and fields with `defaults` that
    are only stored.
    """

    schema: Schema
    described: Mapping[str, str] | None
    dangers: Sequence[_Danger]
    targets: Sequence[Target]
    unknown: Sequence[str]
    defaults: Sequence[str]
    has_families: bool

    @property
    def shown(self) -> list[str]:
        """The fields to read of each document."""
        copied = (name for each in self.targets for name in (each.field.name, *each.sources))
        names = {*self.unknown, *self.defaults, *copied}
        return sorted(names) if len(names) <= MOST_FIELDS else ["*"]


@dataclass(slots=True)
class LossCheck:
    """Looks at batches of a collection before they are written. `ours` are the names of our fields.

    It goes by a schema that says `layout`; `renew` gives one that goes by the schema of now.
    Several threads may use it at the same time.
    """

    collection: Collection
    ours: frozenset[str]
    layout: bytes = b""
    _plan: _Plan | None = None
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
        if not (orders := [order for order in orders if not _is_in_place(plan, order)]):
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

    def _make_plan(self) -> _Plan:
        """Say what to look for, by the schema and the fields that documents have now."""
        described, plan = admin.describe_fields(self.collection), self._plan
        if plan is None or plan.described != described:
            self._can_be_searched.clear()
            fields = schema.read_schema(self.collection)
            self._plan = plan = _make_plan(fields, described, self.ours, self._can_search)
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
        queries = {name: _query_hidden(name, fields, names, self._can_search) for name in others}
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

    def _look(self, plan: _Plan, ids: Sequence[str], whole: set[str]) -> list[Row]:
        """Read documents, and refuse those that would lose anything."""
        facet: dict[str, Any] = {
            f"danger{at}": {"type": "query", "q": each.query}
            for at, each in enumerate(plan.dangers)
        }
        if plan.has_families:
            facet["inside"] = {"type": "query", "q": _FAMILY}
            facet["apart"] = {"type": "query", "q": _OTHERS, "domain": {"query": _FAMILY}}
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

    def _refuse_danger(self, danger: _Danger, ids: Sequence[str]) -> None:
        rows = self._read(ids, [], danger.query)
        self._refuse(danger.name, rows, danger.reason, danger.step)

    def _require_placed(self, plan: _Plan, rows: Sequence[Row]) -> None:
        """Refuse documents with children that would be deleted, or lose anything themselves."""
        key = self.collection.names.id
        ids, suspects = [self._id(row) for row in rows], list[Row]()
        has_place = NEST_PATH in plan.schema.fields
        unplaced = f"-{query.having(NEST_PATH)}" if has_place else "*:*"
        children = self._read_children(ids, [NEST_PATH, *plan.shown] if has_place else plan.shown)
        suspects += [row for row in children if not row.get(NEST_PATH)]
        # Those that are children of others, or in a family whose members are all of this batch.
        inside = {self._id(row) for row in self._read(ids, [], _FAMILY)}
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

    def _read_children(self, ids: Sequence[str], fields: Sequence[str]) -> list[Row]:
        """Read the documents that have these as parents."""
        request = query.by_ids(ids)
        request["params"] |= {"these": _THESE}
        request |= {"query": _FAMILY, "filter": [_OTHERS], "fields": [ID, *fields]}
        total = self._ask(request | {"limit": 0})["response"]["numFound"]
        return list(self._ask(request | {"limit": total})["response"]["docs"]) if total else []

    def _read(self, ids: Sequence[str], fields: Sequence[str], wanted: str = "") -> list[Row]:
        """Read fields of these documents, of those that a query finds if one is given."""
        filters = [f"{{!lucene cache=false}}{wanted}" if wanted[:2] != "{!" else wanted]
        request = query.by_ids(ids) | {"filter": filters if wanted else []}
        request |= {"fields": [ID, *fields], "limit": len(ids)}
        return list(self._ask(request)["response"]["docs"])

    def _ask(self, request: query.Request) -> dict[str, Any]:
        """Ask for documents by the collection's own names of fields."""
        physical = Collection(
            base=self.collection.base, name=self.collection.name, session=self.collection.session,
            names=Names(id=self.collection.names.id),
        )  # fmt: skip
        needed = DOCS | ({"facets": dict} if "facet" in request else {})
        decoded: dict[str, Any] = physical.ask(query.of_leaders(query.at_once(request)), needed)
        return decoded

    def _id(self, row: Row) -> str:
        return str(row[self.collection.names.id])

    def _compare(self, plan: _Plan, rows: Sequence[Row], whole: set[str]) -> None:
        """Refuse documents with copies, defaults or unknown fields that would not stay."""
        for name in plan.unknown:
            having = [row for row in rows if row.get(name) is not None]
            self._refuse(name, having, "this field, which the schema lacks", "add it again")
        for name in plan.defaults:
            lacking = [row for row in rows if row.get(name) is None]
            self._refuse(name, lacking, _LACKS, _GIVE)
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
        raise SettingsError(f"{name}: {documents} {reason} ({batch})", step)


def _count(facets: Mapping[str, Any], name: str) -> int:
    found = facets.get(name)
    return int(found.get("count", 0)) if isinstance(found, dict) else 0


def _is_in_place(plan: _Plan, order: Order) -> bool:
    """Return True if Solr changes a document in place.

    It does for numbers that are only in docValues, once any document has such values.
    """
    if order.others is not None or None in order.fields.values():
        return False
    fields = [plan.schema.field(name) for name in (*order.fields, VERSION)]
    are_apart = all(
        each is not None
        and each.doc_values
        and not (each.indexed or each.stored or each.multi_valued)
        and not any(plan.schema.copies_of(each.name))
        and each.kind in _NUMBERS
        for each in fields
    )
    return are_apart and plan.described is not None and order.fields.keys() <= plan.described.keys()


def _make_plan(
    fields: Schema,
    described: Mapping[str, str] | None,
    ours: frozenset[str],
    can_search: Callable[[str], bool],
) -> _Plan:
    """Say what to look for in documents that have these fields, or any if Solr does not tell."""
    used = frozenset(fields.fields if described is None else described) - INTERNAL
    others = sorted(used - ours)
    lost = {name: why for name, why in fields.lost(used).items() if name not in ours}
    dangers = [
        _Danger(name, _query_lost(name, can_search), _of_lost(why), fields.advise(name, used))
        for name, why in lost.items()
    ]
    hidden = (
        (name, _query_hidden(name, fields, used, can_search)) for name in others if name not in lost
    )
    dangers += [_Danger(name, found, _ONLY_COPIED, AGAIN) for name, found in hidden if found]
    given = [
        name for name, each in fields.fields.items() if _has_default(each) and name not in ours
    ]
    searched = [name for name in given if can_search(name)]
    dangers += [_Danger(name, f"*:* AND -{query.having(name)}", _LACKS, _GIVE) for name in searched]
    root = fields.fields.get(ROOT)
    return _Plan(
        schema=fields,
        described=described,
        dangers=dangers,
        targets=[*_targets(fields, used, ours)],
        unknown=[name for name in others if fields.field(name) is None],
        defaults=[name for name in given if name not in searched],
        has_families=root is not None and root.indexed and ROOT in (described or {ROOT}),
    )


def _query_lost(name: str, can_search: Callable[[str], bool]) -> str:
    """Make a query for the documents with a field, or for all if Solr cannot search for it."""
    return query.having(name) if can_search(name) else "*:*"


def _of_lost(why: str) -> str:
    return f"a value in this field, which an update would lose: {why}"


def _query_hidden(
    name: str, fields: Schema, used: frozenset[str], can_search: Callable[[str], bool]
) -> str:
    """Make a query for documents with a value in a target that is only indexed, but in no source.

    It is "" for other fields, and if no query finds such documents.
    """
    each = fields.field(name)
    if each is None or each.is_kept or not any(name == place for _, place in fields.copies):
        return ""
    sources = [source for source in fields.sources(name, used) if source in used]
    has_key = fields.key in sources
    if has_key or len(sources) > MOST_SOURCES or not all(map(can_search, [name, *sources])):
        return ""
    return " AND ".join([query.having(name), *(f"-{query.having(source)}" for source in sources)])


def _has_default(each: Field) -> bool:
    is_seen = each.indexed or each.stored or each.doc_values
    return each.default is not None and is_seen and each.name not in INTERNAL


def _targets(fields: Schema, used: frozenset[str], ours: frozenset[str]) -> Iterator[Target]:
    """List the copyField targets that Solr gives back, if documents have or would get them."""
    copies: dict[str, list[Copy]] = {name: [] for name in used if any(fields.sources(name, used))}
    for source in used:
        for copy in fields.copies_of(source):
            copies.setdefault(copy.target, []).append(copy)
    reset = {target for _, target in fields.copies}
    for name, made in copies.items():
        each = fields.field(name)
        if each is not None and each.is_kept and name not in ours:
            kinds = {copy.source: fields.field(copy.source) for copy in made}
            known = {source: kind for source, kind in kinds.items() if kind and kind.is_kept}
            kept = [copy for copy in made if copy.source in known]
            yield Target(replace(each, name=name), kept, known, is_reset=name in reset)


@dataclass(frozen=True, slots=True)
class Target:
    """A copyField target that Solr gives back, and the `copies` that fill it.

    If its name stands in the schema, an update leaves it the copies alone (`is_reset`). If only a
    pattern has it, it keeps its values, and gets the copies once more.
    """

    field: Field
    copies: Sequence[Copy]
    sources: Mapping[str, Field]
    is_reset: bool

    def stays(self, row: Row, is_whole: bool) -> bool:
        """Return True if a document has the same values in it after an update.

        A document that `is_whole` is replaced: then the target is written if it has no source.
        """
        values = [_canonical(self.field, each) for each in _listed(row.get(self.field.name))]
        stored, rest = self._copy_all(row, is_whole)
        copied = [*stored, *(value for part in rest for value in part)]
        if is_whole and not copied:
            return True
        is_set = not self.field.stored and self.field.multi_valued
        if not (self.is_reset or is_whole):
            return not copied or (is_set and {*copied} <= {*values})
        if is_set:
            return {*copied} == {*values}
        tail = values[len(stored) :]
        if len(rest) > 1:  # Solr takes them in an order of its own
            is_same = Counter(tail) == Counter(value for part in rest for value in part)
            return is_same and all(_is_within(part, tail) for part in rest)
        return copied == values

    def _copy_all(self, row: Row, is_whole: bool) -> tuple[list[Any], list[list[Any]]]:
        """Copy the values of a document: those of stored sources as they stand in it, and those of
        each of the others, which Solr adds to these.
        """
        place = {name: at for at, name in enumerate(row)}
        present = (copy for copy in self.copies if copy.source in place)
        stored, rest = list[Any](), list[list[Any]]()
        for copy in sorted(present, key=lambda copy: place[copy.source]):
            values = self._copy(copy, _listed(row[copy.source]), is_whole)
            if self.sources[copy.source].stored:
                stored += values
            elif values:
                rest.append(values)
        return stored, rest

    def _copy(self, copy: Copy, values: Sequence[Any], is_whole: bool) -> list[Any]:
        """Copy values as Solr would: cut, spelled and parsed."""
        source = self.sources[copy.source]
        spelled = [_spell(source, value, is_whole) for value in values]
        is_text = source.kind not in _NUMBERS | {"BoolField"}
        cut = copy.most if copy.most and is_text else None
        return [_canonical(self.field, value[:cut]) for value in spelled]


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _is_within(some: Sequence[Any], values: Iterable[Any]) -> bool:
    """Return True if these are among the values in the same order."""
    rest = iter(values)
    return all(value in rest for value in some)


def _spell(source: Field, value: Any, is_whole: bool) -> str:
    """Spell a value as Java does, in which Solr copies what it has rebuilt."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _spell_number(value)
    if source.kind in _DATES and not is_whole:
        with suppress(ValueError):
            return datetime.fromisoformat(str(value)).astimezone(UTC).strftime(_JAVA_DATE)
    return str(value)


def _spell_number(value: float) -> str:
    """Spell a number with a point as Java does: 0.001 to 10,000,000 without an exponent."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    rest = "".join(map(str, digits[1:])) or "0"
    power = len(digits) - 1 + int(exponent)
    return f"{'-' * sign}{digits[0]}.{rest}E{power}"


def _canonical(target: Field, value: Any) -> Any:
    """Return the value that a field has for what is written to it, to compare it with another."""
    text = "true" if value is True else "false" if value is False else value
    with suppress(ValueError, OverflowError):
        if target.kind in _WHOLE:
            return int(float(text)) if "." in str(text) or "E" in str(text) else int(text)
        if target.kind in _SINGLE:
            return unpack("f", pack("f", float(text)))[0]
        if target.kind in _NUMBERS:
            return float(text)
    if target.kind in _DATES:
        return re.sub(r"\.?0*Z$", "Z", str(text)) if "." in str(text) else str(text)
    if target.kind == "BoolField":
        return str(text)[:1] in ("1", "t", "T")
    return str(text) if not isinstance(text, float) else _spell_number(text)
