"""lint: whether an existing collection can be used, and what would be lost."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from neardup_solr.arguments import OneOrMore, checked, listed
from neardup_solr.errors import SettingsError
from neardup_solr.solr import admin, schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import NOTE, SETTINGS, Names
from neardup_solr.solr.schema import Schema
from neardup_solr.verbs.lint.growth import Growth, growth
from neardup_solr.verbs.lint.rules import (
    DANGER,
    CollectionFacts,
    Finding,
    findings,
    is_untried,
    likely_texts,
    no_text,
)

PLACED = "_nest_path_:*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """Findings of `lint`, the most serious first. `documents` counts those of the collection.

    `is_untried` if nobody has tried this package with the version of its Solr.
    """

    documents: int
    findings: tuple[Finding, ...]
    is_untried: bool = False

    @property
    def dangers(self) -> tuple[Finding, ...]:
        """The findings for which documents would lose something, or cannot be written."""
        return tuple(one for one in self.findings if one.level == DANGER)


@checked
def lint(collection: Collection, *, text: OneOrMore = (), prefix: str | None = None) -> Lint:
    """Check an existing collection. Changes nothing.

    The names are those that the collection was prepared with, or `text` fields and `prefix` if
    they are given. If neither names a text field that is there, it is the one whose texts are the
    longest; a finding says so.

    Raises CoreMissing if there is no such collection, ArgumentError if a name is impossible,
    SolrError if Solr does not answer.
    """
    chosen(collection.names, "", text=listed(text), prefix=prefix)  # before Solr is asked
    found = schema.described(collection)
    names = chosen(collection.names, found.key, text=listed(text), prefix=prefix)
    documents = collection.count()
    used = admin.used_fields(collection) if documents else frozenset[str]()
    longest = None
    if not text and any(no_text(found.field(name)) for name in names.text):
        longest = admin.longest_texts(collection, likely_texts(found, names, used or ()))
    if longest is not None:
        names = replace(names, text=(longest[0],))
    config = admin.configuration(collection)
    told, cluster = admin.system(collection), admin.cluster(collection)
    root = found.fields.get("_root_")
    has_root = root is not None and root.indexed and documents > 0
    # A proxy in front of Solr may check them; then Solr itself knows no user.
    named = collection.session.auth is not None or "Authorization" in collection.session.headers
    behind = admin.alias_of(cluster, collection.name)
    facts = CollectionFacts(
        place=collection.place,
        kept=collection.names,
        schema=found,
        names=replace(names, id=collection.names.id),
        wanted=schema.wanted(names),
        documents=documents,
        used=used,
        longest=longest,
        growth=_growth(collection, found, names, used),
        children=admin.children(collection, found.key) if has_root and found.key else 0,
        placed=collection.count([PLACED]) if "_nest_path_" in found.fields else 0,
        is_mutable=schema.is_mutable(collection),
        has_log=admin.has_update_log(collection),
        takes_clauses=admin.takes_clauses(collection, found.key),
        chain=None if config is None else admin.update_chain(config),
        select=admin.handler_parameters(config or {}, "/select"),
        version=told.get("lucene", {}).get("solr-spec-version", ""),
        alias_of=behind,
        misplacing=admin.placement_problem(cluster, collection.name),
        beside=admin.beside(cluster, collection.name),
        is_read_only=admin.is_read_only(cluster, collection.name),
        is_local=admin.is_local(collection),
        is_encrypted=collection.base.startswith("https:"),
        is_open=bool(told) and "username" not in told.get("security", {}) and not named,
    )
    return Lint(
        documents=documents,
        findings=tuple(findings(facts)),
        is_untried=is_untried(facts.version),
    )


def _growth(
    collection: Collection, found: Schema, names: Names, used: Set[str] | None
) -> Growth | None:
    """What annotate would add, if nothing of it is there yet."""
    is_ours = NOTE not in found.fields and all(map(found.fields.__contains__, schema.wanted(names)))
    is_there = used is None or names.of(SETTINGS) in used
    if is_ours or is_there or any(no_text(found.field(name)) for name in names.text):
        return None
    return growth(replace(collection, names=names))


def chosen(known: Names, key: str, *, text: Sequence[str] = (), prefix: str | None = None) -> Names:
    """The names of a collection: those known, its unique key, and the given ones instead."""
    return replace(
        known,
        id=key or known.id,
        text=tuple(text) or known.text,
        prefix=known.prefix if prefix is None else prefix,
    )


def require_safe(collection: Collection, *, text: Sequence[str] = ()) -> None:
    """Refuse to write into a collection that lint finds dangerous, by SettingsError."""
    dangers = lint(collection, text=text).dangers
    if dangers:
        first, more = dangers[0], len(dangers) - 1
        others = f" (and {more} more: neardup lint {collection.place})" if more else ""
        raise SettingsError(f"{first.about}: {first.reason}{others}", first.remedy)
