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
from neardup_solr.minhash import make_entry
from neardup_solr.minhash.sign import hash_bands
from tests import ROOT

PAGE = ROOT / "docs" / "interoperability.md"
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
    made_entries = [make_entry(d, nd.Settings()) for d in nd.read(demo.listings())]
    sets = {entry.id: set(entry.bands) for entry in made_entries}
    return {(a, b) for a in sets for b in sets if a < b and sets[a] & sets[b]}


def test_the_table_holds_what_is_computed(table: Path) -> None:
    """Each row has the signature and the band hashes of its text, and the settings are there."""
    read = parquet.read_table(table)
    assert read.schema.metadata[b"neardup_settings"].decode() == nd.Settings().fingerprint
    document = next(nd.read(demo.listings()))
    entry = make_entry(document, nd.Settings())
    expected = signature.decode(entry.signature)
    row = read.slice(0, 1).to_pylist()[0]
    assert (row["id"], row["words"]) == (entry.id, entry.num_words)
    assert row["signature"] == expected.tolist()
    assert row["bands"] == hash_bands(expected[None, :], 42, 3)[0].tolist()


def test_the_join_over_bands_finds_the_candidates(table: Path) -> None:
    """The query of the page gives just the pairs that share a band, and the estimate."""
    rows = rows_of(QUERY)
    assert {(a, b) for a, b, _ in rows} == candidates()
    assert len(rows) == len(candidates())
    by_id = {e.id: signature.decode(e.signature) for e in (
        make_entry(d, nd.Settings()) for d in nd.read(demo.listings()))}  # fmt: skip
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
    with pytest.raises(nd.SourceError, match=r"signatures can only be written to a \.parquet file"):
        nd.signatures(demo.listings(), tmp_path / "s.csv")
    assert output.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["s.parquet"]
