"""Annotating somebody else's collection: our fields appear, nothing else changes, and back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.edges.client import Solr
from neardup_solr.pure.encoding import encoded
from neardup_solr.verbs.annotating import annotate
from neardup_solr.verbs.rewriting import Pace, Watching
from neardup_solr.verbs.stripping import strip
from tests.solr import theirs

COUNT = 2_000
SMALL = Pace(batch=100)


@pytest.fixture
def solr(home: Path) -> Iterator[Solr]:
    """Their collection, empty."""
    with theirs.collection() as made:
        yield made


@pytest.fixture
def filled(solr: Solr) -> Solr:
    """Their collection with some hundred documents."""
    theirs.add(solr, theirs.documents(400))
    return solr


def test_every_field_and_search_is_as_before(solr: Solr) -> None:
    """Stored, docValues-only, copied, dynamic and nested ones, defaults, and all searches."""
    theirs.add(solr, theirs.documents(COUNT))
    before = theirs.everything(solr)
    assert all(before[query] for query in theirs.SEARCHES)
    done = annotate(solr)
    assert theirs.everything(solr) == before
    texts = len(theirs.select(solr, "title:* -_nest_path_:*"))
    assert (done.read, done.annotated) == (COUNT, texts)
    assert done.without_text == COUNT - texts
    assert (done.unchanged, done.gone, done.failed, done.redone) == (0, 0, 0, 0)
    assert strip(solr).stripped == texts
    assert theirs.everything(solr) == before
    assert theirs.annotations(solr) == {}
