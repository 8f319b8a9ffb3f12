"""Numbers that have to be equal, on a real Solr: every command decides the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import neardup_solr as nd
from tests.services import serving

TEXT = "Release notes of the program Alpha version {} for all the users of it and their friends"
OLD = [("a", TEXT.format("3.1.4")), ("b", TEXT.format("3.1.5")), ("c", TEXT.format("3.1.4") + "!")]


def ids(matches: Sequence[nd.Match]) -> list[str]:
    """The ids of matches."""
    return [match.id for match in matches]


def test_commands_agree_on_equal_numbers(solr: nd.Collection) -> None:
    """duplicates, search, report, gate and explain leave a pair of other versions out alike."""
    nd.index([{"id": id, "text": text} for id, text in OLD], solr)
    assert [(p.id, p.other_id) for p in nd.duplicates(solr, equal="numbers").pairs] == [("a", "c")]
    assert [(p.id, p.other_id) for p in nd.report(solr, equal="numbers").pairs] == [("a", "c")]
    assert sorted(ids(nd.search(solr, id="a"))) == ["b", "c"]
    assert ids(nd.search(solr, id="a", equal="numbers")) == ["c"]
    assert ids(nd.search(solr, text=TEXT.format("3.1.5"), equal="numbers")) == ["b"]
    explained = nd.explain(solr, "a", "b", equal="numbers")
    assert explained.verdict == "beyond the limits"
    assert "Parts that must be equal differ: numbers 3.1.4 and 3.1.5." in explained.reasons
    assert explained.advice == ""
    assert nd.explain(solr, "a", "c", equal="numbers").verdict == "found"


def test_gate_lets_other_numbers_in(solr: nd.Collection) -> None:
    """A new version is allowed, also beside those of its own batch and of batches before."""
    nd.index([{"id": id, "text": text} for id, text in OLD], solr)
    new = [
        {"id": "n1", "text": TEXT.format("3.1.6")},
        {"id": "n2", "text": TEXT.format("3.1.7")},
        {"id": "n3", "text": TEXT.format("3.1.6")},  # of its batch
        {"id": "n4", "text": TEXT.format("3.1.5")},  # of the collection
        {"id": "n5", "text": TEXT.format("3.1.7")},  # of a batch before
    ]
    decisions = nd.gate(new, solr, batch=3, equal="numbers", reject=0.8)
    actions = {decision.id: decision.action for decision in decisions}
    assert actions == {"n1": "allow", "n2": "allow", "n3": "reject", "n4": "reject", "n5": "reject"}


SIGNS = "the pump in the cellar of the house is started if x {} 0 for more than one hour or so"


def test_gate_holds_the_same_words_with_other_symbols(solr: nd.Collection) -> None:
    """What differs in an operator is not the same text; what differs in quotes is.

    Beside the collection, a batch and batches before, whatever is rejected for its similarity.
    """
    nd.index([("a", SIGNS.format(">"))], solr)
    new = [
        {"id": "n1", "text": SIGNS.format("<")},  # of the collection
        {"id": "n2", "text": SIGNS.format(">").replace("pump", "\u201cpump\u201d,")},
        {"id": "n3", "text": SIGNS.format("\u2265").replace("pump", "lamp")},
        {"id": "n4", "text": SIGNS.format("=").replace("pump", "lamp")},  # of its batch
        {"id": "n5", "text": SIGNS.format("<").replace("pump", "lamp")},  # of a batch before
        {"id": "n6", "text": SIGNS.format(">=").replace("pump", "lamp")},
    ]
    kept = {"n1": "hold", "n2": "reject", "n3": "tag", "n4": "hold", "n5": "hold", "n6": "reject"}
    for batch in (1, 4):
        for reject in (None, 0.99):
            decisions = [*nd.gate(new, solr, batch=batch, reject=reject, tag=0.5)]
            assert {each.id: each.action for each in decisions} == kept
            assert "same words as 'a'" in decisions[0].reason
    allowed = nd.gate(new, solr, exact="allow", equal="symbols")
    assert next(allowed).action == "allow"


def test_service_keeps_numbers_apart(solr: nd.Collection, tmp_path: Path) -> None:
    """A service with a rule decides, searches and explains by it."""
    nd.index([{"id": id, "text": text} for id, text in OLD], solr)
    words = ("--equal", "numbers", "--reject", "0.8")
    with serving(solr.url, tmp_path / "log", *words) as served:
        asked = {"documents": [{"id": "n", "text": TEXT.format("3.1.9")}]}
        (decision,) = served.ask("check", asked).json["decisions"]
        assert decision["action"] == "allow"
        text = TEXT.format("3.1.5")
        assert [m["id"] for m in served.ask("search", {"text": text}).json["matches"]] == ["b"]
        wider = {"text": text, "equal": []}
        assert len(served.ask("search", wider).json["matches"]) == 3
        explained = served.ask("explain?id=a&other_id=b").json
        assert explained["verdict"] == "beyond the limits"
