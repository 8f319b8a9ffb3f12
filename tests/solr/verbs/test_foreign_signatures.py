"""An index whose shingles and signatures another program wrote, as in the restaurant example."""

from __future__ import annotations

import hashlib
import random
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pysolr
import pytest

import neardup_solr as nd
from tests.refusals import refusal
from tests.solr import foreign

SCHEMA = """<schema name="guide" version="1.6">
  <fieldType name="string" class="solr.StrField"/>
  <fieldType name="int" class="solr.IntPointField"/>
  <fieldType name="long" class="solr.LongPointField" docValues="true"/>
  <field name="_version_" type="long" indexed="false" stored="false"/>
  <field name="id" type="string" indexed="true" stored="true" docValues="true"/>
  <field name="content" type="string" indexed="false" stored="true"/>
  <field name="md5_hash" type="string" indexed="true" stored="true"/>
  <field name="num_words" type="int" indexed="true" stored="true"/>
  <field name="first_word" type="string" indexed="true" stored="true"/>
  <field name="content_ng" type="string" indexed="true" stored="true" multiValued="true"/>
  <field name="content_sg" type="string" indexed="true" stored="true" multiValued="true"/>
  {more}
  {key}
</schema>
"""
_RANDOM = random.Random(7)
MASKS = [_RANDOM.getrandbits(32) for _ in range(20)]
LISTINGS = [
    ("1", "the old harbour inn 12 quay street tarrow seafood 555-0101"),
    ("2", "the old harbour inn 12 quay st. tarrow seafood 555-0101"),
    ("3", "villa rosa 8 hill road tarrow italian 555-0144"),
]


def words_of(words: list[str]) -> list[str]:
    """Shingles of three words."""
    return [" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2))]


def entry(id: str, text: str) -> dict[str, Any]:
    """A document as that program writes it: minima of one hash, XORed with random masks."""
    words = re.sub(r"[^\w\s-]", " ", text.lower()).split()
    pieces = sorted(set(words_of(words)))
    minima = [min(zlib.crc32(piece.encode()) ^ mask for piece in pieces) for mask in MASKS]
    return {
        "id": id, "content": text, "num_words": len(words), "first_word": words[0],
        "md5_hash": hashlib.md5(" ".join(words).encode()).hexdigest(), "content_ng": pieces,
        "content_sg": [f"{at:02x}{value:08x}" for at, value in enumerate(minima)],
    }  # fmt: skip


def write(url: str, listings: Iterable[tuple[str, str]]) -> nd.Collection:
    """Write listings by that program, and connect."""
    pysolr.Solr(url).add([entry(*one) for one in listings], commit=True)
    return nd.connect(url)


@contextmanager
def guide(listings: Iterable[tuple[str, str]]) -> Iterator[nd.Collection]:
    """A collection that is all that program's own."""
    with foreign.collection(schema=SCHEMA, key="<uniqueKey>id</uniqueKey>") as core:
        yield write(core.url, listings)


def test_annotate_writes_ours_beside_theirs() -> None:
    """All else is refused before with what to do, and nothing of theirs is compared or changed."""
    with guide(LISTINGS) as theirs:
        refused: list[Callable[[], object]] = [
            lambda: nd.search(theirs, id="1"), lambda: nd.report(theirs),
            lambda: nd.duplicates(theirs), lambda: nd.explain(theirs, "1", "2"),
            lambda: list(nd.gate(LISTINGS, theirs)), lambda: nd.doctor(theirs),
            lambda: nd.index(LISTINGS, theirs), lambda: nd.annotate(theirs),
        ]  # fmt: skip
        for call in refused:
            with pytest.raises(nd.errors.SchemaError) as caught:
                call()
            assert caught.value.next_step == f"see how to add them: neardup lint {theirs.place}"
        clashes = {one.about for one in nd.lint(theirs).dangers if one.rule == "clash"}
        assert {"content_ng", "content_sg"} <= clashes

        before = theirs.whole(["1"])[0]
        nd.init(theirs, prefix="nd_")
        assert (nd.annotate(theirs).annotated, nd.doctor(theirs).problems) == (3, ())
        assert not nd.lint(theirs).dangers
        after = theirs.whole(["1"])[0]
        kept = {name: after[name] for name in before if name != "_version_"}
        assert kept == {name: before[name] for name in kept}
        assert [match.id for match in nd.search(theirs, id="1", by="bands")] == ["2"]
        assert len(nd.duplicates(theirs).pairs) == 1


def test_fields_of_another_program_in_our_schema(solr: nd.Collection) -> None:
    """They count as missing, and annotate writes all of them anew."""
    ours = write(solr.url, LISTINGS)
    with refusal(nd.SettingsError, "fields-missing", f"annotate {ours.place}"):
        nd.search(ours, id="1")
    (missing,) = nd.doctor(ours).problems
    assert missing.rule == "missing"
    theirs = set(ours.whole(["1"])[0]["content_sg"])
    nd.annotate(ours, settings={"fields": "all"})
    assert not theirs.intersection(ours.whole(["1"])[0]["content_sg"])
    assert nd.doctor(ours).problems == ()
    assert [match.id for match in nd.search(ours, id="1", by="signatures")] == ["2"]
