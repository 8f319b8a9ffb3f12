"""Fields of records: kinds, levels, weights without answers, and records that say little."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup_solr.candidates import all_candidates
from neardup_solr.errors import ArgumentError
from neardup_solr.measures import Similarities
from neardup_solr.measures.alignment import compare_records
from neardup_solr.measures.columns import MISSING, FieldColumn, FieldKind, make_column, parse_fields
from neardup_solr.measures.em import FLOOR
from neardup_solr.measures.fields import LEAST_PROBABILITY, FieldMatches, match_fields
from neardup_solr.measures.frequencies import count_words
from neardup_solr.measures.levels import LEVELS, compare_fields
from neardup_solr.measures.pairs import Pairs
from neardup_solr.measures.record_matcher import RecordMatcher
from neardup_solr.records import as_text
from neardup_solr.text.normalize import normalize
from tests.faults.tiers import sized

KINDS: dict[str, FieldKind] = {"name": "text", "street": "text", "zip": "exact", "born": "date"}
Rows = list[tuple[object, ...]]


def people(count: int, doubled: int, seed: int = 1) -> tuple[Rows, set[tuple[int, int]]]:
    """Invented people, of whom some are there twice with slips, and the pairs of those."""
    draw = random.Random(seed)
    names = [
        f"{a}{b}" for a in ("mar", "lin", "tor", "ber", "ka", "jo") for b in ("ta", "us", "en")
    ]
    streets = ["mill", "station", "church", "harbour", "orchard", "castle", "bridge", "garden"]
    rows: Rows = []
    for _ in range(count):
        last = f"{draw.choice(names)}{draw.choice(['sen', 'berg', 'dal', 'holm', 'wick'])}"
        street = f"{draw.choice(streets)} road {draw.randrange(1, 90)}"
        born = f"19{draw.randrange(30, 99)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
        code = str(draw.randrange(1000, 1100))
        rows.append((f"{draw.choice(names)} {last}", street, code, born))
    pairs = set()
    for at in draw.sample(range(count), doubled):
        name, street, code, born = map(str, rows[at])
        changed: tuple[object, ...] = draw.choice([
            (f"{name}a", street, code, born),
            (name, street.replace("road", "rd"), code, None),
            (name, "", code, born),
            (name, street, code[:3] + "x", born),
        ])  # fmt: skip
        pairs.add((at, len(rows)))
        rows.append(changed)
    return rows, pairs


def join_values(columns: Sequence[Iterable[object]]) -> list[str]:
    """Join the values of each record to a text."""
    return [" ".join(filter(None, map(as_text, row))) for row in zip(*columns, strict=True)]


def compare_whole(texts: Sequence[str], pairs: Pairs) -> Similarities:
    """Compute the similarity of whole records by `aligned`."""
    forms = list(map(normalize, texts))
    return compare_records(forms, pairs, count_words(forms), threads=1)


def columns_of(values: Rows, kinds: dict[str, FieldKind]) -> list[FieldColumn]:
    """The columns of all fields. `values` has those of each."""
    pairs = zip(kinds.items(), values, strict=True)
    return [make_column(name, kind, own) for (name, kind), own in pairs]


def match(rows: Rows, kinds: dict[str, FieldKind] = KINDS) -> FieldMatches:
    """All pairs of rows."""
    values = list(zip(*rows, strict=True))
    pairs = all_candidates(len(rows)).pairs
    return match_fields(columns_of(values, kinds), pairs, compare_whole(join_values(values), pairs))


def found(rows: Rows, kinds: dict[str, FieldKind] = KINDS) -> set[tuple[int, int]]:
    """The pairs that are more likely than not the same."""
    pairs = all_candidates(len(rows)).pairs
    return set(map(tuple, pairs[match(rows, kinds).probabilities >= LEAST_PROBABILITY].tolist()))


def f1(one: set[tuple[int, int]], other: set[tuple[int, int]]) -> float:
    """F1 of what was found against what is known."""
    return 2 * len(one & other) / (len(one) + len(other))


def level(kind: FieldKind, first: object, second: object) -> str:
    """The level of two values among others of their kind, without what says that it is rare."""
    column = make_column("field", kind, [first, second])
    (number,) = compare_fields([column], np.array([[0, 1]], dtype=np.uint32))[0].tolist()
    said = "missing" if number == MISSING else LEVELS[kind][number][0]
    return said.removesuffix(" and rare")


@pytest.mark.parametrize(
    ("kind", "first", "second", "expected"),
    [
        ("text", "Heron Inn", "heron  inn!", "equal"),
        ("text", "Inn Heron", "heron inn", "equal"),
        ("text", "Heron Avenue", "Heron Ave.", "nearly equal"),
        ("text", "heron", "otter", "different"),
        ("text", "heron", "", "missing"),
        ("text", None, "heron", "missing"),
        ("text", float("nan"), "heron", "missing"),
        ("exact", "310/475-9807", "310-475-9807", "equal"),
        ("exact", 12345.0, "12345", "equal"),
        ("exact", "12345", "12346", "different"),
        ("exact", "-", "12346", "missing"),
        ("exact", "+49 (0)30 1234567", "030/1234567", "equal"),
        ("exact", "0049 30 1234567", "+49 30-123 4567", "equal"),
        ("exact", "+1 212 555 0123", "(212) 555-0123", "equal"),
        ("exact", "+49 30 1234567", "040 1234567", "different"),
        ("exact", "0012345", "12345", "different"),
        ("number", "$1,299.00", 1299, "equal"),
        ("number", "12,5 kg", "12.5", "equal"),
        ("number", "1.299,50 €", "1299.5", "equal"),
        ("number", "1 299 000", "1,299,000", "equal"),
        ("number", "1'299.00", 1299, "equal"),
        ("number", 0.00001, "0.00001", "equal"),
        ("number", 100, 100.9, "within 1 %"),
        ("number", 100, 108, "within 10 %"),
        ("number", 100, -100, "different"),
        ("number", 0, 0.0, "equal"),
        ("number", "12", "none", "missing"),
        ("number", "1e999", "12", "missing"),
        ("date", "1999-03-04", "04.03.1999", "equal"),
        ("date", "19990304", "1999-03-04T10:15:00Z", "equal"),
        ("date", "3/31/1999", "31/3/1999", "equal"),
        ("date", "03/1999", "1999-03", "equal"),
        ("date", "12 March 1845", "1845-03-12", "equal"),
        ("date", "March 12, 1845", "12 MAR 1845", "equal"),
        ("date", "12. März 1845", "12 mars 1845", "equal"),
        ("date", "12 марта 1845", "12-Mar-1845", "equal"),
        ("date", "1845年3月12日", "12. 3. 1845", "equal"),
        ("date", "Friday, 12th of March 1999", "12-Mar-99", "equal"),
        ("date", "5 červenec 1845", "5 lipca 1845", "equal"),
        ("date", "abt 1845", "1845-03-12", "near"),
        ("date", "ca. 1845", "1845?", "equal"),
        ("date", "30 February 1845", "1845", "missing"),
        ("date", "12 Mill Road 1845", "1845", "missing"),
        ("date", "0000-00-00", "1999-03-04", "missing"),
        ("date", "4/3/99", "1999-03-04", "missing"),
        ("date", "1999-03-04", "1999-04-03", "near"),
        ("date", "1999-03-04", "1989-03-04", "near"),
        ("date", "1999-12-31", "2000-01-02", "near"),
        ("date", 1999, 2000.0, "near"),
        ("date", "1999", "1999-03-04", "near"),
        ("date", "1999-03-04", "1975-11-20", "different"),
        ("date", "1999-03-04", "1999-02-31", "missing"),
        ("date", "1999-03-04", "unknown", "missing"),
    ],
)  # fmt: skip
def test_levels(kind: FieldKind, first: object, second: object, expected: str) -> None:
    """Values agree up to a level of their kind, either way round."""
    assert level(kind, first, second) == level(kind, second, first) == expected


def test_rare_values() -> None:
    """A value that few records have is a level of its own."""
    column = make_column("city", "exact", ["rome"] * 60 + ["ostia"] * 2)
    pairs = np.array([[0, 1], [60, 61], [0, 60]], dtype=np.uint32)
    said = [LEVELS["exact"][number][0] for number in compare_fields([column], pairs)[:, 0]]
    assert said == ["equal", "equal and rare", "different"]


def test_fields_that_are_named() -> None:
    """A field is text unless it says another kind."""
    assert parse_fields(["name", "zip:exact"]) == {"name": "text", "zip": "exact"}
    assert parse_fields({"dc:title": "text"}) == {"dc:title": "text"}
    assert parse_fields("name") == {"name": "text"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["zip:exat"], "did you mean 'exact'"),
        (["name", "name:exact"], "twice"),
        ([], "`fields` is empty"),
        ([":exact"], "no name"),
        ({"zip": "number "}, "did you mean 'number'"),
    ],
)
def test_impossible_fields(given: list[str], said: str) -> None:
    """A field that cannot be compared is one clear message."""
    with pytest.raises(ArgumentError, match=said):
        parse_fields(given)


@pytest.mark.parametrize("kind", ["number", "date"])
def test_a_field_of_another_kind(kind: FieldKind) -> None:
    """A field without any date or number says so; without any value it is no evidence."""
    with pytest.raises(ArgumentError, match=f"the field 'born' has no {kind}, but values such as"):
        make_column("born", kind, ["", "soon", "later"])
    assert make_column("born", kind, ["", None]).values == ()


def test_pairs_are_found_without_answers() -> None:
    """Records with slips and missing values are found among others that share much."""
    rows, known = people(400, 80)
    assert f1(found(rows), known) > 0.95


def test_little_is_found_where_nothing_is() -> None:
    """Records of which none is there twice have next to no matches."""
    assert len(found(people(400, 0)[0])) <= 2


def test_missing_is_no_evidence() -> None:
    """A field that is missing in half of the records, or in all, does no harm."""
    rows, known = people(400, 80)
    half = [row if at % 2 else (*row[:3], None) for at, row in enumerate(rows)]
    assert f1(found(half), known) > 0.9
    none = [(*row[:3], None) for row in rows]
    assert f1(found(none), known) > 0.85
    shorter = [row[:3] for row in rows]
    assert found(none) == found(shorter, {name: KINDS[name] for name in list(KINDS)[:3]})


def test_records_that_are_all_equal() -> None:
    """All records equal are all the same, and all empty ones are none."""
    assert len(found([("marta", "mill road 1", "1000", "1999-01-01")] * 5)) == 10
    assert found([(None, "", None, "")] * 5) == set()


def test_two_records() -> None:
    """Two records are enough to be the same, or not."""
    row = ("marta linsen", "mill road 1", "1000", "1999-01-01")
    assert found([row, row]) == {(0, 1)}
    assert found([row, ("torus kaberg", "castle lane 7", "1017", "1955-07-30")]) == set()
    assert match([row]).probabilities.shape == (0,)


def test_swapped_fields() -> None:
    """Values in the wrong field disagree, and nothing breaks."""
    rows, known = people(200, 40)
    swapped = [(row[1], row[0], *row[2:]) if at % 50 == 0 else row for at, row in enumerate(rows)]
    assert f1(found(swapped), known) > 0.9


def test_the_waterfall_adds_up() -> None:
    """What the fields add to the odds is what the pair weighs, and gives its probability."""
    rows, known = people(300, 60)
    values = list(zip(*rows, strict=True))
    columns = columns_of(values, KINDS)
    pairs = np.array(sorted(known), dtype=np.uint32)
    weights = match(rows).weights
    levels = compare_fields(columns, pairs)
    bits = weights.weigh(levels)
    steps = weights.explain(levels)
    assert [sum(step.bits for step in each) for each in steps] == pytest.approx(bits.tolist())
    assert [step.field for step in steps[0]] == ["", *KINDS]
    chances = match_fields(columns, pairs, np.ones(len(pairs)), weights=weights).probabilities
    assert chances == pytest.approx(1 / (1 + 2.0**-bits))
    below = match_fields(columns, pairs, np.full(len(pairs), FLOOR - 0.01), weights=weights)
    assert not (below.probabilities >= LEAST_PROBABILITY).any()


def test_the_table_of_weights() -> None:
    """Rates of a field add up to 1, equal values speak for a match, different ones against it."""
    weights = match(people(300, 60)[0]).weights
    table = weights.table()
    for name, kind in KINDS.items():
        own = [row for row in table if row.field == name]
        assert [row.level for row in own] == [said for said, _ in LEVELS[kind]]
        assert sum(row.m for row in own) == pytest.approx(1)
        assert sum(row.u for row in own) == pytest.approx(1)
        assert own[0].bits < 0 < own[-1].bits
    nothing = replace(weights, are_matches=np.zeros(3, dtype=np.bool_))
    assert len(nothing.table()) == len(table)
    assert (nothing.weigh(np.zeros((2, 4), dtype=np.int8)) < 0).all()


def invent_inventory(seed: int) -> tuple[Rows, dict[str, FieldKind]]:
    """Invented records of 1 to 4 columns of 3 to 300 values, each of them 2 to 60 times."""
    draw = random.Random(seed)
    syllables = ["ba", "lo", "mi", "tar", "ven", "so", "ri", "kel", "du", "na", "po", "gar"]
    columns, kinds = [], {}
    for number in range(draw.randint(1, 4)):
        size = round(3 * 100 ** draw.random())
        kind: FieldKind = draw.choice(["text", "text", "exact", "number"])
        values = {
            str(draw.randrange(10_000)) if kind == "number" else
            " ".join("".join(draw.choices(syllables, k=3)) for _ in range(draw.randint(1, 2)))
            for _ in range(size)
        }  # fmt: skip
        columns.append(sorted(values))
        kinds[f"column{number}"] = kind
    most = draw.choice([2, 3, 6, 20, 60])
    rows: Rows = []
    for _ in range(draw.randint(10, 150)):
        row = tuple(draw.choice(values) for values in columns)
        if row not in rows:
            rows += [row] * draw.randint(2, most)
        if len(rows) > 400:
            break
    return rows, kinds


def is_monotone(matches: FieldMatches) -> bool:
    """True if no level weighs less than one below it, equal values >= 0, different ones <= 0."""
    by_field: dict[str, list[float]] = {}
    for row in matches.weights.table():
        by_field.setdefault(row.field, []).append(row.bits)
    return all(
        all(np.diff(bits) >= -1e-9) and bits[0] <= 1e-9 and bits[-2] >= -1e-9
        for bits in by_field.values()
    )


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**9))
def test_inventories(seed: int) -> None:
    """Exact copies are found whatever the columns are, and weights rise with agreement."""
    rows, kinds = invent_inventory(seed)
    matches = match(rows, kinds)
    pairs = all_candidates(len(rows)).pairs.tolist()
    known = np.array([rows[one] == rows[other] for one, other in pairs])
    assert (matches.probabilities[known] >= LEAST_PROBABILITY).all()
    assert is_monotone(matches)


def test_inventories_have_few_false_pairs() -> None:
    """What is found in inventories is copies: others that agree in part are not."""
    scores = []
    for seed in (0, 15, 22, 47, 52, 61, 62, 73, 82, 85, 96, 118, 122, 128, 166):
        rows, kinds = invent_inventory(seed)
        known = {
            (one, other)
            for one, other in all_candidates(len(rows)).pairs.tolist()
            if rows[one] == rows[other]
        }
        scores.append(f1(found(rows, kinds), known))
    assert np.mean(scores) > 0.99
    assert min(scores) > 0.94


def test_a_file_appended_to_itself() -> None:
    """Near-duplicates are found as before: that each record has a copy is no evidence."""
    rows, pairs = people(150, 40)
    once, twice = found(rows), found(rows + rows)
    size = len(rows)
    again = {
        (one + first * size, other + second * size)
        for one, other in once for first in (0, 1) for second in (0, 1)
    }  # fmt: skip
    expected = {(min(pair), max(pair)) for pair in again} | {(at, at + size) for at in range(size)}
    assert f1(once, pairs) > 0.9
    assert f1(twice, expected) > 0.99


def test_two_columns_each_record_twice() -> None:
    """Copies are found where few values are spread over two columns, whatever is drawn."""
    for seed in range(10):
        draw = random.Random(seed)
        words = ["oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "may", "sloe"]
        towns = ["rome", "ostia", "turin", "milan", "pisa", "bari"]
        items = [
            (f"{one} {other}", town) for one in words for other in words[::-1] for town in towns
        ]
        rows: Rows = [row for row in draw.sample(items, 50) for _ in range(2)]
        known = {(at, at + 1) for at in range(0, 100, 2)}
        assert known <= found(rows, {"item": "text", "town": "exact"})


def products(count: int, doubled: int, *, seed: int = 1) -> tuple[Rows, set[tuple[int, int]]]:
    """Products with a price and a quantity, of whom some come twice, in another quantity."""
    draw = random.Random(seed)
    parts = (["oak", "walnut", "steel", "linen", "glass", "bamboo", "copper", "wool"],
             ["dining", "office", "garden", "kitchen", "travel", "vintage"],
             ["table", "chair", "lamp", "kettle", "shelf", "mirror", "clock", "vase"],
             ["small", "large", "blue", "red", "green", "white", "set", "mini"])  # fmt: skip
    names: dict[str, None] = {}
    while len(names) < count:
        names[" ".join(map(draw.choice, parts))] = None
    rows: Rows = [(name, f"{draw.randrange(500, 30_000) / 100:.2f}", str(draw.randrange(500)))
                  for name in names]  # fmt: skip
    again: Rows = [(" ".join(str(name).split()[::-1]) if at % 2 else f"{name} new", price,
                    str(draw.randrange(500)))
                   for at, (name, price, _) in enumerate(rows[:doubled])]  # fmt: skip
    return rows + again, {(at, count + at) for at in range(doubled)}


PRODUCTS: dict[str, FieldKind] = {"name": "text", "price": "number", "quantity": "exact"}


@pytest.mark.parametrize("seed", range(5))
def test_a_field_that_changes(seed: int) -> None:
    """Products are the same though none of them has the quantity that it had."""
    rows, pairs = products(200, 20, seed=seed)
    assert f1(found(rows, PRODUCTS), pairs) > 0.9
    assert not found(rows[:200], PRODUCTS)


def test_families_are_others() -> None:
    """Who differs in the first name alone is another one; misspelt names are found beside them."""
    draw = random.Random(7)
    first = [f"{one}{end}" for one in ("ann", "bert", "clar", "dirk", "em", "fried", "ge", "hann")
             for end in ("a", "il", "ord", "ine", "us", "ette", "ok", "ya")]  # fmt: skip
    rows: Rows = []
    for number in range(120):
        last, phone = f"{draw.choice(first)}sen{number}", str(555_000 + number)
        home = (last, f"{draw.randrange(1, 90)} mill road {number % 13}", phone)
        rows += [(name, *home) for name in draw.sample(first, draw.choice([1, 2, 3]))]
    pairs = set()
    for at in draw.sample(range(len(rows)), 25):
        pairs.add((at, len(rows)))
        rows.append((f"{rows[at][0]}x", *rows[at][1:]))
    kinds: dict[str, FieldKind] = {"first": "text", "last": "text", "street": "text",
                                   "phone": "exact"}  # fmt: skip
    assert f1(found(rows, kinds), pairs) > 0.9
    chances = match(rows, kinds).probabilities
    assert not ((chances > 0.01) & (chances < 0.5)).any()  # nobody is asked about families


@pytest.mark.parametrize("codes", [1, 2])
def test_two_equal_codes_speak_for_one_person(codes: int) -> None:
    """Who has the e-mail and the telephone of another first name is the same person."""
    rows: Rows = [
        (f"{'abcdefgh'[n % 8]}nn{n % 71}", f"sen{n}", f"{555_000 + n}", f"mail{n}at{n * 7}")
        for n in range(150)
    ]
    rows += [
        (f"zoe{n}", *rows[n][1 : 2 + codes], *[f"mail{n}by{n}"] * (2 - codes)) for n in range(30)
    ]
    kinds: dict[str, FieldKind] = {"first": "text", "last": "text", "phone": "exact",
                                   "mail": "exact"}  # fmt: skip
    assert len(found(rows, kinds)) == (30 if codes == 2 else 0)


def test_variants_that_differ_in_a_field() -> None:
    """Records that are equal but for a serial number are not taken for the same."""
    rows, _ = products(150, 0)
    again = [(name, price, str(1_000 + at)) for at, (name, price, _) in enumerate(rows[:40])]
    serial = [(name, price, str(2_000 + at)) for at, (name, price, _) in enumerate(rows)]
    assert not found([*serial, *again], PRODUCTS)


def test_notices_of_one_journal() -> None:
    """Notices of equal title, editor, journal and year are not the same if their pages differ."""
    draw = random.Random(3)
    rows: Rows = []
    for number in range(400):
        title = " ".join(draw.choices([f"word{at}" for at in range(600)], k=7))
        author = f"author{draw.randrange(900)}"
        journal, page = f"journal{number % 8}", draw.randrange(900)
        if number % 4 == 0:
            title, author = "editorial", f"editor{number % 8}"
        rows.append((title, author, journal, f"{2000 + number % 5}", f"{page}"))
    known = set()
    for at in range(1, 400, 5):
        title, author, journal, year, pages = map(str, rows[at])
        known.add((at, len(rows)))
        changed = (f"{title[:-1]}x", author, journal, year, pages)
        rows.append(changed if at % 2 else (title, "", journal, year, pages))
    kinds: dict[str, FieldKind] = {
        "title": "text", "author": "text", "journal": "text", "year": "exact", "pages": "exact",
    }  # fmt: skip
    assert f1(found(rows, kinds), known) > 0.95


def test_what_others_share_is_told() -> None:
    """The last line of evidence says if others agree as much, or all is equal, and sums hold."""
    copies: Rows = [(f"item{at % 4} {at % 3}", f"town{at % 6}") for at in range(48)]
    values = list(zip(*copies, strict=True))
    columns = columns_of(values, {"item": "text", "town": "exact"})
    forms = join_values(values)
    matcher = RecordMatcher(columns=columns, forms=forms, frequencies=count_words(forms))
    pairs = all_candidates(len(copies)).pairs
    chances = matcher.match(pairs)
    some = range(0, len(pairs), 40)
    for at, evidence in zip(some, matcher.explain(pairs[some]), strict=True):
        odds = sum(one.bits for one in evidence)
        if chances[at]:
            assert 1 / (1 + 2**-odds) == pytest.approx(chances[at])


@pytest.mark.parametrize("least", [0.02, 0.5, 0.98])
def test_pairs_that_cannot_match_are_left_out_alone(least: float) -> None:
    """By weights that are known: all others have the probability that they have anyway."""
    rows, _ = people(300, 80, seed=3)
    rows += [(*rows[at][:3], None) for at in range(0, 300, 40)] + [(None,) * 4] * 2
    values = list(zip(*rows, strict=True))
    columns, forms = columns_of(values, KINDS), [*map(normalize, join_values(values))]
    pairs = all_candidates(len(rows)).pairs
    known = match_fields(columns, pairs, compare_whole(forms, pairs)).weights
    for are_matches in (known.are_matches, [False, True, True], [False] * 3):
        weights = replace(known, are_matches=np.array(are_matches))
        matcher = RecordMatcher(
            columns=columns, forms=forms, frequencies=count_words(forms), weights=weights
        )
        every, some = matcher.match(pairs), matcher.match(pairs, least=least)
        assert (some[every >= least] == every[every >= least]).all()
        assert ((some == every) | (some == 0.0)).all()
        assert np.count_nonzero(some) <= np.count_nonzero(every >= least) + len(pairs) / 50


VALUES = st.one_of(
    st.none(), st.sampled_from(["", "mill", "mill road", "1999-01-01", "2", "x" * 70, "京都"]),
    st.text(max_size=6), st.integers(-5, 5), st.floats(),
)  # fmt: skip


@settings(deadline=None, max_examples=sized(usual=37, full=150))
@given(st.lists(st.tuples(VALUES, VALUES, VALUES, VALUES), min_size=1, max_size=8))
def test_any_values(rows: Rows) -> None:
    """Whatever the values are, probabilities lie in 0..1, or one message says what is wrong."""
    kinds: dict[str, FieldKind] = {"a": "text", "b": "exact", "c": "number", "d": "date"}
    try:
        matches = match(rows, kinds)
    except ArgumentError:
        return
    assert ((matches.probabilities >= 0) & (matches.probabilities <= 1)).all()
    assert np.isfinite(matches.weights.rates).all()
    assert all(np.isfinite(row.bits) for row in matches.weights.table())


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 100))
def test_the_order_of_records_does_not_matter(seed: int) -> None:
    """The same records in another order have the same matches."""
    rows, _ = people(40, 10, seed)
    order = random.Random(seed).sample(range(len(rows)), len(rows))
    places = {row: at for at, row in enumerate(order)}
    moved = {
        (min(places[one], places[other]), max(places[one], places[other]))
        for one, other in found(rows)
    }
    assert found([rows[at] for at in order]) == moved


FIRST_TWO = all_candidates(2).pairs
VALUES = st.none() | st.sampled_from(
    ["Mill Street 5", "mill street 5th", "St. Mill", "", "5", "old"]
)


@given(st.lists(VALUES, min_size=2, max_size=8), st.lists(VALUES, max_size=8))
def test_a_sample_is_counted_instead(own: list[str | None], others: list[str | None]) -> None:
    """Records beside a sample agree up to the same levels, whichever come with them."""
    pairs = all_candidates(len(own)).pairs
    for kind in ("text", "exact"):
        sample = make_column("name", kind, others)
        made = make_column("name", kind, own, sample)
        assert made.counts[: len(sample.counts)].tolist() == sample.counts.tolist()
        alone = [
            compare_fields([make_column("name", kind, [own[one], own[other]], sample)], FIRST_TWO)
            for one, other in pairs.tolist()
        ]
        assert (compare_fields([made], pairs) == np.concatenate(alone)).all()


def test_numbers_beside_a_sample() -> None:
    """Values of the sample come first, and only its records are counted."""
    made = make_column("size", "number", ["2", "5", None], make_column("size", "number", "53"))
    assert (made.values, made.numbers.tolist()) == (("5.0", "3.0", "2.0"), [2, 0, MISSING])
    assert (made.counts.tolist(), made.parsed.ravel().tolist()) == ([1, 1, 0], [5, 3, 2])
