"""Columns by looking: kinds, ids and what is left out, from values in many languages."""

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from neardup_solr.sources.column_guess import Guess, guess_columns

RECORDS, REPEATED = 300, 30
draw = random.Random(38)
ROWS = range(RECORDS)
NUMBERS = [str(one * 7919 % 100_003) for one in range(RECORDS)]
SYLLABLES = ["ba", "lo", "mi", "tar", "ven", "so", "ri", "kel", "du", "na", "po", "gar"]


def words(count: int) -> str:
    return " ".join("".join(draw.choices(SYLLABLES, k=draw.randint(2, 4))) for _ in range(count))


def digits(count: int) -> str:
    return "".join(draw.choices("0123456789", k=count))


def day(first: int = 1940, span: int = 25_000) -> date:
    return date(first, 1, 1) + timedelta(draw.randrange(span))


def column(make: Callable[[], Any], repeated: int = REPEATED) -> list[Any]:
    """Values of a column, of which the last ones are those of duplicates of the first ones."""
    values = [make() for _ in range(RECORDS - repeated)]
    return values + values[:repeated]


def guess(columns: dict[str, list[Any]], **given: Any) -> Guess:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    found = guess_columns([rows], **given)
    assert found is not None
    return found


def names() -> dict[str, list[Any]]:
    """Two columns beside which others are looked at."""
    return {"name": column(lambda: words(2)), "street": column(lambda: words(2))}


KINDS: dict[str, tuple[str, Callable[[], Any]]] = {
    "name": ("text", lambda: words(2)),
    "surname alone": ("text", lambda: words(1)),
    "Chinese names": ("text", lambda: "".join(draw.choices("王李张刘陈杨黄赵周吴明伟芳娜秀", k=3))),
    "Chinese addresses": ("text", lambda: f"北京市朝阳区建国路{draw.randrange(999)}号"),
    "Japanese": ("text", lambda: "".join(draw.choices("サトウスズキタカハシ", k=5))),
    "Cyrillic": ("text", lambda: "".join(draw.choices("абвгдежзик", k=8)) + " улица"),
    "streets with numbers": ("text", lambda: f"{words(1)}straße {draw.randrange(99)}"),
    "numbers before streets": ("text", lambda: f"{draw.randrange(999)} {words(1)} Avenue"),
    "towns": ("text", lambda: draw.choice(["Wien", "Graz", "Linz", "Salzburg"])),
    "pages": ("text", lambda: f"{(a := draw.randrange(990))}-{a + draw.randrange(20)}"),
    "house numbers": ("exact", lambda: f"{draw.randrange(1, 120)}{draw.choice(['', '', 'a'])}"),
    "zip codes": ("exact", lambda: f"{draw.randrange(99_999):05}"),
    "zip codes as numbers": ("exact", lambda: draw.randrange(10_000, 99_999)),
    "British zip codes": ("exact", lambda: f"SW{draw.randrange(20)} {draw.randrange(9)}AB"),
    "German phones": ("exact", lambda: f"+49 {draw.randrange(30, 999)} {draw.randrange(10**7)}"),
    "Austrian phones": ("exact", lambda: f"0{draw.randrange(999)}/{draw.randrange(10**6)}"),
    "American phones": ("exact", lambda: f"({draw.randrange(200, 999)}) 555-{digits(4)}"),
    "French phones": ("exact", lambda: f"01 {digits(2)} {digits(2)} {digits(2)}"),
    "e-mail": ("text", lambda: f"{words(1)}@{words(1)}.org"),
    "ISBN": ("exact", lambda: f"978-3-{digits(2)}-{digits(6)}-{digits(1)}"),
    "IBAN": ("exact", lambda: f"DE{digits(2)} {digits(4)} {digits(4)} {digits(4)}"),
    "articles": ("exact", lambda: f"{draw.choice(['AB', 'KD'])}-{draw.randrange(9999)}X"),
    "versions": ("exact", lambda: f"{draw.randrange(4)}.{draw.randrange(20)}.{draw.randrange(9)}"),
    "dates in words": ("date", lambda: f"{day():%d} {draw.choice(['March', 'avr.', 'окт'])} 1950"),
    "dates and years": ("date", lambda: draw.choice(
        [f"{day()}", f"{day():%d.%m.%Y}", f"abt {day().year}"])),
    "telephones in two notations": ("exact", lambda: draw.choice(
        [f"0{(n := draw.randrange(10**8, 10**8 + 200))}", f"+49 {n}"])),
    "years": ("exact", lambda: draw.randrange(1950, 2024)),
    "sex": ("exact", lambda: draw.choice("mf")),
    "states": ("exact", lambda: draw.choice(["vic", "nsw", "wa", "qld"])),
    "German dates": ("date", lambda: f"{day():%d.%m.%Y}"),
    "American dates": ("date", lambda: f"{day():%m/%d/%Y}"),
    "ISO dates": ("date", lambda: day().isoformat()),
    "packed dates": ("date", lambda: f"{day():%Y%m%d}"),
    "dates of a DataFrame": ("date", lambda: f"{day()}T00:00:00"),
    "days of bills": ("date", lambda: day(2023, 300).isoformat()),
    "times of bills": ("exact", lambda: f"{day(2023, 300)}T15:{digits(2)}"),
    "decimals": ("number", lambda: round(draw.random() * 100, 2)),
    "decimal commas": ("number", lambda: f"{draw.randrange(1, 99)}.{draw.randrange(999):03},50"),
    "dollars": ("number", lambda: f"${draw.randrange(1, 9999):,}.99"),
    "euros": ("number", lambda: f"{draw.randrange(1, 999)} €"),
    "weights": ("number", lambda: f"{draw.randrange(1, 999)} kg"),
    "inhabitants": ("number", lambda: int(10 ** draw.uniform(1, 7))),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_columns(name: str) -> None:
    """The kind follows from the values, whatever the column is called."""
    kind, make = KINDS[name]
    found = guess(names() | {"c": column(make)})
    assert found.fields == {"name": "text", "street": "text", "c": kind}
    assert found.left_out == {}


LEFT_OUT: dict[str, tuple[str, Callable[[], list[Any]]]] = {
    "rows": ("row numbers", lambda: [*range(RECORDS)]),
    "rows in disorder": ("row numbers", lambda: draw.sample(range(1, RECORDS + 1), RECORDS)),
    "growing numbers": (
        "unique in each record", lambda: [17 * one + 100 for one in range(RECORDS)],
    ),
    "seconds": ("unique in each record", lambda: [1_700_000_000 + 37 * one for one in ROWS]),
    "customers": ("unique in each record", lambda: [*NUMBERS]),
    "uuids": ("unique in each record", lambda: [str(uuid4()) for _ in NUMBERS]),
    "addresses": ("unique in each record", lambda: [f"https://x.org/{n}" for n in NUMBERS]),
    "country": ("one value", lambda: ["AT"] * RECORDS),
    "nearly constant": ("one value", lambda: [True] * (RECORDS - 2) + [False] * 2),
    "seldom": ("almost empty", lambda: ["x"] * 5 + [None] * (RECORDS - 5)),
    "never": ("no value", lambda: [""] * RECORDS),
    "clock": (
        "a timestamp", lambda: [f"{day(2023, 300)}T15:{n % 60:02}:{n % 59:02}" for n in ROWS],
    ),
    "German clock": (
        "a timestamp", lambda: [f"{day(2023, 300):%d.%m.%Y} 12:07:{n % 60:02}.5" for n in ROWS],
    ),
    "createdAt": ("a timestamp", lambda: column(lambda: day(2023, 300).isoformat())),
    "last_modified_utc": ("a timestamp", lambda: [1_700_000_000 + n // 2 for n in ROWS]),
    "Erfassungsdatum": ("a timestamp", lambda: [f"{day(2023, 300):%d.%m.%Y}" for _ in ROWS]),
    "抓取时间": ("a timestamp", lambda: [day(2023, 90).isoformat() for _ in ROWS]),
    "дата создания": ("a timestamp", lambda: [f"{day(2023, 90)} 10:15" for _ in ROWS]),
    "تاريخ الإنشاء": ("a timestamp", lambda: [day(2023, 90).isoformat() for _ in ROWS]),
    "prose": ("free text", lambda: [words(40) for _ in range(RECORDS)]),
    "Bemerkungen": ("free text", lambda: column(lambda: words(8))),
    "备注": ("free text", lambda: column(lambda: "请打电话给他明天会来" + digits(3))),
    "stock": ("changes", lambda: [draw.randrange(200) for _ in NUMBERS]),
    "page_views": ("changes", lambda: [f"{draw.randrange(9_000):,}" for _ in NUMBERS]),
    "在庫数": ("changes", lambda: [draw.randrange(50) for _ in NUMBERS]),
    "objects": ("one value", lambda: [{"a": 1}] * RECORDS),
}  # fmt: skip


SERIES: dict[str, Callable[[], list[Any]]] = {
    "days": lambda: [str(date(2023, 1, 1) + timedelta(one)) for one in ROWS],
    "German weeks": lambda: [f"{date(2019, 1, 1) + timedelta(7 * n):%d.%m.%Y}" for n in ROWS],
    "tides": lambda: [str(datetime(2024, 3, 1, 2, 13) + n * timedelta(minutes=372)) for n in ROWS],
    "a plan of trains": lambda: [f"{5 + n // 20}:{3 * (n % 20):02}" for n in ROWS],
    "creation of works": lambda: [str(date(1720, 1, 1) + timedelta(300 * n)) for n in ROWS],
    "readings every ten seconds": lambda: [
        (datetime(2024, 3, 1) + timedelta(seconds=10 * n)).isoformat() for n in ROWS
    ],
    "inhabitants": lambda: [int(1.05**n * 10) + n for n in ROWS],
    "prices": lambda: [f"{3 + 0.35 * n:.2f}" for n in ROWS],
}  # fmt: skip


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("name", SERIES)
def test_what_grows_is_compared(name: str, is_sorted: bool) -> None:
    """The order of the records says nothing of a column: they may be sorted by it."""
    values = SERIES[name]()
    values = values if is_sorted else draw.sample(values, RECORDS)
    assert guess(names() | {"when": values}).left_out == {}


def test_years_are_no_ids() -> None:
    """A year for each record, even in the first column, tells what happened then."""
    years = [*range(1964, 2024)]
    rows = [{"year": one, "winner": words(1), "town": words(1)} for one in years]
    found = guess_columns([rows])
    assert found is not None
    assert (found.id, [*found.fields]) == (":row", ["year", "winner", "town"])


def test_codes_of_two_sorted_sides_are_compared() -> None:
    """Both catalogues are sorted by ISBN: it is evidence, as in any other order."""
    numbers = sorted(f"978{digits(10)}" for _ in ROWS)
    rows = [{"name": words(2), "town": words(1), "isbn": number} for number in numbers]
    found = guess_columns([rows[:200], rows[100:]])
    assert found is not None
    assert found.fields["isbn"] == "exact"


@pytest.mark.parametrize(
    "name", ["stock_number", "Stock No", "inventory_code", "sold_to", "stockholm"]
)
def test_numbers_of_articles_are_compared(name: str) -> None:
    """A number that names an article, or a person, does not change as a stock does."""
    assert guess(names() | {name: column(lambda: digits(5))}).left_out == {}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_columns_that_are_left_out(name: str) -> None:
    """What cannot tell duplicates is not compared, and the reason is told."""
    reason, make = LEFT_OUT[name]
    found = guess(names() | {"town": column(lambda: words(1)), name: make()})
    assert found.left_out == {name: reason}
    assert found.describe_left_out() == f"Left out: {name} ({reason})."
    assert set(found.fields) == {"name", "street", "town"}


def test_columns_that_repeat_others() -> None:
    """A copy of a column, and columns joined to a line, say nothing new."""
    columns = names() | {"phone": column(lambda: f"{draw.randrange(10**6)}")}
    joined = [
        f"{one.title()} {two}, {three}" for one, two, three in zip(*columns.values(), strict=True)
    ]
    found = guess(columns | {"label": [one.upper() for one in columns["name"]], "raw": joined})
    assert set(found.fields) == set(columns)
    assert found.left_out == {"label": "same as name", "raw": "name, street, phone … joined"}


def test_ids() -> None:
    """The id is unique and named so, or stands first; a number that is shared by some is not."""
    numbers = [f"k{number}" for number in NUMBERS]
    shared = column(lambda: str(draw.randrange(10**6, 10**7)))
    for columns, id, fields in (
        ({"first": numbers} | names(), "first", {"name", "street"}),
        (names() | {"rec_id": numbers}, "rec_id", {"name", "street"}),
        ({"soc_sec_id": shared} | names(), ":row", {"soc_sec_id", "name", "street"}),
        ({"ID": shared} | names(), None, {"name", "street"}),
        (names(), ":row", {"name", "street"}),
    ):
        found = guess(columns)
        assert (found.id, set(found.fields)) == (id, fields)
    assert guess({"nr": numbers, "rec_id": shared} | names(), id="rec_id").id == "rec_id"


@pytest.mark.parametrize("count", [5, 12, 15, 19])
@pytest.mark.parametrize("name", ["Lfd", "编号", "رقم"])
@pytest.mark.parametrize("number", ["{}", "A{:03}", "R-2024-1{:03}"])
def test_ids_of_few_records(count: int, name: str, number: str) -> None:
    """A first column that counts the records is the id, whatever it is called and how few are."""
    rows = [{name: number.format(7 + one), "who": words(2), "zip": digits(4)} for one in ROWS]
    found = guess_columns([rows[:count]])
    assert found is not None
    assert (found.id, {*found.fields}) == (name, {"who", "zip"})
    last = guess_columns([[{"who": words(2), "zip": digits(4), name: n} for n in range(count)]])
    assert last is not None
    assert (last.id, last.left_out) == (":row", {name: "row numbers"})


def test_codes_of_few_records_are_ids() -> None:
    """So are codes of a dozen in the first column, but no times, dates, years or prices."""
    firsts: dict[str, Callable[[int], str]] = {
        "code": lambda n: f"{n * 7919 % 100_003:05}", "time": lambda n: f"{8 + n}:30",
        "year": lambda n: str(2001 + n), "price": lambda n: f"{3 + n}.50",
        "date": lambda n: str(date(2024, 1, 1) + timedelta(n)),
    }  # fmt: skip
    for name, make in firsts.items():
        rows = [{name: make(one), "who": words(2), "zip": digits(4)} for one in range(12)]
        found = guess_columns([rows])
        assert found is not None
        assert found.id == ("code" if name == "code" else ":row")


def test_what_seems_unique_is_looked_at_in_all_records() -> None:
    """A phone number that repeats later, and a column that is constant at first, are compared."""
    columns = names() | {"phone": NUMBERS}
    columns["country"] = ["AT"] * RECORDS
    assert set(guess(columns).left_out) == {"phone", "country"}

    def read(wanted: Any) -> Any:
        for _ in range(2):
            for place in range(RECORDS):
                row = {"phone": columns["phone"][place], "country": draw.choice(["AT", "DE"])}
                yield 0, {name: row[name] for name in wanted}

    found = guess(columns, read=read)
    assert found.left_out == {}
    assert found.fields["phone"] == "exact"


def test_two_sides_number_their_rows_alike() -> None:
    """Numbers of rows repeat on the other side and are no evidence; a phone number is."""
    columns = names() | {"phone": NUMBERS, "row": [*range(RECORDS)]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    found = guess_columns([rows, rows[::-1]])
    assert found is not None
    assert found.left_out == {"row": "row numbers"}
    assert found.fields["phone"] == "exact"


def test_prose_is_a_text() -> None:
    """Title and body are compared as texts, also beside author and category."""
    columns = {
        "id": [*range(RECORDS)],
        "title": column(lambda: words(6)),
        "body": column(lambda: words(90)),
    }
    assert guess(columns).texts == ("title", "body")
    columns |= {
        "author": column(lambda: draw.choice(["Ann Bell", "Ned Orr"])),
        "seen": ["x"] * RECORDS,
    }
    found = guess(columns)
    assert found.texts == ("title", "body")
    assert found.left_out == {"seen": "one value", "author": "not part of the text"}
    assert found.fields == {}


def test_prose_is_not_left_out_if_nothing_else_tells_records_apart() -> None:
    """Reviews with stars and a product are texts."""
    columns = {"stars": column(lambda: draw.randrange(5)), "item": column(lambda: f"X{digits(1)}")}
    found = guess(columns | {"review": column(lambda: words(30))})
    assert found.texts == ("review",)
    assert set(found.left_out) == {"stars", "item"}


SENTENCES: dict[str, Callable[[], str]] = {
    "words": lambda: words(10),
    "Japanese": lambda: "".join(draw.choices("今日明後午前学生駅傘返買荷物食飲行来", k=14)),
}


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("name", ["description", "comment", "frage"])
def test_a_sentence_beside_a_status_is_the_text(language: str, name: str) -> None:
    """Columns of a few values, which change, do not tell that two sentences are different."""
    columns: dict[str, list[Any]] = {
        "ticket": [f"TCK-{5000 + one}" for one in ROWS],
        "priority": [draw.choice(["low", "medium", "high"]) for _ in ROWS],
        "rating": [draw.randint(1, 5) for _ in ROWS],
        name: column(SENTENCES[language]),
    }
    found = guess(columns)
    assert found.id == "ticket"
    assert found.texts == (name,)
    assert found.left_out == {"priority": "not part of the text", "rating": "not part of the text"}


def test_a_sentence_beside_a_name_is_a_field() -> None:
    """Neither says all."""
    columns = names() | {"title": column(lambda: words(10))}
    assert [*guess(columns).fields] == ["name", "street", "title"]


@pytest.mark.parametrize("code", ["TCK-{}", "SKU{}", "CAS {}", "K-{}", "R{}", "{}-XY"])
def test_letters_before_a_number_are_an_id(code: str) -> None:
    """Only those of a currency make an amount of it."""
    columns = {"of": [code.format(one) for one in NUMBERS]} | names()
    assert guess(columns).id == (":row" if " " in code else "of")
    prices = {"price": column(lambda: f"EUR {draw.randrange(10, 9_000)}")} | names()
    assert guess(prices).fields["price"] == "number"


def test_one_column_is_the_text() -> None:
    """So is the only one beside the id, or that is left, or of digits."""
    assert guess({"any": column(lambda: words(2))}).texts == ("any",)
    assert guess({"any": NUMBERS}) == Guess(id=":row", texts=("any",))
    assert guess({"id": [*range(RECORDS)], "any": NUMBERS}) == Guess(id=None, texts=("any",))
    assert guess(
        {"id": [*range(RECORDS)], "country": ["AT"] * RECORDS, "a": column(lambda: words(1))}
    ).texts == ("a",)
    assert guess_columns([[{"id": "1"}] * 5]) is None
    assert guess_columns([[]]) is None


def test_nothing_is_left_out_of_little() -> None:
    """Two records have all their columns compared, and equal ones, too."""
    rows = [
        {"id": 1, "name": "Ann", "town": "Rom", "no": None},
        {"id": 2, "name": "Ann", "town": "Rom", "no": None},
    ]
    found = guess_columns([rows])
    assert found is not None
    assert found.fields == {"name": "text", "town": "exact"} or set(found.fields) == {
        "name",
        "town",
    }
    equal = guess({"name": ["Ann"] * 50, "town": ["Rom"] * 50})
    assert set(equal.fields) == {"name", "town"}
    assert equal.left_out == {}


def test_of_many_columns_the_most_telling_are_taken() -> None:
    """Of 300 columns, 16 are compared, and a line says how many are not."""
    columns: dict[str, list[Any]] = {
        f"flag{one}": column(lambda: draw.choice("ab")) for one in range(297)
    }
    found = guess(columns | names() | {"born": column(lambda: day().isoformat())})
    assert len(found.fields) == 16
    assert {"name", "street", "born"} < set(found.fields)
    assert found.describe_left_out() == "Left out: 284 more."


def test_names_that_parts_of_an_option_could_be() -> None:
    """A name with a colon keeps it, and says its kind."""
    found = guess(names() | {"of: whom": column(lambda: words(2))})
    assert found.spelled == ["name", "street", "of: whom:text"]
