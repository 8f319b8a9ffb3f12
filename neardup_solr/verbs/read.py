"""read: the documents of a source, one at a time."""

from __future__ import annotations

from collections.abc import Iterator

from neardup_solr import sources
from neardup_solr.arguments import OneOrMore, checked
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
    on_error: OnError | None = None,
) -> Iterator[Document]:
    """Read the documents of a source, one at a time, in bounded memory.

    A source is a file, a folder, "-" for standard input, a list of files that are the parts of one
    table, a DataFrame or Arrow table, or an iterable of dicts, tuples or documents; a `Source` says
    how it is written, such as its encoding. `id` and `text` name its columns (several text columns
    are joined by line breaks), `keep` further ones to keep with each document. The id is in the
    column "id" if none is named; ":row" numbers the records.

    `on_error` is told of each record that cannot be used, and reading continues; if it is None,
    the first such record raises its error.

    Raises SourceError if the source cannot be read as a whole: before the first document, unless
    the file becomes unreadable later.
    """
    source, reading = reading_of(source, "refuse", id=id, text=text, keep=keep)
    return iter(sources.documents(source, reading=reading, on_error=on_error))
