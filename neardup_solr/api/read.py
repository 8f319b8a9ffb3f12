"""The function `nd.read`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Document
    from neardup_solr.types import OnError, SourceLike


@public
def read(
    source: SourceLike, *, id: str | None = None, text: OneOrMore = "text", keep: OneOrMore = (),
    on_error: OnError | None = None,
) -> Iterator[Document]:  # fmt: skip
    """Read the documents of a source, one at a time, in bounded memory.

    Example: `[document.id for document in nd.read("listings.csv", keep="city")]`

    Several text columns are joined by line breaks.

    Raises SourceError if the source cannot be read; without `on_error`, RecordError for the first
    unusable record.
    """
    from neardup_solr.sources import read_documents

    return read_documents(source, id=id, text=text, keep=keep, on_error=on_error)
