"""Signatures as Parquet, and the SQL that finds candidates in them."""

import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as parquet
import pytest

import neardup_solr as nd
from neardup_solr import Document, demo, signature
from tests import ROOT
from tests.entries import entries_of
from tests.refusals import refusal

PAGE = ROOT / "docs" / "interoperability.md"
LISTINGS = list(nd.read(demo.listings()))
[QUERY] = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo listings as signatures.parquet, in the current folder."""
    monkeypatch.chdir(tmp_path)
    summary = nd.signatures(demo.listings(), "signatures.parquet")
    assert (summary.read, summary.written, summary.failed) == (404, 404, 0)
    return tmp_path / "signatures.parquet"


def rows_of(query: str) -> list[tuple[Any, ...]]:
    """The rows that DuckDB gives for a query."""
    return duckdb.connect().execute(query).fetchall()


def candidates() -> set[tuple[str, str]]:
    """Pairs of listings that share a band, by the library."""
    sets = {entry.id: set(entry.bands) for entry in entries_of(LISTINGS)}
    return {(a, b) for a in sets for b in sets if a < b and sets[a] & sets[b]}


def test_the_table_holds_what_is_computed(table: Path) -> None:
    """Each row has the signature and the band hashes of its text, and the settings are there."""
    read = parquet.read_table(table)
    assert read.schema.metadata[b"neardup_settings"].decode() == nd.Settings().fingerprint
    entry, *_ = entries_of(LISTINGS[:2])
    row = read.slice(0, 1).to_pylist()[0]
    assert (row["id"], row["words"]) == (entry.id, entry.num_words)
    assert row["signature"] == signature.decode(entry.signature).tolist()
    keys = [f"{band:02x}{hashed >> 16:012x}" for band, hashed in enumerate(row["bands"])]
    assert keys == list(entry.bands)


def test_the_join_over_bands_finds_the_candidates(table: Path) -> None:
    """The query of the page gives just the pairs that share a band, and the estimate."""
    rows = rows_of(QUERY)
    assert {(a, b) for a, b, _ in rows} == candidates()
    assert len(rows) == len(candidates())
    by_id = {each.id: signature.decode(each.signature) for each in entries_of(LISTINGS)}
    for first, second, similarity in rows:
        assert similarity == pytest.approx(float(np.mean(by_id[first] == by_id[second])))


def test_texts_without_words_are_nobodys_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty texts have null lists, and the join passes over them."""
    monkeypatch.chdir(tmp_path)
    texts = ["", "\u200b", "same text", "same text"]
    documents = [Document(id=str(n), text=text) for n, text in enumerate(texts)]
    nd.signatures(documents, "signatures.parquet")
    assert rows_of(QUERY) == [("2", "3", 1.0)]


def test_a_source_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    """What cannot be written whole is not written at all."""
    output = tmp_path / "s.parquet"
    output.write_text("old")
    with pytest.raises(nd.SourceError):
        nd.signatures(tmp_path / "missing.csv", output)
    with refusal(nd.SourceError, "format-unknown", ".parquet"):
        nd.signatures(demo.listings(), tmp_path / "s.csv")
    assert output.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["s.parquet"]
