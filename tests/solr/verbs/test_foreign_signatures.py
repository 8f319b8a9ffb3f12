"""An index whose shingles and signatures another program wrote, as in the restaurant example."""

from __future__ import annotations

import hashlib
import random
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pysolr
import pytest

import neardup_solr as nd
from neardup_solr.solr.collection import Collection
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
NOT_OURS = "another program wrote its signatures, which are never compared with ours"


def words_of(words: list[str]) -> list[str]:
    """Shingles of three words."""
    return [" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2))]


def chars_of(words: list[str]) -> list[str]:
    """Shingles of five characters."""
    text = " ".join(words)
    return [text[at : at + 5] for at in range(max(1, len(text) - 4))]


def joined_of(words: list[str]) -> list[str]:
    """Shingles that join words by another sign than we do."""
    return [one.replace(" ", "_") for one in words_of(words)]


def entry(id: str, text: str, shingles_of: Callable[[list[str]], list[str]]) -> dict[str, Any]:
    """A document as that program writes it: minima of one hash, XORed with random masks."""
    words = re.sub(r"[^\w\s-]", " ", text.lower()).split()
    pieces = sorted(set(shingles_of(words)))
    minima = [min(zlib.crc32(piece.encode()) ^ mask for piece in pieces) for mask in MASKS]
    return {
        "id": id, "content": text, "num_words": len(words), "first_word": words[0],
        "md5_hash": hashlib.md5(" ".join(words).encode()).hexdigest(), "content_ng": pieces,
        "content_sg": [f"{at:02x}{value:08x}" for at, value in enumerate(minima)],
    }  # fmt: skip


def write(url: str, listings: Iterable[tuple[str, str]], shingles_of: Any = words_of) -> Collection:
    """Write listings by that program, and connect."""
    pysolr.Solr(url).add([entry(*one, shingles_of) for one in listings], commit=True)
    return nd.connect(url)


@contextmanager
def guide(listings: Iterable[tuple[str, str]], shingles_of: Any = words_of) -> Iterator[Collection]:
    """A collection that is all that program's own."""
    with foreign.collection(schema=SCHEMA, key="<uniqueKey>id</uniqueKey>") as core:
        yield write(core.url, listings, shingles_of)


@pytest.mark.data
def test_shingles_of_another_program_find_the_restaurants(shared_data: Path) -> None:
    """66 pairs, 62 of the 112 true ones, as from our own index, with nothing written."""
    lines = (shared_data / "restaurants/addresses_verbatim.txt").read_text("utf-8").splitlines()
    listings = [(id, text) for id, _, text in (line.partition(" ") for line in lines)]
    truth = set(nd.read_pairs(shared_data / "restaurants/gold_pairs.tsv"))
    with guide(listings) as theirs:
        made = nd.report(theirs, later_only=True, same="first_word", max_distance=2)
    pairs = {(pair.id, pair.other_id) for pair in made.pairs}
    assert (made.documents, len(pairs), len(pairs & truth), made.gaps) == (864, 66, 62, ())


def test_nothing_but_shingles_is_compared_before_annotate(caplog: Any) -> None:
    """Search finds by shingles, and says so; what needs signatures is refused with what to do."""
    with guide(LISTINGS) as theirs:
        step = f"neardup init {theirs.place} --prefix nd_, then neardup annotate {theirs.place}"
        assert [match.id for match in nd.search(theirs, id="1")] == ["2"]
        assert [match.id for match in nd.search(theirs, text=LISTINGS[0][1])] == ["1", "2"]
        said = f"{theirs.name} is searched by shingles only: {NOT_OURS}; {step}"
        assert caplog.messages == [said, said]
        for by in ("signatures", "bands"):
            with pytest.raises(nd.SettingsError, match=f"content_{by[:1]}.*shingles or md5"):
                nd.search(theirs, id="1", by=by)
        refused: list[Callable[[], object]] = [
            lambda: nd.duplicates(theirs), lambda: nd.explain(theirs, "1", "2"),
            lambda: list(nd.gate(LISTINGS, theirs)), lambda: nd.doctor(theirs),
            lambda: nd.index(LISTINGS, theirs), lambda: nd.annotate(theirs),
        ]  # fmt: skip
        for call in refused:
            with pytest.raises(nd.SchemaError) as caught:
                call()
            assert caught.value.next_step == f"{NOT_OURS}: {step}"
        with pytest.raises(nd.SettingsError, match="without signature"):
            nd.search(theirs, id="1", measure="estimate")
        (danger,) = nd.lint(theirs).dangers
        assert (danger.rule, danger.remedy) == ("foreign", step)
        assert danger.reason == f"3 documents with fields like ours: {NOT_OURS}"

        before = theirs.whole(["1"])[0]
        nd.init(theirs, prefix="nd_")
        assert (nd.annotate(theirs).annotated, nd.doctor(theirs).problems) == (3, ())
        assert not nd.lint(theirs).dangers
        after = theirs.whole(["1"])[0]
        kept = {name: after[name] for name in before if name != "_version_"}
        assert kept == {name: before[name] for name in kept}
        assert [match.id for match in nd.search(theirs, id="1", by="bands")] == ["2"]
        assert len(nd.duplicates(theirs).pairs) == 1


def test_fields_of_another_program_in_our_schema(solr: Collection, caplog: Any) -> None:
    """Lint and doctor tell them from documents without fields; annotate writes all of them anew."""
    ours = write(solr.url, LISTINGS)
    assert [match.id for match in nd.search(ours, id="1")] == ["2"]
    step = f"neardup annotate {ours.place}"
    assert caplog.messages == [f"{ours.name} is searched by shingles only: {NOT_OURS}; {step}"]
    assert ("foreign", step) in [(one.rule, one.remedy) for one in nd.lint(ours).findings]
    (missing,) = nd.doctor(ours).problems
    assert missing.reason.endswith(f": {NOT_OURS}")
    theirs = set(ours.whole(["1"])[0]["content_sg"])
    nd.annotate(ours, settings={"fields": "all"})
    assert not theirs.intersection(ours.whole(["1"])[0]["content_sg"])
    assert nd.doctor(ours).problems == ()
    assert [match.id for match in nd.search(ours, id="1", by="signatures")] == ["2"]


def test_shingles_of_characters_and_of_another_form(caplog: Any) -> None:
    """Characters are recognised; words joined by "_" are refused in one line."""
    with guide(LISTINGS, chars_of) as theirs:
        assert [match.id for match in nd.search(theirs, id="1")] == ["2"]
        pysolr.Solr(theirs.url).add([{"id": "4", "content": "none"}], commit=True)
        assert nd.search(theirs, id="4") == []
        assert "only (1 document without any):" in caplog.messages[-1]
    with guide(LISTINGS, joined_of) as theirs, pytest.raises(nd.SettingsError) as caught:
        nd.search(theirs, id="1")
    assert caught.value.reason == f"the shingles of {theirs.name!r} are not of our form"
    assert caught.value.next_step.startswith(NOT_OURS)
