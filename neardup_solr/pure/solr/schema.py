"""What a schema says of its fields, and which of them an update of a part would lose.

Solr rebuilds a document for an atomic update from what is stored or in docValues; what copyField
makes is made anew, from sources that are themselves rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

# Solr keeps these by its own means.
INTERNAL = frozenset({"_version_", "_root_", "_nest_path_", "_nest_parent_"})
NUMBERS = frozenset({"IntPointField", "LongPointField", "TrieIntField", "TrieLongField"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field, or a dynamic field where `name` is a pattern; `kind` is the class of its type."""

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
        """Whether Solr rebuilds the field when another one is updated.

        DocValues alone do for that only where they count as stored (useDocValuesAsStored).
        """
        return self.stored or (self.doc_values and self.as_stored)

    def problem(self, wanted: Field) -> str:
        """Why this field cannot serve where `wanted` is needed; "" where it can."""
        same_kind = self.kind == wanted.kind or {self.kind, wanted.kind} <= NUMBERS
        problems = {
            f"it is a {self.kind}, not a {wanted.kind}": not same_kind,
            "it is multi-valued": self.multi_valued and not wanted.multi_valued,
            "it takes one value only": wanted.multi_valued and not self.multi_valued,
            "it is not indexed": wanted.indexed and not self.indexed,
            "it has no docValues": wanted.doc_values and not self.doc_values,
            "it is not stored": not self.is_kept,
        }
        return next((problem for problem, holds in problems.items() if holds), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The fields of a collection; `key` is its unique key, "" where it has none.

    `types` are the classes of the field types; `copies` are the pairs of source and destination
    of its copyFields, patterns included.
    """

    key: str
    types: Mapping[str, str]
    fields: Mapping[str, Field]
    dynamic: Sequence[Field] = ()
    copies: Sequence[tuple[str, str]] = ()

    def field(self, name: str) -> Field | None:
        """The field of that name, else the dynamic one that gives it: the longest that matches."""
        if name in self.fields:
            return self.fields[name]
        matching = (one for one in self.dynamic if fnmatchcase(name, one.name))
        return max(matching, key=lambda one: len(one.name), default=None)

    def lost(self, used: Iterable[str]) -> dict[str, str]:
        """Those of the used fields that an atomic update would lose, each with the reason."""
        used = sorted(set(used) - INTERNAL)
        reasons = ((name, self._why_lost(name, used)) for name in used)
        return {name: reason for name, reason in reasons if reason}

    def _why_lost(self, name: str, used: Sequence[str]) -> str:
        found = self.field(name)
        if found is None or found.is_kept or not found.indexed:
            return ""
        sources = list(self._sources(name, used))
        if not sources:
            if found.doc_values:
                return "it is not stored, and its docValues do not count as stored"
            return "it is only indexed: neither stored nor in docValues"
        gone = [one for one in sources if not (self.field(one) or found).is_kept]
        return f"it is copied from {', '.join(gone)}, which is not kept itself" if gone else ""

    def _sources(self, name: str, used: Sequence[str]) -> Iterator[str]:
        """The fields that copyField fills this one from, as far as they can be known."""
        for source, destination in self.copies:
            if not fnmatchcase(name, destination):
                continue
            if "*" in destination:
                start, end = destination.split("*", 1)
                source = source.replace("*", name[len(start) : len(name) - len(end)], 1)
            if "*" in source:
                known = dict.fromkeys([*self.fields, *used])
                yield from (
                    one
                    for one in known
                    if fnmatchcase(one, source) and one != name and one not in INTERNAL
                )
            else:
                yield source
