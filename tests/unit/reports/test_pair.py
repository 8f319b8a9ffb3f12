"""The table of a pair: agreement and bits by field, and words that the measure calls the same."""

from __future__ import annotations

from typing import Any

import pytest

import neardup_solr as nd

KINDS: dict[str, nd.types.FieldKind] = {
    "name": "text",
    "born": "date",
    "price": "number",
    "phone": "exact",
}


def struck(row: Any) -> list[str]:
    """List the words that a diff marks as different, those of the first value before the others."""
    assert row.values is not None
    first, second = row.values
    removed = [first.text(run.first) for run in row.runs if run.kind not in ("equal", "same")]
    added = [second.text(run.second) for run in row.runs if run.kind not in ("equal", "same")]
    return [words for words in (*removed, *added) if words]


def compare(measure: Any, first: str, second: str) -> Any:
    """Compare two texts in the table of a result by a measure."""
    documents = [nd.Document(id="1", text=first), nd.Document(id="2", text=second)]
    found = nd.duplicates(documents, measure=measure, min_similarity=0.0)
    facts = nd.explain(documents, 1, 2, measure=measure).facts
    return found.origin.table.compare("", facts.first.words, facts.second.words)


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
    assert struck(compare("records", first, second)) == differ


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
    assert struck(compare(measure, *texts)) == differ


def test_words_may_move_between_the_columns_of_a_text() -> None:
    """Columns that are compared as one text are shown apart, and its words are not."""
    records = {"first": "Marta", "last": "Linsen"}, {"first": "Linsen", "last": "Marta M."}
    sources = [{"id": str(at), **record} for at, record in enumerate(records)]
    found = nd.duplicates(sources, text=("first", "last"), measure="records")
    rows = found.origin.table.list_rows(records, (), 0.9)
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
