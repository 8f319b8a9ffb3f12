"""What doctor makes of counts: each finding where it is due, and none where all is well."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from neardup_solr.minhash import make_entry
from neardup_solr.records import Document
from neardup_solr.settings import DEFAULT_FIELDS, Settings
from neardup_solr.solr.admin import Health
from neardup_solr.verbs.lint import Diagnosis, Sampled

SETTINGS = Settings()
NO_MD5 = Settings(fields=frozenset(DEFAULT_FIELDS) - {"md5_hash"})
TERMS = {"content_ng": "shingles", "content_sg": "signatures", "content_bands": "bands"}


def stored(text: str, settings: Settings = SETTINGS) -> dict[str, object]:
    """A document as Solr gives it back: lists as sorted sets, nothing for what is empty."""
    made = make_entry(Document(id="1", text=text), settings)
    values: dict[str, object] = {"id": "1", "content": text, "neardup_rank": 3}
    for name in settings.fields - {"content"}:
        value = getattr(made, TERMS.get(name, name))
        values[name] = sorted(set(value)) if isinstance(value, tuple) else value
    return {name: value for name, value in values.items() if value not in ([], "")}


@tried(deadline=None)  # the first one compiles the kernel
@given(text=st.text(st.characters(codec="utf-8")))
def test_fields_of_the_text_are_well(text: str) -> None:
    """No document whose fields were made of its text is stale or damaged, marks or not."""
    sampled = Sampled()
    sampled.add(stored(text), SETTINGS)
    assert (sampled.documents, sampled.stale, sampled.damaged) == (1, [], [])


@pytest.mark.parametrize("name", [name for name in DEFAULT_FIELDS if name != "content"])
def test_a_field_that_is_gone_is_noticed(name: str) -> None:
    """Each field counts: without its MD5 a document is stale, without another one damaged."""
    document = stored("one two three four five")
    del document[name]
    sampled = Sampled()
    sampled.add(document, SETTINGS)
    assert (sampled.stale, sampled.damaged) == ((["1"], []) if name == "md5_hash" else ([], ["1"]))


def test_another_text_is_stale_even_where_no_md5_is_kept() -> None:
    """What was annotated is not what is there."""
    sampled = Sampled()
    for settings in (SETTINGS, NO_MD5):
        sampled.add(stored("one two three", settings) | {"content": "four five six"}, settings)
    assert (sampled.stale, sampled.damaged) == (["1", "1"], [])


@pytest.mark.parametrize("text", ["<p>one", 'a <br/> b <a href="x">', "<DIV class='y'>"])
def test_html_is_noticed(text: str) -> None:
    """Tags are; comparisons and lone brackets are not."""
    sampled = Sampled()
    sampled.add(stored(text), SETTINGS)
    sampled.add(stored("1 < 2 > 0 <unknown> a<b"), SETTINGS)
    assert sampled.html == ["1"]


CASES: dict[str, Diagnosis] = {
    "mixed": Diagnosis(place="-c c", settings={"one": 1, "other": 2}),
    "missing": Diagnosis(place="-c c", missing=1),
    "stale": Diagnosis(place="-c c", sample=Sampled(documents=9, stale=["1"])),
    "damaged": Diagnosis(place="-c c", sample=Sampled(documents=9, damaged=["1"])),
    "html": Diagnosis(place="-c c", sample=Sampled(documents=9, html=["1"])),
    "zookeeper": Diagnosis(place="-c c", health=Health(without_keeper=True)),
    "replicas": Diagnosis(place="-c c", health=Health(inactive=("shard1/core_node2 (down)",))),
    "replaying": Diagnosis(place="-c c", health=Health(replaying=True)),
    "disk": Diagnosis(place="-c c", health=Health(disk=1 << 20)),
    "version": Diagnosis(place="-c c", health=Health(versions=("9.10.1", "9.11.0"))),
    "heap": Diagnosis(place="-c c", health=Health(heap=0.99)),
    "deleted": Diagnosis(place="-c c", health=Health(deleted=0.6)),
}


@pytest.mark.parametrize(("rule", "counted"), CASES.items(), ids=CASES)
def test_each_finding_has_its_cause(rule: str, counted: Diagnosis) -> None:
    """One cause gives one finding, with something to do."""
    (found,) = counted.findings
    assert found.rule == rule
    assert found.remedy


def test_nothing_is_found_where_all_is_well() -> None:
    """Not where the server tells that all is well, nor where it tells nothing."""
    well = Diagnosis(place="-c c", settings={"one": 9}, sample=Sampled(documents=99, html=["1"]),
                   health=Health(heap=0.5, disk=1 << 40, deleted=0.1, replaying=False))  # fmt: skip
    assert well.findings == Diagnosis(place="-c c").findings == ()
