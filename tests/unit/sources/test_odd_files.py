"""Files as programs and people leave them: each is read rightly, or refused with the cause."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from neardup_solr.errors import RecordError, SourceError
from tests.reading import Options, noticed, read


class Odd(NamedTuple):
    """A file, and what is expected of it.

    `content` is what it holds, or writes it to a path. `expected` are its documents, as id and text
    or as id, text and what is kept, or words of the message that refuses the whole file. `errors`
    are words of the error of each bad record, `notices` of each line about the file.
    """

    name: str
    content: str | bytes | Callable[[Path], object]
    expected: list[tuple[Any, ...]] | str
    options: Options | None = None
    errors: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def book(*sheets: tuple[str, list[list[Any]]]) -> Callable[[Path], object]:
    """Make what writes sheets of Excel."""

    def save(path: Path) -> None:
        made = openpyxl.Workbook()
        made.remove(made.active)
        for name, rows in sheets:
            sheet = made.create_sheet(name)
            for row in rows:
                sheet.append(row)
        made.save(path)

    return save


LOSSY: Options = {"lossy": True}
TWO = [("1", "red fox"), ("2", "blue owl")]
TABLE = "id,text\n1,red fox\n2,blue owl\n"
ROWS = [["id", "text"], ["1", "red fox"], ["2", "blue owl"]]
JSON_LINES = '{"id":"1","text":"red fox"}\n{"id":"2","text":"blue owl"}\n'
NULS = "NUL bytes after its last line"
SHEETS = book(("Cover", [["note"], ["see Data"]]), ("Data", ROWS))


def semicolons(first: str) -> str:
    """Write the table with a line above it that names its delimiter."""
    return first + TABLE.replace(",", ";")


TEXTS, ZONE = ["red fox", "blue owl"], pa.timestamp("us", tz="Nowhere/Else")
MAP = pa.map_(pa.string(), pa.string())


def table(**columns: Any) -> Callable[[Path], object]:
    """Make what writes columns as Parquet."""
    return lambda path: pq.write_table(pa.table(columns), path)


ODD: dict[str, Odd] = {
    # The line by which Excel knows the delimiter.
    "sep": Odd("a.csv", semicolons("sep=;\n"), TWO),
    "sep_quoted": Odd("a.csv", semicolons('"sep=;"\r\n').replace("l\n", "l\r\n"), TWO),
    "sep_upper": Odd("a.csv", semicolons("SEP=;\r\n"), TWO),
    "sep_with_cells": Odd("a.csv", semicolons('"sep=;";;\n'), TWO),
    "sep_tab": Odd("a.csv", "sep=\t\n" + TABLE.replace(",", "\t"), TWO),
    "sep_tilde": Odd("a.csv", "sep=~\n" + TABLE.replace(",", "~"), TWO),
    "sep_comma_in_tsv": Odd("a.tsv", "sep=,\n" + TABLE, TWO),
    "sep_mark": Odd("a.csv", semicolons("\ufeffsep=;\n"), TWO),
    "sep_utf16": Odd("a.csv", semicolons("sep=;\r\n").encode("utf-16"), TWO),
    "sep_and_titles": Odd("a.csv", semicolons("sep=;\nReport\n\n"), TWO, {"skip_rows": 1}),
    # Line ends.
    "mac": Odd("a.csv", TABLE.replace("\n", "\r"), TWO),
    "mac_tsv": Odd("a.tsv", TABLE.replace("\n", "\r").replace(",", "\t"), TWO),
    "mac_lines": Odd("a.txt", "1 red fox\r2 blue owl\r", TWO),
    "mac_json": Odd("a.jsonl", JSON_LINES.replace("\n", "\r"), TWO),
    "mac_quoted": Odd("a.csv", 'id,text\r1,"red\nfox"\r2,blue owl\r', [("1", "red\nfox"), TWO[1]]),
    "mac_then_unix": Odd("a.csv", "id,text\r1,red fox\r2,blue owl\n", TWO),
    "mac_utf16": Odd("a.csv", TABLE.replace("\n", "\r").encode("utf-16"), TWO),
    "two_returns": Odd("a.csv", TABLE.replace("\n", "\r\r\n"), TWO),
    "return_in_text": Odd("a.txt", "1 red\rfox\n2 blue owl\n", [("1", "red\rfox"), TWO[1]]),
    "unix_then_mac": Odd("a.csv", TABLE + "3,a\r4,b\r", TWO, errors=("line endings are mixed",)),
    # What is above the header.
    "titles": Odd("a.csv", "Report 2024\n\n" + TABLE, TWO, {"skip_rows": 2}),
    "titles_refused": Odd("a.csv", "Report 2024\n\n" + TABLE, "set `skip_rows` to 2"),
    "titles_below_blanks": Odd("a.csv", f"\n\nReport\n{TABLE}", "set `skip_rows` to 3"),
    "titles_wide": Odd("a.csv", "Report,\nof,2024\n" + TABLE, "set `skip_rows` to 2"),
    "titles_semicolons": Odd("a.csv", semicolons("Report\n"), "set `skip_rows` to 1"),
    "titles_of_others": Odd("a.csv", "Report\nno,name\n1,a\n2,b\n", "set `skip_rows` to 1"),
    "titles_as_wide": Odd("a.csv", "Report,2024\n" + TABLE, "set `skip_rows` to 1"),
    "no_header": Odd("a.csv", "1,a red fox\n2,a blue owl\n", "has no header"),
    "no_header_codes": Odd("a.csv", "K-01,a red fox\nK-02,a blue owl\n", "has no header"),
    "no_header_tabs": Odd("a.tsv", "AB12\ta red fox\nCD34\ta blue\nE5\tan owl sat\n", "no header"),
    "all_skipped": Odd("a.csv", TABLE, "there are no columns", {"skip_rows": 9}),
    # Delimiters and quotes.
    "wrong_delimiter": Odd("a.csv", TABLE, "`delimiter`", {"delimiter": ";"}),
    "tildes": Odd("a.csv", TABLE.replace(",", "~"), "set `delimiter` to ~"),
    "backslashes": Odd(
        "a.csv",
        'id,text\n1,"a ""red"" fox"\n2,"a \\"blue\\", owl"\n3,"ends \\""\n4,"C:\\"\n5,"x\\",y"\n',
        [
            ("1", 'a "red" fox'),
            ("2", 'a "blue", owl'),
            ("3", 'ends "'),
            ("4", "C:\\"),
            ("5", 'x",y'),
        ],
    ),
    "open_quote": Odd(
        "a.csv", TABLE + '3,"never closed\n', TWO, errors=("line 4: .*a quote is never closed",)
    ),
    "bare_quote": Odd(
        "a.csv", TABLE + '3,"a "b" c"\n', TWO, errors=("line 4: .*quote is not doubled",)
    ),
    # Cells behind the header, and headers that come again.
    "empty_columns": Odd("a.csv", "id,text,,\n1,red fox\n2,blue owl,,\n", TWO),
    "column_without_name": Odd("a.csv", "id,text,,\n1,red fox,x,\n2,blue owl,,y\n", TWO),
    "ends_with_delimiter": Odd("a.csv", "id,text\n1,red fox,\n2,blue owl,,,\n", TWO),
    "ragged": Odd("a.csv", TABLE + "3,a,b\n", TWO, errors=("3 fields, but the header has 2",)),
    "joined": Odd(
        "a.csv", TABLE + "id,text\n3,a\n", [*TWO, ("3", "a")], notices=("repeated in line 4",)
    ),
    "joined_twice": Odd(
        "a.csv",
        TABLE + '\ufeffID,Text\r\n"id","text"\n3,a\n',
        [*TWO, ("3", "a")],
        notices=("repeated in line 4, 5",),
    ),
    "joined_otherwise": Odd(
        "a.csv", TABLE + "text,id\na,3\n", "line 4 repeats .* a different order"
    ),
    # Sheets of Excel.
    "sheets": Odd("a.xlsx", SHEETS, "'id' is missing", notices=("'Cover'.*'Data'",)),
    "sheet": Odd("a.xlsx", SHEETS, TWO, {"sheet": "data"}),
    "no_sheet": Odd(
        "a.xlsx", SHEETS, "no sheet .Date.; .*: .Cover., .Data.", {"sheet": "Date"}
    ),
    "sheet_titles": Odd(
        "a.xlsx", book(("Data", [["Report"], [], *ROWS])), TWO, {"skip_rows": 2}
    ),
    "sheet_titles_refused": Odd(
        "a.xlsx", book(("Data", [["Report"], [], *ROWS])), "set `skip_rows` to 2"
    ),
    "sheet_joined": Odd(
        "a.xlsx", book(("Data", [*ROWS, ROWS[0]])), TWO, notices=("repeated in row 4",)
    ),
    "sheet_escapes": Odd(
        "a.xlsx",
        book(("Data", [*ROWS, ["3", "a_x0000_b_xD800_c_x0041_"]])),
        [*TWO, ("3", "a\ufffdb\ufffdcA")],
        LOSSY,
    ),
    # Bytes that are no characters, and characters that are none.
    "nul": Odd("a.csv", TABLE + "3,a\0b\n", TWO, errors=("line 4: holds a NUL byte",)),
    "nul_lossy": Odd("a.csv", TABLE + "3,a\0b\n", [*TWO, ("3", "a\ufffdb")], LOSSY),
    "nul_quoted": Odd("a.csv", TABLE + '3,"a\0b"\n', [*TWO, ("3", "a\ufffdb")], LOSSY),
    "nul_lines": Odd("a.txt", "1 a\0b\n", [("1", "a\ufffdb")], LOSSY),
    "nul_escaped": Odd("a.jsonl", r'{"id":1,"text":"a\u0000b"}', [("1", "a\ufffdb")], LOSSY),
    "half_escaped": Odd(
        "a.json",
        r'[{"id":1,"text":"\ud83d\ude00 \\ud800 \ud800"},{"id":2,"text":"\udc00"}]',
        [("1", "\U0001f600 \\ud800 \ufffd"), ("2", "\ufffd")],
        LOSSY,
    ),
    "half_refused": Odd(
        "a.jsonl", JSON_LINES + r'{"id":3,"text":"\ud800"}', TWO, errors=("line 3: .*surrogate",)
    ),
    "nul_tail": Odd("a.csv", TABLE.encode() + bytes(5_000), TWO, notices=(f"5,000 {NULS}",)),
    "nul_tail_json": Odd("a.jsonl", JSON_LINES.strip() + "\0" * 9, TWO, notices=(f"9 {NULS}",)),
    "nul_tail_gzip": Odd(
        "a.csv.gz", gzip.compress(TABLE.encode() + bytes(5_000)), TWO, notices=(NULS,)
    ),
    "nul_tail_zstd": Odd("a.csv.zst", zstandard.compress(TABLE.encode()) + bytes(5_000), TWO),
    "nul_within_last": Odd("a.csv", TABLE + "3,half\0\0", TWO, errors=("line 4: holds a NUL",)),
    "only_nuls": Odd("a.csv", bytes(5_000), "is empty", notices=(f"5,000 {NULS}",)),
    # Numbers that JSON does not have.
    "nan": Odd(
        "a.jsonl",
        '{"id":"1","text":"NaN, \\"Infinity","n":NaN}\n'
        '{"id":"2","text":"b","n":[-Infinity,{"m":NaN}]}\n',
        [("1", 'NaN, "Infinity', {}), ("2", "b", {"n": [None, '{"m":null}']})],
        {"keep": ("n",)},
    ),
    "nan_array": Odd("a.json", '[{"id":1,"text":"a","n":-Infinity}]', [("1", "a")]),
    "nan_as_text": Odd(
        "a.jsonl", JSON_LINES + '{"id":3,"text":NaN}', TWO, errors=("no text: 'text' is missing",)
    ),
    # Encodings and compression.
    "utf32_le": Odd("a.csv", f"\ufeff{TABLE}".encode("utf-32-le"), TWO),
    "utf32_be": Odd("a.jsonl", f"\ufeff{JSON_LINES}".encode("utf-32-be"), TWO),
    "utf32_plain": Odd("a.csv", TABLE.encode("utf-32-be"), "`encoding` to utf-32-be"),
    "utf16_plain": Odd("a.jsonl", JSON_LINES.encode("utf-16-be"), "`encoding` to utf-16-be"),
    "bzip2": Odd(
        "a.csv.bz2", b"".join(bz2.compress(part.encode()) for part in (TABLE[:15], TABLE[15:])), TWO
    ),
    "xz": Odd("a.jsonl.xz", lzma.compress(JSON_LINES.encode()) + bytes(4), TWO),
    "bzip2_cut": Odd(
        "a.csv.bz2", bz2.compress(TABLE.encode())[:-4], TWO, errors=("truncated bzip2",)
    ),
    "xz_cut": Odd("a.csv.xz", lzma.compress(TABLE.encode())[:-4], TWO, errors=("truncated xz",)),
    "xz_damaged": Odd(
        "a.csv.xz", lzma.compress(TABLE.encode()) + b"x" * 9, TWO, errors=("xz data is damaged",)
    ),
    "not_bzip2": Odd("a.csv.bz2", TABLE, "is not bzip2 despite"),
    "not_xz": Odd("a.csv.xz", TABLE, "is not xz despite"),
    "bzip2_as_csv": Odd("a.csv", bz2.compress(TABLE.encode()), "is compressed with bzip2"),
    "xz_of_much_memory": Odd(
        "a.csv.xz",
        lzma.compress(TABLE.encode(), filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 2**28}]),
        "is not xz .* limit exceeded",
    ),
    "bomb": Odd("a.csv.xz", lzma.compress(bytes(2**20)) * 300, "possibly a decompression bomb"),
}  # fmt: skip
ODD |= {
    # Types of Parquet, and numbers that became floats.
    "parquet_floats": Odd(
        "a.parquet",
        table(id=[1.0, None, 2.0], text=["red fox", "x", "blue owl"]),
        TWO,
        errors=("no id",),
    ),
    "parquet_rounded": Odd(
        "a.parquet",
        table(id=[1.0, 2.0, 2.0**53], text=["red fox", "blue owl", "x"]),
        TWO,
        errors=("floats this large are rounded",),
    ),
    "parquet_decimals": Odd(
        "a.parquet", table(id=[Decimal("1.00"), Decimal("2.00")], text=TEXTS), TWO
    ),
    "parquet_views": Odd(
        "a.parquet", table(id=["1", "2"], text=pa.array(TEXTS, pa.string_view())), TWO
    ),
    "parquet_categories": Odd(
        "a.parquet", table(id=["1", "2"], text=pa.array(TEXTS).dictionary_encode()), TWO
    ),
    "parquet_zone": Odd(
        "a.parquet",
        table(id=["1", "2"], text=TEXTS, at=pa.array([0, None], ZONE)),
        [(*TWO[0], {"at": "1970-01-01 00:00:00.000000Z"}), (*TWO[1], {})],
        {"keep": ("at",)},
    ),
    "parquet_map": Odd(
        "a.parquet",
        table(id=["1", "2"], doc=pa.array([[("text", text)] for text in TEXTS], MAP)),
        TWO,
        {"text": ("doc.text",)},
    ),
    "parquet_bytes_within": Odd(
        "a.parquet",
        table(id=["1", "2"], doc=[{"text": b"red fox"}, {"text": b"\xff"}]),
        TWO[:1],
        {"text": ("doc.text",)},
        errors=("invalid UTF-8",),
    ),
    "parquet_path": Odd(
        "a.parquet",
        table(id=["1", "2"], doc=[{"text": text} for text in TEXTS]),
        r"did you mean 'doc\.text'\?\); .*: 'id', 'doc\.text'",
    ),
    # Objects within objects.
    "json_path": Odd(
        "a.jsonl",
        '{"k":{"id":1.0},"doc":{"text":["red","fox"]}}',
        [("1", "red\nfox")],
        {"id": "k.id", "text": ("doc.text",)},
    ),
    "json_dots": Odd(
        "a.jsonl",
        '{"id":1,"doc.text":"red fox","doc":{"text":"x"}}',
        TWO[:1],
        {"text": ("doc.text",)},
    ),
    "json_no_path": Odd("a.jsonl", '{"id":1,"doc":{"text":"x"}}', r"did you mean 'doc\.text'"),
    "json_answer": Odd(
        "a.json",
        '{"response":{"numFound":9,"docs":[\n' + '{"id":"1","text":"red fox"}]}}',
        TWO[:1],
        notices=("'response.docs'", "contains 1 of the 9 documents found"),
    ),
    "json_answer_cut": Odd(
        "a.json",
        '{"response":{"docs":[\n{"id":"1","text":"red fox"},{"id":',
        TWO[:1],
        errors=("ends too early",),
        notices=("'response.docs'",),
    ),
    "sheet_floats": Odd(
        "a.xlsx", book(("Data", [["id", "text"], [1e0, "red fox"], [2e0, "blue owl"]])), TWO
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_file_is_read_rightly_or_refused_with_the_cause(tmp_path: Path, name: str) -> None:
    """Nothing is lost or misread without a word."""
    odd = ODD[name]
    path = tmp_path / odd.name
    if callable(odd.content):
        odd.content(path)
    else:
        content = odd.content
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    errors: list[RecordError] = []
    notices: list[str] = []
    outcome: Any
    try:
        with noticed(notices):
            documents = list(read(path, errors.append, **(odd.options or {})))
        names = ("id", "text", "kept") if "keep" in (odd.options or {}) else ("id", "text")
        outcome = [tuple(getattr(each, name) for name in names) for each in documents]
    except SourceError as error:
        outcome = str(error)
    if isinstance(odd.expected, str):
        assert re.search(odd.expected, str(outcome))
        assert "\n" not in outcome
    else:
        assert outcome == odd.expected
    for lines, words in ((list(map(str, errors)), odd.errors), (notices, odd.notices)):
        assert len(lines) == len(words), lines
        assert all(map(re.search, words, lines)), lines
