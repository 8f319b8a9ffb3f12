"""A file that is no text is told by what it is; of mark-up and headers, the text is read.

No suffix is believed, and no encoding: an image in cp932 is still an image.
"""

from __future__ import annotations

import gzip
import json
import mailbox
import os
import pickle
import random
import sqlite3
import sys
import tarfile
import wave
import zipfile
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pytest
import xlwt
from matplotlib.figure import Figure
from PIL import Image

import neardup_solr as nd
from tests.refusals import refusal

TEXT = "The ferry leaves the old pier at nine with a band on board and two dogs"
OTHER = "The market of the upper town opens at seven from Monday to Friday"
TABLE = pa.table({"id": [1, 2], "text": [TEXT, TEXT]})


def archive(**files: str) -> Callable[[Path], None]:
    """Make what writes a ZIP archive of these files."""

    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as file:
            for name, content in files.items():
                file.writestr(name.replace("__", "/"), content)

    return write


def opened(mime: str) -> Callable[[Path], None]:
    return archive(mimetype=f"application/{mime}", **{"content.xml": TEXT})


def image(format: str) -> Callable[[Path], None]:
    return lambda path: Image.new("RGB", (60, 40), "teal").save(path, format)


def figure(format: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        drawn = Figure()
        drawn.text(0.1, 0.5, TEXT)
        drawn.savefig(path, format=format)

    return write


def content(written: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(written)


def write_sqlite(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("create table notes as select ? as text", (TEXT,))
    database.commit()
    database.close()


def write_tar(path: Path) -> None:
    (inner := path.with_name("inner.txt")).write_text(TEXT)
    with tarfile.open(path, "w") as file:
        file.add(inner, "inner.txt")
    inner.unlink()


def write_stream(path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, TABLE.schema) as stream:
        stream.write_table(TABLE)


def write_wave(path: Path) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8_000)
        file.writeframes(random.Random(1).randbytes(4_000))


def write_xlsx(path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["id", "text"])
    book.save(path)


def write_old_office(name: str) -> Callable[[Path], object]:
    """Write the header and the directory of an old Office file, with a stream of that name."""
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(22) + b"\x09\0" + bytes(16) + b"\2\0\0\0"
    return content(header + bytes(512 * 3 - 52) + name.encode("utf-16-le") + bytes(999))


FONT = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")
# The suffix, what the message says, and what writes it.
KINDS: Mapping[str, tuple[str, Callable[[Path], object]]] = {
    "pdf": ("is a PDF", figure("pdf")),
    "docx": ("is a Word document", archive(**{"_rels__.rels": "", "word__document.xml": TEXT})),
    "pptx": ("is a PowerPoint", archive(**{"_rels__.rels": "", "ppt__presentation.xml": TEXT})),
    "odt": ("is an OpenDocument text", opened("vnd.oasis.opendocument.text")),
    "ods": ("is an OpenDocument spreadsheet", opened("vnd.oasis.opendocument.spreadsheet")),
    "epub": ("is an e-book", opened("epub+zip")),
    "zip": ("is a ZIP archive", archive(note=TEXT)),
    "doc": ("is an old Word document", write_old_office("WordDocument")),
    "ppt": ("is an old PowerPoint", write_old_office("PowerPoint Document")),
    "msg": ("is an Outlook message", write_old_office("__properties_version1.0")),
    "png": ("is a PNG image", image("png")),
    "jpg": ("is a JPEG image", image("jpeg")),
    "gif": ("is a GIF image", image("gif")),
    "tiff": ("is a TIFF image", image("tiff")),
    "webp": ("is a WebP image", image("webp")),
    "bmp": ("is a BMP image", image("bmp")),
    "wav": ("is an audio file", write_wave),
    "mp3": ("is an audio file", content(b"ID3\x03" + bytes(99))),
    "mp4": ("is a video", content(b"\0\0\0\x18ftypmp42" + bytes(99))),
    "sqlite": ("is an SQLite database", write_sqlite),
    "so": ("is a program", content(Path(os.path.realpath(sys.executable)).read_bytes()[:99_999])),
    "7z": ("is a 7z archive", content(b"7z\xbc\xaf\x27\x1c\0\4" + bytes(40))),
    "rar": ("is a RAR archive", content(b"Rar!\x1a\x07\1\0" + bytes(40))),
    "tar": ("is a tar archive", write_tar),
    "ttf": ("is a TrueType font", content(FONT.read_bytes())),
    "pickle": ("is a pickle", content(pickle.dumps([{"id": 1, "text": TEXT}]))),
    "npy": ("is an array of NumPy", lambda path: np.save(path.open("wb"), np.arange(9))),
    "feather": ("is an Arrow or Feather file", lambda path: feather.write_feather(TABLE, path)),
    "orc": ("is an ORC file", lambda path: orc.write_table(TABLE, str(path))),
    "p0": ("is a pickle", content(pickle.dumps([{"id": 1, "text": TEXT}], protocol=0))),
    "arrows": ("is a stream of Arrow", write_stream),
    "eps": ("is a PostScript image", content(b"\xc5\xd0\xd3\xc6" + bytes(range(99)))),
    "avro": ("is an Avro file", content(b"Obj\x01\x04\x16avro.schema" + bytes(40))),
}  # fmt: skip
AS_TEXT: Mapping[str, tuple[str, Callable[[Path], object]]] = {
    "rtf": ("is an RTF document", content(rb"{\rtf1\ansi " + TEXT.encode() + b"}")),
    "xml": ("is XML", content(b"<?xml version='1.0'?>\n<add><doc/></add>")),
    "svg": ("is an SVG image", figure("svg")),
    "ps": ("is a PostScript document", figure("ps")),
    "vcf": ("vCard", content(b"BEGIN:VCARD\r\nVERSION:3.0\r\nNOTE:a b\r\nEND:VCARD\r\n" * 2)),
    "ics": ("iCalendar", content(b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a b\nEND:VEVENT\n")),
    "nbib": ("MEDLINE", content(b"\nPMID- 12\nOWN - NLM\nTI  - A b\n\nPMID- 13\nOWN - NLM\n")),
    "enw": ("EndNote", content(b"%0 Journal Article\n%A Doe, J\n%T A b\n\n%0 Book\n%T C\n")),
    "isi": ("Web of Science", content(b"FN Clarivate\nVR 1.0\nPT J\nTI A b\nER\n\nEF\n")),
    "mrk": ("MARC", content(b"=LDR  00000nam\n=001  1\n=245  10$aA b\n")),
    "srt": ("SubRip", content(b"1\n00:00:01,000 --> 00:00:02,000\nA b\n\n2\n")),
    "vtt": ("WebVTT", content(b"WEBVTT\n\n00:01.000 --> 00:02.000\nA b\n")),
    "tex": ("LaTeX", content(b"% a\n\\documentclass[a4]{article}\n\\begin{document}\nA b\n")),
    "po": ("gettext", content(b'# de\nmsgid ""\nmsgstr ""\n"Language: de"\n\nmsgid "a"\n')),
    "dump": ("dump of a database", content(b"--\n-- PostgreSQL database dump\n--\nINSERT 1;\n")),
    "arff": ("ARFF", content(b"% a\n@RELATION t\n\n@ATTRIBUTE text string\n@DATA\n'a b'\n")),
    "ged": ("GEDCOM", content(b"0 HEAD\n1 SOUR x\n0 @I1@ INDI\n1 NAME A /B/\n")),
    "pgn": ("chess games", content(b'[Event "x"]\n[Site "y"]\n\n1. e4 e5\n')),
    "yaml": ("is YAML", content(b"# a\n- id: 1\n  text: a b\n- id: 2\n  text: a b\n")),
    "toml": ("is TOML", content(b'[[docs]]\nid = 1\ntext = "a b"\n')),
    "ini": ("file of settings", content(b"[one]\ntext = a b\n\n[two]\ntext = a b\n")),
    "pem": (
        "is a key",
        content(b"-----BEGIN PGP MESSAGE-----\n\nhQEMA1\n-----END PGP MESSAGE-----\n"),
    ),
    "uu": ("uuencode", content(b"begin 644 a.png\nM" + b"5" * 60 + b"\n`\nend\n")),
    "bare": ("is XML", content(b"<add>\n<doc>\n<field>a b</field>\n</doc>\n</add>\n")),
    "trec": ("is XML", content(b"<DOC>\n<DOCNO>1</DOCNO>\na b\n</DOC>\n<DOC>\n</DOC>\n")),
    "seq": ("sequence of JSON", content(b'\x1e{"id": 1, "text": "a b"}\n\x1e{"id": 2}\n')),
}


def read(source: Any, **dialect: Any) -> list[nd.Document]:
    return list(nd.read(nd.Source(source, **dialect)))


@pytest.mark.filterwarnings("ignore:unclosed file")
@pytest.mark.parametrize("suffix", [*KINDS, *AS_TEXT])
def test_what_is_no_text_is_told_as_what_it_is(suffix: str, tmp_path: Path) -> None:
    """By its own suffix, as text, as a table, in an encoding that fits, and compressed."""
    words, write = {**KINDS, **AS_TEXT}[suffix]
    write(path := tmp_path / f"a.{suffix}")
    written = path.read_bytes()
    for name in ("a.txt", "a.csv", "a.jsonl", "a.xyz"):
        (tmp_path / name).write_bytes(written)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(written))
    for name in (path.name, "a.txt", "a.csv", "a.jsonl", "a.xyz", "b.txt.gz"):
        with pytest.raises(nd.SourceError, match=words) as caught:
            read(tmp_path / name)
        assert caught.value.next_step
        assert "encoding" not in str(caught.value)
    if suffix in KINDS:
        for encoding in ("cp932", "latin-1", "cp1252"):
            with pytest.raises(nd.SourceError, match=words):
                read(tmp_path / "a.txt", source_format="lines", encoding=encoding)
    else:
        assert read(tmp_path / "a.txt", source_format="lines", id=":row")


@pytest.mark.filterwarnings("ignore:unclosed file")
def test_files_of_a_folder_that_are_no_text_are_left_out(tmp_path: Path) -> None:
    """Each is told, and the others are read."""
    (folder := tmp_path / "f").mkdir()
    for suffix, (_, write) in KINDS.items():
        write(folder / f"{suffix}.{suffix}")
    for at in range(len(KINDS) + 1):
        (folder / f"note{at}.txt").write_text(f"{TEXT} {at}")
    errors: list[nd.RecordError] = []
    ids = [document.id for document in nd.read(folder, on_error=errors.append)]
    assert len(ids) == len(KINDS) + 1
    assert all(KINDS[str(error.id).rpartition(".")[2]][0] in error.reason for error in errors)
    assert len(errors) == len(KINDS)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [300, 5_000, 300_000])
def test_random_bytes_have_no_encoding(seed: int, size: int, tmp_path: Path) -> None:
    (path := tmp_path / "a.txt").write_bytes(b"a" + random.Random(seed).randbytes(size))
    for encoding in (None, "cp932", "latin-1", "utf-16-le"):
        with refusal(nd.SourceError, "file-kind", "not text"):
            read(path, encoding=encoding, source_format="lines")


TEXTS = {
    "a.txt": "From the pier\nFrom Monday on the ferry leaves at nine in 2024\nTo: all\n",
    "b.txt": "See @article{x, title={no}} in the middle\nof a text\n",
    "c.txt": "%PDF-1.4 is how a PDF begins\nand this is a note on that\n",
    "d.txt": "# News\n\n<b>Bold</b> words and <div>parts</div> of Markdown\n<html> is a tag\n",
    "e.txt": "GIF89a is a kind of image\nBM is one, too\nMZ are letters\nPK\n",
    "f.txt": "Subject: the ferry\nFrom: the pier\n\nleaves at nine\n",
    "g.txt": "RIFF is a word\nORC are monsters\nID3 is a tag\nBZh\n!<arch>\n",
    "h.txt": "TY  - these are no references\nER is a room\n",
    "i.txt": "@everyone please read this\n@home we do\n",
    "j.txt": "\x1b[1mbold\x1b[0m in a terminal\nand a page break \f here\n",
    "l.txt": "[Chorus]\nThe ferry leaves = at nine\n[Verse 1]\nand = again\n",
    "m.txt": "- Monday: closed\n- Tuesday: open\n- id: 12\n",
    "n.txt": "<b>Bold</b> words\n<p>\n<i>a</i>\n</p>\n",
    "o.txt": "<p>\nThe ferry\n</p>\n<p>\nThe pier\n</p>\n",
    "p.txt": "# a comment\n-- a line\n=====\n% of all\n; and so on\n",
    "q.txt": "BEGIN: the ferry\nbegin with 644 words\nFN is a letter\n0 HEADs\n",
    "r.txt": "1\n12:30 the ferry leaves\n2\n13:30 it is back\n",
    "s.txt": "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n",
    "t.txt": "(d or l)\ncc of a letter\nmsgid is a word\nPMID of a paper\n",
    "k.txt": "Note: x\nDate: tomorrow\nFrom: here\nTo: there\n\nA form, not an e-mail\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_look_a_little_like_something_else_stay_texts(name: str, tmp_path: Path) -> None:
    (path := tmp_path / name).write_text(TEXTS[name])
    lines = [line for line in TEXTS[name].splitlines() if line.strip()]
    expected = [text.strip() for text in lines] if "\f" not in TEXTS[name] else None
    texts = [document.text.strip() for document in read(path, id=":row")]
    assert texts == expected or (expected is None and len(texts) == 2)
    (folder := tmp_path / "f").mkdir()
    (folder / name).write_text(TEXTS[name])
    assert read(folder)[0].text == TEXTS[name]


@pytest.mark.parametrize("cell", ["%PDF", "%PDF-1.4", "GIF89a", "<html>", "From a", "BM", "PK"])
def test_a_cell_is_no_file(cell: str, tmp_path: Path) -> None:
    (path := tmp_path / "a.csv").write_text(f"{cell},id,text\n{cell},1,a b\n{cell},2,c d\n")
    assert [document.id for document in read(path)] == ["1", "2"]


def test_json_is_read_whatever_its_suffix(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": TEXT}, {"id": "b", "text": OTHER}]
    for name in ("a.csv", "a.txt", "a.tsv", "a.log"):
        for written in (json.dumps(rows, indent=1), "\n".join(map(json.dumps, rows))):
            (tmp_path / name).write_text(written)
            assert [document.id for document in read(tmp_path / name)] == ["a", "b"]


def page(text: str, more: str = "") -> str:
    """A page with everything around the text that nobody reads."""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>A &amp; B</title><style>p {{color: red}}</style>
<script>var text = "<p>not seen</p>";</script></head>
<body>{more}<!-- not seen --><noscript>not seen</noscript><p>{text}</p><p>caf&eacute;<br>next</p>
<table><tr><td>1</td><td>2</td></tr></table></body></html>"""


SEEN = f"{TEXT}\ncafé\nnext\n1 2"


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.xls", "a.xlsx"])
@pytest.mark.parametrize(
    ("delimiter", "header"), [(",", "id,text"), (";", "Lfd;Notiz"), ("\t", "id\tx\ty")]
)
def test_a_table_is_read_whatever_its_suffix(
    name: str, delimiter: str, header: str, tmp_path: Path
) -> None:
    """As a spreadsheet or a server exports it."""
    names = header.split(delimiter)
    rows = [delimiter.join([f"{at}", f"{TEXT} {at}", "z"][: len(names)]) for at in (1, 2)]
    (path := tmp_path / name).write_text("\n".join([header, *rows, ""]))
    read_as = nd.Source(path, id=names[0], text=names[1])
    assert [each.text for each in nd.read(read_as)] == [f"{TEXT} 1", f"{TEXT} 2"]


@pytest.mark.parametrize(("suffix", "name"), [("ods", "xlsx"), ("docx", "xls"), ("png", "parquet")])
def test_what_is_named_as_a_sheet(suffix: str, name: str, tmp_path: Path) -> None:
    """The message says what it is instead."""
    KINDS[suffix][1](path := tmp_path / f"a.{name}")
    with refusal(nd.SourceError, "file-kind", KINDS[suffix][0]):
        read(path)


@pytest.mark.parametrize("name", ["a.html", "a.htm", "a.txt", "a.page", "a.html.gz"])
def test_a_page_is_read_without_its_markup(name: str, tmp_path: Path) -> None:
    written = page(TEXT).encode()
    (path := tmp_path / name).write_bytes(gzip.compress(written) if name[-3:] == ".gz" else written)
    (document,) = nd.read(path, keep="title")
    assert (document.id, document.text, document.kept) == (name, SEEN, {"title": "A & B"})


def test_a_page_is_in_the_encoding_that_it_names(tmp_path: Path) -> None:
    written = page("Grüße – 5 €").replace("utf-8", "windows-1252")
    (path := tmp_path / "a.html").write_bytes(written.encode("cp1252"))
    (document,) = nd.read(path)
    assert document.text.startswith("Grüße – 5 €")


def test_pages_differ_by_what_they_say(tmp_path: Path) -> None:
    """A frame around two texts does not make them near-duplicates, nor another frame distinct."""
    frame = "<nav></nav><div class='a b c'><!-- a long frame of the same mark-up --></div>" * 9
    for name, text, more in (("a", TEXT, ""), ("b", OTHER, ""), ("c", TEXT, frame)):
        (tmp_path / f"{name}.html").write_text(page(text, more))
    pairs = nd.duplicates(tmp_path, min_similarity=0.9).pairs
    assert [(pair.id, pair.other_id, pair.similarity) for pair in pairs] == [
        ("a.html", "c.html", 1.0)
    ]


def mail(number: int, text: str, *, html: bool = False) -> EmailMessage:
    made = EmailMessage()
    made["From"] = f"Zoë {number} <p{number}@example.org>"
    made["To"] = "all@example.org"
    made["Subject"] = f"Fähre {number}"
    made["Date"] = f"Mon, 05 Feb 2024 10:0{number}:00 +0100"
    made["Message-ID"] = f"<{number}@example.org>"
    made.set_content(text, cte="quoted-printable")
    if html:
        made.add_alternative(page(text), subtype="html")
        made.add_attachment(b"%PDF-1.4\n", maintype="application", subtype="pdf", filename="a.pdf")
    return made


@pytest.mark.parametrize("name", ["a.eml", "a.txt", "a", "a.eml.gz"])
def test_an_email_is_read_by_its_text(name: str, tmp_path: Path) -> None:
    written = bytes(mail(1, f"Grüße\n{TEXT}", html=True))
    (path := tmp_path / name).write_bytes(gzip.compress(written) if name[-3:] == ".gz" else written)
    (document,) = nd.read(path, keep=["subject", "from", "date"])
    assert (document.id, document.text) == (name, f"Grüße\n{TEXT}")
    assert document.kept == {
        "subject": "Fähre 1", "from": "Zoë 1 <p1@example.org>", "date": "2024-02-05T10:01:00+01:00"
    }  # fmt: skip


def test_headers_are_compared_if_that_is_asked_for(tmp_path: Path) -> None:
    for number, text in enumerate((TEXT, OTHER)):
        (tmp_path / f"{number}.eml").write_bytes(bytes(mail(number, text)))
    assert nd.duplicates(tmp_path).pairs == ()
    headers = nd.read(tmp_path, text=["subject", "from"])
    assert [document.text.split("\n")[0] for document in headers] == ["Fähre 0", "Fähre 1"]


def write_mbox(path: Path, texts: list[str]) -> None:
    box = mailbox.mbox(path)
    for number, text in enumerate(texts):
        box.add(mail(number, text))
    box.close()


@pytest.mark.parametrize("name", ["a.mbox", "a.txt", "Inbox"])
def test_a_mailbox_has_a_record_for_each_message(name: str, tmp_path: Path) -> None:
    quoted = f"Hello\n\nFrom here on it is quoted\n\nFrom me, 2024\n{OTHER}"
    write_mbox(path := tmp_path / name, [TEXT, quoted, TEXT])
    documents = list(nd.read(path, keep="message_id"))
    assert [document.text for document in documents] == [TEXT, quoted, TEXT]
    assert [document.kept["message_id"] for document in documents][1] == "<1@example.org>"
    assert [(pair.id, pair.other_id) for pair in nd.duplicates(path).pairs] == [("1", "3")]


REFERENCES = [("k1", "On the ferries of old piers"), ("k2", "On the ferries of old piers"),
              ("k3", "Markets of upper towns")]  # fmt: skip
RIS = "".join(
    f"TY  - JOUR\r\nTI  - {title}\r\nAU  - Bela, Ana\r\nAU  - Doe, Cy\r\nPY  - 2001/05/03\r\n"
    f"JO  - Piers\r\nAB  - A long\r\nabstract\r\nID  - {key}\r\nER  - \r\n\r\n"
    for key, title in REFERENCES
)
BIBTEX = "% Encoding: UTF-8\n@string{piers = {Piers}}\n" + "".join(
    f"@article{{{key},\n  title = {{{title.replace('old', '{O}ld')}}},\n  journal = piers,\n"
    f'  author = "Bela, Ana and D{{\\"o}}e, Cy",\n  year = 2001\n}}\n'
    for key, title in REFERENCES
)


@pytest.mark.parametrize("suffix", ["txt", "ris", "bib"])
@pytest.mark.parametrize("format", ["ris", "bibtex"])
def test_references_have_a_record_for_each_entry(format: str, suffix: str, tmp_path: Path) -> None:
    (path := tmp_path / f"a.{suffix}").write_text(RIS if format == "ris" else BIBTEX, newline="")
    documents = list(nd.read(path, text="title", keep=["author", "year", "journal"]))
    assert [document.id for document in documents] == ["k1", "k2", "k3"]
    assert documents[2].text == "Markets of upper towns"
    author = "Bela, Ana; Doe, Cy" if format == "ris" else "Bela, Ana and Döe, Cy"
    assert documents[0].kept == {"author": author, "year": "2001", "journal": "Piers"}
    assert [(pair.id, pair.other_id) for pair in nd.duplicates(path).pairs] == [("k1", "k2")]


def test_a_bad_reference_costs_only_itself(tmp_path: Path) -> None:
    broken = "@article{bad,\n title = {never closed\n"
    (path := tmp_path / "a.bib").write_text(BIBTEX.replace("@article{k2", broken + "@article{k2"))
    errors: list[nd.RecordError] = []
    documents = nd.read(path, text="title", on_error=errors.append)
    assert [document.id for document in documents] == ["k1", "k2", "k3"]
    assert ["malformed BibTeX" in error.reason for error in errors] == [True]


def write_xls(path: Path, sheets: Mapping[str, list[list[Any]]]) -> None:
    book = xlwt.Workbook()
    for title, rows in sheets.items():
        sheet = book.add_sheet(title)
        for at, row in enumerate(rows):
            for column, value in enumerate(row):
                sheet.write(at, column, value)
    book.save(str(path))


@pytest.mark.parametrize("name", ["a.xls", "a.xlsx"])
def test_an_old_sheet_is_read_as_a_new_one(name: str, tmp_path: Path) -> None:
    """Whichever of the two suffixes it has."""
    rows: list[list[Any]] = [["id", "text"], [1, TEXT], ["", ""], [2, TEXT], [3.0, "x"]]
    write_xls(path := tmp_path / name, {"Notes": rows, "Others": [["id", "text"], [7, "y"]]})
    assert [(one.id, one.text) for one in nd.read(path)] == [("1", TEXT), ("2", TEXT), ("3", "x")]
    assert [one.id for one in read(path, sheet="others")] == ["7"]
    with refusal(nd.SourceError, "sheet-missing", "'None of these'"):
        read(path, sheet="None of these")


def test_what_is_called_a_sheet_and_is_none(tmp_path: Path) -> None:
    """A page that is called a sheet is told; a new sheet in the suffix of an old one is read."""
    (path := tmp_path / "a.xls").write_text(page(TEXT))
    with refusal(nd.SourceError, "file-kind", "HTML", "Excel"):
        read(path)
    write_xlsx(path)
    assert read(path) == []
    (path := tmp_path / "a.csv").write_text(page(TEXT))
    with refusal(nd.SourceError, "file-kind", "HTML", "csv"):
        read(path)


def test_what_is_read_can_be_written_as_json(tmp_path: Path) -> None:
    """Its own format is refused, in one line that says what can be written."""
    write_mbox(tmp_path / "a.mbox", [TEXT, OTHER, TEXT])
    (tmp_path / "a.bib").write_text(BIBTEX)
    (tmp_path / "a.ris").write_text(RIS)
    write_xls(tmp_path / "a.xls", {"a": [["id", "text"], [1, TEXT], [2, OTHER], [3, TEXT]]})
    for suffix in ("mbox", "bib", "ris", "xls"):
        source, unique = tmp_path / f"a.{suffix}", tmp_path / f"{suffix}.jsonl"
        result = nd.duplicates(source)
        with refusal(nd.SourceError, "format-unfit", "jsonl"):
            result.write_unique(tmp_path / f"unique.{suffix}")
        result.write_unique(unique)
        ids = [json.loads(line)["id"] for line in unique.read_text().splitlines()]
        expected = {"mbox": ["1", "2"], "xls": [1, 2]}
        assert ids == expected.get(suffix, ["k1", "k3"])


def test_a_folder_of_texts_and_other_documents(tmp_path: Path) -> None:
    """Texts, pages, e-mails, messages and references are compared with each other."""
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "b.html").write_text(page(TEXT))
    (tmp_path / "c.eml").write_bytes(bytes(mail(1, TEXT)))
    write_mbox(tmp_path / "d.mbox", [TEXT, OTHER])
    (tmp_path / "e.bib").write_text(BIBTEX)
    documents = {document.id: document.text for document in nd.read(tmp_path)}
    keys = ["a.txt", "b.html", "c.eml", "d.mbox#1", "d.mbox#2", "k1", "k2", "k3"]
    assert [*documents] == keys
    assert documents["a.txt"] == documents["c.eml"] == documents["d.mbox#1"] == TEXT
    assert documents["b.html"] == SEEN
