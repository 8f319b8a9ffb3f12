"""The rules of lint: what may be wrong with an existing collection, each with its remedy.

Each rule was tried on a real Solr 9.10.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from neardup_solr.errors import counted
from neardup_solr.solr.admin import REBUILDS, version_numbers
from neardup_solr.solr.cloud import NAME_ONE, SEVERAL, SolrCluster
from neardup_solr.solr.names import OWN, PLAIN, TEXT, Names, is_name
from neardup_solr.solr.query import CLAUSES
from neardup_solr.solr.schema import Field, Schema

DANGER, WARNING, NOTE = "danger", "warning", "note"


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


def clash(name: str, needed: Field, schema: Schema, names: Names, used: Collection[str]) -> str:
    """Say why a name of ours cannot be used in a collection, or "" if it can."""
    existing = schema.fields.get(name)
    if existing is not None and (problem := existing.problem(needed)):
        return problem
    # If that field is missing, the values cannot be ours.
    if name in used and names.of("signature_settings") not in schema.fields:
        return f"documents have it {'with other values' if existing else 'as a dynamic field'}"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionFacts:
    """Facts about a collection, each None if its Solr does not tell.

    `used` are the fields that its documents have; `chain` has the classes of its default update
    chain, `select` the configured parameters of /select, as "appends" and so on. `children` counts
    nested documents, `placed` those with a place (_nest_path_). `longest` is the field taken
    for the text, as none was named, with the average length of its values; `growth` is what
    annotate would add.
    """

    schema: Schema
    names: Names
    wanted: Mapping[str, Field]
    documents: int
    place: str = "-c NAME"
    kept: Names = PLAIN
    used: frozenset[str] | None = None
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


INTO = "write another collection: neardup annotate -c NAME --into OTHER"
SHOWN = 8  # fields that may hold the text, in a message
_VALUES = re.compile(
    "(Trie)?(Int|Long|Float|Double|Date)(Point|Range)?Field|(Bool|Binary|RandomSort|Rank|Nest"
    "|DenseVector|Point|LatLon|Spatial|BBox|Rpt|Enum|Currency|Abstract).*"
)  # classes of types that hold no text
# Update processors that run before Solr rebuilds the document: they see only a part of it, and so
# overwrite what the whole document has.
_FILLING = {
    "TimestampUpdateProcessorFactory": "gives an updated document a new time",
    "DefaultValueUpdateProcessorFactory": "sets a field back to its default",
    "SignatureUpdateProcessorFactory": "computes the signature from a part of the document",
}
# Processors that change nothing in a document that was processed before.
_HARMLESS = frozenset(
    f"{name}UpdateProcessorFactory"
    for name in ("Log", "Run", "Tolerant", "NoOpDistributing", "Distributed", "Timestamp", "UUID")
) | {"DefaultValueUpdateProcessorFactory", "IgnoreCommitOptimizeUpdateProcessorFactory"}


def _check_updates(facts: CollectionFacts) -> Iterator[Finding]:
    """Find what keeps Solr from updating a document, or from telling who did last."""
    name, field = facts.schema.key, facts.schema.field(facts.schema.key)
    if not name:
        reason = "the schema has no unique key, so no document can be updated"
        remedy = "add a <uniqueKey> and index the documents again"
        yield Finding(DANGER, "key", "uniqueKey", reason, remedy)
    if name and field is not None and not field.doc_values:
        needs = "which the export of whole collections (duplicates, report) needs"
        works = "annotate, search and gate work without them"
        remedy = f"give it docValues and index the documents again; {works}"
        reason = f"the unique key has no docValues, {needs}"
        yield Finding(WARNING, "key", name, reason, remedy)
    if name and name != facts.names.id:
        remedy = f"{facts.init} keeps its name with the collection"
        yield Finding(NOTE, "names", name, f"the unique key is not {facts.names.id}", remedy)
    field = facts.schema.field("_version_")
    if field is None or not (field.doc_values or field.indexed):
        reason = "without it a change made by someone else at the same time would be overwritten"
        remedy = "add the field _version_ (a long with docValues) and index again"
        yield Finding(DANGER, "versions", "_version_", reason, remedy)
    if facts.has_log is False:
        reason = "the update log is off: Solr refuses to update a part of a document"
        remedy = "add <updateLog/> to <updateHandler> in solrconfig.xml, reload"
        yield Finding(DANGER, "update-log", "updateLog", reason, remedy)
    if facts.has_log is None:
        reason = "it is unknown whether the update log is on: /get does not answer"
        remedy = "enable /get, or look into solrconfig.xml"
        yield Finding(WARNING, "update-log", "updateLog", reason, remedy)


def _check_losses(facts: CollectionFacts) -> Iterator[Finding]:
    """Find what an update of a part of a document would lose, or change."""
    level = DANGER if facts.documents else WARNING
    for name, why in facts.schema.lost(facts.used or facts.schema.fields).items():
        reason = f"an update of a part of a document would lose it: {why}"
        remedy = f"store it (or give it docValues) and index again, or {INTO}"
        yield Finding(level, "lost-field", name, reason, remedy)
    unknown = "documents have it, but the schema does not know it: Solr refuses to update them"
    for name in sorted(facts.used or ()):
        if facts.schema.field(name) is None:
            yield Finding(DANGER, "unknown-field", name, unknown, "add it to the schema again")
    untold = "it is unknown whether documents have any (/admin/luke does not answer)"
    for each in facts.schema.dynamic if facts.used is None else ():
        if each.indexed and not each.is_kept:
            reason = f"an update would lose such fields, and {untold}"
            remedy = f"enable /admin/luke and lint again, or {INTO}"
            yield Finding(WARNING, "lost-field", each.name, reason, remedy)
    children = facts.children
    if children is None or children > facts.placed:
        nested = (
            f"there {'may be' if children is None else 'are'} nested documents without _nest_path_"
        )
        reason = f"{nested}: an update of a parent would delete its children"
        remedy = "index them again as named children, in a schema that has _nest_path_, or " + INTO
        yield Finding(DANGER, "children", "_root_", reason, remedy)
    elif children:
        reason = f"{counted(children, 'document is a child', 'documents are children')} of others"
        yield Finding(NOTE, "children", "_root_", reason, "nothing to do: they stay as they are")
    classes = list(facts.chain or ())
    cut = classes.index(REBUILDS) if classes else 0
    for name in classes[:cut]:
        if name in _FILLING:
            reason = f"this processor of the default update chain {_FILLING[name]}"
            remedy = f"take it out of the chain during updates, or {INTO}"
            yield Finding(DANGER, "update-chain", name, reason, remedy)
    after = "this processor runs after the one that rebuilds a document"
    for name in classes[cut:]:
        if name not in _HARMLESS:
            reason = f"{after}, and changes it again with every update"
            remedy = f"put it before DistributedUpdateProcessorFactory, or {INTO}"
            yield Finding(DANGER, "update-chain", name, reason, remedy)


def _check_texts(facts: CollectionFacts) -> Iterator[Finding]:
    level = DANGER if facts.names.text != (TEXT,) else WARNING
    for name in facts.names.text:
        if reason := no_text(facts.schema.field(name)):
            remedy = text_field(facts.schema, facts.wanted, facts.used or ())
            yield Finding(level, "text", name, reason, remedy)
    if facts.longest is not None:
        name, length = facts.longest
        longest = f"its values are the longest, {length:,} characters on average"
        reason = f"it is taken for the field of the text: {longest}"
        yield Finding(NOTE, "text", name, reason, f"name it, or another one: {facts.init}")
    if facts.growth:
        half = "neardup annotate -c NAME --fields=-signature adds half"
        remedy = f"name the fields that you want in answers (fl); without `duplicates`, {half}"
        yield Finding(NOTE, "growth", "index", facts.growth, remedy)


def no_text(field: Field | None) -> str:
    """Say why texts cannot be read from a field, or "" if they can."""
    if field is None:
        return "there is no such field"
    if not field.is_kept:
        return "it cannot be read back: it is neither stored nor in docValues"
    return f"it is a {field.kind}, not text" if _VALUES.fullmatch(field.kind) else ""


def text_field(schema: Schema, ours: Mapping[str, Field], used: Collection[str] = ()) -> str:
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
    return f"name a field that holds text by `text`{named}"


def likely_texts(schema: Schema, names: Names, used: Collection[str]) -> list[str]:
    """List the used fields that may hold the text, dynamic ones too, but no copies."""
    fields = {name: schema.field(name) for name in sorted({*used} - {schema.key})}
    ours = {names.of(name) for name in OWN}
    return [
        name
        for name, each in fields.items()
        if each is not None and each.is_kept and each.kind.endswith("TextField")
        and name not in ours and not any(schema.sources(name, used)) and is_name(name)
    ]  # fmt: skip


TESTED = (9, 10, 1)
TRIED = ((8, 11), (10,))  # from this version on, before that
_HIDING = frozenset({"fq", "defType", "q", "fl", "rows", "start", "sort", "group", "wt"})


def findings(facts: CollectionFacts) -> list[Finding]:
    """Return all findings, the most serious first. Commands in remedies name the collection."""
    listed = [
        replace(finding, remedy=finding.remedy.replace("-c NAME", facts.place))
        for rule in RULES
        for finding in rule(facts)
    ]
    return by_level(listed)


def by_level(listed: Iterable[Finding]) -> list[Finding]:
    """Sort findings, the most serious first."""
    return sorted(listed, key=lambda finding: (DANGER, WARNING, NOTE).index(finding.level))


def _check_schema(facts: CollectionFacts) -> Iterator[Finding]:
    """Find what hides documents from us, and what keeps our fields out of the schema."""
    for part in ("appends", "invariants"):
        for name in sorted(_HIDING & facts.select.get(part, {}).keys()):
            if (name, facts.select[part][name]) != ("wt", "json"):
                reason = "it changes our queries, so they do not see all documents"
                remedy = "use another handler for that setting"
                yield Finding(DANGER, "select", f"/select {part} {name}", reason, remedy)
    prefixed = replace(facts, names=replace(facts.names, prefix="nd_")).init
    missing = [name for name in facts.wanted if name not in facts.schema.fields]
    free = []
    for name, needed in facts.wanted.items():
        if problem := clash(name, needed, facts.schema, facts.names, facts.used or ()):
            reason = f"one of our fields has the name of an existing one: {problem}"
            remedy = f"choose a prefix: {prefixed} (or delete that field, if you do not need it)"
            yield Finding(DANGER, "clash", name, reason, remedy)
        elif name in missing:
            free.append(name)
    if free:
        reason = "these fields of ours are missing"
        yield Finding(NOTE, "missing", ", ".join(free), reason, f"{facts.init} adds them")
    if facts.is_mutable is False:
        reason = "the schema cannot be changed over HTTP (classic, or mutable=false)"
        remedy = "nothing to do: all of our fields are there"
        if missing:
            remedy = f"paste the XML that {facts.init} prints, then reload"
        yield Finding(WARNING if missing else NOTE, "schema", "schemaFactory", reason, remedy)


def is_untried(version: str) -> bool:
    """Return True for a version of Solr that this package was never tried with."""
    numbers = version_numbers(version)
    return bool(numbers) and not TRIED[0] <= numbers < TRIED[1]


def check_versions(versions: Sequence[str]) -> Iterator[Finding]:
    """Find what is to be done about the versions of the nodes of a Solr, () if none tells."""
    if len(versions) > 1:
        reason = f"the nodes of this cloud run {' and '.join(versions)}"
        remedy = "upgrade the others before anything is written: a replica may move to an older one"
        yield Finding(WARNING, "version", "versions of Solr", reason, remedy)
    if not versions:
        reason = "this Solr does not tell its version (/admin/info/system)"
        yield Finding(NOTE, "version", "Solr", reason, "8.11 to 9.10 are known to work: look it up")
    for version in versions:
        numbers, about = version_numbers(version), f"Solr {version}"
        if is_untried(version):
            reason = "nobody has tried this package with it; 8.11 to 9.10 are known to work"
            is_old = numbers < TRIED[0]
            remedy = "upgrade to 9.10.1" if is_old else "try it on a copy first"
            yield Finding(WARNING if is_old else NOTE, "version", about, reason, remedy)
        elif numbers < TESTED:
            holes = "CVE-2026-22022, CVE-2026-22444, and more in older releases"
            reason = f"it has holes that 9.10.1 closes ({holes})"
            yield Finding(NOTE, "version", about, reason, "upgrade to 9.10.1")


def _check_server(facts: CollectionFacts) -> Iterator[Finding]:
    """Find what the server limits, shares, lacks or leaves open."""
    cluster = facts.cluster
    if facts.takes_clauses is False:
        refused = f"a query of {CLAUSES:,} clauses is refused"
        reason = f"{refused}: long texts cannot be searched by shingles"
        remedy = "set it to 1024 in solrconfig.xml and in solr.xml, or search by bands"
        yield Finding(WARNING, "clauses", "maxBooleanClauses", reason, remedy)
    if len(cluster.alias_of) > 1:
        yield Finding(DANGER, "alias", ", ".join(cluster.alias_of), SEVERAL, NAME_ONE)
    if cluster.misplacing:
        yield Finding(DANGER, "router", "router", f"the collection has {cluster.misplacing}", INTO)
    if cluster.is_read_only:
        remedy = "set its readOnly to false (MODIFYCOLLECTION)"
        yield Finding(DANGER, "read-only", "readOnly", "the collection is read-only", remedy)
    if cluster.beside:
        reason = "these collections share the configset: they get the added fields too"
        remedy = "nothing to do: their documents are not changed"
        yield Finding(NOTE, "shared", ", ".join(cluster.beside), reason, remedy)
    yield from check_versions(facts.versions)
    if facts.is_local:
        return
    if facts.is_open:
        reason = "anyone who reaches this address can read, change and delete everything"
        remedy = "set up security.json, with blockUnknown and an all permission"
        yield Finding(WARNING, "access", "authentication", reason, remedy)
    elif not facts.is_encrypted:
        reason = "user and password are sent unencrypted"
        yield Finding(WARNING, "access", "TLS", reason, "use https")


RULES: tuple[Callable[[CollectionFacts], Iterator[Finding]], ...] = (
    _check_updates,
    _check_losses,
    _check_texts,
    _check_schema,
    _check_server,
)
