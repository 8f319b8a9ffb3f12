"""Ids come back in the type in which a DataFrame or dicts gave them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import neardup_solr as nd

TEXTS = ["a b c d e", "a b c d e", "one two three", "one two three four", "x y z"]
IDS = [30, 4, 100, 5, 6]
SOURCES: dict[str, Any] = {
    "pandas": lambda ids: pd.DataFrame({"id": ids, "text": TEXTS, "n": range(5)}),
    "index": lambda ids: pd.DataFrame({"text": TEXTS, "n": range(5)}, pd.Index(ids, name="id")),
    "nullable": lambda ids: pd.DataFrame({"id": pd.array(ids, "Int64"), "text": TEXTS, "n": IDS}),
    "polars": lambda ids: pl.DataFrame({"id": ids, "text": TEXTS, "n": range(5)}),
    "arrow": lambda ids: pa.table({"id": ids, "text": TEXTS, "n": list(range(5))}),
    "mapping": lambda ids: {"id": ids, "text": TEXTS, "n": range(5)},
    "dicts": lambda ids: [{"id": i, "text": t, "n": 1} for i, t in zip(ids, TEXTS, strict=True)],
    "pairs": lambda ids: list(zip(ids, TEXTS, strict=True)),
}


def require_pairs(path: Path, pairs: list[tuple[str, str]]) -> None:
    """Fail unless a written file has just these pairs."""
    read = nd.evaluate(pairs, path, as_given=True)
    assert (read.known, read.found, read.missed, read.false) == (len(pairs), len(pairs), (), ())


@pytest.mark.parametrize("keep", [(), ("n",)])
@pytest.mark.parametrize("name", SOURCES)
def test_numbers_stay_numbers(name: str, keep: tuple[str, ...]) -> None:
    """Pairs, clusters, labels, removed, texts and kept columns have whole numbers as ids."""
    if name == "pairs" and keep:
        return
    found = nd.duplicates(SOURCES[name](IDS), keep=keep, min_similarity=0.7, texts=True)
    assert [(pair.id, pair.other_id, pair.cluster) for pair in found.pairs] == [
        (4, 30, 4), (5, 100, 5),
    ]  # fmt: skip
    assert found.labels == {4: 4, 30: 4, 5: 5, 100: 5}
    assert [(id, one.id, one.duplicate_of) for id, one in found.removed.items()] == [
        (4, 4, 30), (5, 5, 100),
    ]  # fmt: skip
    assert [(one.id, one.canonical) for one in found.clusters] == [(4, 30), (5, 100)]
    assert found.texts[30] == "a b c d e"
    assert set(found.kept) == ({4, 5, 30, 100} if keep else set())
    assert found.at(0.9).labels == {4: 4, 30: 4}
    assert found.to_pandas()["id"].dtype == "int64"
    assert found.to_pandas("clusters")["cluster"].tolist() == [4, 4, 5, 5]
    assert found.to_polars()["other_id"].dtype == pl.Int64
    assert found.to_arrow()["cluster"].type == pa.int64()


def test_a_dataframe_filters_itself() -> None:
    """Nothing has to be made a text."""
    frame = SOURCES["pandas"](IDS)
    found = nd.duplicates(frame, min_similarity=0.7)
    assert frame[~frame["id"].isin(found.removed)]["id"].tolist() == [30, 100, 6]
    assert frame["id"].map(found.labels).dropna().tolist() == [4, 4, 5, 5]
    joined = frame.merge(found.to_pandas("clusters"), on="id")
    assert len(joined) == 4


def test_a_result_without_pairs_has_the_same_types() -> None:
    """So what is joined with it does not depend on what was found."""
    found = nd.duplicates(SOURCES["pandas"](IDS))
    none = nd.duplicates(pd.DataFrame({"id": [1, 2], "text": ["a b", "c d"]}))
    assert none.pairs == ()
    assert (none.to_pandas().dtypes == found.to_pandas().dtypes).all()
    assert none.to_arrow().schema == found.to_arrow().schema
    assert none.to_polars().schema == found.to_polars().schema


def test_a_torn_pair_has_no_cluster() -> None:
    """Its column stays one of whole numbers."""
    texts = ["a b c d e", "a b c d x", "a b c y x"]
    frame = pd.DataFrame({"id": [1, 2, 3], "text": texts})
    found = nd.duplicates(frame, min_similarity=0.8, linkage="complete")
    assert [(pair.id, pair.other_id, pair.cluster) for pair in found.pairs] == [
        (1, 2, 1), (2, 3, ""),
    ]  # fmt: skip
    assert found.to_pandas()["cluster"].tolist() == [1, pd.NA]
    assert found.to_arrow()["cluster"].to_pylist() == [1, None]
    assert found.to_polars()["cluster"].to_list() == [1, None]


def test_numbers_and_texts() -> None:
    """Each stays what it is; in a table of one type all are texts; 1 and "1" are told apart."""
    rows = [{"id": id, "text": text} for id, text in zip([1, "b", "1", 7, 8], TEXTS, strict=True)]
    found = nd.duplicates(rows, min_similarity=0.7)
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("1@row1", "b"), ("1@row3", 7)]
    assert found.to_pandas()["other_id"].tolist() == ["b", 7]
    assert found.to_arrow()["other_id"].to_pylist() == ["b", "7"]
    assert found.to_polars()["other_id"].to_list() == ["b", "7"]
    last = nd.duplicates(nd.Source(rows, on_repeat="last"), min_similarity=0.7)
    assert [(pair.id, pair.other_id) for pair in last.pairs] == [("1", 7)]


def test_two_sides_of_two_types() -> None:
    """Each side has its own."""
    frame = pd.DataFrame({"id": IDS, "text": TEXTS})
    found = nd.duplicates(frame, against=[("a", "x y z"), ("b", "none of them")])
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [(6, "a")]
    assert list(found.removed) == [6]
    assert found.to_pandas()["id"].dtype == "int64"
    assert found.to_arrow()["other_id"].type == pa.string()


def test_row_numbers_are_numbers_in_memory() -> None:
    """Of a DataFrame without ids, `iloc[id - 1]` is the row."""
    found = nd.duplicates(pd.DataFrame({"text": TEXTS}), min_similarity=0.7)
    assert found.labels == {1: 1, 2: 1, 3: 3, 4: 3}


def test_files_have_texts(tmp_path: Path) -> None:
    """Numbers in JSON lines are texts, as those of CSV and Solr are."""
    (tmp_path / "a.jsonl").write_text('{"id": 1, "text": "a b"}\n{"id": 2, "text": "a b"}\n')
    assert nd.duplicates(tmp_path / "a.jsonl").labels == {"1": "1", "2": "1"}


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "a.parquet", "a.html"])
def test_numbers_are_written(name: str, tmp_path: Path) -> None:
    """A result is written, read, evaluated and shown whatever its ids are."""
    found = nd.duplicates(SOURCES["pandas"](IDS), min_similarity=0.7, texts=True)
    found.write(tmp_path / name)
    assert "<bdi>30</bdi>" in found._repr_html_()
    if name != "a.html":
        require_pairs(tmp_path / name, [("4", "30"), ("5", "100")])
        assert nd.evaluate(tmp_path / name, found).f1 == 1
    if name == "a.parquet":
        assert pd.read_parquet(tmp_path / name)[["id", "cluster"]].values.tolist() == [
            [4, 4], [5, 5],
        ]  # fmt: skip
    sheet = found.sample(2)
    assert sorted(sheet.to_pandas()["id"]) == [4, 5]
    assert sheet.to_arrow()["id"].type == pa.int64()
    assert sheet.to_polars()["other_id"].dtype == pl.Int64
    assert found.sweep([(4, 30), (5, 100)]).best.f1 == 1


BIG = [2**63 + 2, 2**63 + 1, 2**63 + 5, 2**63 + 4, 2**63 + 9]
HUGE = [2**64 + 2, 2**64 + 1, 2**64 + 5, 2**64 + 4, 2**64 + 9]


@pytest.mark.parametrize("of", ["pairs", "clusters"])
def test_numbers_beyond_63_bits(of: Any) -> None:
    """They are unsigned, and beyond 64 bits texts where one type has to hold a column."""
    columns = ["id", "cluster"]
    found = nd.duplicates(SOURCES["pandas"](BIG), min_similarity=0.7, linkage="complete")
    wanted = found.to_pandas(of)[columns].to_numpy(object).tolist()
    # Pairs begin with the smallest id, clusters with the first record.
    assert wanted[0] == [BIG[of == "pairs"], 2**63 + 1]
    assert (found.to_pandas(of)[columns].dtypes == "uint64").all()
    assert found.to_arrow(of).select(columns).to_pandas().to_numpy(object).tolist() == wanted
    assert list(map(list, found.to_polars(of)[columns].rows())) == wanted
    huge = nd.duplicates(SOURCES["pandas"](HUGE), min_similarity=0.7)
    first = HUGE[of == "pairs"]
    assert huge.to_pandas(of)["id"].tolist()[0] == first
    assert huge.to_arrow(of)["id"].to_pylist()[0] == str(first)
    assert huge.to_polars(of)["id"].to_list()[0] == str(first)


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "a.parquet", "a.xlsx", "a.html"])
@pytest.mark.parametrize("ids", [BIG, HUGE, ["a", -(2**70), 2**65, 2**63, 2]])
def test_numbers_of_any_size_are_written(ids: list[Any], name: str, tmp_path: Path) -> None:
    """Each format has them with all their digits."""
    frame = pd.DataFrame({"id": pd.Series(ids, dtype=object), "text": TEXTS})
    found = nd.duplicates(frame, min_similarity=0.7)
    found.write(tmp_path / name)
    if name != "a.html":
        pairs = [(str(pair.id), str(pair.other_id)) for pair in found.pairs]
        require_pairs(tmp_path / name, pairs)
    else:
        assert str(ids[2]) in (tmp_path / name).read_text()
