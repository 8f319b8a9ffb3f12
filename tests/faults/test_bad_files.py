"""Bad files of every kind: the command never crashes or hangs, counts each record, stays small."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from tests.command import neardup
from tests.faults.conftest import RecordRow

GOOD = 4  # good records around what is bad
MOST_SECONDS = 120  # after which a command counts as hanging
MOST_MEBIBYTES = 300


@dataclass(frozen=True, slots=True)
class Kind:
    """A bad file: its name and content, how many records fail, and words of what is said.

    A file that is refused as a whole has no records: `failed` is None.
    """

    name: str
    content: bytes
    failed: int | None
    words: str
    good: int = GOOD


def lines(bad: bytes, words: str, failed: int = 1) -> Kind:
    return Kind("a.txt", b"1 a b c\n2 d e f\n" + bad + b"\n3 g h i\n4 j k l\n", failed, words)


def csv(bad: bytes, words: str, failed: int = 1) -> Kind:
    good = b"id,text\n1,a b c\n2,d e f\n%s\n3,g h i\n4,j k l\n"
    return Kind("a.csv", good % bad, failed, words)


def jsonl(bad: bytes, words: str, failed: int = 1) -> Kind:
    first, last = b'{"id":1,"text":"a b c"}\n{"id":2,"text":"d"}\n', b'{"id":3,"text":"g"}\n' * 2
    return Kind("a.jsonl", first + bad + b"\n" + last, failed, words)


def whole(name: str, content: bytes, words: str) -> Kind:
    return Kind(name, content, None, words)


def ends(name: str, content: bytes, words: str, good: int = GOOD) -> Kind:
    """A file whose end is bad: its good records are read, and the end is one error."""
    return Kind(name, content, 1, words, good)


LINES = b"1 a b c\n2 d e f\n3 g h i\n4 j k l\n"
TABLE = b"id,text\n1,a b c\n2,d e f\n3,g h i\n4,j k l\n"
# Lines that do not compress, so that a cut costs some of them only.
RANDOM = b"".join(
    b"%d %s\n" % (number, Random(number).randbytes(200).hex().encode()) for number in range(2_000)
)


def cut(content: bytes) -> bytes:
    return content[: len(content) * 3 // 4]


def good_of(name: str, content: bytes) -> int:
    """How many whole lines of RANDOM a decompressor finds in a file that was cut."""
    if name.endswith("gz"):
        import zlib

        return zlib.decompressobj(31).decompress(content).count(b"\n")
    return zstandard.ZstdDecompressor().decompressobj().decompress(content).count(b"\n")


def cut_off(name: str, content: bytes) -> Kind:
    return ends(name, content, "the file ends too early (truncated", good_of(name, content))


def parquet(ids: list[object], texts: list[object], id: str = "id") -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({id: ids, "text": texts}), stream)
    return stream.getvalue()


def excel(**changed: str) -> bytes:
    """A sheet; what is given for a part stands at the end of its rows, or before all it has."""
    book = openpyxl.Workbook()
    for row in (["id", "text"], [1, "a b c"], [2, "d e f"], [3, "g h i"], [4, "j k l"]):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    made = io.BytesIO()
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name).decode()
            key = Path(name).stem.strip("[]")
            if key in changed:
                part = part.replace("</sheetData>", changed[key] + "</sheetData>")
                part = part if changed[key] in part else changed[key] + part
            new.writestr(name, part)
    return made.getvalue()


EMPTY_BOOK = excel().replace(b"xl/worksheets/sheet1.xml", b"xl/worksheets/sheet9.xml")
PARQUET = parquet([1, 2, 3, 4], ["a b c", "d e f", "g h i", "j k l"])

KINDS: dict[str, Kind] = {
    # Bytes that are not of the encoding.
    "latin-1": lines(b"x caf\xe9 noir", "invalid UTF-8: byte 0xe9 at offset 5 of the record"),
    "latin-1 in an id": lines(b"\xe9 noir", "invalid UTF-8: byte 0xe9 at offset 0"),
    "overlong UTF-8": lines(b"x \xc0\xaf", "invalid UTF-8: byte 0xc0 at offset 2"),
    "beyond Unicode": lines(b"x \xf4\x90\x80\x80", "invalid UTF-8: byte 0xf4 at offset 2"),
    "a surrogate as UTF-8": lines(b"x \xed\xa0\x80", "invalid UTF-8: byte 0xed at offset 2"),
    "half a character at the end": ends(
        "a.txt", LINES + b"5 \xe2\x82", "a.txt, line 5: invalid UTF-8: byte 0xe2 at offset 2"
    ),
    "a NUL": lines(b"x a\0b", "holds a NUL byte"),
    "UTF-16 without a mark": whole("a.txt", LINES.decode().encode("utf-16-le"), "utf-16-le"),
    "UTF-32 without a mark": whole("a.txt", LINES.decode().encode("utf-32-le"), "utf-32-le"),
    "half a character of UTF-16": ends(
        "a.txt", LINES.decode().encode("utf-16") + b"5", "half a UTF-16 character"
    ),
    "a lone surrogate in UTF-16": Kind(
        "a.txt",
        codecs.BOM_UTF16_LE
        + (LINES.decode() + "5 \ud800 x\n").encode("utf-16-le", "surrogatepass"),
        1,
        "a.txt, line 5: invalid UTF-8",
    ),
    # Marks and line ends that are no fault.
    "a mark of UTF-8": Kind("a.txt", codecs.BOM_UTF8 + LINES, 0, "4 written"),
    "a mark of UTF-16": Kind("a.csv", TABLE.decode().encode("utf-16"), 0, "4 written"),
    "Windows line ends": Kind("a.csv", TABLE.replace(b"\n", b"\r\n"), 0, "4 written"),
    "no line end at the end": Kind("a.csv", TABLE.rstrip(), 0, "4 written"),
    "a mark of UTF-32": Kind("a.txt", LINES.decode().encode("utf-32"), 0, "4 written"),
    # Lines and rows.
    "an id of 513 bytes": lines(b"1" * 513 + b" a", "the id has 513 bytes, more than 512"),
    "an over-long line": lines(b"x " + b"a " * 6_000_000, "too_large: more than 10,485,760 bytes"),
    "a row with too few fields": csv(b"x", "1 field, but the header has 2"),
    "a row with too many fields": csv(b"x,a,b", "3 fields, but the header has 2"),
    "a stray quote": csv(b'x,"a"b', "malformed quoting"),
    "a quote that is never closed": csv(b'x,"a', "malformed quoting"),
    "a quote that is never closed, at the end": ends("a.csv", TABLE + b'5,"a', "malformed quot"),
    "invalid UTF-8 in quotes": csv(b'x,"a\n\xe9"', "invalid UTF-8: byte 0xe9 at offset 5"),
    "no id in a row": csv(b",a", "the id is empty"),
    "an over-long row": csv(b"x," + b"a " * 6_000_000, "too_large"),
    "40 MB in quotes": whole(
        "a.csv", b'id,text\n1,a\nx,"' + b"a a a a\n" * 5_000_000, "a quote that is never closed"
    ),
    "a header without the text": whole("a.csv", b"id,title\n1,a\n", "'text' is missing"),
    "a header with the text twice": whole("a.csv", b"id,text,text\n1,a,b\n", "appears twice"),
    "a header that is not UTF-8": whole("a.csv", b"id,text,\xe9\n1,a,b\n", "cannot be read"),
    "blank lines only": whole("a.csv", b"\n\n\n", "there are no columns"),
    # Objects.
    "malformed JSON": jsonl(b'{"id":"x","text":"a"', "malformed JSON"),
    "JSON that is cut": ends("a.jsonl", jsonl(b"", "").content + b'{"id":"x","te', "malformed"),
    "deep lists": jsonl(b'{"id":"x","t":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "malformed"),
    "deep objects": jsonl(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "malformed JSON"),
    "NaN": jsonl(b'{"id":"x","text":NaN}', "no text: 'text' is missing or null"),
    "Infinity": jsonl(b'{"id":-Infinity,"text":"a"}', "no id: 'id' is missing or null"),
    "a key twice": jsonl(b'{"id":"x","text":"a","id":"y"}', "the key 'id' appears twice"),
    "a number of 5,000 digits": jsonl(b'{"id":%s,"text":"a"}' % (b"9" * 5_000), "malformed JSON"),
    "an escaped lone surrogate": jsonl(b'{"id":"\\ud800","text":"a"}', "malformed JSON"),
    "a line that is a list": jsonl(b'["x","a"]', "not a JSON object"),
    "a line that is a text": jsonl(b'"x a"', "not a JSON object"),
    "no id": jsonl(b'{"text":"a"}', "no id: 'id' is missing or null"),
    "an empty id": jsonl(b'{"id":"","text":"a"}', "the id is empty"),
    "an id that is a fraction": jsonl(b'{"id":1.5,"text":"a"}', "is the number 1.5, not text"),
    "an id that is true": jsonl(b'{"id":true,"text":"a"}', "is true or false, not text"),
    "an id that is an object": jsonl(b'{"id":{},"text":"a"}', "is an object, not text"),
    "no text": jsonl(b'{"id":"x"}', "no text: 'text' is missing or null"),
    "a text that is a number": jsonl(b'{"id":"x","text":5}', "is the number 5, not text"),
    "an over-long object": jsonl(b'{"id":"x","text":"%s"}' % (b"a " * 6_000_000), "too_large"),
    "control characters in JSON": jsonl(b'{"id":"x","text":"a\x01"}', "malformed JSON"),
    "one object over several lines": whole("a.json", b'{\n"id":1,\n"text":"a"}\n', "several lines"),
    "an array that is cut": ends(
        "a.json", b'[{"id":1,"text":"a"},{"id":2,"text":"b"},{"id":3,"te', "the array is not", 2
    ),
    "an array with bad elements": Kind(
        "a.json", b'[{"id":1,"text":"a"},{"id":2,"text":"b"},5,{"id":3,"text":"c"}]', 1, "not a", 3
    ),
    "something after an array": ends(
        "a.json", b'[{"id":1,"text":"a"},{"id":2,"text":"b"}]\nx', "the text after the array", 2
    ),
    # Compression.
    "a truncated gzip": cut_off("a.txt.gz", cut(gzip.compress(RANDOM))),
    "a gzip without its end": ends("a.txt.gz", gzip.compress(LINES)[:-4], "truncated gzip"),
    "a gzip with a wrong sum": ends("a.txt.gz", gzip.compress(LINES)[:-8] + bytes(8), "damaged"),
    "a gzip followed by junk": ends("a.txt.gz", gzip.compress(LINES) + b"junk", "damaged"),
    "a truncated zstd": cut_off("a.txt.zst", cut(zstandard.compress(RANDOM))),
    "no gzip": whole("a.txt.gz", LINES, "is not gzip despite its suffix"),
    "no zstd": whole("a.txt.zst", LINES, "is not zstd despite its suffix"),
    "an empty gzip": whole("a.txt.gz", gzip.compress(b""), "is empty"),
    "a gzip in a gzip": whole(
        "a.txt.gz", gzip.compress(gzip.compress(LINES)), "compressed with gzip, not text"
    ),
    "a bomb in one line": Kind(
        "a.txt.gz", gzip.compress(LINES + bytes(30_000_000) + b"\n"), 1, "too_large"
    ),
    "a bomb": whole(
        "a.txt.gz",
        gzip.compress(LINES) + gzip.compress(bytes(2**24)) * 17,
        "expands to more than 1,000 times",
    ),
    # Other formats than the name says.
    "nothing": whole("a.txt", b"", "is empty"),
    "a PNG as CSV": whole("a.csv", b"\x89PNG\r\n\x1a\n" + bytes(99), "is a PNG image, not text"),
    "an Excel file as CSV": whole("a.csv", excel(), "is an Excel file (.xlsx), not text"),
    "a PDF as text": whole("a.txt", b"%PDF-1.7\n" + bytes(99), "is a PDF, not text"),
    "random bytes": whole("a.txt", RANDOM[:1] + b"\xff\0\n" * 99, "is not text"),
    "CSV as JSON": Kind("a.jsonl", TABLE, 0, "looks like CSV", 4),
    "lines as JSON": whole("a.jsonl", LINES, "records cannot be used"),
    "an unknown suffix": whole("a.docx", LINES, "its format is not clear from its suffix"),
    # Parquet and Excel.
    "no Parquet": whole("a.parquet", TABLE, "is not a complete Parquet file"),
    "a truncated Parquet": whole("a.parquet", cut(PARQUET), "is not a complete Parquet file"),
    "a Parquet without its middle": Kind(
        "a.parquet", PARQUET[:4] + bytes(60) + PARQUET[64:], None, "damaged from here on"
    ),
    "a Parquet without the text": whole(
        "a.parquet", parquet([1], [""], id="key"), "the column 'id' is missing"
    ),
    "a null in a Parquet": Kind(
        "a.parquet", parquet(["1", "2", None], ["a", "b", "c"]), 1, "no id: 'id' is missing", 2
    ),
    "CSV as Excel": Kind("a.xlsx", TABLE, 0, "looks like CSV", 4),
    "no Excel": whole("a.xlsx", LINES, "is not a complete Excel file"),
    "a truncated Excel": whole("a.xlsx", cut(excel()), "is not a complete Excel file"),
    "an Excel without its sheet": whole("a.xlsx", EMPTY_BOOK, "has no sheet with cells"),
    "an entity bomb": whole(
        "a.xlsx", excel(workbook='<!DOCTYPE x [<!ENTITY a "b">]>'), "is not a complete Excel file"
    ),
    "a ZIP bomb": whole("a.xlsx", excel(sheet1=" " * 2**25), "possibly a ZIP bomb"),
    "a row far below": Kind(
        "a.xlsx", excel(sheet1='<row r="9999999999"/>'), 1, "a row number above 1,048"
    ),
    "a damaged row": Kind("a.xlsx", excel(sheet1='<row r="x"/>'), 1, "damaged from here on"),
}


@pytest.fixture
def watched() -> Iterator[None]:
    """What hangs is interrupted, and its test fails."""
    if not hasattr(signal, "alarm"):
        yield
        return
    signal.alarm(MOST_SECONDS)
    yield
    signal.alarm(0)


def test_there_are_enough_kinds(row: RecordRow) -> None:
    """The table asks for 25 kinds at least."""
    row("R11", f"{len(KINDS)} kinds of bad files")
    assert len(KINDS) >= 25


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_bad_file_is_counted(tmp_path: Path, kind: Kind) -> None:
    """Records that fail are counted and told with their place; good ones are signed; no traceback.

    A file that is refused as a whole is one line, and nothing is written.
    """
    path, output = tmp_path / kind.name, tmp_path / "out.parquet"
    path.write_bytes(kind.content)
    words = ["signatures", str(path), "-o", str(output)]
    ran = neardup(*words)
    code, said = ran.returncode, ran.stdout + ran.stderr
    assert kind.words in said
    assert "Traceback" not in said
    if kind.failed is None:
        assert code == 3
        *notices, error = said.splitlines()
        assert error.startswith("neardup: ")
        assert len(notices) == ("MAX_GROWTH" in error)  # of which the first line was read
        assert str(path) in said
        assert not output.exists()
        return
    read = kind.good + kind.failed
    summary = (
        f"Read {read:,} record{'s' * (read != 1)} = {kind.good:,} written + {kind.failed:,} failed"
    )
    assert summary in said
    assert code == (1 if kind.failed else 0)
    assert pq.read_metadata(output).num_rows == kind.good


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told by /proc")
def test_all_bad_files_together_stay_within_the_memory(tmp_path: Path, row: RecordRow) -> None:
    """One process reads them all; its peak is at most 300 MiB over that for a good file."""
    script = """
import sys
from tests.command import neardup
for path in sys.argv[1:]:
    neardup("signatures", path, "-o", path + ".out.parquet")
    status = open("/proc/self/status").read()
    print("peak", status.partition("VmHWM:")[2].split()[0])
"""
    (tmp_path / "good.csv").write_bytes(TABLE)
    paths = [tmp_path / "good.csv"]
    for number, kind in enumerate(KINDS.values()):
        (tmp_path / str(number)).mkdir()
        paths.append(tmp_path / str(number) / kind.name)
        paths[-1].write_bytes(kind.content)
    command = [sys.executable, "-c", script, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    peaks = [int(peak) // 1024 for peak in re.findall(r"^peak (\d+)$", done.stdout, re.MULTILINE)]
    assert len(peaks) == len(KINDS) + 1, done.stderr
    row("R11", f"{peaks[-1] - peaks[0]} MiB over base for all of them")
    assert peaks[-1] - peaks[0] <= MOST_MEBIBYTES
