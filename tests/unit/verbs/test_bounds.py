"""Which similarities reach a bound: alike in search, duplicates and gate, by every measure."""

from typing import Any

import numpy as np
import pytest

import neardup_solr as nd
from neardup_solr.measures import NAMES, Comparer, Limits, measure_named
from neardup_solr.measures.rerank import rerank
from neardup_solr.minhash import make_entry
from neardup_solr.records import Hit
from neardup_solr.text.normalize import normalize
from neardup_solr.types import MeasureName
from neardup_solr.verbs.batch import Candidate, compare_candidates
from neardup_solr.verbs.gate.policy import Policy

SETTINGS = nd.Settings()
TEXTS = (
    "one two three four five six seven eight nine ten",
    "one two three four five six tan nine x y",
)
DOCUMENTS = [nd.Document(id=str(at), text=text) for at, text in enumerate(TEXTS)]
PAIR = np.array([[0, 1]], dtype=np.uint32)


def found_by(comparer: Comparer) -> dict[str, bool]:
    """Who finds that the two texts are within the limits."""
    first, second = (make_entry(each, SETTINGS) for each in DOCUMENTS)
    is_read = comparer.measure.needs_texts
    known = [first.normal, second.normal] if is_read else [first.signature, second.signature]
    hit = Hit(id="1", md5_hash=second.md5_hash, num_words=second.num_words, shared=1)
    there = {"1": second.content if is_read else second.signature}
    verifying: dict[str, Any] = {
        "measure": comparer.measure.name,
        "min_similarity": comparer.limits.min_similarity,
        "by": "all",
    }
    met = [(0, Candidate(id="1", place=1, shared=1))]
    return {
        "search": bool(rerank(first, [hit], there, comparer)),
        "gate": bool(list(compare_candidates(known, met, comparer))),
        "duplicates": bool(nd.duplicates(DOCUMENTS, **verifying).pairs),
    }


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize(("more", "is_near"), [(0.0, True), (5e-10, True), (2e-9, False)])
def test_a_similarity_at_the_bound(measure: MeasureName, more: float, is_near: bool) -> None:
    """What rounding may take from a share makes no difference; anything more does, everywhere."""
    forms = [normalize(text) for text in TEXTS]
    whole = Comparer(measure=measure_named(measure), limits=Limits(min_similarity=0.0))
    compared = (
        forms
        if whole.measure.needs_texts
        else [make_entry(each, SETTINGS).signature for each in DOCUMENTS]
    )
    similarity = float(whole.compare_texts(compared, PAIR).similarities[0])
    assert 0.0 < similarity < 0.9
    limits = Limits(min_similarity=similarity + more)
    found = found_by(Comparer(measure=measure_named(measure), limits=limits))
    assert set(found.values()) == {is_near}, found
    if is_near:
        match = nd.Match(id="1", distance=None, similarity=similarity, shared=1, content="")
        policy = Policy(measure=measure, hold=similarity + more)
        assert policy.judge([match], None)[0] == "hold"
