"""A side of `duplicates`: the documents of a source or of a collection that have words, by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from neardup_solr.memory import Column, Lists, Rows, Spill
from neardup_solr.progress import Failures
from neardup_solr.verbs.duplicates.same_fields import Groups

if TYPE_CHECKING:
    from neardup_solr.solr.collection import CollectionState

READING = "reading"  # the stage of progress


class CorpusSide(Protocol):
    """The documents of one side that have words: ids and texts by row, and what was left out."""

    @property
    def ids(self) -> Column[Any]:
        """The ids by row."""

    @property
    def are_whole(self) -> bool:
        """True if all ids are given back as whole numbers."""

    @property
    def documents(self) -> int:
        """The number of documents that were read, those without words included."""

    @property
    def failures(self) -> Failures:
        """The records that could not be used."""

    @property
    def repeated(self) -> int:
        """The number of records with an id that came before."""

    @property
    def dead(self) -> Sequence[int]:
        """The rows that do not count beside others of their id."""

    @property
    def state(self) -> CollectionState | None:
        """The state of a collection when it was read, None for a source."""

    @property
    def words(self) -> Rows | None:
        """The number of words in each row, if it is known."""

    @property
    def contents(self) -> Rows | None:
        """Hashes of the texts, or versions in a collection, if they are needed and there are such.

        What has the same content as in an earlier run need not be compared again.
        """

    @property
    def beside(self) -> Rows | None:
        """Hashes of the values that are left out of the comparison, by row and column."""

    @property
    def is_for_excel(self) -> bool:
        """True for a sheet of Excel, or a file with the mark by which that knows UTF-8."""

    @property
    def readable(self) -> float:
        """The number of rows that have texts: the first ones."""

    def texts(self, rows: Sequence[int]) -> Sequence[str | None]:
        """The texts of rows, or None if a document is no longer there."""

    def values(self, rows: Sequence[int], fields: Sequence[str]) -> Mapping[str, list[Any]]:
        """The values of fields of rows."""

    def find_gaps(self, fq: Sequence[str]) -> Iterator[str]:
        """Say which documents of this side may be missing from the result, and what to do."""

    def name_remedy(self) -> str:
        """Say what to do about texts that have changed since they were signed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowColumns:
    """Columns that all sides add to while they are read, by row of the corpus.

    `sets` are the shingles of each document, None if they are not wanted; `groups` the numbers of
    those that have equal values, None if all are compared.
    """

    spill: Spill
    signatures: Rows
    sets: Lists | None
    groups: Groups | None
