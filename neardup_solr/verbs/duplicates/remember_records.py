"""Records of an earlier run that were compared by their fields, with the weights it has learnt.

A new record is compared with all, by the weights of then; what two old ones are stays as it was.
The weights are learnt anew once the records have grown by half.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.argument_types import Way
from neardup_solr.candidates import SPREAD
from neardup_solr.distinct import mark_among
from neardup_solr.errors import counted
from neardup_solr.files import read_arrays, write_arrays
from neardup_solr.measures.drift import Proportion, Traits, describe_drift, find_traits
from neardup_solr.measures.pairs import Pairs, number_pairs, pairs_of
from neardup_solr.measures.record_matcher import RecordMatcher
from neardup_solr.measures.weights import Weights
from neardup_solr.minhash.sign import hash_texts
from neardup_solr.records import NO_DISTANCE
from neardup_solr.verbs.duplicates.candidate_pairs import pairs_distinct
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.recall import FIRST_LINE
from neardup_solr.verbs.duplicates.remember import (
    NOTHING,
    UNKNOWN,
    Changes,
    Hashes,
    find_now,
    hash_ids,
)

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates.comparison import Comparison, Measured

GROWN = 1.5  # times the records that taught the weights, from which they are learnt anew
OF_WEIGHTS = ("shares", "rates", "are_matches")  # arrays
U64 = np.uint64


class EarlierRecords:
    """The pairs and weights that the file `remember` has of an earlier run, and those of this one.

    `changes` are those since the earlier run.

    Raises SourceError if there is another file at that place.
    """

    def __init__(self, path: Path) -> None:
        self._path, self.changes = path, Changes()
        self._stored = read_arrays(path, FIRST_LINE)
        self._is_kept, self._is_used = True, False
        self._work, self._taught, self._traits = "", 0, dict[str, Traits]()
        self._arrays = dict[str, NDArray[Any]]()
        self._is_old, self._near = np.empty(0, np.bool_), (NOTHING, np.empty(0))

    def match(self, comparison: Comparison, way: Way) -> Comparison:
        """Find what of the earlier run still holds, and compare by its weights."""
        from neardup_solr import __version__

        plan, corpus, copies = comparison.plan, comparison.corpus, comparison.copies
        matcher = comparison.matcher
        assert matcher is not None
        if plan.same or plan.model is not None:
            name = "same" if plan.same else "model"
            reason = f"runs with `{name}` are not remembered"
            self._is_kept, self.changes = False, Changes(reason=reason)
            return comparison
        request, limits = plan.request, plan.limits_by(corpus.measure)
        if not pairs_distinct(way, corpus):  # each is compared for itself
            copies = None
        asked = (way, request.cap, request.equal, plan.may_be_lists, copies is None)
        work = (__version__, corpus.settings.fingerprint, *plan.fields.items(), limits, asked)
        self._work = " ".join(map(str, work))
        ids, keys = _number_records(corpus, matcher)
        firsts = np.arange(len(corpus)) if copies is None else copies.firsts
        self._arrays = {"ids": ids, "keys": keys, "firsts": firsts}
        self._taught = len(corpus) - len(corpus.dead)
        reason = self._look_at_stored()
        self.changes = replace(self.changes, reason=reason)
        if reason or isinstance(self._stored, str):
            return comparison
        about, before = self._stored
        self._is_used, self._taught = True, about["taught"]
        self._traits = {
            name: Traits(*(Proportion(*each) for each in of))
            for name, of in about["traits"].items()
        }
        bounds = zip(before["states"].tolist(), before["bounds"].tolist(), strict=True)
        weights = Weights(
            names=tuple(plan.fields),
            kinds=tuple(plan.fields.values()),
            shares=before["shares"],
            rates=before["rates"],
            are_matches=before["are_matches"],
            bounds=dict(bounds),
            telling=tuple(about["telling"]),
            lookalikes=about["lookalikes"],
        )
        return replace(comparison, matcher=replace(matcher, weights=weights))

    def _look_at_stored(self) -> str:
        """Find where the records of the earlier run are now, or return why it is of no use."""
        if isinstance(self._stored, str):
            return self._stored
        about, before = self._stored
        if about["work"] != self._work or "taught" not in about:
            return "the fields, version, settings, limits or filters have changed"
        if self._taught > GROWN * about["taught"]:
            records = counted(about["taught"], "record")
            return f"the weights were learnt from {records}, and there are many more"
        ids, keys = self._arrays["ids"], self._arrays["keys"]
        places = find_now(before["keys"], keys)
        firsts, living = self._arrays["firsts"], np.flatnonzero(places >= 0)
        self._is_old = np.zeros(len(keys), np.bool_)
        self._is_old[firsts[places[living]]] = True
        # A record that is gone has left its pairs to a copy, if it had any.
        heirs = np.full(len(places), -1)
        heirs[before["firsts"][living]] = firsts[places[living]]
        pairs = np.sort(heirs[pairs_of(before["near"])], axis=1)
        is_left = (pairs[:, 0] >= 0) & (pairs[:, 0] != pairs[:, 1])
        numbers, first = np.unique(
            number_pairs(pairs[is_left].astype(np.uint32)), return_index=True
        )
        self._near = numbers, before["similarities"][is_left][first]
        self.changes = Changes.between(before, ids, keys)
        return ""

    @property
    def fresh(self) -> NDArray[np.bool_] | None:
        """True for each record that is new, or a copy of none, None if all are."""
        return ~self._is_old if self._is_used else None

    def split(self, pairs: Pairs) -> tuple[Measured | None, Pairs]:
        """Look pairs up: the near ones with their results, and those that are to be compared."""
        if not self._is_kept:
            return None, pairs
        numbers, similarities = self._near
        distances = np.full(len(numbers), NO_DISTANCE, dtype=np.int64)
        near = pairs_of(numbers), distances, similarities
        if not self._is_used:
            return near, pairs
        firsts = self._arrays["firsts"][pairs]
        is_known = (firsts[:, 0] != firsts[:, 1]) & self._is_old[firsts].all(axis=1)
        self.changes = replace(self.changes, reused=len(numbers))
        return near, pairs[~is_known]

    def take(
        self, pairs: Pairs, distances: NDArray[np.int64], similarities: NDArray[np.float64],
        forgotten: Iterable[int],
    ) -> None:  # fmt: skip
        """Take the results of all near ones of the pairs that were split.

        Records in `forgotten` rows were deleted or changed during the run.
        """
        self._arrays |= {"near": number_pairs(pairs), "similarities": similarities}
        self._arrays["keys"][list(forgotten)] = UNKNOWN

    def complete(self, comparison: Comparison) -> Changes:
        """Complete the changes by how new records differ, or by why nothing is remembered."""
        matcher = comparison.matcher
        assert matcher is not None
        if self._is_kept and (
            matcher.weights is None or matcher.weights.as_wholes or matcher.border
        ):
            self._is_kept = False
            reason = "records that are matched as two lists are not remembered"
            return replace(self.changes, reason=reason)
        if not self._is_kept:
            return self.changes
        keys = self._arrays["keys"]
        rows = np.flatnonzero(keys != UNKNOWN)
        is_new = np.ones(len(keys), np.bool_)
        if self._is_used and not isinstance(self._stored, str):
            is_new = ~mark_among(keys, self._stored[1]["keys"])
        pairs = pairs_of(self._arrays["near"])
        pairs = pairs[is_new[pairs].any(axis=1)]
        traits = find_traits(matcher.columns, rows, is_new[rows], pairs)
        if not self._is_used:
            self._traits = traits
            return self.changes
        return replace(self.changes, drift=describe_drift(self._traits, traits))

    def write(self, comparison: Comparison) -> None:
        """Store this run in place of the earlier, if it can be remembered.

        Raises SourceError if the file cannot be written.
        """
        plan, matcher = comparison.plan, comparison.matcher
        weights = None if matcher is None else matcher.weights
        if not self._is_kept or weights is None:
            return
        traits = {name: [[*share] for share in of] for name, of in self._traits.items()}
        about = {
            "work": self._work, "taught": self._taught, "telling": weights.telling,
            "lookalikes": weights.lookalikes, "traits": traits, "id": plan.readings[0].id,
            "fields": dict(plan.fields), "beside": plan.beside,
        }  # fmt: skip
        arrays = self._arrays | {name: getattr(weights, name) for name in OF_WEIGHTS}
        arrays["states"] = np.array([*weights.bounds], dtype=U64)
        arrays["bounds"] = np.array([*weights.bounds.values()], dtype=np.float64)
        write_arrays(self._path, FIRST_LINE, about, arrays)


def _number_records(corpus: Corpus, matcher: RecordMatcher) -> tuple[Hashes, Hashes]:
    """Number the ids of all records, and the records by their ids, values and texts."""
    ids = hash_ids(corpus)
    keys = ids * SPREAD ^ hash_texts(matcher.forms)
    for column in matcher.columns:
        values = np.append(hash_texts(column.values), U64(0))  # the last is that of no value
        keys = keys * SPREAD ^ values[column.numbers]
    keys = np.maximum(keys, U64(1))
    ids[corpus.dead] = keys[corpus.dead] = UNKNOWN
    return ids, keys
