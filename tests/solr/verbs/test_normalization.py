"""Scripts without blanks, signs and symbols on a real Solr, by each normalization."""

from __future__ import annotations

import hashlib
import unicodedata

import neardup_solr as nd

ONE = "北京大学的学生昨天下午在图书馆里讨论了新的数据库课程安排"
OTHER = "北京大学的学生昨天下午在图书馆里讨论了旧的数据库课程安排"
ADVERT = "senior developer wanted for our office in the harbour knowing {} well"
TEXTS = {"zh": ONE, "th": "น้ำเย็นมากในฤดูหนาวของภาคเหนือ", "stars": "★★★", "c": ADVERT.format("C++")}
FIRST = {"normalization": 1}
NORMAL = {  # the normal forms by normalization 1
    "zh": ONE, "zh2": OTHER, "th": unicodedata.normalize("NFKC", TEXTS["th"]), "stars": "",
    "c": ADVERT.format("c"), "c#": ADVERT.format("c"),
}  # fmt: skip


def documents(texts: dict[str, str]) -> list[nd.Document]:
    """Documents of these texts by id."""
    return [nd.Document(id=id, text=text) for id, text in texts.items()]


def test_every_command_finds_texts_without_blanks(solr: nd.Collection) -> None:
    """duplicates, search, report and gate find a changed character, and equal symbols."""
    nd.index(documents(TEXTS), solr)
    assert solr.needed_settings().normalization == 2
    assert [match.id for match in nd.search(solr, text=OTHER)] == ["zh"]
    assert [match.id for match in nd.search(solr, text="★ \ufe0f★★".replace(" ", ""))] == ["stars"]
    new = {"a": OTHER, "b": "★★★", "c#": ADVERT.format("C#"), "t": "น้ำเย็นมากในฤดูฝนของภาคเหนือ"}
    decisions = nd.gate(documents(new), solr)
    assert not decisions.gaps
    assert [one.action for one in decisions] == ["tag", "reject", "tag", "tag"]
    nd.index(documents(new), solr)
    wanted = {("zh", "a"), ("stars", "b"), ("c", "c#"), ("th", "t")}
    for found in (nd.duplicates(solr, measure="words"), nd.report(solr, measure="words")):
        assert {frozenset((p.id, p.other_id)) for p in found.pairs} == set(map(frozenset, wanted))
        assert not found.gaps


def test_a_collection_keeps_its_normalization(solr: nd.Collection) -> None:
    """What is stored, compared and told of an earlier collection is by normalization 1."""
    nd.index(documents(TEXTS), solr, settings=FIRST)
    settings = solr.needed_settings()
    assert settings.fingerprint.startswith("n1 ")
    nd.index(documents({"zh2": OTHER, "c#": ADVERT.format("C#")}), solr)
    for row in solr.stored([*TEXTS, "zh2", "c#"], ["content", "md5_hash"]):
        assert row["md5_hash"] == hashlib.md5(NORMAL[row["id"]].encode()).hexdigest()
    measures: tuple[nd.types.MeasureName, ...] = ("words", "jaccard", "containment", "estimate")
    for measure in measures:  # to aligned, the two are one word with a slip
        found = nd.duplicates(solr, measure=measure)
        assert [(p.id, p.other_id, p.similarity) for p in found.pairs] == [("c", "c#", 1.0)]
        [gap] = found.gaps
        assert "Chinese, Thai" in gap
    [match] = nd.search(solr, text=ADVERT.format("C"))[:1]
    assert match.similarity == 1.0
    report = nd.report(solr)
    assert [(p.id, p.other_id, p.similarity) for p in report.pairs] == [("c", "c#", 1.0)]
    assert report.gaps == (gap,)
    decisions = nd.gate(documents({"new": ADVERT.format("C"), "stars": "★★★", "d": OTHER}), solr)
    assert decisions.gaps == (gap,)
    assert [one.action for one in decisions] == ["hold", "allow", "reject"]
    told = nd.doctor(solr)
    assert [one.rule for one in told.findings] == ["blanks"]
    [reason] = nd.explain(solr, "c", "c#").reasons
    assert reason.startswith("They are the same word for word, after normalization")
    assert "symbols" in reason  # C++ and C#
    assert nd.annotate(solr).annotated == 0


def test_spaced_texts_of_an_earlier_collection_tell_nothing(solr: nd.Collection) -> None:
    """A collection of normalization 1 without texts of such scripts misses nothing."""
    nd.index(documents({"a": ADVERT, "b": ADVERT}), solr, settings=FIRST)
    assert not nd.report(solr).gaps
