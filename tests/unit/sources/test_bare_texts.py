"""Lists of texts and Series as sources, indexes with several levels, and notes about groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import neardup_solr as nd
from tests.refusals import refusal

TEXTS = ["the ferry leaves at nine today", "a market", "the ferry leaves at ten today"]


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        lambda texts: np.array(texts, dtype=object),
        pd.Series,
        pl.Series,
        lambda texts: [*texts, None],
        lambda texts: pd.Series([*texts, None], name="note"),
    ],
)
def test_texts_have_their_places_as_ids(make: Callable[[list[str]], Any]) -> None:
    """So `texts[pair.id]` is the text, in lists, arrays and Series; none may be missing."""
    found = nd.duplicates(make(TEXTS), on_error=lambda _: None)
    assert [(pair.id, pair.other_id) for pair in found] == [(0, 2)]


def test_the_index_of_a_series_has_the_ids() -> None:
    """So `series.drop(found.removed)` is the rest."""
    series = pd.Series(TEXTS, index=["a", "b", "c"], name="note")
    found = nd.duplicates(series)
    assert list(series.drop(found.removed).index) == ["a", "b"]
    assert nd.duplicates(series, id=":row").labels == {1: 1, 3: 1}
    assert nd.explain(series, "a", "c").verdict


def test_a_list_of_names_is_one_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks like the name of a file, or is one, is no text."""
    monkeypatch.chdir(tmp_path)
    with refusal(nd.SourceError, "file-missing", "gone.csv"):
        nd.duplicates(["gone.csv", "my notes.csv"])
    with refusal(nd.SourceError, "file-missing", "parts/one"):
        nd.duplicates(["parts/one", "parts/two"])
    (tmp_path / "notes").mkdir()
    pd.DataFrame({"id": [1, 2, 3], "text": TEXTS}).to_csv(tmp_path / "notes" / "all.csv")
    assert len(nd.duplicates(["notes"])) == 1
    assert not nd.duplicates(["note", "other"])


def test_texts_without_ids_of_their_own_are_not_indexed() -> None:
    """In a collection, the next list would replace the same documents."""
    for texts in (TEXTS, pd.Series(TEXTS), pl.Series(TEXTS)):
        with refusal(nd.ArgumentError, "argument-type", "(id, text)"):
            list(nd.read(texts))
    assert [each.id for each in nd.read(pd.Series(TEXTS, index=["x", "y", "z"]))] == ["x", "y", "z"]


def test_an_index_of_several_levels_is_no_id() -> None:
    """A level can be; names of columns with levels have to be joined."""
    frame = pd.DataFrame({"ad": [1, 2, 3], "city": "Ulm", "text": TEXTS}).set_index(["ad", "city"])
    assert [(pair.id, pair.other_id) for pair in nd.duplicates(frame, id="ad")] == [(1, 3)]
    with refusal(nd.SourceError, "column-missing", "'ad'", "'city'"):
        nd.duplicates(frame, id="number")
    with refusal(nd.ArgumentError, "argument-type", "reset_index"):
        nd.duplicates(frame["text"])
    wide = pd.concat({"x": frame, "y": frame}, axis=1)
    with refusal(nd.SourceError, "column-missing", "df.columns ="):
        nd.duplicates(wide)


def test_groups_are_noted_once(caplog: pytest.LogCaptureFixture) -> None:
    """A line for each line of the program, not for each group."""
    frame = pd.DataFrame({"body": TEXTS * 3, "group": [1, 1, 1, 2, 2, 2, 3, 3, 3]})
    groups = frame.groupby("group")[["body"]]
    assert groups.apply(lambda each: len(nd.duplicates(each, text="body"))).tolist() == [1, 1, 1]
    assert len(caplog.messages) == 1
    nd.duplicates(frame, text="body")
    assert len(caplog.messages) == 2
