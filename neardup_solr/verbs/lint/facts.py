"""Facts about a collection by which `lint` judges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from neardup_solr.solr import admin, own_schema, query, schema, update_chain
from neardup_solr.solr.cloud import SolrCluster
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.core import DOCS
from neardup_solr.solr.names import PLAIN, Names
from neardup_solr.solr.schema import Field, Schema
from neardup_solr.verbs.field_names import choose_names
from neardup_solr.verbs.lint.growth import growth_of
from neardup_solr.verbs.losses import LossCheck
from neardup_solr.verbs.losses.copies import DATES, NUMBERS
from neardup_solr.verbs.losses.dangers import MOST_FIELDS
from neardup_solr.verbs.text_fields import likely_texts, text_problem

FIRST = 5  # documents that tell what older ones have
PLACED = query.having("_nest_path_")


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionFacts:
    """Facts about a collection, each None if its Solr does not tell.

    `used` are the fields that its documents have; `written` counts, for fields that are only
    indexed and filled by copyFields, the documents that have a value there and in no source;
    `chain` has the classes of its default update chain, `select` the configured parameters of
    /select, as "appends" and so on. `children` counts nested documents, `placed` those with a place
    (_nest_path_). `longest` is the field taken for the text, as none was named, with the average
    length of its values; `growth` is what annotate would add. In `empty` text fields no document
    has a value. `altered` is an id by which Solr does not find its document, as it analyses ids.
    `unkept` are fields that are stored now, but were not when the first documents came.
    """

    schema: Schema
    names: Names
    wanted: Mapping[str, Field]
    documents: int
    place: str = "-c NAME"
    kept: Names = PLAIN
    used: frozenset[str] | None = None
    written: Mapping[str, int] = field(default_factory=dict)
    children: int | None = None
    placed: int = 0
    is_mutable: bool | None = None
    has_log: bool | None = None
    takes_clauses: bool | None = None
    chain: Sequence[str] | None = None
    select: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    versions: Sequence[str] = ()
    cluster: SolrCluster = field(default_factory=SolrCluster)
    is_local: bool = True
    is_encrypted: bool = True
    is_open: bool = False
    longest: tuple[str, int] | None = None
    growth: str = ""
    empty: tuple[str, ...] = ()
    altered: str = ""
    unkept: Sequence[str] = ()

    @property
    def init(self) -> str:
        """The command that adds our fields by these names. FIELD stands for text fields to name."""
        is_text = not any(text_problem(self.schema.field(name)) for name in self.names.text)
        names = self.names if is_text else replace(self.names, text=("FIELD",))
        return f"neardup init {self.place}{names.options(self.kept)}"


def _can_be_searched(field: Field | None) -> bool:
    """Tell whether Solr can find the texts of a field: one that is only stored it cannot."""
    is_searched = field is not None and (field.indexed or field.doc_values)
    return is_searched and not text_problem(field)


def _find_altered(collection: Collection, key: str) -> str:
    """Return an id by which Solr does not find its document, "" if a sample has none."""
    ids = [str(row[key]) for row in admin.first_documents(collection, [key])]
    request = query.by_ids(ids) | {"fields": [key], "limit": len(ids)}
    physical = collection.with_names(Names(id=key))
    rows = physical.ask(query.at_once(request), DOCS)["response"]["docs"] if ids else []
    same = {str(row[key]) for row in rows}
    return next((each for each in ids if each not in same), "")


def _list_unkept(collection: Collection, fields: Schema, names: Iterable[str]) -> list[str]:
    """List the fields in which first documents have a value that Solr does not give back.

    Strings are left out: to find those that have any, Solr would read all of their terms.
    """
    kinds = {name: fields.field(name) for name in names}
    asked = [
        name
        for name, kind in sorted(kinds.items())
        if kind and kind.stored and kind.indexed and not kind.doc_values
        and (kind.kind == "TextField" or kind.kind in NUMBERS | DATES)
    ][:MOST_FIELDS]  # fmt: skip
    rows = admin.first_documents(collection, [fields.key, *asked], FIRST) if asked else []
    ids = [str(row[fields.key]) for row in rows if fields.key in row]
    # Solr has a "count" of its own beside the facets.
    facet = {f"of {name}": {"type": "query", "q": query.having(name)} for name in asked}
    request = query.by_ids(ids) | {"limit": 0, "facet": facet}
    physical = collection.with_names(Names(id=fields.key))
    facets = physical.ask(query.at_once(request), {"facets": dict})["facets"] if ids else {}
    counts = {name: facets.get(f"of {name}", {}).get("count", 0) for name in asked}
    return [name for name in asked if counts[name] > sum(name in row for row in rows)]


def read_facts(
    collection: Collection, *, text: Sequence[str], prefix: str | None
) -> CollectionFacts:
    """Read the facts about a collection, with its fields by the names that annotate would use."""
    choose_names(collection.names, "", text=text, prefix=prefix)  # refused before any request
    fields = schema.read_schema(collection)
    names = choose_names(collection.names, fields.key, text=text, prefix=prefix)
    documents = collection.count()
    used = admin.used_fields(collection) if documents else frozenset[str]()
    written, empty, unkept = dict[str, int](), tuple[str, ...](), list[str]()
    if used is not None:
        used = fields.use(used)
        losses = LossCheck(collection, frozenset(own_schema.own_fields(names)))
        used -= {name for name in fields.lost(used) if not losses.has_values(name)}
        safe = used - fields.lost(used).keys()
        unkept = _list_unkept(collection, fields, safe - {fields.key}) if fields.key else []
        written = losses.count_written(fields, used)
        written = {name: count for name, count in written.items() if name in safe}
        if documents:
            empty = tuple(
                name for name in names.text
                if _can_be_searched(fields.field(name)) and not losses.has_values(name)
            )  # fmt: skip
    longest = None
    if not text and any(text_problem(fields.field(name)) for name in names.text):
        longest = admin.longest_texts(collection, likely_texts(fields, names, used or ()))
    if longest is not None:
        names = replace(names, text=(longest[0],))
    config = admin.configuration(collection)
    system, cluster = admin.system(collection), admin.cluster(collection)
    root = fields.fields.get("_root_")
    has_root = root is not None and root.indexed and documents > 0
    # A proxy in front of Solr may check them; then Solr itself knows no user.
    named = collection.session.auth is not None or "Authorization" in collection.session.headers
    key = fields.field(fields.key)
    is_analysed = key is not None and key.kind.endswith("TextField") and key.stored
    return CollectionFacts(
        unkept=unkept,
        altered=_find_altered(collection, fields.key) if is_analysed else "",
        place=collection.place,
        kept=collection.names,
        schema=fields,
        names=replace(names, id=collection.names.id),
        wanted=own_schema.own_fields(names),
        documents=documents,
        used=used,
        written=written,
        longest=longest,
        empty=empty,
        growth=str(growth_of(collection, fields, names, used) or ""),
        children=admin.children(collection, fields.key) if has_root and fields.key else 0,
        placed=collection.count([PLACED]) if "_nest_path_" in fields.fields else 0,
        is_mutable=schema.is_mutable(collection),
        has_log=admin.has_update_log(collection),
        takes_clauses=admin.takes_clauses(collection, fields.key),
        chain=None if config is None else update_chain.list_processors(config),
        select=update_chain.handler_parameters(config or {}, "/select"),
        versions=admin.versions(collection, cluster.nodes),
        cluster=cluster,
        is_local=admin.is_local(collection),
        is_encrypted=collection.base.startswith("https:"),
        is_open=bool(system) and "username" not in system.get("security", {}) and not named,
    )
