"""nd.Source: how a source is written, and the names of its columns."""

from __future__ import annotations

import inspect
import os
import signal
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

import neardup_solr as nd
from tests.refusals import refusal

TEXTS = {"1": "one two three four", "2": "one two three four", "3": "five six seven eight"}
COLUMNS: dict[str, Any] = {"id": "ad", "text": ["title", "body"]}
DIALECT: dict[str, Any] = {"delimiter": ";", "source_format": "csv", "max_doc_bytes": "1M"}


@pytest.fixture
def ads(tmp_path: Path) -> Path:
    """A table that nothing can be read from by default."""
    path = tmp_path / "ads.txt"
    lines = [f"{id};{text[:3]};{text[4:]};Paris\n" for id, text in TEXTS.items()]
    path.write_text("ad;title;body;city\n" + "".join(lines))
    return path


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """The same texts in another form."""
    path = tmp_path / "others.jsonl"
    lines = [
        f'{{"key": "b{id}", "said": "{text}", "city": "Rome"}}\n' for id, text in TEXTS.items()
    ]
    path.write_text("".join(lines))
    return path


def test_each_function_that_reads_a_source_takes_one(ads: Path, tmp_path: Path) -> None:
    """It gives the same whether the columns are named there or by the function."""
    source, written = nd.Source(ads, **COLUMNS, **DIALECT), nd.Source(ads, **DIALECT)
    documents = [one.text for one in nd.read(source)]
    assert documents == [f"{text[:3]}\n{text[4:]}" for text in TEXTS.values()]
    assert list(nd.read(source, keep="city")) == list(nd.read(written, keep="city", **COLUMNS))
    assert list(nd.read(source=source)) == list(nd.read(written, **COLUMNS))
    assert nd.duplicates(source).pairs == nd.duplicates(written, **COLUMNS).pairs
    assert nd.explain(source, "1", "2") == nd.explain(written, "1", "2", **COLUMNS)
    assert nd.tune(source) == nd.tune(written, **COLUMNS)
    assert list(nd.passages(source)) == list(nd.passages(written, **COLUMNS))
    assert nd.signatures(source, tmp_path / "s.parquet").written == 3
    answers = tmp_path / "answers.jsonl"
    assert nd.answer(source, "1", "2", "same", answers=answers).hash
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("id,other_id,answer\n1,3,different\n")
    assert nd.Answers(answers).add(pairs, source).added == 1
    stop = Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    reviewed = nd.review(source, answers=answers, on_ready=lambda _: stop.start())
    assert reviewed.tally.same == 1
    readers = {name for name in nd.__all__ if "source" in _parameters(getattr(nd, name))}
    assert readers == {"read", "duplicates", "explain", "tune", "signatures", "index", "gate"} | {
        "answer", "review", "passages", "Source", "SourceError"
    }  # fmt: skip


def _parameters(what: Any) -> set[str]:
    try:
        return set(inspect.signature(what).parameters)
    except ValueError:
        return set()


def test_each_side_is_read_in_its_own_way(ads: Path, others: Path) -> None:
    """Columns of the two sides may have other names, those of the function are for both."""
    first = nd.Source(ads, **COLUMNS, **DIALECT)
    second = nd.Source(others, id="key", text="said")
    expected = [("1", "b1"), ("1", "b2"), ("2", "b1"), ("2", "b2"), ("3", "b3")]
    found = nd.duplicates(first, against=second, texts=True, keep="city")
    assert [(pair.id, pair.other_id) for pair in found.pairs] == expected
    assert found.texts["1"] == "one\ntwo three four"
    assert found.texts[(1, "b1")] == TEXTS["1"]
    assert found.kept["1"] == {"city": "Paris"}
    assert found.kept[(1, "b1")] == {"city": "Rome"}
    plain = [{"id": "b3", "text": TEXTS["3"]}]
    assert [pair.other_id for pair in nd.duplicates(first, against=plain).pairs] == ["b3"]
    turned = nd.duplicates(plain, against=nd.Source(others, id="key", text="said"))
    assert [pair.id for pair in turned.pairs] == ["b3"]
    named = nd.duplicates(nd.Source(ads, **DIALECT), against=second, **COLUMNS)
    assert [(pair.id, pair.other_id) for pair in named.pairs] == expected
    both = nd.duplicates(others, against=nd.Source(others), id="key", text="said")
    assert len(both.pairs) == 5


def test_what_does_not_go_together_is_one_line(ads: Path) -> None:
    """A column that is named twice is refused, and so is a value of the wrong type."""
    for call in (nd.read, nd.duplicates, nd.tune):
        with pytest.raises(nd.ArgumentError) as error:
            call(nd.Source(ads, id="ad"), id="ad")
        assert str(error.value) == "`id` is also in nd.Source; remove one of the two"
    with refusal(nd.ArgumentError, "argument-type", "`id`", "5"):
        nd.Source(ads, id=5)  # type: ignore[arg-type]
    with refusal(nd.ArgumentError, "argument-type", "`source`"):
        nd.Source(nd.Source(ads))


@pytest.mark.parametrize("name", DIALECT)
def test_a_function_says_where_the_way_of_writing_goes(name: str, ads: Path) -> None:
    """A delimiter is of the source, whatever reads it."""
    calls: list[Any] = [nd.read, nd.duplicates, nd.tune, nd.index, nd.gate, nd.signatures]
    for call in [*calls, nd.explain, nd.review, nd.answer]:
        with pytest.raises(nd.ArgumentError) as error:
            call(ads, **{name: DIALECT[name]})
        step = f"did you mean `nd.Source(PATH, {name}=...)`?"
        assert str(error.value) == f"nd.{call.__name__}() has no argument `{name}`; {step}"
