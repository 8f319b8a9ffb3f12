"""What the gate refuses before it asks a Solr, and what it keeps of a tagged document."""

from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from tests.command import neardup
from tests.refusals import refusal


def match(similarity: float, id: str = "7") -> nd.Match:
    """A match of this similarity."""
    return nd.Match(id=id, distance=None, similarity=similarity, shared=1, content="")


@pytest.mark.parametrize(
    ("policy", "names"),
    [
        ({"reject": 0.5, "tag": 0.6}, ("`tag` 0.6", "`reject` 0.5", "below 0.5")),
        ({"hold": 0.5, "tag": 0.6}, ("`tag` 0.6", "`hold` 0.5", "below 0.5")),
        ({"hold": 0.7, "reject": 0.7}, ("`hold` 0.7", "`reject` 0.7", "below 0.7")),
        ({"tag": 1.5}, ("`tag`", "1.5")),
        ({"reject": -0.1}, ("`reject`", "-0.1")),
        ({"reject": 1.5, "tag": 0.5}, ("`reject`", "1.5")),
        ({"exact": "drop"}, ("'drop'", "'reject'", "allow, tag, hold")),
        ({"measure": "cosine"}, ("`measure`", "'cosine'", "words")),
        ({"measure": "jaccard", "max_distance": 2}, ("jaccard", "`max_distance`", "2")),
    ],
)
def test_what_cannot_be_is_refused(
    unasked: nd.Collection, policy: dict[str, Any], names: tuple[str, ...]
) -> None:
    """A policy that could never do what it says is refused, and what is wrong is named."""
    with pytest.raises(nd.ArgumentError) as refused:
        nd.gate([], unasked, **policy)
    for name in names:
        assert name in str(refused.value)


def test_a_tagged_document_keeps_what_it_is_near_to() -> None:
    """The ids of its matches come to its kept columns; without a tag nothing does."""
    document = nd.Document(id="1", text="x", kept={"city": "Paris"})
    tagged = nd.Decision(document=document, action="tag", reason="", matches=(match(0.8),))
    assert tagged.kept() == {"city": "Paris", "neardup_of": ["7"]}
    held = nd.Decision(document=document, action="hold", reason="", matches=(match(0.8),))
    assert held.kept() == {"city": "Paris"}
    assert (tagged.is_admitted, held.is_admitted) == (True, False)


def test_values_that_cannot_be(unasked: nd.Collection) -> None:
    """Batches and matches have bounds."""
    for batch in (0, 1_001):
        with refusal(nd.ArgumentError, "argument-out-of-range", "`batch`", batch, "1,000"):
            nd.gate([], unasked, batch=batch)
    with refusal(nd.ArgumentError, "argument-out-of-range", "`most`", 0):
        nd.gate([], unasked, most=0)


def test_a_file_that_is_missing_starts_no_solr(
    unasked: nd.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked for before a Solr is asked; one that comes along would be started for it."""
    monkeypatch.setenv("NEARDUP_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    for source in ("missing.csv", ["missing.csv", "other.csv"], nd.Source("missing.csv", id="n")):
        with pytest.raises(nd.SourceError) as refused:
            nd.gate(source, unasked)
        assert refused.value.source == "missing.csv"
    assert neardup("gate", "missing.csv").returncode == 3
    assert not (tmp_path / "home").exists()
