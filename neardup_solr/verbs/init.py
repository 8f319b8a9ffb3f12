"""init: a collection with all our fields, created or prepared; and our fields out of it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from neardup_solr.arguments import OneOrMore, checked, listed, require, require_positive
from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.files import solr_config
from neardup_solr.records import NOTHING
from neardup_solr.settings import ALL_FIELDS
from neardup_solr.solr import admin, probe, schema
from neardup_solr.solr.collection import NATIVE_PROPERTIES, Collection
from neardup_solr.solr.names import NOTE, Names
from neardup_solr.solr.schema import Schema
from neardup_solr.verbs.annotate import guard
from neardup_solr.verbs.lint import chosen
from neardup_solr.verbs.lint.rules import clash

ATTEMPTS = 3  # where somebody else changes the schema at the same time


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What was done to a schema, or is to be done.

    `names` are what the collection calls its fields; `fields` are those to add or to remove, none
    where all is as it should be; `is_done` says whether the schema is so now. `xml` is what was
    added or is to be; where `is_mutable` does not hold, it is to be pasted into the schema by hand.
    `beside` are the collections that share it. `is_created` says whether the collection was not
    there before.
    """

    names: Names
    fields: tuple[str, ...]
    is_done: bool
    is_mutable: bool
    xml: str = ""
    beside: tuple[str, ...] = ()
    is_created: bool = False


@checked
def init(
    collection: Collection,
    *,
    text: OneOrMore = (),
    prefix: str | None = None,
    native: bool = False,
    shards: int = 1,
    dry_run: bool = False,
    remove: bool = False,
) -> Preparation:
    """Create a collection with all fields, or add what is missing of them to one that is there.

    Of one that is there nothing of its own is changed, and no document. The unique key is the
    schema's; `text` names the fields that hold the text (several are joined by line breaks),
    `prefix` goes before the names of our fields. These names are kept with the collection, so that
    nothing else has to name them. A dry run, and a schema that is not managed, are left as they
    are. With `native` Solr also computes MinHashes of its own from every text, for clients that do
    not use this package. In SolrCloud a new collection gets so many `shards`.

    With `remove` our fields, and nothing else, are taken out of the schema again: only fields of
    the types that this adds; one that was there before stays.

    Raises SettingsError if a field is there under one of our names and cannot serve, if it was
    prepared with another prefix, if the text's field is unknown, or if documents have values in
    fields that are to be removed; SchemaError if fields are missing in a schema that is not
    managed; SolrError if the server refuses, as if a copyField of yours names a field to remove.
    """
    require_positive(shards=shards)
    texts = listed(text)
    if remove:
        odd = native or prefix is not None or bool(texts)
        require(not odd, "`remove` takes out all of our fields", "leave out the other arguments")
        return _removed(collection, dry_run=dry_run)
    if admin.exists(collection):
        return _added(collection, texts, prefix, native=native, dry_run=dry_run)
    require(
        not (texts or prefix or dry_run),
        f"there is no collection {collection.name!r} yet",
        "create it first, without `text`, `prefix` and `dry_run`",
    )
    return _created(collection, shards=shards, native=native)


def _created(collection: Collection, *, shards: int, native: bool) -> Preparation:
    is_created = admin.create(
        collection,
        configset=solr_config() / "conf",
        shards=shards,
        properties=NATIVE_PROPERTIES if native else NOTHING,
    )
    if not is_created:  # somebody else was faster
        return _added(collection, (), None, native=native, dry_run=False)
    collection.require_fields(ALL_FIELDS)
    _require_native(collection, native)
    return Preparation(
        names=collection.names, fields=(), is_done=True, is_mutable=True, is_created=True
    )


def _added(
    collection: Collection,
    text: Sequence[str],
    prefix: str | None,
    *,
    native: bool,
    dry_run: bool,
) -> Preparation:
    done = _prepared(collection, text, prefix, dry_run=dry_run)
    _require_native(collection, native)
    return done


def _require_native(collection: Collection, native: bool) -> None:
    if native and not collection.has_native():
        raise SettingsError(
            f"the collection {collection.name!r} is there, without native MinHashes",
            "create another one, or see docs/native.md for one of yours",
        )


def _prepared(
    collection: Collection, text: Sequence[str], prefix: str | None, *, dry_run: bool
) -> Preparation:
    """What is missing is added, unless the schema is not managed or only the plan is wanted."""
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


def _removed(collection: Collection, *, dry_run: bool) -> Preparation:
    """What was added is taken out of the schema, unless documents use it."""
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
        raise SettingsError(
            reason, f"take them out first: neardup init -c {collection.name} --remove"
        )
    guard.require_texts(found, names.text, known)
    return names


def _require_free(collection: Collection, found: Schema, names: Names) -> None:
    """Refuse names of ours that the collection has for something else."""
    remedy = "choose a prefix for our fields: `prefix`, such as nd_"
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
            f"take them out first: neardup strip -c {collection.name}",
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
