"""Sources read by `nd.read`, with options of any kind side by side, and what is said about them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import neardup_solr as nd

COLUMNS = ("id", "text", "keep")
Options = Mapping[str, Any]  # of columns, and of `nd.Source`


class Told(NamedTuple):
    """The documents of a source, the errors of other records, and lines about it as a whole."""

    documents: list[nd.Document]
    errors: list[nd.RecordError]
    notices: list[str]


def read(
    source: Any, on_error: Callable[[nd.RecordError], None] | None = None, **options: Any
) -> Iterator[nd.Document]:
    """Read the documents of a source, with their ids in the column id if no other is named."""
    columns = {name: options.pop(name) for name in COLUMNS if name in options}
    return nd.read(nd.Source(source, **options), **{"id": "id"} | columns, on_error=on_error)


def read_all(source: Any, **options: Any) -> Told:
    """Read all documents, errors and notices of a source."""
    told = Told([], [], [])
    with noticed(told.notices):
        told.documents.extend(read(source, told.errors.append, **options))
    return told


def told(path: Path | str, **options: Any) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """Ids and texts of the documents, reasons of the errors, and notices."""
    documents, errors, notices = read_all(path, **options)
    pairs = [(document.id, document.text) for document in documents]
    return pairs, [error.reason for error in errors], notices


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, and return its path."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@contextmanager
def noticed(lines: list[str]) -> Iterator[None]:
    """Collect the lines that are logged meanwhile."""

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    handler, logger = Collector(), logging.getLogger("neardup_solr")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
