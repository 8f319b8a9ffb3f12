"""The table of a pair: agreement and bits by field, and words that the measure calls the same."""

from __future__ import annotations

from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr import Settings
from neardup_solr.measures.frequencies import count_words
from neardup_solr.reports.pair import PairTable, Row
from neardup_solr.text import diff
from neardup_solr.text.normalize import normalize

KINDS = {"name": "text", "born": "date", "price": "number", "phone": "exact"}


def struck(row: Row) -> list[str]:
    """List the words that a diff marks as different, those of the first value before the others."""
    assert row.values is not None
    first, second = row.values
    removed = [first.text(run.first) for run in row.runs if run.kind not in ("equal", "same")]
    added = [second.text(run.second) for run in row.runs if run.kind not in ("equal", "same")]
    return [words for words in (*removed, *added) if words]


def table(measure: Any, *texts: str, **options: Any) -> PairTable:
    """Make the table of a measure, with the frequencies of these texts."""
    known = count_words(map(normalize, texts))
    weighs = measure in ("aligned", "records", "fields")
    return PairTable(measure=measure, frequencies=known if weighs else None, **options)


@pytest.mark.parametrize(
    ("first", "second", "differ"),
    [
        ("Marta Linsen", "LINSEN, Marta", []),
        ("12 Mill Road", "12 Mill Rd.", []),
        ("Ritz Blvd", "Boulevard Ritz", []),
        ("North Shore Road 9", "9 NSR", []),
        ("John Weber", "J. Weber", []),
        ("Seaview Hotel", "Hotel Sea View", []),
        ("e-mail address", "email address", []),
        ("Fifth Avenue", "5th Ave", []),
        ("José Muñoz", "Jose Munoz", []),
        ("Ｔｉｍ Roth", "tim ROTH!", []),
        ("Lena Dahlberg", "Lena Dahlbreg", ["Dahlberg", "Dahlbreg"]),
        ("Harbour Street 12", "Street Harbour 14", ["12", "14"]),
        ("Otto Holm", "Otto", ["Holm"]),
    ],
)
def test_words_that_the_alignment_takes_for_the_same(
    first: str, second: str, differ: list[str]
) -> None:
    """Order, spelling, initials and joined words are no difference; a slip and a number are."""
    assert (
        struck(table("records", first, second).compare("", diff.split(first), diff.split(second)))
        == differ
    )


MOVED = "the quick brown fox jumps over the lazy dog", "over the lazy dog the quick brown fox jumps"


@pytest.mark.parametrize(
    ("measure", "texts", "differ"),
    [
        ("jaccard", MOVED, []),
        ("containment", MOVED, []),
        ("words", MOVED, ["over the lazy dog", "over", "lazy dog the"]),
        ("jaccard", ("a b c and d", "d and a b c"), ["and d", "d and"]),
        ("words", ("Straße & Co", "STRASSE co"), []),
    ],
)
def test_words_as_other_measures_see_them(
    measure: str, texts: tuple[str, str], differ: list[str]
) -> None:
    """What stands in a shared shingle has moved at most; edits are counted where words moved."""
    assert (
        struck(table(measure, settings=Settings()).compare("", *map(diff.split, texts))) == differ
    )


def test_words_may_move_between_the_columns_of_a_text() -> None:
    """Columns that are compared as one text are shown apart, and its words are not."""
    records = {"first": "Marta", "last": "Linsen"}, {"first": "Linsen", "last": "Marta M."}
    rows = table("records", texts=("first", "last")).list_rows(records, (), 0.9)
    assert {row.field: struck(row) for row in rows} == {"first": [], "last": ["M."]}


PEOPLE: list[dict[str, Any]] = [
    {"name": "Marta Linsen", "born": "1982-03-18", "price": "1,000.00", "phone": "0170 555-1"},
    {"name": "Linsen Marta", "born": "18/03/1982", "price": 1000, "phone": "01705551"},
    {"name": "Otto Holm", "born": "1950-01-02", "price": "7", "phone": "0171 1"},
    {"name": "Otto Hohlm", "born": "", "price": "7.5", "phone": "0171 2"},
    *({"name": f"{name} Berg", "born": f"19{at}-07-01", "price": at * 17, "phone": f"{at}99{at}"}
      for at, name in enumerate(["Ada", "Bo", "Cleo", "Dora", "Emil", "Fred", "Gina"] * 3, 50)),
]  # fmt: skip


def test_a_table_sums_up_to_the_probability() -> None:
    """Each field has its bits, equal values no mark, and the sum is the odds of the pair."""
    rows = [{"id": str(at), **row} for at, row in enumerate(PEOPLE)]
    result = nd.duplicates(rows, fields=KINDS, min_similarity=0.01)
    pair = next(pair for pair in result.pairs if pair.id == "0")
    records = [result.origin.fields[id] for id in ("0", "1")]
    evidence = result.origin.evidence["0", "1"]
    table_rows = list(result.origin.table.list_rows(records, evidence, pair.similarity))
    fields = [row for row in table_rows if row.values]
    assert [row.field for row in fields] == list(KINDS)
    assert all(row.level.startswith("equal") and struck(row) == [] for row in fields)
    *parts, together, threshold = table_rows
    assert together.bits == pytest.approx(sum(row.bits or 0 for row in parts))
    assert 1 / (1 + 2 ** -(together.bits or 0)) == pytest.approx(pair.similarity)
    assert (threshold.level, threshold.bits) == ("probability 0.5", 0.0)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "frame"])
def test_every_source_has_its_columns_in_the_page(suffix: str, tmp_path: Any) -> None:
    """The page of a table names its columns and shows their values, whatever it was read from."""
    import pandas as pd

    frame: Any = pd.DataFrame([{"id": f"p{at}", **row} for at, row in enumerate(PEOPLE)]).astype(
        str
    )
    path = tmp_path / f"people.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    elif suffix == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif suffix == "parquet":
        frame.to_parquet(path)
    result = nd.duplicates(path if path.exists() else frame, fields=KINDS, id="id")
    result.write(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text("utf-8")
    assert '"kept":["name","born","price","phone"]' in html
    assert '["Marta Linsen","1982-03-18"' in html
    assert '"together",[],[],"probability' in html
