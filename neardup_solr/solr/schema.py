"""The schema of a collection: reading it, changing it, and fields that atomic updates would lose.

For an atomic update Solr rebuilds a document from what is stored or in docValues; copyFields are
filled again from their sources, which have to be rebuilt themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import orjson

from neardup_solr.errors import SchemaError, SettingsError, SolrAnswerError, SolrUnauthorized
from neardup_solr.regex import regex
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import ID, NOTE, OWN, spell_field
from neardup_solr.solr.query import having
from neardup_solr.solr.responses import require_rows

# What /export can read, if it has docValues.
EXPORTED = regex(r"(Str|SortableText|Bool|(Int|Long|Float|Double|Date)Point|Trie\w+)Field")
NEST_PATH = "_nest_path_"
# What Solr rebuilds exactly from docValues alone. Those of a SortableTextField are cut.
_REBUILT = regex(r"(Str|UUID|Bool|(Int|Long|Float|Double|Date)Point|Trie\w+)Field|EnumFieldType")
# Types that never give back what they were given, whatever the schema says is stored.
_NEVER_KEPT = frozenset({"PreAnalyzedField", "RankField"})
# Types whose docValues are keys to sort by.
_SORTED = frozenset({"CollationField", "ICUCollationField"})
VALUES_BY_DEFAULT = 1.7  # the version of a schema from which on fields have docValues
# Types that fill fields of their own, and how these are named after a field.
_PARTS = {
    "PointType": regex(r"(.+)_\d+\D.*"),
    "CurrencyField": regex(r"(.+?)___.+"),
    "CurrencyFieldType": regex(r"(.+?)___.+"),
    "BBoxField": regex(r"(.+)__(?:m(?:in|ax)[XY]|xdl)"),
}
_RANK = "RankField"  # of which all values are in this field of the index
_RANKS = "_rank_"
# Solr keeps these by itself.
INTERNAL = frozenset({"_version_", "_root_", NEST_PATH, "_nest_parent_"})
CHANGED = "the collection has changed in the meantime; run this again"
NUMBERS = frozenset({"IntPointField", "LongPointField", "TrieIntField", "TrieLongField"})
# Attributes of a field, and what we call them.
ATTRIBUTES = {"indexed": "indexed", "stored": "stored", "docValues": "doc_values",
               "multiValued": "multi_valued"}  # fmt: skip
# Every schema refuses this: it has no such field, or nothing may be changed.
_NO_CHANGE = {"delete-field": {"name": "neardup has no such field"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field, or a dynamic field if `name` is a pattern. `kind` is the class of its type."""

    name: str
    type: str
    kind: str
    indexed: bool
    stored: bool
    doc_values: bool
    multi_valued: bool
    as_stored: bool = True
    default: str | None = None

    @property
    def is_kept(self) -> bool:
        """Return True if Solr rebuilds the field when another is updated.

        DocValues alone are enough only if they count as stored (useDocValuesAsStored).
        """
        by_values = self.doc_values and self.as_stored and self.kind not in _SORTED
        return (self.stored or by_values) and self.kind not in _NEVER_KEPT

    @property
    def is_exported(self) -> bool:
        """Return True if /export can read the field."""
        return self.doc_values and EXPORTED.fullmatch(self.kind) is not None

    @property
    def advice(self) -> str:
        """Say what keeps the field when another is updated, as its type allows."""
        if self.kind in _NEVER_KEPT:
            return "give {} another type and index these documents again"
        other = "set useDocValuesAsStored" if self.doc_values else "add docValues"
        either = f" (or {other})" if _REBUILT.fullmatch(self.kind) else ""
        return f"store {{}}{either} and index these documents again"

    def problem(self, wanted: Field) -> str:
        """Say why this field cannot be used in place of `wanted`. "" if it can."""
        same_kind = self.kind == wanted.kind or {self.kind, wanted.kind} <= NUMBERS
        problems = {
            f"it is a {self.kind}, not a {wanted.kind}": not same_kind,
            "it is multi-valued": self.multi_valued and not wanted.multi_valued,
            "it accepts only a single value": wanted.multi_valued and not self.multi_valued,
            "it is not indexed": wanted.indexed and not self.indexed,
            "it has no docValues": wanted.doc_values and not self.doc_values,
            "it is not stored": not self.is_kept,
        }
        return next((problem for problem, holds in problems.items() if holds), "")


class Copy(NamedTuple):
    """A rule by which Solr copies a field to another, at most so many characters, or 0 for all."""

    source: str
    target: str
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The fields of a collection. `key` is its unique key, "" if it has none.

    `types` are the classes of the field types; `copies` are the pairs of source and destination
    of its copyFields, patterns included; `limits` are the most characters that some of them copy.
    """

    key: str
    types: Mapping[str, str]
    fields: Mapping[str, Field]
    dynamic: Sequence[Field] = ()
    copies: Sequence[tuple[str, str]] = ()
    limits: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def field(self, name: str) -> Field | None:
        """The field of that name, else the dynamic field with the longest matching pattern."""
        if name in self.fields:
            return self.fields[name]
        matching = (field for field in self.dynamic if fnmatchcase(name, field.name))
        return max(matching, key=lambda field: len(field.name), default=None)

    def use(self, listed: Iterable[str]) -> frozenset[str]:
        """Return the fields that documents have, of those that Solr lists."""
        used = frozenset(listed) - INTERNAL
        ranks = {name for name, each in self.fields.items() if each.kind == _RANK}
        return used - {_RANKS} | ranks if _RANKS in used and ranks else used

    def query_rank(self, name: str) -> str:
        """Make a query for the documents that have a value in a field of ranks, "" for others."""
        each = self.field(name)
        return f"{{!rank f='{name}'}}" if each is not None and each.kind == _RANK else ""

    def can_export(self, name: str) -> bool:
        """Return True if /export can read a field and its list of fields can hold the name."""
        field = self.field(name)
        return field is not None and field.is_exported and spell_field(name) == name

    def lost(self, used: Iterable[str]) -> dict[str, str]:
        """The used fields that an atomic update would lose, each with the reason."""
        used = sorted(set(used) - INTERNAL)
        reasons = ((name, self._why_lost(name, used)) for name in used)
        return {name: reason for name, reason in reasons if reason}

    def doubled(self, used: Iterable[str]) -> dict[str, str]:
        """The used fields that an atomic update would write twice, each with the whole they are of.

        Solr fills them from a field of a type such as PointType, and gives them back beside it:
        if they take a single value, it refuses the update.
        """
        pairs = ((name, self._find_whole(name)) for name in sorted(used))
        return {
            name: whole.name
            for name, whole in pairs
            if whole and (field := self.field(name)) and field.is_kept
            if whole.stored or whole.kind != "PointType"
        }

    def _find_whole(self, name: str) -> Field | None:
        """Return the field from whose values Solr fills this one, None for others."""
        for kind, parts in _PARTS.items():
            match = parts.fullmatch(name)
            whole = self.field(match[1]) if match else None
            if match and whole is not None and whole.kind == kind:
                return replace(whole, name=match[1])
        return None

    def _why_lost(self, name: str, used: Sequence[str]) -> str:
        field = self.field(name)
        if field is None or field.is_kept or not (field.indexed or field.doc_values):
            return ""
        if (whole := self._find_whole(name)) and whole.stored:
            return ""
        if field.kind in _NEVER_KEPT:
            return f"a {field.kind} does not give back the value that it was given"
        sources = list(self.sources(name, used))
        if not sources:
            if field.kind in _SORTED and field.doc_values:
                return "it is not stored, and its docValues are only keys to sort by"
            if field.doc_values:
                return "it is not stored, and its docValues do not count as stored"
            return "it is only indexed: it is not stored and has no docValues"
        gone = self._list_gone(sources, used)
        return f"it is copied from {', '.join(gone)}, which is not itself stored" if gone else ""

    def advise(self, name: str, used: Iterable[str]) -> str:
        """Say what keeps a field that an atomic update would lose."""
        used = sorted(set(used) - INTERNAL)
        sources = list(self.sources(name, used))
        gone = [(self.field(source), source) for source in self._list_gone(sources, used)]
        steps = [(each.advice, source) for each, source in gone if each]
        if not sources and (field := self._find_whole(name)):
            steps = [(field.advice, field.name)]
        elif not sources and (field := self.field(name)):
            steps = [(field.advice, "the field")]
        return "; ".join(advice.format(place) for advice, place in steps)

    def _list_gone(self, sources: Iterable[str], used: Sequence[str]) -> list[str]:
        """List the sources of copies that Solr does not give back.

        Targets of other copies are none: Solr copies what a document was sent with, no copies.
        """
        fields = ((source, self.field(source)) for source in sources)
        return [
            source
            for source, each in fields
            if each and not each.is_kept and not any(self.sources(source, used))
        ]

    def sources(self, name: str, used: Iterable[str]) -> Iterator[str]:
        """The fields from which copyFields fill this field, of those in the schema or `used`."""
        for source, destination in self.copies:
            if not fnmatchcase(name, destination):
                continue
            if "*" in destination:
                start, end = destination.split("*", 1)
                source = source.replace("*", name[len(start) : len(name) - len(end)], 1)
            if "*" in source:
                names = dict.fromkeys([*self.fields, *used])
                others = (other for other in names if other not in {*INTERNAL, NOTE, name})
                yield from (other for other in others if fnmatchcase(other, source))
            else:
                yield source

    def destinations(self, name: str) -> Iterator[str]:
        """The fields that copyFields fill from this field."""
        return (copy.target for copy in self.copies_of(name))

    def copies_of(self, name: str) -> Iterator[Copy]:
        """The copies that Solr makes of the values of this field."""
        for source, destination in self.copies:
            if fnmatchcase(name, source):
                start, _, end = source.partition("*")
                target = destination.replace("*", name[len(start) : len(name) - len(end)], 1)
                most = self.limits.get((source, destination), 0)
                yield Copy(name, target, most)


def read_schema(collection: Collection) -> Schema:
    """The schema of a collection, defaults included.

    Raises CoreMissing if the collection does not exist, SolrError if Solr does not answer.
    """
    whole = _get(collection, "", {"schema": dict})["schema"]
    kinds = whole.get("fieldTypes", ())
    types = {kind["name"]: class_name(kind.get("class", "")) for kind in kinds}
    fields = _get(collection, "/fields", {"fields": list})["fields"]
    dynamic = _get(collection, "/dynamicfields", {"dynamicFields": list})["dynamicFields"]
    copied = whole.get("copyFields", [])
    require_rows(whole.get("fieldTypes", []), {"name": str}, collection.url)
    require_rows([*fields, *dynamic], {"name": str, "type": str}, collection.url)
    require_rows(copied, {"source": str, "dest": str}, collection.url)
    return Schema(
        key=whole.get("uniqueKey", ""),
        types=types,
        fields={field["name"]: make_field(field, types) for field in fields},
        dynamic=[make_field(field, types) for field in [*dynamic, *_list_parts(whole)]],
        copies=[(copy["source"], copy["dest"]) for copy in copied],
        limits={(copy["source"], copy["dest"]): copy.get("maxChars", 0) for copy in copied},
    )


def _list_parts(whole: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """List the patterns of the fields that Solr fills from PointTypes, and does not list itself."""
    kinds = {kind["name"]: kind for kind in whole.get("fieldTypes", ())}
    by_default = float(whole.get("version", 0)) >= VALUES_BY_DEFAULT
    for part in {kind["subFieldType"] for kind in kinds.values() if "subFieldType" in kind}:
        has_values = str(kinds.get(part, {}).get("docValues", by_default)).lower() == "true"
        yield {"name": f"*___{part}", "type": part, "indexed": True, "docValues": has_values}


def read_layout(collection: Collection) -> bytes:
    """Read all that the schema says, to be compared with what it said before."""
    return orjson.dumps(_get(collection, "", {"schema": dict}), option=orjson.OPT_SORT_KEYS)


def require_exported(collection: Collection, names: Iterable[str]) -> None:
    """Refuse fields that /export cannot read, or that are missing, by SchemaError."""
    schema, logical = read_schema(collection), collection.names

    lost = [name for name in names if not all(map(schema.can_export, logical.fields([name])))]
    if any(name in OWN and schema.field(logical.of(name)) is None for name in lost):
        add = logical.advise(schema.fields, collection.place)
        raise SchemaError(collection.url, logical.fields(lost), next_step=add)
    if lost:
        ours = {logical.of(name): name for name in (ID, *OWN)}
        fields = [*schema.fields.values(), *schema.dynamic]
        usable = [field.name for field in fields if schema.can_export(field.name)]
        read = [ours.get(name, name) for name in usable if name not in INTERNAL]
        reason = f"Solr's export cannot read {', '.join(lost)} (missing, or no docValues)"
        step = f"name only fields that it can read: {', '.join(read)}"
        raise SchemaError(collection.url, lost, reason, step)


def require_kept(collection: Collection, names: Iterable[str], next_step: str) -> None:
    """Refuse fields that are not there, or that no document has, by SettingsError."""
    schema = read_schema(collection)
    for name in names:
        place = collection.names.of(name)
        field = schema.field(place)
        reason = f"the collection {collection.name!r} has no field {name!r}"
        if field is not None:
            reason = f"no document has a value in {name}"
            if not field.is_kept:
                reason = f"the field {name!r} is not stored and has no usable docValues"
            elif collection.count([having(place)]):
                continue
        raise SettingsError(reason, next_step, code="field-missing")


def is_mutable(collection: Collection) -> bool | None:
    """Return True if the Schema API may change the schema, None if this user may not try that.

    Tries a change without effect.
    """
    try:
        change(collection, _NO_CHANGE)
    except SolrUnauthorized as error:
        if error.status != 403:
            raise
        return None
    except SolrAnswerError as error:
        return error.status == 400 and "not editable" not in error.reason
    return True


def change(collection: Collection, commands: Mapping[str, Any]) -> None:
    """Change the schema by commands of the Schema API: all of them, or none.

    Raises SolrAnswerError if Solr refuses, or the schema is not managed.
    """
    if commands:
        collection.post("schema", orjson.dumps(commands))


def _get(collection: Collection, part: str, needed: Mapping[str, type]) -> dict[str, Any]:
    params = {"showDefaults": "true"} if part else {}
    return collection.session.ask("GET", f"{collection.url}/schema{part}", needed, params=params)


def make_field(described: Mapping[str, Any], types: Mapping[str, str]) -> Field:
    flags = {flag: bool(described.get(name, False)) for name, flag in ATTRIBUTES.items()}
    return Field(
        name=described["name"],
        type=described["type"],
        kind=types.get(described["type"], ""),
        as_stored=bool(described.get("useDocValuesAsStored", True)),
        default=described.get("default"),
        **flags,
    )


def class_name(name: str) -> str:
    return name.rpartition(".")[2]
