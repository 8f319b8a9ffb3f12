"""Facts about a collection by which `lint` judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from neardup_solr.solr import admin, own_schema, schema, update_chain
from neardup_solr.solr.cloud import SolrCluster
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import PLAIN, Names
from neardup_solr.solr.query import having
from neardup_solr.solr.schema import Field, Schema
from neardup_solr.verbs.field_names import choose_names
from neardup_solr.verbs.lint.growth import growth_of
from neardup_solr.verbs.losses import LossCheck
from neardup_solr.verbs.text_fields import likely_texts, text_problem

PLACED = having("_nest_path_")


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionFacts:
    """Facts about a collection, each None if its Solr does not tell.

    `used` are the fields that its documents have; `written` counts, for fields that are only
    indexed and filled by copyFields, the documents that have a value there and in no source;
    `chain` has the classes of its default update chain, `select` the configured parameters of
    /select, as "appends" and so on. `children` counts nested documents, `placed` those with a place
    (_nest_path_). `longest` is the field taken for the text, as none was named, with the average
    length of its values; `growth` is what annotate would add. In `empty` text fields no document
    has a value.
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


def read_facts(
    collection: Collection, *, text: Sequence[str], prefix: str | None
) -> CollectionFacts:
    """Read the facts about a collection, with its fields by the names that annotate would use."""
    choose_names(collection.names, "", text=text, prefix=prefix)  # refused before any request
    fields = schema.read_schema(collection)
    names = choose_names(collection.names, fields.key, text=text, prefix=prefix)
    documents = collection.count()
    used = admin.used_fields(collection) if documents else frozenset[str]()
    written, empty = dict[str, int](), tuple[str, ...]()
    if used is not None:
        used = fields.use(used)
        losses = LossCheck(collection, frozenset(own_schema.own_fields(names)))
        used -= {name for name in fields.lost(used) if not losses.has_values(name)}
        safe = used - fields.lost(used).keys()
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
    return CollectionFacts(
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
