"""Every kind of shingle and every whole-document signature, on a real Solr."""

from typing import Literal

import pytest

import neardup_solr as nd
from tests.refusals import refusal

TEXTS = {
    "1": "the cat sat on the mat and the cat ran off the mat with the cat",
    "2": "the cats sat on the mats and the cat ran off the mat with the cat",
    "3": "entirely different words are found in this other text about ships",
    "4": "東京都のカフェで朝食を食べました",
    "5": "東京都のカフェで昼食を食べました",
}
DOCUMENTS = [nd.Document(id=id, text=text) for id, text in TEXTS.items()]


@pytest.mark.parametrize("kind", ["words", "chars", "stops", "stems"])
@pytest.mark.parametrize("by", ["shingles", "bands", "signatures"])
def test_each_kind_finds_its_near_duplicates(
    solr: nd.Collection, kind: Literal["words", "chars", "stops", "stems"], by: nd.types.By
) -> None:
    """A collection of any kind is searched by the shingles that it was indexed with."""
    nd.index(DOCUMENTS, solr, settings=nd.Settings(kind=kind, shingle_size=2))
    found = nd.search(solr, id="1", by=by, min_similarity=0.0)
    assert next(match.id for match in found) == "2"
    found = nd.search(solr, id="4", by=by, min_similarity=0.0)
    assert [match.id for match in found] == ([] if kind == "stops" else ["5"])  # no stop words


def test_text_profiles_are_searched(solr: nd.Collection) -> None:
    """Texts of the same frequent words have one profile, whatever their order and rare words."""
    fields = nd.Settings().fields | {"profile_hash"}
    reordered = "the cat with the mat off ran the cat and the mat on sat the cat meowing"
    documents = [*DOCUMENTS, nd.Document(id="6", text=reordered)]
    nd.index(documents, solr, settings=nd.Settings(fields=fields))
    found = nd.search(solr, id="1", by="profile", min_similarity=0.0)
    assert [match.id for match in found] == ["6"]


def test_md5_finds_equal_normal_forms(solr: nd.Collection) -> None:
    """Case and punctuation do not count; a word does."""
    upper = nd.Document(id="6", text=TEXTS["1"].upper() + "!")
    nd.index([*DOCUMENTS, upper], solr)
    found = nd.search(solr, id="1", by="md5")
    assert [(match.id, match.distance) for match in found] == [("6", 0)]


def test_profiles_that_were_not_indexed(solr: nd.Collection) -> None:
    """A collection without profiles says what it can be searched by."""
    nd.index(DOCUMENTS, solr)
    with refusal(nd.SettingsError, "fields-missing", "profile_hash"):
        nd.search(solr, id="1", by="profile")
