"""An earlier run, so that this one compares only what came or changed since.

A comparison says something about two contents, whoever has them, so it still holds if both are
still there; so does that two signatures share a band. All else is done anew: clusters and canonical
documents are those of the documents that are there now, as in a full run.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.by_band import NONE_HOT, Hot
from neardup_solr.measures import Limits, Measure
from neardup_solr.measures.arrays import Pairs
from neardup_solr.minhash.sign import packed
from neardup_solr.settings import Settings
from neardup_solr.verbs.duplicates.known import (
    NO_TRACES,
    UNKNOWN,
    Hashes,
    Known,
    Traces,
    concatenated,
    hashes,
    numbered,
    signature_hashes,
)
from neardup_solr.verbs.duplicates.remembered import Run, come_again, read, write

AT_ONCE = 20_000  # documents whose signatures are compared at once
NONE_RENAMED = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.uint64)
MOST_NEW = 2  # if more than one document in so many may be new, all are read


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """What has changed since the run that was remembered, and how much of it was used again.

    `came`, `changed` and `gone` count documents, `reused` candidates that were not compared again.
    `reason` says why everything was compared, if it was.
    """

    came: int = 0
    changed: int = 0
    gone: int = 0
    reused: int = 0
    reason: str = ""


class Joined(NamedTuple):
    """How the earlier run was joined by bands, and which rows are new since."""

    cap: int
    hot: Hot
    is_new: NDArray[np.bool_]


@dataclass(slots=True, kw_only=True)
class Past:
    """An earlier run that is remembered in the file `path`, and what this run adds to it.

    `is_full` starts over. `before` is the earlier run while it is of use, and `reason` says why it
    is not; `is_kept` tells whether this run can be remembered, `is_cut` whether it has not all
    documents. `newest` is the newest version that was there before they were listed.

    Raises SourceError if there is another file at that place.
    """

    path: Path
    measure: Measure
    limits: Limits
    is_full: bool = False
    is_cut: bool = False
    reason: str = ""
    is_kept: bool = True
    newest: int = 0
    before: Run | None = None
    within: Known = field(default_factory=Known)
    beyond: Known = field(default_factory=Known)
    _work: str = ""
    _parts: list[Traces] = field(default_factory=list)
    _rows: list[NDArray[np.int64]] = field(default_factory=list)
    _traces: Traces = NO_TRACES
    _renamed: tuple[NDArray[np.intp], Hashes] = NONE_RENAMED
    _joined: Joined | None = None
    _cap: int = 0
    _hot: Hot = field(default_factory=lambda: NONE_HOT)
    _forgotten: set[int] = field(default_factory=set)
    _since: Since = field(default_factory=Since)

    def open(self, settings: Settings, compared: str) -> None:
        """Read the earlier run, if it was of these settings and of what is `compared` now."""
        from neardup_solr import __version__

        name = self.measure.name
        self._work = f"{__version__} {settings.fingerprint} {name} {self.limits} {compared}"
        if self.measure.needs_frequencies:
            reason = f"{name} weighs words by all documents, so nothing can be remembered"
            self.give_up(reason, is_kept=False)
            return
        found = read(self.path)
        if self.is_full:
            self.reason = "`full` was asked for"
        elif isinstance(found, str):
            self.reason = found
        elif found[0] != self._work:
            self.reason = (
                "the last run was of another collection or version, or had other settings, limits,"
                " fields or filters"
            )
        elif not len(found[1].traces.ids):
            self.reason = "the last run had no documents"
        else:
            self.before = found[1]

    def give_up(self, reason: str, *, is_kept: bool = True) -> None:
        """Compare everything, and say why; if it is not `is_kept`, this run is not remembered."""
        self.before, self.reason, self.is_kept = None, reason, is_kept

    def add(self, traces: Traces, rows: NDArray[np.int64] | None = None) -> None:
        """Note the traces of the next documents of this run.

        `rows` are those that they had in the earlier run, -1 if they were not there; None if they
        are to be looked up by their ids.
        """
        self._parts.append(traces)
        if rows is not None:
            self._rows.append(rows)

    def rename(self, rows: NDArray[np.intp], ids: Hashes) -> None:
        """Note what rows are called whose ids are shared, by the hashes of their names."""
        self._renamed = rows, ids

    def settle(self, signatures: NDArray[np.uint32]) -> None:
        """Find out what of the earlier run still holds, once all documents are there."""
        traces = concatenated([NO_TRACES, *self._parts])
        self._parts.clear()
        rows_renamed, names = self._renamed
        traces.ids[rows_renamed] = names
        if not self.measure.needs_texts:
            traces = traces._replace(contents=signature_hashes(signatures))
        self._traces = traces
        self.newest = 0 if self.is_cut else min(self.newest, int(traces.versions.max(initial=0)))
        if self.before is None:
            return
        old, self.before = self.before, None  # it takes memory
        rows = np.concatenate(self._rows) if self._rows else old.rows_of(traces.ids)
        self._rows.clear()
        is_known = rows >= 0
        versions, contents = old.traces.versions[rows], old.traces.contents[rows]
        is_same = is_known & (traces.versions != 0) & (traces.versions == versions)
        traces.contents[:] = np.where(
            is_same & (traces.contents == UNKNOWN), contents, traces.contents
        )
        has_same_signature = is_known & ~is_same
        if len(old.signatures):  # others for the same text: then one of them is wrong
            for at in _parts(np.flatnonzero(has_same_signature)):
                has_same_signature[at] = (old.signatures[rows[at]] == signatures[at]).all(axis=1)
        is_unread = has_same_signature & (contents == UNKNOWN) & (len(old.signatures) > 0)
        is_same |= has_same_signature & (contents != UNKNOWN) & (contents == traces.contents)
        places = np.full(len(old.traces.ids), -1)
        places[rows[is_same]] = np.flatnonzero(is_same)
        self.within.before = old.within.placed(places)
        self.beyond.before = old.beyond.placed(places)
        if np.count_nonzero(~is_same) * MOST_NEW <= len(is_same):
            self._joined = Joined(int(old.cap[0]), old.hot, ~is_same)
        self._since = Since(
            came=int(np.count_nonzero(~is_known & ~come_again(traces.ids))),
            changed=int(np.count_nonzero(is_known & ~is_same & ~is_unread)),
            gone=int(np.count_nonzero(~come_again(old.traces.ids))) - int(is_known.sum()),
        )

    def earlier_join(self, cap: int) -> tuple[Pairs, Hot, NDArray[np.bool_]] | None:
        """What is known of a join with this `cap`, for `grown_candidates`; None if nothing is.

        The pairs of documents that are not new, the keys that were hot, and which rows are new.
        """
        if self._joined is None or self._joined.cap != cap:
            return None
        return self.within.before.sharing, self._joined.hot, self._joined.is_new

    def note_joined(self, cap: int, hot: Hot, chained: Pairs) -> None:
        """Note that documents were joined by bands, for the next run."""
        self._cap, self._hot, self.within.chained = cap, hot, np.sort(numbered(chained))

    def note_contents(self, rows: NDArray[np.uint32], texts: Sequence[str]) -> None:
        """Note the texts of these rows as they are compared; forget those that were others."""
        contents, now = self._traces.contents, hashes(texts)
        self.forget(rows[(contents[rows] != UNKNOWN) & (contents[rows] != now)].tolist())
        contents[rows] = now

    def forget(self, rows: Iterable[int]) -> None:
        """Do not know these rows again: they were gone, or had changed, when they were compared."""
        self._forgotten.update(rows)

    def since(self) -> Since:
        """What has changed since the earlier run."""
        if self.reason:
            return Since(reason=self.reason)
        return replace(self._since, reused=self.within.reused)

    def write(self, names: Sequence[str], signatures: NDArray[np.uint32]) -> None:
        """Remember this run, with the ids and signatures of a collection, in place of the earlier.

        Raises SourceError if the file cannot be written.
        """
        traces, forgotten = self._traces, list(self._forgotten)
        traces.versions[forgotten] = 0
        traces.contents[forgotten] = UNKNOWN
        run = Run(
            traces=traces,
            names=packed(names),
            signatures=signatures,
            newest=np.array([self.newest]),
            cap=np.array([self._cap]),
            hot=self._hot,
            within=self.within.results(),
            beyond=self.beyond.results(),
        )
        write(self.path, self._work, run)

    @property
    def digest(self) -> str:
        """What tells what was known before anything was compared, for a checkpoint."""
        known = self.within.before
        columns = (known.far, known.near, known.distances, known.similarities)
        return " ".join(f"{zlib.crc32(column.data):x}" for column in columns)


def _parts(rows: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Some rows at a time."""
    return (rows[at : at + AT_ONCE] for at in range(0, len(rows), AT_ONCE))
