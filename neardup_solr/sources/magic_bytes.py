"""Bytes by which files of a kind begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

BEGINNING: Final = 2**16  # bytes that are looked at
AS_TEXT: Final = "save its text as .txt, or as a table with a column of texts"
AS_TABLE: Final = "export its rows as CSV, JSON lines or Parquet"
UNPACK: Final = "unpack it, and give the files in it"
NO_TEXT: Final = "leave it out: it holds no text"
PDF_STEP: Final = "extract its text first, for example with: pdftotext -layout FILE.pdf FILE.txt"
OFFICE_STEP: Final = "extract its text first, for example with: soffice --headless --convert-to txt"
IMAGE: Final = "recognize its text first (OCR), or leave it out"
EXCEL: Final = "an Excel file (.xlsx)"
# What the names of an archive tell, the first that fits.
ZIPPED: Final = (
    ("word/", "a Word document (.docx)", OFFICE_STEP + " FILE.docx"),
    ("xl/", EXCEL, "end its name in .xlsx, or set `source_format` to xlsx"),
    ("ppt/", "a PowerPoint presentation (.pptx)", OFFICE_STEP + " FILE.pptx"),
    ("visio/", "a Visio drawing", AS_TEXT),
    ("Index/", "an iWork document (Pages, Numbers or Keynote)", "export it as .txt or .csv"),
    ("AndroidManifest.xml", "an Android app", NO_TEXT),
    ("META-INF/MANIFEST.MF", "a Java archive (.jar)", NO_TEXT),
)
OPEN_DOCUMENT: Final = {
    "text": ("an OpenDocument text (.odt)", OFFICE_STEP + " FILE.odt"),
    "spreadsheet": ("an OpenDocument spreadsheet (.ods)", "save it as .xlsx or CSV"),
    "presentation": ("an OpenDocument presentation (.odp)", OFFICE_STEP + " FILE.odp"),
}
# What the names of streams tell.
OLE_STREAMS: Final = (
    ("EncryptedPackage", "an Office file with a password", "save it without the password"),
    ("WordDocument", "an old Word document (.doc)", OFFICE_STEP + " FILE.doc"),
    ("PowerPoint Document", "an old PowerPoint presentation (.ppt)", OFFICE_STEP + " FILE.ppt"),
    ("__properties_version1.0", "an Outlook message (.msg)", "save it as .eml"),
    ("VisioDocument", "an old Visio drawing", AS_TEXT),
)
BRANDS: Final = {b"heic": "a HEIC image", b"heix": "a HEIC image", b"mif1": "a HEIC image",
                  b"avif": "an AVIF image", b"M4A ": "an audio file (M4A)"}  # fmt: skip
RIFF: Final = {
    b"WEBP": ("a WebP image", IMAGE),
    b"WAVE": ("an audio file (WAV)", NO_TEXT),
    b"AVI ": ("a video (AVI)", NO_TEXT),
}


class Kind(NamedTuple):
    """Kind of a file, in words, and the next step. `format` reads it, "" if none does.

    If it `is_text`, it can be read as lines, too, if that is asked for.
    """

    words: str
    next_step: str
    format: str = ""
    is_text: bool = False


# How a file begins, up to where it is told apart: the place, the bytes, what it is, what to do.
MAGIC: Final[Sequence[tuple[int, bytes, str, str]]] = (
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image", IMAGE),
    (0, b"\xff\xd8\xff", "a JPEG image", IMAGE),
    (0, b"II*\0", "a TIFF image", IMAGE),
    (0, b"MM\0*", "a TIFF image", IMAGE),
    (0, b"8BPS\0", "a Photoshop image", IMAGE),
    (0, b"\0\0\x01\0", "an icon", IMAGE),
    (0, b"\0\0\0\x0cjP", "a JPEG 2000 image", IMAGE),
    (0, b"AT&TFORM", "a DjVu document", IMAGE),
    (0, b"\xc5\xd0\xd3\xc6", "a PostScript image (EPS)", IMAGE),
    (128, b"DICM", "a DICOM image", IMAGE),
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
