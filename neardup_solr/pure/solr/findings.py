"""What is known of a collection that is there, and what was found wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup_solr.pure.solr.names import Names
from neardup_solr.pure.solr.schema import Field, Schema

DANGER, WARNING, NOTE = "danger", "warning", "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong with a collection: how grave, what it is about, why, and the remedy.

    `level` is "danger" (documents would lose something, or cannot be written), "warning" or
    "note"; `rule` is a short name that stays the same; `about` is a field, a handler or the like.
    """

    level: str
    rule: str
    about: str
    reason: str
    remedy: str


def clash(name: str, needed: Field, schema: Schema, names: Names, used: Collection[str]) -> str:
    """Why a name of ours cannot be used in a collection with these used fields; "" where it can."""
    there = schema.fields.get(name)
    if there is not None and (problem := there.problem(needed)):
        return problem
    # Without that field none of the values can be ours.
    if name in used and names.of("signature_settings") not in schema.fields:
        return (
            "documents have it, with other values"
            if there
            else "documents have it as a dynamic field"
        )
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of the collection `name`; None where its Solr does not tell.

    `used` are the fields that its documents have; `chain` the classes of its default update chain;
    `select` the parameters that its /select has by configuration, as "appends" and so on;
    `children` counts nested documents, `placed` those of them whose place among their relatives is
    known (_nest_path_); `alias_of` are the collections behind an
    alias; `beside` those that share the schema; `missing` the fields of ours that are not there.
    """

    schema: Schema
    names: Names
    wanted: Mapping[str, Field]
    documents: int
    name: str = "NAME"
    used: frozenset[str] | None = None
    children: int | None = None
    placed: int = 0
    is_mutable: bool | None = None
    has_log: bool | None = None
    takes_clauses: bool | None = None
    chain: Sequence[str] | None = None
    select: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    version: str = ""
    alias_of: Sequence[str] = ()
    beside: Sequence[str] = ()
    is_read_only: bool = False
    is_local: bool = True
    is_encrypted: bool = True
    is_open: bool = False
