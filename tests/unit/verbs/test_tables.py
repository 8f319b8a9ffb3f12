"""Results as tables of pandas, polars and Arrow, in notebooks, and across processes."""

import asyncio
import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import neardup_solr as nd
from tests.refusals import refusal

ADS = pd.DataFrame(
    {
        "ad": [1, 2, 3, 4],
        "title": ["Chef wanted in Berlin now", "Chef wanted in Berlin today", "Driver", "driver"],
        "city": ["Berlin", "Berlin", None, "<b>Ulm</b>"],
        "salary": [40.5, None, 1.0, 2.0],
    }
)


def found() -> nd.Duplicates:
    """The near-duplicates of the ads, with their texts and two columns."""
    return nd.duplicates(ADS, id="ad", text="title", keep=("city", "salary"), texts=True)


def test_pairs_as_a_dataframe() -> None:
    """A row a pair, with texts and kept columns of both sides."""
    frame = found().to_pandas()
    assert frame.to_dict("records")[0] == {
        "id": 1,
        "other_id": 2,
        "similarity": 0.8,
        "distance": 1,
        "measure": "words",
        "cluster": 1,
        "relation": "edited",
        "text": "Chef wanted in Berlin now",
        "city": "Berlin",
        "salary": 40.5,
        "other_text": "Chef wanted in Berlin today",
        "other_city": "Berlin",
        "other_salary": pytest.approx(float("nan"), nan_ok=True),
    }
    assert len(frame) == 2


def test_clusters_as_a_dataframe() -> None:
    """A row a member, the canonical one first."""
    frame = found().to_polars("clusters")
    assert frame.select("cluster", "id", "canonical", "text").rows() == [
        (1, 1, True, "Chef wanted in Berlin now"),
        (1, 2, False, "Chef wanted in Berlin today"),
        (3, 3, True, "Driver"),
        (3, 4, False, "driver"),
    ]
    assert found().labels == {1: 1, 2: 1, 3: 3, 4: 3}


def test_the_three_libraries_agree() -> None:
    """Arrow, pandas and polars have the same rows and columns."""
    result = found()
    arrow, polars = result.to_arrow(), result.to_polars()
    assert arrow.column_names == polars.columns == list(result.to_pandas().columns)
    assert arrow.to_pylist() == polars.to_dicts()


def test_an_empty_result_has_the_same_types() -> None:
    """Tables of results without pairs can be put below those with some."""
    full, none = found(), nd.duplicates(ADS.head(1), id="ad", text="title")
    wanted = full.to_arrow().schema
    assert [(one.name, one.type) for one in none.to_arrow().schema] == [
        (name, wanted.field(name).type) for name in none.to_arrow().column_names
    ]
    for name, kind in none.to_polars().schema.items():
        assert full.to_polars().schema[name] == kind
    for name, dtype in none.to_pandas().dtypes.items():
        assert full.to_pandas().dtypes[name] == dtype or str(dtype) == "object"
    assert none.to_pandas("clusters").empty


def test_kept_values_of_several_kinds_become_text() -> None:
    """A column that mixes numbers and text is one of text, as Arrow has no other."""
    mixed = [{"id": str(at), "text": "the same", "x": x} for at, x in enumerate((1, "a", None))]
    assert nd.duplicates(mixed, keep="x").to_arrow("clusters")["x"].to_pylist() == ["1", "a", None]


def test_whole_numbers_stay_whole_beside_missing_ones() -> None:
    """A float of 53 bits would round them; the three libraries agree."""
    n = pd.array([2**53 + 1, None, 2**53 + 3, None], "Int64")
    found = nd.duplicates(ADS.assign(n=n), id="ad", text="title", keep="n")
    for of in ("pairs", "clusters"):
        frame = found.to_pandas(of)
        names = [name for name in ("n", "other_n") if name in frame]
        assert frame["n"].iloc[0] == 2**53 + 1
        rows = frame[names].astype(object).replace({pd.NA: None}).to_numpy().tolist()
        assert rows == list(map(list, found.to_polars(of)[names].rows()))
        assert rows == list(map(list, found.to_arrow(of).select(names).to_pandas(
            integer_object_nulls=True).to_numpy(object)))  # fmt: skip


def test_a_torn_pair_leaves_its_number_as_it_is() -> None:
    """A missing cluster rounds no other one."""
    texts = ["a b c d e", "a b c d x", "a b c y x"]
    frame = pd.DataFrame({"id": [2**53 + 1, 2**53 + 2, 2**53 + 3], "text": texts})
    found = nd.duplicates(frame, min_similarity=0.8, linkage="complete")
    assert found.to_pandas()["cluster"].tolist() == [2**53 + 1, pd.NA]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (["a", [1, "x"]], ["a", '[1,"x"]']),
        ([[1], [1, "x"]], ["[1]", '[1,"x"]']),
        ([[1], [2, 3]], None),
        ([[1], [2.5]], ["[1]", "[2.5]"]),
        ([["x"], []], None),
    ],
)
def test_kept_lists_of_several_kinds_become_json(
    values: list[Any], texts: list[str] | None, tmp_path: Path
) -> None:
    """Those of one kind stay what they are."""
    rows = [{"id": str(at), "text": "the same", "x": x} for at, x in enumerate(values)]
    found = nd.duplicates(rows, keep="x")
    found.write(tmp_path / "pairs.parquet")
    assert found.to_arrow("clusters")["x"].to_pylist() == (texts or values)
    assert found.to_polars("clusters")["x"].to_list() == (texts or values)
    assert found.to_pandas("clusters")["x"].tolist() == values
    table = pq.read_table(tmp_path / "pairs.parquet")
    assert table["other_x"].to_pylist() == found.to_arrow()["other_x"].to_pylist()


def test_what_is_not_there_is_said() -> None:
    """There are pairs and clusters, and nothing else."""
    with refusal(nd.ArgumentError, "argument-invalid", "'clusters'"):
        found().to_pandas("cluster")  # type: ignore[arg-type]


def test_a_result_is_short_on_the_screen() -> None:
    """Its repr is one line, and a notebook shows a small table, with everything escaped."""
    assert repr(found()) == "<Duplicates: 2 pairs in 2 clusters among 4 documents (words >= 0.5)>"
    one = nd.duplicates(ADS.head(2), id="ad", text="title")
    assert repr(one) == "<Duplicates: 1 pair in 1 cluster among 2 documents (words >= 0.5)>"
    pair = nd.Pair(id="1", other_id="2", distance=1, similarity=0.9)
    assert repr(nd.Report(pairs=(pair,), documents=1, cut=0)) == "<Report: 1 pair among 1 document>"
    sheet = found().sample()
    assert repr(sheet) == "<AnswerSheet: 2 pairs to judge>"
    swept = found().sweep([(1, 2)])
    assert repr(swept) == "<Sweep: 51 thresholds, best F1 0.667 at min_similarity 0.5>"
    judged = sheet.to_pandas().assign(answer="same")
    assert "best precision 1.000 at" in repr(found().sweep(judged))
    many = nd.duplicates([(f"<i>{at}", "the same text") for at in range(600)])
    assert len(repr(many)) < 100
    html = many._repr_html_()
    assert len(html) < 2_000
    assert "<i>" not in html
    assert "&lt;i&gt;" in html


def test_a_result_is_pickled_and_copied() -> None:
    """Results cross processes."""
    result = found()
    assert pickle.loads(pickle.dumps(result)) == result == copy.deepcopy(result)
    assert result.__reduce_ex__(5)


def pairs_of(texts: list[str]) -> int:
    """How many near-duplicate pairs texts have; in another process."""
    return len(nd.duplicates(list(zip("abcdef", texts, strict=False))).pairs)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_other_processes_find_the_same(start: str) -> None:
    """The library works after fork and spawn, the kernel included."""
    pairs_of(["one two three", "one two three"])
    context = multiprocessing.get_context(start)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(pairs_of, [["one two", "one two"], ["one", "two"]])) == [1, 0]


def test_threads_and_asyncio_find_the_same() -> None:
    """Several runs at once do not disturb each other."""
    texts = [["one two three four", "one two three five"], ["one", "two"]] * 4
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(pairs_of, texts)) == [1, 0] * 4

    async def together() -> list[int]:
        return await asyncio.gather(*(asyncio.to_thread(pairs_of, each) for each in texts))

    assert asyncio.run(together()) == [1, 0] * 4


def test_polars_and_pandas_are_the_same_source() -> None:
    """A frame of polars gives what one of pandas gives."""
    assert nd.duplicates(pl.from_pandas(ADS), id="ad", text="title").pairs == found().pairs


def test_texts_of_the_largest_clusters_alone() -> None:
    """A number asks for the first members of so many clusters, as a terminal shows them."""
    texts = ["one two three"] * 12 + ["four five six"] * 2
    found = nd.duplicates([(f"{at:02}", text) for at, text in enumerate(texts)], texts=1)
    assert list(found.texts.items()) == [(f"{at:02}", "one two three") for at in range(10)]
    assert nd.duplicates([("a", "x y"), ("b", "x y")]).texts == {}
