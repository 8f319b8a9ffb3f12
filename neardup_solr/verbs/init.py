"""init: create a collection, add our fields to one that exists, or take them out again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from neardup_solr.argument_types import OneOrMore
from neardup_solr.checks import listed, require, require_positive
from neardup_solr.errors import DataError, SettingsError, SolrAnswerError, counted
from neardup_solr.files import solr_config
from neardup_solr.progress import LOG
from neardup_solr.settings import ALL_FIELDS
from neardup_solr.solr import admin, own_schema, schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import BANDS, NOTE, PLAIN, Names
from neardup_solr.solr.query import having
from neardup_solr.solr.schema import Schema
from neardup_solr.verbs.field_names import choose_names, clash
from neardup_solr.verbs.findings import Finding
from neardup_solr.verbs.lint import check_collection
from neardup_solr.verbs.lint.growth import Growth, estimate_growth
from neardup_solr.verbs.text_fields import require_texts

ATTEMPTS = 3  # if somebody else changes the schema at the same time


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """Changes that `init` made to a schema, or that remain to be made.

    `names`: field names of the collection; `fields`: fields to add or remove; `is_done`: True if
    the schema needs no further change; `is_mutable`: False if you have to edit the schema by hand;
    `xml`: the lines to add by hand; `beside`: collections with the same schema; `is_created`: True
    if the collection is new; `growth`: expected growth of the index by annotate; `dangers`:
    findings of `lint` for which annotate will refuse the collection.
    """

    names: Names
    fields: tuple[str, ...]
    is_done: bool
    is_mutable: bool
    xml: str = ""
    beside: tuple[str, ...] = ()
    is_created: bool = False
    growth: Growth | None = None
    dangers: tuple[Finding, ...] = ()


def prepare(
    collection: Collection,
    *,
    text: OneOrMore = (),
    prefix: str | None = None,
    shards: int | None = None,
    replicas: int | None = None,
    dry_run: bool = False,
    remove: bool = False,
) -> Preparation:
    """Create a collection with all neardup fields, or add those that are missing."""
    require_positive(shards=shards, replicas=replicas)
    texts = listed(text)
    reason = "`remove` removes all neardup fields"
    is_plain = prefix is None and not texts
    require(is_plain or not remove, reason, "omit `text` and `prefix`", code="arguments-conflict")
    choose_names(PLAIN, "", text=texts, prefix=prefix)  # refuses impossible names
    if remove:
        done = _remove(collection, dry_run=dry_run)
    elif admin.exists(collection):
        _require_sizes(collection, shards=shards, replicas=replicas)
        done = _add(collection, texts, prefix, dry_run=dry_run)
    else:
        if texts or prefix or dry_run:
            reason = f"the collection {collection.name!r} does not exist yet"
            step = "create it first, without `text`, `prefix` and `dry_run`"
            raise DataError(reason, step, code="collection-missing")
        done = _create(collection, shards=shards or 1, replicas=replicas or 1)
    if done.is_done and not dry_run:
        collection.take_names(collection.kept_names() if remove else done.names)
    return done


def _require_sizes(collection: Collection, *, shards: int | None, replicas: int | None) -> None:
    """Refuse other numbers of shards and replicas than a collection has, by SettingsError."""
    if shards is None and replicas is None:
        return
    existing = collection.cluster().shards
    if not existing and admin.is_cloud(collection):
        return
    has = len(existing) or 1, min((shard.size for shard in existing), default=1)
    if (shards or has[0], replicas or has[1]) != has:
        sizes = f"{counted(has[0], 'shard')} and {counted(has[1], 'replica')} per shard"
        reason = f"the collection {collection.name!r} already exists, with {sizes}"
        step = "omit `shards` and `replicas`, or create a different collection"
        raise SettingsError(reason, step, code="collection-exists")


def _create(collection: Collection, *, shards: int, replicas: int) -> Preparation:
    config = solr_config() / "conf"
    if not admin.create(collection, configset=config, shards=shards, replicas=replicas):
        return _add(collection, (), None, dry_run=False)  # somebody else was faster
    nodes = len(collection.cluster().nodes) or 1
    if nodes < replicas:
        LOG.warning(
            "%s: %d replicas of each shard on only %s: a node failure affects several of them",
            collection.url, replicas, counted(nodes, "node"),
        )  # fmt: skip
    collection.require_fields(ALL_FIELDS)
    return Preparation(
        names=collection.names, fields=(), is_done=True, is_mutable=True, is_created=True
    )


def _add(
    collection: Collection,
    text: Sequence[str],
    prefix: str | None,
    *,
    dry_run: bool,
    attempts: int = ATTEMPTS,
) -> Preparation:
    """Add what is missing, unless the schema is not managed or this is a dry run."""
    cluster = admin.cluster(collection)
    cluster.require_one()
    existing = schema.read_schema(collection)
    names = _names(collection, existing, text, prefix)
    _require_free(collection, existing, names)
    commands = _commands(collection, existing, names)
    added = tuple(command["name"] for command in commands.get("add-field", ()))
    planned = Preparation(
        names=names,
        fields=added,
        growth=estimate_growth(collection.with_names(names)) if added else None,
        dangers=check_collection(collection, text=text, prefix=prefix).dangers if commands else (),
        is_done=not commands,
        is_mutable=schema.is_mutable(collection) is not False,
        xml=own_schema.xml(commands),
        beside=cluster.beside,
    )
    if dry_run or not commands or not planned.is_mutable:
        return planned
    try:
        schema.change(collection, commands)
    except SolrAnswerError as error:
        if attempts == 1 or "already exists" not in error.reason:
            raise
        # Somebody else has just made the same change.
        return _add(collection, text, prefix, dry_run=False, attempts=attempts - 1)
    return replace(planned, is_done=True)


def _remove(collection: Collection, *, dry_run: bool) -> Preparation:
    """Remove what was added to the schema, unless documents use it."""
    cluster = admin.cluster(collection)
    cluster.require_one()
    existing, names = schema.read_schema(collection), collection.kept_names()
    types = {*own_schema.TYPES.values(), own_schema.NOTE_TYPE}
    has = {name: each.type for name, each in existing.fields.items()}
    ours = [name for name in (*own_schema.own_fields(names), NOTE) if has.get(name) in types]
    planned = Preparation(
        names=names,
        fields=tuple(ours),
        is_done=not ours,
        is_mutable=schema.is_mutable(collection) is not False,
        beside=cluster.beside,
    )
    if not ours:
        return planned
    if not dry_run:
        collection.commit()  # what is not seen yet has values, too
    fields = [name for name in ours if name != NOTE]
    if count := collection.count([having(*fields)]) if fields else 0:
        reason = f"{counted(count, 'document')} {'has' if count == 1 else 'have'} values"
        step = f"remove the values first: neardup strip {collection.place}"
        raise SettingsError(f"{reason} in neardup fields", step, code="data-at-risk")
    if dry_run:
        return planned
    if not planned.is_mutable:
        reason = f"the schema of {collection.name!r} cannot be changed over HTTP"
        step = f"delete these fields from it, then reload: {', '.join(ours)}"
        raise SettingsError(reason, step, code="collection-unfit")
    used = {kind for name, kind in has.items() if name not in ours}
    used |= {each.type for each in existing.dynamic}
    unused = sorted((types & existing.types.keys()) - used)
    schema.change(
        collection,
        {
            "delete-field": [{"name": name} for name in ours],
            "delete-field-type": [{"name": name} for name in unused],
        },
    )
    return replace(planned, is_done=True)


def _names(
    collection: Collection, existing: Schema, text: Sequence[str], prefix: str | None
) -> Names:
    if not existing.key:
        reason = f"the collection {collection.name!r} has no unique key"
        step = "add one to its schema, and index the documents again"
        raise SettingsError(reason, step, code="collection-unfit")
    kept = collection.kept_names()
    names = choose_names(kept, existing.key, text=text, prefix=prefix)
    if NOTE in existing.fields and names.prefix != kept.prefix:
        reason = f"the neardup fields already exist, with the prefix {kept.prefix!r}"
        step = f"remove them first: neardup init {collection.place} --remove"
        raise SettingsError(reason, step, code="schema-conflict")
    require_texts(collection, existing, names.text)
    is_new = NOTE not in existing.fields and names.of(BANDS) not in existing.fields
    if is_new and not names.is_plain:
        names = replace(names, has_numeric_bands=True)
    return names


def _require_free(collection: Collection, existing: Schema, names: Names) -> None:
    """Refuse names of ours that the collection has for something else."""
    remedy = "choose a `prefix` for the neardup fields, such as nd_"
    wanted = own_schema.own_fields(names)
    used = admin.used_fields(collection)
    if used is None:
        shared = wanted.keys() & existing.fields.keys()
        used = frozenset(name for name in shared if collection.count([having(name)]))
    for name, needed in wanted.items():
        if problem := clash(name, needed, existing, names, used):
            reason = f"the field {name!r} already exists: {problem}"
            raise SettingsError(reason, remedy, code="schema-conflict")


def _commands(collection: Collection, existing: Schema, names: Names) -> dict[str, Any]:
    """List what the Schema API has to do, which is nothing if no field is missing."""
    ours = own_schema.own_fields(names)
    missing = [each for name, each in ours.items() if name not in existing.fields]
    fields = own_schema.definitions(missing)
    commands: dict[str, Any] = {}
    if not names.is_plain and NOTE not in existing.fields:
        fields.append(own_schema.note(names))
    needed = {each["type"] for each in fields} - existing.types.keys()
    if types := [each for each in own_schema.own_types() if each["name"] in needed]:
        commands["add-field-type"] = types
    if fields:
        commands["add-field"] = fields
    if NOTE in existing.fields and collection.kept_names() != names:
        commands["replace-field"] = own_schema.note(names)
    return commands
