"""Write `people.csv`, 3,000 messy records of invented people, and `truth.csv`, pairs of one person.

    python messy.py
    python messy.py 30 neardup review people.csv ...

They are always the same two files. One home in eight has two to four people of one name, with one
street and telephone; one person in six is there more than once. Each record is typed anew: with
slips, abbreviations, and values that are swapped, left out or out of date. The second form plays a
person: it answers 30 questions of the page of a review, by `truth.csv`.
"""

import csv
import json
import random
import signal
import subprocess
import sys
import time
from itertools import combinations
from typing import Any
from urllib.request import Request, urlopen

RECORDS = 3_000
Person = dict[str, str]
FIRST = """Ada Adam Agnes Alan Alice Amos Anna Arthur Barbara Bella Bernard Carl Carol Cecil Clara
Conrad Cora Daniel Dora Edgar Edith Elias Elisabeth Emil Emma Ernest Esther Eva Felix Flora Frances
Frederick George Gerald Greta Hanna Harold Helen Henry Hugo Ida Irene Jacob Jane Joan Jonathan Julia
Katherine Laura Leo Lena Linda Louis Lucy Margaret Maria Martha Martin Max Michael Nathaniel Nina
Nora Oliver Otto Paul Paula Philip Rachel Robert Rosa Rupert Samuel Sarah Simon Sophia Theodore
Thomas Vera Victor Walter William"""
LAST = (
    "Ash Black Brook Cald East Fair Green Hart Holm Lang Linden Marl North Oak Rad Sand Stan Thorn",
    "berg by field ford ley son ton well wood worth",
)
ROADS = (
    "Church Mill Station Castle Harbour Orchard Garden Bridge Abbey King's School Park Meadow",
    "Street Road Lane Avenue Square",
)
TOWNS = """Aldermoor Birchester Coldbrook Dunwick Eastmere Fernhollow Greywater Hollinside Ivybridge
Kingsmarket Longstrand Millhaven Newsted Oldcastle Penrow Quarryhill Redmarsh Stonecross"""
SHORT = {
    "Street": "St.", "Road": "Rd", "Avenue": "Ave", "Square": "Sq.", "Lane": "Ln",
    "Daniel": "Dan", "Elisabeth": "Lisa", "Frederick": "Fred", "Jonathan": "Jon",
    "Katherine": "Kate", "Margaret": "Maggie", "Michael": "Mike", "Nathaniel": "Nat",
    "Robert": "Bob", "Samuel": "Sam", "Theodore": "Ted", "Thomas": "Thos", "William": "Wm.",
}  # fmt: skip


def choose_words(draw: random.Random, *lists: str, between: str = "") -> str:
    """Choose a word of each list, and join them."""
    return between.join(draw.choice(words.split()) for words in lists)


def make_address(draw: random.Random) -> Person:
    """Invent a street and a telephone."""
    return {
        "street": f"{draw.randint(1, 120)} {choose_words(draw, *ROADS, between=' ')}",
        "phone": f"0{draw.randint(200, 999)} {draw.randint(100_000, 999_999)}",
    }


def make_home(draw: random.Random) -> list[Person]:
    """Invent the one to four people of a home."""
    home = {"street": "", "town": choose_words(draw, TOWNS)} | make_address(draw)
    last = choose_words(draw, *LAST)
    people = []
    for first in draw.sample(FIRST.split(), draw.choices((1, 2, 3, 4), (88, 8, 2, 2))[0]):
        born = f"{draw.randint(1935, 2005)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        people.append({"name": f"{first} {last}"} | home | {"born": born})
    return people


def type_record(person: Person, draw: random.Random) -> Person:
    """Type what is known of a person, with up to three things that go wrong."""
    typed = dict(person)
    first, last = typed["name"].split()
    for _ in range(draw.choice((0, 0, 0, 1, 1, 2, 3))):
        match draw.randrange(8):
            case 0:
                typed["name"] = draw.choice((f"{last}, {first}", f"{first[0]}. {last}"))
            case 1:
                for column in ("name", "street"):
                    words = typed[column].split()
                    typed[column] = " ".join(SHORT.get(word, word) for word in words)
            case 2:
                typed["street"], typed["town"] = typed["town"], typed["street"]
            case 3:
                typed |= make_address(draw)  # an old one
            case 4:
                typed[draw.choice(("street", "town", "phone", "born"))] = ""
            case 5:
                typed["phone"] = typed["phone"].replace(" ", draw.choice(("-", "/", "")))
            case 6:
                typed["born"] = "/".join(reversed(typed["born"].split("-")))
            case _:
                column = draw.choice(("name", "street", "town"))
                typed[column] = slip(typed[column], draw)
    return typed


def slip(text: str, draw: random.Random) -> str:
    """Leave a letter out, double it, or let it change places with the next one."""
    if len(text) < 2:
        return text
    at = draw.randrange(len(text) - 1)
    one, other = text[at], text[at + 1]
    return text[:at] + draw.choice((other, one + one + other, other + one)) + text[at + 2 :]


def make_files() -> None:
    """Write both files."""
    draw = random.Random(28)
    records: list[tuple[int, Person]] = []  # with the number of the person
    people = 0
    while len(records) < RECORDS:
        for person in make_home(draw):
            people += 1
            times = draw.choices((1, 2, 3, 4), (82, 14, 3, 1))[0]
            records += [(people, type_record(person, draw)) for _ in range(times)]
    del records[RECORDS:]
    draw.shuffle(records)
    numbered = list(enumerate(records, 1))
    write("people.csv", [["id", *records[0][1]], *([n, *one.values()] for n, (_, one) in numbered)])
    of = sorted((number, at) for at, (number, _) in numbered)
    same = ((a, b) for (x, a), (y, b) in combinations(of, 2) if x == y)
    write("truth.csv", [["id", "other_id"], *map(list, sorted(same))])


def write(path: str, rows: list[list[Any]]) -> None:
    """Write a table."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def review(count: int, command: list[str]) -> None:
    """Run `neardup review`, answer as many of its questions, and end it as Ctrl-C does."""
    with open("truth.csv", encoding="utf-8") as file:
        truth = {frozenset(row) for row in csv.reader(file)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address, _, token = process.stdout.readline().strip().partition("#")

        def ask(what: str, **given: object) -> dict[str, Any]:
            body = json.dumps({"reader": "messy", **given}).encode()
            asked = Request(address + what, body, {"Authorization": f"Bearer {token}"})
            with urlopen(asked) as response:
                found: dict[str, Any] = json.load(response)
                return found

        found = ask("next")
        for _ in range(count):
            answer = "same" if frozenset(found["question"]["ids"]) in truth else "different"
            found = ask("answer", number=found["number"], answer=answer)
            time.sleep(0.2)  # a person takes longer; the page learns meanwhile
        process.send_signal(signal.SIGINT)


if __name__ == "__main__":
    review(int(sys.argv[1]), sys.argv[2:]) if sys.argv[1:] else make_files()
