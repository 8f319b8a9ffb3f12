"""Columns of a collection that new documents of the same ids would lose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from neardup_solr.errors import SettingsError, counted
from neardup_solr.records import NOTHING
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import OWN
from neardup_solr.solr.query import having
from neardup_solr.verbs.delivery import Stretch

LOOKED_AT = 100  # documents whose columns stand for those of the collection


class ColumnsToKeep:
    """The columns of a collection's documents, which new documents of the same ids would lose.

    Those in `ours` may go.
    """

    def __init__(self, collection: Collection, ours: Iterable[str] = ()) -> None:
        self._collection, self._ours = collection, frozenset(ours)
        self._names: set[str] | None = None if collection.count() else set()

    def guard(self, batches: Iterable[Stretch]) -> Iterator[Stretch]:
        """Pass batches on while no document that they replace loses a column."""
        for batch in batches:
            self.require_kept([*batch.documents], batch.columns.list_kept())
            yield batch

    def require_kept(self, ids: Sequence[str], kept: Sequence[Mapping[str, Any]]) -> None:
        """Refuse documents that would replace others and lack their columns.

        `kept` has the columns of each, or is empty if they have none. Raises SettingsError, which
        names the columns.
        """
        if not ids or self._names == set():
            return
        if self._names is None:
            some = islice(self._collection.ids(), LOOKED_AT)
            self._names = _columns(self._collection, [*ids[:LOOKED_AT], *some])
        # What every new document brings, such as nd.Document(kept=...), is not lost.
        brought = set.intersection(*map(set, kept or [NOTHING]))
        lost = sorted(self._names - self._ours - brought)
        if lost and (count := self._collection.count([having(*lost)], ids=ids)):
            lost = [name for name in lost if self._collection.count([having(name)], ids=ids)]
            raise _loss(self._collection, count, lost)


def _columns(collection: Collection, ids: Sequence[str]) -> set[str]:
    """List the fields of documents other than ours and Solr's."""
    used = {name for document in collection.whole(ids) for name in document}
    names = collection.names
    first = {names.id, *names.text[:1], *map(names.of, OWN)}  # the text goes into that field
    return {name for name in used - first if not name.startswith("_")}


def _loss(collection: Collection, count: int, columns: Sequence[str]) -> SettingsError:
    documents = counted(count, "document")
    reason = f"{documents} in the collection would lose columns: {', '.join(columns)}"
    if not collection.names.is_plain:
        step = "another program writes its documents; to add the neardup fields, run"
        return SettingsError(
            reason, f"{step}: neardup annotate {collection.place}", code="data-at-risk"
        )
    kept = ",".join(columns)
    step = f"keep them with `keep` {kept}, or drop them in Python: keep=()"
    return SettingsError(reason, step, code="data-at-risk")
