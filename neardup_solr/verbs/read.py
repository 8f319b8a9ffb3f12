"""read: the documents of a source, one at a time."""

from __future__ import annotations

from collections.abc import Iterator

from neardup_solr import sources
from neardup_solr.arguments import MAX_DOC_BYTES, OneOrMore, checked
from neardup_solr.progress import OnError
from neardup_solr.records import Document
from neardup_solr.sources import SourceLike, reading_of


@checked
def read(
    source: SourceLike,
    *,
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    source_format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    lossy: bool = False,
    max_doc_bytes: int | str = MAX_DOC_BYTES,
    on_error: OnError | None = None,
) -> Iterator[Document]:
    """Read the documents of a source, one at a time, in bounded memory.

    A source is a file, a folder, "-" for standard input, a list of files that are the parts of one
    table, a DataFrame or Arrow table, or an iterable of dicts, tuples or documents. `id` and `text`
    name its columns (several text columns are joined by line breaks), `keep` further ones to keep
    with each document. The id is in the column "id" if none is named; ":row" numbers the records.

    The format of a file is that of its suffix, or `source_format`. `delimiter` is the character
    between the columns of a CSV, `encoding` that of the text (default: UTF-8, or UTF-16 with a
    byte order mark); `lossy` replaces invalid characters instead of refusing the record. A record
    with more text than `max_doc_bytes` (a number, or "100M") is refused.
    `on_error` is told of each record that cannot be used, and reading continues; if it is None,
    the first such record raises its error.

    Raises SourceError if the source cannot be read as a whole: before the first document, unless
    the file becomes unreadable later.
    """
    reading = reading_of(locals(), "refuse")
    return iter(sources.documents(source, reading=reading, on_error=on_error))
