"""The rules of `lint`. Each was tried on a real Solr 9.10.1, most on 10.0.0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from neardup_solr.errors import counted
from neardup_solr.solr.cloud import NAME_ONE, SEVERAL
from neardup_solr.solr.names import TEXT
from neardup_solr.solr.query import CLAUSES
from neardup_solr.solr.update_chain import REBUILDS
from neardup_solr.verbs.field_names import clash
from neardup_solr.verbs.findings import DANGER, NOTE, WARNING, Finding, by_level, select
from neardup_solr.verbs.lint.facts import CollectionFacts
from neardup_solr.verbs.losses.dangers import AGAIN, DOUBLED, ONCE
from neardup_solr.verbs.solr_versions import check_versions
from neardup_solr.verbs.text_fields import suggest_text_fields, text_problem

INTO = "write to a different collection: neardup annotate -c NAME --into OTHER"
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
_HIDING = frozenset({"fq", "defType", "q", "fl", "rows", "start", "sort", "group", "wt"})


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
        (facts.altered, DANGER, "key", name,
         f"Solr analyses ids, and does not find the document {facts.altered!r} by its own, so it"
         " cannot be updated",
         "give the unique key a string type and index the documents again"),
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
    for name in facts.unkept:
        reason = "a partial update would lose this field: it was not stored when documents came"
        yield Finding(level, "lost-field", name, reason, f"index these documents again, or {INTO}")
    for name, whole in facts.schema.doubled(facts.used or ()).items():
        reason = f"a partial update {DOUBLED.format(whole=whole)}"
        yield Finding(level, "doubled-field", name, reason, f"{ONCE}, or {INTO}")
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
        if reason := text_problem(facts.schema.field(name)):
            remedy = suggest_text_fields(facts.schema, facts.wanted, facts.used or ())
            yield Finding(level, "text", name, reason, remedy)
    level = WARNING if len(facts.empty) == len(facts.names.text) else NOTE
    others = {name: facts.schema.fields[name] for name in facts.schema.fields.keys() - facts.empty}
    remedy = suggest_text_fields(
        replace(facts.schema, fields=others), facts.wanted, facts.used or ()
    )
    for name in facts.empty:
        yield Finding(level, "text", name, "no document has a value in it", remedy)
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
    yield from _check_copied(facts, prefixed if missing else "")
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


def _check_copied(facts: CollectionFacts, prefixed: str) -> Iterator[Finding]:
    """Find fields of others into which Solr would copy ours."""
    copied, with_prefix = (
        {target for name in names for target in facts.schema.destinations(name)}
        for names in (facts.wanted, map("nd_{}".format, facts.wanted))
    )
    reason = "a copyField also copies neardup fields into it: searches in it look at them, too"
    remedy = "name your own fields in the copyField instead of a pattern"
    if prefixed and not with_prefix:
        remedy = f"choose a prefix: {prefixed}"
    for target in sorted(copied):
        yield Finding(WARNING, "copied", target, reason, remedy)


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


def findings(facts: CollectionFacts) -> tuple[Finding, ...]:
    """Return all findings, the most serious first. Commands in remedies name the collection."""
    rules = (
        _check_updates, _check_losses, _check_chain, _check_texts, _check_schema, _check_server,
    )  # fmt: skip
    listed = [
        replace(finding, remedy=finding.remedy.replace("-c NAME", facts.place))
        for rule in rules
        for finding in rule(facts)
    ]
    return by_level(listed)
