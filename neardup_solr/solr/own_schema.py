"""The fields and types that we add to a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from neardup_solr.files import solr_config
from neardup_solr.solr.names import BANDS, NOTE, OWN, Names
from neardup_solr.solr.schema import ATTRIBUTES, Field, class_name, make_field

NOTE_TYPE = "neardup_note"
TYPES = {  # of the fields we add
    "StrField": "neardup_string",
    "IntPointField": "neardup_int",
    "LongPointField": "neardup_long",
}
# Commands of the Schema API that add something, and its element in a schema.
_ELEMENTS = {"add-field-type": "fieldType", "add-field": "field", "replace-field": "field"}


def own_fields(names: Names) -> dict[str, Field]:
    """The fields that we need in a collection, by their names in it, as our schema has them.

    Numeric bands are in docValues instead of stored, which takes less.
    """
    root = ElementTree.parse(solr_config() / "conf" / "managed-schema.xml").getroot()
    types = {
        kind.attrib["name"]: class_name(kind.attrib["class"]) for kind in root.iter("fieldType")
    }
    ours = {field.attrib["name"]: field.attrib for field in root.iter("field")}
    flags = {"true": True, "false": False}
    fields: dict[str, Field] = {}
    for name in OWN:
        described: dict[str, Any] = {key: flags.get(v, v) for key, v in ours[name].items()}
        kind = types[described["type"]]
        if name == BANDS and names.has_numeric_bands:
            kind = "LongPointField"
            described |= {"stored": False, "docValues": True}
        described |= {"name": names.of(name), "type": TYPES[kind]}
        fields[names.of(name)] = make_field(described, {TYPES[kind]: kind})
    return fields


def note(names: Names) -> dict[str, Any]:
    """The field that keeps the names, as the Schema API takes it."""
    off = dict.fromkeys(ATTRIBUTES, False)
    return {"name": NOTE, "type": NOTE_TYPE, "default": names.to_note(), **off}


def own_types() -> list[dict[str, Any]]:
    """The types of the fields that we add: exact terms, numbers, and that of the note."""
    exact = {"sortMissingLast": True, "omitNorms": True, "omitTermFreqAndPositions": True}
    shared = {"uninvertible": False, "useDocValuesAsStored": True}
    types: list[dict[str, Any]] = [
        {"name": name, "class": f"solr.{kind}"} | (exact if kind == "StrField" else {}) | shared
        for kind, name in TYPES.items()
    ]
    # That of the note never has values.
    none = {"docValues": False, "stored": False, "indexed": False}
    return [*types, {"name": NOTE_TYPE, "class": "solr.StrField", **none}]


def xml(commands: Mapping[str, Any]) -> str:
    """Spell what these commands add, as lines to paste into a schema."""
    lines = []
    for command, tag in _ELEMENTS.items():
        added = commands.get(command, ())
        for described in [added] if isinstance(added, dict) else added:
            element = ElementTree.Element(tag)
            for name, value in described.items():
                element.set(name, str(value).lower() if isinstance(value, bool) else str(value))
            lines.append("  " + ElementTree.tostring(element, "unicode"))
    return "\n".join(lines)


def definitions(fields: Sequence[Field]) -> list[dict[str, Any]]:
    """Spell fields as the Schema API takes them."""
    return [
        {"name": field.name, "type": field.type}
        | {name: getattr(field, flag) for name, flag in ATTRIBUTES.items()}
        for field in fields
    ]
