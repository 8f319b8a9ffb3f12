"""What has to be equal in near-duplicates: numbers, Roman numerals, and patterns."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from tests.refusals import refusal
from tests.split import write_copies


def difference(rule: Any, first: str, second: str) -> str:
    """What an explanation says that has to be equal by a rule, and is not."""
    documents = [nd.Document(id="1", text=first), nd.Document(id="2", text=second)]
    return str(nd.explain(documents, 1, 2, measure="words", equal=rule).facts.difference)


def list_numbers(text: str) -> list[str]:
    """The numbers of a text in sorted order, as the difference to a text without any."""
    numbers, found, _ = difference("numbers", text, "none of them").partition(" and none")
    return numbers.removeprefix("numbers ").split(", ") if found else []


def differ_in_numbers_alone(first: str, second: str) -> bool:
    """Tell whether a pair counts as one that differs in nothing but numbers."""
    pair = [nd.Document(id="1", text=first), nd.Document(id="2", text=second)]
    found = nd.duplicates(pair, measure="words", min_similarity=0.0)
    assert len(found.pairs) == 1
    return found.numeric == 1


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Version 3.1.4.", ["3.1.4"]),
        ("2019/2020 and 2019-2020", ["2019/2020", "2019-2020"]),
        ("pages 1\u20132", ["1-2"]),  # an en dash
        ("10.5 is not 5.10", ["10.5", "5.10"]),
        ("$1,299.50 or 12,500", ["1299.50", "12500"]),
        ("3,14", ["3.14"]),
        ("-5 and \u22125, 4-5", ["-5", "-5", "4-5"]),
        ("128GB, 128 GB, 5kg", ["128", "128", "5"]),
        ("iPhone 6s, A4, U2", ["6s", "a4", "u2"]),
        ("B-52, B52, 12-inch", ["b52", "b52", "12"]),
        ("\uff11\uff12 \u0661\u0662 m\u00b2", ["12", "12", "m2"]),
        ("Part II", ["2"]),
        ("vol. ii, Chapter I, Teil iv", ["2", "1", "4"]),
        ("Rocky III, Louis XIV", ["3", "14"]),
        ("I mix civil vitamin C, V. I. Smith, part of it", []),
        ("IIII VX IIX", []),
        ("no digits at all", []),
        ("", []),
    ],
)
def test_numbers_of_a_text(text: str, numbers: list[str]) -> None:
    """Numbers keep their separators; units, dashes, scripts and thousands do not count."""
    assert list_numbers(text) == sorted(numbers)


@pytest.mark.parametrize(
    ("rule", "first", "second", "is_equal"),
    [
        ("numbers", "release 3.1.4", "release 3.1.5", False),
        ("numbers", "3 eggs, 2 spoons", "2 spoons, 3 eggs", True),
        ("numbers", "one 7 and one 7", "one 7", False),
        ("numbers", "Part I", "Part II", False),
        ("numbers", "Part 2", "Part II", True),
        (r"\bnot\b", "you may smoke", "you may not smoke", False),
        (r"\bnot\b", "you may NOT smoke", "you may not smoke here", True),
        (r"[\w.]+@[\w.]+", "mail a@b.org", "mail c@b.org", False),
        ("[.!?]", "Really.", "Really?", False),
        ("symbols", "if x > 0", "if x < 0", False),
        ("symbols", "x > 0, \u201cyes\u201d", 'x > 0 "yes"', True),
    ],
)
def test_texts_have_equal_parts(rule: str, first: str, second: str, is_equal: bool) -> None:
    """Two texts fit together if they have the same of a rule, in any order and in any case."""
    assert (difference(rule, first, second) == "") is is_equal
    documents = [nd.Document(id="1", text=first), nd.Document(id="2", text=second)]
    found = nd.duplicates(documents, measure="words", min_similarity=0.0, equal=rule)
    assert (len(found.pairs) == 1) is is_equal


def test_several_rules_all_count() -> None:
    """Each rule of several has to be equal, and the first that is not is named."""
    rules = ["numbers", "not"]
    assert difference(rules, "not 1", "not 1") == ""
    assert difference(rules, "not 1.2", "1.3") == "numbers 1.2 and 1.3"
    assert difference(rules, "not 1", "1") == "not not and none"


def test_an_impossible_pattern_is_refused() -> None:
    """A pattern that is no regular expression is one clear error."""
    with pytest.raises(nd.ArgumentError, match="regular expression"):
        nd.duplicates([], equal="(")


def test_a_rule_that_lacks_its_last_letter_is_refused() -> None:
    """`number` would be a pattern that nobody means."""
    with pytest.raises(nd.ArgumentError) as raised:
        nd.duplicates([], equal="number")
    assert "numbers" in raised.value.next_step


@pytest.mark.parametrize(
    ("first", "second", "alone"),
    [
        ("Release 3.1.4 notes", "Release 3.1.5 notes", True),
        ("The roses, Part I", "The roses, Part II", True),
        ("Release 3.1.4 notes", "Release 3.1.5 news", False),
        ("The same text", "The same text", False),
        ("Room 5, floor 2", "Room 2, floor 5", False),  # the same numbers
        ("fixed in 99bccdef today", "fixed in eebc11bf today", False),
        ("fixed in e3052287 today", "fixed in 4a73c591 today", False),
        ("order ab12345 of today", "order ab12346 of today", True),
        ("bought 128GB of it", "bought 256GB of it", True),
        ("on 03/04/2024", "on 2024-04-03", False),  # slashes leave the order open
    ],
)
def test_texts_differ_in_numbers_alone(first: str, second: str, alone: bool) -> None:
    """Only pairs of equal words and other numbers differ in numbers alone."""
    assert differ_in_numbers_alone(first, second) is alone


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("born 1845-02-14 in Rome", "born 14.02.1845 in Rome"),
        ("born 1845-02-14 in Rome", "born 02/14/1845 in Rome"),
        ("born 1845-02-14 in Rome", "born 14 February 1845 in Rome"),
        ("born 1845-02-14 in Rome", "born February 14th, 1845 in Rome"),
        ("am 14. Februar 1845 da", "am 14.2.1845 da"),
        ("1845\u5e742\u670814\u65e5", "1845-02-14"),
        ("on 2020-03-04T00:00:00Z", "on 03/04/2020"),
        ("room 12, 1845-02-14", "room 12, 14.02.1845"),
        ("at 10:30 pm there", "at 22:30 there"),
        ("call 0415 264577 now", "call 0415-264577 now"),
        ("call (310) 475-9807", "call 310/475-9807"),
        ("tel +49 (0)30 1234567", "tel 030/1234567"),
        ("01.23.45.67.89", "01 23 45 67 89"),
        ("ISBN 978-0-306-40615-7", "ISBN 9780306406157"),
        ("price $1,299.00 only", "price $1299 only"),
        ("1.299,00 \u20ac net", "1299.00 \u20ac net"),
        ("12 500 people", "12'500 people"),
        ("pages 3\u20135", "pages 3 - 5"),
        ("\u0661\u0662\u0663\u0664 books", "1234 books"),
        ("\uff11\uff12\uff13 books", "123 books"),
        ("see http://a.org/x/12 today", "see http://a.org/x/13 today"),
        ("see example.org/p-1", "see example.org/p-2"),
        ("commit a1b2c3d4 x", "commit d4c3b2a1 x"),
        ("7f3e9c1a-1111-4222-8333-0123456789ab", "8f3e9c1a-1111-4222-8333-0123456789ab"),
        ("session id: 4711 ended", "session id: 4712 ended"),
        ("\u00bd cup of milk", "0.5 cup of milk"),
        ("1 1/4 cups of milk", "1.25 cups of milk"),
        ("card 4111 1111 1111 1111", "card 4111111111111111"),
        ("am 3.4.2021 da", "am 2021-04-03 da"),
    ],
)
def test_the_same_in_another_notation(first: str, second: str) -> None:
    """Dates, telephones, prices and digits in another notation, links and ids are no difference."""
    assert difference("numbers", first, second) == ""
    assert not differ_in_numbers_alone(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("model 12", "model 13"),
        ("invoice 1001", "invoice 1002"),
        ("invoice INV-2024-0001", "invoice INV-2024-0002"),
        ("1.5 kg", "15 kg"),
        ("version 1.10", "version 1.1"),
        ("host 10.0.0.1", "host 10.0.0.2"),
        ("they won 2-3", "they won 3-2"),
        ("Sony WH-1000XM4", "Sony WH-1000XM5"),
        ("on 2024-01-01", "on 2024-01-08"),
        ("14 February 1845", "15 February 1845"),
        ("call 0415 264577", "call 0415 264578"),
        ("for $12.50", "for $12.60"),
        ("on 2024-03-04", "on 2024-04-03"),
        ("on 03/04/2024", "on 04/03/2024"),
        ("\u00bd cup of milk", "\u00bc cup of milk"),
    ],
)
def test_other_values(first: str, second: str) -> None:
    """Numbers that are others are told, whatever kind they are of."""
    assert difference("numbers", first, second) != ""
    assert differ_in_numbers_alone(first, second)


@pytest.mark.parametrize("part", ["0", "1 ", "a1", "1,", "1.1.", "a@", "(1", "id ", "id-", "\n"])
def test_numbers_are_listed_in_linear_time(part: str) -> None:
    """No text makes the patterns go back and forth."""
    rows = [(id, f"a word {part * 100_000}") for id in ("1", "2")]
    assert len(nd.duplicates(rows, measure="estimate", equal="numbers").pairs) == 1


ALERT = "the disk of the host {0} in the room {1} of the house is at {2} percent this morning"
WORDS = "mill lane boat lamp heron otter weir quay barn ford holm cliff moss".split()  # noqa: SIM905
BOOK = "History of the great war of the roses Part {} told by many old men here"
RELEASE = "Release notes of the program Alpha version {} for all users of it"
ROWS = [
    ("1", RELEASE.format("3.1.4")),
    ("2", RELEASE.format("3.1.5")),
    ("3", RELEASE.format("3.1.4") + " now"),
    ("4", BOOK.format("I")),
    ("5", BOOK.format("II")),
]


@pytest.mark.parametrize("measure", ["words", "jaccard", "aligned", "estimate"])
@pytest.mark.parametrize("by", ["all", "bands"])
def test_duplicates_have_equal_numbers(measure: str, by: str) -> None:
    """By any measure, pairs of other numbers are not found, and those of equal ones still are."""
    kept: dict[str, Any] = {"measure": measure, "by": by, "min_similarity": 0.4}
    near = nd.duplicates(ROWS, **kept)
    assert {("1", "2"), ("1", "3"), ("4", "5")} <= {(p.id, p.other_id) for p in near.pairs}
    equal = nd.duplicates(ROWS, equal="numbers", **kept)
    assert [(pair.id, pair.other_id) for pair in equal.pairs] == [("1", "3")]


def test_complete_linkage_has_equal_numbers() -> None:
    """The pairs that complete linkage compares on its own have equal numbers, too."""
    equal = nd.duplicates(ROWS, equal="numbers", linkage="complete", measure="words")
    assert [len(cluster.members) for cluster in equal.clusters] == [2]


def test_pairs_of_other_numbers_are_not_removed_unasked(tmp_path: Path) -> None:
    """Most pairs differ in numbers alone: alerts of two hosts are no copies of each other."""
    rows = [{"id": f"{one}{end}", "text": ALERT.format(WORDS[one], WORDS[one + 1], 17 + one + end)}
            for one in range(12) for end in range(2)]  # fmt: skip
    path = tmp_path / "alerts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    clean = tmp_path / "clean.jsonl"
    how: dict[str, Any] = {"measure": "words", "min_similarity": 0.9}
    with refusal(nd.errors.TemplateError, "templates", "12 of 12", "numbers"):
        write_copies(path, unique=clean, **how)
    assert not clean.exists()
    unique = write_copies(path, unique=clean, yes=True, **how)[1]
    assert unique is not None
    assert unique.removed == 12
    assert nd.duplicates(path, equal="numbers", **how).pairs == ()


NOTATIONS = [
    ("1845-0{0}-14", "14.0{0}.1845"), ("0415 2645{0}7", "0415-2645{0}7"),
    ("$1,2{0}9.00", "$12{0}9"), ("http://a.org/{0}/1", "http://b.org/{0}/2"),
]  # fmt: skip


CUT = [
    ("call 0497 / 47 08 {0}2 soon", "call 0497-4708{0}2 soon"),
    ("+49 (0)40 1234{0}6", "040 1234{0}6"), ("14.0{0}.20", "14.0{0}.2020"),
    ("0{0}/2024", "0{0}.2024"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), CUT)
def test_what_a_number_lacks_is_no_difference(first: str, second: str) -> None:
    """Groups of digits, the code of a country and a century ask nobody, unless they differ."""
    text = " ".join(WORDS * 3)
    pairs = {
        "same": (first.format(3), second.format(3)),
        "other": (first.format(3), second.format(4)),
    }
    found = {
        name: nd.duplicates([f"{text} {one} {text}" for one in both], measure="words")
        for name, both in pairs.items()
    }
    assert (len(found["same"]), found["same"].doubt) == (1, "")
    assert found["other"].doubt


@pytest.mark.parametrize(("first", "second"), NOTATIONS)
def test_another_notation_is_removed_unasked(tmp_path: Path, first: str, second: str) -> None:
    """Letters and their copies, with dates, telephones, prices or links in their notation."""
    rng = random.Random(1)
    letters = [" ".join(rng.choices(WORDS, k=30)) for _ in range(20)]
    rows = [
        {"id": f"{at}-{side}", "text": f"{letter} {form.format(at % 9 + 1)} {letter}"}
        for at, letter in enumerate(letters)
        for side, form in enumerate((first, second))
    ]
    path, clean = tmp_path / "letters.jsonl", tmp_path / "clean.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    how: dict[str, Any] = {"measure": "words", "min_similarity": 0.7}
    found, unique = write_copies(path, unique=clean, **how)
    assert (found.numeric, unique and unique.removed) == (0, 20)
    assert len(nd.duplicates(path, equal="numbers", **how).pairs) == 20


def test_fields_that_are_equal_are_no_difference() -> None:
    """A date, a number and a code that their kind calls equal keep no records apart."""
    rows = [
        {"id": f"{at}{side}", "name": f"{one} {two} of the {at % 7} mills", "born": born,
         "code": code, "price": price}
        for at, (one, two) in enumerate((a, b) for a in WORDS[:6] for b in WORDS[6:])
        for side, born, code, price in (
            ("a", f"19{at + 10}-03-1{at % 9}", f"A-{at}/7", f"{at},50"),
            ("b", f"1{at % 9}/03/19{at + 10}", f"a{at}7", f"{at}.5 EUR"),
        )
    ]  # fmt: skip
    fields: dict[str, nd.types.FieldKind] = {
        "name": "text",
        "born": "date",
        "code": "exact",
        "price": "number",
    }
    found = nd.duplicates(rows, fields=fields)
    true = {(f"{at}a", f"{at}b") for at in range(42)}
    assert true <= {(pair.id, pair.other_id) for pair in found.pairs}
    assert found.numeric == 0
    apart = nd.duplicates(rows, fields=fields, equal="numbers")
    assert true <= {(pair.id, pair.other_id) for pair in apart.pairs}


def test_advice_is_counted() -> None:
    """The rule that is named is tried: the pairs that it would separate are counted."""
    found = nd.duplicates(ROWS, measure="words", min_similarity=0.4)
    left = nd.duplicates(ROWS, measure="words", min_similarity=0.4, equal="numbers")
    assert found.separated["numbers"] == len(found.pairs) - len(left.pairs)


OPERATORS = "the pump in the cellar of the {} is started if {} for more than one hour or so"


def test_the_same_words_are_no_exact_copies(tmp_path: Path) -> None:
    """Texts that differ in an operator are not removed unasked; reprints are exact copies."""
    rows = [{"id": f"{word}{at}", "text": OPERATORS.format(word, check)} for word in WORDS[:3]
            for at, check in enumerate(("x > 0", "x < 0", "(x < 0)"))]  # fmt: skip
    path, clean = tmp_path / "rules.jsonl", tmp_path / "clean.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    how: dict[str, Any] = {"measure": "words", "min_similarity": 0.97}
    found = nd.duplicates(path, **how)
    assert (found.copies, found.symbolic, found.separated["symbols"]) == (3, 6, 6)
    with refusal(nd.errors.TemplateError, "templates", "6 of 9", "symbols"):
        write_copies(path, unique=clean, **how)
    assert not clean.exists()
    equal, unique = write_copies(path, unique=clean, equal="symbols", **how)
    assert (equal.copies, len(equal.pairs), unique and unique.removed) == (3, 3, 3)


def test_records_with_ids_that_are_equal_in_few_fields(tmp_path: Path, caplog: Any) -> None:
    """Computers of one model are not removed unasked, as each has a tag and a serial number."""
    path, clean = tmp_path / "assets.csv", tmp_path / "clean.csv"
    rows = [f"PC-{n:05},SN{n * 7919 % 90_001 + 10_000},model {n % 5},{WORDS[n % 7]}"
            for n in range(200)]  # fmt: skip
    path.write_text("\n".join(["asset_tag,serial,model,site", *rows]) + "\n")
    with refusal(nd.errors.TemplateError, "templates", "165", "serial"):
        write_copies(path, unique=clean)
    assert not clean.exists()
    caplog.clear()
    assert len(nd.duplicates(path).removed) == 165
    assert any("Possibly not copies" in line for line in caplog.messages)
    other = tmp_path / "others.csv"
    other.write_text(path.read_text().replace("PC-", "NB-"))
    unique = write_copies(path, against=other, unique=clean)[1]
    assert unique is not None  # what was delivered before goes, under any id
    assert unique.removed == 200
    kept_apart: dict[str, nd.types.FieldKind] = {"serial": "exact", "model": "text", "site": "text"}
    assert nd.duplicates(path, fields=kept_apart).pairs == ()


def test_pairs_of_other_numbers_are_counted() -> None:
    """The result counts the pairs that differ in numbers alone, unless they are kept apart."""
    assert nd.duplicates(ROWS, measure="words").numeric == 2
    assert nd.duplicates(ROWS, measure="words", equal="numbers").numeric == 0
