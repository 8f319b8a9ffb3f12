"""Soft word alignment: hand-made tables, both ways to the result, the shared data."""

import csv
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from neardup_solr import demo
from neardup_solr.candidates import Candidates, Joining, all_candidates
from neardup_solr.candidates.by_word import WORD_DEFAULT, word_candidates
from neardup_solr.measures import Comparer, Limits, measure_named
from neardup_solr.measures.aligned import ALIGNED, NUMBERS
from neardup_solr.measures.alignment import (
    ABBREVIATED,
    CROWD,
    INITIAL,
    LONGEST,
    Aligned,
    alignment,
    compare_records,
    word_similarity,
)
from neardup_solr.measures.frequencies import Frequencies, count_words, split_words
from neardup_solr.measures.pairs import Pairs, mutual_best
from neardup_solr.testing import SIZES
from neardup_solr.text.normalize import normalize
from tests.faults.tiers import sized
from tests.unit.measures.oracle import record_similarity

WORDS = st.one_of(
    st.sampled_from(["avenue", "ave", "a", "boulevard", "blvd", "3rd", "third", "ab"]),
    st.sampled_from(["sea", "view", "seaview", "sv", "sva"]),
    st.text("abc", min_size=1, max_size=7),
    st.text("aäé東京1-", min_size=1, max_size=5),
    st.sampled_from(["x" * LONGEST, "x" * (LONGEST + 1), "x" * LONGEST + "y", "x" * 63 + "y"]),
)
FORMS = st.lists(st.lists(WORDS, max_size=9).map(" ".join), min_size=2, max_size=6)


def every_pair(count: int) -> Pairs:
    """All pairs of rows in both directions, and each row with itself."""
    return np.argwhere(np.ones((count, count))).astype(np.uint32)


EQUAL = Frequencies(100, {})  # words weigh the same
Similarity = Callable[..., float]


def compiled(first: str, second: str, known: Frequencies = EQUAL) -> float:
    """The similarity of two normal forms, as those of many pairs are computed."""
    return float(compare_records([first, second], np.array([[0, 1]], dtype=np.uint32), known)[0])


def slow(first: str, second: str, known: Frequencies = EQUAL) -> float:
    """The similarity of two normal forms, by the rows that explain it."""
    return record_similarity(alignment(first, second, known))


@pytest.fixture(params=[compiled, slow], ids=lambda way: str(way.__name__))
def similarity(request: pytest.FixtureRequest) -> Similarity:
    """Both ways to the result."""
    way: Similarity = request.param
    return way


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("ave", "avenue"),
        ("fl", "floor"),
        ("univ", "university"),
        ("bldg", "building"),
        ("hwy", "highway"),
        ("ctr", "counter"),
        ("ft", "fort"),
        ("hbf", "hauptbahnhof"),
        ("str", "straße"),
        ("ул", "улица"),
    ],
)
def test_abbreviations(short: str, long: str) -> None:
    """Words that are cut off or contracted stand for the whole word, either way round."""
    assert word_similarity(short, long) == word_similarity(long, short) == ABBREVIATED


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("heron", "heron", 1.0),
        ("n", "north", INITIAL),
        ("hreon", "heron", 1 - 1 / 5),
        ("hern", "heron", ABBREVIATED),  # first letter, last letter and some between
        ("hero", "heron", ABBREVIATED),
        ("eron", "heron", 1 - 1 / 5),
        ("orchard", "orchid", 0.0),  # two letters of seven are too many
        ("weatherly", "wetherley", 1 - 2 / 9),
        ("cat", "hat", 0.0),
        ("bvd", "lbvd", 1 - 1 / 4),
        ("avn", "avenue", 0.0),  # neither cut off nor ending alike
        ("17", "171", 0.0),
        ("17a", "17b", 0.0),
        ("x" * LONGEST, "x" * (LONGEST + 1), 0.0),
        ("x" * (LONGEST - 1), "x" * LONGEST, ABBREVIATED),
    ],
)
def test_similarity_of_words(
    similarity: Similarity, first: str, second: str, expected: float
) -> None:
    """Slips count by the letters of the longer word; numbers agree wholly or not at all."""
    assert word_similarity(first, second) == word_similarity(second, first) == expected
    # A record of one word each: what is aligned over what there is.
    assert similarity(first, second) == pytest.approx(expected)


def test_words_that_are_aligned() -> None:
    """Hyphens part words, English ordinals and number words become numbers."""
    words = split_words("old-mill 3rd floor twenty-second fifth 21st 4x nd")
    assert words == ["old", "mill", "3", "floor", "20", "2", "5", "21", "4x", "nd"]


def test_weights_follow_the_collection() -> None:
    """A word of few documents weighs more; one of none as much as one of one."""
    known = count_words(["mill lane", "mill road", "mill lane lane"])
    assert known == Frequencies(3, {"mill": 3, "lane": 2, "road": 1})
    assert known.weight("mill") == pytest.approx(np.log(2) ** 2)
    assert known.weight("road") == known.weight("unheard") == pytest.approx(np.log(4) ** 2)
    assert known.weight("北京") == known.weight("京") == pytest.approx(np.log(4) ** 2)
    pairs = count_words(["北京 京大", "北京", "a", "a b", "c"]).weight("北京")
    assert pairs == pytest.approx(np.log(3.5) ** 1.5 * np.log(6) ** 0.5)
    words = count_words(["北京 京大", "北京", "a", "a b", "c"], 1).weight("北京")
    assert words == pytest.approx(np.log(3.5) ** 2)
    assert known.weight("北京大学") == pytest.approx(np.log(4) ** 2)  # by normalization 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("the tall heron", "heron tall the"),
        ("st johns", "st john s"),
        ("la peña 12", "lapeña 12"),
        ("third avenue", "3rd avenue"),
        ("old-mill", "old mill"),
        ("", ""),
        ("-", ""),
    ],
)
def test_the_same_in_other_words(similarity: Similarity, first: str, second: str) -> None:
    """Other orders, joined words, other spellings of numbers and hyphens are the same."""
    assert similarity(first, second) == similarity(second, first) == 1.0


@pytest.mark.parametrize(("first", "second"), [("", "heron"), ("heron", "otter"), ("12", "13")])
def test_nothing_in_common(similarity: Similarity, first: str, second: str) -> None:
    """Records without any word that stands for another have similarity 0."""
    assert similarity(first, second) == 0.0


def test_the_mean_of_dice_and_containment(similarity: Similarity) -> None:
    """Two of three words and two of two: Dice 4/5, containment 1."""
    assert similarity("tall heron tavern", "tall heron") == pytest.approx((0.8 + 1.0) / 2)


def test_common_words_say_less(similarity: Similarity) -> None:
    """Two records that differ in a common word are nearer than two that differ in a rare one."""
    known = Frequencies(100, {"street": 90, "heron": 2, "otter": 2, "lane": 80})
    common = similarity("heron street", "heron lane", known)
    rare = similarity("heron street", "otter street", known)
    assert rare < 0.1 < 0.9 < common


def test_a_rare_spelling_is_no_evidence(similarity: Similarity) -> None:
    """An abbreviation weighs little more than the common word that it stands for."""
    known = Frequencies(1000, {"boulevard": 500, "blvd": 1})
    near = similarity("heron boulevard", "heron blvd", known)
    assert 0.97 < near < 1.0
    assert similarity("heron boulevard", "otter blvd", known) < 0.05


def test_an_acronym_of_neighbours(similarity: Similarity) -> None:
    """Initials stand for words in a row, as well as an abbreviation does."""
    known = Frequencies(10, {})
    assert similarity("sea view house 4", "4 svh", known) > 0.9
    assert similarity("sea 4 view house", "4 svh", known) < 0.6


def test_rows_of_an_alignment() -> None:
    """An alignment says what stands for what, in the order of the arguments, and what is left."""
    known = Frequencies(10, {"the": 10, "ave": 2})
    rare = known.weight("heron")
    rows = alignment("the herron 12 sea view ave", "heron seaview avenue", known)
    the, ave = known.weight("the"), known.weight("ave")
    avenue = ave + (1 - ABBREVIATED) * (rare - ave)
    assert rows == [
        Aligned("sea view", "seaview", 1.0, rare, rare, rare),
        Aligned("herron", "heron", ABBREVIATED, rare, rare, rare),
        Aligned("ave", "avenue", ABBREVIATED, ave, ave, avenue),
        Aligned("the", None, 0.0, the, the, 0.0),
        Aligned("12", None, 0.0, rare, rare, 0.0),
    ]
    turned = alignment("heron seaview avenue", "the herron 12 sea view ave", known)
    assert [row.turn() for row in turned] == rows


def test_the_most_telling_words_first() -> None:
    """Where a word could stand for two, it stands for the one of more weight times similarity."""
    rows = alignment("heron", "heroon herons", Frequencies(9, {"herons": 3}))
    assert [(row.first, row.second) for row in rows] == [("heron", "heroon"), (None, "herons")]


def test_many_edges(similarity: Similarity) -> None:
    """Records whose words all stand for each other are aligned one to one."""
    words = [f"{'a' * length}b" for length in range(1, 30)]
    other = [f"{'a' * length}bb" for length in range(1, 30)]
    assert 0.5 < similarity(" ".join(words), " ".join(other)) < 1.0


@pytest.mark.parametrize(("words", "is_soft"), [(CROWD, True), (CROWD + 1, False)])
def test_among_a_crowd_only_equal_words_are_aligned(words: int, is_soft: bool) -> None:
    """Compiled and slow agree, and a short text is still aligned with a long one."""
    prefixes = [one + other for one in ascii_lowercase for other in ascii_lowercase]
    first = " ".join(f"{letters}lighthouse" for letters in prefixes[:words])
    second = first.replace("house", "hose")
    known = count_words([first, second])
    (similarity,) = compare_records([first, second], np.array([[0, 1]], dtype=np.uint32), known)
    assert (similarity > 0.8) == is_soft
    assert similarity == pytest.approx(record_similarity(alignment(first, second, known)))
    few = " ".join(second.split()[:20])
    (similarity,) = compare_records([first, few], np.array([[0, 1]], dtype=np.uint32), known)
    assert similarity > 0.5


def test_below_the_least() -> None:
    """Pairs below the smallest similarity are not near, the others are; and there may be none."""
    forms = ["tall heron", "tall heron inn", "otter"]
    pairs = np.array([[0, 1], [0, 2], [1, 1]], dtype=np.uint32)
    comparer = Comparer(
        measure=ALIGNED,
        limits=Limits(min_similarity=0.95),
        frequencies=Frequencies(3, {}),
        threads=2,
    )
    assert comparer.compare_texts(forms, pairs).is_near.tolist() == [False, False, True]
    assert compare_records(forms, pairs[:0], Frequencies(3, {})).shape == (0,)


def test_mutual_best() -> None:
    """A pair counts where neither of its records has a better one; equals count together."""
    pairs = np.array([[0, 3], [0, 4], [1, 4], [2, 5], [2, 6]], dtype=np.uint32)
    kept = mutual_best(pairs, np.array([0.9, 0.8, 0.7, 0.5, 0.5]))
    assert kept.tolist() == [True, False, False, True, True]
    assert mutual_best(pairs[:0], np.empty(0)).tolist() == []


@settings(deadline=None, max_examples=sized(usual=100, full=300))
@given(FORMS)
def test_compiled_and_slow_agree(forms: list[str]) -> None:
    """Both ways give the same numbers, symmetric, in 0..1, 1 for a text and itself."""
    known, pairs = count_words(forms), every_pair(len(forms))
    found = compare_records(forms, pairs, known)
    assert found.tolist() == [slow(forms[one], forms[other], known) for one, other in pairs]
    square = found.reshape(len(forms), -1)
    assert np.array_equal(square, square.T)
    assert ((square >= 0) & (square <= 1)).all()
    assert (np.diag(square) == 1).all()


@settings(deadline=None, max_examples=sized(usual=100, full=300))
@given(FORMS)
def test_numbers_compiled_and_slow_agree(forms: list[str]) -> None:
    """Both ways change the similarity of the same pairs, for numbers and for what is contained."""
    forms = [*forms, " ".join(forms), " ".join(forms[::2])]
    known, pairs = count_words(forms), every_pair(len(forms))
    found = compare_records(forms, pairs, known, numbers=NUMBERS)
    expected = [
        record_similarity(alignment(forms[one], forms[other], known), NUMBERS)
        for one, other in pairs
    ]
    assert found.tolist() == expected


def test_a_record_without_its_abstract() -> None:
    """A record within a longer one is near, one of few words is not."""
    prose = " ".join(f"{letters}word" for letters in ("ab", "cd", "ef", "gh", "ij", "kl")) * 20
    record = "heron inn harbour road alton bread and cakes open all day long"
    known = Frequencies(100, {})
    for form, is_near in ((record, True), (record.partition(" alton")[0], False)):
        forms, pair = [form, f"{record} {prose}"], np.array([[0, 1]], dtype=np.uint32)
        (similarity,) = compare_records(forms, pair, known, numbers=NUMBERS)
        assert (similarity >= 0.7) == is_near
        (plain,) = compare_records(forms, pair, known)
        assert plain < 0.7


@pytest.mark.parametrize(
    ("first", "second", "agree"),
    [
        ("the same title vldb 1999", "the same title vldb 2001", False),
        ("the same title vldb 1999", "the same title vldb", True),  # missing is no evidence
        ("ann 12 4011 19081209", "ann 12 4011 19081290", True),  # most agree
        ("editorial 7 3 123 128", "editorial 7 4 301 302", False),
        ("sea view 10 a", "sea view 10a", True),  # joined
        ("part one", "part two", False),  # words for numbers
        ("no numbers here", "no numbers there", True),
    ],
)
def test_records_differ_if_their_numbers_do(first: str, second: str, agree: bool) -> None:
    """Numbers that both have and that differ halve the similarity, unless enough others agree."""
    aligned, records = (
        Comparer(measure=measure_named(name), frequencies=count_words([first, second]))
        for name in ("aligned", "records")
    )
    plain, told = (comparer.compare_one(first, [second])[0][1] for comparer in (aligned, records))
    assert told == (plain if agree else plain / 2)


@pytest.mark.parametrize(
    ("first", "second", "are_near"),
    [
        ("young software inc", "young pharma inc", False),  # each has a word of its own
        ("lake joe", "jordanville", False),  # nothing but an abbreviation
        ("austria", "australia", False),
        ("may", "murray", False),
        ("head teacher of art", "lead teacher of art", True),  # of more words
        ("young software inc", "young software incorporated", True),
        ("young software", "young software inc", True),
        ("sea view", "seaview", True),
        ("terry whitney", "t whitney", True),
    ],
)
def test_each_word_counts_in_records_of_few(first: str, second: str, are_near: bool) -> None:
    """Records of three words or less are near if what differs is on one side alone."""
    comparer = Comparer(measure=measure_named("records"), frequencies=EQUAL)
    ((_, _, is_near),) = comparer.compare_one(first, [second])
    assert is_near == are_near


def test_a_lone_abbreviation_is_far_in_records_of_any_number() -> None:
    """Rounding does not decide: 0.9 is 0.9 whatever the words weigh."""
    pair = np.array([[0, 1]], dtype=np.uint32)
    every = {
        float(compare_records(["ave", "avenue"], pair, Frequencies(count, {}), numbers=0.35)[0])
        for count in range(1, 400)
    }
    assert max(every) < 0.5


@pytest.mark.parametrize(
    ("first", "second"),
    [("release 3 1 4", "release 3 14"), ("12 mill road", "1 2 mill road"), ("v 10 1", "v 101")],
)
def test_short_numbers_do_not_join(similarity: Similarity, first: str, second: str) -> None:
    """Other versions are no copies; long numbers are those of telephones, and postcodes."""
    assert similarity(first, second) < 1
    for parted in ("heron 555 1234", "heron 30 1234567", "heron w1 4ab"):
        words = parted.split()
        assert similarity(parted, f"heron {words[1]}{words[2]}") == 1


def test_many_calls_and_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs in several calls and threads get the numbers that they get at once."""
    forms = [f"heron {number % 7} lane {number % 5}" for number in range(20)]
    known, pairs = count_words(forms), every_pair(20)
    whole = compare_records(forms, pairs, known)
    monkeypatch.setattr(SIZES, "compared_by_thread", 37)
    assert np.array_equal(compare_records(forms, pairs, known, threads=3), whole)


def test_the_threshold_stands_in_the_gap_of_the_demo_corpus() -> None:
    """No listing has its best counterpart between the threshold and 0.84: the widest gap."""
    with demo.listings().open(encoding="utf-8", newline="") as file:
        forms = [normalize(row["text"]) for row in csv.DictReader(file, delimiter="\t")]
    pairs = all_candidates(len(forms)).pairs
    found = compare_records(forms, pairs, count_words(forms))
    best = np.zeros(len(forms))
    for side in pairs.T:
        np.maximum.at(best, side, found)
    levels = np.unique(best[best > 0.5])
    widest = int(np.diff(levels).argmax())
    assert levels[widest] < ALIGNED.default < levels[widest] + 0.01
    assert levels[widest + 1] > 0.83


Linkage = tuple[list[str], NDArray[np.uint8] | None, set[tuple[int, int]]]


def restaurants(data: Path) -> Linkage:
    """The two guides: normal forms, sides, known pairs of rows."""
    lines = (data / "restaurants/addresses_verbatim.txt").read_text(encoding="utf-8").splitlines()
    split = [line.split(" ", 1) for line in lines]
    row = {id: number for number, (id, _) in enumerate(split)}
    known = (data / "restaurants/gold_pairs.tsv").read_text(encoding="utf-8").splitlines()[1:]
    pairs = {(row[one], row[other]) for one, other in (line.split("\t") for line in known)}
    sides = np.array([int(id) > 533 for id, _ in split], dtype=np.uint8)
    return [normalize(text) for _, text in split], sides, pairs


def publications(data: Path) -> Linkage:
    """DBLP and ACM: title, authors, venue and year of each in one text."""
    forms: list[str] = []
    sides: list[int] = []
    row: dict[tuple[int, str], int] = {}
    for side, name in enumerate(("DBLP2", "ACM")):
        for id, *fields in _rows(data / f"dblp_acm/{name}.csv", "latin-1"):
            row[side, id] = len(forms)
            forms.append(normalize(" ".join(fields)))
            sides.append(side)
    known = _rows(data / "dblp_acm/DBLP-ACM_perfectMapping.csv", "latin-1")
    pairs = {(row[0, one], row[1, other]) for one, other in known}
    return forms, np.array(sides, dtype=np.uint8), pairs


def bibliography(data: Path, name: str) -> Linkage:
    """Bibliographic records: all fields but the id and the kind, and the pairs of the clusters."""
    rows = _rows(data / f"bibliographies/{name}.records_pre_merged.csv", "utf-8", head=True)
    kept = [at for at, head in enumerate(rows[0]) if head not in ("ID", "ENTRYTYPE")]
    row = {fields[0]: number for number, fields in enumerate(rows[1:])}
    forms = [normalize(" ".join(fields[at] for at in kept)) for fields in rows[1:]]
    clusters = _rows(data / f"bibliographies/{name}.merged_record_ids.csv", "utf-8")
    pairs = {
        (min(row[one], row[other]), max(row[one], row[other]))
        for (ids,) in clusters
        for one, other in combinations(ids.split(";"), 2)
    }
    return forms, None, pairs


def _rows(path: Path, encoding: str, *, head: bool = False) -> list[list[str]]:
    with path.open(encoding=encoding, newline="") as file:
        return list(csv.reader(file))[0 if head else 1 :]


def f1(linkage: Linkage, candidates: Candidates) -> tuple[float, float]:
    """F1 of the candidates that reach the default threshold, and of the best of both sides."""
    forms, _, known = linkage
    similarities = compare_records(forms, candidates.pairs, count_words(forms))
    kept = similarities >= ALIGNED.default
    near = (kept, kept & mutual_best(candidates.pairs, similarities))
    found = [set(map(tuple, candidates.pairs[rows].tolist())) for rows in near]
    plain, mutual = (2 * len(pairs & known) / (len(pairs) + len(known)) for pairs in found)
    return plain, mutual


def across(sides: NDArray[np.uint8] | None) -> Joining:
    """Join the two sides, if there are two."""
    return WORD_DEFAULT if sides is None else replace(WORD_DEFAULT, sides=sides)


@pytest.mark.data
def test_restaurants_of_two_guides(shared_data: Path) -> None:
    """All pairs of the two guides, by the default threshold: F1 above 0.95."""
    linkage = restaurants(shared_data)
    assert f1(linkage, all_candidates(len(linkage[0]), across(linkage[1])))[0] > 0.95


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "floor", "mutual"),
    [
        ("restaurants", 0.95, 0.96),
        ("publications", 0.91, 0.98),
        ("stroke", 0.97, None),
        pytest.param("cytology_screening", 0.97, None, marks=pytest.mark.slow),  # as stroke
    ],
)
def test_by_candidates_of_words(
    shared_data: Path, name: str, floor: float, mutual: float | None
) -> None:
    """Candidates that share words miss next to nothing, and F1 is that of all pairs.

    Where either of two sides lists a thing once, the best of both is better than the threshold.
    """
    named = {"restaurants": restaurants, "publications": publications}
    linkage = named[name](shared_data) if name in named else bibliography(shared_data, name)
    forms, sides, known = linkage
    candidates = word_candidates(forms, across(sides))
    assert len(known - set(map(tuple, candidates.pairs.tolist()))) <= len(known) / 1000
    of_all, of_best = f1(linkage, candidates)
    assert of_all > floor
    assert mutual is None or of_best > mutual
