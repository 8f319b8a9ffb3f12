"""What doctor makes of counts: each finding where it is due, and none where all is well."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from neardup_solr import Settings
from neardup_solr.types import Diagnosis
from tests.entries import entry_of

SETTINGS = Settings()
NO_MD5 = Settings(fields=SETTINGS.fields - {"md5_hash"})
TERMS = {"content_ng": "shingles", "content_sg": "signatures", "content_bands": "bands"}


def stored(text: str, settings: Settings = SETTINGS) -> dict[str, object]:
    """A document as Solr gives it back: lists as sorted sets, nothing for what is empty."""
    made = entry_of(text, settings)
    values: dict[str, object] = {"id": "1", "content": text, "neardup_rank": 3}
    for name in settings.fields - {"content"}:
        value = getattr(made, TERMS.get(name, name))
        values[name] = sorted(set(value)) if isinstance(value, tuple) else value
    return {name: value for name, value in values.items() if value not in ([], "")}


@tried(deadline=None)  # the first one compiles the kernel
@given(text=st.text(st.characters(codec="utf-8")))
def test_fields_of_the_text_are_well(text: str) -> None:
    """No document whose fields were made of its text is stale or damaged, marks or not."""
    sampled = Diagnosis().sample
    sampled.add(stored(text), SETTINGS)
    assert (sampled.documents, sampled.stale, sampled.damaged) == (1, [], [])


@pytest.mark.parametrize("name", sorted(SETTINGS.fields - {"content"}))
def test_a_field_that_is_gone_is_noticed(name: str) -> None:
    """Each field counts: without its MD5 a document is stale, without another one damaged."""
    document = stored("one two three four five")
    del document[name]
    sampled = Diagnosis().sample
    sampled.add(document, SETTINGS)
    assert (sampled.stale, sampled.damaged) == ((["1"], []) if name == "md5_hash" else ([], ["1"]))


def test_another_text_is_stale_even_where_no_md5_is_kept() -> None:
    """What was annotated is not what is there."""
    sampled = Diagnosis().sample
    for settings in (SETTINGS, NO_MD5):
        sampled.add(stored("one two three", settings) | {"content": "four five six"}, settings)
    assert (sampled.stale, sampled.damaged) == (["1", "1"], [])


@pytest.mark.parametrize("text", ["<p>one", 'a <br/> b <a href="x">', "<DIV class='y'>"])
def test_html_is_noticed(text: str) -> None:
    """Tags are; comparisons and lone brackets are not."""
    sampled = Diagnosis().sample
    sampled.add(stored(text), SETTINGS)
    sampled.add(stored("1 < 2 > 0 <unknown> a<b"), SETTINGS)
    assert sampled.html == ["1"]


def sample(**problems: Any) -> Any:
    """A sample with these problems."""
    return replace(Diagnosis().sample, **problems)


WELL = replace(Diagnosis().health, heap=0.5, disk=1 << 40, deleted=0.1, replaying=False)


def server(**changed: Any) -> Diagnosis:
    """A collection that is well, on a server that is but for these facts."""
    return Diagnosis(place="-c c", health=replace(WELL, **changed))


CASES: dict[str, Diagnosis] = {
    "mixed": replace(server(), settings={"one": 1, "other": 2}),
    "missing": replace(server(), missing=1),
    "stale": replace(server(), sample=sample(documents=9, stale=["1"])),
    "damaged": replace(server(), sample=sample(documents=9, damaged=["1"])),
    "html": replace(server(), sample=sample(documents=9, html=["1"])),
    "zookeeper": server(without_keeper=True),
    "replicas": server(inactive=("shard1/core_node2 (down)",)),
    "replaying": server(replaying=True),
    "disk": server(disk=1 << 20),
    "version": server(versions=("9.10.1", "9.11.0")),
    "heap": server(heap=0.99),
    "deleted": server(deleted=0.6),
    "unknown": server(heap=None),
}


@pytest.mark.parametrize(("rule", "counted"), CASES.items(), ids=CASES)
def test_each_finding_has_its_cause(rule: str, counted: Diagnosis) -> None:
    """One cause gives one finding, with something to do."""
    (found,) = counted.findings
    assert found.rule == rule
    assert found.remedy


def test_nothing_is_found_where_all_is_well() -> None:
    """Not where the server tells that all is well."""
    well = replace(server(), settings={"one": 9}, sample=sample(documents=99, html=["1"]))
    assert well.findings == ()


def test_what_a_server_does_not_tell_is_unknown() -> None:
    """It is named, and is neither a problem nor nothing."""
    [found] = Diagnosis(place="-c c").findings
    assert (found.level, found.rule) == ("note", "unknown")
    assert len(found.about.split(", ")) == len(Diagnosis().health.unknown) == 4
    assert Diagnosis(place="-c c").problems == ()
