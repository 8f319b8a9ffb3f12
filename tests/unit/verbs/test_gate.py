"""What the gate does by how near the nearest document is."""

import pytest

import neardup_solr as nd
from neardup_solr.verbs.gate.policy import Policy


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
    assert Policy().bounds == (("reject", None), ("hold", None), ("tag", 0.5))
    assert Policy(measure="containment").limits == nd.Limits(min_similarity=0.8)
    copy = match(1.0)
    assert Policy().judge([copy], copy) == ("reject", "the same text as '7'")
    assert Policy().judge([copy], None)[0] == "tag"
    assert Policy().judge([], None) == ("allow", "nothing is near it")


def test_a_copy_gets_the_more_severe_action() -> None:
    """What a copy gets is never milder than what its similarity asks for."""
    copy = match(1.0)
    assert Policy(exact="allow").judge([copy], copy)[0] == "tag"
    assert Policy(exact="hold").judge([copy], copy)[0] == "hold"
    assert Policy(exact="hold", reject=0.9).judge([copy], copy)[0] == "reject"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"reject": 0.5, "tag": 0.6}, "to tag at 0.6 and to reject at 0.5"),
        ({"hold": 0.5, "tag": 0.6}, "give hold the larger similarity"),
        ({"hold": 0.7, "reject": 0.7}, "leaves nothing to hold"),
        ({"tag": 1.5}, "a similarity of 1.5"),
        ({"reject": -0.1}, "a similarity of -0.1"),
        ({"reject": 1.5, "tag": 0.5}, "a similarity of 1.5"),
        ({"exact": "drop"}, "there is no action 'drop'"),
        ({"measure": "cosine"}, "cosine is not known"),
        ({"measure": "jaccard", "max_distance": 2}, "has no distance"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, object], said: str) -> None:
    """A policy that could never do what it says is refused in words."""
    with pytest.raises(nd.SettingsError, match=said):
        Policy(**given)  # type: ignore[arg-type]


def test_what_a_policy_can_do() -> None:
    """Whether an action can be taken at all is known beforehand."""
    assert Policy(hold=0.7).can("hold")
    assert Policy(exact="hold").can("hold")
    assert not Policy(tag=0.7).can("hold")


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
    with pytest.raises(nd.SettingsError, match="give 1 to 1,000"):
        nd.Gating(batch=0)
    with pytest.raises(nd.SettingsError, match="give 1 or more"):
        nd.Gating(most=0)
