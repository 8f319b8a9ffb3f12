"""duplicates of two tables that describe the same things in their own words."""

from __future__ import annotations

import csv
import math
import random
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.types import Answer
from tests.command import neardup

BRANDS = ("Aldor", "Brevik", "Castelo", "Dunmore", "Elvira")
THINGS = ("kettle", "toaster", "radio", "lamp", "speaker", "heater")
WORDS = ("compact", "quiet", "stainless steel", "with timer", "for travel", "energy saving")
COLOURS = ("black", "white", "silver", "red")
SHARED, OWN = 60, 30  # things that both shops sell, and that either sells alone

Row = dict[str, str]


def make_shops() -> tuple[list[Row], list[Row]]:
    """Make two catalogues, in which a thing has the same number as id."""
    draw = random.Random(4)
    models = draw.sample(range(100, 999), SHARED + 2 * OWN)
    first, second = list[Row](), list[Row]()
    for number, model in enumerate(models):
        brand, thing, colour = draw.choice(BRANDS), draw.choice(THINGS), draw.choice(COLOURS)
        code = f"{brand[:2].upper()}{model}"
        if number < SHARED + OWN:
            title = f"{brand} {code} {thing} {colour}"
            text = f"A {draw.choice(WORDS)} {thing} {draw.choice(WORDS)}, item {code}."
            price = f"{draw.uniform(10, 90):.2f}"
            first.append({"id": f"a{number}", "title": title, "text about": text, "price": price})
        if not SHARED <= number < SHARED + OWN:
            title = f"{thing.title()} {draw.choice(WORDS)} {brand}, {model}"
            text = f"{brand} offers this {colour} {thing}. Model: {code}"
            price = f"{draw.uniform(10, 90):.2f}" if draw.random() < 0.6 else ""
            second.append({"id": f"b{number}", "title": title, "text about": text, "price": price})
    draw.shuffle(second)
    return first, second


def write_shops(folder: Path) -> tuple[Path, Path]:
    """Write both catalogues as CSV."""
    for name, rows in zip("ab", make_shops(), strict=True):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return folder / "a.csv", folder / "b.csv"


def list_pairs(result: nd.Duplicates) -> set[tuple[str, str]]:
    """List the ids of pairs."""
    return {(str(pair.id), str(pair.other_id)) for pair in result.pairs}


TRUE = {(f"a{number}", f"b{number}") for number in range(SHARED)}


def test_things_that_two_shops_describe(tmp_path: Path) -> None:
    """Nearly all are found, and each record has one match at most."""
    first, second = write_shops(tmp_path)
    result = nd.duplicates(first, against=second)
    pairs = list_pairs(result)
    right = len(pairs & TRUE)
    assert 2 * right / (len(pairs) + len(TRUE)) > 0.85
    assert right == len(pairs)
    assert len({id for id, _ in pairs}) == len({id for _, id in pairs}) == len(pairs)
    assert result.linkage == "mutual_best"
    assert "`linkage` single" in result.chosen

    every = nd.duplicates(first, against=second, linkage="single")
    assert list_pairs(every) >= pairs
    assert every.linkage == "single"
    assert not every.chosen


def test_what_the_threshold_decides_is_told(tmp_path: Path) -> None:
    """The command says that there is one match for each, and that many are near the threshold."""
    first, second = write_shops(tmp_path)
    told = neardup("duplicates", str(first), "--against", str(second)).stderr
    assert "--linkage single" in told
    assert "neardup review" in told


def test_whole_records_are_explained(tmp_path: Path) -> None:
    """The bits of the fields, and of the whole record, sum up to the probability of a pair."""
    first, second = write_shops(tmp_path)
    result = nd.duplicates(first, against=second, texts=True)
    odds = [math.log2(pair.similarity / (1 - pair.similarity)) for pair in result.pairs]
    sums = [sum(each.bits for each in fields) for fields in result.origin.evidence.values()]
    assert sums
    assert sorted(sums) == pytest.approx(sorted(odds), abs=1e-6)


def test_answers_refine_what_was_learnt_beforehand(tmp_path: Path) -> None:
    """A model of answers about two sources begins with whole records, also when it is read."""
    first, second = write_shops(tmp_path)
    answers = tmp_path / "answers.jsonl"
    own = [(f"a{SHARED + at}", f"b{SHARED + OWN + at}") for at in range(8)]
    lines = [
        *(Answer(id=id, other_id=other, answer="same", ordered=True)
          for id, other in sorted(TRUE)[:8]),
        *(Answer(id=id, other_id=other, answer="different", ordered=True) for id, other in own),
    ]  # fmt: skip
    answers.write_bytes(b"".join(answer.to_line() for answer in lines))
    fields = ["title", "text about", "price:number"]
    training = nd.tune(first, answers=answers, against=second, fields=fields, output=tmp_path / "m")
    before = list_pairs(nd.duplicates(first, against=second))
    after = list_pairs(nd.duplicates(first, against=second, model=tmp_path / "m"))
    assert training.model.evidence is not None
    assert len(after & TRUE) >= 0.95 * len(before & TRUE)
    assert len(after - TRUE) <= len(before - TRUE) + 3


def test_members_of_a_family_are_apart(tmp_path: Path) -> None:
    """Others of the same address and telephone are no match, if nothing speaks for a slip."""
    draw, rows = random.Random(2), list[Row]()
    syllables = [f"{one}{two}" for one in "bdfgk" for two in "aeiou"]
    for at in range(60):
        family, street, *names = ("".join(draw.sample(syllables, 3)) for _ in range(4))
        phone = f"0160 {draw.randrange(100_000, 999_999)}"
        for side, name in zip("ab", names, strict=True):
            rows.append({"id": f"{side}{at}", "first name": name, "family": family,
                         "street": f"{at} {street} road", "phone": phone})  # fmt: skip
    assert not list_pairs(nd.duplicates(rows[::2], against=rows[1::2]))


def test_sides_without_a_match() -> None:
    """Empty values, one record, and records that share nothing."""
    one = [{"id": "1", "name": "Kiln bricks", "city": "Ulm"}]
    other = [{"id": "x", "name": "Grüner Tee", "city": "Kyoto"}]
    fields = ["name", "city"]
    assert not nd.duplicates(one, against=other, fields=fields).pairs
    same = nd.duplicates(one, against=[{**one[0], "id": "y"}], fields=fields)
    assert list_pairs(same) == {("1", "y")}
    none = [{"id": "z", "name": "", "city": ""}, {"id": "y", "name": "Ulm", "city": ""}]
    assert not nd.duplicates(one, against=none, fields=fields).pairs


@pytest.mark.parametrize("is_mixed", [False, True])
def test_two_shops_in_one_file(is_mixed: bool) -> None:
    """They are matched as two sources are, one after the other, or where a column is of one."""
    first, second = make_shops()
    for row in second[::2]:
        row["title"] += f" ({row['text about'].rpartition(' ')[2]})"
    rows = [{**row, "sold by": "", "warranty": f"{at % 3} years"} for at, row in enumerate(first)]
    rows += [{**row, "sold by": "Dunmore" if at % 2 else "Aldor", "warranty": ""}
             for at, row in enumerate(second)]  # fmt: skip
    fields = ["title", "text about", "price:number"]
    if is_mixed:
        random.Random(8).shuffle(rows)
        fields.append("warranty")
    result = nd.duplicates(rows, fields=fields)
    pairs = {(min(pair), max(pair)) for pair in list_pairs(result)}
    assert 2 * len(pairs & TRUE) / (len(pairs) + len(TRUE)) > 0.85
    assert len(pairs - TRUE) <= 2
    assert "`linkage` single" in result.chosen
    single = nd.duplicates(rows, fields=fields, linkage="single")
    assert not single.chosen
    assert single.linkage == "single"


@pytest.mark.parametrize("times", [1, 3])
def test_copies_at_the_end_of_a_list_are_no_other_list(times: int) -> None:
    """Copies that were appended are found among themselves, too."""
    draw, rows, copies = random.Random(5), list[Row](), list[Row]()
    syllables = [f"{one}{two}" for one in "bdfgklmnprst" for two in "aeiou"]
    for at in range(120):
        name, family, street = ("".join(draw.sample(syllables, 3)) for _ in range(3))
        row = {"name": f"{name} {family}", "street": f"{draw.randrange(1, 99)} {street} road",
               "born": f"19{draw.randrange(30, 99)}-{draw.randrange(1, 13):02}-17"}  # fmt: skip
        rows.append({"id": f"{at}", **row})
        for copy in range(times):
            cut = draw.randrange(3, len(row["name"]) - 3)
            typed = row["name"][:cut] + row["name"][cut + 1 :]
            copies.append({"id": f"{at}/{copy}", **row, "name": typed})
    draw.shuffle(copies)
    fields: dict[str, nd.types.FieldKind] = {"name": "text", "street": "text", "born": "date"}
    result = nd.duplicates([*rows, *copies], fields=fields)
    assert list_pairs(result) == list_pairs(
        nd.duplicates([*rows, *copies], fields=fields, linkage="single")
    )
