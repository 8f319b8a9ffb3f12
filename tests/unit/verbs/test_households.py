"""People of one address and telephone, and the slips, nicknames and changes of one person."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import neardup_solr as nd

Row = dict[str, str]
Write = Callable[[str, str], Row]  # first and last name

# First names, and last names.
NAMES = {
    "Latin": ("""Anna Bert Carla Dora Emil Fred Hugo Ida Jan Kira Lars Mona Nils Olga Paul Rita Sven
        Uwe Vera Walter""", """Holm Berg Lund Dahl Vik Sand Ness Hauge Strand Bakke Foss Moen Eide
        Krog Hansen Kvam Fjeld Tangen Myhre Sletten"""),
    "Cyrillic": ("""Иван Пётр Сергей Анна Мария Ольга Елена Дмитрий Алексей Наталья Татьяна Михаил
        Андрей Ирина Светлана Николай Юлия Павел Вера Борис""", """Орлов Громов Титов Зайцев Котов
        Быков Лыков Седов Рыбин Носов Белов Жуков Кротов Щукин Ершов Комов Гусев Сомов Дёмин
        Фомин"""),
    "Han": ("伟 芳 娜 敏 静 丽 强 磊 军 洋 勇 艳 杰 娟 涛 明 超 秀 霞 平",
            "王 李 张 刘 陈 杨 黄 赵 吴 周 徐 孙 马 朱 胡 郭 何 高 林 罗"),
    "Arabic": ("""محمد أحمد علي فاطمة مريم عائشة خالد سعيد ليلى نور يوسف حسن زينب سلمى عمر طارق هدى
        رانيا كريم سامي""", """المصري الحداد النجار الخطيب الشامي العلي القاضي السيد حمدان منصور
        صالح عباس الفارس الحلبي البغدادي المغربي التميمي الزهراني الدوسري القرشي"""),
}  # fmt: skip


def write_apart(first: str, last: str) -> Row:
    """Write both names in columns of their own."""
    return {"first": first, "last": last}


def write_turned(first: str, last: str) -> Row:
    """Write the last name first."""
    return {"last": last, "first": first}


def write_joined(first: str, last: str) -> Row:
    """Write both names in a column."""
    return {"name": f"{first} {last}"}


class Town:
    """People of a town, with the pairs of records of one person."""

    def __init__(self, script: str = "Latin", write: Write = write_apart, seed: int = 1) -> None:
        self.draw = random.Random(seed)
        self.first, self.last = (part.split() for part in NAMES[script])
        self.write = write
        self.rows: list[Row] = []
        self.pairs: set[tuple[str, str]] = set()

    def find_home(self) -> Row:
        """Find an address and a telephone."""
        street = self.draw.choice(("Mill Road", "High Street", "Park Lane", "Church Walk"))
        return {"street": f"{self.draw.randrange(1, 120)} {street}",
                "city": self.draw.choice(("Leeds", "York", "Hull", "Ripon")),
                "phone": f"0{self.draw.randrange(10**9, 10**10)}"}  # fmt: skip

    def draw_person(self) -> tuple[str, str, Row]:
        """Draw a first name, a last name and a home."""
        return self.draw.choice(self.first), self.draw.choice(self.last), self.find_home()

    def add(self, first: str, last: str, home: Row, same_as: str | None = None) -> str:
        """Add a record, which may be of the person of another one, and return its id."""
        row = {"id": str(len(self.rows)), **self.write(first, last), **home}
        self.rows.append(row)
        if same_as is not None:
            self.pairs.add((same_as, row["id"]))
        return row["id"]

    def settle(self, *sizes: int, copies: int = 0) -> None:
        """Settle households of these sizes, and add misspelt copies of some of the people."""
        for size in sizes:
            last, home = self.draw.choice(self.last), self.find_home()
            people = [(first, last, home) for first in self.draw.sample(self.first, size)]
            for person in people:
                own = self.add(*person)
                if copies > 0 and self.draw.random() < 0.3:
                    copies -= 1
                    self.add(f"{person[0]}x", *person[1:], same_as=own)

    def find(self) -> set[tuple[str, str]]:
        """Find the pairs without any option."""
        pairs = nd.duplicates(self.rows).pairs
        return {(str(pair.id), str(pair.other_id)) for pair in pairs}


@pytest.mark.parametrize("write", [write_apart, write_turned, write_joined])
@pytest.mark.parametrize("script", NAMES)
def test_a_couple_is_two_people(script: str, write: Write) -> None:
    """Few first names are names as well: of couples that share all else nobody is removed."""
    town = Town(script, write)
    town.settle(*[1] * 30, *[2] * 25, *[3] * 8)
    assert len(town.find()) <= 1


def test_misspelt_names_are_found_beside_couples() -> None:
    """Copies are found in a table of couples, whose members stay apart."""
    town = Town()
    town.settle(*[1] * 120, *[2] * 60, *[3] * 10, copies=30)
    pairs = town.find()
    assert len(pairs & town.pairs) >= 0.95 * len(town.pairs)
    assert len(pairs - town.pairs) <= 0.05 * len(pairs)


def test_members_whose_addresses_are_misspelt() -> None:
    """Slips in an address that two people share do not make them one."""
    town = Town()
    town.settle(*[1] * 60)
    for _ in range(40):
        last, home = town.draw.choice(town.last), town.find_home()
        one, other = town.draw.sample(town.first, 2)
        town.add(one, last, home)
        town.add(other, last, {**home, "street": home["street"].replace("a", "e"), "phone": ""})
    assert len(town.find()) <= 2


def test_twins_and_flatmates() -> None:
    """Nor does a day of birth that they share; people of other last names stay apart as well."""
    town = Town()
    for at in range(120):
        last, home = town.draw.choice(town.last), town.find_home()
        born = {"born": f"{1950 + at % 50}-{1 + at % 12:02}-{1 + at % 28:02}"}
        names = town.draw.sample(town.first, 2 if at < 50 else 1)
        for name, mate in zip(names, (last, town.draw.choice(town.last)), strict=False):
            town.add(name, last if at < 25 else mate, {**home, **born})
    assert len(town.find()) <= 2


def test_short_names_stand_for_long_ones() -> None:
    """Names that are met beside the same name again and again are of one person."""
    town = Town()
    town.settle(*[1] * 120)
    brief = ("Qip", "Zuk", "Xof", "Yeg", "Qob", "Zam", "Xil", "Yut")
    short = dict(zip(town.first, brief, strict=False))
    for _ in range(40):
        first = town.draw.choice([*short])
        _, last, home = town.draw_person()
        own = town.add(first, last, home)
        town.add(short[first], last, home, same_as=own)
    pairs = town.find()
    assert len(pairs & town.pairs) >= 0.9 * len(town.pairs)
    assert len(pairs - town.pairs) <= 2


def test_who_marries_or_is_entered_the_wrong_way_round() -> None:
    """Some last names change, and some are in the place of first names."""
    town = Town()
    town.settle(*[1] * 100)
    for at in range(60):
        first, last, home = town.draw_person()
        own = town.add(first, last, home)
        other = town.draw.choice(town.last)
        again = [(first, other), (last, first), (f"{first}x", last), (first, last)][at % 4]
        town.add(*again, home, same_as=own)
    pairs = town.find()
    assert len(pairs & town.pairs) >= 0.95 * len(town.pairs)
    assert not pairs - town.pairs


def test_what_changes_is_no_name() -> None:
    """A department before the names does not tell people apart, nor does a brand its model."""
    town = Town(write=lambda first, last: {"department": department, "first": first, "last": last})
    departments = ("Sales", "Research", "Legal", "Support", "Design", "Training", "Quality",
                   "Logistics", "Personnel", "Purchasing")  # fmt: skip
    for at in range(160):
        first, last, home = town.draw_person()
        department = town.draw.choice(departments)
        own = town.add(first, last, home)
        if at % 4 == 0:
            department = town.draw.choice(departments)
            town.add(first, last, home, same_as=own)
    pairs = town.find()
    assert len(pairs & town.pairs) >= 0.95 * len(town.pairs)
    assert not pairs - town.pairs


def test_couples_of_two_tables() -> None:
    """Across two tables as well, who has another first name is another person."""
    town = Town()
    town.settle(*[2] * 60)
    pairs = nd.duplicates(town.rows[::2], against=town.rows[1::2]).pairs
    assert not [pair for pair in pairs if int(pair.other_id) == int(pair.id) + 1]
