"""What the gate does by how near the nearest document is."""

from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.measures import Limits
from neardup_solr.solr import collection
from neardup_solr.solr.collection import open_collection
from neardup_solr.verbs.gate.policy import Policy
from tests.command import neardup


def match(similarity: float, id: str = "7") -> nd.Match:
    """A match of this similarity."""
    return nd.Match(id=id, distance=None, similarity=similarity, shared=1, content="")


@pytest.mark.parametrize(
    ("similarity", "action"),
    [(0.5, "tag"), (0.69, "tag"), (0.7, "hold"), (0.9 - 1e-12, "reject"), (1.0, "reject")],
)
def test_the_most_severe_action_that_holds(similarity: float, action: str) -> None:
    """Each action begins at its own similarity; the nearest match decides, rounding aside."""
    policy = Policy(reject=0.9, hold=0.7, tag=0.5)
    found = policy.judge([match(similarity), match(0.5, "8")], None)
    assert found[0] == action
    assert "'7'" in found[1]


def test_the_default_tags_and_rejects_copies() -> None:
    """Without bounds the measure's own tags; a copy is rejected."""
    assert Policy().bounds == [("tag", 0.5)]
    assert Policy(measure="containment").limits == Limits(min_similarity=0.8)
    copy = match(1.0)
    assert Policy().judge([copy], copy) == ("reject", "the same text as '7'")
    assert Policy().judge([copy], None)[0] == "tag"
    assert Policy().judge([], None) == ("allow", "no near-duplicate was found")


def test_a_copy_gets_the_more_severe_action() -> None:
    """What a copy gets is never milder than what its similarity asks for."""
    copy = match(1.0)
    assert Policy(exact="allow").judge([copy], copy)[0] == "tag"
    assert Policy(exact="hold").judge([copy], copy)[0] == "hold"
    assert Policy(exact="hold", reject=0.9).judge([copy], copy)[0] == "reject"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"reject": 0.5, "tag": 0.6},
            "`tag` 0.6 and `reject` 0.5, nothing is left to tag; set `tag` below 0.5, or omit it",
        ),
        ({"hold": 0.5, "tag": 0.6}, "set `tag` below 0.5, or omit it"),
        ({"hold": 0.7, "reject": 0.7}, "`hold` 0.7 and `reject` 0.7, nothing is left to hold"),
        ({"tag": 1.5}, "`tag` cannot be 1.5; give a similarity from 0 to 1"),
        ({"reject": -0.1}, "`reject` cannot be -0.1"),
        ({"reject": 1.5, "tag": 0.5}, "`reject` cannot be 1.5"),
        ({"exact": "drop"}, "'drop'; did you mean 'reject'. Choose one of allow, tag, hold"),
        ({"measure": "cosine"}, "`measure` cannot be 'cosine'; choose one of words"),
        (
            {"measure": "jaccard", "max_distance": 2},
            "the measure jaccard has no distance, so `max_distance` cannot be 2",
        ),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    """A policy that could never do what it says is refused in words."""
    with pytest.raises(nd.ArgumentError, match=said):
        Policy(**given)


def test_a_tagged_document_keeps_what_it_is_near_to() -> None:
    """The ids of its matches come to its kept columns; without a tag nothing does."""
    document = nd.Document(id="1", text="x", kept={"city": "Paris"})
    tagged = nd.Decision(document=document, action="tag", reason="", matches=(match(0.8),))
    assert tagged.kept() == {"city": "Paris", "neardup_of": ["7"]}
    held = nd.Decision(document=document, action="hold", reason="", matches=(match(0.8),))
    assert held.kept() == {"city": "Paris"}
    assert (tagged.is_admitted, held.is_admitted) == (True, False)


def test_values_that_cannot_be() -> None:
    """Batches and matches have bounds."""
    nowhere = collection.open_collection("http://127.0.0.1:1/solr", "x")
    for batch in (0, 1_001):
        with pytest.raises(nd.ArgumentError, match=f"`batch` cannot be {batch}; give 1 to 1,000"):
            nd.gate([], nowhere, batch=batch)
    with pytest.raises(nd.ArgumentError, match="`most` cannot be 0; give 1 or more"):
        nd.gate([], nowhere, most=0)


def test_a_file_that_is_missing_starts_no_solr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked for before a Solr is asked; one that comes along would be started for it."""
    monkeypatch.setenv("NEARDUP_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    nowhere = open_collection("http://127.0.0.1:1/solr", "none")
    for source in ("missing.csv", ["missing.csv", "other.csv"], nd.Source("missing.csv", id="n")):
        with pytest.raises(nd.SourceError) as refused:
            nd.gate(source, nowhere)
        assert refused.value.source == "missing.csv"
    assert neardup("gate", "missing.csv").returncode == 3
    assert not (tmp_path / "home").exists()
