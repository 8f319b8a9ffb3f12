"""The rules of lint on facts, and what a schema and a configuration say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from neardup_solr.solr.cloud import SolrCluster
from neardup_solr.solr.names import Names
from neardup_solr.solr.schema import Field, Schema
from neardup_solr.solr.update_chain import handler_parameters, list_processors
from neardup_solr.verbs.findings import DANGER, NOTE, WARNING
from neardup_solr.verbs.lint.facts import CollectionFacts
from neardup_solr.verbs.lint.rules import findings
from neardup_solr.verbs.solr_versions import is_untried
from neardup_solr.verbs.text_fields import suggest_text_fields


def made(name: str, **changes: Any) -> Field:
    """A stored and indexed string field."""
    plain = Field(
        name=name, type="string", kind="StrField", indexed=True, stored=True, doc_values=False,
        multi_valued=False,
    )  # fmt: skip
    return replace(plain, **changes)


def schema(*fields: Field, **more: Any) -> Schema:
    """A schema with a key, a version and these fields."""
    key = made("sku", doc_values=True)
    version = made("_version_", kind="LongPointField", doc_values=True)
    return Schema(key="sku", types={}, fields={one.name: one for one in (key, version, *fields)},
                  **more)  # fmt: skip


FINE = CollectionFacts(
    schema=schema(made("body"), made("nd_md5_hash")),
    names=Names(id="sku", text=("body",), prefix="nd_"),
    wanted={"nd_md5_hash": made("nd_md5_hash")},
    documents=3,
    used=frozenset({"sku", "body"}),
    children=0,
    is_mutable=True,
    has_log=True,
    takes_clauses=True,
    chain=(),
    versions=("9.10.1",),
)


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    """No rule cries wolf."""
    assert findings(FINE) == ()


@pytest.mark.parametrize(
    ("changed", "level", "rule"),
    [
        ({"schema": replace(FINE.schema, key="")}, DANGER, "key"),
        ({"has_log": False}, DANGER, "update-log"),
        ({"has_log": None}, WARNING, "update-log"),
        ({"children": 1}, DANGER, "children"),
        ({"children": None}, DANGER, "children"),
        ({"children": 1, "placed": 1}, NOTE, "children"),
        ({"chain": ("TimestampUpdateProcessorFactory", "DistributedUpdateProcessorFactory")},
         DANGER, "update-chain"),
        ({"chain": ("DistributedUpdateProcessorFactory", "RegexReplaceProcessorFactory")},
         DANGER, "update-chain"),
        ({"select": {"invariants": {"rows": "5"}}}, DANGER, "select"),
        ({"select": {"appends": {"fq": "a:b"}}}, DANGER, "select"),
        ({"takes_clauses": False}, WARNING, "clauses"),
        ({"is_mutable": False}, NOTE, "schema"),
        ({"cluster": SolrCluster(alias_of=("a", "b"))}, DANGER, "alias"),
        ({"cluster": SolrCluster(misplacing="the router 'implicit'")}, DANGER, "router"),
        ({"cluster": SolrCluster(is_read_only=True)}, DANGER, "read-only"),
        ({"cluster": SolrCluster(beside=("b",))}, NOTE, "shared"),
        ({"versions": ("9.10.0",)}, NOTE, "version"),
        ({"versions": ("8.11.4",)}, NOTE, "version"),
        ({"versions": ("9.4.1",)}, NOTE, "version"),
        ({"versions": ("7.7.3",)}, WARNING, "version"),
        ({"versions": ("11.0.0",)}, NOTE, "version"),
        ({"versions": ()}, NOTE, "version"),
        ({"versions": ("9.10.1", "9.11.0")}, WARNING, "version"),
        ({"versions": ("10.1.0",)}, NOTE, "version"),
        ({"is_open": True, "is_local": False}, WARNING, "access"),
        ({"is_encrypted": False, "is_local": False}, WARNING, "access"),
        ({"names": Names(id="sku", text=("nope",), prefix="nd_")}, DANGER, "text"),
        ({"used": frozenset({"gone"})}, DANGER, "unknown-field"),
    ],
)  # fmt: skip
def test_each_rule(changed: dict[str, Any], level: str, rule: str) -> None:
    """One fact that changes is one finding, with a remedy."""
    (found,) = findings(replace(FINE, **changed))
    assert (found.level, found.rule) == (level, rule)
    assert found.remedy


@pytest.mark.parametrize(
    "changed",
    [
        {"cluster": SolrCluster(alias_of=("a",))},
        {"is_open": True},
        {"is_encrypted": False},
        {"versions": ("9.11.0",)},
        {"versions": ("10.0.0",)},
        {"select": {"defaults": {"rows": "5"}, "invariants": {"wt": "json", "echoParams": "none"}}},
        {"chain": ("LogUpdateProcessorFactory", "UUIDUpdateProcessorFactory",
                   "DistributedUpdateProcessorFactory", "RunUpdateProcessorFactory")},
        {"takes_clauses": None},
    ],
)  # fmt: skip
def test_what_is_no_finding(changed: dict[str, Any]) -> None:
    """What is harmless, or not known and not grave."""
    assert findings(replace(FINE, **changed)) == ()


@pytest.mark.parametrize(
    ("version", "untried"),
    [("", False), ("8.10.1", True), ("8.11.0", False), ("9.10.1", False),
     ("9.11.0-SNAPSHOT", False), ("10.0.0", False), ("10.1.0", True),
     ("8.11.4", False)],
)  # fmt: skip
def test_versions_that_nobody_has_tried(version: str, untried: bool) -> None:
    """They are those of docs/versions.md; an unknown one is not held against a Solr."""
    assert is_untried(version) is untried


def test_the_gravest_come_first() -> None:
    """A danger before a warning before a note."""
    found = findings(
        replace(FINE, cluster=SolrCluster(beside=("b",)), versions=("7.0.0",), has_log=False)
    )
    assert [one.level for one in found] == [DANGER, WARNING, NOTE]


def test_shut_doors_leave_only_dynamic_fields_in_doubt() -> None:
    """Where nobody tells which fields documents have, those of the schema are looked at."""
    bare = {"stored": False}
    doubtful = schema(
        made("body"), made("nd_md5_hash"), made("bare", **bare),
        dynamic=[made("*_s"), made("*_bare", **bare)],
    )  # fmt: skip
    found = findings(replace(FINE, schema=doubtful, used=None))
    assert [(one.level, one.about) for one in found] == [(DANGER, "bare"), (WARNING, "*_bare")]


def test_the_longest_dynamic_field_gives_a_field() -> None:
    """As Solr chooses."""
    found = schema(dynamic=[made("*"), made("*_txt_en"), made("*_en")])
    given = [found.field(name) for name in ("a_txt_en", "a_en", "a", "sku")]
    assert [one.name for one in given if one] == ["*_txt_en", "*_en", "*", "sku"]


def test_sources_of_copies_with_patterns() -> None:
    """All of them have to be kept, or the copy is lost."""
    bare = {"stored": False}
    fields = schema(
        made("a_t"), made("b_t", **bare), made("a_c", **bare), made("b_c", **bare),
        made("all", **bare), copies=[("*_t", "*_c"), ("*_t", "all")],
    )  # fmt: skip
    assert fields.lost(["a_t", "a_c"]).keys() == set()
    assert fields.lost(["a_t", "b_t", "a_c", "b_c", "all"]).keys() == {"b_t", "b_c", "all"}


def test_fields_that_may_hold_the_text_are_named() -> None:
    """Analysed ones first; neither the key, nor what cannot be read back, nor Solr's and ours."""
    fields = schema(
        made("a_string", kind="StrField"), made("b_text", kind="TextField"),
        made("c_text", kind="TextField", stored=False), made("_text_", kind="TextField"),
        made("count", kind="IntPointField"), made("md5_hash", kind="StrField"),
    )  # fmt: skip
    ours = {"md5_hash": made("md5_hash", kind="StrField")}
    assert suggest_text_fields(fields, ours).endswith("that contains text: b_text or a_string")
    assert suggest_text_fields(schema(), {}).endswith("that contains text")
    dynamic = schema(dynamic=[made("*_txt", kind="TextField")])
    assert suggest_text_fields(dynamic, {}, {"body_txt"}).endswith("that contains text: body_txt")


def test_no_command_names_a_text_field_that_is_none() -> None:
    """The user has to put one there: init refuses what lint has just found to be wrong."""
    wrong = replace(FINE, names=replace(FINE.names, text=("boby",)), wanted={"nd_x": made("nd_x")})
    danger, missing = findings(wrong)
    assert danger.remedy.endswith("that contains text: body or nd_md5_hash")
    assert missing.remedy.startswith("neardup init -c NAME --text-field FIELD ")


def test_chains_and_parameters_of_a_configuration() -> None:
    """An invariant wins over a default, a handler's own over initParams; names are looked up."""
    config = {
        "updateRequestProcessorChain": [
            {"name": "a", "default": "true", "": [{"class": "solr.RunUpdateProcessorFactory"}]},
            {"name": "b", "processor": "uuid, x", "post-processor": "y",
             "": [{"class": "solr.LogUpdateProcessorFactory"},
                  {"class": "solr.RunUpdateProcessorFactory"}]},
        ],
        "updateProcessor": {"uuid": {"name": "uuid", "class": "solr.UUIDUpdateProcessorFactory"}},
        "initParams": [{"path": "/update/**,/x", "defaults": {"update.chain": "a", "k": "init"}}],
        "requestHandler": {"/update": {"defaults": {"k": "own"}, "invariants": {}}},
    }  # fmt: skip
    assert handler_parameters(config, "/update")["defaults"] == {"update.chain": "a", "k": "own"}
    assert handler_parameters(config, "/updates")["defaults"] == {}
    assert list_processors(config) == [
        "DistributedUpdateProcessorFactory", "RunUpdateProcessorFactory"
    ]  # fmt: skip
    config["requestHandler"] = {"/update": {"invariants": {"update.chain": "b"}}}
    assert list_processors(config) == [
        "LogUpdateProcessorFactory", "UUIDUpdateProcessorFactory", "x",
        "DistributedUpdateProcessorFactory", "y", "RunUpdateProcessorFactory",
    ]  # fmt: skip
    config["requestHandler"] = {"/update": {"defaults": {"processor": "uuid"}}}
    assert list_processors(config) == [
        "UUIDUpdateProcessorFactory", "DistributedUpdateProcessorFactory",
        "RunUpdateProcessorFactory",
    ]  # fmt: skip
    assert list_processors({"requestHandler": config["requestHandler"]}) == [
        "uuid", "DistributedUpdateProcessorFactory"
    ]  # fmt: skip
    unnamed = {"updateRequestProcessorChain": [{"": [{"class": "a.B"}]}]}
    assert list_processors(unnamed) == ["B", "DistributedUpdateProcessorFactory"]
    assert list_processors({}) == []
