"""What an update of a part of a document would lose or change, and what keeps it from working.

Each rule was tried on a real Solr 9.10.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from neardup_solr.pure.solr.findings import DANGER, NOTE, WARNING, Facts, Finding
from neardup_solr.pure.solr.names import TEXT
from neardup_solr.pure.solr.schema import Field, Schema
from neardup_solr.pure.solr.solrconfig import REBUILDS

INTO = "write a collection beside it: neardup annotate NAME --into OTHER"
SHOWN = 8  # fields that may hold the text, in a message
_VALUES = re.compile(
    "(Trie)?(Int|Long|Float|Double|Date)(Point|Range)?Field|(Bool|Binary|RandomSort|Rank|Nest"
    "|DenseVector|Point|LatLon|Spatial|BBox|Rpt|Enum|Currency|Abstract).*"
)  # classes of types that hold no text
# Processors of updates before Solr rebuilds the document: they see a part of it, and give it what
# the whole one has.
_FILLING = {
    "TimestampUpdateProcessorFactory": "gives an updated document a new time",
    "DefaultValueUpdateProcessorFactory": "sets a field back to its default",
    "SignatureUpdateProcessorFactory": "makes the signature of a part of the document",
}
# Processors that change nothing when they meet a whole document again.
_HARMLESS = frozenset(
    f"{name}UpdateProcessorFactory"
    for name in ("Log", "Run", "Tolerant", "NoOpDistributing", "Distributed", "Timestamp", "UUID")
) | {"DefaultValueUpdateProcessorFactory", "IgnoreCommitOptimizeUpdateProcessorFactory"}


def key(facts: Facts) -> Iterator[Finding]:
    name = facts.schema.key
    if not name:
        reason = "the schema has no unique key, so no document can be updated"
        yield Finding(
            level=DANGER,
            rule="key",
            about="uniqueKey",
            reason=reason,
            remedy="add a <uniqueKey> and index the documents again",
        )
        return
    found = facts.schema.field(name)
    if found is not None and not found.doc_values:
        yield Finding(
            level=WARNING,
            rule="key",
            about=name,
            reason="the unique key has no docValues, which the export of whole"
            " collections (duplicates, report) needs",
            remedy="give it docValues and index the documents again; annotate, search"
            " and the gate work without",
        )
    if name != facts.names.id:
        yield Finding(
            level=NOTE,
            rule="names",
            about=name,
            reason=f"the unique key is not {facts.names.id}, as we would read it",
            remedy="neardup init keeps its name with the collection",
        )


def versions(facts: Facts) -> Iterator[Finding]:
    found = facts.schema.field("_version_")
    if found is None or not (found.doc_values or found.indexed):
        yield Finding(
            level=DANGER,
            rule="versions",
            about="_version_",
            reason="without it a change made by someone else at the same time would be overwritten",
            remedy="add the field _version_ (a long with docValues) and index again",
        )


def update_log(facts: Facts) -> Iterator[Finding]:
    if facts.has_log is False:
        yield Finding(
            level=DANGER,
            rule="update-log",
            about="updateLog",
            reason="the update log is off: Solr refuses to update a part of a document",
            remedy="add <updateLog/> to <updateHandler> in solrconfig.xml, reload",
        )
    if facts.has_log is None:
        yield Finding(
            level=WARNING,
            rule="update-log",
            about="updateLog",
            reason="whether the update log is on cannot be seen: /get does not answer",
            remedy="open /get, or look into solrconfig.xml",
        )


def lost_fields(facts: Facts) -> Iterator[Finding]:
    level = DANGER if facts.documents else WARNING
    for name, reason in facts.schema.lost(facts.used or facts.schema.fields).items():
        yield Finding(
            level=level,
            rule="lost-field",
            about=name,
            reason=f"an update of a part of a document would lose it: {reason}",
            remedy=f"store it (or give it docValues) and index again, or {INTO}",
        )
    for name in sorted(facts.used or ()):
        if facts.schema.field(name) is None:
            yield Finding(
                level=DANGER,
                rule="unknown-field",
                about=name,
                reason="documents have it and the schema does not know it: Solr refuses"
                " to update them",
                remedy="add it to the schema again",
            )
    for one in facts.schema.dynamic if facts.used is None else ():
        if one.indexed and not one.is_kept:
            yield Finding(
                level=WARNING,
                rule="lost-field",
                about=one.name,
                reason="an update would lose such fields, and whether documents have any cannot"
                " be seen (/admin/luke is shut)",
                remedy=f"open /admin/luke and lint again, or {INTO}",
            )


def children(facts: Facts) -> Iterator[Finding]:
    there = facts.children
    if there is None or there > facts.placed:
        yield Finding(
            level=DANGER,
            rule="children",
            about="_root_",
            reason=f"nested documents {'may be' if there is None else 'are'} there that have no"
            " _nest_path_: an update of a parent would delete its children",
            remedy="index them again as named children, in a schema that has _nest_path_, or "
            + INTO,
        )
    elif there:
        yield Finding(
            level=NOTE,
            rule="children",
            about="_root_",
            reason=f"{there:,} documents are children of others",
            remedy="they stay as they are",
        )


def update_chain(facts: Facts) -> Iterator[Finding]:
    classes = list(facts.chain or ())
    cut = classes.index(REBUILDS) if classes else 0
    for name in classes[:cut]:
        if name in _FILLING:
            yield Finding(
                level=DANGER,
                rule="update-chain",
                about=name,
                reason=f"this processor of the default update chain {_FILLING[name]}",
                remedy=f"leave it out of the chain meanwhile, or {INTO}",
            )
    for name in classes[cut:]:
        if name not in _HARMLESS:
            yield Finding(
                level=DANGER,
                rule="update-chain",
                about=name,
                reason="this processor stands behind the one that rebuilds a document,"
                " and changes it once more with every update",
                remedy=f"put it before DistributedUpdateProcessorFactory, or {INTO}",
            )


def texts(facts: Facts) -> Iterator[Finding]:
    level = DANGER if facts.names.text != (TEXT,) else WARNING
    for name in facts.names.text:
        if reason := no_text(facts.schema.field(name)):
            remedy = text_field(facts.schema, facts.wanted)
            yield Finding(level=level, rule="text", about=name, reason=reason, remedy=remedy)


def no_text(found: Field | None) -> str:
    """Why texts cannot be read from a field; "" where they can."""
    if found is None:
        return "there is no such field"
    if not found.is_kept:
        return "it cannot be read back: neither stored nor in docValues"
    return f"it is a {found.kind}, not text" if _VALUES.fullmatch(found.kind) else ""


def text_field(schema: Schema, ours: Mapping[str, Field]) -> str:
    """The remedy that names fields which may hold the text: analysed ones first, none of `ours`."""
    likely = sorted(
        (not one.kind.endswith("TextField"), name)
        for name, one in schema.fields.items()
        if one.is_kept and one.kind.endswith(("TextField", "StrField"))
        and name not in ours and name != schema.key and not name.startswith("_")
    )  # fmt: skip
    named = f", of {', '.join(name for _, name in likely[:SHOWN])}" if likely else ""
    return f"name a field that holds text with --text-field{named}"
