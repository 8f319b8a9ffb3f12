"""lint: check if a collection can be used without losing data. doctor: if its documents are sound.

Each rule was tried on a real Solr 9.10.1, most on 10.0.0.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import orjson

from neardup_solr.arguments import OneOrMore, checked, listed, require
from neardup_solr.errors import ArgumentError, DataError, SettingsError, SolrAnswerError, counted
from neardup_solr.minhash import encode_documents, make_entry
from neardup_solr.records import Document
from neardup_solr.settings import ANNOTATED, Settings
from neardup_solr.solr import admin, own_schema, schema, unsigned, update_chain
from neardup_solr.solr.admin import version_numbers
from neardup_solr.solr.cloud import NAME_ONE, SEVERAL, SolrCluster
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.health import Health, is_replaying, read_health
from neardup_solr.solr.names import BANDS, ID, OWN, PLAIN, SETTINGS, TEXT, Names
from neardup_solr.solr.names import NOTE as NOTE_TYPE
from neardup_solr.solr.query import CLAUSES, having
from neardup_solr.solr.schema import INTERNAL, Field, Schema
from neardup_solr.solr.update_chain import REBUILDS
from neardup_solr.text.normalize import is_unspaced
from neardup_solr.verbs.losses import AGAIN, LossCheck

DANGER, WARNING, NOTE = "danger", "warning", "note"
PLACED = having("_nest_path_")
LOOKED_AT = 100  # documents whose fields stand for those of all, if Solr does not tell
NATIVE = "content_native"  # MinHashes by Solr, if configured (docs/interoperability.md)
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
            peak = f"up to about {PEAK * times:.1f} during writing"
            beside = f" on top of the current {now / 1e6:,.1f} MB ({times:.1f} times, {peak})"
        return (
            f"annotate adds about {added / 1e6:,.1f} MB to the index{beside};"
            f" queries without `fl` return {self.bytes_each:,} more bytes per document"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """Findings of `lint`.

    `documents`: documents in the collection; `findings`: findings, the most serious first;
    `is_untried`: True if the version of Solr is untested.
    """

    documents: int
    findings: tuple[Finding, ...]
    is_untried: bool = False

    @property
    def dangers(self) -> tuple[Finding, ...]:
        """Findings that would lose data or prevent writing."""
        return tuple(finding for finding in self.findings if finding.level == DANGER)


@checked
def lint(collection: Collection, *, text: OneOrMore = (), prefix: str | None = None) -> Lint:
    """Check if annotating a collection would lose data, without changing the collection.

    Example: `nd.lint(books, text="body").findings`

    Without `text`, the fields that `init` stored are checked, or else the field `content`. If these
    cannot be read, the field with the longest texts is checked, and a finding names it.

    Raises CoreMissing if the collection does not exist, ArgumentError if a name is invalid,
    SolrError if Solr does not answer.
    """
    chosen(collection.names, "", text=listed(text), prefix=prefix)  # before any request
    fields = schema.read_schema(collection)
    names = chosen(collection.names, fields.key, text=listed(text), prefix=prefix)
    documents = collection.count()
    used = admin.used_fields(collection) if documents else frozenset[str]()
    written = dict[str, int]()
    if used is not None:
        losses = LossCheck(collection, frozenset(own_schema.own_fields(names)))
        used -= {name for name in fields.lost(used) if not losses.has_values(name)}
        safe = used - fields.lost(used).keys()
        written = losses.count_written(fields, used)
        written = {name: count for name, count in written.items() if name in safe}
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
        wanted=own_schema.own_fields(names),
        documents=documents,
        used=used,
        written=written,
        longest=longest,
        growth=str(_growth(collection, fields, names, used) or ""),
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
    is_new = any(map(is_untried, facts.versions))
    return Lint(documents=documents, findings=findings(facts), is_untried=is_new)


def _growth(
    collection: Collection, fields: Schema, names: Names, used: Set[str] | None
) -> Growth | None:
    """Estimate what annotate would add, if nothing of it exists yet."""
    has_ours = own_schema.own_fields(names).keys() <= fields.fields.keys()
    is_ours = has_ours and NOTE_TYPE not in fields.fields
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
    """Choose the names of a collection: those before, its unique key, and the new names instead.

    Raises ArgumentError if a name is impossible, and DataError if that follows from the key.
    """
    texts = tuple(text) or names.text
    try:
        return replace(names, id=key or names.id, text=texts,
                       prefix=names.prefix if prefix is None else prefix)  # fmt: skip
    except ArgumentError as error:
        if not key:
            raise
        raise DataError(error.reason, error.next_step) from None


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
    return schema.read_schema(collection)


def require_texts(collection: Collection, existing: Schema, fields: Iterable[str]) -> None:
    """Refuse fields that no texts can be read from, by a SettingsError that suggests others.

    Our fields are never suggested.
    """
    for name in fields:
        if problem := no_text(existing.field(name)):
            used = admin.used_fields(collection) or ()
            next_step = text_field(existing, own_schema.own_fields(collection.names), used)
            raise SettingsError(f"the text field {name!r}: {problem}", next_step)


def require_other(collection: Collection, other: Collection) -> None:
    """Refuse to write a collection into itself or into someone else's, by SettingsError.

    Its documents would be replaced, so they may have only the fields that are written.
    """
    cluster = admin.cluster(other)
    names = {collection.name, *admin.cluster(collection).alias_of}
    others = {other.name, *cluster.alias_of}
    made = replace(other, name="OTHER").place
    next_step = f"name a different collection, created with: neardup init {made}"
    if cluster.is_read_only:
        raise SettingsError(f"{other.name!r} is read-only", next_step)
    if collection.base == other.base and names & others:
        raise SettingsError(f"{collection.name!r} would be written into itself", next_step)
    written = {*other.names.fields([ID, TEXT]), *own_fields(other)}
    lost = sorted(_fields_in_use(other) - written - INTERNAL - {NATIVE})
    if other.count() and (lost or not other.names.is_plain):
        what = f" with the fields {', '.join(lost)}" if lost else " from another program"
        reason = f"{other.name!r} has documents{what}, which would be replaced"
        raise SettingsError(reason, next_step)


def _fields_in_use(collection: Collection) -> frozenset[str]:
    """List the fields that documents have, or the first ones have, if Solr does not tell."""
    used = admin.used_fields(collection)
    if used is None:  # as for a collection of ours
        used = frozenset().union(*collection.whole(list(islice(collection.ids(), LOOKED_AT))))
    return used


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a collection: how serious, what it is about, why, and the remedy.

    `level` is "danger" (documents would lose something, or cannot be written), "warning" or
    "note"; `rule` is a short name that does not change; `about` is a field, a handler or the like.
    """

    level: str
    rule: str
    about: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionFacts:
    """Facts about a collection, each None if its Solr does not tell.

    `used` are the fields that its documents have; `written` counts, for fields that are only
    indexed and filled by copyFields, the documents that have a value there and in no source;
    `chain` has the classes of its default update chain, `select` the configured parameters of
    /select, as "appends" and so on. `children` counts nested documents, `placed` those with a place
    (_nest_path_). `longest` is the field taken for the text, as none was named, with the average
    length of its values; `growth` is what annotate would add.
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

    @property
    def init(self) -> str:
        """The command that adds our fields by these names. FIELD stands for text fields to name."""
        is_text = not any(no_text(self.schema.field(name)) for name in self.names.text)
        names = self.names if is_text else replace(self.names, text=("FIELD",))
        return f"neardup init {self.place}{names.options(self.kept)}"


INTO = "write to a different collection: neardup annotate -c NAME --into OTHER"
SHOWN = 8  # fields that may hold the text, in a message
_VALUES = re.compile(
    "(Trie)?(Int|Long|Float|Double|Date)(Point|Range)?Field|(Bool|Binary|RandomSort|Rank|Nest"
    "|DenseVector|Point|LatLon|Spatial|BBox|Rpt|Enum|Currency|Abstract).*"
)  # classes of types that hold no text
# Update processors that run before Solr rebuilds the document: they see only a part of it, and so
# overwrite what the whole document has.
_FILLING = {
    "TimestampUpdateProcessorFactory": "sets a new timestamp whenever a document is updated",
    "DefaultValueUpdateProcessorFactory": "resets a field to its default",
    "SignatureUpdateProcessorFactory": "computes the signature from only part of the document",
}
# Processors that change nothing in a document that was processed before.
_HARMLESS = frozenset(
    f"{name}UpdateProcessorFactory"
    for name in ("Log", "Run", "Tolerant", "NoOpDistributing", "Distributed", "Timestamp", "UUID")
) | {"DefaultValueUpdateProcessorFactory", "IgnoreCommitOptimizeUpdateProcessorFactory"}
TESTED = (9, 10, 1)
TRIED = ((8, 11), (10, 1))  # from this version on, before that
_TRIED = "8.11 to 10.0 are known to work"
_HIDING = frozenset({"fq", "defType", "q", "fl", "rows", "start", "sort", "group", "wt"})


def findings(facts: CollectionFacts) -> tuple[Finding, ...]:
    """Return all findings, the most serious first. Commands in remedies name the collection."""
    listed = [
        replace(finding, remedy=finding.remedy.replace("-c NAME", facts.place))
        for rule in RULES
        for finding in rule(facts)
    ]
    return by_level(listed)


def by_level(listed: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings, the most serious first."""
    levels = (DANGER, WARNING, NOTE)
    return tuple(sorted(listed, key=lambda finding: levels.index(finding.level)))


def clash(name: str, needed: Field, schema: Schema, names: Names, used: Container[str]) -> str:
    """Say why a name of ours cannot be used in a collection, or "" if it can."""
    existing = schema.fields.get(name)
    if existing is not None and (problem := existing.problem(needed)):
        return problem
    # If that field is missing, the values cannot be ours.
    if name in used and names.of("signature_settings") not in schema.fields:
        return f"documents contain it {'with other values' if existing else 'as a dynamic field'}"
    return ""


def no_text(field: Field | None) -> str:
    """Say why texts cannot be read from a field, or "" if they can."""
    if field is None:
        return "this field does not exist"
    if not field.is_kept:
        return "it cannot be read back: it is not stored and has no docValues"
    return f"its type is {field.kind}, not text" if _VALUES.fullmatch(field.kind) else ""


def text_field(schema: Schema, ours: Mapping[str, Field], used: Iterable[str] = ()) -> str:
    """Name fields that may hold the text, as a remedy: analysed ones first, not `ours`.

    Of dynamic fields only those that are `used` are named.
    """
    fields = {name: schema.field(name) for name in {*schema.fields, *used}}
    likely = sorted(
        (not each.kind.endswith("TextField"), name)
        for name, each in fields.items()
        if each is not None and each.is_kept and each.kind.endswith(("TextField", "StrField"))
        and name not in ours and name != schema.key and not name.startswith("_")
    )  # fmt: skip
    named = f": {' or '.join(name for _, name in likely[:SHOWN])}" if likely else ""
    return f"set `text` to a field that contains text{named}"


def likely_texts(schema: Schema, names: Names, used: Iterable[str]) -> list[str]:
    """List the used fields that may hold the text, dynamic ones too, but no copies."""
    fields = {name: schema.field(name) for name in sorted({*used} - {schema.key})}
    ours = {names.of(name) for name in OWN}
    return [
        name
        for name, each in fields.items()
        if each is not None and each.is_kept and each.kind.endswith("TextField")
        and name not in ours and not any(schema.sources(name, used))
    ]  # fmt: skip


def is_untried(version: str) -> bool:
    """Return True for a version of Solr that this package was never tried with."""
    numbers = version_numbers(version)
    return bool(numbers) and not TRIED[0] <= numbers < TRIED[1]


def select(*cases: tuple[Any, ...]) -> Iterator[Finding]:
    """Yield the findings of the cases that hold: whether one does, then what it finds."""
    return (Finding(*finding) for holds, *finding in cases if holds)


def _check_updates(facts: CollectionFacts) -> Iterator[Finding]:
    """Find what keeps Solr from updating a document, or from telling who did last."""
    name, key = facts.schema.key, facts.schema.field(facts.schema.key)
    version = facts.schema.field("_version_")
    without_version = version is None or not (version.doc_values or version.indexed)
    return select(
        (not name, DANGER, "key", "uniqueKey",
         "the schema has no unique key, so no document can be updated",
         "add a <uniqueKey> and index the documents again"),
        (name and key is not None and not key.doc_values, WARNING, "key", name,
         "the unique key has no docValues, which are needed to export whole collections"
         " (duplicates, report)",
         "enable docValues for it and index the documents again; annotate, search and gate work"
         " without them"),
        (name and name != facts.names.id, NOTE, "names", name,
         f"the unique key is not {facts.names.id}",
         f"{facts.init} stores its name with the collection"),
        (without_version, DANGER, "versions", "_version_",
         "without this field, changes made by others at the same time would be overwritten",
         "add the field _version_ (a long with docValues) and index again"),
        (facts.has_log is False, DANGER, "update-log", "updateLog",
         "the update log is off: Solr refuses partial updates",
         "add <updateLog/> to <updateHandler> in solrconfig.xml, then reload the collection"),
        (facts.has_log is None, WARNING, "update-log", "updateLog",
         "it is unknown whether the update log is on: /get does not respond",
         "enable /get, or check solrconfig.xml"),
    )  # fmt: skip


def _check_losses(facts: CollectionFacts) -> Iterator[Finding]:
    """Find what an update of a part of a document would lose."""
    level, children = DANGER if facts.documents else WARNING, facts.children
    for name, why in facts.schema.lost(facts.used or facts.schema.fields).items():
        reason = f"a partial update would lose this field: {why}"
        remedy = f"{facts.schema.advise(name, facts.used or facts.schema.fields)}, or {INTO}"
        yield Finding(level, "lost-field", name, reason, remedy)
    for name, count in facts.written.items():
        lost = "an update leaves only what copyFields put into it"
        yield from select(
            (count, DANGER, "written-copy", name,
             f"{lost}, and {counted(count, 'document has', 'documents have')} a value there but in"
             " no source of the copy", f"{AGAIN}, or {INTO}"),
            (not count, NOTE, "copy", name,
             f"{lost}: a value that a program has written there beside them would be lost, and"
             " cannot be seen beforehand",
             f"nothing to do if only copyFields fill it; otherwise {INTO}"),
        )  # fmt: skip
    unknown = "documents contain it, but the schema does not: Solr refuses to update them"
    for name in sorted(facts.used or ()):
        if facts.schema.field(name) is None:
            yield Finding(DANGER, "unknown-field", name, unknown, "add it to the schema again")
    untold = "if any document contains one (unknown: /admin/luke does not respond)"
    for dynamic in facts.schema.dynamic if facts.used is None else ():
        if dynamic.indexed and not dynamic.is_kept:
            reason = f"an update would lose fields that match this pattern, {untold}"
            remedy = f"enable /admin/luke and run lint again, or {INTO}"
            yield Finding(WARNING, "lost-field", dynamic.name, reason, remedy)
    are_lost = children is None or children > facts.placed
    yield from select(
        (are_lost, DANGER, "children", "_root_",
         f"there {'may be' if children is None else 'are'} nested documents without _nest_path_:"
         " an update of a parent would delete its children",
         f"index them again as named children, with a schema that has _nest_path_, or {INTO}"),
        (children and not are_lost, NOTE, "children", "_root_",
         counted(children or 0, "document is a child of another", "documents are nested in others"),
         "nothing to do: they stay unchanged"),
    )  # fmt: skip


def _check_chain(facts: CollectionFacts) -> Iterator[Finding]:
    """Find update processors that would change documents with each update."""
    classes = list(facts.chain or ())
    cut = classes.index(REBUILDS) if classes else 0
    for name in classes[:cut]:
        if name in _FILLING:
            reason = f"this processor in the default update chain {_FILLING[name]}"
            remedy = f"remove it from the chain while neardup updates documents, or {INTO}"
            yield Finding(DANGER, "update-chain", name, reason, remedy)
    after = "this processor runs after the one that rebuilds documents"
    for name in classes[cut:]:
        if name not in _HARMLESS:
            reason = f"{after}, and changes them again with every update"
            remedy = f"move it before DistributedUpdateProcessorFactory, or {INTO}"
            yield Finding(DANGER, "update-chain", name, reason, remedy)


def _check_texts(facts: CollectionFacts) -> Iterator[Finding]:
    """Find what keeps texts from being read, and say which field they are taken from."""
    level = DANGER if facts.names.text != (TEXT,) else WARNING
    for name in facts.names.text:
        if reason := no_text(facts.schema.field(name)):
            remedy = text_field(facts.schema, facts.wanted, facts.used or ())
            yield Finding(level, "text", name, reason, remedy)
    name, length = facts.longest or ("", 0)
    yield from select(
        (facts.longest, NOTE, "text", name,
         "lint uses it as the text because its values are the longest"
         f" ({length:,} characters on average)",
         f"name it or a different field with: {facts.init}"),
        (facts.growth, NOTE, "growth", "index", facts.growth,
         "list the fields that you want returned (fl); if you do not need `duplicates`, neardup"
         " annotate -c NAME --fields=-signature adds only half as many bytes"),
    )  # fmt: skip


def _check_schema(facts: CollectionFacts) -> Iterator[Finding]:
    """Find what hides documents from us, and what keeps our fields out of the schema."""
    for part in ("appends", "invariants"):
        for name in sorted(_HIDING & facts.select.get(part, {}).keys()):
            if (name, facts.select[part][name]) != ("wt", "json"):
                reason = "it changes neardup's queries, so their results are wrong"
                remedy = "use a different handler for this setting"
                yield Finding(DANGER, "select", f"/select {part} {name}", reason, remedy)
    prefixed = replace(facts, names=replace(facts.names, prefix="nd_")).init
    missing = [name for name in facts.wanted if name not in facts.schema.fields]
    taken = {}
    for name, needed in facts.wanted.items():
        if problem := clash(name, needed, facts.schema, facts.names, facts.used or ()):
            taken[name] = problem
            reason = f"a neardup field has the same name as an existing field: {problem}"
            remedy = f"choose a prefix: {prefixed} (or delete that field if you do not need it)"
            yield Finding(DANGER, "clash", name, reason, remedy)
    free, remedy = ", ".join(name for name in missing if name not in taken), ""
    if missing:
        remedy = f"paste the XML that {facts.init} prints, then reload"
    yield from select(
        (free, NOTE, "missing", free, "missing neardup fields",
         remedy if facts.is_mutable is False else f"{facts.init} adds them"),
        (facts.is_mutable is False, WARNING if missing else NOTE, "schema", "schemaFactory",
         "the schema cannot be changed over HTTP (classic, or mutable=false)",
         remedy or "nothing to do: all neardup fields exist"),
    )  # fmt: skip


def check_versions(versions: Sequence[str]) -> Iterator[Finding]:
    """Find what is to be done about the versions of the nodes of a Solr, () if none tells."""
    yield from select(
        (len(versions) > 1, WARNING, "version", "versions of Solr",
         f"the nodes of this SolrCloud run {' and '.join(versions)}",
         "upgrade the older nodes before writing anything: a replica may move to one of them"),
        (not versions, NOTE, "version", "Solr",
         "this Solr does not report its version (/admin/info/system)",
         f"versions {_TRIED}: check which one this is"),
    )  # fmt: skip
    holes = "CVE-2026-22022, CVE-2026-22444, and more in older releases"
    for version in versions:
        numbers, about, is_new = version_numbers(version), f"Solr {version}", is_untried(version)
        is_old = is_new and numbers < TRIED[0]
        yield from select(
            (is_new, WARNING if is_old else NOTE, "version", about,
             f"this version is untested; {_TRIED}",
             "upgrade to 9.10.1" if is_old else "try it on a copy first"),
            (not is_new and numbers < TESTED, NOTE, "version", about,
             f"it has security vulnerabilities that 9.10.1 fixes ({holes})", "upgrade to 9.10.1"),
        )  # fmt: skip


def _check_server(facts: CollectionFacts) -> Iterator[Finding]:
    """Find what the server limits, shares, lacks or leaves open."""
    cluster, is_far = facts.cluster, not facts.is_local
    yield from select(
        (facts.takes_clauses is False, WARNING, "clauses", "maxBooleanClauses",
         f"a query with {CLAUSES:,} clauses is refused: long texts cannot be searched by shingles",
         "set it to 1024 in solrconfig.xml and in solr.xml, or search by bands"),
        (len(cluster.alias_of) > 1, DANGER, "alias", ", ".join(cluster.alias_of),
         SEVERAL, NAME_ONE),
        (cluster.misplacing, DANGER, "router", "router",
         f"the collection has {cluster.misplacing}", INTO),
        (cluster.is_read_only, DANGER, "read-only", "readOnly", "the collection is read-only",
         "set its property readOnly to false (MODIFYCOLLECTION)"),
        (cluster.beside, NOTE, "shared", ", ".join(cluster.beside),
         "with the same configset: the fields are added there too",
         "nothing to do: their documents are not changed"),
    )  # fmt: skip
    yield from check_versions(facts.versions)
    yield from select(
        (is_far and facts.is_open, WARNING, "access", "authentication",
         "anyone who can reach this address can read, change and delete everything",
         'set up security.json with blockUnknown and a permission for "all"'),
        (is_far and not (facts.is_open or facts.is_encrypted), WARNING, "access", "TLS",
         "passwords, tokens and texts are sent unencrypted", "use https"),
    )  # fmt: skip


RULES: tuple[Callable[[CollectionFacts], Iterator[Finding]], ...] = (
    _check_updates, _check_losses, _check_chain, _check_texts, _check_schema, _check_server,
)  # fmt: skip


DOCUMENTS_SAMPLED = 1_000


@checked
def doctor(collection: Collection, *, sample: int = DOCUMENTS_SAMPLED) -> Diagnosis:
    """Count the documents by settings, and recompute the fields of a sample.

    Example: `nd.doctor(listings).documents`

    Nothing is written. Every run takes the same sample. Uncommitted documents do not count.

    Raises SettingsError if stored settings are not understood, SchemaError if the collection has no
    neardup fields, SolrError if Solr does not answer.
    """
    require(sample >= 0, f"`sample` cannot be {sample}", "give 0 or more")
    try:
        return _diagnose(collection, sample)
    except SolrAnswerError as error:  # of a cloud, nothing can be read of such a shard
        if not is_replaying(collection):
            raise
        reason = f"{_REPLAYING}, and cannot be read meanwhile ({error.reason})"
        step = "wait until it has finished, then run this again"
        raise SolrAnswerError(error.url, error.status, reason, step) from None


_REPLAYING = (
    "Solr is replaying the update log after a crash, or a replica is catching up with its leader"
)


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


HTML = re.compile(r"</?(?:p|br|div|span|a|b|i|li|ul|td|tr|table|h[1-6])(?:\s[^<>]*)?/?>", re.I)
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
        ((json, _),) = encode_documents([Document(id=id, text=text)], settings)
        made = orjson.loads(json)
        # Marks are not made of the text alone.
        differing = {n for n in OWN if n in settings.fields and _differ(stored.get(n), made.get(n))}
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


def _differ(stored: Any, made: Any) -> bool:
    """Return True if two values differ. Lists are compared as sets, as docValues return them."""
    if isinstance(stored, list) or isinstance(made, list):
        return set(stored or ()) != set(made or ())
    return (stored or None) != (made or None)
