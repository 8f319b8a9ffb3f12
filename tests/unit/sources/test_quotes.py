"""CSV as it is written: blanks beside quotes, other quotes, lines above the header."""

from __future__ import annotations

from pathlib import Path

import pytest

import neardup_solr as nd

A, B, C = "ferries leave, at nine", "markets open, at seven", 'a "word", in quotes'
TEXTS = [A, B, "plain words"]
ROWS = list(zip(("1", "2", "3"), TEXTS, strict=True))


def write(pattern: str, header: str = "id,text,city\n") -> str:
    return header + "".join(pattern.format(id=id, text=text) for id, text in ROWS)


WAYS = {
    "a blank before": write('{id}, "{text}", Rome\n', "id, text, city\n"),
    "blanks on both sides": write('"{id}" , "{text}" , "Rome"\n', '"id" , "text" , "city"\n'),
    "a tab before": write('{id},\t"{text}",\t"Rome"\n', 'id,\t"text",\t"city"\n'),
    "an unbreakable blank": write('{id},\u00a0"{text}",\u00a0"Rome"\n'),
    "semicolons": write('{id}; "{text}"; "Rome"\n', "id; text; city\n"),
    "single quotes": write("'{id}','{text}','Rome'\n", "'id','text','city'\n"),
    "single quotes around texts": write("{id},'{text}',Rome\n"),
    "curly quotes": write("{id},“{text}”,“Rome”\n"),
    "Mac line ends": write('{id}, "{text}", Rome\n').replace("\n", "\r"),
    "Windows line ends": write('{id} , "{text}" , "Rome"\n').replace("\n", "\r\n"),
    "comments": "# made by a program\n# in 2024, at night\n" + write('{id},"{text}",Rome\n'),
    "a mark and a delimiter": "\ufeffsep=;\n" + write("{id};{text};Rome\n", "id;text;city\n"),
    "a delimiter behind": write('{id},"{text}",Rome,\n', "id,text,city,\n"),
    "a column without a name": write('{id},,"{text}",Rome\n', "id,,text,city\n"),
}


@pytest.mark.parametrize("way", WAYS)
def test_fields_are_those_that_were_meant(way: str, tmp_path: Path) -> None:
    (path := tmp_path / "a.csv").write_text(WAYS[way], newline="")
    documents = list(nd.read(path, keep="city"))
    assert [document.text for document in documents] == TEXTS
    assert [document.id.strip() for document in documents] == ["1", "2", "3"]
    assert {str(document.kept["city"]).strip() for document in documents} == {"Rome"}


def test_a_field_of_several_lines_behind_a_blank(tmp_path: Path) -> None:
    (path := tmp_path / "a.csv").write_text(f'id, text\n1, "{A}\nand, on"\n2, "{B}"\n')
    assert [document.text for document in nd.read(path)] == [f"{A}\nand, on", B]


def test_a_blank_before_a_quote_far_below(tmp_path: Path) -> None:
    """The first rows do not have it."""
    rows = "".join(f"{number},plain\n" for number in range(500))
    (path := tmp_path / "a.csv").write_text(f'id,text\n{rows}x, "{A}"\n')
    assert [document.text for document in nd.read(path)][-1] == A


@pytest.mark.parametrize(
    "text", [C, "'tis a word", "it's, as 'they' say", 'he said, "no", twice', " “so” ", "#1, a tag"]
)
def test_quotes_within_texts_stay(text: str, tmp_path: Path) -> None:
    """What is quoted as usual is read as before."""
    cell = '"' + text.replace('"', '""') + '"'
    (path := tmp_path / "a.csv").write_text("id,text\n" + "".join(f"{n},{cell}\n" for n in "1234"))
    assert [document.text for document in nd.read(path)] == [text] * 4


def test_records_are_written_as_they_were(tmp_path: Path) -> None:
    """Blanks and quotes of the source stay in what is written."""
    row = '{}, "' + A + '"\n'
    (path := tmp_path / "a.csv").write_text("id, text\n" + row.format(1) + row.format(2))
    nd.duplicates(path).write_unique(tmp_path / "u.csv")
    assert (tmp_path / "u.csv").read_text() == "id, text\n" + row.format(1)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "utf-8-sig"])
def test_a_table_in_a_text_file_is_a_table(encoding: str, tmp_path: Path) -> None:
    """Excel calls it Unicode text."""
    rows = f'id\ttext\r\n1\t"{A}"\r\n2\t{B}\r\n'
    (path := tmp_path / "a.txt").write_text(rows, encoding=encoding, newline="")
    assert [(one.id, one.text) for one in nd.read(path)] == [("1", A), ("2", B)]
