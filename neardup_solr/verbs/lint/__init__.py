"""lint: check if an existing collection can be used, and refuse it if it would lose data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

import orjson

from neardup_solr.arguments import OneOrMore, checked, listed
from neardup_solr.errors import SettingsError
from neardup_solr.minhash import make_entry
from neardup_solr.records import Document
from neardup_solr.settings import ANNOTATED
from neardup_solr.solr import admin, schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import BANDS, ID, NOTE, OWN, SETTINGS, TEXT, Names
from neardup_solr.solr.schema import INTERNAL, Schema
from neardup_solr.verbs.lint.rules import (
    DANGER,
    CollectionFacts,
    Finding,
    findings,
    is_untried,
    likely_texts,
    no_text,
    text_field,
)

PLACED = "_nest_path_:*"
SAMPLE = 500  # documents whose copied fields are compared with what they were copied from
LOOKED_AT = 100  # documents whose fields stand for those of all, if Solr does not tell
_NATIVE = "content_native"  # MinHashes that Solr makes of the text, if configured (docs/native.md)
_TEXTS = frozenset({"StrField", "TextField", "SortableTextField"})
GROWTH_SAMPLE = 100  # documents by which growth is estimated
INDEXED = 0.83  # bytes in the index for each of JSON, measured by benchmarks/foreign.py
PEAK = 2  # times the index that remains: documents of before stay until segments are merged
_KEY = 42 << 48  # a band key, as long as most are


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Bytes that annotate would add to a collection of so many `documents`.

    `bytes_each` is the JSON of our fields in a document, as an answer has it; `index_bytes` is
    the size of the index without them, None if Solr does not tell.
    """

    documents: int
    bytes_each: int
    index_bytes: int | None = None

    @property
    def added_bytes(self) -> int:
        """The bytes that come to the index."""
        return round(INDEXED * self.bytes_each * self.documents)

    def __str__(self) -> str:
        now, added = self.index_bytes, self.added_bytes
        beside = ""
        if now:
            times = (now + added) / now
            peak = f"up to about {PEAK * times:.1f} while it is written"
            beside = f" beside {now / 1e6:,.1f} MB ({times:.1f} times, {peak})"
        return (
            f"annotate adds about {added / 1e6:,.1f} MB to the index{beside}, and"
            f" {self.bytes_each:,} bytes a document to answers of queries without `fl`"
        )


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
        return tuple(finding for finding in self.findings if finding.level == DANGER)


@checked
def lint(collection: Collection, *, text: OneOrMore = (), prefix: str | None = None) -> Lint:
    """Check an existing collection. Changes nothing.

    The names are those that the collection was prepared with, or `text` fields and `prefix` if
    they are set. If neither names an existing text field, it is the field whose texts are the
    longest; a finding says so.

    Raises CoreMissing if the collection does not exist, ArgumentError if a name is impossible,
    SolrError if Solr does not answer.
    """
    chosen(collection.names, "", text=listed(text), prefix=prefix)  # before any request
    fields = schema.read_schema(collection)
    names = chosen(collection.names, fields.key, text=listed(text), prefix=prefix)
    documents = collection.count()
    used = admin.used_fields(collection) if documents else frozenset[str]()
    longest = None
    if not text and any(no_text(fields.field(name)) for name in names.text):
        longest = admin.longest_texts(collection, likely_texts(fields, names, used or ()))
    if longest is not None:
        names = replace(names, text=(longest[0],))
    config = admin.configuration(collection)
    system, cluster = admin.system(collection), admin.cluster(collection)
    root = fields.fields.get("_root_")
    has_root = root is not None and root.indexed and documents > 0
    # A proxy in front of Solr may check them; then Solr itself knows no user.
    named = collection.session.auth is not None or "Authorization" in collection.session.headers
    facts = CollectionFacts(
        place=collection.place,
        kept=collection.names,
        schema=fields,
        names=replace(names, id=collection.names.id),
        wanted=schema.own_fields(names),
        documents=documents,
        used=used,
        longest=longest,
        growth=str(_growth(collection, fields, names, used) or ""),
        children=admin.children(collection, fields.key) if has_root and fields.key else 0,
        placed=collection.count([PLACED]) if "_nest_path_" in fields.fields else 0,
        is_mutable=schema.is_mutable(collection),
        has_log=admin.has_update_log(collection),
        takes_clauses=admin.takes_clauses(collection, fields.key),
        chain=None if config is None else admin.update_chain(config),
        select=admin.handler_parameters(config or {}, "/select"),
        versions=admin.versions(collection, cluster.nodes, system),
        cluster=cluster,
        is_local=admin.is_local(collection),
        is_encrypted=collection.base.startswith("https:"),
        is_open=bool(system) and "username" not in system.get("security", {}) and not named,
    )
    return Lint(
        documents=documents,
        findings=tuple(findings(facts)),
        is_untried=any(map(is_untried, facts.versions)),
    )


def _growth(
    collection: Collection, fields: Schema, names: Names, used: Set[str] | None
) -> Growth | None:
    """Estimate what annotate would add, if nothing of it exists yet."""
    is_ours = NOTE not in fields.fields and all(
        map(fields.fields.__contains__, schema.own_fields(names))
    )
    is_annotated = used is None or names.of(SETTINGS) in used
    if is_ours or is_annotated or any(no_text(fields.field(name)) for name in names.text):
        return None
    return estimate_growth(replace(collection, names=names))


def estimate_growth(collection: Collection) -> Growth | None:
    """Estimate what annotate adds, from a sample of texts, or None without texts.

    `collection` has the names that it is prepared with.
    """
    answer = collection.select({"query": "*:*"}, fields=[TEXT], limit=GROWTH_SAMPLE)
    texts = [str(row[TEXT]) for row in answer.documents if row.get(TEXT)]
    if not texts:
        return None
    return Growth(
        documents=answer.total,
        bytes_each=round(sum(map(_bytes_of, texts)) / len(answer.documents)),
        index_bytes=admin.index_bytes(collection),
    )


def _bytes_of(text: str) -> int:
    """Count the bytes of our fields for a text. It is not signed: signatures have a fixed size."""
    entry = make_entry(Document(id="sample", text=text), ANNOTATED, is_signed=False)
    fields = {
        "md5_hash": entry.md5_hash,
        "num_words": entry.num_words,
        "first_word": entry.first_word,
        BANDS: [_KEY] * ANNOTATED.bands,
        "signature": "A" * 4 * -(-4 * ANNOTATED.hashes // 3),
        SETTINGS: ANNOTATED.fingerprint,
    }
    return len(orjson.dumps(fields)) if entry.num_words else 0


def chosen(names: Names, key: str, *, text: Sequence[str] = (), prefix: str | None = None) -> Names:
    """Choose the names of a collection: those before, its unique key, and the new names instead."""
    return replace(
        names,
        id=key or names.id,
        text=tuple(text) or names.text,
        prefix=names.prefix if prefix is None else prefix,
    )


def own_fields(collection: Collection) -> frozenset[str]:
    """Return the collection's names of the fields that are ours."""
    return frozenset(map(collection.names.of, OWN))


def require_safe(collection: Collection, *, text: Sequence[str] = ()) -> Schema:
    """Refuse a collection in which an update in place would lose data, and return its schema.

    Raises SettingsError, which says what would be lost, and what to do instead.
    """
    collection.require_placed()
    dangers = lint(collection, text=text).dangers
    if dangers:
        first, more = dangers[0], len(dangers) - 1
        others = f" (and {more} more: neardup lint {collection.place})" if more else ""
        raise SettingsError(f"{first.about}: {first.reason}{others}", first.remedy)
    fields = schema.read_schema(collection)
    _require_only_copied(collection, fields)
    return fields


def require_readable(collection: Collection) -> None:
    """Refuse text fields whose values Solr does not return, by SettingsError."""
    require_texts(collection, schema.read_schema(collection), collection.names.text)


def require_texts(collection: Collection, existing: Schema, fields: Iterable[str]) -> None:
    """Refuse fields that no texts can be read from, by a SettingsError that suggests others.

    Our fields are never suggested.
    """
    for name in fields:
        if problem := no_text(existing.field(name)):
            used = admin.used_fields(collection) or ()
            next_step = text_field(existing, schema.own_fields(collection.names), used)
            raise SettingsError(f"the text field {name!r}: {problem}", next_step)


def require_other(collection: Collection, other: Collection) -> None:
    """Refuse to write a collection into itself or into someone else's, by SettingsError.

    Its documents would be replaced, so they may have only the fields that are written.
    """
    cluster = admin.cluster(other)
    names = {collection.name, *admin.cluster(collection).alias_of}
    others = {other.name, *cluster.alias_of}
    made = replace(other, name="OTHER").place
    next_step = f"name another collection, made with: neardup init {made}"
    if cluster.is_read_only:
        raise SettingsError(f"{other.name!r} is read-only", next_step)
    if collection.base == other.base and names & others:
        raise SettingsError(f"{collection.name!r} would be written into itself", next_step)
    written = {*other.names.fields([ID, TEXT]), *own_fields(other)}
    lost = sorted(_fields_in_use(other) - written - INTERNAL - {_NATIVE})
    if other.count() and (lost or not other.names.is_plain):
        what = f" with the fields {', '.join(lost)}" if lost else " of another program"
        reason = f"{other.name!r} has documents{what}, which would be replaced"
        raise SettingsError(reason, next_step)


def _fields_in_use(collection: Collection) -> frozenset[str]:
    """List the fields that documents have, or the first ones have, if Solr does not tell."""
    used = admin.used_fields(collection)
    if used is None:  # as for a collection of ours
        used = frozenset().union(*collection.whole(list(islice(collection.ids(), LOOKED_AT))))
    return used


def _require_only_copied(collection: Collection, fields: Schema) -> None:
    """Refuse fields that are both copied to and written: an update keeps only the copies."""
    targets = [target for _, target in fields.copies]
    ids = list(islice(collection.ids(), SAMPLE)) if targets else []
    for document in collection.whole(ids) if ids else []:
        for name in (name for name in document if _is_text_of(name, targets, fields)):
            if _was_written(name, document):
                id = document[collection.names.id]
                reason = f"{name}: the document {id!r} has a value there that was not copied"
                into = f"neardup annotate {collection.place} --into OTHER"
                next_step = f"write another collection: {into}"
                raise SettingsError(f"{reason}, and an update would lose it", next_step)


def _is_text_of(name: str, targets: Sequence[str], fields: Schema) -> bool:
    field = fields.field(name)
    is_target = any(fnmatchcase(name, each) for each in targets)
    return is_target and field is not None and field.kind in _TEXTS


def _was_written(name: str, document: Mapping[str, Any]) -> bool:
    """Return True if a copied field has a value that begins no other field (maxChars)."""
    others = [each for other in document if other != name for each in _values(document[other])]
    return not all(
        any(each.startswith(value) for each in others) for value in _values(document[name])
    )


def _values(value: Any) -> Iterator[str]:
    yield from map(str, value if isinstance(value, list) else [value])
