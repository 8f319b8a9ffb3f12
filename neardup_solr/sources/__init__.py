"""Sources: documents from files, folders and standard input, one at a time, in bounded memory.

| format | what | suffixes |
|---|---|---|
| lines | `id text`, the id up to the first white space | .txt |
| csv, tsv | a header, then rows; quoted fields may hold newlines | .csv, .tsv |
| jsonl | one JSON object a line | .jsonl, .ndjson |
| parquet | columns | .parquet |
| folder | one text a file, the id is its path within the folder | a folder |

Formats made of lines may be compressed (.gz, .zst). Text is UTF-8, or UTF-16 with a byte order
mark. A bad record is a RecordError that says where it stands; the rest is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias

from neardup_solr.errors import RecordError
from neardup_solr.records import Document
from neardup_solr.sources.formats import read_csv, read_jsonl, read_lines, read_tsv
from neardup_solr.sources.lines import DECOMPRESSORS
from neardup_solr.sources.record import Opened, Reading, Record, Unusable, check_keep
from neardup_solr.sources.whole_files import contents, read_folder, read_parquet, size, walk

__all__ = ["FORMATS", "Reading", "Source", "documents", "read", "read_text", "size_hint"]

READERS: Final[dict[str, Callable[[Opened, Reading], Iterator[Record]]]] = {
    "lines": read_lines,
    "csv": read_csv,
    "tsv": read_tsv,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "folder": read_folder,
}
FORMATS: Final = tuple(READERS)

SUFFIXES: Final = {
    ".txt": "lines",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}

# What is read before anything is given, to see whether the source is of that format at all.
FIRST_RECORDS: Final = 1_000
FIRST_CHARACTERS: Final = 2**24


# A file or folder ("-" is standard input), or documents.
Source: TypeAlias = str | Path | Iterable[Document]


def documents(
    source: Source,
    *,
    reading: Reading = Reading(),  # noqa: B008 - frozen
    on_error: Callable[[RecordError], None] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Iterable[Document]:
    """The documents of anything that is a source; see `read` for files."""
    if isinstance(source, str | Path):
        return read(source, reading=reading, on_error=on_error, on_progress=on_progress)
    return source


def read(
    source: str | Path,
    *,
    reading: Reading = Reading(),  # noqa: B008 - frozen
    on_error: Callable[[RecordError], None] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[Document]:
    """Read the documents of a source; "-" is standard input.

    `on_error` is called with each bad record, and reading goes on; without it the first one is
    raised. `on_progress` is called now and then with the bytes of the source that are behind us
    (compressed ones where it is compressed; see `size_hint` for the total), not for pipes.
    Raises SourceError where the source cannot be read as a whole: before the first document, but
    for a file that becomes unreadable later.
    """
    opened = _source(source, on_progress)
    format = _format(opened, reading)
    check_keep(opened, reading)
    if reading.keep and format in ("lines", "folder"):
        raise opened.error(f"the format {format} has no columns to keep", "leave `keep` out")
    return _delivered(_judged(opened, _to_the_end(READERS[format](opened, reading))), on_error)


def read_text(source: str | Path, *, reading: Reading = Reading()) -> str:  # noqa: B008
    """Read a file as one text; "-" is standard input.

    Raises SourceError where it cannot be read, is not UTF-8 or is too large.
    """
    opened = _source(source)
    try:
        return contents(opened, reading)
    except Unusable as problem:
        raise opened.error(str(problem), "give a text file in UTF-8") from problem
    except RecordError as error:
        raise opened.error(error.reason, "give a whole file") from error


def size_hint(source: str | Path) -> int | None:
    """The bytes of a file or of a folder's files; None for standard input and pipes."""
    path = Path(source)
    try:
        if path.is_dir():
            return sum(map(size, walk(path)))
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _source(source: str | Path, on_progress: Callable[[int], None] | None = None) -> Opened:
    is_stdin = str(source) == "-"
    return Opened(
        given=str(source),
        name="standard input" if is_stdin else Path(os.path.abspath(source)).name,
        path=None if is_stdin else Path(source),
        on_progress=on_progress,
    )


def _format(source: Opened, reading: Reading) -> str:
    """The format asked for, or by suffix; raises SourceError where that cannot be."""
    known = f"give `source_format` as one of: {', '.join(FORMATS)}"
    if reading.source_format not in (None, *FORMATS):
        raise source.error(f"there is no format {reading.source_format!r}", known)
    if source.path is None:
        return reading.source_format or "lines"
    is_folder = _is_folder(source, source.path)
    if is_folder != (reading.source_format == "folder") and (
        is_folder or reading.source_format == "folder"
    ):
        if reading.source_format is None:
            return "folder"
        what = "a folder, not a file" if is_folder else "a file, not a folder"
        raise source.error(f"is {what}", "leave `source_format` out, or name the other")
    if reading.source_format:
        return reading.source_format
    name = source.path.name.lower()
    for suffix in DECOMPRESSORS:
        name = name.removesuffix(suffix)
    found = SUFFIXES.get(Path(name).suffix)
    if found is None:
        raise source.error("its suffix does not tell its format", known)
    return found


def _is_folder(source: Opened, path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError as error:
        raise source.error("there is no such file or folder", "check the path") from error
    except (OSError, ValueError) as error:
        raise source.error(f"cannot be read ({error})", "check the path") from error


def _to_the_end(records: Iterator[Record]) -> Iterator[Record]:
    """The records; a source that ends too early ends with the error that says so."""
    try:
        yield from records
    except RecordError as error:
        yield error


def _judged(source: Opened, records: Iterator[Record]) -> Iterator[Record]:
    """The records, unless most of the first ones are bad: then it is not of that format."""
    first: list[Record] = []
    characters = 0
    for found in records:
        first.append(found)
        characters += len(found.text) if isinstance(found, Document) else 0
        if len(first) == FIRST_RECORDS or characters > FIRST_CHARACTERS:
            break
    bad = [found for found in first if isinstance(found, RecordError)]
    if 2 * len(bad) > len(first):
        raise source.error(
            f"{len(bad)} of the first {len(first)} records cannot be used, the first being "
            f"{bad[0]}",
            "check `source_format`, `id` and `text`",
        )
    yield from chain(first, records)


def _delivered(
    records: Iterator[Record], on_error: Callable[[RecordError], None] | None
) -> Iterator[Document]:
    for found in records:
        if isinstance(found, Document):
            yield found
        elif on_error is None:
            raise found
        else:
            on_error(found)
