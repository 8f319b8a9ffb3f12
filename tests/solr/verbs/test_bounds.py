"""Which similarities reach a bound: alike in search, gate and duplicates, by every measure."""

from __future__ import annotations

from typing import Any, get_args

import pytest

import neardup_solr as nd
from neardup_solr.types import MeasureName

# Bands of one row: what shares a word is a candidate.
SETTINGS = nd.Settings(shingle_size=1, bands=128, rows=1)
MEASURES = [measure for measure in get_args(MeasureName) if measure != "auto"]
TEXTS = (
    "one two three four five six seven eight nine ten",
    "one two three four five six tan nine x y",
)
OLD, NEW = (nd.Document(id=str(at), text=text) for at, text in enumerate(TEXTS))
WORDS = [f"w{at}" for at in range(100)]


@pytest.fixture
def collection(solr: nd.Collection) -> nd.Collection:
    """A collection with the first of the texts."""
    nd.index([OLD], solr, settings=SETTINGS)
    return solr


def test_a_similarity_at_the_bound(collection: nd.Collection) -> None:
    """What rounding may take from a share makes no difference; anything more does, everywhere."""

    def search(measure: MeasureName, bound: float) -> list[float]:
        matches = nd.search(collection, text=NEW.text, measure=measure, min_similarity=bound)
        return [match.similarity for match in matches]

    def hold(measure: MeasureName, bound: float) -> list[float]:
        [decision] = nd.gate([NEW], collection, measure=measure, hold=bound)
        assert decision.action == ("hold" if decision.matches else "allow")
        return [match.similarity for match in decision.matches]

    def compare(measure: MeasureName, bound: float) -> list[float]:
        alike: dict[str, Any] = {"measure": measure, "by": "all", "settings": SETTINGS}
        pairs = nd.duplicates([OLD, NEW], min_similarity=bound, **alike).pairs
        return [pair.similarity for pair in pairs]

    for measure in {*MEASURES} - {"passages"}:  # which these texts are too short for
        similarities = [verb(measure, 0.0) for verb in (search, hold, compare)]
        if measure not in ("aligned", "records"):  # whose words weigh by how many documents
            assert similarities[0] == similarities[1] == similarities[2]
        for verb, (similarity,) in zip((search, hold, compare), similarities, strict=True):
            assert 0.0 < similarity < 0.9
            for more, is_near in ((0.0, True), (5e-10, True), (2e-9, False)):
                near = verb(measure, similarity + more)
                assert near == ([similarity] if is_near else []), (measure, verb, more)


def changed(words: int, other: str = "x") -> str:
    """A text of 100 words, of which so many are others."""
    return " ".join([*WORDS[: 100 - words], *(f"{other}{at}" for at in range(words))])


@pytest.mark.parametrize(
    ("words", "action"),
    [(51, "allow"), (50, "tag"), (31, "tag"), (30, "hold"), (10, "reject"), (0, "reject")],
)
def test_the_most_severe_action_that_holds(solr: nd.Collection, words: int, action: str) -> None:
    """Each action begins at its own similarity; the nearest match decides, rounding aside."""
    old = [nd.Document(id="7", text=changed(0)), nd.Document(id="8", text=changed(60, "y"))]
    nd.index(old, solr, settings=SETTINGS)
    new = nd.Document(id="new", text=changed(words))
    [decision] = nd.gate([new], solr, reject=0.9, hold=0.7, tag=0.5, measure="words")
    assert decision.action == action
    assert ("'7'" in decision.reason) == (action != "allow")


def shortened(words: int) -> nd.Document:
    """A document with so many of the ten words of the one that is there."""
    kept = [*OLD.text.split()[:words], *"abcdefghij"[words:]]
    return nd.Document(id=f"with {words}", text=" ".join(kept))


def test_the_default_tags_and_rejects_copies(collection: nd.Collection) -> None:
    """Without bounds the measure's own tags; a copy is rejected."""
    actions = {"words": {10: "reject", 5: "tag", 4: "allow"}, "containment": {8: "tag", 7: "allow"}}
    for measure, expected in actions.items():
        for words, action in expected.items():
            [decision] = nd.gate([shortened(words)], collection, measure=measure)  # type: ignore[arg-type]
            assert decision.action == action, (measure, words)
            assert ("'0'" in decision.reason) == (action != "allow")


def test_a_copy_gets_the_more_severe_action(collection: nd.Collection) -> None:
    """What a copy gets is never milder than what its similarity asks for."""
    policies: tuple[tuple[dict[str, Any], str], ...] = (
        ({"exact": "allow"}, "tag"),
        ({"exact": "hold"}, "hold"),
        ({"exact": "hold", "reject": 0.9}, "reject"),
    )
    for policy, action in policies:
        [decision] = nd.gate([shortened(10)], collection, measure="words", **policy)
        assert decision.action == action, policy
