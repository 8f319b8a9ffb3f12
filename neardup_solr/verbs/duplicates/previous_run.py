"""An earlier run, stored in a file, so that this one compares only what came or changed since.

A comparison says something about two documents, each with its text (of a source) or its version (in
Solr), so it still holds if both are still there. All else is done anew, as in a full run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup_solr.errors import SourceError
from neardup_solr.files import read_arrays, write_arrays
from neardup_solr.kernel import joins
from neardup_solr.measures import Pairs, number_pairs, pairs_of
from neardup_solr.settings import Settings

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.duplicates import Options

FIRST_LINE = b"neardup duplicates: what the next run need not compare\n"
ASKED = ("by", "measure", "max_distance", "min_similarity", "fq", "same", "cap", "linkage",
         "canonical", "limit", "equal")  # fmt: skip

Hashes: TypeAlias = NDArray[np.uint64]
UNKNOWN = np.uint64(0)  # the key of a document that is not remembered
NOTHING: Hashes = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Counts of what has changed since the earlier run, and of what was used again.

    `came`, `changed` and `gone` count documents, `reused` candidates that were not compared again.
    `reason` says why everything was compared, if it was.
    """

    came: int = 0
    changed: int = 0
    gone: int = 0
    reused: int = 0
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class PreviousRun:
    """An earlier run that is stored in the file `remember` of the options, and what this run adds.

    `reason` says why it is of no use, if so; `is_kept` tells whether this run can be stored.

    Raises SourceError if there is another file at that place.
    """

    options: Options
    reason: str = ""
    is_kept: bool = True
    _work: str = ""
    _before: dict[str, NDArray[Any]] = field(default_factory=dict)
    _parts: list[tuple[Hashes, Hashes]] = field(default_factory=list)
    _renamed: tuple[NDArray[np.intp], Hashes] = (np.empty(0, dtype=np.intp), NOTHING)
    _arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    _changes: Changes = field(default_factory=Changes)

    def open(self, settings: Settings, compared: str) -> None:
        """Read the earlier run, if it was of these settings and of what is `compared` now."""
        from neardup_solr import __version__

        name, limits = self.options.compared_by.name, self.options.limits
        self._work = f"{__version__} {settings.fingerprint} {name} {limits} {compared}"
        self.require_rememberable()
        if not self.is_kept:
            return
        found = read_arrays(self.options.files["remember"], FIRST_LINE)
        if isinstance(found, str):
            self.reason = found
        elif found[0]["work"] != self._work:
            self.reason = (
                "the last run was of another collection or version, or had other settings, limits,"
                " fields or filters"
            )
        elif not len(found[1]["ids"]):
            self.reason = "the last run had no documents"
        else:
            self._before = found[1]

    def require_rememberable(self) -> None:
        """Give up if the measure, which may just have been chosen, needs all documents anew."""
        measure = self.options.compared_by
        if measure.needs_frequencies:
            self.give_up(
                f"{measure.name} weighs words by all documents, so nothing can be remembered"
            )

    def give_up(self, reason: str) -> None:
        """Compare everything, say why, and do not store this run."""
        self._before, self.reason, self.is_kept = {}, reason, False

    def add(self, ids: Hashes, contents: Hashes) -> None:
        """Add the next documents of this run: hashes of their ids, and of texts or versions."""
        self._parts.append((ids, contents))

    def rename(self, rows: NDArray[np.intp], ids: Hashes) -> None:
        """Give rows whose ids are shared the hashes of their names."""
        self._renamed = rows, ids

    def settle(self, dead: list[int]) -> None:
        """Find out what of the earlier run still holds, once all documents are there."""
        empty = (NOTHING, NOTHING)
        ids, contents = map(np.concatenate, zip(empty, *self._parts, strict=True))
        self._parts.clear()
        rows, names = self._renamed
        ids[rows] = names
        keys = np.empty(len(ids), dtype=np.uint64)
        joins.hash_whole(np.stack([ids, contents], axis=1).view(np.uint32), 4, keys)
        ids[dead] = keys[dead] = UNKNOWN
        self._arrays = {"ids": ids, "keys": keys}
        if not (before := self._before):
            return
        order = np.argsort(keys, kind="stable")
        then = np.argsort(before["keys"], kind="stable")
        at = _places(before["keys"][then], keys[order])
        places = np.full(len(then), -1)
        is_kept = (at >= 0) & (before["keys"][then] != UNKNOWN)
        places[then[is_kept]] = order[at[is_kept]]
        near, kept = _renumber(before["near"], places)
        before["near"], before["far"] = near, _renumber(before["far"], places)[0]
        for name in ("distances", "similarities"):
            before[name] = before[name][kept]
        own, old = ids[ids != UNKNOWN], before["ids"][before["ids"] != UNKNOWN]
        is_same = np.isin(keys, before["keys"])[ids != UNKNOWN]
        is_there = np.isin(own, old)
        self._changes = Changes(
            came=int(np.count_nonzero(~is_there)),
            changed=int(np.count_nonzero(is_there & ~is_same)),
            gone=int(np.count_nonzero(~np.isin(old, own))),
        )

    def split(
        self, pairs: Pairs
    ) -> tuple[tuple[Pairs, NDArray[np.int64], NDArray[np.float64]], Pairs]:
        """Look pairs up: the near ones with their results, and those that are to be compared."""
        numbers = np.sort(number_pairs(pairs), kind="stable")  # quick as long stretches ascend
        self._arrays["far"] = numbers
        if not (before := self._before):
            nothing = np.empty(0, dtype=np.int64)
            return (pairs[:0], nothing, nothing.astype(np.float64)), pairs_of(numbers)
        places = _places(numbers, before["near"])
        is_near = places >= 0
        is_known = is_near | (_places(numbers, before["far"]) >= 0)
        at = places[is_near]
        self._changes = replace(self._changes, reused=int(np.count_nonzero(is_known)))
        near = pairs_of(numbers[is_near]), before["distances"][at], before["similarities"][at]
        return near, pairs_of(numbers[~is_known])

    def take(
        self, pairs: Pairs, distances: NDArray[np.int64], similarities: NDArray[np.float64]
    ) -> None:
        """Take the results of all near ones of the pairs that were split."""
        numbers = number_pairs(pairs)
        order, asked = np.argsort(numbers, kind="stable"), self._arrays["far"]
        near = numbers[order]
        self._arrays |= {"near": near, "far": asked[_places(asked, near) < 0]}
        self._arrays |= {"distances": distances[order], "similarities": similarities[order]}

    def forget(self, rows: Iterable[int]) -> None:
        """Drop these rows: the documents were deleted or changed during the run."""
        self._arrays["keys"][list(rows)] = UNKNOWN

    @property
    def changes(self) -> Changes:
        """The changes since the earlier run."""
        return Changes(reason=self.reason) if self.reason else self._changes

    def write(self) -> None:
        """Store this run in place of the earlier.

        Raises SourceError if the file cannot be written.
        """
        asked = {name: getattr(self.options, name) for name in ASKED}
        if "answers" in self.options.files:
            asked["answers"] = str(self.options.files["answers"].absolute())
        about = {"work": self._work, "asked": asked}
        write_arrays(self.options.files["remember"], FIRST_LINE, about, self._arrays)


def _renumber(numbers: Hashes, places: NDArray[np.int64]) -> tuple[Hashes, NDArray[np.int64]]:
    """Pairs whose rows are now at `places`, in ascending order, and where each was before."""
    moved, kept = np.empty_like(numbers), np.empty(len(numbers), dtype=np.int64)
    count, do_ascend = joins.renumber_pairs(numbers, places, moved, kept)
    moved, kept = moved[:count], kept[:count]
    if do_ascend:
        return moved, kept
    order = np.argsort(moved, kind="stable")  # the rows of a source may come in another order
    return moved[order], kept[order]


def _places(numbers: Hashes, known: Hashes) -> NDArray[np.int64]:
    """Find where each of the numbers is among the known ones, -1 if it is not. Both ascend."""
    found = np.empty(len(numbers), dtype=np.int64)
    joins.lookup_sorted(numbers, known, found)
    return found


def read_asked(path: Path, collection: Collection) -> Mapping[str, Any]:
    """Read the arguments of `duplicates` by which the run of a file is run again.

    Raises SourceError if there is no such run of the collection.
    """
    found = read_arrays(path, FIRST_LINE)
    step = f"neardup duplicates {collection.place} --mark --remember"
    if isinstance(found, str):
        raise SourceError(str(path), found, f"run this once: {step} {path}")
    if collection.identity not in found[0]["work"]:
        reason = f"the last run was not of {collection.name!r}, or of other text fields"
        raise SourceError(str(path), reason, f"name another file, and run this once: {step} FILE")
    asked: Mapping[str, Any] = found[0]["asked"]
    return asked
