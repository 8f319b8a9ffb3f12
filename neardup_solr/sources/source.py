"""The kinds of sources, and their names in messages.

A file or folder ("-" is standard input), a list of them, or what `frames` reads: a DataFrame of
pandas or polars, a table of Arrow, a mapping of columns, an iterable of dicts, of (id, text) or of
Documents.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from neardup_solr.arguments import Source
from neardup_solr.errors import RecordError, SourceError
from neardup_solr.files import Named, paths_of

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from neardup_solr.solr.collection import Collection as SolrCollection

    class _Table(Protocol):
        def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

    class _Lazy(Protocol):
        def collect_schema(self) -> object: ...

    SourceLike: TypeAlias = Source | str | os.PathLike[str] | Iterable[Any] | _Table | _Lazy
else:
    SourceLike = Any


def shown_name(paths: Sequence[Named]) -> str:
    """Name files and folders together: the first of them, and the number of others."""
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{os.fspath(paths[0])}{more}"


def label_of(source: Any) -> str:
    """Name a source in messages: by its files, or by its class."""
    paths = paths_of(source)
    return type(source).__name__ if paths is None else shown_name(paths)


def is_collection(source: object) -> TypeIs[SolrCollection]:
    """Tell a Collection from other sources. What talks with Solr is not loaded for it."""
    module = sys.modules.get("neardup_solr.solr.collection")
    return module is not None and isinstance(source, module.Collection)


def lacking(
    source: Any, id: str, refused: Mapping[str | None, RecordError], what: str = "record"
) -> RecordError | SourceError:
    """Make the error that a source has no record of an id, or that its record was refused."""
    paths = paths_of(source)
    name = "the documents" if paths is None else shown_name(paths)
    missing = SourceError(name, f"there is no {what} with the id {id!r}", "check the id")
    return refused.get(id, missing)
