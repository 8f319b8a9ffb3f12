"""Sources without a column of the text: compared by their columns, which two lines tell."""

import json
import re
import shlex
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import neardup_solr as nd
from neardup_solr.errors import TemplateError
from neardup_solr.sources.notes import NOTED
from tests.command import neardup
from tests.unit.verbs.test_duplicates_fields import ids_of, invent

FIELDS = ["name", "street", "zip:exact", "born:date"]
CHOSEN = f"its columns are compared, as with id='rec_id', fields={FIELDS}"
LEFT_OUT = "Left out: row (row numbers), country (one value), created (a timestamp)."


def table() -> tuple[pd.DataFrame, set[tuple[int, int]]]:
    """Invented people with columns that tell nothing, and the pairs of ids that are the same."""
    frame, known = invent()
    frame = frame.rename(columns={"id": "rec_id"})
    frame["row"] = [*range(len(frame))]
    frame["country"] = "AT"
    frame["created"] = [
        f"2024-03-{1 + one % 28:02}T10:{one % 60:02}:07" for one in range(len(frame))
    ]
    frame["born"] = frame["born"].fillna("")
    return frame, known


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(row) for row in frame.to_dict("records")]


def jsonl(frame: pd.DataFrame, folder: Path) -> Path:
    path = folder / "people.jsonl"
    path.write_text("\n".join(map(json.dumps, rows_of(frame))))
    return path


def csv(frame: pd.DataFrame, folder: Path, **given: Any) -> Path:
    path = folder / "people.csv"
    frame.to_csv(path, index=False, **given)
    return path


def spaced(frame: pd.DataFrame, folder: Path) -> Path:
    """A header with blanks behind its commas, as files of people have."""
    return csv(frame.rename(columns=lambda name: f" {name}"), folder)


def semicolons(frame: pd.DataFrame, folder: Path) -> Path:
    return csv(frame, folder, sep=";")


def parquet(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_parquet(folder / "people.parquet")
    return folder / "people.parquet"


def xlsx(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_excel(folder / "people.xlsx", index=False)
    return folder / "people.xlsx"


SOURCES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "csv": csv, "semicolons": semicolons, "spaced": spaced, "jsonl": jsonl, "parquet": parquet,
    "xlsx": xlsx, "pandas": lambda frame, _: frame,
    "pandas index": lambda frame, _: frame.set_index("rec_id"),
    "polars": lambda frame, _: pl.from_pandas(frame),
    "lazy": lambda frame, _: pl.from_pandas(frame).lazy(),
    "arrow": lambda frame, _: pa.Table.from_pandas(frame),
    "dataset": lambda frame, _: ds.dataset(pa.Table.from_pandas(frame)),
    "dicts": lambda frame, _: rows_of(frame), "mapping": lambda frame, _: frame.to_dict("list"),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_any_source_with_columns(name: str, tmp_path: Path, caplog: Any) -> None:
    """Wherever it comes from, the columns are the same, and so are the pairs."""
    frame, known = table()
    source = SOURCES[name](frame, tmp_path)
    found = nd.duplicates(source)
    lines = caplog.messages
    assert lines[0].endswith(f" has no column text, so {CHOSEN}")
    assert lines[1] == LEFT_OUT
    assert len(ids_of(found) & known) > 0.93 * len(known)
    assert len(ids_of(found) - known) < 0.07 * len(known)
    same = nd.duplicates(frame, id="rec_id", fields=FIELDS)
    assert ids_of(found) == ids_of(same)


def test_blanks_are_no_values(tmp_path: Path, caplog: Any) -> None:
    """A date that is missing is so with a blank behind the comma, too: no line counts it."""
    frame, _ = table()
    frame["born"] = " " + frame["born"].str.strip()
    assert (frame["born"] == " ").any()
    found = nd.duplicates(csv(frame, tmp_path))
    assert len(caplog.messages) == 2
    assert len(found.pairs) > 50


def test_the_two_lines_can_be_pasted(tmp_path: Path) -> None:
    """The command says what it chose, as options, which give the same again and say nothing."""
    frame, _ = table()
    frame = frame.rename(columns={"name": 'name, "given"', "street": "of: street"})
    path = str(csv(frame, tmp_path))
    ran = neardup("duplicates", path)
    first, second, *_ = ran.stderr.splitlines()
    chosen = re.fullmatch(r".*people\.csv has no column text, so .*, as with (.*)", first)
    assert chosen is not None
    assert second == LEFT_OUT
    again = neardup("duplicates", path, *shlex.split(chosen[1]))
    assert again.stdout == ran.stdout
    assert len(ran.stdout) > 1_000
    assert "as with" not in again.stderr


def test_two_sides_are_compared_by_what_both_have(caplog: Any) -> None:
    """A column of one side is no field; one that is named otherwise but for case is the same."""
    frame, known = table()
    other = frame[300:].drop(columns=["zip"]).rename(columns={"street": "Street"})
    found = nd.duplicates(frame[:300], against=other)
    assert caplog.messages[0].endswith("id='rec_id', fields=['name', 'street', 'born:date']")
    assert len(ids_of(found) & known) > 0.8 * len(known)


@pytest.mark.parametrize("measure", ["aligned", "words"])
def test_a_measure_of_texts_joins_the_columns(measure: Any, caplog: Any) -> None:
    """It needs a text: that of all columns, which a line says."""
    frame, _ = table()
    found = nd.duplicates(frame, measure=measure)
    assert found.measure == measure
    text = ("name", "street", "zip", "born")
    assert caplog.messages[0].endswith(
        f"other columns are read as text, as with id='rec_id', text={text}"
    )


FOR_TEXTS: dict[str, Any] = {
    "without_common": True, "max_distance": 3, "by": "shingles",
}  # fmt: skip


@pytest.mark.parametrize("name", FOR_TEXTS)
def test_what_is_for_texts_is_refused_for_columns(name: str, tmp_path: Path) -> None:
    """No option silently makes another comparison of it: the message names a text that works."""
    frame, _ = table()
    path, value = csv(frame, tmp_path), FOR_TEXTS[name]
    with pytest.raises(nd.ArgumentError, match=f"`{name}`"):
        nd.duplicates(frame, **{name: value})
    typed = [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    ran = neardup("duplicates", str(path), *typed)
    assert ran.returncode != 0
    assert ran.stdout == ""
    assert "--field" not in ran.stderr
    step = re.search(r"(--text-field .*)\n", ran.stderr)
    assert step is not None
    again = neardup("duplicates", str(path), *typed, *shlex.split(step[1]))
    assert again.returncode == 0
    assert "pairs" in again.stderr


@pytest.mark.parametrize("name", ["explain", "review"])
def test_other_verbs_refuse_what_is_for_texts(name: str, tmp_path: Path) -> None:
    """explain and review compare as duplicates does."""
    frame, _ = table()
    path = str(csv(frame, tmp_path))
    words = {
        "explain": ["1", "2", "--source", path, "--max-distance", "3"],
        "review": [path, "--answers", str(tmp_path / "a.jsonl"), "--by", "shingles"],
    }
    ran = neardup(name, *words[name])
    assert ran.returncode != 0
    assert "--text-field" in ran.stderr


OTHERS: dict[str, dict[str, Any]] = {
    "by": {"by": "words"}, "equal": {"equal": "numbers"}, "same": {"same": "zip"},
    "texts": {"texts": True}, "keep": {"keep": "row"}, "settings": {"settings": {"kind": "chars"}},
    "linkage": {"linkage": "complete"}, "canonical": {"canonical": "longest"}, "cap": {"cap": 900},
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_options_compare_the_same_columns(name: str, caplog: Any) -> None:
    """Whatever else is asked for, the columns are those that are compared without it."""
    frame, _ = table()
    assert nd.duplicates(frame, **OTHERS[name]).measure == "fields"
    assert CHOSEN in caplog.messages[0]


def test_prose_is_compared_as_text(caplog: Any) -> None:
    """Title and body are joined, and measured as texts are."""
    body = "the quick brown fox jumps over the lazy dog near the river bank " * 4
    rows = [{"nr": f"a{one * 7919 % 1009}", "title": f"About {one % 29} foxes",
             "body": f"{one % 29} {body}"}
            for one in range(30)]  # fmt: skip
    found = nd.duplicates(rows)
    assert caplog.messages[0].endswith("as with id='nr', text=('title', 'body')")
    assert found.measure != "fields"
    assert ids_of_texts(found) >= {("a0", "a608")}


def ids_of_texts(found: nd.Duplicates) -> set[tuple[str, str]]:
    return {(str(pair.id), str(pair.other_id)) for pair in found.pairs}


def test_nothing_changes_if_columns_are_named_or_there_is_a_text(caplog: Any) -> None:
    """A column text is the text, whatever is beside it; an option is obeyed."""
    frame, _ = table()

    def choice(source: Any = frame, **named: Any) -> str:
        """What a run says that it has chosen, as arguments."""
        caplog.clear()
        NOTED.clear()
        nd.duplicates(source, **named)
        (chosen,) = [line for line in caplog.messages if "as with" in line] or [""]
        return str(chosen.rpartition("as with ")[2])

    assert choice() == f"id='rec_id', fields={FIELDS}"
    assert choice(text="name", id="rec_id") == ""
    named: dict[str, Any]
    for named in ({"text": "name"}, {"text": ("name", "zip")}, {"fields": ["name"]}):
        assert choice(**named) == "id='rec_id'"
    assert choice(frame.assign(text="a", id=range(len(frame)))) == ""
    assert choice([("1", "a")]) == ""
    assert choice(fields=["name"], id="rec_id") == ""
    for source in (iter(rows_of(frame)), "there/is/no.csv"):
        with pytest.raises((nd.SourceError, nd.RecordError)):
            choice(source)
        assert not any("as with" in line for line in caplog.messages)


def test_ids_are_the_same_for_a_text_and_for_fields(tmp_path: Path) -> None:
    """Where `fields` finds the ids, or numbers the records, `text` does."""
    tables = {
        "customer_key": "customer_key,name\nk1,Ann Bell\nk2,Ann Bell\nk3,Ned Orr\n",
        "shared key": "order_id,name\nk1,Ann Bell\nk1,Ann Bell\nk3,Ned Orr\n",
        "id of another": "name,soc_sec_id\nAnn Bell,\nAnn Bell,17\nNed Orr,18\n",
        "compared": "isbn_id,name\n3-16-1,Ann Bell\n3-16-2,Ann Bell\n9-99,Ned Orr\n",
    }
    for content in tables.values():
        path = tmp_path / "a.csv"
        path.write_text(content)
        by_text, by_fields = nd.duplicates(path, text="name"), nd.duplicates(path, fields="name")
        [pair], [same] = by_text.pairs, by_fields.pairs
        assert (pair.id, pair.other_id) == (same.id, same.other_id)
    assert {each.id for each in nd.duplicates(path, text="isbn_id").clusters} <= {1, 2}


SMALL: dict[str, str] = {
    "two records": "name,zip,town\nAnn,1010,Wien\nAnn,1010,Wien\n",
    "all equal": "name,zip,town\n" + "Ann,1010,Wien\n" * 40,
    "one column": "name\n" + "Ann Bell of Wien\n" * 3,
    "one value": "id,name,town\n" + "".join(f"{one},Ann Bell,Wien\n" for one in range(40)),
    "digits": "code\n" + "123 456\n" * 3,
    "id and digits": "id,code\n1,123 456\n2,123 456\n3,9\n",
    "missing": "name,zip,born\nAnn,,\nAnn,,\nEve,,\n",
    "same name": "name,name,zip,town\n" + "Ann,Ann,1010,Wien\n" * 3,
}


@pytest.mark.parametrize("name", SMALL)
def test_little_to_look_at(name: str, tmp_path: Path) -> None:
    """Equal records are found however few or poor the columns are, and lines tell by what."""
    path = tmp_path / "some.csv"
    path.write_text(SMALL[name])
    ran = neardup("duplicates", str(path), "--format", "jsonl")
    pairs = [json.loads(line) for line in ran.stdout.splitlines()]
    count = SMALL[name].count("\n") - 1
    equal = {"id and digits": 1, "missing": 1}.get(name, count * (count - 1) // 2)
    assert "has no column text, so " in ran.stderr
    assert len(pairs) == equal


def test_values_that_libraries_have_for_none() -> None:
    """Missing values of pandas, decimals and dates of a DataFrame are what they mean."""
    frame, known = table()
    frame["born"] = pd.to_datetime(frame["born"], errors="coerce")
    frame["zip"] = frame["zip"].replace("", None).astype("string")
    frame["fee"] = [Decimal(one % 7) / 4 for one in range(len(frame))]
    found = nd.duplicates(frame)
    assert found.failed == 0
    assert len(ids_of(found) & known) > 0.8 * len(known)


def test_many_records_are_looked_at_again(tmp_path: Path, caplog: Any) -> None:
    """A number that only later records share is compared, and what few have is no error."""
    rows = [{"name": f"Ann {one % 1500} of {one % 7}", "town": f"Town {one % 11}",
             "phone": f"0{one % 2500 * 7919 % 100_003}", "fax": None if one % 8 else f"9{one}7"}
            for one in range(3000)]  # fmt: skip
    nd.duplicates(rows)
    chosen, left_out, *_ = caplog.messages
    assert chosen.endswith("as with id=':row', fields=['name', 'town', 'phone:exact']")
    assert "fax (" in left_out


def test_many_columns(tmp_path: Path) -> None:
    """Of 300 columns a few are compared, and a line is short."""
    frame, _ = table()
    flags = pd.DataFrame(
        {f"flag{one}": ["yes", "no", "maybe"] * (len(frame) // 3) for one in range(290)}
    )
    ran = neardup("duplicates", str(csv(pd.concat([frame, flags], axis=1), tmp_path)))
    first, second, *_ = ran.stderr.splitlines()
    assert first.count("--field") == 16
    assert "278 more." in second


def test_tune_and_review(tmp_path: Path, caplog: Any) -> None:
    """A model learns from answers by the same columns, and is obeyed without an id being named."""
    frame, known = table()
    answers, model = tmp_path / "answers.jsonl", tmp_path / "model.json"
    same = sorted(known)[:12]
    pairs = [(one, other, "same") for one, other in same]
    pairs += [(one, other + 1, "different") for one, other in same if (one, other + 1) not in known]
    rows = pd.DataFrame(pairs, columns=["id", "other_id", "answer"])
    nd.Answers(answers).add(rows)
    trained = nd.tune(frame, answers=answers, output=model)
    assert set(trained.model.fields) == {"name", "street", "zip", "born"}
    caplog.clear()
    found = nd.duplicates(frame, model=model)
    assert caplog.messages[0].endswith(
        "has no column id, so another column is used, as with id='rec_id'"
    )
    assert len(ids_of(found) & known) > 0.8 * len(known)
    bands = nd.tune(frame, sample=100)
    assert bands.sampled == 100
    assert bands.documents == len(frame)


def test_the_id_beside_a_text_is_chosen(caplog: Any) -> None:
    """A column text is the text, and the ids are in the column that is named like one."""
    texts = ["the printer is on fire", "where is my parcel"] * 40
    rows = [{"ticket_id": f"T-{n:04}", "text": f"{text} {n % 40}"} for n, text in enumerate(texts)]
    found = nd.duplicates(rows)
    assert caplog.messages[0].endswith(
        "has no column id, so another column is used, as with id='ticket_id'"
    )
    assert ("T-0000", "T-0040") in ids_of_texts(found)
    caplog.clear()
    nd.duplicates([{"text": row["text"]} for row in rows])
    assert "its records are numbered from 1" in caplog.messages[0]


def test_fields_of_objects_are_columns(caplog: Any) -> None:
    """What is nested in JSON tells records apart, also alone, by the paths of its fields."""
    people = [{"name": f"Ann Nr{n}", "address": {"street": f"{n} Mill Road", "city": f"C{n % 9}"}}
              for n in range(60)]  # fmt: skip
    people.append({"name": "Ann Nr7", "address": {"street": "7 Mill Rd", "city": "C7"}})
    rows = [{"id": n, "person": person, "email": f"a{n % 60}@x.org", "tags": ["x"]}
            for n, person in enumerate(people)]  # fmt: skip
    rows[60]["email"] = "a7@x.org"
    assert ids_of_texts(nd.duplicates(rows)) == {("7", "60")}
    assert "Left out: tags (one value)." in caplog.messages
    alone = nd.duplicates([{"id": row["id"], "person": row["person"]} for row in rows])
    assert ids_of_texts(alone) == {("7", "60")}


def test_ids_and_texts_within_objects_are_chosen() -> None:
    """An object is no id, and no text: its fields are, as in the answer of Elasticsearch."""
    texts = ["the ferry leaves the pier at nine", "the market opens at seven"] * 2
    hits = [{"_index": "a", "_id": f"k{at}", "_source": {"text": f"{text} for us all"}}
            for at, text in enumerate(texts)]  # fmt: skip
    same = {("k0", "k2"), ("k1", "k3")}
    assert same <= ids_of_texts(nd.duplicates(hits))
    rows = [{"meta": {"id": f"k{at}"}, "text": text} for at, text in enumerate(texts)]
    assert same <= ids_of_texts(nd.duplicates(rows))
    mixed = [{"id": at, "doc": {"body": text} if at else text} for at, text in enumerate(texts)]
    with pytest.raises(nd.SourceError, match="'text' is missing"):
        nd.duplicates(mixed)


def test_a_column_that_is_there_twice_is_left_out(tmp_path: Path, caplog: Any) -> None:
    """It cannot be named, and a line says that it is not compared."""
    rows = "".join(f"{n},Ann {n},Mill {n},Leeds {n}\n" for n in range(30))
    (tmp_path / "a.csv").write_text(f"id,name,name,city\n{rows}")
    nd.duplicates(tmp_path / "a.csv")
    assert "Left out: name (appears twice)." in caplog.messages


def test_another_encoding_is_named(tmp_path: Path) -> None:
    """If records are not UTF-8, the result says what they are."""
    (tmp_path / "a.csv").write_bytes("id,text\n1,Höhe\n2,plain\n3,more\n".encode("cp1252"))
    found = nd.duplicates(tmp_path / "a.csv")
    step = "it appears to be cp1252: set `encoding` to cp1252"
    assert found.gaps == (f"records that could not be used: 1; {step}",)


def test_a_header_without_rows_holds_no_records(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is not said to lack a column."""
    (tmp_path / "a.csv").write_text("name,town\n")
    assert nd.duplicates(tmp_path / "a.csv").documents == 0
    assert "contains no records" in caplog.text


START = datetime(2024, 1, 1, 18)
EVENTS = ("Choir rehearsal", "Chess evening", "Yoga course", "Repair café")
SERIES: dict[str, Callable[[int], Any]] = {
    "weeks": lambda one: str((START + timedelta(7 * one)).date()),
    "days": lambda one: f"{START + timedelta(one):%d.%m.%Y}",
    "evenings": lambda one: f"{START + timedelta(one):%Y-%m-%d %H:%M}",
    "years": lambda one: 1964 + one,
}


def series(make: Callable[[int], Any], name: str = "when") -> list[dict[str, Any]]:
    """Four events in turn, each in its hall, told apart by a column that grows."""
    return [{name: make(one), "event": EVENTS[one % 4], "hall": f"Hall {one % 4}"}
            for one in range(52)]  # fmt: skip


@pytest.mark.parametrize("name", SERIES)
def test_a_series_has_no_copies(name: str) -> None:
    """A date that is sorted tells the evenings of a series apart, as one that is not."""
    assert nd.duplicates(series(SERIES[name])).removed == {}


LEFT: dict[str, Callable[[int], Any]] = {
    "created": lambda one: str(START + timedelta(seconds=997 * one)),
    "serial": lambda one: one + 1,
    "version": lambda one: f"{one // 10}.{one % 10}.0",
    "seat": lambda one: f"K{7 * one + 100}",
    "price": lambda one: 3 + 2 * one + one * one,
}


@pytest.mark.parametrize("kept", ["event", "hall"])
@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_out_may_tell_copies_apart(name: str, kept: str, tmp_path: Path) -> None:
    """Most records are equal but for a column that is not compared: nothing is removed unasked."""
    path, unique = tmp_path / "series.csv", tmp_path / "unique.csv"
    frame = pd.DataFrame(series(LEFT[name], name))
    columns = ["event", "hall", name] if kept == "hall" else ["event", name]  # fields, or a text
    frame[columns].to_csv(path, index=False)
    found = nd.duplicates(path)
    assert (found.unlike.copies, found.unlike.column) == (48, name)
    assert "48 are equal in what was compared, but not in" in found.doubt
    with pytest.raises(TemplateError):
        found.write_unique(unique)
    ran = neardup("duplicates", str(path), "--unique", str(unique))
    assert ran.returncode != 0
    assert not unique.exists()
    assert "exact cop" not in ran.stderr
    assert nd.duplicates(path, same=name).removed == {}  # as the message says
    ran = neardup("duplicates", str(path), "--unique", str(unique), "--yes")
    assert "; 48 are equal in what was compared, but not in" in ran.stderr
    assert ran.returncode == 0


def test_few_copies_that_differ_in_what_is_left_out_are_removed(tmp_path: Path) -> None:
    """People who were entered twice have other numbers and times of entry."""
    frame, _ = table()
    people = rows_of(frame.drop(columns="row"))[:100]
    twice = [{**one, "created": "2025-01-02T03:04:05"} for one in people[:9]]
    rows = [{**one, "rec_id": at} for at, one in enumerate(people + twice)]
    found = nd.duplicates(rows)
    assert found.unlike.copies == 9
    assert found.doubt == ""


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("code,what people say of the ferry", ["A1,the ferry is slow", "A2,the ferry is slow"]),
        ("Q1,what people say of the ferry", ["A1,slow", "A2,slow"]),
        ("2024,what people say of the ferry", ["one,the ferry is slow", "two,the ferry is slow"]),
    ],
)
def test_a_long_name_of_a_column_is_no_record(tmp_path: Path, header: str, rows: list[str]) -> None:
    """Only a code and a text like those below tell that there is no header."""
    path = tmp_path / "a.csv"
    path.write_text("\n".join([header, *rows, "A3,a band", ""]))
    assert nd.duplicates(path).documents == 3
