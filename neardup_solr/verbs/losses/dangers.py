"""Fields that an update would lose or change, by the schema and the fields of documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from neardup_solr.solr import query
from neardup_solr.solr.names import VERSION
from neardup_solr.solr.schema import INTERNAL, Field, Schema
from neardup_solr.solr.update import Order
from neardup_solr.verbs.losses.copies import NUMBERS, Target, list_targets

ROOT = "_root_"
MOST_FIELDS = 100  # that a request names; instead of more it asks for all
MOST_SOURCES = 50  # of a copyField target that a query names
AGAIN = "index these documents again without it"
_ONLY_COPIED = "a value in this field without a source of the copy, so an update would lose it"
DOUBLED = "would write this field twice, as Solr fills it from {whole} and also gives it back"
ONCE = "define it with stored=false and docValues=false and index these documents again"
LACKS = "no value in this field, so an update would give it the default"
GIVE = "index these documents again with a value"


@dataclass(frozen=True, slots=True)
class Danger:
    """Documents that `query` finds would lose or change a field by an update, and the remedy."""

    name: str
    query: str
    reason: str
    step: str


@dataclass(frozen=True, slots=True)
class LossPlan:
    """Dangers in documents that have the `described` fields, None if Solr does not tell.

    `dangers` are found by queries. What has to be read are the `targets` of copyFields that Solr
    gives back, with their sources, fields `unknown` to the schema, and fields with `defaults` that
    are only stored.
    """

    schema: Schema
    described: Mapping[str, str] | None
    dangers: Sequence[Danger]
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


def is_in_place(plan: LossPlan, order: Order) -> bool:
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
        and each.kind in NUMBERS
        for each in fields
    )
    return are_apart and plan.described is not None and order.fields.keys() <= plan.described.keys()


def make_plan(
    fields: Schema,
    described: Mapping[str, str] | None,
    ours: frozenset[str],
    can_search: Callable[[str], bool],
) -> LossPlan:
    """Say what to look for in documents that have these fields, or any if Solr does not tell."""
    used = fields.use(fields.fields if described is None else described)
    others = sorted(used - ours)
    lost = {name: why for name, why in fields.lost(used).items() if name not in ours}
    dangers = [
        Danger(
            name, _query_lost(fields, name, can_search), _of_lost(why), fields.advise(name, used)
        )
        for name, why in lost.items()
    ]
    dangers += [
        Danger(
            name,
            _query_lost(fields, name, can_search),
            f"a value in this field, and an update {DOUBLED.format(whole=whole)}",
            ONCE,
        )
        for name, whole in fields.doubled(others).items()
    ]
    hidden = (
        (name, query_hidden(name, fields, used, can_search)) for name in others if name not in lost
    )
    dangers += [Danger(name, text, _ONLY_COPIED, AGAIN) for name, text in hidden if text]
    with_default = [
        name for name, each in fields.fields.items() if _has_default(each) and name not in ours
    ]
    searched = [name for name in with_default if can_search(name)]
    dangers += [Danger(name, f"*:* AND -{query.having(name)}", LACKS, GIVE) for name in searched]
    root = fields.fields.get(ROOT)
    return LossPlan(
        schema=fields,
        described=described,
        dangers=dangers,
        targets=[*list_targets(fields, used, ours)],
        unknown=[name for name in others if fields.field(name) is None],
        defaults=[name for name in with_default if name not in searched],
        has_families=root is not None and root.indexed and ROOT in (described or {ROOT}),
    )


def _query_lost(fields: Schema, name: str, can_search: Callable[[str], bool]) -> str:
    """Make a query for the documents with a field, or for all if Solr cannot search for it."""
    having = query.having(name) if can_search(name) else "*:*"
    return fields.query_rank(name) or having


def _of_lost(why: str) -> str:
    return f"a value in this field, which an update would lose: {why}"


def query_hidden(
    name: str, fields: Schema, used: frozenset[str], can_search: Callable[[str], bool]
) -> str:
    """Make a query for documents with a value in a target that is only indexed, but in no source.

    It is "" for other fields, and if no query finds such documents.
    """
    each = fields.field(name)
    if each is None or each.is_kept or not any(fields.sources(name, used)):
        return ""
    sources = [source for source in fields.sources(name, used) if source in used]
    has_key = fields.key in sources
    if has_key or len(sources) > MOST_SOURCES or not all(map(can_search, [name, *sources])):
        return ""
    return " AND ".join([query.having(name), *(f"-{query.having(source)}" for source in sources)])


def _has_default(each: Field) -> bool:
    is_seen = each.indexed or each.stored or each.doc_values
    return each.default is not None and is_seen and each.name not in INTERNAL
