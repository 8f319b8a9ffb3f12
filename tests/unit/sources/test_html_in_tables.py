"""HTML in the texts of a table is told, and read as a browser shows it if that is asked for."""

from __future__ import annotations

import csv
import io
import json
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import neardup_solr as nd
from tests.command import neardup

TEXT = "Blue & green door with brass handles"
HTML = [
    "<p>Blue &amp; green door with brass handles</p>",
    "<DIV class=\"item\" data-x='1'>Blue &#38; green <b>door</b><br/>with brass handles</DIV>",
    "Blue &amp; green door with brass handles",
    "&lt;p&gt;Blue &amp;amp; green door with brass handles&lt;/p&gt;",
    "<![CDATA[<p>Blue &amp; green door</p>\n<p>with brass handles</p>]]>",
    "<style>p {color: red}</style><p>Blue & green door with brass&nbsp;handles<script>f()</script>",
    "<o:p></o:p><p class=MsoNormal>Blue &amp; green door with <my-tag>brass</my-tag> handles",
    "<!-- of the shop --><ul><li>Blue &#x26; green door<li>with brass handles</ul>",
]
OTHERS = [
    "the proof needs x < 5 and y > 3 for all of them",
    "use std::vector<int> and std::map<string, int> for this",
    "if a <b and c> d then a is less than d & more",
    "<person><name>Ann &amp; Bob</name><town>Bern</town></person>",
    '<?xml version="1.0"?><p>a paragraph of another language</p>',
    '<text xmlns="http://example.org/a"><p>a paragraph of it</p></text>',
    "AT&T and R&D of the lab <mail@example.org> wrote",
    "I <3 this; for (i=0;i<n;i++) a[i]&=b;",
]


def write(path: Path, texts: Iterable[str], **more: str) -> Path:
    """Write texts as a table of the format that the suffix names, numbered from 1."""
    rows = [{"id": str(n), "text": text, **more} for n, text in enumerate(texts, 1)]
    if path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        file = io.StringIO()
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
        path.write_text(file.getvalue())
    return path


def notices(caplog: pytest.LogCaptureFixture, source: Any, **options: Any) -> list[str]:
    """List the notices on HTML when a source is compared."""
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        nd.duplicates(source, by="all", **options)
    return [line for line in caplog.messages if "strip_html" in line]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_html_is_told_and_read(suffix: str, tmp_path: Path) -> None:
    """The command says that texts are HTML, and the option that it names reads them."""
    path = write(tmp_path / f"shop.{suffix}", [*HTML, TEXT])
    told = neardup("duplicates", str(path))
    (line,) = [each for each in told.stderr.splitlines() if "HTML" in each]
    assert "--strip-html" in line
    read = neardup("duplicates", str(path), "--strip-html", "-o", str(tmp_path / "pairs.csv"))
    assert read.returncode == 0
    assert "HTML" not in read.stderr
    pairs = pd.read_csv(tmp_path / "pairs.csv")
    assert len(pairs) == len(HTML) * (len(HTML) + 1) / 2
    assert set(pairs["relation"]) == {"copy"}


@pytest.mark.parametrize("text", HTML)
def test_texts_are_what_a_reader_sees(text: str) -> None:
    """Each way to write mark-up is left out, in a record alone and in columns."""
    single = nd.read(nd.Source([{"id": "1", "text": text}], strip_html=True))
    several = nd.read(nd.Source([{"id": str(n), "text": text} for n in range(5)], strip_html=True))
    assert {" ".join(each.text.split()) for each in (*single, *several)} == {TEXT}


def test_what_is_no_html_stays(caplog: pytest.LogCaptureFixture) -> None:
    """Maths, code and XML are neither told as HTML nor changed."""
    records = [(str(n), text) for n, text in enumerate(OTHERS)]
    assert not notices(caplog, records)
    read = nd.read(nd.Source(records, strip_html=True))
    assert [each.text for each in read] == OTHERS


def test_code_within_html_stays() -> None:
    """In a text of HTML, what is no tag of HTML is text."""
    text = "<p>if a<b and c>d use std::vector<int>, x < 5</p>"
    (read,) = nd.read(nd.Source([("1", text)], strip_html=True))
    assert read.text == "if a<b and c>d use std::vector<int>, x < 5"


def test_few_texts_of_html_are_not_told(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is said unless most texts are HTML, nor where mark-up is asked for."""
    records = [(str(n), f"a plain text of number {n}") for n in range(9)]
    assert not notices(caplog, [*records, *((f"h{n}", text) for n, text in enumerate(HTML))])
    assert notices(caplog, pd.DataFrame({"id": range(8), "text": HTML}))


def test_all_columns_of_the_text_are_read(tmp_path: Path) -> None:
    """Columns that are joined, or compared by themselves, are read; others are kept as they are."""
    rows = [
        {"id": n, "title": "<b>Door</b>", "text": text, "note": "<i>new</i>"}
        for n, text in enumerate(HTML)
    ]
    source = nd.Source(rows, text=["title", "text"], strip_html=True)
    read = nd.duplicates(source, keep="note")
    assert {pair.similarity for pair in read.pairs} == {1.0}
    fields = nd.duplicates(nd.Source(rows, strip_html=True), fields="title,text")
    assert len(fields.pairs) == len(HTML) * (len(HTML) - 1) / 2
    written = tmp_path / "unique.jsonl"
    neardup(
        "duplicates", str(write(tmp_path / "shop.csv", HTML)), "--strip-html",
        "--unique", str(written), "--yes",
    )  # fmt: skip
    assert [json.loads(line)["text"] for line in written.read_text().splitlines()] == HTML[:1]
