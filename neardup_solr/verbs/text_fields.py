"""Fields of a collection that hold its texts, or may do so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from neardup_solr.errors import SettingsError
from neardup_solr.regex import regex
from neardup_solr.solr import admin, own_schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import OWN, Names
from neardup_solr.solr.schema import Field, Schema

SHOWN = 8  # fields that may hold the text, in a message
_VALUES = regex(
    "(Trie)?(Int|Long|Float|Double|Date)(Point|Range)?Field|(Bool|Binary|RandomSort|Rank|Nest"
    "|DenseVector|Point|LatLon|Spatial|BBox|Rpt|Enum|Currency|Abstract).*"
)  # classes of types that hold no text


def text_problem(field: Field | None) -> str:
    """Say why texts cannot be read from a field, or "" if they can."""
    if field is None:
        return "this field does not exist"
    if not field.is_kept:
        return "it cannot be read back: it is not stored and has no docValues"
    return f"its type is {field.kind}, not text" if _VALUES.fullmatch(field.kind) else ""


def suggest_text_fields(schema: Schema, ours: Mapping[str, Field], used: Iterable[str] = ()) -> str:
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


def require_texts(collection: Collection, existing: Schema, fields: Iterable[str]) -> None:
    """Refuse fields that no texts can be read from, by a SettingsError that suggests others.

    Our fields are never suggested.
    """
    for name in fields:
        if problem := text_problem(existing.field(name)):
            used = admin.used_fields(collection) or ()
            next_step = suggest_text_fields(existing, own_schema.own_fields(collection.names), used)
            reason = f"the text field {name!r}: {problem}"
            raise SettingsError(reason, next_step, code="field-missing")
