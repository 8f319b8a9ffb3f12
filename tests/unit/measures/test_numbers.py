"""Numbers of short texts are whole, and links, hashes and ids are no numbers."""

from __future__ import annotations

import base64
import random
import string
import uuid
from collections.abc import Callable

import pytest

import neardup_solr as nd

PLACES = "mill lane boat lamp heron otter weir quay barn ford holm cliff moss harbour market church"
THINGS = "river museum library bridge station garden school concert evening ticket square bottle"
WORDS = [*PLACES.split(), *THINGS.split()]
COUNT = 20
EASTERN = {ord("0") + digit: "\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669"[digit]
           for digit in range(10)}  # fmt: skip


def write_digit(end: str) -> Callable[[int], str]:
    """Return what writes the end of a text, with a digit of its number."""
    return lambda at: end.format(at % 9 + 1)


def count_near(first: Callable[[int], str], second: Callable[[int], str], words: int = 6) -> int:
    """Count the copies that are found among pairs of texts that end in two ways."""
    draw = random.Random(1)
    rows = []
    for at in range(COUNT):
        text = " ".join(draw.sample(WORDS, words))
        rows += [{"id": f"{at}a", "text": f"{text} {first(at)}"},
                 {"id": f"{at}b", "text": f"{text} {second(at)}"}]  # fmt: skip
    found = nd.duplicates(rows, measure="records")
    return sum(pair.id[:-1] == pair.other_id[:-1] for pair in found.pairs)


def draw_from(letters: str, count: int) -> Callable[[int], str]:
    """Draw so many letters each time."""
    draw = random.Random(letters)
    return lambda _: "".join(draw.choices(letters, k=count))


any_letters = draw_from(string.ascii_letters + string.digits, 12)
only_letters, hexadecimal = draw_from(string.ascii_letters, 10), draw_from("0123456789abcdef", 40)


@pytest.mark.parametrize(
    "name",
    [
        lambda at: f"https://t.co/{any_letters(at)}",
        lambda at: f"https://t.co/{only_letters(at)}",
        lambda at: f"see bit.ly/{any_letters(at)}",
        lambda at: f"(www.example.org/a?utm_source={any_letters(at)}#b)",
        lambda at: f"doi:10.1000/{any_letters(at)}",
        lambda at: f"<{any_letters(at)}.20240{at:03}1@mail.example.org>",
        lambda at: f"{uuid.UUID(int=random.Random(any_letters(at)).getrandbits(128))}",
        lambda at: f"sha1 {hexadecimal(at)}",
        lambda at: f"session id: {hexadecimal(at)[:16]}",
        lambda at: base64.b64encode(random.Random(any_letters(at)).randbytes(24)).decode(),
    ],
)
def test_texts_that_are_equal_but_for_names(name: Callable[[int], str]) -> None:
    """Links in any form, hashes, UUIDs, ids of messages and sessions keep no copies apart."""
    assert count_near(name, name) == COUNT


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{} mg", "0.{} mg"),
        ("{}mg", "0,{}mg"),
        ("{} mg", ".{} mg"),
        ("{},000.00", "{}0,000.00"),
        ("3.{}.4", "3.{}.5"),
        ("on 2024-0{}-14", "on 2024-0{}-15"),
        ("on 14 March 200{}", "on 15 March 200{}"),
        ("at {}:15", "at {}:45"),
        ("-{} \u00b0C", "{} \u00b0C"),
        ("1{}.5 %", "1{}.7 %"),
        ("host 10.0.0.{}", "host 10.0.1.{}"),
        ("\u0665{} mg", "\u0660\u066b\u0665{} mg"),
        ("volume II", "volume III"),
        ("1:{}00", "1:{}000"),
        ("size XL", "size XXL"),
        ("size S", "size M"),
    ],
)
@pytest.mark.parametrize("words", [3, 6])
def test_other_numbers(first: str, second: str, words: int) -> None:
    """Texts of other amounts, versions, dates, times or sizes are no copies."""
    assert count_near(write_digit(first), write_digit(second), words) == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{}.5 kg", "{},5 kg"),
        ("{}mg", "{} mg"),
        ("{},250.00 EUR", "{}.250,00 EUR"),
        ("{},250", "{}250"),
        ("{}.0 kg", "{} kg"),
        ("v{}.1.2", "{}.1.2"),
        ("2024-05-1{}", "1{}.05.2024"),
        ("at {}:30 pm", "at {}:30 p.m."),
        ("(310) 475-98{}7", "310.475.98{}7"),
        ("0415 2645{}7", "04152645{}7"),
        ("3/1{} Smith Street", "Unit 3, 1{} Smith Street"),
        ("{}:279-292, 1995", "vol {}, pages 279-292, 1995"),
        ("2019/2020 no {}", "2019-2020 no {}"),
        ("\u0665{} mg", "5{} mg"),
        ("part II of {}", "part 2 of {}"),
        ("5th of {}", "fifth of {}"),
        ("anna{}@example.org", "Anna{}@example.org"),
        ("sizes 5/6/{}", "sizes 5, 6, {}"),
    ],
)
def test_the_same_numbers(first: str, second: str) -> None:
    """Texts of the same numbers in another notation are copies, as they were."""
    assert count_near(write_digit(first), write_digit(second)) == COUNT


def test_codes_are_no_hashes() -> None:
    """Products of other codes are no copies, even if these have hexadecimal digits."""
    assert count_near(lambda at: f"A{at}B2C3D", lambda at: f"E{at}F5A6B") == 0
    assert count_near(lambda at: f"WH-10{at}0XM4", lambda at: f"WH-10{at}0XM5") == 0


def test_initials_are_no_sizes() -> None:
    """In a file of names, S and L stand for the words that they begin."""
    names = [f"{first} {letter} {last}" for first, letter, last in
             zip(WORDS, "ABCDEFGHJKNPRTVW" * 2, reversed(WORDS), strict=False)]  # fmt: skip
    rows = [*enumerate([*names, "Sarah Holmberg Leeds Quay", "S Holmberg Leeds Quay",
                        "Tromso Laura Moelund", "Tromso L Moelund"])]  # fmt: skip
    pairs = nd.duplicates(rows, measure="records").pairs
    near = {(pair.id, pair.other_id) for pair in pairs}
    assert {(len(names), len(names) + 1), (len(names) + 2, len(names) + 3)} <= near


def test_sizes_are_no_initials() -> None:
    """S does not stand for summer, nor L for light, in a file of things with sizes."""
    things = enumerate(zip(WORDS, WORDS[7:], strict=False))
    rows = [(at, f"{one} {other} {'SML'[at % 3]}") for at, (one, other) in things]
    rows += [(100, "light cable, S"), (101, "summer cable, L")]
    assert nd.duplicates(rows, measure="records").pairs == ()


def test_texts_of_links_are_compared_by_them() -> None:
    """Links of other pages are no copies, nor are a few words with other links."""
    links = [f"https://example.org/{word}/page-{at}" for word in WORDS for at in (1, 2)]
    same = [link.replace("https://", "http://www.") for link in links[::2]]
    found = nd.duplicates([*enumerate(links + same)], measure="records")
    assert {(pair.id, pair.other_id) for pair in found.pairs} == {
        (2 * at, len(links) + at) for at in range(len(same))
    }
    posts = [f"New photo: https://t.co/{any_letters(at)}" for at in range(COUNT)]
    assert nd.duplicates([*enumerate(posts)], measure="records").pairs == ()


def test_few_very_short_texts() -> None:
    """A dozen names of medicines are not all near each other."""
    rows = [
        *enumerate(f"{name} {dose} tablets" for name in WORDS[:6] for dose in ("5 mg", "0.5 mg"))
    ]
    assert nd.duplicates(rows).pairs == ()


def test_explain_shows_whole_numbers() -> None:
    """A pair is explained by the words and the similarity by which it is compared."""
    rows = [{"id": f"{at}{end}", "text": f"{one} {other} {at}.5 kg{end}"}
            for at, (one, other) in enumerate(zip(WORDS, WORDS[5:], strict=False))
            for end in ("", " box")]  # fmt: skip
    pair = next(pair for pair in nd.duplicates(rows).pairs if pair.id == "7")
    facts = nd.explain(rows, "7", "7 box").facts
    assert facts.similarity == pytest.approx(pair.similarity)
    assert "7.5" in [row.first for row in facts.alignment or ()]


@pytest.mark.parametrize(("other", "least", "most"), [("{}0,{}.50", 0, 0), ("{}{}.50", 30, 120)])
def test_numbers_in_fields_of_text(other: str, least: int, most: int) -> None:
    """Other amounts in a field of text keep records apart, the same in another notation do not."""
    draw = random.Random(1)
    rows = []
    for at in range(60):
        one, two = draw.sample(WORDS, 2)
        parts = draw.randrange(1, 9), draw.randrange(100, 999)
        amount = "{},{}.50".format(*parts)
        rows += [
            {"id": f"{at}a", "name": f"{one} {two}", "price": amount},
            {"id": f"{at}b", "name": f"{one}{two[0]} {two}", "price": amount},
            {"id": f"{at}c", "name": f"{one} {two}", "price": other.format(*parts)},
        ]
    found = nd.duplicates(rows, fields=["name", "price"])
    pairs = {(pair.id, pair.other_id) for pair in found.pairs}
    assert {(f"{at}a", f"{at}b") for at in range(60)} <= pairs
    assert least <= sum("c" in f"{pair}" for pair in pairs) <= most


@pytest.mark.parametrize(
    "write",
    [
        lambda at: (f"in {1900 + at}", f"in {str(1900 + at).translate(EASTERN)}"),
        lambda at: (f"on {at + 1} March 2024", f"on 2024-03-{at + 1:02}"),
        lambda at: (f"on {at + 1}. April 2024", f"on {at + 1}.4.2024"),
        lambda at: (f"part {at + 1}", f"part {'I' * (at % 3 + 1)}" if at < 3 else f"part {at + 1}"),
        lambda at: (f"at -{at + 2} degrees", f"at \u2212{at + 2} degrees"),
        lambda at: ("\u00bd cup", "0.5 cup") if at % 2 else ("1 3/4 cup", "1.75 cup"),
        lambda at: (f"978-3-16-1484{at + 10}-0", f"9783161484{at + 10}0"),
        lambda at: (f"4111 1111 1111 11{at + 10}", f"41111111111111{at + 10}"),
    ],
)
def test_another_notation_is_no_doubt(write: Callable[[int], tuple[str, str]]) -> None:
    """Numbers in another notation are equal, and differ in no symbols."""
    draw = random.Random(2)
    rows = []
    for at in range(COUNT):
        text = " ".join(draw.sample(WORDS, 9))
        rows += [{"id": f"{at}{side}", "text": f"{text} {number}"}
                 for side, number in zip("ab", write(at), strict=True)]  # fmt: skip
    found = nd.duplicates(rows, measure="records")
    assert sum(pair.id[:-1] == pair.other_id[:-1] for pair in found.pairs) == COUNT
    assert (found.symbolic, found.numeric, found.doubt) == (0, 0, "")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2024-03-04", "2024-04-03"),
        ("4 March 2024", "3 April 2024"),
        ("March 4, 2024", "2024-04-03"),
        ("04.03.2024", "03.04.2024"),
        ("03/04/2024", "04/03/2024"),
    ],
)
def test_the_month_is_not_the_day(first: str, second: str) -> None:
    """Two dates are others though they have the same numbers."""
    assert count_near(lambda _: f"on {first}", lambda _: f"on {second}", words=12) == 0


@pytest.mark.parametrize("form", ["{day:02}/{month:02}/{year}", "{month:02}/{day:02}/{year}"])
@pytest.mark.parametrize("is_table", [False, True])
def test_the_source_tells_the_order_of_dates_with_slashes(form: str, is_table: bool) -> None:
    """Where most have 25/12 or 12/25, 03/04 is read alike, beside another notation."""
    draw = random.Random(3)
    rows: list[dict[str, str]] = []
    for at in range(2 * COUNT):
        date = {"day": at % 28 + 1, "month": draw.randint(1, 12), "year": 1950 + at}
        words = draw.sample(WORDS, 6)
        for side, way in (("a", form), ("b", "{year}-{month:02}-{day:02}")):
            row = {"name": " ".join(words[:3]), "note": f"born {way.format(**date)}",
                   "place": " ".join(words[3:])}  # fmt: skip
            rows.append(
                {"id": f"{at}{side}"} | (row if is_table else {"text": " ".join(row.values())})
            )
    found = nd.duplicates(rows, measure="auto" if is_table else "records")
    pairs = {(pair.id[:-1], pair.other_id[:-1]) for pair in found.pairs}
    assert pairs == {(str(at), str(at)) for at in range(2 * COUNT)}
    assert (found.symbolic, found.numeric) == (0, 0)


def test_other_signs_are_told() -> None:
    """A pair that is as similar as copies differs in a number if its sign is another."""
    rows = [("a", f"{' '.join(WORDS[:12])} +34"), ("b", f"{' '.join(WORDS[:12])} -34")]
    found = nd.duplicates(rows, measure="records")
    assert (len(found), found.numeric) == (1, 1)
    assert "numbers" in found.doubt
