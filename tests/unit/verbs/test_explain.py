"""explanation: facts of a pair against slow ones, why it is missed, and what would find it."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr import Document, Settings, demo
from neardup_solr.testing import SIZES
from neardup_solr.types import Explanation, MeasureName
from tests.command import neardup
from tests.refusals import refusal

SETTINGS = Settings()
WORDS = [f"{head}{tail}" for head in ("mill", "lane", "boat", "lamp") for tail in "abcdefghij"]


def explain(
    one: str, other: str, settings: Settings = SETTINGS, **limits: float | None
) -> Explanation:
    """The explanation of two texts by words, as if there were too many to compare all."""
    documents = [Document(id="one", text=one), Document(id="other", text=other)]
    arguments: dict[str, Any] = {"measure": "words", "settings": settings, **limits}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SIZES, "crossed_documents", 1)
        return nd.explain(documents, "one", "other", **arguments)


def facts_of(one: str, other: str) -> Any:
    """The facts of two texts."""
    return explain(one, other).facts


def lucky_draws(words: int, changed: int, seed: int = 1) -> tuple[str, str]:
    """A text of random words, and the same with some changed."""
    draw = random.Random(seed)
    text = draw.choices(WORDS, k=words)
    other = list(text)
    for at in draw.sample(range(words), changed):
        other[at] = f"new{at}"
    return " ".join(text), " ".join(other)


def missed_by_bad_luck() -> tuple[str, str]:
    """Two texts whose bands differ all, although pairs like them mostly share one."""
    for seed in range(1_000):
        one, other = lucky_draws(60, 8, seed)
        found = facts_of(one, other)
        if found.chance > 0.8 and not found.shared_bands:
            return one, other
    raise AssertionError("no such pair among a thousand")


TEXTS = st.lists(st.sampled_from(WORDS[:12]), max_size=25).map(" ".join)


def set_of_shingles(text: str) -> set[str]:
    """The shingles of three words of a text of plain words, or the text itself."""
    words = text.split()
    return {" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2))} - {""}


@tried(deadline=None)  # the first one loads the kernel
@given(one=TEXTS, other=TEXTS)
def test_facts_are_those_of_sets(one: str, other: str) -> None:
    """Measures and shared terms are what sets of shingles and terms say."""
    found = facts_of(one, other)
    first, second = found.first.entry, found.second.entry
    own, its = set_of_shingles(one), set_of_shingles(other)
    assert (set(first.shingles), set(second.shingles)) == (own, its)
    assert found.shared_shingles == len(own & its)
    union = len(own | its)
    assert found.jaccard == (len(own & its) / union if union else 0)
    containment = found.measured("containment").similarity
    assert containment == (len(own & its) / len(own) if own else 0)
    shared = set(first.bands) & set(second.bands)
    assert {f"{band:02x}" for band in found.shared_bands} == {key[:2] for key in shared}
    assert sorted((*found.shared_bands, *found.differing_bands)) == list(range(42))
    terms = {way.name: way.shared for way in found.ways}
    assert terms["signatures"] == len(set(first.signatures) & set(second.signatures))
    assert terms["md5"] == (one == other != "")


@tried(deadline=None)  # the first one loads the kernel
@given(one=TEXTS, other=TEXTS)
def test_changes_add_up_to_the_distance(one: str, other: str) -> None:
    """What is shown as changed is the distance, and the rest is equal."""
    found = facts_of(one, other)
    changed = [each for each in found.changes if each.kind != "equal"]
    lengths = [
        max(each.first.stop - each.first.start, each.second.stop - each.second.start)
        for each in changed
    ]
    assert sum(lengths) == found.distance


def test_found() -> None:
    """A near pair that shares bands is found, and nothing is advised."""
    found = explain(*lucky_draws(40, 2))
    assert (found.verdict, found.way, found.reasons, found.advice) == (
        "found",
        "duplicates",
        (),
        "",
    )
    finding = {way.name for way in found.facts.ways if way.finds}
    assert finding == {"duplicates", "bands", "shingles", "signatures"}


def test_the_same_after_normalisation() -> None:
    """Texts of one normal form share all bands, and the MD5."""
    found = explain("Blue Door, 12 Harbour Street", "blue door 12 HARBOUR street.")
    assert found.verdict == "found"
    assert found.facts.is_exact
    assert found.facts.differing_bands == ()
    assert found.reasons == ("They are the same word for word, after normalization.",)


def test_bad_luck() -> None:
    """A pair whose bands all differ against the odds hears so, and what finds it."""
    found = explain(*missed_by_bad_luck())
    assert found.verdict == "missed"
    assert found.reasons[0].startswith("Bad luck: ")
    assert ": duplicates --measure words --by all" in found.advice


@pytest.mark.parametrize("documents", [3_000, 30_000])
def test_advice_finds_the_pair_and_is_counted(documents: int) -> None:
    """All pairs are advised if they are few, and their number told; else bands that find it."""
    one, other = missed_by_bad_luck()
    lines = [(str(at), f"{at} {at * at} {at * 7} {at * 11}") for at in range(documents - 2)]
    rows = [("one", one), ("other", other), *lines]
    advice = nd.explain(rows, "one", "other", measure="words").advice
    if documents == 3_000:
        assert advice.endswith("duplicates --measure words --by all (4,498,500 pairs to compare).")
        return
    words = advice.removesuffix(".").split()
    settings = {
        name: int(words[words.index(option) + 1])
        for name, option in (("bands", "--bands"), ("rows", "--band-rows"))
    }
    found = nd.duplicates(rows[:2], by="bands", measure="words", settings=settings)
    assert len(found.pairs) == 1


def test_the_same_words_with_other_symbols() -> None:
    """What differs in an operator is said to."""
    found = explain("start if x > 0 and wait", "start if x < 0 and wait")
    assert found.facts.is_exact
    assert found.reasons[0].endswith("but differ in symbols > and <.")


SHORT = [
    ("blue door", "blue doors", "--measure words --by all"),
    ("the old mill 3 river walk", "old mill, river walk 3", "--measure words --by all"),
    ("harbour", "harbours", "--measure aligned"),
]


@pytest.mark.parametrize(("one", "other", "advice"), SHORT)
def test_short_texts_share_no_shingle(one: str, other: str, advice: str) -> None:
    """Texts that share no shingle are found by comparing every pair."""
    found = explain(one, other, max_distance=3)
    assert found.verdict == "missed"
    assert found.reasons[0] == "They share no shingle of 3 words."
    assert f": duplicates {advice}" in found.advice


def test_a_single_shingle() -> None:
    """A text shorter than a shingle is told to be one."""
    found = explain("blue door", "blue doors")
    assert found.reasons[1] == (
        "'one' and 'other': the text is a single shingle, so most similar texts share none."
    )


def test_low_jaccard_says_what_changed() -> None:
    """A pair near by words, but not by shingles, hears how many shingles its changes took."""
    text, other = lucky_draws(200, 90)
    found = explain(text, other)
    assert found.verdict == "missed"
    assert "is low: such pairs share one of 42 bands of 3" in found.reasons[0]
    assert found.reasons[1].startswith("Each changed word changes up to 3 shingles")


def test_a_part_of_another() -> None:
    """A text that another one contains is not near it, and the reason says so."""
    whole, _ = lucky_draws(400, 1)
    found = explain(whole, " ".join(whole.split()[100:150]))
    assert found.verdict == "apart"
    said = "100 % of the shingles of 'other' are in 'one': 'other' is a part of it."
    assert said in found.reasons
    assert found.facts.measured("contained").similarity == 1.0


def test_beyond_the_limits() -> None:
    """A candidate that is too far apart gets the limits that would hold it."""
    one, other = lucky_draws(40, 4)
    found = explain(one, other, max_distance=2, min_similarity=0.95)
    assert found.verdict == "beyond the limits"
    assert found.reasons == (
        "They are 4 words apart; the limits allow 2 (a distance of at most 2 and a"
        " similarity of at least 0.95).",
    )
    wider = "To find it, widen the limits: --measure words --max-distance 4 --min-similarity 0.9."
    assert found.advice == wider
    assert explain(one, other, max_distance=4, min_similarity=0.9).verdict == "found"


def test_unrelated_texts_get_no_advice() -> None:
    """Two texts without a common word are apart, and there is nothing to catch."""
    found = explain("one two three four five", "six seven eight nine ten")
    assert (found.verdict, found.advice) == ("apart", "")


@pytest.mark.parametrize("other", ["one two three", " \u200b "])
def test_texts_without_words(other: str) -> None:
    """A text without words is similar to nothing, not even to another such text."""
    found = explain("\u200b", other)
    assert (found.verdict, found.advice) == ("apart", "")
    assert found.reasons[0] == "'one' has no words, so it is not similar to any document."


def test_ways_that_a_collection_lacks() -> None:
    """Without signatures and bands, the first way that there is decides."""
    fields = frozenset({"content", "content_sg", "md5_hash"})
    one, other = lucky_draws(40, 2)
    found = explain(one, other, replace(SETTINGS, fields=fields))
    assert (found.verdict, found.way) == ("found", "signatures")
    assert [way.name for way in found.facts.ways if way.is_there] == ["signatures", "md5"]
    by_md5 = explain(one, other, replace(SETTINGS, fields=fields, signatures=0))
    assert (by_md5.verdict, by_md5.way) == ("missed", "md5")
    assert by_md5.reasons[0] == "They have nothing in common that a search by md5 compares."


def test_aligned_where_frequencies_are_known() -> None:
    """With frequencies of words there is one measure more, and what stands for what."""
    texts = ["Blue Door Cafe 12 Harbour Street", "The Blue Door Cafe 12 Harbor St",
             "Old Mill 3 Mill Street"]  # fmt: skip
    documents = [Document(id=str(at), text=text) for at, text in enumerate(texts)]
    found = nd.explain(documents, "0", "1").facts
    assert found.measures[-1].measure == "aligned"
    pairs = nd.duplicates(documents, measure="aligned", min_similarity=0.0, by="all").pairs
    similarities = {(pair.id, pair.other_id): pair.similarity for pair in pairs}
    assert found.measured("aligned").similarity == pytest.approx(similarities["0", "1"])
    stand_ins = {
        (row.first, row.second) for row in found.alignment or () if row.first != row.second
    }
    assert stand_ins == {("harbour", "harbor"), ("street", "st"), (None, "the")}
    plain = facts_of(*lucky_draws(101, 2))  # too long to be aligned
    assert [each.measure for each in plain.measures] == [
        each.measure for each in found.measures[:-1]
    ]
    assert plain.alignment is None


def demo_pairs() -> list[tuple[str, str]]:
    """The texts of the known pairs of the demo."""
    texts = {document.id: document.text for document in nd.read(demo.listings())}
    _, *rows = Path(demo.pairs()).read_text(encoding="utf-8").splitlines()
    return [(texts[one], texts[other]) for one, other in (row.split("\t")[:2] for row in rows)]


@pytest.mark.parametrize(("one", "other"), demo_pairs())
def test_each_pair_of_the_demo_is_found_or_gets_advice(one: str, other: str) -> None:
    """And a pair that is found gets none."""
    found = explain(one, other)
    assert (found.verdict == "found") == (found.advice == "")


def test_records_of_a_source(tmp_path: Path) -> None:
    """The last record of an id counts; a bad or absent one is told."""
    source = tmp_path / "a.jsonl"
    lines = [
        '{"id": 1, "text": "one two three"}',
        '{"id": 2}',
        '{"id": 3, "text": "other"}',
        '{"id": 3, "text": "one, two, three"}',
    ]
    source.write_text("\n".join(lines))
    assert nd.explain(source, "1", "3").facts.is_exact
    with pytest.raises(nd.RecordError, match="line 2"):
        nd.explain(source, "1", "2")
    with refusal(nd.SourceError, "id-unknown", "'4'"):
        nd.explain(source, "1", "4")


MANY = [
    nd.Document(id=str(at), text=f"corner shop {at}x {at}y old mill {at % 40}s")
    for at in range(2_100)
]


def aligned_pair(
    one: str, other: str, few: int | None = None, least: float | None = None
) -> Explanation:
    """The explanation by aligned words of two texts, beside many others."""
    documents = [nd.Document(id="one", text=one), nd.Document(id="other", text=other), *MANY[:few]]
    return nd.explain(documents, "one", "other", measure="aligned", min_similarity=least)


def test_aligned_is_explained_by_rare_words() -> None:
    """Two records are candidates by a rare word, or by common ones in a row that few have."""
    rare = aligned_pair("ritz blvd corner", "corner boulevard ritz")
    assert (rare.verdict, rare.facts.rare_words) == ("found", ("ritz",))
    assert rare.facts.shared_words["corner"] == 2_102
    in_a_row = aligned_pair("mill corner blvd", "boulevard mill corner")
    assert (in_a_row.verdict, in_a_row.facts.rare_words) == ("found", ("mill corner",))
    few = aligned_pair("shop blvd", "boulevard shop", few=100)
    assert few.verdict == "found"
    assert few.facts.by == "all"


def test_a_pair_of_common_words_is_missed_until_the_cap_is_raised() -> None:
    """The advice is the least cap that finds it, and `duplicates` does with that, not with less."""
    one, other = "7s blvd", "boulevard 7s"
    found = aligned_pair(one, other)
    assert found.verdict == "missed"
    cap = found.facts.shared_words["7s"]
    assert found.advice == f"To find it: duplicates --measure aligned --cap {cap}."
    assert "no word in common that occurs in at most 50 documents" in found.reasons[0]
    documents = [nd.Document(id="one", text=one), nd.Document(id="other", text=other), *MANY]
    for tried_cap, is_found in ((cap, True), (cap - 1, False)):
        pairs = nd.duplicates(documents, measure="aligned", cap=tried_cap).pairs
        assert (("one", "other") in {(pair.id, pair.other_id) for pair in pairs}) is is_found


def test_aligned_beyond_its_threshold() -> None:
    """The advice is a similarity that just includes the pair; by nothing in common every pair."""
    found = aligned_pair("ritz blvd corner 1a 2b", "corner boulevard ritz 3c 4d")
    assert found.verdict == "beyond the limits"
    assert "Their similarity (aligned) is 0." in found.reasons[0]
    assert "the minimum is 0.75" in found.reasons[0]
    wider = aligned_pair("ritz blvd corner 1a", "corner boulevard ritz 3c", least=0.99)
    least = float(wider.advice.removesuffix(".").rpartition(" ")[2])
    again = aligned_pair("ritz blvd corner 1a", "corner boulevard ritz 3c", least=least)
    assert again.verdict == "found"
    spelled = aligned_pair("lighthouse restaurant", "lighthous restauran")
    assert spelled.verdict == "missed"
    assert spelled.advice.startswith("To find it: duplicates --measure aligned --by all (2,208,151")


def test_other_measures_decide_the_verdict() -> None:
    """A pair may be near by one measure and not by another; `max_distance` is for words."""
    texts = [
        nd.Document(id="1", text="a b c d e f g h"),
        nd.Document(id="2", text="e f g h a b c d"),
    ]
    assert not nd.explain(texts, 1, 2, min_similarity=0.6).facts.is_near
    assert nd.explain(texts, 1, 2, measure="jaccard", min_similarity=0.4).facts.is_near
    excerpt = [texts[0], nd.Document(id="3", text="a b c d")]
    assert nd.explain(excerpt, 1, 3, measure="containment", min_similarity=1.0).facts.is_near
    with pytest.raises(nd.ArgumentError, match="has no distance"):
        nd.explain(texts, 1, 2, measure="jaccard", max_distance=1)


def test_the_command_explains_by_aligned_words(tmp_path: Path) -> None:
    """Its advice is for that measure, and says nothing of bands."""
    path = tmp_path / "shops.jsonl"
    rows = [("one", "corner 7s"), ("other", "7s corner"), *((each.id, each.text) for each in MANY)]
    path.write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in rows))
    words = ["explain", "one", "other", "--source", str(path), "--measure", "aligned"]
    said = neardup(*words).stdout
    assert "missed, though within the limits" in said
    assert said.endswith("\nTo find it: duplicates --measure aligned --cap 55.\n")
    told = json.loads(neardup(*words, "--format", "json").stdout)
    assert (told["measure"], told["shared_words"]["7s"]) == ("aligned", 55)


@pytest.mark.parametrize(
    ("measure", "few", "by"),
    [("words", 100, "all"), ("words", None, "bands"), ("estimate", 100, "bands"),
     ("jaccard", 100, "all"), ("containment", 100, "all"), ("containment", None, "shingles")],
)  # fmt: skip
def test_the_verdict_is_that_of_duplicates(measure: MeasureName, few: int | None, by: str) -> None:
    """Found are the pairs that `duplicates` finds in the same source, in its own way."""
    whole, _ = lucky_draws(60, 1)
    texts = dict(zip(("one", "other"), missed_by_bad_luck(), strict=True))
    texts |= {"whole": whole, "part": " ".join(whole.split()[10:25])}
    documents = [nd.Document(id=id, text=text) for id, text in texts.items()] + MANY[:few]
    found = nd.duplicates(documents, measure=measure)
    assert found.by == by
    pairs = {frozenset((pair.id, pair.other_id)) for pair in found.pairs}
    for ids in (("one", "other"), ("whole", "part"), ("one", "whole"), ("one", "0")):
        explained = nd.explain(documents, *ids, measure=measure)
        assert (explained.verdict == "found") == (frozenset(ids) in pairs)
        assert explained.facts.by == by


@pytest.mark.parametrize("few", [100, None])
@pytest.mark.parametrize(("changed", "least"), [(0, None), (4, 0.6)])
def test_a_part_is_found_by_containment(
    few: int | None, changed: int, least: float | None, tmp_path: Path
) -> None:
    """The advice for a missed excerpt is the measure that finds it, and it does."""
    whole, other = lucky_draws(400, 1)
    part = other.split()[100:150]
    for at in range(changed):
        part[at * 10] = f"x{at}"
    rows = [("whole", whole), ("part", " ".join(part)), *((each.id, each.text) for each in MANY)]
    path = tmp_path / "texts.jsonl"
    some = rows if few is None else rows[:few]
    path.write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in some))
    found = nd.explain(path, "whole", "part", measure="words")
    assert found.verdict != "found"
    assert "duplicates --measure containment" in found.advice
    assert ("--min-similarity" in found.advice) == (changed > 0)
    again = nd.explain(path, "whole", "part", measure="containment", min_similarity=least)
    assert again.verdict == "found"


def test_shared_words_are_in_one_order() -> None:
    """The rarest word comes first, of equally rare ones by the alphabet, in every run."""
    text = "old corner ritz mill shop quay 7s lane"
    found = aligned_pair(text, " ".join(reversed(text.split())))
    words = list(found.facts.shared_words)
    assert words == ["lane", "quay", "ritz", "7s", "corner", "mill", "old", "shop"]
    assert found.facts.rare_words == ("lane", "quay", "ritz")


def printed(tmp_path: Path, one: str, other: str, *words: str) -> list[str]:
    """The lines that the command prints of two texts in a file."""
    path = tmp_path / "two.csv"
    path.write_text(f"id,text\none,{one}\nother,{other}\n")
    asked = ["explain", "one", "other", "--source", str(path), *words]
    return neardup(*asked).stdout.replace(str(path), "FILE").splitlines()


def test_limits_that_would_hold_a_pair(tmp_path: Path) -> None:
    """They are told by the command in one line, as it types them."""
    words = ("--measure", "jaccard")
    *_, said = printed(tmp_path, "a b c d e", "a b x d e", *words)
    assert said == "To find it, widen the limits: --measure jaccard --min-similarity 0."
    found, *_ = printed(tmp_path, "a b c d e", "a b x d e", *words, "--min-similarity", "0")
    assert found == "one – other: found"
    limits = ("--max-distance", "1", "--min-similarity", "0")
    *_, said = printed(tmp_path, "a b c d e", "a x c y e", *limits)
    assert said == "To find it, widen the limits: --measure words --max-distance 2."


@pytest.mark.parametrize(
    ("changed", "more"), [(20, None), (21, "1 more change"), (23, "3 more changes")]
)
def test_changes_that_are_not_shown_are_counted(
    changed: int, more: str | None, tmp_path: Path
) -> None:
    """Changes are counted, not the words between and after them."""
    text = [f"w{at}" for at in range(4 * changed)]
    other = ["x" if at % 4 == 1 else word for at, word in enumerate(text)]
    lines = printed(tmp_path, " ".join(text), " ".join(other))
    rest = [line for line in lines if "more change" in line]
    assert rest == ([f"… {more}; --format json has all of them"] if more else [])
    assert sum(line.count("{+x+}") for line in lines) == min(changed, 20)


POEM = "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏丁"
OTHER_POEM = "天地调黄阳宙云荒腾月盈致辰雨列露寒来暑往秋收冬藏丁"


@pytest.mark.parametrize("normalization", [1, 2])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (POEM, OTHER_POEM),
        (f"a b c {POEM}", f"a c d {OTHER_POEM}"),
        ("C++ and C# for 手机", "C and C for 手机壳"),
        ("*** !!!", "*** ???"),
    ],
)
def test_distances_are_those_of_duplicates(one: str, other: str, normalization: int) -> None:
    """Pairs of characters and signs count as in duplicates, whatever is shown of them."""
    documents = [Document(id="one", text=one), Document(id="other", text=other)]
    settings = Settings(normalization=normalization)
    asked: dict[str, Any] = {"measure": "words", "settings": settings}
    found = nd.explain(documents, "one", "other", **asked)
    pairs = list(nd.duplicates(documents, min_similarity=0.01, **asked).pairs)
    words = found.facts.measured("words")
    if words.similarity < 0.01 or not found.facts.has_words:
        assert pairs == []
        return
    [pair] = pairs
    assert (pair.distance, pair.similarity) == (words.distance, words.similarity)
    is_found = len(nd.duplicates(documents, **asked).pairs) == 1
    assert (found.verdict == "found") == is_found


def test_what_has_to_be_equal_is_looked_for_in_the_text() -> None:
    """Lines and blanks are those of the text, as duplicates sees them."""
    documents = [Document(id="one", text="a b c d\n7"), Document(id="other", text="a b c d 7")]
    asked: dict[str, Any] = {"measure": "words", "equal": r"d\n7"}
    assert len(nd.duplicates(documents, **asked).pairs) == 0
    assert nd.explain(documents, "one", "other", **asked).verdict == "beyond the limits"


def test_characters_of_scripts_without_blanks_are_shown(tmp_path: Path) -> None:
    """The words that are counted are pairs of characters."""
    lines = printed(tmp_path, POEM, OTHER_POEM, "--measure", "words")
    assert "one – other: compared, but beyond the limits" in lines
    [measured] = [line.split() for line in lines if line.startswith("words")]
    assert measured == ["words", "0.417", "14"]


def test_long_texts_are_explained_by_their_passages(tmp_path: Path) -> None:
    """Of long texts the passages in common are shown, and the words that differ in each."""
    draw = random.Random(7)
    many = ["".join(draw.choices("abcdefghijklmnop", k=7)) for _ in range(900)]
    first, second = many[:400], [*many[400:600], *many[100:160], *many[600:]]
    second[230] = "otherwise"
    source = tmp_path / "long.jsonl"
    texts = {"1": " ".join(first), "2": " ".join(second), "3": " ".join(many[20:50])}
    source.write_text(
        "".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in texts.items())
    )
    shown = neardup("explain", "1", "2", "--source", str(source)).stdout
    assert f"[-{many[130]}-] {{+otherwise+}}" in shown
    printed = neardup("explain", "1", "2", "--source", str(source), "--format", "json").stdout
    (passage,) = json.loads(printed)["passages"]
    assert (passage["relation"], passage["words"]) == ("shares", 60)
    assert texts["1"][passage["start"] : passage["end"]] == passage["text"]
    assert texts["2"][passage["other_start"] : passage["other_end"]] == passage["other_text"]
    assert passage["text"] == " ".join(many[100:160])
    (part,) = nd.explain(source, "1", "3").facts.passages
    assert (part.relation, part.other_share) == ("contains", 1.0)


def test_very_long_texts_are_compared_in_parts() -> None:
    """Their changes are those of the texts, and a notebook shows the place of the passage."""
    draw = random.Random(8)
    many = ["".join(draw.choices("abcdefghijklmnop", k=6)) for _ in range(40_000)]
    other = [*many[:60], "inserted", *many[60:]]
    documents = [Document(id="a", text=" ".join(many)), Document(id="b", text=" ".join(other))]
    explanation = nd.explain(documents, "a", "b")
    (passage,) = explanation.facts.passages
    assert (passage.relation, passage.words) == ("copy", 40_001)
    assert [change.kind for change in explanation.facts.changes] == ["equal", "insert", "equal"]
    assert many[39_999] not in explanation._repr_html_()


@pytest.mark.parametrize(
    "typed", [("explain", "1", "2"), ("explain", "1"), ("answer", "1", "2", "same")]
)
def test_a_file_where_an_id_is_meant(tmp_path: Path, typed: tuple[str, ...]) -> None:
    """The message names the option that takes it."""
    path = tmp_path / "notes.csv"
    path.write_text("id,text\n1,the ferry leaves at nine\n2,the ferry leaves at ten\n")
    run = neardup(typed[0], str(path), *typed[1:])
    assert run.returncode == 2
    assert f"--source {path}" in run.stderr
