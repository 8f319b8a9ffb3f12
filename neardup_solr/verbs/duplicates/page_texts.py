"""Texts that a page shows of a result, which are read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from neardup_solr.memory import Strings
from neardup_solr.records import AnyId
from neardup_solr.sizes import SIZES
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.from_source import SourceSide
from neardup_solr.verbs.duplicates.graph import Grouped, RowNumbers
from neardup_solr.verbs.duplicates.result_texts import read_rows

# The texts of each side, with its first row.
_Sides: TypeAlias = Sequence[tuple[int, Strings]]


class PageTexts(Mapping[AnyId, str]):
    """The texts that a page of a result lists, by key and id, read at the first look.

    Until then, and not longer than this object, the texts of all documents stay in their file.
    """

    def __init__(self, sides: _Sides, grouped: Grouped, rows: RowNumbers) -> None:
        self._sides, self._grouped, self._rows = sides, grouped, rows
        self._texts: Mapping[AnyId, str] | None = None

    def __getitem__(self, key: AnyId) -> str:
        return self._read()[key]

    def __iter__(self) -> Iterator[AnyId]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __reduce__(self) -> tuple[type, tuple[Mapping[AnyId, str]]]:
        return dict, (self._read(),)

    def _read(self) -> Mapping[AnyId, str]:
        if self._texts is None:
            from neardup_solr.reports.html import embed

            grouped = self._grouped
            keys = dict(zip(self._rows.tolist(), grouped.graph.keys, strict=True))
            row_of = {key: row for row, key in keys.items()}
            listed = embed.documents(embed.list_clusters(grouped.clusters, grouped.pairs))
            wanted = (row_of[key] for key in listed)
            self._texts = read_rows(self._read_rows, keys, wanted, SIZES.page_text)
            self._sides = ()
        return self._texts

    def _read_rows(self, rows: Sequence[int]) -> Sequence[str]:
        texts: list[str] = []
        for first, strings in self._sides:
            last = first + len(strings)
            texts += strings.pack([row - first for row in rows if first <= row < last])
        return texts


def keep_page_texts(corpus: Corpus, grouped: Grouped, rows: RowNumbers) -> Mapping[AnyId, str]:
    """Keep the texts that a page may show, by the rows of its documents, unless Solr has them."""
    if corpus.may_change:
        return {}
    sides = []
    for first, side in zip(corpus.bounds, corpus.sides, strict=False):
        assert isinstance(side, SourceSide)
        side.strings.keep()
        sides.append((first, side.strings))
    return PageTexts(sides, grouped, rows)
