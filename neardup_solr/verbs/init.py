"""init: a collection with all our fields, created or prepared; and our fields out of it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.files import solr_config
from neardup_solr.records import NOTHING
from neardup_solr.settings import ALL_FIELDS
from neardup_solr.solr import admin, probe, schema
from neardup_solr.solr.collection import NATIVE_PROPERTIES, Collection
from neardup_solr.solr.names import NOTE, Names
from neardup_solr.solr.schema import Schema
from neardup_solr.verbs.annotate import guard
from neardup_solr.verbs.connect import require_named
from neardup_solr.verbs.lint import chosen
from neardup_solr.verbs.lint.rules import clash

ATTEMPTS = 3  # where somebody else changes the schema at the same time


def init(
    collection: Collection, *, name: str | None = None, shards: int = 1, native: bool = False
) -> bool:
    """Create the core or collection with all fields; True if it was not there before.

    One that is there already gets what it lacks, as by `prepare`. `name` is what the user calls
    it, where the address may name another one. With `native` Solr also computes MinHashes of its
    own from every text, for clients that do not use this package.

    Raises SettingsError where it does, where the core is there without `native`, or as `prepare`
    does; SchemaError where fields are missing in a schema that is not managed; SolrError where the
    server refuses.
    """
    if name is not None:
        require_named(collection, name)
    created = not admin.exists(collection) and admin.create(
        collection,
        configset=solr_config() / "conf",
        shards=shards,
        properties=NATIVE_PROPERTIES if native else NOTHING,
    )
    if not created:
        collection = replace(collection, names=prepare(collection).names)
    collection.require_fields(ALL_FIELDS)
    if native and not collection.has_native():
        raise SettingsError(
            f"the collection {collection.name!r} is there, without native MinHashes",
            "create another one, or see docs/native.md for one of yours",
        )
    return created


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What was done to a schema, or is to be done.

    `names` are what the collection calls its fields; `fields` are those to add or to remove, none
    where all is as it should be; `is_done` says whether the schema is so now. `xml` is what was
    added or is to be; where `is_mutable` does not hold, it is to be pasted into the schema by hand.
    `beside` are the collections that share it.
    """

    names: Names
    fields: tuple[str, ...]
    is_done: bool
    is_mutable: bool
    xml: str = ""
    beside: tuple[str, ...] = ()


def prepare(
    collection: Collection,
    *,
    text: Sequence[str] = (),
    prefix: str | None = None,
    dry_run: bool = False,
) -> Preparation:
    """Add what is missing of our fields to the schema of a collection that is there.

    Nothing of the collection's own is changed, and no document. The unique key is the schema's;
    `text` names the fields that hold the text, `prefix` goes before the names of our fields. These
    names are kept with the collection, so that no other command needs them. A dry run, and a
    schema that is not managed, are left as they are.

    Raises SettingsError where a field is there under one of our names and cannot serve, where it
    was prepared with another prefix, or where the text's field is unknown; CoreMissing where there
    is no such collection; SolrError where Solr refuses.
    """
    for attempt in range(ATTEMPTS):
        found = schema.described(collection)
        names = _names(collection, found, text, prefix)
        _require_free(collection, found, names)
        commands = _commands(collection, found, names)
        planned = Preparation(
            names=names,
            fields=tuple(one["name"] for one in commands.get("add-field", ())),
            is_done=not commands,
            is_mutable=schema.is_mutable(collection),
            xml=schema.xml(commands),
            beside=probe.beside(probe.cluster(collection), collection.name),
        )
        if dry_run or not commands or not planned.is_mutable:
            return planned
        if _changed(collection, commands, last=attempt == ATTEMPTS - 1):
            break
    return replace(planned, is_done=True)


def unprepare(collection: Collection, *, dry_run: bool = False) -> Preparation:
    """Take our fields, and nothing else, out of a schema again.

    Only fields of the types that `prepare` adds are taken: one that was there before stays.

    Raises SettingsError where documents have values in them or the schema is not managed, SolrError
    where Solr refuses, as where a copyField of yours names one of them.
    """
    found, names = schema.described(collection), collection.kept_names()
    types = {*schema.TYPES.values(), schema.NOTE_TYPE}
    candidates = [*schema.wanted(names), NOTE]
    ours = [name for name in candidates if name in found.fields
            and found.fields[name].type in types]  # fmt: skip
    planned = Preparation(
        names=names,
        fields=tuple(ours),
        is_done=not ours,
        is_mutable=schema.is_mutable(collection),
        beside=probe.beside(probe.cluster(collection), collection.name),
    )
    if not ours:
        return planned
    if not dry_run:
        collection.commit()  # what is not seen yet has values, too
    _require_unused(collection, [name for name in ours if name != NOTE])
    if dry_run:
        return planned
    if not planned.is_mutable:
        reason = f"the schema of {collection.name!r} cannot be changed over HTTP"
        raise SettingsError(reason, f"delete there, then reload: {', '.join(ours)}")
    others = {one.type for name, one in found.fields.items() if name not in ours}
    others |= {one.type for one in found.dynamic}
    unused = sorted((types & found.types.keys()) - others)
    schema.change(
        collection,
        {
            "delete-field": [{"name": name} for name in ours],
            "delete-field-type": [{"name": name} for name in unused],
        },
    )
    return replace(planned, is_done=True)


def _names(collection: Collection, found: Schema, text: Sequence[str], prefix: str | None) -> Names:
    if not found.key:
        reason = f"the collection {collection.name!r} has no unique key"
        raise SettingsError(reason, "add one to its schema, and index the documents again")
    known = collection.kept_names()
    names = chosen(known, found.key, text=text, prefix=prefix)
    if NOTE in found.fields and names.prefix != known.prefix:
        reason = f"our fields are there already, with the prefix {known.prefix!r}"
        raise SettingsError(reason, f"take them out first: neardup init {collection.name} --remove")
    guard.require_texts(found, names.text, known)
    return names


def _require_free(collection: Collection, found: Schema, names: Names) -> None:
    """Refuse names of ours that the collection has for something else."""
    remedy = "choose a prefix for our fields, such as --prefix nd_"
    wanted = schema.wanted(names)
    used = probe.used_fields(collection)
    if used is None:
        there = wanted.keys() & found.fields.keys()
        used = frozenset(name for name in there if collection.count([f"{name}:[* TO *]"]))
    for name, needed in wanted.items():
        if problem := clash(name, needed, found, names, used):
            raise SettingsError(f"the field {name!r} is there already: {problem}", remedy)


def _require_unused(collection: Collection, fields: Sequence[str]) -> None:
    any_value = " OR ".join(f"{name}:[* TO *]" for name in fields)
    count = collection.count([any_value]) if fields else 0
    if count:
        raise SettingsError(
            f"{count:,} documents have values in our fields",
            f"take them out first: neardup strip {collection.name}",
        )


def _commands(collection: Collection, found: Schema, names: Names) -> dict[str, Any]:
    """What the Schema API has to do; nothing where all is there."""
    missing = [one for name, one in schema.wanted(names).items() if name not in found.fields]
    fields = schema.definitions(missing)
    types = [each for each in schema.own_types() if each["name"] in {one.type for one in missing}]
    commands: dict[str, Any] = {}
    if not names.is_plain and NOTE not in found.fields:
        fields.append(schema.note(names))
        types.append(schema.note_type())
    elif NOTE in found.fields and collection.kept_names() != names:
        commands["replace-field"] = schema.note(names)
    types = [one for one in types if one["name"] not in found.types]
    return ({"add-field-type": types} if types else {}) | (
        {"add-field": fields} if fields else {}
    ) | commands  # fmt: skip


def _changed(collection: Collection, commands: Mapping[str, Any], *, last: bool) -> bool:
    """Whether the schema was changed; not where somebody has just changed it the same way."""
    try:
        schema.change(collection, commands)
    except SolrAnswerError as error:
        if last or "already exists" not in error.reason:
            raise
        return False
    return True
