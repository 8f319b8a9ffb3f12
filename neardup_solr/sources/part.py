"""A part of a source: a file, standard input, or what is in memory, read by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from neardup_solr.errors import SourceError
from neardup_solr.progress import ignore
from neardup_solr.sources.reading import Reading

NEEDS_FORMATS: Final = 'install it with: pip install "neardup-solr[formats]"'


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePart:
    """A part of a source: what the user named, where it is, and who hears about it.

    It begins and ends with its file, with standard input or with what is in memory, and is read
    without any other part.
    """

    label: str  # as the user wrote it, for errors on the whole
    name: str  # short, for the positions of records
    path: Path | None  # None: standard input
    reading: Reading
    format: str | None = None  # None: standard input has to tell it
    on_progress: Callable[[int], None] | None = None
    on_notice: Callable[[str], None] = ignore
    begun: Iterator[bytes] | None = None  # its blocks, if the first ones were read already
    within: str = ""  # its path in the folder, or its name among several files

    def error(self, reason: str, next_step: str) -> SourceError:
        """Make the error for the part as a whole."""
        return SourceError(self.label, reason, next_step)

    def require(self, format: str, library: str) -> Any:
        """Import the library that a format needs, or raise SourceError."""
        try:
            return import_module(library)
        except ImportError as error:
            reason = f"{format} needs the library {library}"
            raise self.error(reason, NEEDS_FORMATS) from error
