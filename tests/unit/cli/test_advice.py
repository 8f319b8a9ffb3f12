"""What `duplicates` advises below its result, and when it advises nothing."""

import json
from pathlib import Path

import neardup_solr as nd
from neardup_solr import demo
from tests.command import neardup


def told(*words: object) -> str:
    """What the command says to standard error."""
    ran = neardup("duplicates", *map(str, words))
    assert ran.returncode == 0, ran.stderr
    return ran.stderr


def test_a_higher_cap_is_advised_only_if_it_gains_something(tmp_path: Path) -> None:
    """Copies of common words are found whatever the cap is, so a higher one is not advised."""
    texts = [f"corner shop {at}x {at}y {at}z" for at in range(80)]
    texts += [f"corner {name} street" for name in "abcdefgh"] * 4
    path = tmp_path / "shops.jsonl"
    path.write_text(
        "".join(json.dumps({"id": str(at), "text": text}) + "\n" for at, text in enumerate(texts))
    )
    lost = nd.duplicates(path, measure="aligned", by="words", cap=3)
    found = nd.duplicates(path, measure="aligned", by="words", cap=4)
    assert lost.hot_keys > 0 < found.hot_keys
    assert (len(lost.pairs), len(found.pairs)) == (24, 48)  # chained above the cap
    assert lost.beyond_cap == found.beyond_cap == 0
    assert len(lost.clusters) == len(found.clusters) == 8
    by_words = (path, "--measure", "aligned", "--by", "words", "-o", tmp_path / "page.html")
    assert "--cap" not in told(*by_words, "--cap", 3)
    assert "--cap" not in told(*by_words, "--cap", 4)


def test_the_measure_is_chosen_by_the_texts(tmp_path: Path) -> None:
    """One line names the measure of short texts, unless one is named, or texts are long or few."""
    short = nd.duplicates(demo.listings())
    assert short.measure == "records"
    assert "median: 13 words" in short.chosen
    assert "records" in short._repr_html_()
    table = tmp_path / "pairs.tsv"
    advice = "compared by --measure records; --measure words"
    assert told(demo.listings(), "-o", table).count(advice) == 1
    others: tuple[nd.types.MeasureName, ...] = ("aligned", "jaccard")
    for measure in others:
        assert advice not in told(demo.listings(), "-o", table, "--measure", measure)
        assert not nd.duplicates(demo.listings(), measure=measure).chosen
    few = [nd.Document(id=str(at), text="some few words") for at in range(5)]
    long = [nd.Document(id=str(at), text=f"{at} word " * 50) for at in range(100)]
    for texts in (few, long):
        found = nd.duplicates(texts)
        assert (found.measure, found.chosen) == ("words", "")


def test_a_cap_that_pairs_too_many_is_not_advised() -> None:
    """A band of 7,000 documents would make over 20 million pairs: no cap is named for it."""
    head = (
        "the very same head of all pages in the shop at the harbour of the town and the end of it"
    )
    for count, is_advised in ((100, True), (7_500, False)):
        rows = [(str(at), f"{head} {at} {at * 7}x") for at in range(count)]
        found = nd.duplicates(rows, by="bands", measure="words", min_similarity=0.99, cap=2)
        assert found.capped is not None
        assert ("enough" in found.capped) is is_advised


def test_the_cap_of_passages_is_told() -> None:
    """Fewer documents may share a run of letters than a band; the cap that is enough is higher."""
    footer = "please come to the desk of the harbour office and bring all of your papers with you"
    rows = [(str(at), f"{at * 7919} {footer} {at * 104729}") for at in range(80)]
    found = nd.duplicates(rows, measure="passages")
    assert found.capped is not None
    assert "(64)" in found.capped
    assert nd.duplicates(rows, measure="passages", cap=80).capped is None
