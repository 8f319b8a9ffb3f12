"""Tell the kind of a file by its first bytes and structure: no suffix or encoding is believed.

Of a format that is no text, no encoding is guessed: whatever it would be decoded to is nothing that
anybody wrote.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

BEGINNING: Final = 2**16  # bytes that are looked at


class Kind(NamedTuple):
    """Kind of a file, in words, and the next step. `format` reads it, "" if none does.

    If it `is_text`, it can be read as lines, too, if that is asked for.
    """

    words: str
    next_step: str
    format: str = ""
    is_text: bool = False


AS_TEXT: Final = "save its text as .txt, or as a table with a column of texts"
AS_TABLE: Final = "export its rows as CSV, JSON lines or Parquet"
UNPACK: Final = "unpack it, and give the files in it"
NO_TEXT: Final = "leave it out: it holds no text"
PDF_STEP: Final = "extract its text first, for example with: pdftotext -layout FILE.pdf FILE.txt"
OFFICE_STEP: Final = "extract its text first, for example with: soffice --headless --convert-to txt"
_IMAGE: Final = "recognize its text first (OCR), or leave it out"

# How a file begins, up to where it is told apart: the place, the bytes, what it is, what to do.
_MAGIC: Final[Sequence[tuple[int, bytes, str, str]]] = (
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image", _IMAGE),
    (0, b"\xff\xd8\xff", "a JPEG image", _IMAGE),
    (0, b"II*\0", "a TIFF image", _IMAGE),
    (0, b"MM\0*", "a TIFF image", _IMAGE),
    (0, b"8BPS\0", "a Photoshop image", _IMAGE),
    (0, b"\0\0\x01\0", "an icon", _IMAGE),
    (0, b"\0\0\0\x0cjP", "a JPEG 2000 image", _IMAGE),
    (0, b"AT&TFORM", "a DjVu document", _IMAGE),
    (128, b"DICM", "a DICOM image", _IMAGE),
    (0, b"ID3\x02", "an audio file (MP3)", NO_TEXT),
    (0, b"ID3\x03", "an audio file (MP3)", NO_TEXT),
    (0, b"ID3\x04", "an audio file (MP3)", NO_TEXT),
    (0, b"\xff\xfb", "an audio file (MP3)", NO_TEXT),
    (0, b"\xff\xf3", "an audio file (MP3)", NO_TEXT),
    (0, b"OggS\0", "an Ogg audio or video file", NO_TEXT),
    (0, b"fLaC\0", "an audio file (FLAC)", NO_TEXT),
    (0, b"MThd\0", "a MIDI file", NO_TEXT),
    (0, b"#!AMR", "an audio file (AMR)", NO_TEXT),
    (0, b"\x1aE\xdf\xa3", "a Matroska or WebM video", NO_TEXT),
    (0, b"FLV\x01", "a Flash video", NO_TEXT),
    (0, b"\0\0\x01\xba", "an MPEG video", NO_TEXT),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "a Windows Media file", NO_TEXT),
    (0, b"SQLite format 3\0", "an SQLite database",
     'export a table, for example with: sqlite3 -json FILE "select * from TABLE" > FILE.json'),
    (4, b"Standard Jet DB\0", "an Access database", AS_TABLE),
    (4, b"Standard ACE DB\0", "an Access database", AS_TABLE),
    (0, b"\x7fELF", "a program or a library (ELF)", NO_TEXT),
    (0, b"\xcf\xfa\xed\xfe", "a program or a library (Mach-O)", NO_TEXT),
    (0, b"\xce\xfa\xed\xfe", "a program or a library (Mach-O)", NO_TEXT),
    (0, b"\xca\xfe\xba\xbe", "a Java class or a program", NO_TEXT),
    (0, b"\0asm", "a WebAssembly program", NO_TEXT),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (0, b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (0, b"MSCF\0\0\0\0", "a cabinet archive", UNPACK),
    (0, b"!<arch>\n", "an archive (ar or .deb)", UNPACK),
    (0, b"xar!\0", "a xar archive", UNPACK),
    (257, b"ustar", "a tar archive", UNPACK),
    (32769, b"CD001", "a disk image (ISO)", UNPACK),
    (0, b"\x1f\x8b", "compressed with gzip", "end its name in .gz, or unpack it"),
    (0, b"\x28\xb5\x2f\xfd", "compressed with zstd", "end its name in .zst, or unpack it"),
    (0, b"BZh91AY&SY", "compressed with bzip2", "end its name in .bz2, or unpack it"),
    (0, b"\xfd7zXZ\0", "compressed with xz", "end its name in .xz, or unpack it"),
    (0, b"\x04\x22\x4d\x18", "compressed with lz4", UNPACK),
    (0, b"LZIP\x01", "compressed with lzip", UNPACK),
    (0, b"\x1f\x9d", "compressed with compress", UNPACK),
    (0, b"\xff\x06\0\0sNaPpY", "compressed with snappy", UNPACK),
    (0, b"\0\x01\0\0\0", "a TrueType font", NO_TEXT),
    (0, b"OTTO\0", "an OpenType font", NO_TEXT),
    (0, b"ttcf\0", "a collection of fonts", NO_TEXT),
    (0, b"wOFF", "a web font", NO_TEXT),
    (0, b"wOF2", "a web font", NO_TEXT),
    (0, b"\x93NUMPY", "an array of NumPy (.npy)", "write a table of ids and texts from it"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", AS_TABLE),
    (0, b"MATLAB 5.0 MAT-file", "a MATLAB file", AS_TABLE),
    (0, b"Obj\x01", "an Avro file",
     "write it as JSON lines or Parquet, for example with: avro-tools tojson FILE"),
    (0, b"FEA1\0", "a Feather file", "write it as Parquet, for example with pyarrow.feather"),
    (0, b"ARROW1\0\0", "an Arrow or Feather file",
     "write it as Parquet, for example with pyarrow.feather"),
    (0, b"PAR1\x15", "a Parquet file",
     "end its name in .parquet, or set `source_format` to parquet"),
    (0, b"RDX2\n", "an R workspace", AS_TABLE),
    (0, b"RDX3\n", "an R workspace", AS_TABLE),
    (0, b"X\n\0\0\0", "an R object (.rds)", AS_TABLE),
    (0, b"$FL2@(#)", "an SPSS file", AS_TABLE),
    (0, b"<stata_dta>", "a Stata file", AS_TABLE),
    (0, b"\0" * 12 + b"\xc2\xea\x81\x60", "a SAS table", AS_TABLE),
    (0, b"bplist00", "a property list of macOS", AS_TABLE),
    (0, b"\0\0\0\x01Bud1", "a note of macOS on a folder (.DS_Store)", NO_TEXT),
    (0, b"!BDN", "an Outlook mailbox (.pst)", "export its messages as .eml or mbox"),
    (0, b"\x78\x9f\x3e\x22", "an Outlook attachment (winmail.dat)", UNPACK),
    (0, b"\x3f\xd7\x6c\x17", "a file of a Lucene index",
     "give the address of its collection with -c instead"),
    (0, b"\xffWPC", "a WordPerfect document", OFFICE_STEP),
    (60, b"BOOKMOBI", "a Kindle book", "convert it to text or HTML first"),
    (0, b"ITSF\x03", "a Windows help file (.chm)", UNPACK),
    (0, b"\xd4\xc3\xb2\xa1", "a capture of network traffic", NO_TEXT),
    (0, b"PACK\0\0\0", "a pack of git", NO_TEXT),
)  # fmt: skip

_FURTHER: Final = [each for each in _MAGIC if each[0]]
_AT_START: Final = {
    first: [each for each in _MAGIC if not each[0] and each[1][:1] == first]
    for first in {magic[:1] for _, magic, _, _ in _MAGIC}
}
# How a text with mark-up or headers may begin; most texts are told from these at once.
_MARKED: Final = re.compile(
    rb"\xff\xfe|\xfe\xff|\0\0\xfe\xff"
    rb"|(?:\xef\xbb\xbf)?\s*(?:[<{%@]|TY  ?-|From |[!-9;-~]+:[ \t\r\n])"
)
EXCEL: Final = "an Excel file (.xlsx)"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06\0\0", b"PK\x07\x08")
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# What the names of an archive tell, the first that fits.
_ZIPPED: Final = (
    ("word/", "a Word document (.docx)", OFFICE_STEP + " FILE.docx"),
    ("xl/", EXCEL, "end its name in .xlsx, or set `source_format` to xlsx"),
    ("ppt/", "a PowerPoint presentation (.pptx)", OFFICE_STEP + " FILE.pptx"),
    ("visio/", "a Visio drawing", AS_TEXT),
    ("Index/", "an iWork document (Pages, Numbers or Keynote)", "export it as .txt or .csv"),
    ("AndroidManifest.xml", "an Android app", NO_TEXT),
    ("META-INF/MANIFEST.MF", "a Java archive (.jar)", NO_TEXT),
)
_OPEN_DOCUMENT: Final = {
    "text": ("an OpenDocument text (.odt)", OFFICE_STEP + " FILE.odt"),
    "spreadsheet": ("an OpenDocument spreadsheet (.ods)", "save it as .xlsx or CSV"),
    "presentation": ("an OpenDocument presentation (.odp)", OFFICE_STEP + " FILE.odp"),
}
# What the names of streams tell.
_OLE_STREAMS: Final = (
    ("EncryptedPackage", "an Office file with a password", "save it without the password"),
    ("WordDocument", "an old Word document (.doc)", OFFICE_STEP + " FILE.doc"),
    ("PowerPoint Document", "an old PowerPoint presentation (.ppt)", OFFICE_STEP + " FILE.ppt"),
    ("__properties_version1.0", "an Outlook message (.msg)", "save it as .eml"),
    ("VisioDocument", "an old Visio drawing", AS_TEXT),
)
_BRANDS: Final = {b"heic": "a HEIC image", b"heix": "a HEIC image", b"mif1": "a HEIC image",
                  b"avif": "an AVIF image", b"M4A ": "an audio file (M4A)"}  # fmt: skip
_RIFF: Final = {
    b"WEBP": ("a WebP image", _IMAGE),
    b"WAVE": ("an audio file (WAV)", NO_TEXT),
    b"AVI ": ("a video (AVI)", NO_TEXT),
}

_PDF: Final = re.compile(rb"\s{0,99}%PDF-\d\.\d[ \t]*[\r\n]")
_HTML: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*"
    r"<(?:!doctype\s+html\b|html[\s>]|head[\s>]|body[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_XML: Final = re.compile(r"\s*<\?xml\s+version\s*=", re.IGNORECASE)
_SVG: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE svg[^>]*>\s*)?<svg\b", re.DOTALL
)
_HEADER: Final = re.compile(r"([!-9;-~]+):(?:[ \t](.*))?$")
_MBOX: Final = re.compile(
    r"From \S+.*\b\d\d?:\d\d(?::\d\d)?\b.*\b\d{4}\b.*\n(?:>?[!-9;-~]+:.*\n)", re.ASCII
)
_RIS: Final = re.compile(r"\s*TY  ?- ?[A-Z0-9]{2,}[ \t]*\n\s*[A-Z][A-Z0-9]  ?-")
_ENTRY: Final = re.compile(
    r"^[ \t]*@[a-z]+\s*[{(]\s*[^\s,{}\"=]+\s*,\s*[a-z][\w-]*\s*=", re.IGNORECASE | re.MULTILINE
)
_BEFORE_ENTRIES: Final = re.compile(r"\s*(?:%|@(?:string|preamble|comment)\b|$)", re.IGNORECASE)
_MAILED: Final = {"date", "message-id", "received", "mime-version", "return-path"}


def find_kind(head: bytes, path: Path | None = None) -> Kind | None:
    """Tell what a file is by its first bytes, None if it may be a text like any other.

    `path` is that of a file which is not compressed: of some formats, another part tells more.
    """
    if head.startswith(_ZIP):
        return _find_zipped(head, path)
    if head.startswith(_OLE):
        return _find_streams(head, path)
    for place, magic, words, step in (*_AT_START.get(head[:1], ()), *_FURTHER):
        if head.startswith(magic, place):
            return Kind(words, step)
    return _find_binary(head) or (_find_written(head) if _MARKED.match(head) else None)


def _find_binary(head: bytes) -> Kind | None:
    """Tell formats that begin as a text may, too, by more of what they have."""
    if _PDF.match(head) and (b" obj" in head or _share_of_controls(head) > FEW_CONTROLS):
        return Kind("a PDF", PDF_STEP)
    if head[4:8] == b"ftyp" and head[:3] == b"\0\0\0":
        words = _BRANDS.get(head[8:12], "a video (MP4 or MOV)")
        return Kind(words, _IMAGE if "image" in words else NO_TEXT)
    if head.startswith(b"RIFF") and head[8:12] in _RIFF:
        return Kind(*_RIFF[head[8:12]])
    if head.startswith((b"GIF87a", b"GIF89a")) and _share_of_controls(head) > FEW_CONTROLS:
        return Kind("a GIF image", _IMAGE)
    if head.startswith(b"BM") and head[6:10] == bytes(4) and head[15:18] == bytes(3):
        return Kind("a BMP image", _IMAGE)
    if head.startswith(b"FORM") and head[8:12] in (b"AIFF", b"AIFC"):
        return Kind("an audio file (AIFF)", NO_TEXT)
    if head.startswith(b"ORC") and _share_of_controls(head) > FEW_CONTROLS:
        return Kind("an ORC file", "write it as Parquet, for example with pyarrow.orc")
    if head.startswith(b"MZ") and _share_of_controls(head) > FEW_CONTROLS:
        return Kind("a Windows program or library", NO_TEXT)
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
    for name, (words, step) in _OPEN_DOCUMENT.items():
        if f"opendocument.{name}" in mime:
            return Kind(words, step)
    if mime.startswith("epub"):
        return Kind("an e-book (.epub)", "unpack it, and give the folder of its pages")
    for beginning, words, step in _ZIPPED:
        if any(name.startswith(beginning) for name in names):
            return Kind(words, step, "xlsx" if words == EXCEL else "")
    if names and all(name.endswith(".npy") for name in names):
        return Kind("arrays of NumPy (.npz)", "write a table of ids and texts from it")
    return Kind("a ZIP archive", UNPACK)


def _find_streams(head: bytes, path: Path | None) -> Kind:
    """Tell an old Office file by the names of its streams, which stand in its directory."""
    names = head
    if path is not None:
        size = 1 << min(head[30], 16)
        with suppress(OSError), path.open("rb") as file:
            file.seek((int.from_bytes(head[48:52], "little") + 1) * size)
            names += file.read(BEGINNING)
    for name, words, step in _OLE_STREAMS:
        if name.encode("utf-16-le") in names:
            return Kind(words, step)
    if any(f"\0{name}\0".encode("utf-16-le")[2:] in names for name in ("Workbook", "Book")):
        return Kind("an old Excel file (.xls)", "end its name in .xls, or save it as .xlsx", "xls")
    return Kind("an old Office file", OFFICE_STEP + " FILE")


def _find_written(head: bytes) -> Kind | None:
    """Tell formats with mark-up or headers, which are texts of a kind."""
    text = decode_beginning(head)
    if text is None:
        return None
    if re.match(r"\s*\{\\rtf1?\b", text):
        return Kind("an RTF document", OFFICE_STEP + " FILE.rtf", "", True)
    if text.startswith(("%!PS-", "%!PS\n", "%!PS\r")):
        return Kind("a PostScript document", "extract its text first, with: ps2ascii", "", True)
    if _HTML.match(text) and len(re.findall(r"<html[\s>]", text, re.IGNORECASE)) < 2:
        return Kind("an HTML page", "set `source_format` to html", "html", True)
    if _SVG.match(text):
        return Kind("an SVG image", NO_TEXT, "", True)
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
    return None


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


# What texts have of control characters: tabs, line ends, escapes of terminals, the end of a file of
# DOS, and separators of fields.
_USUAL: Final = b"\x01\x02\x03\b\t\n\v\f\r\x1a\x1b\x1c\x1d\x1e\x1f"
_CONTROLS: Final = bytes(code for code in range(32) if code not in _USUAL) + b"\x7f"
FEW_CONTROLS: Final = 0.03  # of what is random, 7 % are
_FEWEST: Final = 8  # that tell


def is_binary(head: bytes) -> bool:
    """Tell whether what should be a text has too many control characters for one.

    What is UTF-8 without NUL bytes is a text, however odd. NUL bytes at the end may be room that a
    crash has left.
    """
    head = head[:BEGINNING].rstrip(b"\0")
    if _share_of_controls(head) <= FEW_CONTROLS:
        return False
    return b"\0" in head or not _is_utf8(head)


def _is_utf8(head: bytes) -> bool:
    """Tell whether bytes are UTF-8, the last character of which may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _share_of_controls(head: bytes) -> float:
    head = head[:BEGINNING]
    count = len(head) - len(head.translate(None, _CONTROLS))
    return count / len(head) if count >= _FEWEST else 0.0


def is_written(text: str) -> bool:
    """Tell whether nearly all characters of a decoded text are what people write."""
    odd = sum(unicodedata.category(sign) in ("Cc", "Cn", "Co", "Cs") for sign in text)
    return odd - sum(map(text.count, "\t\n\r")) <= len(text) / 100
