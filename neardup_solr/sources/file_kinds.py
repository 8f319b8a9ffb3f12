"""The kind of a file, by its first bytes and structure: no suffix or encoding is believed.

Of a format that is no text, no encoding is guessed: whatever it would be decoded to is nothing that
anybody wrote. Control characters, of which texts have few, tell what is no text either.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from neardup_solr.regex import regex
from neardup_solr.sources import magic_bytes
from neardup_solr.sources.compression import is_compressed
from neardup_solr.sources.magic_bytes import BEGINNING, MAGIC, Kind
from neardup_solr.sources.markup import find_markup
from neardup_solr.sources.part import SourcePart

_FURTHER: Final = [each for each in MAGIC if each[0]]
_AT_START: Final = {
    first: [each for each in MAGIC if not each[0] and each[1][:1] == first]
    for first in {each[1][:1] for each in MAGIC}
}
# How a text with mark-up or headers may begin; most texts are told from these at once.
_MARKED: Final = regex(
    rb"\xff\xfe|\xfe\xff|\0\0\xfe\xff"
    rb"|(?:\xef\xbb\xbf)?\s*(?:[<%@=#;[\x1e]|\{\\rtf|\\doc|TY  ?-|From |(?!\{)[!-9;-~]+:[ \t\r\n]"
    rb"|BEGIN:V|PMID|FN |WEBVTT|\d+[ \t]*\r?\n\d\d:|msgid |--|PRAGMA|0 HEAD|- [\w-]+:|begin"
    rb"|\([ld]|c[c_])"
)
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06\0\0", b"PK\x07\x08")
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PDF: Final = regex(rb"(?:\xef\xbb\xbf)?\s{0,99}%PDF-\d\.\d[ \t]*[\r\n]")
_HTML: Final = regex(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*"
    r"<(?:!doctype\s+html\b|html[\s>]|head[\s>]|body[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_XML: Final = regex(r"\s*<\?xml\s+version\s*=", re.IGNORECASE)
_SVG: Final = regex(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE svg[^>]*>\s*)?<svg\b", re.DOTALL
)
_HEADER: Final = regex(r"([!-9;-~]+):(?:[ \t](.*))?$")
_MBOX: Final = regex(
    r"From \S+.*\b\d\d?:\d\d(?::\d\d)?\b.*\b\d{4}\b.*\n(?:>?[!-9;-~]+:.*\n)", re.ASCII
)
_RIS: Final = regex(r"\s*TY  ?- ?[A-Z0-9]{2,}[ \t]*\n\s*[A-Z][A-Z0-9]  ?-")
_ENTRY: Final = regex(
    r"^[ \t]*@[a-z]+\s*[{(]\s*[^\s,{}\"=]+\s*,\s*[a-z][\w-]*\s*=", re.IGNORECASE | re.MULTILINE
)
_BEFORE_ENTRIES: Final = regex(r"\s*(?:%|@(?:string|preamble|comment)\b|$)", re.IGNORECASE)
_MAILED: Final = {"date", "message-id", "received", "mime-version", "return-path"}
# What texts have of control characters: tabs, line ends, escapes of terminals, the end of a file of
# DOS, and separators of fields.
_USUAL: Final = b"\x01\x02\x03\b\t\n\v\f\r\x1a\x1b\x1c\x1d\x1e\x1f"
_CONTROLS: Final = bytes(code for code in range(32) if code not in _USUAL) + b"\x7f"
FEW_CONTROLS: Final = 0.03  # of what is random, 7 % are
MANY_NULS: Final = 0.25
_FEWEST: Final = 8  # that tell


def kind_of_part(part: SourcePart, head: bytes) -> Kind | None:
    """Tell what a file is by its first bytes, None if it may be a text like any other."""
    if not head.startswith((*_ZIP, _OLE)):  # so the file need not be looked at
        return find_kind(head)
    path = part.path
    is_plain = path is not None and not is_compressed(path) and path.is_file()
    return find_kind(head, path if is_plain else None)


def find_kind(head: bytes, path: Path | None = None) -> Kind | None:
    """Tell what a file is by its first bytes, None if it may be a text like any other.

    `path` is that of a file which is not compressed: of some formats, another part tells more.
    """
    if head.startswith(_ZIP):
        return _find_zipped(head, path)
    if head.startswith(_OLE):
        return _find_streams(head, path)
    for place, beginning, words, step in (*_AT_START.get(head[:1], ()), *_FURTHER):
        if head.startswith(beginning, place):
            return Kind(words, step)
    return _find_binary(head) or (_find_written(head) if _MARKED.match(head) else None)


def _find_binary(head: bytes) -> Kind | None:
    """Tell formats that begin as a text may, too, by more of what they have."""
    if _PDF.match(head) and (b" obj" in head or share_of_controls(head) > FEW_CONTROLS):
        return Kind("a PDF", magic_bytes.PDF_STEP)
    if head[:4] == b"\xff" * 4 and head[8:12] == b"\x10\0\0\0":
        return Kind("a stream of Arrow", "write it as Parquet, for example with pyarrow.ipc")
    if head[4:8] == b"ftyp" and head[:3] == b"\0\0\0":
        words = magic_bytes.BRANDS.get(head[8:12], "a video (MP4 or MOV)")
        return Kind(words, magic_bytes.IMAGE if "image" in words else magic_bytes.NO_TEXT)
    if head.startswith(b"RIFF") and head[8:12] in magic_bytes.RIFF:
        return Kind(*magic_bytes.RIFF[head[8:12]])
    if head.startswith((b"GIF87a", b"GIF89a")) and share_of_controls(head) > FEW_CONTROLS:
        return Kind("a GIF image", magic_bytes.IMAGE)
    if head.startswith(b"BM") and head[6:10] == bytes(4) and head[15:18] == bytes(3):
        return Kind("a BMP image", magic_bytes.IMAGE)
    if head.startswith(b"FORM") and head[8:12] in (b"AIFF", b"AIFC"):
        return Kind("an audio file (AIFF)", magic_bytes.NO_TEXT)
    if head.startswith(b"ORC") and share_of_controls(head) > FEW_CONTROLS:
        return Kind("an ORC file", "write it as Parquet, for example with pyarrow.orc")
    if head.startswith(b"MZ") and share_of_controls(head) > FEW_CONTROLS:
        return Kind("a Windows program or library", magic_bytes.NO_TEXT)
    if re.match(rb"\x80[\x02-\x05](?:\x95.{6}\0|[\]}\[(cqXKM])", head, re.DOTALL):
        return Kind("a pickle of Python", "write a table from it, such as Parquet or JSON lines")
    if re.match(rb"\d{5}[acdnp][a-z][a-z].{10,14}45.0", head) and b"\x1e" in head:
        step = "write its records as CSV or JSON lines"
        return Kind("a file of library records (MARC 21)", step)
    return None


def _find_zipped(head: bytes, path: Path | None) -> Kind:
    """Tell what is in a ZIP archive by its names, and by the type that it says it has."""
    from zipfile import ZipFile

    names = [
        head[at.end() : at.end() + int.from_bytes(at[1], "little")].decode("utf-8", "replace")
        for at in re.finditer(rb"PK\x03\x04.{22}(..)..", head, re.DOTALL)
    ]
    if path is not None:
        with suppress(Exception), ZipFile(path) as archive:
            names = archive.namelist()
    kind = re.match(rb".{30}mimetypeapplication/([\w.+-]+)", head, re.DOTALL)
    mime = kind[1].decode() if kind else ""
    for name, (words, step) in magic_bytes.OPEN_DOCUMENT.items():
        if f"opendocument.{name}" in mime:
            return Kind(words, step)
    if mime.startswith("epub"):
        return Kind("an e-book (.epub)", "unpack it, and give the folder of its pages")
    for beginning, words, step in magic_bytes.ZIPPED:
        if any(name.startswith(beginning) for name in names):
            return Kind(words, step, "xlsx" if words == magic_bytes.EXCEL else "")
    if names and all(name.endswith(".npy") for name in names):
        return Kind("arrays of NumPy (.npz)", "write a table of ids and texts from it")
    return Kind("a ZIP archive", magic_bytes.UNPACK)


def _find_streams(head: bytes, path: Path | None) -> Kind:
    """Tell an old Office file by the names of its streams, which stand in its directory."""
    names = head
    if path is not None:
        size = 1 << min(head[30], 16)
        with suppress(OSError), path.open("rb") as file:
            file.seek((int.from_bytes(head[48:52], "little") + 1) * size)
            names += file.read(BEGINNING)
    for name, words, step in magic_bytes.OLE_STREAMS:
        if name.encode("utf-16-le") in names:
            return Kind(words, step)
    if any(f"\0{name}\0".encode("utf-16-le")[2:] in names for name in ("Workbook", "Book")):
        return Kind("an old Excel file (.xls)", "end its name in .xls, or save it as .xlsx", "xls")
    return Kind("an old Office file", magic_bytes.OFFICE_STEP + " FILE")


def _find_written(head: bytes) -> Kind | None:
    """Tell formats with mark-up or headers, which are texts of a kind."""
    text = decode_beginning(head)
    if text is None:
        return None
    if re.match(r"\s*\{\\rtf1?\b", text):
        return Kind("an RTF document", magic_bytes.OFFICE_STEP + " FILE.rtf", "", True)
    if text.startswith(("%!PS-", "%!PS\n", "%!PS\r")):
        return Kind("a PostScript document", "extract its text first, with: ps2ascii", "", True)
    if _HTML.match(text) and len(re.findall(r"<html[\s>]", text, re.IGNORECASE)) < 2:
        return Kind("an HTML page", "set `source_format` to html", "html", True)
    if _SVG.match(text):
        return Kind("an SVG image", magic_bytes.NO_TEXT, "", True)
    if _XML.match(text):
        return Kind("XML", "write its records as CSV or JSON lines", "", True)
    checks: tuple[tuple[Callable[[str], object], str, str], ...] = (
        (_MBOX.match, "a mailbox (mbox)", "mbox"),
        (_is_mail, "an e-mail", "eml"),
        (_RIS.match, "references (RIS)", "ris"),
        (_is_bibtex, "references (BibTeX)", "bibtex"),
    )
    for is_kind, words, format in checks:
        if is_kind(text):
            return Kind(words, f"set `source_format` to {format}", format, True)
    return find_markup(text)


def decode_beginning(head: bytes) -> str | None:
    """Decode the first bytes of a text, in UTF-8 if no mark says otherwise, None if it is none."""
    for mark, encoding in (
        (b"\xff\xfe\0\0", "utf-32-le"), (b"\0\0\xfe\xff", "utf-32-be"), (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8"),
    ):  # fmt: skip
        if head.startswith(mark):
            return head[len(mark) : BEGINNING].decode(encoding, "replace").replace("\r\n", "\n")
    return None if b"\0" in head[:1_000] else (
        head[:BEGINNING].decode("utf-8", "replace").replace("\r\n", "\n")
    )  # fmt: skip


def _is_bibtex(text: str) -> bool:
    """Tell whether a text begins with an entry of BibTeX, but for comments and abbreviations."""
    entry = _ENTRY.search(text) if text.lstrip()[:1] in ("@", "%") else None
    before = [] if entry is None else text[: entry.start()].split("\n")
    return entry is not None and all(map(_BEFORE_ENTRIES.match, before))


def _is_mail(text: str) -> bool:
    """Tell whether a text begins with the headers of an e-mail: who sent it, and when or how."""
    headers: dict[str, str] = {}
    for line in text.split("\n"):
        if not line.strip():
            break
        if line[0] in " \t":
            if not headers:
                return False
            continue
        if (field := _HEADER.match(line)) is None:
            return False
        headers.setdefault(field[1].lower(), field[2] or "")
    if "from" not in headers or not _MAILED & {*headers} or len(headers) < 3:
        return False
    if {*headers} & (_MAILED - {"date"}):
        return True
    from email.utils import parsedate_to_datetime  # loaded for e-mails only

    with suppress(ValueError, TypeError, IndexError):
        return parsedate_to_datetime(headers["date"]) is not None
    return False


def is_binary(head: bytes) -> bool:
    """Tell whether what should be a text has too many control characters for one.

    What is UTF-8 without NUL bytes is a text, however odd, and so is a table with a few of them
    below its header. NUL bytes at the end may be room that a crash has left.
    """
    head = head[:BEGINNING].rstrip(b"\0")
    if share_of_controls(head) <= FEW_CONTROLS:
        return False
    first_line = head.partition(b"\n")[0]
    return (
        b"\0" in first_line
        or head.count(b"\0") > MANY_NULS * len(head)  # as in UTF-16 below a header
        or not is_utf8(head)
    )


def is_utf8(head: bytes) -> bool:
    """Tell whether bytes are UTF-8, the last character of which may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def share_of_controls(head: bytes) -> float:
    head = head[:BEGINNING]
    count = len(head) - len(head.translate(None, _CONTROLS))
    return count / len(head) if count >= _FEWEST else 0.0
