"""Encodings: named, told by a mark, or proposed; what is of none is an error of its record."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SourceError
from tests.reading import told, write
from tests.refusals import refusal

WESTERN = [("1", "Café Übermut"), ("2", "piñata, señor")]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "mac-roman", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt", "a.jsonl", "a.json", "a.csv.gz"])
def test_an_encoding_may_be_named(tmp_path: Path, name: str, encoding: str) -> None:
    """Every encoding that Python knows serves for every format of text."""
    lines = {
        "csv": 'id,text\n1,Café Übermut\n2,"piñata, señor"\n',
        "tsv": "id\ttext\n1\tCafé Übermut\n2\tpiñata, señor\n",
        "txt": "1 Café Übermut\n2 piñata, señor\n",
        "jsonl": "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in WESTERN),
        "json": json.dumps([{"id": i, "text": t} for i, t in WESTERN], ensure_ascii=False),
    }
    content = lines[name.removesuffix(".gz").rpartition(".")[2]].encode(encoding)
    path = write(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    assert told(path, encoding=encoding) == (WESTERN, [], [])


@pytest.mark.parametrize("encoding", ["shift_jis", "gb18030", "big5", "euc_jp", "iso2022_jp"])
def test_characters_may_lie_across_blocks(tmp_path: Path, encoding: str) -> None:
    """Characters of several bytes, wherever a block ends."""
    text = "日本" * 200_000
    path = write(tmp_path / "a.txt", f"1 x{text}\n2 {text}\n".encode(encoding))
    assert told(path, encoding=encoding)[0] == [("1", f"x{text}"), ("2", text)]


def test_what_is_not_of_the_encoding_is_an_error_of_its_record(tmp_path: Path) -> None:
    """It is named; the rest is read; `lossy` reads it all the same."""
    path = write(tmp_path / "a.txt", b"1 a\n2 \x81 b\n3 c\n4 d\n")
    assert told(path, encoding="cp1252") == (
        [("1", "a"), ("3", "c"), ("4", "d")],
        ["invalid cp1252: bytes that are not a character"],
        [],
    )
    assert told(path, encoding="cp1252", lossy=True)[0][1] == ("2", "\ufffd b")
    table = write(tmp_path / "a.csv", b'id,text\n1,a\n2,"\x81"\n3,c\n')
    assert told(table, encoding="cp1252")[:2] == (
        [("1", "a"), ("3", "c")],
        ["invalid cp1252: bytes that are not a character"],
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "idna", "punycode"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.jsonl"])
def test_a_file_that_is_not_of_the_encoding(tmp_path: Path, name: str, encoding: str) -> None:
    """What Python's decoders say is an error of ours."""
    path = write(tmp_path / name, "id,text\n1,größer\n".encode("cp1252"))
    with refusal(SourceError, "encoding", encoding.upper(), "cp1252", "`encoding`"):
        told(path, encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "cp037", "cp500"])
def test_utf8_is_told_if_a_wide_encoding_is_named(tmp_path: Path, encoding: str) -> None:
    """The file is a text: the option is wrong."""
    path = write(tmp_path / "a.csv", "id,text\n1,größer\n2,kleiner\n")
    with refusal(SourceError, "encoding", "UTF-8", encoding) as caught:
        told(path, encoding=encoding)
    assert caught.value.next_step == "leave `encoding` out"


@pytest.mark.parametrize(
    "content", ["id,text\n1,größer\n2,größer\n", "id,text,größe\n1,a,b\n"], ids=["rows", "header"]
)
def test_what_is_not_utf8_asks_for_the_encoding_only(tmp_path: Path, content: str) -> None:
    """The columns are not to blame."""
    path = write(tmp_path / "a.csv", content.encode("cp1252"))
    with pytest.raises(SourceError, match="invalid UTF-8") as caught:
        told(path)
    assert caught.value.next_step == "it appears to be cp1252: set `encoding` to cp1252"


def test_lines_of_another_encoding_than_the_others(tmp_path: Path) -> None:
    """No encoding is named that would spoil what is UTF-8."""
    lines = [
        f"{at},the café at the pier {at}\n".encode(("utf-8", "cp1252")[at % 2]) for at in range(6)
    ]
    path = write(tmp_path / "a.csv", b"id,text\n" + b"".join(lines))
    (gap,) = nd.duplicates(path).gaps
    assert "cp1252" in gap
    assert "encoding" not in gap
    plain = write(
        tmp_path / "b.csv", b"".join([b"id,text\n0,the pier\n", *lines[1::2], b"2,a\n4,b\n"])
    )
    (gap,) = nd.duplicates(plain).gaps
    assert "set `encoding` to cp1252" in gap


def test_a_header_that_is_not_utf8_has_the_code_of_encodings(tmp_path: Path) -> None:
    """A program that catches it sets `encoding`, as for records."""
    path = write(tmp_path / "a.csv", "id,text,größe\n1,a,b\n".encode("cp1252"))
    with refusal(SourceError, "encoding", "header", "cp1252"):
        told(path)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Café crème à Paris", "cp1252"), ("5 € – „gut“, größer", "cp1252"),
        ("Smörgåsbord på Åland", "cp1252"), ("¿Qué? Señor, mañana", "cp1252"),
        ("zażółć gęślą jaźń", "cp1250"), ("příliš žluťoučký kůň", "cp1250"),
        ("Привет мир и люди", "cp1251"), ("Καλημέρα κόσμε τι κάνεις", "cp1253"),
        ("これは日本語の文章です", "cp932"), ("这是一个中文句子测试", "gb18030"),
        ("這是一個中文句子測試", "big5"), ("안녕하세요 세계 이것은", "cp949"),
        ("größer", "utf-16-le"), ("größer", "utf-16-be"), ("北京大学", "gb18030"),
        ("5 °C – “warm”", "cp1252"), ("Það er gott veður á Íslandi", "cp1252"),
        ("Größe für Mädchen", "cp850"), ("Größe für Mädchen", "mac_roman"),
        ("déjà vu à l'été près du café", "cp850"), ("José Ñandú and Zoë", "cp1252"),
        ("Árvíztűrő tükörfúrógép", "cp1250"), ("środa w mieście Łódź", "iso8859_2"),
        ("İstanbul'da güneşli bir gün, çok ılık", "cp1254"),
        ("trečiadienį septintą, ačiū", "cp1257"),
        ("ca\u0300 phê sư\u0303a đá ơ\u0309 Hà Nô\u0323i", "cp1258"), ("Nguyê\u0303n", "cp1258"),
        ("não é possível, coração", "cp1252"), ("perché però è così", "cp1252"),
        ("Привет мир, как дела сегодня", "koi8_r"), ("Привет мир, как дела сегодня", "cp866"),
        ("Привет мир, как дела сегодня", "iso8859_5"), ("מכירה של אופניים במצב טוב", "cp1255"),
        ("دراجة للبيع بحالة جيدة", "cp1256"), ("ขายจักรยานสภาพดีราคาถูก", "cp874"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_the_likely_encoding_is_named(tmp_path: Path, text: str, encoding: str, name: str) -> None:
    """And with it the file can be read."""
    lines = {
        "a.csv": f'id,text\n1,"{text}"\n',
        "a.jsonl": json.dumps({"id": "1", "text": text}, ensure_ascii=False) + "\n",
        "a.txt": f"1 {text}\n",
    }
    path = write(tmp_path / name, lines[name].encode(encoding))
    with pytest.raises(SourceError) as caught:
        told(path)
    assert caught.value.next_step == f"it appears to be {encoding}: set `encoding` to {encoding}"
    assert told(path, encoding=encoding)[0] == [("1", text)]


def test_ebcdic_is_named(tmp_path: Path) -> None:
    """As a mainframe writes text."""
    path = write(tmp_path / "a.csv", "id,text\n1,the ferry leaves the pier\n".encode("cp037"))
    with refusal(SourceError, "encoding", "cp037"):
        told(path)
    assert told(path, encoding="cp037")[0] == [("1", "the ferry leaves the pier")]


@pytest.mark.parametrize("encoding", ["cp1255", "cp1256", "koi8_r"])
def test_no_encoding_is_named_for_a_word_or_two(tmp_path: Path, encoding: str) -> None:
    """Too few letters tell nothing."""
    word = {"cp1255": "שלום", "cp1256": "سلام", "koi8_r": "мир"}[encoding]
    path = write(tmp_path / "a.csv", f"id,text\n1,{word}\n".encode(encoding))
    with refusal(SourceError, "records-unusable") as caught:
        told(path)
    assert caught.value.next_step == "set its `encoding`"


@pytest.mark.parametrize(("text", "notices"), [("5 € “new”", 1), ("größer", 0)])
def test_cp1252_is_not_taken_for_latin_1(tmp_path: Path, text: str, notices: int) -> None:
    """A line says so, once, if there are bytes that are characters in cp1252 only."""
    path = write(tmp_path / "a.csv", f"id,text\n1,{text}\n2,{text}\n".encode("cp1252"))
    line = "a.csv: this looks like cp1252: characters such as € would be lost; "
    expected = [f"{line}set its encoding to cp1252"] * notices
    assert told(path, encoding="latin-1")[2] == expected
    assert told(path, encoding="cp1252")[2] == []


def test_a_mark_of_utf8_is_passed_over_where_it_is_named(tmp_path: Path) -> None:
    """`utf-8-sig` and UTF-8 are the same here."""
    path = write(tmp_path / "a.csv", b"\xef\xbb\xbfid,text\n1,caf\xc3\xa9\n")
    for encoding in ("utf-8", "utf-8-sig", "UTF8"):
        assert told(path, encoding=encoding)[0] == [("1", "café")]


@pytest.mark.parametrize("encoding", ["no-such", "zlib", "rot13", "", "a\0b"])
def test_an_encoding_that_cannot_be(tmp_path: Path, encoding: str) -> None:
    """What Python does not know as an encoding of text is refused before anything is read."""
    with refusal(ArgumentError, "argument-invalid", "`encoding`"):
        told(tmp_path / "none.csv", encoding=encoding)


def test_binary_formats_have_their_own_encoding(tmp_path: Path) -> None:
    """Parquet and Excel say so."""
    with refusal(ArgumentError, "arguments-conflict", "parquet", "`encoding`"):
        told(write(tmp_path / "a.parquet", ""), encoding="latin-1")
