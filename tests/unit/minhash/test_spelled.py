"""Shingles as JSON, against the slow oracle."""

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup_solr import Settings
from neardup_solr.arguments import Kind
from neardup_solr.minhash import spell_shingles
from neardup_solr.settings import KINDS
from neardup_solr.text import normalize, shingles
from tests.faults.tiers import sized
from tests.unit.minhash.test_sign import TEXT


@settings(max_examples=sized(usual=75, full=300), deadline=None)
@given(
    texts=st.lists(TEXT, max_size=4),
    kind=st.sampled_from(KINDS),
    size=st.integers(1, 4),
)
def test_shingles_are_spelled_as_json(texts: list[str], kind: Kind, size: int) -> None:
    """The JSON of each form's shingles is that of the slow oracle, in its order."""
    chosen = Settings(kind=kind, shingle_size=size)
    forms = [normalize.normalize(text) for text in texts]
    found = [orjson.loads(b"[" + json + b"]") for json in spell_shingles(forms, chosen)]
    assert found == [shingles.shingles(form, chosen) for form in forms]


def test_long_texts_and_long_terms_are_spelled() -> None:
    """Thousands of shingles, repeated ones, and terms that Lucene would refuse."""
    forms = [" ".join(f"w{n % 700}" for n in range(3000)), "a b", "x" * 40_000 + " y", "", "z"]
    found = [orjson.loads(b"[" + json + b"]") for json in spell_shingles(forms, Settings())]
    expected = [shingles.shingles(form, Settings()) for form in forms]
    assert found == [[normalize.indexable(piece) for piece in pieces] for pieces in expected]


def test_nothing_to_spell() -> None:
    """No forms give no JSON."""
    assert spell_shingles([], Settings()) == []
