"""What is compared: ids, signatures and texts of one source, or of two sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.by_band import ONE_GROUP
from neardup_solr.errors import SettingsError
from neardup_solr.measures.arrays import Flat
from neardup_solr.measures.sets import hashed_sets
from neardup_solr.minhash import sign
from neardup_solr.records import AnyId
from neardup_solr.settings import Settings
from neardup_solr.solr import is_collection
from neardup_solr.spill import Rows, Spill
from neardup_solr.text.packed import size_of
from neardup_solr.threads import ahead, thread_pool
from neardup_solr.verbs.duplicates.sides import Compared, Ids, Intake, Side, threads
from neardup_solr.verbs.duplicates.signing import of_source

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection

AT_ONCE = 20_000  # texts that are read at once
PAGE = 500  # documents that are requested at once
FIRST, MOST = 100, 10_000  # or while others are worked on: the first ones, and at most
CHARACTERS = 1 << 24  # that those have, about


def count_fitting(done: int, characters: int) -> int:
    """Count the texts to read at once, if those that are `done` have so many characters."""
    return max(1, min(MOST, CHARACTERS * done // max(characters, 1))) if done else FIRST


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """All that is compared, by row: the rows of the second side come after those of the first.

    Only documents of the same of `groups` are compared; it is empty if all are.
    `sets` are the shingles of each document, if they were kept while it was signed.
    """

    settings: Settings
    signatures: NDArray[np.uint32]
    sides: tuple[Side, ...]
    groups: NDArray[np.uint32] = field(default_factory=lambda: ONE_GROUP)
    sets: Flat | None = None
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

    @property
    def has_whole_ids(self) -> tuple[bool, bool]:
        """Whether all ids of the first side, and of the other, are whole numbers."""
        first, *_, last = [isinstance(s.ids, Ids) and s.ids.are_whole for s in self.sides] * 2
        return first, last

    def ids(self, rows: Sequence[int]) -> list[AnyId]:
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

    def read_sets(self, spill: Spill, tell: Callable[[int], None]) -> Flat:
        """The shingles of all documents, whose texts are read; `tell` gets how many are done."""
        sets = spill.lists()
        characters = 0

        def parts() -> Iterator[range]:
            at = 0
            while at < len(self):
                last = min(at + count_fitting(len(sets), characters), len(self))
                yield range(at, last)
                at = last

        with thread_pool(1) as reader:
            for texts in ahead(reader, self.texts, parts()):
                forms = sign.normal_forms([text or "" for text in texts], threads=threads())
                sets.extend(hashed_sets(forms, self.settings))
                characters += size_of(forms)
                tell(len(sets))
        return sets.flat()

    def values(self, rows: Sequence[int], fields: Sequence[str]) -> dict[str, list[Any]]:
        """The values of fields of rows, in ascending order; None if there is no value."""
        found: dict[str, list[Any]] = {name: [] for name in fields}
        if not found:
            return found
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
    stored = [_settings_of(each) for each in given if is_collection(each)]
    if len(stored) == 2 and stored[0] != stored[1]:
        shown = " and ".join(f"[{each.fingerprint}]" for each in stored)
        reason = f"the two collections were indexed with different settings, {shown}"
        raise SettingsError(reason, "index one of them again with the settings of the other")
    settings = stored[0] if stored else intake.settings
    if intake.previous is not None:
        intake.previous.open(settings, " ".join(_known_by(each, intake) for each in given))
    rows = intake.spill.rows(settings.hashes, np.uint32)
    sets = intake.spill.lists() if intake.has_sets and not stored else None
    sides = tuple(
        _of_collection(each, rows, settings, intake)
        if is_collection(each)
        else of_source(each, rows, settings, intake, sets)
        for each in given
    )
    signatures = rows.table()
    if intake.remembering is not None:
        intake.remembering.settle(signatures)
    groups = ONE_GROUP if intake.groups is None else intake.groups.table()
    return Gathered(
        settings=settings,
        signatures=signatures,
        sides=sides,
        groups=groups,
        sets=None if sets is None else sets.flat(),
    )


def _of_collection(collection: Collection, rows: Rows, settings: Settings, intake: Intake) -> Side:
    from neardup_solr.verbs.duplicates.exported import of_collection

    return of_collection(collection, rows, settings, intake)


def _known_by(given: Compared, intake: Intake) -> str:
    """What is compared of a collection or of a source: anything else is another work."""
    if is_collection(given):
        filters = f" {intake.fq!r}" if intake.fq else ""
        return f"{given.name} {given.names.noted()}{filters}"
    return f"a source, on repeat {intake.on_repeat}"


def _settings_of(collection: Collection) -> Settings:
    collection.commit()
    settings = collection.needed_settings()
    settings.require("signature", "content")
    return settings
