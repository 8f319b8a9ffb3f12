"""Comparisons of an earlier run, so that the next one compares only what came or changed since.

A comparison says something about two documents, each with its text (of a source) or its version (in
Solr), so it still holds if both are still there. All else is done anew, as in a full run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates import DEFAULT
from neardup_solr.candidates.by_band import hash_signatures
from neardup_solr.distinct import mark_among
from neardup_solr.errors import SourceError
from neardup_solr.files import read_arrays, write_arrays
from neardup_solr.kernel import joins
from neardup_solr.measures.pairs import Pairs, number_pairs, pairs_of
from neardup_solr.minhash.sign import hash_texts
from neardup_solr.sources.source import is_collection
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.parts import AT_ONCE
from neardup_solr.verbs.duplicates.plan import RunPlan
from neardup_solr.verbs.duplicates.recall import FIRST_LINE

if TYPE_CHECKING:
    from neardup_solr.argument_types import Way
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.duplicates.comparison import Comparison, Measured

ASKED = ("by", "max_distance", "min_similarity", "fq", "same", "cap", "linkage", "canonical",
         "equal")  # fmt: skip
UNKNOWN = np.uint64(0)  # the key of a document that is not remembered
NOTHING: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)

Hashes: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Counts of changes since the earlier run, and of reused comparisons.

    `came`, `changed` and `gone` count documents, `reused` candidates that were not compared again.
    `reason` says why everything was compared, if it was. `drift` says how new records differ from
    those that taught the weights of the fields, or is "".
    """

    came: int = 0
    changed: int = 0
    gone: int = 0
    reused: int = 0
    reason: str = ""
    drift: str = ""

    @classmethod
    def between(cls, before: Mapping[str, Hashes], ids: Hashes, keys: Hashes) -> Changes:
        """Count what came, changed and went since the ids and keys `before`."""
        now, old = ids[ids != UNKNOWN], before["ids"][before["ids"] != UNKNOWN]
        is_same = mark_among(keys, before["keys"])[ids != UNKNOWN]
        is_known_id = mark_among(now, old)
        return cls(
            came=int(np.count_nonzero(~is_known_id)),
            changed=int(np.count_nonzero(is_known_id & ~is_same)),
            gone=int(np.count_nonzero(~mark_among(old, now))),
        )


class EarlierRun:
    """The pairs that the file `remember` has of an earlier run, and those that this run adds.

    `changes` are those since the earlier run.

    Raises SourceError if there is another file at that place.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._is_kept, self.changes = path, True, Changes()
        self._stored = read_arrays(path, FIRST_LINE)
        self._before, self._arrays = dict[str, NDArray[Any]](), dict[str, NDArray[Any]]()
        self._work = ""

    @property
    def fresh(self) -> None:
        """None: all documents are paired, and then the pairs are looked up."""

    def match(self, comparison: Comparison, _: Way) -> Comparison:
        """Find the part of the earlier run that still holds for these documents."""
        from neardup_solr import __version__

        plan, corpus = comparison.plan, comparison.corpus
        measure, (side,) = corpus.measure, corpus.sides
        contents = side.contents
        if measure.needs_frequencies:
            reason = f"{measure.name} weights depend on all documents, so nothing can be remembered"
        elif contents is None:
            reason = "the field _version_ has no docValues, so nothing can be remembered"
        else:
            compared = _describe(plan)
            fingerprint = corpus.settings.fingerprint
            self._work = (
                f"{__version__} {fingerprint} {measure.name} {plan.limits_by(measure)} {compared}"
            )
            self._number_documents(corpus, contents.table()[:, 0])
            reason = self._look_at_stored()
            self.changes = replace(self.changes, reason=reason)
            return comparison
        self._is_kept, self.changes = False, Changes(reason=reason)
        return comparison

    def _number_documents(self, corpus: Corpus, contents: Hashes) -> None:
        """Make a key of each document, of its id and what is in it."""
        ids = hash_ids(corpus)
        keys = hash_signatures(np.stack([ids, contents], axis=1).view(np.uint32), DEFAULT, last=4)
        ids[corpus.dead] = keys[corpus.dead] = UNKNOWN
        # Shared: what is read later counts words there.
        self._arrays = {"ids": ids, "keys": keys, "words": corpus.words_read}

    def _look_at_stored(self) -> str:
        """Find where the documents of the earlier run are now, or return why it is of no use."""
        if isinstance(self._stored, str):
            return self._stored
        about, before = self._stored
        if about["work"] != self._work:
            return ("the collection, version, measure, text fields, settings, limits or"
                    " filters have changed")  # fmt: skip
        if not len(before["ids"]):
            return "the last run had no documents"
        ids, keys = self._arrays["ids"], self._arrays["keys"]
        places = find_now(before["keys"], keys)
        if len(words := before.get("words", NOTHING)):
            is_there = places >= 0
            self._arrays["words"][places[is_there]] = words[is_there]
        before["near"], kept = _renumber(before["near"], places)
        before["far"], _ = _renumber(before["far"], places)
        for name in ("distances", "similarities"):
            before[name] = before[name][kept]
        self._before = before
        self.changes = Changes.between(before, ids, keys)
        return ""

    def split(self, pairs: Pairs) -> tuple[Measured | None, Pairs]:
        """Look pairs up: the near ones with their results, and those that are to be compared."""
        if not self._is_kept:
            return None, pairs
        numbers = np.sort(number_pairs(pairs), kind="stable")  # quick as long stretches ascend
        self._arrays["far"] = numbers
        if not (before := self._before):
            nothing = np.empty(0, dtype=np.int64)
            return (pairs[:0], nothing, nothing.astype(np.float64)), pairs_of(numbers)
        places = find_places(numbers, before["near"])
        is_near = places >= 0
        is_stored = is_near | (find_places(numbers, before["far"]) >= 0)
        at = places[is_near]
        self.changes = replace(self.changes, reused=int(np.count_nonzero(is_stored)))
        near = pairs_of(numbers[is_near]), before["distances"][at], before["similarities"][at]
        return near, pairs_of(numbers[~is_stored])

    def take(
        self,
        pairs: Pairs,
        distances: NDArray[np.int64],
        similarities: NDArray[np.float64],
        forgotten: Iterable[int],
    ) -> None:
        """Take the results of all near ones of the pairs that were split.

        Documents in `forgotten` rows were deleted or changed during the run.
        """
        numbers = number_pairs(pairs)
        order, numbered = np.argsort(numbers, kind="stable"), self._arrays["far"]
        near = numbers[order]
        self._arrays |= {"near": near, "far": numbered[find_places(numbered, near) < 0]}
        self._arrays |= {"distances": distances[order], "similarities": similarities[order]}
        self._arrays["keys"][list(forgotten)] = UNKNOWN

    def complete(self, _: Comparison) -> Changes:
        """The changes: documents tell of no drift."""
        return self.changes

    def write(self, comparison: Comparison) -> None:
        """Store this run in place of the earlier, if it can be remembered.

        Raises SourceError if the file cannot be written.
        """
        plan = comparison.plan
        request = replace(plan.request, linkage=plan.linkage)
        arguments = {name: getattr(request, name) for name in ASKED}
        arguments["measure"] = comparison.corpus.measure.name
        if request.answers is not None:
            arguments["answers"] = str(Path(request.answers).absolute())
        if self._is_kept:
            about = {"work": self._work, "asked": arguments}
            write_arrays(self._path, FIRST_LINE, about, self._arrays)


def _describe(plan: RunPlan) -> str:
    """Describe what is compared of a collection or of a source: anything else is another work."""
    if is_collection(plan.source):
        return plan.source.identity + (f" {plan.fq!r}" if plan.fq else "")
    return f"a source, on repeat {plan.readings[0].on_repeat or 'keep'}"


def hash_ids(corpus: Corpus) -> Hashes:
    """Hash the ids of all documents, some at a time."""
    count = len(corpus)
    parts = (range(at, min(at + AT_ONCE, count)) for at in range(0, count, AT_ONCE))
    hashes = [hash_texts(list(map(str, corpus.ids(part)))) for part in parts]
    return np.concatenate([NOTHING, *hashes])


def find_now(before: Hashes, keys: Hashes) -> NDArray[np.int64]:
    """Find the row that each document of the earlier run has now, by their keys, or -1."""
    order, then = np.argsort(keys, kind="stable"), np.argsort(before, kind="stable")
    at = find_places(before[then], keys[order])
    places = np.full(len(then), -1)
    is_kept = (at >= 0) & (before[then] != UNKNOWN)
    places[then[is_kept]] = order[at[is_kept]]
    return places


def _renumber(numbers: Hashes, places: NDArray[np.int64]) -> tuple[Hashes, NDArray[np.int64]]:
    """Pairs whose rows are now at `places`, in ascending order, and where each was before."""
    moved, kept = np.empty_like(numbers), np.empty(len(numbers), dtype=np.int64)
    count, do_ascend = joins.renumber_pairs(numbers, places, moved, kept)
    moved, kept = moved[:count], kept[:count]
    if do_ascend:
        return moved, kept
    order = np.argsort(moved, kind="stable")  # the rows of a source may come in another order
    return moved[order], kept[order]


def find_places(numbers: Hashes, ordered: Hashes) -> NDArray[np.int64]:
    """Find where each of the numbers is among the known ones, -1 if it is not. Both ascend."""
    places = np.empty(len(numbers), dtype=np.int64)
    joins.lookup_sorted(numbers, ordered, places)
    return places


def read_asked(path: Path, collection: Collection) -> Mapping[str, Any]:
    """Read the arguments of `duplicates` by which the run of a file is run again.

    Raises SourceError if there is no such run of the collection.
    """
    stored = read_arrays(path, FIRST_LINE)
    step = f"neardup duplicates {collection.place} --mark --remember"
    if isinstance(stored, str):
        raise SourceError(str(path), stored, f"run this once: {step} {path}", code="not-remembered")
    about, _ = stored
    if "asked" not in about:
        reason = "the last run compared fields, not texts"
        raise SourceError(str(path), reason, "choose a new file", code="not-remembered")
    if collection.identity not in about["work"]:
        reason = f"the last run was not for {collection.name!r}, or had other text fields"
        raise SourceError(
            str(path),
            reason,
            f"choose a new file, and run this once: {step} FILE",
            code="not-remembered",
        )
    arguments: Mapping[str, Any] = about["asked"]
    return arguments
