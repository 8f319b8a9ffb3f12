"""`Passages.strike`: a source without its repeated passages."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

import neardup_solr as nd
from neardup_solr.text.strike import choose_strikes, strike
from tests.command import neardup
from tests.unit.verbs.test_passages import make_text

MENU = [f"Section {make_text(2, seed)}" for seed in range(12)]
FOOT = ["All rights are reserved by the owner of these pages.", make_text(14, 99)]


def make_pages(count: int) -> list[str]:
    """Pages with a menu and a foot."""
    bodies = [f"{make_text(40, 100 + at).capitalize()}." for at in range(count)]
    return ["\n".join([*MENU, body, *FOOT]) for body in bodies]


def write_table(path: Path, texts: Sequence[str]) -> Path:
    """Write texts with ids, a title and a number in the format of the suffix."""
    rows = [{"id": f"p{at}", "title": make_text(2, 500 + at), "text": text, "n": at}
            for at, text in enumerate(texts)]  # fmt: skip
    frame = pd.DataFrame(rows)
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".txt":
        path.write_text("".join(f"p{at} {text}\n" for at, text in enumerate(texts)), "utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".xlsx"])
@pytest.mark.parametrize("text", ["text", "title,text"])
def test_menus_and_feet_are_struck(tmp_path: Path, suffix: str, text: str) -> None:
    """The first page keeps them, the others have their bodies, and all other columns."""
    pages = make_pages(30)
    source = write_table(tmp_path / f"pages{suffix}", pages)
    output = tmp_path / f"struck{suffix}"
    run = neardup("passages", str(source), "--strike", str(output), "--text-field", text)
    assert run.returncode == 0, run.stderr
    left = list(nd.read(output, id="id", text="text", keep=["title", "n"]))
    assert [each.id for each in left] == [f"p{at}" for at in range(30)]
    assert [int(each.kept["n"]) for each in left] == [*range(30)]
    assert [each.kept["title"] for each in left] == [make_text(2, 500 + at) for at in range(30)]
    assert left[0].text == pages[0]
    bodies = [page.split("\n")[len(MENU)] for page in pages]
    assert [each.text.strip() for each in left[1:]] == bodies[1:]


def test_lines_are_struck(tmp_path: Path) -> None:
    """Sentences of lines of text, which have an id before them."""
    shared = f"{make_text(30, 1).capitalize()}."
    texts = [f"{make_text(20, at).capitalize()}. {shared} {make_text(9, -at)}" for at in range(5)]
    source = write_table(tmp_path / "notes.txt", texts)
    nd.passages(source).strike(tmp_path / "struck.txt")
    lines = (tmp_path / "struck.txt").read_text("utf-8").split("\n")[:-1]
    assert lines[0] == f"p0 {texts[0]}"
    assert lines[1:] == [
        f"p{at} {text.replace(f'{shared} ', '')}" for at, text in enumerate(texts) if at
    ]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_what_is_struck_is_listed(tmp_path: Path, suffix: str) -> None:
    """The list has each struck span, its text, and the document that has it."""
    pages = make_pages(6)
    source = write_table(tmp_path / f"pages{suffix}", pages)
    struck = nd.passages(source).strike(tmp_path / f"clean{suffix}")
    assert struck.listed == tmp_path / f"clean.struck{suffix}"
    rows = list(nd.read(struck.listed, id=":row", text="text", keep=["id", "start", "end",
                                                                     "first_id"]))  # fmt: skip
    assert len(rows) == struck.passages == 10
    for row in rows:
        page = pages[int(row.kept["id"][1:])]
        assert page[int(row.kept["start"]) : int(row.kept["end"])].strip() == row.text.strip()
        assert row.kept["first_id"] < row.kept["id"]


def test_quotations_and_half_sentences_stay(tmp_path: Path) -> None:
    """A sentence is not cut where it goes on, nor is a quotation taken out of it."""
    shared = make_text(24, 1)
    texts = [f"{shared}.", f"{make_text(5, 2)} that {shared} and {make_text(5, 3)}.",
             f"{make_text(9, 5)} “{shared.capitalize()}”. {make_text(8, 4)}"]  # fmt: skip
    source = write_table(tmp_path / "a.jsonl", texts)
    struck = nd.passages(source).strike(tmp_path / "b.jsonl")
    assert (struck.documents, struck.passages) == (0, 0)
    assert (tmp_path / "b.jsonl").read_bytes() == source.read_bytes()


def test_a_copy_is_left_empty_and_told(tmp_path: Path) -> None:
    """Of a copy nothing is left; its record stays, and the command says how many these are."""
    text = f"{make_text(60, 1)}."
    source = write_table(tmp_path / "a.csv", [text, make_text(50, 2), text])
    struck = nd.passages(source).strike(tmp_path / "b.csv")
    assert (struck.documents, struck.empty) == (1, 1)
    assert pd.read_csv(tmp_path / "b.csv")["n"].tolist() == [0, 1, 2]
    other = neardup("passages", str(source), "--strike", str(tmp_path / "c.csv"))
    assert "1 document has no text left" in other.stderr


def test_strike_from_one_of_two_sides(tmp_path: Path) -> None:
    """With `against`, what the second side has is struck from the first, however early it is."""
    shared = f"{make_text(30, 1).capitalize()}."
    first = write_table(tmp_path / "a.csv", [f"{make_text(9, 2)}. {shared}", make_text(40, 3)])
    second = write_table(tmp_path / "b.csv", [f"{shared} {make_text(9, 4)}"])
    nd.passages(first, against=second).strike(tmp_path / "c.csv")
    assert pd.read_csv(tmp_path / "c.csv")["text"].tolist() == [
        f"{make_text(9, 2)}.", make_text(40, 3)
    ]  # fmt: skip


def test_what_cannot_be_struck(tmp_path: Path) -> None:
    """A source that is not a file, a file that is the source, a suffix of another format."""
    texts = [make_text(50, 1), make_text(50, 1)]
    found = nd.passages([("1", texts[0]), ("2", texts[1])])
    with pytest.raises(nd.ArgumentError):
        found.strike(tmp_path / "a.csv")
    source = write_table(tmp_path / "a.csv", texts)
    for output in (source, tmp_path / "a.parquet", tmp_path / "no" / "a.csv"):
        run = neardup("passages", str(source), "--strike", str(output))
        assert run.returncode != 0
        assert run.stderr.count("\n") == 1
    result = nd.passages(source)
    source.write_text(source.read_text("utf-8") + "x,y,z,3\n", "utf-8")
    with pytest.raises(nd.SourceError) as changed:
        result.strike(tmp_path / "b.csv")
    assert changed.value.code == "source-changed"
    assert not (tmp_path / "b.csv").exists()


@pytest.mark.parametrize("seed", range(40))
def test_what_is_struck_and_what_is_left_are_the_text(seed: int) -> None:
    """Whatever the spans, strikes rise, and only blanks are lost."""
    draw = random.Random(seed)
    text = "".join(draw.choices("ab c. D\n。“é!?", k=draw.randint(0, 300)))
    ends = [draw.randint(0, len(text)) for _ in range(8)]
    spans = [(min(pair), max(pair)) for pair in zip(ends[::2], ends[1::2], strict=True)]
    chosen = choose_strikes(text, spans)
    assert chosen == sorted(chosen)
    struck = "".join(text[start:end] for start, end in chosen)
    left = strike(text, chosen)
    assert len(left.rstrip()) <= len(text) - len(struck)
    assert sorted("".join((struck + left).split())) == sorted("".join(text.split()))
