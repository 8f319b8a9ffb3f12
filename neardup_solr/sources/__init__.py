"""Sources: documents from files, streams and what is in memory, each by itself, in bounded memory.

| format | what | suffixes |
|---|---|---|
| lines | `id text`, the id up to the first white space | .txt |
| csv, tsv | a header, then rows; quoted fields may hold newlines | .csv, .tsv |
| jsonl, json | a JSON object a line, or an array of objects | .jsonl, .ndjson, .json |
| parquet | columns | .parquet |
| xlsx | the first sheet: a header, then rows | .xlsx, .xlsm |
| xls | the first sheet of an old Excel file | .xls |
| html, eml | the text of a page or an e-mail, with its title or headers as columns | .html, .eml |
| mbox, ris, bibtex | messages or references, many in a file | .mbox, .ris, .bib |
| folder | a text in each file, the id is its path within the folder | a folder |

Several files, or a folder of nothing but files of the same format with columns, are the parts of
a table. Formats made of text may be compressed (.gz, .bz2, .xz, .zst). Text is UTF-8, or UTF-16 or
UTF-32 with a byte order mark, if no other encoding is named. In memory it may be DataFrames, tables
of Arrow, mappings of columns, and iterables of dicts, pairs or Documents. A bad record is a
RecordError that says where it stands; the rest is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from neardup_solr.argument_types import OneOrMore
from neardup_solr.files import paths_of as paths_of
from neardup_solr.progress import OnError
from neardup_solr.records import Document
from neardup_solr.sources.fingerprint import identity as identity
from neardup_solr.sources.pair_files import read_pairs as read_pairs
from neardup_solr.sources.part import one_by_one as one_by_one
from neardup_solr.sources.reader import SourceReader as SourceReader
from neardup_solr.sources.reader import open_part as open_part
from neardup_solr.sources.reader import open_source as open_source
from neardup_solr.sources.reading import Reading as Reading
from neardup_solr.sources.reading import reading_of as reading_of
from neardup_solr.sources.source import SourceLike as SourceLike
from neardup_solr.sources.source import is_collection as is_collection
from neardup_solr.sources.source import lacking as lacking
from neardup_solr.sources.source import make_progress as make_progress
from neardup_solr.sources.source import shown_name as shown_name
from neardup_solr.sources.source import size_hint as size_hint


def read_documents(
    source: SourceLike,
    *,
    id: str | None,
    text: OneOrMore,
    keep: OneOrMore,
    on_error: OnError | None,
) -> Iterator[Document]:
    """Read the documents of a source, one at a time."""
    source, reading = reading_of(source, "refuse", id=id, text=text, keep=keep)
    return open_source(source, reading).documents(on_error)
