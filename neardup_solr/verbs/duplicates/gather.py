"""What is compared: ids, signatures and texts of one source, or of two sides."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.minhash import sign, signature
from neardup_solr.progress import Progress
from neardup_solr.settings import Settings
from neardup_solr.solr import schema
from neardup_solr.solr.answers import LOG_AGAIN
from neardup_solr.solr.collection import Collection
from neardup_solr.spill import Rows
from neardup_solr.verbs.annotate import guard
from neardup_solr.verbs.duplicates.sides import READING, Compared, Intake, Side
from neardup_solr.verbs.duplicates.signing import of_source

AT_ONCE = 20_000  # texts that are read at once
PAGES = 4  # pages of texts that are requested at the same time
PAGE = 500  # documents in one of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """All that is compared, by row: the rows of the second side come after those of the first."""

    settings: Settings
    signatures: NDArray[np.uint32]
    sides: tuple[Side, ...]
    _forms: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.signatures)

    @property
    def may_change(self) -> bool:
        """Whether others may change the texts meanwhile, as those of a collection, or have."""
        return any(side.collection is not None or side.has_changed() for side in self.sides)

    @property
    def bounds(self) -> list[int]:
        """The first row of each side, and the number of all rows."""
        return list(accumulate((len(side.ids) for side in self.sides), initial=0))

    def side_of(self) -> NDArray[np.uint8]:
        """The side of each row: 0 or 1."""
        sizes = [len(side.ids) for side in self.sides]
        return np.repeat(np.arange(len(sizes), dtype=np.uint8), sizes)

    def ids(self, rows: Sequence[int]) -> list[str]:
        """The ids of rows."""
        end = self.bounds[1]  # of the first side
        own, others = self.sides[0].ids, self.sides[-1].ids
        return [own[row] if row < end else others[row - end] for row in rows]

    def texts(self, rows: Sequence[int]) -> Sequence[str | None]:
        """The texts of rows, in ascending order; None if a document is no longer there."""
        if len(self.sides) == 1:
            return self.sides[0].texts(rows)
        return [
            text
            for side, first, last in zip(self.sides, self.bounds[:-1], self.bounds[1:], strict=True)
            for text in side.texts([row - first for row in rows if first <= row < last])
        ]

    def fits(self, most: int) -> bool:
        """Whether all texts together have at most `most` characters; reads no more than needed."""
        total = 0
        for at in range(0, len(self), PAGE):
            texts = self.texts(range(at, min(at + PAGE, len(self))))
            total += sum(len(text or "") for text in texts)
            if total > most:
                return False
        return True

    def forms(self) -> list[str]:
        """The normal forms of all documents, read once; "" if one is no longer there."""
        for at in range(len(self._forms), len(self), AT_ONCE):
            texts = self.texts(range(at, min(at + AT_ONCE, len(self))))
            self._forms.extend(sign.normal_forms([text or "" for text in texts]))
        return self._forms

    def values(self, rows: Sequence[int], fields: Sequence[str]) -> dict[str, list[Any]]:
        """The values of fields of rows, in ascending order; None if there is no value."""
        found: dict[str, list[Any]] = {name: [] for name in fields}
        for side, first, last in zip(self.sides, self.bounds[:-1], self.bounds[1:], strict=True):
            own = side.values([row - first for row in rows if first <= row < last], fields)
            for name in fields:
                found[name].extend(own[name])
        return found


def gather(given: Sequence[Compared], intake: Intake) -> Gathered:
    """Read one source, or two sides; a side that is not a collection is signed.

    The stored settings of a collection apply to both sides.

    Raises SettingsError if two collections have different settings.
    """
    stored = [_settings_of(each) for each in given if isinstance(each, Collection)]
    if len(stored) == 2 and stored[0] != stored[1]:
        shown = " and ".join(f"[{each.fingerprint}]" for each in stored)
        reason = f"the two collections were indexed with different settings, {shown}"
        raise SettingsError(reason, "index one of them again with the settings of the other")
    settings = stored[0] if stored else intake.settings
    rows = intake.spill.rows(settings.hashes, np.uint32)
    sides = tuple(
        _of_solr(each, rows, settings, intake)
        if isinstance(each, Collection)
        else of_source(each, rows, settings, intake)
        for each in given
    )
    return Gathered(settings=settings, signatures=rows.table(), sides=sides)


def _settings_of(collection: Collection) -> Settings:
    collection.commit()
    settings = collection.needed_settings()
    settings.require("signature", "content")
    return settings


def _of_solr(collection: Collection, rows: Rows, settings: Settings, intake: Intake) -> Side:
    working = intake.working
    state = collection.state()
    side = Side(
        ids=intake.spill.strings(),
        texts=lambda wanted: _texts_of(collection, [side.ids[row] for row in wanted]),
        values=lambda wanted, fields: _values_of(
            collection, [side.ids[row] for row in wanted], fields
        ),
        collection=collection,
        state=state,
    )
    total = state.documents if working.limit is None else min(working.limit, state.documents)
    side.unsigned = guard.count_missing(collection, schema.described(collection))
    for block in collection.exported(["id", "signature"]):
        left = total - side.documents
        side.is_cut = side.is_cut or len(block) > left
        signed = [found for found in block[:left] if found.get("signature")]
        side.ids.extend([found["id"] for found in signed])
        rows.append(signature.decode_all([found["signature"] for found in signed], settings))
        side.documents += min(len(block), left)
        working.watching.on_progress(Progress(READING, side.documents, total))
    if side.documents != total and collection.state() == state:
        reason = f"the export has {side.documents:,} of its {total:,} documents"
        raise SolrAnswerError(collection.url, 200, reason, LOG_AGAIN)
    return side


def _texts_of(collection: Collection, ids: Sequence[str]) -> list[str | None]:
    pages = [ids[at : at + PAGE] for at in range(0, len(ids), PAGE)]
    with ThreadPoolExecutor(PAGES) as pool:
        found = {
            id: text for texts in pool.map(collection.texts, pages) for id, text in texts.items()
        }
    return [found.get(id) for id in ids]


def _values_of(
    collection: Collection, ids: Sequence[str], fields: Sequence[str]
) -> dict[str, list[Any]]:
    found = {document["id"]: document for document in collection.stored(ids, fields)}
    return {name: [found.get(id, {}).get(name) for id in ids] for name in fields}
